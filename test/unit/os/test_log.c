/* Lines on descriptor 2. */
#include <criterion/criterion.h>
#include <errno.h>
#include <unistd.h>

#include "../capture.h"
#include "os_log.h"

Test(log, writes_all_of_it) {
    char text[64];
    struct capture c = capture_start();
    errno = EXDEV;
    os_log_str("one\n");
    os_log("two\nthree", 4);
    os_log("", 0);
    capture_end(c, text, sizeof text);
    cr_assert_str_eq(text, "one\ntwo\n");
    cr_assert_eq(errno, EXDEV);
}

Test(log, a_closed_descriptor_is_no_matter) {
    int saved = dup(2);
    close(2);
    errno = EXDEV;
    os_log_str("lost\n");
    cr_assert_eq(errno, EXDEV);
    dup2(saved, 2);
}
