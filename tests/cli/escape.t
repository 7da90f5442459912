#!/usr/bin/perl
# Hostile words of papers, suites, files, plug-ins, result files and command lines: nothing that leaves the program, on a terminal
# or in a file, has bytes that a terminal obeys, characters that reorder or hide text, bytes that are no UTF-8, or scripts.
use strict;
use warnings;
use File::Basename qw(dirname);
use File::Find qw(find);
use Encode qw(decode FB_CROAK);
use JSON::PP qw(decode_json);
use Test::More;
use lib dirname(__FILE__) . '/../support';
use Program;

my $hostile = "\x1b]0;x\x07 \x9b31m \xff\xfe \xc2\x9b \xe2\x80\xae \x7f </script><script>alert(1)</script>\r";
my $unfit = qr/[\x00-\x08\x0b-\x1f\x7f-\x9f\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}\x{fffe}\x{ffff}]/;

# Why a text is not fit to leave, or ''.
sub fault {
  my ($bytes) = @_;
  my $text = eval { decode('UTF-8', my $copy = $bytes, FB_CROAK) };
  return 'no UTF-8' if !defined $text;
  return $text =~ $unfit ? sprintf('U+%04X in "%s"', ord $&, substr($`, -40) =~ s/[^ -~]/./gr) : '';
}

# Every text of a JSON value, names of members among them.
sub texts_of {
  my ($value) = @_;
  return map { ($_, texts_of($value->{$_})) } keys %$value if ref $value eq 'HASH';
  return map { texts_of($_) } @$value if ref $value eq 'ARRAY';
  return ref $value || !defined $value ? () : $value;
}

my $python = python('xml.etree.ElementTree');

# Why a file is not fit to leave, by its name, or ''.
sub fault_of {
  my ($path) = @_;
  my $bytes = slurp($path);
  $bytes =~ s/<AppendedData .*//s if $path =~ /\.vtu$/; # packed numbers
  my $fault = fault($bytes);
  return $fault if $fault;
  if ($path =~ /json$/) {
    my $json = eval { decode_json($bytes) } // return "no JSON: $@";
    my ($bad) = grep { /$unfit/ } texts_of($json);
    return 'unfit once parsed' if defined $bad;
  }
  return 'a script' if $path =~ /\.(html|js|md|svg|xdmf)$/ && $bytes =~ /<script>alert/;
  return 'no XML' if $path =~ /\.(svg|xdmf|pvd|junit)$/ && $python && system($python, '-c', 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])', $path);
  return '';
}

# One test: a command says and writes (to a folder, if there is one) nothing unfit; output of a name *.json is JSON. It may fail, but with a message.
sub fit {
  my ($name, $folder, @arguments) = @_;
  my ($code, $out, $err) = run(@arguments);
  my @faults;
  spew(scratch('out.json'), $out) if "@arguments" =~ /json/ && $code == 0 && $out ne '';
  my $of_out = -e scratch('out.json') ? fault_of(scratch('out.json')) : fault($out);
  unlink scratch('out.json');
  push @faults, "standard output: $of_out" if $of_out;
  push @faults, 'error output: ' . fault($err) if fault($err);
  push @faults, "ended by signal or without a word: $code" if $code >= 128 || ($code && "$out$err" eq '');
  find({no_chdir => 1, wanted => sub { -f && !/\.(png|h5|hdf5)$/ && fault_of($_) && push @faults, "$_: " . fault_of($_) }}, scratch($folder)) if defined $folder && -e scratch($folder);
  is_deeply(\@faults, [], $name) or diag(substr "@arguments\n$code\n$err", 0, 400);
  return ($code, $out, $err);
}

# ---- words of the command line and of files that are no result files
my $word = $hostile =~ s/\///gr;
for my $words (['list', $word], ['info', $word], ['run', $word, '-s', 'newton'], ['run', 'bench/beam', '-s', $word], ['run', "bench/beam:$word=1", '-s', 'newton'],
  ['run', 'bench/beam', '-s', "newton:$word=1"], ['run', 'bench/beam', "--$word"], ['check', '--solver', $word], ['compare', $word, $word], ['report', $word],
  ['export', $word, '--to', 'json'], ['export', $word, '--to', $word], ['merge', 'm.h5', $word], ['history', '--store', $word], ['reproduce', $word],
  ['reproduce', 'tiny', '--from', $word], ['precision', $word, '-s', 'newton'], [$word], ['run', "fclib:$word", '-s', 'contact-al'],
  ['run', 'bench/beam', '-s', 'newton', '--plugin', $word], ['run', 'conjac2020/dragon', '-s', 'newton', '--mesh', "conjac2020/dragon=$word"], ['new-solver', $word]) {
  my ($code) = fit("'$words->[0]' of a hostile word " . ($#$words > 0 ? $words->[-1] eq $word ? '' : "at $#$words" : ''), undef, @$words);
}
spew(scratch('suite.ini'), "[a$hostile]\nscene = bench/beam:resolution=0.5\nsolver = newton:$word=1\n[b]\nscene = $word\nsolver = newton\n");
spew(scratch('bad.msh'), "\$MeshFormat\n2.2 0 8\n\$EndMeshFormat\n\$PhysicalNames\n1\n3 1 \"$word\"\n\$EndPhysicalNames\n\$Nodes\n$word\n");
spew(scratch("$word.h5"), $word);
fit('a suite', undef, 'run', 'suite.ini', '-o', 's.h5');
fit('  described', undef, 'info', 'suite.ini');
fit('a mesh file', undef, 'run', 'conjac2020/dragon', '-s', 'newton', '--mesh', 'conjac2020/dragon=bad.msh');
my $named = "\x1b]0;x\x07 \x9b31m \xe2\x80\xae <script>alert(1)"; # at most 47 bytes
spew(scratch('named.msh'), "\$MeshFormat\n2.2 0 8\n\$EndMeshFormat\n\$PhysicalNames\n1\n3 1 \"$named\"\n\$EndPhysicalNames\n\$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n\$EndNodes\n"
  . "\$Elements\n1\n1 4 2 1 1 1 2 3 4\n\$EndElements\n");
my (undef, $regions) = fit('a region of a mesh, described as JSON', undef, 'info', '--mesh', 'named.msh', '--format', 'json');
like($regions, qr/alert/, '  with what can be shown of its name');
fit('  and in words', undef, 'info', '--mesh', 'named.msh');
fit('a file by its name', undef, 'report', "$word.h5");

# ---- a plug-in
my @plugin = ('--plugin', plugin('hostile'));
for my $format ('text', 'json') {
  fit("a plug-in, listed as $format", undef, 'list', @plugin, '--format', $format);
  fit("  and described", undef, 'info', 'hostile', @plugin, '--format', $format);
  fit("  and checked", undef, 'check', @plugin, '--solver', 'hostile', '--format', $format) if $format eq 'json';
}
fit('  and run', undef, 'run', 'bench/beam:resolution=0.5', '-s', 'hostile', '-s', 'newton', @plugin, '--steps', '2', '-o', 'plugin.h5');
fit("  and its run exported as $_", undef, 'export', 'plugin.h5', '--to', $_) for qw(json csv tap junit benchmark);
fit('  and reported', 'of-plugin', 'report', 'plugin.h5', '-o', 'of-plugin');

# ---- a paper
mkdir scratch('papers');
mkdir scratch('papers/mine');
my $line = $hostile =~ s/\r//r =~ s/^/a/r . '.';
spew(scratch('papers/mine/paper.ini'), <<"END");
[paper]
title = $line
citation = $line
note = $line
[solvers]
direct = corotational:linear=cholesky
cg = corotational:linear=cg,linear_rtol=1e-10
[cases beam | frames 2, repeat 1]
{m} = bench/beam:resolution=0.5,material=corotational {m} for m in direct cg
[names]
time(x) = mean(frame(x.wall))
[claim same | Sec. $line]
claim = $line
source = $line
holds = max(distance(cg, direct)) <= 1e-6
END
my @mine = ('reproduce', 'mine', '--from', 'papers');
fit('a paper, planned', undef, @mine, '--dry-run');
fit('  and run', 'mine', @mine, '-o', 'mine');
ok(-s scratch('mine/index.html'), '  with a page');
fit("  and judged as $_", 'mine', @mine, '-o', 'mine', '--judge', '--format', $_) for qw(json markdown);
fit('  and a result file of it, reported', 'of-mine', 'report', 'mine', '-o', 'of-mine');

# ---- a result file of a stranger
SKIP: {
  my $h5py = python('h5py', 'numpy') or skip 'no h5py', 16;
  is_code(0, 'a run', 'run', 'bench/beam:resolution=0.5', '-s', 'newton', '-s', 'semi-implicit', '--steps', '3', '-o', 'good.h5');
  spew(scratch('spoil.py'), <<'END');
import h5py, numpy, shutil, sys
spoilt = b"\x1b]0;x\x07 \x9b31m \xff\xfe \xc2\x9b \xe2\x80\xae \x7f </script><script>alert(1)</script>\r"
kept, count = {"plan", "format", "scene_hash", "outcome", "audit", "unit", "commit", "commit_date"}, 0
shutil.copy(sys.argv[1], sys.argv[2])
def visit(name, item):
    global count
    for key, value in list(item.attrs.items()):
        if isinstance(value, bytes) and key not in kept:
            item.attrs[key] = numpy.bytes_(value + spoilt)
            count += 1
with h5py.File(sys.argv[2], "r+") as file:
    visit("/", file)
    file.visititems(visit)
    for name in list(file["runs"]):
        file["runs"].move(name, name.encode() + spoilt.replace(b"/", b""))
print(count)
END
  my $count = qx($h5py @{[scratch('spoil.py')]} @{[scratch('good.h5')]} @{[scratch('bad.h5')]});
  cmp_ok($count, '>', 100, 'its texts are spoilt');
  for my $to (qw(json csv junit tap benchmark)) {
    my ($code, $out) = fit("  and exported as $to", undef, 'export', 'bad.h5', '--to', $to);
    ok($code == 0 && $out =~ /alert/, '    with what can be shown of them');
  }
  fit('  and as XDMF', 'movies', 'export', 'bad.h5', '--to', 'xdmf', '-o', 'movies');
  fit('  and as VTK has it', 'grids', 'export', 'bad.h5', '--to', 'vtu', '-o', 'grids');
  fit('  and reported', 'of-bad', 'report', 'bad.h5', '-o', 'of-bad');
  ok(-s scratch('of-bad/index.html'), '    with a page');
  fit("  and compared as $_", undef, 'compare', 'bad.h5', 'good.h5', '--format', $_) for qw(text json);
  fit('  and recorded', 'store', 'history', 'add', 'bad.h5', '--dirty', '--store', 'store');
  fit("  and its record shown as $_", 'of-store', 'history', '--dirty', '--store', 'store', '--format', $_, '-o', 'of-store') for qw(text json);
  fit('  and merged', undef, 'merge', 'merged.h5', 'bad.h5');
  fit('  and resumed', undef, 'run', 'bench/beam:resolution=0.5', '-s', 'newton', '--steps', '3', '-o', 'bad.h5', '--resume');
}
done_testing();
