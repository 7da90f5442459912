#include "harness/reproduce/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/measure.h"
#include "harness/reproduce/paper_file.h"
#include "problems/base/memory.h"

/* ---- claims ----------------------------------------------------------------------------------- */

static eb_error unknown_measure(const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (const eb_measure *const *m = eb_measures; *m && !error; m++)
    error = eb_strings_add(&names, (*m)->name);
  if (!error) error = eb_unknown_name("measure", name, &names);
  eb_strings_clear(&names);
  return error;
}

static eb_error read_paper_value(const eb_section *section, double *out) {
  const char *text = eb_section_value(section, "paper");
  *out = NAN;
  return text ? eb_parse_real("paper", text, -1e300, 1e300, out) : EB_OK;
}

static eb_error read_claim(eb_paper *paper, const eb_section *section) {
  eb_paper_claim *claim = &paper->claims[paper->claim_count++];
  const char *measure = eb_section_value(section, "measure"),
             *where = eb_section_value(section, "where");
  claim->id = section->label;
  claim->arguments = section;
  claim->where = where ? where : "";
  EB_TRY(eb_section_joined(section, "claim", &claim->text));
  EB_TRY(eb_section_joined(section, "note", &claim->note));
  EB_TRY(read_paper_value(section, &claim->paper));
  if (!measure) return EB_ERROR(EB_ERR_FORMAT, "'measure' is missing");
  claim->measure = eb_measure_find(measure);
  return claim->measure ? eb_measure_check(paper, claim) : unknown_measure(measure);
}

static eb_error read_claims(eb_paper *paper) {
  EB_TRY(EB_NEW(paper->claims, paper->sections.count));
  for (int i = 0; i < paper->sections.count; i++) {
    const eb_section *section = &paper->sections.items[i];
    if (strcmp(section->kind, "claim") == 0)
      EB_TRY(eb_error_prefix(read_claim(paper, section), "[claim %s]", section->label));
  }
  return EB_OK;
}

/* ---- the paper -------------------------------------------------------------------------------- */

static eb_error check_kinds(const eb_paper *paper) {
  static const char *const kinds[] = {"paper", "solvers", "cases", "table",
                                      "claim", "figure",  "probe", NULL};
  for (int i = 0; i < paper->sections.count; i++) {
    int k = 0;
    while (kinds[k] && strcmp(kinds[k], paper->sections.items[i].kind) != 0) k++;
    if (!kinds[k])
      return EB_ERROR(EB_ERR_FORMAT,
                      "there is no kind of section '%s'; there are: paper, solvers, cases, table, "
                      "claim, figure, probe",
                      paper->sections.items[i].kind);
  }
  return EB_OK;
}

static eb_error read_paper(eb_paper *paper, const char *from) {
  static const char *const keys[] = {"title", "citation", "machine", "note", NULL};
  const eb_section *head = eb_sections_find(&paper->sections, "paper", "");
  EB_TRY(check_kinds(paper));
  if (head) EB_TRY(eb_section_expect(head, keys));
  EB_TRY(eb_section_joined(head, "title", &paper->title));
  EB_TRY(eb_section_joined(head, "citation", &paper->citation));
  EB_TRY(eb_section_joined(head, "machine", &paper->machine));
  EB_TRY(eb_section_joined(head, "note", &paper->note));
  EB_TRY(eb_paper_read_cases(paper));
  EB_TRY(eb_paper_read_tables(paper, from));
  EB_TRY(eb_paper_read_figures(paper));
  return read_claims(paper);
}

static eb_error load(eb_paper *paper, const char *from) {
  eb_paper_file file;
  EB_TRY(eb_paper_file_read(paper->name, from, "paper.ini", &file));
  eb_error error = eb_sections_parse(file.path, file.text.data, &paper->sections);
  if (!error) error = eb_error_prefix(read_paper(paper, from), "%s", file.path);
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
  for (int c = 0; c < paper->claim_count; c++) {
    free(paper->claims[c].text);
    free(paper->claims[c].note);
  }
  free(paper->claims);
  eb_paper_clear_tables(paper);
  eb_paper_clear_figures(paper);
  eb_paper_clear_cases(paper);
  eb_sections_clear(&paper->sections);
  free(paper->name);
  free(paper->title);
  free(paper->citation);
  free(paper->machine);
  free(paper->note);
  free(paper);
}

/* ---- choosing --------------------------------------------------------------------------------- */

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

static eb_error table_cases(const eb_paper *paper, const eb_paper_table *table, bool *wanted) {
  for (int r = 0; r < table->keys.count; r++)
    for (int c = 0; c < table->column_count; c++) {
      eb_paper_source source;
      EB_TRY(eb_paper_cell(paper, table, r, &table->columns[c], &source));
      free(source.statistic);
      if (source.case_ >= 0) wanted[source.case_] = true;
    }
  return EB_OK;
}

static void figure_cases(const eb_paper_figure *figure, bool *wanted) {
  if (figure->against >= 0) wanted[figure->against] = true;
  if (figure->show >= 0) wanted[figure->show] = true;
  for (int p = 0; p < figure->point_count; p++) {
    if (figure->points[p].case_ >= 0) wanted[figure->points[p].case_] = true;
    if (figure->points[p].against >= 0) wanted[figure->points[p].against] = true;
  }
}

/* Tables and figures that a claim is shown with or judged by. */
static void claim_company(const eb_paper *paper, const eb_paper_claim *claim,
                          eb_paper_choice *out) {
  for (int e = 0; e < claim->arguments->count; e++) {
    const eb_entry *entry = &claim->arguments->entries[e];
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
    EB_TRY(eb_measure_cases(paper, &paper->claims[c], out->cases));
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
    if (out->tables[t]) EB_TRY(table_cases(paper, &paper->tables[t], out->cases));
  }
  for (int f = 0; f < paper->figure_count; f++) {
    if (is_item(item, paper->figures[f].id)) out->figures[f] = any = true;
    if (out->figures[f]) figure_cases(&paper->figures[f], out->cases);
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

int eb_paper_row_find(const eb_paper_table *table, const char *key) {
  for (int r = 0; r < table->keys.count; r++)
    if (strcmp(table->keys.items[r], key) == 0) return r;
  return -1;
}
