#!/usr/bin/perl
# Twenty rigid boxes that land on each other: edges that are nearly parallel meet, and their normals jump from one trial of a step to the next. What is
# accepted has to have normals that the features have somewhere on their way, which the audit asks for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

for my $solver ('contact-al', 'contact-ica', 'contact-cr:polish=true') {
  is_code(0, "normals are the geometry's: $solver", 'run', 'verschoor2019/stack:bodies=20', '-s', $solver, '--steps', 30, '-o', 'stack.h5', '--overwrite');
}

# Rigid velocities satisfy their equations to rounding when the next contacts close: conjugate residuals then have no first step.
for my $solver ('contact-sp', 'contact-sp:inner=2xcr') {
  is_code(0, "solved from the first contact on: $solver", 'run', 'verschoor2019/stack', '-s', $solver, '--steps', 40, '-o', 'first.h5', '--overwrite');
}

# Bodies at rest are left where they are. Lifted to the whole gap they would fall back, at a millionth of a joule and more (they weigh 625 kg).
is_code(0, 'ten boxes', 'run', 'verschoor2019/stack', '-s', 'contact-al', '--steps', 200, '-o', 'rest.h5');
is_code(0, '  as a table', 'export', 'rest.h5', '--to', 'csv', '-o', 'rest.csv');
my ($before) = slurp(scratch('rest.csv')) =~ /^(.*?),kinetic \(J\)/;
my $columns = () = $before =~ /,/g;
my $last = (split /\n/, slurp(scratch('rest.csv')))[-1] =~ s/"[^"]*"/text/gr;
cmp_ok((split /,/, $last)[$columns + 1], '<', 1e-7, '  lie still');
done_testing;
