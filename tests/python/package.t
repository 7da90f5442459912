#!/usr/bin/perl
# The Python package: files that the program has made, read by it, against the schema and what the program says of them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

my $python = python('numpy', 'h5py');
plan skip_all => 'needs python3-numpy and python3-h5py' unless $python;
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
$ENV{PYTHONPATH} = root() . '/python';
$ENV{ELASTOBENCH} = program();
chdir scratch() or die;
exec $python, root() . '/tests/support/read_by_package.py', root() or die "cannot start $python: $!";
