/*
 * calloc answers zeroes on reused memory in every state it can be in: dirty, lazy (where each page is
 * old bytes or zero until written), clean; from 16 bytes to 64 MiB, and what realloc adds is no
 * excuse: the caller's bytes only. Run as well with every madvise refused.
 */
#include "pattern.h"
#include "under_test.h"

enum reuse { REUSE_DIRTY, REUSE_LAZY, REUSE_CLEAN, REUSE_STATES };

static void prepare(enum reuse reuse) {
    if (reuse == REUSE_LAZY) {
        under_test_purge(FALLOW_PURGE_LAZY);
    } else if (reuse == REUSE_CLEAN) {
        under_test_purge(FALLOW_PURGE_CLEAN);
    }
}

static void check_zero(const void *block, size_t size, enum reuse reuse) {
    size_t at = pattern_not_zero_at(block, size);
    CHECK_THAT(at == size, "calloc of %zu bytes in state %d: byte %zu is not zero", size,
               (int)reuse, at);
}

static void one_size(size_t size, size_t count, enum reuse reuse) {
    static void *blocks[512];
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(size);
        CHECK(blocks[i] != NULL);
        memset(blocks[i], 0xa5, malloc_usable_size(blocks[i]));
    }
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
    prepare(reuse);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = i % 2 ? calloc(1, size) : calloc(size / 8, 8);
        CHECK(blocks[i] != NULL);
        check_zero(blocks[i], size / 8 * 8, reuse);
        memset(blocks[i], 0x5a, size);
    }
    for (size_t i = 0; i < count; i++) {
        free(blocks[i]);
    }
}

/* Parts of a freed huge block, some of them purged and some not, handed out again in pieces. */
static void in_pieces(void) {
    size_t whole = (size_t)24 << 20;
    for (int round = 0; round < 4; round++) {
        char *block = malloc(whole);
        CHECK(block != NULL);
        memset(block, 0xa5, whole);
        free(block);
        prepare((enum reuse)(round % REUSE_STATES));
        block = malloc(whole / 3);
        CHECK(block != NULL);
        memset(block, 0xa5, whole / 3);
        free(block);
        void *pieces[24];
        for (size_t i = 0; i < 24; i++) {
            pieces[i] = calloc(1, (size_t)900000);
            CHECK(pieces[i] != NULL);
            check_zero(pieces[i], 900000, (enum reuse)(round % REUSE_STATES));
            memset(pieces[i], 0xa5, 900000);
        }
        for (size_t i = 0; i < 24; i++) {
            free(pieces[i]);
        }
    }
}

int main(void) {
    static const size_t sizes[] = {
        16,     32,     48,     64,      112,     256,           1000,    1024,    2048,
        4096,   10000,  16384,  32768,   40960,   65536,         131072,  200000,  262144,
        262152, 300000, 524288, 1 << 20, 2 << 20, (2 << 20) + 8, 3 << 20, 8 << 20, 64 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= check_scaled(64) << 20;
         i++) {
        size_t count = (check_scaled(16) << 20) / sizes[i];
        size_t most = check_scaled(512);
        count = count > most ? most : count < 2 ? 2 : count;
        for (int reuse = 0; reuse < REUSE_STATES; reuse++) {
            one_size(sizes[i], count, (enum reuse)reuse);
        }
    }
    in_pieces();
    return 0;
}
