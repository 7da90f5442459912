/* Resident memory of a case: what the harness and its two scenes hold - the solver's and the
 * audit's -, the matrix, and what the solver keeps beside.
 *
 *   program + n N + e M + 72 B + (what a solver adds)
 *
 * of N nodes, M elements and B blocks of nine doubles. What a solver adds is of known shape (a
 * factor, a copy of the matrix), only its multiples are measured; a factor is that of fill.h. On
 * several ranks program and libraries are there in each, nodes at faces between parts are held on
 * both sides, and rank 0 gathers mesh and states for the file. */
#include <math.h>
#include <string.h>

#include "harness/names.h"
#include "harness/predict/predict.h"

/* ---- what every case holds ------------------------------------------------------------------- */

/* Program and libraries, byte. */
static const double program = 22.5e6;

/* Bytes a node and an element: mesh, elasticity, pattern, state of two scenes, the audit's arrays,
 * frames. A hexahedron has eight points and 36 places in the matrix, where a tetrahedron has one
 * and ten. */
static const struct {
  int arity;
  double node, element;
} body[] = {{EB_TETRAHEDRON, 2373, 346}, {EB_HEXAHEDRON, 2373, 810}};

/* ---- what a solver adds ---------------------------------------------------------------------- */

typedef struct holding {
  const char *solver, *linear;       /* the option's value; NULL: any, or the solver has none */
  double fixed;                      /* byte: libraries that only some need */
  double node, element, block;       /* byte each; of blocks 72 are the matrix itself */
  double factor, updates, workspace; /* of those of the fill */
  double margin;                     /* of peak and steady */
} holding;

/* Byte; measured on the cases of README.md. Of the workspace a part is never touched. */
#define DIRECT 1, 1, 0.45
static const holding holdings[] = {
    {"newton", "cholesky", 0, 0, 0, 72, DIRECT, 0.1},
    {"newton", "cholesky-single", 0, 0, 0, 72, 0.5, 0.5, 0, 0.1},
    {"newton", "cholmod", 0, 0, 0, 72, DIRECT, 0.15},
    {"newton", "cg", 0, 0, 0, 72, 0, 0, 0, 0.1},
    {"newton", "petsc", 32.5e6, 0, 0, 250, 0, 0, 0, 0.15},
    {"semi-implicit", "cholesky", 0, -130, 0, 72, DIRECT, 0.1},
    {"semi-implicit", "cholesky-single", 0, -130, 0, 72, 0.5, 0.5, 0, 0.1},
    {"semi-implicit", "cholmod", 0, -130, 0, 72, DIRECT, 0.15},
    {"semi-implicit", "cg", 0, -130, 0, 72, 0, 0, 0, 0.1},
    {"semi-implicit", "petsc", 32.5e6, -130, 0, 250, 0, 0, 0, 0.15},
    {"corotational", "cholesky", 0, -130, 0, 72, DIRECT, 0.1},
    {"corotational", "cholesky-single", 0, -130, 0, 72, 0.5, 0.5, 0, 0.1},
    {"corotational", "cholmod", 0, -130, 0, 72, DIRECT, 0.15},
    {"corotational", "cg", 0, -130, 0, 72, 0, 0, 0, 0.1},
    {"corotational", "petsc", 32.5e6, -130, 0, 250, 0, 0, 0, 0.15},
    {"mfem", "cholesky", 0, 0, 490, 72, DIRECT, 0.15},
    {"damped-warp", NULL, 0, 0, 0, 227, DIRECT, 0.15},
    {"conjac", NULL, 0, 0, 0, 204, DIRECT, 0.15},
    {"warp-cholesky", NULL, 0, 0, 0, 265, 2.99, 0, 0, 0.2},
    {"lbfgs", NULL, 2.6e6, 300, 0, 0, 0.126, 0, 0, 0.15},
    {"pd", NULL, 1.1e6, 0, 0, 0, 0.126, 0, 0, 0.15},
    {"admm", NULL, 1.5e6, 0, 0, 0, 0.126, 0, 0, 0.15},
    {"vbd", NULL, 0, 0, 0, 0, 0, 0, 0, 0.15},
    {"contact-al", NULL, 0, 1900, 0, 72, 0, 0, 0, 0.35},
    {"contact-cr", NULL, 0, 1900, 0, 72, 0, 0, 0, 0.35},
    {"contact-ica", NULL, 0, 1900, 0, 72, 0, 0, 0, 0.35},
    {"contact-sp", NULL, 0, 1900, 0, 72, 0, 0, 0, 0.35},
    {"contact-delassus", NULL, 0, 1900, 0, 72, 2.6, 0, 0, 0.35},
};

/* An incomplete factor has the blocks of one triangle and its own indices. */
static const double incomplete = 85;

static bool has_value(const eb_case *work, const char *option, const char *wanted) {
  const char *value;
  size_t length = eb_assigned_value(work->all_options, option, strlen(option), &value);
  return length == strlen(wanted) && strncmp(value, wanted, length) == 0;
}

/* NULL for what nobody has measured, such as a plug-in; ranks share what PETSc solves alone. */
static const holding *find_holding(const eb_case *work) {
  if (has_value(work, "system", "kkt") || (work->ranks > 1 && !has_value(work, "linear", "petsc")))
    return NULL;
  for (size_t i = 0; i < sizeof holdings / sizeof *holdings && !work->plugin; i++) {
    const holding *h = &holdings[i];
    if (strcmp(h->solver, work->solver->name) == 0 &&
        (!h->linear || has_value(work, "linear", h->linear)))
      return h;
  }
  return NULL;
}

bool eb_predict_factors(const eb_case *work) {
  const holding *h = find_holding(work);
  return h && h->factor > 0;
}

/* ---- the sum --------------------------------------------------------------------------------- */

/* Of mesh, scenes and audit; 0 where nobody has measured such elements. */
static double body_bytes(const eb_counts *counts) {
  for (size_t k = 0; k < sizeof body / sizeof *body; k++)
    if (body[k].arity == counts->arity)
      return body[k].node * (double)counts->nodes + body[k].element * (double)counts->elements;
  return 0;
}

/* Of the solver but for libraries and its factor. */
static double held_bytes(const holding *h, const eb_case *work, const eb_counts *counts) {
  bool indices =
      h->linear && strcmp(h->linear, "cg") == 0 && has_value(work, "preconditioner", "ic");
  return h->node * (double)counts->nodes + h->element * (double)counts->elements +
         (h->block + (indices ? incomplete : 0)) * (double)counts->blocks;
}

/* Of all ranks: `each` in every process, `parts` cut among them. */
static double shared_bytes(const eb_counts *counts, int ranks, double each, double parts) {
  static const double gathered = 5670; /* byte a node, by rank 0 (harness/case/whole.h) */
  const double N = (double)counts->nodes;
  double ghosts = eb_counts_faces(ranks) * ranks * cbrt(pow(N / ranks, 2)) / N;
  return ranks * each + (1 + ghosts) * parts + gathered * N;
}

/* What large cases give back while they solve: the audit's shapes of the elements of a process
 * (eb_auditor), and one of the two copies of its matrix but for a window (solvers/linalg/petsc.c).
 */
static double given_back(const holding *h, const eb_counts *counts, int ranks) {
  static const double shapes = 200, worth_it = 64 << 20, matrix = 72, window = 22e6; /* byte */
  bool copies = h->linear && strcmp(h->linear, "petsc") == 0;
  double audit = counts->arity == EB_TETRAHEDRON ? shapes * (double)counts->elements / ranks : 0;
  double copy = copies ? matrix * (double)counts->blocks / ranks : 0;
  return ranks * ((audit >= worth_it ? audit : 0) + fmax(0, copy - window));
}

/* What counts and fill that are not exact add to the margin; `share` of the sum is a factor. */
static double doubt(const eb_counts *counts, const eb_fill *fill, double share) {
  static const double by_table = 0.05, by_scale = 0.1, by_law = 0.35;
  double factor = fill->by == EB_FILLED_LAW ? by_law : fill->by == EB_FILLED_SCALED ? by_scale : 0;
  return (counts->by == EB_COUNTED_TABLE ? by_table : 0) + factor * share;
}

eb_memory_prediction eb_predict_memory(const eb_case *work, const eb_counts *counts,
                                       const eb_fill *fill) {
  /* What the set-up has freed again before the first step, of the peak. */
  static const double freed = 0.01;
  const holding *h = find_holding(work);
  eb_memory_prediction out = {0};
  double bytes = body_bytes(counts);
  if (!h || bytes <= 0 || (h->factor > 0 && fill->by == EB_FILLED_NOT)) return out;
  double factor =
      h->factor * fill->factor + h->updates * fill->updates + h->workspace * fill->workspace;
  out.known = true;
  bytes += held_bytes(h, work, counts) + factor;
  out.peak = work->ranks > 1 ? shared_bytes(counts, work->ranks, program + h->fixed, bytes)
                             : program + h->fixed + bytes;
  out.peak -= given_back(h, counts, work->ranks > 1 ? work->ranks : 1);
  out.steady = (1 - freed) * out.peak;
  out.margin = h->margin + doubt(counts, fill, factor / out.peak);
  return out;
}
