#!/usr/bin/perl
# The history as a user meets it: records of runs, changes of known place, machines, git's order, bad records.
use strict;
use warnings;
no warnings 'portable'; # 64-bit hashes
use FindBin;
use lib "$FindBin::Bin/../support";
use File::Basename qw(dirname);
use File::Path qw(make_path);
use JSON::PP;
use Program;
use Test::More;

my $json = JSON::PP->new->canonical;

# FNV-1a over the texts with their ends, folded to 32 bits: what a machine is known by.
sub fingerprint {
  my @facts = @_;
  my $hash = 0xcbf29ce484222325;
  for my $byte (map { unpack 'C*', "$_\0" } @facts) {
    use integer;
    $hash = ($hash ^ $byte) * 0x100000001b3;
  }
  return sprintf '%08x', ($hash ^ ($hash >> 32)) & 0xffffffff;
}

# A record; what is given stands in the place of the usual.
sub record {
  my (%given) = @_;
  my $cpu = delete $given{cpu} // 'Any CPU';
  return {schema => 'elastobench history 1', commit => '0123456789ab', date => '2026-01-01T00:00:00Z', dirty => JSON::PP::false,
    machine => {fingerprint => fingerprint($cpu, 2, 'cc', '-O3'), cpu => $cpu, cores => 2, compiler => 'cc', flags => '-O3'},
    limits => {dgemm => 5e10, triad => undef}, figures => [], %given};
}

sub figure {
  my ($name, $value, %given) = @_;
  return {name => $name, unit => 'B/s', better => 'more', value => $value, relative => undef, spread => undef, samples => 9, %given};
}

sub store {
  my ($folder, $name, $record) = @_;
  make_path(scratch($folder));
  return spew(scratch("$folder/$name.json"), ref $record ? $json->encode($record) : $record);
}

sub shown {
  my @arguments = @_;
  my ($out) = is_code(0, "history @arguments", 'history', @arguments, '--format', 'json');
  return eval { decode_json($out) } // {};
}

sub named {
  my ($machine, $name) = @_;
  return (grep { $_->{name} eq $name } @{$machine->{figures}})[0] // {};
}

# ---- changes in their place, machine by machine: the second one is twice as fast and has none
my $day = 0;
for my $i (0 .. 29) {
  my $date = sprintf '2026-03-%02dT12:00:00Z', $i + 1;
  my $noise = 1 + 0.01 * (($i * 7) % 5 - 2);
  for my $cpu ('Any CPU', 'Other CPU') {
    my $level = 1e9 * ($cpu eq 'Any CPU' ? ($i < 18 ? 1 : 0.8) : 2);
    store('store', "$i-$cpu", record(commit => sprintf('%012x', 0xabc0000 + $i), date => $date, cpu => $cpu,
      figures => [figure('triad', $level * $noise),
        figure('time', $noise / $level, better => 'less', unit => 's', relative => $level * $noise / 2e9),
        figure('steady <&>', 5, relative => 0.5), figure('holes', $i % 3 ? 1 : undef)]));
  }
}
my $all = shown('--store', 'store');
is(scalar @{$all->{machines}}, 2, 'machines are told apart');
is($all->{order}, 'date', 'outside of a repository records are ordered by date');
my ($any) = grep { $_->{cpu} eq 'Any CPU' } @{$all->{machines}};
my ($other) = grep { $_->{cpu} eq 'Other CPU' } @{$all->{machines}};
my $triad = named($any, 'triad');
is(scalar @{$triad->{changes}}, 1, 'the step is found');
is($triad->{changes}[0]{commit}, sprintf('%012x', 0xabc0000 + 18), '  at its commit');
is($triad->{changes}[0]{after}, sprintf('%012x', 0xabc0000 + 17), '  after the one before');
cmp_ok(abs($triad->{changes}[0]{size} + 0.2), '<', 0.02, '  of its size');
is($triad->{changes}[0]{verdict}, 'worse', '  for the worse');
cmp_ok($triad->{changes}[0]{p}, '<', 1e-3, '  and hardly noise');
is($triad->{basis}, 'value', 'a figure without the machine\'s limit is looked at as it is');
is(named($any, 'time')->{basis}, 'relative', 'one with it beside that');
is(named($any, 'time')->{changes}[0]{verdict}, 'better', 'where less is better, a fall is');
is(scalar @{named($any, 'steady <&>')->{changes}}, 0, 'what does not change has no change');
is(scalar(map { @{$_->{changes}} } @{$other->{figures}}), 0, 'nor has the other machine');
is(scalar @{$triad->{points}}, 30, 'every record is a point');
is(named($any, 'holes')->{levels}[0]{count}, 20, 'a value that is null is a hole');
my ($text) = is_code(0, 'history as text and as a page', 'history', '--store', 'store', '--machine', $any->{fingerprint}, '-o', 'page');
like($text, qr/^machine $any->{fingerprint}\nAny CPU, 2 cores.*30 records/m, 'the machine is described');
like($text, qr/triad .*\n\s+2026-03-19 00000abc0012 -\d+\.\d % worse, p /, 'and the change');
unlike($text, qr/Other CPU/, '--machine chooses');
my $chosen = shown('--store', 'store', '--least', '0.5', '--absolute', '--figure', 'ti*')->{machines}[0]{figures};
ok(@$chosen == 1 && $chosen->[0]{basis} eq 'value' && !@{$chosen->[0]{changes}}, '--figure, --absolute and --least are taken');

# ---- the page
like($text, qr{^page/index.html$}m, 'the page is named');
my $page = slurp(scratch('page/index.html'));
my @missing = grep { !-s scratch("page/$_") } $page =~ /(?:src|href)="([^"#]+)"/g;
is_deeply(\@missing, [], 'every plot, script and data file it names is there');
is(scalar(() = $page =~ /<figure>/g), 4, 'a plot a figure');
is(() = $page =~ /<table>/g, () = $page =~ /<div class="scroll"><table>/g, 'tables can be moved on a small screen');
ok($page =~ /<td class="text">steady &lt;&amp;&gt;/ && $page !~ /steady <&>/, 'names are escaped');
like($page, qr/<code>00000abc0012<\/code> -\d+\.\d % worse/, 'changes are listed');
my ($plotted) = grep { slurp($_) =~ /00000abc0012 -/ } glob scratch('page/*.dat');
ok($plotted, 'and drawn');

{
  local $ENV{PATH} = '/nowhere';
  my ($told) = like_error(1, qr/gnuplot-nox/, 'without gnuplot there is no page', 'history', '--store', 'store', '-o', 'undrawn');
  like($told, qr/triad .*\n\s+2026-03-19 00000abc0012/, '  and the figures are told all the same');
}

# ---- wrong choices
like_error(2, qr/no figure 'triadd' \(did you mean 'triad'\?\)/, 'an unknown figure names the nearest', 'history', '--store', 'store', '--figure', 'triadd');
like_error(2, qr/no machine '12345678'.*$any->{fingerprint}/, 'an unknown machine lists those there are', 'history', '--store', 'store', '--machine', '12345678');
like_error(2, qr/no 'shwo' \(did you mean 'show'\?\)/, 'an unknown action too', 'history', 'shwo');
like_error(2, qr/wants result files/, 'add wants files', 'history', 'add', '--store', 'store');
like_error(2, qr/--p/, 'p is a probability', 'history', '--store', 'store', '--p', '2');
like_error(1, qr/nowhere.*make bench/, 'no store at all', 'history', '--store', 'nowhere');
make_path(scratch('empty'));
like_error(6, qr/no record/, 'an empty store has nothing to show', 'history', '--store', 'empty');

# ---- trees with local changes
store('dirty', 'one', record(dirty => JSON::PP::true, figures => [figure('x', 1)]));
like_error(6, qr/--dirty takes those/, 'records of trees with local changes are left out', 'history', '--store', 'dirty');
my $single = shown('--store', 'dirty', '--dirty')->{machines}[0];
is($single->{records}, 1, 'but for --dirty');
is($single->{figures}[0]{since}, undef, 'a single record has not changed since another');
like((is_code(0, 'nor as text', 'history', '--store', 'dirty', '--dirty'))[0], qr/^x +1  1 B\/s +- /m, '  a dash');

# ---- bad records
my %bad = ('not JSON' => ['{"schema": ', qr/line 1/], 'an array' => ['[]', qr/no record of the history/], empty => ['', qr/line 1/],
  'zero bytes' => ["\0\0", qr/not a text file/],
  'other schema' => [record(schema => 'elastobench history 9'), qr/schema is 'elastobench history 9'/],
  'no commit' => [record(commit => '../../x'), qr/no commit/], 'no date' => [record(date => 'today'), qr/no date/],
  'other machine' => [record(machine => {fingerprint => '00000000', cpu => 'a', cores => 2, compiler => 'b', flags => 'c'}), qr/fingerprint/],
  'no figures' => [record(figures => 'none'), qr/list of figures/], 'a wrong figure' => [record(figures => [{name => 'x'}]), qr/figure 1/],
  'a wrong direction' => [record(figures => [figure('x', 1, better => 'red')]), qr/'more' or 'less'/],
  'a wrong value' => [record(figures => [figure('x', 'fast')]), qr/figure 'x': 'value' is neither/]);
my $whole = $json->encode(record(figures => [figure('x', 1)]));
$bad{'cut off'} = [substr($whole, 0, length($whole) - 20), qr/line 1/];
store('bad', 'good', record(figures => [figure('x', 1)]));
store('bad', tr/ /-/r, $bad{$_}[0]) for keys %bad;
my ($code, $out, $err) = run('history', '--store', 'bad');
ok($code == 1 && $out =~ /^x /m, 'good records beside bad ones are shown') or diag "$code\n$out$err";
for my $what (sort keys %bad) {
  my $name = $what =~ tr/ /-/r;
  like($err, qr{left out: '?bad/$name\.json.*$bad{$what}[1]}, "$what: told, and left out");
}

# ---- the order of commits is git's, whatever their dates; unknown ones stand by date
SKIP: {
  skip 'no git', 3 if system('git --version >/dev/null 2>&1') != 0;
  local @ENV{qw(GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL)} = ('a', 'a@b', 'a', 'a@b');
  my $repository = scratch('repository');
  system("git init -q '$repository'") == 0 or die;
  my @commits;
  for my $i (0 .. 3) {
    local $ENV{GIT_COMMITTER_DATE} = sprintf '2026-02-%02dT00:00:00Z', 20 - $i;
    system("git -C '$repository' commit -q --allow-empty -m $i") == 0 or die;
    chomp(my $commit = qx(git -C '$repository' rev-parse --short=12 HEAD));
    push @commits, $commit;
    store('repository/history', $i, record(commit => $commit, date => $ENV{GIT_COMMITTER_DATE}, figures => [figure('x', 1)]));
  }
  store('repository/history', 'old', record(commit => 'fffffff0', date => '2026-01-01T00:00:00Z', figures => [figure('x', 1)]));
  store('repository/history', 'new', record(commit => 'fffffff1', date => '2026-03-01T00:00:00Z', figures => [figure('x', 1)]));
  my $ordered = shown('--store', 'repository/history');
  is($ordered->{order}, 'git', 'inside of a repository its order is taken');
  is_deeply([map { $_->{commit} } @{$ordered->{machines}[0]{figures}[0]{points}}], ['fffffff0', @commits, 'fffffff1'],
    'commits stand as they followed each other');
}

# ---- what is recorded of the benchmarks is measured in one way (tests/bench/test_bench.c has their own shape)
my $bench = program() =~ s/elastobench$/bench/r;
for my $wrong (['svd', '--record', 'history'], ['--record', 'history', '--seconds', '0.5'], ['--record'], ['--format', 'xml']) {
  my $words = qx($bench @$wrong 2>&1);
  ok($? >> 8 == 2 && $words =~ /wants/, "bench @$wrong: refused") or diag $words;
}

# ---- runs: of a build that knows its commit
if (qx(@{[program()]} --version) =~ /commit unknown/) {
  done_testing();
  exit;
}
is_code(0, 'a run', 'run', 'bench/beam:resolution=0.25', '-s', 'newton', '-s', 'corotational', '--steps', '3', '--repeat', '2', '-o', 'r.h5');
my ($added, $left) = is_code(0, 'its steps are added', 'history', 'add', 'r.h5', '--store', 'runs');
like($left, qr/2 runs.*left out/, 'what was skipped is told');
my ($path) = $added =~ /^(\S+\.json): 4 figures/;
ok($path && -s scratch($path), 'in a file');
my $made = eval { decode_json(slurp(scratch($path))) } // {};
is($made->{machine}{fingerprint}, fingerprint(@{$made->{machine}}{qw(cpu cores compiler flags)}), 'the fingerprint is that of processor, cores, compiler and flags');
is_deeply([map { $_->{name} =~ s/.*, //r } @{$made->{figures}}], [qw(wall cpu set-up iterations)], 'wall and processor time, set-up and iterations');
my @runs = grep { $_->{solver} eq 'newton' } runs_in('r.h5');
my @medians = sort { $a <=> $b } map { my @w = @{$_->{steps}{wall}}; ($w[1] + $w[2]) / 2 } @runs;
my ($wall) = @{$made->{figures}};
cmp_ok(abs($wall->{value} - ($medians[0] + $medians[1]) / 2), '<', 1e-5 * $wall->{value}, 'the median step of the repetitions, to six digits');
is($wall->{samples}, 2, 'as many as there were');
like($wall->{class}, qr/^implicit Euler/, 'in their accuracy class');
my $before = slurp(scratch($path));
is_code(0, 'the same again', 'history', 'add', 'r.h5', '--store', 'runs');
is(slurp(scratch($path)), $before, 'is the same record');
my $edited = eval { decode_json($before) };
push @{$edited->{figures}}, figure('kernel', 3);
$edited->{figures}[0]{value} = 1;
spew(scratch($path), $json->encode($edited));
is_code(0, 'figures of another kind', 'history', 'add', 'r.h5', '--store', 'runs');
my $merged = decode_json(slurp(scratch($path)));
ok(abs($merged->{figures}[0]{value} - $wall->{value}) < 1e-12 && $merged->{figures}[-1]{name} eq 'kernel', 'stay, and those measured again are replaced');
SKIP: {
  my $python = python('h5py');
  skip 'no h5py', 1 if !$python;
  system($python, '-c', "import h5py, shutil, sys; shutil.copy(sys.argv[1], sys.argv[2]); h5py.File(sys.argv[2], 'r+').create_group('environments/other')",
    scratch('r.h5'), scratch('shards.h5'));
  like_error(1, qr/shards.h5 has runs of several machines/, 'runs of several machines are no record of one', 'history', 'add', 'shards.h5', '--store', 'runs');
}
# ---- many at once
my @files = map { "at-once-$_.h5" } 1 .. 8;
is_code(0, "a run for $files[$_]", 'run', 'bench/beam:resolution=0.5', '-s', "newton:rtol=1e-@{[$_ + 2]}", '--steps', '2', '-o', $files[$_]) for 0 .. $#files;
my @few;
for my $round (1 .. 3) {
  my @adding;
  for my $file (@files) {
    my $pid = fork // die "fork: $!";
    if ($pid == 0) {
      chdir scratch() or die;
      open STDOUT, '>', '/dev/null' or die;
      open STDERR, '>', '/dev/null' or die;
      exec program(), 'history', 'add', $file, '--store', "at-once-$round" or die;
    }
    push @adding, $pid;
  }
  push @few, "round $round: an exit code of $?" for grep { waitpid($_, 0) && $? } @adding;
  my @records = map { decode_json(slurp($_)) } glob scratch("at-once-$round/*.json");
  my $figures = @records == 1 ? @{$records[0]{figures}} : 0;
  push @few, "round $round: $figures figures" if $figures != 4 * @files;
  push @few, "round $round: $_ is left" for grep { !/\.json$/ && !-d } glob scratch("at-once-$round/{*,.*}");
}
is_deeply(\@few, [], 'records of files that are added at once have the figures of all');

like_error(1, qr/empty.json/, 'what is no result file is refused', 'history', 'add', spew(scratch('empty.json'), '{}'), '--store', 'runs');

# ---- the recipe of harness/ci.md: its lines that run, export and record, on a small suite and in a folder of its own
my ($recipe) = slurp(root() . '/harness/ci.md') =~ /\n\n((?:    .*\n)+)/;
ok($recipe && $recipe =~ /elastobench compare origin\/main HEAD --gate/, 'the recipe is there');
make_path(scratch('ci/results'));
symlink dirname(program()), scratch('ci/build') or die;
spew(scratch('ci/small.ini'), "[beam]\nscene = bench/beam:resolution=0.25\nsolver = newton\nsteps = 3\n");
my @lines = grep { !/\b(make|compare|check)\b/ } split /\n/, $recipe;
is(scalar @lines, 7, 'and of its lines those for a machine of one\'s own are left out');
spew(scratch('ci/job.sh'), join("\n", @lines) . "\n");
my $said = qx(cd '@{[scratch('ci')]}' && SUITE=small.ini sh -eu job.sh 2>&1);
# The program under test may be built of a tree with local changes: then there is a record, and nothing to be shown.
my $shows = $said =~ /local changes/ ? 6 : 0;
is($? >> 8, $shows, 'the job ends as it should') or diag $said;
ok((!grep { !-s scratch("ci/$_") } qw(ci.h5 runs.xml)) && glob(scratch('ci/results/history/*.json')), 'and leaves runs, tests and a record');

done_testing();
