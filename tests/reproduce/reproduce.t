#!/usr/bin/perl
# elastobench reproduce as a user types it, on a paper of the tests.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP qw(decode_json);
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my @tiny = ('tiny', '--from', root() . '/tests/papers');
my @reproduce = ('reproduce', @tiny);
my %wanted = (
  'larger-is-larger' => 'reproduced',
  'larger-is-smaller' => 'not reproduced',
  'takes-longer' => 'not comparable',
  'of-another' => 'not comparable',
  'same-motion' => 'reproduced',
  'same-bits' => 'reproduced',
  'cut-fails' => 'reproduced');

# ---- the whole paper, quick, as text
my ($out, $err) = is_code(0, 'a quick run', @reproduce, '--quick', '-o', 'a');
for my $claim (sort keys %wanted) {
  like($out, qr/^$claim\s+$wanted{$claim}(?!\S)/m, "$claim: $wanted{$claim}");
}
like($out, qr/^7 claims: 4 reproduced, 1 not reproduced, 2 not comparable$/m, 'the tally');
like($out, qr/^Table I: Time a frame$/m, 'a table');
like($out, qr/^the beam\s+10\s+[\d.]+\s+[\d.e-]+\s+20\s+[\d.]+\s+[\d.e-]+\s+400$/m, 'paper, ours and ratio; the paper alone');
like($out, qr/^not run\s+1\s+-\s+-\s+2\s+-\s+-\s+-$/m, 'a row that is not measured');
like($out, qr/note: Meshes of other sizes were tried/, 'what was tried where it does not reproduce');
like($out, qr/commit \S+.*?a\s+machine\s+of\s+long\s+ago/s, 'this build and the paper\'s machine');
is(() = $out =~ /quick: 3(?: to 8)? of 8 frames/g, 10, 'every table, figure and claim that is run says how many frames it has') or diag $out;
like($err, qr/\[1\/7\].*completed, 6 of 6 steps/, 'progress: frames are steps by the scene');
ok(-s scratch("a/$_"), "  and shows $_") for qw(steps.svg tree.svg updates-updates-1.png frames-first.png frames-last.png);
ok(-s scratch('a/tiny.h5'), 'results are kept');

# ---- the page
my $page = slurp(scratch('a/index.html'));
like($page, qr/A tiny paper/, 'the page has the title');
for my $claim (sort keys %wanted) {
  like($page, qr/<b>$claim<\/b>.*?<\/td><td class="text \w+">$wanted{$claim}</s, "  and the verdict of $claim");
}
is(() = $page =~ /quick: 3(?: to 8)? of 8 frames/g, 10, '  and that it is quick');
my (@stack, $balanced);
$balanced = 1;
while ($page =~ /<(\/?)([a-z0-9]+)[^>]*>/g) {
  next if $2 =~ /^(meta|img|link|br)$/;
  if ($1) { $balanced &&= (pop(@stack) // '') eq $2 } else { push @stack, $2 }
}
ok($balanced && !@stack, '  and balanced tags');
my @missing = grep { !-s scratch("a/$_") } $page =~ /(?:src|href)="([^"#]+)"/g;
is_deeply(\@missing, [], '  and names only files that are there');

# ---- its runs as a report, by the folder that it is in
mkdir scratch('several'); rename scratch('a'), scratch('several/a');
is_code(0, 'a report of what was reproduced', 'report', 'several', '-o', 'of-several');
rename scratch('several/a'), scratch('a');
cmp_ok(() = slurp(scratch('of-several/summary.dat')) =~ /^"bench/mg, '>=', 2, '  of its cases');
like_error(1, qr/'several' is a folder without result files/, '  and of a folder that has none', 'report', 'several', '-o', 'of-none');

# ---- JSON
like_error(2, qr{a/tiny.h5' exists; --resume}, 'what is there is not replaced', @reproduce, '--quick', '-o', 'a');
($out, $err) = is_code(0, 'but completed', @reproduce, '--quick', '-o', 'a', '--resume', '--format', 'json');
unlike($err, qr/steps/, 'nothing runs again');
my $json = eval { decode_json($out) };
ok($json, 'JSON');
is($json->{paper}, 'tiny', '  of the paper');
ok($json->{quick}, '  that says that it is quick');
is_deeply({map { $_->{id} => $_->{verdict} } @{$json->{claims}}}, \%wanted, '  and has every verdict');
for my $claim (@{$json->{claims}}) {
  my @lacking = grep { !exists $claim->{$_} } qw(id where claim verdict paper_value our_value reason source conditions notes);
  is_deeply(\@lacking, [], "  $claim->{id} has every field");
  ok(length $claim->{reason}, '    and a reason');
}
my ($slower) = grep { $_->{id} eq 'larger-is-larger' } @{$json->{claims}};
is($slower->{paper_value}, 12, '  the paper\'s value');
cmp_ok($slower->{our_value}, '>', 1, '  and ours, which is a number');
my ($times) = grep { $_->{id} eq 'times' } @{$json->{tables}};
my ($cell) = grep { $_->{column} eq 'direct_ms' } @{$times->{rows}[0]{cells}};
is($cell->{paper}, 10, '  a cell of the paper');
cmp_ok(abs($cell->{ours} / 10 / $cell->{ratio} - 1), '<', 1e-9, '  ours, and the ratio of both');
my ($old) = grep { $_->{column} eq 'old_ms' } @{$times->{rows}[0]{cells}};
ok(!exists $old->{ours}, '  a column that is the paper\'s alone');
is(scalar @{$json->{figures}[0]{points}}, 3, '  the points of a figure');
is($json->{figures}[0]{points}[1]{y}, 1, '  over the case that they are measured against');
is($json->{figures}[0]{points}[2]{y}, undef, '  null where there is none');
my ($work) = grep { $_->{id} eq 'work' } @{$json->{figures}};
cmp_ok($work->{points}[0]{x}, '>', 1, '  and where a point stands across, as measured');

# ---- repetitions, full length
($out, $err) = is_code(0, 'a full run', @reproduce, '-o', 'full', '--format', 'json');
$json = decode_json($out);
ok(!$json->{quick} && $out !~ /quick:/, 'says nothing of quick');
is(scalar runs_in('full/tiny.h5'), 10, 'three cases twice, two that keep states, one that is pictured and one that fails');
my @order = map { $_->{solver} . $_->{repetition} . ($_->{parameters} =~ /resolution=0.75/ ? 'large' : '') . ($_->{options} =~ /cholesky/ ? '' : 'cg') }
  sort { $a->{order} <=> $b->{order} } runs_in('full/tiny.h5');
is_deeply([@order[0 .. 5]], [map { ("corotational$_", "corotational${_}cg", "corotational${_}largecg") } 0, 1], 'competitors take turns');

# ---- judged again, and as a page for a repository
{
  my ($again) = is_code(0, 'what is there is judged', @reproduce, '--quick', '-o', 'a', '--judge', '--format', 'json');
  is_deeply({map { $_->{id} => $_->{verdict} } @{decode_json($again)->{claims}}}, \%wanted, '  alike');
  like_error(1, qr/there is no 'nowhere\/tiny.h5' to judge/, 'what is not there', @reproduce, '--judge', '-o', 'nowhere');
  my $whole = slurp(scratch('a/tiny.h5'));
  spew(scratch('a/tiny.h5'), substr($whole, 0, -1) . chr(ord(substr $whole, -1) ^ 1));
  like_error(1, qr/'a\/tiny.h5' is damaged/, 'what is damaged', @reproduce, '--quick', '-o', 'a', '--judge');
  spew(scratch('a/tiny.h5'), $whole);
  my ($markdown) = is_code(0, 'Markdown', @reproduce, '--quick', '-o', 'a', '--judge', '--format', 'markdown');
  is(slurp(scratch('a/RESULTS.md')), $markdown, '  is kept');
  for my $claim (sort keys %wanted) {
    like($markdown, qr/^\| \*\*$claim\*\* \| $wanted{$claim} \|/m, "  and has the verdict of $claim");
  }
  like($markdown, qr/^- build: commit \S+.*^\| `beam-large.nodes < 0.5 \* beam-cg.nodes` \| \d+ < 0.5 \* \d+ = [\d.]+ \| does not hold \|$/ms, '  commit and reasons');
  like($markdown, qr/^\| beam-large \| `bench\/beam:resolution=0.75,material=corotational` \| .* \| 3 \| 8 \|$/m, '  and every parameter');
}

# ---- in parts, which are merged and judged then
{
  my $new = 0;
  for my $part (1 .. 3) {
    my ($said) = is_code(0, "part $part of 3", @reproduce, '--quick', '--shard', "$part/3", '-o', "part$part");
    like($said, qr{^shard $part/3: \d+ cases and \d+ sweeps in part$part/tiny.h5, (\d+) new$}, '  says what it has run');
    $new += $1 if $said =~ /(\d+) new/;
    ok(!-e scratch("part$part/index.html"), '  and judges nothing');
  }
  is($new, 7, 'together they run every case once');
  my ($again) = is_code(0, 'a part again, as JSON', @reproduce, '--quick', '--shard', '1/3', '-o', 'part1', '--resume', '--format', 'json');
  my $said = decode_json($again);
  is_deeply([@$said{qw(shard shards file new)}], [1, 3, 'part1/tiny.h5', 0], '  has nothing left to run');
  mkdir scratch('joined');
  is_code(0, 'merged', 'merge', 'joined/tiny.h5', 'part*/tiny.h5');
  my ($judged) = is_code(0, 'and judged', @reproduce, '--quick', '--judge', '-o', 'joined', '--format', 'json');
  is_deeply({map { $_->{id} => $_->{verdict} } @{decode_json($judged)->{claims}}}, \%wanted, '  as in one piece');
  # Two machines have made it, as a merge of their parts would say: figures count, times do not.
  my $python = python('h5py');
  SKIP: {
    skip 'no h5py', 2 unless $python;
    my $file = scratch('joined/tiny.h5');
    system($python, '-c', <<'END', $file) == 0 or die;
import h5py, numpy, sys
f = h5py.File(sys.argv[1], 'r+')
f.copy('environment', 'environments/0123')
for run in f['runs'].values():
    if b'resolution=0.75' in run.attrs['parameters']:
        run.attrs['environment'] = numpy.bytes_("0123")
END
    my ($two) = is_code(0, 'of two machines', @reproduce, '--quick', '--judge', '-o', 'joined', '--format', 'json');
    my %of = map { $_->{id} => $_ } @{decode_json($two)->{claims}};
    like($of{'takes-longer'}{reason}, qr/times of several machines are not compared/, '  times are not compared') or diag $two;
  }
  like_error(6, qr/shard 2\/3: is in none of the files/, 'parts of which one lacks', 'merge', 'lacking.h5', 'part1/tiny.h5', 'part3/tiny.h5');
  like_error(2, qr/--shard runs a part of one paper, and judges nothing/, 'a part that is to be judged', @reproduce, '--quick', '--shard', '1/3', '--judge', '-o', 'joined');
  like_error(2, qr/--shard runs a part of one paper/, 'a part of two papers', 'reproduce', 'hecht2012', 'conjac2020', '--shard', '1/3', '--dry-run');
  like_error(2, qr/--shard wants I\/N/, 'a part beyond the last', @reproduce, '--shard', '4/3');
}

# ---- one item
($out, $err) = is_code(0, 'one claim', 'reproduce', 'tiny/larger-is-smaller', @tiny[1 .. 2], '--quick', '-o', 'b');
is(() = $err =~ /^\[/mg, 2, 'runs only its cases');
unlike($out, qr/Table|same-motion/, 'and shows only it');
($out, $err) = is_code(0, 'one table', 'reproduce', 'tiny/times', @tiny[1 .. 2], '--quick', '-o', 'b', '--resume');
is(() = $err =~ /^\[/mg, 1, 'resume runs only what is missing');
like($out, qr/Table I/, 'and shows the table');
unlike($out, qr/claims:/, 'and no claim');
($out) = is_code(0, 'the cases', 'reproduce', 'tiny/times', @tiny[1 .. 2], '--dry-run', '-o', 'never');
like($out, qr/^4 cases$/m, 'are listed');
ok(!-e scratch('never'), 'and not run');
like_error(2, qr/no table, claim or figure 'larger-is-large' .did you mean 'larger-is-larger'/, 'an unknown item', 'reproduce', 'tiny/larger-is-large', @tiny[1 .. 2]);
like_error(2, qr/no paper 'hecht2011' .did you mean 'hecht2012'/, 'an unknown paper', 'reproduce', 'hecht2011');
like_error(1, qr/cannot open '.*\/none\/paper.ini'/, 'a paper that is not in the folder', 'reproduce', 'none', @tiny[1 .. 2]);
like_error(2, qr/--output wants the name of a folder/, 'a folder without name', @reproduce, '-o', '');
like_error(1, qr/cannot create the folder 'no\/where'/, 'a folder that cannot be made', @reproduce, '-o', 'no/where');
like_error(2, qr/reproduce has no option '--quik' .did you mean '--quick'/, 'a slip', @reproduce, '--quik');
like_error(2, qr/--format is text, json or markdown/, 'an unknown format', @reproduce, '--format', 'xml');

# ---- exit codes
sub paper {
  my ($name, $cases, $claims) = @_;
  mkdir scratch('papers');
  mkdir scratch("papers/$name");
  spew(scratch("papers/$name/paper.ini"), "[solvers]\ngood = newton\nlost = no-such-solver\n"
    . "bad = corotational:linear=cg,linear_rtol=1e-14,linear_max_iterations=1\n"
    . "[cases all]\nframes = 2\n$cases\n[claim c]\nclaim = It runs.\nholds = $claims\n");
  return ('reproduce', $name, '--from', 'papers', '-o', "out-$name");
}
my $beam = 'bench/beam:resolution=0.25,material=corotational';
is_code(3, 'a solver that fails where it should not', paper('failing', "a = $beam bad", 'completed(a)'));
is_code(0, 'a solver that fails where the paper\'s does', paper('struggling', "may-fail = yes\na = $beam bad", 'completed(a)'));
is_code(6, 'nothing that this build can run', paper('lost', "a = $beam lost", 'completed(a)'));
($out) = is_code(0, 'something that it can', paper('half', "a = $beam lost\nb = $beam good", "completed(a) and completed(b)\n[claim d]\nholds = completed(b)"));
like($out, qr/^c\s+not comparable.*^d\s+reproduced/ms, 'the rest is not comparable');
like_error(1, qr/papers\/wrong\/paper.ini:10: \[claim c\] holds: 'completed\(a': at character 12/, 'a mistake in a paper', paper('wrong', "a = $beam good", 'completed(a'));

# ---- a run that is interrupted
{
  my @long = paper('long', "a = $beam good\nb = bench/beam:resolution=1,dt=1e-4 good", 'completed(a) and completed(b)');
  my $ini = scratch('papers/long/paper.ini');
  my $text = slurp($ini);
  $text =~ s/frames = 2/frames = 100000/;
  spew($ini, $text);
  my $pid = fork // die "fork: $!";
  if ($pid == 0) {
    chdir scratch();
    open STDOUT, '>', 'long.out';
    open STDERR, '>', 'long.err';
    exec program(), @long or die;
  }
  for (1 .. 200) {
    last if -d scratch('out-long/long.h5.parts') && glob(scratch('out-long/long.h5.parts/*.tmp'));
    select undef, undef, undef, 0.05;
  }
  kill 'INT', $pid;
  waitpid $pid, 0;
  is($? >> 8, 130, 'an interrupt ends it') or diag slurp(scratch('long.err'));
  like(slurp(scratch('long.err')), qr/--resume runs what is missing/, 'and says how to go on');
  like(slurp(scratch('long.out')), qr/^c\s+not comparable/m, 'with the verdicts that there are');
}

# ---- what cannot be counted, and what is stable nowhere
{
  my @bad = paper('uncounted', "a = $beam lost\nb = $beam good", "completed(b)\n[claim p]\ntable = t\n"
    . "holds = all(mean(ratios(t, y)) = 1 for y in a b)\n[table t]\ndata = t.tsv\ncolumn = n | n | {row}.dynamic\n");
  spew(scratch('papers/uncounted/t.tsv'), "row\tn\na\t1\nb\t2\n");
  ($out) = is_code(0, 'rows that cannot be counted', @bad);
  like($out, qr/^p\s+not\s+reproduced.*mean\(ratios\(t,\s+b\)\)\s+=\s+1\s+0\s+=\s+1\s+does\s+not\s+hold.*there is no\s+solver\s+'no-such-solver'/ms, 'leave the others, with the cause');
}
{
  my @bad = paper('unstable', "a = $beam good\n[cases s]\nframes = 2\nsweep = nu:0.1..0.2 step 0.1 stable\ns = $beam bad", "completed(a)\n"
    . "[claim p]\nholds = least_stable(s) >= 0.1\n[claim q]\nholds = max(s.kinetic) >= 0");
  ($out) = is_code(0, 'a solver that is stable nowhere', @bad);
  like($out, qr/^p\s+not comparable.*least_stable\(s\) >= 0.1\s+- >= 0.1\s+open.*s: /ms, 'has no threshold');
}

# ---- a paper of a stranger: data, whatever it says
sub files_below {
  my ($dir) = @_;
  return map { -d $_ && !-l $_ ? files_below($_) : $_ } glob("$dir/*"), glob("$dir/.[!.]*");
}
sub stranger {
  my ($name, $text) = @_;
  mkdir scratch('strangers');
  mkdir scratch("strangers/$name");
  spew(scratch("strangers/$name/paper.ini"), $text);
  return ('reproduce', $name, '--from', 'strangers', '-o', "out-$name");
}
{
  # Every field through which text arrives, in every kind of figure.
  my @hostile = ("`touch trap`", "'.system(\"touch trap\").'", "''", '".system("touch trap")."', '$(touch trap) | touch trap', '< touch trap {/=99 x}%s%n @colors \\n');
  my @figures = (["curves", 'value = max({case}.kinetic)', 'point = 1 a', 'point = 2 b'], ["curves-log", 'value = max({case}.kinetic)', 'point = 1 a', 'point = 2 b'],
    ["course", 'value = {case}.kinetic', 'run = %s: a', 'run = %s: b'], ["bars", 'value = mean({case}.wall)', 'part = %s: mean({case}.phases/solve)', 'run = %s: a'],
    ["map", 'value = max({case}.kinetic)', 'point = 1 2 a', 'point = 2 2 b'], ["error-tau", 'value = max({case}.kinetic)', 'curve = %s', 'point = 1 a'],
    ["samples-log", 'residuals = %s: a', 'ends = %s: a']);
  my $text = "[paper]\ntitle = %s\ncitation = %s\nmachine = %s\nnote = %s\n[solvers]\ns = newton\n[cases all]\nframes = 2\na = $beam s\nb = $beam,E=2e6 s\n"
    . "[table t | %s]\ntitle = %s\nnote = %s\ndata = t.tsv\ncolumn = n | %s | max({row}.kinetic)\n[claim c | %s]\nclaim = %s\nsource = %s\nnote = %s\nholds = max(a.kinetic) > 0\n"
    . "range = %s: max(b.kinetic) > 0\ntable = t\n";
  my $figures = 0;
  for my $h (@hostile) {
    for (@figures) {
      my ($template, @lines) = @$_;
      $text .= join "\n", '[figure f' . $figures++ . " | $h]", "template = $template", 'x = %s', 'y = %s', 'z = %s', @lines, '';
    }
    $text =~ s/%s(?![%{])/$h/g;
  }
  my @run = stranger('hostile', $text);
  spew(scratch('strangers/hostile/t.tsv'), "row\tlabel\tn\na\t`touch trap`\t1\nb\t'\t2\n");
  my @before = files_below(scratch());
  ($out) = is_code(0, 'a paper of hostile texts', @run);
  like($out, qr/^c\s+reproduced/m, '  is judged');
  is_code(0, '  again, without a run', @run, '--judge');
  is(scalar(grep { -s } glob scratch('out-hostile/f*.svg')), $figures, '  and all its figures are drawn');
  my %known = map { $_ => 1 } @before;
  my @strange = grep { !$known{$_} && !m{/out-hostile/(f\d+\.(dat|gp|svg)|index\.html|page\.js|player\.js|hostile\.h5|data/[\w.-]+)$|/cache/} } files_below(scratch());
  is_deeply(\@strange, [], '  and nothing is made beside them');
}
for (["[figure `touch trap`]", qr/no name for a figure/], ["[figure ../../trap]", qr/no name for a figure/], ["[claim < touch trap]", qr/no name for a claim/],
     ["[table t]\ndata = ../half/paper.ini\n", qr/no setting|cannot open|leads out of the paper's folder/]) {
  my ($section, $pattern) = @$_;
  like_error(1, $pattern, "a paper with $section", stranger('named', "[solvers]\ns = newton\n[cases all]\nframes = 2\na = $beam s\n$section\n"));
}
{
  # Programs and files of its solvers want a word of the user's.
  for (['external:touch trap', qr/'external:touch trap' starts a program/], ['newton:linear=petsc,petsc=-ksp_type cg -ksp_view ascii:trap', qr/'-ksp_view ascii:trap' is none/]) {
    my ($solver, $pattern) = @$_;
    my @paper = stranger('starter', "[solvers]\ns = $solver\n[cases all]\nframes = 1\na = $beam s\n[claim c]\nholds = completed(a)\n");
    my $suite = spew(scratch('starter.ini'), "[a]\nscene = $beam\nsolver = $solver\nsteps = 1\n");
    like_error(2, qr/$pattern.*--allow-external/s, "a paper with $solver", @paper);
    like_error(2, qr/$pattern.*--allow-external/s, '  judged', @paper, '--judge');
    like_error(2, qr/$pattern.*--allow-external/s, '  as a suite', 'run', 'starter.ini', '-o', 'starter.h5');
    like_error(2, qr/$pattern.*--allow-external/s, '  compared', 'compare', program(), program(), 'starter.ini');
    ok(!-e scratch('trap'), '  has run nothing');
    is_code(0, '  is planned when it is allowed', 'run', 'starter.ini', '--allow-external', '--dry-run');
    is_code(0, '  or named by the user', 'run', 'starter.ini', '-s', $solver, '--dry-run');
  }
  run(stranger('starter', "[solvers]\ns = external:touch trap; exit\n[cases all]\nframes = 1\na = $beam s\n[claim c]\nholds = completed(a)\n"), '--allow-external');
  ok(-e scratch('trap') || glob(scratch('*/trap')), '  which then starts it');
}
{
  my $loops = join ' ', map { "for x$_ in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)" } 0 .. 7;
  like_error(1, qr/this asks for \d{11} evaluations/, 'loops without end', stranger('loops', "[solvers]\ns = newton\n[cases all]\nframes = 2\na = $beam s\n[claim c]\nholds = "
    . 'all(' x 8 . "1 > 0 $loops\n"), '--dry-run');
  ($out) = is_code(0, 'a plan with a sweep', paper('swept', "a = $beam good\n[cases s]\nframes = 2\nsweep = nu:0.1..0.2 step 0.1 stable\ns = $beam good", "completed(a) and least_stable(s) > 0"), '--dry-run');
  like($out, qr/^1 cases and 1 sweeps$/m, '  counts it');
}

# ---- listing
($out) = is_code(0, 'claims', 'list', 'claims');
my %claims = (hecht2012 => 19, conjac2020 => 13, lewin2016 => 15, verschoor2019 => 16, trusty2023 => 20);
is(() = $out =~ /^$_\//mg, $claims{$_}, "of $_") for sort keys %claims;
($out) = is_code(0, 'claims as JSON', 'list', 'claims', '--format', 'json');
is(scalar @{decode_json($out)->{claims}}, 83, 'are as many');
for my $paper (sort keys %claims) {
  ($out) = is_code(0, "the plan of $paper", 'reproduce', $paper, '--quick', '--dry-run', '--format', 'json');
  my @cases = @{decode_json($out)->{cases}};
  cmp_ok(scalar @cases, '>', 20, 'has its cases');
  is(scalar(grep { $_->{scene} !~ /^$paper\// } @cases), 0, 'on its own scenes');
}

($out) = is_code(0, 'a claim', 'info', 'hecht2012/table1');
like($out, qr/^hecht2012\/table1 \(Table I\).*^  holds   time\(large-5e8-cg\) .* >= 15\n.*^  name    time\(x\) = mean\(frame\(x.wall\)\)\n  source  the table/ms, 'with its expressions, their names and their source');
($out) = is_code(0, 'a scene and a claim of one name', 'info', 'conjac2020/bunny');
like($out, qr/friction = 0.3.*^conjac2020\/bunny \(Fig. 8\)/ms, 'are both shown');
($out) = is_code(0, 'a claim as JSON', 'info', 'verschoor2019/vs-sp', '--format', 'json');
is(scalar @{decode_json($out)->{holds}}, 1, 'with its conditions');

# ---- a sixth paper, without C
{
  my %wanted = (counts => 'reproduced', 'finer-is-harder' => 'reproduced', 'one-answer' => 'reproduced', 'it-falls' => 'reproduced',
    slower => 'reproduced', free => 'not reproduced');
  ($out) = is_code(0, 'a paper of our own', 'reproduce', 'beams', '--from', root() . '/tests/papers', '--quick', '-o', 'beams');
  like($out, qr/^$_\s+$wanted{$_}(?!\S)/m, "$_: $wanted{$_}") for sort keys %wanted;
  like($out, qr/\[[\d.]+,\s+[\d.]+\]\s+>=\s+4\s+\(95\s+%\s+of\s+3\s+repetitions\)/, '  times by their interval');
  my $page = slurp(scratch('beams/index.html'));
  like($page, qr/<details><summary>6 of 6 conditions hold<\/summary>.*<td class="text">1 = 1<\/td><td class="text good">holds<\/td>/s, '  conditions unfold');
  like($page, qr/<a href="#figure-iterations">figure iterations<\/a>/, '  with links to what they rest on');
}

# ---- parts, examined subspaces, maps
{
  my %wanted = (turns => 'reproduced', points => 'reproduced', weights => 'reproduced', iterations => 'reproduced', blind => 'not comparable',
    rotations => 'reproduced', embedding => 'reproduced', 'no-rotations' => 'not comparable', 'no-embedding' => 'not comparable',
    'no-decrement' => 'not comparable', stranger => 'not comparable');
  ($out) = is_code(0, 'a paper of parts and subspaces', 'reproduce', 'reduced', '--from', root() . '/tests/papers', '-o', 'reduced');
  like($out, qr/^$_\s+$wanted{$_}(?!\S)/m, "$_: $wanted{$_}") for sort keys %wanted;
  like($out, qr/was\s+it\s+run\s+with\s+examine\s+=\s+yes/, '  what was not asked for is told');
  like($out, qr/does\s+its\s+solver\s+record\s+rotations/, '  so are rotations that no solver records');
  like($out, qr/was\s+it\s+run\s+with\s+embed\s+=\s+N/, '  and points that were not embedded');
  like($out, qr/no\s+part\s+'stif'\s+\(did\s+you\s+mean\s+'stiff'/, '  and the nearest part');
  like($out, qr/modes +points +unseen motions\n.* +2 +4 +[1-9]\d*\n/, '  a map in words');
  ok(-s scratch("reduced/$_.svg"), "  $_ is drawn") for qw(unseen left);
  is_code(0, 'its file is sound', 'verify', 'results', 'reduced/reduced.h5');
  my $runs = decode_json((is_code(0, 'it is exported', 'export', 'reduced/reduced.h5', '--to', 'json'))[0])->{runs};
  is_deeply([sort keys %{$runs->[0]{parts}}], ['soft', 'stiff'], '  with its parts');
  is(scalar @{$runs->[0]{parts}{soft}{turn_y}}, 4, '  a number a step');
  my ($few) = grep { $_->{subspace} && $_->{options} =~ /modes=2\b.*points=4\b/ } @$runs;
  ok($few && $few->{subspace}{points} == 4 && $few->{subspace}{null} > 0 && $few->{subspace}{start_outside} < 1e-9, '  with what was examined of subspaces');
  is_deeply([map { [sort keys %{$few->{subspace}{$_}}] } 'variance', 'density'], [(['soft', 'stiff']) x 2], '    and of their regions');
  my ($spun) = grep { $_->{embedding} } @$runs;
  ok($few->{element}{rank} == 6 && $spun && $spun->{embedding}{error_max} <= 1e-12 && !$spun->{subspace}, '    of an element, and of embedded points');
  is_deeply([map { scalar @{$_->{rotation}{gain}} } grep { $_->{rotation} } @$runs], [6, 6], '  and the rotations of solvers that record them');
}

# ---- several papers: one page over all, from what is there
{
  my @several = ('reproduce', 'tiny', 'beams', '--from', root() . '/tests/papers', '--quick', '-o', 'several');
  mkdir scratch($_) for qw(several several/tiny several/beams);
  for (['a', 'tiny'], ['beams', 'beams']) {
    my ($from, $paper) = @$_;
    spew(scratch("several/$paper/" . s{.*/}{}r), slurp($_)) for glob scratch("$from/$paper*.{h5,json}");
  }
  ($out) = is_code(0, 'two papers', @several, '--judge');
  like($out, qr/^2 papers: 9 claims reproduced, 2 not reproduced, 2 not comparable$/m, '  have one tally');
  ($out) = is_code(0, 'two papers as JSON', @several, '--judge', '--format', 'json');
  is_deeply([map { $_->{paper} } @{decode_json($out)->{papers}}], ['tiny', 'beams'], '  are one document');
  my $page = slurp(scratch('several/index.html'));
  like($page, qr{13 claims of 2 papers: <b[^>]*>9</b> reproduced, <b[^>]*>2</b> not reproduced, <b[^>]*>2</b> not comparable.*Quick runs}s, '  and one page');
  like($page, qr{<a href="tiny/index.html#claim-larger-is-larger">larger-is-larger</a></td><td class="text good">reproduced</td><td class="text">Table I</td>},
    '  of verdicts that link to the papers\' pages');
  like($page, qr{larger-is-smaller.*?>3 of 8 frames</td>}s, '  that says what is quick');
  like($page, qr{one-answer.*?>the sentence; alike is 1e-6 of the diagonal</td>}s, '  and where bounds come from');
  my @gone = grep { my ($file, $at) = split /#/; slurp(scratch("several/$file")) !~ /id="$at"/ } $page =~ /href="([^"]+#[^"]+)"/g;
  is_deeply(\@gone, [], '  every link has an end');
  my $markdown = slurp(scratch('several/RESULTS.md'));
  like($markdown, qr{^\| \[tiny\]\(tiny/index.html\) \| A tiny paper \| 4 \| 1 \| 2 \| quick, commit}m, '  and the same in Markdown');
  ($out) = is_code(0, 'that Markdown', @several, '--judge', '--format', 'markdown');
  is($out, slurp(scratch('several/RESULTS.md')), '  is printed when it is asked for');
  unlike($out, qr/index\.html/, '  and then leads to the papers\' own RESULTS.md');
  is($out =~ s{/RESULTS\.md}{/index.html}gr, $markdown =~ s{#[\w-]+\)}{)}gr, '  else it is the same');
  like(slurp(scratch('several/tiny/RESULTS.md')), qr/^# tiny:/, '  and each paper has its own');
  ($out) = is_code(0, 'their plans', @several, '--dry-run');
  like($out, qr/^tiny\n.*^beams\n/ms, '  one after the other');
  ($out) = is_code(0, 'two items of a paper', 'reproduce', 'tiny/larger-is-smaller', 'tiny/times', @several[3 .. 4], '--quick', '--judge', '-o', 'several/tiny');
  like($out, qr/^1 claims: .*^larger-is-smaller .*^Table I: /ms, '  are shown together, and nothing else');
  ($out) = is_code(0, 'their plan', 'reproduce', 'tiny/larger-is-smaller', 'tiny/times', @several[3 .. 4], '--dry-run');
  my @each = map { (is_code(0, "  beside that of $_", 'reproduce', $_, @several[3 .. 4], '--dry-run'))[0] =~ /^(.* r\d.*)$/mg } 'tiny/larger-is-smaller', 'tiny/times';
  is_deeply([sort grep { / r\d/ } split /\n/, $out], [sort keys %{{map { $_ => 1 } @each}}], '  has the cases of both, each once');
  ($out) = is_code(0, 'a paper and one of its items', 'reproduce', 'tiny', 'tiny/times', @several[3 .. 4], '--quick', '--judge', '-o', 'several/tiny');
  like($out, qr/^7 claims: /m, '  are the paper');
  ($out) = is_code(6, 'all papers, none of which was run', 'reproduce', 'all', '--quick', '--judge', '-o', 'none');
  my $claims = map { slurp($_) =~ /^\[claim /mg } glob(root() . '/reports/papers/*/paper.ini');
  like(slurp(scratch('none/index.html')), qr/$claims claims of 5 papers: <b[^>]*>0<\/b> reproduced.*not run/s, '  say so');
}

# ---- cases that start from each other's states, samples and a sweep
{
  my @states = ('--from', root() . '/tests/papers', '-o', 'states');
  my %wanted = ('goes-on' => 'reproduced', samples => 'reproduced', slower => 'reproduced', stranded => 'not comparable',
    threshold => 'reproduced', 'same-steps' => 'reproduced');
  ($out, $err) = is_code(0, 'a claim on samples', 'reproduce', 'states/samples', @states);
  is(() = $err =~ /^\[\d/mg, 7, '  runs them and whom they start from');
  ($out, $err) = is_code(0, 'all of it', 'reproduce', 'states', @states, '--resume');
  is(() = $err =~ /^\[\d/mg, 5, '  runs nothing again');
  like($err, qr/^\[trial 1\].*max_iterations=16 r0: completed/m, '  and tries what is swept');
  like($out, qr/^$_\s+$wanted{$_}(?!\S)/m, "$_: $wanted{$_}") for sort keys %wanted;
  like($out, qr/least_stable\(swept\) > 1\s+\d+ > 1\s+holds/, '  a threshold is a number');
  like($out, qr/95 % of 3 repetitions/, '  samples are repeated');
  like($out, qr/^Residuals\n.*^\s+full(\s+[\d.e-]+){3}$/ms, '  a figure shows what is logged within a step');
  ok(-s scratch('states/residuals.svg'), '  as a plot');
  like($out, qr/stranded: it\s+starts\s+from\s+lost:\s+there\s+is\s+no\s+solver\s+'no-such-solver'/, '  nobody starts from what is not there');
  ($out) = is_code(0, 'quick', 'reproduce', 'states', @states[0, 1], '-o', 'states-quick', '--quick');
  like($out, qr/^samples\s+not reproduced.*quick: 4 of 5 samples$/ms, '  has fewer samples, and says so');
  like($out, qr/^threshold\s+not comparable.*least_stable\(swept\) <= 8\s+12\s+<=\s+8\s+open/ms, '  a grid that is stable throughout has no least value');
}

{
  my $walk = "frames = 4\nwalk = $beam good\n[cases b]\n";
  my @bad = (
    ["from = wlak\@2\nb = $beam good", qr/\[cases b\]: from: there is no case 'wlak' \(did you mean 'walk'/, 'from an unknown case'],
    ["from = walk\nb = $beam good", qr/paper.ini:8: \[cases b\]: from wants/, 'from no step'],
    ["from = walk\@2\nstride = 2\nb = $beam good", qr/stride is of samples/, 'a stride of one state'],
    ["from = walk\@2..6\nquick-from = walk\@2..6/2\nstride = 2\nb = $beam good", qr/quick: from has a stride already/, 'a stride twice in quick runs'],
    ["from = b\@1\nframes = 1\nb = $beam good", qr/start from each other/, 'a circle', 1],
    ["from = old.h5:walk\@1\nframes = 1\nb = $beam good", qr/a paper's cases start from its own/, 'from a file', 1],
    ["from = walk\@2..60\nb = $beam good", qr/\[walk\] has 8 steps, and never comes to step 60/, 'from behind the end'],
    ["from = walk\@2\nframes = 1\nb = bench/beam:resolution=0.5,material=corotational good", qr/different meshes/, 'from another mesh'],
    ["sweep = max_iterations:1|4\nb = $beam good", qr/a case of a paper has one value of an option/, 'a grid'],
    ["sweep = max_iterations:1..4\nb = $beam good", qr/sweep wants .*OPTION:LOW..HIGH step S stable/, 'no sweep'],
    ["sweep = max_iteration:1..4 step 1 stable\nb = $beam good", qr/max_iteration/, 'a sweep of no option']);
  my $number = 0;
  for my $bad (@bad) {
    my @paper = paper('tied' . $number++, "$walk$bad->[0]", 'completed(b)');
    my $ini = scratch("papers/tied@{[$number - 1]}/paper.ini");
    spew($ini, slurp($ini) =~ s/frames = 2\n//r);
    like_error($bad->[3] // 2, $bad->[1], $bad->[2], @paper);
  }
  like_error(1, qr/least_stable: 'a' is no sweep/, 'the threshold of no sweep', paper('unswept', "a = $beam good", 'least_stable(a) > 1'));
}

# ---- the recipe of the room's README
{
  my ($recipe) = slurp(root() . '/harness/reproduce/README.md') =~ /^## Adding a paper.*?\n\n(    \[paper\].*?)\n\n\S/ms;
  $recipe =~ s/^    //mg;
  mkdir scratch('papers/mine');
  spew(scratch('papers/mine/paper.ini'), $recipe);
  ($out) = is_code(0, 'the recipe', 'reproduce', 'mine', '--from', 'papers', '-o', 'mine');
  like($out, qr/^same\s+reproduced/m, 'makes a paper');
}

# ---- the claims of conjac2020 on coarse bars
{
  my @condensed = ('reproduce', 'conjac2020', '--from', root() . '/tests/papers');
  my %rulings = map { $_ => 'reproduced' } qw(scenes unknowns statics stabilization helical rest arm cut momentum soft);
  ($out) = is_code(0, 'conjac2020, coarse', @condensed, '-o', 'condensed');
  like($out, qr/^$_\s+$rulings{$_}(?!\S)/m, "$_: $rulings{$_}") for sort keys %rulings;
  like($out, qr/^beta\s+reproduced.*least_stable\(beta-conjac\)\s+<=\s+0.25\s+0.25\s+<=\s+0.25/ms, 'beta is found by bisection');
  like($out, qr/^coarse bar\s+54\s+54\s+1\s+120\s+120\s+1\s+2\s+2\s+1\s/m, 'a table shows what is counted');
  like($out, qr/^\s+Factor\s+Solve\s+other\s+in all\n\s+none(\s+[\d.e-]+){4}$/m, 'bars by their parts');
  like($out, qr/^\s+gamma = 0(\s+[\d.e-]+){3}$/m, 'a course by its first, largest and last value');
  ok(-s scratch("condensed/$_.svg"), "  and shows $_") for qw(bars drift energy error);
  ($out) = is_code(0, 'the same as JSON', @condensed, '-o', 'condensed', '--resume', '--format', 'json');
  my %figures = map { $_->{id} => $_ } @{decode_json($out)->{figures}};
  my $bar = $figures{bars}{points}[1];
  my $sum = 0;
  $sum += $_ for values %{$bar->{parts}};
  cmp_ok(abs($sum / $bar->{y} - 1), '<', 1e-9, 'the parts of a bar make up the whole');
  is(scalar @{$figures{energy}{points}[0]{course}{y}}, 100, 'a course has its values');
  cmp_ok(abs($figures{energy}{points}[1]{course}{x}[-1] - $figures{energy}{points}[0]{course}{x}[-1]), '<', 1e-9, 'runs with other steps are as long');
  ($out) = is_code(0, 'only a table', 'reproduce', 'conjac2020/table1', @condensed[2 .. 3], '-o', 'counted');
  like($out, qr/54\s+54\s+1/, 'runs the cases that it shows');
}

done_testing();
