#!/usr/bin/perl
# The command line: listings, help, exit codes, and what it says to bad input.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use POSIX ();
use Program;
use Test::More;

my @beam = ('bench/beam:resolution=0.25', '--steps', '2');

# ---- help and version
my ($out, $err) = is_code(0, '--help', '--help');
like($out, qr/Exit codes/, 'help tells the exit codes');
($out) = is_code(0, 'help of a command', 'help', 'compare');
like($out, qr/^elastobench compare BASE HEAD/, '  is that of the command');
like_error(2, qr/there is no command 'comprae' \(did you mean 'compare'\?\)/, '  and none of what is none', 'help', 'comprae');
($out) = is_code(0, '--version', '--version');
like($out, qr/^elastobench \d+\.\d+\.\d+ \(commit/, 'version names the commit');
is_code(2, 'no arguments is a usage error');
SKIP: {
  chomp(my $qemu = qx(command -v qemu-x86_64 2>/dev/null));
  skip 'no qemu-x86_64, or a build for every processor', 2 unless $qemu && !sanitized() && $out =~ /-march=x86-64-v3/;
  my $said = qx($qemu -cpu Nehalem @{[program()]} --version 2>&1);
  is($? >> 8, 1, 'a processor without AVX2 ends the program');
  like($said, qr/this processor lacks avx, avx2, .*ARCH=native.*ARCH=x86-64/, '  by a sentence that says what to do');
}
for my $command (qw(list info run check report export merge history)) {
  ($out) = is_code(0, "$command --help", $command, '--help');
  like($out, qr/^elastobench $command/, "$command --help shows its usage");
}

# ---- listings
for my $kind (qw(scenes solvers materials suites)) {
  ($out) = is_code(0, "list $kind", 'list', $kind);
  my @lines = split /\n/, $out;
  my ($text) = is_code(0, "list $kind as JSON", 'list', $kind, '--format', 'json');
  my $json = eval { decode_json($text) };
  is(scalar @{$json->{$kind} // []}, scalar @lines, "list $kind: as many in JSON as in text");
}
($out) = is_code(0, 'list', 'list');
like($out, qr{conjac2020/twist}, 'list shows scenes');
like($out, qr/semi-implicit/, 'list shows solvers');
like($out, qr/stable-neo-hookean/, 'list shows materials');
like($out, qr/smoke/, 'list shows suites');

# ---- info
($out) = is_code(0, 'info of a scene', 'info', 'conjac2020/twist');
like($out, qr/vertices\s+1029 \(paper: 1029, deviation \+0\.00 %\)/, 'info states both counts');
like($out, qr/elements\s+4320 \(paper: 4320/, 'info states both counts of elements');
($out) = is_code(0, 'info of a scene of no paper', 'info', 'bench/beam');
like($out, qr/^vertices\s+3321$/m, 'whose counts are compared with none');
($out) = is_code(0, 'info of a scene as JSON', 'info', 'bench/beam', '--format', 'json');
my $scene = decode_json($out);
is($scene->{elements}{ours}, 15360, 'JSON has the count of elements');
is($scene->{elements}{paper}, undef, 'and of no paper none');
my ($young) = grep { $_->{name} eq 'E' } @{$scene->{parameters}};
is($young->{unit}, 'Pa', 'parameters have units');
ok($young->{max} > $young->{min}, 'parameters have ranges');
($out) = is_code(0, 'info of a scene with parameters', 'info', 'bench/beam:resolution=0.5');
like($out, qr/elements\s+1920/, 'info builds the scene with the parameters given');
($out) = is_code(0, 'info of a solver as JSON', 'info', 'newton', '--format', 'json');
my $solver = decode_json($out);
ok((grep { $_->{name} eq 'rtol' } @{$solver->{options}}), 'info of a solver shows its options');
ok(@{$solver->{capabilities}} > 1, 'info of a solver shows what it serves');
like($solver->{citation}, qr/\w/, 'info of a solver shows its citation');
($out) = is_code(0, 'info of a suite', 'info', 'smoke');
like($out, qr/solver newton/, 'info of a suite shows its solvers');
($out) = is_code(0, 'info of a material', 'info', 'stvk');
like($out, qr/Kirchhoff/, 'info of a material shows its summary');
($out) = is_code(0, 'info of a plug-in', 'info', 'explicit', '--plugin', plugin('explicit'));
like($out, qr/substeps/, 'info of a plug-in shows its options');

# ---- info of a mesh file: two tetrahedra, one of them listed inside out, whose common face has nodes of each
my $two = spew(scratch('two.mesh'), "MeshVersionFormatted 2\nDimension 3\nVertices\n8\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
    . "0 0 0 0\n-1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra\n2\n1 2 3 4 0\n5 6 7 8 0\nEnd\n");
my @notes = (qr/1 of 2 elements list their nodes in the other orientation/, qr/the mesh is in 2 pieces that share no node/,
  qr/3 pairs of nodes lie at one place and are not joined/);
($out) = is_code(0, 'info of a mesh file', 'info', '--mesh', $two);
like($out, qr/^pieces +2\ncoincident +3 pairs/m, '  counts pieces and nodes at one place');
like($out, qr/^quality +mean ratio at least 0\.84 /m, '  measures its worst element');
like($out, $_, "  says: $_") for @notes;
my ($text) = is_code(0, '  as JSON', 'info', '--mesh', $two, '--format', 'json');
my $mesh = decode_json($text);
is_deeply([@$mesh{qw(kind elements pieces coincident_pairs hanging_nodes crowded_edges)}], ['mesh', 2, 2, 3, 0, 0], '  has the same counts');
is(scalar @{$mesh->{notes}}, 3, '  and notes');
spew(scratch('open.obj'), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
($out) = is_code(0, 'info of a surface', 'info', '--mesh', 'open.obj');
like($out, qr/^closed +no\n.*the surface is open: edge/m, '  says that it is open, and where');
like_error(1, qr/an HTML page/, 'info of a page', 'info', '--mesh', spew(scratch('page.msh'), "<html>\n"));
like_error(2, qr/usage: elastobench info/, 'a name beside a mesh file', 'info', 'newton', '--mesh', $two);

# ---- unknown names: the valid ones and the nearest
like_error(2, qr/no command 'reprot' \(did you mean 'report'/, 'unknown command', 'reprot');
like_error(2, qr{did you mean 'bench/beam'.*conjac2020/twist}, 'unknown scene', 'run', 'bench/beem', '-s', 'newton');
like_error(2, qr{did you mean 'conjac2020/twist'}, 'a scene without its paper', 'run', 'twist', '-s', 'newton');
like_error(2, qr/did you mean 'newton'.*there are: newton, .*semi-implicit/, 'unknown solver', 'run', @beam, '-s', 'newtn');
like_error(2, qr/no option 'rtoll' \(did you mean 'rtol'/, 'unknown solver option', 'run', @beam, '-s', 'newton:rtoll=1');
like_error(2, qr/no option 'gravty' \(did you mean 'gravity'/, 'unknown scene parameter', 'run', 'bench/beam:gravty=1', '-s', 'newton');
like_error(2, qr/did you mean '--output'/, 'unknown flag', 'run', @beam, '--ouput', 'x.h5');
like_error(2, qr/did you mean 'smoke'/, 'unknown suite', 'run', 'smoek', '-s', 'newton');
like_error(2, qr/no listing 'solver' \(did you mean 'solvers'/, 'unknown listing', 'list', 'solver');
like_error(2, qr/there is no scene, solver, material, suite or claim 'xyzzy'; there are: /, 'unknown name for info', 'info', 'xyzzy');
like_error(2, qr/did you mean 'newton'/, 'unknown solver for check', 'check', 'newtom');
like_error(2, qr/no export format 'xdfm' \(did you mean 'xdmf'/, 'unknown export format', 'export', 'x.h5', '--to', 'xdfm');

# ---- bad values
like_error(2, qr/E wants a number, not 'stiff'/, 'a parameter that is no number', 'run', 'bench/beam:E=stiff', '-s', 'newton');
like_error(2, qr/nu = 0\.7 is outside/, 'a parameter out of range', 'run', 'bench/beam:nu=0.7', '-s', 'newton');
like_error(2, qr/material is one of .*not 'jelly'/, 'an unknown material', 'run', 'bench/beam:material=jelly', '-s', 'newton');
like_error(2, qr/is set twice/, 'a parameter given twice', 'run', 'bench/beam:E=1,E=2', '-s', 'newton');
like_error(2, qr/not of the form name=value/, 'a parameter without value', 'run', 'bench/beam:E', '-s', 'newton');
like_error(2, qr/steps wants a whole number, not 'many'/, 'steps that are no number', 'run', 'bench/beam', '-s', 'newton', '--steps', 'many');
like_error(2, qr/steps = 0 is outside/, 'no steps', 'run', 'bench/beam', '-s', 'newton', '--steps', '0');
like_error(2, qr/threads = -1 is outside/, 'negative threads', 'run', @beam, '-s', 'newton', '--threads', '-1');
like_error(2, qr/threads = 0 is outside/, 'one of the thread counts is bad', 'run', @beam, '-s', 'newton', '--threads', '1,0');
like_error(2, qr/timeout wants a number/, 'a timeout of nan', 'run', @beam, '-s', 'newton', '--timeout', 'nan');
like_error(2, qr/memory = 0 is outside/, 'no memory', 'run', @beam, '-s', 'newton', '--memory', '0');
like_error(2, qr/repeat wants a whole number, not '2x'/, 'trailing characters', 'run', @beam, '-s', 'newton', '--repeat', '2x');
like_error(2, qr/--shard wants I\/N/, 'a shard beyond the last', 'run', @beam, '-s', 'newton', '--shard', '3/2');
like_error(2, qr/--format is text or json/, 'an unknown format', 'list', '--format', 'xml');
like_error(2, qr/wants a value/, 'a flag without its value', 'run', @beam, '-s');
like_error(2, qr/takes no value/, 'a value for a flag that takes none', 'run', @beam, '--resume=yes');
like_error(2, qr/no solver for 'bench\/beam'/, 'a scene without solver', 'run', @beam);
like_error(2, qr/usage: elastobench info/, 'a missing argument', 'info');
like_error(2, qr/--mesh wants SCENE=FILE/, 'a mesh without scene', 'run', @beam, '-s', 'newton', '--mesh', 'x.obj');
like_error(2, qr/--mesh: there is no scene 'bench\/bean' \(did you mean/, 'a mesh for an unknown scene', 'run', @beam, '-s', 'newton', '--mesh', 'bench/bean=x.obj');
like_error(1, qr/--mesh: cannot open 'none.obj'/, 'a mesh file that is missing', 'run', @beam, '-s', 'newton', '--mesh', 'bench/beam=none.obj');
like_error(1, qr/--mesh: '\/dev\/zero' is a device, not a regular file/, 'a mesh file without end', 'run', @beam, '-s', 'newton', '--mesh', 'bench/beam=/dev/zero');
like_error(2, qr/--mesh: 'conjac2020\/dragon' is none of the scenes to run/, 'a mesh for a scene that is not run', 'run', @beam, '-s', 'newton', '--mesh', "conjac2020/dragon=" . program());

# ---- plug-ins that are none
like_error(1, qr/cannot load plug-in 'none.so'/, 'a plug-in that is missing', 'run', @beam, '-s', 'newton', '--plugin', 'none.so');
spew(scratch('text.so'), "not a shared object\n");
like_error(1, qr/cannot load plug-in 'text.so'/, 'a plug-in that is text', 'run', @beam, '-s', 'newton', '--plugin', 'text.so');
like_error(1, qr/interface version \d+, this program has \d+;/, 'a plug-in of another interface', 'run', @beam, '-s', 'x', '--plugin', plugin('wrong_abi'));
like_error(1, qr/lacks its name, summary, create, step or destroy/, 'an incomplete plug-in', 'run', @beam, '-s', 'x', '--plugin', plugin('incomplete'));
like_error(1, qr/does not export elastobench_abi/, 'a shared object that is no plug-in', 'run', @beam, '-s', 'x', '--plugin', plugin('no_solver'));
like_error(2, qr/both called 'explicit'/, 'a plug-in given twice', 'run', @beam, '-s', 'explicit', '--plugin', plugin('explicit'), '--plugin', plugin('explicit'));

# ---- the plan
sub planned {
  my ($text) = is_code(0, "dry run: @_", 'run', @_, '--dry-run', '--format', 'json');
  return @{decode_json($text)->{cases}};
}
my @cases = planned('bench/beam', 'conjac2020/twist', '-s', 'newton', '-s', 'semi-implicit', '--repeat', '2', '--threads', '1,2');
is(scalar @cases, 16, 'scenes x threads x repetitions x solvers');
is_deeply([map { "$_->{solver} $_->{repetition}" } @cases[0 .. 3]],
  ['newton 0', 'semi-implicit 0', 'newton 1', 'semi-implicit 1'], 'repetitions of competing solvers interleave');
my %all = map { $_->{id} => 1 } @cases;
is(scalar keys %all, 16, 'every case has an id of its own');
my (%parts, %groups);
for my $i (1 .. 3) {
  for my $case (planned('bench/beam', 'conjac2020/twist', '-s', 'newton', '-s', 'semi-implicit', '--repeat', '2', '--threads', '1,2', '--shard', "$i/3")) {
    $parts{$case->{id}}++;
    $groups{"$case->{scene} $case->{threads}"}{$i} = 1;
  }
}
is_deeply(\%parts, \%all, 'shards partition the cases');
ok(!(grep { keys %$_ > 1 } values %groups), 'competitors stay in one shard');
is(scalar planned('hecht2012/sculpture-*', '-s', 'corotational'), 3, 'a pattern of scenes');
is(scalar planned(@beam, @beam, '-s', 'newton'), 1, 'a case named twice runs once');
is(scalar planned('smoke'), 6, 'the smoke suite');
is(scalar planned('smoke', '-s', 'newton'), 3, '-s replaces the solvers of a suite');
ok((!grep { $_->{steps} != 7 } planned('smoke', '--steps', '7')), '--steps overrides a suite');
ok(planned('demo') >= 6, 'the demo suite');
like_error(0, qr/no cases in this shard/, 'a shard with nothing in it', 'run', @beam, '-s', 'newton', '--shard', '2/2', '-o', 'nothing.h5');
is_deeply([runs_in('nothing.h5')], [], 'is a file without runs');
ok(!-e scratch('x.h5'), 'a dry run writes nothing');

# ---- suites in files
spew(scratch('good.ini'), "[suite]\nsummary = s\nrepeat = 2\n[a]\nscene = bench/beam:E=2e6\nscene = conjac2020/twist\nsolver = newton\n  semi-implicit\nsteps = 3\n");
@cases = planned('good.ini');
is(scalar @cases, 8, 'a suite in a file, with a continued line');
like($cases[0]{parameters}, qr/E=2e6/, 'a suite sets parameters');
my @bad = (
  ["[a]\nscene = bench/beam\nsolvr = newton\n", qr/bad.ini:3: \[a\] has no setting 'solvr' \(did you mean 'solver'/, 'unknown setting'],
  ["[suite]\nsteps = none\n", qr/bad.ini:2: steps wants a whole number/, 'bad number'],
  ["scene = bench/beam\n", qr/bad.ini:1: 'scene' stands before the first/, 'no section'],
  ["[a]\nscene\n", qr/bad.ini:2: this is neither/, 'a line that is neither'],
  ["[suite]\nsummary = empty\n", qr/no section that names a scene/, 'nothing to run'],
  ["[bench/bean]\nsolver = newton\n", qr/\[bench\/bean\]: there is no scene 'bench\/bean' \(did you mean/, 'unknown scene'],
  ["[bench/beam]\nsolver = newtn\n", qr/there is no solver 'newtn'/, 'unknown solver'],
  ["[" . ('x' x 101) . "]\nscene = bench/beam\nsolver = newton\n", qr/no name for a section.*100 at most/, 'a label that is too long'],
  ["\0\1\2", qr/is not a text file/, 'a binary file'],
  ["", qr/is not a text file/, 'an empty file'],
);
for my $case (@bad) {
  my ($text, $pattern, $name) = @$case;
  spew(scratch('bad.ini'), $text);
  my ($code, undef, $message) = run('run', 'bad.ini', '--dry-run');
  ok($code > 0 && $code <= 2 && $message =~ $pattern, "suite with $name") or diag("$code $message");
}
like_error(1, qr/cannot open 'none.ini'/, 'a suite that is missing', 'run', 'none.ini');
mkdir scratch('folder.ini');
like_error(1, qr/'folder.ini' is a folder, not a regular file/, 'a suite that is a folder', 'run', 'folder.ini');
# A FIFO without a writer: who opens it to read waits for ever.
POSIX::mkfifo(scratch($_), 0600) or die "mkfifo: $!" for qw(fifo.ini fifo.h5 fifo.mesh fifo.so);
for my $reader (['run', 'fifo.ini'], ['report', 'fifo.h5'], ['merge', 'none.h5', 'fifo.h5'], ['merge', 'none.h5', '@fifo.ini'], ['compare', 'fifo.h5', 'fifo.h5'],
  ['run', @beam, '-s', 'newton', '--mesh', 'bench/beam=fifo.mesh'], ['run', @beam, '-s', 'x', '--plugin', './fifo.so'], ['run', @beam, '-s', 'newton', '-o', 'fifo.h5', '--resume']) {
  my $line = join ' ', 'timeout', 30, map { "'$_'" } program(), @$reader;
  my $said = qx(cd '@{[scratch()]}' && $line 2>&1);
  ok($? >> 8 == 1 && $said =~ /\bfifo\.\w+' is (?:a FIFO, )?not a regular file/, "a FIFO: @$reader") or diag("$?\n$said");
}
like_error(2, qr/--threads: threads wants a whole number, not ''/, 'a count of threads that is missing', 'run', @beam, '-s', 'newton', '--threads', $_) for '1,,2', ',1', '1,';

# ---- what no step has measured
($out) = is_code(3, 'a run that ends with its first step', 'run', 'bench/beam:resolution=0.25', '-s', 'newton:max_iterations=1,rtol=1e-12', '--steps', '3', '-o', 'ended.h5');
like($out, qr/ diverged +1 +\S+ +\S+ +1 +- +\d+ +- +-$/m, '  has no error, and is in no class');
($out) = is_code(0, '  in its file', 'export', 'ended.h5', '--to', 'json');
is(decode_json($out)->{runs}[0]{error}, undef, '  neither');

# ---- output that cannot be written
SKIP: {
  skip 'there is no /dev/full', 1 unless -e '/dev/full';
  my $code = system(program() . ' list > /dev/full 2>/dev/null') >> 8;
  is($code, 1, 'a full standard output');
}

done_testing();
