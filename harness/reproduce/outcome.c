#include "harness/reproduce/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

/* ---- notes ----------------------------------------------------------------------------------- */

/* "quick: 12 of 300 frames", or a span of both when cases differ; of samples the same. */
static eb_error note_frames(const eb_paper *paper, const bool *marked, bool samples, eb_text *out) {
  int64_t least = INT64_MAX, most = 0, all_least = INT64_MAX, all_most = 0;
  bool fewer = false;
  for (int c = 0; c < paper->case_count; c++) {
    const eb_paper_case *work = &paper->cases[c];
    if (!marked[c] || work->samples != samples) continue;
    fewer = fewer || work->frames < work->all_frames;
    if (work->frames < least) least = work->frames;
    if (work->frames > most) most = work->frames;
    if (work->all_frames < all_least) all_least = work->all_frames;
    if (work->all_frames > all_most) all_most = work->all_frames;
  }
  if (!fewer) return EB_OK;
  EB_TRY(eb_text_printf(out, "quick: %lld", (long long)least));
  if (most > least) EB_TRY(eb_text_printf(out, " to %lld", (long long)most));
  EB_TRY(eb_text_printf(out, " of %lld", (long long)all_least));
  if (all_most > all_least) EB_TRY(eb_text_printf(out, " to %lld", (long long)all_most));
  return eb_text_printf(out, " %s\n", samples ? "samples" : "frames");
}

/* "quick: scenes with bodies=8", each once. */
static eb_error note_reduced(const eb_paper *paper, const bool *marked, eb_text *out) {
  const char *last = NULL;
  for (int c = 0; c < paper->case_count; c++) {
    const char *reduced = marked[c] ? paper->cases[c].reduced : NULL;
    if (!reduced || reduced == last) continue;
    EB_TRY(eb_text_printf(out, "%s%s", last ? "; " : "quick: scenes with ", reduced));
    last = reduced;
  }
  return last ? eb_text_printf(out, "\n") : EB_OK;
}

static bool seen_before(const eb_evidence *e, const bool *marked, int case_) {
  const eb_run *run = eb_evidence_run(e, case_);
  for (int c = 0; c < case_; c++) {
    const eb_run *other = marked[c] ? eb_evidence_run(e, c) : NULL;
    if (other && strcmp(other->scene, run->scene) == 0) return true;
  }
  return false;
}

static eb_error note_stand_ins(const eb_evidence *e, const bool *marked, eb_text *out) {
  bool any = false;
  for (int c = 0; c < e->paper->case_count; c++) {
    const eb_run *run = marked[c] ? eb_evidence_run(e, c) : NULL;
    if (!run || !run->stand_in || !*run->stand_in || seen_before(e, marked, c)) continue;
    EB_TRY(eb_text_printf(out, "%s%s (%s, %lld elements)", any ? ", " : "stand-in geometry: ",
                          run->stand_in, run->scene, (long long)run->elements));
    any = true;
  }
  return any ? eb_text_printf(out, "\n") : EB_OK;
}

/* What holds for the marked cases: frames of quick runs, and stand-ins. A line each. */
static eb_error note(const eb_evidence *e, const bool *marked, eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  EB_TRY(note_frames(e->paper, marked, false, out));
  EB_TRY(note_frames(e->paper, marked, true, out));
  EB_TRY(note_reduced(e->paper, marked, out));
  return note_stand_ins(e, marked, out);
}

/* Runs that are not whole; the reasons of claims say so themselves. */
static eb_error note_troubles(const eb_evidence *e, const bool *marked, eb_text *out) {
  for (int c = 0; c < e->paper->case_count; c++)
    if (marked[c] && *e->cases[c].why) EB_TRY(eb_text_printf(out, "%s\n", e->cases[c].why));
  return EB_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static eb_error fill_cells(eb_evaluation *e, eb_shown_table *shown, int *measured) {
  const eb_paper_table *table = shown->table;
  for (int c = 0; c < table->keys.count * table->column_count; c++) {
    shown->ours[c] = NAN;
    if (table->cells[c]) EB_TRY(eb_evaluate_number(e, table->cells[c], NULL, &shown->ours[c]));
    shown->ours[c] *= table->scale;
    *measured += isfinite(shown->ours[c]);
  }
  return EB_OK;
}

static eb_error show_table(eb_evaluation *e, const eb_paper_table *table, eb_shown_table *shown,
                           int *measured) {
  bool *marked;
  shown->table = table;
  EB_TRY(EB_NEW(shown->ours, table->keys.count * table->column_count));
  EB_TRY(EB_NEW(marked, e->paper->case_count));
  eb_error error = eb_paper_table_cases(e->paper, table, marked);
  if (!error) error = fill_cells(e, shown, measured);
  if (!error) error = note(e->evidence, marked, &shown->notes);
  if (!error) error = note_troubles(e->evidence, marked, &shown->notes);
  free(marked);
  return error;
}

double eb_shown_ours(const eb_shown_table *shown, int row, int column) {
  return shown->ours[row * shown->table->column_count + column];
}

double eb_shown_ratio(const eb_shown_table *shown, int row, int column) {
  return eb_shown_ours(shown, row, column) /
         eb_paper_value(shown->table, row, &shown->table->columns[column]);
}

/* ---- points and bars ------------------------------------------------------------------------- */

/* The parts of one bar; what is left of the whole is the last. A stage that is never timed takes
 * none of it. */
static eb_error fill_layers(eb_evaluation *e, const eb_paper_figure *figure, const eb_scope *scope,
                            double whole, double *layers) {
  double rest = whole;
  for (int l = 0; l < figure->parts.count; l++) {
    EB_TRY(eb_evaluate_number(e, figure->shares[l], scope, &layers[l]));
    if (isnan(layers[l]) && isfinite(whole)) layers[l] = 0;
    layers[l] *= figure->scale;
    rest -= layers[l];
  }
  layers[figure->parts.count] = isfinite(rest) ? fmax(0, rest) : rest;
  return EB_OK;
}

static eb_error fill_course(eb_evaluation *e, const eb_paper_figure *figure, const eb_scope *scope,
                            eb_time_series *course, double *largest) {
  eb_value series = {0};
  *largest = NAN;
  eb_error error = eb_evaluate(e, figure->value, scope, &series);
  if (!error && !series.knowledge && series.time) {
    *course = (eb_time_series){.count = series.count, .x = series.time, .y = series.y};
    series.time = series.y = NULL;
  }
  for (size_t s = 0; s < course->count; s++) {
    course->y[s] *= figure->scale;
    *largest = fmax(*largest, course->y[s]);
  }
  eb_value_clear(&series);
  return error;
}

/* ---- residuals within a step ----------------------------------------------------------------- */

static eb_error read_residuals(eb_evaluation *e, int case_, eb_residuals *out) {
  int run;
  eb_knowledge knowledge;
  *out = (eb_residuals){0};
  EB_TRY(eb_evaluation_run(e, case_, &run, &knowledge));
  return run < 0 ? EB_OK : eb_results_residuals(e->evidence->results, run, out);
}

/* The step with the most rounds; the first of several. */
static size_t busiest_step(const eb_residuals *all) {
  size_t best = 0;
  int64_t most = -1;
  for (size_t s = 0; s < all->steps && all->rounds; s++) {
    int64_t rounds = all->round_offsets[s + 1] - all->round_offsets[s];
    if (rounds > most) best = s;
    if (rounds > most) most = rounds;
  }
  return best;
}

static void put_residual(const eb_residuals *all, int64_t from, int64_t number,
                         eb_time_series *course) {
  course->x[course->count] = (double)(number + 1);
  course->y[course->count++] = all->values[from + number];
}

/* The residuals of a step, or the last one of every round. */
static eb_error lay_residuals(const eb_residuals *all, size_t step, bool ends,
                              eb_time_series *course) {
  if (step >= all->steps) return EB_OK;
  int64_t from = all->offsets[step], count = all->offsets[step + 1] - from;
  EB_TRY(EB_NEW(course->x, count + 1));
  EB_TRY(EB_NEW(course->y, count + 1));
  for (int64_t i = 0; i < count && !ends; i++) put_residual(all, from, i, course);
  if (!ends || !all->rounds) return EB_OK;
  for (int64_t r = all->round_offsets[step]; r < all->round_offsets[step + 1]; r++)
    if (all->rounds[r] > 0 && all->rounds[r] < count)
      put_residual(all, from, all->rounds[r] - 1, course);
  if (count > 0) put_residual(all, from, count - 1, course);
  return EB_OK;
}

static eb_error fill_residuals(eb_evaluation *e, const eb_paper_figure *figure, int p,
                               eb_time_series *course, double *largest) {
  eb_residuals first, own = {0};
  *largest = NAN;
  EB_TRY(read_residuals(e, figure->points[0].case_, &first));
  eb_error error = read_residuals(e, figure->points[p].case_, &own);
  if (!error) error = lay_residuals(&own, busiest_step(&first), figure->curves[p].ends, course);
  for (size_t s = 0; s < course->count; s++) *largest = fmax(*largest, course->y[s]);
  eb_residuals_clear(&own);
  eb_residuals_clear(&first);
  return error;
}

/* ---- figures --------------------------------------------------------------------------------- */

static eb_error fill_point(eb_evaluation *e, eb_shown_figure *shown, int p) {
  const eb_paper_figure *figure = shown->figure;
  const eb_paper_point *point = &figure->points[p];
  eb_scope scopes[2];
  if (figure->residuals) return fill_residuals(e, figure, p, &shown->series[p], &shown->y[p]);
  eb_paper_point_scope(e->paper, point, scopes);
  if (shown->series) return fill_course(e, figure, scopes, &shown->series[p], &shown->y[p]);
  EB_TRY(eb_evaluate_number(e, figure->value, scopes, &shown->y[p]));
  shown->y[p] *= figure->scale;
  if (!shown->layers) return EB_OK;
  return fill_layers(e, figure, scopes, shown->y[p], shown->layers + p * (figure->parts.count + 1));
}

static eb_error fill_figure(eb_evaluation *e, eb_shown_figure *shown, bool *marked, int *measured) {
  const eb_paper_figure *figure = shown->figure;
  for (int p = 0; p < figure->point_count; p++) {
    EB_TRY(fill_point(e, shown, p));
    *measured += isfinite(shown->y[p]);
  }
  EB_TRY(eb_paper_figure_cases(e->paper, figure, marked));
  EB_TRY(note(e->evidence, marked, &shown->notes));
  return note_troubles(e->evidence, marked, &shown->notes);
}

static eb_error show_figure(eb_evaluation *e, const eb_paper_figure *figure, eb_shown_figure *shown,
                            int *measured) {
  bool *marked;
  shown->figure = figure;
  EB_TRY(EB_NEW(shown->y, figure->point_count));
  if (figure->parts.count)
    EB_TRY(EB_NEW(shown->layers, figure->point_count * (figure->parts.count + 1)));
  if (strncmp(figure->template, "course", 6) == 0 || figure->residuals)
    EB_TRY(EB_NEW(shown->series, figure->point_count));
  EB_TRY(EB_NEW(marked, e->paper->case_count));
  eb_error error = fill_figure(e, shown, marked, measured);
  free(marked);
  return error;
}

static void clear_figure(eb_shown_figure *shown) {
  for (int p = 0; shown->series && p < shown->figure->point_count; p++) {
    free(shown->series[p].x);
    free(shown->series[p].y);
  }
  free(shown->series);
  free(shown->layers);
  free(shown->y);
  eb_text_clear(&shown->notes);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static eb_error name_cases(const eb_paper *paper, const bool *marked, eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  for (int c = 0; c < paper->case_count; c++)
    if (marked[c])
      EB_TRY(eb_text_printf(out, "%s%s", out->length ? ", " : "", paper->cases[c].name));
  return out->length ? EB_OK : eb_text_printf(out, "none");
}

static eb_error show_claim(eb_evaluation *e, const eb_paper_claim *claim, eb_shown_claim *shown) {
  bool *marked;
  shown->claim = claim;
  EB_TRY(eb_claim_judge(e, claim, &shown->result));
  EB_TRY(EB_NEW(marked, e->paper->case_count));
  eb_error error = eb_paper_claim_cases(e->paper, claim, marked);
  if (!error) error = name_cases(e->paper, marked, &shown->cases);
  if (!error) error = note(e->evidence, marked, &shown->notes);
  if (!error && *claim->note && shown->result.verdict != EB_REPRODUCED)
    error = eb_text_printf(&shown->notes, "note: %s\n", claim->note);
  free(marked);
  return error;
}

static eb_error create(const eb_evidence *evidence, const eb_paper_choice *choice,
                       eb_reproduction *out) {
  const eb_paper *paper = evidence->paper;
  eb_evaluation e = {.paper = paper, .evidence = evidence, .known = &out->known, .repetition = -1};
  EB_TRY(EB_NEW(out->tables, paper->table_count));
  EB_TRY(EB_NEW(out->claims, paper->claim_count));
  for (int t = 0; t < paper->table_count; t++)
    if (choice->tables[t])
      EB_TRY(show_table(&e, &paper->tables[t], &out->tables[out->table_count++], &out->measured));
  EB_TRY(EB_NEW(out->figures, paper->figure_count));
  for (int f = 0; f < paper->figure_count; f++)
    if (choice->figures[f])
      EB_TRY(
          show_figure(&e, &paper->figures[f], &out->figures[out->figure_count++], &out->measured));
  for (int c = 0; c < paper->claim_count; c++)
    if (choice->claims[c])
      EB_TRY(show_claim(&e, &paper->claims[c], &out->claims[out->claim_count++]));
  return EB_OK;
}

eb_error eb_reproduction_create(const eb_evidence *evidence, const eb_paper_choice *choice,
                                eb_reproduction *out) {
  *out = (eb_reproduction){.evidence = evidence};
  return create(evidence, choice, out);
}

void eb_reproduction_clear(eb_reproduction *reproduction) {
  for (int t = 0; t < reproduction->table_count; t++) {
    free(reproduction->tables[t].ours);
    eb_text_clear(&reproduction->tables[t].notes);
  }
  for (int c = 0; c < reproduction->claim_count; c++) {
    eb_claim_result_clear(&reproduction->claims[c].result);
    eb_text_clear(&reproduction->claims[c].cases);
    eb_text_clear(&reproduction->claims[c].notes);
  }
  for (int f = 0; f < reproduction->figure_count; f++) {
    clear_figure(&reproduction->figures[f]);
  }
  eb_known_clear(&reproduction->known);
  free(reproduction->figures);
  free(reproduction->tables);
  free(reproduction->claims);
  *reproduction = (eb_reproduction){0};
}

void eb_reproduction_tally(const eb_reproduction *reproduction, int of[EB_CLAIM_VERDICTS]) {
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) of[k] = 0;
  for (int c = 0; c < reproduction->claim_count; c++) of[reproduction->claims[c].result.verdict]++;
}

/* ---- the machine ----------------------------------------------------------------------------- */

eb_error eb_reproduction_machine(const eb_evidence *e, eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  if (!e->results) return EB_OK;
  const eb_results *r = e->results;
  bool dirty = strcmp(eb_results_environment(r, "dirty"), "1") == 0;
  double one = strtod(eb_results_environment(r, "dgemm_flop_per_second"), NULL),
         all = strtod(eb_results_environment(r, "dgemm_all_flop_per_second"), NULL),
         triad = strtod(eb_results_environment(r, "triad_byte_per_second"), NULL);
  EB_TRY(eb_text_printf(out, "this machine: %s, %s cores", eb_results_environment(r, "cpu"),
                        eb_results_environment(r, "cores")));
  if (one > 0)
    EB_TRY(eb_text_printf(out,
                          "; one thread: DGEMM %.3g Gflop/s, triad %.3g GB/s; DGEMM on %s "
                          "threads %.2f of that",
                          1e-9 * one, 1e-9 * triad, eb_results_environment(r, "rate_threads"),
                          all / one));
  EB_TRY(eb_text_printf(out, "\nbuild: commit %s%s, %s, %s\n", eb_results_environment(r, "commit"),
                        dirty ? " with local changes" : "", eb_results_environment(r, "compiler"),
                        eb_results_environment(r, "flags")));
  return *e->paper->machine ? eb_text_printf(out, "the paper's machine: %s\n", e->paper->machine)
                            : EB_OK;
}

const char *eb_line_next(const char **rest, size_t *length) {
  const char *line = *rest;
  if (!line || !*line) return NULL;
  *length = strcspn(line, "\n");
  *rest = line + *length + (line[*length] == '\n');
  return line;
}
