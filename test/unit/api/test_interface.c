/* The public names do what alloc.h says under its own. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fallow/fallow.h>
#include <stdint.h>
#include <string.h>

enum { MIB = 1024 * 1024 };

static bool is_aligned_to(const void *p, size_t align) {
    return (uintptr_t)p % align == 0;
}

Test(interface, malloc_and_free) {
    char *p = fallow_malloc(100);
    cr_assert_not_null(p);
    cr_assert_geq(fallow_usable_size(p), 100u);
    memset(p, 1, fallow_usable_size(p));
    fallow_free(p);
    fallow_free(NULL);
}

Test(interface, calloc) {
    char *p = fallow_calloc(100, 100);
    for (size_t i = 0; i < 10000; i++)
        cr_assert_eq(p[i], 0);
    fallow_free(p);
    errno = 0;
    cr_assert_null(fallow_calloc(SIZE_MAX, 2));
    cr_assert_eq(errno, ENOMEM);
}

Test(interface, realloc_and_reallocarray) {
    char *p = fallow_realloc(NULL, 10);
    strcpy(p, "contents");
    p = fallow_realloc(p, 3 * MIB);
    cr_assert_str_eq(p, "contents");
    p = fallow_reallocarray(p, 1000, 10);
    cr_assert_str_eq(p, "contents");
    cr_assert_geq(fallow_usable_size(p), 10000u);
    cr_assert_null(fallow_reallocarray(p, SIZE_MAX, 2));
    cr_assert_null(fallow_realloc(p, 0));
}

Test(interface, aligned) {
    void *p = NULL;
    cr_assert_eq(fallow_posix_memalign(&p, 4096, 10), 0);
    cr_assert(is_aligned_to(p, 4096));
    fallow_free_aligned_sized(p, 4096, 10);
    p = fallow_aligned_alloc(1024, 100); /* no multiple: allowed */
    cr_assert(is_aligned_to(p, 1024));
    fallow_free(p);
    p = fallow_memalign(4 * MIB, 100);
    cr_assert(is_aligned_to(p, 4 * MIB));
    fallow_free(p);
    p = fallow_valloc(1);
    cr_assert(is_aligned_to(p, 4096));
    fallow_free_sized(p, 1);
    p = fallow_pvalloc(1);
    cr_assert_geq(fallow_usable_size(p), 4096u);
    fallow_free(p);
    errno = 0;
    cr_assert_null(fallow_aligned_alloc(3, 10));
    cr_assert_eq(errno, EINVAL);
    cr_assert_eq(fallow_posix_memalign(&p, 3, 10), EINVAL);
}

Test(interface, purge_and_statistics) {
    struct fallow_stats stats;
    void *p = fallow_malloc(MIB);
    memset(p, 1, MIB);
    fallow_free(p);
    cr_assert_geq(fallow_purge(FALLOW_PURGE_CLEAN), (size_t)MIB);
    fallow_stats(&stats);
    cr_assert_eq(stats.dirty_bytes + stats.lazy_bytes, 0u);
    cr_assert_geq(stats.clean_bytes, (size_t)MIB);
}
