/* Mistakes for memcheck to find, one a run: its name is the argument; what memcheck has to say is in memcheck.sh.
   "clean" makes none, in all the ways a program may use the allocator. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "under_test.h"

enum { BLOCKS = 7, BLOCK_BYTES = 1000, MIB = 1 << 20 };

static volatile char seen; /* what is read for nothing */

/* A block of which the compilers do not know what may be done with it. */
static char *get(size_t bytes) {
    void *p = malloc(bytes);
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}
static void *volatile kept;

struct ring {
    struct ring *next, *prev;
    char rest[40];
};

/* A search for pointers shall find none by chance in what ended functions left. */
static __attribute__((__noinline__)) void clear_stack(void) {
    char bytes[8192];
    memset(bytes, 0, sizeof bytes);
    KEEP(bytes);
}

static __attribute__((__noinline__)) void leak_blocks(void) {
    for (volatile int i = 0; i < BLOCKS; i++) /* from one place each time */
        kept = malloc(BLOCK_BYTES);
    kept = NULL;
}

/* Each block is pointed to, by another one. */
static __attribute__((__noinline__)) void leak_ring(void) {
    struct ring *nodes[3];
    for (int i = 0; i < 3; i++)
        nodes[i] = malloc(sizeof *nodes[i]);
    for (int i = 0; i < 3; i++) {
        nodes[i]->next = nodes[(i + 1) % 3];
        nodes[i]->prev = nodes[(i + 2) % 3];
        KEEP(nodes[i]);
    }
}

static void *leave_thread_blocks(void *unused) {
    (void)unused;
    leak_blocks();
    return NULL;
}

static void leak_in_thread(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, leave_thread_blocks, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *sleep_on(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void leak_beside_thread(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, sleep_on, NULL) == 0 && pthread_detach(thread) == 0);
    leak_blocks();
}

static void reach(void) {
    struct ring *first = malloc(sizeof *first);
    first->next = malloc(sizeof *first);
    first->next->next = NULL;
    kept = first;
}

/* Sizes at the ends of classes, of slabs of one object, of large blocks and of huge ones. */
static const size_t sizes[] = {1, 16, 32, 100, 1024, 4096, 262144, 524288, 3 * MIB};

static void read_past(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = get(sizes[i]);
        seen = p[sizes[i]];
        free(p);
    }
}

static void read_before(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = get(sizes[i]);
        char *q = get(sizes[i]);
        seen = (p < q ? q : p)[-1];
        free(p);
        free(q);
    }
}

/* So far that what Fallow notes of the block is lost. */
static void write_past(void) {
    char *p = get(100);
    volatile char *at = p;
    for (int i = 100; i < 164; i++)
        at[i] = 'x';
    p = realloc(p, 200);
    CHECK(p != NULL);
    free(p);
}

static void read_freed(void) {
    char *p = get(100);
    memset(p, 1, 100);
    free(p);
    for (int i = 0; i < 100; i++)
        free(malloc(100));
    seen = p[50];
}

/* Eight MiB that are lazily freed, and nothing of Fallow's own may have told memcheck that they are not. */
static void read_purged(void) {
    char *p = get(8 * MIB);
    memset(p, 1, 8 * MIB);
    free(p);
    CHECK(under_test_purge(FALLOW_PURGE_LAZY) >= 8 * MIB);
    struct fallow_stats stats;
    under_test_stats(&stats);
    CHECK(stats.lazy_bytes >= 8 * MIB);
    seen = p[5 * MIB];
}

static void free_twice(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = get(sizes[i]), *volatile again = p;
        free(p);
        free(malloc(sizes[i]));
        free(again);
    }
}

static void free_inside(void) {
    char *p = get(100), *volatile inside = p + 16;
    free(inside);
    free(p);
}

static void free_foreign(void) {
    char bytes[64], *volatile foreign = bytes + 16;
    free(foreign);
}

static void resize_freed(void) {
    char *p = get(100), *volatile again = p;
    free(p);
    CHECK(realloc(again, 200) == NULL);
}

static void use_unset(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = get(sizes[i]);
        volatile const char *at = p;
        if (at[sizes[i] - 1] == 7)
            seen = 1;
        free(p);
    }
}

/* What realloc adds is not set either. */
static void use_unset_of_resized(void) {
    char *p = calloc(1, 100);
    p = realloc(p, 200);
    volatile const char *at = p;
    if (at[99] == 7)
        seen = 1;
    if (at[100] == 7)
        seen = 2;
    free(p);
}

/* --- no mistakes --- */

static void use_all(char *p, size_t bytes) {
    memset(p, 1, bytes);
    seen = p[bytes / 2];
}

static void use_sizes(void) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *zero = calloc(1, sizes[i]);
        for (size_t j = 0; j < sizes[i]; j += sizes[i] / 7 + 1)
            CHECK(zero[j] == 0);
        CHECK(zero[sizes[i] - 1] == 0);
        use_all(zero, malloc_usable_size(zero));
        free(zero);
    }
}

static void use_realloc(void) {
    char *p = NULL;
    for (size_t bytes = 1; bytes < 5 * MIB; bytes = bytes * 3 + 1) {
        p = realloc(p, bytes);
        CHECK(p != NULL && (bytes == 1 || p[bytes / 3 - 1] == 'y'));
        memset(p, 'y', bytes);
    }
    p = realloc(p, 10);
    CHECK(p != NULL && p[9] == 'y');
    CHECK(realloc(p, 0) == NULL);
    p = reallocarray(NULL, 10, 20);
    p = reallocarray(p, 20, 20);
    use_all(p, 400);
    free(p);
}

static void use_aligned(void) {
    for (size_t align = 32; align <= 4 * MIB; align *= 8) {
        void *p = NULL;
        CHECK(posix_memalign(&p, align, 100) == 0 && (uintptr_t)p % align == 0);
        use_all(p, malloc_usable_size(p));
        free(p);
        p = aligned_alloc(align, align);
        CHECK((uintptr_t)p % align == 0);
        use_all(p, align);
        free(p);
    }
    free(memalign(64, 0));
    free(valloc(1));
    free(malloc(0));
    free(NULL);
}

enum { HANDED = 1000 };
static void *handed[HANDED];

static void *use_memory(void *unused) {
    use_sizes();
    use_realloc();
    return unused;
}

static void *free_handed(void *unused) {
    for (int i = 0; i < HANDED; i++)
        free(handed[i]);
    return use_memory(unused);
}

static void use_threads(void) {
    pthread_t threads[3];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < HANDED; i++) {
            handed[i] = malloc((size_t)i * 7);
            memset(handed[i], 0, (size_t)i * 7);
        }
        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&threads[i], NULL, i == 0 ? free_handed : use_memory, NULL) == 0);
        for (int i = 0; i < 3; i++)
            CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

static void use_fork(void) {
    char *p = malloc(100), *large = malloc(MIB);
    memset(p, 2, 100);
    memset(large, 2, MIB);
    pid_t child = fork();
    CHECK(child >= 0);
    CHECK(p[99] == 2 && large[MIB - 1] == 2);
    use_realloc();
    free(p);
    free(large);
    if (child == 0)
        exit(0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static volatile sig_atomic_t signals;

static void count_signal(int number) {
    (void)number;
    signals = signals + 1;
}

/* Valgrind looks for itself whether a stack may be written. */
static void use_stack_for_signals(void) {
    stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && signals == 1);
    stack_t none = {.ss_flags = SS_DISABLE};
    CHECK(sigaltstack(&none, NULL) == 0);
    free(stack.ss_sp);
}

static void make_none(void) {
    use_sizes();
    use_realloc();
    use_aligned();
    use_threads();
    use_fork();
    use_stack_for_signals();
    (void)under_test_purge(FALLOW_PURGE_CLEAN);
    use_sizes();
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    {"clean", make_none},
    {"leak", leak_blocks},
    {"leak_ring", leak_ring},
    {"leak_in_thread", leak_in_thread},
    {"leak_beside_thread", leak_beside_thread},
    {"reach", reach},
    {"read_past", read_past},
    {"read_before", read_before},
    {"write_past", write_past},
    {"read_freed", read_freed},
    {"read_purged", read_purged},
    {"free_twice", free_twice},
    {"free_inside", free_inside},
    {"free_foreign", free_foreign},
    {"resize_freed", resize_freed},
    {"use_unset", use_unset},
    {"use_unset_of_resized", use_unset_of_resized},
};

int main(int argc, char **argv) {
    CHECK(argc == 2);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
        if (strcmp(argv[1], mistakes[i].name) == 0) {
            mistakes[i].make();
            clear_stack();
            return 0;
        }
    fprintf(stderr, "no mistake is called %s\n", argv[1]);
    return 1;
}
