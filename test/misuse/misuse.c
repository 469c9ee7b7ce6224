/*
 * Makes one mistake, named by the first argument, and then shows that the process is well: it
 * allocates, frees, and no block has two owners. Prints `pointer 0x...` for the pointer that the
 * message must name. Which message that is stands in cases.txt.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "pattern.h"
#include "threads.h"
#include "under_test.h"

/* The compilers know what free does and warn of the mistakes below; they may not look in here. */
static void *opaque(void *pointer) {
    __asm__ volatile("" : "+r"(pointer));
    return pointer;
}

static void name(void *pointer) {
    printf("pointer %p\n", pointer);
    fflush(stdout);
}

static void *not_ours(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    pattern_fill(page, 4096, 1);
    void *inside = (char *)page + 64;
    name(inside);
    return inside;
}

static void check_not_ours(void *inside) {
    CHECK(pattern_holds((char *)inside - 64, 4096, 1)); /* nothing was written there */
}

static void foreign(void) {
    void *pointer = not_ours();
    for (int i = 0; i < 5; i++) {
        errno = 42;
        free(opaque(pointer));
        CHECK(errno == 42);
    }
    check_not_ours(pointer);
}

static void foreign_realloc(void) {
    void *pointer = not_ours();
    errno = 0;
    CHECK(realloc(opaque(pointer), 5000) == NULL && errno == EINVAL);
    check_not_ours(pointer);
}

static void foreign_usable(void) {
    void *pointer = not_ours();
    CHECK(malloc_usable_size(opaque(pointer)) == 0);
    check_not_ours(pointer);
}

static void foreign_sized(void) {
    void *pointer = not_ours();
    under_test_free_sized(opaque(pointer), 100);
    check_not_ours(pointer);
}

static void foreign_odd(void) {
    void *pointer = (void *)0x10; /* below any mapping */
    name(pointer);
    free(opaque(pointer));
}

static void foreign_kernel(void) {
    void *pointer = (void *)0xffff888000000010; /* above any mapping: no index may be made of it */
    name(pointer);
    free(opaque(pointer));
}

static void inside(size_t size, size_t offset) {
    char *block = malloc(size);
    CHECK(block != NULL);
    pattern_fill(block, size, 2);
    name(block + offset);
    free(opaque(block + offset));
    CHECK(pattern_holds(block, size, 2));
    free(block);
}

static void inside_large(void) {
    inside(1000000, 8192);
}

static void twice(size_t size) {
    void *kept = malloc(size); /* so that the slab, if there is one, is not empty */
    void *block = malloc(size);
    CHECK(kept && block);
    name(block);
    free(block);
    errno = 42;
    free(opaque(block));
    CHECK(errno == 42);
    free(kept);
}

static void double_large(void) {
    twice(700000);
}

static void double_huge(void) {
    twice((size_t)9 << 20);
}

static void double_small(void) {
    twice(2900);
}

static void double_tiny(void) {
    twice(16);
}

/* Not at once: when the thread's cache goes home. */
static void double_empty(void) {
    void *one = malloc(2900);
    void *two = malloc(2900);
    CHECK(one && two);
    name(one);
    free(one);
    free(two);
    free(opaque(one));
    under_test_purge(FALLOW_PURGE_LAZY);
}

struct hand_over {
    void *_Atomic block;
    atomic_bool freed;
};

static void *free_it(void *argument) {
    struct hand_over *hand = argument;
    while (!atomic_load(&hand->freed))
        threads_sleep_ms(1);
    free(hand->block);
    return NULL;
}

/* The second free comes from another thread, one that exists already: its birth would allocate, and
   might be given the freed address. */
static void double_elsewhere(void) {
    static struct hand_over hand;
    pthread_t thread;
    hand.block = malloc(700000);
    CHECK(hand.block != NULL);
    name(hand.block);
    CHECK(pthread_create(&thread, NULL, free_it, &hand) == 0);
    threads_sleep_ms(20);
    free(hand.block);
    atomic_store(&hand.freed, true);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void nothing(void) {
}

static void check_well(void) {
    enum { COUNT = 300 };
    static unsigned char *blocks[COUNT];
    static const size_t sizes[] = {16, 100, 1500, 2900, 40000, 700000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t count = sizes[s] > 100000 ? 20 : COUNT;
        for (size_t i = 0; i < count; i++) {
            blocks[i] = malloc(sizes[s]);
            CHECK(blocks[i] != NULL);
            pattern_fill(blocks[i], sizes[s], i);
        }
        for (size_t i = 0; i < count; i++) {
            CHECK_THAT(pattern_holds(blocks[i], sizes[s], i), "a block of %zu has two owners",
                       sizes[s]);
        }
        for (size_t i = 0; i < count; i++) {
            free(blocks[i]);
        }
    }
    under_test_check_law();
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    under_test_needs_fallow();
    static const struct {
        const char *name;
        void (*make)(void);
    } mistakes[] = {
        {"foreign", foreign},
        {"foreign_realloc", foreign_realloc},
        {"foreign_usable", foreign_usable},
        {"foreign_sized", foreign_sized},
        {"foreign_odd", foreign_odd},
        {"foreign_kernel", foreign_kernel},
        {"inside_large", inside_large},
        {"double_large", double_large},
        {"double_huge", double_huge},
        {"double_small", double_small},
        {"double_tiny", double_tiny},
        {"double_empty", double_empty},
        {"double_elsewhere", double_elsewhere},
        {"nothing", nothing},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        if (strcmp(mistakes[i].name, arguments[1]) == 0) {
            mistakes[i].make();
            check_well();
            return 0;
        }
    }
    CHECK_THAT(0, "no such mistake: %s", arguments[1]);
}
