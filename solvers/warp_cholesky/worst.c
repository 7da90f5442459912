#include "solvers/warp_cholesky/worst.h"

#include <stdlib.h>

#include "problems/base/memory.h"
#include "solvers/warp_cholesky/schedule.h"

eb_error eb_worst_create(int32_t elements, eb_worst *out) {
  *out = (eb_worst){.elements = elements};
  EB_TRY(EB_NEW(out->parent, elements));
  EB_TRY(EB_NEW(out->heap, elements));
  EB_TRY(EB_NEW(out->cost, elements));
  for (int32_t e = 0; e < elements; e++) {
    out->parent[e] = -1;
    out->cost[e] = 1;
  }
  return EB_OK;
}

void eb_worst_clear(eb_worst *worst) {
  free(worst->parent);
  free(worst->heap);
  free(worst->cost);
  *worst = (eb_worst){0};
}

/* A budget takes what stays below it: the half keeps rounding out of the last one. */
int32_t eb_worst_choose(eb_worst *worst, const double *error, int32_t count, uint8_t *chosen) {
  const eb_update_rule rule = {.goal = EB_UPDATE_TIME, .budget = count + 0.5};
  const eb_update_tree forest = {worst->elements, worst->parent, error, worst->cost};
  return (int32_t)eb_update_schedule(&rule, &forest, worst->heap, chosen);
}
