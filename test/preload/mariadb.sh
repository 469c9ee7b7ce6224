#!/bin/bash
# MariaDB: a data folder is made and filled, and asked over a socket, by several clients at a time.
. "$(dirname "$0")/lib.sh"
server=$(command -v mariadbd) || script_skip "MariaDB is not installed (test/packages-nightly.txt)"
preload_binds mariadbd --no-defaults --version
cat >"$scratch/work.sql" <<'SQL'
create database work; use work;
create table item (id int primary key, name varchar(40), grade int, note text, key (name), key (grade, id)) engine = InnoDB;
insert into item select seq, md5(seq), seq % 113, repeat(md5(seq * 7), seq % 20) from seq_1_to_30000;
select count(*), sum(grade), min(name), max(name), sum(length(note)) from item;
select grade, count(*), md5(group_concat(name order by id)) from item group by grade order by grade limit 20;
select a.id, b.id from item a join item b on a.name = b.name where a.grade = 7 order by 1, 2 limit 20;
update item set note = repeat('x', 3000) where id % 10 = 0;
delete from item where id % 7 = 0;
alter table item add column more int default 5;
select json_arrayagg(json_object('id', id, 'name', name)) from item where id between 100 and 150;
with recursive f (i, x) as (select 1, cast('1' as char(400)) union all select i + 1, right(concat(x, i), 390) from f where i < 500)
select i, md5(x) from f where i % 100 = 0;
check table item; checksum table item;
SQL
[ "$(id -u)" = 0 ] && user=--user=root || user=--user=$(id -un)
for malloc in libc fallow; do
    preload=FALLOW_NONE=
    [ "$malloc" = fallow ] && preload=LD_PRELOAD=$FALLOW_SO
    folder=$scratch/$malloc
    env "$preload" mariadb-install-db --no-defaults "$user" --datadir="$folder/base" --auth-root-authentication-method=normal \
        --skip-test-db >"$folder/install" 2>&1 </dev/null || script_fail "the data folder under $malloc: $(tail -n 20 "$folder/install")"
    env "$preload" "$server" --no-defaults "$user" --datadir="$folder/base" --socket="$folder/socket" --skip-networking \
        --pid-file="$folder/pid" --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0 >"$folder/log" 2>&1 </dev/null &
    pid=$!
    script_own $pid
    client=(env "$preload" mariadb --no-defaults -uroot --socket="$folder/socket" --batch)
    wait_until 60 "${client[@]}" -e 'select 1'
    [ "$malloc" = fallow ] && process_has_library $pid
    "${client[@]}" <"$scratch/work.sql" >"$scratch/$malloc.answers" 2>&1 || script_fail "$(tail -n 5 "$scratch/$malloc.answers")"
    clients=()
    for i in 1 2 3 4; do
        for _ in {1..30}; do
            echo "select $i, md5(group_concat(note order by id)) from item where id % 11 = $i;"
        done | "${client[@]}" work >"$folder/client-$i" 2>&1 &
        clients+=($!)
    done
    wait "${clients[@]}"
    cat "$folder"/client-? >>"$scratch/$malloc.answers"
    kill $pid
    wait $pid
    echo "the server ended with $?" >>"$scratch/$malloc.answers"
    no_complaint "$folder/log"
    no_complaint "$folder/install"
done
[ "$(wc -l <"$scratch/libc.answers")" -ge 150 ] || script_fail "too few answers: $(tail -n 5 "$scratch/libc.answers")"
cmp "$scratch/libc.answers" "$scratch/fallow.answers" || script_fail "$(diff "$scratch/libc.answers" "$scratch/fallow.answers" | head -n 20)"
compared=1
preload_done
