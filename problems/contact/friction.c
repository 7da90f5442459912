#include "problems/contact/friction.h"

#include <math.h>
#include <stdlib.h>

static bool has(uint32_t names, int32_t name) {
  return names >> name & 1;
}

double eb_friction_between(const eb_friction_law *law, uint32_t a, uint32_t b) {
  for (int32_t k = law->pair_count - 1; k >= 0; k--) {
    const eb_friction_pair *pair = &law->pairs[k];
    if ((has(a, pair->a) && has(b, pair->b)) || (has(a, pair->b) && has(b, pair->a)))
      return pair->mu;
  }
  return law->common;
}

double eb_friction_of(const eb_friction_law *law, const eb_pair *pair) {
  if (law->pair_count == 0) return law->common;
  uint32_t names[2] = {UINT32_MAX, UINT32_MAX};
  int first = pair->kind == EB_VERTEX_FACE ? 1 : 2;
  for (int i = 0; i < 4; i++) names[i >= first] &= law->names[pair->vertex[i]];
  return eb_friction_between(law, names[0], names[1]);
}

bool eb_friction_any(const eb_friction_law *law) {
  bool any = law->common > 0;
  for (int32_t k = 0; k < law->pair_count; k++) any = any || law->pairs[k].mu > 0;
  return any;
}

static bool is_coefficient(double mu) {
  return mu >= 0 && isfinite(mu);
}

eb_error eb_friction_validate(const eb_friction_law *law) {
  if (!is_coefficient(law->common))
    return EB_ERROR(EB_ERR_INVALID, "contact friction is %g; it is to be at least 0", law->common);
  if (law->pair_count > 0 && !law->names)
    return EB_ERROR(EB_ERR_INVALID, "friction has pairs of names that no vertex has");
  for (int32_t k = 0; k < law->pair_count; k++) {
    const eb_friction_pair *pair = &law->pairs[k];
    if (!is_coefficient(pair->mu))
      return EB_ERROR(EB_ERR_INVALID, "friction of pair %d is %g; it is to be at least 0", k + 1,
                      pair->mu);
    if (pair->a < 0 || pair->a >= EB_FRICTION_NAMES || pair->b < 0 || pair->b >= EB_FRICTION_NAMES)
      return EB_ERROR(EB_ERR_INVALID,
                      "friction of pair %d is of names %d and %d; there are 0 to %d", k + 1,
                      pair->a, pair->b, EB_FRICTION_NAMES - 1);
  }
  return EB_OK;
}

void eb_friction_clear(eb_friction_law *law) {
  free(law->pairs);
  free(law->names);
  *law = (eb_friction_law){0};
}
