/* Result files: what is written is what is read; damage is found; merging is atomic and refuses
 * what is not comparable. */
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/execute.h"
#include "harness/environment.h"
#include "harness/results/export.h"
#include "harness/results/merge.h"
#include "harness/results/write.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/base/sanitizer.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static eb_error make_case(const char *solver, int repetition, eb_case *work) {
  *work = (eb_case){.scene = eb_scene_find("bench/beam"),
                    .solver = eb_solver_find(solver),
                    .threads = 1,
                    .repetition = repetition,
                    .steps = 3,
                    .order = repetition};
  EB_TRY(eb_string_set(&work->parameters, "resolution=0.25"));
  return eb_case_resolve(work, NULL);
}

/* ---- writing and reading --------------------------------------------------------------------- */

typedef struct written {
  eb_case work;
  eb_run run;
  eb_scene *scene;
  eb_state *state;
  eb_step_log *log;
} written;

static eb_error prepare(written *w) {
  EB_TRY(make_case("newton", 0, &w->work));
  EB_TRY(eb_case_describe(&w->work, &w->run));
  EB_TRY(eb_scene_create(w->work.scene, w->work.parameters, NULL, "", &w->scene));
  w->run.nodes = w->scene->mesh->node_count;
  EB_TRY(eb_string_set(&w->run.scene_hash, "00000000000000aa"));
  EB_TRY(eb_string_set(&w->run.detail, "\xc3\xa4 \"quoted\" <text>\nand a second line"));
  EB_TRY(eb_state_create(w->scene, &w->state));
  return eb_step_log_create(4, &w->log);
}

/* Step s: numbers that are known afterwards, s residuals, of which the log keeps four. */
static eb_error put_step(written *w, eb_recorder *recorder, int s) {
  double row[EB_COL_COUNT];
  for (int i = 0; i < EB_COL_COUNT; i++) row[i] = s;
  row[EB_COL_WALL] = 0.125 * s;
  row[EB_COL_REASON] = -s;
  eb_step_log_reset(w->log);
  for (int k = 0; k < s; k++) eb_log_residual(w->log, 10.0 * s + k);
  w->log->phase_seconds[EB_PHASE_FACTOR] = 0.5 * s;
  w->log->own_norm = "some norm";
  eb_log_count(w->log, EB_COUNT_SOLVES, s);
  EB_TRY(eb_recorder_step(recorder, row, w->log));
  w->state->x[0] = s;
  w->state->time = 0.1 * s;
  w->state->step = s;
  return eb_recorder_frame(recorder, &(eb_frame){.state = w->state});
}

enum { STEPS = 6 };

static eb_error put_all(written *w, const char *path) {
  eb_recorder *recorder;
  EB_TRY(eb_recorder_create(path, -1, &w->run, w->scene, &recorder));
  eb_error error = eb_recorder_setup(recorder, w->log);
  for (int s = 1; s <= STEPS && !error; s++) {
    double turned[EB_ROTATION_COLUMNS] = {1, s, 2 * s, 0, NAN};
    error = put_step(w, recorder, s);
    /* The third step is the first with rotations, and the fifth has none. */
    if (!error && s >= 3 && s != 5) error = eb_recorder_row(recorder, EB_ROTATION_GROUP, turned);
    if (!error && s % 2) error = eb_recorder_commit(recorder);
  }
  w->run.steps_done = STEPS;
  if (!error) error = eb_recorder_number(recorder, EB_NUMBER_EMBEDDING_MOST, NULL, 4);
  if (!error) error = eb_recorder_number(recorder, EB_NUMBER_SUBSPACE_DENSITY, "bone", 0.5);
  if (!error) error = eb_recorder_finish(recorder, &w->run);
  eb_recorder_destroy(recorder);
  return error;
}

static void check_columns(const eb_results *results) {
  double *wall, *reason, *factor, *solves;
  size_t count[4];
  tap_require(eb_results_steps(results, 0, EB_COL_WALL, &wall, &count[0]), "wall");
  tap_require(eb_results_steps(results, 0, EB_COL_REASON, &reason, &count[1]), "reason");
  tap_require(eb_results_read(results, 0, "phases/factor", &factor, &count[2]), "factor");
  tap_require(eb_results_read(results, 0, "counters/solves", &solves, &count[3]), "solves");
  bool good = true;
  for (int i = 0; i < 4; i++) good = good && count[i] == STEPS;
  for (int s = 1; s <= STEPS && good; s++)
    good = wall[s - 1] == 0.125 * s && reason[s - 1] == -s && factor[s - 1] == 0.5 * s &&
           solves[s - 1] == s;
  tap_ok(good, "columns, phases and counters are read as written");
  free(wall);
  free(reason);
  free(factor);
  free(solves);
  tap_fails(eb_results_read(results, 0, "steps/colour", &wall, &count[0]), EB_ERR_LIBRARY,
            "steps/colour", "a column that there is not");
}

static void check_rotations(const eb_results *results) {
  double *turn, *off, embedding, density, none;
  size_t count[2];
  tap_require(eb_results_read(results, 0, "rotation/turn_max", &turn, &count[0]), "turn_max");
  tap_require(eb_results_read(results, 0, "rotation/off_svd", &off, &count[1]), "off_svd");
  bool good = count[0] == STEPS && count[1] == STEPS;
  for (int s = 1; s <= STEPS && good; s++)
    good = s < 3 || s == 5 ? isnan(turn[s - 1]) && isnan(off[s - 1])
                           : turn[s - 1] == s && off[s - 1] == 2 * s;
  tap_ok(good, "rotations are NaN in steps that have none");
  free(turn);
  free(off);
  tap_require(eb_results_number(results, 0, "embedding/iterations_max", &embedding), "embedding");
  tap_require(eb_results_number(results, 0, "subspace/density/bone", &density), "density");
  tap_require(eb_results_number(results, 0, "embedding/error_max", &none), "none");
  tap_ok(embedding == 4 && density == 0.5 && isnan(none), "numbers of groups are read as written");
}

static void check_residuals(const eb_results *results) {
  eb_residuals r;
  tap_require(eb_results_residuals(results, 0, &r), "residuals");
  bool good = r.steps == STEPS && strcmp(r.norm, "some norm") == 0;
  for (size_t s = 0; s < r.steps && good; s++) {
    int64_t kept = (int64_t)s + 1 < 4 ? (int64_t)s + 1 : 4;
    good = r.offsets[s + 1] - r.offsets[s] == kept;
    for (int64_t k = 0; k < kept && good; k++)
      good = r.values[r.offsets[s] + k] == 10.0 * (double)(s + 1) + (double)k;
  }
  tap_ok(good, "ragged residuals are read as written, as many as were kept");
  eb_residuals_clear(&r);
}

static void check_frames(const eb_results *results, const eb_scene *scene) {
  size_t count;
  float *frame;
  tap_require(eb_results_frame_count(results, 0, &count), "frames");
  tap_ok(count == STEPS, "as many frames as were written");
  tap_require(eb_results_frame(results, 0, 4, &frame), "a frame");
  bool good = frame[0] == 5;
  for (int32_t i = 1; i < 3 * scene->mesh->node_count; i++)
    good = good && frame[i] == (float)scene->x0[i];
  tap_ok(good, "a frame is read as written");
  free(frame);
  tap_fails(eb_results_frame(results, 0, STEPS, &frame), EB_ERR_USAGE, "no frame 6",
            "a frame that there is not");
}

static void check_mesh(const eb_results *results, const eb_scene *scene) {
  eb_mesh *mesh;
  eb_result_surface surface;
  const eb_mesh *old = scene->mesh;
  tap_require(eb_results_mesh(results, 0, &mesh), "mesh");
  bool good = mesh->node_count == old->node_count && mesh->element_count == old->element_count &&
              memcmp(mesh->X, old->X, 3 * sizeof(double) * (size_t)old->node_count) == 0 &&
              memcmp(mesh->elements, old->elements,
                     (size_t)old->type * sizeof(int32_t) * (size_t)old->element_count) == 0 &&
              strcmp(mesh->region_name[0], old->region_name[0]) == 0;
  tap_ok(good, "the mesh is read as written");
  eb_mesh_destroy(mesh);
  tap_require(eb_results_surface(results, 0, &surface), "surface");
  tap_ok(surface.triangle_count == scene->surface->triangle_count, "so is its surface");
  eb_result_surface_clear(&surface);
}

static void test_round_trip(void) {
  written w = {0};
  eb_results *results;
  const char *path = in_folder("round.h5");
  tap_require(prepare(&w), "preparation");
  tap_require(put_all(&w, path), "writing");
  tap_require(eb_results_open(path, &results), "opening");
  const eb_run *run = eb_results_run(results, 0);
  tap_ok(eb_results_count(results) == 1 && strcmp(run->id, w.run.id) == 0, "one run of that name");
  tap_ok(strcmp(run->detail, w.run.detail) == 0, "texts survive quotes, lines and UTF-8");
  tap_ok(run->steps_done == STEPS && run->threads == 1, "numbers too");
  tap_ok(eb_results_find(results, w.run.identity) == 0 && eb_results_find(results, "x") == -1,
         "runs are found by identity");
  check_columns(results);
  check_rotations(results);
  check_residuals(results);
  check_frames(results, w.scene);
  check_mesh(results, w.scene);
  eb_results_close(results);
  eb_step_log_destroy(w.log);
  eb_state_destroy(w.state);
  eb_scene_destroy(w.scene);
  eb_run_clear(&w.run);
  eb_case_clear(&w.work);
}

/* A process that dies between two commits leaves a file with the rows up to the last one. */
static void test_cut_off(void) {
  written w = {0};
  eb_recorder *recorder;
  eb_results *results;
  double *steps;
  size_t count = 0;
  const char *path = in_folder("live.h5"), *copy = in_folder("copy.h5");
  char command[600];
  tap_require(prepare(&w), "preparation");
  tap_require(eb_recorder_create(path, -1, &w.run, w.scene, &recorder), "a recorder");
  for (int s = 1; s <= 4; s++) {
    tap_require(put_step(&w, recorder, s), "a step");
    if (s == 3) tap_require(eb_recorder_commit(recorder), "a commit");
  }
  snprintf(command, sizeof command, "cp %s %s", path, copy);
  tap_ok(system(command) == 0, "a copy of the file while it is being written");
  if (tap_succeeds(eb_results_open(copy, &results), "is readable")) {
    tap_succeeds(eb_results_steps(results, 0, EB_COL_STEP, &steps, &count), "  with its steps");
    tap_ok(count == 3, "  up to the last commit");
    free(steps);
    eb_results_close(results);
  }
  eb_recorder_destroy(recorder);
  eb_step_log_destroy(w.log);
  eb_state_destroy(w.state);
  eb_scene_destroy(w.scene);
  eb_run_clear(&w.run);
  eb_case_clear(&w.work);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Every truncation of a result file is an error or, when only data at the end is cut, an error
 * later; never a crash. */
static void test_truncated(void) {
  FILE *file = fopen(in_folder("round.h5"), "rb");
  static char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  int refused = 0, tried = 0;
  for (size_t length = 0; length < size; length += size / 61 + 1) {
    eb_results *results;
    const char *path = in_folder("truncated.h5");
    FILE *cut = fopen(path, "wb");
    fwrite(bytes, 1, length, cut);
    fclose(cut);
    eb_error error = eb_results_open(path, &results);
    tried++;
    refused += error != EB_OK;
    eb_error_free(error);
    eb_results_close(results);
  }
  tap_ok(refused == tried && tried > 30, "each of %d truncated files is refused", tried);
}

/* Replaces a dataset by integers. */
static eb_error replace_with(hid_t file, const char *path, eb_h5_shape shape, const int32_t *data) {
  if (H5Ldelete(file, path, H5P_DEFAULT) < 0) return eb_h5_error("cannot delete", path);
  return eb_h5_put(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, shape, "1", data);
}

typedef enum damage {
  OFFSETS_DECREASE,
  OFFSETS_BEYOND,
  NO_COLUMN,
  NODE_BEYOND,
  REGION_BEYOND,
  SURFACE_SHORT,
  SURFACE_BEYOND,
  FRAMES_FLAT,
  NO_MESH,
  WRONG_ATTRIBUTE,
  NO_RUNS,
  DAMAGES
} damage;

static const char *const fragments[DAMAGES] = {"offsets do not fit",
                                               "offsets do not fit",
                                               "steps/wall",
                                               "element 0 has node 1000000",
                                               "element 0 has region 7 of 1",
                                               "surface_region has 1 rows",
                                               "triangle 0 has node 1000000",
                                               "does not have 3 axes",
                                               "cannot open",
                                               "scene has another type",
                                               "no group /runs"};

static eb_error do_damage(damage which, hid_t file, const char *run, int32_t elements) {
  static const int32_t decreasing[STEPS + 1] = {0, 3, 2, 4, 5, 6, 7};
  static const int32_t beyond[STEPS + 1] = {0, 1, 2, 3, 4, 5, 1 << 20};
  const char *mesh = "scenes/00000000000000aa/mesh";
  char path[300];
  int32_t *numbers;
  EB_TRY(EB_NEW(numbers, 4 * (size_t)elements));
  numbers[0] = which == REGION_BEYOND ? 7 : 1000000;
  eb_error error = EB_OK;
  bool offsets = which == OFFSETS_DECREASE || which == OFFSETS_BEYOND;
  snprintf(path, sizeof path, "%s/%s",
           offsets || which == NO_COLUMN || which == FRAMES_FLAT ? run : mesh,
           offsets                   ? "residuals/offsets"
           : which == NO_COLUMN      ? "steps/wall"
           : which == NODE_BEYOND    ? "tetrahedra"
           : which == REGION_BEYOND  ? "region"
           : which == SURFACE_SHORT  ? "surface_region"
           : which == SURFACE_BEYOND ? "surface"
                                     : "frames/positions");
  if (offsets)
    error = replace_with(file, path, (eb_h5_shape){1, {STEPS + 1}},
                         which == OFFSETS_BEYOND ? beyond : decreasing);
  else if (which == NODE_BEYOND)
    error = replace_with(file, path, (eb_h5_shape){2, {(hsize_t)elements, 4}}, numbers);
  else if (which == REGION_BEYOND)
    error = replace_with(file, path, (eb_h5_shape){1, {(hsize_t)elements}}, numbers);
  else if (which == SURFACE_BEYOND)
    error = replace_with(file, path, (eb_h5_shape){2, {176, 3}}, numbers);
  else if (which == SURFACE_SHORT || which == FRAMES_FLAT)
    error = replace_with(file, path, (eb_h5_shape){1, {1}}, numbers);
  else if (which == WRONG_ATTRIBUTE) {
    hid_t group = H5Gopen2(file, run, H5P_DEFAULT);
    error = eb_h5_put_int(group, "scene", 3);
    H5Gclose(group);
  } else {
    H5Ldelete(file, which == NO_RUNS ? "runs" : which == NO_MESH ? mesh : path, H5P_DEFAULT);
  }
  free(numbers);
  return error;
}

/* Everything that a report would read. */
static eb_error read_everything(const eb_results *results) {
  double *wall = NULL;
  size_t count;
  float *frame = NULL;
  eb_mesh *mesh = NULL;
  eb_residuals residuals = {0};
  eb_result_surface surface = {0};
  eb_error error = eb_results_steps(results, 0, EB_COL_WALL, &wall, &count);
  if (!error) error = eb_results_residuals(results, 0, &residuals);
  if (!error) error = eb_results_frame(results, 0, 0, &frame);
  if (!error) error = eb_results_mesh(results, 0, &mesh);
  if (!error) error = eb_results_surface(results, 0, &surface);
  free(wall);
  free(frame);
  eb_mesh_destroy(mesh);
  eb_residuals_clear(&residuals);
  eb_result_surface_clear(&surface);
  return error;
}

/* A file that HDF5 finds good, but whose content breaks our rules, is refused with the place
 * named. */
static void test_inconsistent(void) {
  char command[600], run[300];
  const char *good = in_folder("round.h5"), *bad = in_folder("bad.h5");
  eb_results *results;
  eb_mesh *mesh;
  tap_require(eb_results_open(good, &results), "the good file");
  tap_succeeds(read_everything(results), "the good file is read");
  snprintf(run, sizeof run, "runs/%s", eb_results_run(results, 0)->id);
  tap_require(eb_results_mesh(results, 0, &mesh), "its mesh");
  int32_t elements = mesh->element_count;
  eb_mesh_destroy(mesh);
  eb_results_close(results);
  snprintf(command, sizeof command, "cp %s %s", good, bad);
  for (int d = 0; d < DAMAGES; d++) {
    hid_t file;
    tap_ok(system(command) == 0, "a copy");
    tap_require(eb_h5_open_file(bad, true, &file), "the copy");
    tap_require(do_damage((damage)d, file, run, elements), "damage");
    tap_require(eb_h5_close_file(file, bad), "closing");
    eb_error error = eb_results_open(bad, &results);
    if (!error) error = read_everything(results);
    tap_ok(error && strstr(eb_error_message(error), fragments[d]), "refused: %s (%s)", fragments[d],
           eb_error_message(error));
    eb_error_free(error);
    eb_results_close(results);
  }
}

/* Texts that a spreadsheet would take for formulas, in cells that open with them and in others. */
static void test_formulas(void) {
  written w = {0};
  eb_results *results;
  char *text = NULL;
  size_t bytes;
  const eb_strings all = {0};
  tap_require(prepare(&w), "preparation");
  tap_require(eb_string_set(&w.run.parameters, "\t=cmd|'/c calc'!A1,\"b\"\r\nc\x7f"), "a formula");
  tap_require(eb_string_set(&w.run.options, "a=-1"), "a text that only holds one");
  tap_require(eb_string_set(&w.run.solver, "@SUM(1)"), "another");
  tap_require(put_all(&w, in_folder("formulas.h5")), "a file");
  tap_require(eb_results_open(in_folder("formulas.h5"), &results), "is read");
  FILE *out = open_memstream(&text, &bytes);
  tap_require(eb_export_csv(results, &all, out), "exported");
  fclose(out);
  tap_ok(strstr(text, ",\"'=cmd|'/c calc'!A1,\"\"b\"\"?c?\",") != NULL,
         "CSV: an apostrophe before =, controls shown, ends of lines gone, quotes doubled");
  tap_ok(strstr(text, "\"'@SUM(1)\",\"a=-1\",") != NULL,
         "CSV: before @ too, and not inside a text");
  tap_ok(strstr(text, ",-1,") != NULL, "CSV: numbers keep their signs");
  free(text);
  eb_results_close(results);
  eb_step_log_destroy(w.log);
  eb_state_destroy(w.state);
  eb_scene_destroy(w.scene);
  eb_run_clear(&w.run);
  eb_case_clear(&w.work);
}

/* ---- whole cases and merging ----------------------------------------------------------------- */

static eb_error run_case(const char *solver, int repetition, const char *environment,
                         const char *path) {
  eb_case work;
  eb_error error = make_case(solver, repetition, &work);
  if (!error) error = eb_case_execute(&work, environment, path);
  eb_case_clear(&work);
  return error;
}

static eb_error set_fact(const char *path, const char *name, const char *value) {
  hid_t file;
  EB_TRY(eb_h5_open_file(path, true, &file));
  hid_t group = H5Gopen2(file, "environment", H5P_DEFAULT);
  eb_error error = strcmp(name, "dirty") == 0 ? eb_h5_put_int(group, name, atoi(value))
                                              : eb_h5_put_text(group, name, value);
  H5Gclose(group);
  eb_error closing = eb_h5_close_file(file, path);
  return error ? error : closing;
}

static eb_error comparable(const char *a, const char *b) {
  eb_results *left, *right;
  EB_TRY(eb_results_open(a, &left));
  EB_TRY(eb_results_open(b, &right));
  eb_error error = eb_results_comparable(left, right);
  eb_results_close(left);
  eb_results_close(right);
  return error;
}

static void test_comparable(void) {
  eb_rates rates = {0};
  const char *a = in_folder("a.h5"), *b = in_folder("b.h5");
  tap_require(eb_environment_write(a, "elastobench", &rates), "an environment");
  tap_require(eb_environment_write(b, "elastobench", &rates), "another");
  tap_succeeds(comparable(a, b), "the same program on the same machine is comparable");
  static const char *const facts[] = {"cpu", "compiler", "flags", "blas", "cholmod"};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    tap_require(eb_environment_write(b, "elastobench", &rates), "an environment");
    tap_require(set_fact(b, facts[i], "another"), "a change");
    tap_fails(comparable(a, b), EB_ERR_INVALID, facts[i], facts[i]);
  }
  tap_require(eb_environment_write(b, "elastobench", &rates), "an environment");
  tap_require(set_fact(b, "program_hash", "0"), "another program");
  const struct {
    const char *left, *right, *left_dirty, *right_dirty, *name;
    bool good;
  } cases[] = {{"c1", "c1", "0", "0", "two builds of one clean commit", true},
               {"c1", "c1", "0", "1", "one with local changes", false},
               {"c1", "c1", "1", "1", "both with local changes", false},
               {"c1", "c2", "0", "0", "two commits", false},
               {"unknown", "unknown", "0", "0", "two unknown commits", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tap_require(set_fact(a, "commit", cases[i].left), "commit");
    tap_require(set_fact(b, "commit", cases[i].right), "commit");
    tap_require(set_fact(a, "dirty", cases[i].left_dirty), "dirty");
    tap_require(set_fact(b, "dirty", cases[i].right_dirty), "dirty");
    if (cases[i].good)
      tap_succeeds(comparable(a, b), cases[i].name);
    else
      tap_fails(comparable(a, b), EB_ERR_INVALID, "different programs", cases[i].name);
  }
}

static void test_merge(void) {
  eb_rates rates = {0};
  eb_results *results;
  eb_strings parts = {0};
  const char *environment = in_folder("e.h5"), *target = in_folder("target.h5");
  char part[2][256];
  tap_require(eb_environment_write(environment, "elastobench", &rates), "an environment");
  for (int r = 0; r < 2; r++) {
    snprintf(part[r], sizeof part[r], "%s/part%d.h5", folder, r);
    tap_require(run_case("newton", r, environment, part[r]), "a case");
    tap_require(eb_strings_add(&parts, part[r]), "a list");
  }
  tap_succeeds(eb_results_collect(target, &parts, EB_MERGE_ADD, NULL), "two parts in a new file");
  tap_succeeds(eb_results_collect(target, &parts, EB_MERGE_ADD, NULL), "and again, kept first");
  tap_require(eb_results_open(target, &results), "the target");
  tap_ok(eb_results_count(results) == 2, "it holds both runs once");
  tap_ok(*eb_results_environment(results, "cpu") != '\0', "and the environment");
  const eb_run *run = eb_results_run(results, 1);
  tap_ok(run->repetition == 1 && strcmp(run->outcome, "completed") == 0,
         "in the order of the plan");
  eb_results_close(results);
  tap_require(eb_strings_add(&parts, in_folder("none.h5")), "a list");
  tap_fails(eb_results_collect(target, &parts, EB_MERGE_ADD, NULL), EB_ERR_IO, "none.h5",
            "a part that is missing");
  tap_require(eb_results_open(target, &results), "the target is still good");
  eb_results_close(results);
  eb_strings_clear(&parts);
}

/* ---- what logging costs ---------------------------------------------------------------------- */

/* Off the clock as it is, one step's rows must stay below a hundredth of a step of 10 ms. */
static void test_cost(void) {
  enum { ROWS = 2000 };
  written w = {0};
  eb_recorder *recorder;
  tap_require(prepare(&w), "preparation");
  tap_require(eb_recorder_create(in_folder("cost.h5"), -1, &w.run, w.scene, &recorder), "a file");
  double row[EB_COL_COUNT] = {0}, began = eb_cpu_seconds();
  for (int s = 0; s < ROWS; s++) {
    eb_step_log_reset(w.log);
    for (int k = 0; k < 4; k++) eb_log_residual(w.log, k);
    tap_require(eb_recorder_step(recorder, row, w.log), "a step");
    if (s % 100 == 99) tap_require(eb_recorder_commit(recorder), "a commit");
  }
  double cost = (eb_cpu_seconds() - began) / ROWS;
  printf("# recording a step takes %.1f us of processor time\n", 1e6 * cost);
#if EB_SANITIZER
  const double slower = 20; /* than without sanitizer, at most */
#else
  const double slower = 1;
#endif
  tap_below(cost, slower * 1e-4, "recording a step costs less than 1 % of 10 ms");
  eb_recorder_destroy(recorder);
  eb_step_log_destroy(w.log);
  eb_state_destroy(w.state);
  eb_scene_destroy(w.scene);
  eb_run_clear(&w.run);
  eb_case_clear(&w.work);
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  setenv("XDG_CACHE_HOME", folder, 1);
  test_round_trip();
  test_cut_off();
  test_truncated();
  test_inconsistent();
  test_formulas();
  test_comparable();
  test_merge();
  test_cost();
  return scratch_close();
}
