#include "harness/report/animation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/print.h"
#include "harness/report/gif.h"
#include "harness/report/picture.h"
#include "harness/results/export.h"
#include "problems/base/file.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* ---- what is asked for ----------------------------------------------------------------------- */

static const struct {
  const char *name;
  double direction[3];
} directions[] = {{"front", {0, 1, 0}},  {"back", {0, -1, 0}}, {"left", {1, 0, 0}},
                  {"right", {-1, 0, 0}}, {"top", {0, 0, -1}},  {"aslant", {-0.35, 1, -0.38}}};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

eb_error eb_animation_view(const char *text, double direction[3]) {
  const char *names[DIRECTIONS];
  char end;
  for (int i = 0; i < DIRECTIONS; i++) {
    names[i] = directions[i].name;
    if (strcmp(text, directions[i].name) != 0) continue;
    memcpy(direction, directions[i].direction, sizeof directions[i].direction);
    return EB_OK;
  }
  bool numbers =
      sscanf(text, "%lf,%lf,%lf%c", &direction[0], &direction[1], &direction[2], &end) == 3;
  double length = numbers ? hypot(direction[0], hypot(direction[1], direction[2])) : 0;
  if (length > 0 && isfinite(length)) return EB_OK;
  return eb_unknown(EB_ERR_USAGE, text, names, DIRECTIONS,
                    "--view wants a direction X,Y,Z into the picture, or a name of one, not");
}

eb_error eb_animation_size(const char *text, int32_t *width, int32_t *height) {
  enum { LEAST = 16, MOST = 4096 };
  int wide, high;
  char end;
  bool read = sscanf(text, "%dx%d%c", &wide, &high, &end) == 2;
  if (!read || wide < LEAST || wide > MOST || high < LEAST || high > MOST)
    return EB_ERROR(EB_ERR_USAGE,
                    "--size wants WIDTHxHEIGHT in pixels, each from %d to %d, not '%s'", LEAST,
                    MOST, text);
  *width = wide;
  *height = high;
  return EB_OK;
}

static const char *ending_of(const eb_animation *asked) {
  return asked->moving ? ".gif" : ".png";
}

/* Whether `to` is the name of a file. */
static bool names_file(const eb_animation *asked) {
  size_t length = asked->to ? strlen(asked->to) : 0, ending = strlen(ending_of(asked));
  return length > ending && strcmp(asked->to + length - ending, ending_of(asked)) == 0;
}

/* ---- the frames of a run --------------------------------------------------------------------- */

typedef struct film {
  const eb_animation *asked;
  eb_drawing drawing;
  uint8_t *fibred;
  eb_view view;
  double speed;
  size_t count;  /* frames that are shown, */
  size_t *frame; /* which, */
  int *delay;    /* and for how long, in hundredths of a second */
} film;

static void close_film(film *f) {
  eb_drawing_close(&f->drawing);
  free(f->fibred);
  free(f->frame);
  free(f->delay);
}

/* The longest edge of the box around the nodes; infinite where one is nowhere. */
static eb_error measure_frame(const eb_drawing *d, size_t frame, double *extent) {
  EB_FREED float *x = NULL;
  float lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
  size_t entries = 3 * (size_t)d->run->run->nodes;
  bool finite = true;
  EB_TRY(eb_results_frame(d->run->file, d->run->index, frame, &x));
  for (size_t i = 0; i < entries; i++) {
    finite = finite && isfinite(x[i]);
    lo[i % 3] = fminf(lo[i % 3], x[i]);
    hi[i % 3] = fmaxf(hi[i % 3], x[i]);
  }
  *extent = 0;
  for (int axis = 0; axis < 3; axis++) *extent = fmax(*extent, (double)hi[axis] - lo[axis]);
  if (!finite) *extent = INFINITY;
  return EB_OK;
}

/* How many frames there are before a run has blown up. */
static eb_error count_good(const eb_drawing *d, size_t *out) {
  static const double far = 20; /* times as large as at first, as in the player */
  double first, now;
  *out = d->frames;
  if (d->frames == 0 || eb_report_sound(d->run)) return EB_OK;
  EB_TRY(measure_frame(d, 0, &first));
  for (*out = 1; *out < d->frames; ++*out) {
    EB_TRY(measure_frame(d, *out, &now));
    if (!(now <= far * first)) break;
  }
  return EB_OK;
}

/* Reads nothing of a run without frames. */
static eb_error open_film(const eb_animation *asked, const eb_report_run *run, film *out) {
  size_t good;
  *out = (film){.asked = asked};
  EB_TRY(eb_drawing_open(run, &out->drawing));
  EB_TRY(count_good(&out->drawing, &good));
  EB_TRY(EB_NEW(out->frame, good));
  EB_TRY(EB_NEW(out->delay, good));
  for (size_t f = 0; f < good; f++)
    if (asked->steps.count == 0 || eb_ranges_hold(&asked->steps, (int64_t)out->drawing.step[f]))
      out->frame[out->count++] = f;
  return EB_OK;
}

/* ---- still pictures -------------------------------------------------------------------------- */

static eb_error read_picture(const film *f, size_t shown, eb_picture *out) {
  out->width = f->asked->width;
  out->height = f->asked->height;
  memcpy(out->direction, f->asked->direction, sizeof out->direction);
  out->camera = out->view = f->view;
  return eb_picture_read_colored(&f->drawing, f->fibred, f->frame[shown], out);
}

enum { BATCH = 16 /* pictures that are drawn at once, and held */ };

static void clear_batch(eb_picture (*batch)[BATCH]) {
  for (int i = 0; i < BATCH; i++) eb_picture_clear(&(*batch)[i]);
}

/* Numbered by steps, with as many digits as the last one has. */
static eb_error name_still(const film *f, const char *folder, size_t shown, eb_picture *out) {
  int digits = snprintf(NULL, 0, "%.0f", f->drawing.step[f->drawing.frames - 1]);
  int length = folder ? snprintf(out->path, sizeof out->path, "%s/step_%0*.0f.png", folder,
                                 digits > 4 ? digits : 4, f->drawing.step[f->frame[shown]])
                      : snprintf(out->path, sizeof out->path, "%s", f->asked->to);
  if (length < (int)sizeof out->path) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "the name of a picture is longer than %zu bytes", sizeof out->path);
}

static eb_error write_batch(const film *f, const char *folder, size_t first, int count, FILE *out) {
  EB_OWNED(clear_batch) eb_picture batch[BATCH] = {{.width = 0}};
  for (int i = 0; i < count; i++) {
    EB_TRY(name_still(f, folder, first + (size_t)i, &batch[i]));
    EB_TRY(read_picture(f, first + (size_t)i, &batch[i]));
  }
  EB_TRY(eb_picture_draw_all(batch, count, eb_picture_write, NULL));
  for (int i = 0; i < count; i++) eb_print(out, "%s\n", batch[i].path);
  return EB_OK;
}

static int next_batch(size_t first, size_t count) {
  return count - first < BATCH ? (int)(count - first) : BATCH;
}

static eb_error write_stills(const film *f, FILE *out) {
  const eb_report_run *run = f->drawing.run;
  EB_OWNED(eb_text_clear) eb_text folder = {0};
  bool file = names_file(f->asked);
  if (file && f->count > 1)
    return EB_ERROR(EB_ERR_USAGE,
                    "-o %s takes one frame, and there are %zu; choose one by --steps, or name a "
                    "folder",
                    f->asked->to, f->count);
  if (!file) {
    EB_TRY(eb_export_path(run->file, run->index, f->asked->to, NULL, &folder));
    EB_TRY(eb_folder_make(folder.data));
  }
  for (size_t first = 0; first < f->count; first += BATCH)
    EB_TRY(write_batch(f, folder.data, first, next_batch(first, f->count), out));
  return EB_OK;
}

/* ---- pictures that move ---------------------------------------------------------------------- */

/* When a frame is due, in hundredths of a second; samples are states side by side and have no
 * time. */
static double due(const film *f, size_t shown) {
  enum { APART = 50 };
  const double *time = f->drawing.time;
  const char *samples = strstr(f->drawing.run->run->from_steps, "..");
  if (samples) return (double)shown * APART;
  return 100 * (time[f->frame[shown]] - time[f->frame[0]]) / f->speed;
}

/* Leaves frames out that would follow too soon, and says for how long each of the others is shown:
 * so that their sum keeps pace with the scene. */
static void set_pace(film *f) {
  enum {
    LEAST = 4 /* as films have them; twice as many are twice as large */,
    MOST = 60000,
    ALONE = 100
  };
  size_t kept = 0;
  double shown_at = 0;
  for (size_t k = 0; k < f->count; k++) {
    double now = floor(due(f, k) + 0.5), before = kept > 0 ? now - shown_at : 0;
    if (kept > 0 && before < LEAST) continue;
    if (kept > 0) f->delay[kept - 1] = (int)fmin(before, MOST);
    f->frame[kept++] = f->frame[k];
    shown_at = now;
  }
  f->count = kept;
  if (kept > 0) f->delay[kept - 1] = kept > 1 ? f->delay[kept - 2] : ALONE;
}

static eb_error count_colors(const eb_render *render, const eb_picture *picture, void *context) {
  size_t pixels = (size_t)picture->width * (size_t)picture->height;
  EB_FREED uint8_t *rgb = NULL;
  EB_TRY(EB_NEW(rgb, 3 * pixels));
  eb_render_pixels(render, rgb);
#pragma omp critical
  eb_color_counts_add(context, rgb, pixels);
  return EB_OK;
}

/* Of some frames, evenly spread. */
static eb_error make_palette(const film *f, eb_color_counts *counts, eb_palette *out) {
  EB_OWNED(clear_batch) eb_picture batch[BATCH] = {{.width = 0}};
  int count = next_batch(0, f->count);
  for (int i = 0; i < count; i++)
    EB_TRY(read_picture(f, (size_t)i * (f->count - 1) / (size_t)(count > 1 ? count - 1 : 1),
                        &batch[i]));
  EB_TRY(eb_picture_draw_all(batch, count, count_colors, counts));
  return eb_palette_create(counts, out);
}

/* Pixels of the pictures of a batch. */
typedef struct pixels {
  const eb_picture *batch;
  uint8_t *rgb[BATCH];
} pixels;

static void clear_pixels(pixels *p) {
  for (int i = 0; i < BATCH; i++) free(p->rgb[i]);
}

static eb_error keep_pixels(const eb_render *render, const eb_picture *picture, void *context) {
  pixels *p = context;
  uint8_t **rgb = &p->rgb[picture - p->batch];
  EB_TRY(EB_NEW(*rgb, 3 * (size_t)picture->width * (size_t)picture->height));
  eb_render_pixels(render, *rgb);
  return EB_OK;
}

static eb_error add_batch(const film *f, size_t first, int count, eb_gif *gif) {
  EB_OWNED(clear_batch) eb_picture batch[BATCH] = {{.width = 0}};
  EB_OWNED(clear_pixels) pixels drawn = {.batch = batch};
  for (int i = 0; i < count; i++) EB_TRY(read_picture(f, first + (size_t)i, &batch[i]));
  EB_TRY(eb_picture_draw_all(batch, count, keep_pixels, &drawn));
  for (int i = 0; i < count; i++)
    EB_TRY(eb_gif_add(gif, drawn.rgb[i], f->delay[first + (size_t)i]));
  return EB_OK;
}

static eb_error add_frames(const film *f, eb_gif *gif) {
  for (size_t first = 0; first < f->count; first += BATCH)
    EB_TRY(add_batch(f, first, next_batch(first, f->count), gif));
  return EB_OK;
}

static void release_counts(eb_color_counts **counts) {
  eb_color_counts_destroy(*counts);
}

static eb_error put_gif(const film *f, FILE *out) {
  EB_OWNED(release_counts) eb_color_counts *counts = NULL;
  EB_OWNED(eb_palette_clear) eb_palette palette = {0};
  eb_gif *gif;
  EB_TRY(eb_color_counts_create(&counts));
  EB_TRY(make_palette(f, counts, &palette));
  EB_TRY(eb_gif_open(out, f->asked->width, f->asked->height, &palette, &gif));
  return eb_gif_close(gif, add_frames(f, gif));
}

static eb_error write_gif(film *f, FILE *out, FILE *remarks) {
  const eb_report_run *run = f->drawing.run;
  EB_OWNED(eb_text_clear) eb_text path = {0};
  eb_output output;
  set_pace(f);
  if (f->asked->speed == 0 && f->speed < 1)
    eb_print(remarks,
             "elastobench: %s: in slow motion, at %.2g of its speed; --speed changes that\n",
             run->run->id, f->speed);
  EB_TRY(names_file(f->asked) ? eb_text_printf(&path, "%s", f->asked->to)
                              : eb_export_path(run->file, run->index, f->asked->to, "gif", &path));
  EB_TRY(eb_output_open(path.data, &output));
  EB_TRY(eb_output_close(&output, put_gif(f, output.file)));
  eb_print(out, "%s\n", path.data);
  return EB_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool is_selected(const eb_strings *ids, const eb_report_run *run) {
  return eb_export_selects(ids, run->run) && (ids->count > 0 || run->run->repetition == 0);
}

/* How the runs of a scene are shown. */
typedef struct show {
  eb_view view;
  double seconds; /* of the scene, in the longest one */
} show;

static eb_error add_film(const film *f, show *out) {
  const eb_drawing *d = &f->drawing;
  if (f->count == 0) return EB_OK;
  out->seconds = fmax(out->seconds, d->time[f->frame[f->count - 1]] - d->time[f->frame[0]]);
  for (size_t k = 0; k < f->count && eb_report_sound(d->run); k++)
    EB_TRY(eb_view_with_frame(&out->view, d->run, f->frame[k], &out->view));
  return EB_OK;
}

/* *films grows by the runs that have frames. */
static eb_error plan_show(const eb_animation *asked, const eb_report *report,
                          const eb_report_scene *scene, const eb_strings *ids, show *out,
                          int *films) {
  EB_TRY(eb_view_fit(report, scene, &out->view));
  for (int r = scene->first; r < scene->last; r++) {
    EB_OWNED(close_film) film f = {0};
    if (!is_selected(ids, &report->runs[r])) continue;
    EB_TRY(open_film(asked, &report->runs[r], &f));
    EB_TRY(add_film(&f, out));
    *films += f.count > 0;
  }
  return EB_OK;
}

static eb_error write_film(const eb_animation *asked, const eb_report_run *run, const show *how,
                           FILE *out, FILE *remarks, int *written) {
  EB_OWNED(close_film) film f = {0};
  EB_TRY(open_film(asked, run, &f));
  if (f.count == 0) return EB_OK;
  f.view = how->view;
  f.speed = asked->speed > 0   ? asked->speed
            : how->seconds > 0 ? fmin(1, how->seconds / EB_ANIMATION_SECONDS)
                               : 1;
  EB_TRY(eb_picture_fibres(&f.drawing, &f.fibred));
  ++*written;
  return asked->moving ? write_gif(&f, out, remarks) : write_stills(&f, out);
}

static eb_error write_scenes(const eb_animation *asked, const eb_report *report,
                             const eb_strings *ids, FILE *out, FILE *remarks, int *written) {
  EB_FREED show *shows = NULL;
  int films = 0;
  EB_TRY(EB_NEW(shows, report->scene_count));
  for (int s = 0; s < report->scene_count; s++)
    EB_TRY(plan_show(asked, report, &report->scenes[s], ids, &shows[s], &films));
  if (films > 1 && names_file(asked))
    return EB_ERROR(EB_ERR_USAGE,
                    "-o %s takes one run, and there are %d; choose one by --run, or name a folder",
                    asked->to, films);
  for (int s = 0; s < report->scene_count; s++)
    for (int r = report->scenes[s].first; r < report->scenes[s].last; r++)
      if (is_selected(ids, &report->runs[r]))
        EB_TRY(write_film(asked, &report->runs[r], &shows[s], out, remarks, written));
  return EB_OK;
}

eb_error eb_animation_write(const eb_animation *asked, const char *result, const eb_strings *ids,
                            FILE *out, FILE *remarks, int *written) {
  EB_OWNED(eb_report_clear) eb_report report = {0};
  *written = 0;
  if (asked->to && !names_file(asked)) EB_TRY(eb_folder_make(asked->to));
  EB_TRY(eb_report_load(&result, 1, &report));
  return write_scenes(asked, &report, ids, out, remarks, written);
}
