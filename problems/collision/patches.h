/* Patches of a collision mesh: up to eight neighbouring triangles of one group, with the vertices
 * and edges that they are the first to have. Inside problems/collision only.
 *
 * Every feature belongs to one patch, whose box encloses it. So two features that are near have
 * patches that are near, and a pair of patches lists a pair of features once (the representatives
 * of Curtis et al. 2008, for groups of triangles). Features have numbers of their own, in the order
 * of the patches: first all vertices, then edges, then triangles. Vertices of no triangle have
 * none. */
#ifndef EB_COLLISION_PATCHES_H
#define EB_COLLISION_PATCHES_H

#include "problems/base/median.h"
#include "problems/collision/collisions.h"

enum { EB_PATCH_TRIANGLES = 8, EB_PATCH_FEATURES = 3 * EB_PATCH_TRIANGLES };

typedef enum eb_feature_kind {
  EB_FEATURE_VERTEX,
  EB_FEATURE_EDGE,
  EB_FEATURE_TRIANGLE,
  EB_FEATURE_KINDS
} eb_feature_kind;

typedef struct eb_patches {
  const eb_collision_mesh *mesh;
  int32_t count, feature_count;
  int32_t first[EB_FEATURE_KINDS + 1]; /* where the features of a kind begin */
  int32_t *begin[EB_FEATURE_KINDS];    /* count + 1: where those of a patch begin */
  int32_t *index;                      /* feature_count: in the mesh */
  int32_t (*corner)[4]; /* feature_count: vertices (features) of a feature; the last repeated */
  /* count: patches of one body, 0 or more, are not tested against each other; -1: any */
  int32_t *body;
  int32_t *sides;         /* 3 a triangle of the mesh: its edges in the mesh */
  int32_t *feature_of[2]; /* workspace: of vertices and edges of the mesh, or -1 */
  int32_t *group_end;     /* workspace, group_count + 1 */
  eb_named_point *point;  /* workspace, triangle_count */
} eb_patches;

/* What of the patches does not depend on places. The mesh must outlive them. On failure `out` is to
 * be cleared all the same. */
EB_MUST eb_error eb_patches_create(const eb_collision_mesh *mesh, eb_patches *out);
void eb_patches_clear(eb_patches *patches);
/* Makes compact patches at x (vertices of the mesh x 3, m). */
void eb_patches_form(eb_patches *patches, const double *x);
/* Sum over patches of the sides of the boxes of the vertices that they own, m: grows by at most
 * sqrt 3 as bodies turn and by more where patches tear. x: of vertex features. */
double eb_patches_spread(const eb_patches *patches, const double (*x)[3]);

#endif
