#!/usr/bin/perl
# Scene files where the names of scenes stand: run, suites, sweeps, precision, compare, reproduce, info, programs as solvers; their identity, and
# what becomes of a file that changes, is missing or is none.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$ENV{PYTHONPATH} = root() . '/python';
mkdir scratch($_) for qw(my a:b other papers papers/own folder.ini);

my $crate = <<'END';
; a block on springs of its own weight
[scene]
title = a block is held at one end
E     = 1e5 Pa
nu    = 0.3
rho   = 1000 kg/m^3
dt    = 5 ms
steps = 8
frame = 2

[parameters]
length = 0.2 m, 0.1 to 1, of the block

[body block]
shape = bar
size  = length, 5 cm, 5 cm
cubes = 4, 1, 1

[group foot]
end  = -x
hold = yes
END
spew(scratch($_), $crate) for qw(my/crate.ini crate.ini other/block.ini);

# ---- run: like a scene of the catalogue
is_code(0, 'a scene file and two solvers', 'run', 'my/crate.ini', '-s', 'newton', '-s', 'semi-implicit', '-o', 'a.h5');
my @runs = runs_in('a.h5');
is_deeply([map { "$_->{scene} $_->{solver} $_->{outcome} $_->{audit} $_->{steps_done}" } @runs],
  ['crate newton completed passed 8', 'crate semi-implicit completed passed 8'], '  both run, audited, for as long as it says');
is_deeply([map { "$_->{scene_file} $_->{steps_per_frame}" } @runs], ['my/crate.ini 2', 'my/crate.ini 2'], '  the file is named');
my ($text) = is_code(0, '  its text is kept', 'export', 'a.h5', '--to', 'scene');
is($text, $crate, '  to the letter');
is_code(0, 'with parameters', 'run', 'crate.ini:length=0.3,E=2e5', '-s', 'newton', '-o', 'p.h5');
my ($with) = runs_in('p.h5');
is($with->{parameters_changed}, 'E=2e5,length=0.3', '  which are those of the file');
like_error(2, qr/lengh.*did you mean 'length'/, '  a wrong one, with the nearest', 'run', 'crate.ini:lengh=1', '-s', 'newton');
like_error(2, qr/no solver for 'crate\.ini'/, 'without a solver', 'run', 'crate.ini');
my ($described) = is_code(0, 'info', 'info', 'my/crate.ini:length=0.4');
like($described, qr/^box: -0\.2 -0\.025 0 to 0\.2 0\.025 0\.05 m at the start$/m, '  tells what was understood') or diag $described;
like($described, qr/^foot +4 +held$/m, '  and who is held');
like(decode_json((is_code(0, '  as JSON', 'info', 'my/crate.ini', '--format', 'json'))[0])->{file}, qr/^my\/crate\.ini$/, '  with its path');
is_code(0, 'a report', 'report', 'a.h5', '-o', 'report');
like(slurp(scratch('report/index.html')), qr/crate/, '  has it');
like((is_code(0, 'info of the result', 'info', 'a.h5'))[0], qr/^crate +20 +24 +0\.005 +2$/m, '  has it');

# ---- identity: by content and name, not by path
is_code(0, 'the same file elsewhere', 'run', 'crate.ini', '-s', 'newton', '-o', 'b.h5');
my ($elsewhere) = runs_in('b.h5');
is($elsewhere->{identity}, $runs[0]{identity}, '  is the same work');
is($elsewhere->{state_hash}, $runs[0]{state_hash}, '  to the same end');
like((is_code(0, '  and resumed is done', 'run', 'my/crate.ini', '-s', 'newton', '-o', 'b.h5', '--resume'))[0], qr/1 of 1 cases in b\.h5 \(0 new\)/, '  already');
(my $stiffer = $crate) =~ s/1e5 Pa/3e5 Pa/;
spew(scratch('crate.ini'), $stiffer);
like((is_code(0, 'a changed file', 'run', 'crate.ini', '-s', 'newton', '-o', 'b.h5', '--resume'))[0], qr/\(1 new\)/, '  is other work');
like_error(2, qr/'my\/crate\.ini' and 'crate\.ini' are two scenes named 'crate'; give one file another name/, 'two of one name', 'run', 'my/crate.ini',
  'crate.ini', '-s', 'newton');
like_error(2, qr/runs of 'b\.h5' are of several scene files; choose one by --run/, 'the texts of both', 'export', 'b.h5', '--to', 'scene');
my ($first) = runs_in('b.h5');
my ($one) = is_code(0, '  one of them', 'export', 'b.h5', '--to', 'scene', '--run', $first->{id});
is($one, $crate, '  is what it was when it ran');
is_code(0, 'run again from there', 'run', spew(scratch('other/crate.ini'), $one), '-s', 'newton', '-o', 'again.h5');
is((runs_in('again.h5'))[0]{state_hash}, $runs[0]{state_hash}, '  it is the same');
unlink scratch('my/crate.ini');
is_code(0, "$_ of a result whose file is gone", $_, 'a.h5') for qw(info list);
is_code(0, 'a report of it', 'report', 'a.h5', '-o', 'report');
like_error(2, qr/no run of 'bench\.h5' is of a scene from a file/, 'no text of the catalogue', 'export', 'bench.h5', '--to', 'scene')
  if is_code(0, 'a scene of the catalogue', 'run', 'bench/beam:resolution=0.25', '-s', 'newton', '--steps', '1', '-o', 'bench.h5');

# A process that is started for a case finds another file than was planned.
my (undef, $changed) = is_code(0, 'a case by hand', 'case', 'crate.ini', 'newton', '--scene-digest', 'f' x 32, '-o', 'hand.h5');
my ($hand) = runs_in('hand.h5');
is($hand->{outcome}, 'skipped', '  of a file that has changed since is not run') or diag explain $hand->{outcome};
like($hand->{detail}, qr/'crate\.ini', or a mesh that it names, has changed since this run was started/, '  and says so');

# ---- suites: beside the suite's file
spew(scratch('other/s.ini'), "[suite]\nsteps = 3\n[block.ini:length=0.25]\nsolver = newton\n[two]\nscene = block.ini\n  bench/beam:resolution=0.25\nsolver = newton\n");
is_code(0, 'a suite', 'run', 'other/s.ini', '-o', 's.h5');
is_deeply([map { "$_->{scene} $_->{parameters_changed} $_->{scene_file}" } runs_in('s.h5')],
  ['block length=0.25 other/block.ini', 'block  other/block.ini', 'bench/beam resolution=0.25 '], '  finds it, in a label or as a scene');
spew(scratch('other/w.ini'), "[crate.ini]\nsolver = newton\nsteps = 1\n");
unlink scratch('other/crate.ini');
is_code(0, '  or in the working folder', 'run', 'other/w.ini', '-o', 'w.h5');
spew(scratch('other/from.ini'), "[walk]\nscene = block.ini\nsolver = newton\ncheckpoints = 4\nsteps = 4\n[on]\nscene = block.ini\nsolver = semi-implicit\nfrom = walk\@4\nsteps = 2\n");
is_code(0, 'a case that starts from another', 'run', 'other/from.ini', '-o', 'from.h5');
is((runs_in('from.h5'))[1]{outcome}, 'completed', '  goes on with it');
is_code(0, 'a sweep', 'run', 'crate.ini', '--sweep', 'length:0.2|0.3', '-s', 'newton', '--steps', '1', '-o', 'sweep.h5');
is(scalar runs_in('sweep.h5'), 2, '  of its parameter');
like_error(2, qr/'crate\.ini' is a scene's file/, 'a scene in the place of a suite', 'check', '--suite', 'crate.ini')
  if (run('check', '--help'))[1] =~ /--suite/;
is_code(0, 'a path with a colon', 'run', spew(scratch('a:b/block.ini'), $crate) && 'a:b/block.ini:length=0.3', '-s', 'newton', '--steps', '1', '-o', 'colon.h5');

# ---- the other commands
is_code(0, 'precision', 'precision', 'crate.ini', '-s', 'newton', '-s', 'semi-implicit', '--budget', '2', '--time', '0.02', '-o', 'precision');
is_code(0, 'compare', 'compare', program(), program(), 'crate.ini', '-s', 'newton', '--steps', '2', '--no-instructions', '--rounds', '10');
like_error(1, qr/no run in common/, 'compare of results of a file before and after a change', 'compare', 'a.h5', 'w.h5');
spew(scratch('papers/own/block.ini'), $crate);
my $paper = "[paper]\ntitle = own\ncitation = none\n[solvers]\nnewton = newton\n[cases all | frames 2]\nblock = block.ini newton\n" .
  "[claim held | text]\nclaim = it completes\nholds = mean(block.iterations) >= 1\n";
spew(scratch('papers/own/paper.ini'), $paper);
my ($said) = is_code(0, 'a paper', 'reproduce', 'own', '--from', 'papers', '-o', 'own');
like($said, qr/^held +reproduced\b/m, '  with a scene file in its folder') or diag $said;
spew(scratch('papers/own/paper.ini'), $paper =~ s/= block\.ini/= ..\/..\/crate.ini/r);
like_error(1, qr/leads out of the paper's folder/, '  and not in others', 'reproduce', 'own', '--from', 'papers', '-o', 'out');
my $meshed = "[scene]\ntitle = a mesh\nE = 1e5\nnu = 0.3\nrho = 1000\ndt = 5 ms\nsteps = 2\n[body block]\nshape = file\nfile = block.vtk\n";
is_code(0, 'a mesh beside a scene', 'export', 'a.h5', '--to', 'mesh', '--run', 'newton', '-o', 'papers/own/block.vtk');
spew(scratch('papers/own/block.ini'), $meshed);
spew(scratch('papers/own/paper.ini'), $paper);
is_code(0, 'a paper whose scene reads a mesh of its folder', 'reproduce', 'own', '--from', 'papers', '-o', 'meshed');
rename scratch('papers/own/block.vtk'), scratch('papers/block.vtk') or die;
for my $file ('../block.vtk', scratch('papers/block.vtk')) {
  spew(scratch('papers/own/block.ini'), $meshed =~ s/= block\.vtk/= $file/r);
  like_error(1, qr/block\.ini: '\S*block\.vtk' leads out of the paper's folder/, "  and not $file", 'reproduce', 'own', '--from', 'papers', '-o', 'out');
}
symlink '../block.vtk', scratch('papers/own/block.vtk') or die;
spew(scratch('papers/own/block.ini'), $meshed);
like_error(1, qr/leads out of the paper's folder/, '  nor by a link', 'reproduce', 'own', '--from', 'papers', '-o', 'out');
is_code(0, 'a scene that reads a mesh', 'run', 'papers/own/block.ini', '-s', 'newton', '-o', 'meshed.h5');
my ($exported, $needed) = is_code(0, '  as text', 'export', 'meshed.h5', '--to', 'scene');
is($exported, $meshed, '  to the letter');
is($needed, "elastobench: the scene reads 'block.vtk', which has to lie so beside its text\n", '  and what it needs is said');
SKIP: {
  my $python = python('numpy');
  skip 'needs python3-numpy', 2 unless $python;
  is_code(0, 'a program as a solver', 'run', 'crate.ini', '-s', 'external:' . "$python " . root() . '/python/examples/implicit_euler.py', '--steps', '2', '-o', 'e.h5');
  is((runs_in('e.h5'))[0]{outcome}, 'completed', '  on it');
}

# ---- what is none
like_error(1, qr/nowhere\.ini/, 'a file that is not there', 'run', 'nowhere.ini', '-s', 'newton');
like_error(1, qr/nowhere\.ini/, '  with parameters', 'run', 'nowhere.ini:E=1', '-s', 'newton');
like_error(1, qr/'folder\.ini' is a folder/, 'a folder', 'run', 'folder.ini', '-s', 'newton');
spew(scratch('binary.ini'), "[scene]\n\0\1\2");
like_error(1, qr/'binary\.ini' is not a text file/, 'a binary file', 'run', 'binary.ini:E=1', '-s', 'newton');
like_error(1, qr/empty\.ini/, 'an empty one', 'run', (spew(scratch('empty.ini'), ''), 'empty.ini:E=1')[1], '-s', 'newton');
spew(scratch('slip.ini'), $crate =~ s/steps/stepps/r);
like_error(1, qr/slip\.ini:8: .*stepps.*did you mean 'steps'/, 'a slip, with its line and the nearest word', 'run', 'slip.ini', '-s', 'newton');
SKIP: {
  skip 'root reads everything', 1 if $> == 0;
  chmod 0, spew(scratch('closed.ini'), $crate);
  like_error(1, qr/closed\.ini.*Permission/, 'one that may not be read', 'run', 'closed.ini', '-s', 'newton');
}

# ---- the example of the language's README runs as it stands
my ($example) = slurp(root() . '/problems/scenes/file/README.md') =~ /^((?:    .*\n|\n)*    \[scene\]\n(?:    .*\n|\n)*)/m;
spew(scratch('example.ini'), $example =~ s/^    //mgr);
is_code(0, "the README's example", 'run', 'example.ini', '-s', 'newton', '-o', 'example.h5');
is((runs_in('example.h5'))[0]{audit}, 'passed', '  passes its audit');
done_testing();
