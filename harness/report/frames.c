#include "harness/report/frames.h"

#include <stdlib.h>

#include "harness/report/view.h"
#include "problems/base/memory.h"

/* ---- first, most strained, most active, after cuts, last ------------------------------------------ */

/* What frames are chosen from: frame f is what step[f] led to, frame 0 the start, which no step led to. */
typedef struct choice {
  const eb_report_run *run;
  double *step;
  size_t frames, last; /* entries of step; the frame that stands for the end */
} choice;

/* The index of the step that led to a frame, or -1. */
static int64_t step_of(const choice *from, size_t frame) {
  double step = frame < from->frames ? from->step[frame] : 0;
  return step >= 1 && step <= (double)from->run->steps ? (int64_t)step - 1 : -1;
}

/* The frame in [first, last] after the step with the largest value of a column: the first such one or, when `latest`, the last;
 * 0 when all are 0. */
static size_t highest(const choice *from, eb_column column, size_t first, size_t last,
                      bool latest) {
  const double *values = from->run->column[column];
  size_t out = 0;
  double most = 0;
  for (size_t f = first; values && f <= last; f++) {
    int64_t step = step_of(from, f);
    if (step < 0 || !(values[step] > most || (latest && out > 0 && values[step] == most))) continue;
    most = values[step];
    out = f;
  }
  return out;
}

/* Between the first and the last frame, in order. */
static void insert_frame(const choice *from, const char *name, const char *words, size_t frame,
                         eb_pictured_frame *out, int *count) {
  int at = *count;
  if (frame == 0 || frame >= from->last) return;
  for (int i = 0; i < *count; i++)
    if (out[i].frame == frame) return;
  for (; out[at - 1].frame > frame; at--) out[at] = out[at - 1];
  out[at] = (eb_pictured_frame){name, words, frame};
  ++*count;
}

/* The first frame from `first` on with more components than frame first - 1, or last + 1. */
static size_t next_cut(const choice *from, size_t first) {
  const double *components = from->run->column[EB_COL_COMPONENTS];
  for (size_t f = first; components && f <= from->last; f++) {
    int64_t before = step_of(from, f - 1), after = step_of(from, f);
    if (before >= 0 && after >= 0 && components[after] > components[before]) return f;
  }
  return from->last + 1;
}

/* Where the pieces move fastest between a cut and the next one, or the end: by then they have parted. */
static void insert_cuts(const choice *from, eb_pictured_frame *out, int *count) {
  static const char *const name[EB_PICTURED_CUTS][2] = {{"cut-1", "after the first cut"},
                                                        {"cut-2", "after the second cut"},
                                                        {"cut-3", "after the third cut"}};
  size_t cut = next_cut(from, 1);
  for (int c = 0; c < EB_PICTURED_CUTS && cut <= from->last; c++) {
    size_t next = next_cut(from, cut + 1);
    insert_frame(from, name[c][0], name[c][1], highest(from, EB_COL_KINETIC, cut, next - 1, false),
                 out, count);
    cut = next;
  }
}

static eb_error insert_highest(const eb_report_run *run, size_t last, eb_pictured_frame *out,
                               int *count) {
  choice from = {.run = run, .last = last};
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &from.step, &from.frames));
  insert_frame(&from, "strained", "most strained", highest(&from, EB_COL_ELASTIC, 1, last, false),
               out, count);
  insert_frame(&from, "active", "fibres most active",
               highest(&from, EB_COL_ACTIVATION, 1, last, true), out, count);
  insert_cuts(&from, out, count);
  free(from.step);
  return EB_OK;
}

eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                            int *count) {
  size_t frames, last;
  *count = 0;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!eb_view_shows(run, frames)) return EB_OK;
  EB_TRY(eb_view_last_frame(run, frames, &last));
  out[(*count)++] = (eb_pictured_frame){"first", "first frame", 0};
  if (eb_report_completed(run)) EB_TRY(insert_highest(run, last, out, count));
  out[(*count)++] = (eb_pictured_frame){"last", "last frame", last};
  return EB_OK;
}

/* ---- updated elements ------------------------------------------------------------------------- */

/* Updates between each frame and the one before, without those of the first step. */
static eb_error count_updates(const eb_report_run *run, size_t frames, double *updates,
                              double *total) {
  double *step;
  size_t count;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &step, &count));
  *total = 0;
  for (size_t f = 0, s = 1; f < frames && f < count; f++)
    for (; s < run->steps && (double)s < step[f]; s++) {
      updates[f] += run->updated_elements[s];
      *total += run->updated_elements[s];
    }
  free(step);
  return EB_OK;
}

static void add_frame(size_t frame, size_t out[EB_UPDATE_PICTURES], int *count) {
  int at = *count;
  for (int i = 0; i < *count; i++)
    if (out[i] == frame) return;
  for (; at > 0 && out[at - 1] > frame; at--) out[at] = out[at - 1];
  out[at] = frame;
  ++*count;
}

/* Where the (k + 1/2)-th of EB_UPDATE_PICTURES equal shares of all updates is reached. */
static void add_shares(const double *updates, size_t frames, double total,
                       size_t out[EB_UPDATE_PICTURES], int *count) {
  double sum = 0;
  for (size_t f = 0, k = 0; f < frames; f++) {
    sum += updates[f];
    for (; k < EB_UPDATE_PICTURES && sum >= (k + 0.5) / EB_UPDATE_PICTURES * total; k++)
      add_frame(f, out, count);
  }
}

/* The frame with the most updates that is not there yet, or 0. */
static size_t most_updated(const double *updates, size_t frames, const size_t *chosen, int count) {
  size_t best = 0;
  for (size_t f = 1; f < frames; f++) {
    bool taken = updates[f] <= 0;
    for (int i = 0; i < count; i++) taken = taken || chosen[i] == f;
    if (!taken && updates[f] > updates[best]) best = f;
  }
  return best;
}

eb_error eb_updated_frames(const eb_report_run *run, size_t out[EB_UPDATE_PICTURES], int *count) {
  size_t frames, last;
  double total, *updates;
  *count = 0;
  if (!eb_results_has_updates(run->file, run->index)) return EB_OK;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!eb_view_shows(run, frames)) return EB_OK;
  EB_TRY(eb_view_last_frame(run, frames, &last));
  EB_TRY(EB_NEW(updates, last + 1));
  eb_error error = count_updates(run, last + 1, updates, &total);
  if (!error && total > 0) {
    add_shares(updates, last + 1, total, out, count);
    for (size_t next;
         *count < EB_UPDATE_PICTURES && (next = most_updated(updates, last + 1, out, *count)) > 0;)
      add_frame(next, out, count);
  }
  free(updates);
  return error;
}
