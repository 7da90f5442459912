#!/usr/bin/perl
# Solvers to start from, and the tutorial to the letter.
use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/support';
use Program;

plan skip_all => 'only the standard build is installed' if ($ENV{BUILD} // 'build') ne 'build';
delete @ENV{qw(MAKEFLAGS MFLAGS)};
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
# The system's Python has the system's numpy.
$ENV{PATH} = root() . "/build:/usr/bin:$ENV{PATH}";

# ---- a plug-in, by the headers of an installation
my $prefix = scratch('usr');
my $out = qx(make --no-print-directory -C '@{[root()]}' install PREFIX='$prefix' 2>&1);
is($?, 0, 'make install') or diag $out;
ok(-s "$prefix/share/elastobench/clients/$_", "the client $_ is installed") for qw(python/elastobench_client.py cpp/elastobench_client.hpp);
{
  local $ENV{PKG_CONFIG_PATH} = "$prefix/lib/pkgconfig";
  ($out) = is_code(0, 'a plug-in is written, built against the package and run', 'new-solver', 'leap', '-o', 'here');
  unlike($out, qr/not installed/, 'against the package');
}
ok(-s scratch("here/$_"), "  there is $_") for qw(leap.c leap.so first-run.h5);
like($out, qr/^bench\/beam +leap +1 completed/m, 'and it completes');
like_error(2, qr/is there already/, 'it writes over nothing', 'new-solver', 'leap', '-o', 'here');

# ---- what is wrong
like_error(2, qr/there is a solver 'newton' already/, 'the name of another', 'new-solver', 'newton');
like_error(2, qr/small letters.*not 'A b'/, 'a name that is none', 'new-solver', 'A b');
like_error(2, qr/no client for 'pyton' \(did you mean 'python'\?\)/, 'a language that is none', 'new-solver', 'x', '--external', 'pyton');

# ---- the tutorial
SKIP: {
  skip 'needs python3-numpy', 5 unless python('numpy');
  my $text = slurp(root() . '/solvers/TUTORIAL.md');
  my ($program) = $text =~ /^```python\n(.*?)^```/ms;
  my @commands = grep { /\S/ } map { s/^    //gmr } $text =~ s/^```.*?^```//gmsr =~ /((?:^    .+\n)+)/mg;
  is(@commands, 3, 'the tutorial has three lists of commands') or BAIL_OUT('no tutorial');
  for my $step (0 .. 2) {
    my $folder = $step ? scratch('mine') : scratch();
    spew(scratch('mine/mine.py'), $program) if $step == 1;
    my $said = qx(cd '$folder' && sh -ec '@{[$commands[$step] =~ s/'/'\\''/gr]}' 2>&1);
    is($?, 0, "its part @{[$step + 1]}") or diag $said;
  }
  my @runs = grep { $_->{solver} eq 'external' } runs_in('mine/mine.h5');
  ok(@runs == 1 && $runs[0]{audit} eq 'passed' && $runs[0]{error} < 1e-6, 'solves the equation that it declares') or diag $runs[0]{error};
  ok(-s scratch('mine/work/index.html'), 'and there is a report');
}
done_testing();
