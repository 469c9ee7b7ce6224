#!/bin/bash
# The manual pages, installed to a DESTDIR: man finds each there, also by the name of a function, and renders it without a
# warning; none lacks a command, an option of one, an exit status, a function or a member of the header.
set -u
. "$(dirname "$0")/../support/script.sh"
script_need cmake man
scratch=$(script_scratch)
export LC_ALL=C.UTF-8 MANWIDTH=80 MANPAGER=cat PAGER=cat
unset MANOPT MANROFFOPT MANLESS
fallow=$FALLOW_BUILD/tools/fallow
header=$FALLOW_SOURCE/include/fallow/fallow.h

DESTDIR=$scratch/root cmake --install "$FALLOW_BUILD" >"$scratch/log" 2>&1 || script_fail "$(tail -n 5 "$scratch/log")"
page=$(find "$scratch/root" -name fallow.1)
[ -n "$page" ] || script_fail "fallow.1 is not installed"
manual=${page%/man1/fallow.1}

render() { # render FILE: to $scratch/text; what man says of it to $scratch/said
    (cd "$manual" && man --warnings=w -l "$1") >"$scratch/text" 2>"$scratch/said"
}
# A page with a mistake in it is told from one without.
for fault in '.XX' '\(qq'; do
    printf '.TH X 1\n.SH NAME\nx \\- y\n%s\n' "$fault" >"$scratch/bad.1"
    render "$scratch/bad.1"
    grep -q warning "$scratch/said" || script_fail "man finds no fault in $fault"
done

rendered=0
while read -r file; do
    render "$file" || script_fail "$file: $(cat "$scratch/said")"
    [ ! -s "$scratch/said" ] || script_fail "$file: $(cat "$scratch/said")"
    grep -q '^SEE ALSO' "$scratch/text" || script_fail "$file is cut short: $(cat "$scratch/text")"
    rendered=$((rendered + 1))
done < <(find "$manual" -type f)

finds() { # finds SECTION NAME FILE
    [ "$(man -M "$manual" -w "$1" "$2")" = "$manual/man$1/$3" ] || script_fail "man $1 $2 finds $(man -M "$manual" -w "$1" "$2")"
}
finds 1 fallow fallow.1
finds 3 fallow fallow.3
finds 7 fallow-options fallow-options.7

# text FILE: as it reads, in one line, for has
text() {
    render "$1"
    tr -s ' \n' ' ' <"$scratch/text" >"$scratch/line"
}
has() { # has WORDS WHERE
    grep -qF -- "$1" "$scratch/line" || script_fail "$2 lacks $1"
}
text "$manual/man1/fallow.1"
options=0
while read -r command; do
    has "fallow $command" "fallow(1)"
    # The part of this command alone: the others have options of the same name.
    awk -v from="   fallow $command" 'index($0, from) == 1 { on = 1; next } /^   ? ?[^ ]/ { on = 0 } /^[A-Z]/ { on = 0 } on' \
        "$scratch/text" >"$scratch/part"
    while read -r option; do
        grep -qE -- "(^|[ ,])$option( |,|$)" "$scratch/part" || script_fail "fallow(1), fallow $command: no $option"
        options=$((options + 1))
    done < <("$fallow" "$command" --help | grep -oE '^  -[a-z], --[a-z]+' | grep -oE -- '--[a-z]+')
done < <("$fallow" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[ "$options" -gt 10 ] || script_fail "only $options options found in the help: is the form of it another?"
for status in 0 1 2 3 4 5 6 125 126 127; do
    grep -qE "^       $status( |\$)" "$scratch/text" || script_fail "fallow(1) has no exit status $status"
done

text "$manual/man3/fallow.3"
functions=0
while read -r declaration; do
    has "$declaration" "fallow(3)"
    name=${declaration%%(*}
    name=${name##*[ \*]}
    [ -n "$(man -M "$manual" -w 3 "$name")" ] || script_fail "man 3 $name finds nothing"
    man -M "$manual" 3 "$name" 2>/dev/null | grep -q "$name(" || script_fail "man 3 $name shows another page"
    functions=$((functions + 1))
done < <(sed -nE '/^[a-z].*[ *]fallow_[a-z_]+\(.*\);$/p' "$header")
while read -r member; do
    has "$member;" "fallow(3)"
done < <(sed -nE 's/^    size_t ([a-z_]+);.*/\1/p' "$header")
while read -r constant; do
    has "$constant" "fallow(3)"
done < <(grep -oE '^    FALLOW_[A-Z_]+' "$header")
[ "$functions" -gt 15 ] || script_fail "only $functions functions found in the header: is the form of it another?"
echo "$rendered pages; $options options, $functions functions"
