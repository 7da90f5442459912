#!/usr/bin/perl
# Scenes that are cut while they run, as a user runs them: what is recorded, exported, reported, resumed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;
use Time::HiRes qw(sleep);

# Cut at the start of steps 4 and 7; without the floor, which not every solver takes.
my $bar = 'conjac2020/barcut:resolution=0.3,time1=0.015,time2=0.03,floor=0';
my $wanted = [1, 1, 1, 2, 2, 2, 3, 3, 3, 3];

# ---- solvers that follow cuts
is_code(0, 'a bar that is cut twice', 'run', $bar, '-s', 'semi-implicit', '-s', 'newton', '--steps', '10', '--threads', '1,2', '-o', 'r.h5');
my @runs = runs_in('r.h5');
is(scalar @runs, 4, 'two solvers on one and two threads');
for my $run (@runs) {
  my $name = "$run->{solver} on $run->{threads}";
  is("$run->{outcome} $run->{audit}", 'completed passed', "$name: completes, and passes the audit");
  is_deeply($run->{steps}{components}, $wanted, "$name: components of each step");
  is_deeply($run->{counters}{rebuilds}, [0, 0, 0, 1, 0, 0, 1, 0, 0, 0], "$name: two set-ups after cuts");
  ok($run->{phases}{analyze}[3] > 0 && $run->{phases}{order}[6] > 0 && $run->{phases}{analyze}[4] == 0,
    "$name: their phases are those of the steps that begin with a cut");
  ok($run->{nodes} > $run->{uncut_nodes} && $run->{uncut_nodes} > 0, "$name: nodes before and after");
  ok(abs($run->{steps}{momentum_z}[9]) < 1, "$name: finite");
}
my ($linear, $newton) = grep { $_->{threads} == 1 } @runs;
my @two = grep { $_->{threads} == 2 } @runs;
is($linear->{state_hash}, $two[0]{state_hash}, 'the same bits for one and two threads');
is($newton->{state_hash}, $two[1]{state_hash}, 'with newton, too');
ok((!grep { $_ > 1e-6 } @{$newton->{steps}{residual_relative}}), 'the audit confirms the convergence of newton on every mesh')
  or diag("@{$newton->{steps}{residual_relative}}");
is($linear->{scene_hash}, $newton->{scene_hash}, 'one scene');
is_code(0, 'without cuts', 'run', "$bar,cuts=0", '-s', 'semi-implicit', '--steps', '10', '-o', 'whole.h5');
my ($whole) = runs_in('whole.h5');
isnt($whole->{scene_hash}, $linear->{scene_hash}, 'is another scene');
is($whole->{nodes}, $linear->{uncut_nodes}, 'whose nodes are those before the cuts');
is_deeply($whole->{steps}{components}, [(1) x 10], 'and stays in one');
is($whole->{steps}{elastic}[2], $linear->{steps}{elastic}[2], 'alike until the cut');
isnt($whole->{steps}{elastic}[9], $linear->{steps}{elastic}[9], 'and not after');

# ---- solvers that do not
my ($out) = is_code(6, 'a solver that cannot follow', 'run', "$bar,material=corotational", '-s', 'warp-cholesky', '-o', 's.h5');
like($out, qr/skipped.*lacks cutting/s, 'is skipped with the reason');

# ---- exports, merge, report
($out) = is_code(0, 'export as CSV', 'export', 'r.h5', '--to', 'csv', '--run', $linear->{id});
my ($header, @rows) = map { [split /,/] } split /\n/, $out;
my ($at) = grep { $header->[$_] eq 'components' } 0 .. $#$header;
is_deeply([map { $_->[$at - @$header] + 0 } @rows], $wanted, 'CSV: components');
is_code(0, 'export as XDMF', 'export', 'r.h5', '--to', 'xdmf', '--run', $linear->{id});
is_code(0, 'export of the mesh', 'export', 'r.h5', '--to', 'mesh', '--run', $linear->{id}, '-o', 'bar.msh');
like(slurp(scratch('bar.msh')), qr/^\$MeshFormat/, 'the extension chooses the format');
is_code(0, 'export of its surface', 'export', 'r.h5', '--to', 'mesh', '--run', $linear->{id}, '-o', 'bar.obj');
like(slurp(scratch('bar.obj')), qr/^f /m, 'which has faces');
like_error(2, qr/wants a file/, 'a mesh for the standard output', 'export', 'r.h5', '--to', 'mesh', '--run', $linear->{id});
like_error(2, qr/choose it by --run/, 'the mesh of several runs', 'export', 'r.h5', '--to', 'mesh', '-o', 'bar.vtk');
like_error(2, qr/unknown/, 'a mesh of no format', 'export', 'r.h5', '--to', 'mesh', '--run', $linear->{id}, '-o', 'bar');
my ($file) = glob(scratch('r.*.xdmf'));
my $xdmf = slurp($file // '');
my $nodes = $linear->{nodes};
like($xdmf, qr/Dimensions="$nodes 3"/, 'XDMF: positions of all nodes');
is(() = $xdmf =~ /NumberOfElements="$linear->{elements}"/g, 4, 'XDMF: elements of the frames of steps 0, 4, 8 and 10');
is_code(0, 'merge', 'merge', 'm.h5', 'r.h5', 'whole.h5');
is(scalar runs_in('m.h5'), 5, 'merged with the run without cuts');
is_code(0, 'report', 'report', 'm.h5', '-o', 'report');
like(slurp(scratch('report/index.html')), qr/conjac2020\/barcut/, 'the report shows the scene');
ok(1 <= (() = glob(scratch('report/*.png'))), 'with a picture');
SKIP: {
  my $python = python('h5py', 'numpy') or skip 'no h5py', 1;
  my $said = qx($python $FindBin::Bin/../support/read_cut.py @{[scratch('r.h5')]} $linear->{id} 2>&1);
  is($said, "nodes together 0 1 2 2\n", 'copies of nodes are at one place until their cut');
}

# ---- bad parameters
for my $case (['time1=-1', qr/time1/], ['cut1=2', qr/cut1/], ['cuts=3', qr/cuts/]) {
  my ($parameters, $pattern) = @$case;
  like_error(2, $pattern, $parameters, 'run', "conjac2020/barcut:$parameters", '-s', 'newton', '-o', 'b.h5');
}

# ---- a solver that fails after the first cut
is_code(3, 'a crash after a cut', 'run', $bar, '--plugin', plugin('faulty'), '-s', 'faulty:fault=crash,at=6', '--steps', '10', '-o', 'f.h5');
my ($crashed) = runs_in('f.h5');
is($crashed->{outcome}, 'crashed', 'is recorded');
is($crashed->{nodes}, $nodes, 'with the nodes of the mesh in the end');
my $kept = scalar @{$crashed->{steps}{components}};
is_deeply($crashed->{steps}{components}, [@{$wanted}[0 .. $kept - 1]], "and what was committed ($kept steps)");
is_code(0, 'export of what is there', 'export', 'f.h5', '--to', 'xdmf');

is_code(3, 'a set-up that fails after a cut', 'run', $bar, '--plugin', plugin('faulty'), '-s', 'faulty:fault=rebuild-error', '--steps', '10', '-o', 'g.h5');
my ($failed) = runs_in('g.h5');
like("$failed->{outcome}: $failed->{detail}", qr/^failed: step: the second set-up went wrong/, 'is the outcome');
is_deeply($failed->{steps}{components}, [1, 1, 1], 'of a run with the steps before');

# ---- killed after the first cut, and resumed
my @both = ($bar, '--plugin', plugin('faulty'), '-s', 'semi-implicit', '-s', 'faulty:fault=hang,at=6', '--steps', '10', '--timeout', '60', '-o', 'k.h5');
my $pid = fork // die "fork: $!";
if ($pid == 0) {
  setpgrp;
  chdir scratch();
  open STDOUT, '>', '/dev/null';
  open STDERR, '>', '/dev/null';
  exec program(), 'run', @both or die;
}
my $waiting = 0;
for (1 .. 1200) {
  $waiting = -e scratch('k.h5') && (glob(scratch('k.h5.parts/*.tmp')))[0];
  last if $waiting;
  sleep 0.05;
}
ok($waiting, 'the second case is running');
kill 'KILL', $pid;
waitpid $pid, 0;
my @resumed = map { s/,at=6/,at=50/r } @both;
my (undef, $err) = is_code(0, 'resume after a kill', 'run', @resumed, '--resume');
like($err, qr/\[1\/1\].*hang/, 'runs only what is missing');
my ($again, $other) = runs_in('k.h5');
is($again->{state_hash}, $linear->{state_hash}, 'what was finished is there, with the same bits');
is_deeply($other->{steps}{components}, $wanted, 'and the other one is cut as well');

done_testing();
