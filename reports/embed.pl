#!/usr/bin/perl
# Prints a C file that holds the named files as eb_embedded_files, each under its path below reports/.
use strict;
use warnings;

print "#include \"harness/embedded.h\"\n";
my @entries;
for my $path (@ARGV) {
  open my $file, '<:raw', $path or die "cannot read $path: $!\n";
  my $bytes = do { local $/; <$file> };
  my $index = @entries;
  print "static const char file_$index\[] = {\n";
  my @codes = map { ord } split //, $bytes;
  while (my @line = splice @codes, 0, 20) { print join(',', @line), ",\n"; }
  print "0};\n";
  (my $name = $path) =~ s{^reports/}{};
  push @entries, "{\"$name\", file_$index, " . length($bytes) . "}";
}
print "const eb_embedded eb_embedded_files[] = {\n", join(",\n", @entries, '{0, 0, 0}'), "};\n";
