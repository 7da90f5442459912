#!/usr/bin/perl
# What `info` and `list` tell of a result file, and runs by as much of their ids as no other has.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my $beam = 'bench/beam:resolution=0.25';
is_code(0, 'a run', 'run', $beam, '-s', 'newton', '-s', 'newton:rtol=1e-6', '-s', 'pd', '--steps', '3', '-o', 'r.h5');
my @runs = runs_in('r.h5');

# ---- as JSON: what the export says, by short ids, and sizes
my ($out) = is_code(0, 'list as JSON', 'list', 'r.h5', '--format', 'json');
my $listed = decode_json($out);
is($listed->{file}, 'r.h5', '  the file');
for my $name (qw(id scene solver parameters_changed options_changed outcome audit steps_done)) {
  is_deeply([map { $_->{$name} } @{$listed->{runs}}], [map { $_->{$name} } @runs], "  $name as exported");
}
my @short = map { $_->{short} } @{$listed->{runs}};
for my $i (0 .. $#runs) {
  my ($hash) = $runs[$i]{id} =~ /\.([0-9a-f]+)$/;
  ok(length $short[$i] >= 4 && $hash =~ /^$short[$i]/, "  $short[$i] begins the hash");
  is(scalar(grep { $_->{id} =~ /\.$short[$i]/ } @runs), 1, '  and no other');
}
is($listed->{runs}[0]{frames}, 3, '  frames: the start, one at the interval, the last step')
  or diag $listed->{runs}[0]{frames};
my $bytes = 0;
$bytes += $_->{bytes} for @{$listed->{runs}};
ok($bytes > 0 && $bytes < -s scratch('r.h5'), '  runs take some room, and less than the file has');
($out) = is_code(0, 'info as JSON', 'info', 'r.h5', '--format', 'json');
my $told = decode_json($out);
is_deeply($told->{runs}, $listed->{runs}, '  has the same runs');
is($told->{bytes}, -s scratch('r.h5'), '  the bytes of the file');
is($told->{seal}, 'fits', '  its seal');
is($told->{schema_version}, 3, '  its schema');
my ($scene) = @{$told->{scenes}};
is_deeply([@$scene{qw(scene hash nodes elements runs)}, scalar @{$told->{scenes}}],
  [@{$runs[0]}{qw(scene scene_hash nodes elements)}, 3, 1], '  its scene, once');
like($told->{environment}{command_line}, qr/run bench\/beam/, '  and where it is from');
ok($told->{environment}{cores} =~ /^\d+$/, '  numbers are numbers');

# ---- as text
($out) = is_code(0, 'list', 'list', 'r.h5');
like($out, qr/^run +scene +solver .*\n$short[0] +bench\/beam:resolution=0.25 +newton +1 +0 +completed +passed +3 +3 +\S+ k?B\n/, '  a line a run');
like($out, qr/^$short[1] .* newton:rtol=1e-6 /m, '  with what is not at its default');
like($out, qr/^$short[2] .* pd +1 +0 +skipped +none +0 +0 +0 B$/m, '  also of those that were skipped');
($out) = is_code(0, 'info', 'info', 'r.h5');
like($out, qr/^result file r\.h5: \S+ kB, schema 3, seal fits, 3 runs$/m, '  the file');
like($out, qr/^made \d+-\S+ by elastobench [\d.]+, commit /m, '  where it is from');
like($out, qr/^bench\/beam:resolution=0\.25 +99 +240 +0\.01667 +3$/m, '  its scenes');
like($out, qr/^$short[0] /m, '  its runs');

# ---- one run
($out) = is_code(0, 'info of a run', 'info', 'r.h5', '--run', $short[1]);
like($out, qr/^options_changed +rtol=1e-6$/m, '  attributes');
like($out, qr/^dt +0\.01667 s$/m, '  with units');
like($out, qr/^error +\d\S*$/m, '  where they have one');
like($out, qr/^frames\/positions +3 x 99 x 3 +m +\d+$/m, '  datasets with their shapes');
($out) = is_code(0, '  as JSON', 'info', 'r.h5', '--run', $short[1], '--format', 'json');
my $one = decode_json($out);
is($one->{id}, $runs[1]{id}, '  it is that run');
my %sets = map { $_->{path} => $_ } @{$one->{datasets}};
is_deeply([@{$sets{'steps/wall'}}{qw(shape unit)}], [[3], 's'], '  a dataset');
my $sum = 0;
$sum += $_->{bytes} for @{$one->{datasets}};
is($one->{bytes}, $sum, '  bytes are those of its datasets');

# ---- runs by name
for my $name ($runs[1]{id}, $short[1], substr($runs[1]{id}, 0, length("bench-beam.newton.r0.$short[1]"))) {
  ($out) = is_code(0, "export of $name", 'export', 'r.h5', '--to', 'csv', '--run', $name);
  my @lines = split /\n/, $out;
  ok(@lines == 4 && 3 == grep { /^"\Q$runs[1]{id}\E"/ } @lines, '  is that run alone');
}
is_code(0, 'its mesh, by a part of its id', 'export', 'r.h5', '--to', 'mesh', '--run', "r0.$short[1]", '-o', 'bar.vtk');
($out) = is_code(0, 'two runs', 'export', 'r.h5', '--to', 'json', '--run', $short[0], '--run', 'bench-beam.pd');
is(scalar @{decode_json($out)->{runs}}, 2, '  are both');
for my $command ([qw(info r.h5)], [qw(export r.h5 --to csv)]) {
  like_error(2, qr/'r\.h5' has 2 runs with 'bench-beam\.n' where their ids or hashes begin: \Q$runs[0]{id}, $runs[1]{id}\E; give more/,
    "$command->[0]: a name of two", @$command, '--run', 'bench-beam.n');
  like_error(2, qr/there is no run 'zz'; there are: \Q$runs[0]{id}\E/, "$command->[0]: a name of none", @$command, '--run', 'zz');
}

# ---- what is wrong
for my $command (qw(info list)) {
  like_error(1, qr/cannot open 'none\.h5'/, "$command: no file", $command, 'none.h5');
  spew(scratch('text.h5'), "text\n");
  like_error(1, qr/'text\.h5' is not a result file: it is not HDF5/, "$command: no HDF5", $command, 'text.h5');
  my $whole = slurp(scratch('r.h5'));
  spew(scratch('cut'), substr $whole, 0, length($whole) / 2);
  like_error(1, qr/cut/, "$command: half a file, by its contents and not its name", $command, 'cut');
  substr($whole, length($whole) / 2, 1) ^= "\1";
  spew(scratch('hurt.h5'), $whole);
  like_error(1, qr/'hurt\.h5' .*damaged/, "$command: damaged", $command, 'hurt.h5');
}
like_error(2, qr/--run is of a result file/, 'a run of a scene', 'info', 'bench/beam', '--run', '7');
done_testing();
