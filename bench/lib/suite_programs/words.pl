# Perl's part of bench/run suite: hashes of strings, joins, splits and substitutions.
use strict;
use warnings;

my (%count, @kept);
my $random = 12345;

for my $turn (1 .. 8) {
    my @words;
    for (1 .. 60000) {
        $random = ($random * 1103515245 + 12345) & 0x7fffffff;
        push @words, 'w' . ($random % 30011) . 'x' x ($random >> 8 & 31);
    }
    my $text = join ' ', @words;
    $text =~ s/x{5,9}/-/g;
    $count{$_}++ for split / /, $text;
    my %lengths;
    push @{ $lengths{ length $_ } }, lc $_ for keys %count;
    $kept[$turn % 2] = \%lengths;
    delete $count{$_} for grep { $count{$_} == 1 } keys %count;
}
print scalar(keys %count), ' ', scalar(keys %{ $kept[0] }), "\n";
