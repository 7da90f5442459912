/* [friction] of a scene file: Coulomb's mu by pairs of names. */
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/strings.h"
#include "problems/scenes/file/description.h"

/* Names that pairs have used, each a bit of the law's. */
typedef struct reader {
  const eb_description *description;
  eb_scene *scene;
  eb_names names;
  char *words[EB_FRICTION_NAMES]; /* owned */
  int32_t count;
} reader;

/* ---- what has a name ------------------------------------------------------------------------- */

static bool mark_nodes(const reader *r, const char *name, uint32_t bit) {
  uint32_t *names = r->scene->contacts.friction.names;
  eb_mesh_names looked_at = {.mesh = r->scene->mesh, .scene = r->scene, .element = -1};
  bool found = false;
  for (int32_t i = 0; i < r->scene->mesh->node_count; i++) {
    looked_at.node = i;
    if (eb_mesh_named_in(&looked_at, name) != 1) continue;
    names[i] |= bit;
    found = true;
  }
  return found;
}

/* A region's nodes are those of its elements. */
static bool mark_region(const reader *r, const char *name, uint32_t bit) {
  const eb_mesh *mesh = r->scene->mesh;
  int32_t region = eb_mesh_region(mesh, name);
  for (int32_t e = 0; region >= 0 && e < mesh->element_count; e++)
    for (int c = 0; mesh->region[e] == region && c < (int)mesh->type; c++)
      r->scene->contacts.friction.names[mesh->elements[(size_t)e * mesh->type + (size_t)c]] |= bit;
  return region >= 0;
}

static bool mark_body(const reader *r, const char *name, uint32_t bit) {
  const char *only = r->names.only_body;
  if (mark_nodes(r, name, bit) || mark_region(r, name, bit)) return true;
  if (!only || strcmp(only, name) != 0) return false;
  for (int32_t i = 0; i < r->scene->mesh->node_count; i++)
    r->scene->contacts.friction.names[i] |= bit;
  return true;
}

/* Sections of obstacles and colliders are in the order of the scene's. */
static bool mark_obstacle(const reader *r, const char *name, uint32_t bit) {
  uint32_t *names = r->scene->contacts.friction.names + r->scene->mesh->node_count;
  const eb_obstacle *obstacle = r->scene->contacts.obstacles;
  const eb_section *section;
  bool found = false;
  for (int at = 0; (section = eb_description_next(r->description, "obstacle", &at)); obstacle++) {
    bool named = strcmp(section->label, name) == 0;
    for (int32_t i = 0; i < obstacle->surface->vertex_count; i++) *names++ |= named ? bit : 0;
    found = found || named;
  }
  return found;
}

static bool mark_collider(const reader *r, const char *name, uint32_t bit) {
  eb_collider *collider = r->scene->contacts.colliders;
  const eb_section *section;
  bool found = false;
  for (int at = 0; (section = eb_description_next(r->description, "collider", &at)); collider++)
    if (strcmp(section->label, name) == 0) {
      collider->names |= bit;
      found = true;
    }
  return found;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static eb_error unknown_name(const reader *r, const char *name) {
  static const char *const kinds[] = {"body", "group", "obstacle", "collider"};
  const char *words[64];
  size_t count = 0;
  const eb_section *section;
  for (int k = 0; k < 4; k++)
    for (int at = 0; count < 64 && (section = eb_description_next(r->description, kinds[k], &at));)
      words[count++] = section->label;
  return eb_unknown(EB_ERR_FORMAT, name, words, count,
                    "there is no body, group, set, region, obstacle or collider");
}

/* The number of a name; marks what has it where it is new. Takes `word` over. */
static eb_error number_of(reader *r, char *word, int32_t *out) {
  for (*out = 0; *out < r->count; ++*out)
    if (strcmp(r->words[*out], word) == 0) {
      free(word);
      return EB_OK;
    }
  if (r->count == EB_FRICTION_NAMES) {
    free(word);
    return EB_ERROR(EB_ERR_LIMIT, "pairs of friction have more than %d names", EB_FRICTION_NAMES);
  }
  uint32_t bit = UINT32_C(1) << r->count;
  r->words[r->count++] = word;
  int kinds = mark_body(r, word, bit) + mark_obstacle(r, word, bit) + mark_collider(r, word, bit);
  if (kinds == 0) return unknown_name(r, word);
  if (kinds > 1)
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s' is two of a body, an obstacle and a collider; give one another name",
                    word);
  return EB_OK;
}

/* Cuts the word in front of a comma, without blanks, off *text. */
static eb_error take_word(const char **text, char **out) {
  const char *comma = strchr(*text, ',');
  if (!comma)
    return EB_ERROR(EB_ERR_FORMAT, "a pair is two names and a coefficient: block, floor, 0.3");
  const char *begin = *text + strspn(*text, " \t\n");
  size_t length = (size_t)(comma > begin ? comma - begin : 0);
  while (length > 0 && strchr(" \t\n", begin[length - 1])) length--;
  *text = comma + 1;
  return eb_copy_part(begin, length, out);
}

/* "NAME, NAME, mu" */
static eb_error read_pair(reader *r, const char *text, eb_friction_pair *out) {
  EB_OWNED(eb_formula_clear) eb_formula formula = {0};
  char *word;
  EB_TRY(take_word(&text, &word));
  EB_TRY(number_of(r, word, &out->a));
  EB_TRY(take_word(&text, &word));
  EB_TRY(number_of(r, word, &out->b));
  EB_TRY(eb_formula_parse(text, &formula));
  EB_TRY(eb_formula_values(&r->names, &formula, 1, &out->mu, NULL));
  if (out->mu >= 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "friction is %g; it is to be at least 0", out->mu);
}

static eb_error name_vertices(eb_scene *scene) {
  size_t vertices = (size_t)scene->mesh->node_count;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    vertices += (size_t)scene->contacts.obstacles[o].surface->vertex_count;
  return EB_NEW(scene->contacts.friction.names, vertices);
}

static eb_error read_pairs(reader *r, const eb_section *section) {
  eb_friction_law *law = &r->scene->contacts.friction;
  EB_TRY(name_vertices(r->scene));
  for (int k = 0; k < section->count; k++) {
    const eb_entry *entry = &section->entries[k];
    eb_friction_pair pair;
    EB_TRY(eb_section_locate(section, entry, read_pair(r, entry->value, &pair)));
    EB_TRY(EB_APPEND(law->pairs, law->pair_count));
    law->pairs[law->pair_count - 1] = pair;
  }
  return EB_OK;
}

eb_error eb_described_friction(const eb_description *description, eb_scene *scene) {
  const eb_section *section = eb_sections_find(&description->sections, "friction", "");
  reader r = {
      .description = description, .scene = scene, .names = eb_description_names(description)};
  if (!section) return EB_OK;
  eb_error error = read_pairs(&r, section);
  for (int32_t k = 0; k < r.count; k++) free(r.words[k]);
  return error;
}
