#include "harness/reproduce/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "harness/reproduce/paper_file.h"
#include "problems/base/memory.h"

/* ---- claims ---------------------------------------------------------------------------------- */

/* An expression of an entry, checked. */
static eb_error read_expression(const eb_paper *paper, const eb_section *section,
                                const eb_entry *entry, eb_value_kind wanted, eb_expression **out) {
  eb_error error = EB_OK;
  if (*out) error = EB_ERROR(EB_ERR_FORMAT, "it is there twice");
  if (!error) error = eb_definitions_parse(&paper->definitions, entry->value, out);
  if (!error) error = eb_expression_check(paper, *out, NULL, wanted);
  return eb_section_locate(section, entry, error);
}

static eb_error read_claim_entry(const eb_paper *paper, const eb_section *section,
                                 const eb_entry *entry, eb_paper_claim *claim) {
  const char *key = entry->key;
  if (strcmp(key, "holds") == 0)
    return read_expression(paper, section, entry, EB_VALUE_TRUTH,
                           &claim->holds[claim->hold_count++]);
  if (strcmp(key, "given") == 0)
    return read_expression(paper, section, entry, EB_VALUE_TRUTH, &claim->given);
  if (strcmp(key, "paper") == 0)
    return read_expression(paper, section, entry, EB_VALUE_NUMBER, &claim->paper);
  if (strcmp(key, "ours") == 0)
    return read_expression(paper, section, entry, EB_VALUE_NUMBER, &claim->ours);
  bool missing = (strcmp(key, "table") == 0 && eb_paper_table_find(paper, entry->value) < 0) ||
                 (strcmp(key, "figure") == 0 && eb_paper_figure_find(paper, entry->value) < 0);
  return missing
             ? eb_section_locate(section, entry,
                                 EB_ERROR(EB_ERR_FORMAT, "there is no %s '%s'", key, entry->value))
             : EB_OK;
}

static eb_error read_claim(eb_paper *paper, const eb_section *section) {
  static const char *const keys[] = {"claim", "holds", "source", "given", "paper",
                                     "ours",  "table", "figure", "note",  NULL};
  eb_paper_claim *claim = &paper->claims[paper->claim_count++];
  claim->id = section->label;
  claim->section = section;
  claim->where = section->text;
  EB_TRY(eb_section_locate(section, NULL, eb_section_expect(section, keys)));
  EB_TRY(eb_section_joined(section, "claim", &claim->text));
  EB_TRY(eb_section_joined(section, "note", &claim->note));
  EB_TRY(eb_section_joined(section, "source", &claim->source));
  EB_TRY(EB_NEW(claim->holds, section->count));
  for (int i = 0; i < section->count; i++)
    EB_TRY(read_claim_entry(paper, section, &section->entries[i], claim));
  if (claim->hold_count) return EB_OK;
  return eb_section_locate(
      section, NULL,
      EB_ERROR(EB_ERR_FORMAT, "'holds = EXPRESSION' is missing: nothing is claimed"));
}

static eb_error read_claims(eb_paper *paper) {
  EB_TRY(EB_NEW(paper->claims, paper->sections.count));
  for (int i = 0; i < paper->sections.count; i++)
    if (strcmp(paper->sections.items[i].kind, "claim") == 0)
      EB_TRY(read_claim(paper, &paper->sections.items[i]));
  return EB_OK;
}

static void clear_claim(eb_paper_claim *claim) {
  free(claim->text);
  free(claim->note);
  free(claim->source);
  for (int h = 0; h < claim->hold_count; h++) eb_expression_destroy(claim->holds[h]);
  free(claim->holds);
  eb_expression_destroy(claim->given);
  eb_expression_destroy(claim->paper);
  eb_expression_destroy(claim->ours);
}

/* ---- the paper ------------------------------------------------------------------------------- */

static eb_error check_kinds(const eb_paper *paper) {
  static const char *const kinds[] = {"paper", "solvers", "cases",  "names",
                                      "table", "claim",   "figure", NULL};
  for (int i = 0; i < paper->sections.count; i++) {
    int k = 0;
    while (kinds[k] && strcmp(kinds[k], paper->sections.items[i].kind) != 0) k++;
    if (kinds[k]) continue;
    return eb_section_locate(
        &paper->sections.items[i], NULL,
        EB_ERROR(EB_ERR_FORMAT,
                 "there is no kind of section '%s'; there are: paper, solvers, cases, names, "
                 "table, claim, figure",
                 paper->sections.items[i].kind));
  }
  return EB_OK;
}

/* Whether a word that stands for a case, a table, or a row or column of one. */
static bool is_word_of(const eb_paper *paper, const char *name) {
  bool found = eb_paper_case_find(paper, name, strlen(name)) >= 0;
  for (int t = 0; t < paper->table_count && !found; t++) {
    const eb_paper_table *table = &paper->tables[t];
    found = strcmp(table->id, name) == 0 || eb_paper_row_find(table, name) >= 0;
    for (int c = 0; c < table->names.count; c++)
      found = found || strcmp(table->names.items[c], name) == 0;
  }
  return found;
}

/* A name that stands for an expression stands for nothing else. */
static eb_error check_definitions(const eb_paper *paper) {
  for (int i = 0; i < paper->definitions.count; i++) {
    const eb_definition *one = &paper->definitions.items[i];
    bool word = one->parameters.count == 0 && is_word_of(paper, one->name);
    if (!word && !eb_is_function(one->name)) continue;
    return eb_section_locate(eb_sections_find(&paper->sections, "names", ""), one->entry,
                             EB_ERROR(EB_ERR_FORMAT, "'%s' is %s already", one->name,
                                      word ? "a case, a table, or a row or column of one"
                                           : "a function of the language"));
  }
  return EB_OK;
}

static eb_error read_paper(eb_paper *paper, const char *from) {
  static const char *const keys[] = {"title", "citation", "machine", "note", NULL};
  const eb_section *head = eb_sections_find(&paper->sections, "paper", "");
  EB_TRY(check_kinds(paper));
  if (head) EB_TRY(eb_section_locate(head, NULL, eb_section_expect(head, keys)));
  EB_TRY(eb_section_joined(head, "title", &paper->title));
  EB_TRY(eb_section_joined(head, "citation", &paper->citation));
  EB_TRY(eb_section_joined(head, "machine", &paper->machine));
  EB_TRY(eb_section_joined(head, "note", &paper->note));
  EB_TRY(eb_definitions_read(eb_sections_find(&paper->sections, "names", ""), &paper->definitions));
  EB_TRY(eb_paper_read_cases(paper));
  EB_TRY(eb_paper_read_tables(paper, from));
  EB_TRY(check_definitions(paper));
  EB_TRY(eb_paper_read_figures(paper));
  return read_claims(paper);
}

static eb_error load(eb_paper *paper, const char *from) {
  eb_paper_file file;
  EB_TRY(eb_paper_file_read(paper->name, from, "paper.ini", &file));
  eb_error error = eb_sections_parse(file.path, file.text.data, &paper->sections);
  if (!error) error = read_paper(paper, from);
  eb_paper_file_clear(&file);
  return error;
}

eb_error eb_paper_load(const char *name, const char *from, bool quick, eb_paper **out) {
  eb_paper *paper;
  *out = NULL;
  EB_TRY(EB_NEW(paper, 1));
  paper->quick = quick;
  paper->name = strdup(name);
  eb_error error =
      paper->name ? load(paper, from) : EB_ERROR(EB_ERR_MEMORY, "cannot keep a paper's name");
  if (error)
    eb_paper_destroy(paper);
  else
    *out = paper;
  return error;
}

void eb_paper_destroy(eb_paper *paper) {
  if (!paper) return;
  for (int c = 0; c < paper->claim_count; c++) clear_claim(&paper->claims[c]);
  free(paper->claims);
  eb_paper_clear_tables(paper);
  eb_paper_clear_figures(paper);
  eb_paper_clear_cases(paper);
  eb_definitions_clear(&paper->definitions);
  eb_strings_clear(&paper->texts);
  eb_sections_clear(&paper->sections);
  free(paper->name);
  free(paper->title);
  free(paper->citation);
  free(paper->machine);
  free(paper->note);
  free(paper);
}

/* ---- choosing -------------------------------------------------------------------------------- */

static eb_error add_once(eb_strings *names, const char *name) {
  for (int i = 0; i < names->count; i++)
    if (strcmp(names->items[i], name) == 0) return EB_OK;
  return eb_strings_add(names, name);
}

static eb_error unknown_item(const eb_paper *paper, const char *item) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int t = 0; t < paper->table_count && !error; t++)
    error = add_once(&names, paper->tables[t].id);
  for (int c = 0; c < paper->claim_count && !error; c++)
    error = add_once(&names, paper->claims[c].id);
  for (int f = 0; f < paper->figure_count && !error; f++)
    error = add_once(&names, paper->figures[f].id);
  if (!error) error = eb_unknown_name("table, claim or figure", item, &names);
  eb_strings_clear(&names);
  return error;
}

/* Marks what an expression names. */
static eb_error mark(const eb_paper *paper, const eb_expression *expression, const eb_scope *scope,
                     bool *cases) {
  eb_evaluation e = {.paper = paper, .named = cases, .repetition = -1};
  eb_value value = {0};
  eb_error error = expression ? eb_evaluate(&e, expression, scope, &value) : EB_OK;
  eb_value_clear(&value);
  return error;
}

eb_error eb_paper_table_cases(const eb_paper *paper, const eb_paper_table *table, bool *cases) {
  for (int c = 0; c < table->keys.count * table->column_count; c++)
    EB_TRY(mark(paper, table->cells[c], NULL, cases));
  return EB_OK;
}

eb_error eb_paper_claim_cases(const eb_paper *paper, const eb_paper_claim *claim, bool *cases) {
  for (int h = 0; h < claim->hold_count; h++) EB_TRY(mark(paper, claim->holds[h], NULL, cases));
  EB_TRY(mark(paper, claim->given, NULL, cases));
  return mark(paper, claim->ours, NULL, cases);
}

eb_error eb_paper_figure_cases(const eb_paper *paper, const eb_paper_figure *figure, bool *cases) {
  eb_scope scopes[2];
  if (figure->show >= 0 && cases) cases[figure->show] = true;
  for (int p = 0; p < figure->point_count; p++) {
    if (figure->residuals && cases) cases[figure->points[p].case_] = true;
    if (figure->residuals) continue;
    eb_paper_point_scope(paper, &figure->points[p], scopes);
    EB_TRY(mark(paper, figure->value, scopes, cases));
    for (int s = 0; s < figure->parts.count; s++)
      EB_TRY(mark(paper, figure->shares[s], scopes, cases));
  }
  return EB_OK;
}

/* Tables and figures that a claim is shown with or judged by. */
static void claim_company(const eb_paper *paper, const eb_paper_claim *claim,
                          eb_paper_choice *out) {
  for (int e = 0; e < claim->section->count; e++) {
    const eb_entry *entry = &claim->section->entries[e];
    int table = strcmp(entry->key, "table") == 0 ? eb_paper_table_find(paper, entry->value) : -1;
    int figure = strcmp(entry->key, "figure") == 0 ? eb_paper_figure_find(paper, entry->value) : -1;
    if (table >= 0) out->tables[table] = true;
    if (figure >= 0) out->figures[figure] = true;
  }
}

static bool is_item(const char *item, const char *id) {
  return !item || strcmp(item, id) == 0;
}

static eb_error choose_claims(const eb_paper *paper, const char *item, eb_paper_choice *out,
                              bool *any) {
  for (int c = 0; c < paper->claim_count; c++) {
    out->claims[c] = is_item(item, paper->claims[c].id);
    if (!out->claims[c]) continue;
    *any = true;
    claim_company(paper, &paper->claims[c], out);
    EB_TRY(eb_paper_claim_cases(paper, &paper->claims[c], out->cases));
  }
  return EB_OK;
}

static eb_error choose(const eb_paper *paper, const char *item, eb_paper_choice *out) {
  bool any = !item;
  EB_TRY(EB_NEW(out->cases, paper->case_count));
  EB_TRY(EB_NEW(out->tables, paper->table_count));
  EB_TRY(EB_NEW(out->claims, paper->claim_count));
  EB_TRY(EB_NEW(out->figures, paper->figure_count));
  EB_TRY(choose_claims(paper, item, out, &any));
  for (int t = 0; t < paper->table_count; t++) {
    if (is_item(item, paper->tables[t].id)) out->tables[t] = any = true;
    if (out->tables[t]) EB_TRY(eb_paper_table_cases(paper, &paper->tables[t], out->cases));
  }
  for (int f = 0; f < paper->figure_count; f++) {
    if (is_item(item, paper->figures[f].id)) out->figures[f] = any = true;
    if (out->figures[f]) EB_TRY(eb_paper_figure_cases(paper, &paper->figures[f], out->cases));
  }
  return any ? EB_OK : unknown_item(paper, item);
}

eb_error eb_paper_choose(const eb_paper *paper, const char *item, eb_paper_choice *out) {
  *out = (eb_paper_choice){0};
  return choose(paper, item, out);
}

void eb_paper_choice_clear(eb_paper_choice *choice) {
  free(choice->cases);
  free(choice->tables);
  free(choice->claims);
  free(choice->figures);
  *choice = (eb_paper_choice){0};
}
