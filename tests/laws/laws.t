#!/usr/bin/perl
# Laws: the matrix of solvers and laws, as a user types it, and laws of one's own.
use strict;
use warnings;
use FindBin;
use JSON::PP;
use Test::More;
use lib "$FindBin::Bin/../support";
use Program;

sub write_laws { spew(scratch($_[0]), $_[1]) }

# ---- a law of one's own: a block falls on a scene of one's own -----------------------------------
write_laws('fall.ini', <<'END');
[scene]
title    = a block falls
E        = 1e5 Pa
nu       = 0.3
rho      = 1000 kg/m^3
material = projective
dt       = 5 ms
steps    = 10
[body block]
shape = bar
size  = 20 cm, 20 cm, 10 cm
cubes = 1, 1, 1
END
my $law = <<'END';
[names]
mass = 4
[law fall | A body falls by g]
group   = inertia
about   = A free body gains g per second.
source  = Newton's second law
limit   = any step: implicit Euler keeps a constant acceleration exactly
scene   = fall.ini:dt={dt}
for     = dt in 1e-3 1e-2 | 1e-2
measure = last(case.momentum_z) / (mass * last(case.time))
unit    = m/s^2
exact   = 0 - 9.81
scale   = 9.81
bound   = 1e-9
x       = dt
END
write_laws('mine.ini', $law);

sub cells {
  my (@arguments) = @_;
  my ($code, $out, $err) = run('laws', @arguments, '--format', 'json', '--overwrite');
  my $json = eval { decode_json($out) } or diag $out, $err;
  my %found;
  for my $one (@{$json->{laws}}) { $found{"$one->{law} $_->{solver}"} = $_ for @{$one->{solvers}} }
  return ($code, \%found, $json);
}

my ($code, $found, $json) = cells('--from', 'mine.ini', '-o', 'own', '-s', 'newton', '-s', 'pd', '-s', 'contact-delassus');
is($code, 0, 'a file of laws is measured');
is($found->{"fall $_"}{state}, 'holds', "$_: falls as it has to") for 'newton', 'pd';
cmp_ok($found->{'fall newton'}{deviation}, '<', 1e-9, 'the deviation is told');
is(scalar @{$found->{'fall newton'}{points}}, 2, 'at two points of the grid');
is($found->{'fall newton'}{points}[1]{at}{dt}, '1e-2', 'which are named');
is($json->{laws}[0]{exact}, '0 - 9.81', 'and what is exact');
ok(-s scratch("own/$_"), "own/$_ is written") for 'index.html', 'laws.svg', 'fall.svg', 'laws.h5';

# What is wrong is wrong in the matrix: the same law with another constant is broken, and --strict says so.
(my $other = $law) =~ s/0 - 9.81/0 - 9.9/;
write_laws('other.ini', $other);
($code, $found) = cells('--from', 'other.ini', '-o', 'other', '-s', 'newton', '--quick');
is($code, 0, 'a broken law is a result');
is($found->{'fall newton'}{state}, 'broken', 'and is broken');
is(scalar @{$found->{'fall newton'}{points}}, 1, 'quick grids are smaller');
my ($strict, $junit) = run('laws', '--from', 'other.ini', '-o', 'other', '-s', 'newton', '--quick', '--judge', '--strict', '--format', 'junit');
is($strict, 5, '--strict is for gates');
like($junit, qr/<testcase classname="fall" name="newton".*<failure message="broken: measured -9.81 m\/s/s, 'and JUnit has a failure');

# ---- told twice, and by a reference --------------------------------------------------------------
write_laws('told.ini', $law . <<'END');
[law same | The same scene gives the same motion]
group   = invariance
about   = Nothing depends on the number of threads.
source  = itself
scene   = fall.ini:E=1e4
told    = -
other-threads = 2
reference = newton:rtol=1e-12
measure = final_distance(case, told)
exact   = 0
bound   = 0
[law other | Twice the weight gives another motion]
group   = invariance
about   = A law that does not hold.
source  = none
scene   = fall.ini:E=1e4
told    = gravity=20
measure = abs(last(case.momentum_z) - last(told.momentum_z))
exact   = 0
bound   = 1e-3
END
($code, $found) = cells('--from', 'told.ini', '-o', 'told', '-s', 'newton', '-l', 'same', '-l', 'other');
is($found->{'same newton'}{state}, 'holds', 'the same scene on two threads') or diag explain $found->{'same newton'};
is($found->{'same newton'}{points}[0]{own}, 0, 'and the reference is the solver itself');
is($found->{'other newton'}{state}, 'broken', 'another weight is seen');
ok(!$found->{'fall newton'}, 'laws that are not asked for are not measured');

# ---- the recipe of harness/laws/README.md --------------------------------------------------------
my ($recipe) = slurp(root() . '/harness/laws/README.md') =~ /^(    \[law stop .*?\n)\n/ms or die 'no recipe';
$recipe =~ s/^    //mg;
write_laws('recipe.ini', $recipe);
($code, $found) = cells('--from', 'recipe.ini', '-o', 'recipe', '-s', 'newton', '--quick');
is($found->{'stop newton'}{state}, 'holds', 'the recipe is a law that holds') or diag explain $found;

# ---- what is wrong with a file is said -----------------------------------------------------------
for my $case (["scene   = fall.ini:dt={dt}\n", '', qr/'scene' is missing/, 'a law without a scene'],
              ["measure =", "meassure =", qr/mine2.ini:\d+.*meassure.*measure/s, 'an unknown key'],
              ["x       = dt", "x = mu", qr/no axis of the grid/, 'an axis that there is not'],
              ["case.momentum_z", "case.momentum_q", qr/momentum_q/, 'an unknown figure'],
              ["for     = dt in 1e-3 1e-2 | 1e-2", "for = dt", qr/VARIABLE in WORDS/, 'an axis without words'],
              ["fall.ini", "none.ini", qr/none.ini/, 'a scene that there is not'],
              ["dt={dt}", "dt={step}", qr/step/, 'a variable that there is not'],
              ["[names]", "[name]", qr/there are: names, law/, 'an unknown section']) {
  my ($from, $to, $says, $what) = @$case;
  (my $text = $law) =~ s/\Q$from\E/$to/ or die "'$from' is not there";
  write_laws('mine2.ini', $text);
  my ($rc, $out, $err) = run('laws', '--from', 'mine2.ini', '-o', 'wrong', '-s', 'newton', '--quick', '--overwrite');
  isnt($rc, 0, "$what is refused");
  like($err, $says, "$what is named");
}
my ($rc, $out, $err) = run('laws', '-l', 'fal', '-o', 'wrong');
like($err, qr/there is no law 'fal'/, 'an unknown law');
is($rc, 2, 'is a mistake of usage');
like_error(2, qr/has no option 'rtoll' \(did you mean 'rtol'/, 'a misspelt option of a solver', 'laws', '--from', 'mine.ini', '-o', 'wrong', '-s', 'newton:rtoll=1');
($rc, $out, $err) = run('laws', '--judge', '-o', 'nothing');
like($err, qr/no 'nothing\/laws.h5' to judge/, 'what is not there is not judged');

done_testing();
