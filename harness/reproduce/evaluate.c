#include "harness/reproduce/evaluate.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/noise.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- lists and reductions -------------------------------------------------------------------- */

/* A list of numbers that grows by one at each visit. */
typedef struct list {
  eb_evaluation *e;
  const eb_expression *item;
  eb_value *out;
} list;

static eb_error append_visited(void *context, const eb_scope *scope) {
  list *l = context;
  eb_value item;
  EB_TRY(eb_evaluate(l->e, l->item, scope, &item));
  eb_error error = eb_value_append(l->out, &item);
  eb_value_clear(&item);
  return error;
}

/* One argument: under the call's loops a list. */
static eb_error argument_of(eb_evaluation *e, const eb_expression *call, int i,
                            const eb_scope *scope, eb_value *out) {
  if (i >= call->looped) return eb_evaluate(e, call->items[i], scope, out);
  *out = (eb_value){0};
  EB_TRY(eb_value_series(0, false, out));
  list l = {e, call->items[i], out};
  return eb_loops_visit(call, scope, append_visited, &l);
}

/* Several arguments are a list. */
static eb_error call_reduction(eb_evaluation *e, const eb_expression *call, const eb_scope *scope,
                               eb_value *out) {
  eb_value all = {0};
  list l = {e, NULL, &all};
  bool several = call->count > 1;
  if (call->count == 0) return EB_ERROR(EB_ERR_FORMAT, "%s wants a series", call->text);
  if (several && call->looped)
    return EB_ERROR(EB_ERR_FORMAT, "%s wants one argument before 'for'", call->text);
  eb_error error = several ? eb_value_series(0, false, &all) : argument_of(e, call, 0, scope, &all);
  for (int i = 0; several && i < call->count && !error; i++) {
    l.item = call->items[i];
    error = append_visited(&l, scope);
  }
  if (!error) error = eb_value_reduce(call->text, &all, out);
  if (!error && !all.time) {
    out->may_rise |= all.may_rise;
    out->may_fall |= all.may_fall;
  }
  eb_value_clear(&all);
  return error;
}

/* ---- functions ------------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 32 };
static const char *const other_functions[] = {"mean", "median", "min",    "max", "sum", "first",
                                              "last", "count",  "rising", "all", "any", "falling"};
enum { OTHER_FUNCTIONS = sizeof other_functions / sizeof *other_functions };
static const eb_function *const tables[] = {eb_motion_functions, eb_functions};
enum { TABLES = 2 };

static const eb_function *find_function(const char *name) {
  for (int t = 0; t < TABLES; t++)
    for (const eb_function *f = tables[t]; f->name; f++)
      if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

bool eb_is_function(const char *name) {
  return find_function(name) || eb_find(other_functions, OTHER_FUNCTIONS, sizeof *other_functions,
                                        name, strlen(name)) >= 0;
}

/* Those of [names] that take something, or nothing. */
static eb_error add_definitions(const eb_paper *paper, bool called, eb_strings *names) {
  for (int i = 0; i < paper->definitions.count; i++)
    if ((paper->definitions.items[i].parameters.count > 0) == called)
      EB_TRY(eb_strings_add(names, paper->definitions.items[i].name));
  return EB_OK;
}

static eb_error unknown_function(const eb_paper *paper, const char *name) {
  eb_strings names = {0};
  eb_error error = add_definitions(paper, true, &names);
  for (int i = 0; i < OTHER_FUNCTIONS && !error; i++)
    error = eb_strings_add(&names, other_functions[i]);
  for (int t = 0; t < TABLES; t++)
    for (const eb_function *f = tables[t]; f->name && !error; f++)
      error = eb_strings_add(&names, f->name);
  if (!error) error = eb_unknown_name("function", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* A case, an axis, a table: a word, not a figure. */
static eb_error word_of(const eb_expression *argument, const eb_scope *scope, eb_value *out) {
  eb_text text = {0};
  *out = (eb_value){0};
  if (argument->op == EB_OP_TEXT) return eb_value_text(argument->text, out);
  if (argument->op != EB_OP_NAME && argument->op != EB_OP_NUMBER)
    return EB_ERROR(EB_ERR_FORMAT, "a name is expected, not a calculation");
  eb_error error = eb_expression_print(argument, scope, NULL, NULL, &text);
  if (!error) error = eb_value_text(text.data, out);
  eb_text_clear(&text);
  return error;
}

/* Whether an argument is what its letter says; a case is noted in the call. */
static eb_error check_argument(eb_call *c, char letter, const eb_value *value) {
  const eb_paper *paper = c->e->paper;
  const char *text = value->text, *wanted = NULL;
  bool word = letter == 'x' || letter == 'u', good = true;
  int case_;
  switch (letter) {
  case 'c':
    EB_TRY(eb_evaluation_case(c->e, text, &case_));
    c->cases[c->cases[0] >= 0] = case_;
    return EB_OK;
  case 't':
    return eb_paper_table_find(paper, text) >= 0
               ? EB_OK
               : eb_unknown_entry("table", text, paper->tables, paper->table_count,
                                  sizeof *paper->tables);
  case 'x':
    wanted = "an axis is x, y or z";
    good = *text && strchr("xyz", *text) && !text[1];
    break;
  case 'u':
    wanted = "an end is lower or upper";
    good = strcmp(text, "lower") == 0 || strcmp(text, "upper") == 0;
    break;
  case 'v':
    wanted = "a series is expected";
    good = value->kind == EB_VALUE_SERIES;
    break;
  case 'n':
    wanted = "a number is expected";
    good = value->kind == EB_VALUE_NUMBER;
    break;
  }
  return good ? EB_OK
              : EB_ERROR(EB_ERR_FORMAT, "%s, not %s%s%s", wanted, word ? "'" : "",
                         word ? text : eb_value_kind_name(value->kind), word ? "'" : "");
}

/* Fills values[0, count) with the arguments, as the function's letters say. */
static eb_error read_arguments(eb_call *c, const eb_expression *call, const eb_scope *scope,
                               eb_value *values) {
  const char *letters = c->self->arguments;
  int most = 0, least = (int)strcspn(letters, "?");
  for (const char *a = letters; *a; a++) most += *a != '?';
  for (int i = 0; i < call->count; i++, letters++) {
    letters += *letters == '?';
    if (!*letters) break;
    EB_TRY(strchr("vna", *letters) ? argument_of(c->e, call, i, scope, &values[i])
                                   : word_of(call->items[i], scope, &values[i]));
    EB_TRY(check_argument(c, *letters, &values[i]));
  }
  return call->count >= least && call->count <= most
             ? EB_OK
             : EB_ERROR(EB_ERR_FORMAT, "%s wants %d to %d arguments (%s), not %d", c->self->name,
                        least, most, c->self->doc, call->count);
}

/* What is seen in the runs of the call's cases. */
static eb_error see(const eb_call *c, eb_value *out) {
  bool all = true, cut = false;
  *out = (eb_value){.kind = c->self->seen == EB_SEEN_SERIES ? EB_VALUE_SERIES : EB_VALUE_NUMBER,
                    .number = NAN};
  for (int k = 0; k < 2 && c->cases[k] >= 0; k++) {
    int run;
    eb_knowledge knowledge;
    EB_TRY(eb_evaluation_run(c->e, c->cases[k], &run, &knowledge));
    all = all && run >= 0;
    cut = cut || eb_evaluation_cut(c->e, c->cases[k]);
    if (knowledge > out->knowledge) out->knowledge = knowledge;
  }
  if (!all) return EB_OK;
  EB_TRY(c->self->call(c, out));
  out->cut = cut;
  out->first = 1;
  if (c->self->seen == EB_SEEN_SERIES) return EB_OK;
  bool rises = out->may_rise;
  *out = eb_value_number(out->number);
  out->may_rise = rises || (cut && c->self->changes > 0);
  out->may_fall = cut && c->self->changes > 1;
  return EB_OK;
}

static eb_error call_function(eb_evaluation *e, const eb_function *f, const eb_expression *call,
                              const eb_scope *scope, eb_value *out) {
  eb_value values[MOST_ARGUMENTS] = {0};
  eb_call c = {e, f, values, call->count, {-1, -1}};
  eb_error error = read_arguments(&c, call, scope, values);
  if (!error) error = f->seen ? see(&c, out) : f->call(&c, out);
  for (int i = 0; i < MOST_ARGUMENTS; i++) eb_value_clear(&values[i]);
  return eb_error_prefix(error, "%s", f->name);
}

/* ---- conditions ------------------------------------------------------------------------------ */

bool eb_is_pairs(const eb_expression *e) {
  return e->op == EB_OP_COMPARE || (e->op == EB_OP_CALL && (strcmp(e->text, "rising") == 0 ||
                                                            strcmp(e->text, "falling") == 0));
}

bool eb_is_quantifier(const eb_expression *e) {
  return e->op == EB_OP_CALL && (strcmp(e->text, "all") == 0 || strcmp(e->text, "any") == 0);
}

/* A conjunction or disjunction that is taken together; in a disjunction true is what false is in a
 * conjunction. */
typedef struct joined {
  eb_evaluation *e;
  const eb_expression *item;
  eb_truth decides; /* EB_FALSE of a conjunction, EB_TRUE of a disjunction */
  eb_truth truth;
  eb_knowledge knowledge;
} joined;

static void join(joined *j, eb_truth truth, eb_knowledge knowledge) {
  if (j->truth == j->decides) return;
  if (truth == j->decides) {
    j->truth = truth;
    j->knowledge = EB_KNOWN;
  } else if (truth == EB_UNDECIDED) {
    j->truth = truth;
    if (knowledge > j->knowledge) j->knowledge = knowledge;
  }
}

static eb_error join_visited(void *context, const eb_scope *scope) {
  joined *j = context;
  eb_value value;
  if (j->truth == j->decides && j->e->evidence) return EB_OK; /* decided */
  EB_TRY(eb_evaluate(j->e, j->item, scope, &value));
  eb_value_kind kind = value.kind;
  join(j, value.truth, value.knowledge);
  eb_value_clear(&value);
  return kind == EB_VALUE_TRUTH
             ? EB_OK
             : EB_ERROR(EB_ERR_FORMAT, "a condition is expected, not %s", eb_value_kind_name(kind));
}

static eb_error join_pair(void *context, const eb_comparing *pair) {
  joined *j = context;
  eb_compared compared;
  EB_TRY(eb_evaluate_comparison(j->e, pair, &compared));
  join(j, compared.truth, compared.knowledge);
  return EB_OK;
}

static eb_error join_all(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                         eb_value *out) {
  bool pairs = eb_is_pairs(of),
       disjunction = of->op == EB_OP_OR || (of->op == EB_OP_CALL && strcmp(of->text, "any") == 0);
  joined j = {.e = e,
              .decides = disjunction ? EB_TRUE : EB_FALSE,
              .truth = disjunction ? EB_FALSE : EB_TRUE};
  if (pairs) EB_TRY(eb_pairs_visit(of, scope, join_pair, &j));
  for (int i = 0; !pairs && i < of->count; i++) {
    j.item = of->items[i];
    EB_TRY(i < of->looped ? eb_loops_visit(of, scope, join_visited, &j) : join_visited(&j, scope));
  }
  *out = eb_value_truth(j.truth);
  out->knowledge = j.knowledge;
  return EB_OK;
}

/* ---- neighbouring pairs ---------------------------------------------------------------------- */

/* Those of rising(...) or falling(...). The scope of the pair's earlier item is
 * copied, since its words last only for a visit. */
typedef struct pairing {
  const eb_expression *call;
  const eb_scope *outer;
  double noise;
  char *words[EB_MOST_LOOPS];
  eb_scope scopes[EB_MOST_LOOPS];
  const eb_scope *before; /* of the earlier item; NULL: there is none yet */
  eb_pair_visit visit;
  void *context;
} pairing;

static eb_error visit_items(const pairing *p, const eb_expression *earlier,
                            const eb_scope *earlier_scope, const eb_expression *later,
                            const eb_scope *later_scope) {
  bool rises = strcmp(p->call->text, "rising") == 0, banded = p->noise > 0;
  const eb_comparing pair = {.a = later,
                             .b = earlier,
                             .a_scope = later_scope,
                             .b_scope = earlier_scope,
                             .comparison = rises    ? (banded ? EB_GREATER_EQUAL : EB_GREATER)
                                           : banded ? EB_LESS_EQUAL
                                                    : EB_LESS,
                             .factor = rises ? 1 - p->noise : 1 + p->noise};
  return p->visit(p->context, &pair);
}

static eb_error visit_turn(void *context, const eb_scope *scope) {
  pairing *p = context;
  const eb_expression *item = p->call->items[0];
  if (p->before) EB_TRY(visit_items(p, item, p->before, item, scope));
  p->before = p->outer;
  const eb_scope *at[EB_MOST_LOOPS];
  for (int l = 0; l < p->call->loop_count; l++, scope = scope->outer) at[l] = scope;
  for (int l = p->call->loop_count - 1; l >= 0; l--) {
    free(p->words[l]);
    EB_TRY(eb_copy(at[l]->word, &p->words[l]));
    p->scopes[l] = (eb_scope){at[l]->variable, p->words[l], p->before};
    p->before = &p->scopes[l];
  }
  return EB_OK;
}

/* The items: those before 'for', or all but a noise band at the end, which is a number. */
eb_error eb_pairs_visit(const eb_expression *call, const eb_scope *scope, eb_pair_visit visit,
                        void *context) {
  for (int i = 0; call->op == EB_OP_COMPARE && i + 1 < call->count; i++)
    EB_TRY(visit(context, &(eb_comparing){call->items[i], call->items[i + 1], scope, scope,
                                          call->comparisons[i], 1}));
  if (call->op == EB_OP_COMPARE) return EB_OK;
  bool banded = call->count > 1 && call->items[call->count - 1]->op == EB_OP_NUMBER;
  int items = call->count - banded;
  pairing p = {.call = call, .outer = scope, .visit = visit, .context = context};
  eb_error error = EB_OK;
  if (items < 1 || (call->looped ? call->looped != 1 || items != 1 : items < 2))
    return EB_ERROR(EB_ERR_FORMAT,
                    "%s wants 'EXPRESSION for x in a b ..' or expressions, then perhaps a band of "
                    "noise (5%%)",
                    call->text);
  if (banded) p.noise = call->items[items]->number;
  if (call->looped) error = eb_loops_visit(call, scope, visit_turn, &p);
  for (int i = 1; i < items && !error; i++)
    error = visit_items(&p, call->items[i - 1], scope, call->items[i], scope);
  for (int l = 0; l < EB_MOST_LOOPS; l++) free(p.words[l]);
  return error;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* A loop's word may be a number. */
static eb_error read_name(eb_evaluation *e, const eb_expression *name, const eb_scope *scope,
                          eb_value *out) {
  char *expanded, *end;
  EB_TRY(eb_scope_expand(scope, name->text, true, &expanded));
  double number = strtod(expanded, &end);
  eb_strings names = {0};
  eb_error error = EB_OK;
  if (end != expanded && !*end && strspn(expanded, "0123456789+-.") > 0) {
    *out = eb_value_number(number);
  } else if (e->paper->definitions.count && !strpbrk(expanded, ".:")) {
    error = add_definitions(e->paper, false, &names);
    if (!error) error = eb_unknown_name("name in [names], and no CASE.FIGURE,", expanded, &names);
  } else {
    error = eb_figure_read(e, expanded, out);
  }
  eb_strings_clear(&names);
  free(expanded);
  return error;
}

static eb_error cut_window(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                           eb_value *out) {
  eb_value series = {0}, ends[2] = {0};
  eb_error error = eb_evaluate(e, of->items[0], scope, &series);
  if (!error && of->from.call) error = eb_evaluate(e, of->from.call, scope, &ends[0]);
  if (!error && of->to.call) error = eb_evaluate(e, of->to.call, scope, &ends[1]);
  if (!error)
    error = eb_value_window(&series, &of->from, of->from.call ? &ends[0] : NULL, &of->to,
                            of->to.call ? &ends[1] : NULL, out);
  eb_value_clear(&series);
  eb_value_clear(&ends[0]);
  eb_value_clear(&ends[1]);
  return error;
}

static eb_error calculate(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                          eb_value *out) {
  eb_value a = {0}, b = {0};
  eb_error error = eb_evaluate(e, of->items[0], scope, &a);
  if (!error && of->op != EB_OP_NEGATE) error = eb_evaluate(e, of->items[1], scope, &b);
  if (!error)
    error =
        of->op == EB_OP_NEGATE ? eb_value_negate(&a, out) : eb_value_combine(of->op, &a, &b, out);
  eb_value_clear(&a);
  eb_value_clear(&b);
  return error;
}

static eb_error find(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                     eb_value *out) {
  if (of->op == EB_OP_NAME) return read_name(e, of, scope, out);
  if (eb_is_quantifier(of) || eb_is_pairs(of)) return join_all(e, of, scope, out);
  if (eb_is_reduction(of->text)) return call_reduction(e, of, scope, out);
  const eb_function *f = find_function(of->text);
  return f ? call_function(e, f, of, scope, out) : unknown_function(e->paper, of->text);
}

/* What is found is kept, by the expression and the circumstances: functions on frames are slow, and
 * a figure is often asked for again when its reason is written. */
static eb_error find_or_keep(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                             eb_value *out) {
  eb_text key = {0};
  if (!e->known || e->named || e->disturbed || eb_is_quantifier(of) || eb_is_pairs(of))
    return find(e, of, scope, out);
  eb_error error = eb_expression_print(of, scope, NULL, NULL, &key);
  if (!error && e->first) error = eb_text_printf(&key, " @%d-%d", e->first, e->left_out);
  for (int g = 0; e->limits && g < e->paper->sections.count && !error; g++)
    if (!isnan(e->limits[g])) error = eb_text_printf(&key, " %d<%.12g", g, e->limits[g]);
  const eb_value *known = error ? NULL : eb_known_find(e->known, key.data);
  if (known && known->kind == EB_VALUE_TEXT) {
    error = eb_value_text(known->text, out);
  } else if (known) {
    *out = *known;
  } else if (!error) {
    error = find(e, of, scope, out);
    if (!error && out->kind == EB_VALUE_NUMBER && out->knowledge == EB_KNOWN)
      error = eb_known_add(e->known, key.data, out);
  }
  eb_text_clear(&key);
  return error;
}

eb_error eb_evaluate(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                     eb_value *out) {
  *out = (eb_value){0};
  switch (of->op) {
  case EB_OP_NUMBER:
    *out = eb_value_number(of->number);
    return EB_OK;
  case EB_OP_TEXT:
    return eb_value_text(of->text, out);
  case EB_OP_NAME:
  case EB_OP_CALL:
    return find_or_keep(e, of, scope, out);
  case EB_OP_WINDOW:
    return cut_window(e, of, scope, out);
  case EB_OP_COMPARE:
  case EB_OP_AND:
  case EB_OP_OR:
    return join_all(e, of, scope, out);
  case EB_OP_NOT:
    EB_TRY(eb_evaluate(e, of->items[0], scope, out));
    if (out->kind != EB_VALUE_TRUTH)
      return EB_ERROR(EB_ERR_FORMAT, "'not' wants a condition, not %s",
                      eb_value_kind_name(out->kind));
    if (out->truth != EB_UNDECIDED) out->truth = out->truth == EB_TRUE ? EB_FALSE : EB_TRUE;
    return EB_OK;
  default:
    return calculate(e, of, scope, out);
  }
}

eb_error eb_evaluate_number(eb_evaluation *e, const eb_expression *of, const eb_scope *scope,
                            double *out) {
  eb_value value = {0};
  eb_error error = eb_evaluate(e, of, scope, &value);
  *out = value.knowledge == EB_KNOWN ? value.number : NAN;
  if (!error && value.kind != EB_VALUE_NUMBER)
    error = EB_ERROR(EB_ERR_FORMAT, "a number is expected, not %s", eb_value_kind_name(value.kind));
  eb_value_clear(&value);
  return error;
}

eb_error eb_expression_cases(const eb_paper *paper, const eb_expression *of, const eb_scope *scope,
                             bool *cases) {
  eb_evaluation dry = {.paper = paper, .named = cases, .left_out = -1};
  eb_value value = {0};
  eb_error error = eb_evaluate(&dry, of, scope, &value);
  eb_value_clear(&value);
  return error;
}

/* ---- two sides ------------------------------------------------------------------------------- */

/* Competitors of which one was cut are read up to where the first of them ends. */
static eb_error find_limits(const eb_evaluation *e, const bool *named, double *limits) {
  const eb_paper *paper = e->paper;
  for (int g = 0; g < paper->sections.count; g++) limits[g] = NAN;
  for (int c = 0; c < paper->case_count; c++)
    if (named[c] && e->evidence->cases[c].status == EB_RUN_CUT)
      limits[paper->cases[c].group] = INFINITY;
  for (int c = 0; c < paper->case_count; c++) {
    double *limit = &limits[paper->cases[c].group], *time;
    size_t count;
    int run;
    eb_knowledge knowledge;
    eb_evaluation quiet = *e;
    quiet.why = NULL;
    if (!named[c] || isnan(*limit)) continue;
    EB_TRY(eb_evaluation_run(&quiet, c, &run, &knowledge));
    if (run < 0) continue;
    EB_TRY(eb_results_steps(e->evidence->results, run, EB_COL_TIME, &time, &count));
    if (count && time[count - 1] < *limit) *limit = time[count - 1];
    free(time);
  }
  return EB_OK;
}

/* What is compared, the cases that it names, and room for where their series end. */
typedef struct sides {
  const eb_comparing *what;
  const bool *named; /* NULL: there are no runs */
  double *limits;
} sides;

static eb_error read_sides(eb_evaluation *e, const sides *of, eb_value *a, eb_value *b) {
  const eb_comparing *what = of->what;
  double *outer = e->limits;
  eb_error error = of->limits ? find_limits(e, of->named, of->limits) : EB_OK;
  if (of->limits) e->limits = of->limits;
  if (!error) error = eb_evaluate(e, what->a, what->a_scope, a);
  if (!error) error = eb_evaluate(e, what->b, what->b_scope, b);
  if (!error && b->kind == EB_VALUE_NUMBER) b->number *= what->factor;
  e->limits = outer;
  return error;
}

static eb_error read_ratio(void *context, eb_evaluation *e, double *out) {
  eb_value a = {0}, b = {0};
  eb_error error = read_sides(e, context, &a, &b);
  *out = log(a.number / b.number);
  eb_value_clear(&a);
  eb_value_clear(&b);
  return error;
}

/* ---- intervals ------------------------------------------------------------------------------- */

enum { MOST_REPETITIONS = 64 };

/* Decides by an interval of d, which is log(a / b) or a - b. */
static void decide_by(double mean, double half, bool ratio, eb_comparison comparison,
                      eb_compared *out) {
  bool low = eb_compare_numbers(mean - half, comparison, 0),
       high = eb_compare_numbers(mean + half, comparison, 0);
  out->truth = low != high ? EB_UNDECIDED : low ? EB_TRUE : EB_FALSE;
  out->a = ratio ? out->b * exp(mean) : out->b + mean;
  out->low = ratio ? out->b * exp(mean - half) : out->b + mean - half;
  out->high = ratio ? out->b * exp(mean + half) : out->b + mean + half;
}

/* By the interval of d = log(a / b) or, unless both are positive throughout, of a - b, of all
 * repetitions (a[0], b[0]) and without one after the other (a[r], b[r]). The jackknife's pseudo
 * values, n d - (n - 1) d_r, vary as single repetitions do (Tukey 1958); of a mean they would be
 * these. */
static void decide(const double *a, const double *b, int count, eb_comparison comparison,
                   eb_compared *out) {
  bool ratio = true;
  double d[MOST_REPETITIONS + 1], pseudo[MOST_REPETITIONS], mean, half;
  for (int r = 0; r <= count; r++) ratio = ratio && a[r] > 0 && b[r] > 0;
  for (int r = 0; r <= count; r++) d[r] = ratio ? log(a[r] / b[r]) : a[r] - b[r];
  for (int r = 0; r < count; r++) pseudo[r] = count * d[0] - (count - 1) * d[r + 1];
  eb_sample_interval(pseudo, (size_t)count, &mean, &half);
  out->b = b[0];
  decide_by(d[0], half, ratio, comparison, out);
}

/* By how much times vary in all cases with repetitions: one repetition has no interval of its own,
 * and two have a poor one. What is exactly 0 was never timed, whatever the noise. */
static eb_error decide_pooled(eb_evaluation *e, const sides *of, double a, double b, int count,
                              eb_compared *out) {
  const eb_noise *noise = &e->evidence->noise;
  eb_evaluation these = *e;
  eb_comparison comparison = of->what->comparison;
  double variance;
  these.first = count;
  out->b = b;
  if (a == 0) decide_by(-b, 0, false, comparison, out);
  if (!(a > 0 && b > 0)) return EB_OK;
  EB_TRY(eb_noise_variance(&these, of->named, read_ratio, (void *)of, &variance));
  if (!isfinite(variance)) return EB_OK;
  double half = eb_sample_student((size_t)noise->freedom) * sqrt(variance / count);
  decide_by(log(a / b), half, true, comparison, out);
  return eb_evaluation_say(
      e,
      "fewer than 3 repetitions: times are taken to vary by %.2g %%, a stage beside them by "
      "%.2g %%, as those of all repeated cases do (%d degrees of freedom)",
      100 * noise->pace, 100 * noise->stage, noise->freedom);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Whether all repetitions of the cases are of one machine. */
static eb_error see_machines(const eb_evaluation *e, const bool *named, bool *one) {
  char *first = NULL;
  eb_error error = EB_OK;
  *one = true;
  for (int c = 0; c < e->paper->case_count; c++) {
    const eb_case_evidence *found = &e->evidence->cases[c];
    for (int r = 0; named[c] && r < found->run_count && !error; r++) {
      char *machine;
      error = eb_results_machine(e->evidence->results, found->runs[r], &machine);
      if (!error && first && strcmp(first, machine) != 0) *one = false;
      if (first)
        free(machine);
      else
        first = machine;
    }
  }
  free(first);
  return error;
}

/* The sides by the first `count` repetitions and, if these are two or more, without each of them.
 * *known: all are numbers. */
static eb_error leave_out_each(const eb_evaluation *e, const sides *of, int count, double *a,
                               double *b, bool *known) {
  *known = true;
  for (int r = 0; r <= count && *known && (r == 0 || count > 1); r++) {
    eb_value left = {0}, right = {0};
    eb_evaluation without = *e;
    without.first = count;
    without.left_out = r - 1;
    eb_error error = read_sides(&without, of, &left, &right);
    a[r] = left.number;
    b[r] = right.number;
    *known = !left.knowledge && !right.knowledge && isfinite(a[r]) && isfinite(b[r]);
    eb_value_clear(&left);
    eb_value_clear(&right);
    EB_TRY(error);
  }
  return EB_OK;
}

/* As many repetitions decide as all cases have. */
static eb_error compare_times(eb_evaluation *e, const sides *of, eb_compared *out) {
  enum { ENOUGH = 3, LEAST_FREEDOM = 4 };
  double a[MOST_REPETITIONS + 1], b[MOST_REPETITIONS + 1];
  int count = INT_MAX;
  bool one_machine, known;
  out->truth = EB_UNDECIDED;
  EB_TRY(see_machines(e, of->named, &one_machine));
  if (!one_machine) return eb_evaluation_say(e, "times of several machines are not compared");
  for (int c = 0; c < e->paper->case_count; c++)
    if (of->named[c] && e->evidence->cases[c].run_count < count)
      count = e->evidence->cases[c].run_count;
  if (count == INT_MAX) count = 0;
  if (count > MOST_REPETITIONS) count = MOST_REPETITIONS;
  out->repetitions = count;
  if (count < 1) return EB_OK;
  EB_TRY(leave_out_each(e, of, count, a, b, &known));
  if (!known) return EB_OK;
  if (count < ENOUGH && e->evidence->noise.freedom >= LEAST_FREEDOM)
    EB_TRY(decide_pooled(e, of, a[0], b[0], count, out));
  else if (count > 1)
    decide(a, b, count, of->what->comparison, out);
  else
    return eb_evaluation_say(e, "one repetition of a time decides nothing: 3 are wanted");
  return out->truth == EB_UNDECIDED
             ? eb_evaluation_say(e, "too noisy to say: an interval straddles its bound")
             : EB_OK;
}

eb_error eb_evaluate_comparison(eb_evaluation *e, const eb_comparing *what, eb_compared *out) {
  bool *named = NULL;
  double *limits = NULL;
  eb_value a = {0}, b = {0};
  eb_error error = EB_OK;
  *out = (eb_compared){.a = NAN, .b = NAN, .low = NAN, .high = NAN};
  if (e->evidence && e->evidence->results && !e->own) {
    error = EB_NEW(named, e->paper->case_count);
    if (!error) error = EB_NEW(limits, e->paper->sections.count);
    if (!error) error = eb_expression_cases(e->paper, what->a, what->a_scope, named);
    if (!error) error = eb_expression_cases(e->paper, what->b, what->b_scope, named);
  }
  const sides of = {what, named, limits};
  if (!error) error = read_sides(e, &of, &a, &b);
  if (!error) error = eb_value_compare(&a, what->comparison, &b, &out->truth);
  bool timed = a.timed || b.timed;
  out->knowledge = a.knowledge > b.knowledge ? a.knowledge : b.knowledge;
  out->texts = a.kind == EB_VALUE_TEXT;
  for (int g = 0; limits && g < e->paper->sections.count; g++)
    out->clipped = out->clipped || !isnan(limits[g]);
  out->a = a.knowledge ? NAN : a.number;
  out->b = b.knowledge ? NAN : b.number;
  if (!error && !out->knowledge && out->truth == EB_UNDECIDED && !timed)
    error = eb_evaluation_say(e, "a run stops before the end that this asks for");
  bool open = (a.bound || b.bound) && out->truth == EB_UNDECIDED;
  if (!error && timed && !out->knowledge && e->evidence)
    error = open ? eb_evaluation_say(e, "a step was cut off: its time is a lower bound")
                 : compare_times(e, &of, out);
  eb_value_clear(&a);
  eb_value_clear(&b);
  free(named);
  free(limits);
  return error;
}
