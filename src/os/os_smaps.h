/* Resident memory as the kernel accounts for it. */
#pragma once

#include "compiler.h"

struct os_smaps {
    uint64_t rss_bytes;       /* lazily freed memory included */
    uint64_t pss_bytes;       /* shared pages divided by the number of sharers */
    uint64_t anonymous_bytes; /* lazily freed memory included */
    uint64_t lazyfree_bytes;  /* 4.12; the part of rss the kernel may take without asking */
    uint64_t anon_huge_bytes;
    uint64_t swap_bytes;
    bool from_rollup; /* else summed over the mappings */
};

/* Costs ~13 ms per GiB of small pages under mmap_lock: for reports and samples, not for control.
   False if /proc does not say; *out is zeroes then. No allocation. */
bool os_smaps_read(struct os_smaps *out);

/* Calls `visit` with each mapping's addresses and its part of Rss. False if /proc does not say. */
bool os_smaps_visit(void (*visit)(uintptr_t start, uintptr_t end, size_t rss_bytes, void *context),
                    void *context);

/* The same as os_smaps_read() from any file in either format. */
bool os_smaps_read_path(const char *path, struct os_smaps *out);
