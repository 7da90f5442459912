/* So many of the worst elements, whatever supernodes they are in: the schedule of a forest of
 * single elements that cost one each. */
#ifndef EB_WARP_WORST_H
#define EB_WARP_WORST_H

#include <stdint.h>

#include "problems/base/error.h"

typedef struct eb_worst {
  int32_t elements;
  int32_t *parent, *heap; /* elements: all -1; workspace */
  double *cost;           /* elements: all 1 */
} eb_worst;

EB_MUST eb_error eb_worst_create(int32_t elements, eb_worst *out);
void eb_worst_clear(eb_worst *worst);

/* chosen[e] != 0 for the `count` elements of the largest errors, or for all when there are no more.
 * Ties go to the lower index; an error that is not a number is the worst. Returns how many are
 * chosen. */
int32_t eb_worst_choose(eb_worst *worst, const double *error, int32_t count, uint8_t *chosen);

#endif
