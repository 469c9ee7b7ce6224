/* Small files: what is read, and what becomes of the descriptor. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "os_file.h"

Test(file, reads_at_most_what_fits_and_terminates) {
    char path[] = "/tmp/fallow-file-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_eq(write(fd, "0123456789", 10), 10);
    close(fd);
    char buf[11];
    errno = EXDEV;
    cr_assert_eq(os_file_read_all(path, buf, sizeof buf), 10);
    cr_assert_str_eq(buf, "0123456789");
    cr_assert_eq(os_file_read_all(path, buf, 5), 4);
    cr_assert_str_eq(buf, "0123");
    cr_assert_eq(os_file_read_all(path, buf, 1), 0);
    cr_assert_str_eq(buf, "");
    unlink(path);
    cr_assert_eq(os_file_read_all(path, buf, sizeof buf), -ENOENT);
    cr_assert_eq(os_file_read_all("/tmp", buf, sizeof buf), -EISDIR);
    cr_assert_eq(errno, EXDEV);
}

Test(file, keeps_no_descriptor_and_passes_none_on) {
    int next = dup(0);
    close(next);
    char buf[16];
    cr_assert_gt(os_file_read_all("/proc/self/stat", buf, sizeof buf), 0);
    int fd = os_file_open("/proc/self/stat");
    cr_assert_eq(fd, next);
    cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    os_file_close(fd);
}
