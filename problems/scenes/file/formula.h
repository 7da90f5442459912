/* Formulas of scene files: "2 * size, 0, ramp(t, 0, 1 s)". Numbers carry units, names are
 * parameters, definitions, the place (x, y, z), the time (t) and bounds (xmin ..). */
#ifndef EB_SCENES_FILE_FORMULA_H
#define EB_SCENES_FILE_FORMULA_H

#include "problems/base/option.h"
#include "problems/mesh/mesh.h"
#include "problems/notation/expression.h"

enum { EB_FORMULA_PARTS = 8 };

/* Expressions between commas. Starts as {0}. */
typedef struct eb_formula {
  int count;
  eb_expression *part[EB_FORMULA_PARTS];
} eb_formula;

/* EB_ERR_FORMAT: the language's errors, too many parts. The caller clears *out, also after an
 * error. */
EB_MUST eb_error eb_formula_parse(const char *text, eb_formula *out);
void eb_formula_clear(eb_formula *formula);

/* A value and its derivative by time, per s. */
typedef struct eb_quantity {
  double value, rate;
} eb_quantity;

/* [let]: a name that stands for an expression wherever it is used. */
typedef struct eb_definition {
  char *name;
  eb_formula formula;
} eb_definition;

typedef struct eb_variable {
  const char *name;
  eb_quantity quantity;
} eb_variable;

/* What names mean. */
typedef struct eb_names {
  const eb_option *options; /* whose units the values are in; NULL: there are no parameters */
  const eb_values *values;
  const eb_definition *definitions;
  int definition_count;
  /* What part of the body's mesh is called `name` - a group, a set, a body, a region, or all of it
   * (NULL) -: its box, m. false: there is none of that name. */
  bool (*bounds)(const void *context, const char *name, double lo[3], double hi[3]);
  /* Whether the node or element that is looked at belongs to what has that name; -1: there is
   * none. */
  int (*is_in)(const void *context, const char *name);
  const void *context;   /* of both, which may be NULL */
  const char *only_body; /* the name of all there is, where it is one body; or NULL */
  const eb_variable *variables;
  int variable_count;
} eb_names;

/* The value of the part. EB_ERR_FORMAT: a name or function that is not known, with the nearest;
 * arguments that are too many or too few; a value that is not finite. */
EB_MUST eb_error eb_formula_part(const eb_names *names, const eb_formula *formula, int part,
                                 eb_quantity *out);
/* The values of all parts, of which there are `count`: EB_ERR_FORMAT for another number. rate may
 * be NULL. */
EB_MUST eb_error eb_formula_values(const eb_names *names, const eb_formula *formula, int count,
                                   double *value, double *rate);

#endif
