#!/bin/bash
# fallow trim: the lazy memory of redis-server, python3, a static program ($2) and a process in another cgroup goes, the rest of
# it stays, and the cgroup is charged less; not where there is swap; each mistake has its status. ($1: hold)
. "$(dirname "$0")/lib.sh"
script_need python3 setpriv
hold=$1 static=$2
conf=dirty_decay_ms:10,lazy_decay_ms:-1,thp:never

# Memory is lazy once the program has freed it, gone to the kernel with it, and stands still.
wait_for_lazy() { # wait_for_lazy PID BYTES
    local lazy before=0
    for _ in {1..60}; do
        lazy=$(awk '/^LazyFree:/ { print $2 * 1024 }' "/proc/$1/smaps_rollup")
        [ "$lazy" -gt "$2" ] && [ "$lazy" = "$before" ] && return
        before=$lazy
        sleep 0.4
    done
    script_fail "process $1 never had $2 bytes of lazy memory: $("$fallow" stats "$1")"
}

# Nine parts in ten of the lazy memory have gone, and nothing else: what is honest stays to within 1 MiB.
trims() { # trims PID
    succeeds "$fallow" trim --json "$1"
    holds 'r[0]["lazyfree_after_bytes"] <= r[0]["lazyfree_before_bytes"] / 10 and r[0]["lazyfree_before_bytes"] > 0'
    holds 'abs((r[0]["rss_before_bytes"] - r[0]["lazyfree_before_bytes"]) - (r[0]["rss_after_bytes"] - r[0]["lazyfree_after_bytes"])) <= 1 << 20'
}

start_redis LD_PRELOAD="$FALLOW_SO" FALLOW_CONF=$conf,purge_thread:always
redis-benchmark -p "$port" -q -n 40000 -r 40000 -d 1000 -t set >/dev/null
redis-cli -p "$port" set kept "$(printf 'x%.0s' {1..5000})" >/dev/null
redis-cli -p "$port" eval 'for i, k in ipairs(redis.call("keys", "key:*")) do redis.call("del", k) end' 0 >/dev/null
wait_for_lazy "$process" 10000000
trims "$process"
[ "$(redis-cli -p "$port" strlen kept)" = 5000 ] || script_fail "redis lost a key"

make_group
start in_group env LD_PRELOAD="$FALLOW_SO" FALLOW_CONF=$conf,purge_thread:always PYTHONMALLOC=malloc python3 -c '
import sys, time, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
kept = [bytes([i % 251]) * 3000 for i in range(3000)]
x = [bytearray(b"x" * 100000) for i in range(400)]
del x
print("ready", flush=True)
signal.sigwait([signal.SIGUSR1])
sys.exit(0 if all(k == bytes([i % 251]) * 3000 for i, k in enumerate(kept)) else 1)'
wait_for_lazy "$process" 20000000
trims "$process"
# The counters of the group are up to two seconds late, and hold at least half of it.
holds 'r[0]["cgroup_before_bytes"] - r[0]["cgroup_after_bytes"] > 10000000'
kill -USR1 "$process"
wait "$process" || script_fail "memory in use was taken"

start env FALLOW_CONF=$conf "$static" freed 60000000
wait_for_lazy "$process" 30000000
trims "$process"
succeeds "$fallow" trim "$process"
grep -q 'LazyFree' "$scratch/out" || script_fail "text: $(cat "$scratch/out")"
succeeds "$fallow" trim --help

# Where there is swap: not unless told, and then only what is lazy.
mkdir -p "$scratch/root/proc"
printf 'Filename\tType\tSize\tUsed\tPriority\n/swapfile file 1048572 0 -2\n' >"$scratch/root/proc/swaps"
says 6 'has swap' env FALLOW_TOOL_ROOT="$scratch/root" "$fallow" trim "$process"
start env LD_PRELOAD="$FALLOW_SO" FALLOW_CONF=$conf "$hold" freed 60000000
wait_for_lazy "$process" 30000000
succeeds env FALLOW_TOOL_ROOT="$scratch/root" "$fallow" trim --swap --json "$process"
holds 'r[0]["lazyfree_after_bytes"] < r[0]["lazyfree_before_bytes"] and 0 < r[0]["advised_bytes"] < r[0]["rss_before_bytes"]'

says 3 'there is no process' "$fallow" trim 2147483647
says 4 'CAP_SYS_NICE' setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice "$fallow" trim "$process"
says 4 'not permitted' setpriv --reuid=65534 --clear-groups "$fallow" trim "$process"
says 2 'PID is missing' "$fallow" trim
says 2 'no option' "$fallow" trim --nonsense 1
start "$hold" lazy 1000
says 5 'runs without Fallow' "$fallow" trim "$process"
