/* Colliders from the scene through the result file into the view of the report's pictures. */
#include <unistd.h>

#include "harness/case/case.h"
#include "harness/report/pictures.h"
#include "harness/results/scene.h"
#include "harness/results/merge.h"
#include "harness/results/write.h"
#include "problems/mesh/generate.h"
#include "problems/scenes/common.h"
#include "tests/support/h5_units.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

/* ---- a run to record ------------------------------------------------------------------------- */

typedef struct recording {
  eb_case work;
  eb_run run;
  eb_scene *scene;
  eb_state *state;
} recording;

/* A sheet of 1 m x 1 m; the colliders are set by the tests. */
static eb_error prepare(recording *r, const char *outcome) {
  *r = (recording){.work = {.scene = eb_scene_find("hecht2012/cloth-drop"),
                            .solver = eb_solver_find("corotational"),
                            .threads = 1,
                            .steps = 3}};
  EB_TRY(eb_string_set(&r->work.parameters, "resolution=0.04"));
  EB_TRY(eb_case_resolve(&r->work, NULL));
  EB_TRY(eb_case_describe(&r->work, &r->run));
  EB_TRY(eb_string_set(&r->run.scene_hash, "00000000000000aa"));
  EB_TRY(eb_string_set(&r->run.outcome, outcome));
  EB_TRY(eb_scene_create(r->work.scene, r->work.parameters, NULL, "", &r->scene));
  r->run.nodes = r->scene->mesh->node_count;
  r->scene->contacts.collider_count = 0;
  return eb_state_create(r->scene, &r->state);
}

static eb_error put_frame(recording *r, eb_recorder *recorder, double time, double scale) {
  r->state->time = time;
  for (int32_t i = 0; i < 3 * r->scene->mesh->node_count; i++)
    r->state->x[i] = scale * r->scene->x0[i];
  return eb_recorder_frame(recorder, &(eb_frame){.state = r->state});
}

/* Frames at 0, 0.5 s, 1 s, ...: the sheet as it is, times these scales. */
static eb_error record(recording *r, const char *path, const double *scales, int frames) {
  eb_recorder *recorder;
  EB_TRY(eb_recorder_create(path, -1, &r->run, r->scene, &recorder));
  eb_error error = EB_OK;
  for (int f = 0; f < frames && !error; f++) error = put_frame(r, recorder, 0.5 * f, scales[f]);
  if (!error) error = eb_recorder_finish(recorder, &r->run);
  eb_recorder_destroy(recorder);
  return error;
}

static void release(recording *r) {
  eb_state_destroy(r->state);
  eb_scene_destroy(r->scene);
  eb_run_clear(&r->run);
  eb_case_clear(&r->work);
}

/* (a t, b t^2, -t) */
static void swing(double t, const void *script, double offset[3], double velocity[3]) {
  const double *parameters = script;
  offset[0] = parameters[0] * t;
  offset[1] = parameters[1] * t * t;
  offset[2] = -t;
  velocity[0] = parameters[0];
  velocity[1] = 2 * parameters[1] * t;
  velocity[2] = -1;
}

static void swivel(double t, const void *script, double rotation[9], double spin[3]) {
  (void)script;
  eb_axis_rotation(1, 2 * t, rotation);
  spin[0] = spin[2] = 0;
  spin[1] = 2;
}

static eb_collider *add(recording *r, eb_collider_kind kind, double x, double y, double z,
                        double radius) {
  return eb_scene_add_collider(r->scene, kind, (const double[3]){x, y, z},
                               (const double[3]){0, 0, 1}, radius);
}

static void turn(eb_collider *collider, double x, double y, double z) {
  collider->axis[0] = x;
  collider->axis[1] = y;
  collider->axis[2] = z;
}

static void add_every_kind(recording *r) {
  add(r, EB_PLANE, 0, 0, -0.5, 0)->stiffness = 1e5;
  add(r, EB_SPHERE, 0.1, 0, -0.3, 0.25)->friction = 0.3;
  eb_collider *cylinder = add(r, EB_CYLINDER, 0, 2, 0, 0.125);
  turn(cylinder, 0.6, 0, 0.8);
  cylinder->damping = 7;
  cylinder->margin = 0.01;
  cylinder->grip = 3;
  eb_collider *piston = add(r, EB_CAPPED_CYLINDER, 0, 0, 1, 0.1);
  piston->half_length = 0.2;
  piston->implicit = true;
  piston->isotropy = 0.25;
  piston->motion = swing;
  piston->motion_parameters[0] = 0.3;
  piston->motion_parameters[1] = -0.7;
  add(r, EB_BOWL, 0.2, 0.1, 0, 0.75);
  eb_collider *capsule = add(r, EB_CAPSULE, 0, 0.3, 0, 0.2);
  capsule->half_length = 0.3;
  turn(capsule, 0.6, 0, 0.8);
  capsule->turn = swivel;
  for (int k = 0; k < 2; k++) {
    const double half[3] = {0.3, 0.2 + 0.1 * k, 0.1};
    eb_surface *surface;
    eb_collider *box = add(r, EB_MESH, 0, 0, 0, 0);
    tap_require(eb_surface_box(half, &surface), "a box");
    tap_require(eb_collider_enclose(box, surface), "what it encloses");
    box->motion = k ? swing : NULL;
    box->turn = swivel;
  }
}

static const double still[3] = {1, 1, 1};

/* ---- writing and reading --------------------------------------------------------------------- */

/* Distances at scattered points are those of the scene: every number that makes them was kept.
 * Where a collider moves, origin and offset are added in another order, which rounds at coordinates
 * of a metre. */
static bool same_solids(const eb_scene *scene, const eb_result_colliders *read, double time) {
  bool same = read->count == scene->contacts.collider_count;
  for (int32_t c = 0; same && c < read->count; c++) {
    const eb_collider *a = &scene->contacts.colliders[c];
    eb_collider enclosed = read->list[c], *b = &enclosed;
    if (b->surface) tap_require(eb_solid_from_surface(b->surface, &b->solid), "what is read");
    same = a->kind == b->kind && a->stiffness == b->stiffness && a->damping == b->damping &&
           a->friction == b->friction && a->margin == b->margin && a->grip == b->grip &&
           a->isotropy == b->isotropy && a->implicit == b->implicit && !b->motion && !b->turn;
    for (int i = 0; same && i < 50; i++) {
      const double p[3] = {sin(i), sin(3.7 * i), cos(1.3 * i)};
      double normal[3], velocity[3];
      double want = eb_collider_distance(a, time, p, normal, velocity);
      double got = eb_collider_distance(b, 0, p, normal, velocity);
      same = fabs(got - want) <= 2e-15;
    }
    eb_solid_clear(&b->solid);
  }
  return same;
}

static void test_round_trip(void) {
  recording r;
  eb_results *results;
  eb_result_colliders read;
  tap_require(prepare(&r, "completed"), "preparation");
  add_every_kind(&r);
  tap_require(record(&r, in_folder("all.h5"), still, 3), "a file with every kind of collider");
  tap_require(eb_results_open(in_folder("all.h5"), &results), "the file");
  for (size_t f = 0; f < 3; f++) {
    tap_succeeds(eb_results_colliders(results, 0, f, &read), "colliders of a frame");
    tap_ok(same_solids(r.scene, &read, 0.5 * (double)f), "  are where they were at its time");
    eb_result_colliders_clear(&read);
  }
  tap_fails(eb_results_colliders(results, 0, 3, &read), EB_ERR_USAGE, "no frame 3",
            "a frame that there is not");
  tap_ok(read.count == 0, "  gives none");
  eb_results_close(results);
  release(&r);
}

static void test_none(void) {
  recording r;
  eb_results *results;
  eb_result_colliders read;
  tap_require(prepare(&r, "completed"), "preparation");
  tap_require(record(&r, in_folder("none.h5"), still, 2), "a file without colliders");
  tap_require(eb_results_open(in_folder("none.h5"), &results), "the file");
  tap_succeeds(eb_results_colliders(results, 0, 1, &read), "colliders of a scene without any");
  tap_ok(read.count == 0, "  are none");
  tap_ok(!eb_h5_exists(eb_results_file(results), "/scenes/00000000000000aa/colliders"),
         "  and have no group");
  eb_results_close(results);
  release(&r);
}

static void test_units(void) {
  hid_t file;
  int counts[2] = {0};
  tap_require(eb_h5_open_file(in_folder("all.h5"), false, &file), "the file");
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, count_without_unit, counts, H5O_INFO_BASIC);
  tap_ok(counts[0] > 20 && counts[1] == 0, "each of %d datasets has a unit", counts[0]);
  H5Fclose(file);
}

static void test_merge(void) {
  recording r;
  eb_results *results;
  eb_result_colliders read;
  eb_strings parts = {0};
  tap_require(prepare(&r, "completed"), "preparation");
  add_every_kind(&r);
  tap_require(eb_strings_add(&parts, in_folder("all.h5")), "a list");
  tap_require(eb_results_collect(in_folder("merged.h5"), &parts, EB_MERGE_ADD, NULL), "merging");
  tap_require(eb_results_open(in_folder("merged.h5"), &results), "the merged file");
  tap_succeeds(eb_results_colliders(results, 0, 2, &read), "colliders of a merged run");
  tap_ok(same_solids(r.scene, &read, 1), "  are those of its part");
  eb_results_close(results);
  eb_strings_clear(&parts);
  release(&r);
}

/* ---- damage ---------------------------------------------------------------------------------- */

#define GROUP "/scenes/00000000000000aa/colliders/"

/* Overwrites every number of a dataset. */
static eb_error fill(hid_t file, const char *name, double value) {
  eb_h5_shape shape;
  void *data;
  EB_TRY(eb_h5_get(file, name, H5T_NATIVE_DOUBLE, sizeof(double), &data, &shape));
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  size_t count = 1;
  for (int i = 0; i < shape.rank; i++) count *= (size_t)shape.size[i];
  for (size_t i = 0; i < count; i++) ((double *)data)[i] = value;
  herr_t status = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(set);
  free(data);
  return status < 0 ? eb_h5_error("cannot write", name) : EB_OK;
}

static eb_error replace(hid_t file, const char *name, eb_h5_shape shape) {
  static const double zeros[64];
  H5Ldelete(file, name, H5P_DEFAULT);
  return shape.rank < 0
             ? EB_OK
             : eb_h5_put(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, "m", zeros);
}

static eb_error read_damaged(const char *path) {
  eb_results *results;
  eb_result_colliders read;
  EB_TRY(eb_results_open(path, &results));
  eb_error error = eb_results_colliders(results, 0, 1, &read);
  eb_results_close(results);
  return error;
}

static eb_error copy(const char *from, const char *to) {
  char command[300];
  snprintf(command, sizeof command, "cp %s %s", from, to);
  return system(command) ? EB_ERROR(EB_ERR_IO, "%s", command) : EB_OK;
}

static eb_error copy_damaged(const char *path, const char *name, double value, eb_h5_shape shape) {
  hid_t file;
  EB_TRY(copy(in_folder("all.h5"), path));
  EB_TRY(eb_h5_open_file(path, true, &file));
  eb_error error = shape.rank == 0 ? fill(file, name, value) : replace(file, name, shape);
  eb_error closing = eb_h5_close_file(file, path);
  return error ? error : closing;
}

static void test_damage(void) {
  char offsets[400];
  eb_results *results;
  tap_require(eb_results_open(in_folder("all.h5"), &results), "the file");
  snprintf(offsets, sizeof offsets, "/runs/%s/%s", eb_results_run(results, 0)->id,
           EB_COLLIDER_OFFSET);
  eb_results_close(results);
  const struct {
    const char *name;
    double value;
    eb_h5_shape shape; /* rank 0: filled with value; -1: removed */
    eb_error_code code;
    const char *fragment, *what;
  } cases[] = {
      {GROUP "axis", 0, {0}, EB_ERR_FORMAT, "collider 0 (plane)", "an axis of zeros"},
      {GROUP "radius", -1, {0}, EB_ERR_FORMAT, "collider 0", "a negative radius"},
      {GROUP "half_length", NAN, {0}, EB_ERR_FORMAT, "collider 0", "a length that is no number"},
      {GROUP "origin", INFINITY, {0}, EB_ERR_FORMAT, "collider 0", "an infinite origin"},
      {GROUP "origin", 0, {2, {4, 3}}, EB_ERR_FORMAT, "origin", "an origin too few"},
      {GROUP "origin", 0, {1, {15}}, EB_ERR_FORMAT, "origin", "origins in one row"},
      {GROUP "radius", 0, {-1, {0}}, EB_ERR_LIBRARY, "radius", "no radius"},
      {GROUP "kind", 0, {1, {5}}, EB_ERR_LIBRARY, "kind", "kinds that are not of the enumeration"},
      {GROUP "implicit", 0, {1, {4}}, EB_ERR_FORMAT, "implicit", "a flag too few"},
      {GROUP "grip", 0, {1, {4}}, EB_ERR_FORMAT, "grip", "a grip too few"},
      {offsets, NAN, {0}, EB_ERR_FORMAT, "collider 0", "offsets that are no numbers"},
      {offsets, 0, {3, {3, 4, 3}}, EB_ERR_FORMAT, "collider_offset", "an offset too few"},
      {offsets, 0, {-1, {0}}, EB_ERR_LIBRARY, "collider_offset", "no offsets"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = in_folder("damaged.h5");
    tap_require(copy_damaged(path, cases[i].name, cases[i].value, cases[i].shape), "damage");
    tap_fails(read_damaged(path), cases[i].code, cases[i].fragment, cases[i].what);
  }
}

/* ---- the view of the pictures ---------------------------------------------------------------- */

typedef struct viewed {
  eb_report report;
  eb_report_scene scene;
  eb_view view;
  eb_result_colliders colliders; /* in the first frame */
} viewed;

static viewed look(recording *r, const double *scales, int frames) {
  viewed v = {.scene = {.first = 0, .last = 1}};
  const char *path = in_folder("view.h5");
  tap_require(record(r, path, scales, frames), "a file");
  tap_require(eb_report_load(&path, 1, &v.report), "a report");
  tap_require(eb_view_fit(&v.report, &v.scene, &v.view), "a view");
  tap_require(eb_results_colliders(v.report.files[0], 0, 0, &v.colliders), "colliders");
  return v;
}

/* The sheet is [-0.5, 0.5]^2 at z = 0; coordinates of frames are rounded to float. */
static const double float_rounding = 1e-7;

static void test_near_and_far(void) {
  recording r;
  tap_require(prepare(&r, "completed"), "preparation");
  add(&r, EB_SPHERE, 0, 0, -0.3, 0.25);
  add(&r, EB_SPHERE, 0, 90, 0, 1);
  turn(add(&r, EB_CYLINDER, 0, 0, 0.3, 0.2), 1, 0, 0);
  viewed v = look(&r, still, 3);
  tap_near(v.view.lo[2], -0.55, 1e-12, "a sphere below the body is in view");
  tap_near(v.view.hi[1], 0.5, float_rounding, "one far away is not");
  tap_near(v.view.hi[2], 0.5, 1e-12, "of an endless cylinder, its thickness");
  tap_near(v.view.hi[0], 0.5, float_rounding, "and its length near the body");
  tap_ok(eb_view_ground(&v.view, &v.colliders) == v.view.lo[2],
         "without a floor the ground is at the lowest point");
  eb_report_clear(&v.report);
  release(&r);
}

static void test_floor(void) {
  recording r;
  tap_require(prepare(&r, "completed"), "preparation");
  add(&r, EB_PLANE, 0, 0, -0.8, 0);
  add(&r, EB_PLANE, 3, 3, -0.4, 0);
  turn(add(&r, EB_PLANE, 0, 0, 4, 0), 0, 0, -1);
  viewed v = look(&r, still, 3);
  tap_near(v.view.lo[2], -0.8, 1e-12, "floors near the body are in view");
  tap_ok(eb_view_ground(&v.view, &v.colliders) == -0.4,
         "the ground is the highest floor, and a ceiling above is none");
  eb_report_clear(&v.report);
  release(&r);
}

static void test_moving(void) {
  recording r;
  tap_require(prepare(&r, "completed"), "preparation");
  add(&r, EB_SPHERE, 0, 0, 0.5, 0.1)->motion = swing;
  viewed v = look(&r, still, 3);
  tap_near(v.view.hi[2], 0.6, 1e-12, "a moving ball is in view at its beginning");
  tap_near(v.view.lo[2], -0.6, 1e-12, "and at its end, 1 m lower");
  eb_report_clear(&v.report);
  release(&r);
}

/* Ten times its size, then no numbers: the others' camera stays, the picture of the end holds it
 * whole. */
static void test_blown_up(void) {
  static const double scales[4] = {1, 1, 10, INFINITY};
  recording r;
  tap_require(prepare(&r, "not-finite"), "preparation");
  viewed v = look(&r, scales, 4);
  eb_pictured_frame frame[EB_PICTURES];
  int count;
  eb_view whole;
  tap_near(v.view.hi[0], 0.5, float_rounding, "what blew up does not move the camera of others");
  tap_require(eb_pictured_frames(&v.report.runs[0], frame, &count), "its pictured frames");
  size_t last = frame[count - 1].frame;
  tap_ok(last == 2, "its end is the last frame with finite positions");
  tap_succeeds(eb_view_with_frame(&v.view, &v.report.runs[0], last, &whole), "a view of its end");
  tap_near(whole.hi[0], 5, 10 * float_rounding, "  holds it whole");
  eb_report_clear(&v.report);
  release(&r);
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  test_round_trip();
  test_none();
  test_units();
  test_merge();
  test_damage();
  test_near_and_far();
  test_floor();
  test_moving();
  test_blown_up();
  return scratch_close();
}
