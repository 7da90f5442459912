/* Pictures of planar scenes with rigid links and active fibres: which frames, from where, and in
 * which colours. */
#include <png.h>

#include "harness/case/case.h"
#include "harness/report/pictures.h"
#include "harness/results/write.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

enum { STEPS = 12 };

/* Steps of the muscle at rest; its forearm turns by 0.1 rad each. Elastic energy is highest after
 * step 3, activation in steps 6 to 8. */
static eb_error put_steps(eb_recorder *recorder, eb_state *state, const eb_step_log *log) {
  EB_TRY(eb_recorder_frame(recorder, &(eb_frame){.state = state}));
  for (int s = 1; s <= STEPS; s++) {
    double row[EB_COL_COUNT] = {0};
    row[EB_COL_STEP] = s;
    row[EB_COL_ELASTIC] = s == 3 ? 2 : 1;
    row[EB_COL_ACTIVATION] = s >= 6 && s <= 8 ? 1 : 0.2;
    state->step = s;
    state->time = 0.1 * s;
    state->q[1] += 0.1;
    EB_TRY(eb_recorder_step(recorder, row, log));
    EB_TRY(eb_recorder_frame(recorder, &(eb_frame){.state = state}));
  }
  return EB_OK;
}

static void record(const char *path) {
  eb_case work = {.scene = eb_scene_find("conjac2020/muscle"),
                  .solver = eb_solver_find("conjac"),
                  .threads = 1,
                  .steps = STEPS};
  eb_run run = {0};
  eb_scene *scene;
  eb_state *state;
  eb_step_log *log;
  eb_recorder *recorder;
  tap_require(eb_string_set(&work.parameters, ""), "parameters");
  tap_require(eb_case_resolve(&work, NULL), "a case");
  tap_require(eb_case_describe(&work, &run), "a run");
  tap_require(eb_string_set(&run.scene_hash, "00000000000000ab"), "a hash");
  tap_require(eb_string_set(&run.outcome, "completed"), "an outcome");
  tap_require(eb_scene_create(work.scene, work.parameters, NULL, "", &scene), "the muscle");
  run.nodes = scene->mesh->node_count;
  run.elements = scene->mesh->element_count;
  tap_require(eb_state_create(scene, &state), "a state");
  tap_require(eb_step_log_create(0, &log), "a log");
  tap_require(eb_recorder_create(path, -1, &run, scene, &recorder), "a recorder");
  tap_require(put_steps(recorder, state, log), "recording");
  tap_require(eb_recorder_finish(recorder, &run), "the end");
  eb_recorder_destroy(recorder);
  eb_step_log_destroy(log);
  eb_state_destroy(state);
  eb_scene_destroy(scene);
  eb_run_clear(&run);
  eb_case_clear(&work);
}

/* ---- colours ---- */

typedef struct census {
  int red, blue, rigid;
} census;

/* Pixels of active fibres, of region 0 and of rigid links; the paper is as light as these, but
 * blueish. */
static census count_pixels(const char *path) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  census count = {0};
  if (!png_image_begin_read_from_file(&image, path)) return (census){-1, -1, -1};
  image.format = PNG_FORMAT_RGB;
  uint8_t *rgb = malloc(PNG_IMAGE_SIZE(image));
  if (!rgb || !png_image_finish_read(&image, NULL, rgb, 0, NULL)) return (census){-1, -1, -1};
  for (size_t i = 0; i < PNG_IMAGE_SIZE(image); i += 3) {
    const uint8_t *p = rgb + i;
    count.red += p[0] > 80 && p[1] < 0.4 * p[0] && p[2] < 0.4 * p[0];
    count.blue += p[2] > 80 && p[2] > 1.2 * p[0] && p[2] > 1.1 * p[1];
    count.rigid += p[0] > 150 && p[2] < 0.9 * p[0] && p[1] > 0.85 * p[0];
  }
  free(rgb);
  return count;
}

static census look(const char *frame) {
  char name[64];
  snprintf(name, sizeof name, "muscle-r0-%s.png", frame);
  return count_pixels(in_folder(name));
}

static void test_pictures(eb_report *report) {
  eb_report_scene scene = {.first = 0, .last = 1, .prefix = "muscle"};
  tap_require(eb_pictures_scene(report, &scene, folder), "pictures");
  tap_ok(report->runs[0].picture.count == 4, "four pictures");
  census first = look("first"), active = look("active"), last = look("last");
  /* The belly is some 50 x 100 of 640 x 480 pixels, a rod 10 x 200. */
  tap_ok(first.blue > 1000 && first.red < 20, "limp, the belly has the colour of its region (%d)",
         first.blue);
  tap_ok(active.red > 1000 && active.blue < 20, "active, it is red (%d)", active.red);
  tap_ok(last.red < 20, "at an activation of 0.2 it is not yet");
  tap_ok(first.rigid > 1000 && last.rigid > 1000, "and there are rigid links (%d)", first.rigid);
}

/* ---- frames and view ---- */

static void test_frames(const eb_report *report) {
  eb_pictured_frame frame[EB_PICTURES];
  char shown[128] = "";
  int count;
  tap_require(eb_pictured_frames(&report->runs[0], frame, &count), "frames");
  for (int i = 0; i < count; i++)
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), " %s %zu", frame[i].name,
             frame[i].frame);
  tap_ok(strcmp(shown, " first 0 strained 3 active 8 last 12") == 0, "frames:%s", shown);
}

static void test_view(const eb_report *report) {
  eb_report_scene scene = {.first = 0, .last = 1};
  eb_view view;
  double direction[3];
  float *links;
  int32_t count;
  bool inside = true;
  tap_require(eb_view_fit(report, &scene, &view), "a view");
  eb_view_direction(&view, direction);
  tap_ok(view.planar && direction[2] < 0 && direction[0] == 0 && direction[1] == 0,
         "a planar scene is seen along z");
  tap_require(eb_results_bones(report->runs[0].file, 0, STEPS, &count, &links), "rigid links");
  for (int i = 0; i < 6 * count; i++)
    inside &= links[i] >= view.lo[i % 3] && links[i] <= view.hi[i % 3];
  tap_ok(count == 2 && inside, "with its rigid links in view");
  free(links);
  view.planar = false;
  eb_view_direction(&view, direction);
  tap_ok(direction[1] > 0 && direction[2] < 0, "another one aslant from the front");
}

int main(void) {
  eb_report report;
  eb_h5_quiet();
  scratch_open();
  setenv("XDG_CACHE_HOME", folder, 1);
  const char *path = in_folder("muscle.h5");
  record(path);
  tap_require(eb_report_load(&path, 1, &report), "loading");
  test_frames(&report);
  test_view(&report);
  test_pictures(&report);
  eb_report_clear(&report);
  return scratch_close();
}
