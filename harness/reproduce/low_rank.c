/* One change of a system matrix, followed in three ways.
 *
 *   A = M + h^2 sum_e Q_e K_e Q_e^T,   A' = A with the Q_e of a set S of elements brought up to date
 *
 *   updown       rank updates and downdates of CHOLMOD's factor of A, element by element (cholmod_updown)
 *   refactor     a whole multifrontal factorization of A'
 *   incremental  the fronts that hold the elements of S, and their ancestors
 *
 * on the scene's mesh, twisted about the vertical, for sets of given sizes around its lowest node: where a contact would
 * change them. The three are timed in turns, and the least time of each counts. Later rounds take the change back and forth: from A'
 * the rank updates go to A. The time limit ends the rank updates of a set; `updown_done` is the share of its elements that
 * were done, and the time then a lower bound. Where all were done, both factors solve one system, and `difference` is how far
 * the solutions are apart.
 *
 * Reference: Hecht, Lee, Shewchuk and O'Brien 2012, Section 5.2. They count rank 12 an element; so does this. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/probe.h"
#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/elasticity/corotation.h"
#include "solvers/linalg/multifrontal.h"
#include "solvers/warp_cholesky/updown.h"

enum { SIZE = 144 /* entries of an element matrix */, ROUNDS = 3 };

typedef struct bench {
  eb_probing *probing;
  eb_scene *scene;
  const eb_mesh *mesh;
  eb_corotation *corotation;
  eb_block_matrix *A;
  eb_multifrontal *factor;
  eb_updown *updown;
  double scale;     /* h^2 */
  int32_t *near;    /* elements, the nearest to the lowest node first */
  uint8_t *refresh; /* elements */
  uint8_t *marked;  /* supernodes */
  double *change;   /* of the set: SIZE an element */
} bench;

typedef struct trial {
  int32_t count;
  double updown, refactor, incremental; /* s, the least */
  double done, difference;
} trial;

/* ---- what changes ----------------------------------------------------------------------------- */

/* A twist of a third of a radian from bottom to top. */
static eb_error twist(const eb_mesh *mesh, double **out) {
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  EB_TRY(EB_NEW(*out, 3 * (size_t)mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * i;
    double angle = (X[2] - lo[2]) / (hi[2] - lo[2]) / 3, c = cos(angle), s = sin(angle);
    (*out)[3 * i] = c * X[0] - s * X[1];
    (*out)[3 * i + 1] = s * X[0] + c * X[1];
    (*out)[3 * i + 2] = X[2];
  }
  return EB_OK;
}

typedef struct place {
  double distance;
  int32_t element;
} place;

static int by_distance(const void *a, const void *b) {
  const place *left = a, *right = b;
  if (left->distance != right->distance) return left->distance < right->distance ? -1 : 1;
  return left->element - right->element;
}

static double distance_to(const eb_mesh *mesh, int32_t element, const double *from) {
  double square = 0;
  for (int d = 0; d < 3; d++) {
    double centre = 0;
    for (int k = 0; k < 4; k++) centre += 0.25 * mesh->X[3 * mesh->elements[4 * element + k] + d];
    square += pow(centre - from[d], 2);
  }
  return square;
}

static eb_error sort_elements(bench *b) {
  place *places;
  const double *lowest = b->mesh->X;
  for (int32_t i = 1; i < b->mesh->node_count; i++)
    if (b->mesh->X[3 * i + 2] < lowest[2]) lowest = b->mesh->X + 3 * i;
  EB_TRY(EB_NEW(places, b->mesh->element_count));
  for (int32_t e = 0; e < b->mesh->element_count; e++)
    places[e] = (place){distance_to(b->mesh, e, lowest), e};
  qsort(places, (size_t)b->mesh->element_count, sizeof *places, by_distance);
  for (int32_t e = 0; e < b->mesh->element_count; e++) b->near[e] = places[e].element;
  free(places);
  return EB_OK;
}

static void gather(const eb_block_matrix *A, const int32_t *node, double sign, double *out) {
  for (int a = 0; a < 4; a++)
    for (int c = 0; c < 4; c++) {
      const double *from = A->values + 9 * (int64_t)eb_block_matrix_find(A, node[a], node[c]);
      for (int k = 0; k < 9; k++) out[12 * (3 * a + k / 3) + 3 * c + k % 3] += sign * from[k];
    }
}

/* Brings the first `count` elements up to date in A one by one, and keeps what each changes. */
static void refresh(bench *b, int32_t count) {
  memset(b->change, 0, (size_t)count * SIZE * sizeof *b->change);
  for (int32_t i = 0; i < count; i++) {
    int32_t e = b->near[i];
    const int32_t *node = b->mesh->elements + 4 * (int64_t)e;
    gather(b->A, node, -1, b->change + (size_t)i * SIZE);
    b->refresh[e] = 1;
    eb_corotation_refresh(b->corotation, b->refresh, b->scale, b->A);
    b->refresh[e] = 0;
    gather(b->A, node, 1, b->change + (size_t)i * SIZE);
  }
}

/* ---- the three ways --------------------------------------------------------------------------- */

static eb_error check(eb_reason reason, const char *what) {
  return reason > 0 ? EB_OK
                    : EB_ERROR(EB_ERR_INVALID, "%s ended with %s", what, eb_reason_name(reason));
}

static eb_error time_updown(bench *b, const trial *t, double sign, double *seconds, double *done) {
  double change[SIZE], limit = b->probing->time_limit;
  eb_reason reason = EB_CONVERGED_DIRECT;
  EB_TRY(eb_updown_take(b->updown));
  double began = eb_wall_seconds();
  int32_t i = 0;
  for (; i < t->count; i++) {
    for (int k = 0; k < SIZE; k++) change[k] = sign * b->change[(size_t)i * SIZE + (size_t)k];
    EB_TRY(eb_updown_change(b->updown, b->mesh->elements + 4 * (int64_t)b->near[i], change));
    if (limit > 0 && eb_wall_seconds() - began > limit) break;
  }
  *done = i < t->count ? (double)i / t->count : 1;
  if (*done >= 1) EB_TRY(eb_updown_flush(b->updown, &reason));
  *seconds = eb_wall_seconds() - began;
  return check(reason, "the rank updates");
}

static eb_error time_refactor(bench *b, double *seconds) {
  eb_reason reason;
  double began = eb_wall_seconds();
  EB_TRY(eb_multifrontal_factor(b->factor, b->A, NULL, &reason));
  *seconds = eb_wall_seconds() - began;
  return check(reason, "the whole factorization");
}

static void mark(bench *b, int32_t count) {
  const eb_supernodes *tree = eb_multifrontal_supernodes(b->factor);
  memset(b->marked, 0, (size_t)tree->count);
  for (int32_t i = 0; i < count; i++) {
    const int32_t *node = b->mesh->elements + 4 * (int64_t)b->near[i];
    int32_t first = node[0];
    for (int k = 1; k < 4; k++)
      if (tree->position[node[k]] < tree->position[first]) first = node[k];
    b->marked[tree->of_node[first]] = 1;
  }
}

static eb_error time_incremental(bench *b, int32_t count, double *seconds) {
  eb_reason reason;
  mark(b, count);
  double began = eb_wall_seconds();
  EB_TRY(eb_multifrontal_update(b->factor, b->A, b->marked, NULL, &reason));
  *seconds = eb_wall_seconds() - began;
  return check(reason, "the incremental update");
}

/* |x - y| / |y| for the solutions of A' y = 1 by the multifrontal factor and x by the updated one. */
static eb_error compare(bench *b, double *out) {
  size_t n = 3 * (size_t)b->mesh->node_count;
  double *x, *y, sum = 0, apart = 0;
  eb_reason reason;
  EB_TRY(EB_NEW(x, 2 * n));
  y = x + n;
  for (size_t i = 0; i < 2 * n; i++) x[i] = 1;
  eb_error error = eb_updown_solve(b->updown, x, x, &reason);
  if (!error) error = eb_multifrontal_solve(b->factor, 1, y, y, NULL, &reason);
  for (size_t i = 0; i < n; i++) {
    sum += y[i] * y[i];
    apart += pow(x[i] - y[i], 2);
  }
  free(x);
  *out = sqrt(apart / sum);
  return error;
}

/* ---- trials ----------------------------------------------------------------------------------- */

static void least(double *best, double seconds) {
  *best = fmin(*best, seconds);
}

/* The first round goes from A to A', the others back. */
static eb_error run_round(bench *b, int round, trial *t) {
  double updown = INFINITY, refactor, incremental, done = t->done;
  if (done >= 1) EB_TRY(time_updown(b, t, round ? -1 : 1, &updown, &done));
  EB_TRY(time_incremental(b, t->count, &incremental));
  EB_TRY(time_refactor(b, &refactor));
  if (round == 0) {
    t->done = done;
    if (done >= 1) EB_TRY(compare(b, &t->difference));
  }
  if (round == 0 || done >= 1) least(&t->updown, updown);
  least(&t->incremental, incremental);
  least(&t->refactor, refactor);
  return EB_OK;
}

/* More rounds as long as rank updates take a tenth of the time limit at most. */
static eb_error run_trial(bench *b, trial *t) {
  EB_TRY(EB_NEW(b->change, (size_t)t->count * SIZE));
  eb_corotation_freeze_nodes(b->corotation);
  eb_corotation_rotate_elements(b->corotation, b->mesh->X);
  eb_corotation_assemble(b->corotation, eb_elasticity_mass(b->scene->elasticity), 1, b->scale,
                         b->A);
  double seconds, *x, limit = b->probing->time_limit;
  EB_TRY(time_refactor(b, &seconds));
  EB_TRY(twist(b->mesh, &x));
  eb_corotation_rotate_elements(b->corotation, x);
  free(x);
  refresh(b, t->count);
  for (int round = 0; round < ROUNDS; round++) {
    EB_TRY(run_round(b, round, t));
    if (t->done < 1 || (limit > 0 && 10 * t->updown > limit)) break;
  }
  return EB_OK;
}

static eb_error record(bench *b, const trial *t) {
  static const int rank = 12;
  json_t *json = json_pack("{s:i, s:i, s:f, s:f, s:f, s:f}", "elements", (int)t->count, "rank",
                           rank * (int)t->count, "updown_s", t->updown, "refactor_s", t->refactor,
                           "incremental_s", t->incremental, "updown_done", t->done);
  if (isfinite(t->difference)) json_object_set_new(json, "difference", json_real(t->difference));
  json_array_append_new(json_object_get(b->probing->out, "trials"), json);
  return eb_probe_save(b->probing);
}

static eb_error run_size(bench *b, const char *word) {
  int64_t count;
  EB_TRY(eb_parse_whole("elements", word, 1, b->mesh->element_count, &count));
  trial t = {.count = (int32_t)count,
             .updown = INFINITY,
             .refactor = INFINITY,
             .incremental = INFINITY,
             .done = 1,
             .difference = NAN};
  eb_error error = run_trial(b, &t);
  free(b->change);
  b->change = NULL;
  return error ? error : record(b, &t);
}

static eb_error run_sizes(bench *b) {
  eb_strings sizes = {0};
  const char *text = eb_section_value(b->probing->arguments, "elements");
  if (!text) return EB_ERROR(EB_ERR_FORMAT, "'elements' is missing");
  json_object_set_new(b->probing->out, "trials", json_array());
  eb_error error = eb_words(text, " ", &sizes);
  for (int i = 0; i < sizes.count && !error; i++) error = run_size(b, sizes.items[i]);
  eb_strings_clear(&sizes);
  return error;
}

/* ---- the probe -------------------------------------------------------------------------------- */

static eb_error create(bench *b) {
  eb_multifrontal_settings settings = {.keep_updates = true, .threads = b->probing->threads};
  EB_TRY(eb_probe_scene(b->probing, &b->scene));
  b->mesh = b->scene->mesh;
  b->scale = b->scene->dt * b->scene->dt;
  EB_TRY(eb_corotation_create(b->mesh, b->scene->materials, &b->corotation));
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(b->scene->elasticity), &b->A));
  EB_TRY(eb_multifrontal_create(&settings, b->A, NULL, &b->factor));
  EB_TRY(eb_updown_create(b->factor, NULL, &b->updown));
  EB_TRY(EB_NEW(b->near, b->mesh->element_count));
  EB_TRY(EB_NEW(b->refresh, b->mesh->element_count));
  EB_TRY(EB_NEW(b->marked, eb_multifrontal_supernodes(b->factor)->count));
  return sort_elements(b);
}

static void release(bench *b) {
  eb_updown_destroy(b->updown);
  eb_multifrontal_destroy(b->factor);
  eb_block_matrix_destroy(b->A);
  eb_corotation_destroy(b->corotation);
  eb_scene_destroy(b->scene);
  free(b->near);
  free(b->refresh);
  free(b->marked);
}

static eb_error run(eb_probing *probing) {
  bench b = {.probing = probing};
  omp_set_num_threads(probing->threads);
  eb_error error = create(&b);
  if (!error) error = run_sizes(&b);
  release(&b);
  return error;
}

const eb_probe eb_probe_low_rank = {
    "low-rank", "rank updates, whole and partial factorizations for the same sets of elements",
    (const char *const[]){"scene", "elements", NULL}, run};
