/*
 * gp#724, mi#577, je#1096: posix_memalign(2 MiB, 2 MiB) works, and pairs of it with free do not creep
 * through the address space, also with other blocks alive between them.
 */
#include "pattern.h"
#include "resident.h"
#include "under_test.h"

static const size_t huge = (size_t)2 << 20;

static void pairs(size_t alignment, size_t size) {
    uintptr_t lowest = UINTPTR_MAX;
    uintptr_t highest = 0;
    void *between[8] = {0};
    size_t mapped = 0;
    for (size_t i = 0; i < 3000; i++) {
        void *block = NULL;
        int error = posix_memalign(&block, alignment, size);
        CHECK_THAT(error == 0, "posix_memalign(.., %zu, %zu) = %d", alignment, size, error);
        CHECK((uintptr_t)block % alignment == 0);
        ((char *)block)[0] = 1;
        ((char *)block)[size - 1] = 1;
        lowest = (uintptr_t)block < lowest ? (uintptr_t)block : lowest;
        highest = (uintptr_t)block > highest ? (uintptr_t)block : highest;
        free(between[i % 8]);
        between[i % 8] = malloc(1000 + i % 8 * 10000);
        CHECK(between[i % 8] != NULL);
        free(block);
        if (i == 100) {
            mapped = resident_address_space_bytes();
        }
    }
    size_t creep = (size_t)64 << 20;
    CHECK_THAT(highest - lowest < creep, "alignment %zu, size %zu: from %p to %p", alignment, size,
               (void *)lowest, (void *)highest);
    CHECK_THAT(resident_address_space_bytes() < mapped + creep,
               "alignment %zu, size %zu: address space grew from %zu to %zu", alignment, size,
               mapped, resident_address_space_bytes());
    for (size_t i = 0; i < 8; i++) {
        free(between[i]);
    }
}

/* The same when so many are freed together that a thread keeps few of them at hand. */
static void batches(size_t alignment, size_t size) {
    enum { TOGETHER = 40 };
    size_t mapped = 0;
    for (size_t round = 0; round < 100; round++) {
        void *blocks[TOGETHER];
        for (size_t i = 0; i < TOGETHER; i++) {
            int error = posix_memalign(&blocks[i], alignment, size);
            CHECK_THAT(error == 0, "posix_memalign(.., %zu, %zu) = %d", alignment, size, error);
            CHECK((uintptr_t)blocks[i] % alignment == 0);
        }
        for (size_t i = 0; i < TOGETHER; i++) {
            free(blocks[i]);
        }
        if (round == 3) {
            mapped = resident_address_space_bytes();
        }
    }
    size_t now = resident_address_space_bytes();
    CHECK_THAT(now < mapped + TOGETHER * alignment,
               "alignment %zu, size %zu: address space grew from %zu to %zu", alignment, size,
               mapped, now);
}

int main(void) {
    pairs(huge, huge);
    pairs(huge, 100);
    pairs(huge * 2, huge);
    pairs(65536, huge + 4096);
    pairs(4096, 4096);
    batches(huge, huge);
    batches(huge * 2, huge);
    batches(65536, huge + 4096);
    return 0;
}
