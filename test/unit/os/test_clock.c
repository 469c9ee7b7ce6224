/* The coarse clock against the fine one. */
#include <criterion/criterion.h>
#include <time.h>

#include "os_clock.h"

Test(clock, advances_with_the_monotonic_clock) {
    uint64_t start = os_clock_coarse_ns();
    struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    uint64_t end = os_clock_coarse_ns();
    cr_assert_geq(end - start, 10000000U);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t fine = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    cr_assert_leq(fine - end, 1000000000U);
}
