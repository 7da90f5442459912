#!/usr/bin/perl
# Laws see what is wrong: solvers that break one law each (tests/plugins/unlawful.c) show in the cells of that law, and the sound one in none.
use strict;
use warnings;
use FindBin;
use JSON::PP;
use Test::More;
use lib "$FindBin::Bin/../support";
use Program;

plan skip_all => 'the standard build measures' if sanitized();

# What each of these has to break, among the laws below; damping slows, and gravity drives, both what falls and what slides.
my %breaks = (
  none      => [],
  gravity   => ['fall', 'sliding', 'hanging'],
  modulus   => ['hanging'],
  friction  => ['repose', 'sliding'],
  creep     => ['repose', 'sliding', 'time-unit'],
  absolute  => ['sliding', 'time-unit', 'hanging'],
  numbering => ['fall', 'renumbered', 'sliding'],
  damping   => ['fall', 'sliding'],
);
my @laws = qw(repose sliding fall time-unit renumbered hanging);
my @faults = sort keys %breaks;

my ($code, $out, $err) = run('laws', '--quick', '-o', 'wrong', '--plugin', plugin('unlawful'), '--format', 'json', map({ ('-l', $_) } @laws),
  map { ('-s', "unlawful:fault=$_") } @faults);
is($code, 0, 'they are measured') or diag $err;
my %state;
for my $law (@{decode_json($out)->{laws}}) {
  for my $cell (@{$law->{solvers}}) {
    my ($fault) = $cell->{solver} =~ /fault=(\w+)/;
    $state{$fault}{$law->{law}} = $cell->{state};
  }
}
for my $fault (@faults) {
  my %wanted = map { $_ => 1 } @{$breaks{$fault}};
  for my $law (@laws) {
    is($state{$fault}{$law}, $wanted{$law} ? 'broken' : 'holds', "$fault: $law " . ($wanted{$law} ? 'is broken' : 'holds'));
  }
}
done_testing();
