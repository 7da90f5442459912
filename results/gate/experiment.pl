#!/usr/bin/perl
# How often the gate raises a false alarm, and how often it finds a delay of 5 %: `elastobench compare PROGRAM PROGRAM` over and over, on this
# machine, under loads of its own. In every suite HEAD and BASE are the same program, in processes of their own: whatever is called regressed or
# improved is a false alarm. The lane with the delay that every job has is what is to be found.
#
#   results/gate/experiment.pl build/elastobench --suites 300 --loads 0,2,4 -o results/gate/suites.tsv     goes on where the file ends
#   results/gate/experiment.pl --report results/gate/suites.tsv                                            prints the rates
#
# Suites are numbered, 1 to 300 here; `--first 151` leaves those before out, for two of them to share the work (into two files, one processor each).
#
# `running` is the load average after a suite: what else the machine had to do. A load of N is N processes that each work for 0.1 to 2 s, in a loop on numbers or on 16 MB of memory, then sleep for up to 1 s.
use strict;
use warnings;
use Getopt::Long;
use JSON::PP;
use List::Util qw(sum0 max);
use Time::HiRes qw(sleep time);

my ($suites, $first, $loads, $output, $report, $names) = (10, 1, '0,2', 'suites.tsv', undef, 'gate');
GetOptions('suites=i' => \$suites, 'first=i' => \$first, 'loads=s' => \$loads, 'o|output=s' => \$output, 'report=s' => \$report, 'suite=s' => \$names)
  or die "usage: experiment.pl PROGRAM [--first N] [--suites N] [--loads 0,2,..] [--suite gate] [-o FILE] | --report FILE\n";

my @columns = qw(load seed case rounds verdict change same_verdict same_change same_sd same_lag same_life delayed_verdict delayed_change seconds running);

# ---- rates

sub log_choose { # ln of n over k
  my ($n, $k) = @_;
  return sum0(map { log(($n - $k + $_) / $_) } 1 .. $k);
}

sub at_most { # P(X <= k) of a binomial number
  my ($k, $n, $p) = @_;
  return 1 if $p <= 0;
  return $k >= $n ? 1 : 0 if $p >= 1;
  return sum0(map { exp(log_choose($n, $_) + $_ * log($p) + ($n - $_) * log(1 - $p)) } 0 .. $k);
}

sub solve { # where a falling function of p in 0 .. 1 meets a value
  my ($value, $function) = @_;
  my ($low, $high) = (0, 1);
  for (1 .. 60) {
    my $p = ($low + $high) / 2;
    $function->($p) > $value ? ($low = $p) : ($high = $p);
  }
  return ($low + $high) / 2;
}

sub rate { # k of n with Clopper and Pearson's 95 % interval
  my ($k, $n) = @_;
  return 'none' if !$n;
  my $low = $k == 0 ? 0 : solve(0.975, sub { at_most($k - 1, $n, $_[0]) });
  my $high = $k == $n ? 1 : solve(0.025, sub { at_most($k, $n, $_[0]) });
  return sprintf '%d of %d (%.1f %%; %.1f .. %.1f %%)', $k, $n, 100 * $k / $n, 100 * $low, 100 * $high;
}

sub median { my @sorted = sort { $a <=> $b } @_; return @sorted ? $sorted[@sorted / 2] : 0 }

sub print_report {
  my ($path) = @_;
  open my $file, '<', $path or die "$path: $!\n";
  my (%suite, %cases);
  while (my $line = <$file>) {
    chomp $line;
    next if $line =~ /^#|^load\t/;
    my %row;
    @row{@columns} = split /\t/, $line;
    push @{$suite{$row{load}}{$row{seed}}}, \%row;
    push @{$cases{$row{load}}}, \%row;
  }
  my $changed = qr/^(regressed|improved)$/;
  print "| load | suites | suites with a false alarm: HEAD | BASE again | cases equivalent | +5 % found, cases | suites with all found | noise of a round | rounds | s a suite | running |\n";
  print "|---|---|---|---|---|---|---|---|---|---|---|\n";
  my $row = sub {
    my ($load, $rows, @all) = @_;
    my $count = sub { my ($test, @of) = @_; return scalar grep { $test->($_) } @of };
    printf "| %s | %d | %s | %s | %s | %s | %s | %.1f %% | %.0f | %.0f | %.1f |\n", $load, scalar @all,
      rate($count->(sub { grep { $_->{verdict} =~ $changed } @{$_[0]} }, @all), scalar @all),
      rate($count->(sub { grep { $_->{same_verdict} =~ $changed } @{$_[0]} }, @all), scalar @all),
      rate($count->(sub { $_[0]{verdict} eq 'equivalent' }, @$rows), scalar @$rows),
      rate($count->(sub { $_[0]{delayed_verdict} eq 'regressed' }, @$rows), scalar @$rows),
      rate($count->(sub { !grep { $_->{delayed_verdict} ne 'regressed' } @{$_[0]} }, @all), scalar @all),
      100 * median(map { $_->{same_sd} } @$rows), sum0(map { $_->{rounds} } @$rows) / @$rows, median(map { $_->[0]{seconds} } @all), median(map { $_->[0]{running} } @all);
  };
  my @loads = sort { $a <=> $b } keys %suite;
  $row->($_, $cases{$_}, values %{$suite{$_}}) for @loads;
  $row->('all', [map { @{$cases{$_}} } @loads], map { values %{$suite{$_}} } @loads) if @loads > 1;
  print "\n| load | case | noise of a round | correlation of neighbours | processes differ by | largest A/A change | +5 % seen as |\n|---|---|---|---|---|---|---|\n";
  for my $load (sort { $a <=> $b } keys %cases) {
    my %of;
    push @{$of{$_->{case}}}, $_ for @{$cases{$load}};
    for my $case (sort keys %of) {
      my @rows = @{$of{$case}};
      printf "| %s | %s | %.2f %% | %+.2f | %.2f %% | %.2f %% | %+.2f %% |\n", $load, $case, 100 * median(map { $_->{same_sd} } @rows),
        sum0(map { $_->{same_lag} } @rows) / @rows, 100 * median(map { $_->{same_life} } @rows),
        100 * max(map { abs $_->{same_change} } @rows), 100 * median(map { $_->{delayed_change} } @rows);
    }
  }
}

# ---- one suite

sub mean { return @_ ? sum0(@_) / @_ : 0 }

# Standard deviation, correlation of neighbours, and the standard deviation that lives (of 20 rounds) have of their own beside the rounds'.
sub noise {
  my @y = @_;
  my $mean = mean(@y);
  my $variance = mean(map { ($_ - $mean)**2 } @y);
  my $lag = @y > 1 ? mean(map { ($y[$_] - $mean) * ($y[$_ - 1] - $mean) } 1 .. $#y) : 0;
  my @lives;
  push @{$lives[$_ / 20]}, $y[$_] for 0 .. $#y;
  my $within = mean(map { my $m = mean(@$_); my $n = @$_; $n > 1 ? sum0(map { ($_ - $m)**2 } @$_) / ($n - 1) : 0 } @lives);
  my $between = @lives > 1 ? sum0(map { (mean(@$_) - $mean)**2 } @lives) / (@lives - 1) - $within / 20 : 0;
  return (sqrt $variance, $variance ? $lag / $variance : 0, $between > 0 ? sqrt $between : 0);
}

sub start_load {
  my ($count) = @_;
  my @pids;
  for my $number (1 .. $count) {
    my $pid = fork // die "fork: $!";
    if ($pid) { push @pids, $pid; next }
    srand($number);
    my ($a, $x) = ('x' x 16e6, 0);
    while (getppid() != 1) {
      my $until = time + 0.1 + rand 1.9;
      my $memory = rand() < 0.5;
      while (time < $until) {
        if ($memory) { my $b = $a; substr($b, rand(16e6), 1) = 'y' }
        else { $x = sin($x + $_) for 1 .. 1000 }
      }
      sleep rand 1;
    }
    exit;
  }
  return @pids;
}

sub running { # processes that want a processor, the mean of the last minute
  open my $file, '<', '/proc/loadavg' or return 0;
  return (split ' ', <$file>)[0];
}

sub run_suite {
  my ($program, $load, $seed) = @_;
  my $text = qx('$program' compare '$program' '$program' '$names' --no-instructions --seed $seed --format json 2> /dev/null);
  my $json = eval { decode_json($text) } or die "compare has failed (exit code @{[$? >> 8]})\n$text";
  my @lines;
  for my $case (@{$json->{cases}}) {
    my ($same, $delayed) = @{$case->{controls}}{qw(same delayed)};
    # The verdict by HEAD's rounds alone: the control would take an alarm back.
    push @lines, join "\t", $load, $seed, $case->{case}, $case->{rounds}, $case->{cpu}{verdict}, (map { sprintf '%.5f', $_ // 0 }
      $case->{cpu}{change}), $same->{verdict}, (map { sprintf '%.5f', $_ // 0 } $same->{change}, noise(@{$same->{log_ratios}})),
      $delayed->{verdict}, (map { sprintf '%.5f', $_ // 0 } $delayed->{change}), sprintf('%.1f', $json->{seconds}), running();
  }
  return join "\n", @lines, '';
}

sub finished { # seeds of a load that the file has
  my ($path, $load) = @_;
  my %seen;
  open my $file, '<', $path or return ();
  while (my $line = <$file>) { my @row = split /\t/, $line; $seen{$row[1]} = 1 if $row[0] eq $load }
  return %seen;
}

if (defined $report) {
  print_report($report);
  exit;
}
my $program = shift // die "which program?\n";
my $new = !-e $output;
open my $out, '>>', $output or die "$output: $!\n";
$out->autoflush(1);
print $out join("\t", @columns), "\n" if $new;
my @loads = split /,/, $loads;
my %done = map { $_ => {finished($output, $_)} } @loads;
for my $seed ($first .. $suites) { # loads take turns
  for my $load (grep { !$done{$_}{$seed} } @loads) {
    my @pids = start_load($load);
    my $lines = eval { run_suite($program, $load, $seed) };
    my $failure = $@;
    kill 'KILL', @pids if @pids;
    waitpid $_, 0 for @pids;
    die $failure if !$lines;
    print $out $lines;
  }
}
