#!/bin/bash
# bash: its own data structures, subshells, pipes, traps, here-documents, globbing.
. "$(dirname "$0")/lib.sh"
script_need bash
bash=/bin/bash
preload_binds "$bash" -c :

succeeds "arithmetic and strings" "$bash" -c '
    total=0
    for ((i = 0; i < 30000; i++)); do total=$(((total * 31 + i) % 1000003)); done
    text=$(printf "word%d " {1..5000})
    echo "$total ${#text} ${text:1000:40} ${text//word/W}" | cut -c 1-2000'
succeeds "arrays" "$bash" -c '
    declare -A by_name; declare -a by_number
    for i in {1..20000}; do by_name[key$((i * 7919 % 20011))]=$i; by_number[i * 3]=x$i; done
    for key in "${!by_name[@]}"; do echo "$key=${by_name[$key]}"; done | LC_ALL=C sort | cksum
    unset "by_number[3]"; echo "${#by_number[@]} ${by_number[*]:10:5}"'
succeeds "subshells, pipes, substitutions" "$bash" -c '
    for i in {1..300}; do (echo "$i $(echo $((i * i)) | { read -r n; echo "$n"; })"); done | while read -r a b; do echo "$b$a"; done
    diff <(seq 100) <(seq 2 101); echo "status $?"'
succeeds "here-documents and functions" "$bash" -c '
    deep() { local n=$1; if ((n == 0)); then cat <<TEXT
bottom of ${FUNCNAME[*]}
TEXT
    else deep $((n - 1)); fi; }
    deep 400 | cksum
    mapfile -t lines < <(seq 50000); echo "${#lines[@]} ${lines[49999]}"'
succeeds "traps, jobs, wait" "$bash" -c '
    trap "echo bye" EXIT
    for i in {1..20}; do (exit $i) & pids[i]=$!; done
    for i in {1..20}; do wait "${pids[i]}"; echo "$i: $?"; done
    trap "echo caught" USR1; kill -USR1 $$; echo after'
succeeds "globbing and patterns" "$bash" -O extglob -O globstar -c '
    mkdir -p a/b/c; touch a/{1..200}.txt a/b/{x..z}{1..50} a/b/c/file; echo a/**/*; echo a/!(*[0-4]).txt; [[ abcabcabc =~ ^(abc)+$ ]] && echo "${BASH_REMATCH[1]}"'
compare "a syntax error" "$bash" -c 'if then fi'
compare "a command that is missing" "$bash" -c 'no-such-command; exit 3'
preload_done
