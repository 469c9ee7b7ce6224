#!/bin/bash
# gcc: real files (this project's own sources, the whole of perl's headers where they are installed), a
# large generated one, and C++ with heavy templates. The object files are the same to the last byte.
. "$(dirname "$0")/lib.sh"
script_need gcc g++ awk
preload_binds "$(gcc -print-prog-name=cc1)" --version
preload_binds "$(gcc -print-prog-name=cc1plus)" --version
preload_binds as --version
preload_binds ld --version

in_both bash -c "
    cp -r '$FALLOW_SOURCE/src' '$FALLOW_SOURCE/include' .
    awk 'BEGIN {
        print \"#include <stdio.h>\\n#include <string.h>\\n#include <stdlib.h>\\nstruct node { struct node *left, *right; int key; double weight[8]; };\"
        for (i = 0; i < 700; i++) {
            printf \"static int f%d(struct node *n, int a, int b) { int s = 0; for (int i = 0; i < a; i++) { if (n && n->key > i %% %d) { s += n->key * b; n = i & 1 ? n->left : n->right; } else switch (i %% 7) { case 0: s ^= a; break; case 3: s += b / (i + %d); break; default: s -= i * %d; } } return s%s; }\\n\", i, i + 2, i + 1, i, i ? \" + f\" (i - 1) \"(n, a / 2, b)\" : \"\"
        }
        print \"int main(int c, char **v) { struct node n = {0, 0, c, {0}}; (void)v; printf(\\\"%d\\\\n\\\", f699(&n, 1000, 7)); return 0; }\"
    }' >large.c"
succeeds "a large file" bash -c 'gcc -O2 -g -Wall -fdebug-prefix-map="$PWD"=. -c large.c -o large.o'
same_file large.o
succeeds "a program" gcc -O1 large.c -o large
same_file large
succeeds "running it" ./large
sources=0
for source in "$FALLOW_SOURCE"/src/*/*.c; do
    [ -f "$source" ] || continue
    path=${source#"$FALLOW_SOURCE"/}
    succeeds "$path" gcc -std=gnu17 -D_GNU_SOURCE -DFALLOW_DEBUG=0 -O2 -g0 -Iinclude -Isrc/base -Isrc/os -Isrc/conf \
        -Isrc/extent -Isrc/heap -Isrc/api -c "$path" -o own.o
    same_file own.o
    sources=$((sources + 1))
    [ "$sources" -lt 6 ] || break
done
[ "$sources" -gt 0 ] || script_fail "none of the project's sources was found"
cat >"$scratch/templates.cc" <<'CODE'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main() {
    std::map<std::string, std::vector<int>> table;
    for (int i = 0; i < 100; i++) table[std::to_string(i % 10)].push_back(i);
    std::regex pattern("([0-9]+)-([a-z]*)");
    std::smatch match;
    std::string text = "12-abc";
    if (std::regex_match(text, match, pattern)) std::cout << match[2] << table["3"].size() << "\n";
    std::vector<std::string> words(50, "x");
    std::sort(words.begin(), words.end());
}
CODE
succeeds "C++ templates" g++ -std=c++17 -O2 -frandom-seed=1 -c "$scratch/templates.cc" -o templates.o
same_file templates.o
succeeds "link-time optimization" gcc -O2 -flto=2 -frandom-seed=1 large.c -o lto
succeeds "running that" ./lto
compare "an error" gcc -c "$scratch/history" -o nothing.o
cat >"$scratch/wrong.c" <<'CODE'
int main(void) { return undeclared + ; }
CODE
compare "a wrong program" gcc -c "$scratch/wrong.c" -o nothing.o
preload_done
