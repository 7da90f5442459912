/* Patches of a collision mesh: see patches.h. */
#include "problems/collision/patches.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

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

static int32_t group_of_triangle(const eb_collision_mesh *mesh, int32_t t) {
  return mesh->group[mesh->triangles[3 * (size_t)t]];
}

/* *start (freed by the caller) is workspace. */
static eb_error allocate(const eb_collision_mesh *mesh, eb_patches *p, int32_t **start) {
  int32_t triangles = mesh->triangle_count;
  EB_TRY(EB_NEW(p->sides, 3 * (size_t)triangles));
  EB_TRY(EB_NEW(*start, (size_t)mesh->vertex_count + 1));
  EB_TRY(EB_NEW(p->group_end, (size_t)mesh->group_count + 1));
  EB_TRY(EB_NEW(p->feature_of[EB_FEATURE_VERTEX], mesh->vertex_count));
  EB_TRY(EB_NEW(p->feature_of[EB_FEATURE_EDGE], mesh->edge_count));
  EB_TRY(EB_NEW(p->point, triangles));
  /* Edges are sorted by their lower end. */
  for (int32_t e = 0; e < mesh->edge_count; e++) (*start)[mesh->edges[2 * (size_t)e] + 1]++;
  for (int32_t v = 0; v < mesh->vertex_count; v++) (*start)[v + 1] += (*start)[v];
  for (size_t k = 0; k < 3 * (size_t)triangles; k++) {
    int32_t a = mesh->triangles[k], b = mesh->triangles[k % 3 == 2 ? k - 2 : k + 1];
    p->sides[k] = edge_between(mesh, *start, a < b ? a : b, a < b ? b : a);
  }
  /* Ends of the groups' triangles, and so how many patches there are. */
  for (int32_t t = 0; t < triangles; t++) p->group_end[group_of_triangle(mesh, t) + 1]++;
  for (int32_t g = 0; g < mesh->group_count; g++) {
    p->count += (p->group_end[g + 1] + EB_PATCH_TRIANGLES - 1) / EB_PATCH_TRIANGLES;
    p->group_end[g + 1] += p->group_end[g];
  }
  int32_t used = 0;
  for (size_t k = 0; k < 3 * (size_t)triangles; k++) {
    int32_t *seen = &p->feature_of[EB_FEATURE_VERTEX][mesh->triangles[k]];
    used += !*seen;
    *seen = 1;
  }
  p->first[EB_FEATURE_EDGE] = used;
  p->first[EB_FEATURE_TRIANGLE] = used + mesh->edge_count;
  p->first[EB_FEATURE_KINDS] = p->feature_count = used + mesh->edge_count + triangles;
  for (int k = 0; k < EB_FEATURE_KINDS; k++) EB_TRY(EB_NEW(p->begin[k], (size_t)p->count + 1));
  EB_TRY(EB_NEW(p->body, p->count));
  EB_TRY(EB_NEW(p->index, p->feature_count));
  return EB_NEW(p->corner, p->feature_count);
}

eb_error eb_patches_create(const eb_collision_mesh *mesh, eb_patches *out) {
  int32_t *start = NULL;
  *out = (eb_patches){.mesh = mesh};
  eb_error error = allocate(mesh, out, &start);
  free(start);
  return error;
}

void eb_patches_clear(eb_patches *p) {
  void *const owned[] = {p->begin[0],      p->begin[1],  p->begin[2], p->index,
                         p->corner,        p->body,      p->sides,    p->feature_of[0],
                         p->feature_of[1], p->group_end, p->point};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  *p = (eb_patches){0};
}

typedef struct forming {
  eb_patches *patches;
  int32_t patch, next[EB_FEATURE_KINDS]; /* to come */
} forming;

/* The feature of a vertex or an edge, a new one of the present patch when no earlier one has it. */
static int32_t own(forming *f, eb_feature_kind kind, int32_t index) {
  int32_t *feature = &f->patches->feature_of[kind][index];
  if (*feature < 0) {
    *feature = f->next[kind]++;
    f->patches->index[*feature] = index;
  }
  return *feature;
}

static void add_patch(forming *f, int32_t first, int32_t count) {
  eb_patches *p = f->patches;
  const eb_collision_mesh *mesh = p->mesh;
  int32_t group = group_of_triangle(mesh, p->point[first].index);
  p->body[f->patch] = mesh->obstacle[group] ? 0 : mesh->rigid[group] ? 1 + group : -1;
  for (int k = 0; k < EB_FEATURE_KINDS; k++) p->begin[k][f->patch] = f->next[k];
  for (int32_t i = first; i < first + count; i++) {
    size_t t = (size_t)p->point[i].index;
    int32_t feature = f->next[EB_FEATURE_TRIANGLE]++, *corner = p->corner[feature];
    p->index[feature] = (int32_t)t;
    for (size_t k = 0; k < 3; k++) {
      corner[k] = own(f, EB_FEATURE_VERTEX, mesh->triangles[3 * t + k]);
      for (int c = 0; c < 4; c++) p->corner[corner[k]][c] = corner[k];
    }
    corner[3] = corner[2];
    for (size_t k = 0; k < 3; k++) {
      int32_t edge = p->sides[3 * t + k], *of_edge = p->corner[own(f, EB_FEATURE_EDGE, edge)];
      const int32_t *end = mesh->edges + 2 * (size_t)edge;
      of_edge[0] = p->feature_of[EB_FEATURE_VERTEX][end[0]];
      of_edge[1] = of_edge[2] = of_edge[3] = p->feature_of[EB_FEATURE_VERTEX][end[1]];
    }
  }
  f->patch++;
}

/* Triangles are halved by the median of their centroids until eight or fewer are left; all patches
 * of a group but one have eight. */
static void split_group(forming *f, int32_t first, int32_t count) {
  if (count <= EB_PATCH_TRIANGLES) {
    if (count > 0) add_patch(f, first, count);
    return;
  }
  int32_t patches = (count + EB_PATCH_TRIANGLES - 1) / EB_PATCH_TRIANGLES;
  int32_t half = patches / 2 * EB_PATCH_TRIANGLES;
  eb_median_halve(f->patches->point + first, count, half);
  split_group(f, first, half);
  split_group(f, first + half, count - half);
}

void eb_patches_form(eb_patches *p, const double *x) {
  const eb_collision_mesh *mesh = p->mesh;
  forming f = {.patches = p};
  memset(p->feature_of[EB_FEATURE_VERTEX], -1, (size_t)mesh->vertex_count * sizeof(int32_t));
  memset(p->feature_of[EB_FEATURE_EDGE], -1, (size_t)mesh->edge_count * sizeof(int32_t));
  for (int k = 0; k < EB_FEATURE_KINDS; k++) f.next[k] = p->first[k];
  /* The centroids (three times them) sorted by group, which moves the ends to the beginnings. */
  for (int32_t t = mesh->triangle_count - 1; t >= 0; t--) {
    const int32_t *v = mesh->triangles + 3 * (size_t)t;
    eb_named_point *point = &p->point[--p->group_end[mesh->group[v[0]] + 1]];
    for (size_t d = 0; d < 3; d++)
      point->at[d] =
          (float)(x[3 * (size_t)v[0] + d] + x[3 * (size_t)v[1] + d] + x[3 * (size_t)v[2] + d]);
    point->index = t;
  }
  for (int32_t g = 1; g <= mesh->group_count; g++) {
    int32_t first = p->group_end[g];
    p->group_end[g] = g < mesh->group_count ? p->group_end[g + 1] : mesh->triangle_count;
    split_group(&f, first, p->group_end[g] - first);
  }
  for (int k = 0; k < EB_FEATURE_KINDS; k++) p->begin[k][p->count] = f.next[k];
}

double eb_patches_spread(const eb_patches *patches, const double (*x)[3]) {
  double sum = 0;
  for (int32_t p = 0; p < patches->count; p++) {
    int32_t begin = patches->begin[EB_FEATURE_VERTEX][p],
            end = patches->begin[EB_FEATURE_VERTEX][p + 1];
    for (int d = 0; d < 3 && begin < end; d++) {
      double lo = x[begin][d], hi = lo;
      for (int32_t v = begin + 1; v < end; v++) {
        lo = x[v][d] < lo ? x[v][d] : lo; /* fmin is a call */
        hi = x[v][d] > hi ? x[v][d] : hi;
      }
      sum += hi - lo;
    }
  }
  return sum;
}
