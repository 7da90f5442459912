/* The plots of a study: error against cost, scene by scene; profiles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/precision/precision_doc.h"
#include "harness/report/gnuplot.h"
#include "problems/base/memory.h"

/* ---- error against cost ---------------------------------------------------------------------- */

/* What is drawn of a solver, as the template has it. */
typedef enum layer { FRONT, TRIALS, DOUBTFUL, LAYERS } layer;
static const char *const layer_names[LAYERS] = {"fronts", "trials", "doubtful"};

static bool is_shown(const eb_trial *t, layer of, eb_cost_kind c) {
  if (t->cost[c] <= 0 || t->error <= 0) return false; /* logarithmic axes */
  return of == DOUBTFUL ? t->state == EB_TRIAL_UNRESOLVED
                        : t->state == EB_TRIAL_VALID && (of == TRIALS || t->front[c]);
}

static int by_cost(const void *a, const void *b) {
  const double *left = a, *right = b;
  return (left[0] > right[0]) - (left[0] < right[0]);
}

/* A block: cost, error, least and most cost, by rising cost. Blocks without points are not
 * written. */
static eb_error put_block(const eb_trial *trials, int count, layer of, eb_cost_kind c,
                          const char *name, eb_plot *plot, bool *any) {
  double(*row)[4];
  int rows = 0;
  EB_TRY(EB_NEW(row, count));
  for (int i = 0; i < count; i++)
    if (is_shown(&trials[i], of, c)) {
      const double values[4] = {trials[i].cost[c], trials[i].error, trials[i].least[c],
                                trials[i].most[c]};
      memcpy(row[rows++], values, sizeof values);
    }
  qsort(row, (size_t)rows, sizeof *row, by_cost);
  *any = rows > 0;
  if (*any) eb_plot_block(plot, name);
  for (int i = 0; i < rows; i++)
    eb_plot_put(plot, "%.9g %.9g %.9g %.9g\n", row[i][0], row[i][1], row[i][2], row[i][3]);
  free(row);
  return EB_OK;
}

static eb_error put_solver(const eb_study *study, int scene, int solver, eb_cost_kind c,
                           eb_plot *plot) {
  const eb_trial *trials = eb_study_trials(study, scene, solver);
  if (!eb_study_counts(study, solver, c)) return EB_OK;
  for (int l = 0; l < LAYERS; l++) {
    char name[300];
    bool any;
    snprintf(name, sizeof name, "%.250s%s", study->solvers[solver].spec,
             l == DOUBTFUL ? ", not resolved" : "");
    EB_TRY(put_block(trials, study->request->budget, (layer)l, c, name, plot, &any));
    if (!any) continue;
    eb_plot_list_number(plot, layer_names[l], plot->series - 1);
    eb_plot_list_number(plot, "hues", solver % 12 + 1);
    if (l == TRIALS) continue;
    plot->entries++;
    eb_plot_key(plot, name);
  }
  return EB_OK;
}

static eb_error draw_cost(const eb_study *study, int scene, eb_cost_kind c, eb_plotter *plotter,
                          bool *drawn) {
  const eb_study_scene *s = &study->scenes[scene];
  eb_plot plot = {0};
  char base[64];
  snprintf(base, sizeof base, "%d-%s", scene, eb_cost_names[c]);
  eb_plot_set(&plot, "xname",
              c == EB_COST_CPU ? "processor time of set-up and steps (s)" : eb_cost_describe[c]);
  eb_plot_setting(&plot, "resolved = %.9g\n", fmax(1e-300, EB_RESOLVED * s->reference.error));
  for (int k = 0; k < study->solver_count && !plot.error; k++)
    plot.error = put_solver(study, scene, k, c, &plot);
  return eb_plot_draw(plotter, base, "precision", s->title, &plot, drawn);
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* From before the first change to behind the last, so densely that steps look like steps. */
static void put_profile(const eb_study *study, eb_profile_of of, int solver, eb_plot *plot) {
  enum { POINTS = 400 };
  static const double margin = 1.3;
  double first, last;
  const char *name = study->solvers[solver].spec;
  eb_study_changes(study, of, &first, &last);
  first /= of.paid ? margin : 1;
  last *= margin;
  eb_plot_block(plot, name);
  eb_plot_key(plot, name);
  for (int i = 0; i <= POINTS; i++) {
    double at = first * pow(last / first, (double)i / POINTS);
    eb_share share = eb_study_share(study, of, solver, at);
    eb_plot_put(plot, "%.9g %.9g %.9g %.9g\n", at, share.mean, share.least, share.most);
  }
}

static eb_error draw_profile(const eb_study *study, eb_profile_of of, const char *base,
                             eb_plotter *plotter, bool *drawn) {
  eb_plot plot = {0};
  char axis[80], title[80];
  *drawn = study->profiles[of.kind].problems > 0;
  if (!*drawn) return EB_OK;
  snprintf(axis, sizeof axis, "%s over the least of all solvers", eb_cost_describe[of.kind]);
  snprintf(title, sizeof title, "Performance profile by %s", eb_cost_describe[of.kind]);
  eb_plot_set(&plot, "xname",
              of.paid ? "CPU time, in steps of the reference's coarsest level" : axis);
  for (int k = 0; k < study->solver_count; k++)
    if (eb_study_counts(study, k, of.kind)) put_profile(study, of, k, &plot);
  return eb_plot_draw(plotter, base, "profile", of.paid ? "Data profile" : title, &plot, drawn);
}

void eb_performance_stem(eb_cost_kind kind, char out[EB_STEM]) {
  snprintf(out, EB_STEM, "performance%s%s", kind == EB_COST_CPU ? "" : "-",
           kind == EB_COST_CPU ? "" : eb_cost_names[kind]);
}

/* ---- all ------------------------------------------------------------------------------------- */

static eb_error draw_all(const eb_study *study, eb_plotter *plotter, eb_study_plots *drawn) {
  EB_TRY(EB_NEW(drawn->scene, study->scene_count));
  for (int i = 0; i < study->scene_count; i++)
    for (int c = 0; c < EB_COST_KINDS; c++)
      EB_TRY(draw_cost(study, i, (eb_cost_kind)c, plotter, &drawn->scene[i][c]));
  for (int c = 0; c < EB_COST_KINDS; c++) {
    char base[EB_STEM];
    eb_performance_stem((eb_cost_kind)c, base);
    EB_TRY(draw_profile(study, (eb_profile_of){(eb_cost_kind)c, false}, base, plotter,
                        &drawn->performance[c]));
  }
  return draw_profile(study, (eb_profile_of){EB_COST_CPU, true}, "data", plotter, &drawn->data);
}

eb_error eb_study_draw(const eb_study *study, const char *dir, eb_study_plots *drawn) {
  eb_plotter plotter = {.dir = dir};
  *drawn = (eb_study_plots){0};
  return eb_plotter_finish(&plotter, draw_all(study, &plotter, drawn));
}

void eb_study_plots_clear(eb_study_plots *plots) {
  free(plots->scene);
  *plots = (eb_study_plots){0};
}
