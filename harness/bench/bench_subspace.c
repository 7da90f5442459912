/* Subspace solvers at the sizes of trusty2023, Table 1 (m modes, C points), one thread.
 *
 * Iterations are taken of the paper's scenes on coarser meshes with the paper's m and C: an
 * iteration never touches the mesh, as the step cases show, and the set-up takes seconds. A step
 * makes a fixed number of them; what it moves between mesh and subspace, as much for either solver,
 * is left out.
 *
 * Assembly and projection are kernels on functions at random: their cost does not depend on the
 * values. */
#include <math.h>
#include <stdio.h>

#include "harness/bench/bench.h"
#include "harness/bench/bench_matrix.h"
#include "harness/bench/bench_step.h"
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/subspace/points.h"
#include "problems/subspace_record.h"

/* ---- iterations and steps -------------------------------------------------------------------- */

enum { ITSELF, PEER, STEPPERS, ITERATIONS = 5 };

typedef struct pair_of {
  const char *scene, *parameters[STEPPERS], *solver[STEPPERS];
  int modes, points;
} pair_of;

typedef struct pair {
  eb_bench_start starts[STEPPERS];
  eb_bench_stepper steppers[STEPPERS];
  int last; /* which of them has run last */
} pair;

static void clear_pair(void *context) {
  pair *s = context;
  for (int k = 0; k < STEPPERS; k++) {
    eb_bench_stepper_clear(&s->steppers[k]);
    eb_bench_start_clear(&s->starts[k]);
  }
}

static void run_pair(void *context, int which) {
  pair *s = context;
  eb_bench_step(&s->steppers[which]);
  s->last = which;
}

/* Without what goes between mesh and subspace. */
static double without_projection(void *context) {
  const pair *s = context;
  const eb_bench_stepper *stepper = &s->steppers[s->last];
  return stepper->seconds - stepper->log->phase_seconds[EB_PHASE_PROJECT];
}

static eb_error set_up_pair(void *context, const void *of, double *work) {
  enum { STEPS = 3 };
  pair *s = context;
  const pair_of *what = of;
  char options[64];
  (void)work;
  snprintf(options, sizeof options, "modes=%d,points=%d,iterations=%d", what->modes, what->points,
           ITERATIONS);
  for (int k = 0; k < STEPPERS; k++) {
    eb_bench_stepper *stepper = &s->steppers[k];
    EB_TRY(eb_bench_start_create(what->scene, what->parameters[k], &s->starts[k]));
    EB_TRY(eb_bench_stepper_create(&s->starts[k], what->solver[k], options, stepper));
    EB_TRY(eb_bench_start_advance(&s->starts[k], stepper->solver, STEPS));
    run_pair(s, k);
    if (stepper->log->iterations != ITERATIONS || stepper->log->subspace->count < what->points)
      return EB_ERROR(EB_ERR_INVALID, "%s makes %d iterations with %d points", what->solver[k],
                      (int)stepper->log->iterations, (int)stepper->log->subspace->count);
  }
  return EB_OK;
}

/* The shortest of the phases of an iteration. */
static void describe_pair(void *context, char *text, size_t bytes) {
  static const eb_phase phases[] = {EB_PHASE_LOCAL, EB_PHASE_ASSEMBLE, EB_PHASE_FACTOR,
                                    EB_PHASE_LINESEARCH};
  const pair *s = context;
  size_t length = (size_t)snprintf(text, bytes, "ms an iteration, its / the peer's:");
  for (size_t k = 0; k < sizeof phases / sizeof *phases && length < bytes; k++)
    length +=
        (size_t)snprintf(text + length, bytes - length, " %s %.3f/%.3f", eb_phase_name(phases[k]),
                         1e3 * s->steppers[ITSELF].least_seconds[phases[k]] / ITERATIONS,
                         1e3 * s->steppers[PEER].least_seconds[phases[k]] / ITERATIONS);
}

/* ---- kernels --------------------------------------------------------------------------------- */

typedef struct kernel_of {
  int modes, points;
  bool mixed;
} kernel_of;

typedef struct kernel {
  eb_mesh *mesh;
  eb_basis basis;
  eb_cubature cubature;
  eb_points *points;
  double *weight, *u, *x, *stiffness;
} kernel;

static void clear_kernel(void *context) {
  kernel *k = context;
  eb_points_destroy(k->points);
  eb_cubature_clear(&k->cubature);
  eb_basis_clear(&k->basis);
  eb_mesh_destroy(k->mesh);
  free(k->weight);
  free(k->u);
  free(k->x);
  free(k->stiffness);
}

/* Points in every element of a grid until there are enough. */
static eb_error fill_points(kernel *k, const kernel_of *what) {
  static const eb_material rubber = {
      .kind = EB_FIXED_COROTATIONAL, .young = 1e5, .poisson = 0.45, .density = 1000};
  k->cubature.count = what->points;
  EB_TRY(EB_NEW(k->cubature.element, what->points));
  EB_TRY(EB_NEW(k->cubature.weight, what->points));
  for (int c = 0; c < what->points; c++) {
    k->cubature.element[c] = c;
    k->cubature.weight[c] = eb_mesh_element_volume(k->mesh, k->mesh->X, c);
  }
  return eb_points_create(k->mesh, &rubber, &k->basis, &k->cubature, what->mixed, &k->points);
}

static eb_error set_up_stiffness(void *context, const void *of, double *work) {
  kernel *k = context;
  const kernel_of *what = of;
  const eb_grid grid = {.cubes = {6, 6, 6}, .size = {1, 1, 1}};
  EB_TRY(eb_generate_tets6(&grid, &k->mesh));
  const int32_t nodes = k->mesh->node_count;
  size_t weights = (size_t)what->modes * (size_t)nodes;
  EB_TRY(EB_NEW(k->weight, weights));
  EB_TRY(EB_NEW(k->x, nodes));
  eb_bench_fill_sides((int64_t)weights, k->weight);
  for (int32_t i = 0; i < nodes; i++) k->x[i] = 1;
  EB_TRY(eb_basis_skinning(nodes, k->mesh->X, k->x, what->modes, k->weight, &k->basis));
  EB_TRY(fill_points(k, what));
  size_t n = 3 * (size_t)k->basis.size;
  EB_TRY(EB_NEW(k->u, 3 * n));
  EB_TRY(EB_NEW(k->stiffness, n * n));
  eb_points_linearize(k->points, k->u, k->u + n, k->u + 2 * n);
  *work = eb_points_stiffness_flops(k->points);
  return EB_OK;
}

static void run_stiffness(void *context, int which) {
  kernel *k = context;
  (void)which;
  eb_points_stiffness(k->points, k->stiffness);
}

/* 80 000 nodes and 16 modes: 45 MB, above the usual last-level cache. Bytes: Phi and X once, x
 * once. */
static eb_error set_up_prolong(void *context, const void *of, double *work) {
  enum { NODES = 80000 };
  kernel *k = context;
  const kernel_of *what = of;
  eb_basis *b = &k->basis;
  b->nodes = NODES;
  b->size = b->stride = 4 * what->modes;
  EB_TRY(EB_NEW(b->phi, (size_t)NODES * (size_t)b->stride));
  EB_TRY(EB_NEW(b->X, 3 * (size_t)NODES));
  EB_TRY(EB_NEW(k->x, 3 * (size_t)NODES));
  EB_TRY(EB_NEW(k->u, 3 * (size_t)b->size));
  eb_bench_fill_sides((int64_t)NODES * b->stride, b->phi);
  eb_bench_fill_sides(3 * b->size, k->u);
  *work = (8.0 * b->stride + 48.0) * NODES;
  return EB_OK;
}

static void run_prolong(void *context, int which) {
  kernel *k = context;
  (void)which;
  eb_basis_prolong(&k->basis, k->u, true, k->x);
}

/* ---- cases ----------------------------------------------------------------------------------- */

#define PAIR(name_, target_, peer_, ...)                                                           \
  {                                                                                                \
    .name = "subspace/" name_, .unit = "iterations", .measure = EB_BENCH_SHARE, .target = target_, \
    .bytes = sizeof(pair), .of = &(const pair_of){__VA_ARGS__}, .setup = set_up_pair,              \
    .run = run_pair, .which = ITSELF, .clear = clear_pair, .charged = without_projection,          \
    .describe = describe_pair, .peers = (const eb_bench_peer[]) {                                  \
      {peer_, 0, run_pair, PEER}, {                                                                \
        0                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }
#define ITERATION(name_, resolution_, modes_, points_)                                             \
  PAIR("mfem-iteration/" name_, 1.15, "fem-subspace", "trusty2023/" name_,                         \
       {"resolution=" resolution_, "resolution=" resolution_}, {"mfem-subspace", "fem-subspace"},  \
       modes_, points_)
#define STEP(name_, resolution_)                                                                   \
  PAIR("step/" name_, 1.10, "10k", "trusty2023/crab",                                              \
       {"resolution=" resolution_, "resolution=0.045"}, {"mfem-subspace", "mfem-subspace"}, 16,    \
       342)
#define STIFFNESS(points_)                                                                         \
  {                                                                                                \
    .name = "subspace/stiffness/16-" #points_, .unit = "flops", .measure = EB_BENCH_FLOPS,         \
    .target = 0.5, .scales_with = "dgemm", .bytes = sizeof(kernel),                                \
    .of = &(const kernel_of){16, points_, true}, .setup = set_up_stiffness, .run = run_stiffness,  \
    .clear = clear_kernel                                                                          \
  }

const eb_bench_case eb_bench_subspace[] = {ITERATION("octobot", "0.03", 5, 227),
                                           ITERATION("gatorman", "0.03", 10, 192),
                                           ITERATION("mammoth", "0.01", 16, 581),
                                           ITERATION("crab", "0.02", 16, 342),
                                           STEP("50k", "0.22"),
                                           STEP("200k", "0.9"),
                                           STIFFNESS(342),
                                           STIFFNESS(581),
                                           {.name = "subspace/prolong",
                                            .unit = "products",
                                            .measure = EB_BENCH_BANDWIDTH,
                                            .target = 0.6,
                                            .scales_with = "triad",
                                            .bytes = sizeof(kernel),
                                            .of = &(const kernel_of){.modes = 16},
                                            .setup = set_up_prolong,
                                            .run = run_prolong,
                                            .clear = clear_kernel},
                                           {0}};
