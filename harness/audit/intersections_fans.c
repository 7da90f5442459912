/* The fans of a surface: vertices that triangles go all round of, once, in an order. Most pairs of
 * triangles whose boxes meet are neighbours; where their fan spreads they need not be tested.
 *
 * Workspace of eb_intersections_find_fans: 4 bytes a vertex, freed before it returns. */
#include <stdlib.h>

#include "harness/audit/intersections_data.h"
#include "problems/base/memory.h"

static int32_t after(const eb_intersections *c, int32_t corner, int32_t steps) {
  return c->triangles[corner - corner % 3 + (corner % 3 + steps) % 3];
}

/* Puts spokes into the order in which each triangle ends where the next begins. False when that is
 * not one round of all of them. */
static bool go_round(const eb_intersections *c, eb_spoke *spokes, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    int32_t end = after(c, spokes[i].corner, 2), next = -1, matches = 0;
    for (int32_t j = 0; j < count; j++)
      if (spokes[j].rim == end) {
        next = j;
        matches++;
      }
    bool closes = i == count - 1;
    if (matches != 1 || (closes ? next != 0 : next <= i)) return false;
    if (closes) break;
    eb_spoke keep = spokes[i + 1];
    spokes[i + 1] = spokes[next];
    spokes[next] = keep;
  }
  return count >= 3;
}

/* The corners of soft solids: `first` to `last` - 1. */
static void soft_corners(const eb_intersections *c, const eb_solid *solid, int32_t *first,
                         int32_t *last) {
  bool soft = solid->kind == EB_SOLID_SOFT && solid->last > solid->root;
  *first = soft ? 3 * c->nodes[solid->root].first : 0;
  *last = soft ? *first + 3 * c->nodes[solid->root].count : 0;
}

/* The spokes of vertex i end up at start[i] .. start[i + 1] - 1. */
static void sort_spokes(eb_intersections *c, int32_t vertices, int32_t *start) {
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t s = 0; s < c->count; s++) {
      int32_t first, last;
      soft_corners(c, &c->solids[s], &first, &last);
      for (int32_t k = first; k < last; k++) {
        int32_t *at = &start[c->triangles[k]];
        if (pass == 0)
          ++*at;
        else
          c->spokes[--*at] = (eb_spoke){after(c, k, 1), k};
      }
    }
    for (int32_t i = 0; pass == 0 && i < vertices; i++) start[i + 1] += start[i];
  }
}

/* No vertex, and no other's. */
static int32_t own_mark(int32_t triangle, int32_t k) {
  return -1 - 4 * triangle - k;
}

eb_error eb_intersections_find_fans(eb_intersections *c, int32_t vertices) {
  int32_t *start;
  EB_TRY(EB_NEW(start, (size_t)vertices + 1));
  sort_spokes(c, vertices, start);
  for (int32_t i = 0; i < vertices; i++) {
    int32_t count = start[i + 1] - start[i];
    if (go_round(c, c->spokes + start[i], count))
      c->fans[c->fan_count++] = (eb_fan){i, start[i], count};
  }
  free(start);
  for (int32_t t = 0; t < c->triangle_count; t++)
    for (int32_t k = 0; k < 4; k++) c->mark[t][k] = own_mark(t, k);
  return EB_OK;
}

void eb_intersections_mark_fans(eb_intersections *c, const double *x, int32_t first, int32_t last) {
  for (int32_t f = first; f < last; f++) {
    const eb_fan *fan = &c->fans[f];
    const eb_spoke *spokes = c->spokes + fan->first;
    bool spreads = eb_exact_fan_spreads(x, fan->vertex, fan->count, spokes, c->normals);
    for (int32_t i = 0; i < fan->count; i++) {
      int32_t t = spokes[i].corner / 3, k = spokes[i].corner % 3;
      c->mark[t][k] = spreads ? fan->vertex : own_mark(t, k);
    }
  }
}
