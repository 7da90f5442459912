#!/usr/bin/perl
# What `info` tells of what a scene came to - box, mass, materials, what is held and what may touch - and its picture.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

sub near { my ($a, $b) = @_; return abs($a - $b) <= 1e-12 * abs($b) }

sub told {
  my ($scene) = @_;
  my ($out) = is_code(0, "info of $scene", 'info', $scene, '--format', 'json');
  return decode_json($out || '{}');
}

# A bar of known size: 1 x 0.2 x 0.2 m, clamped at one end.
my $beam = told('bench/beam:resolution=0.5,rho=2000');
is_deeply($beam->{box}, [[0, 0, 0], [1, 0.2, 0.2]], '  its box');
ok(near($beam->{mass}, 80) && $beam->{bodies} == 1, '  its mass, in one body') or diag $beam->{mass};
is_deeply([map { "$_->{name} $_->{material} $_->{E} $_->{elements}" } @{$beam->{regions}}], ['body stable-neo-hookean 1000000 1920'], '  its region')
  or diag explain $beam->{regions};
is_deeply([map { "$_->{name} $_->{nodes} $_->{held_at_start} $_->{script}" } @{$beam->{groups}}], ['lower-end 25 25 held'], '  the nodes that are held');
ok(!$beam->{contact}{constraints} && !@{$beam->{contact}{colliders}}, '  and no contact');
is_deeply($beam->{gravity}, [0, 0, -9.8], '  gravity') or diag explain $beam->{gravity};

my $twist = told('conjac2020/twist');
is_deeply([map { $_->{script} =~ /^(\w+)/ } @{$twist->{groups}}], ['held', 'moved'], '  one end is held, the other moves');
my $hetero = told('trusty2023/cantilever:resolution=0.3');
ok(@{$hetero->{regions}} > 1, '  regions by name');
my $sum = 0;
$sum += $_->{mass} for @{$hetero->{regions}};
ok(near($sum, $hetero->{mass}), '  whose masses are that of all');
my $incline = told('verschoor2019/incline:mu=0.25');
ok($incline->{contact}{constraints} && $incline->{contact}{friction} == 0.25 && @{$incline->{contact}{obstacles}} == 1, '  contact as constraints');
is_deeply($incline->{groups}, [], '  nothing is held');
my $drop = told('hecht2012/bear-squash:resolution=0.05');
ok(@{$drop->{contact}{colliders}} > 0 && $drop->{contact}{colliders}[0]{kind}, '  colliders by their kinds');

# In words.
my ($out) = is_code(0, 'in words', 'info', 'conjac2020/twist');
like($out, qr/^box: 0 -0\.0225 -0\.0225 to 0\.15 0\.0225 0\.0225 m at the start$/m, '  the box');
like($out, qr/^lower-end +49 +held$/m, '  the held end');
like($out, qr/^upper-end +49 +moved, by 0\.12\d+ m at most$/m, '  the moved one');
like($out, qr/^contact: none$/m, '  contact');
($out) = is_code(0, 'millimetres beside pascals', 'info', 'bench/beam:resolution=0.25,E=1e-3');
like($out, qr/^note: /m, '  are told');

# The picture.
is_code(0, 'a picture', 'info', 'bench/beam:resolution=0.25', '--picture', 'beam.png');
like(slurp(scratch('beam.png')), qr/^\x89PNG/, '  is a PNG file');
is_code(0, 'a picture of bodies and an obstacle', 'info', 'verschoor2019/stack', '--picture', 'stack.png');
ok(-s scratch('stack.png') > 2000, '  is not empty');
like_error(2, qr/a picture is a PNG file: name it so, as in scene\.png, not 'beam\.gif'/, 'of another kind', 'info', 'bench/beam', '--picture', 'beam.gif');
like_error(2, qr/--picture is of a scene, and 'newton' is none/, 'of a solver', 'info', 'newton', '--picture', 'n.png');
like_error(1, qr/nowhere/, 'where nothing can be written', 'info', 'bench/beam', '--picture', 'nowhere/beam.png');

done_testing();
