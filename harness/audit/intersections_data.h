/* What intersections.c walks and intersections_trees.c builds. Internal to harness/audit. */
#ifndef EB_AUDIT_INTERSECTIONS_DATA_H
#define EB_AUDIT_INTERSECTIONS_DATA_H

#include "harness/audit/intersections.h"
#include "harness/audit/exact_triangles.h"
#include "harness/audit/four.h"
#include "problems/base/arena.h"

/* x, y, z, 0: compared at once. */
typedef double eb_corner __attribute__((vector_size(32), aligned(8)));

typedef struct eb_span {
  eb_corner lo, hi; /* m, inclusive */
} eb_span;

/* Whether the boxes are farther apart than that along some axis, m. */
static inline bool eb_span_apart(const eb_span *a, const eb_span *b, double distance) {
  return eb_four_any((eb_four_mask)((a->lo > b->hi + distance) | (b->lo > a->hi + distance)));
}

enum { EB_SPAN_LEAF = 8 /* triangles of a leaf, at most */ };

/* Depth first: the first child follows, the second comes after its subtree. */
typedef struct eb_span_node {
  int32_t first, count; /* triangles, in the order of the trees */
  int32_t second;       /* 0 at a leaf */
  int32_t after;        /* the node after its subtree */
} eb_span_node;

typedef struct eb_intersected_solid {
  eb_solid_kind kind;
  int32_t root, last;              /* its nodes: root .. last - 1; none without triangles */
  int32_t first_piece, last_piece; /* of `piece` */
  bool closed;
} eb_intersected_solid;

typedef struct eb_fan {
  int32_t vertex, first, count; /* of `spokes` */
} eb_fan;

struct eb_intersections {
  int32_t count, triangle_count, node_count, fan_count;
  eb_intersected_solid *solids;
  int32_t *triangles; /* x 3, in the order of the trees */
  eb_span *tight;     /* of the triangles */
  eb_span_node *nodes;
  eb_span *spans;                /* of the nodes */
  eb_intersection_counts *found; /* of each solid and those after it */
  int32_t *piece;                /* a vertex of each connected piece of surface, by solid */
  eb_exact_normal *normals;      /* of the triangles */
  eb_fan *fans;                  /* of soft solids */
  eb_spoke *spokes;              /* 3 a triangle */
  int32_t (*mark)[4]; /* of a triangle's corners: the vertex, if its fan spreads there; else, and in
                         the last, a number that is nowhere else */
  eb_arena owned;
};

/* What a corner of a triangle has for a mark whose fan does not spread: no vertex, and no other's.
 */
static inline int32_t eb_own_mark(int32_t triangle, int32_t corner) {
  return -1 - 4 * triangle - corner;
}

#endif
