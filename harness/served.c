#include "harness/served.h"

#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"
#include "problems/reference_scene.h"

/* ---- what is needed -------------------------------------------------------------------------- */

/* Appends one of "a=1,b=2" unless it is assigned already. */
static eb_error add_missing(const char *assignment, size_t length, eb_text *out) {
  const char *value;
  if (eb_assigned_value(out->data, assignment, strcspn(assignment, "="), &value) > 0) return EB_OK;
  return eb_text_printf(out, "%s%.*s", out->length ? "," : "", (int)length, assignment);
}

/* The first of two assignments goes over the second. */
static eb_error put_over(const char *over, const char *under, eb_text *out) {
  const char *const both[] = {over, under};
  EB_TRY(eb_text_append(out, "", 0));
  for (int i = 0; i < 2; i++)
    for (const char *at = both[i]; at && *at; at += strcspn(at, ","), at += *at == ',')
      EB_TRY(add_missing(at, strcspn(at, ","), out));
  return EB_OK;
}

static eb_error build(const eb_served *served, const char *assignments, uint32_t *needs) {
  eb_scene *scene;
  EB_TRY(
      eb_scene_create_reference(served->scene, assignments, served->mesh_file, NULL, NULL, &scene));
  *needs = eb_scene_needs(scene);
  eb_scene_destroy(scene);
  return EB_OK;
}

/* Whether the scene can be built with these values in the place of its own, and what it needs. */
static eb_error try_values(const eb_served *served, const char *assignment, bool *good,
                           uint32_t *needs) {
  eb_text all = {0};
  eb_error error = put_over(assignment, served->parameters, &all);
  if (!error) {
    eb_error refused = build(served, all.data, needs);
    *good = !refused;
    eb_error_free(refused);
  }
  eb_text_clear(&all);
  return error;
}

static eb_error add_variant(eb_served *served, const char *name, const char *value, size_t length) {
  eb_variant variant = {0};
  bool good = false;
  eb_error error = eb_string_format(&variant.assignment, "%s=%.*s", name, (int)length, value);
  if (!error) error = try_values(served, variant.assignment, &good, &variant.needs);
  good = !error && good && variant.needs != served->needs;
  if (good) error = EB_APPEND(served->variants, served->count);
  if (good && !error)
    served->variants[served->count - 1] = variant;
  else
    free(variant.assignment);
  return error;
}

/* Every value that the parameter can have; what it has changes nothing. */
static eb_error add_variants(eb_served *served, const eb_option *parameter) {
  const char *choices = parameter->type == EB_OPTION_CHOICE ? parameter->choices
                        : parameter->type == EB_OPTION_BOOL ? "true|false"
                                                            : "";
  for (const char *at = choices; *at; at += strcspn(at, "|"), at += *at == '|')
    EB_TRY(add_variant(served, parameter->name, at, strcspn(at, "|")));
  return EB_OK;
}

eb_error eb_served_open(const eb_scene_ops *scene, const char *parameters, const char *mesh_file,
                        eb_served *out) {
  eb_text all = {0};
  *out = (eb_served){.scene = scene};
  if (mesh_file) EB_TRY(eb_string_set(&out->mesh_file, mesh_file));
  eb_error error = put_over(parameters, mesh_file ? NULL : scene->small, &all);
  if (!error) error = eb_string_set(&out->parameters, all.data);
  eb_text_clear(&all);
  if (!error) error = build(out, out->parameters, &out->needs);
  for (const eb_option *p = scene->parameters; !error && p && p->name; p++)
    error = add_variants(out, p);
  return error;
}

void eb_served_clear(eb_served *served) {
  for (int i = 0; i < served->count; i++) free(served->variants[i].assignment);
  free(served->variants);
  free(served->parameters);
  free(served->mesh_file);
  *served = (eb_served){0};
}

/* ---- with which values ----------------------------------------------------------------------- */

static bool serves(const eb_solver_ops *solver, uint32_t needs) {
  return eb_capabilities_lacking(solver->capabilities, needs) == 0;
}

static bool same_parameter(const eb_variant *a, const eb_variant *b) {
  size_t length = strcspn(a->assignment, "=") + 1;
  return strncmp(a->assignment, b->assignment, length) == 0;
}

/* Those of one parameter follow each other: "material=corotated|projective or pinned=false". */
static eb_error put_values(const eb_served *served, const eb_solver_ops *solver, eb_text *out) {
  const eb_variant *last = NULL;
  for (const eb_variant *v = served->variants; v < served->variants + served->count; v++) {
    if (!serves(solver, v->needs)) continue;
    EB_TRY(last && same_parameter(last, v)
               ? eb_text_printf(out, "|%s", strchr(v->assignment, '=') + 1)
               : eb_text_printf(out, "%s%s", last ? " or " : "", v->assignment));
    last = v;
  }
  return EB_OK;
}

/* What two values change is what each changes, but for what the scene makes of both: it is asked.
 */
static eb_error put_pair(const eb_served *served, const eb_solver_ops *solver, const eb_variant *a,
                         const eb_variant *b, eb_text *out) {
  uint32_t own = served->needs,
           needs = (own & a->needs & b->needs) | ((a->needs | b->needs) & ~own);
  bool good = false;
  char *both = NULL;
  if (same_parameter(a, b) || !serves(solver, needs)) return EB_OK;
  EB_TRY(eb_string_format(&both, "%s,%s", a->assignment, b->assignment));
  eb_error error = try_values(served, both, &good, &needs);
  if (!error && good && serves(solver, needs)) error = eb_text_printf(out, "%s", both);
  free(both);
  return error;
}

eb_error eb_served_with(const eb_served *served, const eb_solver_ops *solver, eb_text *out) {
  size_t before = out->length;
  EB_TRY(put_values(served, solver, out));
  for (int b = 0; b < served->count; b++)
    for (int a = 0; a < b && out->length == before; a++)
      EB_TRY(put_pair(served, solver, &served->variants[a], &served->variants[b], out));
  return EB_OK;
}

eb_error eb_served_answer(const eb_served *served, const eb_solver_ops *solver, eb_text *out) {
  const char *separator = "; ";
  EB_TRY(eb_text_printf(out, "it serves the scene with "));
  size_t before = out->length;
  EB_TRY(eb_served_with(served, solver, out));
  if (out->length == before) EB_TRY(eb_text_printf(out, "no value of its parameters"));
  for (const eb_solver_ops *const *at = eb_solvers(); *at; at++) {
    if (!serves(*at, served->needs) || eb_solver_wants_options(*at)) continue;
    EB_TRY(eb_text_printf(out, "%s%s", separator, (*at)->name));
    separator = ", ";
  }
  return *separator == ',' ? eb_text_printf(out, " serve it as it is") : EB_OK;
}
