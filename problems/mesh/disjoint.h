/* Disjoint sets over 0 .. n - 1: parent[i] leads towards the lowest member of i's set, which is its
 * own parent. */
#ifndef EB_MESH_DISJOINT_H
#define EB_MESH_DISJOINT_H

#include <stdint.h>

/* The lowest member of i's set; shortens the way to it. */
static inline int32_t eb_disjoint_root(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

static inline void eb_disjoint_join(int32_t *parent, int32_t i, int32_t j) {
  int32_t a = eb_disjoint_root(parent, i), b = eb_disjoint_root(parent, j);
  parent[a > b ? a : b] = a > b ? b : a;
}

#endif
