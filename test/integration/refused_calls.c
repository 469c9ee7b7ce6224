/*
 * Every system call of Fallow's is refused in turn (support/inject.h): the same work is done once to
 * count the calls of a kind, then once for each of them with that one refused, and with all refused from
 * there on. An allocation fails with ENOMEM, and for want of a mapping alone; contents stay; and once
 * nothing is refused any more, the same work succeeds and the account is whole. Each time in a child, from
 * a heap in which nothing has happened yet.
 *
 *   alone, threads, fork        what work is done (support/work.h)
 *   any of them, KIND, N, LAST  that one case, in this process
 *   start                       all calls of a kind from the very first, in a program of its own
 *
 * Where a kind is called more often than SAMPLES times, those are refused one by one that come first, half
 * of them, and the rest evenly spread; SAMPLES_ON likewise of those from which on all are refused.
 */
#include <signal.h>
#include <sys/mman.h>

#include "inject.h"
#include "work.h"

enum { SAMPLES = 10, SAMPLES_ON = 4, SECONDS = 60 };

struct outcome {
    size_t seen, refused, failed;
};

typedef void (*work_function)(struct work *);

static struct work work;

static const struct {
    const char *name;
    work_function function;
} works[] = {{"alone", work_alone}, {"threads", work_threads}, {"fork", work_fork}};

/* The work with some calls refused, and then with none. */
static struct outcome run(work_function function, const struct inject_kind *kind, size_t first,
                          size_t last) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    CHECK(pthread_sigmask(SIG_SETMASK, &mask, NULL) == 0);
    work.may_fail = kind->gives_null;
    inject_arm(kind, first, last);
    function(&work);
    inject_disarm();
    struct outcome outcome = {inject.seen, inject.refused, work.failed};
    work.may_fail = false;
    function(&work);
    work_drop_all(&work);
    under_test_purge(FALLOW_PURGE_CLEAN);
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    CHECK_THAT(sigismember(&mask, SIGUSR1), "a signal is not blocked any more");
    if (function == work_alone)
        under_test_check_law();
    return outcome;
}

/* The same in a child. */
static struct outcome run_in_child(work_function function, const struct inject_kind *kind,
                                   size_t first, size_t last) {
    static struct outcome *shared;
    if (shared == NULL) {
        shared =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(shared != MAP_FAILED);
    }
    *shared = (struct outcome){0};
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        alarm(SECONDS);
        *shared = run(function, kind, first, last);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(status == 0, "%s, calls %zu to %zu refused: status 0x%x", kind->name, first, last,
               (unsigned)status);
    return *shared;
}

/* The i-th of `samples` numbers from 1 to count: half of them from the front, the rest spread. */
static size_t sample(size_t i, size_t samples, size_t count) {
    size_t front = (samples + 1) / 2;
    if (count <= samples || i < front)
        return i + 1;
    return front + (i - front + 1) * (count - front) / (samples - front);
}

/* How many runs there were, and in how many of them something was refused: what threads do, and what is
   read when, depends on the time; how many calls a mapping takes, on where it lies. */
static size_t all_runs, all_fired;

static void refuse_in_turn(const char *name, work_function function,
                           const struct inject_kind *kind) {
    size_t count = run_in_child(function, kind, SIZE_MAX, SIZE_MAX).seen;
    size_t fired = 0, runs = 0, failed = 0;
    for (int onwards = 0; onwards < 2; onwards++) {
        size_t samples = check_scaled(onwards ? SAMPLES_ON : SAMPLES);
        samples = count < samples ? count : samples;
        for (size_t i = 0; i < samples; i++) {
            size_t first = sample(i, samples, count);
            struct outcome outcome =
                run_in_child(function, kind, first, onwards ? SIZE_MAX : first);
            runs++;
            fired += outcome.refused > 0;
            failed += outcome.failed;
        }
    }
    printf("%-8s %-24s %5zu calls, %3zu of %3zu runs refused some, %zu allocations failed\n", name,
           kind->name, count, fired, runs, failed);
    fflush(stdout);
    CHECK_THAT(function != work_alone || kind->number != SYS_mmap || failed > 0,
               "no allocation failed");
    all_runs += runs;
    all_fired += fired;
}

/* The program again, in which the first calls of all are refused. */
static void refuse_from_start(const char *program, const struct inject_kind *kind) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setenv(INJECT_VARIABLE, kind->name, 1) == 0);
        execl(program, program, "started", (char *)NULL);
        CHECK_THAT(0, "cannot run %s", program);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_THAT(status == 0, "%s refused from the start: status 0x%x", kind->name, (unsigned)status);
}

/* In that program. */
static int work_started(void) {
    const struct inject_kind *kind = inject.kind;
    const char *name = getenv(INJECT_VARIABLE);
    CHECK(name != NULL);
    if (kind == NULL) /* it has not asked the kernel for anything yet */
        kind = inject_find(name);
    CHECK(kind != NULL);
    if (kind->number == SYS_mmap)
        CHECK(malloc(100) == NULL && errno == ENOMEM);
    work.may_fail = kind->gives_null;
    work_alone(&work);
    work_threads(&work);
    printf("started  %-24s %5zu refused, %zu allocations failed\n", kind->name,
           (size_t)inject.refused, work.failed);
    fflush(stdout);
    inject_disarm();
    work.may_fail = false;
    work_alone(&work);
    work_threads(&work);
    return 0;
}

int main(int count, char **arguments) {
    work_function function = NULL;
    CHECK(count == 2 || count == 5);
    if (strcmp(arguments[1], "started") == 0)
        return work_started();
    if (strcmp(arguments[1], "start") == 0) {
        for (size_t i = 0; i < INJECT_KINDS; i++)
            refuse_from_start(arguments[0], &inject_kinds[i]);
        return 0;
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(works[i].name, arguments[1]) == 0)
            function = works[i].function;
    CHECK_THAT(function != NULL, "no such work: %s", arguments[1]);
    if (count == 5) {
        size_t first = strtoul(arguments[3], NULL, 10), last = strtoul(arguments[4], NULL, 10);
        const struct inject_kind *kind = inject_find(arguments[2]);
        CHECK_THAT(kind != NULL, "no such kind: %s", arguments[2]);
        struct outcome outcome = run(function, kind, first, last);
        printf("%zu calls, %zu refused, %zu allocations failed\n", outcome.seen, outcome.refused,
               outcome.failed);
        return 0;
    }
    for (size_t i = 0; i < INJECT_KINDS; i++)
        refuse_in_turn(arguments[1], function, &inject_kinds[i]);
    CHECK_THAT(all_fired > all_runs / 2, "%zu of %zu runs refused some", all_fired, all_runs);
    return 0;
}
