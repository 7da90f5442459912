/* Batches of a chunk, and rest shapes in their order.
 *
 * In a chunk, colours are given greedily in the order of its elements: the least one that no
 * element at any of its nodes has (first fit). Elements of one colour make batches of four. What is
 * left - up to three of each colour, and those beyond 64 colours - goes into the first batch with
 * room that it shares no node with. Batches are full but for the last few of a chunk.
 *
 * O(elements) time and memory. */
#include "solvers/position_based/batches.h"

#include "problems/base/memory.h"
#include "problems/elasticity/elements.h"

#include <math.h>
#include <string.h>

enum { COLOURS = 64, MOST_NODES = 8 };

/* ---- batches --------------------------------------------------------------------------------- */

typedef struct binder {
  const eb_mesh *mesh;
  uint64_t *used;   /* nodes: colours of the elements of the chunk there */
  int32_t *chunk;   /* the elements of the chunk */
  int32_t *colour;  /* of them; COLOURS: none */
  int32_t *element; /* room for a batch an element */
  int32_t count, batches;
} binder;

static const int32_t *nodes_of(const eb_mesh *mesh, int32_t element) {
  return mesh->elements + (int64_t)element * mesh->type;
}

static void give_colours(binder *b) {
  int A = (int)b->mesh->type;
  for (int32_t k = 0; k < b->count; k++)
    for (int a = 0; a < A; a++) b->used[nodes_of(b->mesh, b->chunk[k])[a]] = 0;
  for (int32_t k = 0; k < b->count; k++) {
    const int32_t *node = nodes_of(b->mesh, b->chunk[k]);
    uint64_t used = 0;
    for (int a = 0; a < A; a++) used |= b->used[node[a]];
    b->colour[k] = ~used ? __builtin_ctzll(~used) : COLOURS;
    for (int a = 0; a < A && ~used; a++) b->used[node[a]] |= UINT64_C(1) << b->colour[k];
  }
}

/* Full batches of each colour; the colour of what they hold is then -1. */
static void bind_colours(binder *b) {
  int32_t last[EB_LANES], held;
  for (int32_t c = 0; c < COLOURS; c++) {
    held = 0;
    for (int32_t k = 0; k < b->count; k++) {
      if (b->colour[k] != c) continue;
      last[held++] = k;
      if (held < EB_LANES) continue;
      for (int l = 0; l < EB_LANES; l++) {
        b->element[EB_LANES * b->batches + l] = b->chunk[last[l]];
        b->colour[last[l]] = -1;
      }
      b->batches++;
      held = 0;
    }
  }
}

static bool share_a_node(const eb_mesh *mesh, int32_t e, int32_t f) {
  int A = (int)mesh->type;
  const int32_t *p = nodes_of(mesh, e), *q = nodes_of(mesh, f);
  for (int a = 0; a < A; a++)
    for (int c = 0; c < A; c++)
      if (p[a] == q[c]) return true;
  return false;
}

/* The lane of a batch that the element may have, or EB_LANES. */
static int room_for(const binder *b, const int32_t *lanes, int32_t element) {
  int l = 0;
  for (; l < EB_LANES && lanes[l] >= 0; l++)
    if (share_a_node(b->mesh, lanes[l], element)) return EB_LANES;
  return l;
}

static void bind_rest(binder *b) {
  int32_t first = b->batches;
  for (int32_t k = 0; k < b->count; k++) {
    if (b->colour[k] < 0) continue;
    int32_t batch = first, *lanes;
    int lane = EB_LANES;
    for (; lane == EB_LANES && batch < b->batches; batch++)
      lane = room_for(b, b->element + (int64_t)EB_LANES * batch, b->chunk[k]);
    if (lane == EB_LANES) {
      batch = ++b->batches;
      lane = 0;
    }
    lanes = b->element + (int64_t)EB_LANES * (batch - 1);
    for (int l = lane; l < EB_LANES; l++) lanes[l] = l == lane ? b->chunk[k] : -1;
  }
}

static eb_error bind(const eb_scene *scene, binder *b, eb_batches *s) {
  const eb_elasticity *from = scene->elasticity;
  int64_t elements = scene->mesh->element_count, A = s->nodes;
  s->chunk_count = from->chunk_count;
  EB_TRY(EB_NEW(s->chunk_start, s->chunk_count + 1));
  EB_TRY(EB_NEW(b->used, s->node_count));
  EB_TRY(EB_NEW(b->chunk, elements));
  EB_TRY(EB_NEW(b->colour, elements));
  EB_TRY(EB_NEW(b->element, elements * EB_LANES));
  for (int32_t c = 0; c < s->chunk_count; c++) {
    b->count = 0;
    for (int64_t k = EB_LANES * (int64_t)from->chunk_start[c];
         k < EB_LANES * (int64_t)from->chunk_start[c + 1]; k++)
      if (from->element[k] >= 0) b->chunk[b->count++] = from->element[k];
    give_colours(b);
    bind_colours(b);
    bind_rest(b);
    s->chunk_start[c + 1] = b->batches;
  }
  s->batch_count = b->batches;
  EB_TRY(EB_NEW(s->element, EB_LANES * (int64_t)s->batch_count));
  EB_TRY(EB_NEW(s->node, A * EB_LANES * (int64_t)s->batch_count));
  memcpy(s->element, b->element, EB_LANES * (size_t)s->batch_count * sizeof *s->element);
  for (int32_t c = 0; c < s->chunk_count; c++)
    for (int64_t k = EB_LANES * (int64_t)s->chunk_start[c];
         k < EB_LANES * (int64_t)s->chunk_start[c + 1]; k++)
      for (int64_t a = 0; a < A; a++)
        s->node[(k / EB_LANES * A + a) * EB_LANES + k % EB_LANES] =
            s->element[k] < 0 ? s->node_count + c : nodes_of(scene->mesh, s->element[k])[a];
  return EB_OK;
}

/* Numbers particles as sweeps come by them, so that these go through memory once and in its order;
 * nodes of no element come last. */
static eb_error number_particles(eb_batches *s) {
  int32_t met = 0;
  EB_TRY(EB_NEW(s->particle, s->node_count));
  for (int32_t i = 0; i < s->node_count; i++) s->particle[i] = -1;
  for (int64_t k = 0; k < (int64_t)s->batch_count * s->nodes * EB_LANES; k++) {
    if (s->node[k] >= s->node_count) continue;
    int32_t *own = &s->particle[s->node[k]];
    if (*own < 0) *own = met++;
    s->node[k] = *own;
  }
  for (int32_t i = 0; i < s->node_count; i++)
    if (s->particle[i] < 0) s->particle[i] = met++;
  return EB_OK;
}

static eb_error order_elements(const eb_scene *scene, eb_batches *s) {
  binder b = {.mesh = scene->mesh};
  eb_error error = bind(scene, &b, s);
  free(b.used);
  free(b.chunk);
  free(b.colour);
  free(b.element);
  return error;
}

/* Lanes of a chunk without an element share a node of their own. One for all chunks would let these
 * run one after the other only: there is such a lane in most of them. */
static eb_error order_chunks(eb_batches *s) {
  int64_t *node_start;
  EB_TRY(EB_NEW(node_start, s->chunk_count + 1));
  for (int32_t c = 0; c <= s->chunk_count; c++)
    node_start[c] = (int64_t)s->chunk_start[c] * s->nodes * EB_LANES;
  eb_error error = eb_schedule_create(s->chunk_count, node_start, s->node,
                                      s->node_count + s->chunk_count, &s->schedule);
  free(node_start);
  return error;
}

/* ---- rest shapes ----------------------------------------------------------------------------- */

static const double corner[MOST_NODES][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                             {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

/* J = sum_a X_a slope_a^T: of a tetrahedron the edges from node 0, of a hexahedron at the centre of
 * [0, 1]^3 slope_a = corner_a / 4 (Lewin 2016, Eq. 4.29). Its inverse into the frame; returns det
 * J.
 */
static double measure(int nodes, double (*X)[3], double frame[9]) {
  double J[3][3] = {{0}}, C[3][3], determinant = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      if (nodes == EB_TETRAHEDRON) J[i][j] = X[j + 1][i] - X[0][i];
      for (int a = 0; nodes == EB_HEXAHEDRON && a < nodes; a++)
        J[i][j] += 0.25 * X[a][i] * corner[a][j];
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int k = (i + 1) % 3, l = (i + 2) % 3, m = (j + 1) % 3, n = (j + 2) % 3;
      C[i][j] = J[k][m] * J[l][n] - J[k][n] * J[l][m];
    }
  for (int j = 0; j < 3; j++) determinant += J[0][j] * C[0][j];
  for (int i = 0; i < 9; i++) frame[i] = C[i % 3][i / 3] / determinant;
  return determinant;
}

/* H_i . X, where H_i has the products of the corners' signs along all axes but i, H_4 along all
 * (Eq. 4.32, where row 1, column 8 is a slip of the print). Returns whether that is more than
 * rounding. */
static bool measure_skew(double (*X)[3], double skew[12]) {
  double size = 0, most = 0;
  for (int i = 0; i < 4; i++)
    for (int d = 0; d < 3; d++) {
      skew[3 * i + d] = 0;
      for (int a = 0; a < MOST_NODES; a++) {
        double H = 1;
        for (int k = 0; k < 3; k++)
          if (k != i) H *= corner[a][k];
        skew[3 * i + d] += H * X[a][d];
        size = fmax(size, fabs(X[a][d]));
      }
      most = fmax(most, fabs(skew[3 * i + d]));
    }
  return most > 1e-13 * size;
}

static eb_error measure_all(const eb_mesh *mesh, eb_batches *s) {
  int64_t batches = s->batch_count;
  bool skewed = false;
  EB_TRY(EB_NEW(s->frame, 9 * batches));
  EB_TRY(EB_NEW(s->volume, batches));
  if (s->nodes == EB_HEXAHEDRON) EB_TRY(EB_NEW(s->skew, 12 * batches));
  for (int64_t k = 0; k < batches * EB_LANES; k++) {
    double X[MOST_NODES][3], frame[9], skew[12];
    int64_t b = k / EB_LANES, lane = k % EB_LANES;
    if (s->element[k] < 0) continue;
    const int32_t *node = nodes_of(mesh, s->element[k]);
    for (int a = 0; a < s->nodes; a++) memcpy(X[a], mesh->X + 3 * (int64_t)node[a], sizeof X[a]);
    double determinant = measure(s->nodes, X, frame);
    if (!(determinant > 0))
      return EB_ERROR(EB_ERR_INVALID, "element %d has no volume at its centre; mend the mesh",
                      s->element[k]);
    s->volume[b][lane] = s->nodes == EB_TETRAHEDRON ? determinant / 6 : determinant;
    for (int i = 0; i < 9; i++) s->frame[9 * b + i][lane] = frame[i];
    if (!s->skew) continue;
    skewed |= measure_skew(X, skew);
    for (int i = 0; i < 12; i++) s->skew[12 * b + i][lane] = skew[i];
  }
  if (!skewed) {
    free(s->skew);
    s->skew = NULL;
  }
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_batches_create(const eb_scene *scene, eb_batches *out) {
  const eb_mesh *mesh = scene->mesh;
  *out = (eb_batches){.nodes = (int)mesh->type, .node_count = mesh->node_count};
  if (mesh->type != EB_TETRAHEDRON && mesh->type != EB_HEXAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "sweeps of projections are for tetrahedra and hexahedra; this mesh has "
                    "elements of %d nodes",
                    (int)mesh->type);
  EB_TRY(order_elements(scene, out));
  EB_TRY(number_particles(out));
  EB_TRY(order_chunks(out));
  return measure_all(mesh, out);
}

void eb_batches_clear(eb_batches *s) {
  free(s->chunk_start);
  free(s->element);
  free(s->particle);
  free(s->node);
  free(s->frame);
  free(s->volume);
  free(s->skew);
  eb_schedule_destroy(s->schedule);
  *s = (eb_batches){0};
}

int64_t eb_batches_bytes(const eb_batches *s) {
  int64_t lanes = 10 + (s->skew ? 12 : 0);
  return s->batch_count * (lanes * (int64_t)sizeof(eb_v4) +
                           (s->nodes + 1) * EB_LANES * (int64_t)sizeof(int32_t)) +
         eb_schedule_bytes(s->schedule);
}

void eb_batches_sweep(const eb_batches *s, eb_batches_visit *visit, void *context) {
  eb_schedule_begin(s->schedule);
#pragma omp parallel
  {
    int32_t chunk;
    while ((chunk = eb_schedule_take(s->schedule)) >= 0) {
      visit(context, s->chunk_start[chunk], s->chunk_start[chunk + 1]);
      eb_schedule_finish(s->schedule, chunk);
    }
  }
}
