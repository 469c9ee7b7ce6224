<?php
// PHP's part of bench/run programs: records made of strings, sorted, joined, taken apart by patterns, and let go.

$random = 12345;
$kept = [];
for ($turn = 0; $turn < 6; $turn++) {
    $records = [];
    for ($i = 0; $i < 30000; $i++) {
        $random = ($random * 1103515245 + 12345) & 0x7fffffff;
        $records[] = ['name' => "record-$i", 'tags' => ['t' . $random % 97, 'g' . $random % 1009],
                      'text' => str_repeat('x', $random >> 8 & 63)];
    }
    $index = [];
    foreach ($records as $record)
        foreach ($record['tags'] as $tag)
            $index[$tag][] = $record;
    foreach ($index as &$members)
        usort($members, fn($a, $b) => [strlen($a['text']), $a['name']] <=> [strlen($b['text']), $b['name']]);
    unset($members);
    $kept[$turn % 2] = $index;
    $lines = array_map(fn($record) => implode(',', [$record['name'], ...$record['tags'], $record['text']]), $records);
    $text = preg_replace('/x{5,9}/', '-', implode("\n", $lines));
    $words = array_count_values(preg_split('/[,\n]/', $text));
    $copy = json_decode(json_encode(array_slice($records, 0, 5000)), true);
    echo count($words), ' ', strlen($text), ' ', count($copy), "\n";
}
