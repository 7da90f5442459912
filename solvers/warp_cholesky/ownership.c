/* Elements sorted by the supernode they belong to. */
#include "solvers/warp_cholesky/ownership.h"

#include "problems/base/memory.h"

#include <math.h>

static int32_t owner_of(const eb_mesh *mesh, const eb_supernodes *tree, int32_t e) {
  const int32_t *node = mesh->elements + (int64_t)mesh->type * e;
  int32_t first = node[0];
  for (int a = 1; a < (int)mesh->type; a++)
    if (tree->position[node[a]] < tree->position[first]) first = node[a];
  return tree->of_node[first];
}

eb_error eb_ownership_create(const eb_mesh *mesh, const eb_supernodes *tree, eb_ownership *out) {
  *out = (eb_ownership){.supernodes = tree->count, .elements = mesh->element_count};
  eb_error error = EB_NEW(out->start, (size_t)tree->count + 1);
  if (!error) error = EB_NEW(out->element, mesh->element_count);
  if (error) {
    eb_ownership_clear(out);
    return error;
  }
  for (int32_t e = 0; e < mesh->element_count; e++) out->start[owner_of(mesh, tree, e)]++;
  for (int32_t s = 0; s < tree->count; s++) out->start[s + 1] += out->start[s];
  for (int32_t e = mesh->element_count - 1; e >= 0; e--)
    out->element[--out->start[owner_of(mesh, tree, e)]] = e;
  return EB_OK;
}

void eb_ownership_clear(eb_ownership *ownership) {
  free(ownership->start);
  free(ownership->element);
  *ownership = (eb_ownership){0};
}

void eb_ownership_badness(const eb_ownership *ownership, const double *error, double *badness) {
  const int32_t *start = ownership->start, *element = ownership->element;
#pragma omp parallel for schedule(static)
  for (int32_t s = 0; s < ownership->supernodes; s++) {
    double worst = -1;
    for (int32_t k = start[s]; k < start[s + 1]; k++) {
      double found = error[element[k]];
      if (!(found <= worst)) worst = isnan(worst) ? worst : found;
    }
    badness[s] = worst;
  }
}

void eb_ownership_want(const eb_ownership *ownership, const uint8_t *chosen, double *badness) {
  const int32_t *start = ownership->start, *element = ownership->element;
  for (int32_t s = 0; s < ownership->supernodes; s++) {
    badness[s] = -1;
    for (int32_t k = start[s]; k < start[s + 1]; k++)
      if (chosen[element[k]]) badness[s] = 1;
  }
}

int32_t eb_ownership_choose(const eb_ownership *ownership, const uint8_t *marked, int least,
                            uint8_t *chosen) {
  const int32_t *start = ownership->start, *element = ownership->element;
  int32_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (int32_t s = 0; s < ownership->supernodes; s++) {
    bool on = marked[s] >= least;
    for (int32_t k = start[s]; k < start[s + 1]; k++) chosen[element[k]] = on;
    if (on) count += start[s + 1] - start[s];
  }
  return count;
}
