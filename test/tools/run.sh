#!/bin/bash
# fallow run: the program has the library and the options, its own name, arguments, exit status and signals; the built
# and the installed command find their library; what cannot be run is refused as env does. ($1: a static program)
. "$(dirname "$0")/lib.sh"
script_need cmake python3
static=$1

[ "$("$fallow" run -- bash -c 'echo "$LD_PRELOAD"')" = "$(readlink -f "$FALLOW_SO")" ] || script_fail "the built library is not preloaded"
grep -q "$(readlink -f "$FALLOW_SO")" <("$fallow" run -- cat /proc/self/maps) || script_fail "the library is not loaded"
FALLOW_CONF=lazy_decay_ms:7,dirty_decay_ms:1 "$fallow" run dirty_decay_ms:3 stats_at_exit:true -- bash -c ':' 2>"$scratch/err"
{ grep -qx '  dirty_decay_ms:3' "$scratch/err" && grep -qx '  lazy_decay_ms:7' "$scratch/err"; } ||
    script_fail "options: $(head -n 8 "$scratch/err")"
[ "$(LD_PRELOAD='' "$fallow" run -p purge:never)" = "LD_PRELOAD=$(readlink -f "$FALLOW_SO")"$'\n'FALLOW_CONF=purge:never ] || script_fail "--print: $("$fallow" run -p purge:never)"
empty=$FALLOW_BUILD/bench/libfallow-empty.so
[ "$(LD_PRELOAD=$empty "$fallow" run -- bash -c 'echo "$LD_PRELOAD"')" = "$(readlink -f "$FALLOW_SO"):$empty" ] || script_fail "another preload is lost"
[ "$("$fallow" run -- printf '%s|' 'a b' -- -x)" = 'a b|--|-x|' ] || script_fail "arguments"

# The exit status and signals are the program's: this process becomes it.
for wanted in 0 7 255; do
    status=0
    "$fallow" run -- bash -c "exit $wanted" || status=$?
    [ $status = $wanted ] || script_fail "exit $wanted gives $status"
done
"$fallow" run -- bash -c 'trap "exit 9" TERM; echo $$; while :; do sleep 0.02; done' >"$scratch/pid" &
pid=$!
script_own $pid
until [ -s "$scratch/pid" ]; do sleep 0.02; done
[ "$(cat "$scratch/pid")" = $pid ] || script_fail "the program is another process"
kill -TERM $pid
status=0
wait $pid || status=$?
[ $status = 9 ] || script_fail "a signal is not the program's: $status"
status=0
python3 -c 'import subprocess, sys; sys.exit(-subprocess.run([sys.argv[1], "run", "--", "bash", "-c", "kill -KILL $$"]).returncode)' "$fallow" || status=$?
[ $status = 9 ] || script_fail "death by a signal: $status"

says 2 'no option dirt_decay_ms' "$fallow" run dirt_decay_ms:5 -- true
says 2 'is no NAME:VALUE' "$fallow" run true
says 2 'no program' "$fallow" run purge:lazy
says 2 'no program' "$fallow" run --
says 2 'no option' "$fallow" run --nonsense -- true
says 127 'No such file' "$fallow" run -- nowhere-at-all
says 126 'Permission denied' "$fallow" run -- /etc/passwd
says 125 'No such file' "$fallow" run -l /nowhere.so -- true
mkdir "$scratch/a b"
cp "$FALLOW_SO" "$scratch/a b/libfallow.so"
says 125 'no path with blanks' "$fallow" run -l "$scratch/a b/libfallow.so" -- true
if [ -x "$static" ]; then
    status=0
    timeout 2 "$fallow" run -- "$static" nothing 1 2>"$scratch/err" || status=$?
    { [ $status = 2 ] && grep -q 'linked statically' "$scratch/err"; } || script_fail "a static program: $status, $(cat "$scratch/err")"
fi

# Installed, moved, and without its library.
cmake --install "$FALLOW_BUILD" --prefix "$scratch/prefix" >"$scratch/log" 2>&1 || script_fail "$(tail -n 5 "$scratch/log")"
mv "$scratch/prefix" "$scratch/moved"
library=$(find "$scratch/moved" -name libfallow.so)
[ "$("$scratch/moved/bin/fallow" run -- bash -c 'echo "$LD_PRELOAD"')" = "$(readlink -f "$library")" ] || script_fail "the installed library is not found"
ln -s "$scratch/moved/bin/fallow" "$scratch/link"
[ "$("$scratch/link" run -- bash -c 'echo "$LD_PRELOAD"')" = "$(readlink -f "$library")" ] || script_fail "not through a link"
rm "$(dirname "$library")"/libfallow.so*
[ -e /usr/local/lib/libfallow.so ] || says 125 'neither where' "$scratch/moved/bin/fallow" run -- true

# The command itself.
says 2 'no command nonsense' "$fallow" nonsense
status=0
"$fallow" >"$scratch/out" 2>"$scratch/err" || status=$?
{ [ $status = 2 ] && grep -q '^Usage' "$scratch/err"; } || script_fail "without a command: status $status"
succeeds "$fallow" --help
grep -q '^  rss ' "$scratch/out" || script_fail "--help: $(cat "$scratch/out")"
succeeds "$fallow" --version
grep -qE '^fallow [0-9]+\.[0-9]+\.[0-9]+$' "$scratch/out" || script_fail "--version: $(cat "$scratch/out")"
succeeds "$fallow" run --help
