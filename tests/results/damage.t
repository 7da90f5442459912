#!/usr/bin/perl
# Damaged result files: bytes changed at random places, files cut short. The program ends with 0 or 1, never by a signal; with a
# seal, damage is seen.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

# Longer by hand: DAMAGES=2000 ./tests/results/damage.t
my $damages = $ENV{DAMAGES} // (sanitized() ? 8 : 40);

is_code(0, 'a run', 'run', 'bench/beam:resolution=0.5', '-s', 'newton', '--steps', '2', '-o', 'good.h5');
my $sealed = slurp(scratch('good.h5'));
# As older programs and others write it: a seal is 32 bytes at the end. Without, damage that can be read is not seen.
my $good = substr($sealed, 0, length($sealed) - 32);
spew(scratch('good.h5'), $good);

# One of five kinds of damage, by number.
sub damage {
  my ($number) = @_;
  srand(20250000 + $number);
  my ($bytes, $at) = ($good, int rand length $good);
  my $span = 1 + int rand 64;
  my $kind = $number % 5;
  if ($kind == 0) { substr($bytes, $at, 1) ^= chr(1 << int rand 8) }
  elsif ($kind == 1) { substr($bytes, int rand length $bytes, 1) = chr int rand 256 for 1 .. $span }
  elsif ($kind == 2) { substr($bytes, $at, $span) = join '', map { chr int rand 256 } 1 .. $span }
  elsif ($kind == 3) { substr($bytes, $at, $span) = chr(255 * int rand 2) x $span }
  else { $bytes = substr($bytes, 0, $at) }
  spew(scratch('damaged.h5'), $bytes);
}

my @commands = (
  ['csv', 'export', 'damaged.h5', '--to', 'csv', '-o', 'out.csv'],
  ['json', 'export', 'damaged.h5', '--to', 'json', '-o', 'out.json'],
  ['xdmf', 'export', 'damaged.h5', '--to', 'xdmf', '-o', 'movies'],
  ['vtu', 'export', 'damaged.h5', '--to', 'vtu', '-o', 'grids'],
  ['merge', 'merge', 'merged.h5', 'damaged.h5', '--overwrite'],
);
push @commands, ['report', 'report', 'damaged.h5', 'good.h5', '-o', 'page'] if $ENV{DAMAGES};

my (%ended, @wrong);
for my $number (1 .. $damages) {
  damage($number);
  # Each command in turn sees some of the damages; by hand, all.
  for my $command ($ENV{DAMAGES} ? @commands : $commands[$number % @commands]) {
    my ($name, @arguments) = @$command;
    my ($code, undef, $err) = run(@arguments);
    $ended{"$name $code"}++;
    push @wrong, "damage $number: $name ended with $code: $err" if $code != 0 && $code != 1;
    push @wrong, "damage $number: $name gives no reason" if $code == 1 && $err !~ /^elastobench: \S/m;
  }
}
is_deeply(\@wrong, [], "$damages damaged files are read or refused in words");
diag(join ', ', map { "$_: $ended{$_}" } sort keys %ended) if $ENV{DAMAGES};
ok((grep { / 1$/ } keys %ended) && (grep { / 0$/ } keys %ended), 'some are refused, some are not hurt');

# ---- one bit of a sealed file
is_code(0, 'a file without a seal is read', 'export', 'good.h5', '--to', 'json', '-o', 'good.json');
spew(scratch('good.h5'), $sealed);
my @readers = (
  ['export', 'damaged.h5', '--to', 'csv', '-o', 'none'],
  ['merge', 'none', 'good.h5', 'damaged.h5'],
  ['report', 'damaged.h5', '-o', 'none'],
  ['history', 'add', 'damaged.h5', '--store', 'none'],
  ['compare', 'good.h5', 'damaged.h5'],
  ['run', 'bench/beam:resolution=0.5', '-s', 'newton', '-o', 'damaged.h5', '--resume'],
  ['run', 'bench/beam:resolution=0.5', '-s', 'newton', '-o', 'none', '--from', 'damaged.h5:any@1'],
);
my @places = map { length($sealed) - $_ } 1 .. 32;
srand(20260000);
push @places, map { int rand length($sealed) - 32 } 1 .. $damages;
my @unseen;
for my $number (0 .. $#places) {
  my $bytes = $sealed;
  substr($bytes, $places[$number], 1) ^= chr(1 << int rand 8);
  spew(scratch('damaged.h5'), $bytes);
  for my $reader ($ENV{DAMAGES} ? @readers : $readers[$number % @readers]) {
    my ($code, undef, $err) = run(@$reader);
    push @unseen, "$places[$number]: @$reader ended with $code: $err" if $code != 1 || $err !~ /'damaged\.h5' is damaged/ || -e scratch('none');
  }
  push @unseen, "$places[$number]: the file has changed" if slurp(scratch('damaged.h5')) ne $bytes;
}
is_deeply(\@unseen, [], 'is refused by every command that reads it, by its name');

# ---- and read all the same
my $broken = $sealed;
substr($broken, -1) ^= "\1"; # of the seal, so that what is read is known
spew(scratch('damaged.h5'), $broken);
my (undef, $told) = is_code(0, '--damaged reads it', 'export', 'damaged.h5', '--to', 'json', '-o', 'all.json', '--damaged');
like($told, qr/'damaged\.h5' is damaged, and read all the same/, '  and says so');
ok(slurp(scratch('all.json')) =~ s/damaged\.h5/good.h5/r eq slurp(scratch('good.json')), '  and what it reads is there');
is_code(0, 'a report with --damaged', 'report', 'damaged.h5', '-o', 'all', '--damaged');
like(slurp(scratch('all/index.html')), qr/&#39;damaged\.h5&#39; is damaged, and read all the same|'damaged\.h5' is damaged, and read all the same/, '  says so on its page');
my ($same) = is_code(0, 'a comparison with it', 'compare', 'good.h5', 'damaged.h5', '--damaged');
like($same, qr/^verdict: /m, '  has a verdict');
like_error(2, qr/merge has no option '--damaged'/, 'what would be sealed anew has no such option', 'merge', 'none', 'damaged.h5', '--damaged');

# ---- what becomes of the others
spew(scratch('half.h5'), substr($good, 0, length($good) / 2));
spew(scratch('empty.h5'), '');
my ($out, $err) = is_code(1, 'a report of a good file and two bad ones', 'report', 'half.h5', 'good.h5', 'empty.h5', '-o', 'page');
is($out, "page/index.html\n", 'is written');
like($err, qr/^elastobench: .*half\.h5/m, 'the first bad one is named');
like($err, qr/^elastobench: 'empty\.h5' is not a result file/m, 'the second too');
my $page = slurp(scratch('page/index.html'));
like($page, qr/Files that could not be read.*half\.h5.*empty\.h5/s, 'and both on the page');
like($page, qr/bench\/beam/, 'which has the good one');
like_error(1, qr/there is no file to report on/, 'a report of bad files only', 'report', 'half.h5', '-o', 'none');
ok(!-e scratch('none'), 'writes nothing');

spew(scratch('old.h5'), 'kept');
like_error(1, qr/half\.h5/, 'merging a bad file', 'merge', 'old.h5', 'good.h5', 'half.h5', '--overwrite');
is(slurp(scratch('old.h5')), 'kept', 'leaves the target alone');
is_deeply([glob scratch('old.h5.*')], [], 'and nothing beside it');
like_error(1, qr/half\.h5/, 'the same without a target', 'merge', 'fresh.h5', 'half.h5');
ok(!-e scratch('fresh.h5'), 'makes none');

done_testing;
