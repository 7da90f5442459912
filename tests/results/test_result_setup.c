/* What a solver reports of its set-up and of the elements it updates: from the log through the file
 * to the reader. */
#include "harness/case/case.h"
#include "harness/results/export.h"
#include "harness/results/merge.h"
#include "harness/results/write.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

enum { FRAMES = 7, FIRST_UPDATED = 3, SUPERNODES = 5 };

static const int32_t parent[SUPERNODES] = {2, 2, 4, -1, -1};
static const int32_t pivots[SUPERNODES] = {1, 2, 3, 1, 4};
static const int32_t rows[SUPERNODES] = {5, 6, 7, 1, 4};
static const double flops[SUPERNODES] = {1e3, 2.5e12, 0, 7, 1e-3};

typedef struct recording {
  eb_case work;
  eb_run run;
  eb_scene *scene;
  eb_state *state;
  eb_step_log *log;
} recording;

static void prepare(recording *r) {
  *r = (recording){.work = {.scene = eb_scene_find("bench/beam"),
                            .solver = eb_solver_find("newton"),
                            .threads = 1,
                            .steps = FRAMES - 1}};
  tap_require(eb_string_set(&r->work.parameters, "resolution=0.25"), "parameters");
  tap_require(eb_case_resolve(&r->work, NULL), "a case");
  tap_require(eb_case_describe(&r->work, &r->run), "a run");
  tap_require(eb_string_set(&r->run.scene_hash, "00000000000000aa"), "a hash");
  tap_require(eb_scene_create(r->work.scene, r->work.parameters, NULL, "", &r->scene), "a scene");
  r->run.nodes = r->scene->mesh->node_count;
  r->run.elements = r->scene->mesh->element_count;
  tap_require(eb_state_create(r->scene, &r->state), "a state");
  tap_require(eb_step_log_create(0, &r->log), "a log");
}

static void release(recording *r) {
  eb_step_log_destroy(r->log);
  eb_state_destroy(r->state);
  eb_scene_destroy(r->scene);
  eb_run_clear(&r->run);
  eb_case_clear(&r->work);
}

/* Updates of element e up to frame f: none before FIRST_UPDATED, none in the last but one. */
static uint8_t updates_of(int f, int32_t e) {
  if (f < FIRST_UPDATED || f == FRAMES - 2) return 0;
  return e == 0 ? 255 : (uint8_t)((7 * e + f) % 5);
}

/* Frame f with the row of a step after it; the last but one is written without counts. */
static eb_error put_frame(recording *r, eb_recorder *recorder, bool reporting, int f) {
  uint8_t updates[1 << 16];
  double row[EB_COL_COUNT] = {0};
  for (int32_t e = 0; e < r->run.elements; e++) updates[e] = reporting ? updates_of(f, e) : 0;
  eb_step_log_reset(r->log);
  eb_log_count(r->log, EB_COUNT_UPDATED_ELEMENTS, f);
  EB_TRY(eb_recorder_frame(
      recorder, &(eb_frame){.state = r->state, .updates = f == FRAMES - 2 ? NULL : updates}));
  return eb_recorder_step(recorder, row, r->log);
}

/* Commits after every `interval` frames. */
static eb_error record(recording *r, const char *path, bool reporting, int interval) {
  eb_recorder *recorder;
  if (reporting) {
    eb_log_memory(r->log, EB_MEMORY_FACTOR, 3e9);
    eb_log_memory(r->log, EB_MEMORY_FACTOR, 1);
    eb_log_memory(r->log, EB_MEMORY_ELEMENTS, 12);
    EB_TRY(eb_log_tree(r->log, SUPERNODES, parent, pivots, rows, flops));
  }
  eb_log_count(r->log, EB_COUNT_FLOPS, 42);
  EB_TRY(eb_recorder_create(path, -1, &r->run, r->scene, &recorder));
  eb_error error = eb_recorder_setup(recorder, r->log);
  for (int f = 0; f < FRAMES && !error; f++) {
    error = put_frame(r, recorder, reporting, f);
    if (!error && f % interval == interval - 1) error = eb_recorder_commit(recorder);
  }
  if (!error) error = eb_recorder_finish(recorder, &r->run);
  eb_recorder_destroy(recorder);
  return error;
}

/* ---- what is written is what is read --------------------------------------------------------- */

static bool updates_are_right(const eb_results *results, int32_t elements) {
  bool good = true;
  for (int f = 0; f < FRAMES && good; f++) {
    uint8_t *updates;
    tap_require(eb_results_updates(results, 0, (size_t)f, &updates), "updates");
    for (int32_t e = 0; e < elements && good; e++) good = updates && updates[e] == updates_of(f, e);
    free(updates);
  }
  return good;
}

static void check_tree(const eb_results *results) {
  eb_tree_log tree;
  tap_require(eb_results_tree(results, 0, &tree), "a tree");
  tap_ok(tree.count == SUPERNODES && memcmp(tree.parent, parent, sizeof parent) == 0 &&
             memcmp(tree.pivots, pivots, sizeof pivots) == 0 &&
             memcmp(tree.rows, rows, sizeof rows) == 0 &&
             memcmp(tree.flops, flops, sizeof flops) == 0,
         "the elimination tree is read as reported");
  eb_results_tree_clear(&tree);
}

static void check_file(const char *path, int32_t elements, const char *name) {
  eb_results *results;
  double bytes[EB_MEMORY_KINDS], value, *updated;
  size_t count;
  tap_require(eb_results_open(path, &results), name);
  tap_require(eb_results_memory(results, 0, bytes), "memory");
  tap_ok(bytes[EB_MEMORY_FACTOR] == 3e9 + 1 && bytes[EB_MEMORY_ELEMENTS] == 12,
         "%s: memory is read as reported", name);
  tap_ok(isnan(bytes[EB_MEMORY_MATRIX]) && isnan(bytes[EB_MEMORY_UPDATES]),
         "%s: what was not reported is not a number", name);
  tap_require(eb_results_number(results, 0, "setup/flops", &value), "a figure of the set-up");
  tap_ok(value == 42, "%s: figures of the set-up are read by name", name);
  check_tree(results);
  tap_ok(eb_results_has_updates(results, 0) && updates_are_right(results, elements),
         "%s: updates of every frame are read as counted", name);
  tap_require(
      eb_results_steps(results, 0, EB_STEP_COUNTERS + EB_COUNT_UPDATED_ELEMENTS, &updated, &count),
      "count");
  tap_ok(count == FRAMES && updated[FRAMES - 1] == FRAMES - 1, "%s: and their counter", name);
  free(updated);
  eb_results_close(results);
}

static void test_round_trip(void) {
  for (int interval = 1; interval <= FRAMES; interval++) {
    recording r;
    char name[32];
    snprintf(name, sizeof name, "commit every %d", interval);
    prepare(&r);
    tap_require(record(&r, in_folder("reported.h5"), true, interval), "recording");
    check_file(in_folder("reported.h5"), (int32_t)r.run.elements, name);
    release(&r);
  }
}

static void test_merge(int32_t elements) {
  eb_strings parts = {0};
  tap_require(eb_strings_add(&parts, in_folder("reported.h5")), "a list");
  tap_require(eb_results_collect(in_folder("merged.h5"), &parts, EB_MERGE_ADD, NULL), "merge");
  check_file(in_folder("merged.h5"), elements, "merged");
  eb_strings_clear(&parts);
}

/* Rows wait until a commit: a copy made between two has as many updates as positions. */
static void test_between_commits(void) {
  recording r;
  eb_recorder *recorder;
  eb_results *results;
  eb_h5_shape shape[2];
  const char *const names[] = {"frames/positions", EB_FRAME_UPDATES};
  char command[600], path[300];
  prepare(&r);
  tap_require(eb_recorder_create(in_folder("live.h5"), -1, &r.run, r.scene, &recorder), "a file");
  for (int f = 0; f < FRAMES; f++) {
    tap_require(put_frame(&r, recorder, true, f), "a frame");
    if (f == FIRST_UPDATED) tap_require(eb_recorder_commit(recorder), "a commit");
  }
  snprintf(command, sizeof command, "cp %s %s", in_folder("live.h5"), in_folder("copy.h5"));
  tap_ok(system(command) == 0, "a copy of a file that is being written");
  tap_require(eb_results_open(in_folder("copy.h5"), &results), "the copy");
  for (int i = 0; i < 2; i++) {
    void *data;
    snprintf(path, sizeof path, "runs/%s/%s", r.run.id, names[i]);
    tap_require(eb_h5_get(eb_results_file(results), path, H5T_NATIVE_FLOAT, 4, &data, &shape[i]),
                names[i]);
    free(data);
  }
  tap_ok(shape[0].size[0] == FIRST_UPDATED + 1 && shape[1].size[0] == shape[0].size[0],
         "has updates of every committed frame");
  eb_results_close(results);
  eb_recorder_destroy(recorder);
  release(&r);
}

/* ---- files without --------------------------------------------------------------------------- */

static void check_nothing(const char *path, const char *name) {
  eb_results *results;
  double bytes[EB_MEMORY_KINDS];
  eb_tree_log tree;
  uint8_t *updates;
  tap_require(eb_results_open(path, &results), name);
  tap_require(eb_results_memory(results, 0, bytes), "memory");
  tap_require(eb_results_tree(results, 0, &tree), "tree");
  tap_require(eb_results_updates(results, 0, 1, &updates), "updates");
  bool none = !updates && !eb_results_has_updates(results, 0) && tree.count == 0;
  for (int i = 0; i < EB_MEMORY_KINDS; i++) none = none && isnan(bytes[i]);
  tap_ok(none, "%s: no memory, no tree, no updates", name);
  eb_results_close(results);
}

static void test_not_reported(void) {
  recording r;
  prepare(&r);
  tap_require(record(&r, in_folder("quiet.h5"), false, 2), "recording");
  check_nothing(in_folder("quiet.h5"), "a solver that reports nothing");
  release(&r);
}

/* ---- what is short, and what is nothing ------------------------------------------------------ */

static bool has(const eb_results *results, const char *name) {
  return eb_results_has(results, 0, name);
}

/* How a column of the run lies in the file, and that it says its unit. */
static H5D_layout_t layout_of(const eb_results *results, const char *name, const char *unit) {
  char path[300], *text = NULL;
  snprintf(path, sizeof path, "runs/%s/%s", eb_results_run(results, 0)->id, name);
  hid_t set = H5Dopen2(eb_results_file(results), path, H5P_DEFAULT);
  hid_t properties = H5Dget_create_plist(set);
  H5D_layout_t layout = H5Pget_layout(properties);
  tap_require(eb_h5_get_text(set, "unit", &text), "the unit");
  tap_ok(strcmp(text, unit) == 0, "%s is in %s", name, unit);
  free(text);
  H5Pclose(properties);
  H5Dclose(set);
  return layout;
}

static eb_error put_steps(recording *r, eb_recorder *recorder, int steps) {
  double row[EB_COL_COUNT] = {0};
  for (int s = 0; s < steps; s++) {
    row[EB_COL_STEP] = s + 1;
    eb_step_log_reset(r->log);
    eb_log_count(r->log, EB_COUNT_SOLVES, s == steps - 1);
    EB_TRY(eb_recorder_step(recorder, row, r->log));
  }
  return eb_recorder_finish(recorder, &r->run);
}

static void test_short_and_empty(int steps, H5D_layout_t wanted) {
  recording r;
  eb_recorder *recorder;
  eb_results *results;
  double *values, value;
  size_t count;
  const char *path = in_folder("steps.h5");
  prepare(&r);
  tap_require(eb_recorder_create(path, -1, &r.run, r.scene, &recorder), "a file");
  tap_require(eb_recorder_setup(recorder, r.log), "a set-up without counts");
  tap_require(put_steps(&r, recorder, steps), "steps");
  eb_recorder_destroy(recorder);
  tap_require(eb_results_open(path, &results), "the file");
  tap_ok(layout_of(results, "steps/step", "1") == wanted &&
             layout_of(results, "counters/solves", "1") == wanted,
         "%d steps: %s", steps, wanted == H5D_COMPACT ? "in the header" : "in chunks");
  tap_require(eb_results_read(results, 0, "counters/solves", &values, &count), "solves");
  bool counted = count == (size_t)steps && values[steps - 1] == 1;
  for (int s = 0; s < steps - 1; s++) counted = counted && values[s] == 0;
  tap_ok(counted, "%d steps: one solve in the last", steps);
  free(values);
  tap_ok(!has(results, "phases/factor") && !has(results, "counters/flops") &&
             !has(results, "setup/flops") && has(results, "steps/lead"),
         "%d steps: phases and counters of nothing but zeros are left out", steps);
  tap_require(eb_results_read(results, 0, "phases/factor", &values, &count), "zeros");
  tap_ok(count == (size_t)steps && values[0] == 0 && values[steps - 1] == 0,
         "%d steps: and read as zeros", steps);
  free(values);
  tap_require(eb_results_number(results, 0, "setup/flops", &value), "a zero");
  tap_ok(value == 0, "%d steps: as in the set-up", steps);
  tap_fails(eb_results_read(results, 0, "phases/nonsense", &values, &count), EB_ERR_LIBRARY,
            "phases/nonsense", "a phase of no such name");
  eb_results_close(results);
  release(&r);
}

static void copy_to(const char *name) {
  char command[600];
  snprintf(command, sizeof command, "cp %s %s", in_folder("reported.h5"), in_folder(name));
  if (system(command)) tap_require(EB_ERROR(EB_ERR_IO, "cp"), "a copy");
}

/* What is left out, since a solver reports nothing of it. */
static void test_left_out(const char *id) {
  static const char *const late[] = {"setup/memory", "setup/supernodes", "setup/flops",
                                     "frames/updates", "counters/updated_elements"};
  hid_t file;
  eb_results *results;
  eb_strings all = {0};
  double *values, value;
  size_t count;
  copy_to("quieter.h5");
  tap_require(eb_h5_open_file(in_folder("quieter.h5"), true, &file), "the copy");
  for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
    char path[300];
    snprintf(path, sizeof path, "runs/%s/%s", id, late[i]);
    tap_ok(H5Ldelete(file, path, H5P_DEFAULT) >= 0, "a file without %s", late[i]);
  }
  tap_require(eb_h5_close_file(file, "quieter.h5"), "closing");
  check_nothing(in_folder("quieter.h5"), "a quiet run");
  tap_require(eb_results_open(in_folder("quieter.h5"), &results), "a quiet run");
  tap_require(
      eb_results_steps(results, 0, EB_STEP_COUNTERS + EB_COUNT_UPDATED_ELEMENTS, &values, &count),
      "zeros");
  tap_ok(count == FRAMES && values[FRAMES - 1] == 0, "a quiet run: its steps count none");
  free(values);
  tap_require(eb_results_steps(results, 0, EB_STEP_PHASES + EB_PHASE_UPDATE, &values, &count),
              "zeros");
  tap_ok(count == FRAMES && values[0] == 0, "a quiet run: and took no time");
  free(values);
  tap_require(eb_results_number(results, 0, "setup/flops", &value), "a figure");
  tap_ok(value == 0, "a quiet run: a count of the set-up that it lacks is none");
  tap_require(eb_results_number(results, 0, "setup/rank", &value), "a figure");
  tap_ok(isnan(value), "a quiet run: what is no phase and no counter is not a number");
  FILE *out = fopen(in_folder("quieter.json"), "w");
  tap_succeeds(eb_export_json(results, &all, out), "a quiet run: JSON");
  tap_succeeds(eb_export_csv(results, &all, out), "a quiet run: CSV");
  fclose(out);
  eb_results_close(results);
}

/* ---- damage ---------------------------------------------------------------------------------- */

typedef struct damage {
  const char *path, *fragment;
  eb_h5_shape shape;
  int32_t values[SUPERNODES];
} damage;

static const damage damages[] = {
    {"setup/supernodes/parent", "parent 1 of 5", {1, {5}}, {2, 1, 4, -1, -1}},
    {"setup/supernodes/parent", "parent 5 of 5", {1, {5}}, {2, 5, 4, -1, -1}},
    {"setup/supernodes/parent", "parent -2 of 5", {1, {5}}, {2, -2, 4, -1, -1}},
    {"setup/supernodes/parent", "pivots has an unexpected shape", {1, {3}}, {2, 2, -1}},
    {"setup/supernodes/pivots", "0 pivots", {1, {5}}, {1, 2, 0, 1, 1}},
    {"setup/supernodes/rows", "2 pivots and 1 rows", {1, {5}}, {5, 1, 7, 1, 4}},
    {"setup/supernodes/rows", "unexpected shape", {2, {5, 1}}, {5, 6, 7, 1, 4}},
    {"setup/supernodes/flops", "-1 flops", {1, {5}}, {0, 0, 0, -1, 0}},
    {"setup/memory/factor", "not one number", {1, {2}}, {1, 2}},
    {"frames/updates", "does not have 2 axes", {1, {5}}, {0}},
    {"frames/updates", "1 entries along axis 1", {2, {5, 1}}, {0}},
};

static eb_error read_all(const eb_results *results) {
  double bytes[EB_MEMORY_KINDS];
  eb_tree_log tree;
  uint8_t *updates;
  EB_TRY(eb_results_memory(results, 0, bytes));
  EB_TRY(eb_results_tree(results, 0, &tree));
  eb_results_tree_clear(&tree);
  EB_TRY(eb_results_updates(results, 0, 1, &updates));
  free(updates);
  return EB_OK;
}

/* Content that HDF5 finds good and that breaks our rules is refused with its place named. */
static void test_damage(const char *id) {
  for (size_t d = 0; d < sizeof damages / sizeof *damages; d++) {
    hid_t file;
    eb_results *results;
    char path[300];
    copy_to("bad.h5");
    tap_require(eb_h5_open_file(in_folder("bad.h5"), true, &file), "the copy");
    snprintf(path, sizeof path, "runs/%s/%s", id, damages[d].path);
    H5Ldelete(file, path, H5P_DEFAULT);
    tap_require(eb_h5_put(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, damages[d].shape, "1",
                          damages[d].values),
                path);
    tap_require(eb_h5_close_file(file, "bad.h5"), "closing");
    tap_require(eb_results_open(in_folder("bad.h5"), &results), "opening");
    tap_fails(read_all(results), EB_ERR_FORMAT, damages[d].fragment, damages[d].fragment);
    eb_results_close(results);
  }
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  setenv("XDG_CACHE_HOME", folder, 1);
  test_round_trip();
  recording r;
  prepare(&r);
  test_merge((int32_t)r.run.elements);
  test_between_commits();
  test_not_reported();
  test_short_and_empty(128, H5D_COMPACT); /* 1 KB */
  test_short_and_empty(129, H5D_CHUNKED);
  test_left_out(r.run.id);
  test_damage(r.run.id);
  release(&r);
  return scratch_close();
}
