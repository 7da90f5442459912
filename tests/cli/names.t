#!/usr/bin/perl
# The glossary of harness/glossary.md holds: no exported name has a word that the glossary rules
# out, each of its words is one of the code, and files are unique by name within a room.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use File::Find qw(find);
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my (@words, %instead);
for my $line (split /\n/, slurp(root() . '/harness/glossary.md')) {
  my ($word, $not) = $line =~ /^\| ([^|]+?) \| [^|]+ \|(?: ([^|]*?))? ?\|$/ or next;
  next if $word eq 'word' || $word =~ /^-/;
  push @words, $word;
  $instead{$_} = $word for grep { length } split /,\s*/, $not // '';
}
cmp_ok(scalar @words, '>=', 55, 'the glossary has its words');
cmp_ok(scalar keys %instead, '>=', 20, 'and what they are used for instead of');

my (%files, $text, %names);
find({no_chdir => 1, wanted => sub {
  return unless /\.[ch]$/;
  my ($room) = substr($_, length(root()) + 1) =~ m{^([^/]+)/};
  push @{$files{$room}{basename($_)}}, substr($_, length(root()) + 1);
  my $code = slurp($_);
  $text .= $code if /\.h$/;
  $code =~ s{/\*.*?\*/}{}gs;
  # Public: declared in a header; struct members and locals have names without prefix.
  if (/\.h$/) { $names{$_} = 1 for $code =~ /\b(?:eb|EB)_\w+/g; }
}}, map { root() . "/$_" } qw(problems solvers harness));

my @wrong;
for my $name (sort keys %names) {
  push @wrong, map { "$name: '$_' is called '$instead{$_}'" } grep { $instead{$_} } split /_/, lc $name;
}
is("@wrong", '', 'exported names keep to the glossary') or diag join "\n", @wrong;

# A test that cannot fail is none: the words would be found.
ok((grep { $instead{$_} } split /_/, 'eb_case_donor'), 'a word that is ruled out is found in a name');

my $code = lc $text;
my @unknown = grep {
  my @parts = map { s/^to |'s\b//gr } split /, /, lc;
  grep { my $stem = (split / /, $_)[-1]; $stem =~ s/e?s?$//; index($code, $stem) < 0 } @parts;
} @words;
is("@unknown", '', 'the glossary has words of the code alone');

for my $room (sort keys %files) {
  my @twice = map { "@{$files{$room}{$_}}" } grep { @{$files{$room}{$_}} > 1 } sort keys %{$files{$room}};
  is(join("\n", @twice), '', "$room: files are unique by name");
}
done_testing();
