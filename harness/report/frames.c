#include "harness/report/frames.h"

#include <stdlib.h>

#include "harness/report/view.h"
#include "problems/base/memory.h"

/* ---- first, most strained, most active, after cuts, last ----------------------------------------- */

/* The frame after the step with the largest value of a column, the first such one or the last; 0 when all are 0. Frame 0 is the start,
 * which no step led to. */
static size_t highest(const eb_report_run *run, eb_column column, const double *step, size_t frames,
                      bool last) {
  const double *values = run->column[column];
  size_t out = 0;
  double most = 0;
  for (size_t f = 1; values && f < frames; f++) {
    if (!(step[f] >= 1 && step[f] <= (double)run->steps)) continue;
    double value = values[(size_t)step[f] - 1];
    if (!(value > most || (last && out > 0 && value == most))) continue;
    most = value;
    out = f;
  }
  return out;
}

/* Between the first and the last frame, in order. */
static void insert_frame(const char *name, size_t frame, size_t last, eb_pictured_frame *out,
                         int *count) {
  int at = *count;
  if (frame == 0 || frame >= last) return;
  for (int i = 0; i < *count; i++)
    if (out[i].frame == frame) return;
  for (; out[at - 1].frame > frame; at--) out[at] = out[at - 1];
  out[at] = (eb_pictured_frame){name, frame};
  ++*count;
}

static eb_error insert_highest(const eb_report_run *run, size_t last, eb_pictured_frame *out,
                               int *count) {
  double *step;
  size_t frames;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &step, &frames));
  insert_frame("strained", highest(run, EB_COL_ELASTIC, step, frames, false), last, out, count);
  insert_frame("active", highest(run, EB_COL_ACTIVATION, step, frames, true), last, out, count);
  free(step);
  return EB_OK;
}

/* Frames until the faces of a cut have parted: an eighth of a second at the intervals of the catalogue. */
enum { PARTING_FRAMES = 6 };

static eb_error insert_cuts(const eb_report_run *run, size_t last, eb_pictured_frame *out,
                            int *count) {
  static const char *const names[EB_CUT_PICTURES] = {"cut-1", "cut-2"};
  double *step, *rebuilds;
  size_t frames, steps, cuts = 0;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &step, &frames));
  eb_error error = eb_results_counter(run->file, run->index, EB_COUNT_REBUILDS, &rebuilds, &steps);
  for (size_t s = 0, f = 0; !error && s < steps && cuts < EB_CUT_PICTURES; s++) {
    if (!(rebuilds[s] > 0)) continue;
    while (f < frames && step[f] < (double)s) f++;
    insert_frame(names[cuts++], f + PARTING_FRAMES, last, out, count);
  }
  if (!error) free(rebuilds);
  free(step);
  return error;
}

eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                            int *count) {
  size_t frames, last;
  *count = 0;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!eb_view_shows(run, frames)) return EB_OK;
  EB_TRY(eb_view_last_frame(run, frames, &last));
  out[(*count)++] = (eb_pictured_frame){"first", 0};
  if (eb_report_completed(run)) {
    EB_TRY(insert_highest(run, last, out, count));
    EB_TRY(insert_cuts(run, last, out, count));
  }
  out[(*count)++] = (eb_pictured_frame){"last", last};
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
