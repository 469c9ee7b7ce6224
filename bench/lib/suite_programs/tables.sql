-- SQLite's part of bench/run suite, in memory: rows, indexes, a join, groups, updates and deletes.
PRAGMA cache_size = -65536;
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, place INTEGER, note TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO item SELECT i, 'item ' || (i * 7919 % 200003), i * 31 % 1009, substr(hex(i * 2654435761), 1, 4 + i % 12) FROM n;
COMMIT;
CREATE INDEX item_name ON item(name);
CREATE INDEX item_place ON item(place, note);
CREATE TABLE place AS SELECT place AS id, count(*) AS items, group_concat(note, ',') AS notes FROM item GROUP BY place;
SELECT count(*), sum(length(notes)) FROM place;
UPDATE item SET note = note || '-' || place WHERE id % 3 = 0;
SELECT count(*), max(length(p.notes || i.note)) FROM item i JOIN place p ON p.id = i.place WHERE i.name LIKE 'item 1%';
SELECT count(DISTINCT upper(note)), count(DISTINCT substr(name, 6, 3)) FROM item;
SELECT sum(length(replace(notes, ',', ', '))) FROM place;
DELETE FROM item WHERE id % 2 = 0;
SELECT name, note FROM item ORDER BY note DESC, name LIMIT 3;
DROP TABLE place;
SELECT count(*), total(length(name)) FROM (SELECT name FROM item ORDER BY name || note);
