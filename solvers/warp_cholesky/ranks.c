/* The factor follows element by element, by rank updates; see updown.h. */
#include "solvers/linalg/multifrontal.h"
#include "solvers/warp_cholesky/constrained.h"
#include "solvers/warp_cholesky/renew.h"

#include <string.h>

/* The 12 x 12 entries of A at an element's corners; zero in rows and columns of fixed nodes. */
static void gather(const eb_block_matrix *A, const uint8_t *fixed, const int32_t node[4],
                   double out[144]) {
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) {
      bool kept = !fixed[node[a]] && !fixed[node[b]];
      int32_t block = kept ? eb_block_matrix_find(A, node[a], node[b]) : -1;
      const double *from = A->values + 9 * (int64_t)block;
      for (int k = 0; k < 9; k++) out[12 * (3 * a + k / 3) + 3 * b + k % 3] = kept ? from[k] : 0;
    }
}

/* Elements are refreshed one at a time: what A changes by is what this element does. */
static eb_error change(eb_warp *w, int32_t e, eb_step_log *log) {
  const eb_block_matrix *A = w->implicit.matrix;
  const int32_t *node = w->implicit.scene->mesh->elements + 4 * (int64_t)e;
  double before[144], difference[144];
  eb_log_begin(log, EB_PHASE_ASSEMBLE);
  gather(A, w->fixed, node, before);
  w->only[e] = 1;
  eb_corotation_refresh(w->corotation, w->only, w->stiffness_scale, w->implicit.matrix);
  w->only[e] = 0;
  gather(A, w->fixed, node, difference);
  for (int k = 0; k < 144; k++) difference[k] -= before[k];
  eb_log_end(log, EB_PHASE_ASSEMBLE);
  eb_log_begin(log, EB_PHASE_UPDATE);
  eb_error error = eb_updown_change(w->updown, node, difference);
  eb_log_end(log, EB_PHASE_UPDATE);
  return error;
}

eb_error eb_warp_renew_by_ranks(eb_warp *w, eb_step_log *log, eb_reason *reason) {
  const eb_mesh *mesh = w->implicit.scene->mesh;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (w->refresh[e]) EB_TRY(change(w, e, log));
  if (w->constrained != w->implicit.matrix)
    eb_constrained_follow(w->implicit.matrix, mesh, w->refresh, w->fixed, w->touched,
                          w->constrained);
  eb_log_updates(log, w->refresh, mesh->element_count);
  eb_log_begin(log, EB_PHASE_UPDATE);
  eb_error error = eb_updown_flush(w->updown, reason);
  eb_log_end(log, EB_PHASE_UPDATE);
  return error;
}
