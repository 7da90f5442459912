#!/usr/bin/perl
# Sweeps over options: grids, shards, schedulers, merging, and shards that fail.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;
use Time::HiRes qw(sleep);

# ---- the page's own files
my $page = slurp(root() . '/harness/sweeps.md');
my %block;
push @{$block{$1}}, $2 while $page =~ /^```(\w+)\n(.*?)^```/msg;
my ($parallel, $job, $submit) = @{$block{sh}};
spew(scratch('sweep.ini'), $block{ini}[0]);
spew(scratch('sweep.sh'), $job);
symlink program() =~ s{/elastobench$}{}r, scratch('build');
mkdir scratch('bin');

# Stand-ins: jobs one after the other. sbatch takes array and script, and runs it for each of its numbers.
my %stand_in = (
  parallel => <<'END',
[ "$1" = --joblog ] && shift 2
while read -r item; do
  line=$(printf '%s ' "$@" | sed "s/{}/$item/g")
  echo "$item" >> parallel.log
  sh -c "$line" || failed=1
done
exit ${failed:-0}
END
  # Node 2 fails in the first round, node 3 has no disk.
  srun => <<'END',
first=$(grep -c . sbatch.log)
[ "$first" = 1 ] && [ "$SLURM_ARRAY_TASK_ID" = 2 ] && exit 1
[ "$first" = 1 ] && [ "$SLURM_ARRAY_TASK_ID" = 3 ] && ulimit -f 1
"$@"
END
  sbatch => <<'END',
for word; do case $word in --array=*) array=${word#--array=} ;; -*) ;; *) script=$word ;; esac; done
echo "$array" >> sbatch.log
for range in $(echo "$array" | tr , ' '); do
  for id in $(seq "${range%-*}" "${range#*-}"); do
    SLURM_ARRAY_TASK_ID=$id sh "$script" || failed=1
  done
done
exit ${failed:-0}
END
);
for my $name (keys %stand_in) {
  spew(scratch("bin/$name"), "#!/bin/sh\n$stand_in{$name}");
  chmod 0755, scratch("bin/$name");
}

# Executes a script of the page among the stand-ins: (exit code, all output).
sub script {
  my ($text) = @_;
  spew(scratch('script.sh'), $text);
  my $folder = scratch();
  my $out = qx(cd $folder && PATH=$folder/bin:\$PATH sh -e script.sh 2>&1);
  return ($? >> 8, $out);
}

# What two files have to have alike: all but times, memory, and when.
sub timeless {
  my ($run) = @_;
  my %kept = map { $_ => $run->{$_} } grep { !/seconds|^peak_rss|^started|^memory_|^threads_alive|^first_step_at/ } keys %$run;
  delete @kept{qw(phases setup residuals counters)};
  $kept{steps} = {map { $_ => $run->{steps}{$_} } grep { !/^(wall|cpu|steal|resident|own|lead)$/ } keys %{$run->{steps}}};
  $kept{counters} = $run->{counters};
  return \%kept;
}
sub timeless_runs { return [map { timeless($_) } runs_in($_[0])] }

# ---- one process, GNU parallel, a Slurm array
is_code(0, 'a sweep in one process', 'run', 'sweep.ini', '-o', 'whole.h5');
my $whole = timeless_runs('whole.h5');
is(scalar @$whole, 6, 'has every point of the product');
is_deeply([map { $_->{order} } @$whole], [0 .. 5], 'in the order of the plan');
is_deeply([map { my ($E, $nu) = $_->{parameters} =~ /E=([^,]*),nu=([^,]*)/; "$E $nu" } @$whole[0 .. 2]], ['1e5 0.3', '1e5 0.4', '1e6 0.3'], 'the last axis runs fastest');

my ($code, $out) = script($parallel);
is($code, 0, 'the script for parallel') or diag $out;
is(slurp(scratch('parallel.log')), "1\n2\n3\n4\n", 'has started four processes');
is_deeply(timeless_runs('sweep.h5'), $whole, 'the merged file is that of one process');
is_deeply([$out =~ /^\d of (\d) cases in shard-\d.h5/mg], [2, 2, 1, 1], 'shards differ by a point at most');
($code, $out) = run('run', 'sweep.ini', '--shard', '2/4', '--dry-run');
is(() = $out =~ /^bench\/beam .* steps  .*nu=0.4/mg, 2, 'a shard lists its cases') or diag $out;

unlink scratch('sweep.h5'), glob scratch('shard-*.h5');
($code, $out) = script($submit);
is($code, 0, 'the script for Slurm') or diag $out;
is(slurp(scratch('sbatch.log')), "1-4\n2-3\n", 'has submitted the array, and again the shards that lack');
like($out, qr/shard 2\/4: is in none.*\n.* --shard 2\/4 -o shard-2.h5 --resume\n.*shard 3\/4: is in none.*\n.* --shard 3\/4 -o shard-3.h5 --resume/, 'merge has said which, and how');
is_deeply(timeless_runs('sweep.h5'), $whole, 'the file is that of one process');

# ---- the merged file is as good as any
is_code(0, 'the merged file and a shard again', 'merge', 'twice.h5', 'sweep.h5', 'shard-1.h5', 'whole.h5');
is(scalar runs_in('twice.h5'), 6, 'have every run once');
like_error(2, qr/'twice.h5' exists/, 'nothing is overwritten', 'merge', 'twice.h5', 'sweep.h5');
spew(scratch('list'), "shard-4.h5\n\nshard-3.h5\n");
is_code(0, 'a partial one', 'merge', 'half.h5', '@list', '--partial');
is_code(0, 'and the rest', 'merge', 'all.h5', 'half.h5', 'shard-[12].h5');
is_deeply(timeless_runs('all.h5'), $whole, 'are the whole');
like_error(1, qr/no file is there that matches/, 'a pattern of nothing', 'merge', 'n.h5', 'none-*.h5');
SKIP: {
  my $python = python('h5py') or skip 'no h5py', 3;
  my $change = sub {
    my ($from, $statement) = @_;
    my ($source, $file) = (scratch($from), scratch('changed.h5'));
    system($python, '-c', "import h5py, numpy, shutil\nshutil.copy('$source', '$file')\nf = h5py.File('$file', 'r+')\nrun = list(f['runs'].values())[0]\n$statement") == 0 or die;
  };
  $change->('shard-1.h5', "run.attrs['state_hash'] = numpy.bytes_('0123456789abcdef')");
  like_error(1, qr/run '.*' of 'changed.h5' \(completed, 2 steps\) is in another file as well, and differs/, 'a run that contradicts another', 'merge', 'n.h5', 'whole.h5', 'changed.h5');
  $change->('shard-1.h5', "f['environment'].attrs['cpu'] = numpy.bytes_('another')");
  like_error(0, qr/come from 2 machines/, 'shards of two machines', 'merge', 'mixed.h5', 'shard-2.h5', 'changed.h5', 'shard-3.h5', 'shard-4.h5');
  my $mixed = scratch('mixed.h5');
  is(qx($python -c "import h5py; f = h5py.File('$mixed'); print(sorted({(r.attrs['order'] % 4 == 0, 'another' in str(f['environments'][r.attrs['environment']].attrs['cpu'])) for r in f['runs'].values() if 'environment' in r.attrs}), len(f['environments']))"),
    "[(True, True)] 1\n", 'runs say on which they were');
  is_deeply([map { $_->{environment} ? $_->{environment}{cpu} : () } runs_in('mixed.h5')], ['another', 'another'], 'in JSON as well');
}

# ---- killed while it runs; a case that ends badly
spew(scratch('faults.ini'), <<'END');
[hangs]
scene  = bench/beam:resolution=0.25
solver = faulty:fault=hang
steps  = 1
sweep  = at:9|1
[crashes]
scene  = bench/beam:resolution=0.25
solver = faulty:fault=crash,at=1
steps  = 1
END
my @faults = ('run', 'faults.ini', '--plugin', plugin('faulty'));
my @one = ('run', 'faults.ini', '--plugin', plugin('faulty'), '--shard', '1/1', '-o', 'killed.h5');
my $pid = fork // die;
if ($pid == 0) {
  chdir scratch();
  open STDERR, '>', 'killed.log';
  open STDOUT, '>', '/dev/null';
  exec program(), @one;
}
# The third case hangs; it begins to write when the others are in the file.
my ($log, $parts) = map { scratch($_) } 'killed.log', 'killed.h5.parts/*.tmp';
for (1 .. 1200) {
  last if (() = slurp($log) =~ /^\[/mg) == 2 && glob $parts;
  sleep 0.05;
}
kill 'KILL', $pid;
waitpid $pid, 0;
($out, my $err) = like_error(6, qr/shard 1\/1: ended with 2 of 3 cases\n.* -o killed.h5 --resume\nelastobench: 1 of 1 shards lacking: --array=1\n/, 'a shard that was killed', 'merge', 'n.h5', 'killed.h5');
my ($line) = $err =~ /^    \S+ (.*)$/m;
($code, $out, $err) = run(split(' ', $line), '--timeout', '1');
is(() = $err =~ /^\[\d+\/1\]/mg, 1, 'the command line that merge gives runs the case that lacks, and no other') or diag $err;
is_code(0, 'and it is complete: a crash and a time that is over are results', 'merge', 'n.h5', 'killed.h5');
is_deeply([map { $_->{outcome} } runs_in('n.h5')], [qw(crashed completed timed-out)], 'which are in the file');

# ---- large grids, empty shards, bad words
my @beam = ('run', 'bench/beam', '-s', 'newton', '--steps', '1');
my @million = (@beam, '--sweep', 'E:1e5..1000e5 step 1e5', '--sweep', 'nu:0.0001..0.1 step 0.0001');
($code, $out) = run(@million, '--dry-run', '--format', 'json', '--shard', '400001/500000');
my $plan = decode_json($out);
is_deeply([$plan->{grids}[0]{cases}, $plan->{grids}[0]{cases_here}, scalar @{$plan->{cases}}], [1000000, 2, 2], 'a million cases, and the two of a shard');
is_deeply([map { $_->{parameters} =~ /^E=([^,]*),nu=([^,]*)/ } @{$plan->{cases}}], ['40100000', '0.0001', '90100000', '0.0001'], 'which are the 400001st and the 900001st');
($code, $out) = run(@million, '--dry-run');
like($out, qr/1000000 points, 1000000 cases, 1000000 of them here\n1000000 cases\n\z/, 'all of them are counted, not listed');
is_code(0, 'an empty shard', @beam, '--shard', '2/2', '-o', 'empty.h5');
is_deeply([runs_in('empty.h5')], [], 'is a file without runs');
like_error(2, qr/--sweep: sweep wants OPTION:A\|B\|C or/, 'no sweep', @beam, '--sweep', 'E');

done_testing;
