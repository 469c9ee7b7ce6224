#!/bin/bash
# What the documents cite exists: every link to a file, every path, and every identifier in backticks. An
# identifier is a name with an underscore in it, or one that is called; it must stand somewhere in the
# source, the build or the tests, as must one that begins so (heap_) or ends so (_locked). Names that are
# other projects' stand in outside.txt. Code blocks and comments are not looked at.
# ($FALLOW_SOURCE: the source tree; by hand, this one)
set -u
FALLOW_SOURCE=${FALLOW_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$FALLOW_SOURCE/test/support/script.sh"
scratch=$(script_scratch)
cd "$FALLOW_SOURCE" || script_fail "no folder $FALLOW_SOURCE"

mapfile -t documents < <(find README.md CHANGELOG.md CONTRIBUTING.md src tools bench test docs -name '*.md' | sort)
code=(src preload include tools bench test cmake docs/generate.c CMakeLists.txt CMakePresets.json)

# All words of the code, and the names of all its files.
find "${code[@]}" -type f ! -name '*.md' ! -path test/docs/outside.txt -exec grep -IhoE '[A-Za-z_][A-Za-z0-9_]*' {} + |
    sort -u >"$scratch/words"
find . \( -name .git -o -path ./build \) -prune -o -type f -print | sed 's|.*/||' | sort -u >"$scratch/files"
grep -vE '^(#|$)' test/docs/outside.txt | sort -u >"$scratch/outside"

prose() { # prose FILE: without code blocks and comments
    awk '/^```/ { code = !code; next } !code && !/^    [^ ]/' "$1" | sed 's/<!--.*-->//'
}

bad=0
cited=0
missing() { # missing FILE KIND NAME
    echo "$1: $2 does not exist: $3" >&2
    bad=$((bad + 1))
}
known() { # known LIST NAME
    grep -qxF -- "$2" "$scratch/$1"
}
known_word() { # known_word NAME: as it is, as the number of a system call, as a beginning, as an end
    case $1 in
    _[a-z]*) grep -q -- "$1\$" "$scratch/words" ;;
    *_) grep -q -- "^$1" "$scratch/words" ;;
    *) known words "$1" || known words "SYS_$1" || known outside "$1" ;;
    esac
}

check() { # check DOCUMENT CITE
    local document=$1 cite=$2 name
    known outside "$cite" && return
    case $cite in
    *' '* | [/.-]* | *[\<\>\*\$\|\{\}=]* | build/*) return ;; # a command, a pattern, a system's or a built file
    */*)
        cited=$((cited + 1))
        [ -e "$cite" ] || [ -e "$(dirname "$document")/$cite" ] || missing "$document" path "$cite"
        ;;
    *.c | *.h | *.def | *.md | *.sh | *.py | *.cmake | *.map)
        cited=$((cited + 1))
        known files "$cite" || missing "$document" file "$cite"
        ;;
    *)
        name=${cite%%[(:]*} # a call without its arguments, an option without its value
        [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ && ($name == *_* || $cite == *\(*) ]] || return
        cited=$((cited + 1))
        known_word "$name" || missing "$document" identifier "$cite"
        ;;
    esac
}

for document in "${documents[@]}"; do
    while read -r cite; do
        check "$document" "$cite"
    done < <(prose "$document" | grep -oE "[\`][^\`]+[\`]" | tr -d "\`" | sort -u)
    while read -r link; do
        cited=$((cited + 1))
        [ -e "$(dirname "$document")/$link" ] || missing "$document" link "$link"
    done < <(prose "$document" | grep -oE '\]\([^)# ]+' | sed 's/^](//' | grep -vE '^[a-z]+:' | sort -u)
done
[ "$cited" -gt 200 ] || script_fail "only $cited cites found in ${#documents[@]} documents: is the form of them another?"
[ "$bad" = 0 ] || script_fail "$bad of $cited cites"
echo "$cited cites in ${#documents[@]} documents"
