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

/* Of the kinds of linear solvers (solvers/linalg). Of the workspace a part is never touched. */
static const struct {
  const char *kind;
  eb_memory_model holds;
} linear[] = {
    {"cholesky", {.block = 72, .factor = 1, .updates = 1, .workspace = 0.45, .margin = 0.1}},
    {"cholesky-single", {.block = 72, .factor = 0.5, .updates = 0.5, .margin = 0.1}},
    {"cholmod", {.block = 72, .factor = 1, .updates = 1, .workspace = 0.45, .margin = 0.15}},
    {"cg", {.block = 72, .margin = 0.1}},
    {"petsc", {.fixed = 32.5e6, .block = 250, .margin = 0.15}},
};

/* An incomplete factor has the blocks of one triangle and its own indices. */
static const double incomplete = 85;

static bool has_value(const eb_case *work, const char *option, const char *wanted) {
  const char *value;
  size_t length = eb_assigned_value(work->all_options, option, strlen(option), &value);
  return length == strlen(wanted) && strncmp(value, wanted, length) == 0;
}

/* Whether "a|b|c" has the word. */
static bool lists(const char *words, const char *word) {
  size_t length = strlen(word);
  for (; *words; words += strcspn(words, "|"), words += *words == '|')
    if (strcspn(words, "|") == length && strncmp(words, word, length) == 0) return true;
  return false;
}

static void add_linear(const eb_memory_model *of, eb_memory_model *to) {
  to->fixed += of->fixed;
  to->block += of->block;
  to->factor += of->factor;
  to->updates += of->updates;
  to->workspace += of->workspace;
  to->margin = fmax(to->margin, of->margin);
}

/* With the linear solver of the case. False for what nobody has measured; ranks share what PETSc
 * solves alone. */
static bool find_model(const eb_case *work, eb_memory_model *out) {
  const eb_memory_model *own = work->solver->memory;
  if (!own || has_value(work, "system", "kkt") ||
      (work->ranks > 1 && !has_value(work, "linear", "petsc")))
    return false;
  *out = *own;
  for (size_t i = 0; own->linear && i < sizeof linear / sizeof *linear; i++)
    if (has_value(work, "linear", linear[i].kind) && lists(own->linear, linear[i].kind)) {
      add_linear(&linear[i].holds, out);
      return true;
    }
  return !own->linear;
}

bool eb_predict_factors(const eb_case *work) {
  eb_memory_model model;
  return find_model(work, &model) && model.factor > 0;
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
static double held_bytes(const eb_memory_model *m, const eb_case *work, const eb_counts *counts) {
  bool indices =
      m->linear && has_value(work, "linear", "cg") && has_value(work, "preconditioner", "ic");
  return m->node * (double)counts->nodes + m->element * (double)counts->elements +
         (m->block + (indices ? incomplete : 0)) * (double)counts->blocks;
}

/* Of all ranks: `each` in every process, `parts` cut among them. */
static double shared_bytes(const eb_counts *counts, int ranks, double each, double parts) {
  static const double gathered = 5670; /* byte a node, by rank 0 (harness/case/gathered.h) */
  const double N = (double)counts->nodes;
  double ghosts = eb_counts_faces(ranks) * ranks * cbrt(pow(N / ranks, 2)) / N;
  return ranks * each + (1 + ghosts) * parts + gathered * N;
}

/* What large cases give back while they solve; `copies`: by PETSc: the audit's shapes of the
 * elements of a process (eb_auditor), and one of the two copies of its matrix but for a window
 * (solvers/linalg/petsc.c).
 */
static double given_back(bool copies, const eb_counts *counts, int ranks) {
  static const double shapes = 200, worth_it = 64 << 20, matrix = 72, window = 22e6; /* byte */
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
  eb_memory_model m;
  eb_memory_prediction out = {0};
  double bytes = body_bytes(counts);
  if (!find_model(work, &m) || bytes <= 0 || (m.factor > 0 && fill->by == EB_FILLED_NOT))
    return out;
  double factor =
      m.factor * fill->factor + m.updates * fill->updates + m.workspace * fill->workspace;
  out.known = true;
  bytes += held_bytes(&m, work, counts) + factor;
  out.peak = work->ranks > 1 ? shared_bytes(counts, work->ranks, program + m.fixed, bytes)
                             : program + m.fixed + bytes;
  out.peak -= given_back(m.linear && has_value(work, "linear", "petsc"), counts,
                         work->ranks > 1 ? work->ranks : 1);
  out.steady = (1 - freed) * out.peak;
  out.margin = m.margin + doubt(counts, fill, factor / out.peak);
  return out;
}
