/* The page size. */
#include <criterion/criterion.h>
#include <unistd.h>

#include "os_page.h"

Test(page, is_the_kernels_unless_a_test_says_otherwise) {
    cr_assert_eq(os_page_size(), (size_t)sysconf(_SC_PAGESIZE));
    os_page_size_set(65536);
    cr_assert_eq(os_page_size(), 65536);
    os_page_size_set(0);
    cr_assert_eq(os_page_size(), (size_t)sysconf(_SC_PAGESIZE));
}
