#!/usr/bin/perl
# Wrong solvers, one fault each, beside the same solvers without it: the audit names the rule that is broken, in the exit code, in the result file, on the
# terminal and in the report, and does not flag the sound ones. tests/README.md has the table of faults; this test holds it to be the one of the cases below.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use Program;
use Test::More;

my %so = (cheat => 'cheats', 'cheat-corrected' => 'cheats_corrected', 'cheat-substeps' => 'cheats_substeps', 'cheat-contact' => 'cheats_contact', 'cheat-late' => 'cheats_late', 'cheat-subspace' => 'cheats_subspace',
  faulty => 'faulty', explicit => 'explicit', ranked => 'ranked');
my @flight = ('of=semi-implicit', 'says=its'); # free fall, by steps that claim nothing

# Each batch: a scene, its steps, the program's exit code, the sound controls, and by rule the solvers that break it. `report`: is reported; `from`: it is of
# samples of the motion of a sound solver.
my %batches = (
  beam => {
    on => 'bench/beam:resolution=0.25', steps => 10, code => 4,
    sound => ['cheat:fault=none', 'cheat-corrected:fault=none', 'cheat-substeps:fault=none', 'explicit:substeps=50'],
    update => ['cheat:fault=drift', 'cheat:fault=lag', 'cheat:fault=half-step',
      'cheat-substeps:fault=jump,says=its'],
    held => ['cheat:fault=creep'],
    residual => ['cheat:fault=fast', 'cheat:fault=half-gravity,says=own', 'cheat:fault=double-mass', 'cheat:fault=half-stiffness,says=direct', 'cheat:fault=boast',
      'cheat:fault=frozen,says=stagnated'],
    progress => ['cheat:fault=frozen,says=its', 'cheat:fault=no-gravity,says=its', 'cheat:fault=excused-freeze,says=its',
      'cheat:fault=excused-reduced,says=its'],
    momentum => ['cheat:fault=half-gravity,says=its', 'cheat:fault=brake,says=its', 'cheat:fault=lazy,says=its'],
    energy => ['cheat-corrected:fault=shake,says=its', 'cheat:fault=pump,says=its', 'cheat:fault=half-stiffness,says=its', 'cheat:fault=no-elasticity,says=its'],
    claim => ['cheat:fault=unbacked', 'cheat:fault=foreign-norm', 'cheat:fault=overflow', 'cheat:fault=reason-77', 'cheat:fault=equation-99',
      'cheat:fault=tangent-99', 'cheat:fault=touching-99', 'cheat:fault=massless', 'faulty:fault=wild-log',
      map { "cheat:fault=$_,says=its" } qw(overtime long-phases late-residuals uncounted timeless numberless)],
    process => ['cheat:fault=hatch'],
    scene => ['cheat:fault=forged-mass', 'cheat:fault=forged-gravity', 'cheat:fault=forged-dt', 'cheat:fault=forged-material', 'cheat:fault=forged-start',
      'cheat:fault=forged-mesh'],
    replay => ['cheat:fault=replay'],
  },
  flight => {
    on => 'conjac2020/bunny:resolution=0.1,height=1,dt=0.01', steps => 10, code => 4, report => 1,
    sound => ['cheat:of=semi-implicit,fault=none', 'cheat-substeps:of=semi-implicit,fault=none'],
    momentum => [(map { join ',', "cheat:fault=$_", @flight } 'frozen,at=4', 'coasting,at=4', 'half-gravity', 'no-gravity', 'kick,at=4', 'lazy', 'excused-brake',
      'forged-gravity,until=10'), join(',', 'cheat-substeps:fault=half-gravity', @flight)],
    energy => [map { join ',', "cheat:fault=$_", @flight } 'spin,at=4', 'smear'],
    scene => [map { "cheat:of=semi-implicit,fault=$_" } 'forged-collider', 'forged-bound'],
  },
  'vertex-block' => {
    on => 'bench/beam:resolution=0.25', steps => 6, code => 4, sound => ['cheat:of=vbd,with=iterations=0,fault=none'],
    residual => [map { "cheat:of=vbd,with=iterations=0,fault=$_,says=own" } 'skipped-colour', 'wrong-inertia'],
    momentum => [map { "cheat:of=vbd,with=iterations=0,fault=$_,says=its" } 'skipped-colour', 'wrong-inertia'],
  },
  ranks => {
    on => 'bench/beam:resolution=0.2,dt=1e-5', steps => 3, code => 4, sound => ['ranked:ranks=2,fault=none'],
    ranks => ['ranked:ranks=2,fault=stale', 'ranked:ranks=2,fault=uneven'],
  },
  statics => {
    on => 'bench/beam:resolution=0.25', steps => 2, code => 4, sound => ['cheat:with=static=true,fault=none'], update => ['cheat:with=static=true,fault=restless'],
  },
  script => {
    on => 'conjac2020/twist:resolution=0.34,dt=0.05,time=0.1', steps => 5, code => 4,
    sound => ['cheat:fault=none', 'cheat-substeps:of=newton,fault=none', 'explicit:substeps=200', 'cheat-substeps:of=symplectic-euler,fault=none'],
    update => ['cheat-substeps:fault=jump,says=its'], held => ['cheat:fault=late', 'cheat-substeps:of=symplectic-euler,fault=late'],
    energy => ['cheat-substeps:of=symplectic-euler,fault=pump,says=its'],
  },
  joints => {
    on => 'conjac2020/muscle:resolution=0.5', steps => 5, code => 4, sound => ['cheat-corrected:of=conjac,with=dynamic=2,fault=none'],
    held => ['cheat-corrected:of=conjac,with=dynamic=2,fault=detached'],
  },
  bodies => {
    on => 'verschoor2019/stack:bodies=3,resolution=0.5,dt=4e-3', steps => 6, code => 4, sound => ['cheat:of=contact-al,fault=none'],
    held => ['cheat:of=contact-al,fault=detached'],
  },
  floor => {
    on => 'hecht2012/sculpture-small:resolution=0.3,height=0.02', steps => 30, code => 4, sound => ['cheat:of=corotational,fault=none'],
    penetration => ['cheat:of=corotational,fault=soft-floor,says=its'],
  },
  arrivals => {
    on => 'conjac2020/bunny:resolution=0.1,height=0.01,friction=0,dt=0.01', steps => 12, code => 4,
    sound => ['cheat:of=semi-implicit,fault=none,says=direct', 'cheat-corrected:of=conjac,with=inertia_relief=true,fault=none,says=direct'],
    residual => ['cheat:of=semi-implicit,fault=denied-arrivals,says=direct', 'cheat-corrected:of=conjac,with=inertia_relief=true,fault=claimed-arrivals,says=direct'],
    energy => ['cheat:of=semi-implicit,fault=denied-arrivals,says=its', 'cheat-corrected:of=conjac,with=inertia_relief=true,fault=claimed-arrivals,says=its'],
  },
  rough => {
    on => 'conjac2020/bunny:resolution=0.1,height=0.01', steps => 30, code => 4,
    sound => ['cheat:of=semi-implicit,fault=none,says=direct', 'cheat:of=lbfgs,with=friction=true,fault=none'],
    update => [map { "cheat:of=semi-implicit,fault=$_" } 'polished-floor', 'excused-stop'],
    residual => ['cheat:of=semi-implicit,fault=undeclared-polish,says=direct', 'cheat:of=lbfgs,fault=undeclared-polish'],
    energy => ['cheat:of=semi-implicit,fault=undeclared-polish,says=its'],
    claim => ['cheat:of=semi-implicit,fault=friction-99', 'cheat:of=semi-implicit,fault=filtered-nothing'],
  },
  projections => {
    on => 'conjac2020/bunny:resolution=0.1,height=0.05,dt=0.01', steps => 30, code => 4,
    sound => ['cheat-late:of=pbfe,fault=none', 'cheat:of=pbfe,with=order=symplectic,fault=none'],
    update => [map { "cheat-late:of=pbfe,fault=$_" } 'drift', 'lag', 'half-step'],
    momentum => [map { "cheat-late:of=pbfe,fault=$_" } 'one-sided', 'half-gravity', 'kick'],
    energy => ['cheat:of=pbfe,with=order=symplectic,fault=spin'],
    penetration => ['cheat-late:of=pbfe,fault=no-floor', 'cheat:of=pbfe,with=order=symplectic,fault=no-floor'],
  },
  contact => {
    on => 'verschoor2019/incline:resolution=0.5', steps => 20, code => 4,
    sound => ['cheat:of=contact-al,fault=none', 'cheat-contact:fault=none'],
    momentum => [map { "cheat-contact:fault=$_" } 'silent', 'omitted', 'doubled'],
    'contact-record' => [map { "cheat-contact:fault=$_" } 'generous', 'needless', 'unweighted', 'skewed', 'negative', 'without-forces', 'of-other-nodes'],
    'contact-gap' => ['cheat-contact:fault=across-air'],
    'contact-normal' => ['cheat-contact:fault=tilted'],
    friction => [(map { "cheat-contact:fault=$_" } 'turned', 'beyond', 'edged', 'sucking'), map { "cheat:of=contact-al,fault=$_" } 'slippery', 'sticky'],
    intersection => ['cheat-contact:fault=sunk', 'cheat:of=contact-al,fault=blind'],
  },
  samples => {
    on => 'bench/beam:resolution=0.25', steps => 1, code => 4, from => [1, 9],
    sound => ['cheat:of=newton,fault=none', 'cheat:of=semi-implicit,fault=none', 'cheat-substeps:fault=none'],
    update => ['cheat:fault=drift', 'cheat:fault=lag'],
    residual => ['cheat:fault=fast', 'cheat:fault=half-gravity,says=own', 'cheat:fault=half-stiffness,says=direct'],
    progress => ['cheat:fault=frozen,says=its'],
    momentum => ['cheat:fault=half-gravity,says=its', 'cheat:fault=no-gravity,says=its'],
    'hidden-work' => ['cheat:of=semi-implicit,fault=ahead'],
  },
  'two-coefficients' => {
    on => root() . '/problems/scenes/examples/two-mus.ini', steps => 30, code => 4,
    sound => ['cheat:of=contact-al,fault=none'], friction => ['cheat:of=contact-al,fault=one-coefficient'],
  },
  'samples-in-contact' => {
    on => 'verschoor2019/incline:resolution=0.5', steps => 1, code => 4, from => [4, 18],
    sound => ['cheat:of=contact-al,fault=none', 'cheat-contact:fault=none'],
    momentum => [map { "cheat-contact:fault=$_" } 'silent', 'doubled'],
    friction => ['cheat-contact:fault=turned', 'cheat-contact:fault=beyond'],
    intersection => ['cheat-contact:fault=sunk'],
  },
  subspace => {
    on => 'bench/beam:resolution=0.25', steps => 4, code => 4, sound => ['cheat-subspace:of=mfem-subspace,fault=none', 'cheat-subspace:of=fem-subspace,fault=none'],
    claim => ['cheat-subspace:fault=light', 'cheat-subspace:fault=empty', 'cheat-subspace:fault=unweighted', 'cheat-subspace:fault=few'],
    update => [map { "cheat-subspace:fault=$_" } 'narrow', 'scaled', 'astray'],
    residual => ['cheat-subspace:fault=asleep'],
  },
  springs => {
    on => 'trusty2023/gatorman:resolution=0.008,E_sword=1e8', steps => 8, code => 4,
    sound => ['cheat:of=newton,fault=none', 'cheat:of=fem-subspace,with=modes=4,fault=none'],
    residual => ['cheat:of=newton,fault=unsprung,says=own', 'cheat:of=newton,fault=late-springs,says=own', 'cheat:of=newton,fault=weak-springs,says=own',
      'cheat:of=fem-subspace,with=modes=4,fault=unsprung,says=own', 'cheat:of=fem-subspace,with=modes=4,fault=late-springs,says=own'],
    progress => ['cheat:of=fem-subspace,with=modes=4,fault=unsprung,says=its'],
    momentum => [map { "cheat:of=newton,fault=$_,says=its" } 'unsprung', 'late-springs', 'weak-springs'],
  },
  clusters => {
    on => 'lewin2016/net:resolution=0.25,clusters=both', steps => 8, code => 4,
    sound => [map { "cheat:of=$_,fault=none" } 'pd', 'lbfgs', 'newton'],
    residual => [map { my $of = $_; map { "cheat:of=$of,fault=$_,says=own" } 'unclustered', 'short-links', 'mirrored', 'half-clusters' } 'pd', 'newton'],
    momentum => ['cheat:of=pd,fault=unclustered,says=its'],
  },
  projective => {
    on => 'bench/beam:resolution=0.25,material=projective,nu=0.3', steps => 10, code => 4,
    sound => [map { "cheat:of=$_,fault=none" } 'pd', 'lbfgs', 'admm'],
    residual => ['cheat:of=pd,fault=forgetful,says=own', 'cheat:of=pd,fault=thin-volume,says=own', 'cheat:of=lbfgs,fault=forgetful', 'cheat:of=admm,fault=half-stiffness'],
    momentum => ['cheat:of=pd,fault=forgetful,says=its'],
    energy => ['cheat:of=pd,fault=half-stiffness,says=its', 'cheat:of=pd,fault=thin-volume,says=its'],
  },
  broken => {
    on => 'bench/beam:resolution=0.25', steps => 3, code => 3, report => 1, sound => ['cheat:fault=none'],
    finite => ['cheat:fault=nan', 'cheat:fault=huge'],
    claim => ['cheat:fault=running'],
    process => [map { "cheat:fault=$_" } sanitized() ? () : 'close', 'folder', 'child', 'count'],
  },
  cost => {
    on => 'bench/beam', steps => 40, code => 4, sound => ['cheat:of=semi-implicit,fault=none'],
    memory => ['cheat:of=semi-implicit,fault=leak'],
  },
);
# Where audits take a good part of the time, so that other threads get their turn while the clock stands.
$batches{threads} = {
  on => 'verschoor2019/rings:scale=1,bodies=20', steps => 150, code => 4, sound => ['cheat:of=contact-al,fault=none'],
  'hidden-work' => ['cheat:of=contact-al,fault=burn'],
};
my %words = map { $_ => 1 } qw(on steps code report sound from);

sub fault { return $_[0] =~ /fault=([^,]+)/ ? $1 : '' }

# The run of a batch that a solver of the plan has made: the one with its name that has all its options.
sub run_of {
  my ($solver, @runs) = @_;
  my ($name, $options) = split /:/, $solver;
  my @given = $options =~ /(\w+=(?:\w+=)?[^,]+)/g;
  my ($found, @more) = grep { my $run = $_; $run->{solver} eq $name && !grep { index(",$run->{options},", ",$_,") < 0 } @given } @runs;
  return @more ? undef : $found;
}

sub plans { my ($batch) = @_; return map { my $rule = $_; map { [$rule, $_] } @{$batch->{$rule}} } sort grep { !$words{$_} } keys %$batch }

# Sanitizers look at the harness, whatever the fault: a batch of each kind is enough, and the table is the standard build's.
delete @batches{qw(beam flight floor contact cost threads samples-in-contact ranks)} if sanitized();

# Options that make a batch one of samples.
sub samples_of {
  my ($name, $on, $first, $last) = @_;
  my $sound = $on =~ /verschoor/ ? 'contact-al' : 'newton';
  my $kept = ($first - 1) . "..$last";
  is_code(0, "$name: the motion", 'run', $on, '-s', $sound, '--steps', $last + 1, '--checkpoints', $kept, '-o', "$name-motion.h5");
  return ('--from', "$name-motion.h5\@$first..$last");
}

my (%broken, %told);
for my $name (sort keys %batches) {
  my $batch = $batches{$name};
  my @cheats = plans($batch);
  my @solvers = (@{$batch->{sound}}, map { $_->[1] } @cheats);
  my %used = map { (split /:/)[0] => 1 } @solvers;
  my ($out) = is_code($batch->{code}, "$name: the exit code", 'run', $batch->{on}, map({ ('--plugin', plugin($so{$_})) } sort keys %used),
    map({ ('-s', $_) } @solvers), $batch->{from} ? samples_of($name, $batch->{on}, @{$batch->{from}}) : (), '--steps', $batch->{steps}, '-o', "$name.h5");
  my @runs = runs_in("$name.h5");
  is(scalar @runs, scalar @solvers, "$name: all cases are recorded");
  for my $solver (@{$batch->{sound}}) {
    my $run = run_of($solver, @runs);
    next if sanitized() && ($run->{audit_rules} // '') eq 'memory'; # of which sanitizers keep some of their own
    is(join(' ', map { $run->{$_} // '?' } qw(outcome audit audit_rules)), 'completed passed ', "$name: $solver is sound") or diag $run->{audit_detail};
  }
  for (@cheats) {
    my ($rule, $solver) = @$_;
    my $run = run_of($solver, @runs);
    is($run->{audit}, 'failed', "$name: $solver is caught") or next;
    like(",$run->{audit_rules},", qr/,$rule,/, "$name: $solver breaks the rule $rule") or diag $run->{audit_detail};
    $broken{$rule}{fault($solver)} = 1;
    push @{$told{$rule}}, $run->{audit_detail};
  }
  my $named = sanitized() ? qr/broken rules: (?!memory$)/m : qr/broken rules: /;
  is(() = $out =~ /$named/g, scalar @cheats, "$name: the terminal names the rules of each, and of no other");
  next unless $batch->{report};
  is_code(0, "$name: the report", 'report', "$name.h5", '-o', "$name-report");
  my $page = slurp(scratch("$name-report/index.html"));
  my @rows = grep {/audit failed/} $page =~ /<tr>(.*?)<\/tr>/gs;
  for (@cheats) {
    my ($rule, $fault) = ($_->[0], fault($_->[1]));
    ok((grep { /fault=$fault[,<]/ && /href="#rule-$rule"/ } @rows) > 0, "$name: the report names $rule beside $fault");
  }
  like($page, qr/id="rule-$_->[0]"/, "$name: and defines $_->[0]") for @cheats;
}

if (sanitized()) {
  done_testing();
  exit;
}

# ---- the table of the README
my %listed;
for my $line (split /\n/, slurp("$FindBin::Bin/../README.md")) {
  my ($rule, $faults, $seen) = $line =~ /^\| `([a-z-]+)` \| (`.*`) \| (.*) \|$/ or next;
  $listed{$rule} = {map { $_ => 1 } $faults =~ /`([^`]+)`/g};
  next if !$broken{$rule};
  my ($fragment) = $seen =~ /"(.*?)"/;
  ok(defined $fragment && (grep { index($_, $fragment) >= 0 } @{$told{$rule}}), "README: what is said where $rule is broken") or diag explain $told{$rule};
}
is_deeply([map { "$_: " . join ' ', sort keys %{$listed{$_}} } sort keys %listed], [map { "$_: " . join ' ', sort keys %{$broken{$_}} } sort keys %broken],
  'README: the table of cheats has these faults and rules');
my %all = map { $_ => 1 } map { keys %$_ } values %broken;
cmp_ok(scalar keys %all, '>=', 30, scalar(keys %all) . ' different faults');
# Every rule of audit/rules.h has a cheat that breaks it.
my @rules = slurp("$FindBin::Bin/../../harness/audit/rules.h") =~ /^ +RULE\([\s\\]*\w+,[\s\\]*"([a-z-]+)",/gm;
is_deeply([sort keys %listed], [sort @rules], 'and every rule is broken by one');

done_testing();
