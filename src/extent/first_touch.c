/* Two dear ones in a row count: a single one may have lost its CPU in between. How long that is believed is in proportion to
   the cost, so that asking again takes at most half a percent of the time. */
#include "first_touch.h"

#include "counters.h"
#include "os_clock.h"
#include "os_memcheck.h"

enum {
    FIRST_TOUCH_DEAR_NS =
        1500000, /* fifteen times what clearing takes, and more than small pages */
    FIRST_TOUCH_IN_A_ROW = 2,
    FIRST_TOUCH_BELIEF = 200, /* times what the touch took, */
    FIRST_TOUCH_LARGE =
        8, /* cheap ones of large blocks in a process's life: it might never have touched these */
};

static const uint64_t first_touch_believed_ns = 2000000000; /* at most */

static _Atomic uint64_t first_touch_last_ns; /* one a tick of the coarse clock */
static _Atomic uint64_t first_touch_dear_until_ns;
static _Atomic unsigned first_touch_in_a_row;
static _Atomic unsigned first_touch_large; /* cheap ones so far */

bool first_touch_is_dear(uint64_t now_ns) {
    return now_ns < atomic_load_explicit(&first_touch_dear_until_ns, memory_order_relaxed);
}

void first_touch_note(uint64_t now_ns, uint64_t took_ns) {
    counters_add(COUNTER_huge_touches_timed, 1);
    if (took_ns < FIRST_TOUCH_DEAR_NS) {
        atomic_store_explicit(&first_touch_in_a_row, 0, memory_order_relaxed);
        return;
    }
    counters_add(COUNTER_huge_touches_dear, 1);
    if (atomic_fetch_add_explicit(&first_touch_in_a_row, 1, memory_order_relaxed) + 1 <
        FIRST_TOUCH_IN_A_ROW)
        return;
    atomic_store_explicit(&first_touch_dear_until_ns,
                          now_ns + min_u64(took_ns * FIRST_TOUCH_BELIEF, first_touch_believed_ns),
                          memory_order_relaxed);
}

void first_touch_sample(struct chunk *chunk, bool large) {
    uint64_t now_ns = os_clock_coarse_ns();
    if (os_memcheck_is_on() || /* which takes longer for everything */
        (large &&
         atomic_load_explicit(&first_touch_large, memory_order_relaxed) >= FIRST_TOUCH_LARGE) ||
        atomic_exchange_explicit(&first_touch_last_ns, now_ns, memory_order_relaxed) == now_ns)
        return;
    uint64_t start_ns = os_clock_fine_ns();
    *(volatile char *)chunk->base = 0; /* what it reads as anyway */
    uint64_t took_ns = os_clock_fine_ns() - start_ns;
    first_touch_note(now_ns, took_ns);
    if (large && took_ns < FIRST_TOUCH_DEAR_NS)
        atomic_fetch_add_explicit(&first_touch_large, 1, memory_order_relaxed);
}
