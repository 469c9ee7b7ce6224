#!/bin/bash
# perl: hashes, regular expressions, sorting, closures, forks, threads (each clones the interpreter).
. "$(dirname "$0")/lib.sh"
script_need perl
export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0
preload_binds perl -e 1
cat >"$scratch/work.pl" <<'PERL'
use strict; use warnings;
use Digest::MD5 qw(md5_hex);
my %count; my @lists;
for my $i (1 .. 60000) {
    my $word = substr(md5_hex($i), 0, 2 + $i % 9);
    $count{$word}++;
    push @{ $lists[ $i % 97 ] }, $word x (1 + $i % 5);
}
print scalar(keys %count), " ", md5_hex(join ",", map { "$_=$count{$_}" } sort keys %count), "\n";
print md5_hex(join "|", sort { length $a <=> length $b || $a cmp $b } map { @$_ } @lists), "\n";
my $text = join " ", map { @$_ } @lists[ 0 .. 40 ];
my $hits = () = $text =~ /([a-f]+)(\d{2,})(?=\1|\w)/g;
(my $swapped = $text) =~ s/([a-f])(\d)/$2$1/g;
print "$hits ", md5_hex($swapped), "\n";
my $big = ""; $big .= chr(65 + $_ % 26) x 1000 for 1 .. 5000;
print length $big, " ", md5_hex($big), "\n";
for my $child (1 .. 5) {
    my $pid = open my $pipe, "-|"; defined $pid or die;
    if (!$pid) { delete @count{ (sort keys %count)[ 0 .. 1000 * $child ] }; print scalar(keys %count), "\n"; exit 0 }
    print "child $child: ", <$pipe>; close $pipe or die "child: $?";
}
my @makers = map { my $n = $_; sub { $n += shift } } 1 .. 5000;
$_->(3) for @makers; my $sum = 0; $sum += $_->(0) for @makers; print "$sum\n";
PERL
succeeds "a program" perl "$scratch/work.pl"
succeeds "threads" perl -Mthreads -e '
    my @big = map { "x" x $_ } 1 .. 2000;
    my @threads = map { my $n = $_; threads->create(sub { my %h = map { $_ => $big[$_ % 2000] } 1 .. 3000; $n * length join "", values %h }) } 1 .. 6;
    print $_->join, "\n" for @threads;'
succeeds "in-place editing" bash -c 'seq 1 30000 >lines && perl -i -pe "s/7/seven/g; \$_ = reverse" lines && cksum <lines'
succeeds "many modules" perl -MPOSIX -MData::Dumper -MStorable=dclone -MEncode -MTime::Local -e '
    my $data = { map { $_ => [ 1 .. $_ % 50 ] } 1 .. 2000 }; $Data::Dumper::Sortkeys = 1;
    print Dumper(dclone($data)), encode("UTF-16", "\x{e9}" x 1000), POSIX::strftime("%F", gmtime 86400 * 365);'
compare "an error" perl -e 'my @a = (1) x 100000; die "gone\n"'
preload_done
