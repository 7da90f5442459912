#!/usr/bin/perl
# The machine's rates: measured once, kept, and measured again when they may be others.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

plan skip_all => 'rates are those of the standard build' if sanitized();

delete $ENV{ELASTOBENCH_NO_RATES};
my $kept = scratch('cache/elastobench/rates.txt');

# The environment of a run.
sub environment {
  my ($name) = @_;
  is_code(0, "$name: a run", 'run', 'bench/beam:resolution=0.125', '-s', 'semi-implicit', '--steps', '1', '-o', 'r.h5', '--overwrite');
  my (undef, $out) = run('export', 'r.h5', '--to', 'json');
  my $environment = decode_json($out)->{environment};
  ok($environment->{dgemm_flop_per_second} > 1e6 && $environment->{triad_all_byte_per_second} > 1e6, "$name: rates");
  return $environment;
}

# Sets apart what is measured anew: nobody measures this.
sub mark {
  my $text = slurp($kept);
  $text =~ s/^rates \S+/rates 12500000/m or die 'no rates are kept';
  spew($kept, $text);
}

my $first = environment('first');
like($first->{rates_measured_at}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, 'it says when they were measured');
ok(-s $kept, 'and keeps them');
mark();
my $again = environment('again');
cmp_ok($again->{dgemm_flop_per_second}, '==', 12500000, 'kept rates are taken');
is($again->{rates_measured_at}, $first->{rates_measured_at}, 'with the time of their measurement');
{
  local $ENV{OMP_PROC_BIND} = 'true';
  cmp_ok(environment('other settings')->{dgemm_flop_per_second}, '!=', 12500000, 'other settings: measured again');
}
my %damage = (
  'cut off' => sub { substr $_[0], 0, -20 },
  'empty' => sub { '' },
  'no number' => sub { $_[0] =~ s/^rates \S+/rates nan/mr },
  'another boot' => sub { $_[0] =~ s/^key ./key f0/mr },
  'yesterday' => sub { $_[0] =~ s/^measured (\d+)/'measured ' . ($1 - 90000)/mer },
  'tomorrow' => sub { $_[0] =~ s/^measured (\d+)/'measured ' . ($1 + 90000)/mer },
  'more' => sub { "$_[0]more\n" },
);
for my $name (sort keys %damage) {
  environment("before $name") unless slurp($kept) =~ /^rates /m;
  mark();
  spew($kept, $damage{$name}->(slurp($kept)));
  cmp_ok(environment($name)->{dgemm_flop_per_second}, '!=', 12500000, "$name: measured again");
}
unlink $kept;
mkdir $kept;
environment('a cache that cannot be written');
ok(-d $kept && !glob("$kept.*"), 'is no error and leaves nothing');

done_testing();
