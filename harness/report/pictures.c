#include "harness/report/pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/picture.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/mesh/faces.h"

/* ---- several pictures ------------------------------------------------------------------------ */

typedef struct pictures {
  int count;
  eb_picture *at;
} pictures;

static void clear_pictures(pictures *all) {
  for (int i = 0; all->at && i < all->count; i++) eb_picture_clear(&all->at[i]);
  free(all->at);
}

static eb_error draw_pictures(const pictures *all) {
  return eb_picture_draw_all(all->at, all->count, eb_picture_write, NULL);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The end of a run that blew up is shown whole, from farther away. */
static eb_error read_frame(const eb_drawing *d, const eb_view *view, const uint8_t *fibred,
                           size_t frame, eb_picture *out) {
  EB_TRY(eb_view_with_frame(view, d->run, frame, &out->camera));
  out->view = out->camera;
  return eb_picture_read_colored(d, fibred, frame, out);
}

static eb_error draw_frames(const eb_drawing *d, const eb_view *view, const char *stem,
                            eb_report_picture *out) {
  eb_pictured_frame chosen[EB_PICTURES];
  EB_OWNED(clear_pictures) pictures all = {0};
  EB_FREED uint8_t *fibred = NULL;
  EB_TRY(eb_pictured_frames(d->run, chosen, &all.count));
  EB_TRY(EB_NEW(all.at, all.count));
  EB_TRY(eb_picture_fibres(d, &fibred));
  for (int i = 0; i < all.count; i++) {
    snprintf(all.at[i].path, sizeof all.at->path, "%s-%s.png", stem, chosen[i].name);
    EB_TRY(read_frame(d, view, fibred, chosen[i].frame, &all.at[i]));
  }
  EB_TRY(draw_pictures(&all));
  for (; out->count < all.count; out->count++) {
    const eb_pictured_frame *frame = &chosen[out->count];
    out->drawn[out->count].name = frame->name;
    out->drawn[out->count].words = frame->words;
    out->drawn[out->count].time = d->time[frame->frame];
  }
  return EB_OK;
}

eb_error eb_pictures_run(const eb_report_run *run, const eb_view *view, const char *stem,
                         eb_report_picture *out) {
  EB_OWNED(eb_drawing_close) eb_drawing d = {0};
  if (run->run->repetition > 0) return EB_OK;
  EB_TRY(eb_drawing_open(run, &d));
  return d.frames > 0 ? draw_frames(&d, view, stem, out) : EB_OK;
}

/* ---- the picture that stands for a scene ----------------------------------------------------- */

/* The drawing has the surface that the picture shows. */
static eb_error read_poster(const eb_report *report, int r, const eb_pictured_frame *frame,
                            char words[200], eb_drawing *d, eb_picture *out) {
  const eb_report_run *run = &report->runs[r];
  const eb_report_scene alone = {.first = r, .last = r + 1};
  EB_FREED uint8_t *fibred = NULL;
  eb_view view;
  EB_TRY(eb_view_fit(report, &alone, &view));
  EB_TRY(eb_drawing_open(run, d));
  EB_TRY(eb_picture_fibres(d, &fibred));
  EB_TRY(read_frame(d, &view, fibred, frame->frame, out));
  snprintf(words, 200, "%.120s, %s, t = %.4g s", run->label, frame->words, d->time[frame->frame]);
  return EB_OK;
}

/* Reads nothing of a scene without frames. */
static eb_error choose_poster(const eb_report *report, eb_report_scene *scene, eb_drawing *d,
                              eb_picture *out) {
  eb_pictured_frame frame[EB_PICTURES];
  int run = scene->first, count = 0, best = 0;
  for (; run < scene->last && count == 0; run++)
    EB_TRY(eb_pictured_frames(&report->runs[run], frame, &count));
  while (best < count - 1 && strcmp(frame[best].name, "strained") != 0) best++;
  return count > 0 ? read_poster(report, run - 1, &frame[best], scene->poster, d, out) : EB_OK;
}

typedef struct drawings {
  int count;
  eb_drawing *at;
} drawings;

static void close_drawings(drawings *all) {
  for (int i = 0; all->at && i < all->count; i++) eb_drawing_close(&all->at[i]);
  free(all->at);
}

eb_error eb_pictures_posters(eb_report *report, const char *dir) {
  EB_OWNED(clear_pictures) pictures all = {.count = report->scene_count};
  EB_OWNED(close_drawings) drawings of = {.count = report->scene_count};
  EB_TRY(EB_NEW(all.at, all.count));
  EB_TRY(EB_NEW(of.at, of.count));
  pictures read = {.at = all.at};
  for (int s = 0; s < report->scene_count; s++) {
    eb_picture *next = &all.at[read.count];
    snprintf(next->path, sizeof next->path, "%s/%s.png", dir, report->scenes[s].prefix);
    EB_TRY(choose_poster(report, &report->scenes[s], &of.at[read.count], next));
    read.count += next->body_count > 0;
  }
  return draw_pictures(&read);
}

/* ---- updated elements ------------------------------------------------------------------------ */

static void add_triangle(eb_picture *p, const int32_t *element, int32_t a, int32_t b, int32_t c) {
  int32_t *t = p->triangles + 3 * (size_t)p->body[0].triangle_count++;
  t[0] = element[a], t[1] = element[b], t[2] = element[c];
}

/* Triangles around the updated elements, whose number comes back: their faces but those that they
 * share with another updated one. `mate` as of eb_mesh_face_mates, or NULL: no faces are shared. */
static int64_t collect_triangles(const eb_mesh *mesh, const int32_t *mate, const uint8_t *updates,
                                 eb_picture *p) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  int64_t updated = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!updates[e]) continue;
    updated++;
    const int32_t *element = mesh->elements + (size_t)e * mesh->type;
    if (mesh->type == EB_TRIANGLE) add_triangle(p, element, 0, 1, 2);
    for (int32_t f = 0; mesh->type != EB_TRIANGLE && f < table->count; f++) {
      int32_t other = mate ? mate[table->count * e + f] : -1;
      if (other >= 0 && updates[other / table->count]) continue;
      const int32_t *local = table->local[f];
      for (int32_t k = 2; k < table->nodes; k++)
        add_triangle(p, element, local[0], local[k - 1], local[k]);
    }
  }
  return updated;
}

/* The updated elements in orange, inside a translucent body. */
static eb_error read_updates(const eb_drawing *d, const eb_view *view, const int32_t *mate,
                             size_t frame, int64_t *updated, eb_picture *out) {
  const eb_face_table *table = eb_face_table_of(d->mesh->type);
  size_t most = (size_t)table->count * (size_t)(table->nodes > 3 ? table->nodes - 2 : 1);
  EB_FREED uint8_t *updates = NULL;
  out->view = *view;
  EB_TRY(eb_picture_read(d, frame, out));
  EB_TRY(EB_NEW(out->triangles, 3 * most * (size_t)d->mesh->element_count));
  EB_TRY(eb_results_updates(d->run->file, d->run->index, frame, &updates));
  out->body[1] = out->body[0];
  out->body[0].triangle_count = 0;
  out->body[0].triangles = out->triangles;
  out->body[0].color = (eb_rgb){1.0f, 0.52f, 0.10f};
  *updated = collect_triangles(d->mesh, mate, updates, out);
  out->body[0].edges = out->body[0].triangle_count < EB_PICTURE_MOST_LINED;
  out->body[1].color = (eb_rgb){0.43f, 0.52f, 0.66f};
  out->body[1].translucent = true;
  out->body[1].front = 0.36f;
  out->body_count = 2;
  return EB_OK;
}

static eb_error draw_updates(const eb_drawing *d, const eb_view *view, const size_t *frames,
                             int count, const char *stem, eb_report_picture *out) {
  eb_view camera[EB_UPDATE_PICTURES];
  EB_OWNED(clear_pictures) pictures all = {.count = count};
  EB_FREED int32_t *mate = NULL;
  int32_t crowded = -1;
  EB_TRY(eb_view_follow(d->run, frames, count, camera));
  EB_TRY(EB_NEW(all.at, count));
  EB_TRY(eb_mesh_face_mates(d->mesh, &mate, &crowded));
  for (int i = 0; i < count; i++) {
    snprintf(all.at[i].path, sizeof all.at->path, "%s-updates-%d.png", stem, i + 1);
    all.at[i].camera = camera[i];
    out->update[i].time = d->time[frames[i]];
    EB_TRY(read_updates(d, view, crowded < 0 ? mate : NULL, frames[i], &out->update[i].updated,
                        &all.at[i]));
  }
  EB_TRY(draw_pictures(&all));
  out->updates = count;
  return EB_OK;
}

eb_error eb_pictures_updates(const eb_report_run *run, const eb_view *view, const char *stem,
                             eb_report_picture *out) {
  size_t frames[EB_UPDATE_PICTURES];
  int count;
  EB_OWNED(eb_drawing_close) eb_drawing d = {0};
  EB_TRY(eb_updated_frames(run, frames, &count));
  if (count == 0) return EB_OK;
  EB_TRY(eb_drawing_open(run, &d));
  return draw_updates(&d, view, frames, count, stem, out);
}

eb_error eb_pictures_scene(eb_report *report, const eb_report_scene *scene, const char *dir) {
  eb_view view;
  EB_TRY(eb_view_fit(report, scene, &view));
  for (int r = scene->first; r < scene->last; r++) {
    char stem[4000];
    snprintf(stem, sizeof stem, "%s/%s-r%d", dir, scene->prefix, r - scene->first);
    EB_TRY(eb_pictures_run(&report->runs[r], &view, stem, &report->runs[r].picture));
    EB_TRY(eb_pictures_updates(&report->runs[r], &view, stem, &report->runs[r].picture));
  }
  return EB_OK;
}
