/*
 * je#335: realloc from 1 KB, doubled up to 256 MB, again and again, was slower than glibc's, which moves pages instead
 * of copying bytes. Only the first and the last byte of each size are written, so that a copy shows: it reads every page
 * of the old block and writes every page of the new one. Something else is allocated behind the block each time, so
 * that growing in place alone will not do. Prints the page faults; je-335-realloc-doubling.sh compares.
 */
#include <sys/resource.h>

#include "under_test.h"

enum { ROUNDS = 3 };

static const size_t smallest = 1 << 10;
static const size_t largest = (size_t)256 << 20;

static void mark(char *block, size_t size) {
    block[0] = (char)(size >> 10);
    block[size - 1] = 7;
}

static bool is_marked(const char *block, size_t size) {
    return block[0] == (char)(size >> 10) && block[size - 1] == 7;
}

static void once(void) {
    void *between[32] = {0};
    size_t count = 0;
    char *block = malloc(smallest);
    CHECK(block != NULL);
    mark(block, smallest);
    for (size_t size = smallest; size < largest; size *= 2) {
        between[count] = malloc(size);
        CHECK(between[count] != NULL);
        count++;
        block = realloc(block, size * 2);
        CHECK(block && is_marked(block, size));
        mark(block, size * 2);
    }
    free(block);
    for (size_t i = 0; i < count; i++) {
        free(between[i]);
    }
}

int main(void) {
    struct rusage usage;
    for (int round = 0; round < ROUNDS; round++) {
        once();
    }
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    printf("%ld\n", usage.ru_minflt);
    return 0;
}
