#!/bin/bash
# memcached: the same load over loopback under both mallocs, every answer checked by the client.
. "$(dirname "$0")/lib.sh"
script_need memcached /usr/bin/python3
preload_binds memcached -V
for malloc in libc fallow; do
    port=$(free_port)
    preload=FALLOW_NONE=
    [ "$malloc" = fallow ] && preload=LD_PRELOAD=$FALLOW_SO
    user=$(id -un)
    env "$preload" memcached -u "$user" -l 127.0.0.1 -p "$port" -U 0 -m 200 -t 4 -c 400 \
        >"$scratch/$malloc/log" 2>&1 </dev/null &
    server=$!
    script_own "$server"
    answers() {
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
    }
    wait_until 20 answers
    [ "$malloc" = fallow ] && process_has_library "$server"
    /usr/bin/python3 "$(dirname "$0")/memcached_load.py" "$port" >"$scratch/$malloc/load" 2>&1 || {
        tail -n 20 "$scratch/$malloc/load" "$scratch/$malloc/log" >&2
        script_fail "the load failed under $malloc"
    }
    kill "$server"
    wait "$server"
    echo "$?" >>"$scratch/$malloc/load"
done
cmp "$scratch/libc/load" "$scratch/fallow/load" || script_fail "$(cat "$scratch"/*/load)"
no_complaint "$scratch/fallow/log"
compared=1
preload_done
