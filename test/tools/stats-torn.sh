#!/bin/bash
# A hundred reads in a row of a redis-server under load, and of threads that do nothing but allocate ($1: hold): each is of one
# moment, so that the law holds to the byte, and what it explains is within 2% of Rss. Of the threads, whose memory changes
# by megabytes within a read, the law alone is asked for.
. "$(dirname "$0")/lib.sh"
script_need python3
hold=$1

# reads COUNT PART PID: fails unless all are whole, and what is not explained is at most this part of Rss.
reads() {
    python3 - "$fallow" "$@" <<'PYTHON' || script_fail "reads of process $3"
import json, subprocess, sys
fallow, count, part, pid = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
worst, most, changed, last = 0.0, 0, 0, None
for _ in range(count):
    r = json.loads(subprocess.run([fallow, "stats", "--json", pid], check=True, capture_output=True).stdout)[0]
    heap = r["heap"]
    terms = [heap[n + "_bytes"] for n in "active dirty lazy busy clean metadata".split()]
    assert heap["one_moment"], heap
    assert heap["mapped_bytes"] == sum(terms), heap
    worst = max(worst, abs(r["why"]["residual_bytes"]) / r["why"]["kernel_bytes"])
    most = max(most, heap["reads"])
    changed += last is not None and r["counters"] != last
    last = r["counters"]
assert worst <= part, worst
assert changed > count // 2, "the process was not at work: %d of %d reads differ" % (changed, count)
print("%d reads: at most %.2f%% of Rss not explained, %d tries" % (count, 100 * worst, most))
PYTHON
}

start_redis LD_PRELOAD="$FALLOW_SO"
redis-benchmark -p "$port" -q -n 50000 -r 50000 -d 500 -t set >/dev/null
redis-benchmark -p "$port" -q -l -r 50000 -d 500 -c 10 -t set,get,lpush,lpop,sadd,spop,hset >/dev/null 2>&1 &
script_own $!
sleep 0.3
reads 100 0.02 "$process"

start env LD_PRELOAD="$FALLOW_SO" "$hold" churn 3
sleep 1
reads 100 1 "$process"
