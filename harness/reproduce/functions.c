/* The functions of the language: what is seen in the frames of runs, how they ended, fits, and the
 * paper's tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/reproduce/motion.h"
#include "harness/results/sample.h"
#include "problems/base/memory.h"

/* ---- cases ----------------------------------------------------------------------------------- */

/* Finds the cases among the first `count` arguments and whether all have a run: with one that lacks
 * it *out is unknown. */
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

/* A number seen in one or two runs; without a second case that is -1. */
static eb_error see(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                    eb_value *out) {
  int cases[2] = {-1, -1};
  bool all, cut;
  double number = NAN;
  *out = (eb_value){.kind = EB_VALUE_NUMBER, .number = NAN};
  EB_TRY(find_runs(e, a, self->two ? count : 1, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(self->two ? self->two(e->evidence, cases[0], cases[1], &number)
                   : self->one(e->evidence, cases[0], &number));
  *out = eb_value_number(number);
  cut = eb_evaluation_cut(e, cases[0]) || (cases[1] >= 0 && eb_evaluation_cut(e, cases[1]));
  out->may_rise = cut && self->changes > 0;
  out->may_fall = cut && self->changes > 1;
  return EB_OK;
}

static int axis_of(const eb_value *value) {
  return value->text[0] - 'x';
}

static eb_error turn(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                     eb_value *out) {
  static const double degree = 3.14159265358979323846 / 180;
  int cases[2];
  bool all;
  double angle;
  (void)self;
  (void)count;
  *out = (eb_value){.kind = EB_VALUE_NUMBER, .number = NAN};
  EB_TRY(find_runs(e, a, 1, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(eb_motion_turn(e->evidence, cases[0], axis_of(&a[1]), strcmp(a[2].text, "upper") == 0,
                        &angle));
  *out = eb_value_number(angle / degree);
  out->may_rise = out->may_fall = eb_evaluation_cut(e, cases[0]);
  return EB_OK;
}

static eb_error size(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                     eb_value *out) {
  int cases[2];
  bool all;
  double box[3];
  (void)self;
  (void)count;
  *out = (eb_value){.kind = EB_VALUE_NUMBER, .number = NAN};
  EB_TRY(find_runs(e, a, 1, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(eb_motion_rest_box(e->evidence, cases[0], box));
  *out = eb_value_number(box[axis_of(&a[1])]);
  return EB_OK;
}

static eb_error faces(const eb_evidence *e, int case_, double *out) {
  eb_result_surface surface;
  EB_TRY(eb_results_surface(e->results, e->cases[case_].run, &surface));
  *out = surface.triangle_count;
  eb_result_surface_clear(&surface);
  return EB_OK;
}

static eb_error restitution(const eb_evidence *e, int case_, double *out) {
  return eb_motion_bounce(e, case_, out, NULL, NULL);
}

static eb_error flight(const eb_evidence *e, int case_, double *out) {
  return eb_motion_bounce(e, case_, NULL, out, NULL);
}

/* Without one the end of the run, which is then no end. */
static eb_error bounce_end_of(eb_evaluation *e, const eb_function *self, const eb_value *a,
                              int count, eb_value *out) {
  (void)self;
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

/* ---- series over frames ---------------------------------------------------------------------- */

static eb_error distance_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                            eb_value *out) {
  (void)self;
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

static eb_error over_frames(eb_evaluation *e, const eb_value *a, double which, per_frame look,
                            eb_value *out) {
  int cases[2];
  bool all;
  *out = (eb_value){.kind = EB_VALUE_SERIES};
  EB_TRY(find_runs(e, a, 1, cases, out, &all));
  if (!all) return EB_OK;
  EB_TRY(eb_results_column(e->evidence->results, e->evidence->cases[cases[0]].run, "frames/time",
                           &out->time, &out->count));
  EB_TRY(EB_NEW(out->y, out->count));
  for (size_t f = 0; f < out->count; f++) EB_TRY(look(e->evidence, cases[0], f, which, &out->y[f]));
  out->cut = eb_evaluation_cut(e, cases[0]);
  out->first = 1;
  return EB_OK;
}

static eb_error joint_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                         eb_value *out) {
  (void)self;
  (void)count;
  return over_frames(e, a, a[1].number, see_joint, out);
}

static eb_error extent_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                          eb_value *out) {
  (void)self;
  (void)count;
  return over_frames(e, a, a[1].text[0] - 'x', see_extent, out);
}

/* ---- how runs ended -------------------------------------------------------------------------- */

/* 1 or 0; a run that was cut may still do either. What the audit contradicts has done neither. */
static eb_error ended(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                      eb_value *out) {
  int case_;
  bool wanted = strcmp(self->name, "failed") == 0;
  (void)count;
  EB_TRY(eb_evaluation_case(e, a[0].text, &case_));
  *out = (eb_value){.kind = EB_VALUE_TRUTH, .truth = EB_UNDECIDED, .knowledge = EB_UNKNOWN};
  if (!e->evidence || e->own) return EB_OK;
  const eb_case_evidence *found = &e->evidence->cases[case_];
  bool failed = found->status == EB_RUN_FAILED,
       whole = found->status == EB_RUN_WHOLE && !eb_evaluation_cut(e, case_);
  if (failed || whole) *out = eb_value_truth(failed == wanted ? EB_TRUE : EB_FALSE);
  if (*found->why) return eb_evaluation_say(e, "%s", found->why);
  return failed || whole ? EB_OK
                         : eb_evaluation_say(e, "%s was asked for %lld of %lld frames", a[0].text,
                                             (long long)e->paper->cases[case_].frames,
                                             (long long)e->paper->cases[case_].all_frames);
}

/* Of a failed run too. */
static eb_error steps_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                         eb_value *out) {
  (void)self;
  int case_;
  (void)count;
  EB_TRY(eb_evaluation_case(e, a[0].text, &case_));
  const eb_run *run = e->evidence && !e->own ? eb_evidence_run(e->evidence, case_) : NULL;
  *out = eb_value_number(run ? (double)run->steps_done : NAN);
  return run || !e->evidence || e->own ? EB_OK
                                       : eb_evaluation_say(e, "%s", e->evidence->cases[case_].why);
}

/* What a step had taken that was cut off counts: the whole is then a lower bound. */
static eb_error add_up_steps(eb_evaluation *e, int case_, int run, eb_value *out) {
  const eb_results *results = e->evidence->results;
  double *wall, sum = eb_results_run(results, run)->cut_step_seconds;
  size_t count;
  EB_TRY(eb_results_steps(results, run, EB_COL_WALL, &wall, &count));
  for (size_t i = 0; i < count; i++) sum += wall[i];
  free(wall);
  *out = eb_value_number(sum > 0 ? sum : NAN);
  out->timed = true;
  out->bound = out->may_rise = eb_evaluation_cut(e, case_);
  return EB_OK;
}

static eb_error spent_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                         eb_value *out) {
  (void)self;
  (void)count;
  int case_, run;
  eb_knowledge knowledge;
  EB_TRY(eb_evaluation_case(e, a[0].text, &case_));
  EB_TRY(eb_evaluation_run(e, case_, &run, &knowledge));
  *out = eb_value_number(NAN);
  out->knowledge = knowledge;
  const eb_case_evidence *found = e->evidence && !e->own ? &e->evidence->cases[case_] : NULL;
  if (found && found->cut_first) run = found->runs[0];
  return run < 0 ? EB_OK : add_up_steps(e, case_, run, out);
}

/* Of a grid that is stable throughout the least value may be lower. */
static eb_error least_stable_of(eb_evaluation *e, const eb_function *self, const eb_value *a,
                                int count, eb_value *out) {
  (void)self;
  (void)count;
  int case_;
  EB_TRY(eb_evaluation_case(e, a[0].text, &case_));
  if (!e->paper->cases[case_].ties[EB_TIE_SWEEP])
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is no sweep", a[0].text);
  *out = eb_value_number(NAN);
  if (!e->evidence || e->own) return EB_OK;
  const eb_case_evidence *found = &e->evidence->cases[case_];
  if (found->status == EB_RUN_WHOLE) *out = eb_value_number(found->least_stable);
  out->may_fall = found->below;
  return *found->why ? eb_evaluation_say(e, "%s", found->why) : EB_OK;
}

/* ---- series and lists ------------------------------------------------------------------------ */

static eb_error frames_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                          eb_value *out) {
  (void)self;
  (void)e;
  (void)count;
  return eb_value_frames(&a[0], out);
}

static eb_error integral_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                            eb_value *out) {
  (void)self;
  (void)e;
  (void)count;
  *out = eb_value_number(a[0].time && a[0].count ? eb_value_integral(&a[0]) : NAN);
  out->may_rise = out->may_fall = a[0].cut;
  eb_value_taint(out, &a[0]);
  return EB_OK;
}

/* Of a number, or of every value of a series. */
static eb_error each(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                     eb_value *out) {
  const eb_value one = eb_value_number(1);
  (void)e;
  (void)count;
  EB_TRY(eb_value_combine(EB_OP_MULTIPLY, a, &one, out));
  out->number = self->of(out->number);
  if (isnan(out->number) && out->kind == EB_VALUE_NUMBER && !out->knowledge)
    out->knowledge = EB_UNKNOWN;
  for (size_t i = 0; i < out->count; i++) out->y[i] = self->of(out->y[i]);
  if (self->of == fabs) out->may_rise = out->may_fall = a->may_rise || a->may_fall;
  return EB_OK;
}

static eb_error fit(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                    eb_value *out) {
  double slope, r2;
  size_t points = a[0].count < a[1].count ? a[0].count : a[1].count;
  (void)e;
  (void)count;
  eb_sample_line(a[0].y, a[1].y, points, &slope, &r2);
  *out = eb_value_number(strcmp(self->name, "fit_r2") == 0 ? r2 : slope);
  out->may_rise = out->may_fall = a[0].cut || a[1].cut || a[1].may_rise || a[1].may_fall;
  eb_value_taint(out, &a[0]);
  eb_value_taint(out, &a[1]);
  return EB_OK;
}

/* ---- the paper's tables ---------------------------------------------------------------------- */

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

static eb_error paper_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                         eb_value *out) {
  (void)self;
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

static eb_error ratios_of(eb_evaluation *e, const eb_function *self, const eb_value *a, int count,
                          eb_value *out) {
  (void)self;
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

/* ---- all of them ----------------------------------------------------------------------------- */

const eb_function eb_functions[] = {
    {"distance", "cc",
     "a, b: RMS distance of the nodes of two runs of one scene in every frame, over the diagonal "
     "of "
     "the rest box",
     .call = distance_of},
    {"final_distance", "cc",
     "a, b: largest distance of a node between the last frames, over the diagonal", .call = see,
     .two = eb_motion_final, .changes = 2},
    {"shape_error", "c?c",
     "a, b: the same without the rigid motion between them; a alone: against the rest shape",
     .call = see, .two = eb_motion_shape, .changes = 2},
    {"error", "cc", "a, b: largest RMS distance of a from b, over the largest way of b",
     .call = see, .two = eb_motion_error},
    {"turn", "cxu", "a, axis, end: degrees by which the lower or upper end has turned about it",
     .call = turn},
    {"extent", "cx", "a, axis: length of the box around the nodes, in every frame, m",
     .call = extent_of},
    {"size", "cx", "a, axis: the same of the rest shape", .call = size},
    {"diagonal", "c", "a: diagonal of the box around the rest shape, m", .call = see,
     .one = eb_motion_diagonal},
    {"faces", "c", "a: triangles of the mesh's surface", .call = see, .one = faces},
    {"unrest", "c",
     "a: largest change of shape of a connected piece between the last two frames, over the "
     "diagonal",
     .call = see, .one = eb_motion_unrest, .changes = 2},
    {"roughness", "c",
     "a: RMS over the surface of how a node's height above its neighbours has changed, over the "
     "diagonal",
     .call = see, .one = eb_motion_roughness, .changes = 2},
    {"joint", "cn", "a, number: angle of a joint in every frame, rad", .call = joint_of},
    {"restitution", "c",
     "a: largest upward momentum after the first contact over the largest downward one before",
     .call = see, .one = restitution, .changes = 1},
    {"flight", "c", "a: steps without contact after the first one with", .call = see, .one = flight,
     .changes = 1},
    {"bounce_end", "c", "a: time at which the first contact has ended, s", .call = bounce_end_of},
    {"failed", "c", "a: whether the solver failed", .call = ended},
    {"completed", "c", "a: whether the run came to its end", .call = ended},
    {"steps", "c", "a: steps that were done, of a run that failed too", .call = steps_of},
    {"spent", "c",
     "a: wall seconds of its steps; where the time limit has cut one off, what it had taken by "
     "then "
     "too: a lower bound",
     .call = spent_of},
    {"least_stable", "c", "a: the least value of a sweep's option at which the case is stable",
     .call = least_stable_of},
    {"frame", "v", "series: sums over the steps of each frame", .call = frames_of},
    {"integral", "v", "series: over simulated time", .call = integral_of},
    {"abs", "a", "of a number or of every value", .call = each, .of = fabs},
    {"sqrt", "a", "of a number or of every value", .call = each, .of = sqrt},
    {"log", "a", "natural, of a number or of every value", .call = each, .of = log},
    {"fit_slope", "vv", "x, y: slope of the least-squares line", .call = fit},
    {"fit_r2", "vv", "x, y: R^2 of the least-squares line", .call = fit},
    {"paper", "tww", "table, row, column: the paper's number, in SI units", .call = paper_of},
    {"ratios", "t?w?w", "table, row, column: ours over the paper's, of the cells that both have",
     .call = ratios_of},
    {0}};
