/* The outcome as a page for a repository. */
#include <math.h>
#include <string.h>

#include "harness/reproduce/outcome.h"

/* What divides cells, and ends of lines, are taken out. */
eb_error eb_markdown_text(const char *text, eb_text *out) {
  for (; *text; text++)
    EB_TRY(*text == '|' ? eb_text_printf(out, "\\|")
                        : eb_text_append(out, *text == '\n' ? " " : text, 1));
  return EB_OK;
}

static eb_error put_cell(eb_text *out, const char *text) {
  EB_TRY(eb_text_printf(out, " "));
  EB_TRY(eb_markdown_text(text, out));
  return eb_text_printf(out, " |");
}

static eb_error put_number(eb_text *out, double value) {
  EB_TRY(eb_text_printf(out, " "));
  EB_TRY(eb_put_value(out, value));
  return eb_text_printf(out, " |");
}

static eb_error put_lines(eb_text *out, const char *text) {
  size_t length;
  for (const char *at; (at = eb_line_next(&text, &length));)
    EB_TRY(eb_text_printf(out, "- %.*s\n", (int)length, at));
  return EB_OK;
}

static eb_error put_head(const eb_reproduction *r, eb_text *out) {
  const eb_paper *paper = r->evidence->paper;
  const eb_results *results = r->evidence->results;
  int of[EB_CLAIM_VERDICTS];
  eb_reproduction_tally(r, of);
  EB_TRY(eb_text_printf(out, "# %s: %s\n\n", paper->name, paper->title));
  if (*paper->citation) EB_TRY(eb_text_printf(out, "%s\n\n", paper->citation));
  EB_TRY(eb_text_printf(
      out, "%d claims: %d reproduced, %d not reproduced, %d not comparable. %s\n\n", r->claim_count,
      of[EB_REPRODUCED], of[EB_NOT_REPRODUCED], of[EB_NOT_COMPARABLE],
      paper->quick ? "A quick run: fewer frames or smaller scenes, as said below."
                   : "A full run."));
  if (results)
    EB_TRY(eb_text_printf(out, "- date: %s\n- command: `%s`\n",
                          eb_results_environment(results, "started"),
                          eb_results_environment(results, "command_line")));
  eb_text machine = {0};
  eb_error error = eb_reproduction_machine(r->evidence, &machine);
  if (!error) error = put_lines(out, machine.data);
  eb_text_clear(&machine);
  return error;
}

static eb_error put_claims(const eb_reproduction *r, eb_text *out) {
  EB_TRY(eb_text_printf(
      out, "\n## Claims\n\n| claim | where | verdict | paper | ours | conditions | what "
           "is claimed |\n|---|---|---|---|---|---|---|\n"));
  for (int c = 0; c < r->claim_count; c++) {
    const eb_shown_claim *shown = &r->claims[c];
    EB_TRY(eb_text_printf(out, "|"));
    EB_TRY(put_cell(out, shown->claim->id));
    EB_TRY(put_cell(out, shown->claim->where));
    EB_TRY(put_cell(out, eb_claim_verdict_name(shown->result.verdict)));
    EB_TRY(put_number(out, shown->result.paper));
    EB_TRY(put_number(out, shown->result.ours));
    EB_TRY(eb_text_printf(out, " %d of %d hold |", shown->result.holding, shown->result.count));
    EB_TRY(put_cell(out, shown->claim->text));
    EB_TRY(eb_text_printf(out, "\n"));
  }
  return EB_OK;
}

/* Why claims are not reproduced, or not comparable. */
static eb_error put_reasons(const eb_reproduction *r, eb_text *out) {
  for (int c = 0; c < r->claim_count; c++) {
    const eb_claim_result *f = &r->claims[c].result;
    if (f->verdict == EB_REPRODUCED) continue;
    EB_TRY(eb_text_printf(out, "\n### %s: %s\n\n", r->claims[c].claim->id,
                          eb_claim_verdict_name(f->verdict)));
    for (int k = 0; k < f->count && f->conditions[k].truth != EB_TRUE; k++)
      EB_TRY(eb_text_printf(out, "- `%s`: %s, %s\n", f->conditions[k].text, f->conditions[k].values,
                            eb_truth_name(f->conditions[k].truth)));
    EB_TRY(put_lines(out, f->causes.data));
    EB_TRY(put_lines(out, r->claims[c].notes.data));
  }
  return EB_OK;
}

static eb_error put_table(const eb_shown_table *shown, eb_text *out) {
  const eb_paper_table *table = shown->table;
  EB_TRY(eb_text_printf(out, "\n## %s%s%s%s%s\n\n|", table->where, *table->where ? ": " : "",
                        table->title, strcmp(table->unit, "1") ? ", " : "",
                        strcmp(table->unit, "1") ? table->unit : ""));
  EB_TRY(eb_text_printf(out, " |"));
  for (int c = 0; c < table->column_count; c++) {
    EB_TRY(eb_text_printf(out, " %s: paper |", table->columns[c].heading));
    if (table->columns[c].text) EB_TRY(eb_text_printf(out, " ours |"));
  }
  EB_TRY(eb_text_printf(out, "\n|---|"));
  for (int c = 0; c < table->column_count; c++)
    EB_TRY(eb_text_printf(out, table->columns[c].text ? "---|---|" : "---|"));
  for (int row = 0; row < table->keys.count; row++) {
    EB_TRY(eb_text_printf(out, "\n|"));
    EB_TRY(put_cell(out, table->labels.items[row]));
    for (int c = 0; c < table->column_count; c++) {
      EB_TRY(put_number(out, eb_paper_value(table, row, &table->columns[c])));
      if (table->columns[c].text) EB_TRY(put_number(out, eb_shown_ours(shown, row, c)));
    }
  }
  EB_TRY(eb_text_printf(out, "\n\n"));
  if (*table->note) EB_TRY(eb_text_printf(out, "%s\n\n", table->note));
  return put_lines(out, shown->notes.data);
}

/* Parameters of scenes, options of solvers and lengths of runs that this project has chosen, and
 * the sources of bounds. */
static eb_error put_choices(const eb_reproduction *r, eb_text *out) {
  const eb_paper *paper = r->evidence->paper;
  EB_TRY(eb_text_printf(out, "\n## What is ours\n\n"));
  if (*paper->note) EB_TRY(eb_text_printf(out, "%s\n\n", paper->note));
  EB_TRY(eb_text_printf(out, "| claim | where its bounds come from |\n|---|---|\n"));
  for (int c = 0; c < r->claim_count; c++) {
    EB_TRY(eb_text_printf(out, "|"));
    EB_TRY(put_cell(out, r->claims[c].claim->id));
    EB_TRY(put_cell(out, r->claims[c].claim->source));
    EB_TRY(eb_text_printf(out, "\n"));
  }
  EB_TRY(eb_text_printf(out, "\n| case | scene | solver | threads | frames | of a full run |\n"
                             "|---|---|---|---|---|---|\n"));
  for (int c = 0; c < paper->case_count; c++) {
    const eb_paper_case *work = &paper->cases[c];
    EB_TRY(eb_text_printf(out, "| %s | `%s` | `%s` | %lld | %lld | %lld |\n", work->name,
                          work->scene, work->solver, (long long)work->threads,
                          (long long)work->frames, (long long)work->all_frames));
  }
  return EB_OK;
}

eb_error eb_reproduction_markdown(const eb_reproduction *r, eb_text *out) {
  EB_TRY(put_head(r, out));
  EB_TRY(put_claims(r, out));
  EB_TRY(put_reasons(r, out));
  for (int t = 0; t < r->table_count; t++) EB_TRY(put_table(&r->tables[t], out));
  return put_choices(r, out);
}
