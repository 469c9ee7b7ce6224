/*
 * Calls before main: from an IFUNC resolver (while this program is still being relocated, before any
 * constructor has run), from .preinit_array, from constructors; and blocks made there used and freed
 * after main began.
 */
#include "pattern.h"
#include "under_test.h"

enum { EARLY = 3, SIZE = 5000 };

static void *early[EARLY];

static void make_early(size_t which) {
    early[which] = malloc(SIZE);
    void *dropped = calloc(3, 1000);
    if (!early[which] || !dropped) {
        _exit(3);
    }
    pattern_fill(early[which], SIZE, which);
    early[which] = realloc(early[which], (size_t)SIZE * 50);
    if (!early[which]) {
        _exit(4);
    }
    free(dropped);
}

static int answer_42(void) {
    return 42;
}

__attribute__((used)) static int (*resolve_answer(void))(void) {
    /* Nothing of libc is safe here but what malloc itself makes safe. */
    unsigned char *block = malloc(300);
    if (!block) {
        _exit(5);
    }
    for (int i = 0; i < 300; i++) {
        block[i] = (unsigned char)i;
    }
    early[0] = block;
    free(malloc(70000));
    return answer_42;
}

/* Two of one kind in a row would be two relocations: one is enough to reach the resolver. */
int answer(void) __attribute__((ifunc("resolve_answer")));

static void before_constructors(void) {
    make_early(1);
}

__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = before_constructors;

__attribute__((constructor(101))) static void in_constructor(void) {
    make_early(2);
}

int main(void) {
    CHECK(answer() == 42);
    unsigned char *block = early[0];
    CHECK(block != NULL);
    for (int i = 0; i < 300; i++) {
        CHECK(block[i] == (unsigned char)i);
    }
    CHECK(malloc_usable_size(block) >= 300);
    free(block);
    for (size_t i = 1; i < EARLY; i++) {
        CHECK_THAT(early[i] && pattern_holds(early[i], SIZE, i), "early block %zu", i);
        free(early[i]);
    }
    under_test_check_law();
    return 0;
}
