/* Pictures of updated elements: which frames are shown, from where, and which faces of which
 * elements. */
#include <png.h>

#include "harness/case/case.h"
#include "harness/report/pictures.h"
#include "harness/results/write.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

enum { STEPS = 40, STEPS_PER_FRAME = 2, FRAMES = 1 + STEPS / STEPS_PER_FRAME };

/* Elements updated in step s, from 1. */
typedef int (*history)(int s);

typedef struct recording {
  eb_case work;
  eb_run run;
  eb_scene *scene;
  eb_state *state;
  eb_step_log *log;
} recording;

static void prepare(recording *r, const char *outcome) {
  *r = (recording){.work = {.scene = eb_scene_find("bench/beam"),
                            .solver = eb_solver_find("newton"),
                            .threads = 1,
                            .steps = STEPS}};
  tap_require(eb_string_set(&r->work.parameters, "resolution=0.25"), "parameters");
  tap_require(eb_case_resolve(&r->work, NULL), "a case");
  tap_require(eb_case_describe(&r->work, &r->run), "a run");
  tap_require(eb_string_set(&r->run.scene_hash, "00000000000000aa"), "a hash");
  tap_require(eb_string_set(&r->run.outcome, outcome), "an outcome");
  tap_require(eb_scene_create(r->work.scene, r->work.parameters, NULL, "", &r->scene), "a scene");
  r->run.nodes = r->scene->mesh->node_count;
  r->run.elements = r->scene->mesh->element_count;
  tap_require(eb_state_create(r->scene, &r->state), "a state");
  tap_require(eb_step_log_create(0, &r->log), "a log");
  r->log->element_count = (int32_t)r->run.elements;
  r->log->element_updates = calloc((size_t)r->run.elements, 1);
}

static void release(recording *r) {
  eb_step_log_destroy(r->log);
  eb_state_destroy(r->state);
  eb_scene_destroy(r->scene);
  eb_run_clear(&r->run);
  eb_case_clear(&r->work);
}

static eb_error put_frame(recording *r, eb_recorder *recorder, bool finite) {
  for (int32_t i = 0; i < 3 * r->scene->mesh->node_count; i++)
    r->state->x[i] = finite ? r->scene->x0[i] + (i % 3 == 0 ? r->state->step : 0) : NAN;
  EB_TRY(eb_recorder_frame(recorder,
                           &(eb_frame){.state = r->state, .updates = r->log->element_updates}));
  memset(r->log->element_updates, 0, (size_t)r->run.elements);
  return EB_OK;
}

static eb_error put_step(recording *r, eb_recorder *recorder, history updated, int s) {
  double row[EB_COL_COUNT] = {0};
  uint8_t marked[1 << 16] = {0};
  eb_step_log_reset(r->log);
  memset(marked, 1, (size_t)updated(s));
  eb_log_updates(r->log, marked, (int32_t)r->run.elements);
  row[EB_COL_STEP] = s;
  r->state->step = s;
  r->state->time = 0.1 * s;
  return eb_recorder_step(recorder, row, r->log);
}

/* The body moves by 1 m a step along x; positions are not finite after step `good`. */
static eb_error record(recording *r, const char *path, history updated, int good) {
  eb_recorder *recorder;
  EB_TRY(eb_recorder_create(path, -1, &r->run, r->scene, &recorder));
  eb_error error = put_frame(r, recorder, true);
  for (int s = 1; s <= STEPS && !error; s++) {
    error = put_step(r, recorder, updated, s);
    if (!error && s % STEPS_PER_FRAME == 0) error = put_frame(r, recorder, s <= good);
  }
  if (!error) error = eb_recorder_finish(recorder, &r->run);
  eb_recorder_destroy(recorder);
  return error;
}

static void load(history updated, const char *outcome, int good, eb_report *report) {
  recording r;
  const char *path = in_folder("frames.h5");
  prepare(&r, outcome);
  tap_require(record(&r, path, updated, good), "recording");
  tap_require(eb_report_load(&path, 1, report), "loading");
  release(&r);
}

static void is_shown(history updated, const char *outcome, int good, const char *wanted,
                     const char *name) {
  eb_report report;
  size_t frames[EB_UPDATE_PICTURES];
  int count;
  char shown[128] = "";
  load(updated, outcome, good, &report);
  tap_require(eb_updated_frames(&report.runs[0], frames, &count), name);
  for (int i = 0; i < count; i++)
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), " %zu", frames[i]);
  tap_ok(strcmp(shown, wanted) == 0, "%s:%s (%s)", name, wanted, shown);
  eb_report_clear(&report);
}

static int none(int s) {
  return 0 * s;
}
static int even(int s) {
  return s > 1 ? 6 : 0;
}
static int at_first(int s) {
  return s == 1 ? 50 : 0;
}
/* All at first, as for a whole factorization; then a little, and a burst in steps 21 to 24 (frames
 * 11 and 12). */
static int burst(int s) {
  return s == 1 ? 80 : s > 20 && s < 25 ? 60 : s % 10 == 0 ? 1 : 0;
}
static int once(int s) {
  return s == 31 ? 3 : 0;
}

static void test_frames(void) {
  is_shown(none, "completed", STEPS, "", "no updates, no frames");
  /* Of 39 steps of 6 elements, frame f has seen 2 f - 1: that passes 39/12, 3 39/12, .. where f
   * passes 2.1, 5.4, 8.6, 11.9, 15.1 and 18.4; and of 19 steps, 1.3, 2.9, 4.5, 6.0, 7.6 and 9.2. */
  is_shown(even, "completed", STEPS, " 3 6 9 12 16 19", "even updates: at equal shares");
  is_shown(at_first, "completed", STEPS, "", "updates of the first step only");
  is_shown(burst, "completed", STEPS, " 5 10 11 12 15 20", "a burst, and what else there is");
  is_shown(once, "completed", STEPS, " 16", "one frame with updates");
  is_shown(even, "not-finite", 20, " 2 3 5 7 8 10",
           "a run that blew up: up to its last good frame");
}

/* Boxes of one size around the body: here they are its own, shifted. */
static void test_follow(void) {
  eb_report report;
  eb_view view[2];
  const size_t frames[2] = {2, 9};
  load(even, "completed", STEPS, &report);
  tap_require(eb_view_follow(&report.runs[0], frames, 2, view), "views");
  double shift = STEPS_PER_FRAME * 7;
  tap_near(view[1].lo[0] - view[0].lo[0], shift, 1e-5, "the view follows the body (float32)");
  tap_near(view[1].hi[0] - view[0].hi[0], shift, 1e-5, "with both its sides");
  tap_near(view[1].hi[2] - view[1].lo[2], view[0].hi[2] - view[0].lo[2], 1e-5, "from as near");
  eb_report_clear(&report);
}

/* Pixels of the picture that are orange, from yellow to dark: much red, about half as much green,
 * little blue. */
static int orange_pixels(const char *path) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  int count = 0;
  if (!png_image_begin_read_from_file(&image, path)) return -1;
  image.format = PNG_FORMAT_RGB;
  uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
  if (!rgb || !png_image_finish_read(&image, NULL, rgb, 0, NULL)) return -1;
  for (size_t i = 0; i < PNG_IMAGE_SIZE(image); i += 3)
    count += rgb[i] > 90 && rgb[i + 1] > 0.3 * rgb[i] && rgb[i + 1] < 0.75 * rgb[i] &&
             rgb[i + 2] < 0.6 * rgb[i];
  free(rgb);
  return count;
}

/* Draws a recording; the number of its pictures and of orange pixels and updated elements in the
 * first. */
static int draw(history updated, int *orange, int64_t *elements) {
  eb_report report;
  eb_report_scene scene = {.first = 0, .last = 1};
  eb_report_picture picture = {0};
  eb_view view;
  char path[96];
  load(updated, "completed", STEPS, &report);
  tap_require(eb_view_fit(&report, &scene, &view), "a view");
  tap_require(eb_pictures_updates(&report.runs[0], &view, in_folder("r0"), &picture), "pictures");
  snprintf(path, sizeof path, "%s-updates-1.png", in_folder("r0"));
  *orange = orange_pixels(path);
  *elements = picture.update[0].updated;
  eb_report_clear(&report);
  return picture.updates;
}

static int all_at_31(int s) {
  return s == 31 ? 240 : 0;
}

/* 240 elements fill the beam of resolution 1/4; its picture is of 640 x 480 pixels. */
static void test_pictures(void) {
  int few, all, pictures;
  int64_t elements;
  pictures = draw(once, &few, &elements);
  tap_ok(pictures == 1 && elements == 3, "one picture, of three elements");
  pictures = draw(all_at_31, &all, &elements);
  tap_ok(pictures == 1 && elements == 240, "one picture, of all elements");
  tap_ok(few > 20 && few < 0.1 * all, "%d pixels are orange with three, %d with all", few, all);
  tap_ok(all > 10000, "when all are updated, the body is orange");
}

int main(void) {
  eb_h5_quiet();
  scratch_open();
  setenv("XDG_CACHE_HOME", folder, 1);
  test_frames();
  test_follow();
  test_pictures();
  return scratch_close();
}
