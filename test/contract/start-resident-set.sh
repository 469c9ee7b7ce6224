#!/bin/bash
# A trivial process is at most 1 MiB larger with the library preloaded than without. The largest resident
# set of a process is what wait4 reports; the least of several runs is compared.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need /usr/bin/python3
measure() {
    env "$@" /usr/bin/python3 - <<'PYTHON'
import os

def once():
    # Through a small child: a process inherits the peak of the one it was forked from until it execs,
    # and posix_spawn (vfork) of this large one would report this one's own.
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        environment = {"LD_PRELOAD": os.environ["OBJECT"]} if os.environ.get("OBJECT") else {}
        os.dup2(write, 1)
        os.execve("/bin/sh", ["sh", "-c", "exec /bin/grep -E '^VmHWM|^RssAnon' /proc/self/status"], environment)
    os.close(write)
    text = os.read(read, 4096).decode()
    os.close(read)
    os.waitpid(child, 0)
    return int(text.split()[1])

print(min(once() for _ in range(15)))
PYTHON
}
without=$(measure OBJECT=)
with=$(measure OBJECT="$FALLOW_SO")
if [ "${without:-0}" -le 500 ] || [ "${with:-0}" -le 500 ]; then
    script_fail "measured '$without' and '$with' KiB"
fi
[ "$with" -le "$((without + 1024))" ] || script_fail "$with KiB with the library, $without without"
echo "$with KiB with the library, $without without"
