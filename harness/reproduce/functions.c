/* The functions of the language: what is seen in the frames of runs, how they ended, fits, and the paper's tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/reproduce/motion.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- cases ------------------------------------------------------------------------------------ */

/* Finds the cases among the first `count` arguments and whether all have a run: with one that lacks it *out is unknown. */
static eb_error find_runs(eb_evaluation *e, const eb_value *arguments, int count, int cases[2],
                          eb_value *out, bool *all) {
  *all = true;
  for (int i = 0; i < count && i < 2; i++) {
    int run;
    eb_knowledge knowledge;
    EB_TRY(eb_evaluation_case(e, arguments[i].text, &cases[i]));
    EB_TRY(eb_evaluation_run(e, cases[i], &run, &knowledge));
    *all = *all && run >= 0;
    if (knowledge > out->knowledge) out->knowledge = knowledge;
  }
  return EB_OK;
}

/* A number seen in the last frame or over all frames of one or two runs. */
typedef eb_error (*seen)(const eb_evidence *e, const int cases[2], int count,
                         const eb_value *arguments, double *out);

/* What of it more frames could change: an end in either way, a largest only upwards. */
typedef enum growth { FIXED, ENDS, GROWS } growth;

static eb_error look(eb_evaluation *e, const eb_value *arguments, int words, int count,
                     growth grows, seen see, eb_value *out) {
  int cases[2] = {-1, -1};
  bool all, cut = false;
  double number = NAN;
  *out = (eb_value){.kind = EB_VALUE_NUMBER, .number = NAN};
  EB_TRY(find_runs(e, arguments, words < count ? words : count, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(see(e->evidence, cases, words < count ? words : count, arguments, &number));
  *out = eb_value_number(number);
  for (int i = 0; i < 2; i++) cut = cut || (cases[i] >= 0 && eb_evaluation_cut(e, cases[i]));
  out->may_rise = cut && grows != FIXED;
  out->may_fall = cut && grows == ENDS;
  return EB_OK;
}

#define SEEN(function, words, grows)                                                               \
  static eb_error call_##function(eb_evaluation *e, const eb_value *a, int count, eb_value *out) { \
    return look(e, a, words, count, grows, see_##function, out);                                   \
  }

static eb_error see_final(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                          double *out) {
  eb_distance distance;
  (void)count;
  (void)a;
  EB_TRY(eb_motion_final(e, c[0], c[1], &distance));
  *out = distance.max;
  return EB_OK;
}
SEEN(final, 2, ENDS)

static eb_error see_shape(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                          double *out) {
  eb_distance distance;
  (void)a;
  EB_TRY(eb_motion_shape(e, c[0], count > 1 ? c[1] : -1, &distance));
  *out = distance.max;
  return EB_OK;
}
SEEN(shape, 2, ENDS)

static eb_error see_error(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                          double *out) {
  (void)count;
  (void)a;
  return eb_motion_error(e, c[0], c[1], out);
}
SEEN(error, 2, FIXED)

static eb_error see_turn(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                         double *out) {
  static const double degree = 3.14159265358979323846 / 180;
  (void)count;
  EB_TRY(eb_motion_turn(e, c[0], a[1].text[0] - 'x', strcmp(a[2].text, "upper") == 0, out));
  *out /= degree;
  return EB_OK;
}
SEEN(turn, 1, ENDS)

static eb_error see_unrest(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                           double *out) {
  (void)count;
  (void)a;
  return eb_motion_unrest(e, c[0], out);
}
SEEN(unrest, 1, ENDS)

static eb_error see_roughness(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                              double *out) {
  (void)count;
  (void)a;
  return eb_motion_roughness(e, c[0], out);
}
SEEN(roughness, 1, ENDS)

static eb_error see_diagonal(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                             double *out) {
  (void)count;
  (void)a;
  return eb_motion_diagonal(e, c[0], out);
}
SEEN(diagonal, 1, FIXED)

static eb_error see_size(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                         double *out) {
  double size[3];
  (void)count;
  EB_TRY(eb_motion_rest_box(e, c[0], size));
  *out = size[a[1].text[0] - 'x'];
  return EB_OK;
}
SEEN(size, 1, FIXED)

static eb_error see_restitution(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                                double *out) {
  (void)count;
  (void)a;
  return eb_motion_bounce(e, c[0], out, NULL, NULL);
}
SEEN(restitution, 1, GROWS)

static eb_error see_flight(const eb_evidence *e, const int c[2], int count, const eb_value *a,
                           double *out) {
  (void)count;
  (void)a;
  return eb_motion_bounce(e, c[0], NULL, out, NULL);
}
SEEN(flight, 1, GROWS)

/* Without one the end of the run, which is then no end. */
static eb_error call_bounce_end(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  int cases[2];
  bool all;
  eb_bounce_end end;
  *out = (eb_value){.kind = EB_VALUE_NUMBER, .number = NAN};
  EB_TRY(find_runs(e, a, count, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(eb_motion_bounce(e->evidence, cases[0], NULL, NULL, &end));
  *out = eb_value_number(end.time);
  out->may_rise = !end.ended;
  return EB_OK;
}

/* ---- series over frames ----------------------------------------------------------------------- */

static eb_error call_distance(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  int cases[2];
  bool all;
  *out = (eb_value){.kind = EB_VALUE_SERIES};
  EB_TRY(find_runs(e, a, count, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(eb_motion_distances(e->evidence, cases[0], cases[1], &out->y, &out->time, &out->count));
  out->cut = eb_evaluation_cut(e, cases[0]) || eb_evaluation_cut(e, cases[1]);
  out->first = 1;
  return EB_OK;
}

/* One number of every stored frame. */
typedef eb_error (*per_frame)(const eb_evidence *e, int case_, size_t frame, double which,
                              double *out);

static eb_error see_joint(const eb_evidence *e, int case_, size_t frame, double which,
                          double *out) {
  int32_t count;
  double *joints;
  EB_TRY(eb_results_joints(e->results, e->cases[case_].run, frame, &count, &joints));
  *out = which >= 0 && which < count ? joints[2 * (int)which] : NAN;
  free(joints);
  return EB_OK;
}

static eb_error see_extent(const eb_evidence *e, int case_, size_t frame, double axis,
                           double *out) {
  double *x, lo[3], hi[3];
  EB_TRY(eb_motion_frame(e, case_, frame, &x));
  eb_mesh_bounds(x, (int32_t)eb_evidence_run(e, case_)->nodes, lo, hi);
  *out = hi[(int)axis] - lo[(int)axis];
  free(x);
  return EB_OK;
}

static eb_error over_frames(eb_evaluation *e, const eb_value *a, double which, per_frame see,
                            eb_value *out) {
  int cases[2];
  bool all;
  *out = (eb_value){.kind = EB_VALUE_SERIES};
  EB_TRY(find_runs(e, a, 1, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(eb_results_column(e->evidence->results, e->evidence->cases[cases[0]].run, "frames/time",
                           &out->time, &out->count));
  EB_TRY(EB_NEW(out->y, out->count));
  for (size_t f = 0; f < out->count; f++) EB_TRY(see(e->evidence, cases[0], f, which, &out->y[f]));
  out->cut = eb_evaluation_cut(e, cases[0]);
  out->first = 1;
  return EB_OK;
}

static eb_error call_joint(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)count;
  return over_frames(e, a, a[1].number, see_joint, out);
}

static eb_error call_extent(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)count;
  return over_frames(e, a, a[1].text[0] - 'x', see_extent, out);
}

/* ---- how runs ended --------------------------------------------------------------------------- */

/* 1 or 0; a run that was cut may still do either. What the audit contradicts has done neither. */
static eb_error tell_end(eb_evaluation *e, const eb_value *a, eb_standing wanted, eb_value *out) {
  int case_;
  EB_TRY(eb_evaluation_case(e, a[0].text, &case_));
  *out = (eb_value){.kind = EB_VALUE_TRUTH, .truth = EB_UNDECIDED, .knowledge = EB_UNKNOWN};
  if (!e->evidence || e->own) return EB_OK;
  const eb_case_evidence *found = &e->evidence->cases[case_];
  bool failed = found->standing == EB_STANDING_FAILED,
       whole = found->standing == EB_STANDING_WHOLE && !eb_evaluation_cut(e, case_);
  if (failed || whole)
    *out = eb_value_truth((failed ? EB_STANDING_FAILED : EB_STANDING_WHOLE) == wanted ? EB_TRUE
                                                                                      : EB_FALSE);
  if (*found->why) return eb_evaluation_say(e, "%s", found->why);
  return failed || whole ? EB_OK
                         : eb_evaluation_say(e, "%s was asked for %lld of %lld frames", a[0].text,
                                             (long long)e->paper->cases[case_].frames,
                                             (long long)e->paper->cases[case_].all_frames);
}

static eb_error call_failed(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)count;
  return tell_end(e, a, EB_STANDING_FAILED, out);
}

static eb_error call_completed(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)count;
  return tell_end(e, a, EB_STANDING_WHOLE, out);
}

/* Of a failed run too. */
static eb_error call_steps(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  int case_;
  (void)count;
  EB_TRY(eb_evaluation_case(e, a[0].text, &case_));
  const eb_run *run = e->evidence && !e->own ? eb_evidence_run(e->evidence, case_) : NULL;
  *out = eb_value_number(run ? (double)run->steps_done : NAN);
  return run || !e->evidence || e->own ? EB_OK
                                       : eb_evaluation_say(e, "%s", e->evidence->cases[case_].why);
}

/* ---- series and lists ------------------------------------------------------------------------- */

static eb_error call_frame(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  return eb_value_frames(&a[0], out);
}

static eb_error call_integral(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  *out = eb_value_number(a[0].time && a[0].count ? eb_value_integral(&a[0]) : NAN);
  out->may_rise = out->may_fall = a[0].cut;
  eb_value_taint(out, &a[0]);
  return EB_OK;
}

static eb_error each(const eb_value *a, double (*of)(double), eb_value *out) {
  const eb_value one = eb_value_number(1);
  EB_TRY(eb_value_combine(EB_OP_MULTIPLY, a, &one, out));
  out->number = of(out->number);
  if (isnan(out->number) && out->kind == EB_VALUE_NUMBER && !out->knowledge)
    out->knowledge = EB_UNKNOWN;
  for (size_t i = 0; i < out->count; i++) out->y[i] = of(out->y[i]);
  if (of == fabs) out->may_rise = out->may_fall = a->may_rise || a->may_fall;
  return EB_OK;
}

static eb_error call_abs(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  return each(a, fabs, out);
}

static eb_error call_sqrt(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  return each(a, sqrt, out);
}

static eb_error call_log(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  return each(a, log, out);
}

static void fit(const eb_value *a, bool slope, eb_value *out) {
  double of[2];
  size_t count = a[0].count < a[1].count ? a[0].count : a[1].count;
  eb_sample_line(a[0].y, a[1].y, count, &of[0], &of[1]);
  *out = eb_value_number(of[!slope]);
  out->may_rise = out->may_fall = a[0].cut || a[1].cut || a[1].may_rise || a[1].may_fall;
  eb_value_taint(out, &a[0]);
  eb_value_taint(out, &a[1]);
}

static eb_error call_fit_slope(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  fit(a, true, out);
  return EB_OK;
}

static eb_error call_fit_r2(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  (void)e;
  (void)count;
  fit(a, false, out);
  return EB_OK;
}

/* ---- the paper's tables ----------------------------------------------------------------------- */

static eb_error find_column(const eb_paper_table *table, const char *name, int *out) {
  for (*out = 0; *out < table->column_count; ++*out)
    if (strcmp(table->columns[*out].name, name) == 0) return EB_OK;
  return eb_error_prefix(eb_unknown_name("column", name, &table->names), "table '%s'", table->id);
}

static eb_error find_row(const eb_paper_table *table, const char *key, int *out) {
  *out = eb_paper_row_find(table, key);
  if (*out >= 0) return EB_OK;
  return eb_error_prefix(eb_unknown_name("row", key, &table->keys), "table '%s'", table->id);
}

static eb_error call_paper(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  const eb_paper_table *table = &e->paper->tables[eb_paper_table_find(e->paper, a[0].text)];
  int row, column;
  (void)count;
  EB_TRY(find_row(table, a[1].text, &row));
  EB_TRY(find_column(table, a[2].text, &column));
  *out = eb_value_number(eb_paper_value(table, row, &table->columns[column]) / table->scale);
  return EB_OK;
}

/* Adds ours over the paper's of one cell, where both are meant to be. */
static eb_error add_ratio(eb_evaluation *e, const eb_paper_table *table, int row, int column,
                          eb_value *out) {
  const eb_expression *cell = table->cells[row * table->column_count + column];
  double paper = eb_paper_value(table, row, &table->columns[column]) / table->scale;
  eb_value ours = {0};
  if (!cell || isnan(paper)) return EB_OK;
  eb_error error = eb_evaluate(e, cell, NULL, &ours);
  double *grown = eb_recalloc(out->y, out->count, out->count + 1, sizeof *grown);
  if (grown) {
    out->y = grown;
    grown[out->count++] = ours.number / paper;
    eb_value_taint(out, &ours);
  }
  eb_value_clear(&ours);
  return error || grown ? error : EB_ERROR(EB_ERR_MEMORY, "cannot keep a cell");
}

static eb_error call_ratios(eb_evaluation *e, const eb_value *a, int count, eb_value *out) {
  const eb_paper_table *table = &e->paper->tables[eb_paper_table_find(e->paper, a[0].text)];
  int row = -1, column = -1;
  if (count > 1) EB_TRY(find_row(table, a[1].text, &row));
  if (count > 2) EB_TRY(find_column(table, a[2].text, &column));
  EB_TRY(eb_value_series(0, false, out));
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++)
      if ((row < 0 || r == row) && (column < 0 || c == column))
        EB_TRY(add_ratio(e, table, r, c, out));
  return EB_OK;
}

/* ---- all of them ------------------------------------------------------------------------------ */

const eb_function eb_functions[] = {
    {"distance", "cc",
     "a, b: RMS distance of the nodes of two runs of one scene in every frame, over the diagonal "
     "of "
     "the rest box",
     call_distance},
    {"final_distance", "cc",
     "a, b: largest distance of a node between the last frames, over the diagonal", call_final},
    {"shape_error", "c?c",
     "a, b: the same without the rigid motion between them; a alone: against the rest shape",
     call_shape},
    {"error", "cc", "a, b: largest RMS distance of a from b, over the largest way of b",
     call_error},
    {"turn", "cxu", "a, axis, end: degrees by which the lower or upper end has turned about it",
     call_turn},
    {"extent", "cx", "a, axis: length of the box around the nodes, in every frame, m", call_extent},
    {"size", "cx", "a, axis: the same of the rest shape", call_size},
    {"diagonal", "c", "a: diagonal of the box around the rest shape, m", call_diagonal},
    {"unrest", "c",
     "a: largest change of shape of a connected piece between the last two frames, over the "
     "diagonal",
     call_unrest},
    {"roughness", "c",
     "a: RMS over the surface of how far a node's way is from the mean of its neighbours', over "
     "the diagonal",
     call_roughness},
    {"joint", "cn", "a, number: angle of a joint in every frame, rad", call_joint},
    {"restitution", "c",
     "a: largest upward momentum after the first contact over the largest downward one before",
     call_restitution},
    {"flight", "c", "a: steps without contact after the first one with", call_flight},
    {"bounce_end", "c", "a: time at which the first contact has ended, s", call_bounce_end},
    {"failed", "c", "a: whether the solver failed", call_failed},
    {"completed", "c", "a: whether the run came to its end", call_completed},
    {"steps", "c", "a: steps that were done, of a run that failed too", call_steps},
    {"frame", "v", "series: sums over the steps of each frame", call_frame},
    {"integral", "v", "series: over simulated time", call_integral},
    {"abs", "a", "of a number or of every value", call_abs},
    {"sqrt", "a", "of a number or of every value", call_sqrt},
    {"log", "a", "natural, of a number or of every value", call_log},
    {"fit_slope", "vv", "x, y: slope of the least-squares line", call_fit_slope},
    {"fit_r2", "vv", "x, y: R^2 of the least-squares line", call_fit_r2},
    {"paper", "tww", "table, row, column: the paper's number, in SI units", call_paper},
    {"ratios", "t?w?w", "table, row, column: ours over the paper's, of the cells that both have",
     call_ratios},
    {0}};
