#!/usr/bin/perl
# Runs of one scene by one solver on several numbers of ranks: efficiencies, beside a model whose constants are those of the runs on one rank.
#
#   elastobench run scaling -o scaling.h5 && elastobench export scaling.h5 --to json -o scaling.json
#   results/scaling/scaling.pl scaling.json [--predict 1e9@1000] [--format markdown] [-o DIR]
#
# README.md has the formulas, the sources of the constants, and what it has told so far.
use strict;
use warnings;
use FindBin qw($Bin);
use Getopt::Long;
use JSON::PP;
use List::Util qw(max min sum0);

my $usage = "usage: scaling.pl FILE.json.. [--predict ELEMENTS\@RANKS].. [--latency S] [--bandwidth BYTE/S] [--reduction S] [--cores N]\n"
  . "       [--per-node RANKS] [--format text|json|markdown] [-o DIR for scaling.json and a plot]\n";
my %asked = (format => 'text');
GetOptions(\%asked, 'predict=s@', 'latency=f', 'bandwidth=f', 'reduction=f', 'cores=i', 'per-node=i', 'format=s', 'output|o=s') && @ARGV or die $usage;
$asked{format} =~ /^(text|json|markdown)$/ or die "--format is text, json or markdown, not '$asked{format}'\n";
defined $asked{$_} && !($asked{$_} > 0) and die "--$_ is above 0\n" for qw(latency bandwidth reduction cores per-node);
my @points = map { /^([\d.]+(?:e\+?\d+)?)\@(\d+)$/i && $2 > 0 && $1 >= $2 ? [$1, $2] : die "--predict wants ELEMENTS\@RANKS, as in 1e9\@1000, not '$_'\n" }
  @{$asked{predict} // ['1e9@1000']};

# ---- the model: seconds of an iteration of Newton's

my ($coarsest, $coarsening) = (50, 12);    # nodes of the coarsest grid; those of a grid over those of the next
my ($unknowns, $motions) = (3, 6);         # of a node of the finest grid, of coarser ones (rigid motions)
my ($fine_exchanges, $exchanges, $products) = (6, 5, 3); # of a cycle on the finest grid, on coarser ones; reductions of an iteration

# Faces that a box shares with others, in the mean, when ranks are a grid of boxes as cubic as their factors allow.
sub faces {
  my ($ranks) = @_;
  my ($least, $faces) = (9**9**9, 0);
  for (my $a = 1; $a**3 <= $ranks; $a++) {
    for (my $b = $a; $a * $b**2 <= $ranks; $b++) {
      my $c = $ranks / ($a * $b);
      next if $ranks % ($a * $b) || $a + $b + $c >= $least;
      ($least, $faces) = ($a + $b + $c, 2 * (3 - 1 / $a - 1 / $b - 1 / $c));
    }
  }
  return $faces;
}

# `work` of a rank that is alone on its node: assemble, setup (s an element), iteration (s a node), iterations, per_node (elements a node of the mesh).
sub model {
  my ($machine, $work, $elements, $ranks, $here) = @_;
  my ($faces, $doublings, $network) = (faces($ranks), log($ranks) / log(2), $machine->{network});
  my $all = $elements / $work->{per_node};
  my $nodes = $all / $ranks;
  my $busy = min($here, $machine->{cores});
  my $speedup = $machine->{triad} ? $machine->{triad_all} / $machine->{triad} : $machine->{cores};
  my %time = (halo => 0, reductions => 0, coarse => 0);
  $time{compute} = max(1, $here / $machine->{cores}) * ($work->{per_node} * ($nodes + $faces * $nodes**(2 / 3) / 2) * ($work->{assemble} + $work->{setup})
      + $work->{iterations} * $work->{iteration} * $nodes * $busy / max(1, min($busy, $speedup)));
  if ($ranks > 1) {
    for (my $share = 1; $all * $share > $coarsest && $nodes * $share >= 1; $share /= $coarsening) {
      my $bytes = 8 * ($share == 1 ? $unknowns : $motions) * $faces * ($nodes * $share)**(2 / 3);
      $time{halo} += $work->{iterations} * ($share == 1 ? $fine_exchanges : $exchanges) * ($faces * $network->{latency} + $bytes / $network->{bandwidth});
    }
    $time{reductions} = $work->{iterations} * $products * $doublings * $network->{reduction};
    $time{coarse} = $work->{iterations} * (2 * $doublings * $network->{latency} + ($machine->{triad} ? 8 * ($coarsest * $motions)**2 / $machine->{triad} : 0));
  }
  $time{total} = sum0(values %time);
  return \%time;
}

# ---- runs

sub without { # the assignments "a=1,b=2" but for those of these names
  my ($assignments, @names) = @_;
  my $names = join '|', @names;
  return join ',', grep { !/^(?:$names)=/ } split /,/, $assignments;
}

sub slurp { my ($path) = @_; open my $file, '<', $path or die "$path: $!\n"; local $/; return <$file> }

sub printable { my ($text) = @_; return ($text // '') =~ s/[^ -~]/?/gr }

# Sums are over the steps but for the first, where there are others: its caches are cold, and PETSc is configured in it.
sub total { my @values = @{$_[0] // []}; shift @values if @values > 1; return sum0(map { $_ // 0 } @values) }

sub read_run {
  my ($run, $at) = @_;
  $_ = printable($_) for @$run{qw(scene parameters solver options outcome audit_rules)}, @$at{qw(host cpu)};
  my %sample = (
    scene => "$run->{scene}:" . without($run->{parameters}), map({ $_ => 0 + $run->{$_} } qw(elements ranks)), nodes => 0 + $run->{uncut_nodes},
    problem => "$run->{scene}:" . without($run->{parameters}, 'cubes', 'resolution'), machine => "$at->{host}, $at->{cpu}", name => $run->{scene}, by => $run->{solver},
    solver => "$run->{solver}:" . without($run->{options}, 'ranks') . ", $run->{steps_wanted} steps, $run->{threads} thread" . ($run->{threads} > 1 ? 's' : ''),
    cores => 0 + ($asked{cores} // $at->{cores} // 1), triad => $at->{triad_byte_per_second}, triad_all => $at->{triad_all_byte_per_second},
    network => {map { $_ => $run->{"network_$_"} } qw(latency bandwidth reduction)}, iterations => total($run->{steps}{iterations}),
    linear_iterations => total($run->{counters}{linear_iterations}), solve => total($run->{phases}{solve}), setup => total($run->{phases}{factor}),
  );
  $sample{trouble} = $run->{outcome} ne 'completed' ? $run->{outcome} : $run->{audit} eq 'passed' ? '' : $run->{audit} eq 'failed' ? "audit failed: $run->{audit_rules}" : 'not audited';
  my $wall = total($run->{steps}{wall});
  $sample{seconds} = $wall / $sample{iterations} if !$sample{trouble} && $wall > 0 && $sample{iterations} > 0;
  if (defined $sample{seconds} && $sample{ranks} == 1 && $sample{linear_iterations} > 0) {
    $sample{work} = {assemble => ($wall - $sample{setup} - $sample{solve}) / ($sample{iterations} * $sample{elements}), setup => $sample{setup} / ($sample{iterations} * $sample{elements}),
      iteration => $sample{solve} / ($sample{linear_iterations} * $sample{nodes}), iterations => $sample{linear_iterations} / $sample{iterations}, per_node => $sample{elements} / $sample{nodes}};
  }
  return \%sample;
}

sub read_file {
  my ($path) = @_;
  my $text = slurp($path);
  my $json = eval { decode_json($text) };
  ref $json eq 'HASH' && ref $json->{runs} eq 'ARRAY' or die "$path is nothing that 'elastobench export --to json' has written\n";
  return map { read_run($_, $_->{environment} // $json->{environment}) } @{$json->{runs}};
}

# ---- constants

# Between two sizes by the logarithm, beyond the outermost as there; without what the row `but` would say of itself.
sub work_at {
  my ($rows, $elements, $but) = @_;
  my @given = grep { $_->{work} && $_ != ($but // 0) } @$rows;
  my ($below) = reverse grep { $_->{elements} <= $elements } @given;
  my ($above) = grep { $_->{elements} >= $elements } @given;
  $below //= $above // return undef;
  $above //= $below;
  my $t = $above->{elements} > $below->{elements} ? log($elements / $below->{elements}) / log($above->{elements} / $below->{elements}) : 0;
  return {map { $_ => $below->{work}{$_} + $t * ($above->{work}{$_} - $below->{work}{$_}) } keys %{$below->{work}}};
}

sub has_network { my ($n) = @_; return $n && $n->{latency} > 0 && $n->{bandwidth} > 0 && $n->{reduction} > 0 }

sub median { my @sorted = sort { $a <=> $b } @_; return @sorted ? ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2 : undef }

sub network_of { # what messages between so many ranks take: in the median of the runs on as many
  my ($rows, $ranks) = @_;
  my @networks = map { $_->{network} } grep { $_->{ranks} == $ranks && has_network($_->{network}) } @$rows;
  return {map { my $part = $_; $part => median(map { $_->{$part} } @networks) // 0 } qw(latency bandwidth reduction)};
}

# Work an element is that of the size that a machine's node holds, for its cores share a cache; iterations are those of the whole.
sub time_told {
  my ($rows, $machine, $elements, $ranks, $here, $but) = @_;
  my ($part, $whole) = map { work_at($rows, $_, $but) } $elements / $ranks * $here, $elements;
  return undef if !$part || !$whole || ($ranks > 1 && !has_network($machine->{network}));
  return model($machine, {%$part, iterations => $whole->{iterations}, per_node => $whole->{per_node}}, $elements, $ranks, $here);
}

# ---- a series: rows by size and ranks

my $same_size = 0.05; # within this share, sizes of a rank are one size: a weak series

sub weak_base { # the row of one rank that has as many elements as each rank of this one
  my ($rows, $row) = @_;
  my $apart = sub { abs($_[0]{elements} * $row->{ranks} / $row->{elements} - 1) };
  my ($nearest) = sort { $apart->($a) <=> $apart->($b) } grep { $_->{ranks} == 1 && defined $_->{seconds} && $apart->($_) <= $same_size } @$rows;
  return $nearest;
}

# One row a scene and number of ranks: the fastest of those that are good.
sub make_series {
  my @samples = sort { $a->{elements} <=> $b->{elements} || $a->{scene} cmp $b->{scene} || $a->{ranks} <=> $b->{ranks} || ($a->{seconds} // 9**9**9) <=> ($b->{seconds} // 9**9**9) } @_;
  my %seen;
  my @rows = grep { !$seen{"$_->{scene} $_->{ranks}"}++ } @samples;
  $_->{later} = $seen{$_->{scene}}++ for @rows;
  my %series = (map({ $_ => $rows[0]{$_} } qw(problem solver machine)), cores => $rows[0]{cores}, rows => \@rows, errors => {});
  for my $row (@rows) {
    my $here = min($row->{ranks}, $asked{'per-node'} // $row->{ranks});
    my $network = network_of(\@rows, $row->{ranks});
    $network->{$_} ||= $asked{$_} // 0 for keys %$network;
    $row->{kind} = $row->{ranks} == 1 ? 'alone' : $here <= $row->{cores} ? 'shared' : 'crowded';
    $row->{told} = time_told(\@rows, {%$row, network => $network}, $row->{elements}, $row->{ranks}, $here, $row);
    next if !defined $row->{seconds};
    my ($alone) = grep { $_->{ranks} == 1 && $_->{scene} eq $row->{scene} && defined $_->{seconds} } @rows;
    my $base = weak_base(\@rows, $row);
    $row->{strong} = $alone->{seconds} / ($row->{ranks} * $row->{seconds}) if $alone;
    $row->{weak} = $base->{seconds} / $base->{elements} * $row->{elements} / ($row->{ranks} * $row->{seconds}) if $base;
    $row->{error} = $row->{told}{total} / $row->{seconds} - 1 if $row->{told};
    push @{$series{errors}{$row->{kind}}}, abs $row->{error} if $row->{told};
  }
  add_predictions(\%series);
  $series{missing} = missing(\@rows);
  return \%series;
}

# Messages of predictions are those between as many ranks as the cores hold or, where each run has more, between the fewest.
sub add_predictions {
  my ($series) = @_;
  my $rows = $series->{rows};
  my @networks = sort { $a->{ranks} <=> $b->{ranks} } grep { $_->{kind} ne 'alone' && has_network($_->{network}) } @$rows;
  my ($usual) = (reverse(grep { $_->{kind} eq 'shared' } @networks), @networks);
  my ($largest) = reverse grep { $_->{work} } @$rows;
  my $network = network_of($rows, $usual ? $usual->{ranks} : 0);
  $network = {map { $_ => $asked{$_} // $network->{$_} } keys %$network};
  for my $point ($largest ? @points : ()) {
    my ($elements, $ranks) = @$point;
    my $per_node = $asked{'per-node'} // $series->{cores};
    my $here = min($ranks, $per_node);
    my $told = time_told($rows, {%{$rows->[0]}, network => $network}, $elements, $ranks, $here) or next;
    push @{$series->{predictions}}, {elements => 0 + $elements, ranks => 0 + $ranks, told => $told, network => $network, cores => $series->{cores}, per_node => $per_node,
      node_beyond_measured => $elements / $ranks * $here / $largest->{elements}, whole_beyond_measured => $elements / $largest->{elements}};
  }
}

sub missing {
  my ($rows) = @_;
  my @good = grep { defined $_->{seconds} } @$rows;
  return "nothing is told: constants come from runs on one rank, and no good one is there; run '$rows->[0]{name}' with ranks=1 and name its export beside this file" if !grep { $_->{ranks} == 1 } @good;
  return 'nothing is told: the model is of iterative linear solves, and this solver makes none; run it with linear=petsc' if !grep { $_->{work} } @good;
  return 'some rows are not told: their runs do not say what messages take; run them again, or give --latency, --bandwidth and --reduction '
    . "('mpiexec -n N elastobench network' measures them)" if grep { $_->{ranks} > 1 && !$_->{told} } @good;
  return '';
}

# ---- tables and sentences

my $legend = 's/iteration: wall time of the steps, the first left out where there are others, over iterations of Newton\'s, of the fastest of equal runs. told: by the model, of which '
  . 'compute, halo, reductions and coarse grid are parts (s); constants are those of runs on one rank, and a row of one rank is told by the other sizes. strong: time on one rank over '
  . 'ranks x time, of the same scene; weak: time an element on one rank of as many elements, over that of a rank\'s elements. k: linear iterations an iteration of Newton\'s.';

sub cell { my ($format, $value) = @_; return defined $value ? sprintf $format, $value : '-' }

sub row_cells {
  my ($row) = @_;
  my $k = defined $row->{seconds} ? $row->{linear_iterations} / $row->{iterations} : undef;
  my $note = !defined $row->{seconds} ? $row->{trouble} || 'no steps' : $row->{kind} eq 'crowded' ? 'more ranks than cores: they take turns' : '';
  my $error = defined $row->{error} ? 100 * $row->{error} : undef;
  return [cell('%.0f', $row->{elements}), cell('%.0f', $row->{ranks}), cell('%.1f', $k), cell('%.4g', $row->{seconds}), cell('%.4g', $row->{told}{total}), cell('%+.0f %%', $error),
    cell('%.2f', $row->{strong}), cell('%.2f', $row->{weak}), cell('%.3g', $row->{told}{compute}), map({ cell('%.2g', $row->{told}{$_}) } qw(halo reductions coarse)), $note];
}

sub constant_cells {
  my ($row) = @_;
  my $work = $row->{work};
  return [cell('%.0f', $row->{elements}), map { cell('%.3g', $_) } $work->{per_node}, 1e6 * $work->{assemble}, 1e6 * $work->{setup}, $work->{iterations}, 1e6 * $work->{iteration}];
}

sub prediction_cells { my ($p) = @_; return [cell('%.4g', $p->{elements}), $p->{ranks}, map { cell('%.3g', $p->{told}{$_}) } qw(total compute halo reductions coarse)] }

sub tables {
  my ($series) = @_;
  return (
    [[qw(elements ranks k s/iteration told error strong weak compute halo reductions), 'coarse grid', ''], map { row_cells($_) } @{$series->{rows}}],
    [['on one rank: elements', 'elements a node', 'matrix and gradient (us an element)', 'set-up (us an element)', 'linear iterations', 'of 1 (us a node)'],
      map { constant_cells($_) } grep { $_->{work} } @{$series->{rows}}],
    [[qw(elements ranks s/iteration compute halo reductions), 'coarse grid'], map { prediction_cells($_) } @{$series->{predictions}}]);
}

sub sentences {
  my ($series) = @_;
  my @of = (['shared', 'on ranks with a core each'], ['crowded', 'on more ranks than cores'], ['alone', 'on one rank, from other sizes']);
  my @off = map { my $e = $series->{errors}{$_->[0]}; sprintf '%s %.0f %% in the median, %.0f %% at worst, of %d', $_->[1], 100 * median(@$e), 100 * max(@$e), scalar @$e }
    grep { $series->{errors}{$_->[0]} } @of;
  return ("Of all rows: $series->{problem}; $series->{solver}", @off ? 'Off by: ' . join('; ', @off) : (), $series->{missing} || (), map { assumed($_) } @{$series->{predictions}});
}

sub assumed {
  my ($p) = @_;
  my $words = sprintf 'Assumed of %.4g elements on %d ranks: nodes of %d cores like those of the runs, %d rank%s on each; latency %.2g s, %.3g byte/s, reductions of %.2g s a doubling of '
    . "ranks, with no message in another's way; as many linear iterations as in the largest run on one rank, which is %.3g times smaller; multigrid's coarse levels and set-up shared as its "
    . 'finest is', $p->{elements}, $p->{ranks}, $p->{cores}, $p->{per_node}, $p->{per_node} > 1 ? 's' : '', @{$p->{network}}{qw(latency bandwidth reduction)}, $p->{whole_beyond_measured};
  my $beyond = $p->{node_beyond_measured};
  return $words . ($beyond > 1 + $same_size ? sprintf('; work an element of a node that holds %.3g times as many as that run is that of the run', $beyond) : '');
}

sub text_table {
  my @rows = @_;
  my @widths = map { my $c = $_; max map { length($_->[$c] // '') } @rows } 0 .. 11;
  return join '', map { my $row = $_; my $line = join '  ', '', map { $_ < 12 ? sprintf('%*s', $widths[$_], $row->[$_]) : $row->[$_] } 0 .. $#$row; $line =~ s/ +$//; "$line\n" } @rows;
}

sub markdown_table {
  my ($head, @rows) = @_;
  my $line = sub { '| ' . join(' | ', map { s/\|/\\|/gr =~ s/</&lt;/gr } @_) . " |\n" };
  return $line->(@$head) . '|' . join('|', map { $_ < 12 ? '--:' : '---' } 0 .. $#$head) . "|\n" . join('', map { $line->(@$_) } @rows) . "\n";
}

sub show {
  my ($series) = @_;
  my $markdown = $asked{format} eq 'markdown';
  my $words = "$series->{rows}[0]{name} by $series->{rows}[0]{by} ($series->{machine}, $series->{cores} core" . ($series->{cores} > 1 ? 's' : '') . ')';
  $words =~ s/</&lt;/g if $markdown;
  print $markdown ? "## $words\n\n" : "$words\n";
  print $markdown ? markdown_table(@$_) : text_table(@$_) for grep { @$_ > 1 } tables($series);
  print $markdown ? s/</&lt;/gr . ".\n\n" : "  $_.\n" for sentences($series);
}

# ---- a plot: strong and weak scaling side by side

sub curves { # pairs of blocks for gnuplot's `index`, measured and told; an empty one has a point that is not drawn
  my @groups = grep { grep({ defined $_->{seconds} } @$_) > 1 } @_;
  return (scalar @groups, map { my $rows = $_; map { my $of = $_; join '', qq("ranks" "$rows->[0]{elements}"\n),
    map { my $value = $of ? $_->{told}{total} : $_->{seconds}; "$_->{ranks} " . (defined $value ? sprintf '%.6g', $value : 'nan') . "\n" } @$rows } 0, 1 } @groups);
}

sub draw {
  my ($series, $stem, $template) = @_;
  my @rows = @{$series->{rows}};
  my ($strong, @blocks) = curves(map { my $first = $_; [grep { $_->{scene} eq $first->{scene} } @rows] } grep { !$_->{later} } @rows);
  my ($weak, @more) = curves(map { my $base = $_; [grep { (weak_base(\@rows, $_) // 0) == $base } @rows] } grep { $_->{ranks} == 1 } @rows);
  return if $strong + $weak == 0;
  my $title = "$rows[0]{name} by $rows[0]{by}" =~ s/[^\w \/:=.,-]/?/gr; # nothing that ends a string of gnuplot's
  put("$stem.dat", join "\n\n", @blocks, @more);
  put("$stem.gp", "data = '$stem.dat'\noutput = '$stem.svg'\ntitle = '$title'\nheight = 440\nstrong = $strong\nweak = $weak\ncores = $series->{cores}\n"
    . 'most = ' . max(map { $_->{ranks} } @rows) . "\n$template");
  system('gnuplot', "$stem.gp") == 0 or die "gnuplot did not draw $stem.gp in $asked{output}\n";
}

sub put {
  my ($name, $text) = @_;
  open my $file, '>', $name or die "$name: $!\n";
  print $file $text;
  close $file or die "$name: $!\n";
}

# ----

my (%series, @order);
for my $sample (map { read_file($_) } @ARGV) {
  my $key = join "\n", @$sample{qw(problem solver machine)};
  push @order, $key if !$series{$key};
  push @{$series{$key}}, $sample;
}
my @all = map { make_series(@$_) } grep { my %ranks = map { $_->{ranks} => 1 } @$_; keys %ranks > 1 } @series{@order};
my $json = JSON::PP->new->canonical->pretty->encode({series => \@all});
if ($asked{output} && @all) {
  -d $asked{output} or mkdir $asked{output} or die "$asked{output}: $!\n";
  my $template = join '', map { slurp($_) } "$Bin/../../reports/gnuplot/style.gp", "$Bin/scaling.gp";
  chdir $asked{output} or die "$asked{output}: $!\n";
  put('scaling.json', $json);
  draw($all[$_], $_ ? 'scaling-' . ($_ + 1) : 'scaling', $template) for 0 .. $#all;
}
if ($asked{format} eq 'json') { print $json }
else { show($_) for @all; print "$legend\n" if @all }
print STDERR "no scene was run by one solver on several numbers of ranks; 'elastobench run scaling -o scaling.h5' makes such a file\n" if !@all;
exit(grep({ $_->{errors}{shared} || $_->{errors}{crowded} } @all) ? 0 : 6); # 6: the model was not judged
