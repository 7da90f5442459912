/* A scene file read into an entry: its table of parameters, its default run, what it needs. What
 * its other sections hold is looked at when a scene is made (description.h); here their keys and
 * the language of their values are checked. */
#include "problems/scenes/file/scene_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/strings.h"
#include "problems/notation/unit.h"
#include "problems/notation/untrusted.h"
#include "problems/scenes/common.h"
#include "problems/scenes/file/formula.h"
#include "problems/scenes/file/kinds.h"
#include "problems/scenes/scene_entry.h"

typedef eb_scene_entry entry;

#define DEFAULT_MATERIAL "stable-neo-hookean"

/* ---- texts ----------------------------------------------------------------------------------- */

static eb_error keep_part(entry *e, const char *text, size_t length, const char **out) {
  char *copy;
  EB_TRY(EB_TAKE(&e->owned, copy, length + 1));
  memcpy(copy, text, length);
  *out = copy;
  return EB_OK;
}

static eb_error keep(entry *e, const char *text, const char **out) {
  char *copy;
  size_t bytes = strlen(text) + 1;
  EB_TRY(EB_TAKE(&e->owned, copy, bytes));
  memcpy(copy, text, bytes);
  *out = copy;
  return EB_OK;
}

/* The text of a key of [scene], or what stands for it. */
static eb_error keep_value(entry *e, const eb_section *scene, const char *key, const char *fallback,
                           const char **out) {
  const char *value = eb_section_value(scene, key);
  *out = NULL;
  if (!value) value = fallback;
  return value ? keep(e, value, out) : EB_OK;
}

/* ---- numbers of [scene] and [parameters] ----------------------------------------------------- */

/* "1.5e6 MPa": the number and where its unit begins, which is *unit NULL without one. */
static eb_error read_number(const char *text, double *number, const eb_unit **unit) {
  char *end;
  *number = strtod(text, &end);
  *unit = NULL;
  if (end == text || !isfinite(*number)) return EB_ERROR(EB_ERR_FORMAT, "'%s' is no number", text);
  end += strspn(end, " \t");
  if (!*end) return EB_OK;
  *unit = eb_unit_at(end);
  if (*unit && !(*unit)->name[strlen(end)] && strlen((*unit)->name) == strlen(end)) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "'%s' is no unit that is known here", end);
}

/* The value of a key in SI units as the text that a table of options has. */
static eb_error keep_number(entry *e, const eb_section *scene, const char *key, const char **out) {
  const eb_entry *given = eb_section_entry(scene, key);
  char text[40];
  double number;
  const eb_unit *unit;
  if (!given) return EB_OK;
  EB_TRY(eb_section_locate(scene, given, read_number(given->value, &number, &unit)));
  bool as_it_is = !unit || (unit->times == 1 && unit->over == 1);
  if (as_it_is) return keep_part(e, given->value, strcspn(given->value, " \t"), out);
  double value = eb_unit_value(unit, number);
  snprintf(text, sizeof text, "%.15g", value);
  if (strtod(text, NULL) != value) snprintf(text, sizeof text, "%.17g", value);
  return keep(e, text, out);
}

static eb_error read_whole(const eb_section *scene, const char *key, int64_t fallback,
                           int64_t least, int64_t *out) {
  const eb_entry *given = eb_section_entry(scene, key);
  *out = fallback;
  if (!given) return EB_OK;
  char *end;
  *out = strtoll(given->value, &end, 10);
  if (end != given->value && !*end && *out >= least && *out <= INT32_MAX) return EB_OK;
  return eb_section_locate(scene, given,
                           EB_ERROR(EB_ERR_FORMAT, "'%s' is no whole number from %lld on",
                                    given->value, (long long)least));
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* The next part between commas, without blanks around it; NULL behind the last. */
static const char *next_part(const char **at, size_t *length) {
  if (!*at) return NULL;
  const char *begin = *at + strspn(*at, " \t"), *comma = strchr(begin, ',');
  *length = comma ? (size_t)(comma - begin) : strlen(begin);
  *at = comma ? comma + 1 : NULL;
  while (*length > 0 && isblank((unsigned char)begin[*length - 1])) --*length;
  return begin;
}

/* "0 to 1e3" or "whole 1 to 20". */
static bool read_range(const char *text, size_t length, eb_option *out) {
  static const char whole[] = "whole ";
  char range[80], *end;
  if (length >= sizeof range) return false;
  memcpy(range, text, length);
  range[length] = '\0';
  bool is_whole = strncmp(range, whole, sizeof whole - 1) == 0;
  char *from = range + (is_whole ? sizeof whole - 1 : 0);
  out->min = strtod(from, &end);
  if (end == from || strncmp(end, " to ", 4) != 0) return false;
  from = end + 4;
  out->max = strtod(from, &end);
  if (end == from || *end || !(out->min < out->max) || !isfinite(out->max - out->min)) return false;
  if (is_whole) out->type = EB_OPTION_INT;
  return true;
}

/* "a|b|c", with the default among them. */
static bool is_choice(const char *text, size_t length) {
  return memchr(text, '|', length) != NULL;
}

static eb_error check_name(const eb_option *before, int count, const char *name) {
  static const char *const taken[] = {"x", "y", "z", "t", "pi", "k", "n", NULL};
  EB_TRY(eb_check_word("parameter", name));
  for (int k = 0; taken[k]; k++)
    if (strcmp(taken[k], name) == 0)
      return EB_ERROR(EB_ERR_FORMAT, "'%s' has a meaning in every formula; name it otherwise",
                      name);
  for (int k = 0; k < count; k++)
    if (strcmp(before[k].name, name) == 0)
      return EB_ERROR(EB_ERR_FORMAT,
                      "every scene has the parameter '%s'; its default stands in [scene]", name);
  return EB_OK;
}

/* NAME = DEFAULT [UNIT] [, LO to HI | whole LO to HI | a|b|c] [, what it is] */
static eb_error read_parameter(entry *e, const eb_entry *given, eb_option *out) {
  size_t length;
  const char *at = given->value, *part = next_part(&at, &length), *second = at;
  double number;
  const eb_unit *unit = NULL;
  *out = (eb_option){.type = EB_OPTION_REAL, .unit = "", .doc = ""};
  EB_TRY(keep(e, given->key, &out->name));
  EB_TRY(keep_part(e, part, length, &out->fallback));
  part = next_part(&second, &length);
  bool ranged = part && read_range(part, length, out), chosen = part && is_choice(part, length);
  if (chosen) {
    out->type = EB_OPTION_CHOICE;
    EB_TRY(keep_part(e, part, length, &out->choices));
  } else {
    EB_TRY(read_number(out->fallback, &number, &unit));
    if (unit) EB_TRY(keep(e, unit->name, &out->unit));
    EB_TRY(keep_part(e, out->fallback, strcspn(out->fallback, " \t"), &out->fallback));
    if (!ranged) out->min = -1e30, out->max = 1e30;
  }
  if (ranged || chosen) at = second;
  return at ? keep(e, at + strspn(at, " \t"), &out->doc) : EB_OK;
}

/* The eight that every scene has, with the defaults of [scene], then the file's own. */
static eb_error read_parameters(entry *e, const eb_sections *sections, const eb_section *scene) {
  static const eb_option every[] = {
      EB_SCENE_PARAMETERS("1e6", "0.3", "1000", "1e-2", DEFAULT_MATERIAL, "9.81")};
  enum { EVERY = sizeof every / sizeof *every, SET = 6 };
  const eb_section *own = eb_sections_find(sections, "parameters", "");
  eb_option *options;
  int count = own ? own->count : 0;
  EB_TRY(EB_TAKE(&e->owned, options, EVERY + count + 1));
  memcpy(options, every, sizeof every);
  for (int k = 0; k < SET; k++)
    if (options[k].type == EB_OPTION_REAL)
      EB_TRY(keep_number(e, scene, options[k].name, &options[k].fallback));
    else
      EB_TRY(keep_value(e, scene, options[k].name, options[k].fallback, &options[k].fallback));
  for (int k = 0; k < count; k++) {
    eb_error error = check_name(options, EVERY + k, own->entries[k].key);
    if (!error) error = read_parameter(e, &own->entries[k], &options[EVERY + k]);
    EB_TRY(eb_section_locate(own, &own->entries[k], error));
  }
  e->ops.parameters = options;
  EB_TRY(eb_scene_entry_choices(e, options));
  /* The defaults are to be values of their own options. */
  eb_values *values = NULL;
  eb_error error = eb_values_create(e->ops.name, options, NULL, &values);
  eb_values_destroy(values);
  return eb_section_locate(own ? own : scene, NULL, error);
}

/* ---- defaults of solvers -----------------------------------------------------------------------
 */

/* "NAME|NAME, OPTION=VALUE, OPTION=VALUE, why": options and why, or why alone. */
static eb_error read_default(entry *e, const eb_entry *given, eb_scene_default *out) {
  EB_OWNED(eb_text_clear) eb_text options = {0};
  size_t length;
  const char *at = given->value, *part = next_part(&at, &length), *behind = at;
  EB_TRY(keep_part(e, part, length, &out->solver));
  while ((part = next_part(&behind, &length)) && memchr(part, '=', length)) {
    EB_TRY(eb_text_printf(&options, "%s%.*s", options.length ? "," : "", (int)length, part));
    at = behind;
  }
  if (options.data) EB_TRY(keep(e, options.data, &out->options));
  if (!at || !at[strspn(at, " ")])
    return EB_ERROR(EB_ERR_FORMAT, "it does not say why: SOLVER, OPTION=VALUE, why");
  return keep(e, at + strspn(at, " "), &out->source);
}

static eb_error read_defaults(entry *e, const eb_section *scene) {
  eb_scene_default *defaults;
  int count = 0;
  for (int k = 0; k < scene->count; k++) count += strcmp(scene->entries[k].key, "default") == 0;
  if (count == 0) return EB_OK;
  EB_TRY(EB_TAKE(&e->owned, defaults, count + 1));
  e->ops.solver_defaults = defaults;
  for (int k = 0; k < scene->count; k++)
    if (strcmp(scene->entries[k].key, "default") == 0)
      EB_TRY(eb_section_locate(scene, &scene->entries[k],
                               read_default(e, &scene->entries[k], defaults++)));
  return EB_OK;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const eb_described_kind *find_kind(const char *name) {
  for (const eb_described_kind *kind = eb_described_kinds; kind->name; kind++)
    if (strcmp(kind->name, name) == 0) return kind;
  return NULL;
}

static eb_error unknown_kind(const eb_section *section) {
  const char *names[32];
  size_t count = 0;
  for (const eb_described_kind *kind = eb_described_kinds; kind->name; kind++)
    names[count++] = kind->name;
  return eb_section_locate(
      section, NULL, eb_unknown(EB_ERR_FORMAT, section->kind, names, count, "there is no section"));
}

/* The keys of [material] and the parameters of the plug-ins' materials, which no key may be. */
static eb_error keys_of_materials(entry *e, const eb_key *own, const eb_key **out) {
  const eb_plugged_list *list = &e->ops.materials;
  size_t count = 0;
  eb_key *keys;
  while (own[count].name) count++;
  EB_TRY(EB_TAKE(&e->owned, keys, count + (size_t)list->count * EB_OWN_PARAMETERS + 1));
  memcpy(keys, own, count * sizeof *keys);
  *out = keys;
  for (int m = 0; m < list->count; m++)
    for (int k = 0; k < eb_plugged_parameter_count(list->items[m].ops); k++) {
      const char *name = list->items[m].ops->parameters[k].name;
      for (const eb_key *at = own; at->name; at++)
        if (strcmp(at->name, name) == 0)
          return EB_ERROR(EB_ERR_UNSUPPORTED,
                          "material '%s' of plug-in '%s' has a parameter '%s', which is a key of "
                          "[material] already; name it otherwise",
                          list->items[m].ops->name, list->items[m].path, name);
      keys[count++] = (eb_key){.name = name, .type = EB_KEY_OTHER};
    }
  return EB_OK;
}

static eb_error check_keys(entry *e, const eb_section *section, const eb_key *keys) {
  if (e->ops.materials.count > 0 && strcmp(section->kind, "material") == 0)
    EB_TRY(keys_of_materials(e, keys, &keys));
  return eb_section_read(section, keys, NULL);
}

static eb_error check_section(entry *e, const eb_section *section) {
  const eb_described_kind *kind = find_kind(section->kind);
  if (!kind) return unknown_kind(section);
  bool labelled = *section->label != '\0';
  if (labelled != kind->labelled)
    return eb_section_locate(
        section, NULL,
        EB_ERROR(EB_ERR_FORMAT,
                 labelled ? "this section has no name" : "it wants a name: [%s NAME]",
                 section->kind));
  if (labelled) {
    eb_error error = eb_check_word(section->kind, section->label);
    if (!error && strlen(section->label) >= EB_NAME_BYTES)
      error = EB_ERROR(EB_ERR_FORMAT, "its name is longer than %d characters", EB_NAME_BYTES - 1);
    EB_TRY(eb_section_locate(section, NULL, error));
  }
  return kind->keys ? check_keys(e, section, kind->keys) : EB_OK;
}

/* ---- what it needs --------------------------------------------------------------------------- */

static bool has(const eb_sections *sections, const char *kind, const char *key) {
  for (int s = 0; s < sections->count; s++)
    if (strcmp(sections->items[s].kind, kind) == 0 &&
        (!key || eb_section_value(&sections->items[s], key)))
      return true;
  return false;
}

static bool has_value(const eb_sections *sections, const char *kind, const char *key,
                      const char *value) {
  for (int s = 0; s < sections->count; s++) {
    const char *given = eb_section_value(&sections->items[s], key);
    if (strcmp(sections->items[s].kind, kind) == 0 && given && strcmp(given, value) == 0)
      return true;
  }
  return false;
}

static bool is_constrained(const eb_sections *sections) {
  return has(sections, "contact", NULL) && !has_value(sections, "contact", "by", "penalty");
}

static uint32_t needs(const eb_sections *sections, const eb_material *material) {
  uint32_t bits = material->kind == EB_COROTATIONAL     ? EB_CAP_COROTATIONAL
                  : eb_material_is_projective(material) ? EB_CAP_PROJECTIVE
                                                        : EB_CAP_HYPERELASTIC;
  bits |= has_value(sections, "body", "cell", "hexahedra") ? EB_CAP_HEXAHEDRA
          : has_value(sections, "body", "shape", "sheet")  ? EB_CAP_TRIANGLES
                                                           : EB_CAP_TETRAHEDRA;
  if (has(sections, "group", "path") || has(sections, "group", "rotate") ||
      has(sections, "group", "until"))
    bits |= EB_CAP_SCRIPTED;
  if (has(sections, "group", "pull")) bits |= EB_CAP_SPRINGS;
  if (is_constrained(sections)) bits |= EB_CAP_CONTACT;
  if (has_value(sections, "material", "rigid", "yes")) bits |= EB_CAP_FREE_BODIES;
  if (has(sections, "material", "fibre")) bits |= EB_CAP_FIBRES;
  if (has(sections, "links", NULL)) bits |= EB_CAP_CLUSTERS;
  if (has(sections, "joint", NULL)) bits |= EB_CAP_ARTICULATION;
  if (has(sections, "collider", NULL) || has(sections, "contact", NULL))
    bits |= is_constrained(sections)                             ? 0
            : has_value(sections, "collider", "implicit", "yes") ? EB_CAP_IMPLICIT_PENALTY
                                                                 : EB_CAP_COLLIDERS;
  return bits;
}

/* The parameters whose names stand in what the mesh is made from. */
static eb_error list_mesh_parameters(entry *e, const eb_sections *sections) {
  EB_OWNED(eb_text_clear) eb_text list = {0};
  for (const eb_option *o = e->ops.parameters; o->name; o++) {
    size_t length = strlen(o->name);
    bool used = false;
    for (int s = 0; s < sections->count && !used; s++) {
      const eb_section *section = &sections->items[s];
      if (strcmp(section->kind, "body") != 0 && strcmp(section->kind, "let") != 0 &&
          strcmp(section->kind, "material") != 0)
        continue;
      for (int k = 0; k < section->count && !used; k++) {
        const char *value = section->entries[k].value;
        for (const char *at = value; (at = strstr(at, o->name)) && !used; at++)
          used = (at == value || !(isalnum((unsigned char)at[-1]) || at[-1] == '_')) &&
                 !isalnum((unsigned char)at[length]) && at[length] != '_';
      }
    }
    if (used) EB_TRY(eb_text_printf(&list, "%s%s", list.length ? "," : "", o->name));
  }
  return list.data ? keep(e, list.data, &e->ops.mesh_parameters) : EB_OK;
}

/* ---- the entry ------------------------------------------------------------------------------- */

static const eb_section *first_of(const eb_sections *sections, const char *kind) {
  for (int s = 0; s < sections->count; s++)
    if (strcmp(sections->items[s].kind, kind) == 0) return &sections->items[s];
  return NULL;
}

static eb_error read_run(entry *e, const eb_section *scene) {
  int64_t count;
  EB_TRY(read_whole(scene, "steps", 100, 1, &e->ops.steps));
  EB_TRY(read_whole(scene, "frame", 1, 1, &e->ops.steps_per_frame));
  EB_TRY(read_whole(scene, "nodes", 0, 1, &count));
  e->ops.target_vertices = (int32_t)count;
  EB_TRY(read_whole(scene, "elements", 0, 1, &count));
  e->ops.target_elements = (int32_t)count;
  const eb_entry *tolerance = eb_section_entry(scene, "tolerance");
  if (tolerance) e->ops.count_tolerance = strtod(tolerance->value, NULL);
  return EB_OK;
}

/* Whether a file speaks of a plug-in's material. */
static bool is_named(const eb_sections *sections, const eb_material_ops *ops) {
  bool named = has_value(sections, "scene", "material", ops->name) ||
               has_value(sections, "material", "kind", ops->name);
  for (int k = 0; k < eb_plugged_parameter_count(ops); k++)
    named = named || has(sections, "material", ops->parameters[k].name);
  return named;
}

/* The material that the scene has where nothing else is said, and which of the plug-ins' it names.
 */
static eb_error find_materials(entry *e, const eb_sections *sections, const eb_section *scene,
                               eb_material *out) {
  const eb_entry *given = eb_section_entry(scene, "material");
  const char *name = given ? given->value : DEFAULT_MATERIAL;
  EB_TRY(eb_section_locate(scene, given, eb_material_choose(&e->ops.materials, name, out)));
  for (int k = 0; k < e->ops.materials.count; k++)
    e->materials[k].named = is_named(sections, e->materials[k].ops);
  return EB_OK;
}

/* Constants that nobody gave are not made up. */
static eb_error check_material(const eb_sections *sections, const eb_section *scene) {
  static const char *const wanted[] = {"E", "nu", "rho"};
  for (int k = 0; k < 3 && !has(sections, "material", NULL); k++)
    if (!eb_section_value(scene, wanted[k]))
      return eb_section_locate(
          scene, NULL,
          EB_ERROR(EB_ERR_FORMAT,
                   "the material lacks %s: E (Pa), nu and rho (kg/m^3) stand here, "
                   "or in sections [material NAME]",
                   wanted[k]));
  return EB_OK;
}

static eb_error fill(entry *e, const eb_sections *sections) {
  const eb_section *scene = eb_sections_find(sections, "scene", "");
  eb_scene_ops *ops = &e->ops;
  if (!scene)
    return EB_ERROR(EB_ERR_FORMAT, "%s: this is no scene: it has no section [scene]",
                    sections->path);
  for (int s = 0; s < sections->count; s++) EB_TRY(check_section(e, &sections->items[s]));
  if (!first_of(sections, "body"))
    return EB_ERROR(EB_ERR_FORMAT, "%s: the scene has no [body NAME]", sections->path);
  EB_TRY(check_material(sections, scene));
  EB_TRY(keep_value(e, scene, "title", ops->name, &ops->summary));
  EB_TRY(keep_value(e, scene, "geometry", "as its file says", &ops->geometry));
  EB_TRY(keep_value(e, scene, "source", "none", &ops->citation));
  EB_TRY(keep_value(e, scene, "small", NULL, &ops->small));
  EB_TRY(keep_value(e, first_of(sections, "body"), "model", NULL, &ops->stand_in));
  eb_material material = {0};
  EB_TRY(find_materials(e, sections, scene, &material));
  EB_TRY(read_parameters(e, sections, scene));
  EB_TRY(list_mesh_parameters(e, sections));
  EB_TRY(read_run(e, scene));
  EB_TRY(read_defaults(e, scene));
  enum { NU = 1 };
  material.poisson = strtod(ops->parameters[NU].fallback, NULL);
  ops->needs = needs(sections, &material);
  if (ops->stand_in) ops->model.elements = ops->target_elements;
  ops->make = eb_scene_described_mesh;
  ops->as_grid = eb_scene_described_grid;
  ops->setup = eb_scene_described_setup;
  ops->clear = eb_scene_described_clear;
  if (has(sections, "group", NULL)) ops->boundary = eb_scene_described_boundary;
  if (has(sections, "load", NULL)) ops->loads = eb_scene_described_loads;
  if (has(sections, "group", "pull")) ops->springs = eb_scene_described_springs;
  if (has(sections, "dynamic", NULL)) ops->dynamic_nodes = eb_scene_described_dynamic;
  int bodies = 0;
  for (int s = 0; s < sections->count; s++) bodies += !strcmp(sections->items[s].kind, "body");
  ops->by_parts = bodies == 1 && !has(sections, "contact", NULL) && !has(sections, "links", NULL) &&
                  !has(sections, "joint", NULL) && !has(sections, "collider", NULL) &&
                  !has(sections, "obstacle", NULL) && !has(sections, "group", "pull");
  return EB_OK;
}

/* The digest of the text and of the mesh files that it names. */
static eb_error digest(entry *e, const eb_sections *sections) {
  eb_digest all = eb_digest_add((eb_digest){0}, e->source.text, strlen(e->source.text));
  for (int s = 0; s < sections->count; s++) {
    const eb_entry *file = eb_section_entry(&sections->items[s], "file");
    if (!file) continue;
    EB_FREED char *path = NULL;
    eb_digest content;
    bool absolute = file->value[0] == '/';
    EB_TRY(eb_string_format(&path, "%s%s", absolute ? "" : e->source.directory, file->value));
    EB_TRY(eb_section_locate(&sections->items[s], file, eb_digest_file(path, &content)));
    all = eb_digest_add(all, &content, sizeof content);
  }
  e->source.digest = all;
  return EB_OK;
}

static eb_error build(entry *e, const char *name, const char *path, const char *text) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  EB_OWNED(eb_sections_clear) eb_sections sections = {0};
  EB_TRY(keep(e, name, &e->ops.name));
  EB_TRY(keep(e, text, &e->source.text));
  if (path) EB_TRY(keep(e, path, &e->source.path));
  e->source.directory = "";
  if (slash) EB_TRY(keep_part(e, path, (size_t)(slash - path) + 1, &e->source.directory));
  EB_TRY(eb_sections_parse(path ? path : name, text, EB_SECTIONS_OF_PAPER, &sections));
  EB_TRY(fill(e, &sections));
  return digest(e, &sections);
}

eb_error eb_scene_file_parse(const char *name, const char *path, const char *text,
                             const eb_plugged_list *materials, const eb_scene_ops **out) {
  entry *e;
  *out = NULL;
  EB_TRY(eb_scene_entry_create(materials, &e));
  eb_error error = build(e, name, path, text);
  if (!error) {
    *out = &e->ops;
    return EB_OK;
  }
  eb_scene_close(&e->ops);
  return error;
}

bool eb_scene_file_named(const char *name) {
  size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, ".ini") == 0;
}

eb_error eb_scene_file_meshes(const char *path, const char *text, eb_strings *out) {
  EB_OWNED(eb_sections_clear) eb_sections sections = {0};
  EB_TRY(eb_sections_parse(path, text, EB_SECTIONS_OF_PAPER, &sections));
  for (int s = 0; s < sections.count; s++) {
    const eb_entry *file = eb_section_entry(&sections.items[s], "file");
    bool known = false;
    for (int i = 0; file && i < out->count; i++)
      known = known || strcmp(out->items[i], file->value) == 0;
    if (file && !known) EB_TRY(eb_strings_add(out, file->value));
  }
  return EB_OK;
}

eb_error eb_scene_file_read(const char *path, const eb_plugged_list *materials,
                            const eb_scene_ops **out) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  EB_FREED char *name = NULL;
  const char *stem = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  *out = NULL;
  EB_TRY(eb_text_read(path, "scene file", &text));
  EB_TRY(eb_copy_part(stem, strlen(stem) - (eb_scene_file_named(stem) ? 4 : 0), &name));
  if (!eb_is_word(name))
    return EB_ERROR(EB_ERR_USAGE,
                    "%s: the name of a scene file is letters, digits, dashes and underscores, and "
                    "'.ini'",
                    path);
  return eb_scene_file_parse(name, path, text.data, materials, out);
}
