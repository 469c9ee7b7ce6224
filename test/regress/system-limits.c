/*
 * Much fragmentation, for limits of the whole system (system-limits.sh): blocks of all sizes come and go,
 * two in three are freed for good, and everything is purged in between. Contents stay; so does the number
 * of the process's maps, given as the argument.
 */
#include <stdio.h>

#include "pattern.h"
#include "resident.h"
#include "threads.h"
#include "under_test.h"

enum { BLOCKS = 20000, ROUNDS = 4 };

static size_t maps_now(void) {
    size_t lines = 0;
    char text[65536];
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    for (ssize_t got; (got = read(file, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < got; i++) {
            lines += text[i] == '\n';
        }
    }
    close(file);
    return lines;
}

int main(int argc, char **argv) {
    static struct {
        void *p;
        size_t bytes;
    } blocks[BLOCKS];
    uint64_t random = 7;
    CHECK(argc == 2);
    size_t most = strtoul(argv[1], NULL, 10), highest = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            if (blocks[i].p == NULL) {
                size_t scale = (size_t)1 << pattern_random(&random) % 19;
                blocks[i].bytes = 1 + pattern_random(&random) % scale;
                blocks[i].p = malloc(blocks[i].bytes);
                CHECK(blocks[i].p != NULL);
                pattern_fill(blocks[i].p, blocks[i].bytes, i);
            }
        }
        for (size_t i = 0; i < BLOCKS; i++) {
            if (pattern_random(&random) % 3 != 0) {
                CHECK(pattern_holds(blocks[i].p, blocks[i].bytes, i));
                free(blocks[i].p);
                blocks[i].p = NULL;
            }
        }
        under_test_purge(round % 2 == 0 ? FALLOW_PURGE_LAZY : FALLOW_PURGE_CLEAN);
        size_t maps = maps_now();
        highest = maps > highest ? maps : highest;
    }
    printf("at most %zu maps\n", highest);
    CHECK_THAT(highest <= most, "%zu maps", highest);
    for (size_t i = 0; i < BLOCKS; i++) {
        CHECK(blocks[i].p == NULL || pattern_holds(blocks[i].p, blocks[i].bytes, i));
    }
    return 0;
}
