#!/usr/bin/perl
# Twenty rigid boxes that land on each other: edges that are nearly parallel meet, and their normals jump from one trial of a step to the next. What is
# accepted has to have normals that the features have somewhere on their way, which the audit asks for.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/support";
use Program;
use Test::More;

for my $solver ('contact-al', 'contact-ica', 'contact-cr:polish=true') {
  is_code(0, "normals are the geometry's: $solver", 'run', 'verschoor2019/stack:bodies=20', '-s', $solver, '--steps', 30, '-o', 'stack.h5', '--overwrite');
}
done_testing;
