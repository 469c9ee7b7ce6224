#!/bin/bash
# PostgreSQL: a cluster is made, filled by pgbench, and put under load by four clients; what is in it then is the same, and
# so is a dump.
. "$(dirname "$0")/lib.sh"
postgres=$(find /usr/lib/postgresql -maxdepth 3 -name postgres -path '*/bin/*' 2>/dev/null | sort | tail -n 1)
[ -n "$postgres" ] || script_skip "PostgreSQL is not installed (test/packages-nightly.txt)"
PATH=$(dirname "$postgres"):$PATH
preload_binds postgres --version
# The server refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid nobody --regid nogroup --clear-groups)
    chmod 711 "$scratch"
    chown nobody:nogroup "$scratch/libc" "$scratch/fallow"
fi
cp "$library" "$scratch/libfallow.so" # where everybody may read it
chmod 755 "$scratch/libfallow.so"
export PGUSER=test PGDATABASE=postgres
for malloc in libc fallow; do
    run=("${as[@]}" env HOME="$scratch/$malloc" PGHOST="$scratch/$malloc")
    [ "$malloc" = fallow ] && run+=("LD_PRELOAD=$scratch/libfallow.so")
    cd "$scratch/$malloc" || script_fail "no folder $scratch/$malloc"
    log() { # log NAME COMMAND...: what it prints is not compared
        local name=$1
        shift
        "${run[@]}" "$@" >"$scratch/$malloc-$name" 2>&1 </dev/null || {
            tail -n 20 "$scratch/$malloc-$name" >&2
            script_fail "$name under $malloc"
        }
        no_complaint "$scratch/$malloc-$name"
    }
    log initdb initdb -D base -U test --no-sync --locale=C -E UTF8
    "${run[@]}" postgres -D base -k "$scratch/$malloc" -c listen_addresses= -c fsync=off -c shared_buffers=16MB \
        >"$scratch/$malloc-server" 2>&1 </dev/null &
    server=$!
    script_own "$server"
    wait_until 60 "${run[@]}" pg_isready
    if [ "$malloc" = fallow ]; then
        grep -qF "$scratch/libfallow.so" "/proc/$server/maps" || script_fail "the server has not loaded the library"
    fi
    log fill pgbench --initialize --quiet --scale 2
    log load pgbench --random-seed 7 --client 4 --jobs 2 --transactions 250
    log sorts psql -v ON_ERROR_STOP=1 -c "create table word as select md5(i::text) as text, i from generate_series(1, 100000) i" \
        -c "create index by_text on word (text)" -c "analyze word"
    # History has times, and the order of clients; sums have not.
    "${run[@]}" psql -At -v ON_ERROR_STOP=1 >"$scratch/$malloc.sums" 2>&1 <<'SQL' || script_fail "$(cat "$scratch/$malloc.sums")"
select sum(abalance), count(*) from pgbench_accounts;
select sum(bbalance) from pgbench_branches;
select tid, tbalance from pgbench_tellers order by tid;
select count(*), sum(delta) from pgbench_history;
select substr(text, 1, 1), count(*), md5(string_agg(text, ',' order by text)) from word group by 1 order by 1;
select json_agg(json_build_object('i', i, 'text', text) order by i) from word where i % 1000 = 0;
select count(*) from word a join word b on a.text > b.text where a.i < 500 and b.i < 500;
SQL
    log dump pg_dump --no-comments -f dump.sql -T 'pgbench_history'
    log dump-again pg_dump --no-comments -f again.sql -T 'pgbench_history'
    # Where psql is restricted while it reads a dump, by a word that is another each time.
    sed -i '/^.\(un\)\{0,1\}restrict /d' dump.sql again.sql
    cmp dump.sql again.sql || script_fail "two dumps differ under $malloc"
    kill -INT "$server"
    wait "$server"
    echo "the server ended with $?" >>"$scratch/$malloc.sums"
    no_complaint "$scratch/$malloc-server"
done
cmp "$scratch/libc.sums" "$scratch/fallow.sums" || script_fail "$(diff "$scratch/libc.sums" "$scratch/fallow.sums" | head -n 20)"
compared=1
preload_done
