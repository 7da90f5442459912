/* Expressions over results, as a tree: what claims, tables and figures of a paper are written in.
 * The language of papers is described in harness/reproduce/README.md; what names mean is for who
 * evaluates the tree (harness/reproduce/evaluate.h).
 *
 *   or          = and { "or" and }
 *   and         = not { "and" not }
 *   not         = "not" not | comparison
 *   comparison  = sum { ("<" | "<=" | "=" | ">=" | ">" | "!=") sum }   a < b < c is a < b and b < c
 *   sum         = product { ("+" | "-") product }
 *   product     = sign { ("*" | "/") sign }
 *   sign        = "-" sign | power
 *   power       = windowed [ "^" sign ]
 *   windowed    = primary { "[" [ end ] ".." [ end ] "]" }
 *   end         = NUMBER | NUMBER "s" | NUMBER "%" | call   (steps from 1, time, share; time)
 *   primary     = NUMBER [ "%" | UNIT ] | NAME | TEXT | call | "(" or ")"
 *   call        = NAME "(" [ or { "," or } { "for" NAME "in" WORD { WORD } } { "," or } ] ")"
 *
 * A NAME begins with a letter or '{' and holds letters, digits and _ . : { }, and - or / where one
 * of these follows at once: as operators - and / stand between blanks. A TEXT stands in double
 * quotes. A UNIT is one of unit.c, "mm" or "kg/m^3". A WORD ends at a blank, a comma or a
 * parenthesis. */
#ifndef EB_NOTATION_EXPRESSION_H
#define EB_NOTATION_EXPRESSION_H

#include "problems/notation/words.h"

typedef enum eb_operator {
  EB_OP_NUMBER, /* number */
  EB_OP_NAME,   /* text */
  EB_OP_TEXT,   /* text */
  EB_OP_CALL,   /* text: the function; items: its arguments */
  EB_OP_WINDOW, /* items[0]: the series; ends */
  EB_OP_NEGATE,
  EB_OP_ADD, /* from here to EB_OP_POWER: items[0] and items[1] */
  EB_OP_SUBTRACT,
  EB_OP_MULTIPLY,
  EB_OP_DIVIDE,
  EB_OP_POWER,
  EB_OP_COMPARE, /* comparisons[i] stands between items[i] and items[i + 1] */
  EB_OP_NOT,
  EB_OP_AND, /* items: two or more; the same for OR */
  EB_OP_OR
} eb_operator;

typedef enum eb_comparison {
  EB_LESS,
  EB_LESS_EQUAL,
  EB_EQUAL,
  EB_GREATER_EQUAL,
  EB_GREATER,
  EB_NOT_EQUAL
} eb_comparison;
const char *eb_comparison_sign(eb_comparison comparison); /* "<", "<=", ... */

enum { EB_MOST_LOOPS = 8 };
/* "for VARIABLE in WORDS" */
typedef struct eb_loop {
  char *variable;
  eb_strings words;
} eb_loop;

typedef struct eb_expression eb_expression;

/* Where a window begins or ends: nowhere (unit 0), at a step (1), at a time ('s'), at a share of
 * the steps ('%', as a fraction), or at the time that a call gives ('('). */
typedef struct eb_window_end {
  char unit;
  double number;
  eb_expression *call;
} eb_window_end;

struct eb_expression {
  eb_operator op;
  double number;
  char *text;
  eb_expression **items;
  eb_comparison *comparisons;
  int count;
  eb_loop *loops; /* of a call; they run over its first `looped` arguments, the first one slowest */
  int loop_count, looped;
  eb_window_end from, to;
};

/* EB_ERR_FORMAT says what was expected, and where in the text. The caller destroys *out. */
EB_MUST eb_error eb_expression_parse(const char *text, eb_expression **out);
void eb_expression_destroy(eb_expression *expression);

/* Replaces {VARIABLE}, and a variable that stands alone or before a dot, by its word. The caller
 * frees *out. Braces around what is no variable stay, or are EB_ERR_FORMAT when `strict`. */
EB_MUST eb_error eb_scope_expand(const eb_scope *scope, const char *text, bool strict, char **out);

/* Calls `visit` for every combination of the loops' words, with a scope that holds them. */
typedef eb_error (*eb_visit)(void *context, const eb_scope *scope);
EB_MUST eb_error eb_loops_visit(const eb_expression *call, const eb_scope *scope, eb_visit visit,
                                void *context);

/* Appends an expression as it is written, with variables replaced: the same text for whatever means
 * the same. `put` may print something in place of an expression; it says so in *done. NULL: nothing
 * is replaced. */
typedef eb_error (*eb_put)(void *context, const eb_expression *expression, const eb_scope *scope,
                           eb_text *out, bool *done);
EB_MUST eb_error eb_expression_print(const eb_expression *expression, const eb_scope *scope,
                                     eb_put put, void *context, eb_text *out);

#endif
