#!/bin/bash
# Installs this build into a folder of its own and builds the small project in outside/ with it: by
# find_package, by pkg-config, and by pkg-config against a prefix that was moved.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need cmake pkg-config gcc
scratch=$(script_scratch)
here=$(cd "$(dirname "$0")" && pwd)
quietly() {
    "$@" >"$scratch/log" 2>&1 || {
        tail -n 20 "$scratch/log" >&2
        script_fail "$*"
    }
}
quietly cmake --install "$FALLOW_BUILD" --prefix "$scratch/prefix"
[ -f "$scratch/prefix/include/fallow/fallow.h" ] || script_fail "the header is not installed"

quietly cmake -S "$here/outside" -B "$scratch/cmake" -DCMAKE_PREFIX_PATH="$scratch/prefix"
quietly cmake --build "$scratch/cmake"
[ "$("$scratch/cmake/outside")" = "Fallow from outside" ] || script_fail "by find_package: $("$scratch/cmake/outside")"
ldd "$scratch/cmake/outside" | grep -q "=> $scratch/prefix/.*libfallow" ||
    script_fail "by find_package: the program does not load the installed library"

PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name fallow.pc)")
export PKG_CONFIG_PATH
# The prefix is where it was installed to, whatever was configured.
pkg-config --exists --print-errors fallow || script_fail "pkg-config does not find fallow"
read -ra flags < <(pkg-config --define-variable=prefix="$scratch/prefix" --cflags --libs fallow | tr '\n' ' ')
case "${flags[*]}" in
*"$scratch/prefix"*) ;;
*) script_fail "fallow.pc does not follow its prefix: ${flags[*]}" ;;
esac
quietly gcc -Wall -Werror "$here/outside/main.c" -o "$scratch/by-pkg-config" "${flags[@]}"
libraries=$(pkg-config --define-variable=prefix="$scratch/prefix" --variable=libdir fallow)
answer=$(LD_LIBRARY_PATH=$libraries "$scratch/by-pkg-config")
[ "$answer" = "Fallow from outside" ] || script_fail "by pkg-config: $answer"

# The static library does as well.
quietly gcc -Wall -Werror "$here/outside/main.c" -o "$scratch/static" "-I$scratch/prefix/include" "$libraries/libfallow.a" -pthread
[ "$("$scratch/static")" = "Fallow from outside" ] || script_fail "statically: $("$scratch/static")"
echo "built by find_package, pkg-config and against the archive"
