#!/bin/bash
# Limits of the whole system, set for the moment and put back however this ends: few memory maps, strict
# overcommit. ($1: max_map_count or overcommit; $2: the program)
set -u
. "$(dirname "$0")/../support/script.sh"
vm=/proc/sys/vm
if [ ! -w $vm/max_map_count ] || [ "$(id -u)" -ne 0 ]; then
    script_skip "needs root"
fi
script_take_machine
map_count=$(cat $vm/max_map_count) overcommit=$(cat $vm/overcommit_memory)
script_put_back() {
    echo "$map_count" >$vm/max_map_count
    echo "$overcommit" >$vm/overcommit_memory
}
case $1 in
max_map_count) echo 2000 >$vm/max_map_count || script_skip "max_map_count cannot be set" ;;
overcommit) echo 2 >$vm/overcommit_memory || script_skip "overcommit_memory cannot be set" ;;
*) script_fail "no such limit: $1" ;;
esac
for conf in "" thp:always dirty_decay_ms:0 dirty_decay_ms:0,purge:dontneed; do
    env FALLOW_CONF="$conf" LD_PRELOAD="$FALLOW_SO" "$2" 500 || script_fail "with '$conf'"
done
