#!/usr/bin/perl
# elastobench compare as it is typed: programs, git revisions and result files, verdicts and exit codes, builds that misbehave. Stand-ins
# whose times are known take the place of builds where a verdict is to be met exactly.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my $beam = 'bench/beam:resolution=0.25';
my @case = ($beam, '-s', 'newton', '--steps', '3', '--no-instructions', '--rounds', '10');

# A worker of the shell (harness/compare/worker.h has the protocol), which says that a block takes `seconds`, or `delayed`, or does else.
sub stand_in {
  my ($name, %how) = @_;
  %how = (greeting => 'elastobench-worker 1 ready 0', seconds => 0.01, counts => 'iterations=6', state => '1', did => '', %how);
  $how{delayed} //= 1.05 * $how{seconds};
  spew(scratch($name), <<"END");
#!/bin/sh
[ "\$*" = --version ] && { echo "elastobench 0.0.0 ($name)"; echo stand-in; exit; }
t=$how{seconds}
case "\$*" in *--delay*) t=$how{delayed};; esac
n=0
echo "$how{greeting}"
while read what steps; do
  $how{did}
  n=\$((n + 1))
  if [ \$what = count ]; then echo "counted $how{counts},residuals=1,state=$how{state}"; else echo "did \$t \$t"; fi
done
END
  chmod 0755, scratch($name);
  return scratch($name);
}

sub compared {
  my ($base, $head, @more) = @_;
  my ($code, $out, $err) = run('compare', $base, $head, @case, '--gate', '--format', 'json', @more);
  my $json = eval { decode_json($out) };
  diag("@_\n$out$err") if !$json;
  return ($code, $json // {}, $err);
}

# ---- verdicts, on known times
my $base = stand_in('base');
for my $one (['slower', 0.0105, 'regressed', 5], ['faster', 0.0095, 'improved', 0], ['same', 0.01, 'equivalent', 0]) {
  my ($name, $seconds, $verdict, $code) = @$one;
  my ($got, $json) = compared($base, stand_in($name, seconds => $seconds));
  is("$json->{verdict} $got", "$verdict $code", "$name: $verdict");
  my $cpu = $json->{cases}[0]{cpu};
  my $truth = $seconds / 0.01 - 1;
  # Rounding of logarithms and their means.
  ok(!(grep { abs($cpu->{$_} - $truth) > 1e-12 } qw(change low high)), "  by $truth");
  is_deeply([@{$json->{controls}}{qw(alarms found)}], [0, 1], '  and the controls are as they must be');
}
# Twice as long and half as long in turns: no rank test can make anything of that.
my ($code, $json) = compared($base, stand_in('wild', did => 'case $((n / 64 % 2)) in 0) t=0.02;; 1) t=0.005;; esac'), '--rounds', '48');
is("$json->{verdict} $code", 'inconclusive 6', 'rounds that contradict each other: inconclusive');
is($json->{cases}[0]{rounds}, 48, '  after all of them');
($code, $json) = compared($base, scratch('same'), '--rounds', '160');
is($json->{cases}[0]{rounds}, 40, 'what is clear is so at the first look');
($code, $json) = compared(stand_in('base11', delayed => 0.0111), scratch('slower'), '--margin', '8');
is("$json->{verdict} $code", 'equivalent 0', '5 % is within a margin of 8 %') or diag($json->{cases}[0]{reasons});
is($json->{controls}{delay}, 0.11, '  where the delay to be found is 11 %');
($code, $json) = compared(stand_in('deaf', delayed => 0.01), $base);
is("$json->{verdict} $code", 'inconclusive 6', 'nothing is equivalent where the delay is not found');

# ---- counters
($code, $json) = compared($base, stand_in('more', counts => 'iterations=7', state => '2'));
is("$json->{verdict} $code", 'regressed 5', 'more iterations in the same time are a regression');
like($json->{cases}[0]{reasons}, qr/^iterations: 6 before, 7 now$/m, 'which is told');
like($json->{cases}[0]{reasons}, qr/^the results differ/m, 'and that the states are others');
($code, $json) = compared($base, stand_in('dice', counts => 'iterations=$$'));
is("$json->{verdict} $code", 'nondeterministic 4', 'a build that does not count alike twice');
like($json->{cases}[0]{reasons}, qr/HEAD does not do the same twice: iterations \d+ and \d+/, 'is named');

# ---- builds that misbehave
for my $one (['crash', 'kill -11 $$', qr/ended by signal 11/],
             ['hang', 'exec sleep 60', qr/has not answered for 1 s/], ['babble', 'echo so what; continue', qr/answers 'so what'/],
             ['endless', 'printf %5000d 1', qr/answers without an end/], ['giveup', 'echo failed step 2; exit', qr/failed: step 2/],
             ['mute', 'exec >&- <&-; exec sleep 60', qr/ended by signal 9/], ['frozen', 't=0', qr/answers '0 0'/]) {
  my ($name, $did, $words) = @$one;
  ($code, $json) = compared($base, stand_in($name, did => $did), '--timeout', '1');
  is("$json->{verdict} $code", 'failed 3', "$name: failed");
  like($json->{cases}[0]{trouble}, $words, '  with its cause');
}
($code, $json) = compared($base, stand_in('picky', greeting => 'cannot do that'));
is("$json->{verdict} $code", 'failed 3', 'a case that HEAD serves no more');
like($json->{cases}[0]{trouble}, qr/^do that$/, '  with its words');
($code, $json) = compared(scratch('picky'), scratch('picky'));
is("$json->{verdict} $code", 'skipped 6', 'one that neither serves is left out');
like_error(1, qr/'.*old' ends where a worker should begin: it is no elastobench that 'compare' knows/, 'a build too old', 'compare', $base,
  do { spew(scratch('old'), "#!/bin/sh\nexit 2\n"); chmod 0755, scratch('old'); scratch('old') }, @case);
like_error(1, qr/speaks version 99 of the workers' protocol, this program 1/, 'another protocol', 'compare', $base,
  stand_in('future', greeting => 'elastobench-worker 99 ready 0'), @case);
like_error(1, qr/'.*hello' is no elastobench: asked to work, it says 'Hello'/, 'another program', 'compare', stand_in('hello', greeting => 'Hello'), $base, @case);

# ---- what is typed wrong
like_error(2, qr/usage: elastobench compare BASE HEAD/, 'one build', 'compare', $base);
like_error(2, qr/'.*base' would be a program and '.*\.h5' a result file: compare takes two of a kind/, 'two kinds', 'compare', $base, 'x.h5');
spew(scratch('plain'), 'text');
like_error(2, qr/'plain' is neither a result file nor a program/, 'a file that is neither', 'compare', 'plain', $base);
like_error(2, qr/there is no solver 'newtn' \(did you mean 'newton'\?\)/, 'no such solver', 'compare', $base, $base, $beam, '-s', 'newtn');
like_error(2, qr/there is no --format 'xml'.*text, json, junit, tap/, 'no such format', 'compare', $base, $base, @case, '--format', 'xml');
like_error(2, qr/--margin/, 'no such margin', 'compare', $base, $base, @case, '--margin', '0');
like_error(2, qr/--rounds = 2000 is outside 1 to 1000/, 'more rounds than the exact test takes', 'compare', $base, $base, @case, '--rounds', '2000');
like_error(2, qr/neither a file nor a git revision|in no git repository/, 'no such build', 'compare', 'nowhere', 'nobody', @case);

# ---- formats
my ($out) = is_code(0, 'text; without --gate a regression is told, no more', 'compare', $base, scratch('slower'), @case);
like($out, qr/^BASE .*elastobench 0\.0\.0 \(base\)$/m, 'says what was compared');
like($out, qr/^bench\/beam:resolution=0\.25 newton +regressed +\+5\.00% +\+5\.00 \.\. \+5\.00 +\+5\.00% +- +10$/m, 'a line a case');
like($out, qr/raised 0 alarms in 1 cases, a delay of 5 % was found in 1 of 1/, 'the controls');
like($out, qr/^verdict: regressed \(margin 2 %\)$/m, 'the verdict');
my ($junit) = is_code(5, 'JUnit', 'compare', $base, scratch('slower'), @case, '--gate', '--format', 'junit');
like($junit, qr/<testcase [^>]*name="bench\/beam:resolution=0\.25 newton".*<failure message="regressed/s, 'a failure');
my ($tap) = is_code(5, 'TAP', 'compare', $base, scratch('slower'), @case, '--gate', '--format', 'tap');
like($tap, qr/^1\.\.1$/m, 'a plan');
like($tap, qr/^not ok 1 - compare: bench\/beam:resolution=0\.25 newton/m, 'a test that fails');

# ---- revisions, built by the Makefile that they have
SKIP: {
  skip 'git is not installed', 24 if system('git --version > /dev/null 2>&1');
  my $git = 'git -c user.name=nobody -c user.email=nobody@localhost';
  my $repository = scratch('repository');
  mkdir $repository;
  my $commit = sub {
    my ($rule) = @_;
    spew("$repository/Makefile", "build/elastobench:\n\tmkdir -p build\n\t$rule\n");
    system("cd $repository && $git init -q 2> /dev/null && $git add -A && $git commit -qm change") == 0 or die 'git';
  };
  $commit->("cp $base \$\@");
  $commit->('cp ' . scratch('slower') . ' $@; echo $(SPEED) > $@.speed');
  $commit->('echo "error: no such thing"; exit 1');
  my $in = sub { # in the repository
    my ($wanted, @arguments) = @_;
    my $line = join ' ', map { "'$_'" } program(), 'compare', @arguments;
    my $text = qx(cd $repository && $line 2>&1);
    is($? >> 8, $wanted, "compare @arguments[0 .. 1]") or diag($text);
    return $text;
  };
  like($in->(5, 'HEAD~2', 'HEAD~1', @case, '--gate'), qr/^building HEAD~2 \([0-9a-f]{12}\) in .*^built HEAD~2 in \d+ s\n.*^verdict: regressed/ms, 'two revisions');
  unlike($in->(0, 'HEAD~1', 'HEAD~1', @case), qr/building/, 'are built once');
  like($in->(0, 'HEAD~1', 'HEAD~1', @case, '--make', 'SPEED=1'), qr/building/, 'with these flags');
  my $failed = $in->(1, 'HEAD~1', 'HEAD', @case);
  like($failed, qr/cannot build 'HEAD': make has failed.*error: no such thing/s, 'a build that fails shows its end');
  my ($left) = $failed =~ /building HEAD \(\w+\) in (\S+)/;
  mkdir "$left/build";
  spew("$left/build/elastobench", 'half of it');
  like($in->(1, 'HEAD~1', 'HEAD', @case), qr/make has failed/, 'what a build that was ended has left is none');
  like($in->(2, 'HEAD~1', 'mian', @case), qr/neither a file nor a git revision 'mian' \(git branch/, 'no such revision');
  unlike($in->(0, 'HEAD~1', 'HEAD~1', @case), qr/not committed/, 'a clean tree has nothing to be told of');
  spew("$repository/Makefile", "changed:\n");
  like($in->(1, 'HEAD~1', 'HEAD', @case), qr/changes that are not committed: they are no part of 'HEAD'/, 'changes of the tree are told to be left out');
  unlike($in->(0, 'HEAD~1', 'HEAD~1', @case), qr/not committed/, '  of HEAD alone');
  {
    local $ENV{XDG_CACHE_HOME} = '/dev/null/cache';
    like($in->(1, 'HEAD~1', 'HEAD~1', @case), qr{cannot make the folder '/dev/null/cache/elastobench' to build in: Not a directory}, 'a cache that cannot be');
  }
  # A clone of the last commit alone. What is killed while it builds takes what builds along.
  system("cd $repository && $git commit -qam long && git clone -q --depth 1 file://$repository ../shallow") == 0 or die 'git';
  my $cloned = $repository;
  $repository = scratch('shallow');
  like($in->(2, 'HEAD~1', 'HEAD', @case), qr/'HEAD~1' \(this clone is shallow.*fetch --unshallow/, 'a shallow clone is named as the cause');
  $repository = $cloned;
  $commit->("echo '  CC   one.c'; sleep 3; cp $base \$\@");
  SKIP: {
    skip 'no script', 2 if system('script --version >/dev/null 2>&1') != 0;
    my $line = join ' ', 'exec', program(), 'compare', 'HEAD', 'HEAD', @case;
    system "cd $repository && script -qec \"$line\" ../typescript >/dev/null 2>&1 </dev/null";
    my $seen = slurp(scratch('typescript'));
    like($seen, qr/\r\e\[Kbuilding HEAD, \d s  CC   one\.c.*\r\e\[Kbuilt HEAD in/s, 'a terminal shows what is built');
    like($seen, qr/\r\e\[K(counting, case 1|round \d+) of \d+: bench\/beam, newton.*\r\e\[K\d+ rounds: /s, '  and the rounds');
  }
  my $nap = 100 + $$ / 1e7; # s, a name for the process
  $commit->("sleep $nap");
  my $naps = sub { scalar grep { slurp("$_/cmdline") eq "sleep\x00$nap\x00" } glob '/proc/[0-9]*' };
  my $pid = fork // die "fork: $!";
  if ($pid == 0) {
    chdir $repository or die;
    open STDERR, '>', '/dev/null' or die;
    exec program(), 'compare', 'HEAD', 'HEAD', @case or die;
  }
  my $until = sub { my ($condition) = @_; for (1 .. 200) { return 1 if $condition->(); select undef, undef, undef, 0.1 } return 0 };
  ok($until->(sub { $naps->() == 1 }), 'a build is under way');
  kill 'KILL', $pid;
  waitpid $pid, 0;
  ok($until->(sub { $naps->() == 0 }), 'and ends with a comparison that is killed');
}

# ---- this program itself
@case = grep { $_ ne '--no-instructions' } @case;
($code, $json) = compared(program(), program(), '--rounds', '8', '--delay', '50');
is("$json->{verdict} $code", 'regressed 5', 'a delay of 50 % in HEAD closes the gate') or diag(encode_json($json));
SKIP: {
  my $instructions = $json->{cases}[0]{instructions};
  skip "instructions: $json->{instructions_left_out}$json->{cases}[0]{reasons}", 2 if !$instructions;
  my ($one, $two) = map { $instructions->{$_}{executed} } qw(base head);
  # Three steps of Newton on 240 elements are some millions; where the environment lies moves them a little.
  ok($one > 1e6 && abs($two - $one) < 1e-3 * $one, 'valgrind counts the same instructions twice, and not the delay');
  ok((!grep { !($_->{first_level_misses} >= $_->{last_level_misses} && $_->{last_level_misses} > 0) } values %$instructions), 'and misses');
}
my $counts = $json->{cases}[0]{counts};
is_deeply($counts->{base}, $counts->{head}, 'counters of two processes are the same');
ok($counts->{base}{iterations} >= 3 && $counts->{base}{factorizations} >= 3, 'and are those of three steps of Newton');
like($counts->{base}{state}, qr/^[0-9a-f]{16}$/, 'with a digest of the state');
is($json->{controls}{alarms}, 0, 'and no build is slower than itself');
my ($none) = run('work', 'bench/beam', 'newton', '--parameters', 'resolution=0.25', '--steps', '3');
is($none, 0, 'a worker ends with its input');

# ---- result files
is_code(0, "a result file $_->[0]", 'run', $beam, '-s', $_->[1], '--steps', '3', '-o', $_->[0])
  for ['a.h5', 'newton'], ['b.h5', 'newton'], ['c.h5', 'semi-implicit'];
($out) = is_code(6, 'one repetition is too few', 'compare', 'a.h5', 'b.h5', '--gate');
like($out, qr/inconclusive .* 1$/m, 'which is inconclusive');
like($out, qr/1 rounds are too few to show a change of any size in 1 cases: it takes 8/, 'and says how many it takes');
like($out, qr/controls: none, for the runs were not fed in turns/, 'and what is missing');
(my $interval) = is_code(6, 'as JSON', 'compare', 'a.h5', 'b.h5', '--gate', '--format', 'json');
is_deeply([@{decode_json($interval)->{cases}[0]{cpu}}{qw(low high)}], [undef, undef], '  an interval that is none has no ends');
like((is_code(6, 'as JUnit', 'compare', 'a.h5', 'b.h5', '--gate', '--format', 'junit'))[0], qr/\(no interval\) in 1 rounds/, '  nor has it there');
is_code(0, 'a file with more', 'run', $beam, '-s', 'newton', '-s', 'semi-implicit', '--steps', '3', '-o', 'more.h5');
my (undef, $left) = is_code(0, 'is compared by what both have', 'compare', 'more.h5', 'a.h5');
like($left, qr/left out, .*: 1 runs of 'more.h5', 0 of 'a.h5'/, '  and the rest is counted');
is_code(4, 'a run that fails its audit', 'run', $beam, '--plugin', plugin('cheats'), '-s', 'cheat:fault=pump,says=its', '--steps', '30', '-o', 'cheat.h5');
($out) = is_code(3, 'has no times to compare', 'compare', 'cheat.h5', 'cheat.h5');
like($out, qr/failed .*\n +run '\S+' of 'cheat.h5' has failed its audit: .*energy/, '  and says why');
for my $option (['--rounds', '9'], ['--steps', '3'], ['--delay', '5'], ['--no-instructions']) {
  like_error(2, qr/$option->[0] is for builds/, "files and $option->[0]", 'compare', 'a.h5', 'b.h5', @$option);
}
SKIP: {
  my $python = python('h5py', 'numpy');
  skip 'no h5py', 2 if !$python;
  system($python, '-c', "import h5py, numpy, shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])\n"
    . "h5py.File(sys.argv[2], 'r+')['environment'].attrs['cpu'] = numpy.bytes_('another')", scratch('a.h5'), scratch('elsewhere.h5'));
  ($out) = is_code(6, 'files of two machines', 'compare', 'a.h5', 'elsewhere.h5', '--gate');
  like($out, qr/times are not believed: they are of two machines: .*cpu is .* and 'another'/, '  have no times to compare either');
}
like_error(1, qr/'a.h5' and 'c.h5' have no run in common/, 'files that do not meet', 'compare', 'a.h5', 'c.h5');
like_error(2, qr/leave out scenes and solvers/, 'files and scenes', 'compare', 'a.h5', 'b.h5', $beam);
spew(scratch('bad.h5'), substr(slurp(scratch('a.h5')), 0, 3000));
like_error(1, qr/bad\.h5/, 'a damaged file', 'compare', 'a.h5', 'bad.h5');

done_testing;
