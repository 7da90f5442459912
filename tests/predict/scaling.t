#!/usr/bin/perl
# results/scaling/scaling.pl: efficiencies and the model over ranks, on runs whose times are known, and on files that tiny runs have made.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

sub scaling { # exit code, output and complaints of the script
  my $errors = scratch('scaling.err');
  open my $pipe, '-|', 'sh', '-c', 'cd "$1" && shift && exec perl "$@" 2>"$0"', $errors, scratch(), root() . '/results/scaling/scaling.pl', @_ or die;
  my $output = do { local $/; <$pipe> // '' };
  close $pipe;
  return ($? >> 8, $output, slurp($errors));
}

sub refused {
  my ($pattern, $name, @arguments) = @_;
  my ($code, $output, $error) = scaling(@arguments);
  ok($code != 0 && $error =~ $pattern, $name) or diag "$code: $error";
}

# ---- by hand: 6 elements a node, half a microsecond an element, 20 linear iterations of a microsecond a node; four cores with the bandwidth of two
my %machine = (host => 'here', cpu => 'any', cores => 4, triad_byte_per_second => 1e10, triad_all_byte_per_second => 2e10);

sub made { # a run of two iterations of Newton's behind a first step that counts nothing
  my ($elements, $ranks, $seconds, %more) = @_;
  my $nodes = $elements / 6;
  return {scene => 'bench/block', parameters => "cubes=$elements,E=1", solver => 'newton', options => "ranks=$ranks,linear=petsc", steps_wanted => 2, threads => 1, outcome => 'completed', audit => 'passed',
    audit_rules => '', elements => $elements, uncut_nodes => $nodes, ranks => $ranks, map({ ("network_$_->[0]" => $ranks > 1 ? $_->[1] : 0) } ['latency', 1e-6], ['bandwidth', 1e10], ['reduction', 2e-6]),
    steps => {wall => [1e9, 2 * $seconds], iterations => [1, 2]}, counters => {linear_iterations => [1e9, 40]}, phases => {factor => [1e9, 2 * 4e-7 * $elements], solve => [1e9, 2 * 20e-6 * $nodes]}, %more};
}

sub judged { # of these runs, as JSON
  my ($runs, @options) = @_;
  spew(scratch('made.json'), encode_json({environment => \%machine, runs => $runs}));
  my ($code, $output, $error) = scaling('made.json', '--format', 'json', @options);
  return ($code, decode_json($output)->{series}, $error);
}

sub near { my ($got, $want, $name) = @_; ok(abs($got - $want) <= 1e-9 * abs($want), $name) or diag "$got, not $want" }

my $one = 3 + 20; # s: 10^6 nodes on one rank
my ($code, $series, $error) = judged([made(6e6, 1, $one), made(12e6, 1, 2 * $one), made(12e6, 2, 25), made(12e6, 8, 10)], '--predict', '12e6@2', '--per-node', '1');
is("$code$error", '0', 'runs on 1, 2 and 8 ranks');
is(scalar @$series, 1, 'are one series');
my ($small, $large, $two, $eight) = @{$series->[0]{rows}};
is_deeply([map { "$_->{elements} $_->{ranks}" } $small, $large, $two, $eight], ['6000000 1', '12000000 1', '12000000 2', '12000000 8'], 'by size, then ranks');
near($small->{work}{assemble}, 1e-7, 'what is neither set-up nor solve goes over the elements');
near($small->{work}{setup}, 4e-7, 'the set-up');
near($small->{work}{iteration}, 1e-6, 'an iteration of the linear solver');
near($small->{told}{total}, $one, 'a row of one rank is told by the other size');
near($two->{strong}, 2 * $one / (2 * 25), 'strong: the scene on one rank over two times two');
near($two->{weak}, $one / 25, 'weak: half of it on one rank');
near($two->{error}, $two->{told}{total} / 25 - 1, 'the error is that of what is told');
my $told = $series->[0]{predictions}[0]{told};
near($told->{compute}, 6 * (1e6 + 5e3) * 5e-7 + 20, 'two ranks on machines of their own: a layer of elements more');
near($told->{reductions}, 20 * 3 * 2e-6, 'three reductions an iteration');
near($told->{coarse}, 20 * (2e-6 + 8 * 300**2 / 1e10), 'the coarsest grid');
my $halo = 6 * (1e-6 + 24 * 1e4 / 1e10);
for (my ($nodes, $all) = (1e6 / 12, 2e6 / 12); $all > 50; $nodes /= 12, $all /= 12) { $halo += 5 * (1e-6 + 48 * $nodes**(2 / 3) / 1e10) }
near($told->{halo}, 20 * $halo, 'exchanges on five grids');
near($told->{compute} + $told->{halo} + $told->{reductions} + $told->{coarse}, $told->{total}, 'their sum');
(undef, my $apart) = judged([made(6e6, 1, $one), made(6e6, 4, 9)], '--predict', '6e6@4', '--per-node', '1');
(undef, my $beside) = judged([made(6e6, 1, $one), made(6e6, 4, 9)], '--predict', '6e6@4');
near($beside->[0]{predictions}[0]{told}{compute} - $apart->[0]{predictions}[0]{told}{compute}, 20 * 0.25, 'four cores that share the bandwidth of two: iterations take twice as long');
is_deeply([map { scalar @{$series->[0]{errors}{$_} // []} } qw(alone shared crowded)], [2, 2, 0], 'one rank of each node judges');
($code, $series) = judged([made(6e6, 1, $one), made(6e6, 8, 9)]);
is_deeply([map { scalar @{$series->[0]{errors}{$_} // []} } qw(shared crowded)], [0, 1], 'more ranks than cores are judged apart');

# ---- what is no evidence
(undef, $series) = judged([made(6e6, 1, $one), made(6e6, 2, 15), made(6e6, 2, 12), made(6e6, 2, 1, audit => 'failed', audit_rules => 'update'), made(6e6, 2, 1, environment => {%machine, host => 'there'})]);
is_deeply([map { $_->{seconds} } @{$series->[0]{rows}}], [$one, 12], 'the fastest of equal runs; none that failed its audit, none of another machine');
($code, $series) = judged([made(6e6, 2, 15), made(6e6, 4, 12)]);
is($code, 6, 'without one rank nothing is judged');
like($series->[0]{missing}, qr/run 'bench\/block' with ranks=1/, 'and it says what to run');
(undef, $series) = judged([made(6e6, 1, $one, counters => {linear_iterations => [0, 0]}), made(6e6, 2, 15)]);
like($series->[0]{missing}, qr/run it with linear=petsc/, 'nor without linear iterations');
my @silent = (made(6e6, 1, $one), made(6e6, 2, 15, map { ("network_$_" => 0) } qw(latency bandwidth reduction)));
(undef, $series) = judged(\@silent);
like($series->[0]{missing}, qr/give --latency, --bandwidth and --reduction/, 'nor without messages');
($code) = judged(\@silent, '--latency', '1e-6', '--bandwidth', '1e10', '--reduction', '1e-6');
is($code, 0, 'which may be given');
($code, undef, $error) = judged([made(6e6, 1, $one)]);
ok($code == 6 && $error =~ /'elastobench run scaling -o scaling.h5' makes such a file/, 'one rank alone is no series');
refused(qr/usage: scaling.pl/, 'no file');
refused(qr/--predict wants ELEMENTS\@RANKS/, "a prediction '$_'", 'made.json', '--predict', $_) for '1e9', 'many@10', '1e9@0', '10@20';
refused(qr/--format is text, json or markdown/, 'an unknown format', 'made.json', '--format', 'xml');
refused(qr/--latency is above 0/, 'messages in no time', 'made.json', '--latency', '0');
refused(qr/nothing that 'elastobench export --to json' has written/, 'a file that is none', program());

# ---- tables and the plot, of words that others wrote
my $hostile = "\e[31m<b>'`touch pwned`";
my @hostile = (made(6e6, 1, $one, scene => $hostile), made(6e6, 2, 15, scene => $hostile), made(6e6, 4, 15, scene => $hostile, outcome => "failed\e|x"));
spew(scratch('hostile.json'), encode_json({environment => {%machine, cores => 1, host => "\e]0;"}, runs => \@hostile}));
($code, my $text) = scaling('hostile.json', '-o', 'plot');
is($code, 0, 'words');
unlike($text, qr/[^ -~\n]/, 'without controls');
like($text, qr/^ +6000000 +2 .* more ranks than cores: they take turns$/m, 'more ranks than cores are flagged');
like($text, qr/Assumed of 1e\+09 elements on 1000 ranks: nodes of 1 cores/, 'assumptions are told');
ok(-s scratch("plot/scaling.$_"), "scaling.$_") for qw(svg gp dat json);
ok(!-e scratch('plot/pwned'), 'and nothing else');
($code, $text) = scaling('hostile.json', '--format', 'markdown');
like($text, qr/^\| elements \| ranks .*\n(\|--:)+\|---\|\n\| 6000000 \| 1 \|/m, 'Markdown is a table');
like($text, qr/\| failed\?\\\|x \|$/m, 'in which a bar is no column');
unlike($text, qr/<b>/, 'and markup is none');

# ---- runs of ours
my ($out, $err) = is_code(0, 'the suite', 'run', 'scaling', '--dry-run', '--format', 'json');
my @cases = @{decode_json($out)->{cases}};
is_deeply([sort { $a <=> $b } map { $_->{ranks} } @cases], [1, 1, 1, 2, 2, 2, 4, 4, 4], 'has three sizes on 1, 2 and 4 ranks');
unless (grep { -x "$_/mpiexec" } split /:/, $ENV{PATH}) {
  diag 'there is no mpiexec';
  done_testing();
  exit;
}
delete $ENV{ELASTOBENCH_MPIEXEC};
my @block = ('bench/block:cubes=4', '--steps', '2');
is_code(0, 'a block on one rank', 'run', @block, '-s', 'newton:linear=petsc', '-o', 'one.h5');
($out) = is_code(0, 'a plan for two', 'run', @block, '-s', 'newton:linear=petsc,ranks=2', '--dry-run', '--format', 'json');
my $plan = decode_json($out)->{cases}[0]{prediction};
is_code(0, 'on two', 'run', @block, '-s', 'newton:linear=petsc,ranks=2', '-o', 'two.h5');
my ($run) = runs_in('two.h5');
SKIP: {
  skip 'sanitizers keep memory of their own', 1 if sanitized();
  my $ratio = $run->{peak_rss} / $plan->{peak};
  ok($ratio < 1 + $plan->{memory_margin} && $ratio > 1 / (1 + $plan->{memory_margin}), "its memory, within the margin of $plan->{memory_margin}") or diag $ratio;
}
ok($run->{network_latency} > 1e-8 && $run->{network_latency} < 0.1, 'ranks have measured the latency between them') or diag $run->{network_latency};
ok($run->{network_bandwidth} > 1e6 && $run->{network_bandwidth} < 1e13, 'their bandwidth') or diag $run->{network_bandwidth};
ok($run->{network_reduction} > 1e-8 && $run->{network_reduction} < 1, 'and reductions') or diag $run->{network_reduction};
is_code(0, "$_.h5 as JSON", 'export', "$_.h5", '--to', 'json', '-o', "$_.json") for qw(one two);
($code, $text, $error) = scaling('one.json', 'two.json', '--format', 'json');
is("$code$error", '0', 'both are one series');
my @rows = @{decode_json($text)->{series}[0]{rows}};
is_deeply([map { $_->{ranks} } @rows], [1, 2], 'on one rank and two');
near($rows[1]{seconds}, $run->{steps}{wall}[1] / $run->{steps}{iterations}[1], 'seconds an iteration are those of the file');
ok(defined $rows[1]{error}, 'and the model is judged');

done_testing();
