#!/usr/bin/perl
# The recipe of solvers/README.md, to the letter: its solver as a plug-in against the installed headers, then built in.
use strict;
use warnings;
use File::Basename qw(dirname);
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

plan skip_all => 'only the standard build is installed' if ($ENV{BUILD} // 'build') ne 'build';
delete @ENV{qw(MAKEFLAGS MFLAGS)};

# Blocks of code: lines indented by four.
my ($recipe) = slurp(root() . '/solvers/README.md') =~ /^## A solver in ten minutes\n(.*?)^## /ms;
my @blocks = map { s/^    //gmr } $recipe =~ /((?:^(?:    .*)?\n)+)/mg;
@blocks = grep { /\S/ } @blocks;
is(@blocks, 3, 'the recipe is a program and two lists of commands') or BAIL_OUT('no recipe');
my ($program, $plugin, $built_in) = @blocks;
spew(scratch('leap.c'), $program);

sub commands_run {
  my ($folder, $commands, $name) = @_;
  my $out = qx(cd '$folder' && sh -ec '@{[$commands =~ s/'/'\\''/gr]}' 2>&1);
  ok($? == 0, $name) or diag $out;
}

# ---- a plug-in
my $prefix = scratch('usr');
commands_run(root(), "make --no-print-directory install PREFIX=$prefix", 'make install');
local $ENV{PKG_CONFIG_PATH} = "$prefix/lib/pkgconfig";
local $ENV{PATH} = "$prefix/bin:$ENV{PATH}";
commands_run(scratch(), "cc -std=c17 -Wall -Wextra -Werror -fsyntax-only \$(pkg-config --cflags elastobench) leap.c", 'the program has no warnings');
commands_run(scratch(), $plugin, 'it builds and runs as a plug-in');
ok(-s scratch('leap.h5'), '  and leaves a result');
is_code(0, 'so does the worked example of the README', 'check', 'explicit', '--plugin', plugin('explicit'));
# An option of its own may be called as one of ours is: what it means is the plug-in's.
(my $namesake = $program) =~ s/(?=\{"substeps")/{"linear", EB_OPTION_CHOICE, "mine", 0, 0, "mine|other", "", "not ours"}, /;
spew(scratch('leap.c'), $namesake);
commands_run(scratch(), $plugin =~ s/^.* run .*\n//mr, 'one with an option `linear` of its own passes the checks too');
spew(scratch('leap.c'), $program);

# ---- built in, in a copy of the source beside links to what stays as it is
my ($tree, $root) = (scratch('tree'), root());
mkdir $tree or die;
commands_run($tree, <<"END", 'a copy of the source, with what is built of it');
ln -s $root/Makefile $root/deps.sh $root/harness $root/problems $root/reports $root/tests .
cp -a $root/solvers solvers
mkdir build
cp -a $root/build/obj build/obj
cp -a $root/build/*.a build
cp ../leap.c .
END
commands_run($tree, $built_in, 'it builds and runs built in');
ok(-s "$tree/leap-built-in.h5", '  and leaves a result');
done_testing;
