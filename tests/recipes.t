#!/usr/bin/perl
# The recipes of the rooms' READMEs, executed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/support";
use File::Path qw(make_path);
use Program;
use Test::More;

plan skip_all => 'only the standard build is linked' if ($ENV{BUILD} // 'build') ne 'build';

# ---- problems/README.md: adding a scene
my $readme = slurp(root() . '/problems/README.md');
my ($scene) = $readme =~ /^## Adding a scene.*?\n```c\n(.*?)```\n/ms;
my ($entry) = $readme =~ /one line in `scenes\/catalogue\.h`: `(ENTRY\(\w+\))`/;
ok($scene && $entry, 'the README has the file of a scene and its line');

# The file and the catalogue with its line stand in front of the tree's own.
my $tree = scratch('tree');
make_path("$tree/problems/scenes");
my $catalogue = slurp(root() . '/problems/scenes/catalogue.h');
$catalogue =~ s/(#define EB_SCENES\(ENTRY\).*\n)/$1  $entry \\\n/;
spew("$tree/problems/scenes/mine.c", $scene);
spew("$tree/problems/scenes/catalogue.h", $catalogue);
spew("$tree/flags.mk", "flags:\n\t\@echo \$(ALL_CFLAGS)\nlibraries:\n\t\@echo \$(ALL_LDFLAGS)\nbehind:\n\t\@echo \$(PKG_LIBS)\n");

sub of_make {
  my ($what) = @_;
  my $text = qx(cd '@{[root()]}' && env -u MAKEFLAGS -u MFLAGS make -s --no-print-directory -f Makefile -f '$tree/flags.mk' $what);
  chomp $text;
  return $text;
}

sub succeeds {
  my ($command, $name) = @_;
  my $out = qx(cd '@{[root()]}' && ( $command ) 2>&1);
  ok($? == 0, $name) or diag("$command\n$out");
  return;
}

my ($flags, $libraries, $behind) = map { of_make($_) } qw(flags libraries behind);
succeeds("cc -I'$tree' $flags -c '$tree/problems/scenes/mine.c' -o '$tree/mine.o'", 'the file compiles');
succeeds("cc -I'$tree' $flags -c problems/scenes/registry.c -o '$tree/registry.o'", 'and so does the catalogue');
succeeds("cc $libraries build/obj/harness/main.o '$tree/mine.o' '$tree/registry.o' build/libharness.a build/libelastobench.a -o '$tree/elastobench' $behind",
  'the program links with it');
succeeds("'$tree/elastobench' list | grep -q 'mine/bar .*bends under its weight'", 'the scene is listed');
succeeds("'$tree/elastobench' run mine/bar -s newton --steps 3 -o '$tree/mine.h5'", 'and it runs, audited');

done_testing();
