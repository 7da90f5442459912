#include "harness/reproduce/overview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/markup.h"

/* ---- rows in both languages ----------------------------------------------------------------- */

/* A cell of a table. */
typedef struct cell {
  const char *text;
  const char *link;  /* or NULL */
  const char *class; /* of the style sheet */
} cell;

static eb_error html_row(const cell *cells, int count, eb_text *out) {
  EB_TRY(eb_text_printf(out, "<tr>"));
  for (int c = 0; c < count; c++) {
    EB_TRY(eb_text_printf(out, "<td class=\"%s\">", cells[c].class));
    if (cells[c].link) EB_TRY(eb_markup_between(out, "<a href=\"", cells[c].link, "\">"));
    EB_TRY(eb_markup_between(out, "", cells[c].text, cells[c].link ? "</a></td>" : "</td>"));
  }
  return eb_text_printf(out, "</tr>\n");
}

static eb_error markdown_row(const cell *cells, int count, eb_text *out) {
  EB_TRY(eb_text_printf(out, "|"));
  for (int c = 0; c < count; c++) {
    EB_TRY(eb_text_printf(out, cells[c].link ? " [" : " "));
    EB_TRY(eb_markdown_text(cells[c].text, out));
    if (cells[c].link) EB_TRY(eb_text_printf(out, "](%s)", cells[c].link));
    EB_TRY(eb_text_printf(out, " |"));
  }
  return eb_text_printf(out, "\n");
}

/* ---- what notes say ------------------------------------------------------------------------- */

/* Appends what follows a word at the beginning of lines. */
static eb_error put_notes(const char *notes, const char *word, eb_text *out) {
  size_t skip = strlen(word), length;
  EB_TRY(eb_text_append(out, "", 0));
  for (const char *at; (at = eb_line_next(&notes, &length));)
    if (length > skip && strncmp(at, word, skip) == 0)
      EB_TRY(
          eb_text_printf(out, "%s%.*s", out->length ? "; " : "", (int)(length - skip), at + skip));
  return EB_OK;
}

/* ---- papers --------------------------------------------------------------------------------- */

/* The link to a part of a paper's page, in the Markdown version. RESULTS.md has headings of its own
 * where the page has an id for every claim and table. */
static void markdown_link(const eb_overview *o, const char *folder, const char *id,
                          char out[4096]) {
  if (o->has_markdown)
    snprintf(out, 4096, "%s/RESULTS.md", folder);
  else
    snprintf(out, 4096, "%s/index.html%s%s", folder, *id ? "#" : "", id);
}

static eb_error add_claim(const eb_shown_claim *shown, const char *folder, eb_overview *out) {
  char link[4096], in_markdown[4096], id[256], class[20];
  eb_text texts[4] = {0}; /* the paper's number, ours, what is quick, what stands in */
  const eb_paper_claim *claim = shown->claim;
  snprintf(link, sizeof link, "%s/index.html#claim-%s", folder, claim->id);
  snprintf(id, sizeof id, "claim-%s", claim->id);
  markdown_link(out, folder, id, in_markdown);
  snprintf(class, sizeof class, "text %s", eb_claim_verdict_class(shown->result.verdict));
  eb_error error = eb_put_value(&texts[0], shown->result.paper);
  if (!error) error = eb_put_value(&texts[1], shown->result.ours);
  if (!error) error = put_notes(shown->notes.data, "quick: ", &texts[2]);
  if (!error) error = put_notes(shown->notes.data, "stand-in geometry: ", &texts[3]);
  cell cells[] = {{claim->id, link, "text"},
                  {claim->where, NULL, "text"},
                  {eb_claim_verdict_name(shown->result.verdict), NULL, class},
                  {texts[0].data, NULL, ""},
                  {texts[1].data, NULL, ""},
                  {texts[2].data, NULL, "text wide"},
                  {texts[3].data, NULL, "text wide"},
                  {claim->source, NULL, "text wide"}};
  int count = sizeof cells / sizeof *cells;
  if (!error) error = html_row(cells, count, &out->html.claims);
  cells[0].link = in_markdown;
  if (!error) error = markdown_row(cells, count, &out->markdown.claims);
  for (int t = 0; t < 4; t++) eb_text_clear(&texts[t]);
  return error;
}

static const char *const heads[] = {
    "claim", "where", "verdict",  "paper",
    "ours",  "quick", "stand-in", "bounds, and what in them is ours"};
enum { HEADS = sizeof heads / sizeof *heads };

/* Links to what the paper's page has beside its claims. Tables that no paper has say so
 * themselves. */
static eb_error add_tables(const eb_reproduction *r, const char *folder, eb_overview *out) {
  for (int t = 0; t < r->table_count; t++) {
    const eb_paper_table *table = r->tables[t].table;
    const char *name = *table->where ? table->where : table->id;
    char link[4096];
    markdown_link(out, folder, table->id, link);
    EB_TRY(eb_markup_between(&out->html.claims, t ? ", <a href=\"" : "<p>Tables: <a href=\"",
                             folder, "/index.html#"));
    EB_TRY(eb_markup_between(&out->html.claims, "", table->id, "\">"));
    EB_TRY(eb_markup_between(&out->html.claims, "", name, "</a>"));
    EB_TRY(
        eb_text_printf(&out->markdown.claims, "%s[%s](%s)", t ? ", " : "\nTables: ", name, link));
  }
  if (r->table_count == 0) return EB_OK;
  EB_TRY(eb_text_printf(&out->html.claims, "</p>\n"));
  return eb_text_printf(&out->markdown.claims, "\n");
}

static eb_error add_section(const eb_reproduction *r, const char *folder, eb_overview *out) {
  char link[4096];
  const eb_paper *paper = r->evidence->paper;
  eb_text *html = &out->html.claims, *markdown = &out->markdown.claims;
  EB_TRY(eb_markup_between(html, "<h2 id=\"", paper->name, "\"><a href=\""));
  EB_TRY(eb_markup_between(html, "", folder, "/index.html\">"));
  EB_TRY(eb_markup_between(html, "", paper->title, "</a></h2>\n"));
  if (*paper->citation) EB_TRY(eb_markup_between(html, "<p>", paper->citation, "</p>\n"));
  if (*paper->note) EB_TRY(eb_markup_between(html, "<p class=\"note\">", paper->note, "</p>\n"));
  EB_TRY(eb_text_printf(html, "<div class=\"scroll\"><table>\n<tr>"));
  markdown_link(out, folder, "", link);
  EB_TRY(eb_text_printf(markdown, "\n## [%s](%s)\n\n", paper->title, link));
  if (*paper->note) EB_TRY(eb_text_printf(markdown, "%s\n\n", paper->note));
  EB_TRY(eb_text_printf(markdown, "|"));
  for (int h = 0; h < HEADS; h++) {
    EB_TRY(eb_text_printf(html, h == 3 || h == 4 ? "<th>%s</th>" : "<th class=\"text\">%s</th>",
                          heads[h]));
    EB_TRY(eb_text_printf(markdown, " %s |", heads[h]));
  }
  EB_TRY(eb_text_printf(html, "</tr>\n"));
  EB_TRY(eb_text_printf(markdown, "\n|---|---|---|---|---|---|---|---|\n"));
  for (int c = 0; c < r->claim_count; c++) EB_TRY(add_claim(&r->claims[c], folder, out));
  EB_TRY(eb_text_printf(html, "</table></div>\n"));
  return add_tables(r, folder, out);
}

/* "full" or "quick", and the build and day of the runs. */
static eb_error describe_run(const eb_reproduction *r, eb_text *out) {
  const eb_results *results = r->evidence->results;
  if (!results) return eb_text_printf(out, "not run");
  bool dirty = strcmp(eb_results_environment(results, "dirty"), "1") == 0;
  return eb_text_printf(out, "%s, commit %s%s, %.10s", r->evidence->paper->quick ? "quick" : "full",
                        eb_results_environment(results, "commit"),
                        dirty ? " with local changes" : "",
                        eb_results_environment(results, "started"));
}

eb_error eb_overview_add(eb_overview *out, const eb_reproduction *r, const char *folder) {
  char counts[EB_CLAIM_VERDICTS][16], link[4096], in_markdown[4096];
  int of[EB_CLAIM_VERDICTS];
  eb_text run = {0};
  const eb_paper *paper = r->evidence->paper;
  eb_reproduction_tally(r, of);
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) {
    snprintf(counts[k], sizeof counts[k], "%d", of[k]);
    out->tally[k] += of[k];
  }
  out->paper_count++;
  out->quick_count += paper->quick;
  snprintf(link, sizeof link, "%s/index.html", folder);
  EB_TRY(describe_run(r, &run));
  markdown_link(out, folder, "", in_markdown);
  cell cells[] = {{paper->name, link, "text"},
                  {paper->title, NULL, "text wide"},
                  {counts[EB_REPRODUCED], NULL, of[EB_REPRODUCED] ? "good" : ""},
                  {counts[EB_NOT_REPRODUCED], NULL, of[EB_NOT_REPRODUCED] ? "bad" : ""},
                  {counts[EB_NOT_COMPARABLE], NULL, ""},
                  {run.data, NULL, "text"}};
  int count = sizeof cells / sizeof *cells;
  eb_error error = html_row(cells, count, &out->html.papers);
  cells[0].link = in_markdown;
  if (!error) error = markdown_row(cells, count, &out->markdown.papers);
  eb_text_clear(&run);
  return error ? error : add_section(r, folder, out);
}

void eb_overview_clear(eb_overview *overview) {
  eb_text_clear(&overview->html.papers);
  eb_text_clear(&overview->html.claims);
  eb_text_clear(&overview->markdown.papers);
  eb_text_clear(&overview->markdown.claims);
  *overview = (eb_overview){0};
}

/* ---- the pages ------------------------------------------------------------------------------ */

static eb_error put_sum(const eb_overview *o, eb_text *out) {
  int all = 0;
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) all += o->tally[k];
  EB_TRY(eb_text_printf(out,
                        "%d claims of %d papers: %d reproduced, %d not reproduced, %d not "
                        "comparable.",
                        all, o->paper_count, o->tally[EB_REPRODUCED], o->tally[EB_NOT_REPRODUCED],
                        o->tally[EB_NOT_COMPARABLE]));
  return o->quick_count
             ? eb_text_printf(out, " Quick runs: fewer frames or smaller scenes, as said "
                                   "with every claim.")
             : EB_OK;
}

static const char legend[] =
    "A verdict is what the conditions of a claim come to on audited runs. A stand-in is geometry "
    "that takes the place of a model that is not public. Bounds are the paper's sentences and "
    "numbers, unless they are said to be ours. A claim's link leads to its conditions.";

eb_error eb_overview_html(const eb_overview *o, eb_text *page) {
  EB_TRY(eb_reproduction_page_open("Papers reproduced", page));
  EB_TRY(eb_text_printf(page, "<h1>Papers reproduced</h1>\n<p><b>"));
  EB_TRY(put_sum(o, page));
  EB_TRY(eb_text_printf(page,
                        "</b></p>\n<p>%s</p>\n<div class=\"scroll\"><table>\n<tr><th>paper</th><th "
                        "class=\"text\">title"
                        "</th><th>reproduced</th><th>not reproduced</th><th>not comparable</th>"
                        "<th class=\"text\">run</th></tr>\n%s</table></div>\n%s</body></html>\n",
                        legend, o->html.papers.data, o->html.claims.data));
  return EB_OK;
}

eb_error eb_overview_markdown(const eb_overview *o, eb_text *page) {
  EB_TRY(eb_text_printf(page, "# Papers reproduced\n\n"));
  EB_TRY(put_sum(o, page));
  return eb_text_printf(page,
                        "\n\n%s\n\n| paper | title | reproduced | not reproduced | not comparable "
                        "| run |\n|---|---|---|---|---|---|\n%s%s",
                        legend, o->markdown.papers.data, o->markdown.claims.data);
}
