#!/usr/bin/perl
# What --memory forbids is refused before it is taken, and a plan says what it will take.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/support";
use JSON::PP;
use Program;
use Test::More;

# ---- refused
SKIP: {
  skip 'sanitizers keep memory of their own', 11 if sanitized();
  my %wanted = (
    'newton' => qr/linear solver 'cholesky': the factor of 23409 nodes .* needs \d+ MB, where the machine or --memory leaves \d+ MB beside the \d+ MB in use/,
    'newton:linear=cholmod' => qr/CHOLMOD's factor needs \d+ MB, where the machine or --memory leaves \d+ MB/,
    'conjac' => qr/needs \d+ MB, where the machine or --memory leaves \d+ MB/,
  );
  is_code(3, 'factors of 360 MB, 300 MB allowed', 'run', 'bench/beam:resolution=2', (map { ('-s', $_) } sort keys %wanted),
    '-s', 'newton:linear=cg', '--steps', '1', '--memory', '300', '-o', 'm.h5');
  my @runs = runs_in('m.h5');
  for my $solver (sort keys %wanted) {
    my $run = shift @runs;
    is($run->{outcome}, 'out-of-memory', "$solver: out of memory");
    like($run->{detail}, $wanted{$solver}, "$solver: what it needs and what it may have");
    # What was there before: the mesh, its elements, the matrix and the analysis.
    ok($run->{peak_rss} < 200e6, "$solver: nothing of it was taken") or diag $run->{peak_rss};
  }
  is($runs[0]{outcome}, 'completed', 'a solver that needs less runs');
}

done_testing();
