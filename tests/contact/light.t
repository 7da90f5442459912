#!/usr/bin/perl
# A body of 37 g, for which the absolute tolerance of the paper is coarse: it is said before the run, with an option by which the body keeps the rules.
use strict;
use warnings;
use File::Basename qw(dirname);
use JSON::PP;
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my $file = scratch() . '/light.ini';
open my $out, '>', $file or die "$file: $!";
print $out <<'INI';
[scene]
title    = a block falls onto a floor
E        = 1e5 Pa
nu       = 0.3
rho      = 1000 kg/m^3
material = corotational
dt       = 2 ms
steps    = 40

[parameters]
edge = 3.333 cm, 1 to 100, of the cube

[body block]
shape = bar
size  = edge, edge, edge
cubes = 3, 3, 3

[start]
move = 0, 0, 1 mm

[obstacle floor]
shape = box
size  = 2 m, 2 m, 10 cm
move  = 0, 0, -5 cm

[contact]
friction = 0.3
INI
close $out or die "$file: $!";

# What is said before a run of these solvers.
sub told {
  my ($scene, @solvers) = @_;
  my (undef, $said) = is_code(0, "$scene, @solvers: a plan", 'run', $scene, (map { ('-s', $_) } @solvers), '--dry-run');
  return grep { /coarse for the lightest body/ } split /\n/, $said;
}

my @solvers = ('contact-ica', 'contact-cr:polish=true', 'contact-sp', 'contact-al');
my @said = told($file, @solvers);
is(scalar @said, @solvers, 'every solver with an absolute tolerance is told of');
like($said[0], qr/^elastobench: contact-ica on light: its tolerance eps1=5e-05 kg m\/s is coarse .* 0\.00073 kg m\/s.*not so with tolerance_kind=body, or eps1=9e-07 /,
     'with the impulse of 37 g in a step and what helps');
is_deeply([told("$file:edge=30", @solvers)], [], 'a heavy body is not light');
is_deeply([told("$file:gravity=0", @solvers)], [], 'nor is one that nothing pulls');
is_deeply([told($file, 'contact-delassus')], [], 'a direct solve leaves no residual');
is_deeply([told($file, map { $_ . ($_ =~ /:/ ? ',' : ':') . 'tolerance_kind=body' } @solvers)], [], 'nor is anything to be said of what helps');
is_deeply([told($file, 'contact-ica:eps1=9e-7')], [], 'by value either');

sub runs {
  my ($code, $what, @solvers) = @_;
  my ($text) = is_code($code, $what, 'run', $file, (map { ('-s', $_) } @solvers), '-o', scratch() . "/$code.h5", '--overwrite', '--format', 'json');
  return @{decode_json($text)->{runs}};
}
my @coarse = runs(4, 'at the defaults', 'contact-ica', 'contact-cr:polish=true');
for my $run (@coarse) {
  my ($momentum) = grep { $_->{rule} eq 'momentum' } @{$run->{broken}};
  ok($momentum && $momentum->{value} > 1, "$run->{solver} breaks momentum at its defaults");
}
for my $kind ('tolerance_kind=body', 'eps1=9e-7') {
  my @good = runs(0, "with $kind", "contact-ica:$kind", "contact-cr:$kind", "contact-cr:polish=true,$kind", "contact-sp:$kind", "contact-al:$kind");
  is_deeply([map { $_->{audit} } @good], [('passed') x 5], "with $kind all keep the rules");
}
done_testing;
