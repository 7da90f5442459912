#!/usr/bin/perl
# The documented use of the Python package, executed: what is written in its README, the example that goes from a run to a plot, and pip.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

my $python = python('numpy', 'h5py') or plan skip_all => 'needs python3-numpy and python3-h5py';
my $folder = root() . '/python';
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$ENV{PYTHONPATH} = $folder;
$ENV{ELASTOBENCH} = program();

sub executes {
  my ($name, @line) = @_;
  my $said = qx({ cd '@{[scratch()]}' && @line; } 2>&1);
  is($?, 0, $name) or diag $said;
  return $said;
}

# ---- the README
my $text = slurp("$folder/README.md");
my ($results, $commands, $solver) = $text =~ /^```python\n(.*?)^```/msg;
cmp_ok(scalar(split /\n/, $text), '<=', 80, 'the README has 80 lines at most');
spew(scratch('results.py'), $results);
executes('its part on results', $python, 'results.py');
link scratch('r.h5'), scratch($_) or die for qw(base.h5 head.h5);
my ($short) = $commands =~ /^(.*?)^eb\.reproduce/ms; # a paper takes minutes: package.t reproduces a small one
spew(scratch('commands.py'), "import elastobench as eb\n$short");
executes('its part on commands', $python, 'commands.py');
spew(scratch('drift.py'), $solver);
my ($command) = $text =~ /^    elastobench (run .*external:.*)$/m;
my $said = executes('its solver', program(), $command =~ s/python3/$python/r, '; test $? -eq 4'); # it knows no forces
like($said, qr/audit failed.*\n *solver: external:\S+ drift\.py\n *broken rules: .*momentum/, '  runs, and its audit tells') or diag $said;

# ---- from a run to a plot
my $example = slurp("$folder/examples/work_precision.py");
my @code = grep { /\S/ && !/^#/ } split /\n/, $example =~ s/^""".*?"""\n//sr;
cmp_ok(scalar @code, '<=', 20, 'the example has twenty lines at most');
like($example, qr/^# %%/m, '  in the cells of a notebook');
$said = executes('the example', $python, "'$folder/examples/work_precision.py'");
like($said, qr/^ *0? *\w{4} +newton +\S+ +completed/m, '  shows its runs') or diag $said;
is(substr(slurp(scratch('work-precision.png')), 1, 3), 'PNG', '  and draws them');
for my $solver (qw(newton mfem lbfgs)) {
  my @runs = grep { $_->{solver} eq $solver && $_->{audit} eq 'passed' } runs_in('work-precision.h5');
  cmp_ok(scalar @runs, '>=', 3, "  $solver has a curve");
  my @errors = map { $_->{error} } @runs;
  cmp_ok($errors[-1], '<', 1e-3 * $errors[0], '  on which tolerances count');
}

# ---- pip
SKIP: {
  skip 'needs python3-pip, python3-setuptools and python3-wheel', 4 unless python('setuptools', 'wheel') && python('pip');
  delete local $ENV{PYTHONPATH};
  system('cp', '-r', $folder, scratch('source')) == 0 or die;
  executes('pip installs the folder without a network',
    $python, '-m pip install --quiet --no-build-isolation --no-deps --no-index --root-user-action ignore --target site ./source');
  local $ENV{PYTHONPATH} = scratch('site');
  $said = executes('what it has installed', $python, q(-c 'import elastobench as eb; print(eb.__file__, len(eb.open("r.h5")))'));
  like($said, qr{^\Q@{[scratch('site')]}\E/elastobench/__init__\.py 2$}m, '  is read from there');
  my ($info) = glob scratch('site/elastobench-*.dist-info/METADATA');
  like(slurp($info // ''), qr/^Requires-Dist: h5py$/m, '  and says what it needs');
}
done_testing();
