#!/bin/sh
# PostgreSQL's part of bench/run programs: `postgres.sh prepare DIRECTORY` makes a database there, `postgres.sh run DIRECTORY`
# starts a server, has pgbench ask it, and stops it. As root all of it belongs to the user postgres.
set -eu
bin=$(find /usr/lib/postgresql -name initdb -path '*/bin/*' | sort -V | tail -n 1)
bin=${bin%/*}
data=$2/postgres
as() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"
    else
        "$@"
    fi
}
serve() { # serve: begins a server in the background, and waits until it answers
    as "$bin/postgres" -D "$data/d" -k "$data" -c listen_addresses= -c fsync=off -c shared_buffers=32MB \
        -c max_connections=20 >"$data/log" 2>&1 &
    server=$!
    until as "$bin/pg_isready" -q -h "$data"; do
        kill -0 "$server"
        sleep 0.02
    done
}
stop() {
    as "$bin/pg_ctl" -D "$data/d" -m fast -s stop
    wait "$server"
}
case $1 in
    prepare)
        mkdir -p "$data"
        [ "$(id -u)" != 0 ] || chown postgres "$data" "$2"
        as "$bin/initdb" -D "$data/d" -A trust -U postgres --no-sync >"$data.log" 2>&1
        serve
        as "$bin/pgbench" -h "$data" -U postgres -i -s 2 -q postgres >"$data.log" 2>&1
        stop
        ;;
    run)
        serve
        as "$bin/pgbench" -h "$data" -U postgres -c 4 -j 2 -t 400 -n postgres >"$data.out" 2>&1
        as "$bin/pgbench" -h "$data" -U postgres -c 4 -j 2 -t 30 -n -C -S postgres >"$data.out" 2>&1
        stop
        ;;
esac
