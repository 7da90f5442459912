/* Three ways of projective dynamics to follow contacts: their linear algebra for the block that
 * Lewin 2016 drops, whose 169 nodes below come and go. Each way ends with the solution for three
 * right-hand sides. */
#include "harness/bench/bench.h"
#include "harness/bench/bench_race.h"
#include "harness/check/block.h"
#include "problems/base/memory.h"
#include "problems/elasticity/point_sweep.h"
#include "solvers/projective/factor.h"
#include "solvers/projective/pcg.h"

#include <math.h>
#include <stdio.h>

/* ---- contacts -------------------------------------------------------------------------------- */

enum { UPDATE, REFACTOR, CG };

typedef struct contacts {
  eb_scene *scene;
  eb_point_sweep sweep;
  double *value, *none, *touching, *change; /* entries; nodes */
  eb_scalar_factor *updated, *factored, *without;
  eb_pcg cg;
  eb_v4 *b, *x;
  int32_t nodes, count;
  bool down;
  int64_t iterations;
} contacts;

static void clear_contacts(void *context) {
  contacts *c = context;
  eb_scalar_factor_destroy(c->updated);
  eb_scalar_factor_destroy(c->factored);
  eb_scalar_factor_destroy(c->without);
  eb_pcg_clear(&c->cg);
  eb_point_sweep_clear(&c->sweep);
  if (c->scene) eb_scene_destroy(c->scene);
  void *const owned[] = {c->value, c->none, c->touching, c->change, c->b, c->x};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static void by_factor(void *context, const eb_v4 *r, eb_v4 *z) {
  eb_scalar_factor_solve(context, r, z);
}

/* Errors cannot occur that the same calls during set-up did not raise. Updates add the contacts in
 * one run and take them away in the next. */
static void run_contacts(void *context, int way) {
  contacts *c = context;
  const eb_scalar_matrix3 A = {eb_elasticity_pattern(c->scene->elasticity), c->value, c->touching};
  eb_reason reason;
  int32_t changed;
  if (way == UPDATE) {
    for (int32_t i = 0; i < c->nodes; i++) c->change[i] = (c->down ? -1 : 1) * c->touching[i];
    eb_error_free(eb_scalar_factor_update(c->updated, c->change, &changed, &reason));
    eb_scalar_factor_solve(c->updated, c->b, c->x);
    c->down = !c->down;
  } else if (way == REFACTOR) {
    eb_error_free(eb_scalar_factor_set(c->factored, c->value, c->touching, NULL, &reason));
    eb_scalar_factor_solve(c->factored, c->b, c->x);
  } else {
    double norm = sqrt(eb_lanes_dot(c->nodes, c->b, c->b));
    eb_pcg_solve(&c->cg, &A, c->b, 1e-6 * norm, 1000, c->x, &c->iterations);
  }
}

static double steel(const eb_law *law) {
  return 2 * law->mu;
}

static eb_error allocate_contacts(contacts *c) {
  const eb_block_matrix *pattern = eb_elasticity_pattern(c->scene->elasticity);
  c->nodes = pattern->rows;
  EB_TRY(EB_NEW(c->value, pattern->start[c->nodes]));
  EB_TRY(EB_NEW(c->none, c->nodes));
  EB_TRY(EB_NEW(c->touching, c->nodes));
  EB_TRY(EB_NEW(c->change, c->nodes));
  EB_TRY(EB_NEW(c->b, c->nodes));
  EB_TRY(EB_NEW(c->x, c->nodes));
  EB_TRY(eb_pcg_create(c->nodes, &c->cg));
  EB_TRY(eb_scalar_factor_create(pattern, true, NULL, &c->updated));
  EB_TRY(eb_scalar_factor_create(pattern, false, NULL, &c->factored));
  return eb_scalar_factor_create(pattern, false, NULL, &c->without);
}

static eb_error set_up_contacts(void *context, const void *of, double *work) {
  contacts *c = context;
  eb_reason reason;
  *work = 1;
  EB_TRY(eb_block_create(&c->scene, "%s", (const char *)of));
  EB_TRY(allocate_contacts(c));
  EB_TRY(eb_point_sweep_create(c->scene->elasticity, &c->sweep));
  eb_point_sweep_matrix(&c->sweep, steel, c->value);
  const double *mass = eb_scene_mass(c->scene), h = c->scene->dt;
  const int32_t *diagonal = eb_elasticity_pattern(c->scene->elasticity)->diagonal;
  for (int32_t i = 0; i < c->nodes; i++) {
    c->value[diagonal[i]] += mass[i] / (h * h);
    c->touching[i] = c->scene->mesh->X[3 * (int64_t)i + 2] == 0 ? 3e7 : 0;
    c->count += c->touching[i] > 0;
    c->b[i] = (eb_v4){0, 0, -mass[i] * 10 / h, 0};
  }
  c->cg.precondition = by_factor;
  c->cg.context = c->without;
  EB_TRY(eb_scalar_factor_set(c->updated, c->value, c->none, NULL, &reason));
  EB_TRY(eb_scalar_factor_set(c->factored, c->value, c->touching, NULL, &reason));
  EB_TRY(eb_scalar_factor_set(c->without, c->value, c->none, NULL, &reason));
  int32_t changed;
  EB_TRY(eb_scalar_factor_update(c->updated, c->none, &changed, &reason));
  for (int way = UPDATE; way <= CG; way++) run_contacts(c, way);
  return EB_OK;
}

static void describe_contacts(void *context, char *text, size_t bytes) {
  const contacts *c = context;
  snprintf(text, bytes, "%d contacts, %d nodes, %lld entries in L; %lld iterations of CG",
           (int)c->count, (int)c->nodes, (long long)eb_scalar_factor_entries(c->factored),
           (long long)c->iterations);
}

/* Bytes of L, twice a solve. */
static eb_error set_up_solve(void *context, const void *of, double *work) {
  contacts *c = context;
  EB_TRY(set_up_contacts(c, of, work));
  *work = 16.0 * (double)eb_scalar_factor_entries(c->without);
  return EB_OK;
}

static void run_solve(void *context, int by_columns) {
  contacts *c = context;
  eb_scalar_factor_solve(by_columns ? c->updated : c->without, c->b, c->x);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const eb_bench_peer ways[] = {
    {"factor again", 0, run_contacts, REFACTOR}, {"CG, 1e-6", 0, run_contacts, CG}, {0}};
static const eb_bench_peer columns[] = {{"by columns", 0, run_solve, 1}, {0}};

#define SOLVE(name_, block_)                                                                       \
  {                                                                                                \
    .name = "projective/" name_, .unit = "bytes", .measure = EB_BENCH_BANDWIDTH, .target = 0.67,   \
    .bytes = sizeof(contacts), .of = block_, .setup = set_up_solve, .run = run_solve,              \
    .clear = clear_contacts, .peers = columns                                                      \
  }

const eb_bench_case eb_bench_projective[] = {SOLVE("solve", EB_BENCH_STEEL),
                                             SOLVE("solve-large", EB_BENCH_LARGE),
                                             {.name = "projective/contacts",
                                              .unit = "change",
                                              .measure = EB_BENCH_TIME,
                                              .bytes = sizeof(contacts),
                                              .of = EB_BENCH_STEEL,
                                              .setup = set_up_contacts,
                                              .run = run_contacts,
                                              .which = UPDATE,
                                              .clear = clear_contacts,
                                              .peers = ways,
                                              .describe = describe_contacts},
                                             {0}};
