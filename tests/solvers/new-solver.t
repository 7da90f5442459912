#!/usr/bin/perl
# Solvers to start from, and the tutorial to the letter.
use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/../support';
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
like($out, qr/^bench\/beam +leap +1 +completed/m, 'and it completes');
like($out, qr{^ok +leap/conformance/$_ }m, "  it conforms: $_") for qw(steps answers threads heap refusals);
like($out, qr/^\d+ figures, 0 out of bounds$/m, '  and no check is out of bounds');

# ---- plug-ins that do not conform: the skeleton with one fault each
my $source = slurp(scratch('here/leap.c'));
my $scenes = '.capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HYPERELASTIC | EB_CAP_SCRIPTED,';
my %faults = (
  lazy => [qr/  state->step\+\+;\n/, '', qr/lazy\/conformance\/steps .*: the step was not counted/],
  leaky => [qr/  state->step\+\+;\n/, "  state->step++;\n  solver->scene = malloc(1000) ? scene : NULL;\n", qr/leaky\/conformance\/heap .*: the heap grows by \d+ bytes in 3 steps/],
  divided => [qr/ h = dt \/ \(double\)parts,/, ' h = dt / (double)(parts + solver->threads - 1),', qr/divided\/conformance\/threads .*: other bits with two threads/],
  weary => [qr/isfinite\(sum\) \?/, 'sum == 0 ?', qr/weary\/conformance\/answers .*: EB_DIVERGED_NAN/],
);
for my $fault (sort keys %faults) {
  my ($from, $to) = @{$faults{$fault}};
  my $text = $source =~ s/$from/$to/r =~ s/"leap"/"$fault"/r =~ s/\.capabilities = .*?,\n/$scenes\n/sr =~ s/"100"/"20"/r;
  spew(scratch("here/$fault.c"), $text);
  qx(cc -O2 -shared -fPIC -I'$prefix/include/elastobench' '@{[scratch("here/$fault.c")]}' -o '@{[scratch("here/$fault.so")]}' 2>&1);
}
($out) = is_code(4, 'plug-ins that do not conform', 'check', map { ('--plugin', "here/$_.so") } sort keys %faults);
like($out, qr/^FAILED $faults{$_}[2]/m, "  $_ is named") for sort keys %faults;
is(() = $out =~ /^FAILED \w+\/conformance/mg, scalar keys %faults, '  each for its fault alone');
like_error(2, qr/is there already/, 'it writes over nothing', 'new-solver', 'leap', '-o', 'here');

# ---- what is wrong
like_error(2, qr/there is a solver 'newton' already/, 'the name of another', 'new-solver', 'newton');
like_error(2, qr/small letters.*not 'A b'/, 'a name that is none', 'new-solver', 'A b');
like_error(2, qr/no client for 'pyton' \(did you mean 'python'\?\)/, 'a language that is none', 'new-solver', 'x', '--external', 'pyton');

# ---- what is missing is told in a sentence, before anything is written
mkdir scratch('bare');
spew(scratch('bare/python3'), "#!/bin/sh\nexec /usr/bin/python3 -S \"\$@\"\n"); # without the site's packages
chmod 0755, scratch('bare/python3');
{
  local $ENV{PATH} = scratch('bare') . ":$ENV{PATH}";
  my ($said, $err) = is_code(1, 'a Python without numpy', 'new-solver', 'bare', '--external', 'python', '-o', 'bare-solver');
  like($err, qr/^elastobench: the new solver needs python3 with the package numpy \(Debian: python3-numpy\), which is not there; nothing was written$/, '  is told')
    or diag $said;
  ok(!-e scratch('bare-solver'), '  and leaves the folder free');
  spew(scratch('elastobench_client.py'), slurp(root() . '/python/elastobench/client.py'));
  spew(scratch('bare.py'), "import elastobench_client as eb\n");
  is_code(3, 'a program without numpy', 'run', 'bench/beam:resolution=0.25', '-s', 'external:python3 bare.py', '--steps', '1', '-o', 'bare.h5');
  my ($run) = runs_in('bare.h5');
  like("$run->{detail} $run->{output}", qr/the client needs numpy, which \S+ does not have \(Debian: python3-numpy\)/, '  says so');
  unlike("$run->{detail} $run->{output}", qr/Traceback/, '  without a traceback');
}

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
