#include "look.h"

#include "os_status.h"
#include "space.h"

/* A process that has mapped fewer chunks and has one heap is small. */
enum { LOOK_SMALL_CHUNKS = 8 };

bool look_is_allowed(void) {
    return (atomic_load_explicit(&space_mapped_chunks, memory_order_relaxed) >= LOOK_SMALL_CHUNKS ||
            atomic_load_explicit(&space_heaps, memory_order_relaxed) > 1) &&
           os_status_is_unfiltered();
}
