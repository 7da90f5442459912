#include "harness/reproduce/outcome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

/* ---- notes ------------------------------------------------------------------------------------ */

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
eb_error eb_outcome_note(const eb_evidence *e, const bool *marked, eb_text *out) {
  EB_TRY(eb_text_append(out, "", 0));
  EB_TRY(note_frames(e->paper, marked, false, out));
  EB_TRY(note_frames(e->paper, marked, true, out));
  EB_TRY(note_reduced(e->paper, marked, out));
  return note_stand_ins(e, marked, out);
}

/* Runs that are not whole; the reasons of claims say so themselves. */
eb_error eb_outcome_troubles(const eb_evidence *e, const bool *marked, eb_text *out) {
  for (int c = 0; c < e->paper->case_count; c++)
    if (marked[c] && *e->cases[c].why) EB_TRY(eb_text_printf(out, "%s\n", e->cases[c].why));
  return EB_OK;
}

/* ---- tables ----------------------------------------------------------------------------------- */

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
  if (!error) error = eb_outcome_note(e->evidence, marked, &shown->notes);
  if (!error) error = eb_outcome_troubles(e->evidence, marked, &shown->notes);
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

/* ---- claims ----------------------------------------------------------------------------------- */

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
  EB_TRY(eb_claim_judge(e, claim, &shown->finding));
  EB_TRY(EB_NEW(marked, e->paper->case_count));
  eb_error error = eb_paper_claim_cases(e->paper, claim, marked);
  if (!error) error = name_cases(e->paper, marked, &shown->cases);
  if (!error) error = eb_outcome_note(e->evidence, marked, &shown->notes);
  if (!error && *claim->note && shown->finding.ruling != EB_REPRODUCED)
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
      EB_TRY(eb_outcome_figure(&e, &paper->figures[f], &out->figures[out->figure_count++],
                               &out->measured));
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
    eb_finding_clear(&reproduction->claims[c].finding);
    eb_text_clear(&reproduction->claims[c].cases);
    eb_text_clear(&reproduction->claims[c].notes);
  }
  for (int f = 0; f < reproduction->figure_count; f++) {
    eb_outcome_clear_figure(&reproduction->figures[f]);
  }
  eb_known_clear(&reproduction->known);
  free(reproduction->figures);
  free(reproduction->tables);
  free(reproduction->claims);
  *reproduction = (eb_reproduction){0};
}

void eb_reproduction_tally(const eb_reproduction *reproduction, int of[EB_RULINGS]) {
  for (int k = 0; k < EB_RULINGS; k++) of[k] = 0;
  for (int c = 0; c < reproduction->claim_count; c++) of[reproduction->claims[c].finding.ruling]++;
}

/* ---- the machine ------------------------------------------------------------------------------ */

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
