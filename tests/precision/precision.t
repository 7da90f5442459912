#!/usr/bin/perl
# elastobench precision as a user types it, on a beam of four cubes.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP qw(decode_json);
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my @beam = ('bench/beam:resolution=0.1,E=1e5', '--time', '0.2', '--times', '2');
my @plugins = map { ('--plugin', plugin($_)) } 'cheats', 'explicit';

# ---- two solvers, one of which cheats
my $cheat = 'cheat:fault=pump,says=its';
my @first = ('precision', @beam, '--budget', '2', '-s', 'semi-implicit', '-s', $cheat, @plugins, '--reference', 'explicit:substeps=200', '-o', 'a', '--format', 'json');
my ($out, $err) = is_code(4, 'a solver of which no trial stands is an audit that failed', @first);
my $json = eval { decode_json($out) } // {};
my $scene = $json->{scenes}[0] // {};
my $reference = $scene->{reference};
is($reference->{state}, 'stands', 'there is a reference');
cmp_ok($reference->{error}, '<', 0.01, '  with a stated error');
cmp_ok($reference->{error}, '>', 0.999 * ($reference->{steps} + $reference->{damped}), '  of all its parts');
cmp_ok(abs($reference->{orders}[0] - 1), '<', 0.5, '  from levels of the first order');
my %of = map { $_->{solver} => $_->{trials} } @{$scene->{solvers} // []};
my @steps = map { [map { $_->{dt} } @{$of{$_} // []}] } 'semi-implicit', $cheat;
is(scalar @{$steps[0]}, 2, 'every solver has the budget');
is_deeply($steps[0], $steps[1], '  and the same steps');
my @sound = @{$of{'semi-implicit'}};
is(scalar(grep { $_->{state} eq 'stands' && $_->{error} > 0 } @sound), 2, 'trials of a sound solver have errors');
my ($coarse, $fine) = (sort { $b->{dt} <=> $a->{dt} } @sound)[0, -1];
cmp_ok($coarse->{error}, '>', $fine->{error}, '  which fall with the step');
cmp_ok($coarse->{cost}{factorizations}, '<', $fine->{cost}{factorizations}, '  for more factorizations');
ok((grep { $_ eq 'factorizations' } @{$_->{front}}), '  and neither beats the other') for @sound;
is(scalar(grep { $_->{state} eq 'failed' && $_->{why} =~ /audit failed: .*energy/ && !defined $_->{error} && !@{$_->{front}} } @{$of{$cheat}}), 2, 'the cheat has failed, by its rule');
my $profiles = $json->{profiles};
my $count = @{$profiles->{problems}};
cmp_ok($count, '>', 0, 'there are problems');
is($count + $profiles->{solved_by_none} + $profiles->{not_resolved}, 7, '  and all levels are accounted for');
is_deeply([grep { defined } @{$profiles->{cost}[0]{$cheat}}], [], '  of which the cheat solves none');
my $factored = $profiles->{factorizations};
is_deeply([map { $_->{error} } @{$factored->{problems}}], [map { $_->{error} } @{$profiles->{problems}}], '  the same by factorizations, which these solvers make');
is_deeply([map { $factored->{cost}[0]{'semi-implicit'}[$_] } 0 .. $count - 1], [map { my $level = $_->{error};
  (sort { $a <=> $b } map { $_->{cost}{factorizations} } grep { $_->{error} + $reference->{error} <= $level } @sound)[0] } @{$factored->{problems}}],
  '  with those of the cheapest trial');
is_deeply($profiles->{products}, {problems => [], cost => [{'semi-implicit' => [], $cheat => []}], solved_by_none => $count + $profiles->{solved_by_none},
  not_resolved => $profiles->{not_resolved}, uncounted => ['semi-implicit', $cheat]}, '  and of products, which none makes, there is no profile');
ok((!grep { $profiles->{problems}[$_]{error} < 5 * $reference->{error} } 0 .. $count - 1), '  none finer than the reference');

# ---- what is written
my $page = slurp(scratch('a/index.html'));
like($page, qr/failed: audit failed: [a-z,]*energy/, 'the page shows the cheat failed');
my (@stack, $balanced);
$balanced = 1;
while ($page =~ /<(\/?)([a-z0-9]+)[^>]*>/g) {
  next if $2 =~ /^(meta|img|link|br)$/;
  if ($1) { $balanced &&= (pop(@stack) // '') eq $2 } else { push @stack, $2 }
}
ok($balanced && !@stack, '  and has balanced tags');
my @named = $page =~ /(?:src|href)="([^"#]+)"/g;
cmp_ok(scalar @named, '>=', 9, '  and plots');
is_deeply([grep { !-s scratch("a/$_") } @named], [], '  that are there');
unlike(slurp(scratch('a/0-cpu.dat')), qr/cheat/, 'the cheat is on no curve');
ok(-s scratch('a/performance-factorizations.svg') && !-e scratch('a/performance-products.svg'), 'there is a profile by factorizations, and none by products');
ok(-s scratch("a/$_"), "$_ is kept") for qw(precision.h5 reference.h5 trajectories.h5);

my (undef, $left) = is_code(0, 'the folder can be reported on', 'report', 'a', '-o', 'shown');
is($left, "elastobench: 'a/trajectories.h5' is left out: it is no result file\n", '  but for the reference motions');
like(slurp(scratch('shown/index.html')), qr/semi-implicit.*explicit/s, '  with trials and references');

# ---- again
($out) = is_code(0, 'who does not count is named', 'precision', @beam, '--budget', '1', '--against', 'step', '-s', 'explicit:substeps=400', '-s', 'newton', @plugins, '-o', 'h');
like($out =~ s/\s+/ /gr, qr/Performance profile by factorizations: [^:]*: [^:]*; not shown, since what they count is their own word: explicit:substeps=400 within [a-z0-9 ]* newton 1\.00/, '  in words');
like(slurp(scratch('h/index.html')), qr/Error against factorizations; not shown, since what they count is their own word: explicit:substeps=400/, '  and at the curve');
like_error(2, qr{exists; --resume}, 'what is there is not replaced', @first);
for my $file ('a/precision.h5', 'a/reference.h5') {
  my $bytes = slurp(scratch($file));
  for my $place (0.4, 0.7) {
    my $damaged = $bytes;
    substr($damaged, $place * length $bytes, 1) ^= "\1";
    spew(scratch($file), $damaged);
    like_error(1, qr{cannot resume.*'$file' is damaged}, "nor completed where a bit of $file has changed", @first, '--resume');
  }
  spew(scratch($file), $bytes);
}
($out, $err) = is_code(4, 'but completed', @first, '--resume');
unlike($err, qr/steps/, '  without running anything again');
is_deeply(decode_json($out)->{scenes}[0]{reference}, $reference, '  to the same reference');

# ---- what errors are relative to is how far the reference itself goes
SKIP: {
  my $python = python('h5py', 'numpy') or skip 'there is no h5py', 1;
  spew(scratch('moved.py'), <<'PYTHON');
import sys, h5py, numpy as np
mesh = next(iter(h5py.File(sys.argv[1])["scenes"].values()))["mesh"]
X, tets = mesh["positions"][:], mesh["tetrahedra"][:]
edges = X[tets[:, 1:]] - X[tets[:, :1]]
mass = np.bincount(tets.ravel(), np.repeat(abs(np.linalg.det(edges)), 4))
x = h5py.File(sys.argv[2])["0/positions"][:]
print(repr(max(np.sqrt((mass[:, None] * (at - X) ** 2).sum() / mass.sum()) for at in x)))
PYTHON
  my $moved = qx($python @{[scratch('moved.py')]} @{[scratch('a/precision.h5')]} @{[scratch('a/trajectories.h5')]});
  cmp_ok(abs($moved / $reference->{motion} - 1), '<', 1e-9, 'errors are relative to how far the reference goes, as it was extrapolated'); # sums in another order
}

# ---- explicit steps, which share nothing with implicit ones, are within the stated error of the reference
($out) = is_code(0, 'a reference by implicit steps', 'precision', @beam, '--budget', '1', '--levels', '4', '-s', 'explicit:substeps=400', @plugins, '--reference',
  'newton:rtol=1e-10', '-o', 'b', '--format', 'json');
$scene = eval { decode_json($out)->{scenes}[0] } // {};
my $trial = $scene->{solvers}[0]{trials}[0];
cmp_ok($trial->{error}, '<=', $scene->{reference}{error}, '  is no farther from an explicit solver than it says');
is($trial->{state}, 'not resolved', '  whose error is not resolved');
is_deeply($trial->{front}, [], '  nor ranked');

# ---- a soft scene that nothing collides in has an explicit reference by itself
($out) = is_code(0, 'a reference of the program\'s choice', 'precision', @beam, '--budget', '1', '-s', 'semi-implicit', '-o', 'c', '--format', 'json');
my $chosen = (eval { decode_json($out)->{scenes}[0] } // {})->{reference};
like($chosen->{solver}, qr/^symplectic-euler:substeps=\d+$/, '  is by explicit steps');
cmp_ok($chosen->{error}, '<', 2e-4, '  and as good as is asked for by default');
cmp_ok(abs($chosen->{motion} / $scene->{reference}{motion} - 1), '<', $scene->{reference}{error} + $chosen->{error}, '  to the motion that implicit steps tend to');

{
  local $ENV{PATH} = '/nowhere';
  ($out, $err) = is_code(1, 'without gnuplot there is no page', 'precision', @beam, '--budget', '1', '-s', 'semi-implicit', '-o', 'c', '--resume', '--format', 'json');
  like($err, qr/gnuplot-nox/, '  which says what is missing');
  is_deeply((eval { decode_json($out)->{scenes}[0] } // {})->{reference}, $chosen, '  and what was found is told all the same');
}

# ---- and so has one that a script moves
($out) = is_code(0, 'a reference where nodes are scripted', 'precision', 'lewin2016/stretch:resolution=0.34', '--time', '0.1', '--budget', '1', '-s', 'semi-implicit', '-o', 'e', '--format', 'json');
$chosen = (eval { decode_json($out)->{scenes}[0] } // {})->{reference};
like($chosen->{solver}, qr/^symplectic-euler:substeps=\d+$/, '  is by explicit steps');
cmp_ok($chosen->{error}, '<', 2e-4, '  and as good as is asked for');

# ---- the same step, in a sweep of Poisson's ratio
($out) = is_code(0, 'against the same step', 'precision', 'bench/beam:resolution=0.2', '--time', '0.2', '--budget', '2', '--against', 'step', '--nu', '0.3|0.49', '-s', 'newton:max_iterations=90',
  '--knob', 'newton:rtol=1e-3..9e-1', '-o', 'd', '--format', 'json');
my @scenes = @{(eval { decode_json($out) } // {})->{scenes} // []};
my @trials = @{$scenes[0]{solvers}[0]{trials}};
is($trials[0]{dt}, $trials[1]{dt}, '  the step is no knob');
like($trials[1]{options}, qr/^max_iterations=90,rtol=0\.0/, '  the tolerance is one, beside what is fixed');
cmp_ok($trials[1]{error}, '>', $trials[0]{error}, '  and a loose one leaves more');
my @locking = map { $_->{locking}{difference} } @scenes;
cmp_ok($locking[1], '>', $locking[0], 'the control of locking grows with the ratio');
is(() = slurp(scratch('d/index.html')) =~ /locking: at nu = 0\.(?:3|49) a mesh of resolution 0\.4 moves differently/g, 2, '  and is stated at every point');

# ---- nothing to judge by
($out) = is_code(6, 'a scene without a reference', 'precision', 'verschoor2019/incline:resolution=0.5', '-s', 'contact-al', '--time', '0.01', '-o', 'f');
like($out, qr/no reference, so nothing is judged: newton does not serve/, '  says why');
ok(!-e scratch('f/precision.h5'), '  and runs nothing');

# ---- bad input
my @good = ('precision', @beam, '-s', 'newton', '-o', 'g');
like_error(2, qr/wants solvers/, 'no solver', 'precision', @beam);
like_error(2, qr/did you mean 'bench\/beam'/, 'an unknown scene', 'precision', 'bench/beem', '-s', 'newton');
like_error(2, qr/did you mean 'newton'/, 'an unknown solver', 'precision', @beam, '-s', 'newtn');
like_error(2, qr/named twice/, 'a solver twice', @good, '-s', 'newton');
like_error(2, qr/of a solver that takes part/, 'a knob of nobody', @good, '--knob', 'vbd:iterations=1..9');
like_error(2, qr/time or step/, 'against what', @good, '--against', 'space');
like_error(2, qr/LOW..HIGH/, 'a range of steps that is none', @good, '--dt', '0.1');
like_error(2, qr/outside/, 'a range of steps that is reversed', @good, '--dt', '0.1..0.01');
like_error(2, qr/has no tolerance rtol/, 'a reference whose error nobody can tell', @good, '--reference', 'semi-implicit');
like_error(2, qr/is cut while it moves/, 'a mesh that changes', 'precision', 'conjac2020/barcut:resolution=0.2', '-s', 'newton', '-o', 'g');
like_error(2, qr/--nu wants Poisson's ratios/, 'no ratio', @good, '--nu', '');
like_error(2, qr/nu/, 'a ratio beyond its range', @good, '--nu', '0.3|0.5');

done_testing;
