#!/usr/bin/perl
# What a report plays: its data against the result file, by numpy; and the page in a browser, where there is one (chromium, 137 MB, is
# not installed for this).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use File::Copy qw(copy);
use JSON::PP;
use MIME::Base64;
use Program;
use Test::More;

is_code(0, 'bodies in a box', 'run', 'verschoor2019/rings:bodies=2', '-s', 'contact-al', '--steps', 100, '-o', 'rings.h5');
is_code(0, 'a muscle on rigid links', 'run', 'conjac2020/muscle', '-s', 'conjac:dynamic=1', '--steps', 40, '-o', 'muscle.h5');
is_code(4, 'updated elements, in steps that are none', 'run', 'bench/beam:resolution=0.25', '--plugin', plugin('reporting'), '-s', 'reporting:period=60',
  '-s', 'newton', '-s', 'newton:linear=cg', '--steps', 60, '-o', 'updates.h5');
is_code(0, "a report: $_", 'report', "$_.h5", '-o', $_) for qw(rings muscle updates);

# ---- the data
SKIP: {
  my $python = '/usr/bin/python3';
  skip 'no h5py', 4 if system("$python -c 'import h5py, numpy' 2>/dev/null");
  my %said = map { $_ => scalar qx($python '@{[root()]}/tests/support/read_playback.py' '@{[scratch("$_.h5")]}' '@{[scratch("$_/data")]}' 2>&1) } qw(rings muscle updates);
  like($said{rings}, qr/^r0 frames \d+ of \d+ from end to end\nr0 positions within\nr0 strain within\nr0 regions right\nr0 contacts within, some\nr0 parts body obstacle\n$/,
    'bodies, their strain and contacts are played as they are in the file') or diag $said{rings};
  like($said{muscle}, qr/^r0 frames.*end\nr0 positions within\nr0 parts body link\n$/, 'so is a planar muscle on its links') or diag $said{muscle};
  like($said{updates}, qr/^r0 frames \d+ of \d+ from end to end\nr0 positions within\nr0 strain within\nr0 regions right\nr0 updates right\nr0 parts body\nr1 frames/,
    'so are updated elements') or diag $said{updates};
}
my %pages = map { $_ => slurp(scratch("$_/index.html")) } qw(rings muscle updates);
for my $name (sort keys %pages) {
  my ($list) = $pages{$name} =~ /<script type="application\/json">(.*?)<\/script>/s;
  my @missing = grep { !-s scratch("$name/$_->{file}") } @{decode_json($list // '[]')};
  ok($list && !@missing, "$name: the scripts that the player names are there");
}

# ---- data that is missing or damaged is told, and can be asked for again
SKIP: {
  my ($node) = grep { -x } map { "$_/node" } split /:/, $ENV{PATH};
  skip 'no node', 1 if !$node;
  is(scalar qx('$node' '@{[root()]}/tests/support/load_check.js' '@{[root()]}/reports/html/player.js' 2>&1),
    "missing: run.js cannot be loaded\nempty: run.js cannot be loaded\ndamaged: run.js cannot be loaded\nwhole: run\n", 'scripts of runs that fail are told of');
}

# ---- the page in a browser
my ($browser) = grep { -x } map { ("$_/chromium", "$_/chromium-browser", "$_/google-chrome") } split /:/, $ENV{PATH};
my %seen;
sub look {
  my ($name) = @_;
  my $folder = scratch($name);
  copy(root() . '/tests/support/page_check.js', "$folder/check.js") or die $!;
  spew("$folder/check.html", $pages{$name} =~ s{</head>}{<script src="check.js" defer></script>\n</head>}r);
  my $profile = scratch("$name-profile");
  my $dom = qx(timeout 120 $browser --headless --no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --user-data-dir='$profile' --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --enable-logging=stderr --window-size=1000,700 --dump-dom 'file://$folder/check.html' 2>'$folder/console');
  my ($answer) = $dom =~ m{<pre id="check">([^<]*)</pre>};
  my @console = grep { /CONSOLE/ && !/GPU stall/ } split /\n/, slurp("$folder/console");
  return ($answer ? decode_json(decode_base64($answer)) : {errors => ['no answer']}, \@console);
}
sub drawn { my ($look, $half) = @_; return $look->{halves}[$half] }

SKIP: {
  skip 'no chromium', 1 if !$browser;
  for my $name (sort keys %pages) {
    my ($seen, $console) = look($name);
    $seen{$name} = $seen;
    is_deeply([@{$seen->{errors}}, @$console], [], "$name: nothing goes wrong in a browser");
    is_deeply($seen->{dangling}, [], '  links within the page lead somewhere');
  }
  my $sorted = $seen{updates};
  my @numbers = map { [sort { $a <=> $b } grep { /\d/ } @$_] } @{$sorted->{unsorted} // []};
  is_deeply([map { [grep { /\d/ } @$_] } @{$sorted->{up}{rows}}], \@numbers, 'a table is sorted within its classes,');
  is_deeply([map { [grep { /\d/ } @$_] } @{$sorted->{down}{rows}}], [map { [reverse @$_] } @numbers], '  up and down,');
  is_deeply($sorted->{back}{rows}, $sorted->{unsorted}, '  and as it was;');
  is_deeply([map { $sorted->{$_}{aria} } qw(up down back)], [qw(ascending descending none)], '  a reader is told so;');
  ok($sorted->{classFirst}, '  the class stays above its rows');
  is($sorted->{theme}, 'light', 'the theme can be switched');

  my ($two) = @{$seen{updates}{players}};
  is($two->{runs}, 2, 'two runs side by side');
  is(join(' ', sort keys %{$two->{modes}}), 'error region strain updated', '  coloured by what there is of both');
  ok(drawn($two->{modes}{region}, $_) > 1000, "  the body is drawn: half $_") for 0, 1;
  my $orange = $two->{modes}{updated};
  ok($orange->{warm}[0] > 300, '  updated elements are orange,');
  is($orange->{warm}[1], 0, '  of the solver that updates any');
  ok($two->{modes}{region}{mean}[2] > $two->{modes}{region}{mean}[0] && $two->{modes}{strain}{mean}[0] != $two->{modes}{region}{mean}[0], '  regions have their colour, strains another');
  ok(drawn($two->{over}, 0) + drawn($two->{over}, 1) > 1000, '  they can be overlaid');
  isnt(join(' ', @{$two->{turned}{halves}}), join(' ', @{$two->{start}{halves}}), '  a turn shows another side');
  like($two->{spoken}, qr/^t = \S+ s$/, '  the slider says its time,');
  is($two->{posters}, 0, '  and the picture is away while runs are played');
  like($two->{status}, qr/reporting: 31 of 31 stored frames, 176 triangles, positions within \S+ m\. newton:linear=cholesky: 31 of 31 stored/, '  frames and precision are told');
  my ($rings) = @{$seen{rings}{players}};
  is(join(' ', sort keys %{$rings->{modes}}), 'contacts region strain', 'contacts are shown where a run has them');
  like($rings->{legend}, qr/the longest line is [\d.e+]+ N/, '  with the scale of their forces');
  my ($muscle) = @{$seen{muscle}{players}};
  ok(drawn($muscle->{modes}{region}, 0) + drawn($muscle->{modes}{region}, 1) > 500, 'a planar muscle is drawn');
  is(join(' ', map { $_->{players}[0]{error} } values %seen), '0 0 0', 'the graphics card has nothing to say');
}
done_testing();
