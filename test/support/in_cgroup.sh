#!/bin/bash
# in_cgroup.sh LIMIT COMMAND [ARGUMENT...]: runs the command in a memory cgroup (v1) of its own with that
# limit, such as 300M, and removes it, however the command ends. Fails if the kernel had to kill in it.
set -u
. "$(dirname "$0")/script.sh"
limit=$1
shift
root=/sys/fs/cgroup/memory
[ -w "$root/cgroup.procs" ] || script_skip "needs root and a memory cgroup of version 1"
group=$root/fallow-test-$$
mkdir "$group" || script_skip "no memory cgroup can be made here"
echo "$limit" >"$group/memory.limit_in_bytes" || script_fail "the limit cannot be set"

# shellcheck disable=SC2317 # called by the trap
leave() {
    local status=$?
    for _ in $(seq 100); do
        rmdir "$group" 2>/dev/null && break
        sleep 0.05
    done
    [ -d "$group" ] && echo "$group could not be removed" && status=1
    exit "$status"
}
trap leave EXIT

FALLOW_TEST_CGROUP=$group bash -c 'echo $$ >"$FALLOW_TEST_CGROUP/cgroup.procs" && exec "$@"' bash "$@"
status=$?
killed=$(sed -n 's/^oom_kill //p' "$group/memory.oom_control")
[ "${killed:-0}" -eq 0 ] || script_fail "the kernel killed $killed of its processes for want of memory"
exit "$status"
