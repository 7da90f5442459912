/* Measures on courses, final states and single figures, on made-up runs: what holds, what does not, and what is missing, failed or cut short. */
#include "harness/reproduce/motion.h"
#include "tests/reproduce_fixture.h"

/* Cases a, b, .. on one scene; `other` on a larger one, `missing` was not run. Frames have two steps of 0.1 s. */
#define CASES                                                                                      \
  "[solvers]\na = newton:rtol=1e-3\nb = newton:rtol=1e-4\nc = newton:rtol=1e-5\n"                  \
  "d = newton:rtol=1e-6\ne = newton:rtol=1e-7\n[cases all]\nframes = 4\nquick = 4\n"               \
  "a = bench/beam:resolution=0.25 a\nb = bench/beam:resolution=0.25 b\n"                           \
  "c = bench/beam:resolution=0.25 c\nd = bench/beam:resolution=0.25 d\n"                           \
  "e = bench/beam:resolution=0.25 e\n"                                                             \
  "other = bench/beam:resolution=0.5 a\nmissing = bench/beam:resolution=0.25,E=2e6 a\n"

#define WHOLE .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .wall = 1, .first = 1

/* The beam is 1 m long and 0.2 m wide and high. */
static double diagonal(void) {
  return sqrt(1.08);
}

static void test_conditions(void) {
  const fake runs[] = {{.name = "a", WHOLE, .kinetic = 8, .fade = 0.5, .unknowns = 24},
                       {.name = "b",
                        WHOLE,
                        .touches = 2,
                        .leaves = 5,
                        .momentum = 2,
                        .rebound = 0.25,
                        .depth = 0.003},
                       {.name = "c",
                        WHOLE,
                        .touches = 2,
                        .leaves = 8,
                        .momentum = 2,
                        .rebound = 0.25,
                        .depth = 0.003},
                       {.name = "d", .outcome = EB_OUTCOME_DIVERGED, .steps = 3},
                       {.name = "e", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 6, .unknowns = 24}};
#define CONDITION(id, text) "[claim " id "]\nmeasure = conditions\nholds = " text "\n"
  made_up m;
  make_up(
      CASES CONDITION("end",
                      "a end.kinetic/most.kinetic <= 0.008\nholds = a last.reduced_unknowns = 24")
          CONDITION("awake", "a end.kinetic/most.kinetic <= 0.007")
              CONDITION("many", "a last.reduced_unknowns = 23") CONDITION(
                  "least", "a least.kinetic >= 0.06\nholds = a run.elements/run.nodes >= 0.1")
                  CONDITION("shallow", "b most.max_penetration/rest.height <= 0.016")
                      CONDITION("deep", "b most.max_penetration/rest.height <= 0.014") CONDITION(
                          "bounces", "b bounce.restitution >= 0.2\nholds = b bounce.flight >= 1")
                          CONDITION("stays", "c bounce.flight >= 1")
                              CONDITION("falls", "a bounce.restitution >= 0")
                                  CONDITION("jointless", "a joints.swing >= 0") CONDITION(
                                      "failed", "a end.kinetic <= 1\nholds = d end.kinetic <= 1")
                                      CONDITION("cut", "e last.reduced_unknowns = 24")
                                          CONDITION("missing", "missing end.kinetic <= 1"),
      false, runs, 5, 2, &m);
  tap_near(expect(&m, "end", EB_REPRODUCED, "all 2 conditions"), pow(0.5, 7), 1e-15,
           "ours is the first figure");
  expect(&m, "awake", EB_NOT_REPRODUCED, "not as claimed");
  expect(&m, "many", EB_NOT_REPRODUCED, "1 of 1 conditions");
  expect(&m, "least", EB_REPRODUCED, "least.kinetic = 0.0625");
  tap_near(expect(&m, "shallow", EB_REPRODUCED, "b: most.max_penetration"), 0.015, 1e-12,
           "depth over the height of the rest box");
  expect(&m, "deep", EB_NOT_REPRODUCED, "1 of 1");
  tap_near(expect(&m, "bounces", EB_REPRODUCED, "bounce.flight = 3"), 0.25, 1e-12,
           "upward over downward momentum");
  expect(&m, "stays", EB_NOT_REPRODUCED, "bounce.flight = 0");
  expect(&m, "falls", EB_NOT_COMPARABLE, "not known");
  expect(&m, "jointless", EB_NOT_COMPARABLE, "not known");
  expect(&m, "failed", EB_NOT_REPRODUCED, "d: diverged");
  expect(&m, "cut", EB_NOT_COMPARABLE, "cut short");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

static void test_follows(void) {
  const fake runs[] = {{.name = "a", WHOLE, .momentum = 2, .rebound = 1, .unknowns = 4},
                       {.name = "b", WHOLE, .momentum = 2.1, .rebound = 1, .unknowns = 5},
                       {.name = "c", WHOLE, .momentum = NAN}};
#define FOLLOWS(id, of, against, unknowns, most)                                                   \
  "[claim " id "]\nmeasure = follows\nholds = " of " last.reduced_unknowns = " unknowns            \
  "\nof = " of "\nagainst = " against "\ncolumns = momentum\nmost = " most "\n"
  made_up m;
  make_up(CASES FOLLOWS("near", "b", "a", "5", "0.06") FOLLOWS("far", "b", "a", "5", "0.04")
              FOLLOWS("unknowns", "b", "a", "4", "0.06") FOLLOWS("nan", "a", "c", "4", "1")
                  FOLLOWS("missing", "a", "missing", "4", "1"),
          false, runs, 3, 2, &m);
  tap_near(expect(&m, "near", EB_REPRODUCED, "over 8 steps"), 0.05, 1e-12, "difference over size");
  expect(&m, "far", EB_NOT_REPRODUCED, "at most 0.04");
  expect(&m, "unknowns", EB_NOT_REPRODUCED, "1 of 1 conditions");
  expect(&m, "nan", EB_NOT_REPRODUCED, "nan of its size");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

static void test_line(void) {
  const fake runs[] = {{.name = "a", WHOLE, .solve = 0.1, .factor = 1},
                       {.name = "b", WHOLE, .solve = 0.2, .factor = 1.1},
                       {.name = "c", WHOLE, .solve = 0.3, .factor = 0.9},
                       {.name = "d", WHOLE, .solve = 0.9, .factor = 1}};
  /* Points are "X CASE", between commas. */
  static const struct {
    const char *id, *points, *of, *least, *most;
  } lines[] = {{"straight", "0 a,2 b,4 c", "phase.solve", "0.999", "0.21"},
               {"unsteady", "0 a,2 b,4 c", "phase.solve", "0.999", "0.19"},
               {"bent", "0 a,2 b,4 d", "phase.solve", "0.95", "0.5"},
               {"missing", "0 a,2 b,4 missing", "phase.solve", "0.95", "1"},
               {"medians", "0 a,2 b,4 c", "stage.solve", "0.999", "0.21"},
               {"falling", "4 a,2 b,0 c", "phase.solve", "0.9", "1"},
               {"two", "4 a,2 b", "phase.solve", "0.9", "1"},
               {"flat", "4 a,2 b,1 c", "phase.update", "0.9", "1"}};
  char claims[4000] = CASES;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    char *at = claims + strlen(claims);
    at += sprintf(at, "[claim %s]\nmeasure = line\nsteady = phase.factor\nstatistic = %s\npoint = ",
                  lines[i].id, lines[i].of);
    for (const char *c = lines[i].points; *c; c++)
      at += *c == ',' ? sprintf(at, "\npoint = ") : sprintf(at, "%c", *c);
    sprintf(at, "\nleast = %s\nmost = %s\n", lines[i].least, lines[i].most);
  }
  made_up m;
  make_up(claims, false, runs, 4, 2, &m);
  tap_near(expect(&m, "straight", EB_REPRODUCED, "varies by 20.0 %"), 1, 1e-12, "R^2 of a line");
  tap_near(expect(&m, "medians", EB_REPRODUCED, "stage.solve = 0.2 + 0.1 x"), 1, 1e-12,
           "medians of two steps a frame");
  expect(&m, "unsteady", EB_NOT_REPRODUCED, "varies too much");
  expect(&m, "bent", EB_NOT_REPRODUCED, "no rising line");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  expect(&m, "falling", EB_NOT_REPRODUCED, "no rising line");
  expect(&m, "two", EB_NOT_COMPARABLE, "2 points");
  expect(&m, "flat", EB_NOT_COMPARABLE, "R^2 = nan");
  forget(&m);
}

static void test_lively(void) {
  /* Energy after 0.35 s of the same 0.8 s: steps 4 to 8. */
  const fake runs[] = {{.name = "a", WHOLE, .kinetic = 2},
                       {.name = "b",
                        .outcome = EB_OUTCOME_COMPLETED,
                        .steps = 8,
                        .wall = 3,
                        .first = 3,
                        .kinetic = 3},
                       {.name = "c",
                        .outcome = EB_OUTCOME_COMPLETED,
                        .steps = 8,
                        .wall = 1.5,
                        .first = 1.5,
                        .kinetic = 1},
                       {.name = "d", WHOLE}};
#define LIVELY(id, of, against, least)                                                             \
  "[claim " id "]\nmeasure = lively\nof = " of "\nagainst = " against                              \
  "\nafter = 0.35\nleast = " least "\n"
  made_up m;
  make_up(CASES LIVELY("dear", "a", "c b", "2") LIVELY("cheap", "a", "b c", "3.1")
              LIVELY("bound", "a", "c", "1.4") LIVELY("short", "a", "c", "2")
                  LIVELY("still", "d", "a", "2") LIVELY("missing", "a", "missing", "2"),
          false, runs, 4, 2, &m);
  tap_near(expect(&m, "dear", EB_REPRODUCED, "c keeps 0.5 of it in 1.5"), 3, 1e-12,
           "time of the one that is as lively");
  expect(&m, "cheap", EB_NOT_REPRODUCED, "takes 3 times as long");
  expect(&m, "bound", EB_REPRODUCED, "more than 1.5 times");
  expect(&m, "short", EB_NOT_COMPARABLE, "the dearest takes 1.5");
  expect(&m, "still", EB_NOT_COMPARABLE, "has not moved");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

static void test_course(void) {
  const fake runs[] = {
      {.name = "a", WHOLE, .force = 1, .force_fade = 3},
      {.name = "b", WHOLE, .force = 1, .force_fade = 0.1},
      {.name = "c", .outcome = EB_OUTCOME_DIVERGED, .steps = 4, .force = 1, .force_fade = 1},
      {.name = "d", WHOLE, .force = NAN, .force_fade = 1},
      {.name = "e", WHOLE}};
#define COURSE(id, wild, tame, most)                                                               \
  "[claim " id "]\nmeasure = course\ngrows = " wild "\nsettles = " tame "\nmost = " most "\n"
  made_up m;
  make_up(CASES COURSE("both", "a", "b", "1.1e-7") COURSE("slow", "a", "b", "0.9e-7")
              COURSE("tame", "b", "b", "1e-6") COURSE("fails", "c", "b", "1e-6")
                  COURSE("wild", "a", "a", "1e-6") COURSE("nan", "a", "d", "1e-6")
                      COURSE("none", "a", "e", "1") COURSE("still", "e", "b", "1e-6")
                          COURSE("never", "d", "b", "1e-6") COURSE("missing", "missing", "b", "1"),
          false, runs, 5, 2, &m);
  tap_near(expect(&m, "both", EB_REPRODUCED, "both as claimed"), 1e-7, 1e-15,
           "the last over the largest");
  expect(&m, "slow", EB_NOT_REPRODUCED, "does not go to nothing");
  expect(&m, "tame", EB_NOT_REPRODUCED, "does not grow");
  expect(&m, "fails", EB_REPRODUCED, "then c: diverged");
  expect(&m, "wild", EB_NOT_REPRODUCED, "does not go to nothing");
  expect(&m, "nan", EB_NOT_REPRODUCED, "does not go to nothing");
  expect(&m, "none", EB_NOT_REPRODUCED, "does not go to nothing");
  expect(&m, "still", EB_NOT_REPRODUCED, "does not grow");
  expect(&m, "never", EB_NOT_REPRODUCED, "does not grow");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

static void test_final(void) {
  const fake runs[] = {{.name = "a", WHOLE},
                       {.name = "b", WHOLE, .drift = 1e-3},
                       {.name = "c", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 6, .drift = 1e-3},
                       {.name = "d", WHOLE, .drift = NAN},
                       {.name = "other", WHOLE}};
#define FINAL(id, pairs, most) "[claim " id "]\nmeasure = final\n" pairs "most = " most "\n"
  made_up m;
  make_up(CASES FINAL("same", "pair = a a\npair = b a\n", "8e-3")
              FINAL("apart", "pair = a a\npair = b a\n", "7e-3")
                  FINAL("early", "pair = c a\n", "1e-3") FINAL("nan", "pair = a d\n", "1")
                      FINAL("some", "pair = a a\npair = a missing\n", "1")
                          FINAL("meshes", "pair = a other\n", "1"),
          false, runs, 5, 2, &m);
  tap_near(expect(&m, "same", EB_REPRODUCED, "b - a"), 8e-3 / diagonal(), 1e-7,
           "the worst pair; frames are single precision");
  expect(&m, "apart", EB_NOT_REPRODUCED, "1 of 2 are above");
  expect(&m, "early", EB_NOT_COMPARABLE, "stop before their end");
  expect(&m, "nan", EB_NOT_REPRODUCED, "1 of 1");
  expect(&m, "some", EB_NOT_COMPARABLE, "not run");
  eb_finding finding;
  tap_fails(eb_claim_judge(&m.evidence, &m.paper->claims[m.paper->claim_count - 1], &finding),
            EB_ERR_INVALID, "same nodes", "meshes of other sizes cannot be compared");
  eb_text_clear(&finding.reason);
  forget(&m);
}

static void test_turn(void) {
  const fake runs[] = {{.name = "a", WHOLE, .turn = 0.5, .stretch = 0.2},
                       {.name = "b", WHOLE, .turn = -0.02},
                       {.name = "c", WHOLE, .drift = 0.1}};
#define TURN(id, of, others, least)                                                                \
  "[claim " id "]\nmeasure = turn\nof = " of "\nothers = " others "\nface = +x\nleast = " least "\n"
  made_up m;
  make_up(CASES TURN("turns", "a", "b c", "24") TURN("less", "a", "b c", "26")
              TURN("still", "c", "c", "1") TURN("missing", "a", "missing", "1"),
          false, runs, 3, 2, &m);
  tap_near(expect(&m, "turns", EB_REPRODUCED, "a: 28.6 degrees"), 25, 1e-3,
           "the angle over the others' largest; frames are single precision");
  expect(&m, "less", EB_NOT_REPRODUCED, "b: 1.15 degrees");
  expect(&m, "still", EB_NOT_REPRODUCED, "more than 1");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  double turned;
  tap_require(eb_motion_turn(&m.evidence, 0, 0, false, &turned), "the other end");
  tap_near(turned, 0, 1e-6, "the end that is held has not turned");
  forget(&m);
}

static void test_limit(void) {
  /* a goes 0.08 m; b is 0.001 m a step off, d 0.01 m. */
  const fake runs[] = {{.name = "a", WHOLE, .drift = 0.01},
                       {.name = "b", WHOLE, .drift = 0.011},
                       {.name = "c", .outcome = EB_OUTCOME_DIVERGED, .steps = 3},
                       {.name = "d", WHOLE, .drift = 0.02}};
#define LIMIT(id, points, most) "[claim " id "]\nmeasure = limit\n" points "most = " most "\n"
  made_up m;
  make_up(CASES LIMIT("passes", "point = 100 b a\npoint = 1 d a\n", "0.3162277660168379")
              LIMIT("fails", "point = 100 b a\npoint = 10 c a\n", "0.5")
                  LIMIT("below", "point = 100 b a\npoint = 1 d a\n", "1.5")
                      LIMIT("turned", "point = 1 b a\npoint = 100 d a\n", "0.5")
                          LIMIT("one", "point = 1 b a\n", "0.5")
                              LIMIT("missing", "point = 1 b a\npoint = 2 missing a\n", "0.5"),
          false, runs, 4, 2, &m);
  tap_near(expect(&m, "passes", EB_REPRODUCED, "1: 100 %"), 10, 1e-4,
           "the bound is crossed half-way between, on logarithmic axes");
  tap_near(expect(&m, "fails", EB_REPRODUCED, "c: diverged"), 10, 0,
           "a failure is past every bound");
  expect(&m, "below", EB_NOT_REPRODUCED, "no error is above");
  expect(&m, "turned", EB_NOT_REPRODUCED, "does not rise");
  expect(&m, "one", EB_NOT_COMPARABLE, "no curve");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

/* Change of shape between the last two frames; the beam is one piece. */
static void test_unrest(void) {
  const fake runs[] = {{.name = "a", WHOLE, .drift = 0.1}, {.name = "b", WHOLE, .stretch = 0.01}};
  made_up m;
  make_up(CASES "[claim rests]\nmeasure = conditions\nholds = a pieces.unrest <= 1e-6\n"
                "[claim stirs]\nmeasure = conditions\nholds = b pieces.unrest <= 1e-3\n",
          false, runs, 2, 2, &m);
  expect(&m, "rests", EB_REPRODUCED, "pieces.unrest");
  /* Ends of a bar that grows by a hundredth about its middle. */
  tap_near(expect(&m, "stirs", EB_NOT_REPRODUCED, "pieces.unrest"), 0.005 / diagonal(), 1e-4,
           "half the growth, over the diagonal");
  forget(&m);
}

static void refuse(const char *claim, const char *says) {
  eb_paper *paper;
  char ini[2000];
  snprintf(ini, sizeof ini, "%s[claim x]\n%s", CASES, claim);
  write_paper("bad", "paper.ini", ini);
  tap_fails(eb_paper_load("bad", folder, false, &paper), EB_ERR_FORMAT, says, says);
}

static void test_refused(void) {
  refuse("measure = conditions\nholds = a end.kinetic 1\n", "CASE STATISTIC OP NUMBER");
  refuse("measure = conditions\nholds = a end.kinetik <= 1\n", "'end.kinetik' is no statistic");
  refuse("measure = conditions\nholds = a end.kinetic/x <= 1\n", "'x' is no statistic");
  refuse("measure = conditions\nholds = a end.kinetic < 1\n", "none of <=, >=, =");
  refuse("measure = conditions\nholds = z end.kinetic <= 1\n", "no case 'z'");
  refuse("measure = line\nstatistic = phase.solve\nleast = 1\npoint = x a\n",
         "'x a' is not 'X CASE'");
  refuse("measure = lively\nof = a\nagainst = b\nafter = 1\n", "wants 'least'");
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_conditions();
  test_follows();
  test_line();
  test_lively();
  test_course();
  test_final();
  test_turn();
  test_limit();
  test_unrest();
  test_refused();
  return scratch_close();
}
