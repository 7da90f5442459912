#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/mesh/io/draft.h"

static size_t slot_of(const eb_joiner *j, const eb_facets *facets, const double x[3]) {
  size_t i = (size_t)(eb_hash(EB_HASH_SEED, x, 3 * sizeof *x) & (j->capacity - 1));
  while (j->slot[i] && memcmp(facets->X + 3 * (j->slot[i] - 1), x, 3 * sizeof *x) != 0)
    i = (i + 1) & (j->capacity - 1);
  return i;
}

static eb_error widen(eb_joiner *j, const eb_facets *facets) {
  if (2 * (facets->vertex_count + 1) <= j->capacity) return EB_OK;
  free(j->slot);
  j->slot = NULL;
  j->capacity = j->capacity ? 4 * j->capacity : 1024;
  EB_TRY(EB_NEW(j->slot, j->capacity));
  for (size_t v = 0; v < facets->vertex_count; v++)
    j->slot[slot_of(j, facets, facets->X + 3 * v)] = (int64_t)v + 1;
  return EB_OK;
}

eb_error eb_join(eb_joiner *j, eb_facets *facets, const double position[3], int64_t *out) {
  double x[3];
  EB_TRY(widen(j, facets));
  for (int d = 0; d < 3; d++) x[d] = position[d] + 0.0; /* -0 becomes 0 */
  size_t i = slot_of(j, facets, x);
  if (!j->slot[i]) {
    EB_TRY(eb_facets_vertex(facets, x));
    j->slot[i] = (int64_t)facets->vertex_count;
  }
  *out = j->slot[i] - 1;
  return EB_OK;
}

void eb_joiner_clear(eb_joiner *j) {
  free(j->slot);
  *j = (eb_joiner){0};
}
