#!/usr/bin/perl
# What is seen of a case while it runs: on a terminal a line that is rewritten in place, and nothing of the kind elsewhere.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

my @hang = ('run', 'bench/beam:resolution=0.5', '--plugin', plugin('faulty'), '-s', 'faulty:fault=hang,at=3', '-s', 'newton', '--steps', '40', '--timeout', '5');
my $columns = 90;

# In a terminal of so many columns (script is in Debian's bsdutils): all that the program writes there.
sub on_terminal {
  my ($log, @arguments) = @_;
  my $line = join ' ', "stty cols $columns;", 'exec', map { "'$_'" } program(), @arguments;
  system "cd '@{[scratch()]}' && script -qec \"$line\" $log >/dev/null 2>&1 </dev/null";
  return slurp(scratch($log));
}

SKIP: {
  skip 'no script', 7 if system('script --version >/dev/null 2>&1') != 0;
  my $seen = on_terminal('typescript', @hang, '-o', 't.h5');
  my @drawn = $seen =~ /\r\e\[K([^\r\n]+)/g;
  my @of_line = grep { /^\[1\/2\] .*  step 2/ } @drawn;
  cmp_ok(scalar @of_line, '>=', 4, 'a step that hangs is told of every second') or diag($seen);
  like("@of_line", qr{  step 2/40, at the next for \d s, about}, 'with the step, and for how long it is at work');
  like($of_line[-1], qr{, about \d+ \S+ left, \d+ \S+ for all$}, 'and what is left of the case and of all');
  is_deeply([grep { length $_ >= $columns } @of_line], [], 'in lines that fit');
  like($of_line[-1], qr/^\[1\/2\] .*\.\.\..* r0  /, '  of which the name loses its middle');
  like($seen, qr/\r\e\[K(?:\[1\/2\] bench[^\r\n]* r0: )/, 'and it is gone before the line that stays');
  like($seen, qr/bench\/beam.*\r?\n.*2 of 2 cases in t.h5/s, 'the table comes below');
}

my ($code, $out, $err) = run(@hang, '-o', 'p.h5');
unlike("$out$err", qr/[\e\r]/, 'a pipe has no line that is rewritten');
is(scalar(() = $err =~ /^\[\d\/2\]/mg), 2, '  and a line a case');
done_testing();
