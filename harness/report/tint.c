#include "harness/report/tint.h"
#include "harness/results/statistics.h"

#include <stdlib.h>

#include "problems/base/memory.h"

static eb_error mark_fibres(const eb_mesh *mesh, eb_tint *tint) {
  EB_TRY(EB_NEW(tint->fibred, mesh->region_count));
  tint->regions = mesh->region_count;
  for (int32_t e = 0; mesh->fibre && e < mesh->element_count; e++)
    for (int d = 0; d < 3; d++)
      tint->fibred[mesh->region[e]] |= mesh->fibre[3 * (size_t)e + (size_t)d] != 0;
  return EB_OK;
}

eb_error eb_tint_load(const eb_report_run *run, eb_tint *out) {
  const double *activation = run->column[EB_COL_ACTIVATION];
  eb_mesh *mesh;
  *out = (eb_tint){.run = run};
  if (!activation || !(eb_largest(activation, run->steps, 0) > 0)) return EB_OK;
  EB_TRY(eb_results_column(run->file, run->index, "frames/step", &out->step, &out->frames));
  eb_error error = eb_results_mesh(run->file, run->index, &mesh);
  if (!error) {
    error = mark_fibres(mesh, out);
    eb_mesh_destroy(mesh);
  }
  if (error) eb_tint_clear(out);
  return error;
}

void eb_tint_clear(eb_tint *tint) {
  free(tint->fibred);
  free(tint->step);
  *tint = (eb_tint){0};
}

/* At the end of the step that led to the frame; no step led to the first one. */
static double activation_at(const eb_tint *tint, size_t frame) {
  double step = frame < tint->frames ? tint->step[frame] : 0;
  if (!(step >= 1 && step <= (double)tint->run->steps)) return 0;
  return tint->run->column[EB_COL_ACTIVATION][(size_t)step - 1];
}

eb_rgb eb_tint_color(const eb_tint *tint, size_t frame, int32_t region) {
  static const eb_rgb red = {0.80f, 0.12f, 0.10f};
  eb_rgb color = eb_color_of_region(region);
  if (region < 0 || region >= tint->regions || !tint->fibred[region]) return color;
  float share = (float)activation_at(tint, frame);
  return (eb_rgb){color.r + share * (red.r - color.r), color.g + share * (red.g - color.g),
                  color.b + share * (red.b - color.b)};
}
