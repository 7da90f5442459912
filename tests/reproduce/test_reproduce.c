/* Papers as data: reading and refusing them, choosing items, planning cases, figures over
 * frames. */
#include "harness/reproduce/outcome.h"
#include "tests/support/reproduce_fixture.h"

/* ---- sections -------------------------------------------------------------------------------- */

static void test_sections(void) {
  eb_sections s;
  char *joined, longer[400] = "[a]\nk = ";
  tap_require(eb_sections_parse("x",
                                "[claim one]\nclaim = first\n  second line\nrow = a\nrow = b\n"
                                "[solvers]\ncg = x:y=1,z=2 ; comment\n[claim one]\nrow = c\n",
                                EB_SECTIONS_OF_PAPER, &s),
              "sections");
  const eb_section *one = eb_sections_find(&s, "claim", "one");
  tap_ok(s.count == 2 && one && one->count == 4, "entries are kept apart, and a section goes on");
  static const eb_key claim[] = {{.name = "claim", .type = EB_KEY_JOINED}, {.name = "row"}, {0}};
  tap_require(eb_section_read(one, claim, &joined), "a text of two lines");
  tap_ok(strcmp(joined, "first second line") == 0, "a text on several lines is joined");
  free(joined);
  tap_ok(strcmp(eb_section_value(one, "row"), "c") == 0, "the last of repeated keys");
  tap_ok(!eb_section_value(one, "none") && !eb_sections_find(&s, "claim", "two"),
         "what is not there is NULL");
  tap_ok(strcmp(eb_section_value(eb_sections_find(&s, "solvers", ""), "cg"), "x:y=1,z=2") == 0,
         "a section without label");
  static const eb_key keys[] = {{.name = "claims"}, {.name = "row"}, {0}};
  tap_fails(eb_section_read(one, keys, NULL), EB_ERR_FORMAT, "did you mean 'claims'",
            "unknown keys");
  eb_sections_clear(&s);
  tap_fails(eb_sections_parse("x", "a = 1\n", EB_SECTIONS_OF_PAPER, &s), EB_ERR_FORMAT, "x:1",
            "an entry before sections");
  eb_sections_clear(&s);
  tap_fails(eb_sections_parse("x", "[a]\nb = 1\nnonsense\n", EB_SECTIONS_OF_PAPER, &s),
            EB_ERR_FORMAT, "x:3", "a line that is neither");
  eb_sections_clear(&s);
  memset(longer + 8, 'y', 300);
  tap_require(eb_sections_parse("x", longer, EB_SECTIONS_OF_PAPER, &s), "a long line");
  tap_ok(strlen(s.items[0].entries[0].value) == 300, "a line of any length");
  eb_sections_clear(&s);
}

/* ---- papers that are wrong ------------------------------------------------------------------- */

#define HEAD                                                                                       \
  "[solvers]\ns = newton\n[cases all]\nframes = 4\na = bench/beam s\nb = bench/beam:E=2e6 s\n"

static void refuse(const char *ini, const char *fragment, const char *name) {
  eb_paper *paper;
  write_paper("bad", "paper.ini", ini);
  tap_fails(eb_paper_load("bad", folder, false, &paper), EB_ERR_FORMAT, fragment, name);
}

/* The same for messages that list names. */
static void refuse_name(const char *ini, const char *fragment, const char *name) {
  eb_paper *paper;
  write_paper("bad", "paper.ini", ini);
  tap_fails(eb_paper_load("bad", folder, false, &paper), EB_ERR_USAGE, fragment, name);
}

static void test_bad_cases(void) {
  write_paper("bad", "t.tsv", "row\tn\na\t1\n");
  refuse("[tables x]\na = b\n", "no kind of section 'tables'", "an unknown kind of section");
  refuse("[solvers]\ns = newton\n[cases a]\nx = bench/beam s\n", "'frames' is missing",
         "cases without frames");
  refuse_name("[solvers]\ns = newton\n[cases a]\nframes = 0\n", "outside", "no frames");
  refuse_name(HEAD "c = bench/beam t\n", "there is no label in [solvers] 't'", "an unknown label");
  refuse(HEAD "c = bench/beam\n", "is not 'SCENE", "a case without solver");
  refuse(HEAD "c = bench/beam s 2 3\n", "is not 'SCENE", "a case with too many words");
  refuse_name(HEAD "c = bench/beam s two\n", "wants a whole number", "threads that are no number");
  refuse(HEAD "a = bench/beam s\n", "two cases 'a'", "a name twice");
  refuse(HEAD "1a = bench/beam s\n", "no name for a case", "a name that begins with a digit");
  refuse(HEAD "may-fail = perhaps\n", "yes or no", "neither yes nor no");
  refuse(HEAD "may-break = energy update\n",
         "some of energy, momentum, progress, replay, friction, each once, not 'update'",
         "a rule that nothing excuses");
  refuse_name(HEAD "checkpoints = x\n", "checkpoints", "checkpoints that are no steps");
}

static void test_bad_claims(void) {
  refuse(HEAD "[claim x]\nclaim = y\n", "'holds = EXPRESSION' is missing", "nothing is claimed");
  refuse(HEAD "[claim x]\nhold = 1 < 2\n", "did you mean 'holds'", "an unknown key");
  refuse(HEAD "[claim x]\nclaim = y\n\nholds = 1 <\n", "bad/paper.ini:10: [claim x] holds: '1 <'",
         "a mistake has its line");
  refuse(HEAD "[claim x]\nholds = a.kinetic < 1\n", "take its mean, median",
         "a series as a number");
  refuse(HEAD "[claim x]\nholds = max(a.kinetic)\n", "a condition is expected, not a number",
         "no condition");
  refuse(HEAD "[claim x]\nholds = max(a.kinetic) < \"x\"\n", "a number cannot be compared",
         "a number and a text");
  refuse(HEAD "[claim x]\nholds = not max(a.kinetic)\n", "'not' wants a condition", "not a number");
  refuse(HEAD "[claim x]\nholds = all(max(y.kinetic) for y in a b)\n", "a condition is expected",
         "all of numbers");
  refuse(HEAD "[claim x]\nholds = rising(max(a.kinetic), 5%)\n", "rising wants", "one is no order");
  refuse(HEAD "[claim x]\nholds = 1 < 2\ntable = t\n", "there is no table 't'", "an unknown table");
  refuse(HEAD "[claim x]\nholds = 1 < 2\npaper = 1\npaper = 2\n", "it is there twice",
         "two of one");
  refuse(HEAD "[claim x]\nholds = max(kinetic) < 1\n", "CASE.FIGURE", "a figure of nothing");
  refuse(HEAD "[claim x]\nholds = turn(a, w, upper) < 1\n", "an axis is x, y or z", "no axis");
  refuse(HEAD "[claim x]\nholds = turn(a, x, top) < 1\n", "lower or upper", "no end");
  refuse(HEAD "[claim x]\nholds = turn(a, x) < 1\n", "turn wants 3 to 3 arguments", "one too few");
  refuse(HEAD "[claim x]\nholds = failed(a, b)\n", "failed wants 1 to 1 arguments", "one too many");
  refuse(HEAD "[claim x]\nholds = integral(2) < 1\n", "a series is expected", "of a number");
  refuse(HEAD "[claim x]\nholds = max(2[1..2]) < 1\n", "cut out of a series",
         "a window in a number");
  refuse(HEAD "[claim x]\nholds = failed(1 + 2)\n", "a name is expected", "a sum for a case");
  refuse_name(HEAD "[claim x]\nholds = mean(ratios(t)) < 1\n", "there is no table 't'", "no table");
  refuse_name(HEAD "[table tt]\ndata = t.tsv\ncolumn = n | n | a.nodes\n[claim x]\nholds = "
                   "mean(ratios(t)) < 1\n",
              "did you mean 'tt'", "nearly a table");
  refuse_name(
      HEAD
      "[table t]\ndata = t.tsv\ncolumn = n | n | a.nodes\n[claim x]\nholds = paper(t, b, n) < 1\n",
      "table 't': there is no row 'b'", "no row");
  refuse_name(
      HEAD
      "[table t]\ndata = t.tsv\ncolumn = n | n | a.nodes\n[claim x]\nholds = paper(t, a, nn) < 1\n",
      "did you mean 'n'", "nearly a column");
  refuse_name(HEAD "[claim x]\nholds = max(c.kinetic) < 1\n", "there is no case 'c'",
              "an unknown case");
  refuse_name(HEAD "[claim x]\nholds = max(a.kinetik) < 1\n", "did you mean 'kinetic'",
              "an unknown figure");
  refuse_name(HEAD "[claim x]\nholds = a.parameters/Nu < 1\n",
              "bench/beam: there is no parameter 'Nu' (did you mean 'nu'", "an unknown parameter");
  refuse_name(HEAD "[claim x]\nholds = mx(a.kinetic) < 1\n", "did you mean 'max'",
              "an unknown function");
  refuse_name(HEAD "[claim x]\nholds = max(a.kinetic-b.kinetic) < 1\n",
              "'a.kinetic-b.kinetic' is one name, since the operators - and / stand between blanks",
              "a minus without blanks");
  refuse_name(HEAD "[claim x]\nholds = max(a.phases/sleep) < 1\n", "there is no figure",
              "an unknown phase");
  refuse(HEAD "[claim x]\nholds = all(max({z}.kinetic) < 1 for y in a b)\n", "no such variable",
         "a variable that is none");
  refuse(HEAD "[figure f]\nvalue = max(distance({case}, {against}))\npoint = 1 a\n",
         "no such variable", "a distance from nothing");
  refuse(HEAD "[figure f]\ntemplate = bars\nvalue = mean({case}.wall)\nrun = x: a\n",
         "1 to 15 lines 'part'", "bars without parts");
  refuse(HEAD "[figure f]\ntemplate = curves\npart = x: mean({case}.wall)\n", "and no other",
         "parts of no bar");
  refuse(HEAD "[figure f]\nrun = a\n", "is not 'NAME: ...'", "a run without name");
  refuse(HEAD "[figure f]\nrun = x: c\n", "no case 'c'", "a run that is none");
  refuse(HEAD "[figure f]\ntemplate = map\nvalue = mean({case}.wall)\npoint = 1 a\n",
         "not 'X Y CASE'", "a cell of a map without a row");
  refuse(HEAD "[figure f]\ntemplate = map\nvalue = mean({case}.wall)\npoint = 1 2 c\n",
         "no case 'c'", "a cell of no case");
  refuse_name(HEAD "[claim c]\nclaim = x\nholds = max(a.parts/tail/turn_w) > 0\n",
              "did you mean 'turn_", "a figure that no part has");
  refuse_name(HEAD "[claim c]\nclaim = x\nholds = a.subspace/nul > 0\n",
              "did you mean 'subspace/null'", "a figure that no subspace has");
  refuse(HEAD "[figure f]\ntemplate = samples-log\nresiduals = x: c\n", "no case 'c'",
         "residuals of no case");
  refuse(HEAD "[figure f]\ntemplate = samples-log\n", "wants lines 'residuals'",
         "residuals of nobody");
  refuse(HEAD "[figure f]\ntemplate = course\nresiduals = x: a\n", "and no other, wants",
         "residuals as a course");
  refuse(HEAD "[figure f]\ntemplate = course\nvalue = max({case}.kinetic)\nrun = x: a\n",
         "a series is expected, not a number", "a course of nothing");
  refuse(HEAD "[figure f]\npoint = 1 a\n", "'value' is missing", "a point of nothing");
  refuse(HEAD "[figure f]\npoint = 1 c\n", "no case 'c'", "a point without case");
  refuse(HEAD "[figure f]\npoint = 1\n", "'X CASE'", "a point of one word");
  refuse(HEAD "[figure f]\nvalue = mean({case}.cpu)\nacross = mean({case}.wall)\npoint = 1 a\n",
         "is not 'CASE'", "a point that says where it is measured to be");
  refuse(HEAD "[figure f]\ntemplate = course\nvalue = {case}.cpu\nacross = mean({case}.wall)\n",
         "have 'across'", "a course across something");
  refuse(HEAD "[figure f]\ntemplate = curves\nvalue = mean({case}.cpu)\nacross = {case}.wall\n"
              "point = a\n",
         "a number is expected, not a series", "a place on the axis that is many");
}

static void test_bad_names(void) {
  refuse(HEAD "[names]\nf(x = x.wall\n", "bad/paper.ini:8: [names] f(x: this is neither",
         "a name with half a parenthesis");
  refuse(HEAD "[names]\nf(x, x) = x.wall\n", "this is neither", "a parameter twice");
  refuse(HEAD "[names]\nf() = 1\n", "this is neither", "parentheses around nothing");
  refuse(HEAD "[names]\nf = 1 +\n", "bad/paper.ini:8: [names] f: '1 +'", "half a definition");
  refuse(HEAD "[names]\nf = 1\nf(x) = x\n", "paper.ini:9: [names] f(x): it is there twice",
         "a name twice");
  refuse(HEAD "[names]\nf(x) = x + f(x)\n", "by way of itself", "a name that needs itself");
  refuse(HEAD "[names]\nf(x) = g(x)\ng(x) = f(x)\n", "it uses 'g', which stands below it",
         "names that need each other");
  refuse(HEAD "[names]\nmean(x) = x\n", "'mean' is a function", "a name of the language");
  refuse(HEAD "[names]\na = 1\n", "'a' is a case", "a name of a case");
  refuse(HEAD "[names]\nf(x) = sum(x for x in 1 2)\n", "a parameter already",
         "a loop over a parameter");
  refuse(HEAD "[names]\nf(x) = x.wall\n[claim c]\nholds = f(a, b) < 1\n",
         "paper.ini:10: [claim c] holds: f(x) = .. wants 1 argument, and no 'for', not 2",
         "an argument too many");
  refuse(HEAD "[names]\nf(x) = x.wall\n[claim c]\nholds = mean(f(1 + 2)) < 1\n",
         "f wants a name for 'x', not a calculation", "a sum in the place of a case");
  refuse(HEAD "[names]\nf(x) = sum(mean({x}.phases/{p}) for p in solve)\n[claim c]\n"
              "holds = all(f({p}) < 1 for p in a b)\n",
         "one of them wants another letter", "a loop within a loop of the same variable");
  refuse_name(HEAD "[names]\ncontacts(x) = x.wall\n[claim c]\nholds = mean(contact(a)) < 1\n",
              "did you mean 'contacts'", "nearly a name");
  refuse_name(HEAD "[names]\nbound = 2\n[claim c]\nholds = 1 < bund\n", "did you mean 'bound'",
              "nearly a name without parameters");
  char large[600] = HEAD "[names]\nn0 = max(a.wall) + max(b.wall)\n";
  for (int i = 1; i < 16; i++) {
    char line[40];
    snprintf(line, sizeof line, "n%d = n%d + n%d\n", i, i - 1, i - 1);
    strcat(large, line);
  }
  refuse(large, "the expression is too large", "names that grow without end");
}

static void test_bad_loops(void) {
  refuse(HEAD "c-{m} = bench/beam s for m in\n", "a loop is 'for VARIABLE in WORDS'", "no words");
  refuse(HEAD "c-{m} = bench/beam s for m n in a b c\n", "words for both",
         "words that do not go round");
  refuse(HEAD "c-{n} = bench/beam s for m in a\n", "no name for a case", "an unknown variable");
  refuse(HEAD "c = bench/beam s for m in x y\n", "two cases 'c'", "a loop that changes nothing");
  refuse(HEAD "[cases {n} for n in]\nframes = 2\n", "a loop is", "a section without words");
  refuse_name(HEAD "settings = frame 3, repeat 2\n", "did you mean 'frames'", "an unknown setting");
}

/* ---- papers of strangers --------------------------------------------------------------------- */

/* Names become names of files and reach gnuplot and shells of others: words, and no more. */
static void test_words(void) {
  static const char *const kinds[] = {"cases", "claim", "table", "figure"};
  static const char *const names[] = {"`touch x`", "../../x", "/etc/x", "a/b",       "< touch x",
                                      "|x",        "-e",      "a b",    "a'b",       "a\"b",
                                      "a;b",       "a$b",     "a&b",    "a.b",       "@a",
                                      "1a",        "_a",      "a\\b",   "k\xc3\xb6", "a\x1b"};
  char ini[400], longest[202] = "";
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
      snprintf(ini, sizeof ini, HEAD "[%s %s | x]\n", kinds[k], names[n]);
      refuse(ini, "it begins with a letter and holds letters, digits and dashes", names[n]);
    }
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    snprintf(ini, sizeof ini, HEAD "%s = bench/beam s\n", names[n]);
    refuse(ini, "no name for a case", names[n]);
  }
  memset(longest, 'x', 101);
  snprintf(ini, sizeof ini, HEAD "[figure %s]\n", longest);
  refuse(ini, "100 at most", "a name that no file can have");
  snprintf(ini, sizeof ini, HEAD "[figure {x} for x in a ../b]\n");
  refuse(ini, "'../b' is no name for a figure", "a name that a loop makes");
}

/* What a table names must be a file of the paper's own folder. */
static void test_inside(void) {
  static const struct {
    const char *data, *fragment;
  } outside[] = {{"../outside.tsv", "leads out of the paper's folder"},
                 {"../bad-too/t.tsv", "leads out of the paper's folder"},
                 {"/etc/hostname", "cannot open"}, /* below the folder, where there is none */
                 {"link.tsv", "leads out of the paper's folder"},
                 {"links/outside.tsv", "leads out of the paper's folder"},
                 {"pipe.tsv", "not a regular file"},
                 {"folder.tsv", "not a regular file"}};
  char ini[200], path[300];
  eb_paper *paper;
  write_bytes("outside.tsv", "row\tx\na\t1\n", 10);
  write_paper("bad-too", "t.tsv", "row\tx\na\t1\n");
  write_paper("bad", "t.tsv", "row\tx\na\t1\n");
  mkdir(in_folder("bad/folder.tsv"), 0777);
  mkdir(in_folder("bad/tables"), 0777);
  write_paper("bad/tables", "t.tsv", "row\tx\na\t1\n");
  bool made = symlink("../outside.tsv", in_folder("bad/link.tsv")) == 0 &&
              symlink("..", in_folder("bad/links")) == 0 &&
              mkfifo(in_folder("bad/pipe.tsv"), 0666) == 0;
  tap_ok(made, "links and a pipe");
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    snprintf(ini, sizeof ini, HEAD "[table t]\ndata = %s\ncolumn = x | x\n", outside[i].data);
    write_paper("bad", "paper.ini", ini);
    eb_error error = eb_paper_load("bad", folder, false, &paper);
    tap_fails(error, error ? eb_error_kind(error) : EB_ERR_FORMAT, outside[i].fragment,
              outside[i].data);
  }
  write_paper("bad", "paper.ini", HEAD "[table t]\ndata = tables/t.tsv\ncolumn = x | x\n");
  tap_succeeds(eb_paper_load("bad", folder, false, &paper), "a folder below is the paper's");
  eb_paper_destroy(paper);
  snprintf(path, sizeof path, "%s/bad/paper.ini", folder);
  remove(path);
  tap_ok(symlink("../outside.tsv", path) == 0, "a link");
  tap_fails(eb_paper_load("bad", folder, false, &paper), EB_ERR_FORMAT, "leads out", "to a paper");
  remove(path);
}

/* What multiplies is counted before it is made. */
static void test_asked(void) {
  static const char ten[] = "0 1 2 3 4 5 6 7 8 9";
  eb_text ini = {0};
  tap_require(eb_text_printf(&ini, HEAD "[claim c]\nholds = "), "a paper");
  for (int l = 0; l < 8; l++) tap_require(eb_text_printf(&ini, "all("), "loops");
  tap_require(eb_text_printf(&ini, "1 > 0"), "of nothing");
  for (int l = 0; l < 8; l++) tap_require(eb_text_printf(&ini, " for x%d in %s)", l, ten), "loops");
  refuse(ini.data, "evaluations", "loops within loops");
  eb_text_clear(&ini);
  tap_require(eb_text_printf(&ini, HEAD "c{a}{b}{c}{d}{e}{f}{g} = bench/beam s"), "a paper");
  for (char v = 'a'; v < 'h'; v++)
    tap_require(eb_text_printf(&ini, " for %c in %s", v, ten), "loops");
  refuse(ini.data, "this asks for 10000000 turns of loops", "loops of cases");
  eb_text_clear(&ini);
  tap_require(eb_text_printf(&ini, HEAD "[cases c{a}{b}{c} for a in %s for b in %s for c in %s]\n",
                             ten, ten, ten),
              "a paper");
  for (int e = 0; e < 60; e++)
    tap_require(eb_text_printf(&ini, "n{a}{b}{c}-%d = x s\n", e), "cases");
  refuse(ini.data, "this asks for 61000 turns of loops", "sections of cases");
  eb_text_clear(&ini);
  tap_require(eb_text_printf(&ini, HEAD "[names]\nn0 = max(a.wall)\n"), "a paper");
  for (int n = 1; n < 9000; n++)
    tap_require(eb_text_printf(&ini, "n%d = n%d\n", n, n - 1), "names");
  refuse(ini.data, "evaluations", "names of names");
  eb_text_clear(&ini);
  tap_require(eb_text_printf(&ini, HEAD), "a paper");
  for (int n = 0; n < 12000; n++) tap_require(eb_text_printf(&ini, "[c%d]\n", n), "sections");
  refuse(ini.data, "lines", "a file of sections");
  eb_text_clear(&ini);
  tap_require(eb_text_printf(&ini, "%s", "row\tx0"), "data");
  for (int c = 1; c < 300; c++) tap_require(eb_text_printf(&ini, "\tx%d", c), "columns");
  for (int r = 0; r < 300; r++) tap_require(eb_text_printf(&ini, "\nr%d", r), "rows");
  write_paper("bad", "t.tsv", ini.data);
  refuse(HEAD "[table t]\ndata = t.tsv\ncolumn = x0 | x | a.nodes\n", "cells",
         "a table of empty cells");
  eb_text_clear(&ini);
  write_paper("bad", "t.tsv", "row\tn\na\t1\n");
  refuse(HEAD "[table t]\ndata = t.tsv\ncolumn = n | n | mean(ratios(t))\n",
         "stands in no cell of a table", "ratios of ratios");
}

/* What a claim says once names are written out. */
static void says(const char *names, const char *holds, const char *wanted) {
  char ini[600];
  eb_text text = {0};
  eb_paper *paper;
  snprintf(ini, sizeof ini, HEAD "[names]\n%s\n[claim c]\nholds = %s\n", names, holds);
  write_paper("good", "paper.ini", ini);
  tap_require(eb_paper_load("good", folder, false, &paper), holds);
  tap_require(eb_expression_print(paper->claims[0].holds[0].of, NULL, NULL, NULL, &text), holds);
  tap_ok(strcmp(text.data, wanted) == 0, "%s: %s", holds, text.data);
  if (strcmp(text.data, wanted)) printf("#   wanted %s\n", wanted);
  eb_text_clear(&text);
  eb_paper_destroy(paper);
}

static void test_names(void) {
  says("f(x) = x.phases/solve + {x}.phases/factor", "max(f(a)) < 1",
       "max(a.phases/solve + a.phases/factor) < 1");
  says("bound = 2 + 1", "max(a.wall) < 2 * bound", "max(a.wall) < 2 * (2 + 1)");
  says("time(x, p) = mean(frame({x}.phases/{p}))\nshare(x, p) = time(x, p) / mean(x.wall)",
       "all(share(x, {p}) < 1 for x in a b for p in solve factor)",
       "all(mean(frame({x}.phases/{p})) / mean({x}.wall) < 1 for x in a b for p in solve factor)");
  says("ratio(u, v) = u / v", "ratio(1 + 2, max(a.wall)) < 1", "(1 + 2) / max(a.wall) < 1");
  says("all-of(x) = max(mean({y}.wall) for y in {x} b)", "all-of(a) < 1",
       "max(mean({y}.wall) for y in a b) < 1");
  says("f(x) = max(x.wall[..2])", "f(a) < f(b)", "max(a.wall[..2]) < max(b.wall[..2])");
}

/* Settings of all sections, loops in sections and entries, values of quick runs. */
static void test_loops(void) {
  static const char ini[] =
      "[solvers]\ns = newton\nt = newton:rtol=1e-4\n"
      "[cases]\nframes = 20 | 5\ntimeout = 60 | 6\n"
      "[cases {n} for n E in one 1e6 two 2e6]\nrepeat = 3\n"
      "{n}-{m}-{k} = bench/beam:E={E},nu={nu} {m} for m in s t for k nu in low .1 high .4\n"
      "[cases last]\nsettings = seconds 0.5, memory 100, may-fail yes, from one-s-low@2..6/2 | "
      "one-s-low@2..4/2\n"
      "last = bench/beam t\n[figure f]\nvalue = max({case}.kinetic)\npoint = {k} one-s-{n} for k n "
      "in 1 low 2 high\n"
      "[table t]\ndata = t.tsv\ncolumn = {c} | the {c} | first({row}.{c}) for c in nodes "
      "elements\ncolumn = old | of old\n";
  eb_paper *full, *quick;
  write_paper("loops", "t.tsv", "row\tnodes\telements\told\none-s-low\t1\t2\t3\n");
  write_paper("loops", "paper.ini", ini);
  tap_require(eb_paper_load("loops", folder, false, &full), "loops");
  tap_require(eb_paper_load("loops", folder, true, &quick), "loops, quick");
  tap_ok(full->case_count == 9 && strcmp(full->cases[0].name, "one-s-low") == 0 &&
             strcmp(full->cases[1].name, "one-s-high") == 0 &&
             strcmp(full->cases[6].name, "two-t-low") == 0,
         "the first loop is the slowest");
  tap_ok(strcmp(full->cases[6].scene, "bench/beam:E=2e6,nu=.1") == 0, "with words for all of them");
  tap_ok(full->cases[0].group == full->cases[3].group &&
             full->cases[3].group != full->cases[4].group,
         "sections of a loop are sections");
  tap_ok(full->cases[0].frames == 20 && quick->cases[0].frames == 5 &&
             full->cases[0].timeout == 60 && quick->cases[0].timeout == 6 &&
             full->cases[0].repeat == 3,
         "settings of all sections, full and quick");
  tap_ok(full->cases[8].memory == 100 && full->cases[8].may_fail && full->cases[8].timeout == 60 &&
             full->cases[8].repeat == 1 && full->cases[8].frames == 3 &&
             quick->cases[8].frames == 2,
         "settings in one line");
  tap_ok(full->figures[0].point_count == 2 && full->figures[0].points[1].x == 2 &&
             full->figures[0].points[1].case_ == 1,
         "points of a figure");
  tap_ok(full->tables[0].column_count == 3 && full->tables[0].cells[1] &&
             !full->tables[0].cells[2] &&
             strcmp(full->tables[0].columns[1].heading, "the elements") == 0,
         "columns of a table");
  eb_paper_destroy(full);
  eb_paper_destroy(quick);
}

static void table_ini(const char *data, const char *layout, char ini[600]) {
  write_paper("bad", "t.tsv", data);
  snprintf(ini, 600, HEAD "[table t]\ndata = t.tsv\nunit = ms\n%s", layout);
}

static void refuse_table(const char *data, const char *layout, const char *fragment,
                         const char *name) {
  char ini[600];
  table_ini(data, layout, ini);
  refuse(ini, fragment, name);
}

static void refuse_table_name(const char *data, const char *layout, const char *fragment,
                              const char *name) {
  char ini[600];
  table_ini(data, layout, ini);
  refuse_name(ini, fragment, name);
}

static void test_bad_tables(void) {
  static const char good[] = "row\tx\na\t1\nb\t2\n",
                    column[] = "column = x | x | mean({row}.wall)\n";
  eb_paper *paper;
  refuse_table("row\tx\na\tone\n", column, "t.tsv:2: 'one' is not a number", "a word for a number");
  refuse_table("row\tx\na\t1\t2\n", column, "more than 1 numbers", "too many numbers");
  refuse_table("row\tx\n", column, "no rows", "no rows");
  refuse_table("row\n", column, "no columns", "no columns");
  refuse_table("row\tlabel\tx\na\n", column, "label is missing", "no label");
  refuse_table(good, "", "no 'column'", "no layout");
  refuse_table(good, "column = y | y | mean(a.wall)\n", "no column 'y'",
               "a column that is not there");
  refuse_table(good, "column = x | x | a.wall\n", "a number is expected, not a series", "a series");
  refuse_table(good, "column = x | x | mean(\n", "bad/paper.ini:7: [table t]: row 'a', column 'x'",
               "half an expression");
  refuse_table_name(good, "column = x | x | mean({row}-c.wall)\n", "no case 'a-c'",
                    "a pattern without case");
  refuse_table_name(good, "column = x | x | a\nrow = a: mean({column}.wal)\n",
                    "did you mean 'wall'", "an unknown figure in a row");
  refuse_table(good, "column = x | x | mean({row}.wall)\nrow = c: d\n", "no row 'c'",
               "an unknown row");
  refuse_table(good, "column = x | x | mean({row}.wall)\nunits = s\n", "did you mean 'unit'",
               "a slip");
  refuse_table(good, "column = x | x | mean({row}.wall)\nunit = parsec\n", "not 'parsec'",
               "an unknown unit");
  refuse_table(good, "column = x | x | mean({row}.wall)\nours = here\n", "only be 'everywhere'",
               "ours at a place");
  for (int everywhere = 0; everywhere < 2; everywhere++) {
    char ini[600];
    const char *layout = everywhere ? "ours = everywhere\ncolumn = x | x | mean(a.wall)\n"
                                    : "column = x | x | mean(a.wall)\n";
    table_ini("row\tx\na\t\nb\t2\n", layout, ini);
    write_paper("bad", "paper.ini", ini);
    tap_succeeds(eb_paper_load("bad", folder, false, &paper), "a number that the paper lacks");
    tap_ok(paper->tables[0].cells[1] && !paper->tables[0].cells[0] == !everywhere,
           everywhere ? "there is ours beside it" : "nor is there ours");
    eb_paper_destroy(paper);
  }
  write_paper("bad", "paper.ini", HEAD "[table t]\ndata = none.tsv\n");
  tap_fails(eb_paper_load("bad", folder, false, &paper), EB_ERR_IO, "none.tsv", "no data");
  tap_fails(eb_paper_load("absent", folder, false, &paper), EB_ERR_IO, "absent/paper.ini",
            "no such folder");
  tap_fails(eb_paper_load("hecht201", NULL, false, &paper), EB_ERR_USAGE,
            "did you mean 'hecht2012'", "no such paper");
}

/* ---- choosing and planning ------------------------------------------------------------------- */

static const char plan_ini[] =
    "[solvers]\ns = newton:rtol=1e-3\nt = newton:rtol=1e-4\nu = unheard-of\n"
    "[cases one]\nframes = 10\nquick = 4\nrepeat = 3\nquick-repeat = 2\ntimeout = 50\n"
    "quick-timeout = 5\na = bench/beam s\nb = bench/beam t 2\n"
    "[cases two]\nframes = 3\nquick = 9\nc = bench/beam:E=2e6 s\nagain = bench/beam:E=2e6 s\n"
    "d = bench/beam u\n"
    "[table t]\ndata = t.tsv\ncolumn = x | x | mean({row}.wall)\n"
    "[claim r]\nholds = mean(a.wall) < mean(b.wall)\n"
    "[claim s]\nholds = mean(c.wall) < mean(d.wall) or failed(d)\ntable = t\n"
    "[figure f]\nvalue = max(distance({case}, {against}))\npoint = 1 b\nagainst = c\n";

static void load_plan_paper(bool quick, eb_paper **out) {
  write_paper("plan", "paper.ini", plan_ini);
  write_paper("plan", "t.tsv", "row\tlabel\tx\na\tthe a\t1\nb\tthe b\t\n");
  tap_require(eb_paper_load("plan", folder, quick, out), "a paper");
}

static void check_choice(const eb_paper *paper, const char *item, const char *cases,
                         const char *name) {
  eb_paper_choice choice = {0};
  char got[64] = "";
  tap_require(eb_paper_choose(paper, item, &choice), name);
  for (int c = 0; c < paper->case_count; c++)
    if (choice.cases[c])
      snprintf(got + strlen(got), sizeof got - strlen(got), "%s ", paper->cases[c].name);
  tap_ok(strcmp(got, cases) == 0, "cases of %s", name);
  if (strcmp(got, cases) != 0) printf("#   got '%s', wanted '%s'\n", got, cases);
  eb_paper_choice_clear(&choice);
}

static void test_choice(void) {
  eb_paper *paper;
  eb_paper_choice choice = {0};
  load_plan_paper(false, &paper);
  check_choice(paper, "r", "a b ", "a claim");
  check_choice(paper, "s", "a c d ", "a claim and the table it is shown with");
  check_choice(paper, "t", "a ", "a table: empty cells need no case");
  check_choice(paper, "f", "b c ", "a figure");
  check_choice(paper, NULL, "a b c d ", "everything that is used");
  tap_require(eb_paper_choose(paper, "t", &choice), "one item");
  tap_require(eb_paper_choose(paper, "f", &choice), "and another");
  tap_ok(choice.cases[0] && choice.cases[1] && choice.cases[2] && !choice.cases[3] &&
             choice.tables[0] && choice.figures[0] && !choice.claims[0],
         "two items are what either is");
  tap_fails(eb_paper_choose(paper, "q", &choice), EB_ERR_USAGE, "there are: t, r, s, f",
            "an unknown item");
  eb_paper_choice_clear(&choice);
  eb_paper_destroy(paper);
}

static void check_plan(bool quick, const char *wanted, const char *name) {
  eb_paper *paper;
  eb_paper_plan plan;
  char got[400] = "";
  load_plan_paper(quick, &paper);
  tap_require(eb_paper_plan_create(paper, NULL, NULL, &plan), "a plan");
  for (int i = 0; i < plan.plan.count; i++) {
    const eb_case *work = &plan.plan.cases[i];
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s/%d/%lld/%g ", work->options,
             work->parameters ? "'" : "", work->threads, (long long)work->steps, work->timeout);
  }
  tap_ok(strcmp(got, wanted) == 0, "%s", name);
  if (strcmp(got, wanted) != 0) printf("#   got    %s\n#   wanted %s\n", got, wanted);
  int none = eb_paper_case_find(paper, "d"), again = eb_paper_case_find(paper, "again");
  tap_ok(plan.cases[none].trouble && strstr(plan.cases[none].trouble, "unheard-of"),
         "  a solver that is not there is said");
  tap_ok(strcmp(plan.cases[again].identities.items[0], plan.cases[again - 1].identities.items[0]) ==
             0,
         "  the same work under two names is planned once");
  eb_paper_plan_clear(&plan);
  eb_paper_destroy(paper);
}

static void test_plan(void) {
  check_plan(false,
             "rtol=1e-3/1/20/50 rtol=1e-4/2/20/50 rtol=1e-3/1/20/50 rtol=1e-4/2/20/50 "
             "rtol=1e-3/1/20/50 rtol=1e-4/2/20/50 rtol=1e-3'/1/6/3600 ",
             "competitors take turns");
  check_plan(true,
             "rtol=1e-3/1/8/5 rtol=1e-4/2/8/5 rtol=1e-3/1/8/5 rtol=1e-4/2/8/5 rtol=1e-3'/1/6/3600 ",
             "quick: fewer frames and repetitions, never more than a full run");
}

/* ---- figures over frames --------------------------------------------------------------------- */

static void near_figure(const made_up *m, const char *text, double wanted) {
  double value;
  eb_expression *expression;
  eb_evaluation e = {.paper = m->paper, .evidence = &m->evidence, .left_out = -1};
  tap_require(eb_expression_parse(text, &expression), text);
  tap_require(eb_evaluate_number(&e, expression, NULL, &value), text);
  if (isnan(wanted))
    tap_ok(isnan(value), "%s: there is none", text);
  else
    tap_near(value, wanted, 1e-12, text);
  eb_expression_destroy(expression);
}

/* Frames of two steps: 14 (the first), 5, 9, 13 s; of the repetitions that are sound the
 * second is the faster one in every step. */
static void test_statistics(void) {
  static const char ini[] =
      "[solvers]\ns = newton\n[cases c]\nframes = 4\nrepeat = 4\n"
      "a = bench/beam:resolution=0.25 s\nnone = bench/beam:resolution=0.3 s\n";
  const fake runs[] = {
      {.name = "a",
       .outcome = EB_OUTCOME_COMPLETED,
       .steps = 8,
       .first = 9,
       .wall = 9,
       .accounted = 0.5},
      {.name = "a",
       .outcome = EB_OUTCOME_COMPLETED,
       .repetition = 1,
       .steps = 8,
       .first = 6.5,
       .growth = 1,
       .accounted = 0.5,
       .iterations = 20,
       .factor_bytes = 1e6},
      {.name = "a", .outcome = EB_OUTCOME_CRASHED, .repetition = 2, .steps = 1, .wall = 1e-3},
      {.name = "a",
       .outcome = EB_OUTCOME_COMPLETED,
       .repetition = 3,
       .steps = 8,
       .wall = 1e-3,
       .lie = "bodies meet"}};
  made_up m;
  make_up(ini, false, runs, 4, 1, &m);
  near_figure(&m, "mean(frame(a.wall))", 9);
  near_figure(&m, "min(frame(a.wall))", 5);
  near_figure(&m, "max(frame(a.wall))", 13);
  near_figure(&m, "median(frame(a.wall))", 9);
  near_figure(&m, "mean(frame(a.wall)[..3])", 7);
  near_figure(&m, "mean(frame(a.wall)[..1])", 14);
  near_figure(&m, "first(frame(a.wall))", 14);
  near_figure(&m, "mean(a.wall)", 4.5);
  near_figure(&m, "sum(a.wall)", 41);
  near_figure(&m, "mean(frame(a.phases/solve))", 2.25);
  near_figure(&m, "mean(frame(a.phases/solve + a.phases/assemble))", 4.5);
  near_figure(&m, "mean(frame(a.phases/update + a.phases/solve))", 2.25);
  near_figure(&m, "mean(frame(a.counters/linear_iterations))", 40);
  near_figure(&m, "a.memory/factor", 1e6);
  near_figure(&m, "a.memory/updates", NAN);
  near_figure(&m, "mean(frame(none.wall))", NAN);
  forget(&m);
}

/* ---- smaller scenes -------------------------------------------------------------------------- */

#define RUNS                                                                                       \
  "[solvers]\na = newton:rtol=1e-3\nb = newton:rtol=1e-4\nc = newton:rtol=1e-5\n"                  \
  "d = newton:rtol=1e-6\n[cases all]\nframes = 4\nquick-scene = nu=0.3\n"                          \
  "a = bench/beam:resolution=0.25 a\nb = bench/beam:resolution=0.25 b\n"                           \
  "c = bench/beam:resolution=0.25 c\nd = bench/beam:resolution=0.25 d\nplain = bench/beam b\n"     \
  "stiffer = bench/beam:nu=0.1,resolution=0.25 b\n"
static void test_quick_scene(void) {
  eb_paper *paper;
  write_paper("reduced", "paper.ini", RUNS);
  tap_require(eb_paper_load("reduced", folder, true, &paper), "a quick paper");
  tap_ok(strcmp(paper->cases[0].scene, "bench/beam:resolution=0.25,nu=0.3") == 0,
         "more parameters");
  tap_ok(strcmp(paper->cases[4].scene, "bench/beam:nu=0.3") == 0, "or the first ones");
  tap_ok(strcmp(paper->cases[5].scene, "bench/beam:resolution=0.25,nu=0.3") == 0,
         "or others in their place");
  tap_ok(paper->cases[0].frames == paper->cases[0].all_frames, "and all frames");
  eb_paper_destroy(paper);
  tap_require(eb_paper_load("reduced", folder, false, &paper), "a full one");
  tap_ok(strcmp(paper->cases[0].scene, "bench/beam:resolution=0.25") == 0, "has its own");
  eb_paper_destroy(paper);
}

/* ---- the papers that are compiled in --------------------------------------------------------- */

static bool starts_another(const eb_paper *paper, int c) {
  int other = 0;
  while (other < paper->case_count && paper->cases[other].source_run != c) other++;
  return other < paper->case_count;
}

static void check_paper(const char *name) {
  eb_paper *paper;
  eb_paper_plan plan;
  eb_paper_choice choice = {0};
  tap_require(eb_paper_load(name, NULL, true, &paper), name);
  tap_succeeds(eb_paper_choose(paper, NULL, &choice), "its cases");
  tap_require(eb_paper_plan_create(paper, choice.cases, NULL, &plan), "its plan");
  for (int c = 0; c < paper->case_count; c++) {
    if (plan.cases[c].trouble)
      tap_ok(false, "%s: %s: %s", name, paper->cases[c].name, plan.cases[c].trouble);
    if (!choice.cases[c] && !starts_another(paper, c))
      tap_ok(false, "%s: nothing needs %s", name, paper->cases[c].name);
  }
  tap_ok(plan.plan.count > 0, "%s: every case is known to this build and needed", name);
  for (int c = 0; c < paper->claim_count; c++)
    if (!*paper->claims[c].text || !*paper->claims[c].where)
      tap_ok(false, "%s/%s says what is claimed, and where", name, paper->claims[c].id);
  eb_paper_plan_clear(&plan);
  eb_paper_choice_clear(&choice);
  eb_paper_destroy(paper);
}

static void test_built_in(void) {
  eb_strings names = {0};
  eb_paper *paper;
  tap_require(eb_paper_names(&names), "names of papers");
  for (int i = 0; i < names.count; i++) check_paper(names.items[i]);
  eb_strings_clear(&names);
  tap_require(eb_paper_load("hecht2012", NULL, false, &paper), "hecht2012");
  tap_ok(paper->table_count >= 8, "hecht2012: five tables, that of memory, and three of ours");
  tap_ok(paper->claim_count == 19, "hecht2012: 19 claims");
  eb_paper_destroy(paper);
}

static bool has_heads(const eb_paper *paper, const char *table, const char *column, int wanted,
                      const char *first) {
  for (int t = 0; t < paper->table_count; t++)
    for (int c = 0; c < paper->tables[t].column_count; c++) {
      const char *heads[3];
      if (strcmp(paper->tables[t].id, table) || strcmp(paper->tables[t].columns[c].name, column))
        continue;
      return eb_shown_heads(&paper->tables[t], c, heads) == wanted && !strcmp(heads[0], first);
    }
  return false;
}

static void test_heads(void) {
  eb_paper *paper;
  tap_require(eb_paper_load("verschoor2019", NULL, false, &paper), "verschoor2019");
  tap_ok(has_heads(paper, "table1", "iterations_mean", 3, "paper"), "both have numbers: a ratio");
  tap_ok(has_heads(paper, "table1", "dt", 1, "paper"), "the paper's alone");
  tap_ok(has_heads(paper, "methods", "iterations", 3, "paper"), "both, the paper's in some rows");
  tap_ok(has_heads(paper, "methods", "products", 1, "ours"), "ours alone");
  eb_paper_destroy(paper);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* A row each in the table of functions, with the text of the C table, and no other rows. */
static void test_function_docs(void) {
  const eb_function *const tables[] = {eb_motion_functions, eb_functions};
  eb_text readme = {0};
  int count = 0, rows = 0;
  tap_require(eb_text_read("harness/reproduce/README.md", "README", &readme), "the README");
  for (int t = 0; t < 2; t++)
    for (const eb_function *f = tables[t]; f->name; f++, count++) {
      char row[400];
      snprintf(row, sizeof row, "\n| `%s` | %s |\n", f->name, f->doc);
      tap_ok(strstr(readme.data, row) != NULL, "%s is described", f->name);
    }
  for (const char *at = strstr(readme.data, "## Functions"); at && (at = strstr(at, "\n| `")); at++)
    rows++;
  tap_ok(rows == count, "%d functions, %d rows", count, rows);
  eb_text_clear(&readme);
}

int main(void) {
  test_function_docs();
  eb_h5_quiet();
  scratch_open();
  test_sections();
  test_bad_cases();
  test_bad_claims();
  test_bad_tables();
  test_bad_names();
  test_bad_loops();
  test_words();
  test_inside();
  test_asked();
  test_names();
  test_loops();
  test_choice();
  test_plan();
  test_quick_scene();
  test_statistics();
  test_built_in();
  test_heads();
  return scratch_close();
}
