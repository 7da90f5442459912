#!/usr/bin/perl
# Runs as tests of continuous integration, and as google-benchmark's compare.py reads them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

# ---- one run of every kind: sound, skipped, contradicted by the audit, given up, crashed
spew(scratch('all.ini'), <<'END');
[sound]
scene = bench/beam:resolution=0.25
solver = newton
steps = 4
repeat = 2
[others]
scene = bench/beam:resolution=0.25
solver = corotational
solver = cheat:fault=drift
solver = faulty:fault=diverge
solver = faulty:fault=crash
steps = 4
END
is_code(3, 'runs of all kinds', 'run', 'all.ini', '--plugin', plugin('faulty'), '--plugin', plugin('cheats'), '-o', 'r.h5');
my @runs = runs_in('r.h5');
my %wanted = (newton => 'passed', corotational => 'skipped', 'cheat:fault=drift' => 'failure', 'faulty:fault=diverge' => 'failure', 'faulty:fault=crash' => 'error');

SKIP: {
  my $python = python('xml.etree.ElementTree') or skip 'no python', 3;
  is_code(0, 'export --to junit', 'export', 'r.h5', '--to', 'junit', '-o', 'r.xml');
  my $script = spew(scratch('read.py'), <<'END');
import sys, json, xml.etree.ElementTree as tree
print(json.dumps([{'suite': c.get('classname'), 'name': c.get('name'), 'kind': c[0].tag if len(c) else 'passed',
  'message': c[0].get('message') if len(c) else '', 'text': (c[0].text or '') if len(c) else ''} for c in tree.parse(sys.argv[1]).iter('testcase')]))
END
  my $cases = decode_json(qx($python '$script' '@{[scratch('r.xml')]}'));
  my %kinds;
  for my $case (@$cases) {
    my ($solver, $fault) = $case->{name} =~ m{^(\w+)[^/]*?(?:(fault=\w+)[^/]*)?/};
    $kinds{$fault ? "$solver:$fault" : $solver} .= "$case->{kind} ";
  }
  $wanted{newton} = 'passed passed';
  is_deeply(\%kinds, {map { $_ => "$wanted{$_} " } keys %wanted}, 'every run is a test with its verdict');
  my ($drift) = grep { $_->{name} =~ /drift/ } @$cases;
  like($drift->{message}, qr/^audit failed: update/, 'the broken rules are named');
  like($drift->{text}, qr/^run bench-beam\.cheat\.r0.*^audit: /ms, 'and the run, with what the audit found');
  is($drift->{suite}, 'bench/beam:resolution=0.25', 'a scene is a suite');
}

my ($tap) = is_code(0, 'export --to tap', 'export', 'r.h5', '--to', 'tap');
is(scalar(() = $tap =~ /^ok \d+ - bench[^ ]* newton/mg), 2, 'TAP: what is sound passes');
is(scalar(() = $tap =~ /^not ok \d+/mg), 3, '  what is not fails');
is(scalar(() = $tap =~ /^ok \d+ .* # SKIP /mg), 1, '  what cannot be served is skipped');
is(scalar(() = $tap =~ /^  severity: error$/mg), 1, '  a crash is an error');
is_code(0, 'one run', 'export', 'r.h5', '--to', 'tap', '--run', $runs[0]{id});

# ---- google-benchmark: what tools/gbench/util.py and report.py of it read
my ($out, $left) = is_code(0, 'export --to benchmark', 'export', 'r.h5', '--to', 'benchmark');
my $json = eval { decode_json($out) } // {};
is($json->{context}{json_schema_version}, 1, 'the schema is the one that it takes');
ok(defined $json->{context}{date} && $json->{context}{num_cpus} > 0, 'the context has date and processors');
sub holds_shape {
  my ($name, @entries) = @_;
  my @faults;
  for my $e (@entries) {
    push @faults, $_ for grep { !defined $e->{$_} } qw(name run_name run_type repetitions threads iterations real_time cpu_time time_unit family_index per_family_instance_index);
    push @faults, "run_type $e->{run_type}" if $e->{run_type} !~ /^(iteration|aggregate)$/;
    push @faults, 'repetition_index' if ($e->{run_type} eq 'iteration') != defined $e->{repetition_index};
    push @faults, 'aggregate' if $e->{run_type} eq 'aggregate' && ($e->{name} ne "$e->{run_name}_$e->{aggregate_name}" || !defined $e->{aggregate_unit});
    push @faults, 'time_unit' if $e->{time_unit} ne 'ns';
  }
  is_deeply(\@faults, [], $name);
  return;
}
my @entries = @{$json->{benchmarks}};
holds_shape('entries have what it reads', @entries);
my @iterations = grep { $_->{run_type} eq 'iteration' } @entries;
my @newton = sort { $a->{repetition} <=> $b->{repetition} } grep { $_->{solver} eq 'newton' } @runs;
is(scalar @iterations, 2, 'a sound run is a repetition');
is(scalar(() = $left =~ /left out: /g), 4, 'the others are left out, and told');
like($left, qr/cheat.*audit failed: update/, '  with the rules they broke');
my @times = map { (sort { $a <=> $b } @{$_->{steps}{wall}}[1 .. 3])[1] } @newton;
ok((!grep { abs($iterations[$_]{real_time} - 1e9 * $times[$_]) > 1e-6 * $iterations[$_]{real_time} } 0, 1), 'times are median steps, in ns');
is($iterations[0]{iterations}, 3, 'of the steps after the first');
is($iterations[0]{iterations_per_step}, do { my @i = @{$newton[0]{steps}{iterations}}; ($i[1] + $i[2] + $i[3]) / 3 }, 'figures of the run are counters');
my %aggregate = map { $_->{aggregate_name} => $_ } grep { $_->{run_type} eq 'aggregate' } @entries;
my $mean = 1e9 * ($times[0] + $times[1]) / 2;
my $deviation = 1e9 * abs($times[0] - $times[1]) / sqrt 2;
is_deeply([sort keys %aggregate], [qw(cv mean median stddev)], 'repetitions have aggregates');
cmp_ok(abs($aggregate{mean}{real_time} - $mean), '<', 1e-6 * $mean, '  their mean');
cmp_ok(abs($aggregate{stddev}{real_time} - $deviation), '<', 1e-6 * $mean, '  their standard deviation');
cmp_ok(abs($aggregate{cv}{real_time} - $deviation / $mean), '<', 1e-6, '  and that over the mean, without a unit');
my ($crashed) = grep { $_->{outcome} eq 'crashed' } @runs;
is_code(6, 'nothing but what has no times', 'export', 'r.h5', '--to', 'benchmark', '--run', $crashed->{id});

# ---- wrong formats
like_error(2, qr/no export format 'benchmrk' \(did you mean 'benchmark'\?\); there are: xdmf, vtu, gif, png, json/, 'an unknown format', 'export', 'r.h5', '--to', 'benchmrk');
like_error(2, qr/wants --to with one of xdmf, .*junit/, 'no format', 'export', 'r.h5');
my $kept = slurp(scratch('r.h5'));
like_error(2, qr/is the result file itself/, 'a result file is not written over by itself', 'export', 'r.h5', '--to', 'csv', '-o', './r.h5');
ok(slurp(scratch('r.h5')) eq $kept, '  and is as it was');
SKIP: {
  skip 'no /dev/full', 2 if !-e '/dev/full';
  like_error(1, qr/cannot write .*: No space left/, "a full disk, by its reason: $_", 'export', 'r.h5', '--to', $_, '-o', '/dev/full') for qw(junit json);
}

# A limit on the size of files in the place of a disk that is full: the old file stays.
for my $case (['junit', 'old.xml'], ['json', 'old.json'], ['mesh', 'old.vtk']) {
  my ($format, $file) = @$case;
  spew(scratch($file), 'what was there');
  my $one = $format eq 'mesh' ? "--run '" . (runs_in('r.h5'))[0]{id} . "'" : '';
  my $line = "cd '@{[scratch()]}' && trap '' XFSZ && ulimit -f 0 && exec '@{[program()]}' export r.h5 --to $format -o $file $one";
  my $said = qx(bash -c "$line" 2>&1);
  ok($? >> 8 == 1 && $said =~ /cannot write/, "no room for $format") or diag("$?\n$said");
  is(slurp(scratch($file)), 'what was there', '  leaves the old file');
  is_deeply([glob scratch("$file.*")], [], '  and nothing beside it');
}
symlink 'old.xml', scratch('link.xml');
chmod 0640, scratch('old.xml');
is_code(0, 'through a link', 'export', 'r.h5', '--to', 'junit', '-o', 'link.xml');
ok(-l scratch('link.xml') && slurp(scratch('old.xml')) =~ /<testsuite/, 'what it leads to is written');
is((stat scratch('old.xml'))[2] & 07777, 0640, '  with the permissions that it had');

done_testing();
