/*
 * Every byte that malloc_usable_size reports belongs to the caller: it can be written, it is kept by
 * realloc, and the report stays the same for the life of the block.
 */
#include "pattern.h"
#include "under_test.h"

static void one(size_t size, int how) {
    void *block = NULL;
    if (how == 0) {
        block = malloc(size);
    } else if (how == 1) {
        block = calloc(1, size);
    } else {
        CHECK(posix_memalign(&block, (size_t)64 << (size % 7), size) == 0);
    }
    CHECK(block != NULL);
    size_t usable = malloc_usable_size(block);
    CHECK_THAT(usable >= size, "a block of %zu has %zu usable", size, usable);
    pattern_fill(block, usable, size);
    void *neighbour = malloc(size);
    CHECK(neighbour != NULL);
    pattern_fill(neighbour, malloc_usable_size(neighbour), size + 1);
    CHECK_THAT(malloc_usable_size(block) == usable, "%zu became %zu", usable,
               malloc_usable_size(block));
    CHECK_THAT(pattern_holds(block, usable, size), "a block of %zu lost its contents at %zu", size,
               pattern_differs_at(block, usable, size));
    block = realloc(block, usable + usable / 2 + 1);
    CHECK(block != NULL);
    CHECK_THAT(pattern_holds(block, usable, size),
               "realloc of a block of %zu (usable %zu) lost byte %zu", size, usable,
               pattern_differs_at(block, usable, size));
    size_t less = usable / 3 + 1;
    block = realloc(block, less);
    CHECK(block && pattern_holds(block, less, size));
    CHECK(pattern_holds(neighbour, malloc_usable_size(neighbour), size + 1));
    free(neighbour);
    free(block);
}

int main(void) {
    for (int how = 0; how < 3; how++) {
        for (size_t size = 1; size <= 3000; size++) {
            one(size, how);
        }
        for (size_t size = 3000; size < ((size_t)16 << 20); size += size / 7 + 1) {
            one(size, how);
        }
    }
    return 0;
}
