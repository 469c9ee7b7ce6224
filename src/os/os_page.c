/* Owns the cached page size: zero until first asked for, constant afterwards (tests aside). Threads
   that ask first at once all store the same number, so a relaxed access is enough. No lock. */
#include "os_page.h"

#include <stdatomic.h>
#include <sys/auxv.h>

static _Atomic size_t os_page_bytes;

size_t os_page_size(void) {
    size_t bytes = atomic_load_explicit(&os_page_bytes, memory_order_relaxed);
    if (unlikely(bytes == 0)) {
        bytes = getauxval(AT_PAGESZ);
        if (bytes == 0)
            bytes = 4096; /* an emulator that passes no vector */
        atomic_store_explicit(&os_page_bytes, bytes, memory_order_relaxed);
    }
    return bytes;
}

void os_page_size_set(size_t bytes) {
    atomic_store_explicit(&os_page_bytes, bytes, memory_order_relaxed);
}
