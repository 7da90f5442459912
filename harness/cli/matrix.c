#include "harness/cli/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "harness/case/caveats.h"
#include "harness/doc/doc.h"
#include "harness/names.h"
#include "harness/results/json.h"
#include "harness/served.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/strings.h"

/* ---- pairs ----------------------------------------------------------------------------------- */

/* A scene and a solver. */
typedef struct pair {
  const eb_solver_ops *solver;
  uint32_t lacks; /* eb_capability bits; 0: it serves the scene as it is */
  char *with;     /* values with which it serves it; "": none helps */
  char *note;     /* what is said before it runs (harness/case/caveats.h) */
  bool expected;  /* by the note its audit may fail */
} pair;

typedef struct row {
  const eb_scene_ops *scene;
  pair *pairs;
} row;

/* Scenes by solvers. */
typedef struct matrix {
  const eb_solver_ops **solvers;
  int solver_count;
  row *rows;
  int row_count;
} matrix;

static void row_clear(row *r, int solver_count) {
  for (int s = 0; r->pairs && s < solver_count; s++) {
    free(r->pairs[s].with);
    free(r->pairs[s].note);
  }
  free(r->pairs);
}

static void matrix_clear(matrix *m) {
  for (int r = 0; r < m->row_count; r++) row_clear(&m->rows[r], m->solver_count);
  free(m->rows);
  free(m->solvers);
}

static eb_error add_solver(matrix *m, const eb_solver_ops *solver) {
  EB_TRY(EB_APPEND(m->solvers, m->solver_count));
  m->solvers[m->solver_count - 1] = solver;
  return EB_OK;
}

/* All that can run without being given anything: a program of the user's says itself what it
 * serves. */
static eb_error add_solvers(matrix *m, const eb_plugins *plugins) {
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++)
    if (!eb_solver_wants_options(*at)) EB_TRY(add_solver(m, *at));
  for (int i = 0; i < plugins->count; i++) EB_TRY(add_solver(m, plugins->items[i].solver));
  return EB_OK;
}

static eb_error fill_pair(const eb_served *served, const eb_solver_ops *solver, pair *out) {
  EB_OWNED(eb_text_clear) eb_text with = {0}, note = {0};
  out->solver = solver;
  out->lacks = eb_capabilities_lacking(solver->capabilities, served->needs);
  if (out->lacks) EB_TRY(eb_served_with(served, solver, &with));
  EB_TRY(eb_caveats_put(served->scene, solver, &out->expected, &note));
  EB_TRY(eb_string_set(&out->with, with.data));
  return eb_string_set(&out->note, note.data);
}

static eb_error add_row(matrix *m, const eb_scene_ops *scene, const char *parameters) {
  eb_served served = {0};
  EB_TRY(EB_APPEND(m->rows, m->row_count));
  row *r = &m->rows[m->row_count - 1];
  r->scene = scene;
  EB_TRY(EB_NEW(r->pairs, m->solver_count));
  eb_error error = eb_served_open(scene, parameters, NULL, &served);
  for (int s = 0; s < m->solver_count && !error; s++)
    error = fill_pair(&served, m->solvers[s], &r->pairs[s]);
  eb_served_clear(&served);
  return error;
}

static eb_error add_rows(matrix *m) {
  for (const eb_scene_ops *const *at = eb_scenes(); *at; at++) EB_TRY(add_row(m, *at, NULL));
  return EB_OK;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *pair_json(const row *r, const pair *p) {
  json_t *lacks = json_array();
  const char *defaults = eb_solver_defaults(p->solver, r->scene);
  for (uint32_t bit = 1; bit; bit <<= 1)
    if (p->lacks & bit && eb_capability_name(bit))
      json_array_append_new(lacks, eb_json_text(eb_capability_name(bit)));
  return eb_json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:s, s:s, s:b}", "scene", r->scene->name,
                      "small", r->scene->small ? r->scene->small : "", "solver", p->solver->name,
                      "served", p->lacks == 0, "with", p->with, "lacks", lacks, "defaults",
                      defaults ? defaults : "", "note", p->note, "may_fail", p->expected);
}

static eb_error print_json(const matrix *m) {
  json_t *pairs = json_array();
  for (int r = 0; r < m->row_count; r++)
    for (int s = 0; s < m->solver_count; s++)
      json_array_append_new(pairs, pair_json(&m->rows[r], &m->rows[r].pairs[s]));
  return eb_json_print(eb_json_pack("{s:o}", "pairs", pairs), stdout);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void put_heads(eb_doc *doc, const char *first) {
  eb_doc_table(doc, NULL);
  eb_doc_head(doc, "%s", first);
  eb_doc_head(doc, "served");
  eb_doc_head(doc, "why");
}

/* Whether the pair is served, and what makes it so or not. */
static void put_pair(eb_doc *doc, const pair *p, const char *name) {
  char lacks[512];
  eb_capability_names(p->lacks, lacks, sizeof lacks);
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_STRONG, "%s", name);
  if (p->lacks == 0)
    eb_doc_cell(doc, EB_DOC_GOOD, "yes");
  else if (*p->with)
    eb_doc_cell(doc, EB_DOC_PLAIN, "with %s", p->with);
  else
    eb_doc_cell(doc, EB_DOC_BAD, "no");
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s%s", p->lacks ? "lacks " : "", lacks);
  if (p->lacks == 0) eb_doc_text(doc, EB_DOC_PLAIN, "%s", p->note);
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static const char *mark(const pair *p) {
  return p->lacks == 0 ? p->expected ? "!" : "+" : *p->with ? "o" : ".";
}

static void put_marks(eb_doc *doc, const matrix *m) {
  eb_doc_table(doc, NULL);
  eb_doc_head(doc, "scene");
  for (int s = 0; s < m->solver_count; s++) eb_doc_head(doc, "%d", s + 1);
  for (int r = 0; r < m->row_count; r++) {
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_STRONG, "%s", m->rows[r].scene->name);
    for (int s = 0; s < m->solver_count; s++)
      eb_doc_cell(doc, EB_DOC_PLAIN, "%s", mark(&m->rows[r].pairs[s]));
  }
  eb_doc_end(doc);
}

static void put_legend(eb_doc *doc, const matrix *m) {
  static const char marks[] = "+!o.";
  int counts[sizeof marks] = {0};
  for (int r = 0; r < m->row_count; r++)
    for (int s = 0; s < m->solver_count; s++) counts[strcspn(marks, mark(&m->rows[r].pairs[s]))]++;
  eb_doc_paragraph(doc, EB_DOC_PLAIN,
                   "%d pairs: + %d are served, ! %d are served and may fail their audit by "
                   "default, which is said before they run, o %d are served with other values of "
                   "the scene's parameters, . %d are not. Solvers:",
                   m->row_count * m->solver_count, counts[0], counts[1], counts[2], counts[3]);
  for (int s = 0; s < m->solver_count; s++)
    eb_doc_text(doc, EB_DOC_PLAIN, " %d %s%s", s + 1, m->solvers[s]->name,
                s + 1 < m->solver_count ? "," : ".");
}

/* The solver's pairs that are not served and of which the same is to be said as of the first one,
 * in a row; the first pair has them all. */
static void put_alike(eb_doc *doc, const matrix *m, int first, int solver) {
  const pair *p = &m->rows[first].pairs[solver];
  char lacks[512];
  for (int r = 0; r <= first; r++) {
    const pair *other = &m->rows[r].pairs[solver];
    bool alike = other->lacks == p->lacks && strcmp(other->with, p->with) == 0;
    if (alike && r < first) return;
  }
  eb_capability_names(p->lacks, lacks, sizeof lacks);
  eb_doc_row(doc, NULL);
  eb_doc_cell(doc, EB_DOC_STRONG, "%s", m->solvers[solver]->name);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", *p->with ? p->with : "-");
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", lacks);
  eb_doc_cell(doc, EB_DOC_PLAIN, "%s", "");
  const char *separator = "";
  for (int r = first; r < m->row_count; r++) {
    const pair *other = &m->rows[r].pairs[solver];
    if (other->lacks != p->lacks || strcmp(other->with, p->with) != 0) continue;
    eb_doc_text(doc, EB_DOC_PLAIN, "%s%s", separator, m->rows[r].scene->name);
    separator = ", ";
  }
}

static void put_reasons(eb_doc *doc, const matrix *m) {
  static const char *const heads[] = {"solver", "serves with", "lacks", "scenes", NULL};
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int s = 0; s < m->solver_count; s++)
    for (int r = 0; r < m->row_count; r++)
      if (m->rows[r].pairs[s].lacks) put_alike(doc, m, r, s);
  eb_doc_end(doc);
}

/* ---- commands -------------------------------------------------------------------------------- */

static eb_error print_doc(const eb_matrix_request *request, const eb_doc *doc) {
  return eb_doc_print(doc, request->format == EB_LIST_MARKDOWN ? EB_DOC_MARKDOWN : EB_DOC_TEXT,
                      stdout);
}

/* What the rows, or columns, are called by is what the list goes over. */
static eb_error print_list(const eb_matrix_request *request, const matrix *m, bool scenes) {
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  if (request->format == EB_LIST_JSON) return print_json(m);
  put_heads(&doc, scenes ? "scene" : "solver");
  for (int r = 0; r < m->row_count; r++)
    for (int s = 0; s < m->solver_count; s++)
      put_pair(&doc, &m->rows[r].pairs[s], scenes ? m->rows[r].scene->name : m->solvers[s]->name);
  eb_doc_end(&doc);
  return print_doc(request, &doc);
}

eb_error eb_matrix_scene(const eb_matrix_request *request, const char *spec) {
  EB_OWNED(matrix_clear) matrix m = {0};
  char *parameters;
  const eb_scene_ops *scene;
  EB_TRY(eb_open_scene_spec(spec, request->plugins, &scene, &parameters));
  eb_error error = add_solvers(&m, request->plugins);
  if (!error) error = add_row(&m, scene, parameters);
  if (!error) error = print_list(request, &m, false);
  eb_scene_close(scene);
  free(parameters);
  return error;
}

eb_error eb_matrix_solver(const eb_matrix_request *request, const char *name) {
  EB_OWNED(matrix_clear) matrix m = {0};
  const eb_solver_ops *solver;
  EB_TRY(eb_solver_lookup(request->plugins, name, &solver, NULL));
  EB_TRY(add_solver(&m, solver));
  EB_TRY(add_rows(&m));
  return print_list(request, &m, true);
}

eb_error eb_matrix_all(const eb_matrix_request *request) {
  EB_OWNED(matrix_clear) matrix m = {0};
  EB_OWNED(eb_doc_clear) eb_doc doc = {0};
  EB_TRY(add_solvers(&m, request->plugins));
  EB_TRY(add_rows(&m));
  if (request->format == EB_LIST_JSON) return print_json(&m);
  put_legend(&doc, &m);
  put_marks(&doc, &m);
  eb_doc_details(&doc, EB_DOC_APPENDIX,
                 "Why a pair is not served: list solvers --scene NAME, list scenes --solver NAME");
  put_reasons(&doc, &m);
  eb_doc_end(&doc);
  return print_doc(request, &doc);
}
