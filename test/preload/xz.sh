#!/bin/bash
# xz: round trips of text and of noise, in one thread and in two, at a low and a high level.
. "$(dirname "$0")/lib.sh"
script_need xz
preload_binds xz --version
in_both bash -c '
    awk "BEGIN { x = 9; for (i = 0; i < 100000; i++) { x = (x * 1103515245 + 12345) % 2147483648; print \"record\", x % 5000, x } }" >text
    head -c 1500000 /dev/zero | openssl enc -aes-128-ctr -K 00112233445566778899aabbccddeeff -iv 0 -out noise 2>/dev/null
    tar -c -f tree.tar --sort=name --mtime=@0 -C /usr/include linux/netfilter'
for file in text noise tree.tar; do
    succeeds "$file, low" xz -q -k -1 -T1 "$file"
    same_file "$file.xz"
    succeeds "$file, unpacked" bash -c "xz -q -dc $file.xz | cmp - $file && rm $file.xz"
    succeeds "$file, high" xz -q -k -6 -T2 --block-size=2MiB "$file"
    same_file "$file.xz"
    succeeds "$file, tested" xz -q -t "$file.xz"
    succeeds "$file, unpacked" bash -c "xz -q -dc $file.xz | cmp - $file"
done
in_both bash -c 'head -c 100000 text.xz >cut.xz'
compare "a file cut short" bash -c 'xz -dc cut.xz | cksum'
preload_done
