#!/usr/bin/perl
# elastobench check --scene: of a sound scene every figure holds; each fault that a scene of one's own may have is found by its own figure.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP;
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my $block = <<'END';
[scene]
title = a block is turned at one end
E     = 1e5 Pa
nu    = 0.3
rho   = 1000 kg/m^3
dt    = 5 ms
steps = 20

[body block]
shape = bar
size  = 20 cm, 5 cm, 5 cm
cubes = 4, 1, 1

[group foot]
end  = -x
END
my $held = "hold = yes\n";

# The names of the figures that fail on a scene that is so described, with a solver that takes a step.
sub failing {
  my ($text, @more) = @_;
  spew(scratch('scene.ini'), $text);
  my ($code, $out, $err) = run('check', '--scene', 'scene.ini', '-s', 'semi-implicit', '--steps', '1', '--seed', '1', @more);
  return ($code, [$out =~ /^FAILED (\S+)/mg], $out, $err);
}

my ($code, $failed, $out) = failing($block . "path = 0, 1 cm * ramp(t, 0, 50 ms), 0\n");
is_deeply([$code, @$failed], [0], 'every figure of a sound scene holds') or diag $out;
like($out, qr{^ok +scene/$_ }m, "$_ is checked")
  for qw(units/weight mesh/quality mesh/orientation-start mass/lumped forces/gradient-start forces/matrix-deformed forces/gradient-turned script/continuous);
like($out, qr{^note +scene/script/held +4 }m, 'what is held is said');
like($out, qr{^note +scene/mass/total +0\.5 .*^note +scene/mass/weight +4\.905 }ms, 'and the mass, and what it weighs');
like($out, qr{^ok +semi-implicit/steps/taken +1 >= 1 .*^ok +semi-implicit/steps/audit +0 <= 0 }ms, 'and what became of the step');

sub finds {
  my ($name, $wanted, $text) = @_;
  my ($code, $failed, $out) = failing($text);
  ok($code == 4 && grep({ $_ eq "scene/$wanted" } @$failed), "$name: $wanted") or diag $out;
  return $failed;
}
finds('a modulus a million times too small', 'units/weight', ($block . $held) =~ s/1e5 Pa/0.1 Pa/r);
finds('a step of an hour beside a stiff rod', 'units/long-step', ($block . $held) =~ s/5 ms/1 s/r =~ s/1e5 Pa/1e15 Pa/r =~ s/1000/1/r);
finds('a start that turns elements over', 'mesh/orientation-start', "$block$held\n[start]\nplace = -x, y, z\n");
finds('a start away from the script', 'script/start', $block . "path = 1 cm, 0, 0\n");
finds('a script that jumps', 'script/continuous', $block . "path = if(t < 33 ms, 0, 5 mm), 0, 0\n");
is_deeply(finds('bodies in each other', 'start/crossing',
    "$block$held\n[body other]\nshape = bar\nsize = 20 cm, 5 cm, 5 cm\ncubes = 4, 1, 1\nthen_move = 3 cm, 2 cm, 1 cm\n\n[contact]\nfriction = 0.3\n"),
  ['scene/start/crossing', 'semi-implicit/steps/taken'], '  and a solver without contact refuses the scene');
finds('a body in the floor', 'start/colliders', "$block$held\n[collider floor]\nshape = plane\norigin = 0, 0, 3 cm\n");

# ---- solvers
my ($json) = is_code(0, 'as JSON', 'check', '--scene', 'bench/beam:resolution=0.25', '-s', 'vbd:iterations=0,rtol=1e-6', '-s', 'newton', '--steps', '2',
  '--format', 'json');
my %figure = map { $_->{name} => $_ } @{decode_json($json)->{checks}};
is($figure{'newton/steps/taken'}{measured}, 2, '  has the steps');
ok(exists $figure{'vbd:iterations=0,rtol=1e-6/steps/audit'}, '  of solvers with their options');
ok(!defined $figure{'scene/mass/total'}{bound} && !defined $figure{'scene/mass/total'}{relation}, '  a note has no bound');
(undef, undef, $out) = failing($block . $held, '-s', 'vbd:iterations=1');
like($out, qr{^note +vbd:iterations=1/steps/known .*^FAILED vbd:iterations=1/steps/audit +\d+ <= 0 +rules of the audit that it breaks: \S+; .* step 1.*; what may help: }ms,
  'a solver that is named and breaks rules fails, with what is known of it') or diag $out;
spew(scratch('small.ini'), $block . $held);
($out) = is_code(0, 'without solvers', 'check', '--scene', 'small.ini', '--steps', '1');
like($out, qr{^\w+ +$_/steps/taken }m, "  $_ takes a step") for qw(newton pbfe conjac symplectic-euler);
unlike($out, qr{contact-al|pd/}, '  those for contact, and those that do not serve it, do not');

like_error(2, qr/no scene 'bench\/baem'.*did you mean 'bench\/beam'/, 'an unknown scene', 'check', '--scene', 'bench/baem');
like_error(2, qr/did you mean 'newton'/, 'an unknown solver', 'check', '--scene', 'small.ini', '-s', 'newtno');
like_error(2, qr/-s newton/, 'a solver without its flag', 'check', 'newton', '--scene', 'small.ini');
like_error(2, qr/--steps goes with --scene/, 'steps without a scene', 'check', '--steps', '3');

done_testing;
