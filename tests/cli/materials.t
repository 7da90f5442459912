#!/usr/bin/perl
# Materials of plug-ins: loaded, listed and chosen; run by the solvers and judged by the audit; beside a built-in one of the same energy; what is
# refused, and by which rule; identity, result files, checks.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my ($foam, $copy) = (plugin('foam'), plugin('neo_copy'));

# ---- scenes
my $block = <<'END';
[scene]
title = a block is held at one end
E     = 5e4 Pa
nu    = 0.3
rho   = 1000 kg/m^3
dt    = 5 ms
steps = 6
frame = 2
material = MATERIAL

[body block]
shape = bar
size  = 20 cm, 5 cm, 5 cm
cubes = 5, 1, 1

[group foot]
end  = -x
hold = yes
END

sub scene {
  my ($file, $material, $rest) = @_;
  my $text = $block;
  $text =~ s/MATERIAL/$material/;
  spew(scratch($file), $text . ($rest // ''));
  return $file;
}
scene('foam.ini', 'foam');
scene('plain.ini', 'neo-hookean');
scene('mixed.ini', 'neo-hookean', "[material tip]\nwhere = x > 0\nkind = foam\nrubber = 2 / 4\n");

# ---- what there is
like((is_code(0, 'list', 'list', 'materials', '--plugin', $foam))[0], qr/^foam +compressible foam/m, '  has it');
my ($told) = is_code(0, 'info', 'info', 'foam', '--plugin', $foam);
like($told, qr/^plug-in +\S+foam\.so\n.*^  rubber = 0 +\[0, 1\]/ms, '  tells where it is from and its parameters') or diag $told;
like($told, qr/^small strains +E = 1e\+06 Pa of 1e\+06 Pa, nu = 0\.3 of 0\.3$/m, '  and the moduli of small strains');
like((is_code(0, 'info of a scene', 'info', 'mixed.ini', '--plugin', $foam))[0], qr/^tip .* foam /m, '  names it by region');
is(decode_json((is_code(0, '  as JSON', 'info', 'foam', '--plugin', $foam, '--format', 'json'))[0])->{parameters}[0]{name}, 'rubber', '  with parameters');

# ---- runs
my @solvers = map { ('-s', $_) } qw(newton mfem mfem:system=kkt mfem-subspace semi-implicit vbd:iterations=0 xpbd);
my (undef, $said) = is_code(0, 'solvers on a material of a plug-in', 'run', 'foam.ini', 'mixed.ini', '--plugin', $foam, @solvers, '-o', 'foam.h5');
like($said, qr/^elastobench: foam: energy and stress are the plug-in's own, in the audit as well; they are checked/m, '  what the audit knows of it is said') or diag $said;
my @runs = runs_in('foam.h5');
is_deeply([grep { !/skipped/ } map { "$_->{scene} $_->{solver} $_->{outcome} $_->{audit}" } @runs],
  [map { my $s = $_; map { "$s $_ completed passed" } qw(newton mfem mfem mfem-subspace semi-implicit vbd) } qw(foam mixed)], '  run and pass their audits')
  or diag explain [map { "$_->{scene} $_->{solver} $_->{outcome} $_->{audit} $_->{detail}" } @runs];
like((grep { $_->{solver} eq 'xpbd' } @runs)[0]{detail}, qr/lacks materials other than/, '  but for those of materials of their own');
like($runs[0]{plugged_materials}, qr/^foam \(\S+foam\.so\)$/, '  and the run names it');
cmp_ok($runs[0]{error}, '<', 1e-8, "  Newton's step is solved");

# ---- without the plug-in
like_error(1, qr/foam\.ini:9: \[scene\] material: there is no material, built in or of a --plugin, 'foam'/, 'a scene file without the plug-in', 'run', 'foam.ini', '-s', 'newton');
like((is_code(0, 'a result file without it', 'info', 'foam.h5'))[0], qr/^foam +24 /m, '  is read');
is_code(0, '  its report as well', 'report', 'foam.h5', '-o', 'report');
like(slurp(scratch('report/index.html')), qr/Energy and stress are the plug-in.s own, in the audit as well: foam/, '  which says whose energy it is');
is_code(0, '  and it verifies', 'export', 'foam.h5', '--to', 'vtu', '-o', 'foam.pvd');

# ---- the catalogue takes it by its parameter
is_code(0, 'a scene of the catalogue', 'run', 'bench/beam:material=foam,resolution=0.25', '--plugin', $foam, '-s', 'newton', '--steps', '2', '-o', 'beam.h5');
is((runs_in('beam.h5'))[0]{audit}, 'passed', '  passes');
is_code(0, 'one that is C', 'run', 'conjac2020/twist:material=foam,resolution=0.3', '--plugin', $foam, '-s', 'newton', '--steps', '2', '-o', 'twist.h5');
is((runs_in('twist.h5'))[0]{audit}, 'passed', '  passes');

# ---- beside the built-in one of the same energy
scene('either.ini', 'neo-copy');
my $law = sub { my ($id, $measure, $exact, $bound, $scene) = @_; "[law $id | $id]\ngroup = materials\nabout = beside the built-in one\nsource = one formula\nscene = $scene\n"
  . "told = material=neo-hookean\nmeasure = $measure\nexact = $exact\nscale = 1\nbound = $bound\n" };
# Two ways to compute one formula differ by rounding, 1e-16 an operation, which a few steps hardly grow.
spew(scratch('same.ini'), "[names]\noff(a, b) = max(abs(a - b)) / max(abs(b))\n"
  . $law->('motion', 'max(off(case.elastic, told.elastic), off(case.kinetic, told.kinetic))', 0, 1e-11, 'either.ini')
  . $law->('order', 'min(convergence_order(case), 2)', 2, 0.5, 'either.ini:E=2000')
  . $law->('other', 'off(case.elastic, told.elastic)', 0, 1e-3, 'either.ini:material=stvk'));
my ($measured) = is_code(0, 'a copy beside the built-in one', 'laws', '--from', 'same.ini', '--plugin', $copy, '-s', 'newton:rtol=1e-12', '-o', 'same', '--format', 'json');
my %state = map { $_->{law} => $_->{solvers}[0] } @{decode_json($measured)->{laws}};
is($state{motion}{state}, 'holds', '  moves as it does, to rounding') or diag explain $state{motion};
is($state{order}{state}, 'holds', '  and Newton converges quadratically on it') or diag explain $state{order};
is($state{other}{state}, 'broken', '  which another material does not');

# ---- identity: another build is another case
is_code(0, 'resumed', 'run', 'foam.ini', '--plugin', $foam, '-s', 'newton', '-o', 'again.h5');
like((run('run', 'foam.ini', '--plugin', $foam, '-s', 'newton', '-o', 'again.h5', '--resume'))[1], qr/\(0 new\)/, '  a run that is there answers');
spew(scratch('other.so'), slurp($foam) . "\n");
like((run('run', 'foam.ini', '--plugin', scratch('other.so'), '-s', 'newton', '-o', 'again.h5', '--resume'))[1], qr/\(1 new\)/, '  for another build it does not');
my @hashes = map { $_->{scene_hash} } runs_in('again.h5');
isnt($hashes[0], $hashes[1], '  whose scene has another hash');

# ---- refused: scene files
scene('misspelt.ini', 'foam', "[material tip]\nwhere = x > 0\nrubbre = 1\n");
like_error(1, qr/\[material tip\] rubbre: there is no setting 'rubbre' \(did you mean 'rubber'\?\)/, 'a misspelt parameter', 'run', 'misspelt.ini', '--plugin', $foam, '-s', 'newton');
sub refused {
  my ($pattern, $name, $file, @more) = @_;
  run('run', $file, '-s', 'newton', '-o', 'refused.h5', '--overwrite', @more);
  my ($run) = runs_in('refused.h5');
  like("$run->{outcome}: $run->{detail}", $pattern, $name);
}
scene('far.ini', 'foam', "[material tip]\nwhere = x > 0\nrubber = 2\n");
refused(qr/rubber = 2 of material 'foam' is outside 0 to 1/, 'a parameter out of its range', 'far.ini', '--plugin', $foam);
scene('others.ini', 'foam', "[material tip]\nwhere = x > 0\nkind = linear\nrubber = 1\n");
refused(qr/'rubber' is a parameter of material 'foam', not of 'linear'/, "another material's parameter", 'others.ini', '--plugin', $foam);

# ---- refused: plug-ins
like_error(2, qr/calls its material 'linear', which is a built-in one/, 'a name that is taken', 'list', 'materials', '--plugin', plugin('taken_material'));
like_error(1, qr/interface version \d+, this program has \d+/, 'another interface', 'list', 'materials', '--plugin', plugin('old_material'));
like_error(2, qr/are both called 'foam'/, 'one given twice', 'list', 'materials', '--plugin', $foam, '--plugin', $foam);

# ---- refused: rules
my @wrong = ([1, 'stress', 'the sign of the stress'], [2, 'stress', 'a stress that is 1 % off'], [3, 'tangent', 'a tangent that is 1 % off'],
  [4, 'symmetry', 'a tangent that is not symmetric'], [5, 'objectivity', 'an energy that turns'], [6, 'isotropy', 'an energy with a direction'],
  [7, 'finite', 'no number at rest'], [8, 'rest', 'a stress at rest'], [9, 'stability', 'negative moduli'], [10, 'pure', 'a function that remembers'],
  [11, 'finite', 'an entry that is not written']);
for (@wrong) {
  my ($k, $rule, $name) = @$_;
  scene('wrong.ini', 'neo-copy', "[material all]\nwhere = x > -1\nwrong = $k\n");
  refused(qr/failed: .*material 'neo-copy' of plug-in '\S+' breaks the rule '$rule' at E = 50000 Pa, nu = 0\.3: .* at F = \[/, $name, 'wrong.ini', '--plugin', $copy);
}
scene('wrong.ini', 'neo-copy', "[material all]\nwhere = x > -1\nwrong = 12\n");
is_code(0, 'one without an energy inside out', 'run', 'wrong.ini', '-s', 'newton', '--plugin', $copy, '-o', 'inside.h5');

# ---- checks
my ($checks) = is_code(0, 'checks of a material', 'check', '--plugin', $foam, '--format', 'json');
my $found = decode_json($checks);
is($found->{failed}, 0, '  it keeps all');
my %figure = map { $_->{name} => $_ } @{$found->{checks}};
ok($figure{"rules/foam/$_"}, "  rule $_") for qw(finite pure rest stress tangent symmetry objectivity isotropy stability);
ok($figure{$_}, "  $_") for qw(materials/foam/tangent assembly/hexahedra/foam/hessian patch/tets6/foam manufactured/foam/order);

done_testing();
