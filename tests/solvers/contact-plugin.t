#!/usr/bin/perl
# The worked example of a plug-in for contact keeps what solvers for contact keep; tests/cli/install.t builds it against the installed headers alone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

my @barrier = ('--plugin', plugin('barrier'), '-s', 'barrier');
# A slope with friction; bodies between plates that close from 0.5 s on; bodies on bodies, which come to rest.
my @scenes = ('incline:resolution=0.5', 'wedge:bodies=2,resolution=0.34,dt=5e-3', 'pyramid:layers=2,gap=0.0003,dt=2e-3', 'two-blocks.ini');
my %steps = ($scenes[0] => 200, $scenes[1] => 200, $scenes[2] => 8, $scenes[3] => 250);
for my $scene (@scenes) {
  my $file = $scene =~ /ini$/ ? root() . "/problems/scenes/examples/$scene" : "verschoor2019/$scene";
  is_code(0, "$scene: it passes the audit", 'run', $file, @barrier, '--steps', $steps{$scene}, '-o', 'run.h5', '--overwrite');
  my ($run) = runs_in('run.h5');
  is($run->{audit}, 'passed', '  and is said to');
  cmp_ok($run->{error}, '<', 1e-4, '  to the part of the forces that it asks for');
}
is_code(0, 'and the checks of slopes, impacts and agreement with built-in solvers', 'check', 'barrier', '--plugin', plugin('barrier'));
# A barrier that nearly lets bodies pass is still one: what it lacks is distance, not safety.
is_code(0, 'soft, it still lets nothing pass', 'run', 'verschoor2019/incline:resolution=0.5', '--plugin', plugin('barrier'), '-s', 'barrier:stiffness=0.01', '--steps', '40',
  '-o', 'soft.h5');
done_testing;
