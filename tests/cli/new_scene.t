#!/usr/bin/perl
# elastobench new-scene: what it writes runs as it is, and with each of its alternatives in place.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

mkdir scratch('my');
my ($out) = is_code(0, 'a scene', 'new-scene', 'crate');
like($out, qr/^crate\.ini\n/, '  is written, and named');
my $written = slurp(scratch('crate.ini'));
like($written, qr/^; crate: a scene of one's own/, '  by its name');
unlike($written, qr/\@/, '  throughout');

# The commands that it prints.
my @commands = $out =~ /^  elastobench (.+)$/mg;
is(scalar @commands, 3, 'three commands are told');
for my $command (@commands) {
  is_code(0, "  $command", split ' ', $command);
}
ok(-s scratch('crate.png'), '  of which one draws it');
is_deeply([map { "$_->{scene} $_->{solver} $_->{outcome} $_->{audit}" } runs_in('crate.h5')],
  ['crate newton completed passed', 'crate semi-implicit completed passed'], '  and one runs it with two solvers, to its end');
is_code(0, 'three solvers, as README.md has it', 'run', 'crate.ini:E=2e5', map({ ('-s', $_) } qw(newton vbd pbfe)), '-o', 'three.h5');
is_deeply([map { $_->{audit} } runs_in('three.h5')], [('passed') x 3], '  pass their audits at their defaults');
like((is_code(0, 'who serves it', 'list', 'solvers', '--scene', 'crate.ini'))[0], qr/^newton /m, '  is told');
like_error(2, qr/there is no scene 'xyzzy'/, '  and of no scene', 'list', 'solvers', '--scene', 'xyzzy');
is_code(0, 'its parameters', 'run', 'crate.ini:height=25,stiffness=9', '-s', 'newton', '--steps', '5', '-o', 'p.h5');

# Nothing is overwritten.
spew(scratch('crate.ini'), 'mine');
like_error(2, qr/'crate\.ini' is there already/, 'a file that is there', 'new-scene', $_) for 'crate', 'crate.ini';
is(slurp(scratch('crate.ini')), 'mine', '  is left as it is');
is_code(0, 'in a folder', 'new-scene', 'my/crate.ini');
is(slurp(scratch('my/crate.ini')), $written, '  it is the same');
like_error(1, qr/nowhere\/crate/, 'in a folder that is not there', 'new-scene', 'nowhere/crate');
like_error(2, qr/a scene's name has up to 60 letters/, "'$_' is no name", 'new-scene', $_) for 'a b', '', '.ini', 'x' x 61, 'a/';

# ---- what stands behind semicolons: each of these lines is tried
sub with {
  my ($name, $edit) = @_;
  local $_ = $written;
  $edit->();
  isnt($_, $written, "with $name");
  spew(scratch("$name.ini"), $_);
  return "$name.ini";
}
# Takes the semicolons of a section away, from its label to what is no comment of its kind.
sub alive {
  my ($label) = @_;
  s/^; (\[$label\b.*\n)((?:; \S+ *=.*\n)+)/my ($head, $rest) = ($1, $2); $rest =~ s{^; }{}mg; $head . $rest/me or fail("[$label] is there");
}

sub completes {
  my ($path, $solver, $name) = @_;
  is_code(0, "  $name", 'run', $path, '-s', $solver, '--steps', '40', '-o', "$path.h5");
  is((runs_in("$path.h5"))[0]{audit}, 'passed', '  and passes its audit');
}
completes(with('load', sub { alive('load pull') }), 'newton', 'a load runs');
like((run('info', 'load.ini'))[1], qr/^load 1: 0 1 0 N in all, on 16 nodes, at its most$/m, '  of so many newtons');
completes(with('path', sub { s/^hold = yes\n; (path.*\n); (until.*\n)/$1$2/m }), 'newton', 'a script runs');
like((run('info', 'path.ini'))[1], qr/^held +16 +moved, by 0\.0(?:5|499\d*) m at most, let go in the course of the run$/m, '  which moves and lets go') or diag +(run('info', 'path.ini'))[1];
completes(with('contact', sub { s/^\[collider floor\]\n(\w.*\n)+//m; s/^kind .*stable.*\n/kind  = corotational\n/m; s/^material = stable-neo-hookean/material = corotational/m; alive('obstacle ground'); alive('contact') }),
  'contact-al', 'contact by constraints runs');
is_code(0, 'a mesh for it', 'export', 'p.h5', '--to', 'mesh', '-o', 'part.msh');
completes(with('mesh', sub { s/^\[body bar\]\n(\w.*\n)+//m; alive('body bar'); s/^unit .*\n//m; s/^elements = 5000.*\n//m }), 'newton', 'a mesh file runs');

done_testing();
