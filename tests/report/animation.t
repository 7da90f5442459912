#!/usr/bin/perl
# Frames as pictures, still and moving. The moving ones are unpacked by a reader of the test's own, and must show what the still ones show.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

is_code(0, 'beams that sag', 'run', 'bench/beam:resolution=0.25', '-s', 'newton', '-s', 'conjac', '--steps', '8', '--repeat', '2', '--frames', 'all', '-o', 'r.h5');
my ($newton) = grep { /newton\.r0/ } map { $_->{id} } runs_in('r.h5');
my @small = ('--size', '120x90', '--run', $newton);

my $python = python('zlib');
sub look {
  my ($gif, $folder) = @_;
  return decode_json(qx($python '@{[root()]}/tests/support/read_gif.py' '@{[scratch($gif)]}' '@{[scratch($folder)]}'));
}

# ---- stills
my ($out) = is_code(0, 'stills', 'export', 'r.h5', '--to', 'png', @small, '-o', 'stills');
is($out, join('', map { "stills/r.$newton/step_000$_.png\n" } 0 .. 8), 'a file a frame, named by its step');
($out) = is_code(0, 'one still', 'export', 'r.h5', '--to', 'png', @small, '--steps', '4', '-o', 'four.png');
is($out, "four.png\n", 'a file by its name');
like_error(2, qr/-o four.png takes one frame, and there are 9/, '  but of one frame alone', 'export', 'r.h5', '--to', 'png', @small, '-o', 'four.png');

# ---- the same, moving
SKIP: {
  skip 'no python', 12 if !$python;
  my ($name, $remarks) = is_code(0, 'a moving picture', 'export', 'r.h5', '--to', 'gif', @small, '-o', 'films');
  is($name, "films/r.$newton.gif\n", 'has a name of its own');
  like($remarks, qr/in slow motion, at 0\.\d+ of its speed/, 'and says that it is slower than the scene, which is short');
  my $seen = look("films/r.$newton.gif", "stills/r.$newton");
  is_deeply($seen->{size}, [120, 90], 'of the size that was asked for');
  is($seen->{loops}, 0, 'for ever');
  is($seen->{frames}, 9, 'with every frame');
  my $all = 0;
  $all += $_ for @{$seen->{delays}}[0 .. 7];
  is($all, 300, 'that takes three seconds to its last frame');
  # 255 colours for shades of one body on one ground: two levels on average, and none off by what one sees
  my @off = grep { $_->[0] > 2 || $_->[1] > 24 } @{$seen->{off}};
  is_deeply(\@off, [], 'and shows what the stills show');
  isnt(slurp(scratch("stills/r.$newton/step_0000.png")), slurp(scratch("stills/r.$newton/step_0008.png")), 'which move');

  is_code(0, 'by steps and at a speed', 'export', 'r.h5', '--to', 'gif', @small, '--steps', '0..8/4', '--speed', '0.01', '-o', 'slow.gif');
  is_code(0, '  and its stills', 'export', 'r.h5', '--to', 'png', @small, '--steps', '0..8/4', '-o', 'slow');
  $seen = look('slow.gif', "slow/r.$newton");
  my ($run) = grep { $_->{id} eq $newton } runs_in('r.h5');
  my $apart = int(100 * 4 * $run->{dt} / 0.01 + 0.5);
  # rounded from one frame to the next, so that they keep pace
  ok(@{$seen->{delays}} == 3 && !(grep { abs($_ - $apart) > 1 } @{$seen->{delays}}), 'frames are shown for as long as asked') or diag(join ' ', @{$seen->{delays}});
  is(scalar(grep { $_->[0] > 2 } @{$seen->{off}}), 0, '  and they are those');
  is_code(0, 'faster than a film goes', 'export', 'r.h5', '--to', 'gif', @small, '--speed', '1', '-o', 'fast.gif');
  my $fast = look('fast.gif', 'none');
  ok($fast->{frames} < 9 && !(grep { $_ < 4 } @{$fast->{delays}}), 'leaves frames out');
}

# ---- which runs, seen from where
($out) = is_code(0, 'all runs', 'export', 'r.h5', '--to', 'gif', '--size', '60x40', '-o', 'all');
is(scalar(() = $out =~ /r0/g), 2, 'but no repetitions');
unlike($out, qr/r1/, '  which move as the first ones do');
is_code(0, "from $_", 'export', 'r.h5', '--to', 'png', @small, '--steps', '8', '--view', $_, '-o', "$_.png") for qw(front top), '0,1,0';
ok(slurp(scratch('front.png')) eq slurp(scratch('0,1,0.png')), 'a direction that has a name');
ok(slurp(scratch('front.png')) ne slurp(scratch('top.png')), '  and one that is another');

# ---- what cannot be
for my $case (
  [2, qr/-o x.gif takes one run, and there are 2; choose one by --run/, 'two runs in a file', '--to', 'gif', '-o', 'x.gif'],
  [2, qr/--size wants WIDTHxHEIGHT in pixels, each from 16 to 4096, not '4x'/, 'half a size', '--to', 'png', '--size', '4x'],
  [2, qr/--view wants .*not 'fornt' \(did you mean 'front'\?\)/, 'no view', '--to', 'png', '--view', 'fornt'],
  [2, qr/--view wants/, 'no direction', '--to', 'png', '--view', '0,0,0'],
  [2, qr/--speed/, 'no speed', '--to', 'gif', '--speed', '0'],
  [2, qr/still pictures have none/, 'a speed of stills', '--to', 'png', '--speed', '2'],
  [2, qr/--size is of --to gif and --to png, not of csv/, 'a size of a table', '--to', 'csv', '--size', '64x64'],
  [6, qr/no run has frames of these steps/, 'no such steps', '--to', 'gif', '--steps', '9..20'],
  ) {
  my ($code, $pattern, $name, @arguments) = @$case;
  like_error($code, $pattern, $name, 'export', 'r.h5', @arguments);
}
spew(scratch('kept.gif'), 'what was there');
my $line = "cd '@{[scratch()]}' && trap '' XFSZ && ulimit -f 0 && exec '@{[program()]}' export r.h5 --to gif --size 60x40 --run '$newton' -o kept.gif";
my $said = qx(bash -c "$line" 2>&1);
ok($? >> 8 == 1 && $said =~ /cannot write/, 'no room') or diag("$?\n$said");
is(slurp(scratch('kept.gif')), 'what was there', '  leaves what was there');
done_testing();
