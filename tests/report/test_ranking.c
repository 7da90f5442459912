/* What the report and the terminal say of runs whose accuracy is known: ranked in their class
 * alone, and whatever broke a rule is named. The result file is made by hand. */
#include "harness/audit/rules.h"
#include "harness/cli/command.h"
#include "harness/cli/summary.h"
#include "harness/report/report.h"
#include "harness/results/accuracy.h"
#include "harness/results/merge.h"
#include "harness/results/write.h"
#include "problems/base/text.h"
#include "tests/support/scratch.h"

enum { STEPS = 5, RUNS = 9 };

/* One run: every step takes as long; the first, which no median has, ten times that. */
typedef struct made {
  const char *solver, *options, *equation, *audit, *rules;
  double error, milliseconds, setup, whole;
  int64_t steps;
} made;

static const made runs[RUNS] = {
    {"newton", "rtol=1e-9", "implicit Euler", "passed", "", 3e-12, 20, 1, 9, STEPS},
    {"newton", "rtol=1e-6", "implicit Euler", "passed", "", 2e-9, 10, 3, 6, STEPS},
    {"newton", "rtol=1e-4", "implicit Euler", "passed", "", 2e-7, 5, 1, 4, STEPS},
    {"semi-implicit", "linear=cg", "linearized", "passed", "", 5e-3, 3, 1, 4, STEPS},
    {"semi-implicit", "linear=cholesky", "linearized", "passed", "", 1e-3, 4.5, 1, 4, STEPS},
    {"corotational", NULL, "implicit Euler", "failed", "update,hidden-work,<made-up>", 1e-10, 1, 1,
     2, STEPS},
    {"conjac", NULL, "reduced", "passed", "", 0.4, 0.5, 1, 2, STEPS},
    {"newton", "rtol=1e-8", "static", "passed", "", 1e-10, 2, 1, 2, STEPS},
    {"newton", "rtol=1e-7", "", "passed", "", 0, 0.25, 1, 2, STEPS}};

/* ---- the file -------------------------------------------------------------------------------- */

static eb_error make_case(const made *m, int order, eb_case *work) {
  *work = (eb_case){.scene = eb_scene_find("bench/beam"),
                    .solver = eb_solver_find(m->solver),
                    .threads = 1,
                    .steps = m->steps,
                    .order = order};
  EB_TRY(eb_string_set(&work->parameters, "resolution=0.25"));
  if (m->options) EB_TRY(eb_string_set(&work->options, m->options));
  return eb_case_resolve(work, NULL);
}

static eb_error describe(const made *m, const eb_case *work, const eb_scene *scene, eb_run *run) {
  EB_TRY(eb_case_describe(work, run));
  run->nodes = run->uncut_nodes = scene->mesh->node_count;
  run->elements = scene->mesh->element_count;
  run->steps_done = m->steps;
  run->error = m->error;
  run->setup_seconds = m->setup;
  run->total_seconds = m->whole;
  if (*m->equation) {
    run->process_cpu_seconds = 6;
    run->timed_cpu_seconds = 4;
    run->untimed_cpu_seconds = 0.25;
    run->threads_alive = 7;
    run->audit_seconds = 0.75;
    run->memory_growth = 2.5 * 1048576;
    run->first_step_at = 1.25;
  }
  EB_TRY(eb_string_set(&run->scene_hash, "00000000000000aa"));
  EB_TRY(eb_string_set(&run->outcome, "completed"));
  EB_TRY(eb_string_set(&run->audit, m->audit));
  EB_TRY(eb_string_set(&run->audit_rules, m->rules));
  return eb_string_set(&run->equation, m->equation);
}

static void fill_row(const made *m, int64_t step, double row[EB_COL_COUNT]) {
  row[EB_COL_STEP] = (double)step;
  row[EB_COL_TIME] = 0.01 * (double)step;
  row[EB_COL_WALL] = 1e-3 * m->milliseconds * (step == 1 ? 10 : 1);
  row[EB_COL_REASON] = row[EB_COL_FINITE] = row[EB_COL_ITERATIONS] = 1;
  row[EB_COL_RESIDUAL_RELATIVE] = 10 * m->error + 1e-14;
  row[EB_COL_KINETIC] = row[EB_COL_ELASTIC] = (double)step;
  if (!*m->equation) return;
  row[EB_COL_EQUATION_RESIDUAL] = m->error / (double)step;
  row[EB_COL_UPDATE_ERROR] = 1.5e-9 * (double)step;
  row[EB_COL_HELD_ERROR] = 1e-12;
  row[EB_COL_BALANCE] = 3e-7;
  row[EB_COL_BALANCE_RELATIVE] = 3e-11;
  row[EB_COL_ENERGY_EXCESS] = step == 2 ? 0.5 : -0.25;
  row[EB_COL_CONTACT_COUNT] = 12;
  row[EB_COL_CONTACT_TRUE_GAP] = 2.5e-6;
}

static eb_error record(const made *m, const eb_run *run, const eb_scene *scene, const char *path) {
  eb_recorder *recorder;
  eb_step_log *log;
  EB_TRY(eb_step_log_create(4, &log));
  eb_error error = eb_recorder_create(path, -1, run, scene, &recorder);
  if (!error) error = eb_recorder_setup(recorder, log);
  for (int64_t s = 1; s <= m->steps && !error; s++) {
    double row[EB_COL_COUNT] = {0};
    fill_row(m, s, row);
    error = eb_recorder_step(recorder, row, log);
  }
  if (!error) error = eb_recorder_finish(recorder, run);
  eb_recorder_destroy(recorder);
  eb_step_log_destroy(log);
  return error;
}

static void make_run(const made *m, int order, const char *path, eb_case *work) {
  eb_scene *scene;
  eb_run run = {0};
  tap_require(make_case(m, order, work), "a case");
  tap_require(eb_scene_create(work->scene, work->parameters, NULL, "", &scene), "a scene");
  tap_require(describe(m, work, scene, &run), "the attributes");
  tap_require(record(m, &run, scene, path), "a file");
  eb_run_clear(&run);
  eb_scene_destroy(scene);
}

static void make_file(const char *path, const made *list, int count, eb_case *cases) {
  eb_strings parts = {0};
  for (int r = 0; r < count; r++) {
    char name[32];
    snprintf(name, sizeof name, "part-%d.h5", r);
    make_run(&list[r], r, in_folder(name), &cases[r]);
    tap_require(eb_strings_add(&parts, in_folder(name)), "a list");
  }
  tap_require(eb_results_collect(path, &parts, EB_MERGE_REPLACE, NULL), "one file");
  eb_strings_clear(&parts);
}

/* ---- the page -------------------------------------------------------------------------------- */

static char *text_of(const char *path) {
  eb_text text = {0};
  FILE *file = fopen(path, "r");
  char buffer[4096];
  size_t got;
  while (file && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
    tap_require(eb_text_append(&text, buffer, got), "memory");
  if (file) fclose(file);
  return text.data ? text.data : strdup("");
}

/* The rest of the page from the row of ranks of that solver on. */
static const char *row_of(const char *page, const char *label) {
  char start[200];
  snprintf(start, sizeof start, "<tr><td class=\"text\">%s</td><td class=\"text", label);
  const char *row = strstr(page, start);
  return row ? row : "";
}

/* Cell number n of a row: 1 solver, 2 outcome, 3 threads, 4 steps, 5 error, then pairs of a cost
 * and of what it is over the least. */
static void cell(const char *row, int n, char out[200]) {
  out[0] = '\0';
  for (int c = 0; c < n && row; c++) {
    row = strstr(row, "<td");
    row = row ? strchr(row, '>') + 1 : NULL;
  }
  const char *end = row ? strstr(row, "</td>") : NULL;
  if (end) snprintf(out, 200, "%.*s", (int)(end - row), row);
}

static void cell_is(const char *page, const char *label, int n, const char *wanted,
                    const char *what) {
  char got[200];
  cell(row_of(page, label), n, got);
  if (!tap_ok(strcmp(got, wanted) == 0, "%s: %s", label, what))
    printf("# got '%s', want '%s'\n", got, wanted);
}

/* Whether the texts occur in this order. */
static bool in_order(const char *page, const char *const *texts, int count) {
  for (int i = 0; i < count && page; i++) page = strstr(page, texts[i]);
  return page != NULL;
}

static void test_ranks(const char *page) {
  static const char none[] = "-";
  cell_is(page, "newton:rtol=1e-6", 7, "1.00 *", "the fastest of its class");
  cell_is(page, "newton:rtol=1e-9", 7, "2.00 *",
          "by the median without the first step; a more accurate one is on the front");
  cell_is(page, "newton:rtol=1e-9", 5, "3.0e-12", "its error");
  cell_is(page, "newton:rtol=1e-9", 8, "1.280", "set-up and all steps, the first included,");
  cell_is(page, "newton:rtol=1e-9", 9, "1.00 *", "rank by themselves");
  cell_is(page, "newton:rtol=1e-6", 9, "2.45", "over the least of the class");
  cell_is(page, "newton:rtol=1e-9", 10, "9.000", "from start to end");
  cell_is(page, "newton:rtol=1e-9", 11, "1.50 *", "over the least, and more accurate");
  cell_is(page, "newton:rtol=1e-4", 7, "1.00 *", "a coarser one is compared with none of them");
  cell_is(page, "semi-implicit:linear=cholesky", 7, "1.50 *", "nor one of another equation");
  cell_is(page, "newton:rtol=1e-8", 7, "1.00 *", "nor a static one");
  cell_is(page, "conjac", 7, none, "of order one is not ranked,");
  cell_is(page, "conjac", 5, "4.0e-01", "and shown with its error");
  cell_is(page, "newton:rtol=1e-7", 7, none, "an older file's is not ranked,");
  cell_is(page, "newton:rtol=1e-7", 5, none, "nor has it an error");
  cell_is(page, "corotational", 7, none, "whoever fails the audit is not ranked,");
  cell_is(page, "corotational", 9, none, "by no cost");
  cell_is(page, "corotational", 2,
          "completed, audit failed: <a href=\"#rule-update\">update</a>, <a "
          "href=\"#rule-hidden-work\">hidden-work</a>, &lt;made-up&gt;",
          "the broken rules stand by their names");
  const char *const order[] = {">implicit Euler, below 1e-8; 5 steps<",
                               ">newton:rtol=1e-6<",
                               ">newton:rtol=1e-9<",
                               ">corotational<",
                               ">implicit Euler, 1e-8 to 1e-6; 5 steps<",
                               ">newton:rtol=1e-4<",
                               ">linearized, 1e-4 to 1e-2; 5 steps<",
                               ">semi-implicit:linear=cg<",
                               ">semi-implicit:linear=cholesky<",
                               ">reduced, of order one; 5 steps<span",
                               ">conjac<",
                               ">static, below 1e-8; 5 steps<",
                               ">newton:rtol=1e-8<",
                               ">class unknown<span",
                               ">newton:rtol=1e-7<"};
  tap_ok(in_order(page, order, sizeof order / sizeof *order),
         "a heading a class, below it who is ranked, the fastest first, then who is not");
}

/* The rest of the page from the row of a solver in the table of that heading on. */
static const char *row_in(const char *page, const char *heading, const char *label) {
  char start[200];
  const char *table = strstr(page, heading);
  snprintf(start, sizeof start, "<td class=\"text\">%s</td>", label);
  const char *row = table ? strstr(table, start) : NULL;
  return row ? row : "";
}

static void test_other_tables(const char *page) {
  static const char *const costs = "<th class=\"text\">cost beside the clock</th>",
                           *audits = "<th class=\"text\">audits, worst of all steps</th>",
                           *contact = "<th class=\"text\">contact, worst of all steps</th>";
  static const struct {
    const char *const *table;
    const char *label;
    int cell;
    const char *wanted, *what;
  } cells[] = {{&costs, "newton:rtol=1e-9", 3, "1.25", "start to first step"},
               {&costs, "newton:rtol=1e-9", 4, "1.50", "process CPU over timed CPU"},
               {&costs, "newton:rtol=1e-9", 5, "0.250", "untimed CPU"},
               {&costs, "newton:rtol=1e-9", 6, "0.75", "audits"},
               {&costs, "newton:rtol=1e-9", 7, "7", "threads alive"},
               {&costs, "newton:rtol=1e-9", 8, "2.5", "memory growth"},
               {&costs, "newton:rtol=1e-7", 4, "-", "not told by an older file"},
               {&audits, "newton:rtol=1e-4", 2, "2.0e-07", "declared residual, worst"},
               {&audits, "newton:rtol=1e-4", 4, "2.0e-06", "implicit Euler's, worst"},
               {&audits, "newton:rtol=1e-4", 6, "7.5e-09", "update error"},
               {&audits, "newton:rtol=1e-4", 7, "1.0e-12", "held error"},
               {&audits, "newton:rtol=1e-4", 9, "3.0e-11", "momentum, relative"},
               {&audits, "newton:rtol=1e-4", 10, "5.0e-01", "energy excess of the worst step"},
               {&audits, "newton:rtol=1e-4", 11, "-5.0e-01", "and of all together"},
               {&audits, "newton:rtol=1e-7", 6, "-", "nothing of what a file does not tell"},
               {&contact, "newton:rtol=1e-4", 9, "2.5e-06", "true gap"}};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    char got[200];
    cell(row_in(page, *cells[i].table, cells[i].label), cells[i].cell, got);
    if (!tap_ok(strcmp(got, cells[i].wanted) == 0, "%s: %s", cells[i].label, cells[i].what))
      printf("# got '%s', want '%s'\n", got, cells[i].wanted);
  }
}

static void test_definitions(const char *page) {
  for (int r = 0; r < EB_RULES; r++) {
    char start[100];
    const char *name = eb_rule_name((eb_rule)r);
    snprintf(start, sizeof start, "<dt id=\"rule-%s\">%s</dt><dd>", name, name);
    const char *at = strstr(page, start);
    tap_ok(at && at[strlen(start)] != '<', "the rule '%s' has a definition", name);
  }
  tap_ok(strstr(page, "|g_e|^2 for each element's and each cluster's own contribution "
                      "before they cancel") != NULL,
         "the denominator is told as it is computed");
}

/* ---- the plots ------------------------------------------------------------------------------- */

static void check_plot(const char *stem, const char *const *wanted, int count) {
  char name[100];
  snprintf(name, sizeof name, "report/1-bench-beam-%s", stem);
  char *text = text_of(in_folder(name));
  for (int i = 0; i < count; i++)
    if (!tap_ok(strstr(text, wanted[i]) != NULL, "%s: line %d of those wanted", stem, i + 1))
      printf("# want '%s' in\n%.1500s\n", wanted[i], text);
  free(text);
}

static void test_plots(void) {
  const char *const points[] =
      {"\"x\" \"newton:rtol=1e-6\"\n10 2e-09 \"\"\n",
       "\"x\" \"corotational\"\n1 1e-10 \"update,hidden-work,<made-up>\"\n"},
                    *const script[] = {"symbols = ' 7 7 5 9 9 6 13 11'",
                                       "\"implicit Euler, below 1e-8\" \"implicit Euler, 1e-8 to "
                                       "1e-6\" \"linearized, 1e-4 to 1e-2\" \"reduced, of order "
                                       "one\" \"static, below 1e-8\" \"class unknown\"",
                                       "class_symbols = ' 7 5 9 13 11 15'"},
                    *const euler[] = {"\"x\" \"newton:rtol=1e-7\"\n0.25 1e-14 \"\"\n"},
                    *const euler_script[] = {"symbols = ' 7 7 5 9 9 6 13 11 15'"};
  check_plot("accuracy.dat", points, 2);
  check_plot("accuracy.gp", script, 3);
  check_plot("accuracy-euler.dat", euler, 1);
  check_plot("accuracy-euler.gp", euler_script, 1);
  char *drawn = text_of(in_folder("report/1-bench-beam-accuracy.svg"));
  tap_ok(strstr(drawn, "hidden-work") && strstr(drawn, "static, below 1e-8"),
         "the drawing names broken rules and classes");
  free(drawn);
  char *summary = text_of(in_folder("report/summary.dat"));
  tap_ok(strstr(summary, "\"bench/beam: implicit Euler, below 1e-8\" 20 10 nan"),
         "the summary has a group of bars a class");
  free(summary);
}

/* Paths of in_folder pass away. */
static void keep(const char *path, char kept[256]) {
  snprintf(kept, 256, "%s", path);
}

static eb_error write_report(const char *file, const char *name) {
  const eb_strings none = {0};
  const eb_report_request request = {
      .files = &file, .file_count = 1, .remarks = &none, .dir = in_folder(name)};
  return eb_report_write(&request);
}

static void test_report(const char *file) {
  tap_require(write_report(file, "report"), "a report");
  char *page = text_of(in_folder("report/index.html"));
  test_ranks(page);
  test_other_tables(page);
  test_definitions(page);
  test_plots();
  free(page);
}

/* ---- the terminal ---------------------------------------------------------------------------- */

static char *summary_of(const char *file, eb_case *cases, int count, bool json, int *code) {
  eb_plan plan = {.cases = cases, .count = count};
  FILE *out = fopen(in_folder("summary.txt"), "w");
  tap_require(eb_summary_print(&plan, file, json, out, code), "a summary");
  fclose(out);
  return text_of(in_folder("summary.txt"));
}

static void test_terminal(const char *file, eb_case *cases) {
  int code = -1;
  char *text = summary_of(file, cases, RUNS, false, &code);
  const char *const lines[] = {" 3.00e-12 ",
                               "  1/2   implicit Euler, below 1e-8\n",
                               " 2.00e-09 ",
                               "  1/2   implicit Euler, below 1e-8\n",
                               " 2.00e-07 ",
                               "  1/1   implicit Euler, 1e-8 to 1e-6\n",
                               "audit failed",
                               "  -     implicit Euler, below 1e-8\n",
                               "  broken rules: update,hidden-work,<made-up>\n",
                               " 4.00e-01 ",
                               "  -     reduced, of order one\n",
                               "  1/1   static, below 1e-8\n",
                               "  -     -\n"};
  if (!tap_ok(in_order(text, lines, sizeof lines / sizeof *lines),
              "the terminal: errors, places in a class, broken rules"))
    printf("# %s\n", text);
  tap_ok(code == EB_EXIT_AUDIT_FAILED, "and the exit code of a failed audit");
  free(text);
}

static void test_json(const char *file, eb_case *cases) {
  int code = -1;
  char *text = summary_of(file, cases, RUNS, true, &code);
  const char *const fields[] = {"\"class\": \"implicit Euler, below 1e-8\"",
                                "\"ranked\": true",
                                "\"on_front\": true",
                                "\"over_fastest\": 2.0",
                                "\"audit_rules\": \"update,hidden-work,<made-up>\"",
                                "\"total_seconds\": 2.0",
                                "\"ranked\": false",
                                "\"over_fastest\": null",
                                "\"class\": \"class unknown\"",
                                "\"ranked\": false"};
  if (!tap_ok(in_order(text, fields, sizeof fields / sizeof *fields),
              "JSON: class, whether it is ranked, and over the fastest"))
    printf("# %s\n", text);
  free(text);
}

/* Within a band: errors of 9.6e-7 and 4.2e-7 are not alike, 4.2e-7 and 4.21e-7 are. */
static void test_front(void) {
  enum { COUNT = 6 };
  static const struct {
    double error, cost;
    int place;
    const char *what;
  } ranked[COUNT] = {{9.6e-7, 1, 1, "the cheapest is on the front"},
                     {4.2e-7, 2, 1, "so is one that is more accurate for more"},
                     {4.21e-7, 2.5, 2, "an error that is told alike is no better, nor worse"},
                     {5e-7, 3, 3, "behind those that are as accurate for less, and them alone"},
                     {9.9e-7, 1.5, 2, "slower and less accurate than one is behind it"},
                     {3e-8, 9, 1, "the most accurate of all is on the front, whatever it costs"}};
  static char scene[] = "s", nothing[] = "", passed[] = "passed", completed[] = "completed",
              equation[] = "implicit Euler", names[COUNT][8];
  eb_run alike[COUNT];
  const eb_run *list[COUNT];
  double costs[COUNT];
  for (int r = 0; r < COUNT; r++) {
    snprintf(names[r], sizeof names[r], "x=%d", r);
    alike[r] = (eb_run){.scene = scene,
                        .parameters = nothing,
                        .mesh_source = nothing,
                        .solver = scene,
                        .options = names[r],
                        .outcome = completed,
                        .audit = passed,
                        .equation = equation,
                        .error = ranked[r].error,
                        .steps_done = STEPS};
    list[r] = &alike[r];
    costs[r] = ranked[r].cost;
  }
  for (int r = 0; r < COUNT; r++) {
    eb_rank rank = eb_run_rank(list, costs, COUNT, r);
    tap_ok(rank.place == ranked[r].place && rank.of == COUNT, "%s: %d of %d", ranked[r].what,
           rank.place, rank.of);
  }
  alike[0].error = 2e-15;
  alike[1].error = 1e-15;
  tap_ok(eb_run_rank(list, costs, 2, 1).place == 2, "errors that rounding makes are alike");
}

/* ---- other mixtures -------------------------------------------------------------------------- */

/* Runs over more steps of the same scene and class have another heading and other ranks; a file
 * that knows no class is reported on as well. */
static void test_steps_and_older(void) {
  static const made longer[] = {
      {"newton", "rtol=1e-9", "implicit Euler", "passed", "", 3e-12, 20, 1, 9, STEPS},
      {"newton", "rtol=1e-6", "implicit Euler", "passed", "", 2e-9, 10, 1, 9, 2 * STEPS},
      {"newton", "rtol=1e-7", "", "passed", "", 0, 5, 1, 9, STEPS}};
  eb_case cases[3];
  char file[256], older[256];
  keep(in_folder("longer.h5"), file);
  keep(in_folder("part-2.h5"), older);
  make_file(file, longer, 3, cases);
  tap_require(write_report(file, "longer"), "a report");
  char *page = text_of(in_folder("longer/index.html"));
  cell_is(page, "newton:rtol=1e-9", 7, "1.00 *", "five steps are not compared with ten");
  tap_ok(strstr(page, "below 1e-8; 5 steps") && strstr(page, "below 1e-8; 10 steps"),
         "which the headings say");
  free(page);
  tap_succeeds(write_report(older, "older"), "an older file alone is reported on");
  page = text_of(in_folder("older/index.html"));
  tap_ok(strstr(page, ">class unknown<span") && !strstr(page, "-accuracy.svg") &&
             strstr(page, "-accuracy-euler.svg"),
         "without a class, and without plots of an equation that it does not name");
  free(page);
  for (int c = 0; c < 3; c++) eb_case_clear(&cases[c]);
}

int main(void) {
  eb_case cases[RUNS];
  char file[256];
  scratch_open();
  keep(in_folder("ranked.h5"), file);
  make_file(file, runs, RUNS, cases);
  test_report(file);
  test_terminal(file, cases);
  test_json(file, cases);
  test_steps_and_older();
  test_front();
  for (int c = 0; c < RUNS; c++) eb_case_clear(&cases[c]);
  return scratch_close();
}
