/* Bounded quadratic programs by a primal-dual interior method, and an active set at its end.
 *
 *   Q w - z + y = 0,   w z = mu,   (1 - w) y = mu,   w, 1 - w, z, y > 0,
 *
 * by Newton's method with Mehrotra's predictor and corrector (1992, SIAM J. Optim. 2(4)): every
 * iteration factors Q + diag(z / w + y / (1 - w)), all in one symbolic factorization, and their
 * number hardly depends on the mesh. (Projected Newton steps are cheaper each, but a biharmonic
 * step that is cut off at the bounds has bumps beside the cut, and is halved again and again.) When
 * mu is small the entries whose multiplier outweighs them are held at their bound, and the others
 * solved for; sets are mended by their signs until the conditions hold (Hintermueller, Ito and
 * Kunisch 2002), which from so near takes a step or two.
 *
 * Workspace: Q in blocks twice and a factor of it. */
#include "solvers/subspace/biharmonic.h"

#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/mesh/places.h"
#include "solvers/linalg/multifrontal.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-11, NEAR = 1e-9, BACK = 0.995;
enum { MAX_ITERATIONS = 60, MENDINGS = 20 };

struct eb_bounded {
  const eb_scalar_matrix *Q;
  const uint8_t *fixed;
  eb_block_matrix *whole, *cut; /* Q in blocks; the same with held rows cut off */
  int32_t *row, *origin;        /* of eb_scalar_pack */
  eb_multifrontal *factor;
  uint8_t *held;            /* rows */
  double *t;                /* rows: 1 - w, to full precision */
  double *g, *p, *z, *y;    /* rows: Q w, the direction, multipliers of the bounds 0 and 1 */
  double *dz, *dy, *beside; /* rows: their directions, what is added to the diagonal */
  double *b;                /* rows of the blocks, 3 each */
  double scale;             /* largest diagonal entry */
};

/* ---- the program ---- */

/* Factors Q + diag(beside) with the held rows cut off. */
static eb_error factor_without(eb_bounded *s, const uint8_t *held, const double *beside,
                               eb_step_log *log) {
  const eb_block_matrix *A = s->whole;
#pragma omp parallel for schedule(static)
  for (int32_t i = 0; i < A->rows; i++)
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int e = 0; e < 9; e++) {
        int32_t r = 3 * i + e / 3, c = 3 * A->column[b] + e % 3;
        int32_t node = s->origin[r], other = s->origin[c];
        bool off = r != c && ((node >= 0 && held[node]) || (other >= 0 && held[other]));
        s->cut->values[9 * (int64_t)b + e] =
            (off ? 0 : A->values[9 * (int64_t)b + e]) +
            (r == c && node >= 0 && !held[node] && beside ? beside[node] : 0);
      }
  eb_reason reason;
  EB_TRY(eb_multifrontal_factor(s->factor, s->cut, log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_INVALID,
                    "biharmonic weights: the Laplacian squared is not positive definite (%s): is "
                    "an element flat?",
                    eb_reason_name(reason));
  return EB_OK;
}

eb_error eb_bounded_create(const eb_scalar_matrix *Q, const uint8_t *fixed, int threads,
                           eb_step_log *log, eb_bounded **out) {
  eb_bounded *s;
  size_t rows = (size_t)Q->rows;
  *out = NULL;
  EB_TRY(EB_NEW(s, 1));
  s->Q = Q;
  s->fixed = fixed;
  const eb_multifrontal_settings settings = {.threads = threads};
  eb_error error = eb_scalar_pack(Q, &s->whole, &s->row, &s->origin);
  if (!error) error = eb_block_matrix_like(s->whole, &s->cut);
  if (!error) error = EB_NEW(s->held, rows);
  double **const vectors[] = {&s->t, &s->g, &s->p, &s->z, &s->y, &s->dz, &s->dy, &s->beside};
  for (size_t k = 0; !error && k < sizeof vectors / sizeof *vectors; k++)
    error = EB_NEW(*vectors[k], rows);
  if (!error) error = EB_NEW(s->b, 3 * (size_t)s->whole->rows);
  if (!error) error = eb_multifrontal_create(&settings, s->whole, log, &s->factor);
  for (int32_t i = 0; i < Q->rows; i++)
    for (int32_t b = Q->start[i]; b < Q->start[i + 1]; b++)
      if (Q->column[b] == i) s->scale = fmax(s->scale, Q->value[b]);
  if (error) {
    eb_bounded_destroy(s);
    return error;
  }
  *out = s;
  return EB_OK;
}

void eb_bounded_destroy(eb_bounded *s) {
  if (!s) return;
  eb_multifrontal_destroy(s->factor);
  eb_block_matrix_destroy(s->cut);
  eb_block_matrix_destroy(s->whole);
  void *const owned[] = {s->row, s->origin, s->held, s->t,  s->g,      s->p,
                         s->z,   s->y,      s->dz,   s->dy, s->beside, s->b};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(s);
}

/* p = inv(the factored matrix) r over what is not held, 0 elsewhere; r and p may be the same. */
static eb_error direction(eb_bounded *s, const uint8_t *held, const double *r, eb_step_log *log) {
  eb_reason reason;
  memset(s->b, 0, 3 * (size_t)s->whole->rows * sizeof *s->b);
  for (int32_t i = 0; i < s->Q->rows; i++) s->b[s->row[i]] = held[i] ? 0 : r[i];
  EB_TRY(eb_multifrontal_solve(s->factor, 1, s->b, s->b, log, &reason));
  if (reason < 0)
    return EB_ERROR(EB_ERR_LIBRARY, "biharmonic weights: a solve ended with %s",
                    eb_reason_name(reason));
  for (int32_t i = 0; i < s->Q->rows; i++) s->p[i] = held[i] ? 0 : s->b[s->row[i]];
  return EB_OK;
}

/* ---- interior ---- */

/* The mean product of entries and multipliers after a step of length a. */
static double gap_after(const eb_bounded *s, const double *w, double a) {
  double sum = 0, count = 0;
  for (int32_t i = 0; i < s->Q->rows; i++) {
    if (s->fixed[i]) continue;
    sum += (w[i] + a * s->p[i]) * (s->z[i] + a * s->dz[i]) +
           (s->t[i] - a * s->p[i]) * (s->y[i] + a * s->dy[i]);
    count += 2;
  }
  return count > 0 ? sum / count : 0;
}

/* The Newton direction towards products of mu, with the products of the last direction (the
 * predictor's) taken off when `corrected`. g = Q w. */
static eb_error aim(eb_bounded *s, const double *w, double mu, bool corrected, eb_step_log *log) {
  double *r = s->beside; /* of no use once it is in the factor */
  for (int32_t i = 0; i < s->Q->rows; i++) {
    if (s->fixed[i]) continue;
    double low = corrected ? s->p[i] * s->dz[i] : 0, high = corrected ? -s->p[i] * s->dy[i] : 0;
    s->dz[i] = (mu - low) / w[i] - s->z[i];
    s->dy[i] = (mu - high) / s->t[i] - s->y[i];
    r[i] = -s->g[i] + s->z[i] - s->y[i] + s->dz[i] - s->dy[i];
  }
  EB_TRY(direction(s, s->fixed, r, log));
  for (int32_t i = 0; i < s->Q->rows; i++) {
    if (s->fixed[i]) continue;
    s->dz[i] -= s->z[i] / w[i] * s->p[i];
    s->dy[i] += s->y[i] / s->t[i] * s->p[i];
  }
  return EB_OK;
}

/* The longest step up to 1 that keeps everything positive. */
static double longest(const eb_bounded *s, const double *w) {
  double a = 1;
  for (int32_t i = 0; i < s->Q->rows; i++) {
    if (s->fixed[i]) continue;
    if (s->p[i] < 0) a = fmin(a, -w[i] / s->p[i]);
    if (s->p[i] > 0) a = fmin(a, s->t[i] / s->p[i]);
    if (s->dz[i] < 0) a = fmin(a, -s->z[i] / s->dz[i]);
    if (s->dy[i] < 0) a = fmin(a, -s->y[i] / s->dy[i]);
  }
  return a;
}

/* From the middle, until products and residual are below NEAR of the scale. */
static eb_error go_through_interior(eb_bounded *s, eb_step_log *log, double *w, int *count) {
  int32_t rows = s->Q->rows;
  memset(s->p, 0, (size_t)rows * sizeof *s->p);
  memset(s->dz, 0, (size_t)rows * sizeof *s->dz);
  memset(s->dy, 0, (size_t)rows * sizeof *s->dy);
  for (int32_t i = 0; i < rows; i++) {
    s->t[i] = 0.5;
    if (!s->fixed[i]) w[i] = 0.5;
    s->z[i] = s->y[i] = 1e-3 * s->scale;
  }
  for (*count = 0; *count < MAX_ITERATIONS; ++*count) {
    double left = 0, mu = gap_after(s, w, 0);
    eb_scalar_multiply(s->Q, w, s->g);
    for (int32_t i = 0; i < rows; i++)
      if (!s->fixed[i]) left = fmax(left, fabs(s->g[i] - s->z[i] + s->y[i]));
    if (left <= NEAR * s->scale && mu <= NEAR * NEAR * s->scale) break;
    for (int32_t i = 0; i < rows; i++)
      if (!s->fixed[i]) s->beside[i] = s->z[i] / w[i] + s->y[i] / s->t[i];
    EB_TRY(factor_without(s, s->fixed, s->beside, log));
    EB_TRY(aim(s, w, 0, false, log));
    double ratio = gap_after(s, w, longest(s, w)) / mu;
    EB_TRY(aim(s, w, ratio * ratio * ratio * mu, true, log));
    double a = fmin(1, BACK * longest(s, w));
    for (int32_t i = 0; i < rows; i++) {
      if (s->fixed[i]) continue;
      w[i] += a * s->p[i];
      s->t[i] -= a * s->p[i];
      s->z[i] += a * s->dz[i];
      s->y[i] += a * s->dy[i];
    }
  }
  return EB_OK;
}

/* ---- active set ---- */

/* g = Q w, and what it lacks of the conditions of optimality. */
static double violation(eb_bounded *s, const double *w) {
  double worst = 0;
  eb_scalar_multiply(s->Q, w, s->g);
  for (int32_t i = 0; i < s->Q->rows; i++)
    if (!s->fixed[i] && !(w[i] <= 0 && s->g[i] >= 0) && !(w[i] >= 1 && s->g[i] <= 0))
      worst = fmax(worst, fabs(s->g[i]));
  return worst;
}

/* Marks and sets what belongs to a bound: where the multiplier outweighs the distance from it. */
static void hold(eb_bounded *s, double *w) {
  for (int32_t i = 0; i < s->Q->rows; i++) {
    s->held[i] = s->fixed[i];
    if (s->fixed[i]) continue;
    if (s->z[i] > s->scale * w[i]) {
      s->held[i] = 1;
      w[i] = 0;
    } else if (s->y[i] > s->scale * (1 - w[i])) {
      s->held[i] = 1;
      w[i] = 1;
    }
  }
}

/* w := the solution with what is held; multipliers of that from g, none of the others. The set that
 * follows from them is the next one's. */
static eb_error mend(eb_bounded *s, eb_step_log *log, double *w) {
  int32_t rows = s->Q->rows;
  eb_scalar_multiply(s->Q, w, s->g);
  for (int32_t i = 0; i < rows; i++) s->g[i] = -s->g[i];
  EB_TRY(factor_without(s, s->held, NULL, log));
  EB_TRY(direction(s, s->held, s->g, log));
  for (int32_t i = 0; i < rows; i++) w[i] += s->p[i];
  eb_scalar_multiply(s->Q, w, s->g);
  for (int32_t i = 0; i < rows; i++) {
    s->z[i] = s->held[i] && w[i] <= 0 ? s->g[i] : 0;
    s->y[i] = s->held[i] && w[i] >= 1 ? -s->g[i] : 0;
  }
  return EB_OK;
}

eb_error eb_bounded_solve(eb_bounded *s, eb_step_log *log, double *w, int *iterations) {
  int count;
  EB_TRY(go_through_interior(s, log, w, &count));
  double left = INFINITY;
  for (int k = 0; k < MENDINGS && left > TOLERANCE * s->scale; k++, count++) {
    hold(s, w);
    EB_TRY(mend(s, log, w));
    for (int32_t i = 0; i < s->Q->rows; i++) s->p[i] = fmin(1, fmax(0, w[i]));
    left = violation(s, s->p);
  }
  for (int32_t i = 0; i < s->Q->rows; i++) w[i] = fmin(1, fmax(0, w[i]));
  if (iterations) *iterations = count;
  if (!(left <= TOLERANCE * s->scale))
    return EB_ERROR(EB_ERR_LIBRARY,
                    "biharmonic weights: %d iterations leave %.1e of the conditions of optimality",
                    count, left / s->scale);
  return EB_OK;
}

/* ---- handles ---- */

/* Lowers the distances from a new source, along edges (a queue that holds a node once). */
static void spread(const eb_mesh *mesh, const eb_block_matrix *graph, int32_t source, int32_t as,
                   double *distance, int32_t *owner, int32_t *queue, uint8_t *queued) {
  int64_t room = mesh->node_count, first = 0, count = 1;
  distance[source] = 0;
  owner[source] = as;
  queue[0] = source;
  while (count > 0) {
    int32_t i = queue[first];
    first = (first + 1) % room;
    count--;
    queued[i] = 0;
    for (int32_t b = graph->start[i]; b < graph->start[i + 1]; b++) {
      int32_t j = graph->column[b];
      const double *p = mesh->X + 3 * (int64_t)i, *q = mesh->X + 3 * (int64_t)j;
      double to = distance[i] + sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                                     (p[2] - q[2]) * (p[2] - q[2]));
      if (!(to < distance[j])) continue;
      distance[j] = to;
      owner[j] = as;
      if (queued[j]) continue;
      queued[j] = 1;
      queue[(first + count++) % room] = j;
    }
  }
}

static eb_error sample(const eb_mesh *mesh, const uint8_t *pinned, const eb_block_matrix *graph,
                       int32_t handles, double *distance, int32_t *queue, uint8_t *queued,
                       int32_t *handle, int32_t *owner) {
  bool any = false;
  int32_t nodes = mesh->node_count;
  EB_FREED int32_t *order = NULL;
  EB_TRY(EB_NEW(order, nodes));
  EB_TRY(eb_mesh_nodes_by_place(mesh, order));
  for (int32_t i = 0; i < nodes; i++) distance[i] = INFINITY;
  for (int32_t i = 0; i < nodes; i++)
    if (pinned && pinned[i]) {
      spread(mesh, graph, i, -1, distance, owner, queue, queued);
      any = true;
    }
  if (!any) spread(mesh, graph, order[0], 0, distance, owner, queue, queued);
  for (int32_t h = 0; h < handles; h++) {
    int32_t farthest = -1;
    for (int32_t k = 0; k < nodes; k++) {
      int32_t i = order[k];
      if (!(pinned && pinned[i]) && (farthest < 0 || distance[i] > distance[farthest]))
        farthest = i;
    }
    if (farthest < 0 || (h > 0 && distance[farthest] == 0))
      return EB_ERROR(EB_ERR_USAGE,
                      "biharmonic weights: %d handles for %d free nodes; ask for "
                      "fewer modes",
                      (int)handles, (int)h);
    /* The first node was no handle. */
    for (int32_t i = 0; i < nodes && h == 0 && !any; i++) distance[i] = INFINITY;
    handle[h] = farthest;
    spread(mesh, graph, farthest, h, distance, owner, queue, queued);
  }
  for (int32_t i = 0; i < nodes; i++)
    if (!isfinite(distance[i]))
      return EB_ERROR(EB_ERR_USAGE,
                      "biharmonic weights: %d handles do not reach all bodies; ask for more modes",
                      (int)handles);
  return EB_OK;
}

eb_error eb_biharmonic_handles(const eb_mesh *mesh, const uint8_t *pinned, int32_t handles,
                               int32_t *handle, int32_t *owner) {
  EB_ASSERT(handles > 0);
  eb_block_matrix *graph;
  double *distance = NULL;
  int32_t *queue = NULL;
  uint8_t *queued = NULL;
  EB_TRY(eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count,
                                (int)mesh->type, &graph));
  eb_error error = EB_NEW(distance, mesh->node_count);
  if (!error) error = EB_NEW(queue, mesh->node_count);
  if (!error) error = EB_NEW(queued, mesh->node_count);
  if (!error) error = sample(mesh, pinned, graph, handles, distance, queue, queued, handle, owner);
  eb_block_matrix_destroy(graph);
  free(distance);
  free(queue);
  free(queued);
  return error;
}

/* ---- weights ---- */

/* Every weight over the sum of all; `rest`: that of the pins. Where no weight reaches, the nearest
 * handle's is 1. */
static void divide_by_sum(const eb_skinning *s, const double *rest, const int32_t *owner) {
  for (int32_t i = 0; i < s->nodes; i++) {
    double sum = rest[i];
    for (int32_t k = 0; k < s->modes; k++) sum += s->weight[(int64_t)k * s->nodes + i];
    for (int32_t k = 0; k < s->modes; k++) {
      double *w = &s->weight[(int64_t)k * s->nodes + i];
      *w = sum > 0 ? *w / sum : k == owner[i];
    }
  }
}

static eb_error solve_all(const eb_mesh *mesh, const uint8_t *pinned, eb_bounded *bounded,
                          const int32_t *handle, eb_step_log *log, double *rest, eb_skinning *out) {
  bool any = false;
  for (int32_t k = 0; k < out->modes; k++) {
    double *w = out->weight + (int64_t)k * out->nodes;
    w[handle[k]] = 1;
    EB_TRY(eb_bounded_solve(bounded, log, w, NULL));
  }
  for (int32_t i = 0; i < mesh->node_count; i++) {
    rest[i] = pinned && pinned[i];
    any |= rest[i] > 0;
  }
  return any ? eb_bounded_solve(bounded, log, rest, NULL) : EB_OK;
}

static eb_error make_weights(const eb_mesh *mesh, const uint8_t *pinned, const eb_scalar_matrix *Q,
                             uint8_t *fixed, int32_t *handle, int32_t *owner, double *rest,
                             int threads, eb_step_log *log, eb_skinning *out) {
  eb_bounded *bounded;
  EB_TRY(eb_biharmonic_handles(mesh, pinned, out->modes, handle, owner));
  for (int32_t i = 0; i < mesh->node_count; i++) fixed[i] = pinned && pinned[i];
  for (int32_t k = 0; k < out->modes; k++) fixed[handle[k]] = 1;
  EB_TRY(EB_NEW(out->weight, (size_t)out->modes * (size_t)out->nodes));
  EB_TRY(eb_bounded_create(Q, fixed, threads, log, &bounded));
  eb_error error = solve_all(mesh, pinned, bounded, handle, log, rest, out);
  eb_bounded_destroy(bounded);
  if (!error) divide_by_sum(out, rest, owner);
  return error;
}

/* A quarter of the volume of every element to each of its nodes. */
static void share_volumes(const eb_mesh *mesh, double *volume) {
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int a = 0; a < 4; a++)
      volume[mesh->elements[4 * (int64_t)e + a]] += 0.25 * eb_mesh_element_volume(mesh, mesh->X, e);
}

eb_error eb_skinning_biharmonic(const eb_mesh *mesh, const uint8_t *pinned, int32_t handles,
                                int threads, eb_step_log *log, eb_skinning *out) {
  eb_scalar_matrix L, Q = {0};
  uint8_t *fixed = NULL;
  int32_t *handle = NULL, *owner = NULL;
  double *rest = NULL;
  *out = (eb_skinning){.nodes = mesh->node_count, .modes = handles, .axes = 1};
  EB_TRY(eb_scalar_laplacian(mesh, 1, &L));
  eb_error error = EB_NEW(rest, mesh->node_count);
  if (!error) error = EB_NEW(fixed, mesh->node_count);
  if (!error) error = EB_NEW(handle, handles);
  if (!error) error = EB_NEW(owner, mesh->node_count);
  if (!error) share_volumes(mesh, rest);
  if (!error) error = eb_scalar_biharmonic(&L, rest, &Q);
  if (!error) error = make_weights(mesh, pinned, &Q, fixed, handle, owner, rest, threads, log, out);
  eb_scalar_clear(&L);
  eb_scalar_clear(&Q);
  free(fixed);
  free(handle);
  free(owner);
  free(rest);
  if (error) eb_skinning_clear(out);
  return error;
}
