#!/usr/bin/perl
# Runs and their result files: what is in them, resuming, merging, exporting, and targets that cannot be written.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my $beam = 'bench/beam:resolution=0.25';
my @two = ($beam, '-s', 'newton', '-s', 'semi-implicit', '--steps', '3');

# ---- a run
delete $ENV{ELASTOBENCH_NO_RATES};
my ($out, $err) = is_code(0, 'a run', 'run', @two, '--repeat', '2', '-o', 'r.h5');
$ENV{ELASTOBENCH_NO_RATES} = 1;
like($out, qr/newton .* completed/, 'the table shows the outcome');
unlike($err, qr/[\r\e]/, 'plain lines in a pipe');
ok(!-e scratch('r.h5.parts'), 'no parts are left');
my @runs = runs_in('r.h5');
is(scalar @runs, 4, 'four runs');
is_deeply([map { "$_->{solver} $_->{repetition}" } @runs],
  ['newton 0', 'semi-implicit 0', 'newton 1', 'semi-implicit 1'], 'in the order of the plan');
my $run = $runs[0];
is($run->{outcome}, 'completed', 'outcome');
is($run->{reason}, 'EB_CONVERGED_RTOL', 'reason of the last step');
is($run->{audit}, 'passed', 'audit');
is_deeply($run->{steps}{step}, [1, 2, 3], 'a row a step');
ok($run->{steps}{time}[2] > $run->{steps}{time}[1], 'simulated time grows');
ok((!grep { !($_ > 0) } @{$run->{steps}{wall}}), 'wall times are positive');
ok((!grep { !($_ >= 0 && $_ < 1e-6) } @{$run->{steps}{residual_relative}}), 'the audit confirms the convergence of newton');
ok($runs[1]{steps}{residual_relative}[2] > 1e-6, 'and shows the linearization of semi-implicit');
is(scalar @{$run->{residuals}{steps}}, 3, 'residuals of every step');
ok($run->{residuals}{steps}[0][0] > $run->{residuals}{steps}[0][-1], 'residuals decrease');
like($run->{residuals}{norm}, qr/grad W/, 'the norm has a name');
ok($run->{counters}{factorizations}[0] > 0, 'counters');
ok($run->{phases}{factor}[0] > 0, 'phases');
my $phases = 0;
$phases += $_->[1] for values %{$run->{phases}};
ok($phases <= 1.05 * $run->{steps}{wall}[1], 'phases do not exceed the wall time of their step');
is($run->{state_hash}, $runs[2]{state_hash}, 'repetitions end in the same bits');
isnt($run->{state_hash}, $runs[1]{state_hash}, 'different solvers do not');
ok($run->{peak_rss} > 1e6 && $run->{peak_rss} < 1e10, 'peak memory');
ok($run->{setup_seconds} > 0, 'set-up is timed apart');
like($run->{started}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'start time');

# ---- the environment
my ($json) = is_code(0, 'export as JSON', 'export', 'r.h5', '--to', 'json');
my $environment = decode_json($json)->{environment};
for my $fact (qw(cpu cores compiler flags commit dirty program_hash hdf5 cholmod petsc metis blas blas_threads command_line variables case_settings)) {
  ok(defined $environment->{$fact}, "environment: $fact");
}
ok($environment->{dgemm_flop_per_second} > 1e6, 'environment: measured DGEMM rate');
ok($environment->{triad_byte_per_second} > 1e6, 'environment: measured triad bandwidth');
like($environment->{compiler}, qr/\d+\.\d+/, 'environment: the compiler');
like($environment->{dense_kernels}, qr/^(AVX-512|AVX2|generic)$/, '  and the kernels of ours that run');
like($environment->{command_line}, qr/elastobench run bench\/beam/, 'environment: command line');

like($json, qr/"cores": \d+,/, 'environment: numbers are numbers');
like($json, qr/"dgemm_flop_per_second": \d\.?\d+(e\+\d+)?|"dgemm_flop_per_second": \d+\.\d+/, 'environment: with their digits');
like($json, qr/"step": \[\s+1,\s+2,\s+3\s+\]/, 'whole columns are whole numbers');

SKIP: {
  skip 'sanitizers want to be loaded first', 6 if sanitized();
  local $ENV{LD_PRELOAD} = plugin('old_blas');
  delete local $ENV{OPENBLAS_CORETYPE};
  my $made_of = sub {
    my ($name) = @_;
    is_code(0, "$name: run", 'run', $beam, '-s', 'newton', '--steps', '1', '-o', "$name.h5");
    return decode_json(is_code(0, "$name: export", 'export', "$name.h5", '--to', 'json'))->{environment};
  };
  my $old = $made_of->('old-blas');
  is($old->{blas_kernels}, 'Haswell', 'a BLAS that does not know the processor is told kernels');
  like($old->{case_settings}, qr/OPENBLAS_CORETYPE=Haswell/, 'by a setting of the cases');
  local $ENV{OPENBLAS_CORETYPE} = 'Prescott';
  my $asked = $made_of->('asked-blas');
  is($asked->{blas_kernels}, 'Prescott', 'unless the user asks for others');
  unlike($asked->{case_settings}, qr/CORETYPE/, '  and then nothing is set');
}

# ---- frames of every step
is_code(0, 'frames at the interval', 'run', $beam, '-s', 'newton', '--steps', '4', '-o', 'f.h5');
is_code(0, 'frames of all steps', 'run', $beam, '-s', 'newton', '--steps', '4', '--frames', 'all', '-o', 'f.h5', '--resume');
is_deeply([sort map { $_->{frames} } runs_in('f.h5')], ['all', 'interval'], 'a run without them does not stand for one with them');
my ($movie) = is_code(0, 'as XDMF', 'export', 'f.h5', '--to', 'xdmf');
my @movies = sort { length $a <=> length $b } map { slurp(scratch($_)) } split /\n/, $movie;
is_deeply([map { scalar(() = /<Time /g) } @movies], [3, 5], 'the movie has a frame a step');
like($movies[1], qr/Name="velocity".*Precision="8"/s, 'with velocities, in double precision');
like_error(2, qr/--frames: frames are stored at the scene's 'interval' or 'all', not 'some'/, 'other frames', 'run', $beam, '-s', 'newton',
  '--frames', 'some', '-o', 'f2.h5');

# ---- threads and seeds are part of a case
is_code(0, 'two thread counts', 'run', $beam, '-s', 'newton', '--steps', '3', '--threads', '1,2', '-o', 't.h5');
@runs = runs_in('t.h5');
is_deeply([map { $_->{threads} } @runs], [1, 2], 'a case a thread count');
is($runs[0]{state_hash}, $runs[1]{state_hash}, 'the same bits for one and two threads');

# ---- existing targets
like_error(2, qr/'r.h5' exists; --resume completes it/, 'an existing target is not overwritten', 'run', @two, '-o', 'r.h5');
my $bytes = slurp(scratch('r.h5'));
($out, $err) = is_code(0, 'resume of a complete file', 'run', @two, '--repeat', '2', '-o', 'r.h5', '--resume');
unlike($err, qr/\[1/, 'resume runs nothing');
ok(slurp(scratch('r.h5')) eq $bytes, 'resume leaves a complete file alone');
($out, $err) = is_code(0, 'resume of a larger plan', 'run', @two, '--repeat', '3', '-o', 'r.h5', '--resume');
is(() = $err =~ /^\[\d+\/2\]/mg, 2, 'resume runs only what is missing');
is(scalar runs_in('r.h5'), 6, 'and adds it');
is_code(0, 'overwrite', 'run', @two, '-o', 'r.h5', '--overwrite');
is(scalar runs_in('r.h5'), 2, 'overwrite replaces');

# ---- unsupported pairs
($out) = is_code(6, 'only unsupported pairs: nothing measured', 'run', $beam, '-s', 'corotational', '-o', 's.h5');
like($out, qr/skipped.*lacks/s, 'skipped with the reason');
is_code(0, 'an unsupported pair among others', 'run', $beam, '-s', 'corotational', '-s', 'newton', '--steps', '2', '-o', 's.h5', '--overwrite');

# ---- JSON of a run, and a plug-in
($out) = is_code(0, 'a plug-in, JSON', 'run', $beam, '--plugin', plugin('explicit'), '-s', 'explicit:substeps=50', '-s', 'newton',
  '--steps', '5', '-o', 'p.h5', '--format', 'json');
my $summary = decode_json($out);
is($summary->{runs}[0]{outcome}, 'completed', 'the example plug-in runs');
like($summary->{runs}[0]{identity}, qr/plugin=[0-9a-f]{32}\b/, 'its bytes are part of the identity');
my @last = map { $_->{steps}{elastic}[-1] } runs_in('p.h5');
ok(abs($last[0] / $last[1] - 1) < 0.5, 'and comes near to newton after five steps') or diag("@last");

# ---- what measuring costs: a solver that does next to nothing shows what the harness adds to a step
($out) = is_code(4, 'a solver that does nothing', 'run', 'bench/beam:resolution=0.125', '--plugin', plugin('faulty'), '-s', 'faulty:base=nothing',
  '--steps', '1000', '-o', 'nothing.h5', '--format', 'json');
my $nothing = decode_json($out)->{runs}[0];
my $off = ($nothing->{total_seconds} - $nothing->{scene_seconds} - $nothing->{setup_seconds}) / 1000;
printf "# on the clock %.2f us a step, off the clock %.1f us\n", 1e6 * $nothing->{median_step_seconds}, 1e6 * $off;
ok($nothing->{median_step_seconds} < (sanitized() ? 1e-4 : 1e-5), 'the clock charges a step with less than a thousandth of 10 ms');

# ---- export
($out) = is_code(0, 'export as CSV', 'export', 'p.h5', '--to', 'csv');
my @lines = split /\n/, $out;
is(scalar @lines, 11, 'CSV: a header and a line a step');
like($lines[0], qr/^run,scene,.*residual \(N\)/, 'CSV: units in the header');
is_code(0, 'export as CSV to a file', 'export', 'p.h5', '--to', 'csv', '-o', 'p.csv');
is(slurp(scratch('p.csv')), $out, 'CSV: the same in a file');
like_error(1, qr/cannot write 'no\/p.csv'/, 'export to a folder that is missing', 'export', 'p.h5', '--to', 'csv', '-o', 'no/p.csv');
like_error(2, qr/there is no run 'zzz'/, 'export of an unknown run', 'export', 'p.h5', '--to', 'csv', '--run', 'zzz');
($out) = is_code(0, 'export of one run', 'export', 'p.h5', '--to', 'csv', '--run', $summary->{runs}[1]{id});
is(() = $out =~ /\n/g, 6, 'CSV: of one run');

# ---- what a solver reports of its set-up and of updated elements
is_code(4, 'a solver that reports all there is, of steps that are none', 'run', $beam, '--plugin', plugin('reporting'), '-s', 'reporting',
  '--plugin', plugin('explicit'), '-s', 'explicit', '--steps', '4', '-o', 'w.h5');
my ($reported, $silent) = runs_in('w.h5');
is_deeply($reported->{setup}{memory}, {matrix => 1e6, factor => 2e6, updates => 3e6}, 'JSON: memory by kind');
is_deeply([@{$reported->{setup}{supernodes}{parent}}[0, 8, 14]], [8, 12, -1], 'JSON: the elimination tree');
ok($reported->{setup}{phases}{analyze} > 0 && $reported->{setup}{counters}{factorizations} == 0, 'JSON: phases and counters of the set-up');
ok($reported->{counters}{updated_elements}[3] > 0, 'JSON: updated elements');
ok(!%{$silent->{setup}{memory} // {}} && !$silent->{setup}{supernodes}, 'JSON: nothing of a solver that reports none');
is($reported->{audit}, 'failed', 'a solver whose steps are none fails the audit,');
ok($reported->{steps}{residual_relative}[3] > 0.1, 'as far as it is from implicit Euler');
($out) = is_code(0, 'export as CSV', 'export', 'w.h5', '--to', 'csv', '--run', $reported->{id});
my ($header, @rows) = map { [split /,/] } split /\n/, $out;
my ($at) = grep { $header->[$_] eq 'counters/updated_elements' } 0 .. $#$header;
is($rows[3][$at - @$header], $reported->{counters}{updated_elements}[3], 'CSV: updated elements');
ok((grep { $_ eq 'phases/update (s)' } @$header), 'CSV: phases');

# ---- a matrix that is out of date brings in energy, whatever its solver claims
is_code(4, 'a matrix that is never renewed, and one that always is', 'run', 'hecht2012/cloth-drop:resolution=0.1,dt=0.033333333333333333',
  '-s', 'warp-cholesky:tau=1e30', '-s', 'warp-cholesky:tau=0', '--steps', '12', '-o', 'stale.h5');
my ($stale, $fresh) = runs_in('stale.h5');
is("$stale->{audit} $fresh->{audit}", 'failed passed', 'the one is refuted, the other passes');
is($stale->{audit_rules}, 'energy', 'for its energy');
isnt($stale->{state_hash}, $fresh->{state_hash}, 'and do not move alike');
is($stale->{counters}{updated_elements}[11], 0, 'the one updates no element');
is($fresh->{counters}{updated_elements}[11], $fresh->{elements}, 'the other all of them');

# ---- merging
is_code(0, 'shard 1', 'run', $beam, 'conjac2020/twist', '-s', 'newton', '--steps', '1', '--shard', '1/2', '-o', 'm1.h5');
is_code(0, 'shard 2', 'run', $beam, 'conjac2020/twist', '-s', 'newton', '--steps', '1', '--shard', '2/2', '-o', 'm2.h5');
is_code(0, 'merge', 'merge', 'm.h5', 'm1.h5', 'm2.h5');
is_deeply([map { $_->{scene} } runs_in('m.h5')], ['bench/beam', 'conjac2020/twist'], 'merged runs keep the order of the plan');
($out, $err) = is_code(0, 'resume finds merged shards complete', 'run', $beam, 'conjac2020/twist', '-s', 'newton', '--steps', '1', '-o', 'm.h5', '--resume');
unlike($err, qr/\[1/, 'and runs nothing');
like_error(2, qr/'m.h5' exists/, 'merge does not overwrite', 'merge', 'm.h5', 'm1.h5', 'm2.h5');
like_error(6, qr/shard 2\/2: is in none of the files\n.* --shard 2\/2 -o m2.h5 --resume\n/, 'merge without a shard', 'merge', 'n.h5', 'm1.h5', 'm1.h5');
ok(!-e scratch('n.h5'), 'writes nothing');
like_error(1, qr/cannot open 'none.h5'/, 'merge of a missing file', 'merge', 'n.h5', 'm1.h5', 'none.h5');

# ---- files that are no results
spew(scratch('text.h5'), "no HDF5 at all\n");
spew(scratch('empty.h5'), '');
spew(scratch('cut.h5'), substr(slurp(scratch('m.h5')), 0, 20000));
mkdir scratch('folder.h5');
for my $case (['text.h5', qr/not HDF5/], ['empty.h5', qr/not HDF5/], ['cut.h5', qr/damaged or truncated/],
  ['folder.h5', qr/not a regular file|is a folder without result files/], ['none.h5', qr/cannot open 'none.h5': No such file/], ['/dev/zero', qr/not a regular file/]) {
  my ($file, $pattern) = @$case;
  like_error(1, $pattern, "export of $file", 'export', $file, '--to', 'json');
  like_error(1, $pattern, "report of $file", 'report', $file, '-o', 'report');
  like_error(1, $pattern, "merge of $file", 'merge', 'n.h5', 'm1.h5', $file);
}
for my $case (['text.h5', qr/not HDF5/], ['cut.h5', qr/damaged or truncated/]) {
  my ($file, $pattern) = @$case;
  my $old = slurp(scratch($file));
  like_error(1, $pattern, "resume of $file", 'run', @two, '-o', $file, '--resume');
  ok(slurp(scratch($file)) eq $old, "$file is left alone");
}
SKIP: {
  my $python = python('h5py') or skip 'no h5py', 8;
  my $foreign = scratch('foreign.h5');
  system($python, '-c', "import h5py; h5py.File('$foreign', 'w')['x'] = [1, 2]");
  like_error(1, qr/not a result of elastobench/, 'export of a foreign HDF5 file', 'export', 'foreign.h5', '--to', 'json');
  like_error(1, qr/not a result of elastobench/, 'resume of a foreign HDF5 file', 'run', @two, '-o', 'foreign.h5', '--resume');
  system($python, '-c', "import h5py, shutil; shutil.copy('" . scratch('m1.h5') . "', '$foreign'); h5py.File('$foreign', 'r+').attrs['schema_version'] = 99");
  like_error(1, qr/schema version 99, and this program reads version 3 alone/, 'a later schema', 'export', 'foreign.h5', '--to', 'json');
  for my $fact (qw(compiler dense_kernels cpu)) {
    system($python, '-c', "import h5py, numpy, shutil; shutil.copy('" . scratch('m2.h5') . "', '$foreign'); h5py.File('$foreign', 'r+')['environment'].attrs['$fact'] = numpy.bytes_('another')");
    like_error(1, qr/not comparable: $fact is '.*' and 'another'/, "merge refuses another $fact", 'merge', 'n.h5', 'r.h5', 'foreign.h5');
  }
  like_error(1, qr/cannot resume what another build or machine.*-o, or replace.*not comparable: cpu/, 'resume refuses another machine, and says what to do', 'run', @two, '-o', 'foreign.h5', '--resume');
  is_code(0, 'resume or overwrite replaces it', 'run', @two, '-o', 'foreign.h5', '--resume', '--overwrite');
  is(scalar runs_in('foreign.h5'), 2, 'with what was asked for');
}

# ---- colliders: a fixed sphere; a ball that moves, by 0.45 m in a fall of 0.6 m (0.350 s): in two steps of 1/30 s by 86 mm, and down by 22 mm; none
is_code(0, 'scenes with and without colliders', 'run',
  'hecht2012/cloth-drop:resolution=0.1,dt=0.033333333333333333', 'hecht2012/trampoline:resolution=0.1,dt=0.033333333333333333',
  'bench/beam:resolution=0.25', '-s', 'corotational:linear=cg', '-s', 'newton', '--steps', '2', '-o', 'solids.h5');
is_code(0, 'merged', 'merge', 'all-solids.h5', 'solids.h5');
SKIP: {
  my $python = python('h5py') or skip 'no h5py', 1;
  my $lines = qx($python tests/support/read_colliders.py @{[scratch('all-solids.h5')]});
  is($lines, <<'END', 'colliders and where they are at each frame, with units');
bench/beam: none
hecht2012/cloth-drop: sphere, radius 0.25 m, origin [0.0, 0.0, -0.31] m, offset [0.0, 0.0, 0.0] m
hecht2012/trampoline: sphere, radius 0.15 m, origin [0.0, 0.0, 0.0] m, offset [-0.364, 0.0, 0.728] m
END
}

# ---- targets that cannot be written
like_error(1, qr/'folder.h5' is a folder/, 'a target that is a folder', 'run', @two, '-o', 'folder.h5', '--overwrite');
like_error(1, qr/cannot write 'no\/r.h5': No such file/, 'a target in a folder that is missing', 'run', @two, '-o', 'no/r.h5');
like_error(1, qr/'\/dev\/full' is not a regular file/, 'a device as target', 'run', @two, '-o', '/dev/full', '--overwrite') if -e '/dev/full';
ok(-c '/dev/full', 'the device is still there') if -e '/dev/full';
like_error(2, qr/--output wants the name of a file/, 'a target without name', 'run', @two, '-o', '');
SKIP: {
  skip 'root may write everywhere', 1 if $> == 0;
  mkdir scratch('closed'), 0555;
  like_error(1, qr/cannot write 'closed\/r.h5': Permission denied/, 'a folder that is closed', 'run', @two, '-o', 'closed/r.h5');
}
SKIP: {
  my $full = scratch('full');
  mkdir $full;
  # Room for the case's own file, which has its columns in chunks, and not for the joined one beside it.
  my @one = ('run', $beam, '-s', 'newton', '--steps', '2');
  is_code(0, 'a case of its own', @one, '-o', 'size.h5');
  my $room = int(2.5 * (-s scratch('size.h5')) / 1024);
  skip 'no file system of our own to fill', 3 if system("mount -t tmpfs -o size=${room}k tmpfs $full 2>/dev/null");
  like_error(1, qr/finished results wait in 'full\/r.h5.parts' for --resume.*No space left on device/, 'a full disk', @one, '-o', 'full/r.h5');
  system("mount -o remount,size=2m $full");
  my (undef, $said) = is_code(0, 'resume once there is room', @one, '-o', 'full/r.h5', '--resume');
  unlike($said, qr/\[1/, 'has nothing to run again');
  system("umount $full");
}
{
  my $old = slurp(scratch('m.h5'));
  my $command = 'cd ' . scratch() . ' && ulimit -f 40 && exec ' . program() . " run $beam -s newton --steps 3 -o m.h5 --overwrite 2>.err >.out";
  system('bash', '-c', $command);
  ok(slurp(scratch('m.h5')) eq $old, 'an overwrite that fails leaves the old file');
  system('rm', '-rf', scratch('m.h5.parts'));
}
# The disk fills at another place each time: in the case's own file or in the joined one.
for my $room (60, 130, 200, 300) {
SKIP: {
    my $small = scratch("small$room");
    mkdir $small;
    skip 'no file system of our own to fill', 1 if system("mount -t tmpfs -o size=${room}k tmpfs $small 2>/dev/null");
    like_error(1, qr/No space left on device/, "a disk of $room KB", 'run', 'bench/beam', '-s', 'newton', '--steps', '1', '-o', "small$room/r.h5");
    system("umount $small");
  }
}
# A limit on the size of files stands for a full disk.
{
  my $old = slurp(scratch('m.h5'));
  my $command = 'cd ' . scratch() . ' && ulimit -f 100 && exec ' . program() . " run $beam conjac2020/twist -s newton --steps 30 -o m.h5 --resume 2>.err >.out";
  my $code = system('bash', '-c', $command) >> 8;
  my $message = slurp(scratch('.err'));
  ok($code == 1 && $message =~ /cannot|File too large/i, 'no room for results: says so') or diag("$code $message");
  ok(slurp(scratch('m.h5')) eq $old, 'and the old file is unchanged');
}

# ---- an existing mesh in a scene's place
spew(scratch('cube.mesh'), <<'END');
MeshVersionFormatted 2
Dimension 3
Vertices
8
0 0 0 0
1 0 0 0
0 1 0 0
1 1 0 0
0 0 1 0
1 0 1 0
0 1 1 0
1 1 1 0
Tetrahedra
5
1 2 3 5 1
2 4 3 8 1
2 3 5 8 1
2 8 5 6 1
3 5 8 7 1
End
END
($out) = is_code(0, 'a mesh file', 'run', 'bench/beam', '-s', 'newton', '--steps', '2', '--mesh', 'bench/beam=cube.mesh', '-o', 'c.h5');
($run) = runs_in('c.h5');
is($run->{nodes}, 8, 'takes the place of the geometry');
like($run->{mesh_source}, qr/cube.mesh/, 'and is named in the result');
my $tet = "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n";
spew(scratch('tet.veg'), "$tet*MATERIAL m\nENU, 1000, 1e6, 0.3\n*REGION\nallElements, m\n");
(undef, $err) = is_code(0, 'a mesh file with a material', 'run', 'bench/beam', '-s', 'newton', '-s', 'corotational', '--steps', '1',
  '--mesh', 'bench/beam=tet.veg', '-o', 'veg.h5');
is(() = $err =~ /tet\.veg: .*is not used, the scene's is\n/g, 1, 'is told once that the material is not used');
# A modulus in MPa beside lengths in m, told once, of whichever solver.
(undef, $err) = is_code(0, 'figures that do not go together', 'run', 'bench/beam:resolution=0.25,E=1', '-s', 'newton', '-s', 'corotational',
  '--steps', '1', '-o', 'soft.h5');
is(() = $err =~ /^elastobench: bench\/beam: rho g L \/ E, weight over stiffness, is 9\.8e\+03 /mg, 1, 'are told once, with the number');
# Nothing holds these two together; a run says so, once, before it starts.
spew(scratch('two.mesh'), "MeshVersionFormatted 2\nDimension 3\nVertices\n8\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 0\n-1 0 0 0\n"
    . "0 1 0 0\n0 0 1 0\nTetrahedra\n2\n1 2 3 4 0\n5 7 6 8 0\nEnd\n");
(undef, $err) = is_code(0, 'a mesh whose nodes are not merged', 'run', 'bench/beam', '-s', 'newton', '-s', 'corotational', '--steps', '1',
  '--mesh', 'bench/beam=two.mesh', '-o', 'two.h5');
is(() = $err =~ /^two.mesh: 3 pairs of nodes lie at one place and are not joined/mg, 1, 'is said to be in two, once');
like($err, qr/^two.mesh: the mesh is in 2 pieces .*^\[1\/2\]/ms, 'before it runs');
spew(scratch('broken.mesh'), "MeshVersionFormatted 2\nDimension 3\nVertices\n8\n0 0 0 0\n");
($out) = is_code(3, 'a broken mesh file', 'run', 'bench/beam', '-s', 'newton', '--mesh', 'bench/beam=broken.mesh', '-o', 'd.h5');
like($out, qr/failed.*broken.mesh/s, 'is named with its place');

# ---- the suite of the installation
($out) = is_code(0, 'the smoke suite', 'run', 'smoke', '-o', 'smoke.h5');
is(() = $out =~ / completed /g, 6, 'every case completes');

done_testing();
