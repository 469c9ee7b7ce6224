/* Which pages are resident, as the kernel says. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

#include "../environment.h"
#include "os_advise.h"
#include "os_map.h"
#include "os_residence.h"

enum { PAGES = 200 };

static uint64_t bitmap[4];
static int file;
static size_t page;

static void start_residence(void) {
    skip_under_tools(); /* valgrind has no pagemap of the program */
    page = os_page_size();
    file = os_residence_open();
    cr_assert_geq(file, 0);
}

TestSuite(residence, .init = start_residence);

static size_t resident(const char *base) {
    memset(bitmap, 0, sizeof bitmap);
    cr_assert(os_residence_read(file, base, PAGES, bitmap));
    return os_residence_count(bitmap, 0, PAGES);
}

Test(residence, pages_are_resident_from_their_first_write_to_their_end) {
    char *base = os_map(PAGES * page, NULL);
    (void)!os_advise(base, PAGES * page, OS_ADVISE_NOHUGEPAGE);
    cr_assert_eq(resident(base), 0u);
    for (size_t i = 0; i < PAGES; i += 3)
        base[i * page] = 1;
    cr_assert_eq(resident(base), (PAGES + 2) / 3u);
    for (size_t i = 0; i < PAGES; i++)
        cr_assert_eq(os_residence_is_set(bitmap, i), i % 3 == 0, "page %zu", i);
    cr_assert_eq(os_residence_count(bitmap, 1, 3), 1u);
    size_t sum;
    cr_assert(os_residence_sum(file, base, PAGES, &sum));
    cr_assert_eq(sum, (PAGES + 2) / 3u);
    cr_assert_eq(os_advise(base, 90 * page, OS_ADVISE_DONTNEED), 0);
    cr_assert_eq(resident(base), (PAGES - 90 + 2) / 3u);
}

Test(residence, what_cannot_be_read_is_said_so) {
    memset(bitmap, 0, sizeof bitmap);
    cr_assert_not(os_residence_read(-1, &bitmap, 1, bitmap));
    size_t sum;
    cr_assert_not(os_residence_sum(-1, &bitmap, 1, &sum));
}
