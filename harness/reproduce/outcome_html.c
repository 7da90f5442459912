#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/embedded.h"
#include "harness/report/markup.h"
#include "harness/reproduce/outcome.h"

/* A paragraph a line. */
static eb_error put_lines(eb_text *page, const char *text) {
  size_t length;
  for (const char *at; (at = eb_line_next(&text, &length));) {
    char *line = strndup(at, length);
    if (!line) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a line");
    eb_error error = eb_markup_between(page, "<p class=\"note\">", line, "</p>\n");
    free(line);
    EB_TRY(error);
  }
  return EB_OK;
}

/* Three significant digits, and no exponents where a reader does not want them. */
static eb_error put_number(eb_text *page, double value) {
  bool whole = fabs(value) < 1e7 && (fabs(value) >= 100 || value == rint(value));
  return eb_markup_number(page, whole ? "%.0f" : "%.3g", value);
}

const char *eb_claim_verdict_class(eb_claim_verdict verdict) {
  return verdict == EB_REPRODUCED ? "good" : verdict == EB_NOT_REPRODUCED ? "bad" : "note";
}

/* ---- tables ---------------------------------------------------------------------------------- */

static eb_error table_head(const eb_paper_table *table, eb_text *page) {
  EB_TRY(eb_markup_between(page, "<tr><th>", strcmp(table->unit, "1") == 0 ? "" : table->unit,
                           "</th>"));
  for (int c = 0; c < table->column_count; c++) {
    const eb_paper_column *column = &table->columns[c];
    EB_TRY(eb_markup_between(page, "<th>", column->heading, "<br>paper</th>"));
    if (column->text) EB_TRY(eb_text_printf(page, "<th>ours</th><th>ratio</th>"));
  }
  return eb_text_printf(page, "</tr>\n");
}

static eb_error put_table(const eb_shown_table *shown, eb_text *page) {
  const eb_paper_table *table = shown->table;
  EB_TRY(eb_markup_between(page, "<h2 id=\"", table->id, "\">"));
  EB_TRY(eb_markup_between(page, "", table->where, *table->where ? ": " : ""));
  EB_TRY(eb_markup_between(page, "", table->title, "</h2>\n<div class=\"scroll\"><table>\n"));
  EB_TRY(table_head(table, page));
  for (int r = 0; r < table->keys.count; r++) {
    EB_TRY(eb_markup_between(page, "<tr><td class=\"text\">", table->labels.items[r], "</td>"));
    for (int c = 0; c < table->column_count; c++) {
      EB_TRY(put_number(page, eb_paper_value(table, r, &table->columns[c])));
      if (!table->columns[c].text) continue;
      EB_TRY(put_number(page, eb_shown_ours(shown, r, c)));
      EB_TRY(put_number(page, eb_shown_ratio(shown, r, c)));
    }
    EB_TRY(eb_text_printf(page, "</tr>\n"));
  }
  EB_TRY(eb_text_printf(page, "</table></div>\n"));
  EB_TRY(put_lines(page, table->note));
  return put_lines(page, shown->notes.data);
}

/* ---- claims ---------------------------------------------------------------------------------- */

static const char *truth_class(eb_truth truth) {
  return truth == EB_TRUE ? "good" : truth == EB_FALSE ? "bad" : "note";
}

/* What is no comparison has its values in place of one. */
static eb_error put_condition(const eb_condition *one, eb_text *page) {
  EB_TRY(eb_markup_between(page, "<tr><td class=\"text wide\"><code>", one->text, "</code></td>"));
  EB_TRY(eb_markup_between(page, "<td>", *one->value ? one->value : one->values, "</td>"));
  EB_TRY(eb_markup_between(page, "<td>", one->bound, "</td>"));
  return eb_text_printf(page, "<td class=\"text %s\">%s</td></tr>\n", truth_class(one->truth),
                        eb_truth_name(one->truth));
}

/* The tables and figures that are shown with a claim. */
static eb_error put_links(const eb_paper_claim *claim, eb_text *page) {
  for (int i = 0; i < claim->section->count; i++) {
    const eb_entry *entry = &claim->section->entries[i];
    bool table = strcmp(entry->key, "table") == 0, figure = strcmp(entry->key, "figure") == 0;
    if (!table && !figure) continue;
    EB_TRY(eb_text_printf(page, "<a href=\"#%s", figure ? "figure-" : ""));
    EB_TRY(eb_markup_between(page, "", entry->value, figure ? "\">figure " : "\">table "));
    EB_TRY(eb_markup_between(page, "", entry->value, "</a> "));
  }
  return EB_OK;
}

/* Unfolds: the conditions, those first that decide, and what they rest on. */
static eb_error put_details(const eb_shown_claim *shown, eb_text *page) {
  const eb_claim_result *f = &shown->result;
  EB_TRY(eb_text_printf(page, "<details><summary>%d of %d conditions hold</summary>\n", f->holding,
                        f->count));
  EB_TRY(eb_text_printf(page, "<table>\n<tr><th>condition</th><th>value</th><th>bound</th>"
                              "<th class=\"text\">holds</th></tr>\n"));
  for (int c = 0; c < f->count; c++) EB_TRY(put_condition(&f->conditions[c], page));
  EB_TRY(eb_text_printf(page, "</table>\n"));
  if (*shown->claim->source)
    EB_TRY(eb_markup_between(page, "<p class=\"note\">Bounds: ", shown->claim->source, "</p>\n"));
  EB_TRY(put_lines(page, f->causes.data));
  EB_TRY(put_lines(page, shown->notes.data));
  EB_TRY(eb_markup_between(page, "<p class=\"note\">Runs: ", shown->cases.data, ". "));
  EB_TRY(put_links(shown->claim, page));
  return eb_text_printf(page, "</p></details>");
}

static eb_error put_claim(const eb_shown_claim *shown, eb_text *page) {
  const eb_claim_result *result = &shown->result;
  EB_TRY(eb_markup_between(page, "<tr id=\"claim-", shown->claim->id, "\"><td class=\"text\"><b>"));
  EB_TRY(eb_markup_between(page, "", shown->claim->id, "</b><br>"));
  EB_TRY(eb_markup_between(page, "<span class=\"note\">", shown->claim->where, "</span></td>"));
  EB_TRY(eb_text_printf(page, "<td class=\"text %s\">%s</td>",
                        eb_claim_verdict_class(result->verdict),
                        eb_claim_verdict_name(result->verdict)));
  EB_TRY(put_number(page, result->paper));
  EB_TRY(put_number(page, result->ours));
  EB_TRY(eb_markup_between(page, "<td class=\"text wide\">", shown->claim->text, "\n"));
  EB_TRY(put_details(shown, page));
  return eb_text_printf(page, "</td></tr>\n");
}

static eb_error put_claims(const eb_reproduction *r, eb_text *page) {
  if (r->claim_count == 0) return EB_OK;
  EB_TRY(eb_text_printf(page,
                        "<h2 id=\"claims\">Claims</h2>\n<table>\n<tr><th>claim</th>"
                        "<th class=\"text\">verdict</th><th>paper</th><th>ours</th>"
                        "<th class=\"text\">what is claimed, and its conditions</th></tr>\n"));
  for (int c = 0; c < r->claim_count; c++) EB_TRY(put_claim(&r->claims[c], page));
  return eb_text_printf(page, "</table>\n");
}

/* ---- figures --------------------------------------------------------------------------------- */

static eb_error put_pictures(const eb_shown_figure *shown, eb_text *page) {
  EB_TRY(eb_text_printf(page, "<div class=\"pictures\">\n"));
  for (int i = 0; i < shown->pictures.updates; i++)
    EB_TRY(eb_text_printf(page,
                          "<figure><img src=\"%s-updates-%d.png\" alt=\"updated elements\">"
                          "<figcaption>t = %.3g s: %lld elements updated</figcaption></figure>\n",
                          shown->figure->id, i + 1, shown->pictures.update[i].time,
                          (long long)shown->pictures.update[i].updated));
  for (int i = 0; i < shown->pictures.count; i++)
    EB_TRY(eb_text_printf(page,
                          "<figure><img src=\"%s-%s.png\" alt=\"%s\">"
                          "<figcaption>%s, t = %.3g s</figcaption></figure>\n",
                          shown->figure->id, shown->pictures.drawn[i].name,
                          shown->pictures.drawn[i].words, shown->pictures.drawn[i].words,
                          shown->pictures.drawn[i].time));
  return eb_text_printf(page, "</div>\n");
}

static eb_error put_figure(const eb_shown_figure *shown, eb_text *page) {
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(eb_markup_between(page, "<h3 id=\"figure-", figure->id, "\">"));
  EB_TRY(eb_markup_between(page, "", figure->title, "</h3>\n"));
  if (shown->pictures.updates || shown->pictures.count)
    EB_TRY(put_pictures(shown, page));
  else if (shown->drawn)
    EB_TRY(eb_markup_plot(page, "", figure->id, figure->title));
  else
    EB_TRY(eb_text_printf(page, "<p>Not measured.</p>\n"));
  return put_lines(page, shown->notes.data);
}

static eb_error put_figures(const eb_reproduction *r, eb_text *page) {
  if (r->figure_count == 0) return EB_OK;
  EB_TRY(eb_text_printf(page, "<h2 id=\"figures\">Figures</h2>\n"));
  for (int f = 0; f < r->figure_count; f++) EB_TRY(put_figure(&r->figures[f], page));
  return EB_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

eb_error eb_reproduction_page_open(const char *title, eb_text *page) {
  eb_embedded css;
  EB_TRY(eb_embedded_find("html/report.css", &css));
  EB_TRY(eb_text_printf(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width\">\n"));
  EB_TRY(eb_markup_between(page, "<title>", title, "</title>\n<style>\n"));
  EB_TRY(eb_text_append(page, css.data, css.size));
  return eb_text_printf(page, "</style></head><body class=\"papers\">\n");
}

static eb_error put_head(const eb_paper *paper, eb_text *page) {
  char title[200];
  snprintf(title, sizeof title, "%s reproduced", paper->name);
  EB_TRY(eb_reproduction_page_open(title, page));
  EB_TRY(eb_markup_between(page, "<h1>", paper->title, "</h1>\n"));
  if (*paper->citation) EB_TRY(eb_markup_between(page, "<p>", paper->citation, "</p>\n"));
  return paper->quick ? eb_text_printf(page, "<p><b>A quick run: the first frames only, as stated "
                                             "with every table and claim.</b></p>\n")
                      : EB_OK;
}

static eb_error put_contents(const eb_reproduction *r, eb_text *page) {
  EB_TRY(eb_text_printf(page, "<nav>"));
  for (int t = 0; t < r->table_count; t++) {
    EB_TRY(eb_markup_between(page, "<a href=\"#", r->tables[t].table->id, "\">"));
    EB_TRY(eb_markup_between(
        page, "", *r->tables[t].table->where ? r->tables[t].table->where : r->tables[t].table->id,
        "</a>"));
  }
  if (r->claim_count) EB_TRY(eb_text_printf(page, "<a href=\"#claims\">claims</a>"));
  if (r->figure_count) EB_TRY(eb_text_printf(page, "<a href=\"#figures\">figures</a>"));
  return eb_text_printf(
      page, "</nav>\n<p>Machines differ: verdicts rest on ratios and orders within one run, whose "
            "competitors took turns; absolute times stand beside. A frame's time is the wall time "
            "of its steps without set-up and audit; the first frame is left out, since it holds "
            "the first whole factorization; of repetitions the fastest counts.</p>\n");
}

eb_error eb_reproduction_html(const eb_reproduction *r, eb_text *page) {
  const eb_paper *paper = r->evidence->paper;
  eb_text machine = {0};
  EB_TRY(put_head(paper, page));
  EB_TRY(put_contents(r, page));
  if (*paper->note) EB_TRY(eb_markup_between(page, "<p>", paper->note, "</p>\n"));
  EB_TRY(eb_reproduction_machine(r->evidence, &machine));
  eb_error error = put_lines(page, machine.data);
  eb_text_clear(&machine);
  EB_TRY(error);
  EB_TRY(put_claims(r, page));
  for (int t = 0; t < r->table_count; t++) EB_TRY(put_table(&r->tables[t], page));
  EB_TRY(put_figures(r, page));
  EB_TRY(eb_markup_between(
      page,
      "<p class=\"note\">Every run, with its stages, residuals and pictures: elastobench report ",
      paper->name, ".h5</p>\n"));
  return eb_text_printf(page, "</body></html>\n");
}
