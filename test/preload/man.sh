#!/bin/bash
# man, whose helpers filter their own system calls with seccomp (mi#249, hm#80): a page of the test's own, and one in gzip.
. "$(dirname "$0")/lib.sh"
script_need man gzip
export MANWIDTH=80 MAN_KEEP_FORMATTING=1 PAGER=cat
preload_binds man --version
{
    echo '.TH CHURN 1 2026-01-01 test "User Commands"'
    for section in {1..60}; do
        echo ".SH SECTION $section"
        for item in {1..15}; do
            printf '.TP\n.B \\-\\-option%d\\fR=\\fIvalue\\fR\n' "$((section * item))"
            printf 'Sets what the \\fBoption\\fR says; see\n.BR churn (1)\nand the other %d places.\n' "$item"
        done
        printf '.nf\nexample %d {\n    text;\n}\n.fi\n' "$section"
    done
} >"$scratch/churn.1"
gzip -k "$scratch/churn.1"
succeeds "a page" man -l "$scratch/churn.1"
succeeds "a compressed page" man -l "$scratch/churn.1.gz"
succeeds "as a pipeline" bash -c "man -l '$scratch/churn.1' | cat | cksum"
compare "a page that is not there" man no-such-page-anywhere
preload_done
