#!/bin/bash
# sqlite3: tables, indexes, joins, window functions, JSON, a transaction undone, vacuum, dump and restore.
. "$(dirname "$0")/lib.sh"
script_need sqlite3
preload_binds sqlite3 :memory: 'select 1'
cat >"$scratch/work.sql" <<'SQL'
.bail on
create table item (id integer primary key, name text, grade int, weight real, note blob);
create table link (a int references item, b int, unique (a, b));
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000)
insert into item select i, printf('name%06d', i * 7919 % 60013), i % 113, i * 0.37, substr(hex(i * 104729), 1, i % 40) from n;
insert or ignore into link select id, id * 31 % 60000 + 1 from item where id % 3 = 0;
commit;
create index by_name on item (name);
create index by_grade on item (grade, weight desc);
select count(*), sum(weight), min(name), max(name) from item;
select grade, count(*), group_concat(id) from item where id < 3000 group by grade order by grade;
select i.name, j.name from item i join link on link.a = i.id join item j on j.id = link.b where i.grade = 7 order by i.name limit 500;
select id, sum(weight) over (partition by grade order by id rows 3 preceding) from item where id % 1000 = 0;
select json_group_array(json_object('id', id, 'name', name)) from item where id between 100 and 900;
with recursive f(i, x) as (select 1, '1' union all select i + 1, substr(x || i, -400) from f where i < 3000) select x from f where i % 500 = 0;
begin; delete from item where grade < 60; select count(*) from item; rollback; select count(*) from item;
update item set note = zeroblob(300) where id % 10 = 0;
delete from item where id % 7 = 0;
vacuum;
pragma integrity_check;
select count(*), sum(length(note)) from item;
SQL
succeeds "a database in a file" bash -c "sqlite3 base.db <'$scratch/work.sql'"
succeeds "dump and restore" bash -c 'sqlite3 base.db .dump | tee dump.sql | sqlite3 again.db && sqlite3 again.db .dump | cmp - dump.sql && cksum <dump.sql'
succeeds "in memory" bash -c "sqlite3 :memory: <'$scratch/work.sql'"
succeeds "two attached" sqlite3 base.db "attach 'again.db' as other; select count(*) from main.item m join other.item o using (id, name); pragma other.integrity_check"
compare "an error" sqlite3 base.db 'select no from such'
preload_done
