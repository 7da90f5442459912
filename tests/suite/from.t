#!/usr/bin/perl
# Cases that start from other cases' states: the next step bit for bit, samples of a motion, sweeps, turns; and what cannot be.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use POSIX qw(mkfifo);
use Test::More;

my $beam = 'bench/beam:resolution=0.25';
my $suites = 0;

# A suite's file with this text.
sub suite {
  my ($text) = @_;
  my $name = 'suite' . ++$suites . '.ini';
  spew(scratch($name), $text);
  return $name;
}

# A section, of the beam when it says nothing else.
sub section {
  my ($label, @settings) = @_;
  unshift @settings, "scene = $beam" if !grep {/^scene/} @settings;
  return join "\n", "[$label]", @settings, '';
}

my $walk = section('walk', 'solver = semi-implicit', 'steps = 12');
my $bad = 0; # files that are not to be made
sub nowhere { return ('-o', 'x' . ++$bad . '.h5') }

# The runs of a file by solver and the steps that they start from.
sub by_origin {
  my ($file) = @_;
  return map { ("$_->{solver}@" . ($_->{from_steps} // '') => $_) } runs_in($file);
}

# ---- from one state
my $next = suite($walk
    . section('next', 'solver = semi-implicit', 'solver = newton', 'from = walk@8', 'steps = 4')
    . section('finer', "scene = $beam,dt=0.01", 'solver = corotational:linear=cholesky', 'solver = semi-implicit', 'from = walk@7', 'steps = 4')
    . section('from there', 'solver = semi-implicit', 'from = just newton@2', 'steps = 1')
    . section('just newton', 'solver = newton', 'from = walk@12', 'steps = 2'));
is_code(0, 'cases that start from others', 'run', $next, '-o', 'next.h5');
my @runs = runs_in('next.h5');
is(scalar @runs, 7, 'every case has its run');
is(scalar(grep { $_->{audit} eq 'passed' } @runs), 6, 'and passes its audit, but for the one that cannot serve the scene');
my %at = by_origin('next.h5');
my ($donor, $same, $newton, $finer) = @at{'semi-implicit@', 'semi-implicit@8', 'newton@8', 'semi-implicit@7'};
is($same->{from}, $donor->{id}, 'the run says where it starts');
is($same->{state_hash}, $donor->{state_hash}, 'a solver without memory goes on bit for bit');
isnt($newton->{state_hash}, $donor->{state_hash}, 'another solver does not');
for my $column (qw(time kinetic elastic residual momentum_z energy_excess)) {
  is_deeply($same->{steps}{$column}, [@{$donor->{steps}{$column}}[8 .. 11]], "its audit is that of the same steps: $column");
}
is_deeply($same->{steps}{step}, [1 .. 4], 'steps count from 1');
ok(abs($finer->{steps}{time}[0] - $donor->{steps}{time}[6] - 0.01) < 1e-12, 'time goes on, in steps of its own');
is($at{'semi-implicit@2'}{from}, $at{'newton@12'}{id}, 'a chain, whose links stand in another order');
is(scalar(grep { /checkpoints=2$/ } map { $_->{identity} } @runs), 1, 'a donor keeps what is wanted');
ok(!grep({ $_->{from_steps} && $_->{identity} !~ / from=[0-9a-f]{16}\@$_->{from_steps}/ } @runs), 'where a case starts is part of its identity');

# ---- resumed, sharded, merged
my ($out, $err) = is_code(0, 'a resume of it all', 'run', $next, '-o', 'next.h5', '--resume');
unlike($err, qr/^\[1/m, 'runs nothing');
my $two = suite($walk . section('next', 'solver = semi-implicit', 'from = walk@8', 'steps = 4') . section('more', 'solver = newton', 'from = walk@8', 'steps = 2'));
my $one = suite($walk . section('next', 'solver = semi-implicit', 'from = walk@8', 'steps = 4'));
is_code(0, 'the donor and one case', 'run', $one, '-o', 'part.h5');
($out, $err) = is_code(0, 'a resume with the donor in the file', 'run', $two, '-o', 'part.h5', '--resume');
is(() = $err =~ /^\[\d+\/1\].*newton.* completed/mg, 1, 'runs the case that is missing, from the state in the file') or diag $err;
is_code(0, "shard $_", 'run', $next, '--shard', "$_/3", '-o', "shard$_.h5") for 1 .. 3;
my @shards = grep { runs_in("shard$_.h5") } 1 .. 3;
is(scalar @shards, 1, 'a chain of cases stays in one shard');
is_code(0, 'a run that keeps a state', 'run', $beam, '-s', 'semi-implicit', '--steps', 3, '--checkpoints', '3', '-o', 'a.h5');
is_code(0, 'merge', 'merge', 'all.h5', 'shard?.h5', 'a.h5');
is(scalar runs_in('all.h5'), 8, 'all runs are there');

# ---- from a file, on the command line
is_code(0, 'from a run of a file', 'run', $beam, '-s', 'semi-implicit', '--from', "all.h5:$donor->{id}\@8", '--steps', 4, '-o', 'line.h5');
my ($line) = runs_in('line.h5');
is($line->{state_hash}, $donor->{state_hash}, 'the same bits again, from the merged file');
is_code(0, 'from the only run of a file', 'run', $beam, '-s', 'newton', '--from', 'a.h5@3', '--steps', 1, '-o', 'only.h5');
my @from = ('run', $beam, '-s', 'newton', '--from');
like_error(2, qr/keeps no state after step 2 \(it has those after 3\); run it again with --checkpoints 2/, 'a state that was not kept', @from, 'a.h5@2', nowhere());
like_error(2, qr/'all.h5' has 8 runs; name one by its id/, 'which run?', @from, 'all.h5@8', nowhere());
like_error(2, qr/there is no run 'nobody'/, 'a run that is not there', @from, 'all.h5:nobody@8', nowhere());
like_error(1, qr/--from: .*'missing.h5'/, 'a file that is not there', @from, 'missing.h5@8', nowhere());
like_error(2, qr/'walk' is no result file: --from wants FILE.h5:RUN\@STEP/, 'a section, where there is no suite', @from, 'walk@8', nowhere());
like_error(2, qr/--from and --sweep are of scenes; suite 'smoke'/, 'beside a suite', 'run', 'smoke', '--from', 'a.h5@3', nowhere());
spew(scratch('damaged.h5'), substr slurp(scratch('a.h5')), 0, 20000);
like_error(1, qr/--from: .*damaged.h5/, 'a damaged file', @from, 'damaged.h5@3', nowhere());
my ($skipped) = is_code(6, 'another mesh', 'run', 'bench/beam:resolution=0.5', '-s', 'newton', '--from', 'a.h5@3', '-o', 'mesh.h5');
like($skipped, qr/skipped.*is on another mesh .*99 nodes.*can only start from a state of its own mesh/s, 'is skipped, and says so');

# ---- samples
my $samples = suite($walk
    . section('samples', 'solver = semi-implicit', 'solver = newton', 'from = walk@0..11', 'stride = 3', 'repeat = 2')
    . section('evenly', 'solver = semi-implicit', 'from = walk@1..9', 'samples = 3'));
(undef, $err) = is_code(0, 'samples of a motion', 'run', $samples, '-o', 'samples.h5');
like($err, qr/semi-implicit r0.*semi-implicit r0.*newton r0.*semi-implicit r1.*newton r1/s, 'competing solvers take turns');
%at = by_origin('samples.h5');
$donor = $at{'semi-implicit@'};
my ($semi, $other, $evenly) = @at{'semi-implicit@0..9/3', 'newton@0..9/3', 'semi-implicit@1..9/4'};
for ($semi, $other) {
  is_deeply($_->{steps}{from_step}, [0, 3, 6, 9], "$_->{solver}: a row a sample");
  is_deeply($_->{steps}{time}, [@{$donor->{steps}{time}}[0, 3, 6, 9]], "$_->{solver}: from the states that were asked for");
}
is_deeply($evenly->{steps}{from_step}, [1, 5, 9], 'so many, evenly spread');
is("$_->{outcome} $_->{audit}", 'completed passed', "$_->{solver}: passes") for $semi, $other, $evenly;
is_deeply($semi->{steps}{$_}, [@{$donor->{steps}{$_}}[0, 3, 6, 9]], "the donor's own steps again: $_") for qw(kinetic elastic residual energy_excess balance);
is_deeply($semi->{steps}{step}, [1 .. 4], 'steps count samples');
ok($semi->{steps}{lead}[0] == 0 && !grep({ !($_ > 0) } @{$semi->{steps}{lead}}[1 .. 3]), 'samples that are not at the start are led in, off the clock');
ok(!grep({ !($_ > 0) } @{$semi->{steps}{wall}}), 'the samples are timed');

# A solver that fails in one goes on with the next.
my @plugin = ('--plugin', plugin('faulty'));
my $failing = suite($walk . section('some', (map {"solver = faulty:fault=$_"} 'diverge,at=2', 'nan,at=2', 'honest-nan,at=3'), 'from = walk@1..9/2'));
is_code(3, 'samples that fail', 'run', $failing, @plugin, '-o', 'failing.h5');
my %failing = map { (join(',', ($_->{options} // '') =~ /fault=([\w-]+)/) => $_) } runs_in('failing.h5');
is($failing{diverge}{outcome}, 'diverged', 'a sample without convergence is told');
like($failing{diverge}{detail}, qr/^step 2 ended with EB_DIVERGED\w*; \d of 5 samples failed$/, 'with how many there are');
is($failing{$_}{steps_done}, 5, "$_: all samples are taken") for qw(diverge honest-nan nan);
is($failing{nan}{outcome}, 'not-finite', 'what is not finite is told');
like($failing{nan}{audit_rules}, qr/finite/, 'and breaks its rule');

# ---- donors that do not get there
my $late = suite(section('walk', 'solver = faulty:fault=crash,at=4', 'steps = 12') . section('late', 'solver = newton', 'from = walk@8', 'steps = 1')
    . section('samples', 'solver = newton', 'from = walk@1..8'));
is_code(3, 'a donor that crashes', 'run', $late, @plugin, '-o', 'late.h5');
%at = by_origin('late.h5');
is($at{"newton\@$_"}{outcome}, 'skipped', "from step $_: skipped") for '8', '1..8';
like($at{'newton@8'}{detail}, qr/^start: run \S+ has no state after step 8: it ended before, as crashed: .*signal 11/, 'and why') if !sanitized();
my $honest = suite(section('walk', 'solver = faulty:fault=diverge,at=4', 'steps = 12') . section('early', 'solver = newton', 'from = walk@2', 'steps = 1'));
is_code(3, 'a donor that diverges', 'run', $honest, @plugin, '-o', 'honest.h5');
%at = by_origin('honest.h5');
is($at{'newton@2'}{outcome}, 'completed', 'leaves the states before');

# ---- sweeps: with this fault the solver diverges in step `at`, so that a case of three steps is completed from at = 4 on
my @diverge = ('solver = faulty:fault=diverge', 'steps = 3');
my $sweep = suite(section('least at', @diverge, 'sweep = at:1..8 step 1 stable'));
($out) = is_code(0, 'a sweep', 'run', $sweep, @plugin, '-o', 'sweep.h5', '--format', 'json');
my $found = decode_json($out)->{sweeps}[0];
is_deeply([@$found{qw(name found least_stable greatest_unstable audit)}], ['least at', 'threshold', 4, 3, 'passed'], 'finds the least value');
my @trials = runs_in('sweep.h5');
is(scalar @trials, $found->{trials}, 'each trial is a run');
cmp_ok(scalar @trials, '<=', 4, 'by bisection');
my $bytes = slurp(scratch('sweep.h5'));
($out) = is_code(0, 'a sweep again', 'run', $sweep, @plugin, '-o', 'sweep.h5', '--resume');
ok(slurp(scratch('sweep.h5')) eq $bytes, 'leaves a complete file alone');
like($out, qr/sweep least at: faulty at, least stable 4, greatest unstable 3 \(\d trials\)/, 'and says what it has found');
like($out, qr/^1 of 1 sweeps in sweep.h5 \(0 new trials\)$/m, 'of as many sweeps, and of no cases');
my $wider = suite(section('least at', @diverge, 'sweep = at:1..15 step 1 stable'));
($out, $err) = is_code(0, 'a wider one', 'run', $wider, @plugin, '-o', 'sweep.h5', '--resume');
like($out, qr/least stable 4/, 'finds the same');
my %new = map { $_ => 1 } $err =~ /at=(\d+)/g;
ok(!$new{8} && !$new{4} && $new{15}, 'and runs only the trials that are missing') or diag $err;
is_code(0, 'a parameter of the scene', 'run', $beam, '-s', 'semi-implicit', '--steps', 3, '--sweep', 'dt:0.01..0.03 step 0.01 stable', '-o', 'stable.h5');
is_code(0, 'files with sweeps', 'merge', 'swept.h5', 'sweep.h5', 'stable.h5');
is_code(0, 'twice the same', 'merge', 'twice.h5', 'swept.h5', 'sweep.h5');
is(scalar runs_in('twice.h5'), scalar runs_in('swept.h5'), 'is kept once');
($out, $err) = is_code(0, 'a scan', 'run', suite(section('each', @diverge, 'sweep = at:1..6 step 1 stable scan')), @plugin, '-o', 'scan.h5', '--format', 'json');
my $scanned = decode_json($out)->{sweeps}[0];
is_deeply([@$scanned{qw(found least_stable greatest_unstable trials)}], ['threshold', 4, 3, 6], 'tries every value');
is_deeply([$err =~ /^\[trial \d\].*at=(\d+) r0/mg], [6, 1 .. 5], 'the highest first');
($out) = is_code(0, 'a scan of what is not monotone', 'run', suite(section('odd', 'solver = faulty:fault=diverge-odd', 'steps = 3', 'sweep = at:1..6 step 1 stable scan')),
  @plugin, '-o', 'gaps.h5', '--format', 'json');
$scanned = decode_json($out)->{sweeps}[0];
is_deeply([@$scanned{qw(found least_stable greatest_unstable)}], ['gaps', 2, 5], 'finds gaps');
($out) = is_code(0, 'a grid of one value', 'run', suite(section('one', @diverge, 'sweep = at:5..5 step 1 stable')
  . section('one scanned', @diverge, 'sweep = at:6..6 step 1 stable scan') . section('none', @diverge, 'sweep = at:2..2 step 1 stable scan')), @plugin, '-o', 'one.h5', '--format', 'json');
is_deeply([map { [@$_{qw(found least_stable trials)}] } @{decode_json($out)->{sweeps}}], [['all', 5, 1], ['all', 6, 1], ['none', undef, 1]], 'is tried once');
my $none = suite(section('none', 'solver = faulty:fault=diverge', 'steps = 9', 'sweep = at:1..8 step 1 stable')
    . section('unknown', 'solver = faulty:fault=hang', 'steps = 9', 'sweep = at:1..8 step 1 stable', 'timeout = 1'));
($out) = is_code(0, 'sweeps that find nothing', 'run', $none, @plugin, '-o', 'none.h5', '--format', 'json');
my %sweeps = map { ($_->{name} => $_) } @{decode_json($out)->{sweeps}};
is($sweeps{none}{found}, 'none', 'not even the highest is stable');
is($sweeps{unknown}{found}, 'unknown', 'a time limit says nothing of stability');
like($sweeps{unknown}{detail}, qr/the trial with at = 8 says nothing of stability: timed-out/, 'and why');
my $from = suite($walk . section('least', @diverge, 'from = walk@5', 'sweep = at:1..8 step 1 stable'));
($out) = is_code(0, 'a sweep from a state', 'run', $from, @plugin, '-o', 'from-sweep.h5');
like($out, qr/least stable 4/, 'finds the least value');

# ---- turns
my $turns = suite(join '', map { section($_->[0], "scene = $beam,E=$_->[1]", 'solver = newton', 'repeat = 2', 'steps = 2', 'group = one') } ['a', '1e6'], ['b', '2e6']);
($out) = is_code(0, 'sections of a group', 'run', $turns, '--dry-run', '--format', 'json');
is_deeply([map { ($_->{parameters} =~ /E=(\w+)/)[0] . " r$_->{repetition}" } @{decode_json($out)->{cases}}], ['1e6 r0', '2e6 r0', '1e6 r1', '2e6 r1'], 'take turns');

# ---- what cannot be
my $newton_beam = section('next', 'solver = newton');
sub next_with { return $walk . $newton_beam . join "\n", @_ }
sub swept { return section('s', 'solver = newton', "sweep = $_[0]") }
for (
  ['an unknown donor', next_with('from = wlak@3'), qr/\[next\]: from: there is no section 'wlak' \(did you mean 'walk'\?\)/],
  ['itself', next_with('from = next@3'), qr/in a circle: \[next\] from \[next\]/],
  ['each other', section('a', 'solver = newton', 'from = b@1') . section('b', 'solver = newton', 'from = a@1'), qr/in a circle: \[\w\] from \[\w\] from \[\w\]/],
  ['a step that never comes', next_with('from = walk@13'), qr/\[walk\] has 12 steps, and never comes to step 13/],
  ['another mesh', $walk . section('next', 'scene = bench/beam:resolution=0.5', 'solver = newton', 'from = walk@3'),
    qr/resolution = 0.5 cannot start from a state of one with 0.25/],
  ['another scene', $walk . section('next', 'scene = conjac2020/twist', 'solver = newton', 'from = walk@3'), qr/twist cannot start from a state of bench\/beam/],
  ['no step', next_with('from = walk'), qr/suite\d+.ini:8: from wants SECTION\@STEP/],
  ['a step that is none', next_with('from = walk@two'), qr/:8: from wants a whole number, not 'two'/],
  ['a negative step', next_with('from = walk@-1'), qr/:8: from.*outside/],
  ['a range that ends before it begins', next_with('from = walk@9..3'), qr/:8: from: the range 9..3 ends before it begins/],
  ['half a range', next_with('from = walk@3..'), qr/:8: from wants a whole number/],
  ['no stride', next_with('from = walk@3..9/0'), qr/:8: from.*outside/],
  ['a stride of one state', next_with('from = walk@3/2'), qr/:8: from: '3\/2' has a stride, but is no range/],
  ['a stride of nothing', next_with('stride = 3'), qr/\[next\]: stride is of samples: it wants from = SECTION\@FIRST..LAST/],
  ['samples of one state', next_with('from = walk@3', 'samples = 3'), qr/samples is of samples/],
  ['too many samples', next_with('from = walk@3..5', 'samples = 4'), qr/samples = 4, but there are only 3 states in 3..5/],
  ['no samples', next_with('from = walk@3..5', 'samples = 0'), qr/samples.*outside/],
  ['stride and samples', next_with('from = walk@3..5', 'samples = 2', 'stride = 2'), qr/stride and samples say the same/],
  ['two strides', next_with('from = walk@3..9/2', 'stride = 3'), qr/has a stride already/],
  ['a donor of two cases', section('walk', 'solver = newton', 'solver = semi-implicit', 'steps = 9') . section('next', 'solver = newton', 'from = walk@3'),
    qr/\[walk\] has 2 cases, and a case starts from one/],
  ['samples of samples', next_with('from = walk@3..5', section('more', 'solver = newton', 'from = next@1')), qr/\[next\] is of samples, which are no motion/],
  ['checkpoints behind the end', section('walk', 'solver = newton', 'steps = 9', 'checkpoints = 5,20'), qr/checkpoints: the case has 9 steps, not 20/],
  ['checkpoints of nothing', section('walk', 'solver = newton', 'checkpoints = ,'), qr/:4: checkpoints wants steps/],
  ['a sweep without bounds', swept('rtol stable'), qr/:4: sweep wants OPTION:.*OPTION:LOW..HIGH step S stable/],
  ['a sweep without a step', swept('rtol:1..2 stable'), qr/:4: sweep wants/],
  ['a sweep with more', swept('rtol:1..2 step 1 stable please'), qr/:4: sweep wants/],
  ['a scan of too many', swept('rtol:0.001..0.065 step 0.001 stable scan'), qr/a scan tries at most 64 values, not 65/],
  ['a sweep of another kind', swept('rtol:1..2 step 1 stable fast'), qr/:4: sweep wants/],
  ['a sweep that goes down', swept('rtol:2..1 step 1 stable'), qr/the range 2..1 ends before it begins/],
  ['a grid that misses its end', swept('rtol:1..2 step 0.3 stable'), qr/in steps of 0.3 there is no 2/],
  ['a sweep of no option', swept('colour:1..2 step 1 stable'), qr/sweep: neither .* has an option 'colour'/],
  ['a value that the option does not take', swept('rtol:-1..1 step 1 stable'), qr/sweep: .*rtol/],
  ['a sweep of two solvers', swept("rtol:0.1..1 step 0.1 stable\nsolver = newton"), qr/a sweep is of one scene and one solver/],
  ['from a sweep', swept('rtol:0.1..0.9 step 0.1 stable') . section('next', 'solver = newton', 'from = s@1'), qr/\[s\] has 0 cases/],
) {
  my ($name, $text, $pattern) = @$_;
  like_error(2, $pattern, $name, 'run', suite("$text\n"), nowhere());
}
mkfifo(scratch('pipe.h5'), 0600) or die;
like_error(1, qr/\[next\]: from: 'pipe.h5' is a FIFO, not a regular file/, 'a pipe that nobody writes to', 'run', suite(next_with("from = pipe.h5:x\@1\n")), nowhere());
like_error(2, qr/never comes to step/, 'a donor cut short on the command line', 'run', $next, '--steps', 5, nowhere());
ok(!-e scratch("x$_.h5") && !-e scratch("x$_.h5.parts"), "nothing was run: $_") for 1 .. $bad;

done_testing();
