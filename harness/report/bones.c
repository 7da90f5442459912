#include "harness/report/bones.h"

#include <math.h>
#include <stdlib.h>

#include "harness/report/tessellate.h"

static const eb_rgb ivory = {0.93f, 0.88f, 0.74f}, joint = {0.62f, 0.55f, 0.42f};

/* Radii over the diagonal of the box in view. */
static const double rod_share = 0.011, knob_share = 0.018;

static eb_error draw_solid(eb_render *render, const eb_collider *solid, const eb_view *view,
                           eb_rgb color) {
  eb_tessellation surface;
  EB_TRY(eb_tessellate(solid, view->lo, view->hi, &surface));
  const eb_render_mesh mesh = {.vertex_count = surface.vertex_count,
                               .triangle_count = surface.triangle_count,
                               .X = surface.X,
                               .triangles = surface.triangles,
                               .color = color,
                               .smooth = true};
  eb_error error = eb_render_surface(render, &mesh);
  eb_tessellation_clear(&surface);
  return error;
}

/* `ends`: pivot and tip. */
static eb_error draw_bone(eb_render *render, const float ends[6], const eb_view *view) {
  double diagonal = 0, length = 0;
  eb_collider rod = {.kind = EB_CAPPED_CYLINDER}, knob = {.kind = EB_SPHERE, .axis = {0, 0, 1}};
  for (int d = 0; d < 3; d++) {
    diagonal += pow(view->hi[d] - view->lo[d], 2);
    rod.axis[d] = (double)ends[3 + d] - ends[d];
    length += rod.axis[d] * rod.axis[d];
  }
  diagonal = sqrt(diagonal);
  length = sqrt(length);
  rod.radius = rod_share * diagonal;
  rod.half_length = 0.5 * length;
  knob.radius = knob_share * diagonal;
  for (int d = 0; d < 3; d++) {
    double behind = view->planar && d == 2 ? 1.1 * knob.radius : 0;
    rod.origin[d] = 0.5 * ((double)ends[d] + ends[3 + d]) - behind;
    rod.axis[d] /= length;
    knob.origin[d] = ends[d] - behind;
  }
  if (!isfinite(length)) return EB_OK;
  EB_TRY(draw_solid(render, &knob, view, joint));
  return length > 0 ? draw_solid(render, &rod, view, ivory) : EB_OK;
}

eb_error eb_draw_bones(eb_render *render, const eb_report_run *run, size_t frame,
                       const eb_view *view) {
  int32_t count;
  float *bones;
  EB_TRY(eb_results_bones(run->file, run->index, frame, &count, &bones));
  eb_error error = EB_OK;
  for (int32_t b = 0; b < count && !error; b++)
    error = draw_bone(render, bones + 6 * (size_t)b, view);
  free(bones);
  return error;
}
