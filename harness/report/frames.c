/* Which frames of a run are pictured. */
#include <math.h>
#include <stdlib.h>

#include "harness/report/pictures.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* Frames are chosen by the steps that led to them: frame f is what step[f] led to, and frame 0 the
 * start, which no step led to. */

/* What frames are chosen from, and those that are. */
typedef struct choice {
  const eb_report_run *run;
  double *step;
  size_t frames, last;       /* entries of step; the frame that stands for the end */
  eb_pictured_frame *chosen; /* last + 1; no name: not chosen */
} choice;

/* The end of a run is its last frame or, when it blew up, the last whose positions are all finite.
 * `chosen` stays NULL for runs that are not drawn. */
static eb_error open_choice(const eb_report_run *run, choice *out) {
  size_t frames;
  bool finite = eb_report_completed(run);
  *out = (choice){.run = run};
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (frames == 0 || run->run->repetition > 0) return EB_OK;
  for (out->last = frames - 1; !finite && out->last > 0; out->last -= !finite) {
    EB_FREED float *x = NULL;
    EB_TRY(eb_results_frame(run->file, run->index, out->last, &x));
    finite = true;
    for (size_t i = 0; i < 3 * (size_t)run->run->nodes; i++) finite = finite && isfinite(x[i]);
  }
  EB_TRY(EB_NEW(out->chosen, out->last + 1));
  return eb_results_read(run->file, run->index, "frames/step", &out->step, &out->frames);
}

static void close_choice(choice *from) {
  free(from->step);
  free(from->chosen);
}

/* ---- first, most strained, most active, after cuts, last ------------------------------------- */

/* The value of a column after the step that led to a frame, or 0. */
static double value_at(const choice *from, eb_column column, size_t frame) {
  double step = frame < from->frames ? from->step[frame] : 0;
  if (!(step >= 1 && step <= (double)from->run->steps) || !from->run->column[column]) return 0;
  return from->run->column[column][(size_t)step - 1];
}

/* The frame in [first, last] with the largest value of a column: the first such one or, when
 * `latest`, the last; 0 when all are 0. */
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

/* Whoever chooses a frame first names it. */
static void choose(choice *from, const char *name, const char *words, size_t frame) {
  if (!from->chosen[frame].name) from->chosen[frame] = (eb_pictured_frame){name, words, frame};
}

static void choose_between(choice *from, const char *name, const char *words, size_t frame) {
  if (frame > 0 && frame < from->last) choose(from, name, words, frame);
}

/* Marks the frames on one side of a peak between which and the peak the elastic energy does not
 * fall to a tenth of theirs. */
static void mark_slope(const choice *from, size_t peak, int toward, uint8_t *joined) {
  double least = INFINITY;
  for (size_t f = peak; f <= from->last; f += (size_t)toward) {
    double energy = value_at(from, EB_COL_ELASTIC, f);
    least = fmin(least, energy);
    joined[f] = joined[f] || !(least <= 0.1 * energy);
    if (f == 0) break;
  }
}

/* The most strained frame, and others after and before which the strain is all but gone, as when a
 * script bends a body one way after the other. What stores less than a twentieth of the most energy
 * is not worth a picture. */
static eb_error choose_peaks(choice *from) {
  static const char *const name[EB_PICTURED_PEAKS][2] = {{"strained", "most strained"},
                                                         {"strained-2", "strained"},
                                                         {"strained-3", "strained"},
                                                         {"strained-4", "strained"}};
  EB_FREED uint8_t *joined = NULL;
  double most = 0;
  EB_TRY(EB_NEW(joined, from->last + 1));
  for (int p = 0; p < EB_PICTURED_PEAKS; p++) {
    size_t peak = 0;
    double energy = 0;
    for (size_t f = 1; f <= from->last; f++)
      if (!joined[f] && value_at(from, EB_COL_ELASTIC, f) > energy) {
        energy = value_at(from, EB_COL_ELASTIC, f);
        peak = f;
      }
    most = fmax(most, energy);
    if (peak == 0 || energy < 0.05 * most) break;
    choose_between(from, name[p][0], name[p][1], peak);
    mark_slope(from, peak, 1, joined);
    mark_slope(from, peak, -1, joined);
  }
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

/* Where the pieces move fastest between a cut and the next one, or the end: by then they have
 * parted. */
static void choose_cuts(choice *from) {
  static const char *const name[EB_PICTURED_CUTS][2] = {{"cut-1", "after the first cut"},
                                                        {"cut-2", "after the second cut"},
                                                        {"cut-3", "after the third cut"}};
  size_t cut = next_cut(from, 1);
  for (int c = 0; c < EB_PICTURED_CUTS && cut <= from->last; c++) {
    size_t next = next_cut(from, cut + 1);
    choose_between(from, name[c][0], name[c][1],
                   highest(from, EB_COL_KINETIC, cut, next - 1, false));
    cut = next;
  }
}

eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                            int *count) {
  EB_OWNED(close_choice) choice from = {0};
  *count = 0;
  EB_TRY(open_choice(run, &from));
  if (!from.chosen) return EB_OK;
  choose(&from, "first", "first frame", 0);
  if (eb_report_sound(run)) {
    EB_TRY(choose_peaks(&from));
    choose_between(&from, "active", "fibres most active (red)",
                   highest(&from, EB_COL_ACTIVATION, 1, from.last, true));
    choose_cuts(&from);
  }
  for (size_t f = 0; f <= from.last; f++)
    if (from.chosen[f].name) out[(*count)++] = from.chosen[f];
  out[(*count)++] = (eb_pictured_frame){"last", "last frame", from.last};
  return EB_OK;
}

/* ---- updated elements ------------------------------------------------------------------------ */

/* Frame f stands for the share of all updates in whose middle it is, of EB_UPDATE_PICTURES equal
 * ones; what is then still free goes to the frames with the most updates. */
static void choose_updated(choice *from, const double *updates, double total) {
  double sum = 0;
  int chosen = 0;
  for (size_t f = 0, k = 0; f <= from->last; f++) {
    sum += updates[f];
    for (; k < EB_UPDATE_PICTURES && sum >= (k + 0.5) / EB_UPDATE_PICTURES * total; k++) {
      chosen += !from->chosen[f].name;
      choose(from, "share", "", f);
    }
  }
  for (; chosen < EB_UPDATE_PICTURES; chosen++) {
    size_t best = 0;
    for (size_t f = 1; f <= from->last; f++)
      if (!from->chosen[f].name && updates[f] > (best ? updates[best] : 0)) best = f;
    if (best == 0) return;
    choose(from, "most", "", best);
  }
}

eb_error eb_updated_frames(const eb_report_run *run, size_t out[EB_UPDATE_PICTURES], int *count) {
  EB_OWNED(close_choice) choice from = {0};
  EB_FREED double *updates = NULL; /* between each frame and the one before, */
  double total = 0;                /*   without those of the first step */
  *count = 0;
  if (!eb_results_has_updates(run->file, run->index)) return EB_OK;
  EB_TRY(open_choice(run, &from));
  if (!from.chosen) return EB_OK;
  EB_TRY(EB_NEW(updates, from.last + 1));
  for (size_t f = 0, s = 1; f <= from.last && f < from.frames; f++)
    for (; s < run->steps && (double)s < from.step[f]; s++) {
      updates[f] += run->updated_elements[s];
      total += run->updated_elements[s];
    }
  if (total > 0) choose_updated(&from, updates, total);
  for (size_t f = 0; f <= from.last; f++)
    if (from.chosen[f].name) out[(*count)++] = f;
  return EB_OK;
}
