#!/bin/bash
# zstd: round trips of text and of noise, in one thread and in two, at a low and a high level.
. "$(dirname "$0")/lib.sh"
script_need zstd
preload_binds zstd --version
in_both bash -c '
    awk "BEGIN { x = 9; for (i = 0; i < 100000; i++) { x = (x * 1103515245 + 12345) % 2147483648; print \"record\", x % 5000, x } }" >text
    head -c 1500000 /dev/zero | openssl enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 0 -out noise 2>/dev/null
    tar -c -f tree.tar --sort=name --mtime=@0 -C /usr/include linux/netfilter'
for file in text noise tree.tar; do
    succeeds "$file, low" zstd -q -k -1 --single-thread "$file"
    same_file "$file.zst"
    succeeds "$file, unpacked" bash -c "zstd -q -dc $file.zst | cmp - $file && rm $file.zst"
    succeeds "$file, high" zstd -q -k -12 -T2 "$file"
    same_file "$file.zst"
    succeeds "$file, tested" zstd -q -t "$file.zst"
    succeeds "$file, unpacked" bash -c "zstd -q -dc $file.zst | cmp - $file"
done
in_both bash -c 'head -c 100000 text.zst >cut.zst'
compare "a file cut short" bash -c 'zstd -dc cut.zst | cksum'
preload_done
