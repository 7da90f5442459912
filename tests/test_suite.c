/* Suites and plans: settings, sections, expansion, shards. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/suite/plan.h"
#include "tests/tap.h"

static void test_settings(void) {
  eb_settings settings = {0};
  int known;
  tap_succeeds(eb_settings_set(&settings, "threads", "1, 2 4", &known), "thread counts");
  tap_ok(settings.thread_count == 3 && settings.threads[2] == 4, "three of them, in order");
  tap_fails(eb_settings_set(&settings, "threads", "", &known), EB_ERR_USAGE, "threads",
            "no thread count");
  tap_fails(eb_settings_set(&settings, "threads", "1 1 1 1 1 1 1 1 1", &known), EB_ERR_USAGE,
            "at most", "too many thread counts");
  tap_fails(eb_settings_set(&settings, "timeout", "1e", &known), EB_ERR_USAGE, "wants a number",
            "a broken number");
  tap_fails(eb_settings_set(&settings, "seed", "-1", &known), EB_ERR_USAGE, "outside",
            "a negative seed");
  tap_succeeds(eb_settings_set(&settings, "colour", "red", &known), "an unknown setting");
  tap_ok(!known, "is told apart");
  eb_settings base = {.repeat = 2, .steps = 10, .timeout = 5};
  eb_settings over = {.steps = 20, .has_seed = 1, .seed = 0};
  eb_settings both = eb_settings_over(base, over);
  tap_ok(both.repeat == 2 && both.steps == 20 && both.timeout == 5 && both.has_seed,
         "settings over others");
}

static void test_parse(void) {
  eb_suite *suite = NULL;
  const char *text =
      "[suite]\nsummary = two words\nrepeat = 2\nsteps = 9\n"
      "[first] ; a comment\nscene = bench/beam:E=1e5,nu=0.4\nsolver = newton\n"
      "solver = corotational:linear=petsc,petsc=-ksp_type cg -pc_type icc\nsteps = 3\n"
      "[conjac2020/twist]\nsolver = newton\n"
      "[first]\nsolver = semi-implicit\n";
  tap_require(eb_suite_parse("text", text, &suite), "a suite");
  tap_ok(strcmp(suite->summary, "two words") == 0, "summary");
  tap_ok(suite->count == 2, "a section that is opened again goes on");
  const eb_suite_section *first = &suite->sections[0];
  tap_ok(first->solvers.count == 3, "its solvers are added");
  tap_ok(strcmp(first->solvers.items[1],
                "corotational:linear=petsc,petsc=-ksp_type cg -pc_type icc") == 0,
         "a value may hold spaces and equals signs");
  tap_ok(first->settings.steps == 3 && first->settings.repeat == 2,
         "settings over those of [suite]");
  tap_ok(strcmp(suite->sections[1].scenes.items[0], "conjac2020/twist") == 0,
         "the label is the scene when none is named");
  eb_suite_destroy(suite);
  tap_fails(eb_suite_parse("text", "[a]\nscene = x\n\nstep = 3\n", &suite), EB_ERR_FORMAT, "text:4",
            "the line of a mistake is named");
  tap_fails(eb_suite_parse("text", "[a]\nsteps = 1\nsteps = x\nrepeat = y\n", &suite), EB_ERR_USAGE,
            "text:3", "and it is the first one");
  tap_ok(suite == NULL, "nothing is left of a bad suite");
}

static void test_built_in(void) {
  eb_strings names = {0};
  tap_require(eb_suite_names(&names), "names of suites");
  tap_ok(names.count >= 2, "there are built-in suites");
  for (int i = 0; i < names.count; i++) {
    eb_request request = {0};
    eb_plan plan;
    tap_require(eb_strings_add(&request.names, names.items[i]), "a request");
    tap_succeeds(eb_plan_create(&request, &plan), names.items[i]);
    tap_ok(plan.count > 0, "  has cases");
    for (int c = 0; c < plan.count; c++)
      if (!plan.cases[c].solver || plan.cases[c].steps < 1) tap_ok(false, "  case %d is whole", c);
    eb_plan_clear(&plan);
    eb_strings_clear(&request.names);
  }
  eb_strings_clear(&names);
}

static eb_error plan_of(const char *scene, const char *solver, eb_settings settings, int shard,
                        int shards, eb_plan *out) {
  eb_request request = {.settings = settings, .shard = shard, .shards = shards};
  eb_error error = eb_strings_add(&request.names, scene);
  if (!error) error = eb_strings_add(&request.solvers, solver);
  if (!error) error = eb_plan_create(&request, out);
  eb_strings_clear(&request.names);
  eb_strings_clear(&request.solvers);
  return error;
}

static void test_identity(void) {
  eb_plan plan, other;
  eb_settings none = {0}, seeded = {.has_seed = 1, .seed = 5};
  tap_require(plan_of("bench/beam", "newton", none, 0, 0, &plan), "a plan");
  const char *identity = plan.cases[0].identity;
  const struct {
    const char *scene, *solver, *name;
    eb_settings settings;
    bool same;
  } cases[] = {
      {"bench/beam", "newton", "the same again", none, true},
      {"bench/beam:E=1e6", "newton", "a default given in words", none, true},
      {"bench/beam:E=2e6", "newton", "another parameter", none, false},
      {"bench/beam", "newton:rtol=1e-3", "another option", none, false},
      {"bench/beam", "semi-implicit", "another solver", none, false},
      {"conjac2020/twist", "newton", "another scene", none, false},
      {"bench/beam", "newton", "another seed", seeded, false},
      {"bench/beam", "newton", "other steps", {.steps = 3}, false},
      {"bench/beam", "newton", "other threads", {.thread_count = 1, .threads = {2}}, false},
      {"bench/beam", "newton", "another time limit", {.timeout = 7}, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tap_require(plan_of(cases[i].scene, cases[i].solver, cases[i].settings, 0, 0, &other),
                cases[i].name);
    bool same = strcmp(other.cases[0].identity, identity) == 0;
    tap_ok(same == cases[i].same, "identity: %s", cases[i].name);
    tap_ok((strcmp(other.cases[0].id, plan.cases[0].id) == 0) == same,
           "  and so the name of the run");
    eb_plan_clear(&other);
  }
  eb_plan_clear(&plan);
}

static void test_shards(void) {
  enum { SHARDS = 4 };
  eb_plan whole, part;
  eb_settings settings = {.repeat = 3};
  int seen[64] = {0}, total = 0;
  tap_require(plan_of("conjac2020/*", "newton", settings, 0, 0, &whole), "a plan");
  for (int s = 1; s <= SHARDS; s++) {
    tap_require(plan_of("conjac2020/*", "newton", settings, s, SHARDS, &part), "a shard");
    for (int i = 0; i < part.count; i++) seen[part.cases[i].order]++;
    total += part.count;
    eb_plan_clear(&part);
  }
  bool once = true;
  for (int i = 0; i < whole.count; i++) once = once && seen[i] == 1;
  tap_ok(once && total == whole.count, "every case of the plan is in one shard");
  eb_plan_clear(&whole);
}

/* The plan of a suite's text. */
static eb_error plan_text(const char *text, int shard, int shards, eb_plan *out) {
  char path[] = "/tmp/elastobench-suite-XXXXXX.ini";
  int file = mkstemps(path, 4);
  eb_request request = {.shard = shard, .shards = shards};
  if (file < 0 || write(file, text, strlen(text)) < 0) tap_ok(false, "a file for the suite");
  eb_error error = eb_strings_add(&request.names, path);
  if (!error) error = eb_plan_create(&request, out);
  eb_strings_clear(&request.names);
  unlink(path);
  close(file);
  return error;
}

static const char ties[] =
    "[late]\nscene = bench/beam\nsolver = newton\nfrom = early@2..4/2\nrepeat = 2\ngroup = g\n"
    "[early]\nscene = bench/beam\nsolver = newton\nsteps = 9\nfrom = first@3\n"
    "[first]\nscene = bench/beam\nsolver = semi-implicit\nsteps = 5\n"
    "[other]\nscene = bench/beam\nsolver = newton:rtol=1e-3\nfrom = first@5\nrepeat = 2\ngroup = "
    "g\n"
    "[apart]\nscene = bench/beam\nsolver = newton:rtol=1e-2\n"
    "[twice]\nscene = bench/beam\nsolver = semi-implicit\nsteps = 5\ncheckpoints = 4\n"
    "[swept]\nscene = bench/beam\nsolver = newton\nfrom = first@1\nsweep = rtol:0.1..0.3 step 0.1 "
    "stable\n";

static void test_ties(void) {
  eb_plan plan;
  tap_require(plan_text(ties, 0, 0, &plan), "a suite with ties");
  tap_ok(plan.count == 7 && plan.sweep_count == 1, "its cases, none twice");
  bool behind = true, named = true;
  for (int i = 0; i < plan.count; i++) {
    const eb_case *work = &plan.cases[i];
    behind = behind && work->donor <= i && work->order == i;
    if (work->donor) named = named && strcmp(work->from.run, plan.cases[work->donor - 1].id) == 0;
  }
  tap_ok(behind, "donors stand before the cases that start from them");
  tap_ok(named, "which know their names");
  const eb_case *first = &plan.cases[0];
  tap_ok(strstr(first->identity, " checkpoints=1,3,4,5") != NULL,
         "a donor keeps what all of them ask for");
  int at = 0;
  while (at < plan.count && !plan.cases[at].from.samples) at++;
  tap_ok(at + 1 < plan.count && plan.cases[at].steps == 2 && !plan.cases[at + 1].from.samples &&
             plan.cases[at].repetition == plan.cases[at + 1].repetition &&
             plan.cases[at].group == plan.cases[at + 1].group,
         "competitors take turns");
  tap_ok(strcmp(plan.sweeps[0].trial.from.run, first->id) == 0, "trials start from it, too");
  int twice = 0;
  bool right = plan.label_count == 8;
  for (int i = 0; i < plan.label_count; i++) {
    const eb_plan_label *label = &plan.labels[i];
    bool loose = strcmp(label->label, "first") == 0 || strcmp(label->label, "twice") == 0 ||
                 strcmp(label->label, "apart") == 0;
    twice += label->at == 0;
    right = right && (plan.cases[label->at].from.run == NULL) == loose;
  }
  tap_ok(right && twice == 2, "sections know their cases, also one that two of them have");
  eb_plan_clear(&plan);
  int shards_with = 0, cases = 0, sweeps = 0;
  for (int shard = 1; shard <= 3; shard++) {
    tap_require(plan_text(ties, shard, 3, &plan), "a shard");
    bool whole = true;
    for (int i = 0; i < plan.count; i++)
      whole = whole && (!plan.cases[i].from.run || plan.cases[i].donor > 0);
    tap_ok(whole, "shard %d has the donors of its cases", shard);
    shards_with += plan.count > 1;
    cases += plan.count;
    sweeps += plan.sweep_count;
    eb_plan_clear(&plan);
  }
  tap_ok(shards_with == 1 && cases == 7 && sweeps == 1,
         "a chain is in one shard, and nothing is lost");
}

/* The range of a grid may be shorter than its step by rounding, or none: then it has one value. */
static void test_one_value(void) {
  static const char *const grids[] = {"0.1..0.1 step 0.1", "0.1..0.10000000001 step 0.1"};
  for (int k = 0; k < 4; k++) {
    char text[200];
    eb_plan plan;
    snprintf(text, sizeof text,
             "[s]\nscene = bench/beam\nsolver = newton\nsweep = rtol:%s stable%s\n", grids[k / 2],
             k % 2 ? " scan" : "");
    tap_require(plan_text(text, 0, 0, &plan), "a sweep of one value");
    tap_ok(plan.sweep_count == 1 && plan.sweeps[0].count == 1 && plan.sweeps[0].scan == k % 2,
           "a grid of one value, %s%s", grids[k / 2], k % 2 ? ", scanned" : "");
    eb_plan_clear(&plan);
  }
}

int main(void) {
  test_one_value();
  test_settings();
  test_parse();
  test_built_in();
  test_identity();
  test_shards();
  test_ties();
  return tap_done();
}
