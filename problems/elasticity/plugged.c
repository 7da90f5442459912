#include "problems/elasticity/plugged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/text.h"

/* ---- lists ----------------------------------------------------------------------------------- */

const eb_plugged *eb_plugged_find(const eb_plugged_list *list, const char *name) {
  for (int k = 0; list && k < list->count; k++)
    if (strcmp(list->items[k].ops->name, name) == 0) return &list->items[k];
  return NULL;
}

static eb_error copy_text(const char *text, eb_arena *arena, const char **out) {
  char *copy;
  size_t bytes = strlen(text) + 1;
  EB_TRY(EB_TAKE(arena, copy, bytes));
  memcpy(copy, text, bytes);
  *out = copy;
  return EB_OK;
}

eb_error eb_plugged_copy(const eb_plugged_list *list, eb_arena *arena, eb_plugged **out) {
  EB_TRY(EB_TAKE(arena, *out, list->count));
  for (int k = 0; k < list->count; k++) {
    (*out)[k] = list->items[k];
    EB_TRY(copy_text(list->items[k].path, arena, &(*out)[k].path));
  }
  return EB_OK;
}

eb_error eb_plugged_choices(const eb_plugged_list *list, eb_arena *arena, const char **out) {
  size_t bytes = strlen(EB_MATERIAL_CHOICES) + 1;
  char *all;
  for (int k = 0; k < list->count; k++) bytes += strlen(list->items[k].ops->name) + 1;
  EB_TRY(EB_TAKE(arena, all, bytes));
  strcpy(all, EB_MATERIAL_CHOICES);
  for (int k = 0; k < list->count; k++) strcat(strcat(all, "|"), list->items[k].ops->name);
  *out = all;
  return EB_OK;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static eb_error unknown(const eb_plugged_list *list, const char *name) {
  enum { MOST = 100 };
  const char *names[MOST];
  size_t count = 0;
  for (int k = 0; k < EB_MATERIAL_KINDS; k++)
    names[count++] = eb_material_describe((eb_material_kind)k)->name;
  for (int k = 0; list && k < list->count && count < MOST; k++)
    names[count++] = list->items[k].ops->name;
  return eb_unknown(EB_ERR_FORMAT, name, names, count,
                    "there is no material, built in or of a --plugin,");
}

eb_error eb_material_choose(const eb_plugged_list *list, const char *name, eb_material *material) {
  const eb_plugged *plugged = eb_plugged_find(list, name);
  int kind = eb_material_find(name);
  if (!plugged && kind < 0) return unknown(list, name);
  material->kind = plugged ? EB_PLUGGED : (eb_material_kind)kind;
  material->plugged = plugged;
  memset(material->own, 0, sizeof material->own);
  for (int k = 0; plugged && k < eb_plugged_parameter_count(plugged->ops); k++)
    material->own[k] = strtod(plugged->ops->parameters[k].fallback, NULL);
  return EB_OK;
}

/* ---- own parameters -------------------------------------------------------------------------- */

int eb_plugged_parameter_count(const eb_material_ops *ops) {
  int count = 0;
  while (ops->parameters && count < EB_OWN_PARAMETERS && ops->parameters[count].name) count++;
  return count;
}

int eb_plugged_parameter(const eb_material_ops *ops, const char *name) {
  for (int k = 0; k < eb_plugged_parameter_count(ops); k++)
    if (strcmp(ops->parameters[k].name, name) == 0) return k;
  return -1;
}

void eb_plugged_numbers(const eb_material *material, double p[EB_FIRST_OWN + EB_OWN_PARAMETERS]) {
  double E = material->young, nu = material->poisson;
  p[0] = E / (2 * (1 + nu));
  p[1] = E * nu / ((1 + nu) * (1 - 2 * nu));
  memcpy(p + EB_FIRST_OWN, material->own, sizeof material->own);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

/* A range of 0 to 0 is none. */
static bool in_range(const eb_option *o, double value) {
  bool ranged = o->min != 0 || o->max != 0;
  return isfinite(value) && (!ranged || (value >= o->min && value <= o->max));
}

static eb_error validate_parameter(const eb_option *o) {
  char *end = NULL;
  double value = o->fallback ? strtod(o->fallback, &end) : NAN;
  if (o->type != EB_OPTION_REAL || !o->unit || !o->doc || !end || end == o->fallback || *end)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "its parameter '%s' is to be an EB_OPTION_REAL with a default, a unit (\"\": "
                    "none) and a line that says what it is",
                    o->name);
  if (in_range(o, value)) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED, "the default %s of its parameter '%s' is out of its range",
                  o->fallback, o->name);
}

eb_error eb_material_ops_validate(const eb_material_ops *ops) {
  if (!ops->name || !*ops->name || !ops->summary || !ops->energy || !ops->stress || !ops->tangent)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "elastobench_material lacks its name, summary, energy, stress or tangent");
  for (int k = 0; ops->parameters && ops->parameters[k].name; k++) {
    if (k == EB_OWN_PARAMETERS)
      return EB_ERROR(EB_ERR_UNSUPPORTED, "elastobench_material has more than %d parameters",
                      EB_OWN_PARAMETERS);
    EB_TRY(validate_parameter(&ops->parameters[k]));
  }
  return EB_OK;
}

eb_error eb_plugged_validate(const eb_material *material) {
  const eb_material_ops *ops = material->plugged->ops;
  for (int k = 0; k < eb_plugged_parameter_count(ops); k++) {
    const eb_option *o = &ops->parameters[k];
    if (!in_range(o, material->own[k]))
      return EB_ERROR(EB_ERR_INVALID, "%s = %g of material '%s' is outside %g to %g%s%s", o->name,
                      material->own[k], ops->name, o->min, o->max, *o->unit ? " " : "", o->unit);
  }
  return EB_OK;
}
