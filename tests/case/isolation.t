#!/usr/bin/perl
# What a solver does to its process is that case's outcome: the harness and the other cases do not notice.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;
use Time::HiRes qw(sleep time);

my $beam = 'bench/beam:resolution=0.25';
my @faulty = ($beam, '--plugin', plugin('faulty'));

# Processes of cases, other than zombies, and what they have started: our folder is on their command line.
sub survivors {
  my $folder = scratch();
  return grep { slurp("$_/cmdline") =~ /\0case\0.*\Q$folder\E/s } glob '/proc/[0-9]*';
}

# ---- each fault between good cases
my %wanted = (
  'close' => ['failed|crashed', qr/step 2: the solver has closed or replaced the harness's descriptor 0/],
  'folder' => ['failed', qr/step 2: the solver has changed the working folder/],
  'count' => ['failed', qr/step 2: the solver has changed the member node_count of the state/],
  'array' => ['failed', qr/step 2: the solver has changed the member x of the state/],
  'starve' => ['out-of-memory|crashed', qr/in step|after its result|while writing/],
  'small-files' => ['crashed', qr/the result could not be recorded .*File too large/],
  'escape' => ['timed-out', qr/time limit of 2 s reached in step 2, which did not end/],
  'orphan' => ['completed', qr/left \d processes running: ended/],
  'child' => ['failed', qr/step 2: the solver has left a child process.*left \d process/],
  'flood' => ['timed-out', qr/time limit of 2 s reached in step 2/],
  'late-crash' => ['completed', qr/ended by signal 11 .* after its result was written/],
  'pool' => ['completed', qr/^$/],
  'terminate' => ['crashed', qr/ended by a signal from outside after step 2 of 4/],
  'garble' => ['crashed', qr/its result file cannot be read/],
  'garble-crash' => ['crashed', qr/signal 11 .*its result file cannot be read/],
  # A plug-in against the harness beside it. Signals that end a process by default, or stop it.
  (map { ("signal-$_" => ['completed', qr/^has sent signal $_ \(.*\) to the harness$/]) } 1, 2, 10, 11, 15, 20),
  'overwrite' => ['failed', qr/^step 2: the shared record of the case was overwritten$/],
  'hurry' => ['failed', qr/^the shared record of the case was overwritten: it said that the time is over$/],
  'leap' => ['completed', qr/^the shared record of the case was overwritten$/],
  'pipe' => ['crashed', qr/its result file cannot be read/],
  'colour' => ['failed', qr/step: \?\[31mred\?\[0m and \?\]0;a title\?/],
);
# Sanitizers allocate where nothing is left, unload by their own rules, and take ends by a signal for theirs.
delete @wanted{qw(array close starve late-crash)} if sanitized();
my @solvers = map { ('-s', "faulty:fault=$_", '-s', "faulty:at=1000,fault=$_") } sort keys %wanted;
my ($out, $err) = is_code(3, 'solvers that harm their process: a solver failed', 'run', @faulty, @solvers, '--steps', '4', '--timeout', '2',
  '-o', 'f.h5');
unlike($out . $err, qr/[^\n\t\x20-\x7e]/, 'no control character reaches the terminal');
my @runs = runs_in('f.h5');
is(scalar @runs, 2 * keys %wanted, 'every case is recorded');
for my $fault (sort keys %wanted) {
  my ($run) = grep { "$_->{options}," =~ /^fault=\Q$fault\E,at=2,/ } @runs;
  my ($good) = grep { "$_->{options}," =~ /^fault=\Q$fault\E,at=1000,/ } @runs;
  my ($outcome, $detail) = @{$wanted{$fault}};
  like($run->{outcome}, qr/^($outcome)$/, "$fault: $outcome");
  like($run->{detail}, $detail, "$fault: the cause in words");
  is($good->{outcome}, 'completed', "$fault: the next case completes");
}
is(scalar survivors(), 0, 'no process is left');
for my $fault ('orphan', 'child', 'overwrite', 'hurry', 'leap', grep {/^signal/} keys %wanted) {
  my ($run) = grep { "$_->{options}," =~ /^fault=\Q$fault\E,at=2,/ } @runs;
  like($run->{audit_rules} // '', qr/process/, "$fault: breaks the rule of the process") or diag explain $run->{audit_detail};
}

# ---- files of the run
# Small results are merged when an eighth of the target waits: of many, the last ones wait in the folder.
is_code(3, 'a solver that removes the folder of results', 'run', @faulty, (map { ('-s', "faulty:base=nothing,at=@{[10 + $_]}") } 1 .. 12), '-s', 'faulty:fault=parts',
  '-s', 'faulty', '--steps', '4', '-o', 'parts.h5');
@runs = runs_in('parts.h5');
my ($parts) = grep { $_->{options} =~ /^fault=parts/ } @runs;
like($parts->{detail} // '', qr/; has removed files of the run(, (\d+) finished results? among them, which --resume makes again)?$/, 'is told as who did it');
my $lost = ($parts->{detail} // '') =~ /, (\d+) finished/ ? $1 : 0;
is(scalar @runs + $lost, 14, 'what was merged is kept, what is lost is counted') or diag $lost;
is("$runs[-1]{options} $runs[-1]{outcome}" =~ s/^fault=none,at=2,\S* //r, 'completed', 'and the next case completes');
ok(!-e scratch('parts.h5.parts'), 'nothing is left beside the file');
{
  local $SIG{ALRM} = sub { die "it hangs\n" };
  alarm 60;
  my ($code, $said, $words) = eval { run('run', @faulty, '-s', 'faulty', '-s', 'faulty:fault=target', '--steps', '4', '-o', 'target.h5') };
  alarm 0;
  ok(!$@ && $code == 1 && $words =~ /'target.h5' is a FIFO, not a regular file/, 'a pipe in the place of the results is refused') or diag $@ || "$code $words";
}

# ---- a solver that does not let go after its result was written
SKIP: {
  skip 'sanitizers want the process to end by itself', 3 if sanitized();
  my $began = time;
  is_code(0, 'a set-down that hangs', 'run', @faulty, '-s', 'faulty:fault=late-hang', '--steps', '2', '-o', 'late.h5');
  my ($late) = runs_in('late.h5');
  is($late->{outcome}, 'completed', 'its result is kept');
  like($late->{detail}, qr/did not end by itself after its result was written/, 'and what was the matter is told');
}

# ---- a library with processes and signals of its own keeps the rules
is_code(0, 'PETSc and MPI', 'run', $beam, '-s', 'newton:linear=petsc', '--steps', '3', '-o', 'petsc.h5');
is((runs_in('petsc.h5'))[0]{detail}, '', 'leave the process as it was');

# ---- a signal that the harness did not send
my $pid = fork // die "fork: $!";
if ($pid == 0) {
  chdir scratch();
  open STDOUT, '>', scratch('.bg.out');
  open STDERR, '>', scratch('.bg.err');
  exec program(), 'run', @faulty, '-s', 'faulty:fault=slow,at=1', '-s', 'faulty:fault=hang', '--steps', '100', '--timeout', '20', '-o', 'signal.h5' or die;
}
sub cases_with {
  my ($fault) = @_;
  return map { m{/proc/(\d+)} } grep { slurp("$_/cmdline") =~ /\0case\0.*fault=$fault\b/s } survivors();
}
# The first case looks for signals between its steps.
for (['slow', 'TERM'], ['hang', 'KILL']) {
  my ($fault, $signal) = @$_;
  for (1 .. 200) {
    last if cases_with($fault);
    sleep 0.05;
  }
  sleep 1;
  # What a case starts while it sets itself up looks like it, and is gone by now.
  my @cases = cases_with($fault);
  is(scalar @cases, 1, "case $fault is running");
  kill $signal, @cases;
}
waitpid $pid, 0;
is($? >> 8, 3, 'both have failed');
my ($term, $kill) = runs_in('signal.h5');
is($term->{outcome}, 'crashed', 'a case that others end has not timed out');
like($term->{detail}, qr/ended by a signal from outside after step \d+ of 100/, 'which is told');
is(scalar @{$term->{steps}{step}}, $term->{steps_done}, 'and keeps its steps');
like($kill->{detail}, qr/ended by signal 9 \(Killed\) in step 2/, 'a case that others kill too');

# ---- a target that is a link
mkdir scratch('far');
symlink 'far/there.h5', scratch('link.h5');
is_code(0, 'a link to a file that is not there yet', 'run', @faulty, '-s', 'faulty', '--steps', '2', '-o', 'link.h5');
ok(-l scratch('link.h5') && -f scratch('far/there.h5') && !-l scratch('far/there.h5'), 'makes the file and keeps the link');
is_code(0, 'a link to a file that is', 'run', @faulty, '-s', 'faulty', '--steps', '3', '-o', 'link.h5', '--overwrite');
ok(-l scratch('link.h5'), 'keeps it too');
is((runs_in('far/there.h5'))[0]{steps_done}, 3, 'and the file is the new one');
symlink 'round.h5', scratch('round.h5');
like_error(1, qr/'round.h5'/, 'a link to itself', 'run', @faulty, '-s', 'faulty', '--steps', '2', '-o', 'round.h5');

# ---- leftovers of runs that were killed while they folded
my $dead = fork // die "fork: $!";
exit 0 if $dead == 0;
waitpid $dead, 0;
spew(scratch("far/there.h5.$dead.new"), 'half a file');
spew(scratch("far/there.h5.$$.new"), 'of a process that lives');
spew(scratch('far/there.h5.x.new'), 'not ours');
is_code(0, 'a run beside leftovers', 'run', @faulty, '-s', 'faulty', '--steps', '4', '-o', 'far/there.h5', '--overwrite');
ok(!-e scratch("far/there.h5.$dead.new"), 'what a dead process has left is gone');
ok(-e scratch("far/there.h5.$$.new") && -e scratch('far/there.h5.x.new'), 'the rest is not');

# What threads and memory cost is the standard build's to tell.
if (sanitized()) {
  done_testing();
  exit;
}

# ---- cost
# On a mesh whose audits take long enough for other threads to get their turn on a busy machine.
is_code(4, 'solvers that work while the clock stands', 'run', 'bench/beam', '--plugin', plugin('faulty'),
  map({ ('-s', "faulty:at=1,fault=$_") } qw(none burn pool)), '--steps', '60', '-o', 'work.h5');
my ($none, $burn, $pool) = runs_in('work.h5');
ok($none->{untimed_cpu_seconds} < 0.005, 'a solver that does nothing has no hidden work') or diag $none->{untimed_cpu_seconds};
# 20 ms were burnt for every step; what falls into steps or after the last one is not seen.
ok($burn->{untimed_cpu_seconds} > 0.05, 'threads that burn between steps are seen') or diag $burn->{untimed_cpu_seconds};
is($pool->{threads_alive}, 3, 'threads are counted');
ok($pool->{untimed_cpu_seconds} > 0.05, 'and what they do between steps') or diag $pool->{untimed_cpu_seconds};
is($none->{threads_alive}, 1, 'there is one where none was started');
is_code(4, 'solvers that grow', 'run', @faulty, map({ ('-s', "faulty:at=1,fault=$_") } qw(none leak)), '--steps', '100', '-o', 'cost.h5');
($none, my $leak) = runs_in('cost.h5');
ok($leak->{memory_growth} > 95e6 && $leak->{memory_growth} < 120e6, 'a megabyte a step is seen') or diag $leak->{memory_growth};
ok($none->{memory_growth} < 5e6, 'where nothing grows, nothing much is') or diag $none->{memory_growth};
ok($none->{first_step_at} > 0.001 && $none->{first_step_at} < 100, 'the first step comes after the start of the process');
ok($none->{process_cpu_seconds} >= $none->{timed_cpu_seconds} && $none->{timed_cpu_seconds} > 0, 'the process takes more than its steps');
is(scalar @{$leak->{steps}{resident}}, 100, 'resident memory after every step');
ok($leak->{steps}{resident}[-1] - $leak->{steps}{resident}[0] > 95e6, 'which grows');

done_testing();
