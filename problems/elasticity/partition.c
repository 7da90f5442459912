/* Elements into chunks, chunks sorted by colour.
 *
 * Elements are sorted along a Morton curve through their centroids and cut into runs of fixed length:
 * the chunks, compact and independent of the number of threads. Within a chunk they are grouped by
 * material into batches. Chunks are coloured greedily so that no two of a colour share a node, and
 * stored colour by colour: neighbours in the list can be worked on at the same time. */
#include <string.h>

#include "problems/base/memory.h"
#include "problems/elasticity/elements.h"

enum { CHUNK_ELEMENTS = 256, COLOURS_A_ROUND = 64, MORTON_BITS = 21 };

typedef struct keyed {
  uint64_t key;
  int32_t element;
} keyed;

typedef struct partition {
  const eb_mesh *mesh;
  int32_t chunks, colours;
  keyed *order;          /* element_count */
  int32_t *colour;       /* chunks */
  uint64_t *node_mask;   /* node_count: colours of this round met at the node */
  int32_t *colour_start; /* colours + 1 */
  int32_t *by_colour;    /* chunks, sorted by colour */
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
  qsort(p->order, (size_t)mesh->element_count, sizeof *p->order, compare_keys);
}

static int32_t chunk_end(const partition *p, int32_t chunk) {
  int64_t end = ((int64_t)chunk + 1) * CHUNK_ELEMENTS;
  return (int32_t)(end < p->mesh->element_count ? end : p->mesh->element_count);
}

/* Groups each chunk by region, keeping the order along the curve otherwise. */
static void group_by_region(partition *p) {
  for (int32_t c = 0; c < p->chunks; c++) {
    int32_t begin = c * CHUNK_ELEMENTS, end = chunk_end(p, c);
    for (int32_t i = begin; i < end; i++)
      p->order[i].key =
          (uint64_t)p->mesh->region[p->order[i].element] << 32 | (uint32_t)(i - begin);
    qsort(p->order + begin, (size_t)(end - begin), sizeof *p->order, compare_keys);
  }
}

static uint64_t masks_around(const partition *p, int32_t chunk) {
  int arity = (int)p->mesh->type;
  uint64_t met = 0;
  for (int32_t i = chunk * CHUNK_ELEMENTS; i < chunk_end(p, chunk); i++)
    for (int a = 0; a < arity; a++)
      met |= p->node_mask[p->mesh->elements[(int64_t)p->order[i].element * arity + a]];
  return met;
}

static void mark_around(partition *p, int32_t chunk, uint64_t bit) {
  int arity = (int)p->mesh->type;
  for (int32_t i = chunk * CHUNK_ELEMENTS; i < chunk_end(p, chunk); i++)
    for (int a = 0; a < arity; a++)
      p->node_mask[p->mesh->elements[(int64_t)p->order[i].element * arity + a]] |= bit;
}

/* Greedy, 64 colours a round; what finds none (chunks around one hub node) waits for the next. */
static void colour_chunks(partition *p) {
  for (int32_t c = 0; c < p->chunks; c++) p->colour[c] = -1;
  for (int32_t left = p->chunks; left > 0; p->colours += COLOURS_A_ROUND) {
    memset(p->node_mask, 0, sizeof *p->node_mask * (size_t)p->mesh->node_count);
    for (int32_t c = 0; c < p->chunks; c++) {
      if (p->colour[c] >= 0) continue;
      uint64_t met = masks_around(p, c);
      if (~met == 0) continue;
      int bit = __builtin_ctzll(~met);
      mark_around(p, c, UINT64_C(1) << bit);
      p->colour[c] = p->colours + bit;
      left--;
    }
  }
}

/* Lists the chunks colour by colour. */
static eb_error sort_by_colour(partition *p) {
  EB_TRY(EB_NEW(p->colour_start, (size_t)p->colours + 1));
  for (int32_t c = 0; c < p->chunks; c++) p->colour_start[p->colour[c] + 1]++;
  for (int32_t k = 0; k < p->colours; k++) p->colour_start[k + 1] += p->colour_start[k];
  for (int32_t c = 0; c < p->chunks; c++) p->by_colour[p->colour_start[p->colour[c]]++] = c;
  return EB_OK;
}

static bool ends_batch(const partition *p, int32_t i, int32_t end) {
  return i + 1 == end || p->order[i].key >> 32 != p->order[i + 1].key >> 32;
}

/* Lanes of one chunk from batch `b` on; returns the next batch. With `e` NULL only counts. */
static int32_t fill_batches(const partition *p, int32_t chunk, int32_t b, eb_elasticity *e) {
  int lane = 0;
  for (int32_t i = chunk * CHUNK_ELEMENTS, end = chunk_end(p, chunk); i < end; i++) {
    if (e) {
      if (lane == 0) {
        e->batch_law[b] = (int32_t)(p->order[i].key >> 32);
        for (int l = 0; l < EB_LANES; l++) e->element[EB_LANES * b + l] = -1;
      }
      e->element[EB_LANES * b + lane] = p->order[i].element;
    }
    lane++;
    if (lane == EB_LANES || ends_batch(p, i, end)) {
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
  return EB_OK;
}

static eb_error fill_schedule(const partition *p, int64_t *start, int32_t *node, eb_elasticity *e) {
  int arity = (int)p->mesh->type;
  int64_t at = 0;
  for (int32_t c = 0; c < p->chunks; c++) {
    int32_t chunk = p->by_colour[c];
    for (int32_t i = chunk * CHUNK_ELEMENTS; i < chunk_end(p, chunk); i++, at += arity)
      memcpy(node + at, p->mesh->elements + (int64_t)p->order[i].element * arity,
             (size_t)arity * sizeof *node);
    start[c + 1] = at;
  }
  return eb_schedule_create(p->chunks, start, node, p->mesh->node_count, &e->schedule);
}

static eb_error make_schedule(const partition *p, eb_elasticity *e) {
  int64_t *start = NULL;
  int32_t *node = NULL;
  eb_error error = EB_NEW(start, (size_t)p->chunks + 1);
  if (!error) error = EB_NEW(node, (size_t)p->mesh->element_count * (size_t)p->mesh->type);
  if (!error) error = fill_schedule(p, start, node, e);
  free(start);
  free(node);
  return error;
}

static eb_error run(partition *p, eb_elasticity *e) {
  EB_TRY(EB_NEW(p->order, p->mesh->element_count));
  EB_TRY(EB_NEW(p->colour, p->chunks));
  EB_TRY(EB_NEW(p->node_mask, p->mesh->node_count));
  EB_TRY(EB_NEW(p->by_colour, p->chunks));
  sort_along_curve(p);
  group_by_region(p);
  colour_chunks(p);
  EB_TRY(sort_by_colour(p));
  EB_TRY(batch_chunks(p, e));
  return make_schedule(p, e);
}

eb_error eb_elements_partition(const eb_mesh *mesh, eb_elasticity *elasticity) {
  partition p = {
      .mesh = mesh,
      .chunks = (int32_t)(((int64_t)mesh->element_count + CHUNK_ELEMENTS - 1) / CHUNK_ELEMENTS)};
  eb_error error = run(&p, elasticity);
  free(p.order);
  free(p.colour);
  free(p.node_mask);
  free(p.colour_start);
  free(p.by_colour);
  return error;
}
