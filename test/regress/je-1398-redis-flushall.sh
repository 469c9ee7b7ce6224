#!/bin/bash
# je#1398: redis is filled with small keys and flushed, and then nobody asks anything of it: its resident
# set comes back near to where it began.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need redis-server redis-cli
scratch=$(script_scratch)
port=$((20000 + $$ % 20000))
"${script_preload[@]}" redis-server --bind 127.0.0.1 --port $port --dir "$scratch" --save '' --appendonly no \
    --enable-debug-command yes --daemonize no >"$scratch/log" 2>&1 </dev/null &
server=$!
script_own $server
rss_mib() {
    echo $(($(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$server/status) / 1024))
}
for _ in $(seq 300); do
    [ "$(redis-cli -p $port ping 2>/dev/null)" = PONG ] && break
    sleep 0.1
done
if [ -n "${FALLOW_SO:-}" ]; then
    grep -qF "$(readlink -f "$FALLOW_SO")" /proc/$server/maps || script_fail "redis-server has not loaded the library"
fi
# Flushed at once, redis asks for a purge by jemalloc's name for it; flushed in the background, it does not, and time
# alone gives the memory back. (The report had 3 million keys: FALLOW_TEST_SCALE=300.)
keys=$((10000 * ${FALLOW_TEST_SCALE:-100}))
[ $keys -ge 500000 ] || keys=500000
before=$(rss_mib)
for way in sync async; do
    redis-cli -p $port debug populate $keys key 32 >"$scratch/out" || script_fail "populate: $(cat "$scratch/out")"
    full=$(rss_mib)
    [ "$full" -gt $((before + keys / 20000)) ] || script_fail "RSS went from $before to only $full MiB"
    redis-cli -p $port flushall $way >/dev/null
    for _ in $(seq 60); do
        sleep 0.5
        [ "$(rss_mib)" -le $((before + (full - before) / 10)) ] && break
    done
    after=$(rss_mib)
    echo "RSS: $before MiB, full $full, after flushall $way $after"
    [ "$after" -le $((before + (full - before) / 10)) ] || script_fail "$way: $after MiB stay resident after 30 s"
done
