/* A study as a document; shares of profiles. */
#include "harness/precision/precision_doc.h"

#include <math.h>

/* ---- shares ---------------------------------------------------------------------------------- */

eb_costs eb_study_costs(const eb_study *study, eb_cost_kind kind, int seed) {
  const eb_profiles *p = &study->profiles[kind];
  return (eb_costs){p->problems, study->solver_count, p->cost[seed]};
}

eb_share eb_study_share(const eb_study *study, eb_profile_of of, int solver, double at) {
  const eb_profiles *p = &study->profiles[of.kind];
  eb_share share = {0, INFINITY, 0};
  for (int k = 0; k < study->request->seeds; k++) {
    const eb_costs costs = eb_study_costs(study, of.kind, k);
    int count = of.paid ? eb_profile_paid(&costs, p->unit, solver, at)
                        : eb_profile_within(&costs, solver, at);
    double part = p->problems ? (double)count / p->problems : 0;
    share.mean += part / study->request->seeds;
    share.least = fmin(share.least, part);
    share.most = fmax(share.most, part);
  }
  return share;
}

void eb_study_changes(const eb_study *study, eb_profile_of of, double *first, double *last) {
  const eb_profiles *p = &study->profiles[of.kind];
  *first = INFINITY;
  *last = 0;
  for (int k = 0; k < study->request->seeds; k++) {
    const eb_costs costs = eb_study_costs(study, of.kind, k);
    for (int i = 0; i < p->problems; i++)
      for (int s = 0; s < study->solver_count; s++) {
        double at = eb_costs_of(&costs, i, s) / (of.paid ? p->unit[i] : eb_costs_best(&costs, i));
        if (!isfinite(at)) continue;
        *first = fmin(*first, at);
        *last = fmax(*last, at);
      }
  }
}

/* ---- the reference --------------------------------------------------------------------------- */

static void show_stated(const eb_extrapolation *x, double damped, double tolerance, double size,
                        eb_doc *doc) {
  eb_doc_text(doc, EB_DOC_PLAIN, "%.2g (", (x->error + damped + tolerance) / size);
  if (x->levels)
    eb_doc_text(doc, EB_DOC_PLAIN, "steps %.2g, damped modes %.2g, ", x->error / size,
                damped / size);
  eb_doc_text(doc, EB_DOC_PLAIN, "tolerance %.2g", tolerance / size);
  for (int c = 0; c < x->columns; c++)
    if (!isnan(x->order[c]))
      eb_doc_text(doc, EB_DOC_PLAIN, "%s%.2f", c ? ", " : "; observed orders ", x->order[c]);
  eb_doc_text(doc, EB_DOC_PLAIN, ")");
}

/* What the reference is and how good. */
static void show_reference(const eb_study *study, const eb_study_scene *scene, eb_doc *doc) {
  const eb_reference *f = &scene->reference;
  const double finest = scene->seconds / (double)f->finest;
  eb_doc_paragraph(doc, EB_DOC_NOTE, "reference %s to t = %.4g s, ", f->solver, scene->seconds);
  if (study->request->same_step)
    eb_doc_text(doc, EB_DOC_PLAIN, "of the same step dt = %.3g s: ", scene->scene->dt);
  else
    eb_doc_text(doc, EB_DOC_PLAIN, "%d levels down to dt = %.3g s: ", f->levels, finest);
  eb_doc_text(doc, EB_DOC_PLAIN, "error of positions ");
  show_stated(&f->x, f->damped_x, f->tolerance_x, f->moved, doc);
  eb_doc_text(doc, EB_DOC_PLAIN, " of the motion of %.3g m (%.2g of the diagonal); of velocities ",
              f->moved, f->moved / scene->diagonal);
  if (isfinite(f->speed_error)) {
    show_stated(&f->v, f->damped_v, f->tolerance_v, f->speed, doc);
    eb_doc_text(doc, EB_DOC_PLAIN, " of the speed of %.3g m/s", f->speed);
  } else {
    eb_doc_text(doc, EB_DOC_PLAIN, "unknown: they do not converge");
  }
}

/* Why there is none. */
static void show_missing(const eb_study_scene *scene, eb_doc *doc) {
  const eb_reference *f = &scene->reference;
  eb_doc_paragraph(doc, EB_DOC_BAD, "no reference%s: %s",
                   f->state == EB_REFERENCE_MISSING ? "" : ", so nothing is judged",
                   f->state == EB_REFERENCE_MISSING ? "not run" : f->detail);
  if (f->state == EB_REFERENCE_DIVERGES)
    eb_doc_text(
        doc, EB_DOC_PLAIN,
        " (%d levels down to dt = %.3g s; the last two differ by %.2g of the motion, observed "
        "order %.2f)",
        f->levels, scene->seconds / (double)f->finest, f->x.last[0] / f->moved, f->x.order[0]);
}

static void show_control(const eb_study_scene *scene, eb_doc *doc) {
  const eb_control *c = &scene->control;
  if (!c->wanted) return;
  if (c->detail || isnan(c->difference))
    eb_doc_paragraph(doc, EB_DOC_NOTE, "locking: no control: %s",
                     c->detail ? c->detail : "not run");
  else
    eb_doc_paragraph(doc, EB_DOC_NOTE,
                     "locking: at nu = %g a mesh of resolution %g moves differently by %.2g %% "
                     "of the displacement; that is of the mesh, and no solver's error",
                     scene->ratio, c->resolution, 100 * c->difference);
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* How many trials of each solver stand, are not resolved, and failed by which rules. */
static void show_tally(const eb_study *study, int scene, eb_doc *doc) {
  static const char *const heads[] = {"solver", "trials",  "stand",       "not resolved",
                                      "failed", "not run", "least error", NULL};
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int k = 0; k < study->solver_count; k++) {
    const eb_trial *trials = eb_study_trials(study, scene, k);
    int count[EB_TRIAL_MISSING + 1] = {0}, all = 0;
    double least = INFINITY;
    for (; all < study->request->budget && trials[all].stride > 0; all++) {
      count[trials[all].state]++;
      if (trials[all].state == EB_TRIAL_VALID) least = fmin(least, trials[all].error);
    }
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", study->solvers[k].spec);
    eb_doc_number(doc, EB_DOC_PLAIN, all);
    for (int s = 0; s <= EB_TRIAL_MISSING; s++) eb_doc_number(doc, EB_DOC_PLAIN, count[s]);
    eb_doc_number(doc, EB_DOC_PLAIN, least);
  }
  eb_doc_end(doc);
}

static void show_trial(const eb_competitor *solver, const eb_trial *t, eb_doc *doc) {
  static const eb_doc_class classes[] = {[EB_TRIAL_VALID] = EB_DOC_PLAIN,
                                         [EB_TRIAL_UNRESOLVED] = EB_DOC_NOTE,
                                         [EB_TRIAL_FAILED] = EB_DOC_BAD,
                                         [EB_TRIAL_MISSING] = EB_DOC_NOTE};
  const double numbers[] = {t->dt,
                            t->error,
                            t->speed_error,
                            t->cost[EB_COST_CPU],
                            t->cost[EB_COST_PRODUCTS],
                            t->cost[EB_COST_FACTORIZATIONS]};
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s%s", solver->spec,
              solver->claims ? " (counts as it claims)" : "");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    eb_doc_number(doc, EB_DOC_PLAIN, numbers[i]);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", t->options ? t->options : "");
  if (t->state == EB_TRIAL_VALID)
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", t->front[EB_COST_CPU] ? "front" : "stands");
  else /* Who is skipped has not failed, and says so in its reason. */
    eb_doc_cell(doc, classes[t->state], "%s%s", t->why && !t->skipped ? "failed: " : "",
                t->why ? t->why : eb_trial_state_name(t->state));
}

static void show_trials(const eb_study *study, int scene, eb_doc *doc) {
  static const char *const heads[] = {"solver",  "dt, s",    "error",          "of the speed",
                                      "CPU, s",  "products", "factorizations", "options",
                                      "verdict", NULL};
  eb_doc_details(doc, EB_DOC_FOLDED,
                 "All trials: errors are of the motion; on the front are those that are the "
                 "cheapest of their error by CPU time");
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int k = 0; k < study->solver_count; k++) {
    const eb_trial *trials = eb_study_trials(study, scene, k);
    for (int i = 0; i < study->request->budget && trials[i].stride > 0; i++)
      show_trial(&study->solvers[k], &trials[i], doc);
  }
  eb_doc_end(doc);
  eb_doc_end(doc);
}

/* ---- plots ----------------------------------------------------------------------------------- */

const char *const eb_cost_describe[EB_COST_KINDS] = {"CPU time", "products with the matrix",
                                                     "factorizations"};

/* The solvers that count nothing of the kind. */
static void show_uncounted(const eb_study *study, eb_cost_kind kind, eb_doc *doc) {
  static const char *const why[] = {"; not shown, since they count none: ",
                                    "; not shown, since what they count is their own word: "};
  for (int claims = 0; claims < 2; claims++)
    for (int k = 0, left = 0; k < study->solver_count; k++)
      if (study->solvers[k].claims == claims && !eb_study_counts(study, k, kind))
        eb_doc_text(doc, EB_DOC_PLAIN, "%s%s", left++ ? ", " : why[claims], study->solvers[k].spec);
}

static void show_curves(const eb_study *study, int scene, const bool drawn[EB_COST_KINDS],
                        eb_doc *doc) {
  for (int c = 0; c < EB_COST_KINDS; c++) {
    char stem[EB_STEM];
    if (!drawn[c]) continue;
    snprintf(stem, sizeof stem, "%d-%s", scene, eb_cost_names[c]);
    eb_doc_plot(doc, stem, "Error against %s",
                c == EB_COST_CPU ? "processor time. Lines: a solver's trials that no other of its "
                                   "own beats. Bars: least and most over the seeds"
                                 : eb_cost_describe[c]);
    show_uncounted(study, (eb_cost_kind)c, doc);
  }
}

static void show_performance(const eb_study *study, const eb_study_plots *drawn, eb_doc *doc) {
  for (int c = 0; c < EB_COST_KINDS; c++) {
    char stem[EB_STEM];
    if (!drawn->performance[c]) continue;
    eb_performance_stem((eb_cost_kind)c, stem);
    eb_doc_plot(doc, stem,
                "Performance profile (Dolan and More 2002): share of the problems solved within "
                "so many times the least %s, of %d problems that some solver solves. A solver's "
                "failures cost infinity; bands are the least and the most over the seeds",
                eb_cost_describe[c], study->profiles[c].problems);
    show_uncounted(study, (eb_cost_kind)c, doc);
  }
  if (drawn->data)
    eb_doc_plot(doc, "data",
                "Data profile (More and Wild 2009): share of the problems solved for so much CPU "
                "time, in steps of the reference's coarsest level");
}

/* ---- the document ---------------------------------------------------------------------------- */

static void show_profile(const eb_study *study, eb_cost_kind kind, eb_doc *doc) {
  static const double at[] = {1, 2, 4, 10, INFINITY};
  enum { COLUMNS = sizeof at / sizeof *at };
  const eb_profiles *p = &study->profiles[kind];
  eb_doc_paragraph(doc, EB_DOC_PLAIN,
                   "Performance profile by %s: shares of %d problems (scene and error) that some "
                   "solver solves; left out: %d that none does, %d finer than a reference resolves",
                   eb_cost_describe[kind], p->problems, p->unsolved, p->unresolved);
  show_uncounted(study, kind, doc);
  if (p->problems == 0) return;
  eb_doc_table(doc, NULL);
  eb_doc_head(doc, "within so many times the least");
  for (int c = 0; c < COLUMNS - 1; c++) eb_doc_head(doc, "%g", at[c]);
  eb_doc_head(doc, "ever");
  for (int k = 0; k < study->solver_count; k++) {
    if (!eb_study_counts(study, k, kind)) continue;
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", study->solvers[k].spec);
    for (int c = 0; c < COLUMNS; c++)
      eb_doc_number_as(doc, EB_DOC_PLAIN, "%.2f",
                       eb_study_share(study, (eb_profile_of){kind, false}, k, at[c]).mean);
  }
  eb_doc_end(doc);
}

static void show_scene(const eb_study *study, int scene, const eb_study_plots *drawn, eb_doc *doc) {
  const eb_study_scene *s = &study->scenes[scene];
  bool stands = s->reference.state == EB_REFERENCE_VALID;
  eb_doc_heading(doc, 2, NULL, "%s", s->title);
  if (stands)
    show_reference(study, s, doc);
  else
    show_missing(s, doc);
  show_control(s, doc);
  if (!stands) return;
  if (drawn) show_curves(study, scene, drawn->scene[scene], doc);
  show_tally(study, scene, doc);
  show_trials(study, scene, doc);
}

static void show_method(const eb_study *study, eb_doc *doc) {
  const eb_study_request *r = study->request;
  eb_doc_paragraph(
      doc, EB_DOC_PLAIN,
      "Every solver has %d trials on every scene, each with %d seed%s: the first with its options "
      "as given and the scene's own step, the others at points of a Halton sequence (seed %lld) "
      "over its knobs. Errors are the largest over %d times of the root mean square distance, by "
      "mass, from the reference, over that of the reference from its start%s. A run that fails its "
      "audit is listed as failed, and is on no curve and in no profile.",
      r->budget, r->seeds, r->seeds == 1 ? "" : "s", (long long)r->seed, r->times,
      r->same_step ? "; the reference takes the same steps, so that they are errors of the algebra "
                     "alone"
                   : "");
  for (int k = 0; k < study->solver_count; k++)
    eb_doc_item(doc, "%s: %s", study->solvers[k].spec, study->solvers[k].words.data);
  const eb_results *results = study->trial_runs.results;
  if (results)
    eb_doc_paragraph(
        doc, EB_DOC_NOTE, "Commit %s, %s, begun %s.", eb_results_environment(results, "commit"),
        eb_results_environment(results, "cpu"), eb_results_environment(results, "started"));
}

void eb_study_show(const eb_study *study, const eb_study_plots *drawn, eb_doc *doc) {
  eb_doc_heading(doc, 1, NULL, "Matched accuracy");
  show_method(study, doc);
  for (int i = 0; i < study->scene_count; i++) show_scene(study, i, drawn, doc);
  eb_doc_heading(doc, 2, NULL, "Profiles");
  for (int c = 0; c < EB_COST_KINDS; c++) show_profile(study, (eb_cost_kind)c, doc);
  if (drawn) show_performance(study, drawn, doc);
}
