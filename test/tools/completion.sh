#!/bin/bash
# Completion in bash: installed where bash-completion looks; what it offers is what the command's help and options.def
# have, no more and no less; and with the Tab key on a terminal, a colon in the word too.
. "$(dirname "$0")/lib.sh"
script_need cmake python3
DESTDIR=$scratch/root cmake --install "$FALLOW_BUILD" >"$scratch/log" 2>&1 || script_fail "$(tail -n 5 "$scratch/log")"
file=$(find "$scratch/root" -path '*/share/bash-completion/completions/fallow')
[ -n "$file" ] || script_fail "it is not installed"
# shellcheck source=tools/fallow.bash
. "$file"

row() { # its lines, sorted, as one
    sort | paste -sd ' '
}

# offers LINE: what it offers at its end, sorted, in one line
offers() {
    COMP_LINE=$1
    COMP_POINT=${#COMP_LINE}
    read -ra COMP_WORDS <<<"${COMP_LINE//:/ : }"
    [[ $COMP_LINE == *[\ :] ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _fallow fallow "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ "${#COMPREPLY[@]}" = 0 ] || printf '%s\n' "${COMPREPLY[@]}" | row
}
same() { # same LINE WORDS
    local offered
    offered=$(offers "$1")
    [ "$offered" = "$2" ] || script_fail "'$1' offers '$offered', not '$2'"
}

mapfile -t commands < <("$fallow" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[ "${#commands[@]}" -ge 5 ] || script_fail "the help lists: ${commands[*]}"
same 'fallow ' "$(printf '%s\n' "${commands[@]}" --help --version | row)"
same 'fallow --v' --version
for command in "${commands[@]}"; do
    mapfile -t options < <("$fallow" "$command" --help | grep -oE '^  -[a-z], --[a-z]+' | grep -oE -- '--[a-z]+')
    [ "${#options[@]}" -gt 0 ] || script_fail "fallow $command --help has no options"
    same "fallow $command -" "$(printf '%s\n' "${options[@]}" --help | row)"
done

# The options of the library, and their values where those are words.
table=$FALLOW_SOURCE/src/conf/options.def
mapfile -t names < <(sed -nE 's/^OPTION(_ENUM)?\(([a-z_]+),.*/\2/p' "$table")
[ "${#names[@]}" -ge 10 ] || script_fail "options.def has: ${names[*]}"
same 'fallow run ' "$(printf '%s:\n' "${names[@]}" | row)"
for name in "${names[@]}"; do
    expected=$(awk -v name="$name" '
        /^OPTION(_ENUM)?\(/ { on = index($0, "(" name ",") > 0; if (on && $2 == "bool,") print "true\nfalse" }
        on && match($0, /OPTION_VALUE\([A-Z_]+, "[a-z]+"/) { split(substr($0, RSTART, RLENGTH), part, "\""); print part[2] }
    ' "$table" | row)
    same "fallow run $name:" "$expected"
done
same 'fallow run purge:do' dontneed
same 'fallow run no_such:' ''
same 'fallow run dirty_decay_ms:0 thp:n' never

# Processes, files, the program, and nothing where a number is wanted.
for command in rss stats trim; do
    [[ " $(offers "fallow $command ") " == *" $$ "* ]] || script_fail "fallow $command does not offer process $$"
    same "fallow $command $$" "$(cd /proc && printf '%s\n' "$$"* | row)"
done
same 'fallow rss --interval ' ''
same 'fallow stats -n ' ''
same 'fallow doctor ' ''
touch "$scratch/some-library.so"
same "fallow run --library $scratch/some-l" "$scratch/some-library.so"
[[ " $(offers 'fallow run thp:never -- bas') " == *" bash "* ]] || script_fail "no program is offered"
same "fallow run -- cat $scratch/some-l" "$scratch/some-library.so"

# With the key, in a shell in which fallow prints what it was given.
cat >"$scratch/rc" <<RC
. "$file"
fallow() { printf '<%s>\n' "\$*"; }
PS1='ready> '
bind 'set bell-style none' 'set enable-bracketed-paste off'
RC
python3 - "$scratch/rc" <<'PYTHON' || script_fail "the Tab key"
import os, pty, select, sys, time
child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("bash", ["bash", "--noprofile", "--rcfile", sys.argv[1], "-i"])
def until(text):
    seen, end = "", time.monotonic() + 60
    while text not in seen:
        if time.monotonic() > end or not select.select([terminal], [], [], 60)[0]:
            sys.exit(f"no {text!r} in {seen!r}")
        seen += os.read(terminal, 4096).decode(errors="replace")
    return seen
until("ready> ")
for typed, given in (("fallow do\t", "doctor"), ("fallow run purge:d\t", "run purge:dontneed"),
                     ("fallow run narena\t4 thp:ne\t", "run narenas:4 thp:never"),
                     ("fallow stats --open\t", "stats --openmetrics"), ("fallow rss --ver\t1", "rss --verbose 1")):
    os.write(terminal, (typed + "\n").encode())
    seen = until("ready> ")
    if f"<{given}>" not in seen and f"<{given} >" not in seen:
        sys.exit(f"{typed!r} became {seen!r}, not {given!r}")
os.close(terminal)
os.waitpid(child, 0)
PYTHON
echo "${#commands[@]} commands, ${#names[@]} options"
