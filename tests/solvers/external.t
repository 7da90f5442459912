#!/usr/bin/perl
# Programs of the user's as solvers: the clients in Python and C++, programs that do what they should not, and that work is counted
# wherever it is done.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my $example = root() . '/python/examples/implicit_euler.py';
my $beam = 'bench/beam:resolution=0.25';
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$ENV{PYTHONPATH} = root() . '/python';

# ---- the client in C++
my ($made, $built) = is_code(0, 'a program in C++ is written, built and run', 'new-solver', 'jump', '--external', 'c++');
unlike($built, qr/warning/, 'without a warning');
like($made, qr/external:\.\/jump +1 +completed/, 'and completes');
my $cpp = scratch('jump/jump');
is_code(0, 'it runs beside newton, audited', 'run', $beam, '-s', 'newton', '-s', "external:$cpp", '--steps', '4',
  '-o', 'cpp.h5');
my @external = grep { $_->{solver} eq 'external' } runs_in('cpp.h5');
is(scalar @external, 1, 'as a solver');
is($external[0]{client}, 'jump 1', 'what it calls itself is kept');
is($external[0]{update}, 'substeps', 'and what it declares of its update');
is($external[0]{options}, "command=$cpp", 'and the command');
for my $step (0 .. 3) {
  my ($own, $wall) = ($external[0]{steps}{own}[$step], $external[0]{steps}{wall}[$step]);
  ok($own > 0 && $own <= $wall, "step $step: its own time is within what was measured") or diag "$own $wall";
}
like((is_code(0, "as $_", 'export', 'cpp.h5', '--to', $_))[0], qr/external:command=\Q$cpp\E/, '  with its command in its name') for qw(junit tap benchmark);
is_code(0, 'in a report', 'report', 'cpp.h5', '-o', 'cpp');
like(slurp(scratch('cpp/index.html')), qr/<td class="text">external<span class="note"> \(jump 1\)<\/span><\/td>/, '  by the name that it has given itself');
my ($other) = grep { $_->{solver} eq 'newton' } runs_in('cpp.h5');
ok(!defined $other->{steps}{own}[0], 'a solver of ours has no time of its own');
# Refused before a step: the message says by whom and why.
my (undef, undef) = is_code(6, 'a scene that asks for more than it serves', 'run', 'conjac2020/twist:resolution=0.2', '-s', "external:$cpp", '--steps', '2', '-o',
  'refused.h5');
my ($refused) = runs_in('refused.h5');
is($refused->{outcome}, 'skipped', 'is skipped');
like($refused->{detail}, qr/'jump 1' cannot serve .* lacks .*scripted/, 'and the program is named');

# ---- the client in Python
my $python = python('numpy');
SKIP: {
  skip 'needs python3-numpy', 8 unless $python;
  is_code(0, 'the example in Python runs, audited', 'run', $beam, '-s', 'newton', '-s', "external:$python $example 1e-8", '--steps', '3',
    '--frames', 'all', '-o', 'python.h5');
  my ($ours, $theirs) = runs_in('python.h5');
  is($theirs->{client}, 'implicit-euler.py 1.0', 'by its name');
  # Its tolerance is 1e-8 of the forces that do not cancel, of which the scale of the audit has all.
  ok($theirs->{error} < 1e-6, 'as exact as its tolerance') or diag $theirs->{error};
  # Both minimize the same function: energies agree as the squares of the errors.
  for my $name (qw(kinetic elastic gravitational)) {
    my ($a, $b) = map { $_->{steps}{$name}[-1] } $ours, $theirs;
    ok(abs($a - $b) <= 1e-6 * abs($a), "and where newton goes: $name") or diag "$a $b";
  }
  is_code(0, 'on what moves by script, with explicit contact', 'run', 'conjac2020/twist:resolution=0.2', '-s', "external:$python $example",
    '--steps', '2', '-o', 'twist.h5');
  my ($out, $err) = (qx('$python' '$example' 2>&1 3<&-), $? >> 8);
  like($out, qr/this program is a solver: elastobench run SCENE -s "external:/, 'started by hand it says what it is');
}

# ---- what it says of itself
my ($said) = is_code(0, 'info', 'info', 'external');
like($said, qr/^  $_ = /m, "  has the option $_") for 'command', 'hello';
like($said, qr/^citation .*new-solver NAME --external/m, '  and says how to begin');
my ($told) = is_code(0, 'info as JSON', 'info', 'external', '--format', 'json');
is_deeply([map { $_->{name} } @{decode_json($told)->{options}}], ['command', 'hello'], '  has them too');
like_error(2, qr/hello = 0 is outside/, 'but options that are given are checked', 'info', 'external:hello=0,true');

# ---- the command
like_error(2, qr/external wants a command/, 'no command', 'run', $beam, '-s', 'external', '-o', 'n.h5');
like_error(2, qr/hello = 0 is outside/, 'no time to say hello', 'run', $beam, '-s', 'external:hello=0,true', '-o', 'n.h5');
is_code(3, 'commands that are none', 'run', $beam, '-s', 'external:/no/such/program --with=a,b', '--steps', '2', '-o', 'none.h5');
my ($none) = runs_in('none.h5');
is($none->{options}, 'command=/no/such/program --with=a,b', 'all of it is the command, commas too');
like($none->{detail}, qr/has ended with exit status 127; it printed: .*no.such.program/s, 'and the shell says why');

# ---- programs that do what they should not
spew(scratch('bad.pl'), <<'END');
use strict; use warnings; use IO::Handle; use Time::HiRes 'time';
my ($fault, $at) = @ARGV; $at //= 2;
open my $in, '<&=3' or die; open my $out, '>&=3' or die; $_->binmode for $in, $out; $out->autoflush(1);
sub frame { my ($kind, $text, $body) = @_; print $out pack('a4 V Q<', $kind, length $text, length $body), $text, $body }
sub bytes { my ($n) = @_; my $all = ''; while (length $all < $n) { read($in, $all, $n - length $all, length $all) or exit 0 } $all }
sub take { my ($kind, $text, $body) = unpack 'a4 V Q<', bytes(16); ($kind, bytes($text), bytes($body)) }
sub work { my $end = time + $_[0]; my $x = 0; $x++ while time < $end; }
my $hello = "protocol " . ($fault eq 'version' ? 2 : 1) . "\nname bad 1\nserves tetrahedra hyperelastic\n";
exit 7 if $fault eq 'early';
if ($fault eq 'silent') { print STDOUT "who is there?\n"; STDOUT->flush; sleep 1000 }
if ($fault eq 'half') { print $out 'HELO'; sleep 1000 }
if ($fault eq 'noise') { print $out "hello world, this is not a frame\n"; sleep 1000 }
frame('HELO', $hello, '');
take();
frame('REDY', '', '');
my $step = 0; my $hog = '';
while (1) {
  my ($kind, $text, $body) = take();
  $step++;
  my $due = $step == $at;
  my ($mass) = (1);
  open(my $scene, '<', '/proc/self/fd/4') or die;
  read $scene, my $head, 65536; my ($n) = $head =~ /array mass f8 (\d+)/; close $scene;
  my ($dt) = $text =~ /^dt (\S+)/m;
  if ($due || $at == 0) {
    die "I am dying\n" if $fault eq 'die';
    kill 'SEGV', $$ if $fault eq 'signal';
    sleep 1000 if $fault eq 'hang';
    if ($fault eq 'close') { close $in; close $out; sleep 1000 }
    if ($fault eq 'garbage') { print $out "hello world, this is not a frame\n" }
    frame('DONE', "reason CONVERGED_ITS\n", substr $body, 0, 24) if $fault eq 'short';
    frame('DONE', "reason CONVERGED_ITS\n", "\0" x (40_000_000 * $at)) if $fault eq 'long';
    frame('FAIL', 'I cannot go on', '') if $fault eq 'fail';
    if ($fault eq 'print') { print STDOUT "a line\n" x 40_000; STDOUT->flush }
    if ($fault eq 'memory') { $hog = 'x' x (100_000_000 * $at); sleep 1 }
    if ($fault eq 'child') { my $pid = fork // die; if (!$pid) { sleep 1000; exit } }
    if ($fault eq 'orphan') { my $pid = fork // die; if (!$pid) { fork or sleep 1000; exit } waitpid $pid, 0 }
    if ($fault eq 'nan') { frame('DONE', "reason CONVERGED_ITS\n", pack('d<*', (9**9**9) x (6 * $n))); next }
  }
  my @f = unpack 'd<*', substr $body, 48 * $n, 24 * $n;
  # Rest: nothing moves, and every step says so.
  frame('DONE', "reason CONVERGED_ITS\niterations 1\nseconds 0.001\n", substr $body, 0, 48 * $n);
  work(0.02) if $fault eq 'burn';
  if ($fault eq 'others') { my $pid = fork // die; if (!$pid) { work(0.02); exit } waitpid $pid, 0 }
}
END
my $bad = "external:$^X " . scratch('bad.pl');
my %wanted = (
  early => ['failed', qr/set-up.*bad.pl early' has sent no frame HELO: the program has ended with exit status 7/],
  silent => ['failed', qr/bad.pl silent' has sent no frame HELO .*hello=S.* no whole frame within 1 s; it printed: who is there\?$/],
  half => ['failed', qr/bad.pl half' has sent no frame HELO .* no whole frame within 1 s$/],
  noise => ['failed', qr/bad.pl noise' has sent no frame HELO: .*no frame of the protocol/],
  version => ['skipped', qr/speaks version '2' of the protocol, this build version 1/],
  die => ['failed', qr/step: the program has ended with exit status \d+; it printed: I am dying/],
  signal => ['failed', qr/was ended by signal 11/],
  hang => ['timed-out', qr/time limit of 4 s reached in step 2/],
  close => ['failed', qr/has closed its socket/],
  garbage => ['failed', qr/no frame of the protocol/],
  short => ['failed', qr/frame DONE has 3 numbers/],
  long => ['failed', qr/announces a frame DONE of .*80000000 of numbers/],
  fail => ['failed', qr/the program gives up: I cannot go on/],
  nan => ['not-finite', qr/step 2 left a state that is not finite/],
  print => ['completed', qr/^$/],
  memory => ['out-of-memory', qr/memory/],
);
delete @wanted{qw(memory)} if sanitized();
# As nothing moves, audits fail: what happens to the case is what is asked here.
my ($code) = run('run', $beam, map({ ('-s', (/^(silent|half)$/ ? $bad =~ s/:/:hello=1,/r : $bad) . " $_") } sort keys %wanted), '--steps', '3', '--timeout', '4', '--memory', '200', '-o', 'bad.h5');
is($code, 3, 'programs that go wrong: a solver failed');
my %run = map { $_->{options} =~ / (\w+)$/ ? ($1 => $_) : () } runs_in('bad.h5');
for my $fault (sort keys %wanted) {
  my ($outcome, $detail) = @{$wanted{$fault}};
  is($run{$fault}{outcome}, $outcome, "$fault: $outcome");
  like($run{$fault}{detail}, $detail, "$fault: the cause in words");
}

# ---- others that work for it, and work while the clock stands
run('run', $beam, '-s', "$bad child", '-s', "$bad orphan", '-s', "$bad none", '--steps', '4', '-o', 'others.h5');
%run = map { $_->{options} =~ / (\w+)$/ ? ($1 => $_) : () } runs_in('others.h5');
for my $fault (qw(child orphan)) {
  is($run{$fault}{outcome}, 'failed', "$fault: a program that starts another one fails");
  like($run{$fault}{audit_rules}, qr/process/, '  by the rule of the process');
  like($run{$fault}{detail}, qr/has started another process/, '  in words');
}
unlike($run{none}{audit_rules}, qr/process|hidden-work|memory/, 'a program alone keeps that rule, and those of work and memory');
is(scalar(grep { slurp("$_/cmdline") =~ /\Q@{[scratch('bad.pl')]}\E/ } glob '/proc/[0-9]*'), 0, 'no process is left');
# A command of two lines is one name in the data of plots.
run('run', $beam, map({ ('-s', "$bad none 2 'x\n$_'") } 'y', 'z'), '--steps', '3', '-o', 'lines.h5');
is_code(0, 'a report of commands of two lines', 'report', 'lines.h5', '-o', 'lines');
my @plots = glob scratch('lines/*.dat');
ok(@plots && !(grep { !/^(?:["#]|[-\d.]|nan|$)/ } map { split /\n/, slurp($_) } @plots), '  has whole lines in the data of its plots');
run('run', 'bench/beam', '-s', "$bad burn", '-s', "$bad others", '--steps', '60', '-o', 'burn.h5');
%run = map { $_->{options} =~ / (\w+)$/ ? ($1 => $_) : () } runs_in('burn.h5');
for my $fault (qw(burn others)) {
  # Another process may be met at work, which ends the case before its time has added up.
  like($run{$fault}{audit_rules}, qr/hidden-work|process/, "$fault: work while the clock stands is seen");
}
done_testing();
