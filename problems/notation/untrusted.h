/* What the file of a suite or a paper, which may be anyone's, may name and ask for. */
#ifndef EB_NOTATION_UNTRUSTED_H
#define EB_NOTATION_UNTRUSTED_H

#include <stdbool.h>

#include "problems/base/error.h"

/* Whether a text is letters, digits, dashes and underscores, with a letter or digit first: it may
 * be part of a file's name. */
bool eb_is_word(const char *text);
/* What a suite or a paper names is a word that begins with a letter, of at most 100 characters.
 * EB_ERR_FORMAT says so of `kind`. */
EB_MUST eb_error eb_check_word(const char *kind, const char *name);

/* What the file of a suite or a paper may ask for, all told, so that reading and planning it ends:
 * its lines, cases, turns of loops, cells of tables and, at a tenth each, nodes of expressions and
 * how often they are evaluated. What multiplies is added to *asked before it is made:
 * EB_ERR_FORMAT, with the number, for more than that. */
enum { EB_MOST_ASKED = 10000 };
EB_MUST eb_error eb_ask(double *asked, double more, const char *what);
EB_MUST eb_error eb_ask_evaluations(double *asked, double more);

#endif
