/* Frames of a run in its file: what is stored of states, forces and contacts, in which precision,
 * and what is refused. */
#include "harness/case/case.h"
#include "harness/results/read.h"
#include "harness/results/write.h"
#include "problems/contact_record.h"
#include "tests/support/h5_units.h"
#include "tests/support/scratch.h"

/* ---- recording ------------------------------------------------------------------------------- */

typedef struct recording {
  eb_case work;
  eb_run run;
  eb_scene *scene;
  eb_state *before, *state;
  eb_recorder *recorder;
} recording;

static eb_error prepare(recording *r, const char *scene, const char *parameters, eb_frames frames,
                        const char *path) {
  *r = (recording){.work = {.scene = eb_scene_find(scene),
                            .solver = eb_solver_find("newton"),
                            .threads = 1,
                            .steps = 3,
                            .frames = frames}};
  EB_TRY(eb_string_set(&r->work.parameters, parameters));
  EB_TRY(eb_case_resolve(&r->work, NULL));
  EB_TRY(eb_case_describe(&r->work, &r->run));
  EB_TRY(eb_string_set(&r->run.scene_hash, "00000000000000aa"));
  EB_TRY(eb_scene_create(r->work.scene, r->work.parameters, NULL, "", &r->scene));
  r->run.nodes = r->scene->mesh->node_count;
  EB_TRY(eb_state_create(r->scene, &r->before));
  EB_TRY(eb_state_create(r->scene, &r->state));
  return eb_recorder_create(path, -1, &r->run, r->scene, &r->recorder);
}

static void release(recording *r) {
  eb_recorder_destroy(r->recorder);
  eb_state_destroy(r->state);
  eb_state_destroy(r->before);
  eb_scene_destroy(r->scene);
  eb_run_clear(&r->run);
  eb_case_clear(&r->work);
}

/* The next frame: a step later, every node 1 um and 0.1 mm/s further. */
static eb_error put_frame(recording *r, const eb_contact_record *contacts) {
  eb_state_copy(r->state, r->before);
  r->state->step++;
  r->state->time += r->scene->dt;
  for (int32_t k = 0; k < 3 * r->state->node_count; k++) {
    r->state->x[k] += 1e-6;
    r->state->v[k] += 1e-4;
  }
  eb_frame frame = {.state = r->state, .before = r->before, .contacts = contacts};
  return eb_recorder_frame(r->recorder, &frame);
}

static eb_error put_frames(recording *r, int count, const eb_contact_record *contacts) {
  EB_TRY(eb_recorder_frame(r->recorder, &(eb_frame){.state = r->state}));
  for (int f = 0; f < count; f++) EB_TRY(put_frame(r, contacts));
  return eb_recorder_finish(r->recorder, &r->run);
}

/* ---- reading back ---------------------------------------------------------------------------- */

typedef struct array {
  eb_h5_shape shape;
  double *values;
} array;

/* "frames/..." of the only run, or "scenes/..."; the caller frees the values. */
static array read_array(const char *path, const recording *r, const char *name) {
  char full[300];
  hid_t file;
  void *data;
  array a;
  tap_require(eb_h5_open_file(path, false, &file), "the file");
  if (strncmp(name, "scenes", 6) == 0)
    snprintf(full, sizeof full, "%s", name);
  else
    snprintf(full, sizeof full, "runs/%s/%s", r->run.id, name);
  tap_require(eb_h5_get(file, full, H5T_NATIVE_DOUBLE, sizeof(double), &data, &a.shape), name);
  H5Fclose(file);
  a.values = data;
  return a;
}

static bool has_shape(const array *a, int rank, hsize_t s0, hsize_t s1, hsize_t s2) {
  const hsize_t want[3] = {s0, s1, s2};
  bool same = a->shape.rank == rank;
  for (int i = 0; same && i < rank; i++) same = a->shape.size[i] == want[i];
  return same;
}

/* Largest difference of row `row` of a field from these values. */
static double off(const array *a, size_t row, const double *values, size_t count) {
  double most = 0;
  for (size_t k = 0; k < count; k++)
    most = fmax(most, fabs(a->values[row * count + k] - values[k]));
  return most;
}

/* ---- precision ------------------------------------------------------------------------------- */

static void test_precision(eb_frames frames, int bytes, double allowed) {
  recording r;
  eb_results *results;
  int stored, missing;
  const char *path = in_folder("precision.h5");
  tap_require(prepare(&r, "bench/beam", "resolution=0.25", frames, path), "a recorder");
  tap_require(put_frames(&r, 2, NULL), "frames");
  size_t count = 3 * (size_t)r.state->node_count;
  array x = read_array(path, &r, "frames/positions"), v = read_array(path, &r, "frames/velocities");
  tap_ok(has_shape(&v, 3, 3, count / 3, 3), "%s: velocities of every node and frame",
         eb_frames_name(frames));
  tap_ok(off(&x, 2, r.state->x, count) <= allowed && off(&v, 2, r.state->v, count) <= allowed,
         "  states are stored to %g", allowed);
  tap_require(eb_results_open(path, &results), "the file");
  tap_succeeds(eb_results_frame_precision(results, 0, EB_FRAME_VELOCITIES, &stored), "precision");
  tap_ok(stored == bytes, "  in %d bytes", bytes);
  tap_succeeds(eb_results_frame_precision(results, 0, "frames/force", &missing), "of no dataset");
  tap_ok(missing == 0, "  is none: nothing pushes this scene but its weight");
  tap_ok(strcmp(eb_results_run(results, 0)->frames, eb_frames_name(frames)) == 0,
         "  the run says which frames it has");
  eb_results_close(results);
  free(x.values);
  free(v.values);
  release(&r);
}

/* ---- held nodes and forces ------------------------------------------------------------------- */

static void test_held(void) {
  recording r;
  const char *path = in_folder("held.h5");
  tap_require(prepare(&r, "bench/beam", "resolution=0.25", EB_FRAMES_ALL, path), "a recorder");
  tap_require(put_frames(&r, 1, NULL), "frames");
  array fixed = read_array(path, &r, "frames/fixed"),
        target = read_array(path, &r, "frames/target");
  int held = 0, wrong = 0;
  for (int32_t i = 0; i < r.state->node_count; i++) {
    const double *rest = r.scene->mesh->X + 3 * i, zero[3] = {0};
    bool is_held = rest[0] < 1e-12;
    size_t at = (size_t)(r.state->node_count + i); /* in frame 1 */
    held += is_held;
    wrong += fixed.values[at] != is_held;
    wrong += memcmp(target.values + 3 * at, is_held ? rest : zero, sizeof zero) != 0;
  }
  tap_ok(held > 0 && wrong == 0, "held nodes and where they belong");
  free(fixed.values);
  free(target.values);
  release(&r);
}

/* A body that falls: no force until it touches the floor, then the floor's. */
static void test_force(void) {
  recording r;
  const char *path = in_folder("force.h5");
  tap_require(prepare(&r, "hecht2012/dragon", "resolution=0.02,height=0.2", EB_FRAMES_ALL, path),
              "a scene");
  size_t count = 3 * (size_t)r.state->node_count;
  tap_require(eb_recorder_frame(r.recorder, &(eb_frame){.state = r.state}), "the initial state");
  tap_require(put_frame(&r, NULL), "a step in the air");
  for (size_t k = 2; k < count; k += 3) r.state->x[k] -= 0.25;
  tap_require(put_frame(&r, NULL), "a step from below the floor");
  double *f = malloc(count * sizeof *f);
  const double *mass = eb_elasticity_mass(r.scene->elasticity);
  eb_scene_force(r.scene, r.before->time, r.before->x, r.before->v, f);
  for (size_t k = 0; k < count; k++) f[k] -= mass[k / 3] * r.scene->gravity[k % 3];
  tap_require(eb_recorder_finish(r.recorder, &r.run), "the file");
  array force = read_array(path, &r, "frames/force");
  double *none = calloc(count, sizeof *none), largest = 0;
  for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(f[k]));
  tap_ok(off(&force, 0, none, count) == 0 && off(&force, 1, none, count) == 0,
         "weight alone leaves exactly 0");
  /* a sum and a difference of forces of that size */
  tap_ok(largest > 1 && off(&force, 2, f, count) <= 1e-14 * largest,
         "the floor's push, at the start of the step");
  free(none);
  free(force.values);
  free(f);
  release(&r);
}

/* ---- contacts and bodies --------------------------------------------------------------------- */

/* Two contacts whose numbers are their places. */
typedef struct two_contacts {
  eb_pair pair[2];
  double weight[8], frame[18], c[6], r[6];
  eb_contact_record record;
} two_contacts;

static void make_contacts(const recording *r, two_contacts *t) {
  int32_t nodes = r->scene->mesh->node_count;
  *t = (two_contacts){
      .pair = {{EB_VERTEX_FACE, {0, 1, 2, 3}}, {EB_EDGE_EDGE, {4, 5, nodes, nodes + 1}}}};
  for (int i = 0; i < 8; i++) t->weight[i] = i;
  for (int i = 0; i < 18; i++) t->frame[i] = 10 + i;
  for (int i = 0; i < 6; i++) t->c[i] = 30 + i;
  for (int i = 0; i < 6; i++) t->r[i] = 40 + i;
  t->record = (eb_contact_record){.count = 2,
                                  .gap = 1e-4,
                                  .eps1 = 1e-8,
                                  .nodes = nodes,
                                  .pair = t->pair,
                                  .weight = t->weight,
                                  .frame = t->frame,
                                  .c = t->c,
                                  .r = t->r};
}

static bool counts_up(const array *a, double from) {
  size_t count = 1;
  for (int i = 0; i < a->shape.rank; i++) count *= (size_t)a->shape.size[i];
  for (size_t k = 0; k < count; k++)
    if (a->values[k] != from + (double)k) return false;
  return true;
}

static void test_contacts(void) {
  recording r;
  two_contacts two;
  const char *path = in_folder("contacts.h5");
  tap_require(
      prepare(&r, "verschoor2019/stack", "bodies=2,resolution=0.5", EB_FRAMES_INTERVAL, path),
      "a recorder");
  make_contacts(&r, &two);
  eb_contact_record damaged = two.record;
  damaged.count = -1;
  tap_require(eb_recorder_frame(r.recorder, &(eb_frame){.state = r.state}), "the initial state");
  tap_require(put_frame(&r, &damaged), "a record of less than no contacts");
  tap_require(put_frame(&r, &two.record), "two contacts");
  tap_require(put_frame(&r, NULL), "no record");
  tap_require(eb_recorder_finish(r.recorder, &r.run), "the file");
  array offsets = read_array(path, &r, "frames/contacts/offsets");
  const double want[5] = {0, 0, 0, 2, 2};
  tap_ok(has_shape(&offsets, 1, 5, 0, 0) && memcmp(offsets.values, want, sizeof want) == 0,
         "contacts of frames lie behind each other");
  array weight = read_array(path, &r, "frames/contacts/weight");
  array frame = read_array(path, &r, "frames/contacts/frame");
  array demand = read_array(path, &r, "frames/contacts/demand");
  array force = read_array(path, &r, "frames/contacts/force");
  array vertices = read_array(path, &r, "frames/contacts/vertices");
  array gap = read_array(path, &r, "frames/contacts/gap");
  tap_ok(has_shape(&frame, 3, 2, 3, 3) && counts_up(&weight, 0) && counts_up(&frame, 10) &&
             counts_up(&demand, 30) && counts_up(&force, 40),
         "  with weights, frames, demands and forces");
  tap_ok(vertices.values[6] == r.state->node_count && gap.values[2] == 1e-4 && gap.values[3] == 0,
         "  vertices of obstacles behind the nodes, and what the solver claims");
  array pose = read_array(path, &r, "frames/body_pose"),
        twist = read_array(path, &r, "frames/body_twist");
  array of = read_array(path, &r, "scenes/00000000000000aa/free_bodies/of_node");
  tap_ok(has_shape(&pose, 3, 4, 2, 7) && has_shape(&twist, 3, 4, 2, 6) &&
             off(&pose, 3, r.state->pose, 14) == 0,
         "poses and twists of free bodies");
  tap_ok(has_shape(&of, 1, (hsize_t)r.state->node_count, 0, 0) && of.values[0] == 0,
         "  and their nodes");
  array *all[] = {&offsets, &weight, &frame, &demand, &force, &vertices, &gap, &pose, &twist, &of};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->values);
  release(&r);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void test_refused(void) {
  recording r;
  const char *path = in_folder("refused.h5");
  tap_require(prepare(&r, "bench/beam", "resolution=0.25", EB_FRAMES_ALL, path), "a recorder");
  eb_state other = *r.state;
  other.node_count--;
  tap_fails(eb_recorder_frame(r.recorder, &(eb_frame){.state = &other}), EB_ERR_INVALID,
            "where the mesh has", "a state of another mesh");
  eb_frames frames;
  tap_fails(eb_frames_parse("some", &frames), EB_ERR_USAGE, "'some'", "another word than two");
  release(&r);
}

/* Rows beyond 16 MB are written without being asked: a file has them before the run ends. */
static void test_early_commit(void) {
  recording r;
  const char *path = in_folder("early.h5");
  tap_require(prepare(&r, "bench/beam", "resolution=1", EB_FRAMES_ALL, path), "a recorder");
  size_t row = 3 * (size_t)r.state->node_count * 3 * sizeof(double); /* with targets */
  int wanted = (int)((16 << 20) / row) + 2;
  for (int f = 0; f < wanted; f++) tap_require(put_frame(&r, NULL), "a frame");
  array time = read_array(path, &r, "frames/time");
  tap_ok(time.shape.size[0] > 1 && (int)time.shape.size[0] <= wanted,
         "%d of %d large frames are in the file before it is finished", (int)time.shape.size[0],
         wanted);
  free(time.values);
  release(&r);
}

static void test_units(void) {
  hid_t file;
  int counts[2] = {0};
  tap_require(eb_h5_open_file(in_folder("contacts.h5"), false, &file), "the file");
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, count_without_unit, counts, H5O_INFO_BASIC);
  tap_ok(counts[0] > 50 && counts[1] == 0, "each of %d datasets has a unit", counts[0]);
  H5Fclose(file);
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_precision(EB_FRAMES_UNSET, 4, 1e-7); /* a float of up to 1 m */
  test_precision(EB_FRAMES_INTERVAL, 4, 1e-7);
  test_precision(EB_FRAMES_ALL, 8, 0);
  test_held();
  test_force();
  test_contacts();
  test_refused();
  test_early_commit();
  test_units();
  return scratch_close();
}
