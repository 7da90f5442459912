/* Result files of scenes that change: the mesh with all cuts made and frames on it, rigid bodies
 * frame by frame, files that lack or damage what is said of them. */
#include "harness/results/merge.h"
#include "harness/results/read.h"
#include "harness/results/write.h"
#include "tests/support/cut_fixture.h"
#include "tests/support/scratch.h"

/* ---- recording ------------------------------------------------------------------------------- */

enum { FRAMES = 5 };

static int bodies;

/* A chain along x, every body a metre long. */
static eb_error set_up(eb_scene *scene) {
  eb_rigid_body chain[EB_MAX_JOINTS] = {{0}};
  EB_TRY(eb_block_scene.setup(scene));
  for (int b = 0; b < bodies; b++)
    chain[b] = (eb_rigid_body){.parent = b - 1,
                               .axis = {0, 0, 1},
                               .pivot = {b, 0, 0},
                               .tip = {b + 1, 0, 0},
                               .mass = 1,
                               .inertia = {1, 1, 1},
                               .lower = -INFINITY,
                               .upper = INFINITY};
  return bodies ? eb_articulation_create(bodies, chain, scene->gravity, &scene->rigid.articulation)
                : EB_OK;
}

/* Everything moves by 1 m a step; what the cuts have parted moves apart by its component's number.
 * Angles grow by 0.1 a step. */
static void move(const eb_scene *scene, eb_state *state) {
  int32_t *part = malloc((size_t)state->node_count * sizeof *part);
  eb_mesh_components(scene->mesh, part);
  state->step++;
  state->time = (double)state->step;
  for (int32_t i = 0; i < state->node_count; i++)
    state->x[3 * i] = scene->mesh->X[3 * i] + (double)state->step + 10 * part[i];
  for (int32_t j = 0; j < state->joint_count; j++) {
    state->q[j] = 0.1 * (double)state->step;
    state->u[j] = 0.1 + j;
  }
  free(part);
}

static eb_error put_frames(eb_recorder *recorder, eb_scene *scene, eb_state *state) {
  EB_TRY(eb_recorder_frame(recorder, &(eb_frame){.state = state}));
  for (int f = 1; f < FRAMES; f++) {
    bool changed;
    double row[EB_COL_COUNT] = {0};
    eb_step_log log = {.own_norm = ""};
    EB_TRY(eb_scene_advance(scene, state, &changed));
    move(scene, state);
    row[EB_COL_STEP] = f;
    row[EB_COL_COMPONENTS] = 1 + changed;
    row[EB_COL_JOINT_KINETIC] = 0.5 * f;
    EB_TRY(eb_recorder_step(recorder, row, &log));
    EB_TRY(eb_recorder_frame(recorder, &(eb_frame){.state = state}));
  }
  return EB_OK;
}

static void record(eb_scene *scene, int64_t nodes, const char *path) {
  eb_run run = {0};
  eb_recorder *recorder;
  eb_state *state;
  tap_require(eb_string_set(&run.id, "one"), "id");
  for (const eb_field *field = eb_run_fields; field->name; field++)
    if (field->type == EB_FIELD_TEXT)
      tap_require(eb_string_set((char **)((char *)&run + field->offset), "x"), field->name);
  run.nodes = nodes;
  run.uncut_nodes = scene->script.uncut_nodes;
  run.elements = scene->mesh->element_count;
  tap_require(eb_state_create(scene, &state), "a state");
  tap_require(eb_recorder_create(path, -1, &run, scene, &recorder), "a recorder");
  tap_require(put_frames(recorder, scene, state), "frames");
  tap_require(eb_recorder_finish(recorder, &run), "finish");
  eb_recorder_destroy(recorder);
  eb_state_destroy(state);
  eb_run_clear(&run);
}

static eb_results *load(const char *path) {
  eb_results *results;
  tap_require(eb_results_open(path, &results), path);
  return results;
}

/* ---- frames on the final mesh ---------------------------------------------------------------- */

static double extent(const float *x, int64_t nodes) {
  float lo = INFINITY, hi = -INFINITY;
  for (int64_t i = 0; i < nodes; i++) {
    lo = fminf(lo, x[3 * i]);
    hi = fmaxf(hi, x[3 * i]);
  }
  return hi - lo;
}

static void test_frames(void) {
  set_cut(0, 1, 0, 0.5, INFINITY);
  set_cut(1, 3, 1, 0.2, INFINITY);
  set_cut(2, 99, 2, 0.2, INFINITY); /* behind the end of the run */
  eb_scene_ops ops = cut_block();
  eb_scene *scene = make_scene(&ops, "nx=4,ny=2,nz=2");
  eb_mesh *final, *stored;
  int32_t *parent;
  tap_require(eb_scene_final_mesh(scene, &final, &parent), "the final mesh");
  record(scene, final->node_count, in_folder("cut.h5"));
  eb_results *results = load(in_folder("cut.h5"));
  const eb_run *run = eb_results_run(results, 0);
  tap_ok(run->nodes == 2 * 2 * 2 * 12 && run->uncut_nodes == 45, "nodes after and before all cuts");
  tap_require(eb_results_mesh(results, 0, &stored), "the mesh");
  size_t bytes = (size_t) final->element_count * 4 * 6;
  tap_ok(stored->node_count == final->node_count &&
             memcmp(stored->X, final->X, 24 * (size_t) final->node_count) == 0 && bytes > 0 &&
             memcmp(stored->elements, final->elements,
                    (size_t) final->element_count * final->type * sizeof(int32_t)) == 0,
         "the stored mesh has all cuts made");
  eb_result_surface surface;
  tap_require(eb_results_surface(results, 0, &surface), "its surface");
  tap_ok(surface.triangle_count == 8 * 2 * 2 * (2 + 2 + 1) && surface.region[0] == 0,
         "its surface is that of eight blocks");
  eb_result_surface_clear(&surface);
  static const double wide[FRAMES] = {1, 1, 11, 11, 31};
  for (size_t f = 0; f < FRAMES; f++) {
    float *x;
    tap_require(eb_results_frame(results, 0, f, &x), "a frame");
    tap_near(extent(x, run->nodes), wide[f], 1e-5, "parts are where the frame has them");
    int wrong = 0;
    int32_t nodes = f < 2 ? 45 : f < 4 ? 54 : 72;
    for (int32_t i = nodes; i < run->nodes; i++)
      wrong += memcmp(x + 3 * i, x + 3 * parent[i], 12) != 0;
    tap_ok(wrong == 0, "frame %zu: nodes that are still to be parted are at one place", f);
    free(x);
  }
  double *components;
  size_t count;
  tap_require(eb_results_steps(results, 0, EB_COL_COMPONENTS, &components, &count), "components");
  tap_ok(count == FRAMES - 1 && components[0] == 1 && components[1] == 2, "components of steps");
  free(components);
  int32_t joints;
  float *bones;
  tap_succeeds(eb_results_bones(results, 0, 0, &joints, &bones), "no rigid bodies are no error");
  tap_ok(joints == 0 && !bones, "and no bones");
  eb_results_close(results);
  eb_mesh_destroy(stored);
  eb_mesh_destroy(final);
  free(parent);
  eb_scene_destroy(scene);
}

/* ---- rigid bodies ---------------------------------------------------------------------------- */

static void is_chain(const eb_results *results, const char *name) {
  int wrong = 0;
  for (size_t f = 0; f < FRAMES; f++) {
    int32_t bone_count, joint_count;
    float *bones;
    double *joints, x = 0, y = 0;
    tap_require(eb_results_bones(results, 0, f, &bone_count, &bones), "bones");
    tap_require(eb_results_joints(results, 0, f, &joint_count, &joints), "joints");
    wrong += bone_count != bodies || joint_count != bodies;
    for (int b = 0; !wrong && b < bodies; b++) {
      const float *bone = bones + 6 * b;
      double angle = 0.1 * (double)f * (b + 1);
      wrong += fabs(bone[0] - x) > 1e-5 || fabs(bone[1] - y) > 1e-5; /* float32 of some metres */
      x += cos(angle);
      y += sin(angle);
      wrong += fabs(bone[3] - x) > 1e-5 || fabs(bone[4] - y) > 1e-5 || bone[2] != 0 || bone[5] != 0;
      wrong += joints[2 * b] != 0.1 * (double)f || joints[2 * b + 1] != (f ? 0.1 + b : 0);
    }
    free(bones);
    free(joints);
  }
  tap_ok(wrong == 0, "%s: bones and joints of every frame", name);
}

static void test_bones(void) {
  eb_scene_ops ops = eb_block_scene;
  ops.setup = set_up;
  for (int i = 0; i < 2; i++) {
    bodies = i ? EB_MAX_JOINTS : 3;
    eb_scene *scene = make_scene(&ops, "nx=2");
    record(scene, scene->mesh->node_count, in_folder("bones.h5"));
    eb_scene_destroy(scene);
    eb_results *results = load(in_folder("bones.h5"));
    is_chain(results, i ? "as many as there may be" : "a chain of three");
    int32_t count;
    float *bones;
    tap_fails(eb_results_bones(results, 0, FRAMES, &count, &bones), EB_ERR_USAGE, "no frame 5",
              "a frame that is not there");
    tap_ok(!bones, "gives nothing");
    double *kinetic;
    size_t rows;
    tap_require(eb_results_steps(results, 0, EB_COL_JOINT_KINETIC, &kinetic, &rows), "a column");
    tap_ok(rows == FRAMES - 1 && kinetic[3] == 2, "energies of the bodies have a column");
    free(kinetic);
    eb_results_close(results);
    eb_strings parts = {0};
    tap_require(eb_strings_add(&parts, in_folder("bones.h5")), "parts");
    tap_require(
        eb_results_collect(in_folder(i ? "all1.h5" : "all0.h5"), &parts, EB_MERGE_REPLACE, NULL),
        "merge");
    eb_strings_clear(&parts);
    results = load(in_folder(i ? "all1.h5" : "all0.h5"));
    is_chain(results, "merged");
    eb_results_close(results);
  }
}

/* ---- other files ----------------------------------------------------------------------------- */

/* Removes or replaces what is at `name` in the one run of the file. */
static void damage(const char *path, const char *name, eb_h5_shape shape) {
  hid_t file;
  char whole[128];
  float zeros[256] = {0};
  snprintf(whole, sizeof whole, "runs/one/%s", name);
  tap_require(eb_h5_open_file(path, true, &file), path);
  if (H5Ldelete(file, whole, H5P_DEFAULT) < 0) exit(1);
  if (shape.rank > 0)
    tap_require(eb_h5_put(file, whole, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, shape, "m", zeros), name);
  tap_require(eb_h5_close_file(file, path), path);
}

static void fresh(const char *path) {
  eb_scene_ops ops = eb_block_scene;
  ops.setup = set_up;
  bodies = 2;
  eb_scene *scene = make_scene(&ops, "nx=1");
  record(scene, scene->mesh->node_count, path);
  eb_scene_destroy(scene);
}

static void test_damaged(void) {
  static const eb_h5_shape shapes[] = {{1, {5}},           {3, {5, 2, 3}},    {4, {5, 0, 2, 3}},
                                       {4, {1, 17, 2, 3}}, {4, {5, 2, 2, 2}}, {4, {2, 2, 2, 3}}};
  static const char *const why[] = {"1 to 16", "4 axes", "1 to 16",
                                    "1 to 16", "axis 3", "no frame"};
  const char *path = in_folder("damaged.h5");
  for (int i = 0; i < 6; i++) {
    fresh(path);
    damage(path, "frames/bones", shapes[i]);
    eb_results *results = load(path);
    int32_t count;
    float *bones;
    tap_fails(eb_results_bones(results, 0, 4, &count, &bones),
              i == 5 ? EB_ERR_USAGE : EB_ERR_FORMAT, why[i], why[i]);
    tap_ok(!bones, "damaged bones %d: nothing is read", i);
    eb_results_close(results);
  }
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_frames();
  test_bones();
  test_damaged();
  return scratch_close();
}
