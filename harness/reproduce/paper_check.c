/* A paper's expressions: whether they are right, and which cases they name. */
#include <string.h>

#include "harness/names.h"
#include "harness/reproduce/evaluate.h"
#include "problems/notation/untrusted.h"
#include "problems/base/memory.h"

/* A name that stands for an expression stands for nothing else: not for a case, a table, or a row
 * or column of one. */
static eb_error check_definition(const eb_paper *paper, const eb_definition *one) {
  size_t length = strlen(one->name);
  bool word = eb_paper_case_find(paper, one->name) >= 0;
  for (int t = 0; t < paper->table_count && !word; t++) {
    const eb_paper_table *table = &paper->tables[t];
    const eb_strings *const lists[] = {&table->keys, &table->names};
    word = strcmp(table->id, one->name) == 0;
    for (int l = 0; l < 2; l++) word = word || eb_word_find(lists[l], one->name, length) >= 0;
  }
  word = word && one->parameters.count == 0;
  if (!word && !eb_is_function(one->name)) return EB_OK;
  return eb_section_locate(
      eb_sections_find(&paper->sections, "names", ""), one->entry,
      EB_ERROR(EB_ERR_FORMAT, "'%s' is %s already", one->name,
               word ? "a case, a table, or a row or column of one" : "a function of the language"));
}

/* How many nodes are evaluated: loops multiply what they run over, and ratios are of so many cells,
 * whose own nodes are at most `cells`. *ratios: whether there are any. */
static double count_evaluated(const eb_expression *e, double cells, bool *ratios) {
  bool own = e && e->op == EB_OP_CALL && strcmp(e->text, "ratios") == 0;
  double turns = 1, sum = own ? 1 + cells : 1;
  if (!e) return 0;
  *ratios = *ratios || own;
  for (int l = 0; l < e->loop_count; l++) turns *= e->loops[l].words.count;
  for (int i = 0; i < e->count; i++)
    sum += (i < e->looped ? turns : 1) * count_evaluated(e->items[i], cells, ratios);
  return sum + count_evaluated(e->from.call, cells, ratios) +
         count_evaluated(e->to.call, cells, ratios);
}

static bool has_ratios(const eb_expression *e) {
  bool ratios = false;
  count_evaluated(e, 0, &ratios);
  return ratios;
}

static double count_in_cells(const eb_paper *paper) {
  double sum = 0;
  bool ratios = false;
  for (int t = 0; t < paper->table_count; t++)
    for (int c = 0; c < paper->tables[t].keys.count * paper->tables[t].column_count; c++)
      sum += count_evaluated(paper->tables[t].cells[c], 0, &ratios);
  return sum;
}

/* ---- every expression ------------------------------------------------------------------------ */

/* What is done with an expression that is to be of that kind: it is checked, or its cases are
 * marked. */
typedef eb_error (*expression_visit)(const eb_paper *paper, const eb_expression *of,
                                     const eb_scope *scope, eb_value_kind kind, bool *cases);

static eb_error visit_table(const eb_paper *paper, const eb_paper_table *table,
                            expression_visit visit, bool *cases) {
  for (int i = 0; i < table->keys.count * table->column_count; i++)
    if (table->cells[i])
      EB_TRY(eb_error_prefix(visit(paper, table->cells[i], NULL, EB_VALUE_NUMBER, cases),
                             "row '%s', column '%s'", table->keys.items[i / table->column_count],
                             table->columns[i % table->column_count].name));
  return EB_OK;
}

/* The paper's own number marks no case. */
static eb_error visit_claim(const eb_paper *paper, const eb_paper_claim *claim,
                            expression_visit visit, bool *cases) {
  const eb_section *section = claim->section;
  const eb_expression *const others[] = {claim->given, claim->ours, cases ? NULL : claim->paper};
  static const char *const keys[] = {"given", "ours", "paper"};
  for (int c = 0; c < claim->hold_count + claim->range_count; c++) {
    const eb_paper_condition *one =
        c < claim->hold_count ? &claim->holds[c] : &claim->range[c - claim->hold_count];
    EB_TRY(
        eb_section_locate(section, one->entry, visit(paper, one->of, NULL, EB_VALUE_TRUTH, cases)));
  }
  for (int k = 0; k < 3; k++)
    if (others[k])
      EB_TRY(eb_section_locate(
          section, eb_section_entry(section, keys[k]),
          visit(paper, others[k], NULL, k == 0 ? EB_VALUE_TRUTH : EB_VALUE_NUMBER, cases)));
  return EB_OK;
}

/* For every point. */
static eb_error visit_figure(const eb_paper *paper, const eb_paper_figure *figure,
                             expression_visit visit, bool *cases) {
  eb_value_kind kind = eb_paper_is_course(figure) ? EB_VALUE_SERIES : EB_VALUE_NUMBER;
  for (int p = 0; p < figure->point_count && !figure->residuals; p++) {
    eb_scope scopes[2];
    eb_paper_point_scope(paper, &figure->points[p], scopes);
    EB_TRY(visit(paper, figure->value, scopes, kind, cases));
    if (figure->across) EB_TRY(visit(paper, figure->across, scopes, EB_VALUE_NUMBER, cases));
    for (int s = 0; s < figure->parts.count; s++)
      EB_TRY(visit(paper, figure->shares[s], scopes, EB_VALUE_NUMBER, cases));
  }
  return EB_OK;
}

/* ---- checking -------------------------------------------------------------------------------- */

/* Whether every name and kind of value is right; what is not written is. What would be evaluated
 * without end is not begun. */
static eb_error check(const eb_paper *paper, const eb_expression *of, const eb_scope *scope,
                      eb_value_kind kind, bool *cases) {
  eb_evaluation e = {.paper = paper, .left_out = -1, .named = cases};
  eb_value value = {0};
  bool ratios = has_ratios(of);
  double cells = ratios ? count_in_cells(paper) : 0;
  EB_TRY(eb_ask_evaluations(paper->sections.asked, count_evaluated(of, cells, &ratios)));
  eb_error error = eb_evaluate(&e, of, scope, &value);
  if (!error && value.kind != kind)
    error = EB_ERROR(EB_ERR_FORMAT, "%s is expected, not %s", eb_value_kind_name(kind),
                     eb_value_kind_name(value.kind));
  eb_value_clear(&value);
  return error;
}

/* The ratios of a table are of its cells, which would be of theirs without end. */
static eb_error check_cell(const eb_paper *paper, const eb_expression *of, const eb_scope *scope,
                           eb_value_kind kind, bool *cases) {
  return has_ratios(of) ? EB_ERROR(EB_ERR_FORMAT, "'ratios' is for claims and figures, and stands "
                                                  "in no cell of a table")
                        : check(paper, of, scope, kind, cases);
}

static eb_error check_paper(const eb_paper *paper) {
  const eb_sections *all = &paper->sections;
  for (int t = 0; t < paper->table_count; t++)
    EB_TRY(eb_section_locate(eb_sections_find(all, "table", paper->tables[t].id), NULL,
                             visit_table(paper, &paper->tables[t], check_cell, NULL)));
  for (int i = 0; i < paper->definitions.count; i++)
    EB_TRY(check_definition(paper, &paper->definitions.items[i]));
  for (int f = 0; f < paper->figure_count; f++)
    EB_TRY(eb_section_locate(eb_sections_find(all, "figure", paper->figures[f].id), NULL,
                             visit_figure(paper, &paper->figures[f], check, NULL)));
  for (int c = 0; c < paper->claim_count; c++)
    EB_TRY(visit_claim(paper, &paper->claims[c], check, NULL));
  return EB_OK;
}

eb_error eb_paper_load(const char *name, const char *from, bool quick, eb_paper **out) {
  EB_TRY(eb_paper_read(name, from, quick, out));
  eb_error error = check_paper(*out);
  if (!error) return EB_OK;
  eb_paper_destroy(*out);
  *out = NULL;
  return error;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static eb_error mark(const eb_paper *paper, const eb_expression *of, const eb_scope *scope,
                     eb_value_kind kind, bool *cases) {
  (void)kind;
  return eb_expression_cases(paper, of, scope, cases);
}

eb_error eb_paper_table_cases(const eb_paper *paper, const eb_paper_table *table, bool *cases) {
  return visit_table(paper, table, mark, cases);
}

eb_error eb_paper_claim_cases(const eb_paper *paper, const eb_paper_claim *claim, bool *cases) {
  return visit_claim(paper, claim, mark, cases);
}

eb_error eb_paper_figure_cases(const eb_paper *paper, const eb_paper_figure *figure, bool *cases) {
  if (figure->show >= 0) cases[figure->show] = true;
  for (int p = 0; p < figure->point_count && figure->residuals; p++)
    cases[figure->points[p].case_] = true;
  return visit_figure(paper, figure, mark, cases);
}

static eb_error unknown_item(const eb_paper *paper, const char *item) {
  const struct {
    const void *items;
    int count;
    size_t size;
  } all[] = {{paper->tables, paper->table_count, sizeof *paper->tables},
             {paper->claims, paper->claim_count, sizeof *paper->claims},
             {paper->figures, paper->figure_count, sizeof *paper->figures}};
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < all[k].count && !error; i++) {
      const char *id;
      memcpy(&id, (const char *)all[k].items + (size_t)i * all[k].size, sizeof id);
      if (eb_word_find(&names, id, strlen(id)) < 0) error = eb_strings_add(&names, id);
    }
  if (!error) error = eb_unknown_name("table, claim or figure", item, &names);
  eb_strings_clear(&names);
  return error;
}

/* With a claim come the tables and figures that it is shown with or judged by. */
static eb_error choose_claim(const eb_paper *paper, const eb_paper_claim *claim,
                             eb_paper_choice *out) {
  for (int e = 0; e < claim->section->count; e++) {
    const eb_entry *entry = &claim->section->entries[e];
    if (strcmp(entry->key, "table") == 0)
      out->tables[eb_paper_table_find(paper, entry->value)] = true;
    if (strcmp(entry->key, "figure") == 0)
      out->figures[eb_paper_figure_find(paper, entry->value)] = true;
  }
  return eb_paper_claim_cases(paper, claim, out->cases);
}

eb_error eb_paper_choose(const eb_paper *paper, const char *item, eb_paper_choice *out) {
  bool any = !item;
  if (!out->cases) EB_TRY(EB_NEW(out->cases, paper->case_count));
  if (!out->tables) EB_TRY(EB_NEW(out->tables, paper->table_count));
  if (!out->claims) EB_TRY(EB_NEW(out->claims, paper->claim_count));
  if (!out->figures) EB_TRY(EB_NEW(out->figures, paper->figure_count));
  for (int c = 0; c < paper->claim_count; c++) {
    if (!item || strcmp(item, paper->claims[c].id) == 0) out->claims[c] = any = true;
    if (out->claims[c]) EB_TRY(choose_claim(paper, &paper->claims[c], out));
  }
  for (int t = 0; t < paper->table_count; t++) {
    if (!item || strcmp(item, paper->tables[t].id) == 0) out->tables[t] = any = true;
    if (out->tables[t]) EB_TRY(eb_paper_table_cases(paper, &paper->tables[t], out->cases));
  }
  for (int f = 0; f < paper->figure_count; f++) {
    if (!item || strcmp(item, paper->figures[f].id) == 0) out->figures[f] = any = true;
    if (out->figures[f]) EB_TRY(eb_paper_figure_cases(paper, &paper->figures[f], out->cases));
  }
  return any ? EB_OK : unknown_item(paper, item);
}

void eb_paper_choice_clear(eb_paper_choice *choice) {
  free(choice->cases);
  free(choice->tables);
  free(choice->claims);
  free(choice->figures);
  *choice = (eb_paper_choice){0};
}
