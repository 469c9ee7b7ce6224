#!/bin/bash
# The library exports the names that are meant to be exported and no others, takes the place of libc's for libraries that
# look there first, needs libc alone, and has at most 64 bytes of static thread-local storage.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need nm readelf
scratch=$(script_scratch)
cat >"$scratch/must" <<'NAMES'
aligned_alloc
calloc
free
free_aligned_sized
free_sized
malloc
malloc_usable_size
memalign
posix_memalign
pvalloc
realloc
reallocarray
valloc
mallinfo
mallinfo2
malloc_info
malloc_stats
malloc_trim
mallopt
cfree
__libc_calloc
__libc_free
__libc_malloc
__libc_memalign
__libc_pvalloc
__libc_realloc
__libc_valloc
NAMES
# And whatever this glibc has of that kind: of its malloc no name is left that would begin its own heap.
libc=$(ldd "$FALLOW_SO" | awk '$1 == "libc.so.6" { print $3 }')
nm -D --defined-only "$libc" | awk '{ print $3 }' | sed 's/@.*//' |
    grep -E '^(__libc_|__posix_)?(c?free|calloc|realloc(array)?|malloc(_.*)?|memalign|posix_memalign|aligned_alloc|p?valloc|mall(info2?|opt))$' \
        >"$scratch/libc"
[ "$(wc -l <"$scratch/libc")" -ge 20 ] || script_fail "$libc has but $(wc -l <"$scratch/libc") names of the kind"
cat "$scratch/libc" >>"$scratch/must"
{
    # The 20 replaceable operators of C++17: new, new[], delete, delete[]; sized, nothrow, aligned.
    for form in nw na; do
        for rest in m mRKSt9nothrow_t mSt11align_val_t mSt11align_val_tRKSt9nothrow_t; do
            echo "_Z$form$rest"
        done
    done
    for form in dl da; do
        for rest in '' m RKSt9nothrow_t St11align_val_t mSt11align_val_t St11align_val_tRKSt9nothrow_t; do
            echo "_Z${form}Pv$rest"
        done
    done
    grep -oE '\bfallow_[a-z_]+ *\(' "$FALLOW_SOURCE/include/fallow/fallow.h" | tr -d ' ('
    printf '%s\n' dlopen dlmopen
    # jemalloc's, with and without the prefix.
    for name in {mall,rall,xall,sall,nall,dall,sdall}ocx mallctl{,nametomib,bymib} malloc_{stats_print,message,conf}; do
        echo "$name"
        echo "je_$name"
    done
    printf 'je_%s\n' {m,c,re,aligned_}alloc free posix_memalign memalign valloc malloc_usable_size
} >>"$scratch/must"
[ "$(grep -c '^_Z' "$scratch/must")" = 20 ] || script_fail "this list has $(grep -c '^_Z' "$scratch/must") operators"

nm -D --defined-only "$FALLOW_SO" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u >"$scratch/has"
missing=$(sort -u "$scratch/must" | comm -23 - "$scratch/has")
[ -z "$missing" ] || script_fail "not exported: $missing"
# What another glibc has.
extra=$(sort -u "$scratch/must" | comm -13 - "$scratch/has" |
    grep -vE '^(fallow_[a-z_]+|__libc_(mallinfo|mallopt|reallocarray)|__posix_memalign)$')
[ -z "$extra" ] || script_fail "exported and not meant to be: $extra"

# Where a library looks in libc first (RTLD_DEEPBIND), all that libc has of these is pointed at the library's own.
sed -nE 's/^ +NAME\(([a-z0-9_]+)\).*/\1/p' "$FALLOW_SOURCE/src/deepbind/deepbind.c" | sort -u >"$scratch/pointed"
nm -D --defined-only "$libc" | awk '{ print $3 }' | sed 's/@.*//' | sort -u >"$scratch/libc-all"
sed -n '/^_Z/d; /^fallow_/d; /^dlm\{0,1\}open$/d; p' "$scratch/has" | comm -12 - "$scratch/libc-all" >"$scratch/both"
[ "$(wc -l <"$scratch/both")" -ge 20 ] || script_fail "$libc and the library have but $(wc -l <"$scratch/both") names in common"
forgotten=$(comm -13 "$scratch/pointed" "$scratch/both")
[ -z "$forgotten" ] || script_fail "libc has its own for a library opened with RTLD_DEEPBIND: $forgotten"
strange=$(comm -23 "$scratch/pointed" "$scratch/has")
[ -z "$strange" ] || script_fail "src/deepbind/deepbind.c points at what the library has not: $strange"

needed=$(readelf -dW "$FALLOW_SO" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1)$')
[ -z "$needed" ] || script_fail "needs more than libc: $needed"
undefined=$(nm -D --undefined-only "$FALLOW_SO" | awk '{ print $2 }' | grep -vE '@GLIBC|^(fallow_test_call$|_ITM_|__gmon_start__|__tsan_init|__cxa_|_Z)')
[ -z "$undefined" ] || script_fail "undefined and not libc's: $undefined"
tls=$(readelf -lW "$FALLOW_SO" | awk '$1 == "TLS" { print $6 }')
[ "$((${tls:-0}))" -le 64 ] || script_fail "$((tls)) bytes of thread-local storage"
! readelf -dW "$FALLOW_SO" | grep -q TEXTREL || script_fail "the library has text relocations"
echo "$(wc -l <"$scratch/has") names, $((${tls:-0})) bytes of thread-local storage"
