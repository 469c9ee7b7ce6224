#!/bin/bash
# je#2054: in a cgroup with a quota of one CPU there is one arena, on however many CPUs the threads run. ($1: the program,
# plain, which is told how many arenas there may be)
set -u
. "$(dirname "$0")/../support/script.sh"
root=/sys/fs/cgroup/cpu
[ -w $root/cgroup.procs ] || script_skip "needs root and a cpu cgroup of version 1"
[ "$(nproc)" -ge 2 ] || script_skip "with one CPU a quota of one makes no difference"
group=$root/fallow-test-$$
mkdir "$group" || script_skip "no cpu cgroup can be made here"
script_put_back() {
    for _ in $(seq 100); do
        rmdir "$group" 2>/dev/null && break
        sleep 0.05
    done
}
[ -w "$group/cpu.cfs_quota_us" ] || script_skip "the kernel has no quotas"
cat "$group/cpu.cfs_period_us" >"$group/cpu.cfs_quota_us" || script_skip "no quota can be set here"
group=$group bash -c 'echo $$ >"$group/cgroup.procs" && exec "$@"' bash "${script_preload[@]}" "$1" most 1 ||
    script_fail "with a quota of one CPU"
# And without one the same program has more: it is the quota that is obeyed.
"${script_preload[@]}" "$1" most 1 >/dev/null 2>&1 && script_fail "one arena without a quota, too"
echo "one arena"
