/* The surfaces of a collision mesh as few boxes: patches of neighbouring triangles, and a tree of
 * boxes over the patches. Internal to problems/collision/. */
#ifndef EB_PATCHES_H
#define EB_PATCHES_H

#include <float.h>
#include <math.h>

#include "problems/collision/collisions.h"

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Axis-aligned boxes in single precision, rounded outward: (lo, *, -hi, *), so that one minimum
 * encloses and one comparison tells whether two of them meet. */

/* Without AVX the compiler notes that vectors are passed in another way; all callers are compiled
 * alike. */
#if defined(__GNUC__) && !defined(__AVX__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

typedef float eb_bounds __attribute__((vector_size(32)));
typedef int32_t eb_bounds_mask __attribute__((vector_size(32)));

/* Largest coordinate, m, that boxes hold. */
#define EB_BOUNDS_LIMIT 1e30

static inline eb_bounds eb_bounds_none(void) {
  return (eb_bounds){FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX};
}

static inline eb_bounds eb_bounds_join(eb_bounds a, eb_bounds b) {
  eb_bounds out;
  for (int k = 0; k < 8; k++) out[k] = a[k] < b[k] ? a[k] : b[k];
  return out;
}

/* Touching counts. */
static inline bool eb_bounds_meet(eb_bounds a, eb_bounds b) {
  eb_bounds_mask apart = a > -__builtin_shufflevector(b, b, 4, 5, 6, 7, 0, 1, 2, 3);
#ifdef __AVX__
  return __builtin_ia32_movmskps256((eb_bounds)apart) == 0;
#else
  int32_t any = 0;
  for (int k = 0; k < 8; k++) any |= apart[k];
  return any == 0;
#endif
}

/* Encloses lo .. hi (m, within the limit) with a margin far above the rounding errors of what gave
 * them: 2^-22 of the `size` of the numbers that entered, and the smallest float. */
static inline eb_bounds eb_bounds_of(const double lo[3], const double hi[3], const double size[3]) {
  eb_bounds box = {0};
  for (int d = 0; d < 3; d++) {
    double margin = 0x1p-22 * size[d] + (double)FLT_MIN;
    box[d] = (float)(lo[d] - margin);
    box[4 + d] = (float)(-hi[d] - margin);
  }
  return box;
}

/* ---- a tree of boxes ------------------------------------------------------------------------- */

/* A tree of boxes over anything that has boxes: halves by the median of their middles along the
 * longest axis, one leaf a box.
 *
 * Nodes stand in preorder with the number of the node after their subtree, so that a walk needs no
 * stack. Its shape follows from the number of leaves. */

/* A point with a name. */
typedef struct eb_tree_point {
  float at[3];
  int32_t index;
} eb_tree_point;

typedef struct eb_triangle_tree {
  int32_t leaf_count, node_count; /* node_count = max(0, 2 leaf_count - 1) */
  eb_bounds *box;                 /* node_count */
  int32_t *after;                 /* node_count */
  int32_t *leaf;                  /* node_count: the leaf, or -1 */
  int32_t *body;                  /* node_count: of all leaves below, or -1 where they differ */
  int32_t *node;                  /* leaf_count: where a leaf stands */
  eb_tree_point *point;           /* leaf_count, workspace */
} eb_triangle_tree;

EB_MUST eb_error eb_triangle_tree_create(int32_t leaf_count, eb_triangle_tree **out);
void eb_triangle_tree_destroy(eb_triangle_tree *tree);
/* Orders the leaves. `body`: a number a leaf, or -1. Boxes of nodes are set by the next fit. */
void eb_triangle_tree_build(eb_triangle_tree *tree, const eb_bounds *leaves, const int32_t *body);
/* Encloses the leaves' boxes. */
void eb_triangle_tree_fit(eb_triangle_tree *tree, const eb_bounds *leaves);

/* ---- patches --------------------------------------------------------------------------------- */

/* Patches: up to eight neighbouring triangles of one group, with the vertices and edges that they
 * are the first to have.
 *
 * Every feature belongs to one patch, whose box encloses it. So two features that are near have
 * patches that are near, and a pair of patches lists a pair of features once (the representatives
 * of Curtis et al. 2008, for groups of triangles). Features have numbers of their own, in the order
 * of the patches: first all vertices, then edges, then triangles. Vertices of no triangle have
 * none. */

enum { EB_PATCH_TRIANGLES = 8, EB_PATCH_FEATURES = 3 * EB_PATCH_TRIANGLES };

typedef enum eb_feature { EB_VERTEX, EB_EDGE, EB_TRIANGLE_FACE, EB_FEATURES } eb_feature;

typedef struct eb_patches {
  const eb_collision_mesh *mesh;
  int32_t count, feature_count;
  int32_t first[EB_FEATURES + 1]; /* where the features of a kind begin */
  int32_t *begin[EB_FEATURES];    /* count + 1: where those of a patch begin */
  int32_t *index;                 /* feature_count: in the mesh */
  int32_t (
      *corner)[4]; /* feature_count: vertices (features) of a feature; the last ones repeated */
  /* count: patches of one body, 0 or more, are not tested against each other; -1: any */
  int32_t *body;
  int32_t *sides;              /* 3 a triangle of the mesh: its edges in the mesh */
  int32_t *feature_of[2];      /* workspace: of vertices and edges of the mesh, or -1 */
  int32_t *group_end;          /* workspace, group_count + 1 */
  struct eb_tree_point *point; /* workspace, triangle_count */
} eb_patches;

EB_MUST eb_error eb_patches_create(const eb_collision_mesh *mesh, eb_patches **out);
void eb_patches_destroy(eb_patches *patches);
/* Makes compact patches at x (vertex_count x 3, m). */
void eb_patches_form(eb_patches *patches, const double *x);
/* Sum over patches of the sides of the boxes of the vertices that they own, m: grows by at most
 * sqrt 3 as bodies turn and by more where patches tear. x: of vertex features. */
double eb_patches_spread(const eb_patches *patches, const double (*x)[3]);

#endif
