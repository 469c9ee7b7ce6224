/* The usage of memory cgroups in trees built for the purpose, and of the real one. */
#include <unistd.h>

#include "cgroup_tree.h"
#include "os_cgroup.h"

TestSuite(cgroup, .init = make_root, .fini = remove_root);

Test(cgroup, without_one_there_is_no_usage) {
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 0u);
    put("/proc/self/cgroup", "0::/a\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 0u);
}

Test(cgroup, v2) {
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/memory.current", "900000\n");
    put("/sys/fs/cgroup/a/b/memory.current", "123456\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 123456u);
}

Test(cgroup, v2_charges_the_nearest_group_that_has_the_controller) {
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/memory.current", "900000\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 900000u);
}

Test(cgroup, v1) {
    put("/proc/self/cgroup", "9:cpuset:/x\n4:memory:/job\n1:name=systemd:/y\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "7000000000\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5000000000\n");
    put("/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 5000000000u);
}

Test(cgroup, v1_in_a_container_whose_mount_is_its_own_group) {
    put("/proc/self/cgroup", "4:memory:/docker/0123\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 4096u);
}

Test(cgroup, v1_of_another_controller_is_not_ours) {
    put("/proc/self/cgroup", "4:memory_recursiveprot,cpu:/a\n");
    put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4096\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 0u);
}

Test(cgroup, hybrid_has_memory_in_one_of_the_two) {
    put("/proc/self/cgroup", "0::/a\n4:memory:/a\n");
    put("/sys/fs/cgroup/unified/a/cgroup.procs", "1\n");
    put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "8192\n");
    cr_assert_eq(os_cgroup_memory_bytes_at(root), 8192u);
}

Test(cgroup, nonsense_is_no_usage) {
    static const char *const texts[] = {"", "\n", "x\n", "-1\n", "99999999999999999999\n", "1 2\n"};
    put("/proc/self/cgroup", "no colons\n:\n::\n0::/a");
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        put("/sys/fs/cgroup/a/memory.current", texts[i]);
        cr_assert_eq(os_cgroup_memory_bytes_at(root), 0u, "%s", texts[i]);
    }
}

static bool count_visit(const char *folder, enum os_cgroup_version version, void *context) {
    (void)folder;
    (void)version;
    return ++*(unsigned *)context < 2;
}

Test(cgroup, a_visit_ends_when_it_is_told_to) {
    static const struct os_cgroup_controller memory = {"memory", {"/sys/fs/cgroup/memory", NULL}};
    unsigned visits = 0;
    put("/proc/self/cgroup", "4:memory:/a/b/c\n0::/a/b/c\n");
    os_cgroup_visit(root, &memory, count_visit, &visits);
    cr_assert_eq(visits, 2u);
}

Test(cgroup, the_real_one_leaves_errno_alone) {
    errno = EXDEV;
    (void)os_cgroup_memory_bytes();
    cr_assert_eq(os_cgroup_memory_bytes_at("/nonexistent"), 0u);
    cr_assert_eq(errno, EXDEV);
}
