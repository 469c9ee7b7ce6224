/*
 * What the purge thread does, and what it must not do, in a whole process. The first argument says what:
 *   sleep   while every thread sleeps, freed memory becomes lazy and is then given back
 *   mute    the same where the other thread never calls the allocator
 *   exit    main leaves by pthread_exit, and the process ends when its last thread does
 *   exec    another program takes the process's place
 *   fork    a child of a process that has one works without, and gets its own
 *   signals a signal to the process is never handled in it
 *   alone   it ends when the process has one thread again, though there is something to do
 *   setuid  it has the process's user again a little after setuid
 *   none    a process without threads has none
 */
#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { BLOCKS = 600, WAIT_TENTHS = 200 };

static const size_t block_bytes = 100000;
static atomic_bool ready, done;

static void *sleeps_mutely(void *argument) {
    atomic_store(&ready, true);
    while (!atomic_load(&done)) {
        threads_sleep_ms(20);
    }
    return argument;
}

static void *sleeps(void *argument) {
    void *block = malloc(100);
    CHECK(block != NULL);
    KEEP(block);
    sleeps_mutely(argument);
    free(block);
    return argument;
}

static pthread_t start_thread(void *(*body)(void *)) {
    atomic_store(&ready, false);
    atomic_store(&done, false);
    pthread_t sleeper = threads_start(body, NULL);
    while (!atomic_load(&ready)) {
        sched_yield();
    }
    return sleeper;
}

static pthread_t start_sleeper(void) {
    return start_thread(sleeps);
}

static void end_sleeper(pthread_t sleeper) {
    atomic_store(&done, true);
    threads_join(sleeper);
}

static void fill_and_free(void) {
    static void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(block_bytes);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 1, block_bytes);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
}

/* Reads without allocating: opendir() would wake what shall sleep. */
static bool has_purge_thread(void) {
    char entries[4096];
    int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(tasks >= 0);
    long got = syscall(SYS_getdents64, tasks, entries, sizeof entries);
    bool found = false;
    close(tasks);
    for (long at = 0; at < got;) {
        unsigned short length;
        memcpy(&length, entries + at + 16, sizeof length);
        const char *name = entries + at + 19;
        char path[64], text[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", name);
        int comm = name[0] != '.' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (comm >= 0) { /* it may have ended meanwhile */
            found |= read(comm, text, sizeof text - 1) > 0 && strcmp(text, "fallow-purge\n") == 0;
            close(comm);
        }
        at += length;
    }
    return found;
}

static void sleep_until(bool wanted) {
    for (int i = 0; i < WAIT_TENTHS && has_purge_thread() != wanted; i++) {
        threads_sleep_ms(100);
    }
    CHECK_THAT(has_purge_thread() == wanted, wanted ? "no purge thread" : "it does not end");
}

/* With lazy_decay_ms:1500. Only the kernel is asked meanwhile. */
static void all_asleep(void *(*other)(void *)) {
    pthread_t sleeper = start_thread(other);
    size_t bytes = (size_t)BLOCKS * block_bytes;
    struct resident before = resident_now();
    fill_and_free();
    size_t most_lazy = 0, rss = SIZE_MAX;
    for (int i = 0; i < WAIT_TENTHS && rss > before.rss_bytes + bytes / 10; i++) {
        threads_sleep_ms(50);
        struct resident now = resident_now();
        most_lazy = now.lazy_bytes > most_lazy ? now.lazy_bytes : most_lazy;
        rss = now.rss_bytes;
    }
    CHECK_THAT(most_lazy > bytes / 10 * 8, "of %zu bytes at most %zu became lazy", bytes,
               most_lazy);
    CHECK_THAT(rss <= before.rss_bytes + bytes / 10, "%zu bytes are resident in the end", rss);
    sleep_until(false);
    end_sleeper(sleeper);
}

static void one_asleep(void) {
    all_asleep(sleeps);
}

static void one_mute(void) {
    all_asleep(sleeps_mutely);
}

static void *outlives_main(void *argument) {
    threads_join(*(pthread_t *)argument);
    CHECK(has_purge_thread());
    return NULL;
}

static void main_leaves(void) {
    static pthread_t main_thread;
    main_thread = pthread_self();
    start_sleeper();
    fill_and_free();
    sleep_until(true);
    CHECK(pthread_detach(threads_start(outlives_main, &main_thread)) == 0);
    atomic_store(&done, true);
    pthread_exit(NULL);
}

static void another_program(void) {
    start_sleeper();
    fill_and_free();
    sleep_until(true);
    execl("/bin/true", "true", (char *)NULL);
    CHECK_THAT(false, "exec failed");
}

static void in_a_child(void) {
    pthread_t sleeper = start_sleeper();
    fill_and_free();
    sleep_until(true);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(!has_purge_thread());
            fill_and_free();
            CHECK(!has_purge_thread()); /* one thread again */
            pthread_t own = start_sleeper();
            fill_and_free();
            sleep_until(true);
            end_sleeper(own);
            _exit(0);
        }
        threads_reap(child);
    }
    end_sleeper(sleeper);
}

static atomic_int handled;
static atomic_long handler_thread;

static void handle(int number) {
    (void)number;
    atomic_store(&handler_thread, syscall(SYS_gettid));
    atomic_fetch_add(&handled, 1);
}

/* All threads of the program block the signal; then only a stranger could take it. */
static void signals(void) {
    struct sigaction action = {.sa_handler = handle};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t sleeper = start_sleeper();
    fill_and_free();
    sleep_until(true);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    threads_sleep_ms(200);
    CHECK(atomic_load(&handled) == 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    CHECK(atomic_load(&handled) == 1);
    CHECK(atomic_load(&handler_thread) == (long)getpid());
    end_sleeper(sleeper);
}

/* With lazy_decay_ms:3600000. */
static void alone_again(void) {
    pthread_t sleeper = start_sleeper();
    fill_and_free();
    sleep_until(true);
    end_sleeper(sleeper);
    sleep_until(false);
    struct fallow_stats stats;
    under_test_stats(&stats);
    CHECK(stats.lazy_bytes + stats.dirty_bytes > (size_t)BLOCKS * block_bytes / 2);
}

/* Whether any thread of the process still has user 0. */
static bool has_root_thread(void) {
    char entries[4096];
    int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(tasks >= 0);
    long got = syscall(SYS_getdents64, tasks, entries, sizeof entries);
    close(tasks);
    bool found = false;
    for (long at = 0; at < got;) {
        unsigned short length;
        memcpy(&length, entries + at + 16, sizeof length);
        char path[64], text[4096] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entries + at + 19);
        if (entries[at + 19] != '.' && access(path, R_OK) == 0) {
            resident_read_file(path, text, sizeof text);
            found |= strstr(text, "\nUid:\t0\t") != NULL;
        }
        at += length;
    }
    return found;
}

static void another_user(void) {
    if (getuid() != 0) {
        CHECK_SKIP("needs root");
    }
    pthread_t sleeper = start_sleeper();
    fill_and_free();
    sleep_until(true);
    CHECK(setuid(65534) == 0);
    for (int i = 0; i < WAIT_TENTHS && has_root_thread(); i++) {
        fill_and_free(); /* there is always something to purge */
        threads_sleep_ms(100);
    }
    CHECK(!has_root_thread());
    fill_and_free();
    sleep_until(true);
    CHECK(!has_root_thread());
    end_sleeper(sleeper);
}

static void without_threads(void) {
    for (int i = 0; i < 10; i++) {
        fill_and_free();
        threads_sleep_ms(30);
    }
    CHECK(!has_purge_thread());
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        {"sleep", one_asleep},     {"mute", one_mute},     {"exit", main_leaves},
        {"exec", another_program}, {"fork", in_a_child},   {"signals", signals},
        {"none", without_threads}, {"alone", alone_again}, {"setuid", another_user},
    };
    CHECK(argc == 2);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    }
    CHECK_THAT(false, "no such way: %s", argv[1]);
    return 1;
}
