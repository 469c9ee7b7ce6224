/* The purge policy on made-up levels and times: no memory, no clock. */
#include <criterion/criterion.h>

#include "../random.h"
#include "decay.h"

/* dirty_decay_ms is 100 here, so an epoch has 50 ms. */
enum { EPOCH = 50, DECAY = 2 * EPOCH };

static const uint64_t start = 1000; /* a machine is never up for 0 ns */

/* Plays levels: a digit is a level that the dirty memory sinks or rises to, a bar the end of an
   epoch, at which what is idle is purged. Returns what each bar found idle, as digits. */
static const char *play(const char *levels) {
    static char idle[64];
    struct decay decay = {0};
    uint64_t now = start;
    size_t level = 0, n = 0;
    decay_tick(&decay, 0, now, EPOCH);
    for (; *levels != '\0'; levels++) {
        if (*levels == '|') {
            now += EPOCH;
            size_t purged = decay_tick(&decay, level, now, EPOCH);
            idle[n++] = (char)('0' + purged);
            level -= purged;
        } else {
            level = (size_t)(*levels - '0');
        }
        decay_note(&decay, level);
    }
    idle[n] = '\0';
    return idle;
}

Test(decay, nothing_dirty_is_nothing_idle) {
    cr_assert_str_eq(play("|||"), "000");
}

Test(decay, what_falls_free_has_an_epoch_of_grace) {
    cr_assert_str_eq(play("7|"), "0");
    cr_assert_str_eq(play("7||"), "07");
}

Test(decay, the_lowest_level_of_an_epoch_is_idle) {
    cr_assert_str_eq(play("9|929|"), "02");
    cr_assert_str_eq(play("9|98798|"), "07");
    cr_assert_str_eq(play("9|989|99|"), "081");
}

Test(decay, what_is_purged_is_not_idle_again) {
    cr_assert_str_eq(play("5||||"), "0500");
    cr_assert_str_eq(play("9|929|||"), "0270");
}

Test(decay, a_loop_that_frees_and_takes_the_same_is_left_alone) {
    cr_assert_str_eq(play("808080|808080|808080|"), "000");
    cr_assert_str_eq(play("08|80|08|80|"), "0000");
}

Test(decay, of_a_loop_only_what_it_never_takes_is_idle) {
    /* 3 are left over: idle once, then the loop runs between 0 and 5. */
    cr_assert_str_eq(play("8|38383838|50505|05050|"), "0300");
}

Test(decay, the_first_tick_only_begins) {
    struct decay decay = {0};
    cr_assert(decay_is_due(&decay, start));
    decay_note(&decay, 9);
    cr_assert_eq(decay_tick(&decay, 9, start, EPOCH), 0u);
    cr_assert_not(decay_is_due(&decay, start + EPOCH - 1));
    cr_assert(decay_is_due(&decay, start + EPOCH));
    cr_assert_eq(decay_tick(&decay, 9, start + EPOCH, EPOCH), 9u);
}

Test(decay, a_tick_before_the_epochs_end_does_nothing) {
    struct decay decay = {0};
    decay_tick(&decay, 9, start, EPOCH);
    for (uint64_t t = 1; t < EPOCH; t++) {
        cr_assert_not(decay_is_due(&decay, start + t));
        cr_assert_eq(decay_tick(&decay, 9, start + t, EPOCH), 0u);
    }
    cr_assert_eq(decay.low, 9u);
    cr_assert_eq(decay_tick(&decay, 9, start + EPOCH, EPOCH), 9u);
}

Test(decay, after_a_long_sleep_one_tick_is_enough) {
    struct decay decay = {0};
    decay_tick(&decay, 5, start, EPOCH);
    uint64_t late = start + UINT64_C(1000000000000);
    cr_assert_eq(decay_tick(&decay, 5, late, EPOCH), 5u);
    cr_assert_not(decay_is_due(&decay, late + EPOCH - 1));
}

Test(decay, what_was_needed_long_before_anybody_looked_is_idle_all_the_same) {
    struct decay decay = {0};
    decay_tick(&decay, 9, start, EPOCH);
    decay_note(&decay, 2); /* seven are taken, and freed again, early in the epoch */
    cr_assert_eq(decay_tick(&decay, 9, start + EPOCH / 2, EPOCH), 0u);
    /* Then nobody calls for a second: all nine have been idle for whole epochs. */
    cr_assert_eq(decay_tick(&decay, 9, start + 1000, EPOCH), 9u);
}

Test(decay, after_a_sleep_what_was_needed_since_the_last_look_is_not_idle) {
    struct decay decay = {0};
    decay_tick(&decay, 9, start, EPOCH);
    cr_assert_eq(decay_tick(&decay, 9, start + EPOCH / 2, EPOCH), 0u);
    decay_note(&decay, 2); /* by the call that now looks */
    cr_assert_eq(decay_tick(&decay, 9, start + 1000, EPOCH), 2u);
}

Test(decay, a_burst_before_a_sleep_is_idle_at_the_first_look_after_it) {
    struct decay decay = {0};
    decay_tick(&decay, 0, start, EPOCH);
    for (size_t level = 1; level <= 9; level++) { /* freed one by one, with a look after each */
        decay_note(&decay, level);
        decay_look(&decay, start + level);
    }
    decay_note(&decay, 8); /* by the call that looks after a second */
    cr_assert_eq(decay_tick(&decay, 8, start + 1000, EPOCH), 8u);
}

Test(decay, a_level_above_the_low_one_changes_nothing) {
    struct decay decay = {.low = 4};
    decay_note(&decay, 5);
    cr_assert_eq(decay.low, 4u);
    decay_note(&decay, 4);
    cr_assert_eq(decay.low, 4u);
    decay_note(&decay, 3);
    cr_assert_eq(decay.low, 3u);
}

Test(decay, never_more_than_the_level_is_idle) {
    struct decay decay = {0};
    decay_tick(&decay, 9, start, EPOCH);
    cr_assert_eq(decay_tick(&decay, 2, start + EPOCH, EPOCH), 2u);
}

/* Memory that falls free `at` after the beginning of an epoch, with ticks as the program's calls
   come, `every` so often: when it is found idle, counted from the free. */
static uint64_t found_after(uint64_t at, uint64_t every) {
    struct decay decay = {0};
    uint64_t freed = start + at;
    decay_tick(&decay, 0, start, EPOCH);
    for (uint64_t now = start + 1;; now++) {
        if (now == freed)
            decay_note(&decay, 6);
        size_t level = now >= freed ? 6 : 0;
        if (now % every != 0)
            continue;
        size_t idle = decay_tick(&decay, level, now, EPOCH);
        if (idle != 0) {
            cr_assert_eq(idle, 6u);
            return now - freed;
        }
    }
}

Test(decay, what_falls_free_is_idle_within_dirty_decay) {
    for (uint64_t at = 1; at <= EPOCH; at++) {
        uint64_t after = found_after(at, 1);
        cr_assert_geq(after, (uint64_t)EPOCH, "freed %u ms into the epoch", (unsigned)at);
        cr_assert_leq(after, (uint64_t)DECAY, "freed %u ms into the epoch", (unsigned)at);
    }
}

Test(decay, rare_calls_delay_it_by_two_of_their_gaps_at_most) {
    for (uint64_t every = 2; every < 40; every++)
        for (uint64_t at = 1; at <= EPOCH; at += 7)
            cr_assert_leq(found_after(at, every), DECAY + 2 * every);
}

/* Buffers are freed and taken in bursts; of `kept` granules nobody takes any. */
static size_t purged_by_steady_load(size_t buffers, size_t kept, unsigned epochs) {
    struct random r = {7};
    struct decay decay = {0};
    size_t level = buffers + kept, purged = 0;
    uint64_t now = start;
    decay_tick(&decay, level, now, EPOCH);
    for (; now < start + (uint64_t)epochs * EPOCH; now++) {
        for (unsigned i = 0; i < 4; i++) {
            size_t floor = level - buffers; /* all buffers are taken, then freed again */
            decay_note(&decay, floor);
            decay_note(&decay, floor + random_below(&r, (unsigned)buffers + 1));
        }
        size_t idle = decay_tick(&decay, level, now, EPOCH);
        level -= idle;
        purged += idle;
    }
    return purged;
}

Test(decay, a_steady_load_is_never_purged) {
    cr_assert_eq(purged_by_steady_load(100, 0, 100), 0u);
}

Test(decay, a_steady_load_loses_what_it_never_takes_once) {
    cr_assert_eq(purged_by_steady_load(100, 1000, 100), 1000u);
}
