#include "harness/report/frames.h"

#include <stdlib.h>

#include "harness/report/view.h"

/* Frame 0 is the start, which no step led to. */
static eb_error most_strained(const eb_report_run *run, size_t frames, size_t *out) {
  double *step, most = 0;
  size_t count;
  const double *elastic = run->column[EB_COL_ELASTIC];
  *out = 0;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &step, &count));
  for (size_t f = 1; elastic && f < frames && f < count; f++) {
    if (!(step[f] >= 1 && step[f] <= (double)run->steps)) continue;
    double energy = elastic[(size_t)step[f] - 1];
    if (energy > most) {
      most = energy;
      *out = f;
    }
  }
  free(step);
  return EB_OK;
}

eb_error eb_pictured_frames(const eb_report_run *run, eb_pictured_frame out[EB_PICTURES],
                            int *count) {
  size_t frames, last, strained = 0;
  *count = 0;
  EB_TRY(eb_results_frame_count(run->file, run->index, &frames));
  if (!eb_view_shows(run, frames)) return EB_OK;
  EB_TRY(eb_view_last_frame(run, frames, &last));
  if (eb_report_completed(run)) EB_TRY(most_strained(run, frames, &strained));
  out[(*count)++] = (eb_pictured_frame){"first", 0};
  if (strained > 0 && strained < last) out[(*count)++] = (eb_pictured_frame){"strained", strained};
  out[(*count)++] = (eb_pictured_frame){"last", last};
  return EB_OK;
}
