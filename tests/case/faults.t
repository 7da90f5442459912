#!/usr/bin/perl
# Solvers that crash, hang, eat memory, lie; interruption; a parent that is killed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

my $beam = 'bench/beam:resolution=0.25';
my @faulty = ($beam, '--plugin', plugin('faulty'));

# Starts the program in its own process group and returns its number.
sub start {
  my @arguments = @_;
  my $pid = fork // die "fork: $!";
  return $pid if $pid;
  setpgrp;
  chdir scratch();
  open STDIN, '<', '/dev/null';
  open STDOUT, '>', scratch('.bg.out');
  open STDERR, '>', scratch('.bg.err');
  exec program(), @arguments or die;
}

sub wait_until {
  my ($condition) = @_;
  for (1 .. 600) {
    return 1 if $condition->();
    sleep 0.05;
  }
  return 0;
}

# Processes, other than zombies, that hold the scratch folder as their working folder.
sub processes {
  my $folder = scratch();
  return grep { (readlink("$_/cwd") // '') eq $folder } glob '/proc/[0-9]*';
}

# ---- each fault beside a good case
my %wanted = (
  'crash,at=3' => ['crashed', qr/signal 11 .*in step 3.*about to crash/],
  'abort' => ['crashed', qr/signal 6 .*in step 2/],
  'exit' => ['crashed', qr/ended itself with status 0/],
  'hang' => ['timed-out', qr/time limit of 4 s reached in step 2, which did not end/],
  'slow,at=1' => ['timed-out', qr/time limit of 4 s reached after step \d+ of 40/],
  'nan' => ['not-finite', qr/step 2 left a state that is not finite/],
  'honest-nan' => ['not-finite', qr/step 2/],
  'diverge' => ['diverged', qr/step 2 ended with EB_DIVERGED_MAX_IT/],
  'error' => ['failed', qr/step: the step went wrong, as asked/],
  'create-error' => ['failed', qr/set-up of the solver: the set-up went wrong, as asked/],
  'create-hang' => ['timed-out', qr/time limit of 4 s reached in the set-up of the solver, which did not end/],
  'lie' => ['completed', qr//],
);
my @solvers = map { ('-s', "faulty:fault=$_") } sort keys %wanted;
my ($out, $err) = is_code(3, 'faulty solvers: a solver failed', 'run', @faulty, @solvers, '-s', 'newton', '--steps', '40',
  '--timeout', '4', '-o', 'f.h5');
my @runs = runs_in('f.h5');
is(scalar @runs, 1 + keys %wanted, 'every case is recorded');
is($runs[-1]{solver} . ' ' . $runs[-1]{outcome}, 'newton completed', 'the case after all faults completes');
for my $fault (sort keys %wanted) {
  my ($run) = grep { "$_->{options}," =~ /^fault=\Q$fault\E,/ } @runs;
  my ($outcome, $detail) = @{$wanted{$fault}};
  is($run->{outcome}, $outcome, "$fault: $outcome");
  like($run->{detail}, $detail, "$fault: the cause in words");
}
my ($slow) = grep { $_->{options} =~ /slow/ } @runs;
is(scalar @{$slow->{steps}{step}}, $slow->{steps_done}, 'a case over its time keeps its steps');
ok($slow->{steps_done} >= 3 && $slow->{steps_done} < 40, 'as many as there was time for');
my ($hang) = grep { $_->{options} =~ /^fault=hang/ } @runs;
# The limit and the grace behind it are 6 s, of which the step had all but what came before it.
ok($hang->{cut_step_seconds} > 3 && $hang->{cut_step_seconds} < 9, 'how long the step was at work that was cut off') or diag $hang->{cut_step_seconds};
is_deeply([grep { $_->{cut_step_seconds} } @runs], [$hang], 'which no other case has');
my ($diverged) = grep { $_->{options} =~ /diverge/ } @runs;
is_deeply($diverged->{steps}{reason}, [3, -1], 'a diverged step is recorded and is the last');
my ($nan) = grep { $_->{options} =~ /^fault=nan/ } @runs;
is($nan->{audit}, 'failed', 'convergence to what is no number fails the audit');
my ($honest) = grep { $_->{options} =~ /honest/ } @runs;
is($honest->{audit}, 'passed', 'divergence that is admitted does not');
my ($lie) = grep { $_->{options} =~ /lie/ } @runs;
is($lie->{audit}, 'failed', 'a false claim of convergence fails the audit');
like($lie->{audit_detail}, qr/step 2: the audited residual is .* where the solver claims/, 'and says where');
is_code(4, 'an audit failed', 'run', @faulty, '-s', 'faulty:fault=lie', '--steps', '3', '-o', 'lie.h5');

# ---- memory
SKIP: {
  skip 'sanitizers keep memory of their own', 3 if sanitized();
  is_code(3, 'a solver that allocates without end', 'run', @faulty, '-s', 'faulty:fault=memory', '-s', 'newton', '--steps', '3',
    '--memory', '400', '--timeout', '60', '-o', 'memory.h5');
  @runs = runs_in('memory.h5');
  is($runs[0]{outcome}, 'out-of-memory', 'is stopped');
  like($runs[0]{detail}, qr/memory limit of 400 MB passed .* in step 2/, 'with the limit named');
  is($runs[1]{outcome}, 'completed', 'and the next case runs');
}
is(scalar processes(), 0, 'no process is left');

# ---- limits of the shell
# The program's exit code, and what it says, under a limit.
sub limited {
  my ($limit, @arguments) = @_;
  my $pid = fork // die "fork: $!";
  if ($pid == 0) {
    chdir scratch();
    open STDOUT, '>', scratch('.bg.out');
    open STDERR, '>', scratch('.bg.err');
    exec 'bash', '-c', "ulimit $limit && exec \"\$@\"", 'limited', program(), @arguments or die;
  }
  my $waited = time;
  while (waitpid($pid, 1) == 0) { # WNOHANG
    kill 'KILL', $pid if time - $waited > 100;
    sleep 0.05;
  }
  return ($? & 127 ? 128 + ($? & 127) : $? >> 8, slurp(scratch('.bg.err')));
}
SKIP: {
  skip 'sanitizers reserve terabytes', 6 if sanitized();
  my ($code, $said) = limited('-t 3', 'run', @faulty, '-s', 'faulty:fault=spin', '-s', 'faulty', '--steps', '3', '-o', 'cpu.h5');
  @runs = runs_in('cpu.h5');
  is("$code $runs[0]{outcome}", '3 timed-out', 'a limit of processor time is one of time');
  like($runs[0]{detail}, qr/^limit of 3 s of processor time \(ulimit -t\) reached in step 2/, '  and told as what it is');
  is($runs[1]{outcome}, 'completed', '  the next case has its own');
  for (['-v 200000', qr/address space \(ulimit -v\)/], ['-s 64', qr/stack \(ulimit -s\)/], ['-d 100000', qr/data \(ulimit -d\)/]) {
    my ($limit, $words) = @$_;
    ($code, $said) = limited($limit, 'run', $beam, '-s', 'newton', '--steps', '1', '-o', 'limited.h5');
    ok($code == 1 && $said =~ /^elastobench: the limit on the $words is too low: .* needs \d+ MB at least\n$/, "ulimit $limit is told before it harms") or diag "$code $said";
  }
}

# ---- interruption
my @long = (@faulty, '-s', 'faulty', '-s', 'faulty:fault=hang,at=5', '--steps', '10', '--timeout', '60', '-o', 'c.h5');
for my $signal ('INT', 'TERM') {
  unlink scratch('c.h5');
  my $pid = start('run', @long);
  ok(wait_until(sub { -e scratch('c.h5') && (glob(scratch("c.h5.parts/*.tmp")))[0] }), "$signal: the second case is running");
  kill $signal, $pid;
  waitpid $pid, 0;
  is($? >> 8, 130, "$signal: exit code 130");
  like(slurp(scratch('.bg.err')), qr/interrupted; --resume/, "$signal: says how to go on");
  is(join(' ', map { $_->{outcome} } runs_in('c.h5')), 'completed', "$signal: what was finished is kept, the rest is not recorded");
  ok(!-e scratch('c.h5.parts'), "$signal: nothing is left beside it");
  is(scalar processes(), 0, "$signal: no process is left");
}

# ---- the parent is killed
unlink scratch('c.h5');
my $pid = start('run', @long);
ok(wait_until(sub { -e scratch('c.h5') && (glob(scratch('c.h5.parts/*.tmp')))[0] }), 'the second case is running');
like_error(1, qr/another process is writing 'c.h5'/, 'two runs into one file', 'run', @long, '--resume');
like_error(1, qr/another process is writing 'c.h5'/, 'a merge into it', 'merge', 'c.h5', 'f.h5', '--overwrite');
kill 'KILL', $pid;
waitpid $pid, 0;
ok(wait_until(sub { !processes() }), 'the case dies with its parent');
is(scalar runs_in('c.h5'), 1, 'the file is readable and holds what was finished');
my @short = map { s/,at=5/,at=50/r } @long;
like_error(2, qr/'c.h5' exists/, 'a new run does not touch it', 'run', @short);
($out, $err) = is_code(0, 'resume after a kill', 'run', @short, '--resume');
like($err, qr/\[1\/1\].*hang/, 'runs only what is missing');
is(scalar runs_in('c.h5'), 2, 'and completes the file');
ok(!-e scratch('c.h5.parts'), 'the leftovers are gone');

# ---- a parent killed before it could fold what was finished
is_code(0, 'one case', 'run', @faulty, '-s', 'faulty', '--steps', '10', '-o', 'd.h5');
mkdir scratch('d.h5.parts');
rename scratch('d.h5'), scratch('d.h5.parts/one.h5');
spew(scratch('d.h5.parts/two.tmp'), 'half a file');
like_error(2, qr/holds 1 results of an interrupted run; --resume takes them in/, 'leftovers are not lost', 'run', @faulty, '-s', 'faulty', '--steps', '10', '-o', 'd.h5');
($out, $err) = is_code(0, 'leftovers are taken in', 'run', @faulty, '-s', 'faulty', '--steps', '10', '-o', 'd.h5', '--resume');
unlike($err, qr/\[1/, 'and need not run again');
is(scalar runs_in('d.h5'), 1, 'they are in the file');
ok(!-e scratch('d.h5.parts'), 'and gone from beside it');

# ---- a target that becomes something else while a run is at work
my @cut = (@faulty, '-s', 'faulty', '-s', 'faulty:fault=hang,at=5', '--steps', '10', '--timeout', '2', '-o', 'e.h5');
$pid = start('run', @cut);
ok(wait_until(sub { -e scratch('e.h5') && (glob(scratch('e.h5.parts/*.tmp')))[0] }), 'the second case is running');
unlink scratch('e.h5');
POSIX::mkfifo(scratch('e.h5'), 0600) or die "mkfifo: $!";
ok(wait_until(sub { waitpid($pid, POSIX::WNOHANG()) == $pid }), 'a target that becomes a FIFO is not waited for') or kill 'KILL', $pid;
is($? >> 8, 1, '  the run fails');
like(slurp(scratch('.bg.err')), qr/1 finished results wait in 'e.h5.parts' .*: 'e.h5' is a FIFO, not a regular file/, '  and says why');
is(scalar(() = glob scratch('e.h5.parts/*.h5')), 1, '  what is finished waits');

# ---- two merges at once: one of them is told that it came too late
is_code(0, 'another file', 'run', @faulty, '-s', 'faulty', '--steps', '3', '-o', 'other.h5');
my @lost;
for my $round (1 .. 4) {
  unlink scratch('both.h5');
  my @merging = map { start('merge', 'both.h5', $_) } 'd.h5', 'other.h5';
  my @codes = map { waitpid $_, 0; $? >> 8 } @merging;
  my ($run) = runs_in('both.h5');
  my $wanted = join ' ', map { $run && $run->{steps_done} == $_ ? 0 : '[12]' } 10, 3;
  push @lost, "round $round: ended with @codes, not $wanted" if "@codes" !~ /^$wanted$/;
}
is_deeply(\@lost, [], 'a merge that ends well is in the file');
is_deeply([glob scratch('both.h5.*')], [], 'and nothing is left beside it');
spew(scratch('both.h5.lock'), 'of somebody');
like_error(1, qr/'both.h5.lock' is in the way/, 'a file that is no lock', 'merge', 'both.h5', 'd.h5', '--overwrite');
is(slurp(scratch('both.h5.lock')), 'of somebody', '  stays');

done_testing();
