/* States that a run keeps: written and read bit for bit, with all that a scene can have; and what a
 * reader does with what is not there. */
#include <stdlib.h>
#include <string.h>

#include "harness/results/checkpoints.h"
#include "harness/results/write.h"
#include "tests/support/scene_fixture.h"

static const char *const scenes[][2] = {
    {"bench/beam", "resolution=0.25"},
    {"conjac2020/muscle", "resolution=0.5"},              /* joints */
    {"verschoor2019/stack", "bodies=2,resolution=0.5"},   /* free bodies */
    {"conjac2020/barcut", "resolution=0.3,time1=0.015"}}; /* nodes that are still to come */

/* Numbers that single precision does not have. */
static void fill(double *values, size_t count, double seed) {
  for (size_t i = 0; i < count; i++) values[i] = 1 / (seed + (double)i);
}

static void fill_state(eb_state *state, int64_t step) {
  double seed = 3 + (double)step;
  state->step = step;
  state->time = 0.1 * (double)step;
  fill(state->x, 3 * (size_t)state->node_count, seed);
  fill(state->v, 3 * (size_t)state->node_count, seed + 0.5);
  fill(state->q, (size_t)state->joint_count, seed + 0.1);
  fill(state->u, (size_t)state->joint_count, seed + 0.2);
  fill(state->pose, 7 * (size_t)state->body_count, seed + 0.3);
  fill(state->twist, 6 * (size_t)state->body_count, seed + 0.4);
}

/* A result file with one run, which keeps the states after steps 0, 2 and 7; or none. */
static void write_run(const char *path, const eb_scene *scene, bool keep) {
  static const int64_t steps[] = {0, 2, 7};
  eb_state *state;
  eb_recorder *recorder;
  eb_mesh *mesh;
  int32_t *parent;
  tap_require(eb_scene_final_mesh(scene, &mesh, &parent), "the mesh in the end");
  eb_run run = {.nodes = mesh->node_count,
                .uncut_nodes = scene->script.uncut_nodes,
                .elements = scene->mesh->element_count};
  tap_require(eb_string_set(&run.id, "run"), "its id");
  tap_require(eb_string_set(&run.outcome, "completed"), "its outcome");
  tap_require(eb_string_set(&run.scene_hash, "hash"), "its scene");
  eb_mesh_destroy(mesh);
  free(parent);
  tap_require(eb_recorder_create(path, -1, &run, scene, &recorder), "a file");
  tap_require(eb_state_create(scene, &state), "a state");
  for (size_t i = 0; keep && i < 3; i++) {
    fill_state(state, steps[i]);
    tap_require(eb_recorder_checkpoint(recorder, state, state->time - 0.05), "a checkpoint");
    if (i == 1) tap_require(eb_recorder_commit(recorder), "a commit in between");
  }
  tap_require(eb_recorder_finish(recorder, &run), "the end of the file");
  eb_recorder_destroy(recorder);
  eb_run_clear(&run);
  eb_state_destroy(state);
}

static bool same(const eb_state *a, const eb_state *b) {
  return a->step == b->step && a->time == b->time && eb_state_hash(a) == eb_state_hash(b);
}

static void test_round_trip(const char *name, const char *parameters) {
  eb_results *results;
  eb_checkpoints states;
  eb_state *wanted, *got;
  eb_scene *scene = make(name, parameters);
  write_run(in_folder("r.h5"), scene, true);
  tap_require(eb_results_open(in_folder("r.h5"), &results), "the file");
  tap_require(eb_checkpoints_open(results, 0, &states), "its checkpoints");
  tap_ok(states.count == 3, "%s: the states that were kept", name);
  tap_ok(eb_checkpoints_find(&states, 3) == -1, "no others");
  tap_require(eb_state_create(scene, &wanted), "a state");
  tap_require(eb_state_create(scene, &got), "another");
  int64_t row = eb_checkpoints_find(&states, 2);
  fill_state(wanted, 2);
  tap_succeeds(eb_checkpoints_read(&states, (size_t)row, got), "is read");
  tap_ok(same(wanted, got), "bit for bit");
  tap_near(states.began[row], 0.15, 1e-15, "when its step began");
  tap_fails(eb_checkpoints_read(&states, 0, &(eb_state){.node_count = 3}), EB_ERR_FORMAT, "nodes",
            "a state of another mesh");
  eb_checkpoints_close(&states);
  eb_results_close(results);
  eb_state_destroy(wanted);
  eb_state_destroy(got);
  eb_scene_destroy(scene);
}

static void test_none(void) {
  eb_results *results;
  eb_checkpoints states;
  eb_scene *scene = make("bench/beam", "resolution=0.25");
  write_run(in_folder("none.h5"), scene, false);
  tap_require(eb_results_open(in_folder("none.h5"), &results), "a file without");
  tap_succeeds(eb_checkpoints_open(results, 0, &states), "a run that keeps none");
  tap_ok(states.count == 0 && eb_checkpoints_find(&states, 0) == -1, "has none");
  eb_checkpoints_close(&states);
  eb_results_close(results);
  eb_scene_destroy(scene);
}

int main(void) {
  fixture_open();
  eb_h5_quiet();
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    test_round_trip(scenes[i][0], scenes[i][1]);
  test_none();
  return fixture_close();
}
