/* Elements sorted by the supernode they belong to. */
#include "solvers/warp_cholesky/element_map.h"

#include "problems/base/memory.h"

#include <math.h>

static int32_t owner_of(const eb_mesh *mesh, const eb_supernodes *tree, int32_t e) {
  const int32_t *node = mesh->elements + (int64_t)mesh->type * e;
  int32_t first = node[0];
  for (int a = 1; a < (int)mesh->type; a++)
    if (tree->position[node[a]] < tree->position[first]) first = node[a];
  return tree->of_node[first];
}

eb_error eb_element_map_create(const eb_mesh *mesh, const eb_supernodes *tree,
                               eb_element_map *out) {
  *out = (eb_element_map){.supernodes = tree->count, .elements = mesh->element_count};
  eb_error error = EB_NEW(out->start, (size_t)tree->count + 1);
  if (!error) error = EB_NEW(out->element, mesh->element_count);
  if (error) {
    eb_element_map_clear(out);
    return error;
  }
  for (int32_t e = 0; e < mesh->element_count; e++) out->start[owner_of(mesh, tree, e)]++;
  for (int32_t s = 0; s < tree->count; s++) out->start[s + 1] += out->start[s];
  for (int32_t e = mesh->element_count - 1; e >= 0; e--)
    out->element[--out->start[owner_of(mesh, tree, e)]] = e;
  return EB_OK;
}

void eb_element_map_clear(eb_element_map *map) {
  free(map->start);
  free(map->element);
  *map = (eb_element_map){0};
}

void eb_element_map_badness(const eb_element_map *map, const double *error, double *badness) {
  const int32_t *start = map->start, *element = map->element;
#pragma omp parallel for schedule(static)
  for (int32_t s = 0; s < map->supernodes; s++) {
    double worst = -1;
    for (int32_t k = start[s]; k < start[s + 1]; k++) {
      double found = error[element[k]];
      if (!(found <= worst)) worst = isnan(worst) ? worst : found;
    }
    badness[s] = worst;
  }
}

void eb_element_map_want(const eb_element_map *map, const uint8_t *chosen, double *badness) {
  const int32_t *start = map->start, *element = map->element;
  for (int32_t s = 0; s < map->supernodes; s++) {
    badness[s] = -1;
    for (int32_t k = start[s]; k < start[s + 1]; k++)
      if (chosen[element[k]]) badness[s] = 1;
  }
}

int32_t eb_element_map_choose(const eb_element_map *map, const uint8_t *marked, int least,
                              uint8_t *chosen) {
  const int32_t *start = map->start, *element = map->element;
  int32_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (int32_t s = 0; s < map->supernodes; s++) {
    bool on = marked[s] >= least;
    for (int32_t k = start[s]; k < start[s + 1]; k++) chosen[element[k]] = on;
    if (on) count += start[s + 1] - start[s];
  }
  return count;
}
