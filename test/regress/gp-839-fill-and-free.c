/*
 * gp#839: many blocks of 4500 bytes, allocated all, freed all, over and over: the time of the system was
 * many times that of never purging. What there is to count is system calls: each round finds what the
 * one before has freed, and purges none of it.
 */
#include "under_test.h"

enum { BLOCKS = 120000, ROUNDS = 12, BYTES = 4500 };

int main(void) {
    static char *blocks[BLOCKS];
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            blocks[i] = malloc(BYTES);
            CHECK(blocks[i] != NULL);
            blocks[i][0] = blocks[i][BYTES - 1] = (char)i;
        }
        for (size_t i = 0; i < BLOCKS; i++) {
            CHECK(blocks[i][0] == (char)i && blocks[i][BYTES - 1] == (char)i);
            free(blocks[i]);
        }
    }
    return 0;
}
