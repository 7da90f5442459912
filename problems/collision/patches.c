/* Triangles are sorted by group, then halved by the median of their centroids until eight or fewer
 * are left; all patches of a group but one have eight. Workspace: a point a triangle. */
#include "problems/collision/patches.h"

#include <string.h>

#include "problems/base/memory.h"

/* ---- the tree -------------------------------------------------------------------------------- */

/* Median splits: n log n to build, n to fit. Workspace: the points of the leaves. */

/* ---- halving --------------------------------------------------------------------------------- */

static int longest_axis(const eb_tree_point *points, int32_t count) {
  float lo[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, hi[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (int32_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) {
      float at = points[i].at[d];
      lo[d] = at < lo[d] ? at : lo[d];
      hi[d] = at > hi[d] ? at : hi[d];
    }
  int axis = 0;
  for (int d = 1; d < 3; d++)
    if (hi[d] - lo[d] > hi[axis] - lo[axis]) axis = d;
  return axis;
}

/* Hoare's selection: afterwards no point before `half` lies beyond one of the others along the
 * longest axis. */
static void tree_halve(eb_tree_point *points, int32_t count, int32_t half) {
  int axis = longest_axis(points, count);
  int32_t lo = 0, hi = count - 1;
  while (lo < hi) {
    float pivot = points[lo + (hi - lo) / 2].at[axis];
    int32_t i = lo, j = hi;
    while (i <= j) {
      while (points[i].at[axis] < pivot) i++;
      while (points[j].at[axis] > pivot) j--;
      if (i > j) break;
      eb_tree_point swap = points[i];
      points[i++] = points[j];
      points[j--] = swap;
    }
    if (half <= j)
      hi = j;
    else if (half >= i)
      lo = i;
    else
      return;
  }
}

/* ---- the tree -------------------------------------------------------------------------------- */

static eb_error allocate_tree(eb_triangle_tree *tree) {
  EB_TRY(EB_NEW(tree->box, tree->node_count));
  EB_TRY(EB_NEW(tree->after, tree->node_count));
  EB_TRY(EB_NEW(tree->leaf, tree->node_count));
  EB_TRY(EB_NEW(tree->body, tree->node_count));
  EB_TRY(EB_NEW(tree->node, tree->leaf_count));
  return EB_NEW(tree->point, tree->leaf_count);
}

eb_error eb_triangle_tree_create(int32_t leaf_count, eb_triangle_tree **out) {
  *out = NULL;
  eb_triangle_tree *tree;
  EB_TRY(EB_NEW(tree, 1));
  tree->leaf_count = leaf_count;
  tree->node_count = leaf_count > 0 ? 2 * leaf_count - 1 : 0;
  eb_error error = allocate_tree(tree);
  if (error)
    eb_triangle_tree_destroy(tree);
  else
    *out = tree;
  return error;
}

void eb_triangle_tree_destroy(eb_triangle_tree *tree) {
  if (!tree) return;
  free(tree->box);
  free(tree->after);
  free(tree->leaf);
  free(tree->body);
  free(tree->node);
  free(tree->point);
  free(tree);
}

static void split_leaves(eb_triangle_tree *tree, int32_t node, int32_t first, int32_t count) {
  tree->after[node] = node + 2 * count - 1;
  if (count == 1) {
    tree->leaf[node] = tree->point[first].index;
    tree->node[tree->leaf[node]] = node;
    return;
  }
  int32_t half = count / 2;
  tree->leaf[node] = -1;
  tree_halve(tree->point + first, count, half);
  split_leaves(tree, node + 1, first, half);
  split_leaves(tree, node + 2 * half, first + half, count - half);
}

void eb_triangle_tree_build(eb_triangle_tree *tree, const eb_bounds *leaves, const int32_t *body) {
  for (int32_t l = 0; l < tree->leaf_count; l++) {
    for (int d = 0; d < 3; d++) tree->point[l].at[d] = leaves[l][d] - leaves[l][4 + d];
    tree->point[l].index = l;
  }
  if (tree->leaf_count > 0) split_leaves(tree, 0, 0, tree->leaf_count);
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    int32_t one = l >= 0 ? body[l] : tree->body[left];
    bool same = l >= 0 || one == tree->body[tree->after[left]];
    tree->body[n] = same ? one : -1;
  }
}

/* Children come after their parents: from the last node to the first. */
void eb_triangle_tree_fit(eb_triangle_tree *tree, const eb_bounds *leaves) {
  for (int32_t n = tree->node_count - 1; n >= 0; n--) {
    int32_t left = n + 1, l = tree->leaf[n];
    tree->box[n] =
        l >= 0 ? leaves[l] : eb_bounds_join(tree->box[left], tree->box[tree->after[left]]);
  }
}

/* ---- patches --------------------------------------------------------------------------------- */

/* ---- creation -------------------------------------------------------------------------------- */

/* The edge from a to b, a < b; `start`: where the edges from a vertex begin. */
static int32_t edge_between(const eb_collision_mesh *mesh, const int32_t *start, int32_t a,
                            int32_t b) {
  int32_t lo = start[a], hi = start[a + 1] - 1;
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (mesh->edges[2 * (size_t)middle + 1] < b)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo;
}

static void find_sides(const eb_collision_mesh *mesh, int32_t *start, int32_t *sides) {
  for (int32_t e = 0; e < mesh->edge_count; e++) start[mesh->edges[2 * (size_t)e] + 1]++;
  for (int32_t v = 0; v < mesh->vertex_count; v++) start[v + 1] += start[v];
  for (size_t t = 0; t < (size_t)mesh->triangle_count; t++)
    for (size_t k = 0; k < 3; k++) {
      int32_t a = mesh->triangles[3 * t + k], b = mesh->triangles[3 * t + (k + 1) % 3];
      sides[3 * t + k] = edge_between(mesh, start, a < b ? a : b, a < b ? b : a);
    }
}

static int32_t group_of_triangle(const eb_collision_mesh *mesh, int32_t t) {
  return mesh->group[mesh->triangles[3 * (size_t)t]];
}

/* Ends of the groups' triangles, and so how many patches there are. */
static int32_t count_patches(const eb_collision_mesh *mesh, int32_t *group_end) {
  int32_t count = 0;
  for (int32_t t = 0; t < mesh->triangle_count; t++) group_end[group_of_triangle(mesh, t) + 1]++;
  for (int32_t g = 0; g < mesh->group_count; g++) {
    count += (group_end[g + 1] + EB_PATCH_TRIANGLES - 1) / EB_PATCH_TRIANGLES;
    group_end[g + 1] += group_end[g];
  }
  return count;
}

static void count_features(eb_patches *p) {
  const eb_collision_mesh *mesh = p->mesh;
  int32_t used = 0;
  for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k++) {
    int32_t *seen = &p->feature_of[EB_VERTEX][mesh->triangles[k]];
    used += !*seen;
    *seen = 1;
  }
  p->first[EB_EDGE] = used;
  p->first[EB_TRIANGLE_FACE] = used + mesh->edge_count;
  p->first[EB_FEATURES] = p->feature_count = used + mesh->edge_count + mesh->triangle_count;
}

static eb_error allocate_patches(eb_patches *p, int32_t **start) {
  const eb_collision_mesh *mesh = p->mesh;
  EB_TRY(EB_NEW(p->sides, 3 * (size_t)mesh->triangle_count));
  EB_TRY(EB_NEW(*start, (size_t)mesh->vertex_count + 1));
  find_sides(mesh, *start, p->sides);
  EB_TRY(EB_NEW(p->group_end, (size_t)mesh->group_count + 1));
  EB_TRY(EB_NEW(p->feature_of[EB_VERTEX], mesh->vertex_count));
  EB_TRY(EB_NEW(p->feature_of[EB_EDGE], mesh->edge_count));
  EB_TRY(EB_NEW(p->point, mesh->triangle_count));
  p->count = count_patches(mesh, p->group_end);
  count_features(p);
  for (int k = 0; k < EB_FEATURES; k++) EB_TRY(EB_NEW(p->begin[k], (size_t)p->count + 1));
  EB_TRY(EB_NEW(p->body, p->count));
  EB_TRY(EB_NEW(p->index, p->feature_count));
  return EB_NEW(p->corner, p->feature_count);
}

eb_error eb_patches_create(const eb_collision_mesh *mesh, eb_patches **out) {
  *out = NULL;
  eb_patches *patches;
  EB_TRY(EB_NEW(patches, 1));
  patches->mesh = mesh;
  int32_t *start = NULL;
  eb_error error = allocate_patches(patches, &start);
  free(start);
  if (error)
    eb_patches_destroy(patches);
  else
    *out = patches;
  return error;
}

void eb_patches_destroy(eb_patches *patches) {
  if (!patches) return;
  for (int k = 0; k < EB_FEATURES; k++) free(patches->begin[k]);
  for (int k = 0; k < 2; k++) free(patches->feature_of[k]);
  free(patches->index);
  free(patches->corner);
  free(patches->body);
  free(patches->sides);
  free(patches->group_end);
  free(patches->point);
  free(patches);
}

/* ---- forming --------------------------------------------------------------------------------- */

/* Sorts the triangles' centroids (three times them) by group. */
static void place_points(eb_patches *p, const double *x) {
  const eb_collision_mesh *mesh = p->mesh;
  for (int32_t t = mesh->triangle_count - 1; t >= 0; t--) {
    const int32_t *v = mesh->triangles + 3 * (size_t)t;
    eb_tree_point *point = &p->point[--p->group_end[mesh->group[v[0]] + 1]];
    for (size_t d = 0; d < 3; d++)
      point->at[d] =
          (float)(x[3 * (size_t)v[0] + d] + x[3 * (size_t)v[1] + d] + x[3 * (size_t)v[2] + d]);
    point->index = t;
  }
}

static int32_t own(eb_patches *p, eb_feature kind, int32_t index, int32_t *next) {
  int32_t *feature = &p->feature_of[kind][index];
  if (*feature < 0) {
    *feature = next[kind]++;
    p->index[*feature] = index;
  }
  return *feature;
}

static void own_edge(eb_patches *p, int32_t edge, int32_t *next) {
  int32_t *corner = p->corner[own(p, EB_EDGE, edge, next)];
  const int32_t *end = p->mesh->edges + 2 * (size_t)edge;
  corner[0] = p->feature_of[EB_VERTEX][end[0]];
  corner[1] = corner[2] = corner[3] = p->feature_of[EB_VERTEX][end[1]];
}

static void own_triangle(eb_patches *p, int32_t t, int32_t *next) {
  int32_t feature = next[EB_TRIANGLE_FACE]++, *corner = p->corner[feature];
  p->index[feature] = t;
  for (size_t k = 0; k < 3; k++) {
    corner[k] = own(p, EB_VERTEX, p->mesh->triangles[3 * (size_t)t + k], next);
    for (int c = 0; c < 4; c++) p->corner[corner[k]][c] = corner[k];
  }
  corner[3] = corner[2];
  for (size_t k = 0; k < 3; k++) own_edge(p, p->sides[3 * (size_t)t + k], next);
}

typedef struct forming {
  eb_patches *patches;
  int32_t patch, next[EB_FEATURES]; /* to come */
} forming;

static void add_patch(forming *f, int32_t first, int32_t count) {
  eb_patches *p = f->patches;
  int32_t group = group_of_triangle(p->mesh, p->point[first].index);
  p->body[f->patch] = p->mesh->obstacle[group] ? 0 : p->mesh->rigid[group] ? 1 + group : -1;
  for (int k = 0; k < EB_FEATURES; k++) p->begin[k][f->patch] = f->next[k];
  for (int32_t i = first; i < first + count; i++) own_triangle(p, p->point[i].index, f->next);
  f->patch++;
}

static void split(forming *f, int32_t first, int32_t count) {
  if (count <= EB_PATCH_TRIANGLES) {
    if (count > 0) add_patch(f, first, count);
    return;
  }
  int32_t patches = (count + EB_PATCH_TRIANGLES - 1) / EB_PATCH_TRIANGLES;
  int32_t half = patches / 2 * EB_PATCH_TRIANGLES;
  tree_halve(f->patches->point + first, count, half);
  split(f, first, half);
  split(f, first + half, count - half);
}

void eb_patches_form(eb_patches *patches, const double *x) {
  forming f = {.patches = patches};
  const eb_collision_mesh *mesh = patches->mesh;
  memset(patches->feature_of[EB_VERTEX], -1, (size_t)mesh->vertex_count * sizeof(int32_t));
  memset(patches->feature_of[EB_EDGE], -1, (size_t)mesh->edge_count * sizeof(int32_t));
  for (int k = 0; k < EB_FEATURES; k++) f.next[k] = patches->first[k];
  place_points(patches, x);
  for (int32_t g = 0; g < mesh->group_count; g++) {
    int32_t first = patches->group_end[g + 1];
    int32_t end = g + 1 < mesh->group_count ? patches->group_end[g + 2] : mesh->triangle_count;
    split(&f, first, end - first);
  }
  /* place_points moved the ends to the beginnings. */
  for (int32_t g = 1; g <= mesh->group_count; g++)
    patches->group_end[g] =
        g < mesh->group_count ? patches->group_end[g + 1] : mesh->triangle_count;
  for (int k = 0; k < EB_FEATURES; k++) patches->begin[k][patches->count] = f.next[k];
}

double eb_patches_spread(const eb_patches *patches, const double (*x)[3]) {
  double sum = 0;
  for (int32_t p = 0; p < patches->count; p++) {
    int32_t begin = patches->begin[EB_VERTEX][p], end = patches->begin[EB_VERTEX][p + 1];
    for (int d = 0; d < 3 && begin < end; d++) {
      double lo = x[begin][d], hi = lo;
      for (int32_t v = begin + 1; v < end; v++) {
        lo = fmin(lo, x[v][d]);
        hi = fmax(hi, x[v][d]);
      }
      sum += hi - lo;
    }
  }
  return sum;
}
