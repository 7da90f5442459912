/* Options of solvers and parameters of scenes: declared as data, resolved from text.
 *
 * A table of eb_option, ended by a NULL name, declares what can be set; eb_values is the table with
 * every entry resolved from its default or from "name=value,name=value". */
#ifndef EB_BASE_OPTION_H
#define EB_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/base/error.h"

#pragma GCC visibility push(default) /* exported */

typedef enum eb_option_type {
  EB_OPTION_REAL,
  EB_OPTION_INT,
  EB_OPTION_BOOL,
  EB_OPTION_CHOICE, /* one of `choices`, separated by '|' */
  EB_OPTION_TEXT,
  /* The first of a table: all that is given, commas too, behind "name=" or not, but for settings of
   * the table's other options that it begins with. */
  EB_OPTION_LINE
} eb_option_type;

typedef struct eb_option {
  const char *name;
  eb_option_type type;
  /* The default, as text; "cholesky; petsc if ranks>1": by the number that another option has;
   * NULL: it must be given. */
  const char *fallback;
  double min, max; /* inclusive range of REAL and INT; both 0 means any finite value */
  const char *choices;
  const char *unit; /* SI symbol, "" when dimensionless */
  const char *doc;  /* one line */
} eb_option;

typedef struct eb_values eb_values;

/* Resolves `assignments` ("a=1,b=x"; NULL or "" for all defaults) against `options`. `owner` names
 * the solver or scene in messages. Unknown names, malformed and out-of-range values are
 * EB_ERR_USAGE with the valid names and the nearest match. `options` may be NULL (no options) and
 * must outlive the values. The caller destroys *out. */
EB_MUST eb_error eb_values_create(const char *owner, const eb_option *options,
                                  const char *assignments, eb_values **out);
/* The same with other defaults, "a=1,b=x" or NULL, in the place of the table's: what they set is
 * not given. */
EB_MUST eb_error eb_values_create_over(const char *owner, const eb_option *options,
                                       const char *defaults, const char *assignments,
                                       eb_values **out);
void eb_values_destroy(eb_values *values);

/* The resolved value of a declared option; asking for an undeclared name or another type is a
 * programming error and aborts. */
double eb_values_real(const eb_values *values, const char *name);
int64_t eb_values_int(const eb_values *values, const char *name);
bool eb_values_bool(const eb_values *values, const char *name);
const char *eb_values_text(const eb_values *values, const char *name); /* CHOICE, TEXT, LINE */

bool eb_values_given(const eb_values *values, const char *name); /* set by the user? */
bool eb_values_declares(const eb_values *values, const char *name);

/* All options as "a=1,b=x", in declaration order; of a table with a line those that are given, and
 * the line at the end. Owned by the values. */
const char *eb_values_canonical(const eb_values *values);

#pragma GCC visibility pop

#endif
