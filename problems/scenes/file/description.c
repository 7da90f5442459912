#include "problems/scenes/file/description.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"

/* ---- opening --------------------------------------------------------------------------------- */

static eb_error read_definitions(eb_description *description) {
  const eb_section *section = eb_sections_find(&description->sections, "let", "");
  for (int k = 0; section && k < section->count; k++) {
    const eb_entry *entry = &section->entries[k];
    EB_TRY(EB_APPEND(description->definitions, description->definition_count));
    eb_definition *d = &description->definitions[description->definition_count - 1];
    EB_TRY(eb_copy(entry->key, &d->name));
    eb_error error = eb_formula_parse(entry->value, &d->formula);
    if (!error && d->formula.count != 1)
      error = EB_ERROR(EB_ERR_FORMAT, "a definition is one expression, without commas");
    EB_TRY(eb_section_locate(section, entry, error));
  }
  return EB_OK;
}

eb_error eb_description_open(const eb_scene_ops *ops, const eb_values *values,
                             eb_description **out) {
  EB_TRY(EB_NEW(*out, 1));
  eb_description *description = *out;
  description->ops = ops;
  description->values = values;
  const char *name = ops->source->path ? ops->source->path : ops->name;
  EB_TRY(eb_sections_parse(name, ops->source->text, EB_SECTIONS_OF_PAPER, &description->sections));
  return read_definitions(description);
}

static void clear_group(eb_described_group *group) {
  eb_formula_clear(&group->path);
  eb_formula_clear(&group->about);
  eb_formula_clear(&group->angle);
  eb_formula_clear(&group->second_angle);
  eb_formula_clear(&group->pull);
}

void eb_description_close(eb_description *description) {
  if (!description) return;
  for (int d = 0; d < description->definition_count; d++) {
    free(description->definitions[d].name);
    eb_formula_clear(&description->definitions[d].formula);
  }
  free(description->definitions);
  for (int g = 0; g < description->group_count; g++) clear_group(&description->groups[g]);
  free(description->groups);
  for (int l = 0; l < EB_MAX_LOADS; l++) eb_formula_clear(&description->load[l]);
  for (int m = 0; m < description->motion_count; m++) {
    eb_formula_clear(&description->motions[m]->path);
    eb_formula_clear(&description->motions[m]->angle);
    free(description->motions[m]);
  }
  eb_sections_clear(&description->sections);
  free(description);
}

/* ---- looking up ------------------------------------------------------------------------------ */

const eb_section *eb_description_next(const eb_description *description, const char *kind,
                                      int *at) {
  while (*at < description->sections.count) {
    const eb_section *section = &description->sections.items[(*at)++];
    if (strcmp(section->kind, kind) == 0) return section;
  }
  return NULL;
}

bool eb_description_has(const eb_description *description, const char *kind) {
  int at = 0;
  return eb_description_next(description, kind, &at) != NULL;
}

const char *eb_description_only_body(const eb_description *description) {
  int at = 0;
  const eb_section *first = eb_description_next(description, "body", &at);
  return first && !eb_description_next(description, "body", &at) ? first->label : NULL;
}

eb_names eb_description_names(const eb_description *description) {
  return (eb_names){.only_body = eb_description_only_body(description),
                    .options = description->ops->parameters,
                    .values = description->values,
                    .definitions = description->definitions,
                    .definition_count = description->definition_count};
}

/* ---- values of keys -------------------------------------------------------------------------- */

eb_error eb_described_values(const eb_names *names, const eb_section *section, const char *key,
                             int count, double *value, bool *given) {
  const eb_entry *entry = eb_section_entry(section, key);
  if (given) *given = entry != NULL;
  if (!entry && given) return EB_OK;
  if (!entry)
    return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_FORMAT, "'%s' is missing", key));
  EB_OWNED(eb_formula_clear) eb_formula formula = {0};
  eb_error error = eb_formula_parse(entry->value, &formula);
  if (!error) error = eb_formula_values(names, &formula, count, value, NULL);
  return eb_section_locate(section, entry, error);
}

static eb_error parse_counted(const char *text, int count, eb_formula *out) {
  EB_TRY(eb_formula_parse(text, out));
  if (out->count == count) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "it has %d part%s; %d %s wanted, between commas", out->count,
                  out->count == 1 ? "" : "s", count, count == 1 ? "is" : "are");
}

eb_error eb_described_formula(const eb_section *section, const char *key, int count,
                              eb_formula *out) {
  const eb_entry *entry = eb_section_entry(section, key);
  *out = (eb_formula){0};
  return entry ? eb_section_locate(section, entry, parse_counted(entry->value, count, out)) : EB_OK;
}

eb_error eb_described_choice(const eb_section *section, const char *key, const char *const *words,
                             int *out) {
  const eb_entry *entry = eb_section_entry(section, key);
  size_t count = 0;
  *out = -1;
  if (!entry) return EB_OK;
  size_t length = strcspn(entry->value, " ,");
  for (; words[count]; count++)
    if (strlen(words[count]) == length && strncmp(words[count], entry->value, length) == 0)
      *out = (int)count;
  if (*out >= 0) return EB_OK;
  EB_FREED char *word = NULL;
  EB_TRY(eb_copy_part(entry->value, length, &word));
  return eb_section_locate(section, entry,
                           eb_unknown(EB_ERR_FORMAT, word, words, count, "there is no"));
}

eb_error eb_described_flag(const eb_section *section, const char *key, bool *out) {
  static const char *const words[] = {"no", "yes", NULL};
  int chosen;
  EB_TRY(eb_described_choice(section, key, words, &chosen));
  *out = chosen == 1;
  return EB_OK;
}

/* The axis at the beginning of "y, angle"; what is behind the comma. */
static eb_error read_axis(const char *text, int *axis, const char **behind) {
  char letter = text[0];
  const char *comma = text + 1 + strspn(text + (letter ? 1 : 0), " ");
  *axis = letter >= 'x' && letter <= 'z' ? letter - 'x' : -1;
  if (*axis < 0 || *comma != ',')
    return EB_ERROR(EB_ERR_FORMAT, "'%s' is to be an axis and an angle: y, 30 deg", text);
  *behind = comma + 1;
  return EB_OK;
}

eb_error eb_described_turn(const eb_section *section, const char *key, int *axis,
                           eb_formula *angle) {
  const eb_entry *entry = eb_section_entry(section, key);
  const char *behind = NULL;
  *axis = -1;
  *angle = (eb_formula){0};
  if (!entry) return EB_OK;
  eb_error error = read_axis(entry->value, axis, &behind);
  if (!error) error = parse_counted(behind, 1, angle);
  return eb_section_locate(section, entry, error);
}

/* ---- places ---------------------------------------------------------------------------------- */

static void turn_points(const double rotation[9], double *x, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double p[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    eb_turn3(rotation, p, x + 3 * i);
  }
}

/* "y, 30 deg" in front of the turns so far. */
static eb_error add_turn(const eb_names *names, const char *text, bool *turned,
                         double rotation[9]) {
  EB_OWNED(eb_formula_clear) eb_formula angle = {0};
  const char *behind = NULL;
  int axis;
  double value, one[9], both[9];
  EB_TRY(read_axis(text, &axis, &behind));
  EB_TRY(eb_formula_parse(behind, &angle));
  EB_TRY(eb_formula_values(names, &angle, 1, &value, NULL));
  eb_axis_rotation(axis, value, one);
  if (*turned)
    eb_multiply3(one, rotation, both);
  else
    memcpy(both, one, sizeof both);
  memcpy(rotation, both, sizeof both);
  *turned = true;
  return EB_OK;
}

static eb_error move_points(const eb_names *names, const char *text, double *x, size_t count) {
  EB_OWNED(eb_formula_clear) eb_formula way = {0};
  double shift[3];
  EB_TRY(eb_formula_parse(text, &way));
  EB_TRY(eb_formula_values(names, &way, 3, shift, NULL));
  for (size_t i = 0; i < count; i++)
    for (int d = 0; d < 3; d++) x[3 * i + d] += shift[d];
  return EB_OK;
}

eb_error eb_described_place(const eb_names *names, const eb_section *section, double *x,
                            size_t count) {
  double rotation[9];
  bool turned = false;
  for (int k = 0; section && k < section->count; k++) {
    const eb_entry *entry = &section->entries[k];
    if (strcmp(entry->key, "turn") == 0)
      EB_TRY(eb_section_locate(section, entry, add_turn(names, entry->value, &turned, rotation)));
    if (strcmp(entry->key, "move") != 0) continue;
    if (turned) turn_points(rotation, x, count);
    turned = false;
    EB_TRY(eb_section_locate(section, entry, move_points(names, entry->value, x, count)));
  }
  if (turned) turn_points(rotation, x, count);
  return EB_OK;
}

/* ---- names of a mesh's parts ----------------------------------------------------------------- */

static const eb_grip *find_grip(const eb_scene *scene, const char *name) {
  for (int g = 0; scene && g < scene->script.grip_count; g++)
    if (strcmp(scene->script.grips[g].name, name) == 0) return &scene->script.grips[g];
  return NULL;
}

static void include(const double *X, int32_t node, double lo[3], double hi[3]) {
  for (int d = 0; d < 3; d++) {
    lo[d] = fmin(lo[d], X[3 * (size_t)node + d]);
    hi[d] = fmax(hi[d], X[3 * (size_t)node + d]);
  }
}

bool eb_mesh_named_bounds(const void *context, const char *name, double lo[3], double hi[3]) {
  const eb_mesh_names *names = context;
  const eb_mesh *mesh = names->mesh;
  if (!name && names->lo) {
    memcpy(lo, names->lo, 3 * sizeof *lo);
    memcpy(hi, names->hi, 3 * sizeof *hi);
    return true;
  }
  for (int d = 0; d < 3; d++) lo[d] = INFINITY, hi[d] = -INFINITY;
  if (!name) {
    eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
    return true;
  }
  const eb_grip *grip = find_grip(names->scene, name);
  const eb_node_set *set = eb_mesh_set(mesh, name);
  int32_t region = eb_mesh_region(mesh, name);
  if (grip) {
    memcpy(lo, grip->lo, sizeof grip->lo);
    memcpy(hi, grip->hi, sizeof grip->hi);
    return true;
  }
  if (names->scene && names->scene->part) return false; /* what other processes hold is not seen */
  for (int32_t k = 0; set && k < set->count; k++) include(mesh->X, set->nodes[k], lo, hi);
  for (int32_t e = 0; !set && region >= 0 && e < mesh->element_count; e++)
    for (int c = 0; mesh->region[e] == region && c < (int)mesh->type; c++)
      include(mesh->X, mesh->elements[(size_t)e * mesh->type + (size_t)c], lo, hi);
  if (lo[0] <= hi[0]) return true;
  eb_mesh_names before = {.mesh = names->others, .node = -1, .element = -1};
  return names->others && eb_mesh_named_bounds(&before, name, lo, hi);
}

static bool among(int32_t node, const int32_t *nodes, int32_t count) {
  int32_t lo = 0, hi = count; /* ascending */
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (nodes[middle] < node)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < count && nodes[lo] == node;
}

int eb_mesh_named_in(const void *context, const char *name) {
  const eb_mesh_names *names = context;
  const eb_mesh *mesh = names->mesh;
  const eb_grip *grip = find_grip(names->scene, name);
  const eb_node_set *set = eb_mesh_set(mesh, name);
  int32_t region = eb_mesh_region(mesh, name);
  if (names->element >= 0 && region >= 0) return mesh->region[names->element] == region;
  if (names->element >= 0 && set) {
    const int32_t *corner = mesh->elements + (size_t)names->element * mesh->type;
    for (int c = 0; c < (int)mesh->type; c++)
      if (!among(corner[c], set->nodes, set->count)) return 0;
    return 1;
  }
  if (names->node >= 0 && grip) return among(names->node, grip->nodes, grip->count);
  if (names->node >= 0 && set) return among(names->node, set->nodes, set->count);
  return -1;
}
