/* Every measure on made-up runs: what holds, what does not, and what is missing, failed or not a number. */
#include "harness/reproduce/motion.h"
#include "tests/reproduce_fixture.h"

/* Cases a, b, .. on one scene, which differ in an option that changes nothing here, and `other` on another one. */
#define CASES                                                                                      \
  "[solvers]\na = newton:rtol=1e-3\nb = newton:rtol=1e-4\nc = newton:rtol=1e-5\n"                  \
  "d = newton:rtol=1e-6\n[cases all]\nframes = 4\n"                                                \
  "a = bench/beam:resolution=0.25 a\nb = bench/beam:resolution=0.25 b\n"                           \
  "c = bench/beam:resolution=0.25 c\nd = bench/beam:resolution=0.25 d\n"                           \
  "other = bench/beam:resolution=0.3 a\nmissing = bench/beam:resolution=0.25,E=2e6 a\n"

#define WHOLE(name_, wall_)                                                                        \
  { .name = name_, .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .first = 9, .wall = wall_ }

/* a, b, c take 2, 4 and 16 s a frame; d fails. */
static const fake timed[] = {WHOLE("a", 1),
                             WHOLE("b", 2),
                             WHOLE("c", 8),
                             {.name = "d", .outcome = EB_OUTCOME_DIVERGED, .steps = 4, .wall = 1}};
enum { TIMED = sizeof timed / sizeof *timed };

static void test_ratio(void) {
  made_up m;
  make_up(CASES "[claim holds]\nmeasure = ratio\nover = b\nunder = a\nleast = 1.5\nmost = 2.5\n"
                "[claim below]\nmeasure = ratio\nover = a\nunder = b\nleast = 0.6\n"
                "[claim noise]\nmeasure = ratio\nover = a\nunder = b\nleast = 0.52\nnoise = 0.05\n"
                "[claim above]\nmeasure = ratio\nover = c\nunder = a\nmost = 7.9\n"
                "[claim failed]\nmeasure = ratio\nover = a\nunder = d\nleast = 0\n"
                "[claim missing]\nmeasure = ratio\nover = a\nunder = missing\nleast = 0\n"
                "[claim memory]\nmeasure = ratio\nover = a\nunder = b\nleast = 0\n"
                "statistic = memory.factor\n",
          false, timed, TIMED, 2, &m);
  tap_near(expect(&m, "holds", EB_REPRODUCED, "b / a = 2"), 2, 1e-12, "the ratio of frame times");
  expect(&m, "below", EB_NOT_REPRODUCED, "below 0.6");
  expect(&m, "noise", EB_REPRODUCED, "0.52");
  expect(&m, "above", EB_NOT_REPRODUCED, "above 7.9");
  expect(&m, "failed", EB_NOT_REPRODUCED, "d: diverged");
  expect(&m, "missing", EB_NOT_COMPARABLE, "missing: not run");
  expect(&m, "memory", EB_NOT_COMPARABLE, "not a number");
  forget(&m);
}

/* A run that the audit contradicts is the fastest, and takes part in nothing. */
static void test_refuted(void) {
  static const fake runs[] = {WHOLE("a", 1),
                              WHOLE("b", 2),
                              {.name = "c",
                               .outcome = EB_OUTCOME_COMPLETED,
                               .steps = 8,
                               .wall = 1e-3,
                               .lie = "bodies meet"},
                              {.name = "d",
                               .outcome = EB_OUTCOME_TIMED_OUT,
                               .steps = 8,
                               .wall = 1e-3,
                               .lie = "none pushes"}};
  made_up m;
  make_up(CASES "[claim ratio]\nmeasure = ratio\nover = a\nunder = c\nleast = 0\n"
                "[claim cut]\nmeasure = ratio\nover = d\nunder = a\nleast = 0\n"
                "[claim order]\nmeasure = ranking\norder = c < a < b\n"
                "[claim whole]\nmeasure = completed\ncases = a c\n"
                "[claim others]\nmeasure = ranking\norder = a < b\n",
          false, runs, sizeof runs / sizeof *runs, 2, &m);
  expect(&m, "ratio", EB_NOT_COMPARABLE, "c: audit failed, bodies meet");
  expect(&m, "cut", EB_NOT_COMPARABLE, "d: audit failed, none pushes");
  expect(&m, "order", EB_NOT_COMPARABLE, "c: audit failed");
  expect(&m, "whole", EB_NOT_COMPARABLE, "1 of 2 runs reached their end");
  expect(&m, "others", EB_REPRODUCED, "every order holds");
  forget(&m);
}

static void test_orders(void) {
  made_up m;
  make_up(CASES "[claim holds]\nmeasure = ranking\norder = a < b < c\norder = a < 0.6*b\n"
                "[claim reversed]\nmeasure = ranking\norder = a < b\norder = c < b\n"
                "[claim factor]\nmeasure = ranking\norder = a < 0.4*b\n"
                "[claim missing]\nmeasure = ranking\norder = a < missing\norder = a < b\n"
                "[claim failed]\nmeasure = ranking\norder = a < missing\norder = a < d\n"
                "[claim both]\nmeasure = monotone\nfalling = c b a\nrising = a b c\n"
                "[claim turned]\nmeasure = monotone\nfalling = a b\nnoise = 0.9\n"
                "[claim noisy]\nmeasure = monotone\nfalling = a b\nnoise = 1.1\n"
                "[claim lacking]\nmeasure = monotone\nrising = a missing\n",
          false, timed, TIMED, 2, &m);
  expect(&m, "holds", EB_REPRODUCED, "every order holds");
  expect(&m, "reversed", EB_NOT_REPRODUCED, "1 of these neighbours");
  expect(&m, "factor", EB_NOT_REPRODUCED, "not as claimed");
  expect(&m, "missing", EB_NOT_COMPARABLE, "missing: not run");
  expect(&m, "failed", EB_NOT_REPRODUCED, "d: diverged");
  expect(&m, "both", EB_REPRODUCED, "2 sequences");
  expect(&m, "turned", EB_NOT_REPRODUCED, "b takes 2 times a");
  expect(&m, "noisy", EB_REPRODUCED, "1 sequences");
  expect(&m, "lacking", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

static void test_growth(void) {
  made_up m;
  make_up(CASES "[claim grows]\nmeasure = growth\nrow = a/b b/b\nrow = b/b c/b\nleast = 3.9\n"
                "[claim short]\nmeasure = growth\nrow = a/b b/b\nrow = b/b c/b\nleast = 4.1\n"
                "[claim shrinks]\nmeasure = growth\nrow = b/b a/b\n"
                "[claim column]\nmeasure = growth\nrow = c/b\nrow = a/b\n"
                "[claim missing]\nmeasure = growth\nrow = a/b missing/b\n",
          false, timed, TIMED, 2, &m);
  tap_near(expect(&m, "grows", EB_REPRODUCED, "0.5 1 | 1 4"), 4, 1e-12, "the last ratio");
  expect(&m, "short", EB_NOT_REPRODUCED, "below 4.1");
  expect(&m, "shrinks", EB_NOT_REPRODUCED, "1 steps");
  expect(&m, "column", EB_NOT_REPRODUCED, "1 steps");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

/* A run that its time limit has cut is judged over the frames that both have. */
static void test_cut(void) {
  made_up m;
  const fake runs[] = {
      {.name = "a", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .wall = 1, .growth = 1},
      {.name = "b", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 5, .wall = 1, .growth = 1},
      {.name = "c", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 3, .wall = 1},
      {.name = "d", .outcome = EB_OUTCOME_OUT_OF_MEMORY}};
  make_up(CASES "[claim cut]\nmeasure = ratio\nover = a\nunder = b\nleast = 1\nmost = 1\n"
                "[claim short]\nmeasure = ratio\nover = a\nunder = c\nleast = 0\n"
                "[claim memory]\nmeasure = ratio\nover = a\nunder = d\nleast = 0\n"
                "[claim end]\nmeasure = completed\ncases = a b\n"
                "[claim all]\nmeasure = completed\ncases = a\n",
          false, runs, 4, 2, &m);
  tap_near(expect(&m, "cut", EB_REPRODUCED, "b: timed-out"), 1, 1e-12,
           "equal over the frames that both have");
  expect(&m, "short", EB_NOT_COMPARABLE, "c: timed-out");
  expect(&m, "memory", EB_NOT_COMPARABLE, "d: out-of-memory");
  expect(&m, "end", EB_NOT_COMPARABLE, "1 of 2 runs");
  expect(&m, "all", EB_REPRODUCED, "1 of 1 runs");
  forget(&m);
}

/* Fewer frames than the whole run show nothing about its end. */
static void test_shortened(void) {
  made_up m;
  const fake runs[] = {WHOLE("a", 1)};
  make_up("[solvers]\na = newton\n[cases all]\nframes = 400\nquick = 4\na = "
          "bench/beam:resolution=0.25 a\n"
          "[claim end]\nmeasure = completed\ncases = a\n",
          true, runs, 1, 2, &m);
  expect(&m, "end", EB_NOT_COMPARABLE, "asked for fewer frames");
  forget(&m);
}

static void test_cells(void) {
  made_up m;
  const fake runs[] = {WHOLE("a", 1), WHOLE("b", 2)};
  write_paper("made-up", "t.tsv", "row\tx_ms\na\t1000\nb\t8000\n");
  write_paper("made-up", "more.tsv", "row\tx_ms\na\t1000\nmissing\t8000\n");
#define TABLES                                                                                     \
  "[table t]\ndata = t.tsv\nunit = ms\ncolumn = x_ms: * frame.mean\n"                              \
  "[table more]\ndata = more.tsv\nunit = ms\ncolumn = x_ms: * frame.mean\n"
  make_up(CASES TABLES "[claim within]\nmeasure = cells\ntable = t\nleast = 0.4\nmost = 2.1\n"
                       "[claim outside]\nmeasure = cells\ntable = t\nleast = 0.6\nmost = 1.9\n"
                       "[claim some]\nmeasure = cells\ntable = more\nleast = 0.1\n",
          false, runs, 2, 2, &m);
  tap_near(expect(&m, "within", EB_REPRODUCED, "2 of 2 cells"), 1, 1e-12,
           "the geometric mean of 2 and 1/2");
  expect(&m, "outside", EB_NOT_REPRODUCED, "2 cells are outside");
  expect(&m, "some", EB_NOT_COMPARABLE, "1 of 2 cells");
  forget(&m);
}

static void test_phases(void) {
  made_up m;
  const fake runs[] = {
      {.name = "a", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .wall = 1, .accounted = 0.99},
      {.name = "b", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .wall = 1, .accounted = 0.9},
      {.name = "c", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .wall = 1}};
  make_up(CASES "[claim all]\nmeasure = phases\nstages = a assemble solve\n"
                "[claim gap]\nmeasure = phases\nstages = b assemble solve\n"
                "[claim wide]\nmeasure = phases\nstages = b assemble solve\nmost = 0.2\n"
                "[claim untimed]\nmeasure = phases\nstages = a assemble update\n"
                "[claim none]\nmeasure = phases\nstages = c solve\n"
                "[claim missing]\nmeasure = phases\nstages = missing solve\n",
          false, runs, 3, 2, &m);
  tap_near(expect(&m, "all", EB_REPRODUCED, "every stage"), 0.01, 1e-12, "what is unaccounted for");
  expect(&m, "gap", EB_NOT_REPRODUCED, "above 2 %");
  expect(&m, "wide", EB_REPRODUCED, "90.00 %");
  expect(&m, "untimed", EB_NOT_REPRODUCED, "does not time 'update'");
  expect(&m, "none", EB_NOT_REPRODUCED, "does not time 'solve'");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

static void test_threads(void) {
  static const char ini[] =
      CASES "[claim faster]\nmeasure = threads\none = b\ntwo = a\nspeedup = frame.mean 1.8\n"
            "[claim share]\nmeasure = threads\none = b\ntwo = a\nspeedup = frame.mean 2.2\n"
            "share = 0.9\n"
            "[claim slow]\nmeasure = threads\none = b\ntwo = a\nspeedup = frame.mean 2.2\n"
            "speedup = frame.max 1\n"
            "[claim untimed]\nmeasure = threads\none = b\ntwo = a\nspeedup = phase.update 1\n";
  const fake runs[] = {WHOLE("a", 1), WHOLE("b", 2)};
  made_up m;
  make_up(ini, false, runs, 2, 2.5, &m);
  expect(&m, "faster", EB_REPRODUCED, "2.00x");
  expect(&m, "share", EB_REPRODUCED, "0.9 of the paper's");
  expect(&m, "slow", EB_NOT_REPRODUCED, "1 of 2 stages");
  expect(&m, "untimed", EB_NOT_REPRODUCED, "1 of 1 stages");
  forget(&m);
  make_up(ini, false, runs, 2, 1.3, &m);
  expect(&m, "faster", EB_REPRODUCED, "1.30x");
  expect(&m, "slow", EB_NOT_COMPARABLE, "did not give the second core");
  forget(&m);
}

static void test_trajectory(void) {
  made_up m;
  const fake runs[] = {
      WHOLE("a", 1),
      {.name = "b", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .drift = 0.01},
      {.name = "c", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .touches = 1, .leaves = 4},
      {.name = "d", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .drift = NAN},
      WHOLE("other", 1)};
#define TRAJECTORY(id, of, against)                                                                \
  "[claim " id "]\nmeasure = trajectory\nof = " of "\nagainst = " against "\n"
  make_up(
      CASES TRAJECTORY("near", "b", "a") "most = 0.08\n" TRAJECTORY(
          "far", "b",
          "a") "most = 0.07\nnorm = max\n" TRAJECTORY("bounce", "b",
                                                      "c") "most = 0.04\nuntil = "
                                                           "bounce\n" TRAJECTORY(
                                                               "flight", "b",
                                                               "a") "most = "
                                                                    "1\nuntil = "
                                                                    "bounce"
                                                                    "\n" TRAJECTORY("nan", "d", "a") "most = 1\n" TRAJECTORY(
                                                                        "missing", "a",
                                                                        "missing") "most = "
                                                                                   "1\n" TRAJECTORY(
                                                                                       "scenes",
                                                                                       "a",
                                                                                       "other") "mo"
                                                                                                "st"
                                                                                                " ="
                                                                                                " 1"
                                                                                                "\n",
      false, runs, 5, 2, &m);
  /* The beam's diagonal is sqrt(1 + 0.2^2 + 0.2^2) m; positions are stored as float. */
  double diagonal = sqrt(1.08);
  tap_near(expect(&m, "near", EB_REPRODUCED, "5 frames"), 0.08 / diagonal, 1e-6,
           "a shift of 8 steps, over the diagonal");
  expect(&m, "far", EB_NOT_REPRODUCED, "above 0.07");
  tap_near(expect(&m, "bounce", EB_REPRODUCED, "end of the first bounce"), 0.04 / diagonal, 1e-6,
           "frames after the bounce do not count");
  expect(&m, "flight", EB_NOT_COMPARABLE, "does not end");
  expect(&m, "nan", EB_NOT_REPRODUCED, "above 1");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  eb_finding finding;
  const eb_paper_claim *last = &m.paper->claims[m.paper->claim_count - 1];
  tap_fails(eb_claim_judge(&m.evidence, last, &finding), EB_ERR_INVALID, "one scene",
            "runs of two scenes cannot be compared");
  eb_text_clear(&finding.reason);
  forget(&m);
}

static void test_shape(void) {
  static const char ini[] =
      CASES "[claim back]\nmeasure = shape\nof = b\nmost = 1e-6\ninverted = 3\n"
            "[claim few]\nmeasure = shape\nof = b\nmost = 1e-6\ninverted = 4\n"
            "[claim against]\nmeasure = shape\nof = b\nagainst = a\nmost = 1e-6\n"
            "[claim missing]\nmeasure = shape\nof = missing\nmost = 1\n";
  const fake runs[] = {
      WHOLE("a", 1),
      {.name = "b", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .drift = 0.01, .inverted = 3}};
  made_up m;
  make_up(ini, false, runs, 2, 2, &m);
  expect(&m, "back", EB_REPRODUCED, "up to 3 elements");
  expect(&m, "few", EB_NOT_REPRODUCED, "at least 4");
  expect(&m, "against", EB_REPRODUCED, "from a");
  expect(&m, "missing", EB_NOT_COMPARABLE, "not run");
  forget(&m);
}

/* A shape that is turned, moved and stretched: only the stretch remains. */
static void test_rigid(void) {
  enum { COUNT = 5 };
  static const double x[3 * COUNT] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1};
  double y[3 * COUNT];
  eb_distance distance;
  for (int i = 0; i < COUNT; i++) { /* a third of a turn about (1, 1, 1), and a shift */
    y[3 * i] = x[3 * i + 2] + 5;
    y[3 * i + 1] = x[3 * i] - 7;
    y[3 * i + 2] = x[3 * i + 1] + 0.5;
  }
  eb_rigid_distance(x, y, COUNT, 1, &distance);
  /* Rounding of a rotation from sums of squares of about ten. */
  tap_below(distance.max, 1e-14, "a rigid motion leaves nothing");
  y[0] += 0.1;
  eb_rigid_distance(x, y, COUNT, 2, &distance);
  tap_ok(distance.max > 0.02 && distance.max <= 0.05, "a moved corner does, over the length");
  tap_below(distance.rms, distance.max, "the mean is below the most");
  y[0] = NAN;
  eb_rigid_distance(x, y, COUNT, 1, &distance);
  tap_ok(isnan(distance.max) && isnan(distance.rms), "what is not a number stays so");
}

static void test_outcomes(void) {
  const fake runs[] = {
      {.name = "a", .outcome = EB_OUTCOME_DIVERGED, .steps = 3, .iterations = 10},
      {.name = "b", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .iterations = 600},
      {.name = "c", .outcome = EB_OUTCOME_COMPLETED, .steps = 8, .iterations = 1},
      {.name = "d", .outcome = EB_OUTCOME_TIMED_OUT, .steps = 4, .iterations = 1}};
#define OUTCOMES(id, weak, strong, many)                                                           \
  "[claim " id "]\nmeasure = outcomes\nstruggles = " weak "\nsucceeds = " strong                   \
  "\niterations = " many "\n"
  made_up m;
  make_up(CASES OUTCOMES("fails", "a", "c", "1e6") OUTCOMES("many", "b", "c", "1200")
              OUTCOMES("few", "b", "c", "1201") OUTCOMES("some", "a b", "c c", "2000")
                  OUTCOMES("behind", "b", "d", "1") OUTCOMES("too", "b", "a", "1")
                      OUTCOMES("missing", "missing", "c", "1")
                          OUTCOMES("lacking", "b", "missing", "1"),
          false, runs, 4, 2, &m);
  expect(&m, "fails", EB_REPRODUCED, "(1 fail)");
  tap_near(expect(&m, "many", EB_REPRODUCED, "1200 iterations a frame"), 1200, 0,
           "iterations of the steps of a frame");
  expect(&m, "few", EB_NOT_REPRODUCED, "0 of 1");
  expect(&m, "some", EB_NOT_REPRODUCED, "1 of 2 fail");
  expect(&m, "behind", EB_NOT_REPRODUCED, "d did 4 steps of the 8");
  expect(&m, "too", EB_NOT_REPRODUCED, "a: diverged");
  expect(&m, "missing", EB_NOT_COMPARABLE, "missing: not run");
  expect(&m, "lacking", EB_NOT_COMPARABLE, "missing: not run");
  forget(&m);
}

static void probe_says(const char *id, const char *json) {
  char name[64];
  snprintf(name, sizeof name, "made-up-%s.json", id);
  write_bytes(name, json, strlen(json));
}

#define PROBE(id)  "[probe " id "]\nkind = low-rank\n"
#define UPDOWN(id) PROBE(id) "[claim " id "]\nmeasure = updown\nprobe = " id "\n"
#define AGREES(id) PROBE(id) "[claim " id "]\nmeasure = agreement\nmost = 1e-9\nprobe = " id "\n"

static void test_updown(void) {
  made_up m;
  make_up(CASES UPDOWN("slower") UPDOWN("stopped") UPDOWN("faster") UPDOWN("half") UPDOWN("empty")
              UPDOWN("absent"),
          false, NULL, 0, 2, &m);
#define TRIAL(updown, done)                                                                        \
  "{\"complete\": true, \"trials\": [{\"elements\": 34, \"rank\": 408, \"updown_s\": " updown      \
  ", \"refactor_s\": 1.0, \"incremental_s\": 0.2, \"updown_done\": " done "}]}"
  probe_says("slower", TRIAL("1.1", "1.0"));
  probe_says("stopped", TRIAL("60", "0.03"));
  probe_says("faster", TRIAL("0.5", "1.0"));
  probe_says("half",
             "{\"complete\": false, \"trials\": [{\"elements\": 1, \"rank\": 12, \"updown_s\": 9, "
             "\"refactor_s\": 1, \"incremental_s\": 1, \"updown_done\": 1}]}");
  probe_says("empty", "{\"complete\": true}");
  tap_near(expect(&m, "slower", EB_REPRODUCED, "rank 408"), 1.1, 1e-12, "over a factorization");
  expect(&m, "stopped", EB_REPRODUCED, "lower bound");
  expect(&m, "faster", EB_NOT_REPRODUCED, "not the slowest");
  expect(&m, "half", EB_NOT_COMPARABLE, "not all");
  expect(&m, "empty", EB_NOT_COMPARABLE, "no element set");
  expect(&m, "absent", EB_NOT_COMPARABLE, "left no result");
  forget(&m);
}

static void test_agreement(void) {
  made_up m;
  make_up(CASES AGREES("same") AGREES("apart") AGREES("cut") AGREES("broken") AGREES("trouble")
              AGREES("nothing"),
          false, NULL, 0, 2, &m);
  probe_says("same", "{\"steps\": 100, \"steps_wanted\": 100, \"difference\": 1e-12}");
  probe_says("apart", "{\"steps\": 50, \"steps_wanted\": 100, \"difference\": 1e-3}");
  probe_says("cut", "{\"steps\": 50, \"steps_wanted\": 100, \"difference\": 1e-12}");
  probe_says("broken", "{\"steps\": 5, \"failure\": \"step 5 of x ended with EB_DIVERGED_NAN\"}");
  probe_says("trouble", "{\"error\": \"there is no solver 'x'\"}");
  probe_says("nothing", "{}");
  tap_near(expect(&m, "same", EB_REPRODUCED, "100 of 100 steps"), 1e-12, 0, "the difference");
  expect(&m, "apart", EB_NOT_REPRODUCED, "above 1e-09");
  expect(&m, "cut", EB_NOT_COMPARABLE, "50 of 100 steps");
  expect(&m, "broken", EB_NOT_REPRODUCED, "EB_DIVERGED_NAN");
  expect(&m, "trouble", EB_NOT_COMPARABLE, "no solver 'x'");
  expect(&m, "nothing", EB_NOT_COMPARABLE, "");
  forget(&m);
}

#define THRESHOLD(id)                                                                              \
  PROBE(id)                                                                                        \
  "[claim " id "]\nmeasure = threshold\nprobe = " id "\nover = v\nunder = c\nleast = "             \
  "2\n"

static void test_threshold(void) {
  made_up m;
  make_up(CASES THRESHOLD("more") THRESHOLD("fewer") THRESHOLD("wild") THRESHOLD("early")
              THRESHOLD("lacking") THRESHOLD("unfound"),
          false, NULL, 0, 2, &m);
#define SOLVERS(v, c, done)                                                                        \
  "{\"complete\": " done ", \"option\": \"beta\", \"step\": 0.1, \"steps\": 7, \"solvers\": "      \
  "{\"v\": {" v "}, \"c\": {" c "}}}"
#define FOUND(stable, unstable)                                                                    \
  "\"stable\": " stable ", \"unstable\": " unstable ", \"trials\": [{}, {}, {}]"
  probe_says("more", SOLVERS(FOUND("1.5", "1.4"), FOUND("0.5", "0.4"), "true"));
  probe_says("fewer", SOLVERS(FOUND("0.9", "0.8"), FOUND("0.5", "0.1"), "true"));
  probe_says("wild", SOLVERS("\"trials\": [{}]", FOUND("0.5", "0.4"), "true"));
  probe_says("early", SOLVERS(FOUND("1.5", "1.4"), FOUND("0.5", "0.4"), "false"));
  probe_says("lacking", "{\"complete\": true, \"solvers\": {}}");
  tap_near(expect(&m, "more", EB_REPRODUCED, "v: stable at beta = 1.5 and not at 1.4 (3 runs)"), 3,
           1e-12, "the ratio of the thresholds");
  expect(&m, "fewer", EB_NOT_REPRODUCED, "ran out of time");
  expect(&m, "wild", EB_NOT_COMPARABLE, "no stable value");
  expect(&m, "early", EB_NOT_COMPARABLE, "runs of 7 steps");
  expect(&m, "lacking", EB_NOT_COMPARABLE, "not tried");
  expect(&m, "unfound", EB_NOT_COMPARABLE, "left no result");
  forget(&m);
}

#define COUNTS(id, more)                                                                           \
  PROBE(id)                                                                                        \
  "[table " id "]\ndata = counts.tsv\ncolumn = n: probe:" id " *.nodes\ncolumn = dyn: probe:" id   \
  " *.dynamic\n[claim " id "]\nmeasure = counts\ntable = " id "\nprobe = " id                      \
  "\nmaterial = bar snh\n" more

static void test_counts(void) {
  made_up m;
  write_paper("made-up", "counts.tsv", "scene\tn\tdyn\nbar\t1000\t8\ndragon\t500\t\n");
  make_up(CASES COUNTS("within", "within = dragon 0.03\n") COUNTS("exact", "")
              COUNTS("few", "within = dragon 0.03\n") COUNTS("stuff", "within = dragon 0.03\n")
                  COUNTS("half", "within = dragon 0.03\n") COUNTS("unmade", ""),
          false, NULL, 0, 2, &m);
#define ROWS(dyn, material)                                                                        \
  "{\"complete\": true, \"rows\": {\"bar\": {\"nodes\": 1000, \"dynamic\": " dyn                   \
  ", \"material\": \"" material "\"}, \"dragon\": {\"nodes\": 510}}}"
  probe_says("within", ROWS("8.0", "snh"));
  probe_says("exact", ROWS("8.0", "snh"));
  probe_says("few", ROWS("7.0", "snh"));
  probe_says("stuff", ROWS("8.0", "snh+fung"));
  probe_says("half", "{\"complete\": true, \"rows\": {\"bar\": {\"nodes\": 1000, \"error\": "
                     "\"no such solver\"}, \"dragon\": {\"nodes\": 500}}}");
  tap_near(expect(&m, "within", EB_REPRODUCED, "all 4 entries of 2 scenes"), 4, 0, "right entries");
  expect(&m, "exact", EB_NOT_REPRODUCED, "dragon, n: 510, not 500");
  expect(&m, "few", EB_NOT_REPRODUCED, "bar, dyn: 7, not 8");
  expect(&m, "stuff", EB_NOT_REPRODUCED, "bar: material snh+fung, not snh");
  expect(&m, "half", EB_NOT_COMPARABLE, "bar: no such solver");
  expect(&m, "unmade", EB_NOT_COMPARABLE, "left no result");
  forget(&m);
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_ratio();
  test_refuted();
  test_orders();
  test_growth();
  test_cut();
  test_shortened();
  test_cells();
  test_phases();
  test_threads();
  test_trajectory();
  test_shape();
  test_rigid();
  test_outcomes();
  test_updown();
  test_agreement();
  test_threshold();
  test_counts();
  return scratch_close();
}
