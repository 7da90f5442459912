/* Triangles are sorted by group, then halved by the median of their centroids until eight or fewer are left; all patches of a group but
 * one have eight. Workspace: a point a triangle. */
#include "problems/collision/collisions_patches.h"

#include <string.h>

#include "problems/base/memory.h"
#include "problems/collision/triangle_tree.h"

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

static eb_error allocate(eb_patches *p, int32_t **start) {
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
  eb_error error = allocate(patches, &start);
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
  eb_tree_halve(f->patches->point + first, count, half);
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
