#!/bin/bash
# fallow rss: of redis-server, python3, a static program ($2) and a process in another cgroup the figures are the
# kernel's; lazy memory ($1: hold) is told from memory in use, also where the cgroup does not; each mistake has its
# status. As text, as JSON and watched.
. "$(dirname "$0")/lib.sh"
script_need python3 setpriv script
hold=$1 static=$2

# agrees PID: what the JSON says is what the kernel says just before or after, within 1 MiB.
agrees() {
    succeeds "$fallow" rss --json "$1"
    holds "abs(r[0]['rss_bytes'] - $(awk '/^Rss:/ { print $2 * 1024 }' "/proc/$1/smaps_rollup")) <= 1 << 20"
    holds "abs(r[0]['lazyfree_bytes'] - $(awk '/^LazyFree:/ { print $2 * 1024 }' "/proc/$1/smaps_rollup")) <= 1 << 20"
    holds 'r[0]["honest_bytes"] == r[0]["rss_bytes"] - r[0]["lazyfree_bytes"] and r[0]["rss_bytes"] > 100000'
    succeeds "$fallow" rss -v --json "$1"
    holds 'abs(sum(m["rss_bytes"] for m in r[0]["mappings"]) - r[0]["rss_bytes"]) <= 1 << 20'
    succeeds "$fallow" rss -v "$1"
    grep -qE '^  honest RSS +[0-9]+ ' "$scratch/out" || script_fail "no honest RSS: $(cat "$scratch/out")"
    ! grep -q $'\033' "$scratch/out" || script_fail "colours where there is no terminal"
}

start_redis FALLOW_NONE=
agrees "$process"
start python3 -c 'import time; print("ready", flush=True); time.sleep(1000)'
agrees "$process"
[ ! -x "$static" ] || { start "$static" heap 1000000 && agrees "$process"; }

make_group
start in_group "$hold" lazy 50000000
lazy=$process
agrees "$lazy"
succeeds "$fallow" rss --json "$lazy"
holds 'r[0]["lazyfree_bytes"] > 45000000 and r[0]["cgroup"]["lazyfree_bytes"] > 45000000'
holds "r[0]['cgroup']['folder'] == '$group' and r[0]['cgroup']['version'] == 1"
# Half of it is enough: the counters of a cgroup are a little late, and pages may have been missed by MADV_FREE.
holds 'r[0]["cgroup"]["inactive_file_bytes"] > 25000000 and r[0]["cgroup"]["relisted_bytes"] < 5000000'
succeeds "$fallow" rss "$lazy"
! grep -q 'still lists' "$scratch/out" || script_fail "nothing is reused: $(cat "$scratch/out")"

start in_group "$hold" reused 50000000
for _ in {1..50}; do # the cgroup's figures are up to two seconds old
    succeeds "$fallow" rss --json "$process"
    python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)[0]["cgroup"]["relisted_bytes"] < 25000000)' <"$scratch/out" && break
    sleep 0.1
done
holds 'r[0]["cgroup"]["relisted_bytes"] > 25000000 and r[0]["lazyfree_bytes"] < 5000000 and r[0]["cgroup"]["processes"] == 2'
succeeds "$fallow" rss "$process"
grep -q 'still lists it as' "$scratch/out" || script_fail "reused memory is not named: $(cat "$scratch/out")"

# Version 2, with files in the place of the kernel's: limits hold from above, processes are those of the groups below, too.
root=$scratch/root
mkdir -p "$root/proc/$process" "$root/proc/77" "$root/sys/fs/cgroup/a/b/c"
echo "0::/a/b" >"$root/proc/$process/cgroup"
echo 70000000 >"$root/sys/fs/cgroup/a/b/memory.current"
echo max >"$root/sys/fs/cgroup/a/b/memory.max"
echo 99999744 >"$root/sys/fs/cgroup/a/memory.max"
printf 'anon 1\nfile 20000000\nshmem 1000000\ninactive_file 60000000\nactive_file 5000000\n' >"$root/sys/fs/cgroup/a/b/memory.stat"
echo 77 >"$root/sys/fs/cgroup/a/b/c/cgroup.procs"
: >"$root/sys/fs/cgroup/a/b/cgroup.procs"
printf 'Rss: 40000 kB\nLazyFree:    1000 kB\n' >"$root/proc/77/smaps_rollup"
succeeds env FALLOW_TOOL_ROOT="$root" "$fallow" rss --json "$process"
holds 'r[0]["cgroup"]["version"] == 2 and r[0]["cgroup"]["usage_bytes"] == 70000000 and r[0]["cgroup"]["limit_bytes"] == 99999744'
holds 'r[0]["cgroup"]["processes"] == 1 and r[0]["cgroup"]["relisted_bytes"] == 65000000 - 19000000 - 1024000'
rm "$root/proc/77/smaps_rollup"
succeeds env FALLOW_TOOL_ROOT="$root" "$fallow" rss --json "$process"
holds 'r[0]["cgroup"]["lazyfree_is_whole"] is False and "relisted_bytes" not in r[0]["cgroup"]'

# Watched: a line each look where there is no terminal, and on one in place of the one before.
succeeds "$fallow" rss --watch -n 3 -i 0.05 "$lazy" "$process"
[ "$(grep -c ' lazy$' "$scratch/out")" = 6 ] || script_fail "three looks at two: $(cat "$scratch/out")"
! grep -q $'\033' "$scratch/out" || script_fail "colours where there is no terminal"
TERM=xterm script -qec "'$fallow' rss -w -n 2 -i 0.05 $lazy" "$scratch/typescript" >/dev/null </dev/null
grep -q $'\033\\[2A' "$scratch/typescript" || script_fail "the second look does not replace the first"
grep -qE $'\033\\[33m-{5}' "$scratch/typescript" || script_fail "the lazy part has no colour"
NO_COLOR=1 TERM=xterm script -qec "'$fallow' rss $lazy" "$scratch/typescript" >/dev/null </dev/null
! grep -q $'\033\\[[0-9]*m' "$scratch/typescript" || script_fail "colours in spite of NO_COLOR"
"$hold" lazy 1000 >/dev/null &
short=$!
sleep 0.2
"$fallow" rss -w -i 0.05 $short >"$scratch/out" &
watcher=$!
sleep 0.3
kill $short
wait $watcher || script_fail "watching a process that ends: status $?"
grep -q 'has ended' "$scratch/out" || script_fail "the end is not told: $(cat "$scratch/out")"

# Another user's; one that is not; one without memory; and what is no command line.
says 4 'not permitted' setpriv --reuid=65534 --clear-groups "$fallow" rss "$process"
says 3 'there is no process' "$fallow" rss 2147483647
sleep 0 &
zombie=$!
for _ in {1..100}; do grep -q '^State:.Z' /proc/$zombie/status && break; sleep 0.02; done
says 3 "process $zombie" "$fallow" rss $zombie
says 2 'PID is missing' "$fallow" rss
says 2 'no process number' "$fallow" rss x
says 2 'no process number' "$fallow" rss -- -5
says 2 'no option' "$fallow" rss --nonsense 1
says 2 'no option' "$fallow" rss -q 1
says 2 'seconds' "$fallow" rss -w -i 0 1
says 2 'go together' "$fallow" rss -w --json 1
# One that is gone does not keep the others from being told.
status=0
"$fallow" rss "$process" 2147483647 >"$scratch/out" 2>"$scratch/err" || status=$?
{ [ $status = 3 ] && grep -q 'honest RSS' "$scratch/out"; } || script_fail "one of two is gone: status $status"
status=0
"$fallow" rss "$process" >/dev/full 2>"$scratch/err" || status=$?
{ [ $status = 1 ] && grep -q 'standard output' "$scratch/err"; } || script_fail "a full disk is not noticed: status $status"
succeeds "$fallow" rss --help
