#!/usr/bin/perl
# A block that friction holds on a slope: the audit sums what each step lets it slip, and names a solver that lets it glide.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP;
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my $dir = scratch();
my $angle = 'angle=24.2278'; # 0.9 of the angle of repose
my @steps = ('--steps', 300, '-o', "$dir/creep.h5", '--overwrite', '--format', 'json');

my ($text) = is_code(4, 'drift that stays', 'run', "verschoor2019/incline:$angle", '-s', 'contact-sp:drift=left', @steps);
my ($broken) = grep { $_->{rule} eq 'friction' } @{decode_json($text)->{runs}[0]{broken}};
ok($broken && $broken->{value} > 5e-5 && $broken->{bound} == 5e-5, 'adds up to more than a step may leave');

($text) = is_code(0, 'drift that is carried over, and other solvers', 'run', "verschoor2019/incline:$angle", (map { ('-s', $_) } 'contact-sp', 'contact-al', 'contact-ica'), @steps);
is_deeply([map { $_->{audit} } @{decode_json($text)->{runs}}], [('passed') x 3], 'does not');
done_testing;
