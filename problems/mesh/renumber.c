#include "problems/mesh/renumber.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/random.h"

/* Durstenfeld 1964. */
static void draw_permutation(uint64_t *random, int32_t count, int32_t *out) {
  for (int32_t i = 0; i < count; i++) out[i] = i;
  for (int32_t i = count - 1; i > 0; i--) {
    int32_t j = (int32_t)(eb_random_word(random) % (uint64_t)(i + 1)), kept = out[i];
    out[i] = out[j];
    out[j] = kept;
  }
}

/* Cycles of three nodes of a triangle or of a tetrahedron's first face, and quarter turns of a
 * hexahedron about its vertical, keep the orientation. */
static void turn_element(eb_element_type type, int turns, int32_t *nodes) {
  int cycle = type == EB_HEXAHEDRON ? 4 : 3;
  for (int first = 0; first + cycle <= (int)type; first += cycle) {
    int32_t was[4];
    memcpy(was, nodes + first, (size_t)cycle * sizeof *was);
    for (int k = 0; k < cycle; k++) nodes[first + k] = was[(k + turns) % cycle];
  }
}

/* Rows of so many bytes move from i to to[i]. */
static eb_error move_rows(void *rows, size_t bytes, const int32_t *to, int32_t count) {
  EB_FREED char *was = NULL;
  if (!rows) return EB_OK;
  EB_TRY(EB_NEW(was, (size_t)count * bytes));
  memcpy(was, rows, (size_t)count * bytes);
  for (int32_t i = 0; i < count; i++)
    memcpy((char *)rows + (size_t)to[i] * bytes, was + (size_t)i * bytes, bytes);
  return EB_OK;
}

static int by_number(const void *a, const void *b) {
  int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
  return p < q ? -1 : p > q;
}

eb_error eb_mesh_renumber(eb_mesh *mesh, uint64_t seed) {
  EB_FREED int32_t *node = NULL, *element = NULL;
  size_t corners = (size_t)mesh->type;
  EB_TRY(EB_NEW(node, mesh->node_count));
  EB_TRY(EB_NEW(element, mesh->element_count));
  draw_permutation(&seed, mesh->node_count, node);
  draw_permutation(&seed, mesh->element_count, element);
  for (size_t k = 0; k < corners * (size_t)mesh->element_count; k++)
    mesh->elements[k] = node[mesh->elements[k]];
  for (int32_t e = 0; e < mesh->element_count; e++)
    turn_element(mesh->type, (int)(eb_random_word(&seed) % 12),
                 mesh->elements + corners * (size_t)e);
  EB_TRY(move_rows(mesh->X, 3 * sizeof *mesh->X, node, mesh->node_count));
  EB_TRY(move_rows(mesh->elements, corners * sizeof *mesh->elements, element, mesh->element_count));
  EB_TRY(move_rows(mesh->region, sizeof *mesh->region, element, mesh->element_count));
  EB_TRY(move_rows(mesh->fibre, 3 * sizeof *mesh->fibre, element, mesh->element_count));
  for (int32_t s = 0; s < mesh->set_count; s++) {
    eb_node_set *set = &mesh->sets[s];
    for (int32_t i = 0; i < set->count; i++) set->nodes[i] = node[set->nodes[i]];
    qsort(set->nodes, (size_t)set->count, sizeof *set->nodes, by_number);
  }
  return EB_OK;
}

static void swap(int32_t *a, int32_t *b) {
  int32_t kept = *a;
  *a = *b;
  *b = kept;
}

void eb_mesh_mirror(eb_mesh *mesh) {
  for (int32_t i = 0; i < mesh->node_count; i++) mesh->X[3 * i + 1] = -mesh->X[3 * i + 1];
  for (int32_t e = 0; e < mesh->element_count; e++) {
    int32_t *nodes = mesh->elements + (size_t)mesh->type * (size_t)e;
    if (mesh->fibre) mesh->fibre[3 * e + 1] = -mesh->fibre[3 * e + 1];
    swap(&nodes[1], &nodes[mesh->type == EB_HEXAHEDRON ? 3 : 2]);
    if (mesh->type == EB_HEXAHEDRON) swap(&nodes[5], &nodes[7]);
  }
}
