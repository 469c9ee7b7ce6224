/*
 * mi#161: a block of 655,362 to 786,456 bytes freed twice: each second free is detected, and no block
 * that is handed out afterwards has two owners. Prints how many double frees there were, for the
 * script beside it to compare with the counter.
 */
#include "pattern.h"
#include "under_test.h"

enum { OWNERS = 6 };

static void *opaque(void *pointer) {
    __asm__ volatile("" : "+r"(pointer));
    return pointer;
}

int main(void) {
    size_t made = 0;
    for (size_t size = 655362; size <= 786456; size += 4099) {
        void *neighbours[2] = {malloc(size), NULL};
        void *block = malloc(size);
        neighbours[1] = malloc(size);
        CHECK(block && neighbours[0] && neighbours[1]);
        pattern_fill(neighbours[0], size, 100);
        pattern_fill(neighbours[1], size, 101);
        free(block);
        free(opaque(block));
        made++;
        void *owners[OWNERS];
        for (size_t i = 0; i < OWNERS; i++) {
            owners[i] = malloc(size);
            CHECK(owners[i] != NULL);
            pattern_fill(owners[i], size, i);
        }
        for (size_t i = 0; i < OWNERS; i++) {
            CHECK_THAT(pattern_holds(owners[i], size, i), "a block of %zu has two owners", size);
            for (size_t j = 0; j < i; j++) {
                CHECK(owners[i] != owners[j]);
            }
        }
        CHECK(pattern_holds(neighbours[0], size, 100) && pattern_holds(neighbours[1], size, 101));
        for (size_t i = 0; i < OWNERS; i++) {
            free(owners[i]);
        }
        free(neighbours[0]);
        free(neighbours[1]);
    }
    under_test_check_law();
    printf("%zu\n", made);
    return 0;
}
