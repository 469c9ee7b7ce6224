/* What advice does to contents, and what is said when the kernel or a sandbox refuses. */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os_advise.h"
#include "os_map.h"
#include "os_page.h"

/* From here on madvise fails with that errno, or does nothing and says 0. */
static void refuse_madvise(unsigned short error) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = ARRAY_COUNT(program), .filter = program};
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

Test(advise, dontneed_zeroes) {
    size_t bytes = 4 * os_page_size();
    unsigned char *map = os_map(bytes, NULL);
    memset(map, 1, bytes);
    cr_assert_eq(os_advise(map, bytes, OS_ADVISE_DONTNEED), 0);
    for (size_t i = 0; i < bytes; i++)
        cr_assert_eq(map[i], 0);
    cr_assert(os_dontneed_zeroes());
    cr_assert(os_dontneed_zeroes());
}

Test(advise, free_keeps_what_is_written_afterwards) {
    size_t bytes = 4 * os_page_size();
    unsigned char *map = os_map(bytes, NULL);
    memset(map, 1, bytes);
    cr_assert_eq(os_advise(map, bytes, OS_ADVISE_FREE), 0);
    memset(map, 2, bytes);
    for (size_t i = 0; i < bytes; i++)
        cr_assert_eq(map[i], 2);
}

Test(advise, huge_page_advice_is_understood) {
    enum { HUGE_BYTES = 2 << 20 };
    void *map = os_map_aligned(HUGE_BYTES, HUGE_BYTES, NULL);
    /* EINVAL: a kernel without transparent huge pages. */
    int huge = os_advise(map, HUGE_BYTES, OS_ADVISE_HUGEPAGE);
    cr_assert(huge == 0 || huge == EINVAL);
    cr_assert_eq(os_advise(map, HUGE_BYTES, OS_ADVISE_NOHUGEPAGE), huge);
}

Test(advise, a_hole_is_enomem_and_errno_is_left_alone) {
    size_t page = os_page_size();
    char *map = os_map(3 * page, NULL);
    memset(map, 1, 3 * page);
    os_unmap(map + page, page);
    errno = EXDEV;
    cr_assert_eq(os_advise(map, 3 * page, OS_ADVISE_DONTNEED), ENOMEM);
    cr_assert_eq(errno, EXDEV);
    cr_assert_eq(map[0], 0);
    cr_assert_eq(map[2 * page], 0);
}

Test(advise, locked_memory_is_einval) {
    size_t page = os_page_size();
    char *map = os_map(page, NULL);
    if (syscall(SYS_mlock, map, page) != 0) /* a sanitizer's mlock does nothing */
        cr_skip_test("mlock is not allowed here");
    cr_assert_eq(os_advise(map, page, OS_ADVISE_FREE), EINVAL);
    cr_assert_eq(os_advise(map, page, OS_ADVISE_DONTNEED), EINVAL);
}

Test(advise, a_sandbox_refuses) {
    size_t page = os_page_size();
    char *map = os_map(page, NULL);
    refuse_madvise(EPERM);
    errno = EXDEV;
    cr_assert_eq(os_advise(map, page, OS_ADVISE_FREE), EPERM);
    cr_assert_eq(os_advise(map, page, OS_ADVISE_DONTNEED), EPERM);
    cr_assert_not(os_dontneed_zeroes());
    cr_assert_eq(errno, EXDEV);
}

Test(advise, the_probe_sees_through_a_lie) {
    refuse_madvise(0);
    cr_assert_eq(os_advise(os_map(os_page_size(), NULL), os_page_size(), OS_ADVISE_DONTNEED), 0);
    cr_assert_not(os_dontneed_zeroes());
}

Test(advise, the_probe_is_made_once) {
    cr_assert(os_dontneed_zeroes());
    refuse_madvise(0);
    cr_assert(os_dontneed_zeroes());
}
