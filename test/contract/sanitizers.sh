#!/bin/bash
# Programs built with a sanitizer run with Fallow preloaded, or stop with the sanitizer's own one line.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need gcc
scratch=$(script_scratch)
cat >"$scratch/program.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *churn(void *unused) {
    for (int i = 0; i < 2000; i++) {
        size_t size = (size_t)i * 997 % 300000 + 1;
        char *p = malloc(size);
        memset(p, i, size);
        p = realloc(p, size * 2);
        if (p[0] != (char)i || p[size - 1] != (char)i)
            return &p;
        free(p);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, churn, NULL);
    if (churn(NULL) != NULL || pthread_join(thread, &result) != 0 || result != NULL)
        return 1;
    puts("whole");
    return 0;
}
C
tried=0
build() { # build NAME OPTION ...: false if that cannot be built here
    local name=$1
    shift
    gcc -O1 -g -pthread "$@" "$scratch/program.c" -o "$scratch/$name" 2>/dev/null || {
        echo "$name: cannot be built here"
        return 1
    }
    tried=$((tried + 1))
}

runs() { # runs NAME [VARIABLE=VALUE ...]
    local name=$1
    shift
    env "$@" LD_PRELOAD="$FALLOW_SO" "$scratch/$name" >"$scratch/out" 2>"$scratch/err" ||
        script_fail "$name: status $?, $(head -n 5 "$scratch/err")"
    grep -qx whole "$scratch/out" || script_fail "$name: $(cat "$scratch/out")"
}

stops() { # stops NAME TEXT: with status 1 and one line that has the text in it
    timeout -k 1 20 env LD_PRELOAD="$FALLOW_SO" "$scratch/$1" >"$scratch/out" 2>"$scratch/err" # or it may never end
    local status=$?
    [ "$status" -eq 1 ] || script_fail "$1: status $status, $(head -n 5 "$scratch/err")"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || script_fail "$1: more than a line: $(cat "$scratch/err")"
    grep -qF -- "$2" "$scratch/err" || script_fail "$1: $(cat "$scratch/err")"
}

if build asan -fsanitize=address; then
    stops asan 'ASan runtime does not come first'
    runs asan ASAN_OPTIONS=verify_asan_link_order=0
fi
build asan-static -fsanitize=address -static-libasan && runs asan-static
build undefined -fsanitize=undefined && runs undefined
build tsan -fsanitize=thread && stops tsan 'fallow: the program is linked with ThreadSanitizer'
build tsan-static -fsanitize=thread -static-libtsan && runs tsan-static
[ "$tried" -gt 0 ] || script_skip "gcc has no sanitizers here"
echo "$tried programs"
