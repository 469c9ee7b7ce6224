/*
 * Alignment: 16 bytes for every size from 16 up, the strictest a smaller object can need below; and
 * what was asked for, from every call that takes an alignment, with contents that stay apart.
 */
#include "pattern.h"
#include "under_test.h"

enum { KEPT = 64 };

static bool aligned(const void *pointer, size_t alignment) {
    return ((uintptr_t)pointer & (alignment - 1)) == 0;
}

static size_t expected_alignment(size_t size) {
    if (size >= 16) {
        return 16;
    }
    return size >= 8 ? 8 : 1;
}

static void every_small_size(void) {
    void *kept[KEPT] = {0};
    for (size_t size = 1; size <= 70000; size += size < 9000 ? 1 : 13) {
        void **place = &kept[size % KEPT];
        free(*place);
        void *block = malloc(size);
        CHECK_THAT(block && aligned(block, expected_alignment(size)), "malloc(%zu) = %p", size,
                   block);
        block = realloc(block, size + 16);
        CHECK_THAT(block && aligned(block, 16), "realloc(.., %zu) = %p", size + 16, block);
        free(block);
        *place = calloc(1, size);
        CHECK_THAT(*place && aligned(*place, expected_alignment(size)), "calloc(1, %zu) = %p", size,
                   *place);
    }
    for (size_t i = 0; i < KEPT; i++) {
        free(kept[i]);
    }
}

static void large_sizes(void) {
    for (size_t size = 70000; size < ((size_t)64 << 20); size += size / 7) {
        void *block = malloc(size);
        CHECK_THAT(block && aligned(block, 16), "malloc(%zu) = %p", size, block);
        free(block);
    }
}

static void *by_call(unsigned call, size_t alignment, size_t size) {
    void *block = NULL;
    switch (call) {
    case 0:
        return aligned_alloc(alignment, size);
    case 1:
        return memalign(alignment, size);
    default:
        CHECK(posix_memalign(&block, alignment, size) == 0);
        return block;
    }
}

static void every_alignment(void) {
    static const size_t sizes[] = {1, 16, 100, 4096, 5000, 65536, 100000, 1 << 20, 3 << 20};
    for (size_t alignment = sizeof(void *); alignment <= (8u << 20); alignment *= 2) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            void *blocks[3];
            for (unsigned call = 0; call < 3; call++) {
                blocks[call] = by_call(call, alignment, sizes[s]);
                CHECK_THAT(blocks[call] && aligned(blocks[call], alignment),
                           "call %u, alignment %zu, size %zu: %p", call, alignment, sizes[s],
                           blocks[call]);
                CHECK(malloc_usable_size(blocks[call]) >= sizes[s]);
                pattern_fill(blocks[call], sizes[s], alignment + s * 8 + call);
            }
            for (unsigned call = 0; call < 3; call++) {
                CHECK(pattern_holds(blocks[call], sizes[s], alignment + s * 8 + call));
            }
            blocks[0] = realloc(blocks[0], sizes[s] * 2);
            CHECK(blocks[0] && pattern_holds(blocks[0], sizes[s], alignment + s * 8));
            for (unsigned call = 0; call < 3; call++) {
                free(blocks[call]);
            }
        }
    }
}

static void pages(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t size = 1; size < 5 * page; size += 977) {
        void *block = valloc(size);
        CHECK(block && aligned(block, page));
        void *whole = pvalloc(size);
        CHECK(whole && aligned(whole, page));
        size_t rounded = (size + page - 1) / page * page;
        CHECK_THAT(malloc_usable_size(whole) >= rounded, "pvalloc(%zu): usable %zu", size,
                   malloc_usable_size(whole));
        memset(whole, 1, rounded);
        free(block);
        free(whole);
    }
}

int main(void) {
    every_small_size();
    large_sizes();
    every_alignment();
    pages();
    return 0;
}
