/* Owns the cached page size: zero until first asked for, constant afterwards (tests aside). Threads
   that ask first at once all store the same number, so a relaxed access is enough. No lock. */
#include "os_page.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "fmt.h"
#include "os_env.h"

static _Atomic size_t os_page_bytes;

size_t os_page_kernel_size(void) {
    int saved = errno; /* which getauxval sets where there is no vector: in an emulator */
    size_t bytes = getauxval(AT_PAGESZ);
    errno = saved;
    return bytes != 0 ? bytes : 4096;
}

/* Debug builds take a larger page for the kernel's, if FALLOW_TEST_PAGE_BYTES says so. */
static size_t os_page_pretended(size_t kernel_bytes) {
    const char *text = FALLOW_DEBUG ? os_env("FALLOW_TEST_PAGE_BYTES") : NULL;
    int64_t bytes = 0;
    if (text == NULL || !fmt_parse_i64(text, strlen(text), &bytes) || bytes <= 0 ||
        !is_pow2((size_t)bytes) || (size_t)bytes < kernel_bytes)
        return kernel_bytes;
    return (size_t)bytes;
}

size_t os_page_size(void) {
    size_t bytes = atomic_load_explicit(&os_page_bytes, memory_order_relaxed);
    if (unlikely(bytes == 0)) {
        bytes = os_page_pretended(os_page_kernel_size());
        atomic_store_explicit(&os_page_bytes, bytes, memory_order_relaxed);
    }
    return bytes;
}

void os_page_size_set(size_t bytes) {
    atomic_store_explicit(&os_page_bytes, bytes, memory_order_relaxed);
}
