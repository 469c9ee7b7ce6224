#!/bin/bash
# What memcheck says of the program $1 (mistakes.c) that makes the mistake $2. Without a third argument Fallow is in the
# program; "preloaded": valgrind is told to leave malloc to it; "replaced": it is not, and Fallow is out of the way.
set -u
. "$(dirname "$0")/../support/script.sh"
mistake=$2 way=${3:-linked}
script_need valgrind strip
scratch=$(script_scratch)

# Valgrind 3.19 stumbles over clang's lines and types, and the names of functions are enough.
program=$scratch/program
strip -g -o "$program" "$1" || script_fail "no copy of $1"

options=(--leak-check=full --show-leak-kinds=all --child-silent-after-fork=no)
preload=
if [ "$way" != linked ]; then
    preload=$scratch/libfallow.so
    strip -g -o "$preload" "$FALLOW_SO" || script_fail "no copy of $FALLOW_SO"
    [ "$way" = replaced ] || options+=(--soname-synonyms=somalloc=nouserintercepts)
fi
LD_PRELOAD=$preload valgrind "${options[@]}" "$program" "$mistake" >"$scratch/raw" 2>&1 ||
    script_fail "status $?: $(cat "$scratch/raw")"
sed -E 's/^==[0-9]+== ?//' "$scratch/raw" >"$scratch/said"

fail() {
    cat "$scratch/raw" >&2
    script_fail "$mistake, $way: $*"
}

expect() { # expect PATTERN [TIMES]: so many lines match, or any
    local times
    times=$(grep -cE -- "$1" "$scratch/said")
    [ "$times" -gt 0 ] || fail "no line like '$1'"
    [ $# -lt 2 ] || [ "$times" = "$2" ] || fail "$times lines like '$1', not $2"
}

errors() { # errors TIMES: nothing else is wrong
    expect "^ERROR SUMMARY: $1 errors from [0-9]+ contexts" 1
}

frames() { # frames LINE FUNCTION...: below the line that matches stand, in this order, these functions
    local line=$1 from
    shift
    from=$(grep -nE -m 1 -- "$line" "$scratch/said") || fail "no line like '$line'"
    sed -nE "$((${from%%:*} + 1)),\$ { /^ +(at|by) /!q; s/^ +(at|by) 0x[0-9A-F]+: ([a-z_A-Z0-9]+).*/\2/p; }" \
        "$scratch/said" >"$scratch/frames"
    printf '%s\n' "$@" >"$scratch/wanted"
    grep -xF -f "$scratch/wanted" "$scratch/frames" | uniq | cmp -s - "$scratch/wanted" ||
        fail "not '$*' but '$(tr '\n' ' ' <"$scratch/frames")' below '$line'"
}

no_leaks() {
    expect '^All heap blocks were freed -- no leaks are possible$' 1
}

! grep -q 'WARNING' "$scratch/raw" || fail "valgrind warns"
malloc=checked_malloc free=checked_free # what called these may be left out, where the last call is a jump
after='Address 0x[0-9a-f]+ is 0 bytes after a block of size'
inside='Address 0x[0-9a-f]+ is 0 bytes inside a block of size'

case $mistake in
    clean) # in parent and child
        expect '^ERROR SUMMARY: 0 errors from 0 contexts' 2
        expect '^All heap blocks were freed -- no leaks are possible$' 2
        ;;
    leak)
        errors 1
        frames '^7,000 bytes in 7 blocks are definitely lost' "$malloc" leak_blocks main
        ;;
    leak_ring)
        errors 1
        expect 'definitely lost: 56 bytes in 1 blocks'
        expect 'indirectly lost: 112 bytes in 2 blocks'
        expect 'still reachable: 0 bytes'
        frames '^168 \(56 direct, 112 indirect\) bytes in 1 blocks are definitely' "$malloc" leak_ring main
        ;;
    leak_in_thread)
        errors 1
        frames '^7,000 bytes in 7 blocks are definitely lost' "$malloc" leak_blocks start_thread
        ;;
    leak_beside_thread) # that thread's own storage is what the libc points into
        errors 2
        expect '^288 bytes in 1 blocks are possibly lost'
        frames '^7,000 bytes in 7 blocks are definitely lost' "$malloc" leak_blocks main
        ;;
    reach)
        errors 0
        expect 'still reachable: 112 bytes in 2 blocks'
        expect 'in use at exit: 112 bytes in 2 blocks'
        ;;
    read_past)
        errors 9
        no_leaks
        frames '^Invalid read of size 1' read_past main
        frames "$after 1 alloc'd" "$malloc" read_past main
        ;;
    read_before)
        errors 9
        no_leaks
        frames '^Invalid read of size 1' read_before main
        ;;
    write_past)
        errors 64
        no_leaks
        frames '^Invalid write of size 1' write_past main
        frames "$after 100 alloc'd" "$malloc" write_past main
        ;;
    read_freed)
        errors 1
        no_leaks
        frames '^Invalid read of size 1' read_freed main
        frames "is 50 bytes inside a block of size 100 free'd" "$free" read_freed main
        frames "Block was alloc'd at" "$malloc" read_freed main
        ;;
    read_purged)
        errors 1
        no_leaks
        frames '^Invalid read of size 1' read_purged main
        frames "is 5,242,880 bytes inside a block of size 8,388,608 free'd" "$free" read_purged main
        ;;
    free_twice)
        errors 9
        no_leaks
        expect '^fallow: double free of 0x[0-9a-f]+; ignored$' 9
        frames '^Invalid free\(\)' "$free" free_twice main
        frames "$inside 1 free'd" "$free" free_twice main
        frames "Block was alloc'd at" "$malloc" free_twice main
        ;;
    free_inside)
        errors 1
        no_leaks
        frames '^Invalid free\(\)' "$free" free_inside main
        frames "is 16 bytes inside a block of size 100 alloc'd" "$malloc" free_inside main
        ;;
    free_foreign)
        errors 1
        frames '^Invalid free\(\)' "$free" free_foreign main
        expect "is on thread 1's stack"
        ;;
    resize_freed)
        errors 1
        no_leaks
        frames '^Invalid free\(\)' checked_realloc resize_freed main
        frames "$inside 100 free'd" "$free" resize_freed main
        ;;
    use_unset)
        errors 9
        no_leaks
        frames '^Conditional jump or move depends on uninitialised' use_unset main
        ;;
    use_unset_of_resized) # of the two bytes that it looks at, the second
        errors 1
        no_leaks
        frames '^Conditional jump or move depends on uninitialised' use_unset_of_resized main
        ;;
    *) script_fail "nothing is known of $mistake" ;;
esac
echo "$mistake: as it should be"
