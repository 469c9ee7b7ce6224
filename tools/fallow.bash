# shellcheck shell=bash
# Completion of the fallow command for bash; it needs nothing of bash-completion but to be loaded.
# test/tools/completion.sh compares it with the command's help and with options.def.

_fallow_options() { # _fallow_options COMMAND: its options
    case $1 in
    '') echo --help --version ;;
    run) echo --help --library --print ;;
    doctor) echo --help --json ;;
    rss) echo --help --verbose --json --watch --interval --count ;;
    stats) echo --help --json --prometheus --openmetrics --watch --interval --count ;;
    trim) echo --help --swap --json ;;
    esac
}

_fallow_names='purge dirty_decay_ms lazy_decay_ms dirty_max lazy_max purge_thread thp narenas stats_at_exit
    chaos_reclaim chaos_pageout abort_conf abort_on_foreign'

_fallow_values() { # _fallow_values NAME: of an option of the library that is no number
    case $1 in
    purge) echo lazy dontneed never ;;
    purge_thread | thp) echo auto always never ;;
    stats_at_exit | chaos_pageout | abort_conf | abort_on_foreign) echo true false ;;
    esac
}

_fallow_words() { # _fallow_words WORD...: those that begin as $word does
    mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word")
}

_fallow_setting() { # NAME:VALUE, of which bash cuts off what is before the colon
    local name=${word%%:*} values value
    if [[ $word != *:* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$_fallow_names" -S : -- "$word")
        compopt -o nospace 2>/dev/null
        return
    fi
    read -ra values < <(_fallow_values "$name")
    for value in "${values[@]}"; do
        [[ $name:$value == "$word"* ]] || continue
        [[ $COMP_WORDBREAKS == *:* ]] || value=$name:$value
        COMPREPLY+=("$value")
    done
}

_fallow_program() { # _fallow_program INDEX: the program to run, from this word on
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif [ "$COMP_CWORD" -eq "$1" ]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null
    fi
}

_fallow() {
    local line=${COMP_LINE:0:COMP_POINT} command=${COMP_WORDS[1]-} word previous='' i
    word=${line##*[[:space:]]}
    [ "$COMP_CWORD" -gt 0 ] && previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -le 1 ]; then
        _fallow_words run doctor rss stats trim "$(_fallow_options '')"
        return
    fi
    if [ "$command" = run ]; then
        for ((i = 2; i < COMP_CWORD; i++)); do
            [ "${COMP_WORDS[i]}" = -- ] || continue
            _fallow_program $((i + 1))
            return
        done
    fi
    case $command:$previous in
    run:-l | run:--library)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        compopt -o filenames 2>/dev/null
        return
        ;;
    rss:-i | rss:--interval | rss:-n | rss:--count | stats:-i | stats:--interval | stats:-n | stats:--count) return ;;
    esac
    case $command:$word in
    *:-*) _fallow_words "$(_fallow_options "$command")" ;;
    run:*) _fallow_setting ;;
    rss:* | stats:* | trim:*) _fallow_words "$(cd /proc && echo [0-9]*)" ;;
    esac
}

complete -F _fallow fallow
