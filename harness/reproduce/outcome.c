#include "harness/reproduce/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

/* ---- notes ----------------------------------------------------------------------------------- */

/* "quick: 12 of 300 frames", or a span of both when cases differ; of samples the same. */
static eb_error note_frames(const eb_paper *paper, const bool *marked, bool samples, eb_text *out) {
  long long least = INT64_MAX, most = 0, all_least = INT64_MAX, all_most = 0;
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
  EB_TRY(eb_text_printf(out, "quick: %lld", least));
  if (most > least) EB_TRY(eb_text_printf(out, " to %lld", most));
  EB_TRY(eb_text_printf(out, " of %lld", all_least));
  if (all_most > all_least) EB_TRY(eb_text_printf(out, " to %lld", all_most));
  return eb_text_printf(out, " %s\n", samples ? "samples" : "frames");
}

/* Runs that count although their audits failed, in one line: what the first one breaks, and the
 * names of the others, which mostly break the same rule. */
static eb_error note_pardons(const eb_evidence *e, const bool *marked, eb_text *out) {
  int count = 0;
  for (int c = 0; c < e->paper->case_count; c++) {
    const eb_run *run = marked[c] ? eb_evidence_run(e, c) : NULL;
    if (!run || !eb_evidence_waives(&e->paper->cases[c], run)) continue;
    if (count == 0)
      EB_TRY(eb_text_printf(out, "%s counts although its audit failed, as its case allows: %s",
                            e->paper->cases[c].name, run->audit_detail));
    else
      EB_TRY(eb_text_printf(out, "%s%s", count == 1 ? "; so do " : ", ", e->paper->cases[c].name));
    count++;
  }
  return count ? eb_text_printf(out, "\n") : EB_OK;
}

/* What holds for the marked cases, a line each: frames and parameters of quick runs, and stand-ins,
 * each once; with `troubles` also runs that are not whole, which the reasons of claims tell. */
static eb_error note(const eb_evidence *e, const bool *marked, bool troubles, eb_text *out) {
  const eb_paper *paper = e->paper;
  const char *last = NULL;
  bool any = false;
  EB_TRY(eb_text_append(out, "", 0));
  EB_TRY(note_frames(paper, marked, false, out));
  EB_TRY(note_frames(paper, marked, true, out));
  for (int c = 0; c < paper->case_count; c++) {
    const char *reduced = marked[c] ? paper->cases[c].reduced : NULL;
    if (!reduced || reduced == last) continue;
    EB_TRY(eb_text_printf(out, "%s%s", last ? "; " : "quick: scenes with ", reduced));
    last = reduced;
  }
  if (last) EB_TRY(eb_text_printf(out, "\n"));
  EB_TRY(note_pardons(e, marked, out));
  for (int c = 0; c < paper->case_count; c++) {
    const eb_run *run = marked[c] ? eb_evidence_run(e, c) : NULL;
    bool seen = !run || !run->stand_in || !*run->stand_in;
    for (int b = 0; b < c && !seen; b++) {
      const eb_run *before = marked[b] ? eb_evidence_run(e, b) : NULL;
      seen = before && strcmp(before->scene, run->scene) == 0;
    }
    if (seen) continue;
    EB_TRY(eb_text_printf(out, "%s%s (%s, %lld elements)", any ? ", " : "stand-in geometry: ",
                          run->stand_in, run->scene, (long long)run->elements));
    any = true;
  }
  if (any) EB_TRY(eb_text_printf(out, "\n"));
  for (int c = 0; troubles && c < paper->case_count; c++)
    if (marked[c] && *e->cases[c].why) EB_TRY(eb_text_printf(out, "%s\n", e->cases[c].why));
  return EB_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static eb_error show_table(eb_evaluation *e, const eb_paper_table *table, bool *marked,
                           eb_shown_table *shown, int *measured) {
  int cells = table->keys.count * table->column_count;
  shown->table = table;
  EB_TRY(EB_NEW(shown->ours, cells));
  for (int c = 0; c < cells; c++) {
    shown->ours[c] = NAN;
    if (table->cells[c]) EB_TRY(eb_evaluate_number(e, table->cells[c], NULL, &shown->ours[c]));
    shown->ours[c] *= table->scale;
    *measured += isfinite(shown->ours[c]);
  }
  EB_TRY(eb_paper_table_cases(e->paper, table, marked));
  return note(e->evidence, marked, true, &shown->notes);
}

int eb_shown_heads(const eb_paper_table *table, int column, const char *out[3]) {
  const eb_paper_column *of = &table->columns[column];
  bool published = !of->text;
  for (int r = 0; r < table->keys.count; r++)
    published = published || isfinite(eb_paper_value(table, r, of));
  out[0] = published ? "paper" : "ours";
  out[1] = "ours";
  out[2] = "ratio";
  return published && of->text ? 3 : 1;
}

int eb_shown_cell(const eb_shown_table *shown, int row, int column, double out[3]) {
  const char *heads[3];
  int count = eb_shown_heads(shown->table, column, heads);
  double paper = eb_paper_value(shown->table, row, &shown->table->columns[column]);
  double ours = shown->ours[row * shown->table->column_count + column];
  out[0] = strcmp(heads[0], "paper") == 0 ? paper : ours;
  out[1] = ours;
  out[2] = ours / paper;
  return count;
}

/* ---- figures --------------------------------------------------------------------------------- */

static eb_error read_residuals(eb_evaluation *e, int case_, eb_residuals *out) {
  int run;
  eb_knowledge knowledge;
  *out = (eb_residuals){0};
  EB_TRY(eb_evaluation_run(e, case_, &run, &knowledge));
  return run < 0 ? EB_OK : eb_results_residuals(e->evidence->results, run, out);
}

/* The residuals of a step, or the last one of every round. */
static eb_error lay_residuals(const eb_residuals *all, size_t step, bool ends,
                              eb_time_series *course) {
  if (step >= all->steps) return EB_OK;
  int64_t from = all->offsets[step], count = all->offsets[step + 1] - from;
  const int64_t *turns = all->rounds; /* numbers of residuals that begin a round */
  int64_t first = turns ? all->round_offsets[step] : 0,
          last = turns ? all->round_offsets[step + 1] : 0;
  EB_TRY(EB_NEW(course->x, count + 1));
  EB_TRY(EB_NEW(course->y, count + 1));
  if (ends && !turns) return EB_OK;
  for (int64_t i = 0; i < count; i++) {
    bool shown = !ends || i + 1 == count;
    for (int64_t r = first; r < last && !shown; r++) shown = turns[r] == i + 1;
    if (!shown) continue;
    course->x[course->count] = (double)(i + 1);
    course->y[course->count++] = all->values[from + i];
  }
  return EB_OK;
}

/* Within the step in which the first case has the most rounds; the first of several. */
static eb_error fill_residuals(eb_evaluation *e, const eb_paper_figure *figure, int p,
                               eb_time_series *course) {
  eb_residuals first, own = {0};
  size_t busiest = 0;
  int64_t most = -1;
  EB_TRY(read_residuals(e, figure->points[0].case_, &first));
  for (size_t s = 0; s < first.steps && first.rounds; s++) {
    int64_t rounds = first.round_offsets[s + 1] - first.round_offsets[s];
    if (rounds > most) busiest = s;
    if (rounds > most) most = rounds;
  }
  eb_error error = read_residuals(e, figure->points[p].case_, &own);
  if (!error) error = lay_residuals(&own, busiest, figure->curves[p].ends, course);
  eb_residuals_clear(&own);
  eb_residuals_clear(&first);
  return error;
}

/* x and y of a point, of a series its largest y; of bars also the layers. */
static eb_error fill_point(eb_evaluation *e, eb_shown_figure *shown, int p) {
  const eb_paper_figure *figure = shown->figure;
  eb_time_series *course = shown->series ? &shown->series[p] : NULL;
  double *y = &shown->y[p];
  eb_scope scopes[2];
  eb_paper_point_scope(e->paper, &figure->points[p], scopes);
  if (course) {
    if (figure->residuals) {
      EB_TRY(fill_residuals(e, figure, p, course));
    } else {
      eb_value series = {0};
      eb_error error = eb_evaluate(e, figure->value, scopes, &series);
      if (!error && !series.knowledge && series.time) {
        *course = (eb_time_series){.count = series.count, .x = series.time, .y = series.y};
        series.time = series.y = NULL;
      }
      for (size_t s = 0; s < course->count; s++) course->y[s] *= figure->scale;
      eb_value_clear(&series);
      EB_TRY(error);
    }
    *y = NAN;
    for (size_t s = 0; s < course->count; s++) *y = fmax(*y, course->y[s]);
    return EB_OK;
  }
  if (figure->across) EB_TRY(eb_evaluate_number(e, figure->across, scopes, &shown->x[p]));
  EB_TRY(eb_evaluate_number(e, figure->value, scopes, y));
  *y *= figure->scale;
  if (!shown->layers) return EB_OK;
  /* What is left of the whole is the last part; a stage that is never timed takes none of it. */
  double *layers = shown->layers + p * (figure->parts.count + 1), rest = *y;
  for (int l = 0; l < figure->parts.count; l++) {
    EB_TRY(eb_evaluate_number(e, figure->shares[l], scopes, &layers[l]));
    if (isnan(layers[l]) && isfinite(*y)) layers[l] = 0;
    layers[l] *= figure->scale;
    rest -= layers[l];
  }
  layers[figure->parts.count] = isfinite(rest) ? fmax(0, rest) : rest;
  return EB_OK;
}

static eb_error show_figure(eb_evaluation *e, const eb_paper_figure *figure, bool *marked,
                            eb_shown_figure *shown, int *measured) {
  int points = figure->point_count;
  shown->figure = figure;
  EB_TRY(EB_NEW(shown->x, points));
  EB_TRY(EB_NEW(shown->y, points));
  if (figure->parts.count) EB_TRY(EB_NEW(shown->layers, points * (figure->parts.count + 1)));
  if (eb_paper_is_course(figure) || figure->residuals) EB_TRY(EB_NEW(shown->series, points));
  for (int p = 0; p < points; p++) {
    shown->x[p] = figure->points[p].x;
    EB_TRY(fill_point(e, shown, p));
    *measured += isfinite(shown->y[p]);
  }
  EB_TRY(eb_paper_figure_cases(e->paper, figure, marked));
  return note(e->evidence, marked, true, &shown->notes);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static eb_error show_claim(eb_evaluation *e, const eb_paper_claim *claim, bool *marked,
                           eb_shown_claim *shown) {
  const eb_paper *paper = e->paper;
  eb_text *cases = &shown->cases;
  shown->claim = claim;
  EB_TRY(eb_claim_judge(e, claim, &shown->result));
  EB_TRY(eb_paper_claim_cases(paper, claim, marked));
  for (int c = 0; c < paper->case_count; c++)
    if (marked[c])
      EB_TRY(eb_text_printf(cases, "%s%s", cases->length ? ", " : "", paper->cases[c].name));
  if (!cases->length) EB_TRY(eb_text_printf(cases, "none"));
  EB_TRY(note(e->evidence, marked, false, &shown->notes));
  return *claim->note && shown->result.verdict != EB_REPRODUCED
             ? eb_text_printf(&shown->notes, "note: %s\n", claim->note)
             : EB_OK;
}

/* Marked: an entry a case, of what is shown at the moment. */
static eb_error show(const eb_evidence *evidence, const eb_paper_choice *choice, bool *marked,
                     eb_reproduction *out) {
  const eb_paper *paper = evidence->paper;
  size_t cases = (size_t)paper->case_count;
  eb_evaluation e = {.paper = paper, .evidence = evidence, .known = &out->known, .left_out = -1};
  EB_TRY(EB_NEW(out->tables, paper->table_count));
  EB_TRY(EB_NEW(out->claims, paper->claim_count));
  EB_TRY(EB_NEW(out->figures, paper->figure_count));
  for (int t = 0; t < paper->table_count; t++) {
    if (!choice->tables[t]) continue;
    memset(marked, 0, cases);
    EB_TRY(show_table(&e, &paper->tables[t], marked, &out->tables[out->table_count++],
                      &out->measured));
  }
  for (int f = 0; f < paper->figure_count; f++) {
    if (!choice->figures[f]) continue;
    memset(marked, 0, cases);
    EB_TRY(show_figure(&e, &paper->figures[f], marked, &out->figures[out->figure_count++],
                       &out->measured));
  }
  for (int c = 0; c < paper->claim_count; c++) {
    if (!choice->claims[c]) continue;
    memset(marked, 0, cases);
    EB_TRY(show_claim(&e, &paper->claims[c], marked, &out->claims[out->claim_count++]));
  }
  return EB_OK;
}

/* ---- what the writers share ------------------------------------------------------------------ */

/* Machine and build, a line each: "name: value". */
static eb_error describe_machine(const eb_evidence *e, eb_text *out) {
  const eb_results *r = e->results;
  EB_TRY(eb_text_append(out, "", 0));
  if (!r) return EB_OK;
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
                        eb_reproduction_changed(r), eb_results_environment(r, "compiler"),
                        eb_results_environment(r, "flags")));
  return *e->paper->machine ? eb_text_printf(out, "the paper's machine: %s\n", e->paper->machine)
                            : EB_OK;
}

const char *eb_reproduction_changed(const eb_results *results) {
  return strcmp(eb_results_environment(results, "dirty"), "1") == 0 ? " with local changes" : "";
}

/* ---- the outcome ---------------------------------------------------------------------------- */

eb_error eb_reproduction_create(const eb_evidence *evidence, const eb_paper_choice *choice,
                                eb_reproduction *out) {
  bool *marked;
  *out = (eb_reproduction){.evidence = evidence};
  EB_TRY(EB_NEW(marked, evidence->paper->case_count));
  eb_error error = show(evidence, choice, marked, out);
  free(marked);
  for (int c = 0; c < out->claim_count; c++) out->tally[out->claims[c].result.verdict]++;
  return error ? error : describe_machine(evidence, &out->machine);
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
    eb_shown_figure *shown = &reproduction->figures[f];
    for (int p = 0; shown->series && p < shown->figure->point_count; p++) {
      free(shown->series[p].x);
      free(shown->series[p].y);
    }
    free(shown->series);
    free(shown->layers);
    free(shown->y);
    free(shown->x);
    eb_text_clear(&shown->notes);
  }
  eb_known_clear(&reproduction->known);
  eb_text_clear(&reproduction->machine);
  free(reproduction->playbacks);
  free(reproduction->figures);
  free(reproduction->tables);
  free(reproduction->claims);
  *reproduction = (eb_reproduction){0};
}
