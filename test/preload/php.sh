#!/bin/bash
# php: its own pools above malloc, extensions that it opens with RTLD_DEEPBIND, forks.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
script_need php
preload_binds php -n -r ''
succeeds "its version, with all extensions" php -v
php -m >"$scratch/modules"
grep -qi opcache "$scratch/modules" || echo "no extension of its own library is here"
cat >"$scratch/work.php" <<'PHP'
<?php
mt_srand(7);
$words = [];
for ($i = 0; $i < 150000; $i++)
    $words[] = substr(md5((string)$i), 0, 2 + $i % 13);
$count = array_count_values($words);
ksort($count);
echo count($count), ' ', md5(serialize($count)), "\n";
usort($words, fn($a, $b) => [strlen($a), $a] <=> [strlen($b), $b]);
echo md5(implode('|', $words)), "\n";
$text = implode(' ', array_slice($words, 0, 40000));
echo preg_match_all('/([a-f]+)(\d{2,})/', $text), ' ', md5(preg_replace('/([a-f])(\d)/', '$2$1', $text)), "\n";
$tree = json_decode(json_encode(array_chunk($count, 50, true)), true);
echo md5(var_export($tree, true)), "\n";
$big = '';
for ($i = 0; $i < 4000; $i++)
    $big .= str_repeat(chr(65 + $i % 26), 1000);
echo strlen($big), ' ', md5(gzcompress($big, 6)), ' ', strlen(gzuncompress(gzcompress($big, 9))), "\n";
$objects = [];
for ($i = 0; $i < 100000; $i++) {
    $o = new stdClass;
    $o->name = "object $i";
    $o->next = $i % 50 ? $objects[$i - 1] : null;
    $objects[] = $o;
}
echo count($objects), ' ', $objects[99999]->next->name, "\n";
PHP
succeeds "a program" php -d memory_limit=-1 "$scratch/work.php"
succeeds "the same with the pools' work done by malloc" env USE_ZEND_ALLOC=0 php -d memory_limit=-1 "$scratch/work.php"
compare "an error" php -d memory_limit=20M -r '$a = []; while (true) $a[] = str_repeat("x", 1000);'
succeeds "many processes" bash -c 'for i in $(seq 12); do php -r "echo strlen(str_repeat(\"x\", $i * 100000)), PHP_EOL;"; done'
preload_done
