#!/bin/bash
# fallow doctor: what it says agrees with what this machine is known to allow, and with what a sandbox ($1: refuse)
# or other settings take away; no trial leaves a trace.
. "$(dirname "$0")/lib.sh"
script_need python3
refuse=$1
row() { # row KEY STATE [PATTERN]: in the JSON
    holds "[t for t in r['trials'] if t['key'] == '$1' and t['state'] in '$2'.split('|')]"
    [ $# = 2 ] || holds "[t for t in r['trials'] if t['key'] == '$1' and __import__('re').search(r'''$3''', t['found'])]"
}

before=$(cat /sys/kernel/mm/transparent_hugepage/enabled /proc/sys/vm/max_map_count /proc/sys/vm/overcommit_memory)
succeeds "$fallow" doctor --json
holds 'r["lazy"] is True and len(r["trials"]) == 25 and len({t["key"] for t in r["trials"]}) == 25'
holds 'all(t["found"] and t["fallow"] for t in r["trials"]) and all(("change" in t) == (t["state"] != "yes") for t in r["trials"])'
holds "r['kernel'] == '$(uname -r)'"
row madv_free yes 'KiB of 1024 are lazy'
row madv_dontneed yes
row membarrier yes
row smaps_rollup yes
row max_map_count yes "is $(cat /proc/sys/vm/max_map_count)"
row overcommit 'yes|less' "is $(cat /proc/sys/vm/overcommit_memory)"
row seccomp yes
[ "$before" = "$(cat /sys/kernel/mm/transparent_hugepage/enabled /proc/sys/vm/max_map_count /proc/sys/vm/overcommit_memory)" ] || script_fail "a setting has changed"
succeeds "$fallow" doctor
grep -qE '^yes +madvise\(MADV_FREE\)' "$scratch/out" || script_fail "text: $(head "$scratch/out")"
! grep -q $'\033' "$scratch/out" || script_fail "colours where there is no terminal"

# Under filters that refuse: it says so, and what MADV_FREE comes to.
refused() { # refused WAY STATUS
    local status=0
    "$refuse" "$1" "$fallow" doctor --json >"$scratch/out" 2>"$scratch/err" || status=$?
    [ $status = "$2" ] || script_fail "under $1: status $status: $(cat "$scratch/err")"
    row seccomp less
}
refused nofree 1
row madv_free no 'Invalid argument'
row process_madvise no 'not implemented'
holds 'r["lazy"] is False'
row madv_dontneed yes
refused eperm 1
row madv_dontneed no 'not permitted'
row madv_pageout no
refused lies 1
row madv_free less 'accepted, but'
row madv_dontneed no 'did nothing'
holds 'r["lazy"] is False'
refused novec 0
row madv_free yes
row process_madvise no
row pidfd_self no

# Other settings, with files in the place of the kernel's.
root=$scratch/root
mkdir -p "$root/proc/sys/vm" "$root/sys/kernel/mm/transparent_hugepage" "$root/proc/sys/kernel/yama"
echo 2 >"$root/proc/sys/vm/overcommit_memory"
echo 1000 >"$root/proc/sys/vm/max_map_count"
echo 1 >"$root/proc/sys/kernel/yama/ptrace_scope"
echo 'always madvise [never]' >"$root/sys/kernel/mm/transparent_hugepage/enabled"
printf 'Filename\tType\n/swapfile file\n' >"$root/proc/swaps"
succeeds env FALLOW_TOOL_ROOT="$root" "$fallow" doctor --json
row overcommit less 'is 2'
row max_map_count less 'is 1000'
row process_vm_readv less 'is 1'
row thp_mode no 'always madvise \[never\]'
row swap less
row psi no 'No such file'
row cgroup no
succeeds env FALLOW_TOOL_ROOT="$root" "$fallow" doctor
grep -q 'for more: sysctl vm.overcommit_memory=0' "$scratch/out" || script_fail "no advice: $(cat "$scratch/out")"

says 2 'not at 1' "$fallow" doctor 1
says 2 'no option' "$fallow" doctor --nonsense
succeeds "$fallow" doctor --help
