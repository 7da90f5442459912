/* The outcome as a document, which is written for a terminal, in Markdown and as a page: a paper's
 * claims, tables and figures beside ours; and the claims of several papers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/report/markup.h"
#include "harness/report/page.h"
#include "harness/reproduce/outcome.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

enum { TARGET_BYTES = 4096 };

/* By verdict, and by truth of a condition. */
static const eb_doc_class verdict_class[] = {EB_DOC_GOOD, EB_DOC_BAD, EB_DOC_NOTE};
static const eb_doc_class truth_class[] = {EB_DOC_BAD, EB_DOC_GOOD, EB_DOC_NOTE};

static void put_tally(eb_doc *doc, const int of[EB_CLAIM_VERDICTS], int papers) {
  int all = 0;
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) all += of[k];
  eb_doc_paragraph(doc, EB_DOC_TALLY, "%d claims", all);
  if (papers) eb_doc_text(doc, EB_DOC_PLAIN, " of %d papers", papers);
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) {
    eb_doc_text(doc, EB_DOC_PLAIN, k ? ", " : ": ");
    eb_doc_text(doc, EB_DOC_TALLY, "%d", of[k]);
    eb_doc_text(doc, EB_DOC_PLAIN, " %s", eb_claim_verdict_name((eb_claim_verdict)k));
  }
}

/* What the paper leaves unsaid, in the words of its file. */
static void put_note(eb_doc *doc, const eb_paper *paper) {
  if (!*paper->note) return;
  eb_doc_details(doc, EB_DOC_FOLDED, "What the paper leaves unsaid, and what is ours");
  eb_doc_lines(doc, EB_DOC_PLAIN, paper->note);
  eb_doc_end(doc);
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* The cells that the paper's own page and that of several papers share. */
static void put_claim_cells(eb_doc *doc, const eb_shown_claim *shown, const char *target) {
  const eb_claim_result *result = &shown->result;
  if (target) {
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", "");
    eb_doc_link(doc, target, "%s", shown->claim->id);
  } else {
    eb_doc_cell(doc, EB_DOC_STRONG, "%s", shown->claim->id);
  }
  eb_doc_cell(doc, verdict_class[result->verdict], "%s", result->ruling.data);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", shown->claim->where);
  eb_doc_number(doc, EB_DOC_PLAIN, result->paper);
  eb_doc_number(doc, EB_DOC_PLAIN, result->ours);
}

static void put_conditions(eb_doc *doc, const eb_claim_result *result) {
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, (const char *const[]){"condition", "in numbers", "holds", NULL});
  for (int c = 0; c < result->count; c++) {
    const eb_condition *one = &result->conditions[c];
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_CODE, "%s", one->text);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", one->values);
    eb_doc_cell(doc, truth_class[one->truth], "%s", eb_truth_name(one->truth));
  }
  eb_doc_end(doc);
}

/* To the runs, which are played, and to the tables and figures that the claim names. */
static eb_error put_links(eb_doc *doc, const eb_shown_claim *shown) {
  const eb_section *section = shown->claim->section;
  const char *cases = shown->cases.data;
  char target[TARGET_BYTES];
  eb_text play = {0};
  eb_error error = eb_markup_fill(
      &play, "<p class=\"note\">Runs: {}. <a href=\"#runs\" data-play=\"{}\">Play</a></p>\n",
      (const char *const[]){cases, cases});
  if (!error) eb_doc_markup(doc, play.data);
  eb_text_clear(&play);
  eb_doc_navigation(doc);
  for (int i = 0; i < section->count; i++) {
    const eb_entry *entry = &section->entries[i];
    bool figure = strcmp(entry->key, "figure") == 0;
    if (!figure && strcmp(entry->key, "table") != 0) continue;
    snprintf(target, sizeof target, "#%s%s", figure ? "figure-" : "", entry->value);
    eb_doc_link(doc, target, "%s %s", entry->key, entry->value);
  }
  return error;
}

/* Under each claim its conditions, those first that decide, and what they rest on. */
static eb_error put_claims(eb_doc *doc, const eb_reproduction *r) {
  if (!r->claim_count) return EB_OK;
  eb_doc_heading(doc, 2, "claims", "Claims");
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, (const char *const[]){"claim", "verdict", "where", "paper", "ours",
                                          "what is claimed", NULL});
  for (int c = 0; c < r->claim_count; c++) {
    const eb_shown_claim *shown = &r->claims[c];
    const eb_claim_result *result = &shown->result;
    char id[TARGET_BYTES];
    snprintf(id, sizeof id, "claim-%s", shown->claim->id);
    eb_doc_row(doc, id);
    put_claim_cells(doc, shown, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", shown->claim->text);
    eb_doc_details(doc, EB_DOC_FOLDED, "%d of %d conditions hold", result->holding, result->count);
    put_conditions(doc, result);
    if (*shown->claim->source)
      eb_doc_paragraph(doc, EB_DOC_NOTE, "Bounds: %s", shown->claim->source);
    eb_doc_lines(doc, EB_DOC_NOTE, result->causes.data);
    eb_doc_lines(doc, EB_DOC_NOTE, shown->notes.data);
    EB_TRY(put_links(doc, shown));
    eb_doc_end(doc);
  }
  eb_doc_end(doc);
  return EB_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_table(eb_doc *doc, const eb_shown_table *shown) {
  const eb_paper_table *table = shown->table;
  eb_doc_heading(doc, 2, table->id, "%s%s%s", table->where, *table->where ? ": " : "",
                 table->title);
  eb_doc_table(doc, NULL);
  eb_doc_head(doc, "%s", strcmp(table->unit, "1") == 0 ? "" : table->unit);
  for (int c = 0; c < table->column_count; c++) {
    const char *heads[3];
    int count = eb_shown_heads(table, c, heads);
    eb_doc_group(doc, count, "%s", table->columns[c].heading);
    for (int k = 0; k < count; k++) eb_doc_head(doc, "%s", heads[k]);
  }
  for (int r = 0; r < table->keys.count; r++) {
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", table->labels.items[r]);
    for (int c = 0; c < table->column_count; c++) {
      double values[3];
      int count = eb_shown_cell(shown, r, c, values);
      for (int k = 0; k < count; k++) eb_doc_number(doc, EB_DOC_PLAIN, values[k]);
    }
  }
  eb_doc_end(doc);
  eb_doc_lines(doc, EB_DOC_NOTE, table->note);
  eb_doc_lines(doc, EB_DOC_NOTE, shown->notes.data);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void put_drawn(eb_doc *doc, const eb_shown_figure *shown) {
  const char *id = shown->figure->id;
  const eb_report_picture *pictures = &shown->pictures;
  char file[TARGET_BYTES];
  for (int i = 0; i < pictures->updates; i++) {
    snprintf(file, sizeof file, "%s-updates-%d.png", id, i + 1);
    eb_doc_picture(doc, "pictures", file, "t = %.3g s: %lld elements updated",
                   pictures->update[i].time, (long long)pictures->update[i].updated);
  }
  for (int i = 0; i < pictures->count; i++) {
    snprintf(file, sizeof file, "%s-%s.png", id, pictures->drawn[i].name);
    eb_doc_picture(doc, "pictures", file, "%s, t = %.3g s", pictures->drawn[i].words,
                   pictures->drawn[i].time);
  }
  if (shown->drawn && !pictures->updates && !pictures->count)
    eb_doc_plot(doc, id, "%s", shown->figure->title);
}

/* Of bars their parts and the whole; of courses the first, the largest and the last value; else the
 * point. */
static void put_point(eb_doc *doc, const eb_shown_figure *shown, int p) {
  const eb_paper_figure *figure = shown->figure;
  const eb_time_series *course = shown->series ? &shown->series[p] : NULL;
  const int layers = figure->parts.count + 1;
  if (!shown->layers && !course) eb_doc_number(doc, EB_DOC_PLAIN, shown->x[p]);
  if (eb_paper_is_map(figure)) eb_doc_number(doc, EB_DOC_PLAIN, figure->points[p].row);
  for (int l = 0; shown->layers && l < layers; l++)
    eb_doc_number(doc, EB_DOC_PLAIN, shown->layers[p * layers + l]);
  if (course) eb_doc_number(doc, EB_DOC_PLAIN, course->count ? course->y[0] : NAN);
  eb_doc_number(doc, EB_DOC_PLAIN, shown->y[p]);
  if (course) eb_doc_number(doc, EB_DOC_PLAIN, course->count ? course->y[course->count - 1] : NAN);
}

static void put_point_heads(eb_doc *doc, const eb_shown_figure *shown) {
  const eb_paper_figure *figure = shown->figure;
  if (shown->series) {
    eb_doc_heads(doc, (const char *const[]){"", "first", "largest", "last", NULL});
    return;
  }
  eb_doc_head(doc, "%s", "");
  if (!shown->layers) eb_doc_head(doc, "%s", figure->x);
  for (int l = 0; shown->layers && l < figure->parts.count; l++)
    eb_doc_head(doc, "%s", figure->parts.items[l]);
  if (shown->layers) eb_doc_head(doc, "other");
  eb_doc_head(doc, "%s", shown->layers ? "in all" : figure->y);
  if (eb_paper_is_map(figure)) eb_doc_head(doc, "%s", figure->z);
}

/* Pictures are on the page alone. */
static void put_figure(eb_doc *doc, const eb_shown_figure *shown, bool page) {
  const eb_paper_figure *figure = shown->figure;
  char id[TARGET_BYTES];
  if (!page && !figure->point_count) return;
  snprintf(id, sizeof id, "figure-%s", figure->id);
  eb_doc_heading(doc, 3, id, "%s", figure->title);
  if (!shown->drawn && !figure->point_count) eb_doc_paragraph(doc, EB_DOC_PLAIN, "Not measured.");
  put_drawn(doc, shown);
  if (figure->point_count) {
    eb_doc_details(doc, EB_DOC_FOLDED, "%s", shown->series || shown->layers ? figure->y : "values");
    eb_doc_table(doc, NULL);
    put_point_heads(doc, shown);
    for (int c = 0; c < figure->curve_count; c++)
      for (int p = 0; p < figure->curves[c].count; p++) {
        eb_doc_row(doc, NULL);
        eb_doc_cell(doc, EB_DOC_PLAIN, "%s", figure->curves[c].label);
        put_point(doc, shown, figure->curves[c].first + p);
      }
    eb_doc_end(doc);
    eb_doc_end(doc);
  }
  eb_doc_lines(doc, EB_DOC_NOTE, shown->notes.data);
}

/* ---- a paper --------------------------------------------------------------------------------- */

static void put_navigation(eb_doc *doc, const eb_reproduction *r) {
  char target[TARGET_BYTES];
  eb_doc_navigation(doc);
  if (r->overview) eb_doc_link(doc, r->overview, "all papers");
  if (r->claim_count) eb_doc_link(doc, "#claims", "claims");
  for (int t = 0; t < r->table_count; t++) {
    const eb_paper_table *table = r->tables[t].table;
    snprintf(target, sizeof target, "#%s", table->id);
    eb_doc_link(doc, target, "%s", *table->where ? table->where : table->id);
  }
  if (r->figure_count) eb_doc_link(doc, "#figures", "figures");
  if (r->evidence->results) eb_doc_link(doc, "#runs", "runs");
  if (r->evidence->results) eb_doc_link(doc, "#environment", "environment");
}

static void put_head(eb_doc *doc, const eb_reproduction *r) {
  const eb_paper *paper = r->evidence->paper;
  const eb_results *results = r->evidence->results;
  eb_doc_heading(doc, 1, NULL, "%s: %s", paper->name, paper->title);
  if (*paper->citation) eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s", paper->citation);
  eb_doc_paragraph(doc, EB_DOC_STRONG, "%s",
                   paper->quick ? "A quick run: fewer frames or smaller scenes, as said with "
                                  "every table and claim."
                                : "A full run.");
  put_navigation(doc, r);
  if (r->claim_count) put_tally(doc, r->tally, 0);
  eb_doc_paragraph(
      doc, EB_DOC_PLAIN,
      "Machines differ: verdicts rest on ratios and orders within one run, whose competitors took "
      "turns; absolute times stand beside. A frame's time is the wall time of its steps without "
      "set-up and audit; the first frame is left out, since it holds the first whole "
      "factorization; of repetitions every step's least time counts.");
  if (results) {
    eb_doc_paragraph(doc, EB_DOC_NOTE, "date: %s", eb_results_environment(results, "started"));
    eb_doc_paragraph(doc, EB_DOC_NOTE, "command: ");
    eb_doc_text(doc, EB_DOC_CODE, "%s", eb_results_environment(results, "command_line"));
  }
  eb_doc_lines(doc, EB_DOC_NOTE, r->machine.data);
  put_note(doc, paper);
}

/* Parameters of scenes, options of solvers and lengths of runs. */
static void put_cases(eb_doc *doc, const eb_paper *paper) {
  eb_doc_details(doc, EB_DOC_APPENDIX, "Cases: scenes, solvers and lengths of runs");
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, (const char *const[]){"case", "scene", "solver", "threads", "frames",
                                          "of a full run", NULL});
  for (int c = 0; c < paper->case_count; c++) {
    const eb_paper_case *work = &paper->cases[c];
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", work->name);
    eb_doc_cell(doc, EB_DOC_CODE, "%s", work->scene);
    eb_doc_cell(doc, EB_DOC_CODE, "%s", work->solver);
    eb_doc_number(doc, EB_DOC_PLAIN, (double)work->threads);
    eb_doc_number(doc, EB_DOC_PLAIN, (double)work->frames);
    eb_doc_number(doc, EB_DOC_PLAIN, (double)work->all_frames);
  }
  eb_doc_end(doc);
  eb_doc_end(doc);
}

/* The player of runs, and the environment. */
static eb_error put_runs(eb_doc *doc, const eb_reproduction *r) {
  const eb_paper *paper = r->evidence->paper;
  EB_FREED eb_played *runs = NULL;
  eb_text *notes = NULL;
  EB_TRY(EB_NEW(runs, paper->case_count));
  eb_error error = EB_NEW(notes, paper->case_count);
  for (int c = 0; c < paper->case_count && !error; c++) {
    const eb_paper_case *work = &paper->cases[c];
    error = eb_text_printf(&notes[c], "%s, %s", work->scene, work->solver);
    runs[c] = (eb_played){&r->playbacks[c], work->name, notes[c].data};
  }
  eb_doc_heading(doc, 2, "runs", "Recorded runs");
  if (!error) error = eb_page_player(doc, runs, paper->case_count, NULL, "");
  for (int c = 0; notes && c < paper->case_count; c++) eb_text_clear(&notes[c]);
  free(notes);
  eb_doc_paragraph(doc, EB_DOC_NOTE,
                   "Every run, with its stages, residuals and pictures: elastobench report %s.h5",
                   paper->name);
  if (r->evidence->results) eb_doc_heading(doc, 2, "environment", "Environment");
  if (r->evidence->results) eb_page_facts(doc, r->evidence->results);
  return error;
}

static eb_error build(const eb_reproduction *r, bool page, eb_doc *doc) {
  put_head(doc, r);
  EB_TRY(put_claims(doc, r));
  for (int t = 0; t < r->table_count; t++) put_table(doc, &r->tables[t]);
  if (r->figure_count) eb_doc_heading(doc, 2, "figures", "Figures");
  for (int f = 0; f < r->figure_count; f++) put_figure(doc, &r->figures[f], page);
  put_cases(doc, r->evidence->paper);
  return page ? put_runs(doc, r) : EB_OK;
}

eb_error eb_reproduction_write(const eb_reproduction *r, eb_doc_format format, eb_text *out) {
  const bool page = format == EB_DOC_HTML;
  char title[200];
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  snprintf(title, sizeof title, "%s reproduced", r->evidence->paper->name);
  EB_TRY(build(r, page, &doc));
  return page ? eb_page_text(&doc, title, "papers", out) : eb_doc_write(&doc, format, out);
}

/* ---- several papers -------------------------------------------------------------------------- */

/* The lines of notes that begin with a word, without it, in one cell. */
static void put_noted(eb_doc *doc, const char *notes, const char *word) {
  size_t skip = strlen(word), length;
  const char *separator = "";
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", "");
  for (const char *at; (at = eb_line_next(&notes, &length));) {
    if (length <= skip || strncmp(at, word, skip) != 0) continue;
    eb_doc_text(doc, EB_DOC_PLAIN, "%s%.*s", separator, (int)(length - skip), at + skip);
    separator = "; ";
  }
}

/* The claims of a paper, and links to its tables. An anchor is "#claim-ID" or a table's; RESULTS.md
 * has none. */
static void put_section(eb_doc *doc, const eb_reproduction *r, const char *page, bool anchors) {
  const eb_paper *paper = r->evidence->paper;
  char target[TARGET_BYTES];
  eb_doc_heading(doc, 2, paper->name, "%s", "");
  eb_doc_link(doc, page, "%s", paper->title);
  if (*paper->citation) eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s", paper->citation);
  put_note(doc, paper);
  eb_doc_table(doc, "overview");
  eb_doc_heads(doc, (const char *const[]){"claim", "verdict", "where", "paper", "ours", "quick",
                                          "stand-in", "bounds, and what in them is ours", NULL});
  for (int c = 0; c < r->claim_count; c++) {
    const eb_shown_claim *shown = &r->claims[c];
    snprintf(target, sizeof target, "%s#claim-%s", page, shown->claim->id);
    eb_doc_row(doc, NULL);
    put_claim_cells(doc, shown, anchors ? target : page);
    put_noted(doc, shown->notes.data, "quick: ");
    put_noted(doc, shown->notes.data, "stand-in geometry: ");
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", shown->claim->source);
  }
  eb_doc_end(doc);
  if (r->table_count) eb_doc_paragraph(doc, EB_DOC_PLAIN, "Tables: ");
  for (int t = 0; t < r->table_count; t++) {
    const eb_paper_table *table = r->tables[t].table;
    snprintf(target, sizeof target, "%s#%s", page, table->id);
    if (t) eb_doc_text(doc, EB_DOC_PLAIN, ", ");
    eb_doc_link(doc, anchors ? target : page, "%s", *table->where ? table->where : table->id);
  }
}

/* The paper's row: name, title, verdicts, and the build and day of its runs. */
static void put_paper(eb_doc *doc, const eb_reproduction *r, const char *page) {
  const eb_paper *paper = r->evidence->paper;
  const eb_results *results = r->evidence->results;
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", "");
  eb_doc_link(doc, page, "%s", paper->name);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", paper->title);
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++)
    eb_doc_number(doc, r->tally[k] && k != EB_NOT_COMPARABLE ? verdict_class[k] : EB_DOC_PLAIN,
                  r->tally[k]);
  eb_doc_cell(doc, EB_DOC_PLAIN, results ? "%s, commit %s%s, %.10s" : "not run",
              paper->quick ? "quick" : "full",
              results ? eb_results_environment(results, "commit") : "",
              results ? eb_reproduction_changed(results) : "",
              results ? eb_results_environment(results, "started") : "");
}

void eb_overview_add(eb_overview *o, const eb_reproduction *r, const char *folder) {
  for (int k = 0; k < EB_CLAIM_VERDICTS; k++) o->tally[k] += r->tally[k];
  o->paper_count++;
  o->quick_count += r->evidence->paper->quick;
  for (int k = 0; k < EB_OVERVIEWS; k++) {
    const bool anchors = k == 0 || !o->has_markdown;
    char page[TARGET_BYTES], anchor[TARGET_BYTES];
    snprintf(page, sizeof page, "%s/%s", folder, anchors ? "index.html" : "RESULTS.md");
    snprintf(anchor, sizeof anchor, "#%s", r->evidence->paper->name);
    eb_doc_link(&o->of[k].links, anchor, "%s", r->evidence->paper->name);
    put_paper(&o->of[k].papers, r, page);
    put_section(&o->of[k].sections, r, page, anchors);
  }
}

void eb_overview_clear(eb_overview *o) {
  for (int k = 0; k < EB_OVERVIEWS; k++) {
    eb_doc_clear(&o->of[k].links);
    eb_doc_clear(&o->of[k].papers);
    eb_doc_clear(&o->of[k].sections);
  }
  *o = (eb_overview){0};
}

eb_error eb_overview_write(eb_overview *o, eb_doc_format format, eb_text *out) {
  const bool page = format == EB_DOC_HTML;
  eb_overview_parts *of = &o->of[page ? 0 : 1];
  eb_doc doc = {0};
  eb_doc_heading(&doc, 1, NULL, "Papers reproduced");
  eb_doc_navigation(&doc);
  eb_doc_join(&doc, &of->links);
  put_tally(&doc, o->tally, o->paper_count);
  if (o->quick_count)
    eb_doc_paragraph(&doc, EB_DOC_STRONG,
                     "Quick runs: fewer frames or smaller scenes, as said with every claim.");
  eb_doc_paragraph(
      &doc, EB_DOC_PLAIN,
      "A verdict is what the conditions of a claim come to on audited runs. A stand-in is geometry "
      "that takes the place of a model that is not public. Bounds are the paper's sentences and "
      "numbers, unless they are said to be ours. A claim's link leads to its conditions.");
  eb_doc_table(&doc, "overview");
  eb_doc_heads(&doc, (const char *const[]){"paper", "title", "reproduced", "not reproduced",
                                           "not comparable", "run", NULL});
  eb_doc_join(&doc, &of->papers);
  eb_doc_end(&doc);
  eb_doc_join(&doc, &of->sections);
  eb_error error = page ? eb_page_text(&doc, "Papers reproduced", "papers", out)
                        : eb_doc_write(&doc, format, out);
  eb_doc_clear(&doc);
  return error;
}
