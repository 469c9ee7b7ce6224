#!/bin/bash
# je#1249: loaded by dlopen into a running program (here python's ctypes), the library does not run out
# of static TLS; its own names work; the program's malloc stays what it was; and the program ends well.
set -u
. "$(dirname "$0")/../support/script.sh"
python=/usr/bin/python3
script_need "$python"
scratch=$(script_scratch)
"$python" - "$FALLOW_SO" >"$scratch/out" 2>&1 <<'PYTHON' || script_fail "$(cat "$scratch/out")"
import ctypes, sys, threading

library = ctypes.CDLL(sys.argv[1])
library.fallow_malloc.restype = ctypes.c_void_p
library.fallow_malloc.argtypes = [ctypes.c_size_t]
library.fallow_free.argtypes = [ctypes.c_void_p]
library.fallow_usable_size.restype = ctypes.c_size_t
library.fallow_usable_size.argtypes = [ctypes.c_void_p]

def use():
    for size in (1, 100, 5000, 300000, 5000000):
        block = library.fallow_malloc(size)
        assert block and library.fallow_usable_size(block) >= size
        ctypes.memset(block, 7, size)
        library.fallow_free(block)

use()
threads = [threading.Thread(target=use) for _ in range(10)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("used")
PYTHON
[ "$(cat "$scratch/out")" = used ] || script_fail "$(cat "$scratch/out")"
# And asked for by name in a program that has it already.
"${script_preload[@]}" "$python" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]); print("again")' "$FALLOW_SO" >"$scratch/out" 2>&1
[ "$(cat "$scratch/out")" = again ] || script_fail "$(cat "$scratch/out")"
echo "loads and works"
