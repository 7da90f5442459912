#!/usr/bin/perl
# The recipes of the rooms' READMEs, executed.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../support";
use File::Path qw(make_path);
use Program;
use Test::More;

plan skip_all => 'only the standard build is linked' if ($ENV{BUILD} // 'build') ne 'build';

# ---- problems/README.md: adding a scene
my $readme = slurp(root() . '/problems/README.md');
my ($scene) = $readme =~ /^## Adding a scene.*?\n```c\n(.*?)```\n/ms;
my ($entry) = $readme =~ /one line in `scenes\/catalogue\.h`: `(ENTRY\(\w+\))`/;
ok($scene && $entry, 'the README has the file of a scene and its line');

# The file and the catalogue with its line stand in front of the tree's own.
my $tree = scratch('tree');
make_path("$tree/problems/scenes");
my $catalogue = slurp(root() . '/problems/scenes/catalogue.h');
$catalogue =~ s/(#define EB_SCENES\(ENTRY\).*\n)/$1  $entry \\\n/;
spew("$tree/problems/scenes/mine.c", $scene);
spew("$tree/problems/scenes/catalogue.h", $catalogue);
spew("$tree/flags.mk", "flags:\n\t\@echo \$(ALL_CFLAGS)\nlibraries:\n\t\@echo \$(ALL_LDFLAGS)\nbehind:\n\t\@echo \$(PKG_LIBS)\n" .
  "embedded:\n\t\@echo \$(EMBEDDED)\n" .
  "cases:\n\t\@echo \$(call object,\$(filter-out harness/bench/bench_main.c,\$(BENCH_SRC)))\n");

sub of_make {
  my ($what) = @_;
  my $text = qx(cd '@{[root()]}' && env -u MAKEFLAGS -u MFLAGS make -s --no-print-directory -f Makefile -f '$tree/flags.mk' $what);
  chomp $text;
  return $text;
}

sub succeeds {
  my ($command, $name) = @_;
  my $out = qx(cd '@{[root()]}' && ( $command ) 2>&1);
  ok($? == 0, $name) or diag("$command\n$out");
  return;
}

my ($flags, $libraries, $behind, $benches, $embedded) = map { of_make($_) } qw(flags libraries behind cases embedded);
succeeds("cc -I'$tree' $flags -c '$tree/problems/scenes/mine.c' -o '$tree/mine.o'", 'the file compiles');
succeeds("cc -I'$tree' $flags -c problems/scenes/registry.c -o '$tree/registry.o'", 'and so does the catalogue');
succeeds("cc $libraries build/obj/harness/main.o '$tree/mine.o' '$tree/registry.o' build/libharness.a build/libelastobench.a -o '$tree/elastobench' $behind",
  'the program links with it');
succeeds("'$tree/elastobench' list | grep -q 'mine/bar .*bends under its weight'", 'the scene is listed');
succeeds("'$tree/elastobench' run mine/bar -s newton --steps 3 -o '$tree/mine.h5'", 'and it runs, audited');

# ---- problems/elasticity/README.md: adding a material
my ($recipe) = slurp(root() . '/problems/elasticity/README.md') =~ /^## Adding a material\n(.*)/ms;
my ($name, $section, @cases) = $recipe =~ /\n```c\n(.*?)```\n/gs;
is(scalar @cases, 3, 'the README has name, section and three cases of a material');
my @places = (['harness/audit/reference.c', 'eb_reference_volume'], ['harness/audit/reference.c', 'base_term'], ['harness/audit/tangent.c', 'differentiate']);
like($recipe, qr/@{[join '.*', map { "`$_->[1]`" } @places]}/s, 'and says in which switches they stand');

# Copies $path into the tree, with $text after what $place matches.
sub insert {
  my ($path, $place, $text) = @_;
  my $whole = slurp(-e "$tree/$path" ? "$tree/$path" : root() . "/$path");
  ok($whole =~ s/$place/$1$text/, "$path has the recipe's place");
  make_path("$tree/$path" =~ s/[^\/]*$//r);
  spew("$tree/$path", $whole);
  return;
}

# Compiles sources, of which those in the tree stand in front, and returns the object of each.
sub objects {
  my ($options, $name, @sources) = @_;
  my %object = map { $_ => "$tree/" . s/\W/_/gr . '.o' } @sources;
  my $rules = 'all: ' . join(' ', values %object) . "\n";
  for my $source (sort keys %object) {
    my $from = -e "$tree/$source" ? "$tree/$source" : $source;
    $rules .= "$object{$source}: ; cc -I'$tree' $flags -Ibuild/obj $options -c $from -o \$@\n";
  }
  spew("$tree/objects.mk", $rules);
  succeeds("env -u MAKEFLAGS -u MFLAGS make -s -j2 -f '$tree/objects.mk' all", $name);
  return %object;
}

chomp $name;
insert('problems/elasticity/material.h', qr/(#define EB_MATERIALS\(ENTRY\)(?:[^\n]*\\\n)+[^\n]*)/, " \\\n  $name");
insert('problems/elasticity/materials.c', qr/()(?=\/\* ---- any material)/, "$section\n");
insert($places[$_][0], qr/(\b$places[$_][1]\([^;]*?\) \{\n.*?switch \([^\n]*\n)/s, $cases[$_]) for 0 .. $#cases;

# Everything that counts materials is compiled anew.
my $counts = 'EB_(MATERIAL_(KINDS|CHOICES)|SCENE_PARAMETERS|PLUGGED\b)';
my @sources = split ' ', qx(cd '@{[root()]}' && grep -lEr '$counts' harness problems solvers --include='*.c' | grep -v /scene_tables);
push @sources, qw(build/obj/scene_files.c harness/audit/tangent.c tests/elasticity/test_materials.c tests/audit/test_audit_tangent.c);
my %object = objects('', 'the material compiles, and all that counts materials', @sources);
my $library = join ' ', map { $object{$_} } grep { !/^tests\/\w+\/test_/ } sort keys %object;
for my $path (qw(elasticity/test_materials audit/test_audit_tangent)) {
  my ($test) = $path =~ m{(\w+)$};
  succeeds("cc $libraries $object{qq(tests/$path.c)} $library build/obj/tests/support/*.o build/libharness.a build/libelastobench.a -o '$tree/$test' $behind" .
    " && { '$tree/$test' > '$tree/$test.out' || ! grep -A 3 '^not ok' '$tree/$test.out'; }", "$test passes");
  like(slurp("$tree/$test.out"), qr/^ok .*\bmine\b/m, 'and has tested it');
}
succeeds("cc $libraries build/obj/harness/main.o $library build/libharness.a build/libelastobench.a -o '$tree/elastobench' $behind", 'the program links with it');
succeeds("'$tree/elastobench' list | grep -q 'mine .*stiffens with Ic'", 'the material is listed');
succeeds("'$tree/elastobench' run bench/beam:resolution=0.25,material=mine -s newton --steps 3 -o '$tree/material.h5'", 'and a scene runs with it, audited');

# ---- harness/bench/README.md: adding a case
my ($table) = slurp(root() . '/harness/bench/README.md') =~ /^## Adding a case.*?\n```c\n(.*?)```\n/ms;
my ($line) = slurp(root() . '/harness/bench/README.md') =~ /one line in \[bench\.h\].*?`(ENTRY\(\w+\))`/;
ok($table && $line, 'the README has the file of a case and its line');
spew("$tree/bench_mine.c", $table);
insert('harness/bench/bench.h', qr/(#define EB_BENCH_TABLES\(ENTRY\)\s*\\\n)/, "  $line \\\n");
succeeds("cc -I'$tree' $flags -c '$tree/bench_mine.c' -o '$tree/bench_mine.o'", 'the case compiles');
succeeds("cc -I'$tree' $flags -c harness/bench/bench_main.c -o '$tree/bench_main.o'", 'and so does the list of tables');
succeeds("cc $libraries '$tree/bench_main.o' '$tree/bench_mine.o' $benches build/libharness.a build/libelastobench.a -o '$tree/bench' $behind",
  'the benchmarks link with it');
succeeds("'$tree/bench' mine --seconds 0.05 > '$tree/bench.out' && grep -q '^mine/trace .*rows' '$tree/bench.out' && grep -q 'a trace of' '$tree/bench.out'" .
  " && grep -q ' x .*every other row' '$tree/bench.out'", 'and it is measured, beside its peer');

# ---- harness/reproduce/README.md: adding a function
my ($code, $function) = slurp(root() . '/harness/reproduce/README.md') =~ /^## Adding a function\n.*?\n```c\n(.*?)```\n.*?\n```c\n(.*?)```\n/ms;
ok($function, 'the README has a function of shapes and its entry');
insert('harness/reproduce/motion_functions.c', qr/()(?=const eb_function eb_motion_functions)/, "$code\n");
insert('harness/reproduce/motion_functions.c', qr/(const eb_function eb_motion_functions\[\] = \{\n)/, $function);
succeeds("cc -I'$tree' $flags -c '$tree/harness/reproduce/motion_functions.c' -o '$tree/motion.o'", 'the function compiles');
succeeds("cc $libraries build/obj/harness/main.o '$tree/motion.o' build/libharness.a build/libelastobench.a -o '$tree/elastobench' $behind", 'the program links with it');
make_path("$tree/mine");
spew("$tree/mine/paper.ini", "[paper]\ntitle = T\n[solvers]\ns = newton\n[cases c | frames 2]\na = bench/beam:resolution=0.5 s\n" .
  "[claim long]\nclaim = It is long.\nholds = top(a, x) >= 0.99 and top(a, z) < 0.5\n");
succeeds("'$tree/elastobench' reproduce mine --from '$tree' -o '$tree/of-mine' | grep -q '^long .*reproduced'", 'and a claim is judged by it');

# All of the harness that sees a header is compiled anew, in a hurry, and the program linked with it.
sub link_anew {
  my ($header, $what, @more) = @_;
  my @seers = split ' ', qx(cd '@{[root()]}' && grep -lE '$header' \$(find build/obj/harness -name '*.d') | sed 's,^build/obj/,,; s,[.]d\$,.c,');
  @seers = grep { !m{^harness/bench/} && -e root() . "/$_" } @seers; # a build may outlive its sources
  cmp_ok(scalar @seers, '>', 5, "what sees a $what is known");
  my %object = objects('-O0', "the $what compiles, and all that sees it", @seers);
  my $main = delete $object{'harness/main.c'} // 'build/obj/harness/main.o';
  succeeds("cc $libraries $main @{[values %object]} @more build/libharness.a build/libelastobench.a -o '$tree/elastobench' $behind", 'the program links with it');
  return;
}

# ---- harness/audit/README.md: adding a figure; harness/case/README.md: adding an outcome
my ($column) = slurp(root() . '/harness/audit/README.md') =~ /^## Adding a figure\n(.*)/ms;
my ($line_of, $member, $again) = $column =~ /`(FIGURE\([^`]*\))`.*`(double \w+;)`.*`(out\["\w+"\] = [^`]+)`/s;
my ($figure) = $column =~ /\n```c\n(.*?)```\n/s;
ok($again && $figure, 'the README has the lines of a figure');
my ($ends) = slurp(root() . '/harness/case/README.md') =~ /^## Adding an outcome\n(.*)/ms;
my ($outcome, $word, $asked, $counted, $raised, $fault, $end) =
  $ends =~ /`(EB_OUTCOME_\w+, [^`]*)`.*?`"([^`]*)"`.*`(if \(end->[^`]*)`.*`(case EB_OUTCOME_\w+:)`.*`(if \(strcmp\(fault, "([^`]*?)"[^`]*)`.*`([^`]* => [^`]*),`/s;
my ($told) = $ends =~ /\n```c\n(.*?)```\n/s;
ok($end && $told, 'and the other one those of an outcome');
$tree = scratch('column');     # without what the recipes before have put there
insert('harness/results/columns.h', qr/(#define EB_STEP_COLUMNS\(COLUMN, FIGURE\)(?:[^\n]*\\\n)+[^\n]*)/, " \\\n  $line_of");
insert('harness/audit/audit.h', qr/(typedef struct eb_audit_row \{\n)/, "  $member\n");
insert('harness/audit/audit.c', qr/(\beb_audit_step\([^;]*?\) \{\n.*?row->inverted = [^\n]*\n)/s, $figure);
insert('harness/results/record.h', qr/(typedef enum eb_outcome \{\n.*?)(?=  EB_OUTCOMES\n)/s, "  $outcome\n");
insert('harness/results/record.c', qr/(outcome_names\[EB_OUTCOMES\] = \{[^}]*)/, qq(, "$word"));
insert('harness/case/crash_record.c', qr/()(?=static eb_outcome cause\()/, $told);
insert('harness/case/crash_record.c', qr/(\bcause\([^;]*?\) \{\n)/, "  $asked\n");
insert('harness/reproduce/evidence.c', qr/()(?=  case EB_OUTCOME_SKIPPED:\n)/, "  $counted\n");
insert('tests/plugins/faulty.c', qr/(\bgo_wrong\([^;]*?\) \{\n)/, "  $raised\n");
insert('tests/plugins/faulty.c', qr/("none\|)/, "$fault|");

link_anew('harness/(results/record|results/columns|audit/audit)[.]h', 'figure');
succeeds("'$tree/elastobench' run bench/beam:resolution=0.25 -s newton --steps 3 --frames all -o '$tree/column.h5'", 'and a scene runs with it, audited');
succeeds("'$tree/elastobench' export '$tree/column.h5' --to csv -o '$tree/column.csv' && head -1 '$tree/column.csv' | grep -qw highest", 'exports have it');
my ($of, $as, $words) = $end =~ /^'(\w+)' => \['(\w+)', qr\/(.*)\/\]$/;
is($of, $fault, 'isolation.t would name the fault');
succeeds("cc -I'$tree' $flags -Ibuild/include -shared '$tree/tests/plugins/faulty.c' -o '$tree/faulty.so'", 'which compiles');
succeeds("'$tree/elastobench' run bench/beam:resolution=0.25 --plugin '$tree/faulty.so' -s faulty:fault=$fault --steps 3 -o '$tree/fault.h5'; [ \$? = 3 ]", 'and is a failure');
my ($ended) = runs_in("$tree/fault.h5");
is($ended->{outcome}, $as, 'of the new outcome');
like($ended->{detail}, qr/$words/, 'in its words');
SKIP: {
  my $python = python('h5py', 'numpy');
  skip 'no h5py or numpy', 3 unless $python;
  insert("tests/oracle/audit.py", qr/(def audit\(self.*?\n)(?=        off = self\.update_error)/s, "        $again\n");
  succeeds("cp -n tests/oracle/*.py '$tree/tests/oracle'", 'the oracle beside it');
  succeeds("PYTHONDONTWRITEBYTECODE=1 $python '$tree/tests/oracle/oracle.py' --show '$tree/column.h5' | grep -qw highest", 'the oracle recomputes it, and agrees');
}

# ---- problems/contact/README.md: adding a collider's shape
my ($shapes) = slurp(root() . '/problems/contact/README.md') =~ /^## Adding a collider's shape\n(.*)/ms;
my ($kind) = $shapes =~ /`(EB_\w+, \/\*[^`]*\*\/)`/;
my ($called, $shape) = $shapes =~ /`("\w+",)`.*`(\{\.kind = [^`]*\},)`/s;
my ($signed, $profile) = $shapes =~ /\n```c\n(.*?)```\n/gs;
ok($kind && $shape && $profile, "the README has the parts of a collider's shape");
$tree = scratch('shape');
insert('problems/collision/collider.h', qr/(typedef enum eb_collider_kind \{\n)/, "  $kind\n");
insert('harness/results/scene.c', qr/(\bcollider_kind_name\([^;]*?names\[\] = \{)/s, "$called ");
insert('problems/collision/collider.c', qr/(\bdistance_at_rest\([^;]*?\) \{\n.*?switch \([^\n]*\n)/s, $signed);
insert('harness/report/tessellate.c', qr/(\beb_tessellate\([^;]*?\) \{\n.*?switch \([^\n]*\n)/s, $profile);
insert('tests/collision/test_collider.c', qr/(static const eb_collider shapes\[\] = \{\n)/, "    $shape\n");
insert('tests/collision/test_collider.c', qr/(static const char \*const names\[\] = \{)/, "$called ");
insert('tests/collision/test_collider.c', qr/(enum \{ SHAPES = )/, '1 + ');
my %part = objects('', 'the shape compiles, and all that knows shapes',
  qw(problems/collision/collider.c harness/results/scene.c harness/report/tessellate.c tests/collision/test_collider.c));
succeeds("cc $libraries @{[map { $part{$_} } qw(tests/collision/test_collider.c problems/collision/collider.c)]} build/libharness.a build/libelastobench.a -o '$tree/test_collider' $behind" .
  " && '$tree/test_collider' > '$tree/test_collider.out'", 'the test of colliders holds it to differences of its distance');
like(slurp("$tree/test_collider.out"), qr/^ok .*torus: normals are gradients of the distance/m, 'and has tested it');

# ---- reports/README.md: adding a plot
my ($plot) = slurp(root() . '/reports/README.md') =~ /^## Add a plot\n(.*?)\n## /ms;
my ($template, $kinds) = $plot =~ /\n((?:    [^\n]*\n)+).*`(\{\.stem = [^`]*\},)`/s;
my ($stem) = $plot =~ /`gnuplot\/(\w+)\.gp`/;
ok($template && $kinds && $stem, 'the README has the template of a plot and its entry');
$tree = scratch('plot');
make_path("$tree/reports/gnuplot");
spew("$tree/reports/gnuplot/$stem.gp", $template =~ s/^    //gmr);
insert('harness/report/model.h', qr/(EB_PLOT_KINDS = )/, '1 + ');
insert('harness/report/plots.c', qr/(const eb_plot_kind eb_plot_kinds\[EB_PLOT_KINDS\] = \{\n)/, "    $kinds\n");
succeeds("perl reports/embed.pl $embedded '$tree/reports/gnuplot/$stem.gp' | sed 's,\"$tree/reports/,\",' > '$tree/embedded.c' && cc $flags -I. -c '$tree/embedded.c' -o '$tree/embedded.o'",
  'the template is embedded');
link_anew('harness/report/model[.]h', 'plot', "$tree/embedded.o");
succeeds("'$tree/elastobench' run bench/beam:resolution=0.25 -s newton --steps 5 -o '$tree/plot.h5' && '$tree/elastobench' report '$tree/plot.h5' -o '$tree/report'", 'and reports');
my ($points) = glob("$tree/report/*-$stem.dat");
is(scalar(() = slurp($points) =~ /^[\d.]\S* \S+$/mg), 5, 'with a point a step') if ok($points && -s $points =~ s/dat$/svg/r, 'the plot is drawn');

done_testing();
