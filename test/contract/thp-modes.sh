#!/bin/bash
# A small process is as small where the system gives huge pages to all as where it gives none: python3 that
# waits for input, within 2 MiB. The system's setting is put back however this ends.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need python3
setting=/sys/kernel/mm/transparent_hugepage/enabled
if [ ! -w $setting ] || [ "$(id -u)" -ne 0 ]; then
    script_skip "needs root, and transparent huge pages"
fi
scratch=$(script_scratch)
script_take_machine
before=$(sed 's/.*\[\(.*\)\].*/\1/' $setting)
script_put_back() {
    echo "$before" >$setting
}
mkfifo "$scratch/input"

least=0 most=0
for mode in always madvise never; do
    echo $mode >$setting || script_skip "the setting cannot be changed"
    LD_PRELOAD=$FALLOW_SO python3 -c 'print(flush=True); input()' <"$scratch/input" >"$scratch/ready" &
    exec 9>"$scratch/input"
    for _ in {1..100}; do
        [ -s "$scratch/ready" ] && break
        sleep 0.1
    done
    rss=$(awk '/^Rss:/ { print $2 }' /proc/$!/smaps_rollup)
    echo >&9
    exec 9>&-
    wait $! || script_fail "python3 failed"
    : >"$scratch/ready"
    echo "$mode: $rss KiB"
    [ "$least" = 0 ] || [ "$rss" -lt "$least" ] && least=$rss
    [ "$rss" -gt "$most" ] && most=$rss
done
[ $((most - least)) -lt 2048 ] || script_fail "between $least and $most KiB"
