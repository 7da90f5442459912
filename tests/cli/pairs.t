#!/usr/bin/perl
# list solvers --scene, list scenes --solver, list --matrix: who serves what, and why not.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Spec;
use JSON::PP;
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

sub pairs {
  my ($out) = is_code(0, "@_ as JSON", 'list', @_, '--format', 'json');
  return @{decode_json($out)->{pairs}};
}

# Every scene by every solver, once; what is not served says what is lacking.
my ($out) = is_code(0, 'scenes', 'list', 'scenes', '--format', 'json');
my @scenes = map { $_->{name} } @{decode_json($out)->{scenes}};
($out) = is_code(0, 'solvers', 'list', 'solvers', '--format', 'json');
my @solvers = grep { $_ ne 'external' } map { $_->{name} } @{decode_json($out)->{solvers}};
my @all = pairs('--matrix');
is(scalar @all, @scenes * @solvers, 'every pair is there');
my %pair = map { ("$_->{scene} $_->{solver}" => $_) } @all;
is(scalar keys %pair, scalar @all, 'once');
is(scalar(grep { !$_->{served} == !@{$_->{lacks}} } @all), 0, 'what is not served lacks something');
is(scalar(grep { $_->{served} && $_->{with} } @all), 0, 'what is served needs no other value');

my $pd = $pair{'conjac2020/dragon pd'};
is_deeply([$pd->{lacks}, $pd->{with}], [["materials other than 'corotational'"], 'material=projective'], 'pd on a dragon');
is($pair{'conjac2020/bunny conjac'}{defaults}, 'dynamic=8', "the scene's default of a solver");

# The other lists are rows and columns of it.
for my $scene ('conjac2020/dragon', 'lewin2016/stretch') {
  is_deeply([pairs('solvers', '--scene', $scene)], [grep { $_->{scene} eq $scene } @all], "$scene: a row");
}
is_deeply([pairs('scenes', '--solver', 'xpbd')], [grep { $_->{solver} eq 'xpbd' } @all], 'xpbd: a column');
my ($served) = grep { $_->{solver} eq 'pd' } pairs('solvers', '--scene', 'conjac2020/dragon:material=projective');
ok($served->{served}, 'with the value that was named the pair is served');

# A scene of one's own is a row as well.
my $own = dirname(dirname(dirname(File::Spec->rel2abs(__FILE__)))) . '/problems/scenes/examples/sliding-block.ini';
is_deeply([map { $_->{solver} } grep { $_->{served} } pairs('solvers', '--scene', $own)],
          [grep { /^contact-/ } @solvers], 'a scene file is served by the solvers of contact');

# On a terminal and in Markdown.
($out) = is_code(0, 'a row in words', 'list', 'solvers', '--scene', 'conjac2020/dragon');
like($out, qr/^pd +with material=projective +lacks materials other than 'corotational'$/m, 'with which value');
like($out, qr/^newton +yes *$/m, 'as it is');
like($out, qr/^mfem-subspace +no +lacks scripted nodes$/m, 'or not');
($out) = is_code(0, 'the matrix in words', 'list', '--matrix');
my $count = grep { $_->{served} && !$_->{may_fail} } @all;
like($out, qr/\+ $count are served/, 'counts');
like($out, qr/^conjac2020\/bunny +\. +\. +! +o +\+ /m, 'marks');
($out) = is_code(0, 'the matrix in Markdown', 'list', '--matrix', '--format', 'markdown');
like($out, qr/\| \*\*mfem-subspace\*\* \| - \| scripted nodes \| .*conjac2020\/dragon/, 'has the reasons');

# What failed is explained below the listing, and why nobody is ranked; what is known is said before.
my @vbd = ('run', 'bench/beam:resolution=0.25', '--steps', '3', '-s', 'vbd', '-o', scratch() . '/vbd.h5');
my $said;
($out, $said) = is_code(4, 'a run that breaks a rule', @vbd);
like($said, qr/^elastobench: vbd: a step is 20 sweeps.*not so with iterations=0$/m, 'is said to before');
(my $flat = $out) =~ s/\s+/ /g;
like($flat, qr/rule momentum: the momentum of bodies .*; what may help: a tighter tolerance/, 'is explained');
like($flat, qr/- vbd: step \d: no force explains .*; at body, about \([-\d.e]+, [-\d.e]+, [-\d.e]+\) m; the worst of 3 times/, 'with the worst and where it was');
like($flat, qr/bench\/beam: nobody is ranked: vbd, its audit failed \(error /, 'and nobody is ranked, with the error');
my $failed = scratch() . '/vbd.h5';
my $whole = decode_json((is_code(0, 'the run as JSON', 'info', $failed, '--run', (decode_json((is_code(0, 'its file', 'list', $failed, '--format', 'json'))[0]))->{runs}[0]{id}, '--format', 'json'))[0]);
my ($broken) = grep { $_->{rule} eq 'momentum' } @{$whole->{broken}};
ok($broken && $broken->{value} > $broken->{bound} && $broken->{step} >= 1 && $broken->{times} == 3, 'the file has value, bound, step and how often');
is_deeply([@$broken{qw(place body other_body unit)}], ['body', 'body', '', '1'], 'and the place');
ok(abs($broken->{x} - 0.5) < 0.1 && $broken->{measures} =~ /^the momentum of bodies/ && $broken->{help} =~ /tolerance/, 'its position, what the rule measures and what helps');
is_code(0, 'the report', 'report', $failed, '-o', scratch() . '/vbd');
(my $page = slurp(scratch() . '/vbd/index.html')) =~ s/\s+/ /g;
like($page, qr/nobody is ranked: vbd, its audit failed.*rule <a href="#rule-momentum">momentum<\/a>: the momentum of bodies.*what may help: a tighter.*<li>vbd: step \d: no force explains.*about \(/, 'says the same');

like_error(2, qr/there is no scene 'bench\/beem' \(did you mean 'bench\/beam'/, 'an unknown scene', 'list', 'solvers', '--scene', 'bench/beem');
like_error(2, qr/has no option 'EE'/, 'an unknown parameter', 'list', 'solvers', '--scene', 'bench/beam:EE=1');
like_error(2, qr/there is no solver 'newtom'/, 'an unknown solver', 'list', 'scenes', '--solver', 'newtom');
like_error(2, qr/--scene is of solvers/, 'a scene of scenes', 'list', 'scenes', '--scene', 'bench/beam');
like_error(2, qr/take one/, 'two lists', 'list', '--matrix', '--scene', 'bench/beam');
like_error(2, qr/--format is text or json/, 'an unknown format', 'list', '--matrix', '--format', 'xml');
done_testing();
