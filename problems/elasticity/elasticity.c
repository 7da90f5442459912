/* Set-up of the elements, and the parallel sweeps over their chunks. */
#include "problems/elasticity/elasticity.h"

#include <string.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/elasticity/elements.h"
#include "problems/elasticity/masses.h"

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Elements into chunks, chunks sorted by colour.
 *
 * Elements are sorted along a Morton curve through their centroids and cut into runs of fixed
 * length: the chunks, compact and independent of the number of threads. Within a chunk they are
 * grouped by material into batches. Chunks are coloured greedily so that no two of a colour share a
 * node, and stored colour by colour: neighbours in the list can be worked on at the same time. */

enum { CHUNK_ELEMENTS = 256, COLOURS_A_ROUND = 64, MORTON_BITS = 21 };

typedef struct keyed {
  uint64_t key;
  int32_t element;
} keyed;

typedef struct partition {
  const eb_mesh *mesh;
  int32_t counted;                         /* elements: the first ones */
  int32_t counted_chunks, chunks, colours; /* those of counted elements alone come first */
  keyed *order;                            /* element_count */
  int32_t *colour;                         /* chunks */
  uint64_t *node_mask;                     /* node_count: colours of this round met at the node */
  int32_t *colour_start;                   /* colours + 1 */
  int32_t *by_colour;                      /* chunks, sorted by colour */
} partition;

/* Spreads the low 21 bits so that two zero bits follow each. */
static uint64_t spread_bits(uint64_t v) {
  v &= (UINT64_C(1) << MORTON_BITS) - 1;
  v = (v | v << 32) & UINT64_C(0x001f00000000ffff);
  v = (v | v << 16) & UINT64_C(0x001f0000ff0000ff);
  v = (v | v << 8) & UINT64_C(0x100f00f00f00f00f);
  v = (v | v << 4) & UINT64_C(0x10c30c30c30c30c3);
  v = (v | v << 2) & UINT64_C(0x1249249249249249);
  return v;
}

static int compare_keys(const void *a, const void *b) {
  const keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->element > y->element) - (x->element < y->element);
}

static void sort_along_curve(partition *p) {
  const eb_mesh *mesh = p->mesh;
  int arity = (int)mesh->type;
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  double extent = fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
  double cells = (double)((1 << MORTON_BITS) - 1) / (extent * arity);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    uint64_t key = 0;
    for (int i = 0; i < 3; i++) {
      double sum = -arity * lo[i];
      for (int a = 0; a < arity; a++)
        sum += mesh->X[3 * (int64_t)mesh->elements[(int64_t)e * arity + a] + i];
      key |= spread_bits((uint64_t)fmax(0, sum * cells)) << i;
    }
    p->order[e] = (keyed){key, e};
  }
  qsort(p->order, (size_t)p->counted, sizeof *p->order, compare_keys);
  qsort(p->order + p->counted, (size_t)(mesh->element_count - p->counted), sizeof *p->order,
        compare_keys);
}

static int32_t chunks_of(int32_t elements) {
  return (int32_t)(((int64_t)elements + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS);
}

static int32_t chunk_begin(const partition *p, int32_t chunk) {
  return chunk < p->counted_chunks ? chunk * CHUNK_ELEMENTS
                                   : p->counted + (chunk - p->counted_chunks) * CHUNK_ELEMENTS;
}

static int32_t chunk_end(const partition *p, int32_t chunk) {
  int32_t limit = chunk < p->counted_chunks ? p->counted : p->mesh->element_count;
  int64_t end = (int64_t)chunk_begin(p, chunk) + CHUNK_ELEMENTS;
  return (int32_t)(end < limit ? end : limit);
}

/* The colours met at the nodes of a chunk, which have met those of `add` from now on. */
static uint64_t meet(partition *p, int32_t chunk, uint64_t add) {
  int arity = (int)p->mesh->type;
  uint64_t met = 0;
  for (int32_t i = chunk_begin(p, chunk); i < chunk_end(p, chunk); i++)
    for (int a = 0; a < arity; a++) {
      uint64_t *mask = &p->node_mask[p->mesh->elements[(int64_t)p->order[i].element * arity + a]];
      met |= *mask;
      *mask |= add;
    }
  return met;
}

/* Greedy, 64 colours a round; what finds none (chunks around one hub node) waits for the next. */
static void colour_chunks(partition *p) {
  for (int32_t c = 0; c < p->chunks; c++) p->colour[c] = -1;
  for (int32_t left = p->chunks; left > 0; p->colours += COLOURS_A_ROUND) {
    memset(p->node_mask, 0, sizeof *p->node_mask * (size_t)p->mesh->node_count);
    for (int32_t c = 0; c < p->chunks; c++) {
      if (p->colour[c] >= 0) continue;
      uint64_t met = meet(p, c, 0);
      if (~met == 0) continue;
      int bit = __builtin_ctzll(~met);
      meet(p, c, UINT64_C(1) << bit);
      p->colour[c] = p->colours + bit;
      left--;
    }
  }
}

/* Lanes of one chunk from batch `b` on; returns the next batch. With `e` NULL only counts. */
static int32_t fill_batches(const partition *p, int32_t chunk, int32_t b, eb_elasticity *e) {
  int lane = 0;
  for (int32_t i = chunk_begin(p, chunk), end = chunk_end(p, chunk); i < end; i++) {
    if (e) {
      if (lane == 0) {
        e->batch_law[b] = (int32_t)(p->order[i].key >> 32);
        for (int l = 0; l < EB_LANES; l++) e->element[EB_LANES * b + l] = -1;
      }
      e->element[EB_LANES * b + lane] = p->order[i].element;
    }
    lane++;
    bool last = i + 1 == end || p->order[i].key >> 32 != p->order[i + 1].key >> 32;
    if (lane == EB_LANES || last) {
      lane = 0;
      b++;
    }
  }
  return b;
}

static eb_error batch_chunks(partition *p, eb_elasticity *e) {
  int32_t batches = 0;
  for (int32_t c = 0; c < p->chunks; c++) batches = fill_batches(p, c, batches, NULL);
  e->batch_count = batches;
  e->chunk_count = p->chunks;
  EB_TRY(EB_NEW(e->chunk_start, (size_t)p->chunks + 1));
  EB_TRY(EB_NEW(e->batch_law, batches));
  EB_TRY(EB_NEW(e->element, EB_LANES * (size_t)batches));
  for (int32_t c = 0, b = 0; c < p->chunks; c++)
    e->chunk_start[c + 1] = b = fill_batches(p, p->by_colour[c], b, e);
  if (p->counted_chunks == p->chunks) return EB_OK;
  EB_TRY(EB_NEW(e->uncounted, p->chunks));
  for (int32_t c = 0; c < p->chunks; c++) e->uncounted[c] = p->by_colour[c] >= p->counted_chunks;
  return EB_OK;
}

static eb_error make_schedule(const partition *p, eb_elasticity *e) {
  size_t arity = (size_t)p->mesh->type;
  int64_t *start = NULL, at = 0;
  int32_t *node = NULL;
  eb_error error = EB_NEW(start, (size_t)p->chunks + 1);
  if (!error) error = EB_NEW(node, (size_t)p->mesh->element_count * arity);
  for (int32_t c = 0; !error && c < p->chunks; c++) {
    int32_t chunk = p->by_colour[c];
    for (int32_t i = chunk_begin(p, chunk); i < chunk_end(p, chunk); i++, at += (int64_t)arity)
      memcpy(node + at, p->mesh->elements + (size_t)p->order[i].element * arity,
             arity * sizeof *node);
    start[c + 1] = at;
  }
  if (!error) error = eb_schedule_create(p->chunks, start, node, p->mesh->node_count, &e->schedule);
  free(start);
  free(node);
  return error;
}

static eb_error order_elements(partition *p, eb_elasticity *e) {
  EB_TRY(EB_NEW(p->order, p->mesh->element_count));
  EB_TRY(EB_NEW(p->colour, p->chunks));
  EB_TRY(EB_NEW(p->node_mask, p->mesh->node_count));
  EB_TRY(EB_NEW(p->by_colour, p->chunks));
  sort_along_curve(p);
  /* Each chunk by region, keeping the order along the curve otherwise. */
  for (int32_t c = 0; c < p->chunks; c++) {
    int32_t begin = chunk_begin(p, c), end = chunk_end(p, c);
    for (int32_t i = begin; i < end; i++)
      p->order[i].key =
          (uint64_t)p->mesh->region[p->order[i].element] << 32 | (uint32_t)(i - begin);
    qsort(p->order + begin, (size_t)(end - begin), sizeof *p->order, compare_keys);
  }
  /* The chunks colour by colour. */
  colour_chunks(p);
  EB_TRY(EB_NEW(p->colour_start, (size_t)p->colours + 1));
  for (int32_t c = 0; c < p->chunks; c++) p->colour_start[p->colour[c] + 1]++;
  for (int32_t k = 0; k < p->colours; k++) p->colour_start[k + 1] += p->colour_start[k];
  for (int32_t c = 0; c < p->chunks; c++) p->by_colour[p->colour_start[p->colour[c]]++] = c;
  EB_TRY(batch_chunks(p, e));
  return e->pattern ? make_schedule(p, e) : EB_OK;
}

/* Fills chunk_start, batch_law, element and the counts of an elasticity whose kernels are set, and
 * with a pattern the schedule. */
static eb_error elements_partition(const eb_mesh *mesh, int32_t counted,
                                   eb_elasticity *elasticity) {
  partition p = {.mesh = mesh, .counted = counted, .counted_chunks = chunks_of(counted)};
  p.chunks = p.counted_chunks + chunks_of(mesh->element_count - counted);
  eb_error error = order_elements(&p, elasticity);
  free(p.order);
  free(p.colour);
  free(p.node_mask);
  free(p.colour_start);
  free(p.by_colour);
  return error;
}

enum { PARTIAL_SUMS = 1024, MAX_GEOMETRY = 8 * 22, MAX_ARITY = 8 };

/* ---- set-up ---------------------------------------------------------------------------------- */

static const eb_kernels *kernels_of(eb_element_type type, eb_integration integration) {
  bool gauss = integration == EB_INTEGRATION_GAUSS;
  return type == EB_TRIANGLE      ? &eb_triangle_kernels
         : type == EB_TETRAHEDRON ? &eb_tetrahedron_kernels
         : type == EB_HEXAHEDRON
             ? (gauss ? &eb_hexahedron_kernels : &eb_one_point_hexahedron_kernels)
             : NULL;
}

/* Elements of one mesh are swept over by one set of kernels. */
static eb_error check_integration(const eb_mesh *mesh, const eb_material *materials) {
  for (int32_t r = 0; r < mesh->region_count; r++) {
    const char *of = eb_integration_name((int)materials[r].integration),
               *first = eb_integration_name((int)materials[0].integration);
    if (mesh->type != EB_HEXAHEDRON && materials[r].integration != EB_INTEGRATION_GAUSS)
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "material of region %d: integration %s is of hexahedra; these elements of %d "
                      "nodes need %s",
                      (int)r, of, (int)mesh->type, eb_integration_name(EB_INTEGRATION_GAUSS));
    if (materials[r].integration != materials[0].integration)
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "materials of regions 0 and %d: integration is %s and %s; all regions of a "
                      "mesh need the same",
                      (int)r, first, of);
  }
  return EB_OK;
}

static eb_error check_mesh(const eb_mesh *mesh, const eb_material *materials) {
  if (!kernels_of(mesh->type, EB_INTEGRATION_GAUSS))
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "elasticity needs triangles, tetrahedra or hexahedra; the mesh has elements of "
                    "%d nodes",
                    (int)mesh->type);
  if (mesh->node_count <= 0 || mesh->element_count <= 0)
    return EB_ERROR(EB_ERR_INVALID, "the mesh has %d nodes and %d elements; both must be positive",
                    (int)mesh->node_count, (int)mesh->element_count);
  for (int32_t r = 0; r < mesh->region_count; r++) {
    const char *name = mesh->region_name ? mesh->region_name[r] : "";
    EB_TRY(eb_error_prefix(eb_material_validate(&materials[r]), "material of region %d '%s'",
                           (int)r, name));
    if (materials[r].fibre && !mesh->fibre)
      return EB_ERROR(EB_ERR_INVALID,
                      "material of region %d '%s' has fibres, but the mesh gives no fibre "
                      "directions",
                      (int)r, name);
  }
  EB_TRY(check_integration(mesh, materials));
  for (int64_t i = 0; i < 3 * (int64_t)mesh->node_count; i++) {
    if (!isfinite(mesh->X[i]))
      return EB_ERROR(EB_ERR_INVALID, "node %lld: coordinate %d is %g", (long long)(i / 3),
                      (int)(i % 3), mesh->X[i]);
    if (mesh->type == EB_TRIANGLE && i % 3 == 2 && mesh->X[i] != 0)
      return EB_ERROR(EB_ERR_INVALID, "node %lld: z is %g; planar triangles lie in z = 0",
                      (long long)(i / 3), mesh->X[i]);
  }
  return EB_OK;
}

static eb_error check_regions(const eb_mesh *mesh, const eb_material *materials) {
  for (int32_t e = 0; e < mesh->element_count; e++) {
    int32_t region = mesh->region[e];
    if (region < 0 || region >= mesh->region_count)
      return EB_ERROR(EB_ERR_INVALID, "element %d is in region %d; regions are 0 to %d", (int)e,
                      (int)region, (int)mesh->region_count - 1);
    if (!materials[region].fibre) continue;
    const double *a = mesh->fibre + 3 * (int64_t)e;
    double length = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    if (!(fabs(length - 1) < 1e-6))
      return EB_ERROR(EB_ERR_INVALID, "element %d: fibre (%g, %g, %g) is not a unit vector", (int)e,
                      a[0], a[1], a[2]);
  }
  return EB_OK;
}

/* The local nodes in ascending order of the mesh's indices. */
static void sort_nodes(int A, const int32_t *corners, int order[MAX_ARITY]) {
  for (int a = 0; a < A; a++) {
    int at = a;
    for (; at > 0 && corners[order[at - 1]] > corners[a]; at--) order[at] = order[at - 1];
    order[at] = a;
  }
}

/* Gradients of one point, given for nodes 1 .. A-1 as the element lists them, now for those of the
 * order. */
static void reorder_gradients(int A, const int order[MAX_ARITY], double *geometry) {
  double all[3 * MAX_ARITY] = {0};
  for (int a = 1; a < A; a++)
    for (int i = 0; i < 3; i++) {
      all[3 * a + i] = geometry[3 * (a - 1) + i];
      all[i] -= all[3 * a + i];
    }
  for (int a = 1; a < A; a++) memcpy(geometry + 3 * (a - 1), all + 3 * order[a], 3 * sizeof *all);
}

/* What measure() and control() find of one element, for nodes in ascending order. */
typedef struct measured {
  double geometry[MAX_GEOMETRY], share[MAX_ARITY]; /* shares as the element lists its nodes */
  double hourglass[MAX_ARITY * MAX_ARITY];
} measured;

static eb_error measure_element(const eb_mesh *mesh, const eb_material *materials,
                                const eb_kernels *kernels, int32_t element,
                                const int order[MAX_ARITY], measured *out) {
  int A = kernels->nodes, stride = 3 * (A - 1) + 1;
  const int32_t *corners = mesh->elements + (int64_t)element * A;
  const eb_material *material = &materials[mesh->region[element]];
  double X[3 * MAX_ARITY], K[MAX_ARITY * MAX_ARITY], *geometry = out->geometry;
  for (int a = 0; a < A; a++) memcpy(X + 3 * a, mesh->X + 3 * (int64_t)corners[a], 3 * sizeof *X);
  if (!kernels->measure(X, geometry, out->share))
    return EB_ERROR(EB_ERR_INVALID,
                    "element %d has no positive rest %s; reorder its nodes or repair the mesh",
                    (int)element, mesh->type == EB_TRIANGLE ? "area" : "volume");
  if (mesh->type == EB_TRIANGLE) { /* measured with a thickness of 1 m */
    double thickness = eb_material_thickness(material);
    geometry[stride - 1] *= thickness;
    for (int a = 0; a < EB_TRIANGLE; a++) out->share[a] *= thickness;
  }
  if (kernels->control) kernels->control(X, geometry, material, K);
  for (int a = 0; kernels->control && a < A; a++)
    for (int b = 0; b < A; b++) out->hourglass[A * a + b] = K[A * order[a] + order[b]];
  for (int q = 0; q < kernels->points; q++) reorder_gradients(A, order, geometry + q * stride);
  return EB_OK;
}

/* A lane of what a sweep reads; that of a repeated element has no volume and no stiffness. */
static void fill_rest(const eb_mesh *mesh, int32_t batch, int lane, int32_t element, bool first,
                      const measured *from, eb_elasticity *e) {
  int A = e->kernels->nodes, stride = 3 * (A - 1) + 1, entries = e->kernels->points * stride;
  eb_v4 *out = e->geometry + (int64_t)batch * entries;
  for (int i = 0; i < entries; i++)
    out[i][lane] = !first && i % stride == stride - 1 ? 0 : from->geometry[i];
  if (e->fibre)
    for (int i = 0; i < 3; i++)
      e->fibre[3 * (int64_t)batch + i][lane] = mesh->fibre[3 * (int64_t)element + i];
  if (!e->hourglass) return;
  out = e->hourglass + (int64_t)batch * (A * (A - 1) / 2);
  for (int a = 1; a < A; a++)
    for (int b = a; b < A; b++, out++) (*out)[lane] = first ? from->hourglass[A * a + b] : 0;
}

/* What a sweep reads of one element, into one lane of its batch. */
static void place_lane(const eb_mesh *mesh, int32_t batch, int lane, int32_t element, bool first,
                       const int order[MAX_ARITY], const measured *found, eb_elasticity *e) {
  int A = e->kernels->nodes;
  const int32_t *corners = mesh->elements + (int64_t)element * A;
  int32_t *scatter = e->scatter + (int64_t)batch * (A * (A + 1) / 2) * EB_LANES + lane;
  fill_rest(mesh, batch, lane, element, first, found, e);
  for (int a = 0; a < A; a++) {
    e->node[((int64_t)batch * A + a) * EB_LANES + lane] = corners[order[a]];
    for (int b = a; b < A; b++, scatter += EB_LANES)
      *scatter = eb_block_matrix_find(e->pattern, corners[order[a]], corners[order[b]]);
  }
}

/* One element into one lane of its batch, where there are any, and its masses; `first` is false for
 * the repeated lanes, which get no volume and no mass. */
static eb_error fill_lane(const eb_mesh *mesh, const eb_material *materials, int32_t batch,
                          int lane, int32_t element, bool first, eb_elasticity *e) {
  int A = e->kernels->nodes, order[MAX_ARITY];
  const int32_t *corners = mesh->elements + (int64_t)element * A;
  measured found;
  sort_nodes(A, corners, order);
  for (int a = 1; a < A; a++)
    if (corners[order[a]] == corners[order[a - 1]])
      return EB_ERROR(EB_ERR_INVALID,
                      "element %d names node %d twice; degenerate elements are not supported",
                      (int)element, (int)corners[order[a]]);
  EB_TRY(measure_element(mesh, materials, e->kernels, element, order, &found));
  for (int a = 0; first && a < A; a++)
    e->mass[corners[a]] += materials[mesh->region[element]].density * found.share[a];
  if (e->pattern) place_lane(mesh, batch, lane, element, first, order, &found, e);
  return EB_OK;
}

static eb_error find_mirrors(eb_elasticity *e) {
  const eb_block_matrix *p = e->pattern;
  EB_TRY(EB_NEW(e->mirror, p->start[p->rows]));
  for (int32_t i = 0; i < p->rows; i++)
    for (int32_t b = p->diagonal[i] + 1; b < p->start[i + 1]; b++)
      e->mirror[b] = eb_block_matrix_find(p, p->column[b], i);
  return EB_OK;
}

static bool has_control(const eb_material *materials, int32_t count) {
  for (int32_t r = 0; r < count; r++)
    if (materials[r].integration == EB_INTEGRATION_STAGGERED || materials[r].hourglass > 0)
      return true;
  return false;
}

/* Of what sweeps read. */
static eb_error make_room(const eb_mesh *mesh, const eb_material *materials, eb_elasticity *e) {
  size_t A = (size_t)e->kernels->nodes, Q = (size_t)e->kernels->points;
  size_t batches = (size_t)e->batch_count;
  EB_TRY(EB_NEW(e->node, batches * A * EB_LANES));
  EB_TRY(EB_NEW(e->scatter, batches * (A * (A + 1) / 2) * EB_LANES));
  EB_TRY(EB_NEW(e->geometry, batches * Q * (3 * (A - 1) + 1)));
  if (mesh->fibre) EB_TRY(EB_NEW(e->fibre, 3 * batches));
  if (e->kernels->control && has_control(materials, mesh->region_count))
    EB_TRY(EB_NEW(e->hourglass, batches * (A * (A - 1) / 2)));
  return EB_OK;
}

/* In the order of the sweep, which masses are summed in whether there is one or not. */
static eb_error fill_elements(const eb_mesh *mesh, const eb_material *materials, eb_elasticity *e) {
  EB_TRY(EB_NEW(e->mass, mesh->node_count));
  if (e->pattern) EB_TRY(make_room(mesh, materials, e));
  for (int32_t b = 0; b < e->batch_count; b++)
    for (int l = 0; l < EB_LANES; l++) {
      const int32_t *element = e->element + EB_LANES * (int64_t)b;
      bool first = element[l] >= 0;
      EB_TRY(fill_lane(mesh, materials, b, l, first ? element[l] : element[0], first, e));
    }
  return EB_OK;
}

static eb_error make_pattern(const eb_mesh *mesh, eb_elasticity *e) {
  EB_TRY(eb_block_matrix_pattern(mesh->node_count, mesh->elements, mesh->element_count,
                                 (int)mesh->type, &e->pattern));
  return find_mirrors(e);
}

/* The batches have served to sum masses in their order. */
static void drop_batches(eb_elasticity *e) {
  free(e->chunk_start);
  free(e->uncounted);
  free(e->batch_law);
  free(e->element);
  e->chunk_start = e->batch_law = e->element = NULL;
  e->uncounted = NULL;
  e->batch_count = e->chunk_count = 0;
}

static eb_error build(const eb_mesh *mesh, const eb_material *materials, int32_t counted,
                      bool sweeps, eb_elasticity *e) {
  e->kernels = kernels_of(mesh->type, materials[0].integration);
  e->node_count = mesh->node_count;
  e->element_count = mesh->element_count;
  e->law_count = mesh->region_count;
  EB_TRY(EB_NEW(e->laws, mesh->region_count));
  for (int32_t r = 0; r < mesh->region_count; r++) e->laws[r] = eb_law_make(&materials[r]);
  if (sweeps) EB_TRY(make_pattern(mesh, e));
  EB_TRY(elements_partition(mesh, counted, e));
  EB_TRY(fill_elements(mesh, materials, e));
  if (!sweeps) drop_batches(e);
  return EB_OK;
}

static eb_error create(const eb_mesh *mesh, const eb_material *materials, int32_t counted,
                       bool sweeps, eb_elasticity **out) {
  eb_elasticity *e;
  *out = NULL;
  EB_TRY(check_mesh(mesh, materials));
  EB_TRY(check_regions(mesh, materials));
  EB_TRY(EB_NEW(e, 1));
  eb_error error = build(mesh, materials, counted, sweeps, e);
  if (error) {
    eb_elasticity_destroy(e);
    return error;
  }
  *out = e;
  return EB_OK;
}

eb_error eb_elasticity_create(const eb_mesh *mesh, const eb_material *materials,
                              eb_elasticity **out) {
  return create(mesh, materials, mesh->element_count, true, out);
}

eb_error eb_elasticity_create_shared(const eb_mesh *mesh, const eb_material *materials,
                                     int32_t counted, eb_elasticity **out) {
  EB_ASSERT(counted >= 0 && counted <= mesh->element_count);
  return create(mesh, materials, counted, true, out);
}

eb_error eb_elasticity_create_masses(const eb_mesh *mesh, const eb_material *materials,
                                     int32_t counted, eb_elasticity **out) {
  return create(mesh, materials, counted, false, out);
}

bool eb_elasticity_sweeps(const eb_elasticity *e) {
  return e->pattern != NULL;
}

void eb_elasticity_destroy(eb_elasticity *e) {
  if (!e) return;
  eb_block_matrix_destroy(e->pattern);
  eb_schedule_destroy(e->schedule);
  void *const owned[] = {e->chunk_start, e->uncounted, e->batch_law, e->element,
                         e->node,        e->scatter,   e->geometry,  e->fibre,
                         e->hourglass,   e->mass,      e->laws,      e->mirror};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(e);
}

void eb_elasticity_activate(eb_elasticity *e, double activation) {
  for (int32_t r = 0; r < e->law_count; r++) eb_law_activate(&e->laws[r], activation);
}

int64_t eb_elasticity_bytes(const eb_elasticity *e) {
  EB_ASSERT(eb_elasticity_sweeps(e));
  const int64_t index = sizeof(int32_t), A = e->kernels->nodes, Q = e->kernels->points;
  int64_t nodes = e->node_count, batches = e->batch_count, blocks = e->pattern->start[nodes];
  int64_t vectors = batches * Q * (3 * (A - 1) + 1) + (e->fibre ? 3 * batches : 0) +
                    (e->hourglass ? batches * (A * (A - 1) / 2) : 0);
  int64_t indices = batches * (1 + EB_LANES * (1 + A + A * (A + 1) / 2)) + e->chunk_count + 1;
  indices += 2 * nodes + 1 + 2 * blocks; /* of the pattern, and the mirrors */
  return (int64_t)sizeof *e + (int64_t)sizeof *e->pattern + vectors * (int64_t)sizeof(eb_v4) +
         index * indices + nodes * (int64_t)sizeof(double) + eb_schedule_bytes(e->schedule) +
         (e->uncounted ? e->chunk_count : 0);
}

const double *eb_elasticity_mass(const eb_elasticity *e) {
  return e->mass;
}

const eb_block_matrix *eb_elasticity_pattern(const eb_elasticity *e) {
  return e->pattern;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Chunk energies are summed in their order, a bounded number at a time. */
double eb_elasticity_energy(const eb_elasticity *e, const double *x) {
  double total = 0, partial[PARTIAL_SUMS];
  for (int32_t base = 0; base < e->chunk_count; base += PARTIAL_SUMS) {
    int32_t count = e->chunk_count - base < PARTIAL_SUMS ? e->chunk_count - base : PARTIAL_SUMS;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t c = 0; c < count; c++) {
      const int32_t *start = e->chunk_start + base + c;
      bool counted = !e->uncounted || !e->uncounted[base + c];
      partial[c] = counted ? e->kernels->energy(e, start[0], start[1], x) : 0;
    }
    for (int32_t c = 0; c < count; c++) total += partial[c];
  }
  return total;
}

void eb_elements_open_gradient(const eb_elasticity *e, int32_t chunk, double *g) {
  EB_ASSERT(chunk >= 0 && chunk < e->chunk_count);
  const eb_schedule *s = e->schedule;
  for (int32_t i = s->open_start[chunk]; i < s->open_start[chunk + 1]; i++)
    for (int j = 0; j < 3; j++) g[3 * (int64_t)s->open[i] + j] = 0;
}

void eb_elasticity_gradient(const eb_elasticity *e, const double *x, double *g) {
  EB_ASSERT(eb_elasticity_sweeps(e) && x != g);
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t c; (c = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_gradient(e, c, g);
    e->kernels->gradient(e, e->chunk_start[c], e->chunk_start[c + 1], x, g);
    eb_schedule_finish(s, c);
  }
}

void eb_elements_open_rows(const eb_elasticity *e, int32_t chunk, const double *mass,
                           double mass_scale, double *values) {
  EB_ASSERT(chunk >= 0 && chunk < e->chunk_count);
  const eb_block_matrix *p = e->pattern;
  const eb_schedule *s = e->schedule;
  for (int32_t k = s->open_start[chunk]; k < s->open_start[chunk + 1]; k++) {
    int32_t i = s->open[k];
    double *diagonal = values + 9 * (int64_t)p->diagonal[i];
    memset(diagonal, 0, 9 * sizeof *values * (size_t)(p->start[i + 1] - p->diagonal[i]));
    diagonal[0] = diagonal[4] = diagonal[8] = mass_scale * mass[i];
  }
}

/* Copies what is right of the diagonal to below it. */
static void mirror_row(const eb_elasticity *e, int32_t i, double *values) {
  const eb_block_matrix *p = e->pattern;
  double *diagonal = values + 9 * (int64_t)p->diagonal[i];
  diagonal[3] = diagonal[1];
  diagonal[6] = diagonal[2];
  diagonal[7] = diagonal[5];
  for (int32_t b = p->diagonal[i] + 1; b < p->start[i + 1]; b++) {
    const double *from = values + 9 * (int64_t)b;
    double *to = values + 9 * (int64_t)e->mirror[b];
    for (int k = 0; k < 9; k++) to[k] = from[3 * (k % 3) + k / 3];
  }
}

void eb_elements_close_rows(const eb_elasticity *e, int32_t chunk, double *values) {
  EB_ASSERT(chunk >= 0 && chunk < e->chunk_count);
  const eb_schedule *s = e->schedule;
  for (int32_t k = s->close_start[chunk]; k < s->close_start[chunk + 1]; k++)
    mirror_row(e, s->close[k], values);
}

void eb_elasticity_matrix(const eb_elasticity *e, const double *x, double mass_scale,
                          double hessian_scale, bool project, eb_block_matrix *matrix, double *g) {
  EB_ASSERT(eb_elasticity_sweeps(e) && matrix->rows >= e->node_count);
  const eb_matrix_job job = {
      .x = x, .scale = hessian_scale, .project = project, .values = matrix->values, .g = g};
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t c; (c = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_rows(e, c, e->mass, mass_scale, matrix->values);
    if (g) eb_elements_open_gradient(e, c, g);
    e->kernels->matrix(e, e->chunk_start[c], e->chunk_start[c + 1], &job);
    eb_schedule_finish(s, c);
    eb_elements_close_rows(e, c, matrix->values);
  }
}

void eb_elasticity_rotations(const eb_elasticity *e, const double *x, double *rotations) {
#pragma omp parallel for schedule(static)
  for (int32_t c = 0; c < e->chunk_count; c++)
    e->kernels->rotations(e, e->chunk_start[c], e->chunk_start[c + 1], x, rotations);
}
