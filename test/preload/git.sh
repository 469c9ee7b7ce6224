#!/bin/bash
# git: a history of some hundreds of commits made here, then clone, log, blame, gc, repack, fsck.
. "$(dirname "$0")/lib.sh"
script_need git
preload_binds git --version
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat

# 300 commits over 40 files, as git fast-import reads them.
awk 'BEGIN {
    x = 1
    for (c = 1; c <= 300; c++) {
        printf "commit refs/heads/main\nmark :%d\ncommitter C <c@example.org> %d +0000\n", c, 1600000000 + c * 60
        message = "change " c; printf "data %d\n%s\n", length(message), message
        if (c > 1) printf "from :%d\n", c - 1
        for (f = 0; f < 3; f++) {
            x = (x * 1103515245 + 12345) % 2147483648
            name = "folder" x % 5 "/file" x % 40; body = ""
            for (l = 0; l < 60 + x % 200; l++) body = body "line " l " of " (l % 7 == c % 7 ? c : name) "\n"
            printf "M 100644 inline %s\ndata %d\n%s\n", name, length(body), body
        }
    }
}' >"$scratch/history"
export history=$scratch/history
succeeds "init and import" bash -c 'git init -q -b main origin && cd origin && git fast-import --quiet <"$history" && git reset -q --hard && git rev-parse HEAD'
succeeds "commits one by one" bash -c 'cd origin && for i in {1..25}; do seq $i 500 >new$((i % 4)) && git add -A && git commit -q -m "commit $i" || exit; done; git rev-parse HEAD'
succeeds "branch and merge" bash -c 'cd origin && git checkout -q -b side HEAD~10 && echo side >side && git add side && git commit -q -m side && git checkout -q main && git merge -q -m merge side && git rev-parse HEAD'
succeeds "clone" bash -c 'git clone -q --no-local origin clone 2>&1 && cd clone && git rev-parse HEAD && git ls-files -s'
succeeds "log" git -C clone log --stat -p -M
succeeds "log as a graph" git -C clone log --graph --oneline --all
succeeds "blame" bash -c 'cd clone && for file in $(git ls-files | head -n 6); do git blame "$file"; done'
succeeds "diff" git -C clone diff --word-diff HEAD~200 HEAD
succeeds "grep" git -C clone grep -n "line 5.*of folder2" HEAD HEAD~50
# A pack's order may depend on the threads; what is in it may not.
succeeds "gc" bash -c 'cd clone && git gc -q --aggressive --prune=now 2>&1 && git rev-list --objects --all | sort | cksum'
succeeds "repack in threads" bash -c 'cd origin && git -c pack.threads=4 repack -adfq 2>&1 && git count-objects -v | grep -E "^(count|in-pack|packs):"'
succeeds "fsck" git -C clone fsck --full --strict --no-dangling
succeeds "archive" bash -c 'git -C clone archive HEAD | tar -x -O | cksum'
compare "a repository that is missing" git -C . clone -q nowhere there
preload_done
