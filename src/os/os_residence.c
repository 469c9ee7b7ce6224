/* Reads /proc/self/pagemap, by its ioctl or entry by entry; no privilege is needed for what is read here.
   No state, no allocation. */
#include "os_residence.h"

#include "os_file.h"
#include "os_page.h"
#include "os_syscall.h"

enum { RESIDENCE_REGIONS = 64, RESIDENCE_WORDS = 128 };

static const uint64_t residence_present = (uint64_t)1 << 63; /* of an entry */

/* linux/fs.h of 6.7, which the build's headers may not have. */
struct residence_region {
    uint64_t start, end, categories;
};

struct residence_scan {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

enum { RESIDENCE_IS_PRESENT = 1 << 3, RESIDENCE_IS_ZERO = 1 << 5, RESIDENCE_IS_HUGE = 1 << 6 };

/* _IOWR('f', 16, struct residence_scan) */
static const unsigned long residence_scan_request =
    3UL << 30 | sizeof(struct residence_scan) << 16 | 'f' << 8 | 16;

int os_residence_open(void) {
    return os_file_open("/proc/self/pagemap");
}

/* What is found out: a bit for each resident page where there is a bitmap, and how much it is. */
struct residence {
    uint64_t *bitmap;
    size_t resident_bytes;
};

/* [from, from + bytes) is resident; `from` is an offset. */
static void residence_note(struct residence *out, size_t from, size_t bytes) {
    size_t page_bytes = os_page_size();
    out->resident_bytes += bytes;
    if (out->bitmap == NULL)
        return;
    for (size_t page = from / page_bytes; page * page_bytes < from + bytes; page++)
        out->bitmap[page / 64] |= (uint64_t)1 << (page % 64);
}

static bool residence_by_scan(int fd, uintptr_t base, size_t pages, struct residence *out) {
    struct residence_region regions[RESIDENCE_REGIONS] = {0};
    uintptr_t at = base, end = base + pages * os_page_size();
    while (at < end) {
        struct residence_scan scan = {
            .size = sizeof scan,
            .start = at,
            .end = end,
            .vec = (uintptr_t)regions,
            .vec_len = RESIDENCE_REGIONS,
            .category_inverted = RESIDENCE_IS_ZERO,
            .category_mask = RESIDENCE_IS_PRESENT | RESIDENCE_IS_ZERO,
            .return_mask = RESIDENCE_IS_PRESENT,
        };
        long n = os_syscall3(SYS_ioctl, fd, (long)residence_scan_request, (long)&scan);
        if (os_syscall_failed(n) || scan.walk_end <= at)
            return false;
        for (long i = 0; i < n; i++)
            residence_note(out, regions[i].start - base, regions[i].end - regions[i].start);
        at = scan.walk_end;
    }
    return true;
}

/* An emulator may have pages of another size than the kernel whose file this is. What is written just now is
   resident. */
static bool residence_is_told(int fd) {
    volatile uint64_t word = 0;
    uint64_t entry = 0;
    long at = (long)((uintptr_t)&word / os_page_kernel_size() * sizeof entry);
    word = 1;
    return os_syscall4(SYS_pread64, fd, (long)&entry, sizeof entry, at) == sizeof entry &&
           (entry & residence_present) != 0;
}

static bool residence_by_entry(int fd, uintptr_t base, size_t pages, struct residence *out) {
    uint64_t words[RESIDENCE_WORDS] = {0};
    size_t unit = os_page_kernel_size();
    size_t first = base / unit, count = pages * os_page_size() / unit;
    if (!residence_is_told(fd))
        return false;
    for (size_t done = 0; done < count;) {
        size_t n = min_size(count - done, RESIDENCE_WORDS);
        long got = os_syscall4(SYS_pread64, fd, (long)words, (long)(n * sizeof *words),
                               (long)((first + done) * sizeof *words));
        if (got != (long)(n * sizeof *words))
            return false;
        for (size_t i = 0; i < n; i++)
            if ((words[i] & residence_present) != 0)
                residence_note(out, (done + i) * unit, unit);
        done += n;
    }
    return true;
}

bool os_residence_is_huge(int fd, const void *base, size_t bytes) {
    struct residence_region region = {0};
    struct residence_scan scan = {
        .size = sizeof scan,
        .start = (uintptr_t)base,
        .end = (uintptr_t)base + bytes,
        .vec = (uintptr_t)&region,
        .vec_len = 1,
        .category_mask = RESIDENCE_IS_PRESENT | RESIDENCE_IS_HUGE,
        .return_mask = RESIDENCE_IS_HUGE,
    };
    return os_syscall3(SYS_ioctl, fd, (long)residence_scan_request, (long)&scan) == 1;
}

bool os_residence_read(int fd, const void *base, size_t pages, uint64_t *bitmap) {
    struct residence out = {.bitmap = bitmap};
    if (residence_by_scan(fd, (uintptr_t)base, pages, &out))
        return true;
    for (size_t i = 0; i < (pages + 63) / 64; i++)
        bitmap[i] = 0;
    return residence_by_entry(fd, (uintptr_t)base, pages, &out);
}

bool os_residence_sum(int fd, const void *base, size_t pages, size_t *resident) {
    struct residence out = {0};
    bool known = residence_by_scan(fd, (uintptr_t)base, pages, &out);
    if (!known) {
        out.resident_bytes = 0;
        known = residence_by_entry(fd, (uintptr_t)base, pages, &out);
    }
    *resident = out.resident_bytes / os_page_size();
    return known;
}

size_t os_residence_count(const uint64_t *bitmap, size_t first, size_t n) {
    size_t count = 0;
    for (size_t page = first; page < first + n; page++)
        count += os_residence_is_set(bitmap, page);
    return count;
}
