#!/usr/bin/perl
# A case of several ranks: started under mpiexec, audited as one process is, recorded as one process does, whatever befalls a rank.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use List::Util qw(max);
use Program;
use Test::More;
use Time::HiRes qw(sleep time);

my ($mpiexec) = grep { -x $_ } map { "$_/mpiexec" } split /:/, $ENV{PATH};
plan skip_all => 'there is no mpiexec' unless $mpiexec;
delete $ENV{ELASTOBENCH_MPIEXEC};

my $beam = 'bench/beam:resolution=0.2';
my @ranked = ('--plugin', plugin('ranked'));

# Processes of cases and what starts them, other than zombies: our folder is on their command line.
sub survivors {
  my $folder = scratch();
  return grep { slurp("$_/cmdline") =~ /\0case\0.*\Q$folder\E/s } glob '/proc/[0-9]*';
}

# ---- two ranks and one process
my ($out, $err) = is_code(0, 'newton by one process and by two ranks', 'run', $beam, '-s', 'newton:linear=petsc', '-s', 'newton:ranks=2', '--steps', '3', '--frames', 'all', '-o', 'r.h5');
like($out, qr/newton:ranks=2 +2x1 +completed/, 'the table says ranks and threads');
my @runs = runs_in('r.h5');
is_deeply([map { $_->{ranks} } @runs], [1, 2], 'the file says how many');
is_deeply([map { $_->{audit} } @runs], ['passed', 'passed'], 'all keep the rules') or diag explain [map { $_->{audit_detail} } @runs];
is($runs[1]{scene_hash}, $runs[0]{scene_hash}, 'the scene is the same');

# Columns agree to rounding of sums, relative to the largest entry; residuals of converged steps are what tolerances leave, and only their
# scale is the same, so they are compared with the step's own bound. Times and memory are other ones.
my %other = map { $_ => 1 } qw(wall cpu steal resident residual residual_relative equation_residual balance balance_relative energy_excess
  update_error held_error own_seconds own lead);
{
  my $bound = 1e-9; # what Newton's method leaves in the states
  my ($single, $shared) = ($runs[0]{steps}, $runs[1]{steps});
  my @apart;
  for my $column (sort keys %$single) {
    next if $other{$column};
    my $group = $column =~ /^((?:angular_)?momentum)_[xyz]$/ ? [map { "$1_$_" } qw(x y z)] : [$column];
    my $size = max map { abs } grep { defined } map { @{$single->{$_}} } @$group;
    for my $k (0 .. $#{$single->{$column}}) {
      my ($x, $y) = ($single->{$column}[$k], $shared->{$column}[$k]);
      next if !defined $x && !defined $y;
      push @apart, "$column: $x and $y in step $k" unless defined $x && defined $y && abs($x - $y) <= $bound * ($size // 0);
    }
  }
  is_deeply(\@apart, [], 'the audits of two ranks are those of one process');
}

# ---- what reads files
is_code(0, 'the file is reported', 'report', 'r.h5', '-o', 'report');
like(slurp(scratch('report/index.html')), qr/<td>2 x 1</, 'with its ranks');
is_code(0, 'and exported', 'export', 'r.h5', '--to', 'csv', '-o', 'r.csv');
SKIP: {
  my $python = python('numpy', 'h5py');
  skip 'numpy or h5py is not there', 2 unless $python;
  my $found = `$python @{[root()]}/tests/oracle/oracle.py @{[scratch('r.h5')]} 2>&1`;
  is($?, 0, 'the oracle recomputes the audits of ranks from the file') or diag $found;
  my @ids = map { $_->{id} } @runs;
  my $apart = `$python -c "
import h5py, sys
runs = h5py.File('@{[scratch('r.h5')]}')['runs']
a, b = (runs[id]['frames'] for id in sys.argv[1:])
x = a['positions'][()]
same = all((a[n][()] == b[n][()]).all() for n in ('fixed', 'target', 'step'))
print(abs(x - b['positions'][()]).max() / abs(x).max() if same else 'other held nodes')" @ids`;
  cmp_ok($apart, '<=', 1e-10, 'states of two ranks are those of one process');
}

# ---- what a rank may do; what it lies about the nodes that ranks share is in cheats.t
my %wanted = (
  push => ['completed', qr/^$/, 'update'],
  kill => ['crashed', qr/^rank 1 of 2 was ended by signal 9 \(Killed\) in step 2, with \d+ MB; perhaps by the kernel/, ''],
  error => ['failed', qr/^step: rank 1: the step went wrong, as asked/, ''],
);
my $own = 'bench/beam:resolution=0.2,dt=1e-5';
my @faults = sort keys %wanted;
is_code(3, 'ranks of which one goes wrong', 'run', $own, @ranked, '--steps', '3', (map { ('-s', "ranked:ranks=2,fault=$_") } @faults), '-o', 'f.h5');
@runs = runs_in('f.h5');
is(scalar @runs, scalar @faults, 'every case is recorded');
for my $fault (@faults) {
  my ($run) = grep { $_->{options} =~ /fault=\Q$fault\E,/ } @runs;
  my ($outcome, $detail, $rules) = @{$wanted{$fault}};
  is($run->{outcome}, $outcome, "$fault: $outcome") or diag "$run->{detail}\n$run->{output}";
  like($run->{detail}, $detail, "$fault: the cause in words");
  like($run->{audit_rules}, $rules ? qr/\b\Q$rules\E\b/ : qr/^$/, "$fault: rules that are broken: " . ($rules || 'none'))
    or diag $run->{audit_detail};
}
is_code(3, 'a rank that hangs', 'run', $own, @ranked, '--steps', '3', '--timeout', '2', '-s', 'ranked:ranks=2,fault=hang', '-o', 'h.h5');
my ($hung) = runs_in('h.h5');
like("$hung->{outcome}: $hung->{detail}", qr/^timed-out: time limit of 2 s reached in step 2, which did not end/, 'has the time that there is');
is($hung->{steps_done}, 1, 'and the steps before are kept');
is(scalar survivors(), 0, 'no process is left');

# ---- limits and signals reach all ranks
SKIP: {
  skip 'sanitizers reserve memory of their own', 2 if sanitized();
  is_code(3, 'memory of all ranks counts', 'run', $own, @ranked, '--steps', '3', '-s', 'ranked:ranks=2,fault=memory', '--memory', 400, '-o', 'm.h5');
  like((runs_in('m.h5'))[0]{detail}, qr/^memory limit of \d+ MB passed/, 'and its limit ends them');
}
my $pid = fork // die "fork: $!";
if ($pid == 0) {
  chdir scratch();
  open STDOUT, '>', scratch('.bg.out');
  open STDERR, '>', scratch('.bg.err');
  exec program(), 'run', $own, @ranked, '-s', 'ranked:ranks=2,fault=hang', '-o', scratch('i.h5');
}
my $until = time + 30;
sleep 0.1 while time < $until && survivors() < 3;
kill 'INT', $pid;
waitpid $pid, 0;
is($? >> 8, 130, 'an interrupt ends the run');
is(scalar survivors(), 0, 'and all ranks');

# ---- what starts them
{
  local $ENV{ELASTOBENCH_MPIEXEC} = '/nowhere/mpirun -n';
  ($out) = is_code(3, 'no such program', 'run', $own, @ranked, '-s', 'ranked', '-s', 'ranked:ranks=2', '--steps', '2', '-o', 'n.h5');
  my ($one, $two) = runs_in('n.h5');
  is($one->{outcome}, 'completed', 'a case of one process needs none');
  is($two->{outcome}, 'failed', 'the other is recorded');
  like($two->{detail}, qr{^2 ranks cannot be started: there is no program '/nowhere/mpirun'; install one}, 'with what is missing');
  spew(scratch('alone'), "#!/bin/sh\nshift\nexec \"\$@\"\n");
  chmod 0755, scratch('alone');
  $ENV{ELASTOBENCH_MPIEXEC} = scratch('alone');
  is_code(3, 'something that starts one process', 'run', $own, @ranked, '-s', 'ranked:ranks=2', '--steps', '2', '-o', 'w.h5');
  like((runs_in('w.h5'))[0]{detail}, qr/1 process has been started where the case wants 2 ranks/, 'is told');
}
is_code(0, 'a plan starts none', 'run', $beam, '-s', 'newton:ranks=4', '--dry-run');
($out) = is_code(0, 'as JSON', 'run', $beam, '-s', 'newton:ranks=4', '--dry-run', '--format', 'json');
like($out, qr/"ranks": 4/, 'it has the ranks');

# ---- what ranks cannot share; more of them than nodes are refused in test_ranks_parts.c
is_code(6, 'a scene with colliders is skipped', 'run', 'conjac2020/bunny:resolution=0.1', '-s', 'newton:ranks=2', '--steps', '1', '-o', 's.h5');
like((runs_in('s.h5'))[0]{detail}, qr/cannot be cut into parts/, 'with the reason');

done_testing();
