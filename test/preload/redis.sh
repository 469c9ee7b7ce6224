#!/bin/bash
# redis-server: the same dialogue under both mallocs, then a load by redis-benchmark, BGSAVE (a fork
# that shares the whole heap), and a restart that must find every key again. Debian's redis is linked
# with jemalloc's library: whose malloc it gets is checked at the linker and in the running process.
. "$(dirname "$0")/lib.sh"
script_need redis-server redis-cli redis-benchmark
preload_binds redis-server --version

start() { # start FOLDER PORT [VARIABLE=VALUE]
    local folder=$1 port=$2
    shift 2
    env "$@" redis-server --bind 127.0.0.1 --port "$port" --dir "$folder" --save '' --appendonly no \
        --enable-debug-command yes --protected-mode no --daemonize no >>"$folder/log" 2>&1 </dev/null &
    server=$!
    script_own "$server"
    wait_until 30 ready "$port"
}

# It answers while it still loads, but not PONG.
ready() {
    [ "$(redis-cli -p "$1" ping 2>/dev/null)" = PONG ]
}

stop() {
    redis-cli -p "$1" shutdown nosave >/dev/null 2>&1
    wait "$server"
}

ask() {
    redis-cli -p "$port" "$@"
}

saved() {
    ask info persistence | tr -d '\r' | grep -qx rdb_bgsave_in_progress:0
}

# What redis asks of its malloc by jemalloc's names, Fallow answers.
memory() {
    ask info memory | tr -d '\r' >"$scratch/memory"
    local allocated active resident
    allocated=$(sed -n 's/^allocator_allocated://p' "$scratch/memory")
    active=$(sed -n 's/^allocator_active://p' "$scratch/memory")
    resident=$(sed -n 's/^allocator_resident://p' "$scratch/memory")
    ((allocated > 1000000 && active >= allocated && resident >= active)) ||
        script_fail "INFO memory: allocated $allocated, active $active, resident $resident"
    # Redis counts by malloc_usable_size; its own figure and the heap's are of the same blocks.
    local used
    used=$(sed -n 's/^used_memory://p' "$scratch/memory")
    ((allocated * 10 > used * 9 && allocated * 9 < used * 10 + 20000000)) ||
        script_fail "INFO memory: used_memory $used, allocated $allocated"
    ask memory malloc-stats | grep -q '^fallow report' || script_fail "MEMORY MALLOC-STATS is not Fallow's report"
    [ -n "$(ask memory doctor)" ] || script_fail "MEMORY DOCTOR says nothing"
    [ "$(ask memory purge)" = OK ] || script_fail "MEMORY PURGE fails"
    ask debug mallctl-str version | grep -q '^fallow' || script_fail "it is not Fallow that answers"
    [ "$(ask debug mallctl arenas.page)" = "$(getconf PAGESIZE)" ] || script_fail "DEBUG MALLCTL fails"
}

dialogue() {
    {
        echo 'debug populate 30000 key 64'
        for i in {1..2000}; do
            echo "set s$i value-$i"
            echo "hset h$((i % 50)) field$i $((i * i))"
            echo "rpush l$((i % 20)) $i$i$i"
            echo "zadd z$((i % 10)) $i member$i"
            echo "sadd set$((i % 10)) $((i % 700))"
            echo "append grown 0123456789$i"
        done
        for i in {1..2000..3}; do
            echo "del s$i"
            echo "hdel h$((i % 50)) field$i"
            echo "lpop l$((i % 20))"
        done
        echo 'strlen grown'
        for i in {0..9}; do
            echo "zrange z$i 0 -1 withscores"
            echo "lrange l$i 0 -1"
            echo "scard set$i"
        done
        echo 'eval "local t = {} for i = 1, 5000 do t[i] = string.rep(i, 5) end return #table.concat(t)" 0'
        echo 'copy grown grown2'
        echo dbsize
        echo 'debug digest'
    } | ask
}

for malloc in libc fallow; do
    port=$(free_port)
    preload=FALLOW_NONE=
    [ "$malloc" = fallow ] && preload=LD_PRELOAD=$FALLOW_SO
    start "$scratch/$malloc" "$port" "$preload"
    [ "$malloc" = fallow ] && process_has_library "$server"
    dialogue >"$scratch/$malloc/dialogue"
    if [ "$malloc" = fallow ]; then
        redis-benchmark -h 127.0.0.1 -p "$port" -q -n 15000 -r 20000 -c 20 -d 200 \
            -t set,get,incr,lpush,rpush,lpop,sadd,hset,spop,zadd,lrange_100,mset >"$scratch/benchmark" 2>&1 ||
            script_fail "redis-benchmark: $(tail -n 3 "$scratch/benchmark")"
        grep -c 'requests per second' "$scratch/benchmark" >"$scratch/lines"
        [ "$(cat "$scratch/lines")" -ge 12 ] || script_fail "redis-benchmark ran $(cat "$scratch/lines") tests"
        memory
        digest=$(ask debug digest)
        size=$(ask dbsize)
        ask bgsave >/dev/null
        # Written to while the child saves: what is saved is the state of before.
        redis-benchmark -h 127.0.0.1 -p "$port" -q -n 8000 -r 20000 -d 300 -t set,lpush,hset >/dev/null 2>&1
        wait_until 60 saved
        ask info persistence | tr -d '\r' | grep -qx rdb_last_bgsave_status:ok || script_fail "BGSAVE failed"
        stop "$port"
        start "$scratch/$malloc" "$port" "$preload"
        process_has_library "$server"
        [ "$(ask dbsize)" = "$size" ] || script_fail "$size keys were saved, $(ask dbsize) came back"
        [ "$(ask debug digest)" = "$digest" ] || script_fail "the keys that came back are not those saved"
        ask flushall >/dev/null
        [ "$(ask dbsize)" = 0 ] || script_fail "flushall left keys"
        [ "$(ask memory purge)" = OK ] || script_fail "MEMORY PURGE fails"
    fi
    stop "$port"
done
cmp "$scratch/libc/dialogue" "$scratch/fallow/dialogue" || script_fail "the dialogues differ"
[ "$(wc -l <"$scratch/fallow/dialogue")" -gt 10000 ] || script_fail "the dialogue is short"
no_complaint "$scratch/fallow/log"
compared=1
preload_done
