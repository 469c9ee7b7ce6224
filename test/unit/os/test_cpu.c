/* Affinity of this process, and quotas of cgroup trees built for the purpose. */
#include <sched.h>

#include "cgroup_tree.h"
#include "os_cpu.h"

Test(cpu, usable_follows_the_affinity_mask) {
    cpu_set_t all;
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    cr_assert_eq(os_cpu_usable(), (unsigned)CPU_COUNT(&all));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all)) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_assert_eq(os_cpu_usable(), 1);
}

Test(cpu, the_real_quota_leaves_errno_alone) {
    errno = EXDEV;
    (void)os_cpu_quota();
    cr_assert_eq(os_cpu_quota_at("/nonexistent"), 0);
    cr_assert_eq(errno, EXDEV);
}

TestSuite(quota, .init = make_root, .fini = remove_root);

Test(quota, none_without_files) {
    cr_assert_eq(os_cpu_quota_at(root), 0);
    put("/proc/self/cgroup", "0::/a\n");
    cr_assert_eq(os_cpu_quota_at(root), 0);
}

Test(quota, v2_rounds_up) {
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 0);
    put("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 2);
    put("/sys/fs/cgroup/a/b/cpu.max", "200001 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 3);
    put("/sys/fs/cgroup/a/b/cpu.max", "1000 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 1);
}

Test(quota, v2_the_tightest_ancestor_counts) {
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 3);
}

Test(quota, v2_in_a_namespace_sees_the_mount_point) {
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 4);
}

Test(quota, v2_does_not_climb_by_a_common_prefix) {
    put("/proc/self/cgroup", "0::/ab\n");
    put("/sys/fs/cgroup/a/cpu.max", "100000 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 0);
}

Test(quota, v1) {
    put("/proc/self/cgroup", "9:cpuset:/x\n5:cpu,cpuacct:/job\n1:name=systemd:/y\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "50000\n");
    cr_assert_eq(os_cpu_quota_at(root), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "125000\n");
    cr_assert_eq(os_cpu_quota_at(root), 3);
}

Test(quota, v1_in_a_container_whose_mount_is_its_own_group) {
    put("/proc/self/cgroup", "4:cpuacct,cpu:/docker/0123\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 2);
}

Test(quota, v1_of_another_controller_is_not_ours) {
    put("/proc/self/cgroup", "4:cpuset,memory:/a\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 0);
}

Test(quota, hybrid_takes_the_tighter) {
    put("/proc/self/cgroup", "4:cpu:/a\n0::/a\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "500000\n");
    put("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/unified/a/cpu.max", "200000 100000\n");
    cr_assert_eq(os_cpu_quota_at(root), 2);
}

Test(quota, nonsense_is_no_quota) {
    static const char *const texts[] = {
        "",           "\n",         "x\n",         "100000\n",
        "100000 0\n", "0 100000\n", "-5 100000\n", "99999999999999999999 1\n"};
    put("/proc/self/cgroup", "no colons\n:\n::\n0::/a");
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        put("/sys/fs/cgroup/a/cpu.max", texts[i]);
        cr_assert_eq(os_cpu_quota_at(root), 0, "%s", texts[i]);
    }
}
