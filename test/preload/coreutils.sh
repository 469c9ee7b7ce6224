#!/bin/bash
# coreutils: sorting (in several threads too), listing, hashing, cutting, joining.
. "$(dirname "$0")/lib.sh"
script_need sort ls sha256sum split join shuf awk
preload_binds sort --version
preload_binds ls /

in_both bash -c '
    awk "BEGIN { x = 42; for (i = 0; i < 150000; i++) { x = (x * 1103515245 + 12345) % 2147483648; print x, x % 977, \"line\" i } }" >numbers
    awk "{ print \$2, \$1 }" numbers | sort -u -k 1,1 >left
    seq 0 3 1000 | sed "s/.*/& right&/" | sort -k 1,1 >right
    cp -r /usr/include/linux tree
    find tree -exec touch -d 2020-01-02T03:04:05 {} +'
succeeds "sort" sort -n numbers
succeeds "sort by key, in threads, with little memory" sort --parallel=4 -S 2M -T . -k 2,2n -k 1,1r numbers
succeeds "sort -u -s" sort -s -u -k 2,2 numbers
succeeds "sort --debug of one line" bash -c 'echo x | sort -c'
succeeds "ls" ls -lR --time-style=full-iso tree
succeeds "ls of this system" ls -lR /usr/share/perl5
succeeds "hashes" bash -c 'find tree -type f | sort | xargs sha256sum; md5sum numbers; b2sum numbers; cksum numbers'
succeeds "split" bash -c 'split -l 7000 -d numbers part- && cat part-* | cmp - numbers && wc part-*'
succeeds "csplit" csplit -s -f piece- right /right300/ /right600/ '{0}'
same_file piece-00 piece-01 piece-02
succeeds "join" join left right
succeeds "comm, paste, cut, tr, uniq" bash -c 'cut -d " " -f 2 numbers | sort | uniq -c | sort -rn | paste - - - | tr 0-9 a-j'
succeeds "tac, rev by od, base64" bash -c 'tac numbers | base64 | tail -n 500; od -A d -t x2 numbers | tail -n 300'
succeeds "shuf" shuf --random-source=numbers numbers
succeeds "factor" factor 1000000007 18446744073709551557 340282366920938463463374607431768211456
succeeds "tsort, numfmt, fmt, pr, expand" bash -c 'awk "NR < 3000 { print \$3, \"line\" NR % 50 }" numbers | grep -v "line[0-9]$\|line[0-4][0-9]$" | tsort | head -n 200; numfmt --to=iec <right --invalid=ignore | head; fmt -w 50 right; pr -3 right | grep -v ^2'
succeeds "cp, mv, du, rm" bash -c 'cp -a tree copy && diff -r tree copy && mv copy other && du -a --apparent-size other | sort -k 2 && rm -r other && ls'
compare "ls of nothing" ls no-such-file
compare "sort of nothing" sort no-such-file
preload_done
