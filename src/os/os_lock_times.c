/* Sums for each rank, and the table. */
#include "os_lock_times.h"

#if FALLOW_LOCK_TIMES

#include <stdatomic.h>

#include "fmt.h"
#include "os_clock.h"
#include "os_lock.h"
#include "os_log.h"

static struct { _Atomic uint64_t taken, waited, cycles, longest; } lock_times[RANK_COUNT];

static uint64_t lock_times_cycles, lock_times_ns; /* at the start, to learn the counter's rate */

static __attribute__((__constructor__)) void lock_times_begin(void) {
    lock_times_cycles = os_lock_cycles();
    lock_times_ns = os_clock_fine_ns();
}

void os_lock_times_note(unsigned rank, uint64_t cycles) {
    atomic_fetch_add_explicit(&lock_times[rank].taken, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&lock_times[rank].cycles, cycles, memory_order_relaxed);
    uint64_t longest = atomic_load_explicit(&lock_times[rank].longest, memory_order_relaxed);
    while (cycles > longest &&
           !atomic_compare_exchange_weak_explicit(&lock_times[rank].longest, &longest, cycles,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void os_lock_times_note_wait(unsigned rank) {
    atomic_fetch_add_explicit(&lock_times[rank].waited, 1, memory_order_relaxed);
}

/* lock NAME TIMES-TAKEN TIMES-WAITED-FOR NS-HELD-IN-ALL NS-HELD-AT-MOST, a line for each that was taken. */
static __attribute__((__destructor__)) void lock_times_print(void) {
    uint64_t cycles = os_lock_cycles() - lock_times_cycles;
    double ns_of_cycle = (double)(os_clock_fine_ns() - lock_times_ns) / (double)(cycles + 1);
    for (unsigned rank = 0; rank < RANK_COUNT; rank++) {
        char text[160];
        struct fmt f = fmt_start(text, sizeof text);
        const uint64_t figures[] = {lock_times[rank].taken, lock_times[rank].waited,
                                    (uint64_t)((double)lock_times[rank].cycles * ns_of_cycle),
                                    (uint64_t)((double)lock_times[rank].longest * ns_of_cycle)};
        if (figures[0] == 0)
            continue;
        fmt_str(&f, "lock ");
        fmt_str(&f, os_lock_rank_name(rank));
        for (unsigned i = 0; i < ARRAY_COUNT(figures); i++) {
            fmt_char(&f, ' ');
            fmt_u64(&f, figures[i]);
        }
        fmt_char(&f, '\n');
        os_log(f.buf, f.len);
    }
}

#endif
