/* Reads entries of /proc/self/pagemap, one 64-bit word for each page. Needs no privilege for the bits
   that are read here. No state. */
#include "os_shared.h"

#include "os_file.h"
#include "os_page.h"
#include "os_syscall.h"

enum { PAGEMAP_WORDS = 128 };

static const uint64_t pagemap_present = (uint64_t)1 << 63;
static const uint64_t pagemap_exclusive = (uint64_t)1 << 56;

int os_shared_open(void) {
    return os_file_open("/proc/self/pagemap");
}

bool os_shared_is(int fd, const void *addr, size_t bytes) {
    uint64_t words[PAGEMAP_WORDS] = {0};
    size_t page = (uintptr_t)addr / os_page_kernel_size();
    size_t left = bytes / os_page_kernel_size();
    while (left > 0) {
        size_t n = min_size(left, PAGEMAP_WORDS);
        long got = os_syscall4(SYS_pread64, fd, (long)words, (long)(n * sizeof *words),
                               (long)(page * sizeof *words));
        if (got != (long)(n * sizeof *words))
            return true;
        for (size_t i = 0; i < n; i++)
            if ((words[i] & pagemap_present) != 0 && (words[i] & pagemap_exclusive) == 0)
                return true;
        page += n;
        left -= n;
    }
    return false;
}
