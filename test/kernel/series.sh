#!/bin/bash
# The series of docs/kernel applies to Debian's linux-source-6.12, one patch after the other, and says what it is. Where that
# package is not installed (test/kernel/run installs it; it is large) this is skipped.
set -u
. "$(dirname "$0")/../support/script.sh"
archive=/usr/src/linux-source-6.12.tar.xz
series=$FALLOW_SOURCE/docs/kernel/series
for patch in "$series"/000[1-9]*.patch; do
    grep -q '^Signed-off-by: ' "$patch" || script_fail "$patch is not signed off"
done
[ -f "$archive" ] || script_skip "linux-source-6.12 is not installed"
script_need git
scratch=$(script_scratch)
mapfile -t files < <(sed -nE 's|^--- a/(.*)$|linux-source-6.12/\1|p' "$series"/000[1-9]*.patch | sort -u)
[ ${#files[@]} -gt 10 ] || script_fail "the series touches ${#files[@]} files"
tar -xf "$archive" -C "$scratch" "${files[@]}" || script_fail "the archive lacks a file that the series changes"
cd "$scratch/linux-source-6.12" || script_fail "no source"
for patch in "$series"/000[1-9]*.patch; do
    GIT_CEILING_DIRECTORIES=$scratch git apply "$patch" || script_fail "$patch does not apply"
done
echo "${#files[@]} files changed"
