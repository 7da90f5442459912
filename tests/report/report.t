#!/usr/bin/perl
# The report as a user makes it: from a run to index.html, its plots and pictures.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Temp qw(tempdir);
use List::Util qw(uniq);
use Test::More;

my $build = abs_path($ENV{BUILD} // 'build');
my $root = abs_path(dirname(__FILE__) . '/../..');
my $program = "$build/elastobench";
my $dir = tempdir(CLEANUP => 1);
$ENV{XDG_CACHE_HOME} = "$dir/cache";
chdir $dir or die;

sub run_program {
  my @words = @_;
  my $out = qx($program @words 2>&1 </dev/null);
  return ($? >> 8, $out);
}

sub slurp { local (@ARGV, $/) = @_; return scalar <> }

my ($code, $out) = run_program('run bench/beam:resolution=0.25 conjac2020/twist:resolution=0.34',
  '-s newton -s semi-implicit:linear=cg -s semi-implicit:linear=cholesky -s corotational --steps 4 -o r.h5');
is($code, 0, 'a run to report on') or diag $out;

($code, $out) = run_program('report r.h5 -o report');
is($code, 0, 'the report is written') or diag $out;
my $page = slurp('report/index.html');
like($page, qr/bench\/beam/, 'it names the scene');
my @short = map { (/<td[^>]*>([^<]*)<\/td>/g)[5, 7, 9] } $page =~ /^<tr><td class="text">[^<]*<\/td><td class="text good">.*$/mg;
ok(@short && !(grep { (s/e.*//r =~ s/^[0.]+//r) !~ /\d\D*\d/ } @short), 'times have two digits at least, however short they are') or diag "@short";
like($page, qr/semi-implicit:linear=cg/, 'solvers are labelled by the options in which they differ');
unlike($page, qr/newton:\w/, 'and only by those');
like($page, qr/corotational<\/b>: .*cannot serve/s, 'a skipped case says why');

# ---- several files
copy('r.h5', 'again.h5') or die;
($code, $out) = run_program('report r.h5 again.h5 ./r.h5 -o both');
is($code, 0, 'two files with the same runs') or diag $out;
my %shown;
$shown{$_}++ for slurp('both/index.html') =~ /<tr><td class="text">([^<]+)<\/td><td class="text (?:good|)">/g;
is_deeply([sort grep { /^newton/ } keys %shown], ['newton [again.h5]', 'newton [r.h5]'], 'are told apart by their files');
is($shown{'newton [r.h5]'}, 2, 'and a file that is named twice is shown once');
like(slurp('both/index.html'), qr/<summary>again\.h5: commit \w+, [^<]*<\/summary>/, 'both say what they were made by');
unlike(slurp('both/index.html'), qr/machine 1|come from \d+ machines/, 'one machine needs no number');
SKIP: {
  my $python = '/usr/bin/python3';
  skip 'no h5py', 5 if system("$python -c 'import h5py, numpy' 2>/dev/null");
  system($python, '-c', "import h5py, numpy; h5py.File('again.h5', 'r+')['environment'].attrs['cpu'] = numpy.bytes_('another <b>')");
  ($code, $out) = run_program('report r.h5 again.h5 -o machines');
  is($code, 0, 'files of two machines') or diag $out;
  my $two = slurp('machines/index.html');
  like($two, qr/The files come from 2 machines.*<li>machine 1: r\.h5<\/li>\n<li>machine 2: again\.h5<\/li>/s, 'are told to be');
  my @over = $two =~ /<td class="text">newton \[[^<]*<\/td><td class="text good">[^<]*<\/td>(?:<td>[^<]*<\/td>){4}<td>([^<]*)<\/td>/g;
  is_deeply(\@over, [('1.00 *') x 4], 'and ranked each by itself');
  system($python, '-c', "import h5py; h5py.File('again.h5', 'r+').create_group('environments/other')");
  run_program('report again.h5 -o shards');
  like(slurp('shards/index.html'), qr/again\.h5 was merged from shards of several machines/, 'a file that is of several by itself says so');
  like($two, qr/; 4 steps; machine 1<.*; 4 steps; machine 2</s, 'under headings that say so');
}

my @missing = grep { !-s "report/$_" } $page =~ /(?:src|href)="([^"#]+)"/g;
is_deeply(\@missing, [], 'every picture, plot, script and data file it names is there');
my @stack;
my $balanced = 1;
while ($page =~ /<(\/?)([a-z0-9]+)[^>]*>/g) {
  next if $2 =~ /^(meta|img|link|br)$/;
  if ($1) { $balanced &&= (pop(@stack) // '') eq $2 } else { push @stack, $2 }
}
ok($balanced && !@stack, 'its tags are balanced');

for my $kind (qw(residuals error-time accuracy-euler audit-euler iterations step-time phases energy)) {
  my @drawn = glob("report/1-*-$kind.svg");
  is(scalar @drawn, 1, "plot: $kind");
}
my ($svg) = glob('report/1-*-energy.svg');
my $before = slurp($svg);
unlink $svg;
is(system("cd report && gnuplot 1-*-energy.gp"), 0, 'a plot can be drawn again by its script');
is(slurp($svg), $before, 'and comes out the same');
is(join(' ', map { s/.*\///r } glob('report/*.png')), '1-bench-beam.png 2-conjac2020-twist.png', 'a picture stands for each scene');
is(substr(slurp('report/1-bench-beam.png'), 1, 3), 'PNG', 'as PNG');

open my $open_surface, '>', 'open.obj' or die;
print $open_surface "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
close $open_surface;
run_program('run conjac2020/dragon --mesh conjac2020/dragon=open.obj -s newton --steps 1 -o failed.h5');
($code, $out) = run_program('report failed.h5 -o failed');
is($code, 0, 'runs that made no step can be reported') or diag $out;
like(slurp('failed/index.html'), qr/surface is open/, 'with the cause');

run_program('run conjac2020/twist:resolution=0.34,dt=0.1 -s semi-implicit --steps 9 -o there_and_back.h5');
($code, $out) = run_program('report there_and_back.h5 --pictures -o there_and_back');
is($code, 0, 'a bar that is compressed and let go') or diag $out;
ok(-s 'there_and_back/1-conjac2020-twist-r0-strained.png', 'is shown between its first and last frame too');

# ---- scenes that are bent one way after the other, cut, or carried by rigid links
sub pictured { my ($page) = @_; return join ' ', $page =~ /r0-([a-z0-9-]+)\.png" alt/g }
sub series_of { return join ', ', slurp((glob $_[0])[0]) =~ /^"x" "(.*)"$/mg }

run_program('run conjac2020/twist:resolution=0.34,dt=0.02 -s semi-implicit --steps 200 -o four.h5');
($code, $out) = run_program('report four.h5 --pictures -o four');
is($code, 0, 'a bar that is compressed, stretched, bent and twisted') or diag $out;
like(pictured(slurp('four/index.html')), qr/^first( strained(-[234])?){4} last$/, 'is shown in each of the four');
ok(!-e 'four/1-conjac2020-twist-iterations.svg', 'no plot of one iteration a step');

run_program('run conjac2020/barcut:resolution=0.2,time1=0.05,time2=0.15,stretch=1.1 -s conjac:dynamic=2,beta=5 --steps 60 -o cut.h5');
($code, $out) = run_program('report cut.h5 --pictures -o cut');
is($code, 0, 'a bar that is cut twice') or diag $out;
$page = slurp('cut/index.html');
my $shown = pictured($page);
like($shown, qr/cut-1( .*)? cut-2/, 'is shown after either cut');
my ($uncut, $parted) = $page =~ /<p>(\d+) vertices, \d+ elements\. Cuts make it (\d+) vertices\./;
ok($parted && $parted > $uncut, 'its vertices are counted before and after');
my ($sizes) = glob('cut/*-sizes.dat');
is(series_of('cut/*-sizes.dat'), 'conjac, pieces, conjac, unknowns', 'pieces and unknowns over time');
my ($pieces) = split /\n\n/, slurp($sizes);
is(join(' ', uniq(map { (split)[1] } grep { /^[\d.]/ } split /\n/, $pieces)), '1 2 3', 'one, two, three pieces');
like($page, qr/unknowns after condensation, most.*<td>\d+<\/td><\/tr>/s, 'and the unknowns in the table');

run_program('run conjac2020/muscle -s conjac:dynamic=1 --steps 260 -o arm.h5');
($code, $out) = run_program('report arm.h5 --pictures -o arm');
is($code, 0, 'an arm with a muscle') or diag $out;
$page = slurp('arm/index.html');
like(pictured($page), qr/^first strained( strained-2)? last$/, 'is shown, not as if it were cut');
is(series_of('arm/*-energy.dat'), join(', ', map { "conjac $_" } 'kinetic', 'elastic', 'gravitational', 'rigid links, kinetic', 'rigid links, potential'),
  'with the energies of its rigid links');
like(series_of('arm/*-own.dat'), qr/^conjac: \|f_q\|_2/, "and the condensing solver's own residual");
ok(!-e "arm/1-conjac2020-muscle-$_.svg", "no plot that tells nothing: $_") for qw(residuals error-time iterations sizes);
@missing = grep { !-s "arm/$_" } $page =~ /(?:src|href)="([^"#]+)"/g;
is_deeply(\@missing, [], 'every picture, plot, script and data file it names is there');

run_program('run conjac2020/barcut:resolution=0.3,cuts=1,time1=0.02 -s semi-implicit --steps 200 -o once.h5');
($code, $out) = run_program('report once.h5 --pictures -o once');
is($code, 0, 'a bar that is cut once') or diag $out;
is(join(' ', map { /-r0-(cut.*)\.png/ } glob('once/1-*.png')), 'cut-1', 'is shown after the cut');

my ($data) = glob('report/1-*-iterations.dat');
my @points = grep { /^[\d.]+ [\d.]+$/ } split /\n/, slurp($data);
is(scalar @points, 3 * 4 + 4, 'one point a step and solver, and those of the linear solver');

# ---- colliders
($code, $out) = run_program('run hecht2012/cloth-drop:resolution=0.1 -s corotational:linear=cg --steps 2 -o sphere.h5');
is($code, 0, 'a run with a sphere') or diag $out;
($code, $out) = run_program('report sphere.h5 --pictures -o sphere');
is($code, 0, 'its report') or diag $out;
SKIP: {
  my $python = '/usr/bin/python3';
  skip 'no h5py', 4 if system("$python -c 'import h5py' 2>/dev/null");
  system($python, '-c', "import h5py, shutil; shutil.copy('sphere.h5', 'none.h5')\n"
    . "for scene in h5py.File('none.h5', 'r+')['scenes'].values(): del scene['colliders']");
  ($code, $out) = run_program('report none.h5 --pictures -o none');
  is($code, 0, 'a file that stores no colliders is reported on') or diag $out;
  my ($with, $without) = map { slurp((glob "$_/*-r0-first.png")[0]) } qw(sphere none);
  isnt($with, $without, 'the sphere is in the picture');

  for my $outcome (qw(timed-out diverged)) {
    system($python, '-c', "import h5py, numpy, shutil; shutil.copy('there_and_back.h5', '$outcome.h5')\n"
      . "list(h5py.File('$outcome.h5', 'r+')['runs'].values())[0].attrs['outcome'] = numpy.bytes_('$outcome')");
    run_program("report $outcome.h5 --pictures -o $outcome");
  }
  like(pictured(slurp('timed-out/index.html')), qr/^first strained last$/, 'a run that was cut off is shown like a whole one');
  is(pictured(slurp('diverged/index.html')), 'first last', 'one that blew up by its first and last frame');
}

# ---- what solvers report of their factor and of updated elements
my $plugin = "$build/tests/plugins/reporting.so";
($code, $out) = run_program("run bench/beam:resolution=0.25 --plugin $plugin -s reporting:period=60 -s reporting:period=60,first=31",
  '-s newton --steps 60 -o updates.h5');
is($code, 4, 'a run that updates elements, in steps that are none') or diag $out;
($code, $out) = run_program('report updates.h5 --pictures -o updates');
is($code, 0, 'its report') or diag $out;
$page = slurp('updates/index.html');
@missing = grep { !-s "updates/$_" } $page =~ /(?:src|href)="([^"#]+)"/g;
is_deeply(\@missing, [], 'every picture, plot, script and data file it names is there');
my @strip = $page =~ /r0-updates-(\d)\.png/g;
is_deeply(\@strip, [1 .. 6], 'six pictures of updated elements');
my @times = $page =~ />t = ([\d.e-]+) s: \d+ of \d+ elements/g;
is(scalar @times, 12, 'with captions, for both runs,');
ok((!grep { $times[$_] <= $times[$_ - 1] } 1 .. 5, 7 .. 11), 'in the order of time');
ok($times[6] > 0.5 * $times[5], 'only from where on elements are updated');
unlike($page, qr/r2-updates/, 'none of a solver that updates none');
like($page, qr/<td>1\.0<\/td><td>1\.9<\/td><td>2\.9<\/td><td>-<\/td><td>5\.7<\/td><td>15<\/td>/,
  'memory by kind, a dash for what is not reported, and supernodes');
my @trees = glob('updates/*-tree.svg');
is(join(' ', map { /(r\d)-tree/ } @trees), 'r0 r2', 'one picture of a tree that two runs share, and one of another');
my ($stages) = glob('updates/*-r0-stages.dat');
my ($head, @rows) = split /\n/, slurp($stages);
is($head, '"time" "updated" "rotations" "update" "solve" "other"', 'stages: the phases that the run has used');
is(scalar @rows, 60, 'stages: a row a step');
for my $script (glob('updates/*-r0-stages.gp'), glob('updates/*-phases.gp')) {
  my ($numbers) = slurp($script) =~ /^stages = '([\d ]+)'$/m;
  my ($columns) = slurp($script) =~ /^series = (\d+)$/m;
  is(scalar(split ' ', $numbers), $columns, 'each stage has its colour');
}
like($page, qr/out of date on purpose/, 'it says what the residual means for such a solver');
($code, $out) = run_program("run bench/beam:resolution=0.25 --plugin @{[$plugin =~ s/reporting/faulty/r]} -s faulty:fault=lie --steps 3 -o lie.h5");
is($code, 4, 'a solver that lies of its residual');
run_program('report lie.h5 -o lie');
like(slurp('lie/index.html'), qr/class="text bad">completed, audit failed[:<].*claims convergence/s, 'its report says so');
run_program("run bench/beam:resolution=0.25 --plugin @{[$plugin =~ s/reporting/faulty/r]} -s faulty:fault=lie -s newton -s semi-implicit --steps 3 -o race.h5");
run_program('report race.h5 -o race');
my %row = map { /^<tr><td class="text">([a-z-]+)<\/td><td class="text (?:good|bad)">/ ? ("$1" => [/<td>([^<]*)<\/td>/g]) : () }
  split /\n/, slurp('race/index.html');
is($row{faulty}[4], '-', 'a run that fails the audit is not timed against others,');
like($row{$_}[4], qr/^(?:1\.00 \*|-)$/, "nor others against it, nor solvers of two equations against each other: $_") for qw(newton semi-implicit);
unlike(join('', map { slurp($_) } glob("race/*-$_.dat")), qr/faulty/, "nor shown among their times: $_") for qw(step-time phases);
like(slurp((glob 'race/*-accuracy-euler.dat')[0]), qr/"faulty"\n\S+ \S+ "[a-z, -]+"\n/, 'beside its accuracy stands what it broke');
run_program("run bench/beam:resolution=0.25 --plugin @{[$plugin =~ s/reporting/faulty/r]} -s faulty:fault=diverge -s newton --steps 3 -o ended.h5");
run_program('report ended.h5 -o ended');
like(slurp((glob 'ended/*-accuracy-euler.dat')[0]), qr/"faulty"\n\S+ \S+ "diverged"\n/, 'and beside that of a run that did not complete how it ended');
unlike(slurp('ended/summary.dat'), qr/faulty/, 'whose step is not set beside others');
run_program('run bench/beam:resolution=0.25 ' . join(' ', map { "-s newton:max_iterations=$_" } 90 .. 106) . ' --steps 2 -o many.h5');
run_program('report many.h5 -o many');
like(slurp('many/index.html'), qr/every solver \(1 more not in the picture\)/, 'the summary says whom it has no room for');
my $bars = slurp('race/summary.dat');
my ($height) = slurp('race/summary.gp') =~ /^height = (\d+)/m;
my ($foot) = slurp('race/summary.svg') =~ /translate\([\d.]+,([\d.]+)\)[^>]*>\s*<text><tspan[^>]*>median wall time/;
ok($foot && $height - $foot < 40, 'the summary has nothing blank below its axis') or diag "height $height, its name at " . ($foot // '?');
ok($bars =~ /^"scene" "newton" "semi-implicit"\n"bench[^"]*" \d/ && $bars !~ /faulty/, 'and it has no bar in the summary');

# ---- the recipe of the room's README
{
  my $readme = slurp("$root/reports/README.md");
  my ($suite) = $readme =~ /^## Add a suite.*?\n\n(    \[suite\].*?)\n\n\S/ms;
  my ($commands) = $readme =~ /^Run it from where it lies.*?\n\n(.*?)\n\n\S/ms;
  ok($suite && $commands, 'the README has a suite and what to do with it');
  open my $ini, '>', 'mine.ini' or die;
  print $ini $suite =~ s/^    //mgr;
  close $ini;
  for my $command ($commands =~ /^    elastobench (.*)$/mg) {
    ($code, $out) = run_program($command);
    is($code, 0, "the recipe: $command") or diag $out;
  }
  $page = slurp('mine/index.html');
  my %runs;
  $runs{$_}++ for $page =~ /<td class="text">(corotational:linear=\w+)(?:<span[^>]*> \(repetition 2\)<\/span>)?<\/td><td class="text good">/g;
  is_deeply(\%runs, {'corotational:linear=cholesky' => 2, 'corotational:linear=cg' => 2}, 'both solvers, twice, are ranked on its page');
  my @named = $readme =~ /\]\(([^)#]+)\)/g;
  is_deeply([grep { !-e "$root/reports/$_" } @named], [], 'every file that the README names is there');
}

($code, $out) = run_program('report nothing.h5 -o x');
isnt($code, 0, 'a missing file is an error');
like($out, qr/nothing\.h5/, 'that names it');
open my $file, '>', 'text.h5' or die;
print $file "not HDF5\n";
close $file;
($code, $out) = run_program('report text.h5 -o x');
isnt($code, 0, 'so is a foreign one');
($code, $out) = run_program('report r.h5 -o /proc/report');
isnt($code, 0, 'a folder that cannot be made is an error');
like($out, qr/\/proc\/report/, 'that names it');
{
  local $ENV{PATH} = '/nowhere';
  my $said = `$program report r.h5 -o y 2>&1`;
  isnt($? >> 8, 0, 'without gnuplot there is no report');
  like($said, qr/gnuplot-nox/, 'and the message names the package');
}
done_testing();
