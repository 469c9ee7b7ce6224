/*
 * The statistics and options that glibc's malloc has beside malloc: they answer for Fallow's heap, with figures
 * that add up, and glibc's own heap is never begun.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "under_test.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void *__libc_valloc(size_t size);
void *__libc_pvalloc(size_t size);
void __libc_free(void *p);

static struct mallinfo2 info(void) {
    struct mallinfo2 info = mallinfo2();
    CHECK_THAT(info.arena == info.uordblks + info.fordblks, "%zu is not %zu + %zu", info.arena,
               info.uordblks, info.fordblks);
    CHECK(info.usmblks == 0);
    CHECK(info.fsmblks <= info.fordblks && info.keepcost <= info.fordblks);
    return info;
}

static void blocks_are_counted(void) {
    enum { COUNT = 2000, BYTES = 1000 };
    static void *blocks[COUNT];
    struct mallinfo2 before = info();
    for (int i = 0; i < COUNT; i++)
        CHECK((blocks[i] = malloc(BYTES)) != NULL);
    size_t more = info().uordblks - before.uordblks;
    CHECK_THAT(more >= (size_t)COUNT * BYTES && more < (size_t)COUNT * BYTES * 9 / 8, "%zu", more);
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    struct mallinfo2 after = info();
    CHECK_THAT(after.uordblks <= before.uordblks + 4096, "%zu, and %zu before", after.uordblks,
               before.uordblks);
    CHECK(after.smblks > 0 && after.fsmblks >= after.smblks * 16);
}

static void large_ones_too(void) {
    struct mallinfo2 before = info();
    void *large = malloc(700000), *huge = malloc((size_t)64 << 20);
    CHECK(large && huge);
    struct mallinfo2 with = info();
    CHECK(with.uordblks - before.uordblks >= 700000 && with.uordblks - before.uordblks < 800000);
    CHECK(with.hblks == before.hblks + 1);
    CHECK(with.hblkhd - before.hblkhd == (size_t)64 << 20);
    free(huge);
    free(large);
    CHECK(info().hblks == before.hblks);
}

/* The old struct has ints. */
static void what_is_too_large_for_an_int_is_said_so(void) {
    void *huge = malloc((size_t)3 << 30), *small = malloc(100);
    CHECK(huge && small);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo old = mallinfo();
#pragma GCC diagnostic pop
    CHECK(old.hblkhd == INT_MAX);
    CHECK(old.uordblks > 0 && old.uordblks < INT_MAX);
    free(small);
    free(huge);
}

static void trimming_gives_memory_back(void) {
    enum { BYTES = 32 << 20 };
    char *block = malloc(BYTES);
    CHECK(block != NULL);
    memset(block, 1, BYTES);
    free(block);
    CHECK(info().keepcost >= BYTES);
    CHECK(malloc_trim(0) == 1);
    struct mallinfo2 after = info();
    CHECK_THAT(after.keepcost < 1 << 20, "%zu", after.keepcost);
    malloc_trim(0);
    CHECK(malloc_trim(0) == 0); /* nothing was left */
}

static void options(void) {
    static const struct {
        int parameter, value, answer;
    } cases[] = {
        {M_TRIM_THRESHOLD, 1 << 20, 1},
        {M_TOP_PAD, 0, 1},
        {M_MMAP_THRESHOLD, 1 << 20, 1},
        {M_MMAP_MAX, 0, 1},
        {M_CHECK_ACTION, 3, 1},
        {M_ARENA_TEST, 1, 1},
        {M_ARENA_MAX, 2, 1},
        {M_ARENA_MAX, -1, 0},
        {M_MXFAST, 0, 1},
        {M_MXFAST, 100000, 0},
        {M_PERTURB, 0, 1},
        {M_PERTURB, 0x55, 0},
        {12345, 1, 0},
        {-99, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_THAT(mallopt(cases[i].parameter, cases[i].value) == cases[i].answer,
                   "mallopt(%d, %d) does not answer %d", cases[i].parameter, cases[i].value,
                   cases[i].answer);
}

static void one_heap_by_all_names(void) {
    void *blocks[] = {__libc_malloc(100),        __libc_calloc(10, 10), __libc_memalign(64, 100),
                      __libc_realloc(NULL, 100), __libc_valloc(100),    __libc_pvalloc(100)};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        CHECK(blocks[i] && malloc_usable_size(blocks[i]) >= 100);
        i % 2 ? free(blocks[i]) : __libc_free(blocks[i]);
    }
    void *p = malloc(100);
    CHECK(p && (p = __libc_realloc(p, 5000)) != NULL && malloc_usable_size(p) >= 5000);
    __libc_free(p);
}

static void streams(void) {
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    CHECK(stream != NULL);
    CHECK(malloc_info(1, stream) == EINVAL);
    CHECK(malloc_info(0, stream) == 0);
    CHECK(fclose(stream) == 0);
    CHECK(length > 200 && strncmp(text, "<malloc version=\"1\">\n", 21) == 0);
    CHECK(strcmp(text + length - 10, "</malloc>\n") == 0);
    free(text);
    FILE *full = fopen("/dev/full", "w");
    CHECK(full && setvbuf(full, NULL, _IONBF, 0) == 0);
    CHECK(malloc_info(0, full) == -1);
    fclose(full);
}

static void glibc_has_no_heap(void) {
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps))
        CHECK_THAT(strstr(line, "[heap]") == NULL, "%s", line);
    fclose(maps);
}

/* Before the constructor of any library has run. */
static size_t early_bytes = SIZE_MAX;

static void early(void) {
    early_bytes = mallinfo2().hblkhd;
}

__attribute__((section(".preinit_array"), used)) static void (*const early_call)(void) = early;

int main(void) {
    under_test_needs_fallow();
    CHECK(early_bytes == 0);
    options();
    blocks_are_counted();
    large_ones_too();
    what_is_too_large_for_an_int_is_said_so();
    trimming_gives_memory_back();
    one_heap_by_all_names();
    streams();
    malloc_stats();
    glibc_has_no_heap();
    under_test_check_law();
    return 0;
}
