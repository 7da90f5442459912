#!/usr/bin/perl
# elastobench scaling, and what a report says of runs over ranks: on files that tiny runs have made.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

# ---- bad options, before any file is opened
like_error(2, qr/--predict wants ELEMENTS\@RANKS/, 'a prediction without ranks', 'scaling', 'x.h5', '--predict', '1e9');
like_error(2, qr/--predict: elements wants a number, not 'many'/, 'of elements that are no number', 'scaling', 'x.h5', '--predict', 'many@10');
like_error(2, qr/--predict: ranks = 0 is outside/, 'on no ranks', 'scaling', 'x.h5', '--predict', '1e9@0');
like_error(2, qr/more ranks than elements/, 'on more ranks than elements', 'scaling', 'x.h5', '--predict', '10@20');
like_error(2, qr/--predict: 32 at most/, 'more predictions than there is room for', 'scaling', 'x.h5', map { ('--predict', "$_\@1") } 1 .. 33);
like_error(2, qr/--format is text, json or markdown, not 'xml'/, 'an unknown format', 'scaling', 'x.h5', '--format', 'xml');
like_error(2, qr/--latency = 0 is outside/, 'messages in no time', 'scaling', 'x.h5', '--latency', '0');
like_error(2, qr/--bandwidth wants a number/, 'a bandwidth of nan', 'scaling', 'x.h5', '--bandwidth', 'nan');
like_error(2, qr/--cores = 0 is outside/, 'nodes without cores', 'scaling', 'x.h5', '--cores', '0');
like_error(2, qr/--per-node wants a whole number/, 'half a rank', 'scaling', 'x.h5', '--per-node', '1.5');
like_error(2, qr/did you mean '--latency'/, 'a misspelt option', 'scaling', 'x.h5', '--latancy', '1');
like_error(2, qr/usage: elastobench scaling/, 'no file', 'scaling');
like_error(1, qr/cannot open 'nowhere.h5'/, 'a file that is not there', 'scaling', 'nowhere.h5');
my ($out, $err) = is_code(0, 'the suite', 'run', 'scaling', '--dry-run', '--format', 'json');
my @cases = @{decode_json($out)->{cases}};
is_deeply([sort { $a <=> $b } map { $_->{ranks} } @cases], [1, 1, 1, 2, 2, 2, 4, 4, 4], 'has three sizes on 1, 2 and 4 ranks');

# ---- one rank alone is no series
my $block = 'bench/block:cubes=4';
my @newton = ('-s', 'newton:linear=petsc');
is_code(0, 'a block on one rank', 'run', $block, 'bench/block:cubes=5', @newton, '--steps', '2', '-o', 'one.h5');
($out, $err) = is_code(6, 'is nothing to scale', 'scaling', 'one.h5', '-o', 'none');
like($err, qr/'elastobench run scaling -o scaling.h5' makes such a file/, 'and it says what to run');
ok(!-e scratch('none'), 'nothing is written');
is_code(0, 'its report', 'report', 'one.h5', '-o', 'one');
ok(slurp(scratch('one/index.html')) !~ /id="scaling"/, 'has no such section');

# ---- two ranks
my ($mpiexec) = grep { -x $_ } map { "$_/mpiexec" } split /:/, $ENV{PATH};
unless ($mpiexec) {
  diag 'there is no mpiexec';
  done_testing();
  exit;
}
delete $ENV{ELASTOBENCH_MPIEXEC};
my @two = ($block, '-s', 'newton:linear=petsc,ranks=2', '--steps', '2');
($out) = is_code(0, 'a plan for two', 'run', @two, '--dry-run', '--format', 'json');
my $plan = decode_json($out)->{cases}[0]{prediction};
is_code(0, 'on two', 'run', @two, '-o', 'two.h5');
my ($run) = runs_in('two.h5');
SKIP: {
  skip 'sanitizers keep memory of their own', 1 if sanitized();
  my $ratio = $run->{peak_rss} / $plan->{peak};
  ok($ratio < 1 + $plan->{memory_margin} && $ratio > 1 / (1 + $plan->{memory_margin}), "its memory, within the margin of $plan->{memory_margin}") or diag $ratio;
}
ok($run->{network_latency} > 1e-8 && $run->{network_latency} < 0.1, 'ranks have measured the latency between them') or diag $run->{network_latency};
ok($run->{network_bandwidth} > 1e6 && $run->{network_bandwidth} < 1e13, 'their bandwidth') or diag $run->{network_bandwidth};
ok($run->{network_reduction} > 1e-8 && $run->{network_reduction} < 1, 'and reductions') or diag $run->{network_reduction};
($out, $err) = is_code(0, 'both files are one series', 'scaling', 'one.h5', 'two.h5', '--format', 'json', '-o', 'scaling', '--predict', '1e9@1000', '--predict', '1e6@2', '--cores', '2');
is($err, '', 'in silence');
my $json = decode_json($out);
is(scalar @{$json->{series}}, 1, 'one solver');
my $series = $json->{series}[0];
is($series->{scene}, 'bench/block', 'of a scene without its size');
like($series->{solver}, qr{^newton:linear=petsc/steps:2$}, 'by a solver without its ranks');
my @rows = @{$series->{rows}};
is_deeply([map { "$_->{scene} $_->{ranks}" } @rows], ["$block 1", "$block 2", 'bench/block:cubes=5 1'], 'rows by size, then ranks');
my $two = $rows[1];
my ($first, $shared) = map { $_->{steps} } (runs_in('one.h5'))[0], $run;
# The first step is left out: the second is what there is.
ok(abs($two->{seconds} / ($shared->{wall}[1] / $shared->{iterations}[1]) - 1) < 1e-9, 'seconds an iteration are those of the file');
ok(abs($two->{strong} * 2 * $two->{seconds} / ($first->{wall}[1] / $first->{iterations}[1]) - 1) < 1e-9, 'strong efficiency is one rank over two times two');
for my $told (map { $_->{told} } @rows, @{$series->{predictions}}) {
  ok(abs($told->{compute} + $told->{halo} + $told->{reductions} + $told->{coarse} - $told->{total}) <= 1e-9 * $told->{total}, 'what is told is the sum of its parts');
}
ok(abs($two->{told}{total} / $two->{seconds} - 1 - $two->{error}) < 1e-9, 'the error is that of what is told');
is($series->{own_cores}{count}, 1, 'one row judges the model');
is_deeply([map { "$_->{elements} $_->{ranks}" } @{$series->{predictions}}], ['1000000000 1000', '1000000 2'], 'and it predicts what was asked');
is_deeply(decode_json(slurp(scratch('scaling/scaling.json'))), $json, 'the folder has the same JSON');
ok(-s scratch("scaling/scaling.$_"), "scaling.$_") for qw(svg gp dat);
my $svg = slurp(scratch('scaling/scaling.svg'));
unlink scratch('scaling/scaling.svg');
is(system('cd ' . scratch('scaling') . ' && gnuplot scaling.gp'), 0, 'the plot can be drawn again');
is(slurp(scratch('scaling/scaling.svg')), $svg, 'and comes out the same');

($out) = is_code(0, 'in words', 'scaling', 'one.h5', 'two.h5', '--cores', '1');
like($out, qr/384 +2 .* more ranks than cores: they take turns$/m, 'more ranks than cores are flagged');
like($out, qr/Off by: on more ranks than cores \d+ % in the median/, 'and judged apart');
like($out, qr/Assumed of 1e\+09 elements on 1000 ranks: nodes of 1 core/, 'assumptions of the prediction are told');
($out) = is_code(0, 'as Markdown', 'scaling', 'one.h5', 'two.h5', '--format', 'markdown');
like($out, qr/^\| elements \| ranks .*\n(\|--:)+\|---\|\n\| 384 \| 1 \|/m, 'as a table');

($out, $err) = is_code(6, 'two ranks alone are no series', 'scaling', 'two.h5');
($out, $err) = is_code(1, 'a file that is none beside good ones', 'scaling', 'one.h5', 'two.h5', program());
like($out, qr/^bench\/block by newton/, 'is left out');

# ---- the report
is_code(0, 'a report of both', 'report', 'one.h5', 'two.h5', '-o', 'both');
my $page = slurp(scratch('both/index.html'));
like($page, qr/<h2 id="scaling">Scaling over ranks<\/h2>/, 'has a section');
like($page, qr/<img[^>]* src="scaling.svg"/, 'with the plot');
ok(-s scratch('both/scaling.svg'), 'which is there');
like($page, qr/<td>384<\/td><td>2<\/td>/, 'and the table');
like($page, qr/href="#scaling"/, 'and the way to it');

done_testing();
