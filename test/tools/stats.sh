#!/bin/bash
# fallow stats: of redis-server, python3, a stripped static program ($2) and a process in another cgroup, in each format; what
# it says is what the process itself would say, and adds up; each mistake has its status. ($1: hold)
. "$(dirname "$0")/lib.sh"
script_need python3 setpriv script promtool
hold=$1 static=$2
parsed() { # parsed FILE: as OpenMetrics, by a parser that is strict
    /usr/bin/python3 - "$1" <<'PYTHON' || script_fail "no OpenMetrics: $(head -n 5 "$1")"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
with open(sys.argv[1]) as file:
    families = {f.name: f for f in text_string_to_metric_families(file.read())}
states = {s.labels["state"]: s.value for s in families["fallow_heap_bytes"].samples}
assert states["mapped"] == sum(states.values()) - states["mapped"] > 0, states
assert families["fallow_chunks_mapped"].type == "counter" and families["fallow_chunks_mapped"].samples[0].value > 0
PYTHON
}

# adds_up: the law, and the sum of why within 2% of Rss.
adds_up() {
    holds 'r[0]["heap"]["one_moment"]'
    holds 'r[0]["heap"]["mapped_bytes"] == sum(r[0]["heap"][n + "_bytes"] for n in "active dirty lazy busy clean metadata".split())'
    holds 'abs(r[0]["why"]["residual_bytes"]) <= 0.02 * r[0]["why"]["kernel_bytes"]'
    holds 'r[0]["why"]["sum_bytes"] == r[0]["why"]["kernel_bytes"] - r[0]["why"]["residual_bytes"]'
    holds 'abs(r[0]["why"]["kernel_bytes"] - r[0]["resident"]["rss_bytes"]) <= 0.02 * r[0]["resident"]["rss_bytes"]'
}

# all_formats PID
all_formats() {
    succeeds "$fallow" stats --json "$1"
    adds_up
    succeeds "$fallow" stats "$1"
    { grep -q '^why is RSS high' "$scratch/out" && grep -qE '^  chunks_mapped: [1-9]' "$scratch/out"; } || script_fail "text: $(cat "$scratch/out")"
    ! grep -q $'\033' "$scratch/out" || script_fail "colours where there is no terminal"
    succeeds "$fallow" stats --prometheus "$1"
    promtool check metrics <"$scratch/out" >"$scratch/promtool" 2>&1 || script_fail "promtool: $(cat "$scratch/promtool")"
    [ ! -s "$scratch/promtool" ] || script_fail "promtool: $(cat "$scratch/promtool")"
    succeeds "$fallow" stats --openmetrics "$1"
    parsed "$scratch/out"
    # promtool knows OpenMetrics where it is to become a database, and then wants to know when.
    sed 's/^\([^#].*\)$/\1 1700000000/' "$scratch/out" >"$scratch/metrics"
    promtool tsdb create-blocks-from openmetrics "$scratch/metrics" "$scratch/data-$1" >"$scratch/promtool" 2>&1 ||
        script_fail "promtool: $(cat "$scratch/promtool")"
}

start_redis LD_PRELOAD="$FALLOW_SO" FALLOW_CONF=dirty_decay_ms:77,purge:dontneed
redis-benchmark -p "$port" -q -n 20000 -r 20000 -d 400 -t set,lpush >/dev/null
redis=$process
all_formats "$redis"
succeeds "$fallow" stats --json "$redis"
holds 'r[0]["name"] == "redis-server" and r[0]["options"]["dirty_decay_ms"] == "77" and r[0]["options"]["purge"] == "dontneed"'
# What redis asks of its malloc agrees: live blocks are what it calls allocated.
allocated=$(redis-cli -p "$port" info memory | tr -d '\r' | sed -n 's/^allocator_allocated://p')
holds "0.8 * $allocated <= r[0]['why']['live_bytes'] <= 1.2 * $allocated"

start env LD_PRELOAD="$FALLOW_SO" python3 -c '
x = [bytes(i % 5000) for i in range(20000)]
print("ready", flush=True)
import time
time.sleep(1000)'
all_formats "$process"

make_group
start in_group env LD_PRELOAD="$FALLOW_SO" "$hold" heap 60000000
held=$process
all_formats "$held"
succeeds "$fallow" stats --json "$held"
holds 'r[0]["why"]["live_bytes"] > 10000000 and r[0]["why"]["slab_free_bytes"] + r[0]["heap"]["lazy_bytes"] + r[0]["heap"]["dirty_bytes"] > 10000000'
holds 'r[0]["resident"]["cgroup_bytes"] < 200000000' # its own group's, which has little else

start "$static" heap 60000000
all_formats "$process"
! grep -q . <(nm "$static" 2>/dev/null) || script_fail "the static program has symbols"
succeeds "$fallow" stats --json "$process"
holds "r[0]['library'].endswith('$(basename "$static")')"

# A child has its own; both are told at once, each metric once.
start env LD_PRELOAD="$FALLOW_SO" python3 -c '
import os, time
x = [bytes(3000) for i in range(20000)]
child = os.fork()
if child == 0:
    y = [bytes(2000) for i in range(20000)]
else:
    time.sleep(0.5)
    print("ready", child, flush=True)
time.sleep(1000)'
child=$(sed -n 's/^ready //p' "$scratch/ready")
script_own "$child"
for _ in {1..50}; do # until the child has what it wants
    succeeds "$fallow" stats --json "$child"
    python3 -c 'import json, sys; sys.exit(json.load(sys.stdin)[0]["why"]["live_bytes"] < 95000000)' <"$scratch/out" && break
    sleep 0.1
done
holds 'r[0]["why"]["live_bytes"] >= 95000000'
adds_up
succeeds "$fallow" stats --json "$process" "$child"
holds 'len(r) == 2 and r[1]["why"]["live_bytes"] - r[0]["why"]["live_bytes"] > 30000000'
succeeds "$fallow" stats --openmetrics "$process" "$child"
{ [ "$(grep -c '^# TYPE fallow_resident_bytes ' "$scratch/out")" = 1 ] && [ "$(grep -c '^fallow_resident_bytes{' "$scratch/out")" = 2 ]; } ||
    script_fail "two processes, one metric: $(grep fallow_resident_bytes "$scratch/out")"

# Watched.
succeeds "$fallow" stats --watch -n 2 -i 0.05 "$held"
[ "$(grep -c '^  active ' "$scratch/out")" = 2 ] || script_fail "two looks: $(cat "$scratch/out")"
TERM=xterm script -qec "'$fallow' stats -w -n 2 -i 0.05 $held" "$scratch/typescript" >/dev/null </dev/null
grep -q $'\033\\[9A' "$scratch/typescript" || script_fail "the second look does not replace the first"

# What cannot be read.
start "$hold" lazy 1000
says 5 'runs without Fallow' "$fallow" stats "$process"
says 3 'there is no process' "$fallow" stats 2147483647
says 4 'not permitted' setpriv --reuid=65534 --clear-groups "$fallow" stats "$held"
says 2 'PID is missing' "$fallow" stats
says 2 'no process number' "$fallow" stats 12x
says 2 'no option' "$fallow" stats --nonsense 1
says 2 'go together' "$fallow" stats --json --prometheus 1
sleep 0 &
zombie=$!
for _ in {1..100}; do grep -q '^State:.Z' /proc/$zombie/status && break; sleep 0.02; done
says 3 "process $zombie" "$fallow" stats $zombie
# A library of a version to come: its number stands after the magic and the address.
python3 - "$FALLOW_SO" "$scratch/libfallow.so" <<'PYTHON' || script_fail "no outline in the library's file"
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"\x8fFallow outline\x1a")
data[at + 24:at + 28] = (99).to_bytes(4, "little")
open(sys.argv[2], "wb").write(data)
PYTHON
start env LD_PRELOAD="$scratch/libfallow.so" "$hold" heap 1000000
says 6 'version 99' "$fallow" stats "$process"
# One that is gone does not keep the others from being told.
status=0
"$fallow" stats "$held" 2147483647 >"$scratch/out" 2>"$scratch/err" || status=$?
{ [ $status = 3 ] && grep -q 'why is RSS high' "$scratch/out"; } || script_fail "one of two is gone: status $status"
succeeds "$fallow" stats --help
