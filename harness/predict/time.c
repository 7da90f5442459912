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

/* ---- an iteration on one rank ---------------------------------------------------------------- */

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

/* ---- an iteration on several ranks of this machine --------------------------------------------
 */

/* Messages go through the machine's memory: s of a short one and of an allreduce a doubling of
 * ranks, byte/s of a long one. What they take matters little beside the rest. */
static const double latency = 2e-6, reduction = 5e-6, bandwidth = 7e9;

/* Grids of a multigrid cycle: nodes of the coarsest, and of one over those of the next; unknowns of
 * a node on the finest and, rigid motions, on coarser ones; exchanges of a cycle on these, and its
 * reductions. */
enum { COARSEST_NODES = 50, FINE_UNKNOWNS = 3, COARSE_UNKNOWNS = 6 };
static const double coarsening = 12, fine_exchanges = 6, exchanges = 5, products = 3;

/* Of a linear iteration, whose rank has `nodes` of all `N` and shares `faces` of its box. */
static double message_seconds(double N, double nodes, int ranks, double faces, double triad) {
  const double doublings = log2(ranks), coarse = COARSEST_NODES * COARSE_UNKNOWNS;
  double seconds = products * doublings * reduction + 2 * doublings * latency;
  for (double share = 1; N * share > COARSEST_NODES && nodes * share >= 1; share /= coarsening) {
    bool fine = share >= 1;
    double bytes =
        8. * (fine ? FINE_UNKNOWNS : COARSE_UNKNOWNS) * faces * cbrt(pow(nodes * share, 2));
    seconds += (fine ? fine_exchanges : exchanges) * (faces * latency + bytes / bandwidth);
  }
  return seconds + 8 * coarse * coarse / triad;
}

/* The model of results/scaling/README.md, where its formulas and their sources are: elements at
 * faces between ranks are computed on both sides, ranks beyond the cores take turns, and cores
 * share the memory that linear iterations wait for. */
static double shared_seconds(const eb_case *work, const element_work *e, const eb_counts *counts,
                             const eb_rates *rates) {
  const double M = (double)counts->elements, N = (double)counts->nodes, B = (double)counts->blocks;
  const double nodes = N / work->ranks, faces = eb_counts_faces(work->ranks);
  const double busy = fmin(work->ranks, rates->threads);
  const double together = fmax(1, fmin(busy, rates->triad_all / rates->triad));
  double element =
      (e->assemble + e->value) / rates->dgemm + multigrid_setup * B / (M * rates->dgemm);
  double iteration = multigrid_byte * B / (N * rates->triad) * nodes * busy / together;
  double compute = M / N * (nodes + faces * cbrt(nodes * nodes) / 2) * element +
                   multigrid_iterations * iteration;
  return fmax(1, (double)work->ranks / rates->threads) * compute +
         multigrid_iterations * message_seconds(N, nodes, work->ranks, faces, rates->triad);
}

/* ---- a case ---------------------------------------------------------------------------------- */

eb_time_prediction eb_predict_time(const eb_case *work, const eb_counts *counts,
                                   const eb_fill *fill, const eb_rates *rates) {
  eb_time_prediction out = {0};
  const element_work *e = NULL;
  linear_work kind;
  const eb_time_model *model = work->solver->time;
  for (size_t k = 0; k < sizeof elements / sizeof *elements; k++)
    if (elements[k].arity == counts->arity) e = &elements[k];
  if (!model || !e || !(rates->dgemm > 0) || counts->by == EB_COUNTED_NOT ||
      !find_linear(work, &kind))
    return out;
  bool direct = kind == CHOLESKY || kind == SINGLE;
  const bool shared = work->ranks > 1;
  if (direct && fill->by == EB_FILLED_NOT) return out;
  const speeds at = speeds_of(rates, work->threads);
  const double M = (double)counts->elements, N = (double)counts->nodes;
  double sweep = model->sweeps ? e->sweep : e->assemble + e->value;
  out.iterations = model->iterations;
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
