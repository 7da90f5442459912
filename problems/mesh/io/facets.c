#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/io/draft.h"

eb_error eb_facets_vertex(eb_facets *facets, const double x[3]) {
  EB_TRY(eb_grow(&facets->X, facets->vertex_count, &facets->vertex_capacity, 3 * sizeof *x));
  memcpy(facets->X + 3 * facets->vertex_count++, x, 3 * sizeof *x);
  return EB_OK;
}

static eb_error add_triangle(eb_facets *facets, const char *place, const int64_t corner[3]) {
  size_t count = facets->triangle_count, capacity = facets->triangle_capacity;
  EB_TRY(eb_grow(&facets->corner, count, &capacity, 3 * sizeof *facets->corner));
  EB_TRY(eb_grow(&facets->place, count, &facets->triangle_capacity, sizeof *facets->place));
  memcpy(facets->corner + 3 * count, corner, 3 * sizeof *corner);
  facets->place[count] = place;
  facets->triangle_count++;
  return EB_OK;
}

eb_error eb_facets_corner(eb_facets *facets, const eb_scan *scan, const char *place, int64_t i,
                          int64_t corner) {
  facets->source = scan;
  if (i >= 2)
    EB_TRY(add_triangle(facets, place, (int64_t[]){facets->fan[0], facets->fan[1], corner}));
  facets->fan[i > 0] = corner;
  return EB_OK;
}

void eb_facets_clear(eb_facets *facets) {
  free(facets->place);
  free(facets->corner);
  free(facets->X);
  *facets = (eb_facets){0};
}

static eb_error check_corners(const eb_facets *facets, size_t t) {
  const int64_t *corner = facets->corner + 3 * t;
  for (int a = 0; a < 3; a++) {
    if (corner[a] < 0 || (uint64_t)corner[a] >= facets->vertex_count)
      return eb_scan_error(facets->source, facets->place[t],
                           "a face refers to vertex %lld, but there are %zu, numbered from %lld",
                           (long long)(corner[a] + facets->base), facets->vertex_count,
                           (long long)facets->base);
    if (corner[a] == corner[(a + 1) % 3])
      return eb_scan_error(facets->source, facets->place[t],
                           "a face has vertex %lld twice; remove it or repair the surface",
                           (long long)(corner[a] + facets->base));
  }
  return EB_OK;
}

/* ---- soups -------------------------------------------------------------------------------------- */

/* Vertex by vertex: which one of `joined` it is. */
static eb_error join_all(const eb_facets *facets, eb_joiner *joiner, eb_facets *joined,
                         int64_t *vertex) {
  for (size_t v = 0; v < facets->vertex_count; v++)
    EB_TRY(eb_join(joiner, joined, facets->X + 3 * v, &vertex[v]));
  return EB_OK;
}

/* Takes the joined vertices; triangles that this leaves with two equal corners go, which opens no edge. */
static void take_joined(eb_facets *facets, eb_facets *joined, const int64_t *vertex) {
  size_t kept = 0;
  for (size_t t = 0; t < facets->triangle_count; t++) {
    int64_t corner[3];
    for (int a = 0; a < 3; a++) corner[a] = vertex[facets->corner[3 * t + (size_t)a]];
    if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0]) continue;
    memcpy(facets->corner + 3 * kept, corner, sizeof corner);
    facets->place[kept++] = facets->place[t];
  }
  facets->triangle_count = kept;
  double *old = facets->X;
  facets->X = joined->X;
  facets->vertex_count = joined->vertex_count;
  facets->vertex_capacity = joined->vertex_capacity;
  joined->X = old;
}

/* A file that repeats the vertices for every face has one for each corner, more than triangles, where a closed surface has half as
 * many; and less than half of them are in places of their own. A surface with seams or bodies that touch has more, and is left. */
static eb_error join_soup(eb_facets *facets, int64_t *vertex, eb_facets *joined) {
  eb_joiner joiner = {0};
  eb_error error = join_all(facets, &joiner, joined, vertex);
  eb_joiner_clear(&joiner);
  if (error || 2 * joined->vertex_count >= facets->vertex_count) return error;
  size_t before = facets->vertex_count;
  take_joined(facets, joined, vertex);
  return eb_scan_note(facets->source,
                      "every face has vertices of its own (a soup of triangles): %zu vertices at "
                      "exactly equal positions are joined to %zu",
                      before, facets->vertex_count);
}

static eb_error settle_soup(eb_facets *facets) {
  if (facets->vertex_count <= facets->triangle_count || facets->triangle_count < 2) return EB_OK;
  int64_t *vertex;
  eb_facets joined = {0};
  EB_TRY(EB_NEW(vertex, facets->vertex_count));
  eb_error error = join_soup(facets, vertex, &joined);
  eb_facets_clear(&joined);
  free(vertex);
  return error;
}

/* ---- the surface -------------------------------------------------------------------------------- */

/* fresh[v]: the index of vertex v once the unused ones are gone, or -1. */
static void number_vertices(const eb_facets *facets, int32_t *fresh, int32_t *used) {
  for (size_t v = 0; v < facets->vertex_count; v++) fresh[v] = -1;
  for (size_t t = 0; t < facets->triangle_count; t++)
    for (int a = 0; a < 3; a++) fresh[facets->corner[3 * t + (size_t)a]] = 0;
  *used = 0;
  for (size_t v = 0; v < facets->vertex_count; v++)
    if (fresh[v] == 0) fresh[v] = (*used)++;
}

static eb_error build(const eb_facets *facets, int32_t *fresh, eb_surface **out) {
  if (facets->vertex_count > INT32_MAX / 3 || facets->triangle_count > INT32_MAX / 8)
    return EB_ERROR(EB_ERR_FORMAT, "%s: %zu vertices and %zu triangles are too many",
                    facets->source->name, facets->vertex_count, facets->triangle_count);
  int32_t used;
  number_vertices(facets, fresh, &used);
  EB_TRY(eb_surface_create(used, (int32_t)facets->triangle_count, out));
  eb_surface *surface = *out;
  for (size_t v = 0; v < facets->vertex_count; v++)
    if (fresh[v] >= 0) memcpy(surface->X + 3 * (size_t)fresh[v], facets->X + 3 * v, 24);
  for (size_t i = 0; i < 3 * facets->triangle_count; i++)
    surface->triangles[i] = fresh[facets->corner[i]];
  return eb_error_prefix(eb_surface_validate(surface, false), "%s", facets->source->name);
}

eb_error eb_facets_finish(eb_facets *facets, const eb_scan *scan, eb_surface **out) {
  *out = NULL;
  if (facets->triangle_count == 0)
    return EB_ERROR(EB_ERR_FORMAT, "%s: the file holds no faces", scan->name);
  for (size_t t = 0; t < facets->triangle_count; t++) EB_TRY(check_corners(facets, t));
  EB_TRY(settle_soup(facets));
  int32_t *fresh;
  EB_TRY(EB_NEW(fresh, facets->vertex_count));
  eb_error error = build(facets, fresh, out);
  free(fresh);
  if (error) {
    eb_surface_destroy(*out);
    *out = NULL;
  }
  return error;
}
