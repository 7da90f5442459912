/* Obstacles from the scene through the result file into pictures and XDMF. */
#include <sys/stat.h>
#include <unistd.h>

#include "harness/case/case.h"
#include "harness/report/pictures.h"
#include "harness/results/export.h"
#include "harness/results/merge.h"
#include "harness/results/scene.h"
#include "harness/results/write.h"
#include "tests/support/bodies_fixture.h"
#include "tests/support/h5_units.h"
#include "tests/support/scratch.h"

/* ---- a run to record ------------------------------------------------------------------------- */

typedef struct recording {
  eb_scene_ops ops;
  eb_case work;
  eb_run run;
  eb_scene *scene;
  eb_state *state;
} recording;

/* The run is named after a scene of the catalogue; what is recorded is the fixture's. */
static eb_error prepare(recording *r) {
  *r = (recording){.ops = bodies_scene(),
                   .work = {.scene = eb_scene_find("bench/beam"),
                            .solver = eb_solver_find("corotational"),
                            .threads = 1,
                            .steps = 3}};
  EB_TRY(eb_string_set(&r->work.parameters, "resolution=0.25"));
  EB_TRY(eb_case_resolve(&r->work, NULL));
  EB_TRY(eb_case_describe(&r->work, &r->run));
  EB_TRY(eb_string_set(&r->run.scene_hash, "00000000000000bb"));
  EB_TRY(eb_string_set(&r->run.outcome, "completed"));
  EB_TRY(eb_scene_create(&r->ops, "nx=3", NULL, "", &r->scene));
  r->run.nodes = r->scene->mesh->node_count;
  return eb_state_create(r->scene, &r->state);
}

/* Frames at 0, 0.5 s and 1 s. */
static eb_error record(recording *r, const char *path) {
  eb_recorder *recorder;
  EB_TRY(eb_recorder_create(path, -1, &r->run, r->scene, &recorder));
  eb_error error = EB_OK;
  for (int f = 0; f < 3 && !error; f++) {
    r->state->time = 0.5 * f;
    error = eb_recorder_frame(recorder, &(eb_frame){.state = r->state});
  }
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

/* ---- writing and reading --------------------------------------------------------------------- */

/* The largest distance between what was read and where the scene's obstacles are; -1 when there are
 * others. */
static double gap(const eb_scene *scene, const eb_result_obstacles *read, double time) {
  double worst = 0, x[3 * 8];
  int32_t at = 0, triangle = 0;
  if (read->count != scene->contacts.obstacle_count) return -1;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    const eb_surface *surface = scene->contacts.obstacles[o].surface;
    eb_obstacle_place(&scene->contacts.obstacles[o], time, x);
    for (int32_t k = 0; k < 3 * surface->triangle_count; k++)
      if (read->triangles[triangle++] - at != surface->triangles[k]) return -1;
    for (int32_t i = 0; i < surface->vertex_count; i++, at++) {
      if (read->obstacle[at] != o) return -1;
      for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(read->X[3 * at + d] - x[3 * i + d]));
    }
  }
  return at == read->vertex_count && triangle == 3 * read->triangle_count ? worst : -1;
}

static void test_round_trip(const recording *r, const char *path) {
  eb_results *results;
  eb_result_obstacles read;
  tap_require(eb_results_open(path, &results), "the file");
  for (size_t f = 0; f < 3; f++) {
    tap_succeeds(eb_results_obstacles(results, 0, f, &read), "obstacles of a frame");
    double off = gap(r->scene, &read, 0.5 * (double)f);
    /* The same products, in another order or contracted. */
    tap_ok(off >= 0 && off < 1e-15 * 8, "  are where they were at its time");
    eb_result_obstacles_clear(&read);
  }
  tap_fails(eb_results_obstacles(results, 0, 3, &read), EB_ERR_USAGE, "no frame 3",
            "a frame that there is not");
  tap_ok(!read.X && read.count == 0, "  gives none");
  eb_results_close(results);
}

static void test_none(void) {
  recording r;
  eb_results *results;
  eb_result_obstacles read;
  tap_require(prepare(&r), "preparation");
  r.scene->contacts.obstacle_count = 0;
  tap_require(record(&r, in_folder("none.h5")), "a file without obstacles");
  tap_require(eb_results_open(in_folder("none.h5"), &results), "the file");
  tap_succeeds(eb_results_obstacles(results, 0, 1, &read), "obstacles of a scene without any");
  tap_ok(read.count == 0 && !read.X, "  are none");
  tap_ok(!eb_h5_exists(eb_results_file(results), "/scenes/00000000000000bb/obstacles"),
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

static void test_merge(const recording *r) {
  eb_strings parts = {0};
  tap_require(eb_strings_add(&parts, in_folder("all.h5")), "a list");
  tap_require(eb_results_collect(in_folder("merged.h5"), &parts, EB_MERGE_ADD, NULL), "merging");
  eb_strings_clear(&parts);
  test_round_trip(r, in_folder("merged.h5"));
}

/* ---- damage ---------------------------------------------------------------------------------- */

#define GROUP "/scenes/00000000000000bb/obstacles/"

/* Replaces the last number of a dataset, or all of it by zeros of another shape. */
static eb_error damage(hid_t file, const char *name, double value, eb_h5_shape shape) {
  static const double zeros[128];
  void *data;
  if (shape.rank > 0) {
    H5Ldelete(file, name, H5P_DEFAULT);
    return eb_h5_put(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, "m", zeros);
  }
  EB_TRY(eb_h5_get(file, name, H5T_NATIVE_DOUBLE, sizeof(double), &data, &shape));
  size_t count = 1;
  for (int i = 0; i < shape.rank; i++) count *= (size_t)shape.size[i];
  ((double *)data)[count - 1] = value;
  hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  herr_t status = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(set);
  free(data);
  return status < 0 ? eb_h5_error("cannot write", name) : EB_OK;
}

static eb_error read_damaged(const char *name, double value, eb_h5_shape shape) {
  char command[300];
  hid_t file;
  eb_results *results;
  eb_result_obstacles read;
  const char *path = in_folder("damaged.h5");
  snprintf(command, sizeof command, "cp %s %s", in_folder("all.h5"), path);
  if (system(command)) return EB_ERROR(EB_ERR_IO, "%s", command);
  EB_TRY(eb_h5_open_file(path, true, &file));
  eb_error error = damage(file, name, value, shape), closing = eb_h5_close_file(file, path);
  if (error || closing) return error ? error : closing;
  EB_TRY(eb_results_open(path, &results));
  error = eb_results_obstacles(results, 0, 2, &read);
  if (!error) eb_result_obstacles_clear(&read);
  eb_results_close(results);
  return error;
}

static void test_damage(const recording *r) {
  char poses[300];
  snprintf(poses, sizeof poses, "/runs/%s/%s", r->run.id, EB_OBSTACLE_POSE);
  const struct {
    const char *name;
    double value;
    eb_h5_shape shape; /* rank 0: the last number replaced */
    const char *fragment, *what;
  } cases[] = {
      {GROUP "vertices", NAN, {0}, "vertex 11", "a vertex that is no number"},
      {GROUP "vertices", 0, {2, {12, 2}}, "vertices", "vertices of two coordinates"},
      {GROUP "triangles", 12, {0}, "triangle 13 names vertex 12", "a vertex that is not there"},
      {GROUP "triangles", 0, {0}, "triangle 13 names vertex 0", "a triangle of two obstacles"},
      {GROUP "obstacle", 0, {0}, "vertex 11", "obstacles that do not rise"},
      {GROUP "obstacle", 0, {1, {11}}, "obstacle", "an obstacle too few"},
      {poses, INFINITY, {0}, "not finite", "an infinite shift"},
      {poses, 0, {3, {3, 1, 12}}, "obstacle_pose", "a pose too few"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tap_fails(read_damaged(cases[i].name, cases[i].value, cases[i].shape), EB_ERR_FORMAT,
              cases[i].fragment, cases[i].what);
}

/* ---- pictures and export --------------------------------------------------------------------- */

static void test_pictures(const char *path) {
  eb_report report;
  eb_report_picture drawn = {0};
  eb_view view;
  eb_report_scene scene = {.first = 0, .last = 1};
  struct stat file;
  tap_require(eb_report_load(&path, 1, &report), "a report");
  tap_require(eb_view_fit(&report, &scene, &view), "a view");
  tap_ok(view.lo[2] < -0.5 && view.hi[0] > 1.9, "obstacles near the bodies are in view");
  tap_succeeds(eb_pictures_run(&report.runs[0], &view, in_folder("run"), &drawn),
               "pictures with obstacles");
  char name[200];
  snprintf(name, sizeof name, "%s-%s.png", in_folder("run"), drawn.drawn[0].name);
  tap_ok(drawn.count > 0 && !stat(name, &file) && file.st_size > 1000, "  are files");
  eb_report_clear(&report);
}

enum { WIDTH = 160, HEIGHT = 120 };

/* Draws the surface of the elastic block in red, and the obstacles of the first frame when asked
 * to; pixels come back. */
static void draw(const recording *r, const eb_report_run *run, const eb_view *view, bool obstacles,
                 uint8_t *rgb) {
  eb_render *render;
  const eb_surface *surface = r->scene->surface;
  double direction[3];
  eb_render_mesh mesh = {.vertex_count = surface->vertex_count,
                         .triangle_count = surface->triangle_count / 2,
                         .X = surface->X,
                         .triangles = surface->triangles,
                         .color = {0.9f, 0.1f, 0.1f}};
  eb_view_direction(view, direction);
  tap_require(eb_render_create(WIDTH, HEIGHT, view->lo, view->hi, direction, &render), "a picture");
  tap_require(eb_render_surface(render, &mesh), "the block");
  if (obstacles) {
    eb_drawn all;
    tap_require(eb_drawn_read(run, 0, view, EB_DRAWN_OBSTACLE, &all), "what is there");
    for (int32_t o = 0; o < all.piece_count; o++) {
      mesh = eb_drawn_piece(&all, o);
      tap_require(eb_render_surface(render, &mesh), "an obstacle");
    }
    eb_drawn_clear(&all);
  }
  eb_render_pixels(render, rgb);
  eb_render_destroy(render);
}

static bool is_red(const uint8_t *pixel) {
  return pixel[0] > pixel[1] + 30 && pixel[0] > pixel[2] + 30;
}

static void test_see_through(const recording *r, const char *path) {
  static uint8_t bare[3 * WIDTH * HEIGHT], full[3 * WIDTH * HEIGHT];
  eb_report report;
  eb_view view;
  eb_report_scene scene = {.first = 0, .last = 1};
  int red = 0, still_red = 0, changed = 0;
  tap_require(eb_report_load(&path, 1, &report), "a report");
  tap_require(eb_view_fit(&report, &scene, &view), "a view");
  draw(r, &report.runs[0], &view, false, bare);
  draw(r, &report.runs[0], &view, true, full);
  for (int i = 0; i < 3 * WIDTH * HEIGHT; i += 3) {
    red += is_red(bare + i);
    still_red += is_red(bare + i) && is_red(full + i);
    changed += !is_red(bare + i) && abs(bare[i] - full[i]) > 10;
  }
  tap_ok(red > 300 && still_red == red, "what a container holds is seen in it");
  tap_ok(changed > 3000, "and the container around it");
  eb_report_clear(&report);
}

static bool holds(const char *path, const char *text) {
  static char data[100000];
  FILE *file = fopen(path, "r");
  if (!file) return false;
  data[fread(data, 1, sizeof data - 1, file)] = 0;
  fclose(file);
  return strstr(data, text) != NULL;
}

static void test_export(const recording *r, const char *path) {
  eb_results *results;
  int written;
  char name[300];
  FILE *names = tmpfile();
  tap_require(eb_results_open(path, &results), "the file");
  tap_succeeds(eb_export_xdmf(results, &(eb_strings){0}, in_folder("xdmf"), names, &written),
               "export");
  snprintf(name, sizeof name, "%s/all.%s.obstacles.xdmf", in_folder("xdmf"), r->run.id);
  tap_ok(holds(name, "NumberOfElements=\"14\"") && holds(name, "Name=\"frame 2\""),
         "obstacles have a grid of their own in every frame");
  fclose(names);
  eb_results_close(results);
}

int main(void) {
  recording r;
  eb_h5_quiet();
  scratch_open();
  tap_require(prepare(&r), "preparation");
  tap_require(record(&r, in_folder("all.h5")), "a file with obstacles");
  test_round_trip(&r, in_folder("all.h5"));
  test_none();
  test_units();
  test_merge(&r);
  test_damage(&r);
  test_pictures(in_folder("all.h5"));
  test_see_through(&r, in_folder("all.h5"));
  test_export(&r, in_folder("all.h5"));
  release(&r);
  return scratch_close();
}
