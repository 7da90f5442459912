#include "problems/mesh/surface_checks.h"

#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/mesh/tuples.h"

/* Edge 3 t + i runs from corner i of triangle t to the next. */
static void edge_ends(const eb_surface *surface, int32_t edge, int32_t end[2]) {
  const int32_t *triangle = surface->triangles + 3 * (size_t)(edge / 3);
  end[0] = triangle[edge % 3];
  end[1] = triangle[(edge + 1) % 3];
}

static eb_error describe(const eb_surface *surface, int32_t edge, int32_t uses, int32_t forwards) {
  int32_t end[2], triangle = edge / 3;
  edge_ends(surface, edge, end);
  if (uses == 1)
    return EB_ERROR(EB_ERR_INVALID,
                    "the surface is open: edge %d-%d of triangle %d belongs to no other triangle",
                    end[0], end[1], triangle);
  if (uses == 2)
    return EB_ERROR(EB_ERR_INVALID,
                    "edge %d-%d of triangle %d is run through twice the same way: its two "
                    "triangles are not consistently oriented",
                    end[0], end[1], triangle);
  return EB_ERROR(EB_ERR_INVALID,
                  "edge %d-%d of triangle %d is not manifold: %d triangles meet there, %d of them "
                  "run from the lower vertex to the higher",
                  end[0], end[1], triangle, uses, forwards);
}

/* The lowest edge that breaks the rule, with what is wrong with it. */
typedef struct fault {
  int32_t edge, uses, forwards;
} fault;

static fault find_fault(const eb_surface *surface, const int32_t *keys, const int32_t *order,
                        bool manifold) {
  fault worst = {-1, 0, 0};
  int32_t edges = 3 * surface->triangle_count;
  for (int32_t i = 0, stop; i < edges; i = stop) {
    const int32_t *key = keys + 2 * (size_t)order[i];
    int32_t forwards = 0;
    for (stop = i; stop < edges; stop++) {
      int32_t end[2];
      if (eb_tuple_compare(key, keys + 2 * (size_t)order[stop], 2) != 0) break;
      edge_ends(surface, order[stop], end);
      forwards += end[0] < end[1];
    }
    bool good = 2 * forwards == stop - i && (!manifold || forwards == 1);
    if (!good && (worst.edge < 0 || order[i] < worst.edge))
      worst = (fault){order[i], stop - i, forwards};
  }
  return worst;
}

static eb_error check_sorted(const eb_surface *surface, int32_t *keys, bool manifold) {
  int32_t edges = 3 * surface->triangle_count, *order;
  for (int32_t edge = 0; edge < edges; edge++) {
    edge_ends(surface, edge, keys + 2 * (size_t)edge);
    eb_tuple_sort(keys + 2 * (size_t)edge, 2);
  }
  EB_TRY(eb_tuples_order(keys, 2, edges, surface->vertex_count, &order));
  fault worst = find_fault(surface, keys, order, manifold);
  free(order);
  return worst.edge < 0 ? EB_OK : describe(surface, worst.edge, worst.uses, worst.forwards);
}

eb_error eb_surface_check_edges(const eb_surface *surface, bool manifold) {
  int32_t *keys;
  if (surface->triangle_count > INT32_MAX / 3)
    return EB_ERROR(EB_ERR_LIMIT, "%d triangles are too many", surface->triangle_count);
  EB_TRY(EB_NEW(keys, 6 * (size_t)surface->triangle_count));
  eb_error error = check_sorted(surface, keys, manifold);
  free(keys);
  return error;
}
