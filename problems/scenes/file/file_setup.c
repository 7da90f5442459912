/* Setting a scene up from its file, once its mesh is there: materials, gravity, groups and scripts,
 * loads, the initial state, contact, joints, links. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"
#include "problems/scenes/file/description.h"

/* ---- materials ------------------------------------------------------------------------------- */

static eb_error read_kind(const eb_plugged_list *plugged, const eb_section *section,
                          eb_material *out) {
  const eb_entry *entry = eb_section_entry(section, "kind");
  return entry ? eb_section_locate(section, entry, eb_material_choose(plugged, entry->value, out))
               : EB_OK;
}

/* What its plug-in's material has of its own; keys of others are of them, where the parameter
 * `material` chooses among several. */
static eb_error read_own(const eb_plugged_list *plugged, const eb_names *names,
                         const eb_section *section, eb_material *out) {
  const eb_material_ops *own = out->plugged ? out->plugged->ops : NULL;
  bool given;
  for (int k = 0; own && k < eb_plugged_parameter_count(own); k++)
    EB_TRY(eb_described_values(names, section, own->parameters[k].name, 1, &out->own[k], &given));
  for (int m = 0; eb_section_entry(section, "kind") && m < plugged->count; m++)
    for (int k = 0; k < eb_plugged_parameter_count(plugged->items[m].ops); k++) {
      const char *name = plugged->items[m].ops->parameters[k].name;
      const eb_entry *entry = eb_section_entry(section, name);
      if (entry && !(own && eb_plugged_parameter(own, name) >= 0))
        return eb_section_locate(section, entry,
                                 EB_ERROR(EB_ERR_FORMAT,
                                          "'%s' is a parameter of material '%s', not of '%s'", name,
                                          plugged->items[m].ops->name, eb_material_name(out)));
    }
  return EB_OK;
}

/* mu and lambda in the place of E and nu. */
static eb_error read_lame(const eb_names *names, const eb_section *section, eb_material *out) {
  double mu, lambda;
  bool has_mu, has_lambda;
  EB_TRY(eb_described_values(names, section, "mu", 1, &mu, &has_mu));
  EB_TRY(eb_described_values(names, section, "lambda", 1, &lambda, &has_lambda));
  if (has_mu != has_lambda)
    return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_FORMAT, "mu and lambda go together"));
  if (!has_mu) return EB_OK;
  if (eb_section_entry(section, "E") || eb_section_entry(section, "nu"))
    return eb_section_locate(section, NULL,
                             EB_ERROR(EB_ERR_FORMAT, "E and nu, or mu and lambda: not both"));
  out->young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
  out->poisson = lambda / (2 * (lambda + mu));
  return EB_OK;
}

static const char *const fibres[] = {"none", "astvk", "fung", NULL};
static const char *const integrations[] = {"gauss", "one-point", "staggered", NULL};

static eb_error read_material(const eb_description *description, const eb_section *section,
                              eb_material *out) {
  eb_names names = eb_description_names(description);
  int fibre, integration;
  bool given;
  const struct {
    const char *key;
    double *value;
  } reals[] = {{"E", &out->young},
               {"nu", &out->poisson},
               {"rho", &out->density},
               {"fibre_stiffness", &out->fibre_stiffness},
               {"fibre_exponent", &out->fibre_exponent},
               {"activation", &out->activation},
               {"thickness", &out->thickness},
               {"hourglass", &out->hourglass}};
  const eb_plugged_list *plugged = &description->ops->materials;
  EB_TRY(read_kind(plugged, section, out));
  EB_TRY(read_own(plugged, &names, section, out));
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
    EB_TRY(eb_described_values(&names, section, reals[k].key, 1, reals[k].value, &given));
  EB_TRY(read_lame(&names, section, out));
  EB_TRY(eb_described_choice(section, "fibre", fibres, &fibre));
  EB_TRY(eb_described_choice(section, "integration", integrations, &integration));
  if (fibre >= 0) out->fibre = (eb_fibre_kind)fibre;
  if (integration >= 0) out->integration = (eb_integration)integration;
  return eb_section_locate(section, NULL, eb_material_validate(out));
}

/* `direction = x, y, z` by the place of the element's middle; made a unit vector. */
static eb_error direct_fibres(const eb_description *description, const eb_section *section,
                              int32_t region, eb_mesh *mesh) {
  EB_OWNED(eb_formula_clear) eb_formula formula = {0};
  eb_variable place[3] = {{.name = "x"}, {.name = "y"}, {.name = "z"}};
  eb_names names = eb_description_names(description);
  eb_mesh_names looked_at = {
      .mesh = mesh, .lo = description->lo, .hi = description->hi, .node = -1};
  names.variables = place;
  names.variable_count = 3;
  names.bounds = eb_mesh_named_bounds;
  names.is_in = eb_mesh_named_in;
  names.context = &looked_at;
  EB_TRY(eb_described_formula(section, "direction", 3, &formula));
  if (formula.count == 0) return EB_OK;
  if (!mesh->fibre) EB_TRY(EB_NEW(mesh->fibre, 3 * (size_t)mesh->element_count));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double centroid[3], a[3];
    if (mesh->region[e] != region) continue;
    looked_at.element = e;
    eb_element_centroid(mesh, e, centroid);
    for (int d = 0; d < 3; d++) place[d].quantity.value = centroid[d];
    eb_error error = eb_formula_values(&names, &formula, 3, a, NULL);
    double length = error ? 1 : sqrt(eb_dot3(a, a));
    if (!error && !(length > 0)) error = EB_ERROR(EB_ERR_INVALID, "it is no direction: 0, 0, 0");
    EB_TRY(eb_section_locate(section, eb_section_entry(section, "direction"), error));
    for (int d = 0; d < 3; d++) mesh->fibre[3 * (size_t)e + (size_t)d] = a[d] / length;
  }
  return EB_OK;
}

eb_error eb_described_materials(const eb_description *description, eb_scene *scene) {
  int at = 0;
  eb_scene_uniform_material(scene);
  for (const eb_section *section; (section = eb_description_next(description, "material", &at));) {
    int32_t region = eb_mesh_region(scene->mesh, section->label);
    bool rigid;
    EB_TRY(eb_described_flag(section, "rigid", &rigid));
    if (region < 0) continue; /* of a --mesh file */
    EB_TRY(read_material(description, section, &scene->materials[region]));
    EB_TRY(direct_fibres(description, section, region, scene->mesh));
    scene->rigid.regions[region] = rigid;
  }
  return EB_OK;
}

/* ---- the initial state ----------------------------------------------------------------------- */

/* `place` and `velocity` by the place at rest, where `where` holds. */
static eb_error set_fields(const eb_description *description, eb_scene *scene,
                           const eb_section *section, const eb_formula *where,
                           const eb_formula *place, const eb_formula *velocity) {
  eb_variable rest[3] = {{.name = "x"}, {.name = "y"}, {.name = "z"}};
  eb_names names = eb_description_names(description);
  eb_mesh_names looked_at = {.mesh = scene->mesh,
                             .scene = scene,
                             .lo = description->lo,
                             .hi = description->hi,
                             .element = -1};
  names.variables = rest;
  names.variable_count = 3;
  names.bounds = eb_mesh_named_bounds;
  names.is_in = eb_mesh_named_in;
  names.context = &looked_at;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double holds = 1;
    size_t at = 3 * (size_t)i;
    looked_at.node = i;
    for (int d = 0; d < 3; d++) rest[d].quantity.value = scene->mesh->X[at + (size_t)d];
    eb_error error = where->count ? eb_formula_values(&names, where, 1, &holds, NULL) : EB_OK;
    if (!error && holds != 0 && place->count)
      error = eb_formula_values(&names, place, 3, scene->x0 + at, NULL);
    if (!error && holds != 0 && velocity->count)
      error = eb_formula_values(&names, velocity, 3, scene->v0 + at, NULL);
    EB_TRY(eb_section_locate(section, NULL, error));
  }
  return EB_OK;
}

/* The box's middle over the origin, its lowest point at that height. */
static void put_on_floor(eb_scene *scene, double floor) {
  double lo[3], hi[3];
  eb_scene_bounds(scene, scene->x0, lo, hi);
  const double shift[3] = {-0.5 * (lo[0] + hi[0]), -0.5 * (lo[1] + hi[1]), floor - lo[2]};
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    for (int d = 0; d < 3; d++) scene->x0[3 * i + d] += shift[d];
}

/* "y, 3 rad/s": about the middle of the box at the start. */
static eb_error spin_up(const eb_description *description, eb_scene *scene,
                        const eb_section *section) {
  EB_OWNED(eb_formula_clear) eb_formula rate = {0};
  eb_names names = eb_description_names(description);
  double lo[3], hi[3], omega[3] = {0}, speed;
  int axis;
  EB_TRY(eb_described_turn(section, "spin", &axis, &rate));
  if (axis < 0) return EB_OK;
  EB_TRY(eb_section_locate(section, eb_section_entry(section, "spin"),
                           eb_formula_values(&names, &rate, 1, &speed, NULL)));
  omega[axis] = speed;
  eb_scene_bounds(scene, scene->x0, lo, hi);
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double r[3], v[3];
    for (int d = 0; d < 3; d++) r[d] = scene->x0[3 * i + d] - 0.5 * (lo[d] + hi[d]);
    eb_cross3(omega, r, v);
    eb_add3(1, v, scene->v0 + 3 * (size_t)i);
  }
  return EB_OK;
}

eb_error eb_described_start(const eb_description *description, eb_scene *scene) {
  const eb_section *section = eb_sections_find(&description->sections, "start", "");
  EB_OWNED(eb_formula_clear) eb_formula where = {0}, place = {0}, velocity = {0};
  eb_names names = eb_description_names(description);
  double floor;
  bool floored;
  if (!section) return EB_OK;
  EB_TRY(eb_described_place(&names, section, scene->x0, (size_t)scene->mesh->node_count));
  EB_TRY(eb_described_values(&names, section, "floor", 1, &floor, &floored));
  if (floored) put_on_floor(scene, floor);
  EB_TRY(eb_described_formula(section, "where", 1, &where));
  EB_TRY(eb_described_formula(section, "place", 3, &place));
  EB_TRY(eb_described_formula(section, "velocity", 3, &velocity));
  if (place.count || velocity.count)
    EB_TRY(set_fields(description, scene, section, &where, &place, &velocity));
  return spin_up(description, scene, section);
}

/* ---- links ----------------------------------------------------------------------------------- */

eb_error eb_described_clusters(const eb_description *description, eb_scene *scene) {
  const eb_section *section = eb_sections_find(&description->sections, "links", "");
  eb_names names = eb_description_names(description);
  double edges, elements;
  bool linked, matched;
  if (!section) return EB_OK;
  EB_TRY(eb_described_values(&names, section, "edges", 1, &edges, &linked));
  EB_TRY(eb_described_values(&names, section, "elements", 1, &elements, &matched));
  if (linked) EB_TRY(eb_section_locate(section, NULL, eb_scene_link_edges(scene, edges)));
  if (matched) EB_TRY(eb_section_locate(section, NULL, eb_scene_match_elements(scene, elements)));
  return EB_OK;
}

/* ---- gravity and all of it ------------------------------------------------------------------- */

/* `down` is an axis with its sign, or three formulas: a direction. */
static eb_error set_gravity(const eb_description *description, eb_scene *scene) {
  static const char *const ways[] = {"-z", "-y", "-x", "+z", "+y", "+x", NULL};
  const eb_section *section = eb_sections_find(&description->sections, "scene", "");
  const eb_entry *entry = eb_section_entry(section, "down");
  const eb_names names = eb_description_names(description);
  double down[3] = {0, 0, -1}, size = eb_values_real(scene->parameters, "gravity");
  int way = 0;
  if (entry && strchr(entry->value, ',')) {
    EB_TRY(eb_described_values(&names, section, "down", 3, down, NULL));
  } else {
    EB_TRY(eb_described_choice(section, "down", ways, &way));
    down[2] = 0;
    down[way < 0 ? 2 : 2 - way % 3] = way < 3 ? -1 : 1;
  }
  double length = sqrt(eb_dot3(down, down));
  if (!(length > 0))
    return eb_section_locate(section, entry, EB_ERROR(EB_ERR_FORMAT, "it has no direction"));
  for (int d = 0; d < 3; d++) scene->gravity[d] = size * (down[d] / length);
  return EB_OK;
}

eb_error eb_scene_described_setup(eb_scene *scene) {
  eb_description *description = NULL;
  eb_error error = eb_description_open(scene->ops, scene->parameters, &description);
  scene->data = description;
  EB_TRY(error);
  description->scene = scene;
  eb_scene_bounds(scene, scene->mesh->X, description->lo, description->hi);
  EB_TRY(eb_described_materials(description, scene));
  EB_TRY(set_gravity(description, scene));
  EB_TRY(eb_described_groups(description, scene));
  EB_TRY(eb_described_loads(description, scene));
  EB_TRY(eb_described_start(description, scene));
  EB_TRY(eb_described_contacts(description, scene));
  EB_TRY(eb_described_friction(description, scene));
  EB_TRY(eb_described_joints(description, scene));
  return eb_described_clusters(description, scene);
}

void eb_scene_described_clear(eb_scene *scene) {
  eb_description_close(scene->data);
  scene->data = NULL;
}

/* ---- nodes that a condensation keeps --------------------------------------------------------- */

/* `place` in shares of the mesh's box, by k = 0 .. and the number n that is wanted; `count` of
 * them. */
int32_t eb_scene_described_dynamic(const eb_scene *scene, int32_t wanted, int32_t *nodes) {
  const eb_description *description = scene->data;
  const eb_section *section = eb_sections_find(&description->sections, "dynamic", "");
  EB_OWNED(eb_formula_clear) eb_formula place = {0};
  eb_variable variables[2] = {{.name = "n", .quantity = {wanted, 0}}, {.name = "k"}};
  eb_names names = eb_description_names(description);
  double most = wanted, share[3], point[3];
  bool given;
  int32_t count = 0;
  names.variables = variables;
  names.variable_count = 2;
  eb_error error = eb_described_values(&names, section, "count", 1, &most, &given);
  if (!error) error = eb_described_formula(section, "place", 3, &place);
  for (int32_t k = 0; !error && k < wanted && k < most; k++) {
    variables[1].quantity.value = k;
    error = eb_formula_values(&names, &place, 3, share, NULL);
    for (int d = 0; d < 3 && !error; d++)
      point[d] = description->lo[d] + share[d] * (description->hi[d] - description->lo[d]);
    if (!error && !eb_scene_add_nearest(scene, point, nodes, &count)) break;
  }
  eb_error_free(error);
  return count;
}
