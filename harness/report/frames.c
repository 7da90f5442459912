#include "harness/report/frames.h"

#include <math.h>
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

/* The value of a column after the step that led to a frame, or 0. */
static double value_at(const choice *from, eb_column column, size_t frame) {
  int64_t step = step_of(from, frame);
  return step < 0 || !from->run->column[column] ? 0 : from->run->column[column][step];
}

/* The frame in [first, last] with the largest value of a column: the first such one or, when `latest`, the last; 0 when all are 0. */
static size_t highest(const choice *from, eb_column column, size_t first, size_t last,
                      bool latest) {
  size_t out = 0;
  double most = 0;
  for (size_t f = first; f <= last; f++) {
    double value = value_at(from, column, f);
    if (!(value > most || (latest && out > 0 && value == most))) continue;
    most = value;
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

/* Marks the frames on one side of a peak between which and the peak the elastic energy does not fall to a tenth of theirs. */
static void mark_slope(const choice *from, size_t peak, int toward, uint8_t *joined) {
  double least = INFINITY;
  for (size_t f = peak; f <= from->last; f += (size_t)toward) {
    double energy = value_at(from, EB_COL_ELASTIC, f);
    least = fmin(least, energy);
    joined[f] = joined[f] || !(least <= 0.1 * energy);
    if (f == 0) break;
  }
}

/* The highest frame that belongs to no peak yet, or 0. */
static size_t next_peak(const choice *from, const uint8_t *joined) {
  size_t out = 0;
  double most = 0;
  for (size_t f = 1; f <= from->last; f++) {
    double energy = value_at(from, EB_COL_ELASTIC, f);
    if (joined[f] || !(energy > most)) continue;
    most = energy;
    out = f;
  }
  return out;
}

/* The most strained frame, and others after and before which the strain is all but gone, as when a script bends a body one way after the
 * other. What stores less than a twentieth of the most energy is not worth a picture. */
static eb_error insert_peaks(const choice *from, eb_pictured_frame *out, int *count) {
  static const char *const name[EB_PICTURED_PEAKS][2] = {{"strained", "most strained"},
                                                         {"strained-2", "strained"},
                                                         {"strained-3", "strained"},
                                                         {"strained-4", "strained"}};
  uint8_t *joined;
  double most = 0;
  EB_TRY(EB_NEW(joined, from->last + 1));
  for (int p = 0; p < EB_PICTURED_PEAKS; p++) {
    size_t peak = next_peak(from, joined);
    double energy = value_at(from, EB_COL_ELASTIC, peak);
    most = fmax(most, energy);
    if (peak == 0 || energy < 0.05 * most) break;
    insert_frame(from, name[p][0], name[p][1], peak, out, count);
    mark_slope(from, peak, 1, joined);
    mark_slope(from, peak, -1, joined);
  }
  free(joined);
  return EB_OK;
}

/* The first frame from `first` on with more components than the frame before, or last + 1. */
static size_t next_cut(const choice *from, size_t first) {
  for (size_t f = first; f <= from->last; f++) {
    double before = value_at(from, EB_COL_COMPONENTS, f - 1);
    if (before > 0 && value_at(from, EB_COL_COMPONENTS, f) > before) return f;
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

static eb_error insert_between(const eb_report_run *run, size_t last, eb_pictured_frame *out,
                               int *count) {
  choice from = {.run = run, .last = last};
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &from.step, &from.frames));
  eb_error error = insert_peaks(&from, out, count);
  insert_frame(&from, "active", "fibres most active (red)",
               highest(&from, EB_COL_ACTIVATION, 1, last, true), out, count);
  insert_cuts(&from, out, count);
  free(from.step);
  return error;
}

eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                            int *count) {
  size_t frames, last;
  *count = 0;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!eb_view_shows(run, frames)) return EB_OK;
  EB_TRY(eb_view_last_frame(run, frames, &last));
  out[(*count)++] = (eb_pictured_frame){"first", "first frame", 0};
  if (eb_report_completed(run)) EB_TRY(insert_between(run, last, out, count));
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
