#!/usr/bin/perl
# Contact problems between runs and files of FCLib, as a user moves them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use JSON::PP;
use Program;
use Test::More;

my @incline = ('verschoor2019/incline', '-s', 'contact-al:eps1=1e-9,eps2=1e-9', '--steps', '8');

is_code(0, 'a run that keeps the contact problem of its step 8', 'run', @incline, '--contact-problem', '8', '-o', 'kept.h5');
my ($path) = is_code(0, 'export it', 'export', 'kept.h5', '--to', 'fclib', '-o', 'problems');
chomp $path;
like($path, qr{^problems/.*incline.*\.hdf5$}, 'its path is printed');

# The method's tolerances are of 1e-9, in N s and m.
for my $solver ('contact-delassus:delassus_solver=pgs', 'contact-delassus', 'contact-al') {
  my ($text) = is_code(0, "solve it with $solver", 'run', "fclib:$path", '-s',
    $solver . ($solver =~ /:/ ? ',' : ':') . 'eps1=1e-9,eps2=1e-9', '--format', 'json', '-o', 'solved.hdf5');
  my $result = decode_json($text);
  is($result->{contacts}, 25, 'all nodes of the lowest layer are in contact');
  cmp_ok($result->{merit}, '<', 1e-7, 'the solution has a small merit');
  cmp_ok($result->{stored_merit}, '<', 1e-7, 'so has that of the run');
  my ($again) = is_code(0, 'the file with the solution can be read', 'run', 'fclib:solved.hdf5', '-s', 'contact-delassus', '--format', 'json');
  is(decode_json($again)->{stored_merit}, $result->{merit}, 'and holds that solution');
}

# ---- at equal merit
my ($lines) = is_code(0, 'every solver at equal merit', 'run', "fclib:$path", '--merit', '1e-6', '--repeat', '1', '--format', 'json');
my @entries = map { decode_json($_) } split /\n/, $lines;
cmp_ok(scalar @entries, '>=', 6, 'there are six of ours');
for my $e (grep { $_->{solver} =~ /delassus|contact-al/ } @entries) {
  cmp_ok($e->{seconds}, '>', 0, "$e->{solver} gets there");
  cmp_ok($e->{merit}, '<=', 1e-6, 'by the merit');
}
for my $e (@entries) {
  ok(!defined $e->{seconds} || $e->{merit} <= 1e-6, "$e->{solver}: there is no time without the merit");
}
my ($table) = is_code(0, 'as a table', 'run', "fclib:$path", '-s', 'contact-al', '-s', 'contact-delassus', '--merit', '1e-6', '--repeat', '1');
like($table, qr/\| contact-al \| contact-delassus \|/, 'a column a solver');
like($table, qr/\*\*/, 'the best is marked');
like($table, qr/^\| contact-al \|( [01]\.\d\d \|){7}$/m, 'a performance profile');
my ($failed) = is_code(0, 'a solver that does not get there', 'run', "fclib:$path", '-s', 'contact-cr', '-s', 'contact-delassus', '--merit', '1e-13', '--repeat', '1', '--timeout', '20', '--format', 'json');
is(decode_json((split /\n/, $failed)[0])->{seconds}, undef, 'has no time');

# ---- what is refused
is_code(2, 'a merit that is none', 'run', "fclib:$path", '--merit', 'good');
is_code(2, 'a table and a solution', 'run', "fclib:$path", '--merit', '1e-6', '-o', 'solution.hdf5');
is_code(2, 'an unknown solver at equal merit', 'run', "fclib:$path", '-s', 'contact-all', '--merit', '1e-6');
is_code(0, 'a run that keeps nothing', 'run', @incline, '-o', 'nothing.h5');
my ($out, $err) = is_code(6, 'nothing to export', 'export', 'nothing.h5', '--to', 'fclib');
like($err, qr/--contact-problem/, 'says how to keep a problem');
(undef, $err) = is_code(2, 'files and scenes together', 'run', "fclib:$path", 'bench/beam', '-s', 'contact-delassus');
like($err, qr/together/, 'are refused');
(undef, $err) = is_code(2, 'no solver', 'run', "fclib:$path");
like($err, qr/contact-delassus/, 'names one');
(undef, $err) = is_code(2, 'a solver that is no contact method', 'run', "fclib:$path", '-s', 'newton');
like($err, qr/contact-al/, 'lists those there are');
(undef, $err) = is_code(2, 'two solutions in one file', 'run', "fclib:$path", '-s', 'contact-al', '-s', 'contact-delassus', '-o', 'two.hdf5');
like($err, qr/one solver/, 'are refused');
is_code(1, 'a file that is not there', 'run', 'fclib:missing.hdf5', '-s', 'contact-delassus');
is_code(3, 'a solve that does not converge', 'run', "fclib:$path", '-s', 'contact-delassus:eps1=1e-14,eps2=1e-14,max_iterations=1');

done_testing;
