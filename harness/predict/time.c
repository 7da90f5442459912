/* Time of a case: what a step computes, at the machine's rates of this day.
 *
 *   step = iterations x (assembly + factorization + solve + values and gradients)
 *
 * What computes on elements and fronts runs at a share of the DGEMM rate, and is counted in flops
 * of DGEMM that would take as long; what reads factor or matrix is bound by memory and counted in
 * bytes of triad. So the constants are the program's and not a machine's. They are of `make bench`
 * (results/history) as far as it has them. How many iterations a step takes is a matter of the
 * motion that nobody knows before: those that steps of the catalogue take in the mean are assumed.
 */
#include <math.h>
#include <string.h>

#include "harness/names.h"
#include "harness/predict/predict.h"
#include "harness/predict/scaling.h"

/* ---- constants ------------------------------------------------------------------------------- */

/* Flops of DGEMM that take as long as an element's: */
typedef struct element_work {
  int arity;
  double assemble; /* Hessian, projected or not, with gradient, put into the matrix */
  double value;    /* energies of a line search, a gradient */
  double sweep;    /* blocks of a descent by vertices */
  double scene;    /* making the scene, once for the solver and once for the audit */
  double audit;    /* a step's audit, by all cores */
} element_work;

static const element_work elements[] = {{EB_TETRAHEDRON, 10e3, 1.6e3, 13e3, 80e3, 6e3},
                                        {EB_HEXAHEDRON, 120e3, 16e3, 130e3, 500e3, 60e3}};

static const double order_node = 5e5;     /* flops a node: ordering and analysis */
static const double take_byte = 3;        /* bytes of triad a byte of the factor: zeroed once */
static const double factor_share = 1.0;   /* of DGEMM, by the multifrontal factor */
static const double solve_byte = 2 / 0.7; /* bytes of triad a byte of L: twice read, at 0.7 of it */
static const double start = 0.3;          /* s: process, file */
static const double launch = 0.4;         /* s a rank: MPI and PETSc; cores are few */

/* Smoothed aggregation, a block of the matrix: flops of its set-up, bytes of an iteration. */
static const double multigrid_setup = 25e3, multigrid_byte = 900;

/* ---- what a solver does in a step ------------------------------------------------------------ */

typedef enum linear_work {
  NO_SYSTEM,
  CHOLESKY,
  SINGLE,   /* half of the bytes, twice the rate; solves are refined */
  MULTIGRID /* PETSc's gamg */
} linear_work;

static const struct {
  const char *solver;
  double iterations, sweeps;
} habits[] = {{"newton", 3, 0},
              {"mfem", 4, 0},
              {"semi-implicit", 1, 0},
              {"corotational", 1, 0},
              {"vbd", 20, 1}};

static const double multigrid_iterations = 35; /* a system, to linear_rtol */

/* The factors that true times stay within, both ways. */
static const double direct_factor = 3, multigrid_factor = 10;

static bool option_of(const eb_case *work, const char *name, const char **value, size_t *length) {
  *length = eb_assigned_value(work->all_options, name, strlen(name), value);
  return *length > 0;
}

/* Ranks share what PETSc solves alone. False: no model, for iterations of cg depend on the scene's
 * conditioning, and CHOLMOD's speed on its BLAS. */
static bool find_linear(const eb_case *work, linear_work *out) {
  const char *kind, *petsc;
  size_t length, words;
  *out = NO_SYSTEM;
  if (!option_of(work, "linear", &kind, &length)) return true;
  *out = length == 15 ? SINGLE : CHOLESKY;
  if (strncmp(kind, "cholesky-single", length) == 0) return true;
  *out = MULTIGRID;
  return strncmp(kind, "petsc", length) == 0 && option_of(work, "petsc", &petsc, &words) &&
         memmem(petsc, words, "gamg", 4);
}

/* ---- the sum --------------------------------------------------------------------------------- */

/* Seconds by flops and bytes on the threads of the case. */
typedef struct speeds {
  double dgemm, triad, dgemm_all;
} speeds;

static speeds speeds_of(const eb_rates *rates, int threads) {
  bool all = threads >= rates->threads;
  return (speeds){.dgemm = all ? rates->dgemm_all : fmin(threads * rates->dgemm, rates->dgemm_all),
                  .triad = all ? rates->triad_all : fmin(threads * rates->triad, rates->triad_all),
                  .dgemm_all = rates->dgemm_all};
}

static double system_seconds(linear_work kind, const eb_counts *counts, const eb_fill *fill,
                             const speeds *at) {
  const double B = (double)counts->blocks;
  switch (kind) {
  case CHOLESKY:
    return fill->flops / (factor_share * at->dgemm) + solve_byte * fill->factor / at->triad;
  case SINGLE:
    return fill->flops / (2 * factor_share * at->dgemm) + 2 * solve_byte * fill->factor / at->triad;
  case MULTIGRID:
    return multigrid_setup * B / at->dgemm + multigrid_iterations * multigrid_byte * B / at->triad;
  case NO_SYSTEM:
    break;
  }
  return 0;
}

/* An iteration on several ranks of this machine, by the model of scaling.h. Messages between them
 * go through its memory; what they take matters little beside the rest. */
static double shared_seconds(const eb_case *work, const element_work *e, const eb_counts *counts,
                             const eb_rates *rates) {
  static const eb_network memory = {.latency = 2e-6, .bandwidth = 7e9, .reduction = 5e-6};
  const double M = (double)counts->elements, N = (double)counts->nodes, B = (double)counts->blocks;
  const eb_scaling_machine machine = {.network = memory,
                                      .cores = rates->threads,
                                      .triad = rates->triad,
                                      .triad_all = rates->triad_all};
  const eb_scaling_work one = {.assemble = (e->assemble + e->value) / rates->dgemm,
                               .setup = multigrid_setup * B / (M * rates->dgemm),
                               .iteration = multigrid_byte * B / (N * rates->triad),
                               .iterations = multigrid_iterations,
                               .elements_per_node = M / N};
  return eb_scaling_predict(&machine, &one, M, work->ranks, work->ranks).total;
}

eb_time_prediction eb_predict_time(const eb_case *work, const eb_counts *counts,
                                   const eb_fill *fill, const eb_rates *rates) {
  eb_time_prediction out = {0};
  const element_work *e = NULL;
  linear_work kind;
  size_t habit = sizeof habits / sizeof *habits;
  for (size_t k = 0; k < sizeof elements / sizeof *elements; k++)
    if (elements[k].arity == counts->arity) e = &elements[k];
  for (size_t k = 0; k < sizeof habits / sizeof *habits; k++)
    if (!work->plugin && strcmp(habits[k].solver, work->solver->name) == 0) habit = k;
  if (!e || !(rates->dgemm > 0) || counts->by == EB_COUNTED_NOT ||
      habit == sizeof habits / sizeof *habits || !find_linear(work, &kind))
    return out;
  bool direct = kind == CHOLESKY || kind == SINGLE;
  const bool shared = work->ranks > 1;
  if (direct && fill->by == EB_FILLED_NOT) return out;
  const speeds at = speeds_of(rates, work->threads);
  const double M = (double)counts->elements, N = (double)counts->nodes;
  double sweep = habits[habit].sweeps > 0 ? e->sweep : e->assemble + e->value;
  out.iterations = habits[habit].iterations;
  out.step =
      out.iterations * (shared ? shared_seconds(work, e, counts, rates)
                               : M * sweep / at.dgemm + system_seconds(kind, counts, fill, &at));
  out.setup = start + (shared ? launch * work->ranks : 0) + 2 * M * e->scene / rates->dgemm;
  if (direct) out.setup += N * order_node / rates->dgemm + take_byte * fill->factor / rates->triad;
  /* One step more is taken off the clock, for the rule `replay`. */
  out.run = out.setup + (double)work->steps * (out.step + M * e->audit / at.dgemm_all) + out.step;
  out.factor = kind == MULTIGRID ? multigrid_factor : direct_factor;
  out.known = true;
  return out;
}
