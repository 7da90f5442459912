#!/usr/bin/perl
# What a plan says of memory is what runs take; what will not do is said before it starts.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my @gamg = ('-s', 'newton:linear=petsc,petsc=-ksp_type cg -pc_type gamg');
my @solvers = map { ('-s', $_) } 'newton', 'newton:linear=cg,preconditioner=ic';
my @plan = ('bench/beam:resolution=0.75', 'lewin2016/hanging-sheet', @solvers, @gamg, '--steps', '2');

# ---- a plan
my ($out) = is_code(0, 'a plan', 'run', @plan, '--dry-run', '--format', 'json');
my %told = map { ($_->{id} => $_->{prediction}) } @{decode_json($out)->{cases}};
is(scalar(grep { defined $_->{peak} && $_->{nodes} > 0 && $_->{elements} > 0 } values %told), 6, 'counts and memory of every case');
is(scalar(grep { defined $_->{run} } values %told), 0, 'no time where the rates of the machine are not wanted');
($out) = is_code(0, 'in words', 'run', 'bench/beam', '-s', 'newton', '-s', 'fem-subspace', '--dry-run');
like($out, qr/^    3321 nodes, 15360 elements; \d+ MB at the peak, \d+ MB in steps \(within 10 %; factor 23 MB, analyzed\); time: no prediction$/m, 'with margins');
like($out, qr/^    3321 nodes, 15360 elements; memory: no prediction; time: no prediction$/m, 'or none');

# ---- and its cases
SKIP: {
  skip 'sanitizers keep memory of their own', 13 if sanitized();
  is_code(0, 'the cases', 'run', @plan, '-o', 'told.h5');
  for my $run (runs_in('told.h5')) {
    my $told = $told{$run->{id}};
    my $ratio = $run->{peak_rss} / $told->{peak};
    my $allowed = 1 + $told->{memory_margin};
    is($run->{nodes}, $told->{nodes}, "$run->{scene} $run->{solver}: its nodes");
    ok($ratio < $allowed && $ratio > 1 / $allowed, "its memory, within the margin of $told->{memory_margin}") or diag $ratio;
  }
}

# ---- before a run
my ($code, undef, $words) = run('run', 'bench/beam', '-s', 'newton', '-s', 'vbd', '--steps', '1', '--memory', '65', '-o', 'over.h5');
like($words, qr/^elastobench: bench\/beam with newton is predicted to take 6\d MB \(within 10 %\), where --memory allows 65 MB; linear=petsc takes no factor, .*a lower resolution takes less$/m, 'what is over the limit, and what may be done');
unlike($words, qr/vbd is predicted/, 'but nothing of what is not');
is(scalar(runs_in('over.h5')), 2, 'nothing is refused');
($code, undef, $words) = run('run', 'bench/beam', '-s', 'vbd', '--steps', '1', '-o', 'under.h5');
unlike($words, qr/predicted/, 'no word where there is room');

done_testing();
