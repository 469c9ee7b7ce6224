/* Fallow: a malloc that gives free memory back lazily.
 *
 * The same calls as the C library's under names of their own, and what only Fallow offers: purging on
 * request, statistics, and the resident set as it really is. All functions may be called from any
 * thread at any time, from constructors to the last destructor, and in a child after fork(); none is
 * async-signal-safe. Sizes are bytes. Memory from any allocation function here (and from malloc and
 * its kin, where Fallow serves those names) may be freed by any free function here, in any thread. Two
 * structs have the names of the functions that fill them: say `struct fallow_stats` in C++, too. */
#ifndef FALLOW_FALLOW_H
#define FALLOW_FALLOW_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FALLOW_VERSION_MAJOR 0
#define FALLOW_VERSION_MINOR 1

/* Allocation. Blocks of 16 bytes or more are aligned to 16, smaller ones too. On failure: NULL with
 * errno ENOMEM, also for sizes above PTRDIFF_MAX and for products that overflow; EINVAL for an
 * alignment that is not a power of two. A request for 0 bytes gives a unique block. */

/* C17 7.22.3.4 */
void *fallow_malloc(size_t size);
/* C17 7.22.3.2; the block reads as zero. */
void *fallow_calloc(size_t count, size_t size);
/* C17 7.22.3.5; size 0 frees the block and returns NULL, as glibc does. On failure the old block is
 * untouched. */
void *fallow_realloc(void *p, size_t size);
/* POSIX.1-2024 */
void *fallow_reallocarray(void *p, size_t count, size_t size);
/* C17 7.22.3.1; size need not be a multiple of the alignment. */
void *fallow_aligned_alloc(size_t alignment, size_t size);
/* POSIX.1-2017; returns 0, EINVAL or ENOMEM, and leaves errno and, on failure, *out alone. */
int fallow_posix_memalign(void **out, size_t alignment, size_t size);
/* Traditional: alignment to a power of two, to a page, to a page with whole pages. */
void *fallow_memalign(size_t alignment, size_t size);
void *fallow_valloc(size_t size);
void *fallow_pvalloc(size_t size);

/* C17 7.22.3.3; keeps errno. */
void fallow_free(void *p);
/* C23 7.24.3.4 and 7.24.3.5: the arguments of the allocation again. */
void fallow_free_sized(void *p, size_t size);
void fallow_free_aligned_sized(void *p, size_t alignment, size_t size);

/* How many bytes from p on may be read and written: constant for the block's life; 0 for NULL and for
 * what is not Fallow's. */
size_t fallow_usable_size(const void *p);

/* Free memory is dirty (resident), then lazy (MADV_FREE: the kernel may take it without asking), then
 * clean (not resident). This does at once what time would do, for all arenas, for the large blocks
 * that threads keep for reuse, and for what the calling thread's own heap has empty. What another thread
 * is purging at the moment is waited for, a tenth of a second at most. Returns for how many bytes the
 * kernel agreed. */
enum fallow_purge_level {
    FALLOW_PURGE_LAZY,  /* dirty memory becomes lazy, or clean under purge:dontneed */
    FALLOW_PURGE_CLEAN, /* dirty and lazy memory is given back */
};
size_t fallow_purge(enum fallow_purge_level level);

/* What the kernel says of the process, from /proc/self/smaps_rollup (about 13 ms for each GiB of small
 * pages). False, with errno ENOENT, where there is no such file. The last two are 0 where the kernel does not
 * say: from /proc/self/pagemap, for the chunks that have lazy memory, and from the memory cgroup's own
 * file. */
struct fallow_rss {
    size_t kernel_bytes;     /* Rss */
    size_t lazy_bytes;       /* LazyFree: in Rss, but the kernel may take it at any moment */
    size_t honest_bytes;     /* Rss - LazyFree */
    size_t lazy_taken_bytes; /* not in Rss: Fallow's lazy memory that was taken, or never touched */
    size_t cgroup_bytes;     /* charged to the own memory cgroup: all its processes, and files */
};
bool fallow_rss(struct fallow_rss *out);

/* Why the resident set is as large as it is: where the pages are that the kernel counts, each term found by
 * itself. All but the last two are bytes, resident now; their sum is the kernel's figure but for the
 * residual, which is what changed while the walk went on (and pages of zeroes before Linux 6.7). Walks
 * every page of the heap and /proc/self/smaps: for reports. False, with errno ENOENT, where the kernel
 * does not say. */
struct fallow_rss_why {
    size_t live_bytes;       /* blocks, small ones by the size of their class */
    size_t rounding_bytes;   /* of large blocks to 16 KiB, of slabs to whole objects */
    size_t slab_free_bytes;  /* in slabs, not in use */
    size_t dirty_bytes;      /* free */
    size_t lazy_bytes;       /* free, and the kernel may take it */
    size_t inflation_bytes;  /* free and given back or never touched, but on a huge page */
    size_t metadata_bytes;   /* Fallow's own records */
    size_t others_bytes;     /* the program, libraries, stacks, other allocators */
    size_t kernel_bytes;     /* Rss */
    size_t lazy_taken_bytes; /* not resident: lazy memory that was taken, or never touched */
};
bool fallow_rss_why(struct fallow_rss_why *out);

/* The heap, summed at one moment:
 *     mapped = active + dirty + lazy + busy + clean + metadata */
struct fallow_stats {
    size_t mapped_bytes;   /* address space from the kernel */
    size_t active_bytes;   /* in extents: live blocks, and free objects inside slabs */
    size_t dirty_bytes;    /* free, resident; large blocks kept for reuse are here */
    size_t lazy_bytes;     /* free, MADV_FREE'd: resident until the kernel takes it */
    size_t busy_bytes;     /* free, a purge in flight */
    size_t clean_bytes;    /* free, not resident */
    size_t metadata_bytes; /* mapped for Fallow's own records, touched as needed */
    size_t arenas;         /* how many there are */
};
void fallow_stats(struct fallow_stats *out);

/* The report that stats_at_exit prints, on standard error. */
void fallow_stats_print(void);

#ifdef __cplusplus
}
#endif

#endif
