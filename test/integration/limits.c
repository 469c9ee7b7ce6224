/*
 * Little address space: under RLIMIT_AS of 16 MiB a loop of malloc(4 MB) and free works for ever;
 * memory used up to the end answers NULL with ENOMEM, at every size, and works again once some is
 * freed; nothing is lost on the way, whatever order it is given back in.
 */
#include <errno.h>
#include <sys/resource.h>

#include "pattern.h"
#include "resident.h"
#include "under_test.h"

static void limit_address_space(size_t bytes) {
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void loop_of_large(void) {
    for (int i = 0; i < 2000; i++) {
        unsigned char *block = malloc(4000000);
        CHECK_THAT(block != NULL, "no 4 MB at the %dth time", i);
        block[0] = 1;
        block[3999999] = 1;
        free(block);
    }
}

/* Takes blocks of one size until there are none, and gives them back; answers how many there were. */
static size_t use_up(size_t size, int order) {
    void **newest = NULL;
    size_t count = 0;
    for (;;) {
        errno = 0;
        void **block = malloc(size);
        if (!block) {
            CHECK_THAT(errno == ENOMEM, "size %zu: errno is %d", size, errno);
            break;
        }
        memset(block, 0x77, size);
        *block = newest;
        newest = block;
        count++;
    }
    CHECK(malloc(size * 2 + ((size_t)64 << 20)) == NULL && errno == ENOMEM);
    while (newest) {
        void **block = newest;
        newest = *block;
        if (order == 1 && newest) { /* every second one first, as far as a list allows */
            void **second = newest;
            newest = *second;
            free(second);
        }
        free(block);
    }
    return count;
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "small") == 0) {
        /* The whole process, program and libraries included, in 16 MiB. */
        limit_address_space((size_t)16 << 20);
        loop_of_large();
        return 0;
    }
    size_t room = (size_t)48 << 20;
    limit_address_space(resident_address_space_bytes() + room);
    static const size_t sizes[] = {64, 1000, 30000, 200000, 1 << 20, 5 << 20};
    size_t counts[sizeof sizes / sizeof *sizes];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t got = use_up(sizes[i], round % 2);
            CHECK_THAT(got * sizes[i] > room / 2, "round %d: only %zu blocks of %zu bytes", round,
                       got, sizes[i]);
            if (round == 0) {
                counts[i] = got;
            }
            CHECK_THAT(got >= counts[i] / 4 * 3,
                       "round %d: %zu blocks of %zu bytes, %zu at first: memory was lost", round,
                       got, sizes[i], counts[i]);
            under_test_check_law();
        }
        loop_of_large();
    }
    return 0;
}
