#!/bin/bash
# Built for aarch64 with Debian's cross compiler, assertions on, and preloaded into the integration programs under
# qemu-user, with the kernel's pages of 4 KiB and, as qemu pretends, of 64 KiB. No purge thread where a program
# forks: qemu 7.2 fails an assertion of its own when the child starts a thread. C programs alone.
set -u
. "$(dirname "$0")/../support/script.sh"
compiler=aarch64-linux-gnu-gcc root=/usr/aarch64-linux-gnu
command -v $compiler >/dev/null || script_skip "no $compiler (test/run installs it)"
script_need cmake ninja qemu-aarch64
scratch=$(script_scratch)
build=$FALLOW_BUILD/cross-aarch64
{
    cmake -G Ninja -S "$FALLOW_SOURCE" -B "$build" -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=aarch64 \
        -D CMAKE_C_COMPILER=$compiler -D CMAKE_BUILD_TYPE=RelWithDebInfo -D FALLOW_DEBUG=ON -D FALLOW_UNITY=ON \
        -D FALLOW_WERROR=ON -D BUILD_TESTING=OFF && cmake --build "$build" --target fallow fallow_static
} >"$scratch/log" 2>&1 || script_fail "it does not build: $(tail -n 20 "$scratch/log")"

compile() { # compile NAME SOURCE [OPTION...]
    $compiler -std=gnu17 -D_GNU_SOURCE -O1 -g -fno-builtin -I"$FALLOW_SOURCE/include" -I"$FALLOW_SOURCE/test/support" \
        "$FALLOW_SOURCE/test/$2" -o "$scratch/$1" "${@:3}" -pthread -ldl || script_fail "$2 does not compile"
}

emulate() { # emulate PAGE_BYTES LIBRARY CONF PROGRAM ARGUMENT...
    FALLOW_CONF=$3 timeout 120 qemu-aarch64 -p "$1" -L $root ${2:+-E "LD_PRELOAD=$2"} "$scratch/$4" "${@:5}" \
        >"$scratch/out" 2>&1 || script_fail "pages of $1: $4: $(head -c 1000 "$scratch/out")"
}

export FALLOW_TEST_SCALE=5
for name in alignment interface errno_kept calloc_zero threads_churn fork_single early exit_threads page_size; do
    compile $name integration/$name.c
done
compile model model/model.c
compile static integration/interface.c -static "$build/libfallow.a"
for name in alignment errno_kept threads_churn early; do
    emulate 4096 "$build/libfallow.so" "" $name
done
emulate 4096 "$build/libfallow.so" "" exit_threads return
emulate 65536 "$build/libfallow.so" purge_thread:never fork_single
for page in 4096 65536; do
    emulate $page "$build/libfallow.so" "" interface
    emulate $page "$build/libfallow.so" "" calloc_zero
    emulate $page "$build/libfallow.so" "" page_size $page
    emulate $page "$build/libfallow.so" dirty_decay_ms:0,lazy_decay_ms:5 model 1 3000
    emulate $page "" "" static
done
echo "aarch64: all work"
