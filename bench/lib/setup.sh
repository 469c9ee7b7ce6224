# shellcheck shell=bash
# What bench/run does before it measures: packages and the build. Sourced.

# "What shows that it is there : Debian's package". A name with .so is a shared library, any other a command.
setup_common=(
    gcc:build-essential make:build-essential cmake:cmake ninja:ninja-build pkg-config:pkg-config python3:python3
)
setup_peers=(
    libjemalloc.so.2:libjemalloc2 libmimalloc.so.2:libmimalloc2.0 libtcmalloc_minimal.so.4:libtcmalloc-minimal4
)
# Whole programs of bench/run suite.
setup_programs=(
    sqlite3:sqlite3 perl:perl g++:g++ xz:xz-utils redis-server:redis-server redis-benchmark:redis-tools
)

# Those of bench/run programs besides.
setup_more_programs=(
    clang++:clang php:php-cli ruby:ruby node:nodejs java:default-jre-headless javac:default-jdk-headless git:git
    ffmpeg:ffmpeg convert:imagemagick psql:postgresql
)

setup_has() {
    case $1 in
        *.so*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep "[[:space:]]$1 " >/dev/null ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

# Prints the packages that the given needs lack, each once.
setup_missing() {
    local need
    for need in "$@"; do
        setup_has "${need%%:*}" || echo "${need#*:}"
    done | sort -u
}

setup_install() {
    if ! command -v apt-get >/dev/null; then
        echo "bench/run: these Debian packages are missing, and there is no apt-get to install them: $*" >&2
    elif [ "$(id -u)" != 0 ]; then
        echo "bench/run: packages are missing; as root: apt-get install $*" >&2
    else
        echo "Installing $*"
        local log
        log=$(mktemp)
        if { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } \
            >"$log" 2>&1; then
            rm -f "$log"
            return
        fi
        tail -n 15 "$log" >&2
        echo "bench/run: apt-get could not install $*" >&2
        rm -f "$log"
    fi
    return 1
}

# Tools are indispensable; without a peer or a whole program the comparison goes on and says so.
setup_packages() {
    local tools=("${setup_common[@]}") others=("${setup_peers[@]}") missing
    case $1 in
        ebizzy | purge) tools+=(gnuplot:gnuplot-nox) ;;
        suite) tools+=(gnuplot:gnuplot-nox) others+=("${setup_programs[@]}") ;;
        programs) tools+=(gnuplot:gnuplot-nox) others+=("${setup_programs[@]}" "${setup_more_programs[@]}") ;;
        instructions) tools+=(valgrind:valgrind) ;;
        start) tools+=(strace:strace) ;;
    esac
    mapfile -t missing < <(setup_missing "${tools[@]}" "${others[@]}")
    [ ${#missing[@]} = 0 ] && return
    setup_install "${missing[@]}" && return
    mapfile -t missing < <(setup_missing "${tools[@]}")
    if [ ${#missing[@]} != 0 ]; then
        echo "bench/run: cannot go on without: ${missing[*]}" >&2
        exit 1
    fi
}

# The library and the benchmarks: not the tests, whose needs are test/run's. `contention` has a build of its own.
setup_build() { # setup_build FOLDER COMMAND
    local log=$1/build/bench-build.log folder=build/release options=()
    if [ "$2" = contention ]; then
        folder=build/lock-times options=(-D FALLOW_LOCK_TIMES=ON)
    fi
    mkdir -p "$1/build"
    echo "Building the library and the benchmarks, preset release, in $folder"
    if ! (cd "$1" && cmake --preset release -B $folder "${options[@]}" &&
        cmake --build $folder --target fallow-bench) >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "bench/run: the build failed; all of its output is in $log" >&2
        exit 1
    fi
}
