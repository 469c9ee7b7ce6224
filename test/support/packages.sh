# shellcheck shell=bash
# Installing the Debian packages that a list names and the machine lacks. Sourced by test/run and .ci/run.

packages_missing() { # packages_missing FILE: those of the list that are not installed
    local name
    while read -r name; do
        case $name in
        '' | '#'*) continue ;;
        esac
        dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || echo "$name"
    done <"$1"
}

packages_install() { # packages_install FILE: fails with a message that says what to do
    local missing log
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is no Debian system; what is needed stands in $1, under Debian's names." >&2
        return 1
    fi
    mapfile -t missing < <(packages_missing "$1")
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        echo "Packages are missing; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
        return 1
    fi
    echo "installing ${missing[*]}"
    log=$(mktemp)
    # Services are for the tests to start: installing a server's package shall not.
    if ! {
        apt-get -o DPkg::Lock::Timeout=600 update &&
            RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y \
                --no-install-recommends "${missing[@]}"
    } >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        echo "apt-get could not install: ${missing[*]}" >&2
        return 1
    fi
    rm -f "$log"
}
