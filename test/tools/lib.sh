# shellcheck shell=bash
# For the tests of the fallow command: the command, processes to look at, and what must be refused how. Sourced.
set -u
# shellcheck source=test/support/script.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
fallow=$FALLOW_BUILD/tools/fallow
[ -x "$fallow" ] || script_fail "$fallow is not built"
scratch=$(script_scratch)
unset FALLOW_CONF LD_PRELOAD NO_COLOR FALLOW_TOOL_ROOT
export LC_ALL=C.UTF-8

# says STATUS PATTERN COMMAND...: it ends with this status, with nothing on standard output and with one line on standard
# error, or two, of which one matches.
says() {
    local wanted=$1 pattern=$2 status=0
    shift 2
    "$@" >"$scratch/says-out" 2>"$scratch/says-err" </dev/null || status=$?
    [ "$status" = "$wanted" ] || script_fail "$*: status $status, not $wanted: $(head -n 5 "$scratch/says-err")"
    grep -qE -- "$pattern" "$scratch/says-err" || script_fail "$*: said $(cat "$scratch/says-err")"
    [ "$(wc -l <"$scratch/says-err")" -le 2 ] || script_fail "$*: more than two lines: $(cat "$scratch/says-err")"
    [ ! -s "$scratch/says-out" ] || script_fail "$*: was refused, and printed $(head -n 3 "$scratch/says-out")"
}

# succeeds COMMAND...: without a word on standard error; its output is in $scratch/out.
succeeds() {
    local status=0
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    [ "$status" = 0 ] || script_fail "$*: status $status: $(cat "$scratch/err")"
    [ ! -s "$scratch/err" ] || script_fail "$*: said $(cat "$scratch/err")"
}

# holds EXPRESSION: of `r`, the JSON in $scratch/out; python.
holds() {
    python3 - "$scratch/out" "$1" <<'PYTHON' || script_fail "not so: $1: $(head -n 60 "$scratch/out")"
import json, sys
with open(sys.argv[1]) as file:
    r = json.load(file)
assert eval(sys.argv[2])
PYTHON
}

# start COMMAND...: in the background; $process is its number once it has printed "ready", its output in $scratch/ready.
start() {
    : >"$scratch/ready"
    "$@" >"$scratch/ready" 2>"$scratch/start-err" </dev/null &
    process=$!
    script_own "$process"
    local end=$((SECONDS + 60))
    until grep -q ready "$scratch/ready"; do
        kill -0 "$process" 2>/dev/null || script_fail "$* has ended: $(cat "$scratch/start-err")"
        [ "$SECONDS" -lt "$end" ] || script_fail "$* is never ready"
        sleep 0.05
    done
}

# start_redis [VARIABLE=VALUE]...: $process, on $port.
start_redis() {
    script_need redis-server redis-cli redis-benchmark
    local tries
    for tries in {1..20}; do
        port=$((20000 + RANDOM % 12000))
        env "$@" redis-server --bind 127.0.0.1 --port "$port" --dir "$scratch" --save '' --appendonly no \
            --daemonize no >"$scratch/redis" 2>&1 </dev/null &
        process=$!
        for _ in {1..100}; do
            [ "$(redis-cli -p "$port" ping 2>/dev/null)" = PONG ] && kill -0 "$process" 2>/dev/null && break 2
            kill -0 "$process" 2>/dev/null || continue 2 # the port is taken
            sleep 0.1
        done
    done
    [ "$tries" -lt 20 ] || script_fail "redis-server does not start: $(cat "$scratch/redis")"
    script_own "$process"
}

# A memory cgroup of version 1 that goes away with the test; in_group COMMAND... runs there.
group=
make_group() {
    local root=/sys/fs/cgroup/memory
    [ -w "$root/cgroup.procs" ] || script_skip "needs root and a memory cgroup of version 1"
    group=$root/fallow-tools-$$
    mkdir "$group" || script_skip "no memory cgroup can be made here"
}

in_group() {
    # shellcheck disable=SC2016 # for the other shell
    exec bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

# shellcheck disable=SC2317 # called at the end of the script
script_put_back() {
    [ -z "$group" ] && return
    local pid
    for pid in "${script_own_pids[@]}"; do
        kill -KILL "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    for _ in {1..100}; do
        rmdir "$group" 2>/dev/null && return
        sleep 0.05
    done
    echo "$group could not be removed" >&2
}
