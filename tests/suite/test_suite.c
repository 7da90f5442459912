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

/* Lines of any length, marks and comments of editors, loops in labels. */
static void test_lines(void) {
  eb_suite *suite = NULL;
  eb_text text = {0};
  tap_require(eb_text_printf(&text,
                             "\xef\xbb\xbf# a comment\r\n[beam {n} for n in 1 2]\r\n"
                             "scene = bench/beam:E={n}e5,nu=%.300f\r\n  conjac2020/twist ; more\r\n"
                             "  # an indented comment\r\nsolver = newton\r\n[none]\r\n",
                             0.25),
              "a text");
  tap_require(eb_suite_parse("text", text.data, &suite), "a suite of long lines");
  tap_ok(suite->count == 2 && strcmp(suite->sections[1].label, "beam 2") == 0,
         "a section for each turn of a loop, none for one without entries");
  const eb_strings *scenes = &suite->sections[1].scenes;
  tap_ok(scenes->count == 2 && strncmp(scenes->items[0], "bench/beam:E=2e5", 16) == 0,
         "its words are replaced, and an indented line is another value");
  tap_ok(strlen(scenes->items[0]) > 300 && strcmp(scenes->items[1], "conjac2020/twist") == 0,
         "values are whole, without comments");
  eb_suite_destroy(suite);
  eb_text_clear(&text);
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

static const char dependencies[] =
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
  tap_require(plan_text(dependencies, 0, 0, &plan), "a suite with ties");
  tap_ok(plan.count == 7 && plan.sweep_count == 1, "its cases, none twice");
  bool behind = true, named = true;
  for (int i = 0; i < plan.count; i++) {
    const eb_case *work = &plan.cases[i];
    behind = behind && work->source_run <= i && work->order == i;
    if (work->source_run)
      named = named && strcmp(work->from.run, plan.cases[work->source_run - 1].id) == 0;
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
    tap_require(plan_text(dependencies, shard, 3, &plan), "a shard");
    bool whole = true;
    for (int i = 0; i < plan.count; i++)
      whole = whole && (!plan.cases[i].from.run || plan.cases[i].source_run > 0);
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
    tap_ok(plan.sweep_count == 1 && plan.sweeps[0].axis.count == 1 && plan.sweeps[0].scan == k % 2,
           "a grid of one value, %s%s", grids[k / 2], k % 2 ? ", scanned" : "");
    eb_plan_clear(&plan);
  }
}

/* ---- grids ----------------------------------------------------------------------------------- */

static void test_axes(void) {
  eb_axis axis;
  eb_text text = {0};
  tap_require(eb_axis_parse("nu:0.3|0.4|0.49", &axis), "a list");
  tap_ok(axis.count == 3 && eb_axis_put(&axis, 2, &text) == EB_OK, "has three values");
  eb_axis_clear(&axis);
  tap_require(eb_axis_parse("nu:0.1..0.3 step 0.1", &axis), "a range");
  tap_ok(axis.count == 3 && eb_axis_put(&axis, 2, &text) == EB_OK, "has both ends");
  tap_ok(strcmp(text.data, "0.490.3") == 0, "as text, without the rounding of a sum");
  eb_axis_clear(&axis);
  eb_text_clear(&text);
  static const struct {
    const char *value, *words;
  } bad[] = {{"E", "sweep wants OPTION:A|B|C or"},
             {":1|2", "sweep wants"},
             {"E:", "sweep wants"},
             {"E:1..2", "sweep wants"},
             {"E:1 step 2", "sweep wants"},
             {"E:1e5||2e5", "an empty value"},
             {"E:1e5|1e5", "has 1e5 twice"},
             {"E:2..1 step 1", "ends before it begins"},
             {"E:1..2 step 0.3", "there is no 2"},
             {"E:1..2 step 0", "step of sweep"},
             {"E:1..x step 1", "wants a number"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    tap_fails(eb_axis_parse(bad[i].value, &axis), EB_ERR_USAGE, bad[i].words, bad[i].value);
}

static const char grid_text[] =
    "[one]\nscene = bench/beam:E=100000,nu=0.3\nsolver = newton\n"
    "[g]\nscene = bench/beam\nsolver = newton\nsolver = semi-implicit\nrepeat = 2\nthreads = 1 2\n"
    "sweep = E:1e5..3e5 step 1e5\nsweep = nu:0.3|0.4\n";

static eb_error plan_grid(const char *text, bool grids, int shard, int shards, eb_plan *out) {
  eb_suite *suite;
  eb_error error = eb_suite_parse("text", text, &suite);
  if (error) return error;
  const eb_request request = {.suite = suite, .grids = grids, .shard = shard, .shards = shards};
  error = eb_plan_create(&request, out);
  eb_suite_destroy(suite);
  return error;
}

/* Every case of the plan is in one shard, with the number that it has in the whole; the solvers of
 * a point are together; no shard has two points more than another. */
static void test_grid_shards(const eb_plan *whole, int shards) {
  enum { CASES = 48, POINT = 4 };
  int seen[CASES + 1] = {0}, wrong = 0, least = CASES, most = 0;
  for (int s = 1; s <= shards; s++) {
    eb_plan part;
    tap_require(plan_grid(grid_text, true, s, shards, &part), "a shard");
    int count = (int)eb_product_count(&part.grids[0]);
    wrong += part.hash != whole->hash || part.wanted != CASES + 1 || count % POINT != 0;
    for (int i = 0; i < count; i++) {
      eb_case work, same;
      tap_require(eb_product_case(&part.grids[0], i, &work), "its case");
      tap_require(eb_product_case(&whole->grids[0], work.order - 1, &same), "that of the whole");
      seen[work.order]++;
      wrong += strcmp(work.identity, same.identity) != 0 || work.group % shards != s - 1;
      eb_case_clear(&work);
      eb_case_clear(&same);
    }
    for (int i = 0; i < part.count; i++) seen[part.cases[i].order]++;
    if (count < least) least = count;
    if (count > most) most = count;
    eb_plan_clear(&part);
  }
  for (int i = 0; i <= CASES; i++) wrong += seen[i] != 1;
  tap_ok(wrong == 0, "%d shards have every case once", shards);
  tap_ok(most - least <= POINT, "and differ by a point at most");
}

static void test_grids(void) {
  eb_plan whole, flat;
  tap_require(plan_grid(grid_text, true, 0, 0, &whole), "a grid");
  tap_ok(whole.count == 1 && whole.grid_count == 1 && eb_plan_size(&whole) == 49,
         "3 x 2 points, 2 thread counts, 2 repetitions, 2 solvers, and another case");
  for (int shards = 1; shards <= 20; shards += shards < 4 ? 1 : 8) test_grid_shards(&whole, shards);
  tap_require(plan_grid(grid_text, false, 0, 0, &flat), "the same as cases");
  tap_ok(flat.count == 48 && flat.grid_count == 0, "none twice: the other one is a point");
  int found = 0;
  for (int i = 0; i < 48; i++) {
    eb_case work;
    tap_require(eb_product_case(&whole.grids[0], i, &work), "a case");
    for (int k = 0; k < flat.count; k++)
      found += strcmp(flat.cases[k].identity, work.identity) == 0;
    eb_case_clear(&work);
  }
  tap_ok(found == 48, "which are the points");
  eb_plan_clear(&flat);
  eb_plan_clear(&whole);
}

static void test_bad_grids(void) {
  static const char head[] = "[a]\nscene = bench/beam\nsolver = newton\nsteps = 3\n"
                             "[g]\nscene = bench/beam\nsolver = newton\n";
  static const struct {
    const char *lines, *words;
  } bad[] = {{"sweep = E:1|2\nsweep = E:3|4\n", "there are two of 'E'"},
             {"sweep = colour:red|blue\n", "neither newton nor bench/beam has an option 'colour'"},
             {"sweep = E:1e5|red\n", "red"},
             {"sweep = E:1e5|2e5\ngroup = g\n", "'group' would keep all of them in one"},
             {"sweep = E:1e5|2e5\nfrom = a@1\n", "a donor in the suite would keep"},
             {"sweep = E:1e5|2e5\nsweep = rtol:0.1..0.2 step 0.1 stable\n", "make two of it"},
             {"sweep = E:1..1e6 step 1\nsweep = rho:1..1e6 step 1\n", "cases are more than"},
             {"sweep = E:1e5|2e5\n[d]\nscene = bench/beam\nsolver = newton\nfrom = g@1\n",
              "has 2 cases, and a case starts from one"}};
  char text[600];
  eb_plan plan;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(text, sizeof text, "%s%s", head, bad[i].lines);
    tap_fails(plan_grid(text, true, 0, 0, &plan), EB_ERR_USAGE, bad[i].words, bad[i].words);
  }
  snprintf(text, sizeof text, "%ssweep = E:1..1001 step 1\n", head);
  tap_fails(plan_grid(text, false, 0, 0, &plan), EB_ERR_USAGE, "at most 1000 cases of a grid",
            "a large grid where all cases are wanted at once");
}

/* ---- suites of strangers --------------------------------------------------------------------- */

static eb_error plan_foreign(const char *solver, bool allowed, const char *own) {
  char text[400];
  eb_suite *suite = NULL;
  eb_plan plan = {0};
  snprintf(text, sizeof text, "[a]\nscene = bench/beam\nsolver = %s\nsteps = 3\n", solver);
  eb_error error = eb_suite_parse("text", text, &suite);
  if (error) return error;
  suite->foreign = true;
  eb_request request = {.suite = suite, .allow_external = allowed};
  if (own) error = eb_strings_add(&request.solvers, own);
  if (!error) error = eb_plan_create(&request, &plan);
  eb_plan_clear(&plan);
  eb_strings_clear(&request.solvers);
  eb_suite_destroy(suite);
  return error;
}

/* Solvers of a file compute; those of the command line, or of a file that is trusted, may do what
 * they like. */
static void test_foreign(void) {
  static const char *const harmless[] = {
      "newton",
      "newton:linear=petsc,petsc=-ksp_type cg -pc_type gamg -pc_gamg_threshold -1",
      "newton:linear=petsc,petsc=-ksp_type gmres -ksp_gmres_restart 50 -ksp_rtol 1e-9",
      "newton:linear=petsc,petsc=-mg_levels_ksp_type chebyshev -mg_levels_pc_type sor",
      "newton:linear=petsc,petsc=-mg_coarse_sub_pc_type lu -ksp_norm_type unpreconditioned",
      "newton:linear=petsc,petsc=-pc_type cholesky -pc_factor_mat_solver_type mumps",
      "newton:linear=petsc,petsc=-mat_type sbaij -pc_type jacobi",
      "newton:linear=petsc,petsc=-pc_gamg_esteig_ksp_max_it 20 -pc_factor_mat_ordering_type nd"};
  static const char *const reaching[] = {
      "external:touch trap",
      "external:hello=3,sh -c 'touch trap'",
      "newton:linear=petsc,petsc=-ksp_view ascii:trap",
      "newton:linear=petsc,petsc=-ksp_type cg -ksp_view",
      "newton:linear=petsc,petsc=-ksp_monitor :trap",
      "newton:linear=petsc,petsc=-ksp_converged_reason :trap",
      "newton:linear=petsc,petsc=-log_view :trap",
      "newton:linear=petsc,petsc=-options_file trap",
      "newton:linear=petsc,petsc=-dll_append trap.so",
      "newton:linear=petsc,petsc=-pc_type python -pc_python_type trap",
      "newton:linear=petsc,petsc=-pc_type python",
      "newton:linear=petsc,petsc=-pc_mg_dump_binary trap",
      "newton:linear=petsc,petsc=-mat_view_ksp_type cg",
      "newton:linear=petsc,petsc=-mat_mumps_ooc_tmpdir /tmp",
      "newton:linear=petsc,petsc=-mat_mumps_icntl_22 1",
      "newton:linear=petsc,petsc=-pc_type ../trap",
      "newton:linear=petsc,petsc=-ksp_type cg:trap",
      "newton:linear=petsc,petsc=x-ksp_view :trap",
      "newton:linear=petsc,petsc=-ksp_type cg cg",
      "newton:linear=petsc,petsc=-KSP_VIEW trap",
      "newton:linear=petsc,petsc=-pc_gamg_esteig_KSP_VIEW trap",
      "newton:linear=petsc,petsc=-pc_gamg_esteig_ksp_converged_rate binary",
      "newton:linear=petsc,petsc=-pc_mg_mat_null_space_test",
      "newton:petsc=-ksp_view :trap"};
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
    tap_succeeds(plan_foreign(harmless[i], false, NULL), harmless[i]);
  for (size_t i = 0; i < sizeof reaching / sizeof *reaching; i++) {
    tap_fails(plan_foreign(reaching[i], false, NULL), EB_ERR_USAGE, "--allow-external",
              reaching[i]);
    tap_succeeds(plan_foreign(reaching[i], true, NULL), "is a matter of trust");
  }
  tap_fails(plan_foreign("newton\nsweep = petsc:-ksp_type cg|-ksp_view :trap", false, NULL),
            EB_ERR_USAGE, "--allow-external", "values of a sweep are no way round");
  tap_succeeds(plan_foreign(reaching[0], false, "newton"), "what -s replaces starts nothing");
  tap_succeeds(plan_foreign("newton", false, reaching[0]), "what it names is the user's own");
}

/* Names of sections become names in files and on pages. */
static void test_section_words(void) {
  static const char *const names[] = {"`x`", "../x", "a'b", "< x", "a/b", "-a", "1a"};
  char text[200];
  eb_suite *suite;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(text, sizeof text, "[%s]\nscene = bench/beam\nsolver = newton\n", names[i]);
    tap_fails(eb_suite_parse("text", text, &suite), EB_ERR_FORMAT, "no name for a section",
              names[i]);
  }
}

/* Threads, repetitions and solvers multiply. */
static void test_asked(void) {
  eb_plan plan;
  tap_fails(plan_grid("[a]\nscene = bench/beam\nsolver = newton\nsolver = semi-implicit\n"
                      "threads = 1 2 3 4\nrepeat = 10000\n",
                      true, 0, 0, &plan),
            EB_ERR_FORMAT, "this asks for 80000 cases", "a suite of very many cases");
  eb_text text = {0};
  for (int s = 0; s < 11; s++)
    tap_require(
        eb_text_printf(&text, "[s%d]\nscene = bench/beam\nsolver = newton\nrepeat = 1000\n", s),
        "sections");
  tap_fails(plan_grid(text.data, true, 0, 0, &plan), EB_ERR_FORMAT, "this asks for 1000 cases",
            "however often it is the same ones");
  eb_text_clear(&text);
}

/* A plan of a million takes no more room than one of ten; any case is made from its number. */
static void test_million(void) {
  eb_plan plan;
  eb_case work;
  tap_require(plan_grid("[g]\nscene = bench/beam\nsolver = newton\n"
                        "sweep = E:1e5..1000e5 step 1e5\nsweep = nu:0.0001..0.1 step 0.0001\n",
                        true, 4, 7, &plan),
              "a shard of a million cases");
  tap_ok(plan.wanted == 1000000 && eb_plan_size(&plan) == 142857, "a seventh of them");
  tap_require(eb_product_case(&plan.grids[0], 142856, &work), "the last one");
  tap_ok(work.order == 3 + 142856 * 7 && strstr(work.all_parameters, "E=100000000,nu=0.0996"),
         "is at its place in the product");
  eb_case_clear(&work);
  eb_plan_clear(&plan);
}

int main(void) {
  test_axes();
  test_grids();
  test_bad_grids();
  test_million();
  test_foreign();
  test_section_words();
  test_asked();
  test_one_value();
  test_settings();
  test_parse();
  test_lines();
  test_built_in();
  test_identity();
  test_shards();
  test_ties();
  return tap_done();
}
