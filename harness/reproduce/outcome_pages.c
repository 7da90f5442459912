/* The outcome as an HTML page, and in Markdown for a repository; and one page over several papers
 * in both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/markup.h"
#include "harness/report/page.h"
#include "harness/reproduce/outcome.h"
#include "problems/base/memory.h"

/* ---- templates ------------------------------------------------------------------------------- */

/* A text of Markdown with `replaced` instead of each `characters`. A '<' opens HTML unless a blank,
 * a sign or a digit follows. */
static eb_error put_markdown(eb_text *out, const char *text, const char *characters,
                             const char *const *replaced) {
  for (; *text; text++) {
    const char *found = strchr(characters, *text);
    if (*text == '<' && text[1] && strchr(" =-.0123456789", text[1])) found = NULL;
    const char *with = found ? replaced[found - characters] : text;
    EB_TRY(eb_text_append(out, with, found ? strlen(with) : 1));
  }
  return EB_OK;
}

/* Paragraphs and headings. */
static eb_error markdown_prose(eb_text *out, const char *text) {
  return put_markdown(out, text, "<", (const char *const[]){"&lt;"});
}

/* A text inside a cell: what divides cells, and ends of lines, are taken out. */
static eb_error markdown_text(eb_text *out, const char *text) {
  return put_markdown(out, text, "<|\n", (const char *const[]){"&lt;", "\\|", " "});
}

/* Code, which a backtick would end, in a cell or a line. */
static eb_error markdown_code(eb_text *out, const char *text) {
  return put_markdown(out, text, "`|\n", (const char *const[]){"'", "\\|", " "});
}

/* Templates in which every {} is one of the texts, escaped. */
#define HTML(out, template, ...)                                                                   \
  eb_markup_fill(out, eb_markup_text, template, (const char *const[]){__VA_ARGS__})
#define MARKDOWN(out, template, ...)                                                               \
  eb_markup_fill(out, markdown_text, template, (const char *const[]){__VA_ARGS__})
#define PROSE(out, template, ...)                                                                  \
  eb_markup_fill(out, markdown_prose, template, (const char *const[]){__VA_ARGS__})
#define CODE(out, template, ...)                                                                   \
  eb_markup_fill(out, markdown_code, template, (const char *const[]){__VA_ARGS__})
#define RAW(out, text) eb_text_append(out, text, strlen(text))

/* Each line of a text as a paragraph, or as an entry of a list. */
static eb_error put_lines(eb_text *out, const char *text, bool html) {
  size_t length;
  for (const char *at; (at = eb_line_next(&text, &length));) {
    char *line;
    EB_TRY(eb_copy_part(at, length, &line));
    eb_error error =
        html ? HTML(out, "<p class=\"note\">{}</p>\n", line) : PROSE(out, "- {}\n", line);
    free(line);
    EB_TRY(error);
  }
  return EB_OK;
}

/* A cell with three significant digits, and no exponents where a reader does not want them. */
static eb_error html_number(eb_text *page, double value) {
  bool whole = fabs(value) < 1e7 && (fabs(value) >= 100 || value == rint(value));
  return eb_markup_number(page, whole ? "%.0f" : "%.3g", value);
}

static eb_error markdown_number(eb_text *out, double value) {
  EB_TRY(RAW(out, " "));
  EB_TRY(eb_put_value(out, value));
  return RAW(out, " |");
}

/* By verdict. */
static const char *const verdict_classes[] = {"good", "bad", "note"};

/* How many claims have each verdict. */
static eb_error html_tally(const int tally[EB_CLAIM_VERDICTS], eb_text *page) {
  EB_TRY(RAW(page, "<ul class=\"tally\">"));
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++)
    EB_TRY(eb_text_printf(page, "<li class=\"%s\"><b>%d</b>%s</li>", verdict_classes[k], tally[k],
                          eb_claim_verdict_name((eb_claim_verdict)k)));
  return RAW(page, "</ul>\n");
}

/* ---- HTML: tables ---------------------------------------------------------------------------- */

static eb_error html_table(const eb_shown_table *shown, eb_text *page) {
  const eb_paper_table *table = shown->table;
  EB_TRY(HTML(page,
              "<h2 id=\"{}\">{}{}{}</h2>\n<div class=\"scroll\"><table><thead>\n<tr><th>{}</th>",
              table->id, table->where, *table->where ? ": " : "", table->title,
              strcmp(table->unit, "1") == 0 ? "" : table->unit));
  for (int c = 0; c < table->column_count; c++) {
    const char *heads[3];
    int count = eb_shown_heads(table, c, heads);
    EB_TRY(HTML(page, "<th>{}<br>{}</th>", table->columns[c].heading, heads[0]));
    for (int k = 1; k < count; k++) EB_TRY(HTML(page, "<th>{}</th>", heads[k]));
  }
  EB_TRY(RAW(page, "</tr></thead>\n<tbody>\n"));
  for (int r = 0; r < table->keys.count; r++) {
    EB_TRY(HTML(page, "<tr><td class=\"text\">{}</td>", table->labels.items[r]));
    for (int c = 0; c < table->column_count; c++) {
      double values[3];
      int count = eb_shown_cell(shown, r, c, values);
      for (int k = 0; k < count; k++) EB_TRY(html_number(page, values[k]));
    }
    EB_TRY(RAW(page, "</tr>\n"));
  }
  EB_TRY(RAW(page, "</tbody></table></div>\n"));
  EB_TRY(put_lines(page, table->note, true));
  return put_lines(page, shown->notes.data, true);
}

/* ---- HTML: claims ---------------------------------------------------------------------------- */

/* Unfolds: the conditions, those first that decide, and what they rest on. What is no comparison
 * has its values in place of one. */
static eb_error html_details(const eb_shown_claim *shown, eb_text *page) {
  static const char *const classes[] = {"bad", "good", "note"}; /* of truths */
  const eb_claim_result *f = &shown->result;
  const eb_section *section = shown->claim->section;
  EB_TRY(eb_text_printf(
      page,
      "<details><summary>%d of %d conditions hold</summary>\n"
      "<div class=\"scroll\"><table>\n<tr><th>condition</th><th>value</th><th>bound</th>"
      "<th class=\"text\">holds</th></tr>\n",
      f->holding, f->count));
  for (int c = 0; c < f->count; c++) {
    const eb_condition *one = &f->conditions[c];
    EB_TRY(HTML(page,
                "<tr><td class=\"text wide\"><code>{}</code></td><td>{}</td><td>{}</td>"
                "<td class=\"text {}\">{}</td></tr>\n",
                one->text, *one->value ? one->value : one->values, one->bound, classes[one->truth],
                eb_truth_name(one->truth)));
  }
  EB_TRY(RAW(page, "</table></div>\n"));
  if (*shown->claim->source)
    EB_TRY(HTML(page, "<p class=\"note\">Bounds: {}</p>\n", shown->claim->source));
  EB_TRY(put_lines(page, f->causes.data, true));
  EB_TRY(put_lines(page, shown->notes.data, true));
  EB_TRY(HTML(page, "<p class=\"note\">Runs: {}. <a href=\"#runs\" data-play=\"{}\">Play</a> ",
              shown->cases.data, shown->cases.data));
  for (int i = 0; i < section->count; i++) {
    const eb_entry *entry = &section->entries[i];
    bool figure = strcmp(entry->key, "figure") == 0;
    if (figure || strcmp(entry->key, "table") == 0)
      EB_TRY(HTML(page, "<a href=\"#{}{}\">{} {}</a> ", figure ? "figure-" : "", entry->value,
                  entry->key, entry->value));
  }
  return RAW(page, "</p></details>");
}

static eb_error html_claim(const eb_shown_claim *shown, eb_text *page) {
  const eb_paper_claim *claim = shown->claim;
  const eb_claim_result *result = &shown->result;
  EB_TRY(HTML(page,
              "<tr id=\"claim-{}\"><td class=\"text\"><b>{}</b><br><span class=\"note\">{}</span>"
              "</td><td class=\"text {}\">{}</td>",
              claim->id, claim->id, claim->where, verdict_classes[result->verdict],
              result->ruling.data));
  EB_TRY(html_number(page, result->paper));
  EB_TRY(html_number(page, result->ours));
  EB_TRY(HTML(page, "<td class=\"text wide\">{}\n", claim->text));
  EB_TRY(html_details(shown, page));
  return RAW(page, "</td></tr>\n");
}

/* ---- HTML: figures --------------------------------------------------------------------------- */

static eb_error html_pictures(const char *id, const eb_report_picture *pictures, eb_text *page) {
  EB_TRY(RAW(page, "<div class=\"pictures\">\n"));
  for (int i = 0; i < pictures->updates; i++)
    EB_TRY(eb_text_printf(page,
                          "<figure><img src=\"%s-updates-%d.png\" alt=\"updated elements\">"
                          "<figcaption>t = %.3g s: %lld elements updated</figcaption></figure>\n",
                          id, i + 1, pictures->update[i].time,
                          (long long)pictures->update[i].updated));
  for (int i = 0; i < pictures->count; i++)
    EB_TRY(eb_text_printf(page,
                          "<figure><img src=\"%s-%s.png\" alt=\"%s\">"
                          "<figcaption>%s, t = %.3g s</figcaption></figure>\n",
                          id, pictures->drawn[i].name, pictures->drawn[i].words,
                          pictures->drawn[i].words, pictures->drawn[i].time));
  return RAW(page, "</div>\n");
}

static eb_error html_figure(const eb_shown_figure *shown, eb_text *page) {
  const eb_paper_figure *figure = shown->figure;
  EB_TRY(HTML(page, "<h3 id=\"figure-{}\">{}</h3>\n", figure->id, figure->title));
  EB_TRY(shown->pictures.updates || shown->pictures.count
             ? html_pictures(figure->id, &shown->pictures, page)
         : shown->drawn ? eb_markup_plot(page, "", figure->id, figure->title)
                        : RAW(page, "<p>Not measured.</p>\n"));
  return put_lines(page, shown->notes.data, true);
}

/* ---- HTML: the page -------------------------------------------------------------------------- */

static eb_error html_head(const eb_reproduction *r, eb_text *page) {
  const eb_paper *paper = r->evidence->paper;
  char title[200];
  snprintf(title, sizeof title, "%s reproduced", paper->name);
  EB_TRY(eb_page_open(page, title, "papers"));
  EB_TRY(HTML(page, "<h1>{}</h1>\n", paper->title));
  if (*paper->citation) EB_TRY(HTML(page, "<p>{}</p>\n", paper->citation));
  if (paper->quick)
    EB_TRY(RAW(page, "<p><b>A quick run: the first frames only, as stated with every table and "
                     "claim.</b></p>\n"));
  EB_TRY(RAW(page, "<nav>"));
  if (r->overview) EB_TRY(HTML(page, "<a href=\"{}\">all papers</a>", r->overview));
  if (r->claim_count) EB_TRY(RAW(page, "<a href=\"#claims\">claims</a>"));
  for (int t = 0; t < r->table_count; t++) {
    const eb_paper_table *table = r->tables[t].table;
    EB_TRY(
        HTML(page, "<a href=\"#{}\">{}</a>", table->id, *table->where ? table->where : table->id));
  }
  if (r->figure_count) EB_TRY(RAW(page, "<a href=\"#figures\">figures</a>"));
  if (r->evidence->results)
    EB_TRY(RAW(page, "<a href=\"#runs\">runs</a><a href=\"#environment\">environment</a>"));
  EB_TRY(RAW(page, "</nav>\n"));
  if (r->claim_count) EB_TRY(html_tally(r->tally, page));
  EB_TRY(RAW(
      page, "<p>Machines differ: verdicts rest on ratios and orders within one run, whose "
            "competitors took turns; absolute times stand beside. A frame's time is the wall time "
            "of its steps without set-up and audit; the first frame is left out, since it holds "
            "the first whole factorization; of repetitions every step's least time counts.</p>\n"));
  if (*paper->note)
    EB_TRY(HTML(page,
                "<details><summary>What the paper leaves unsaid, and what is ours</summary>"
                "<p>{}</p></details>\n",
                paper->note));
  return put_lines(page, r->machine.data, true);
}

/* ---- HTML: runs ------------------------------------------------------------------------------ */

static eb_error html_runs(const eb_reproduction *r, eb_text *page) {
  const eb_paper *paper = r->evidence->paper;
  eb_played *runs;
  eb_text *notes = NULL;
  EB_TRY(EB_NEW(runs, paper->case_count));
  eb_error error = EB_NEW(notes, paper->case_count);
  for (int c = 0; c < paper->case_count && !error; c++) {
    const eb_paper_case *work = &paper->cases[c];
    error = eb_text_printf(&notes[c], "%s, %s", work->scene, work->solver);
    runs[c] = (eb_played){&r->playbacks[c], work->name, notes[c].data};
  }
  if (!error) error = RAW(page, "<h2 id=\"runs\">Recorded runs</h2>\n");
  if (!error) error = eb_page_player(page, runs, paper->case_count, NULL, "");
  for (int c = 0; notes && c < paper->case_count; c++) eb_text_clear(&notes[c]);
  free(notes);
  free(runs);
  if (error) return error;
  return HTML(page,
              "<p class=\"note\">Every run, with its stages, residuals and pictures: elastobench "
              "report {}.h5</p>\n",
              paper->name);
}

eb_error eb_reproduction_html(const eb_reproduction *r, eb_text *page) {
  EB_TRY(html_head(r, page));
  if (r->claim_count)
    EB_TRY(RAW(page, "<h2 id=\"claims\">Claims</h2>\n<div class=\"scroll\"><table><thead>\n"
                     "<tr><th>claim</th><th class=\"text\">verdict</th><th>paper</th><th>ours</th>"
                     "<th class=\"text\">what is claimed, and its conditions</th></tr></thead>\n"
                     "<tbody>\n"));
  for (int c = 0; c < r->claim_count; c++) EB_TRY(html_claim(&r->claims[c], page));
  if (r->claim_count) EB_TRY(RAW(page, "</tbody></table></div>\n"));
  for (int t = 0; t < r->table_count; t++) EB_TRY(html_table(&r->tables[t], page));
  if (r->figure_count) EB_TRY(RAW(page, "<h2 id=\"figures\">Figures</h2>\n"));
  for (int f = 0; f < r->figure_count; f++) EB_TRY(html_figure(&r->figures[f], page));
  EB_TRY(html_runs(r, page));
  if (r->evidence->results) EB_TRY(eb_page_environment(page, r->evidence->results));
  return eb_page_close(page);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static eb_error markdown_claims(const eb_reproduction *r, eb_text *out) {
  EB_TRY(RAW(out, "\n## Claims\n\n| claim | where | verdict | paper | ours | conditions | what is "
                  "claimed |\n|---|---|---|---|---|---|---|\n"));
  for (int c = 0; c < r->claim_count; c++) {
    const eb_paper_claim *claim = r->claims[c].claim;
    const eb_claim_result *f = &r->claims[c].result;
    EB_TRY(MARKDOWN(out, "| {} | {} | {} |", claim->id, claim->where, f->ruling.data));
    EB_TRY(markdown_number(out, f->paper));
    EB_TRY(markdown_number(out, f->ours));
    EB_TRY(eb_text_printf(out, " %d of %d hold |", f->holding, f->count));
    EB_TRY(MARKDOWN(out, " {} |\n", claim->text));
  }
  /* Why claims are not reproduced, or not comparable. */
  for (int c = 0; c < r->claim_count; c++) {
    const eb_claim_result *f = &r->claims[c].result;
    if (f->verdict == EB_REPRODUCED) continue;
    EB_TRY(PROSE(out, "\n### {}: {}\n\n", r->claims[c].claim->id, f->ruling.data));
    for (int k = 0; k < f->count && f->conditions[k].truth != EB_TRUE; k++) {
      EB_TRY(CODE(out, "- `{}`", f->conditions[k].text));
      EB_TRY(
          PROSE(out, ": {}, {}\n", f->conditions[k].values, eb_truth_name(f->conditions[k].truth)));
    }
    EB_TRY(put_lines(out, f->causes.data, false));
    EB_TRY(put_lines(out, r->claims[c].notes.data, false));
  }
  return EB_OK;
}

static eb_error markdown_table(const eb_shown_table *shown, eb_text *out) {
  const eb_paper_table *table = shown->table;
  bool unit = strcmp(table->unit, "1") != 0;
  int columns = 0;
  EB_TRY(PROSE(out, "\n## {}{}{}{}{}\n\n| |", table->where, *table->where ? ": " : "", table->title,
               unit ? ", " : "", unit ? table->unit : ""));
  for (int c = 0; c < table->column_count; c++) {
    const char *heads[3];
    int count = eb_shown_heads(table, c, heads);
    EB_TRY(MARKDOWN(out, count > 1 ? " {}: {} | ours |" : " {}: {} |", table->columns[c].heading,
                    heads[0]));
    columns += count > 1 ? 2 : 1;
  }
  EB_TRY(RAW(out, "\n|---|"));
  for (int k = 0; k < columns; k++) EB_TRY(RAW(out, "---|"));
  for (int row = 0; row < table->keys.count; row++) {
    EB_TRY(MARKDOWN(out, "\n| {} |", table->labels.items[row]));
    for (int c = 0; c < table->column_count; c++) {
      double values[3];
      int count = eb_shown_cell(shown, row, c, values);
      for (int k = 0; k < count && k < 2; k++) EB_TRY(markdown_number(out, values[k]));
    }
  }
  EB_TRY(RAW(out, "\n\n"));
  if (*table->note) EB_TRY(PROSE(out, "{}\n\n", table->note));
  return put_lines(out, shown->notes.data, false);
}

/* Parameters of scenes, options of solvers and lengths of runs that this project has chosen, and
 * the sources of bounds. */
static eb_error markdown_choices(const eb_reproduction *r, eb_text *out) {
  const eb_paper *paper = r->evidence->paper;
  EB_TRY(RAW(out, "\n## What is ours\n\n"));
  if (*paper->note) EB_TRY(PROSE(out, "{}\n\n", paper->note));
  EB_TRY(RAW(out, "| claim | where its bounds come from |\n|---|---|\n"));
  for (int c = 0; c < r->claim_count; c++)
    EB_TRY(MARKDOWN(out, "| {} | {} |\n", r->claims[c].claim->id, r->claims[c].claim->source));
  EB_TRY(RAW(out, "\n| case | scene | solver | threads | frames | of a full run |\n"
                  "|---|---|---|---|---|---|\n"));
  for (int c = 0; c < paper->case_count; c++) {
    const eb_paper_case *work = &paper->cases[c];
    EB_TRY(MARKDOWN(out, "| {} |", work->name));
    EB_TRY(CODE(out, " `{}` | `{}` |", work->scene, work->solver));
    EB_TRY(eb_text_printf(out, " %lld | %lld | %lld |\n", (long long)work->threads,
                          (long long)work->frames, (long long)work->all_frames));
  }
  return EB_OK;
}

eb_error eb_reproduction_markdown(const eb_reproduction *r, eb_text *out) {
  const eb_paper *paper = r->evidence->paper;
  const eb_results *results = r->evidence->results;
  EB_TRY(PROSE(out, "# {}: {}\n\n", paper->name, paper->title));
  if (*paper->citation) EB_TRY(PROSE(out, "{}\n\n", paper->citation));
  EB_TRY(eb_text_printf(
      out, "%d claims: %d reproduced, %d not reproduced, %d not comparable. %s\n\n", r->claim_count,
      r->tally[EB_REPRODUCED], r->tally[EB_NOT_REPRODUCED], r->tally[EB_NOT_COMPARABLE],
      paper->quick ? "A quick run: fewer frames or smaller scenes, as said below."
                   : "A full run."));
  if (results) EB_TRY(PROSE(out, "- date: {}\n", eb_results_environment(results, "started")));
  if (results)
    EB_TRY(CODE(out, "- command: `{}`\n", eb_results_environment(results, "command_line")));
  EB_TRY(put_lines(out, r->machine.data, false));
  EB_TRY(markdown_claims(r, out));
  for (int t = 0; t < r->table_count; t++) EB_TRY(markdown_table(&r->tables[t], out));
  return markdown_choices(r, out);
}

/* ---- over several papers: rows in both languages --------------------------------------------- */

/* A cell of a table; link is NULL where there is none. */
typedef struct cell {
  const char *text, *class; /* of the style sheet */
  const char *html_link, *markdown_link;
} cell;

static eb_error put_row(const cell *cells, int count, eb_text *html, eb_text *markdown) {
  EB_TRY(RAW(html, "<tr>"));
  EB_TRY(RAW(markdown, "|"));
  for (int c = 0; c < count; c++) {
    const cell *one = &cells[c];
    bool link = one->html_link != NULL;
    EB_TRY(HTML(html, "<td class=\"{}\">", one->class));
    if (link) EB_TRY(HTML(html, "<a href=\"{}\">", one->html_link));
    EB_TRY(HTML(html, link ? "{}</a></td>" : "{}</td>", one->text));
    EB_TRY(MARKDOWN(markdown, link ? " [{}" : " {}", one->text));
    EB_TRY(link ? eb_text_printf(markdown, "](%s) |", one->markdown_link) : RAW(markdown, " |"));
  }
  EB_TRY(RAW(html, "</tr>\n"));
  return RAW(markdown, "\n");
}

/* The links to a part of a paper's page. In the Markdown version RESULTS.md has headings of its own
 * where the page has an id for every claim and table. */
static void set_links(const eb_overview *o, const char *folder, const char *id, char html[4096],
                      char markdown[4096]) {
  snprintf(html, 4096, "%s/index.html%s%s", folder, *id ? "#" : "", id);
  if (o->has_markdown)
    snprintf(markdown, 4096, "%s/RESULTS.md", folder);
  else
    snprintf(markdown, 4096, "%s", html);
}

/* Appends what follows a word at the beginning of lines. */
static eb_error put_notes(const char *notes, const char *word, eb_text *out) {
  size_t skip = strlen(word), length;
  EB_TRY(RAW(out, ""));
  for (const char *at; (at = eb_line_next(&notes, &length));)
    if (length > skip && strncmp(at, word, skip) == 0)
      EB_TRY(
          eb_text_printf(out, "%s%.*s", out->length ? "; " : "", (int)(length - skip), at + skip));
  return EB_OK;
}

static eb_error add_claim(const eb_shown_claim *shown, const char *folder, eb_overview *out) {
  char html[4096], markdown[4096], id[256], class[20];
  eb_text texts[4] = {0}; /* the paper's number, ours, what is quick, what stands in */
  const eb_paper_claim *claim = shown->claim;
  snprintf(id, sizeof id, "claim-%s", claim->id);
  set_links(out, folder, id, html, markdown);
  snprintf(class, sizeof class, "text %s", verdict_classes[shown->result.verdict]);
  eb_error error = eb_put_value(&texts[0], shown->result.paper);
  if (!error) error = eb_put_value(&texts[1], shown->result.ours);
  if (!error) error = put_notes(shown->notes.data, "quick: ", &texts[2]);
  if (!error) error = put_notes(shown->notes.data, "stand-in geometry: ", &texts[3]);
  const cell cells[] = {{claim->id, "text", html, markdown},
                        {claim->where, "text", NULL, NULL},
                        {shown->result.ruling.data, class, NULL, NULL},
                        {texts[0].data, "", NULL, NULL},
                        {texts[1].data, "", NULL, NULL},
                        {texts[2].data, "text wide", NULL, NULL},
                        {texts[3].data, "text wide", NULL, NULL},
                        {claim->source, "text wide", NULL, NULL}};
  if (!error)
    error = put_row(cells, sizeof cells / sizeof *cells, &out->html.claims, &out->markdown.claims);
  for (int t = 0; t < 4; t++) eb_text_clear(&texts[t]);
  return error;
}

/* The claims of a paper, and links to its tables. */
static eb_error add_section(const eb_reproduction *r, const char *folder, eb_overview *out) {
  char link[4096], in_markdown[4096];
  const eb_paper *paper = r->evidence->paper;
  eb_text *html = &out->html.claims, *markdown = &out->markdown.claims;
  set_links(out, folder, "", link, in_markdown);
  EB_TRY(HTML(&out->html.links, "<a href=\"#{}\">{}</a>", paper->name, paper->name));
  EB_TRY(HTML(html, "<h2 id=\"{}\"><a href=\"{}\">{}</a></h2>\n", paper->name, link, paper->title));
  EB_TRY(PROSE(markdown, "\n## [{}]({})\n\n", paper->title, in_markdown));
  if (*paper->citation) EB_TRY(HTML(html, "<p>{}</p>\n", paper->citation));
  if (*paper->note)
    EB_TRY(HTML(html,
                "<details><summary>What the paper leaves unsaid, and what is ours</summary>"
                "<p class=\"note\">{}</p></details>\n",
                paper->note));
  if (*paper->note) EB_TRY(PROSE(markdown, "{}\n\n", paper->note));
  EB_TRY(RAW(html, "<div class=\"scroll\"><table class=\"overview\"><thead>\n<tr>"
                   "<th class=\"text\">claim</th>"
                   "<th class=\"text\">where</th><th class=\"text\">verdict</th><th>paper</th>"
                   "<th>ours</th><th class=\"text\">quick</th><th class=\"text\">stand-in</th>"
                   "<th class=\"text\">bounds, and what in them is ours</th></tr></thead>\n"
                   "<tbody>\n"));
  EB_TRY(RAW(markdown, "| claim | where | verdict | paper | ours | quick | stand-in | bounds, and "
                       "what in them is ours |\n|---|---|---|---|---|---|---|---|\n"));
  for (int c = 0; c < r->claim_count; c++) EB_TRY(add_claim(&r->claims[c], folder, out));
  EB_TRY(RAW(html, "</tbody></table></div>\n"));
  for (int t = 0; t < r->table_count; t++) {
    const eb_paper_table *table = r->tables[t].table;
    const char *name = *table->where ? table->where : table->id;
    set_links(out, folder, table->id, link, in_markdown);
    EB_TRY(
        HTML(html, t ? ", <a href=\"{}\">{}</a>" : "<p>Tables: <a href=\"{}\">{}</a>", link, name));
    EB_TRY(PROSE(markdown, t ? ", [{}]({})" : "\nTables: [{}]({})", name, in_markdown));
  }
  if (r->table_count == 0) return EB_OK;
  EB_TRY(RAW(html, "</p>\n"));
  return RAW(markdown, "\n");
}

eb_error eb_overview_add(eb_overview *out, const eb_reproduction *r, const char *folder) {
  char counts[EB_CLAIM_VERDICTS][16], link[4096], in_markdown[4096];
  eb_text run = {0}; /* "full" or "quick", and the build and day of the runs */
  const eb_paper *paper = r->evidence->paper;
  const eb_results *results = r->evidence->results;
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) {
    snprintf(counts[k], sizeof counts[k], "%d", r->tally[k]);
    out->tally[k] += r->tally[k];
  }
  out->paper_count++;
  out->quick_count += paper->quick;
  EB_TRY(results ? eb_text_printf(&run, "%s, commit %s%s, %.10s", paper->quick ? "quick" : "full",
                                  eb_results_environment(results, "commit"),
                                  eb_reproduction_changed(results),
                                  eb_results_environment(results, "started"))
                 : eb_text_printf(&run, "not run"));
  set_links(out, folder, "", link, in_markdown);
  const cell cells[] = {
      {paper->name, "text", link, in_markdown},
      {paper->title, "text wide", NULL, NULL},
      {counts[EB_REPRODUCED], r->tally[EB_REPRODUCED] ? "good" : "", NULL, NULL},
      {counts[EB_NOT_REPRODUCED], r->tally[EB_NOT_REPRODUCED] ? "bad" : "", NULL, NULL},
      {counts[EB_NOT_COMPARABLE], "", NULL, NULL},
      {run.data, "text", NULL, NULL}};
  eb_error error =
      put_row(cells, sizeof cells / sizeof *cells, &out->html.papers, &out->markdown.papers);
  eb_text_clear(&run);
  return error ? error : add_section(r, folder, out);
}

void eb_overview_clear(eb_overview *overview) {
  eb_text_clear(&overview->html.papers);
  eb_text_clear(&overview->html.claims);
  eb_text_clear(&overview->html.links);
  eb_text_clear(&overview->markdown.papers);
  eb_text_clear(&overview->markdown.claims);
  *overview = (eb_overview){0};
}

/* ---- over several papers: the pages ---------------------------------------------------------- */

static eb_error put_sum(const eb_overview *o, eb_text *out) {
  int all = 0;
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) all += o->tally[k];
  EB_TRY(eb_text_printf(out,
                        "%d claims of %d papers: %d reproduced, %d not reproduced, %d not "
                        "comparable.",
                        all, o->paper_count, o->tally[EB_REPRODUCED], o->tally[EB_NOT_REPRODUCED],
                        o->tally[EB_NOT_COMPARABLE]));
  return o->quick_count ? RAW(out, " Quick runs: fewer frames or smaller scenes, as said with "
                                   "every claim.")
                        : EB_OK;
}

static const char legend[] =
    "A verdict is what the conditions of a claim come to on audited runs. A stand-in is geometry "
    "that takes the place of a model that is not public. Bounds are the paper's sentences and "
    "numbers, unless they are said to be ours. A claim's link leads to its conditions.";

eb_error eb_overview_html(const eb_overview *o, eb_text *page) {
  EB_TRY(eb_page_open(page, "Papers reproduced", "papers"));
  EB_TRY(RAW(page, "<h1>Papers reproduced</h1>\n<nav>"));
  EB_TRY(eb_text_append(page, o->html.links.data ? o->html.links.data : "", o->html.links.length));
  EB_TRY(RAW(page, "</nav>\n"));
  EB_TRY(html_tally(o->tally, page));
  EB_TRY(RAW(page, "<p><b>"));
  EB_TRY(put_sum(o, page));
  EB_TRY(
      eb_text_printf(page,
                     "</b></p>\n<p>%s</p>\n<div class=\"scroll\"><table class=\"overview\"><thead>"
                     "\n<tr><th>paper</th><th class=\"text\">title</th><th>reproduced</th>"
                     "<th>not reproduced</th><th>not comparable</th><th class=\"text\">run</th>"
                     "</tr></thead>\n<tbody>\n%s</tbody></table></div>\n%s",
                     legend, o->html.papers.data, o->html.claims.data));
  return eb_page_close(page);
}

eb_error eb_overview_markdown(const eb_overview *o, eb_text *page) {
  EB_TRY(RAW(page, "# Papers reproduced\n\n"));
  EB_TRY(put_sum(o, page));
  return eb_text_printf(page,
                        "\n\n%s\n\n| paper | title | reproduced | not reproduced | not comparable "
                        "| run |\n|---|---|---|---|---|---|\n%s%s",
                        legend, o->markdown.papers.data, o->markdown.claims.data);
}
