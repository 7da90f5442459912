/* Names for expressions: the section [names] of a paper.
 *
 *   contacts(x) = x.phases/resolve + x.phases/solve       used as mean(contacts(rings-full))
 *   least = 0.85 * 1.6                                     used as least
 *
 * A name is written out where it is used: what is evaluated and printed holds none. A parameter
 * stands for a word within a name (x.wall, {x}-cg.wall), or by itself for any expression.
 * Definitions use the names above them, so that none needs itself. */
#ifndef EB_REPRODUCE_MACROS_H
#define EB_REPRODUCE_MACROS_H

#include "problems/notation/expression.h"
#include "problems/notation/sections.h"

typedef struct eb_definition {
  char *name;
  eb_strings parameters; /* none: it is used without parentheses */
  eb_expression *body;   /* without names */
  const eb_entry *entry; /* owned by the sections */
} eb_definition;

typedef struct eb_definitions {
  eb_definition *items;
  int count;
  double *asked; /* for by the file so far: nodes that are written out are added (eb_ask) */
} eb_definitions;

/* Reads a section, which may be NULL and has to outlive *out, as has `asked`. EB_ERR_FORMAT has
 * file and line. Clear *out also after a failure. */
EB_MUST eb_error eb_definitions_read(const eb_section *section, double *asked, eb_definitions *out);
void eb_definitions_clear(eb_definitions *definitions);

/* An expression with the names written out. EB_ERR_FORMAT for what is no expression, and for
 * what would be too large. The caller destroys *out. */
EB_MUST eb_error eb_definitions_parse(const eb_definitions *definitions, const char *text,
                                      eb_expression **out);

/* Sets used[i] for the definitions whose name stands in the text, and for those that these use. */
void eb_definitions_mark(const eb_definitions *definitions, const char *text, bool *used);

#endif
