/* A study as an HTML page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/precision/show.h"
#include "harness/report/markup.h"
#include "harness/report/page.h"

#define HTML(out, template, ...)                                                                   \
  eb_markup_fill(out, eb_markup_text, template, (const char *const[]){__VA_ARGS__})
#define RAW(out, text) eb_text_append(out, text, strlen(text))

/* Takes the words. */
static eb_error put_words(eb_text *page, const char *class, eb_error error, eb_text *words) {
  if (!error && words->length) error = HTML(page, "<p class=\"{}\">{}.</p>\n", class, words->data);
  eb_text_clear(words);
  return error;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static eb_error put_trial(const eb_competitor *solver, const eb_trial *t, eb_text *page) {
  static const char *const classes[] = {[EB_TRIAL_STANDS] = "",
                                        [EB_TRIAL_UNRESOLVED] = "note",
                                        [EB_TRIAL_FAILED] = "bad",
                                        [EB_TRIAL_MISSING] = "note"};
  EB_TRY(HTML(page, "<tr><td class=\"text\">{}{}</td><td class=\"text wide\">{}</td>", solver->spec,
              solver->claims ? " (counts as it claims)" : "", t->options ? t->options : ""));
  EB_TRY(eb_markup_number(page, "%.3g", t->dt));
  EB_TRY(eb_markup_number(page, "%.3g", t->error));
  EB_TRY(eb_markup_number(page, "%.3g", t->speed_error));
  EB_TRY(eb_markup_number(page, "%.3g", t->cost[EB_COST_CPU]));
  EB_TRY(eb_markup_number(page, "%.0f", t->cost[EB_COST_PRODUCTS]));
  EB_TRY(eb_markup_number(page, "%.0f", t->cost[EB_COST_FACTORIZATIONS]));
  eb_text words = {0};
  eb_error error = eb_trial_words(t, &words);
  const char *verdict = t->front[EB_COST_CPU] ? "front" : "stands";
  if (!error)
    error = HTML(page, "<td class=\"text wide {}\">{}</td></tr>\n", classes[t->state],
                 words.length ? words.data : verdict);
  eb_text_clear(&words);
  return error;
}

static eb_error put_trials(const eb_study *study, int scene, eb_text *page) {
  EB_TRY(RAW(
      page,
      "<details><summary>All trials</summary><div class=\"scroll\"><table>\n"
      "<thead><tr><th>solver</th><th class=\"text\">options</th><th>dt, s</th><th>error, of the "
      "motion</th><th>of the speed</th><th>CPU, s</th><th>products</th>"
      "<th>factorizations</th><th class=\"text\">verdict</th></tr></thead>\n<tbody>\n"));
  for (int k = 0; k < study->solver_count; k++) {
    const eb_trial *trials = eb_study_trials(study, scene, k);
    for (int i = 0; i < study->request->budget && trials[i].stride > 0; i++)
      EB_TRY(put_trial(&study->solvers[k], &trials[i], page));
  }
  return RAW(page, "</tbody></table></div></details>\n");
}

/* How many trials of each solver stand, are not resolved, and failed by which rules. */
static eb_error put_tally(const eb_study *study, int scene, eb_text *page) {
  EB_TRY(RAW(page, "<div class=\"scroll\"><table>\n<thead><tr><th>solver</th><th>trials</th>"
                   "<th>stand</th><th>not resolved</th><th>failed</th><th>not run</th>"
                   "<th>least error</th></tr></thead>\n<tbody>\n"));
  for (int k = 0; k < study->solver_count; k++) {
    const eb_trial *trials = eb_study_trials(study, scene, k);
    int count[EB_TRIAL_MISSING + 1] = {0}, all = 0;
    double least = INFINITY;
    for (; all < study->request->budget && trials[all].stride > 0; all++) {
      count[trials[all].state]++;
      if (trials[all].state == EB_TRIAL_STANDS) least = fmin(least, trials[all].error);
    }
    EB_TRY(HTML(page, "<tr><td class=\"text\">{}</td>", study->solvers[k].spec));
    EB_TRY(eb_markup_number(page, "%.0f", all));
    for (int s = 0; s <= EB_TRIAL_MISSING; s++) EB_TRY(eb_markup_number(page, "%.0f", count[s]));
    EB_TRY(eb_markup_number(page, "%.2g", least));
    EB_TRY(RAW(page, "</tr>\n"));
  }
  return RAW(page, "</tbody></table></div>\n");
}

/* ---- scenes ---------------------------------------------------------------------------------- */

static eb_error put_curves(const eb_study *study, int scene, eb_cost_kind kind, eb_text *page) {
  char prefix[16];
  eb_text caption = {0};
  snprintf(prefix, sizeof prefix, "%d", scene);
  eb_error error =
      kind == EB_COST_CPU
          ? eb_text_printf(&caption,
                           "Error against processor time. Lines: a solver's trials that no "
                           "other of its own beats. Bars: least and most over the seeds")
          : eb_text_printf(&caption, "Error against %s", eb_cost_words[kind]);
  if (!error) error = eb_uncounted_words(study, kind, &caption);
  if (!error) error = eb_markup_plot(page, prefix, eb_cost_names[kind], caption.data);
  eb_text_clear(&caption);
  return error;
}

static eb_error put_scene(const eb_study *study, int scene, const eb_study_plots *drawn,
                          eb_text *page) {
  const eb_study_scene *s = &study->scenes[scene];
  bool stands = s->reference.state == EB_REFERENCE_STANDS;
  eb_text words = {0};
  EB_TRY(HTML(page, "<h2>{}</h2>\n", s->title));
  EB_TRY(put_words(page, stands ? "note" : "bad", eb_reference_words(study, s, &words), &words));
  EB_TRY(put_words(page, "", eb_control_words(s, &words), &words));
  if (!stands) return EB_OK;
  EB_TRY(RAW(page, "<div class=\"figures\">\n"));
  for (int c = 0; c < EB_COST_KINDS; c++)
    if (drawn->scene[scene][c]) EB_TRY(put_curves(study, scene, (eb_cost_kind)c, page));
  EB_TRY(RAW(page, "</div>\n"));
  EB_TRY(put_tally(study, scene, page));
  return put_trials(study, scene, page);
}

static eb_error put_performance(const eb_study *study, eb_cost_kind kind, eb_text *page) {
  char stem[EB_STEM];
  eb_text caption = {0};
  eb_performance_stem(kind, stem);
  eb_error error = eb_text_printf(&caption,
                                  "Performance profile (Dolan and More 2002): share of the "
                                  "problems solved within so many times "
                                  "the least %s, of %d problems that some solver solves. A "
                                  "solver's failures cost infinity; bands "
                                  "are the least and the most over the seeds",
                                  eb_cost_words[kind], study->profiles[kind].problems);
  if (!error) error = eb_uncounted_words(study, kind, &caption);
  if (!error) error = eb_markup_plot(page, "", stem, caption.data);
  eb_text_clear(&caption);
  return error;
}

static eb_error put_profiles(const eb_study *study, const eb_study_plots *drawn, eb_text *page) {
  eb_text words = {0};
  EB_TRY(RAW(page, "<h2>Profiles</h2>\n"));
  EB_TRY(put_words(page, "", eb_profiles_words(study, EB_COST_CPU, &words), &words));
  EB_TRY(RAW(page, "<div class=\"figures\">\n"));
  for (int c = 0; c < EB_COST_KINDS; c++)
    if (drawn->performance[c]) EB_TRY(put_performance(study, (eb_cost_kind)c, page));
  if (drawn->data)
    EB_TRY(eb_markup_plot(page, "", "data",
                          "Data profile (More and Wild 2009): share of the problems solved for so "
                          "much CPU time, in steps of the reference's coarsest level"));
  return RAW(page, "</div>\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

static eb_error put_method(const eb_study *study, eb_text *page) {
  const eb_study_request *r = study->request;
  EB_TRY(eb_text_printf(
      page,
      "<p>Every solver has %d trials on every scene, each with %d seed%s: the first with its "
      "options "
      "as given and the scene's own step, the others at points of a Halton sequence (seed %lld) "
      "over "
      "its knobs. Errors are the largest over %d times of the root mean square distance, by mass, "
      "from "
      "the reference, over that of the reference from its start%s. A run that fails its audit is "
      "listed as failed, and is on no curve and in no profile.</p>\n<ul>\n",
      r->budget, r->seeds, r->seeds == 1 ? "" : "s", (long long)r->seed, r->times,
      r->same_step ? "; the reference takes the same steps, so that they are errors of the algebra "
                     "alone"
                   : ""));
  for (int k = 0; k < study->solver_count; k++) {
    eb_text words = {0};
    eb_error error = eb_competitor_words(study, &study->solvers[k], &words);
    if (!error) error = HTML(page, "<li><b>{}</b>: {}</li>\n", study->solvers[k].spec, words.data);
    eb_text_clear(&words);
    EB_TRY(error);
  }
  EB_TRY(RAW(page, "</ul>\n"));
  const eb_results *results = study->trial_runs.results;
  if (!results) return EB_OK;
  return HTML(page, "<p class=\"note\">Commit {}, {}, begun {}.</p>\n",
              eb_results_environment(results, "commit"), eb_results_environment(results, "cpu"),
              eb_results_environment(results, "started"));
}

eb_error eb_study_html(const eb_study *study, const eb_study_plots *drawn, eb_text *page) {
  EB_TRY(eb_page_open(page, "Matched accuracy", "papers"));
  EB_TRY(RAW(page, "<h1>Matched accuracy</h1>\n"));
  EB_TRY(put_method(study, page));
  EB_TRY(put_profiles(study, drawn, page));
  for (int i = 0; i < study->scene_count; i++) EB_TRY(put_scene(study, i, drawn, page));
  return eb_page_close(page);
}
