/* Knobs: what of a solver is turned to trade accuracy for cost, and how the budget of trials is
 * spent on them.
 *
 * Every solver has the time step, which is a parameter of the scene, as its first knob. The others
 * are options of its own, over ranges that it declares (eb_solver_ops.accuracy_options) or that
 * come from the command line. All solvers get the same number of trials: the first with the options
 * as given and the scene's own step, the others at points of one Halton sequence (Halton 1960)
 * shifted modulo 1 by a declared seed (Cranley and Patterson 1976), one dimension a knob; so the
 * steps that are tried are the same for all. */
#ifndef EB_PRECISION_ACCURACY_PARAMETERS_H
#define EB_PRECISION_ACCURACY_PARAMETERS_H

#include "problems/base/strings.h"
#include "solvers/solver.h"

enum { EB_MOST_ACCURACY_PARAMETERS = 6 }; /* of options, beside the time step */

/* One of these. */
typedef struct eb_accuracy_parameter {
  char *option;
  bool whole;        /* takes whole numbers */
  double low, high;  /* a range, logarithmic where low > 0 */
  eb_strings values; /* or values, in equal shares of [0, 1] */
} eb_accuracy_parameter;

typedef struct eb_accuracy_parameters {
  int count;
  eb_accuracy_parameter items[EB_MOST_ACCURACY_PARAMETERS];
  bool known; /* somebody says what the solver's knobs are, if only that it has none */
} eb_accuracy_parameters;

/* The knobs of a solver with options `fixed` ("a=1,b=x", or NULL), which are none: those that
 * `asked` names ("SOLVER:o=LOW..HIGH" or "SOLVER:o=v1|v2", one option an entry; entries of other
 * solvers are passed over) or, when it names none, those that it declares. EB_ERR_USAGE for what
 * the solver does not take. The caller clears *out also after an error. */
EB_MUST eb_error eb_accuracy_parameters_create(const eb_solver_ops *solver, const char *fixed,
                                               const eb_strings *asked,
                                               eb_accuracy_parameters *out);
void eb_accuracy_parameters_clear(eb_accuracy_parameters *knobs);
/* Appends "rtol 1e-08..0.1, linear cg|cholesky", for people; nothing for none. */
EB_MUST eb_error eb_accuracy_parameters_describe(const eb_accuracy_parameters *knobs, eb_text *out);

/* Sets the options of point u (count entries in [0, 1)) in *options ("a=1,b=x", or NULL: none),
 * which is replaced; ranges have three significant digits. */
EB_MUST eb_error eb_accuracy_parameters_apply(const eb_accuracy_parameters *knobs, const double *u,
                                              char **options);

/* The coordinate of point `index` (from 1 on) along a dimension (0 .. EB_MOST_ACCURACY_PARAMETERS),
 * in [0, 1); seed 0: no shift. */
double eb_halton(int64_t index, int dimension, uint64_t seed);

/* Sets one name in *assignments ("a=1,b=x", or NULL), replacing its value when it has one. */
EB_MUST eb_error eb_assign(char **assignments, const char *name, const char *value);

#endif
