#include "harness/cli/shown_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/json.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"
#include "problems/units.h"

/* ---- what there is --------------------------------------------------------------------------- */

/* Elements of one region. */
typedef struct region {
  int32_t elements;
  double volume, mass; /* m^3, kg */
} region;

/* Scripted nodes of a group over the run. */
typedef struct group {
  const char *name; /* NULL: those in no group */
  int32_t nodes;
  int32_t at_start, at_least, at_most; /* held nodes */
  double displacement;                 /* m: most that the script moves one */
} group;

/* A pattern of forces: their sum where it is strongest, and when that is. */
typedef struct load {
  double force[3], least, most; /* N; magnitudes in the course of the run */
  int32_t nodes;
} load;

enum { GROUPS = EB_MAX_GRIPS + 1, MOMENTS = 33 /* of the run at which its script is asked */ };

typedef struct contents {
  const eb_scene *scene;
  int32_t bodies;
  double lo[3], hi[3], mass; /* at the start, m; kg */
  region *regions;
  int group_count;
  group groups[GROUPS];
  load loads[EB_MAX_LOADS];
  char note[500]; /* "": none */
} contents;

static void clear_contents(contents *c) {
  free(c->regions);
}

static double moment(const eb_scene *scene, int k) {
  return (double)scene->ops->steps * scene->dt * k / (MOMENTS - 1);
}

static eb_error count_regions(contents *c) {
  const eb_mesh *mesh = c->scene->mesh;
  EB_TRY(EB_NEW(c->regions, mesh->region_count));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const eb_material *material = &c->scene->materials[mesh->region[e]];
    region *of = &c->regions[mesh->region[e]];
    double volume = eb_mesh_element_volume(mesh, mesh->X, e);
    if (mesh->type == EB_TRIANGLE) volume *= eb_material_thickness(material);
    of->elements++;
    of->volume += volume;
    of->mass += volume * material->density;
  }
  for (int32_t r = 0; r < mesh->region_count; r++) c->mass += c->regions[r].mass;
  return EB_OK;
}

/* What the script does with some nodes at a time; `x0` is where all nodes start. */
static void follow(const int32_t *node, int32_t count, const uint8_t *fixed, const double *target,
                   const double *x0, bool start, group *of) {
  int32_t held = 0;
  for (int32_t k = 0; k < count; k++) {
    size_t i = (size_t)node[k];
    held += fixed[i] != 0;
    if (fixed[i])
      of->displacement =
          fmax(of->displacement, sqrt(eb_squared_distance3(target + 3 * i, x0 + 3 * i)));
  }
  if (start) of->at_start = of->at_least = of->at_most = held;
  if (held < of->at_least) of->at_least = held;
  if (held > of->at_most) of->at_most = held;
}

/* The nodes that are held at some time and are in no group. */
static eb_error list_others(const eb_scene *scene, uint8_t *fixed, double *target, int32_t *other,
                            int32_t *count) {
  EB_FREED uint8_t *grouped = NULL;
  int32_t nodes = scene->mesh->node_count;
  EB_TRY(EB_NEW(grouped, nodes));
  for (int g = 0; g < scene->script.grip_count; g++)
    for (int32_t k = 0; k < scene->script.grips[g].count; k++)
      grouped[scene->script.grips[g].nodes[k]] = 1;
  *count = 0;
  for (int k = 0; k < MOMENTS; k++) {
    eb_scene_boundary(scene, moment(scene, k), fixed, target);
    for (int32_t i = 0; i < nodes; i++) {
      if (!fixed[i] || grouped[i]) continue;
      grouped[i] = 1;
      other[(*count)++] = i;
    }
  }
  return EB_OK;
}

static eb_error follow_groups(contents *c) {
  const eb_scene *scene = c->scene;
  const eb_grip *grips = scene->script.grips;
  int32_t nodes = scene->mesh->node_count, others;
  EB_FREED uint8_t *fixed = NULL;
  EB_FREED double *target = NULL;
  EB_FREED int32_t *other = NULL;
  EB_TRY(EB_NEW(fixed, nodes));
  EB_TRY(EB_NEW(target, 3 * (size_t)nodes));
  EB_TRY(EB_NEW(other, nodes));
  EB_TRY(list_others(scene, fixed, target, other, &others));
  for (int g = 0; g < scene->script.grip_count; g++)
    c->groups[c->group_count++] = (group){.name = grips[g].name, .nodes = grips[g].count};
  if (others > 0) c->groups[c->group_count++] = (group){.nodes = others};
  for (int k = 0; k < MOMENTS; k++) {
    eb_scene_boundary(scene, moment(scene, k), fixed, target);
    for (int g = 0; g < c->group_count; g++) {
      const int32_t *node = c->groups[g].name ? grips[g].nodes : other;
      follow(node, c->groups[g].nodes, fixed, target, scene->x0, k == 0, &c->groups[g]);
    }
  }
  return EB_OK;
}

static void sum_loads(contents *c) {
  const eb_scene *scene = c->scene;
  double magnitude[EB_MAX_LOADS];
  for (int k = 0; k < MOMENTS; k++) {
    eb_scene_load_magnitudes(scene, moment(scene, k), magnitude);
    for (int32_t l = 0; l < scene->script.load_count; l++) {
      load *of = &c->loads[l];
      of->least = k > 0 ? fmin(of->least, magnitude[l]) : magnitude[l];
      of->most = k > 0 ? fmax(of->most, magnitude[l]) : magnitude[l];
    }
  }
  for (int32_t l = 0; l < scene->script.load_count; l++) {
    load *of = &c->loads[l];
    for (int32_t i = 0; i < scene->mesh->node_count; i++) {
      const double *f = scene->script.load[l] + 3 * (size_t)i;
      of->nodes += eb_dot3(f, f) > 0;
      eb_add3(of->most, f, of->force);
    }
  }
}

static eb_error count_bodies(contents *c) {
  EB_FREED int32_t *part = NULL;
  EB_TRY(EB_NEW(part, c->scene->mesh->node_count));
  c->bodies = eb_mesh_components(c->scene->mesh, part);
  return EB_OK;
}

static eb_error collect(const eb_scene *scene, contents *c) {
  c->scene = scene;
  eb_mesh_bounds(scene->x0, scene->mesh->node_count, c->lo, c->hi);
  EB_TRY(count_bodies(c));
  EB_TRY(count_regions(c));
  EB_TRY(follow_groups(c));
  sum_loads(c);
  eb_scene_units(scene, c->note, sizeof c->note);
  return EB_OK;
}

/* What the script does with a group, in words. */
static void describe_group(const group *g, char *out, size_t bytes) {
  static const double still = 1e-12; /* m */
  if (g->at_most == 0)
    snprintf(out, bytes, "free");
  else if (g->at_most < g->nodes)
    snprintf(out, bytes, "%d held at most", g->at_most);
  else
    snprintf(out, bytes, "%s", g->displacement > still ? "moved" : "held");
  size_t used = strlen(out);
  if (g->displacement > still)
    used += (size_t)snprintf(out + used, bytes - used, ", by %.4g m at most", g->displacement);
  if (g->at_start < g->at_most && used < bytes)
    used += (size_t)snprintf(out + used, bytes - used, ", %d from the start on", g->at_start);
  if (g->at_least < g->at_start && used < bytes)
    snprintf(out + used, bytes - used, ", let go in the course of the run");
}

/* ---- contact --------------------------------------------------------------------------------- */

static const char *const collider_kinds[] = {
    [EB_PLANE] = "plane",       [EB_SPHERE] = "sphere",
    [EB_CYLINDER] = "cylinder", [EB_CAPPED_CYLINDER] = "capped cylinder",
    [EB_BOWL] = "bowl",         [EB_CAPSULE] = "capsule",
    [EB_MESH] = "surface"};

static bool has_constraints(const eb_scene *scene) {
  return eb_scene_needs(scene) & EB_CAP_CONTACT;
}

/* A line a thing that may touch. */
static void show_contact(const contents *c, eb_doc *doc) {
  const eb_contact_setup *s = &c->scene->contacts;
  if (has_constraints(c->scene))
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "contact as constraints: %s, friction %g, within %.3g m",
                     c->bodies > 1 ? "bodies with each other and themselves"
                                   : "the body with itself",
                     s->friction.common, s->bounds.near);
  if (s->bodies_collide)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "bodies push each other by penalties, friction %g",
                     s->bodies_friction);
  if (s->friction.pair_count > 0)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "friction of %d pairs of its own", s->friction.pair_count);
  for (int o = 0; o < s->obstacle_count; o++)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "obstacle %d: %d triangles, %s", o + 1,
                     s->obstacles[o].surface->triangle_count,
                     s->obstacles[o].motion ? "moves" : "stands still");
  for (int k = 0; k < s->collider_count; k++)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "collider %d: %s at %g %g %g, friction %g, %s%s", k + 1,
                     collider_kinds[s->colliders[k].kind], s->colliders[k].origin[0],
                     s->colliders[k].origin[1], s->colliders[k].origin[2], s->colliders[k].friction,
                     s->colliders[k].implicit ? "implicit penalty" : "penalty",
                     s->colliders[k].motion || s->colliders[k].turn ? ", moves" : "");
  if (!has_constraints(c->scene) && !s->bodies_collide && s->collider_count == 0)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "contact: none");
}

static json_t *contact_json(const eb_scene *scene) {
  const eb_contact_setup *s = &scene->contacts;
  json_t *obstacles = json_array(), *colliders = json_array();
  for (int o = 0; o < s->obstacle_count; o++)
    json_array_append_new(obstacles, eb_json_pack("{s:i, s:b}", "triangles",
                                                  s->obstacles[o].surface->triangle_count, "moves",
                                                  s->obstacles[o].motion != NULL));
  for (int k = 0; k < s->collider_count; k++) {
    const eb_collider *of = &s->colliders[k];
    json_array_append_new(
        colliders,
        eb_json_pack("{s:s, s:o, s:f, s:b, s:b}", "kind", collider_kinds[of->kind], "origin",
                     json_pack("[f,f,f]", of->origin[0], of->origin[1], of->origin[2]), "friction",
                     of->friction, "implicit", of->implicit, "moves", of->motion || of->turn));
  }
  return eb_json_pack("{s:b, s:f, s:i, s:b, s:f, s:o, s:o}", "constraints", has_constraints(scene),
                      "friction", s->friction.common, "friction_pairs", s->friction.pair_count,
                      "bodies_collide", s->bodies_collide, "bodies_friction", s->bodies_friction,
                      "obstacles", obstacles, "colliders", colliders);
}

/* ---- as text --------------------------------------------------------------------------------- */

static void show_regions(const contents *c, eb_doc *doc) {
  static const char *const heads[] = {"region", "elements", "mass kg",    "material",
                                      "E Pa",   "nu",       "rho kg/m^3", NULL};
  const eb_mesh *mesh = c->scene->mesh;
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int32_t r = 0; r < mesh->region_count; r++) {
    const eb_material *m = &c->scene->materials[r];
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", mesh->region_name[r]);
    eb_doc_number(doc, EB_DOC_PLAIN, c->regions[r].elements);
    eb_doc_number(doc, EB_DOC_PLAIN, c->regions[r].mass);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s%s%s", eb_material_name(m),
                m->fibre != EB_FIBRE_NONE ? ", fibres" : "",
                c->scene->rigid.regions[r] ? ", rigid" : "");
    eb_doc_number_as(doc, EB_DOC_PLAIN, "%.4g", m->young);
    eb_doc_number_as(doc, EB_DOC_PLAIN, "%.4g", m->poisson);
    eb_doc_number_as(doc, EB_DOC_PLAIN, "%.4g", m->density);
  }
  eb_doc_end(doc);
}

static const char *group_name(const group *g) {
  return !g->name ? "(in no group)" : *g->name ? g->name : "(unnamed)";
}

static void show_groups(const contents *c, eb_doc *doc) {
  static const char *const heads[] = {"group", "nodes", "script", NULL};
  if (c->group_count == 0) eb_doc_paragraph(doc, EB_DOC_PLAIN, "held: nothing");
  if (c->group_count == 0) return;
  eb_doc_table(doc, NULL);
  eb_doc_heads(doc, heads);
  for (int g = 0; g < c->group_count; g++) {
    char words[200];
    describe_group(&c->groups[g], words, sizeof words);
    eb_doc_row(doc, NULL);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", group_name(&c->groups[g]));
    eb_doc_number(doc, EB_DOC_PLAIN, c->groups[g].nodes);
    eb_doc_cell(doc, EB_DOC_PLAIN, "%s", words);
  }
  eb_doc_end(doc);
}

static void show_loads(const contents *c, eb_doc *doc) {
  const eb_script *script = &c->scene->script;
  for (int32_t l = 0; l < script->load_count; l++) {
    const load *of = &c->loads[l];
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "load %d: %.4g %.4g %.4g N in all, on %d nodes%s", l + 1,
                     of->force[0], of->force[1], of->force[2], of->nodes,
                     of->least < of->most ? ", at its most" : "");
  }
  if (script->spring_count > 0)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "springs: %d", script->spring_count);
  if (c->scene->clusters.count > 0)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "links and clusters: %d", c->scene->clusters.count);
  if (c->scene->rigid.articulation)
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "joints: %d",
                     eb_articulation_joints(c->scene->rigid.articulation));
}

eb_error eb_scene_show(const eb_scene *scene, eb_doc *doc) {
  EB_OWNED(clear_contents) contents c = {0};
  const double *g = scene->gravity;
  EB_TRY(collect(scene, &c));
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "box: %.4g %.4g %.4g to %.4g %.4g %.4g m at the start",
                   c.lo[0], c.lo[1], c.lo[2], c.hi[0], c.hi[1], c.hi[2]);
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "mass: %.4g kg in %d %s; gravity %g %g %g m/s^2", c.mass,
                   c.bodies, c.bodies == 1 ? "body" : "bodies", g[0] + 0., g[1] + 0., g[2] + 0.);
  show_regions(&c, doc);
  show_groups(&c, doc);
  show_loads(&c, doc);
  show_contact(&c, doc);
  if (*c.note) eb_doc_paragraph(doc, EB_DOC_PLAIN, "note: %s", c.note);
  return EB_OK;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static json_t *regions_json(const contents *c) {
  json_t *array = json_array();
  for (int32_t r = 0; r < c->scene->mesh->region_count; r++) {
    const eb_material *m = &c->scene->materials[r];
    const region *of = &c->regions[r];
    json_array_append_new(
        array, eb_json_pack("{s:s, s:i, s:f, s:f, s:s, s:f, s:f, s:f, s:b, s:b}", "name",
                            c->scene->mesh->region_name[r], "elements", of->elements, "volume",
                            of->volume, "mass", of->mass, "material", eb_material_name(m), "E",
                            m->young, "nu", m->poisson, "rho", m->density, "fibres",
                            m->fibre != EB_FIBRE_NONE, "rigid", c->scene->rigid.regions[r] != 0));
  }
  return array;
}

static json_t *groups_json(const contents *c) {
  json_t *array = json_array();
  for (int g = 0; g < c->group_count; g++) {
    char words[200];
    const group *of = &c->groups[g];
    describe_group(of, words, sizeof words);
    json_array_append_new(
        array, eb_json_pack("{s:s, s:i, s:i, s:i, s:f, s:s}", "name", of->name ? of->name : "",
                            "nodes", of->nodes, "held_at_start", of->at_start, "held_at_most",
                            of->at_most, "displacement", of->displacement, "script", words));
  }
  return array;
}

static json_t *loads_json(const contents *c) {
  json_t *array = json_array();
  for (int32_t l = 0; l < c->scene->script.load_count; l++) {
    const load *of = &c->loads[l];
    json_array_append_new(
        array, eb_json_pack("{s:o, s:i}", "force",
                            json_pack("[f,f,f]", of->force[0], of->force[1], of->force[2]), "nodes",
                            of->nodes));
  }
  return array;
}

eb_error eb_scene_show_json(const eb_scene *scene, json_t *out) {
  EB_OWNED(clear_contents) contents c = {0};
  const double *g = scene->gravity;
  EB_TRY(collect(scene, &c));
  json_t *notes = json_array();
  if (*c.note) json_array_append_new(notes, eb_json_text(c.note));
  json_object_set_new(
      out, "box",
      json_pack("[[f,f,f], [f,f,f]]", c.lo[0], c.lo[1], c.lo[2], c.hi[0], c.hi[1], c.hi[2]));
  json_object_set_new(out, "mass", json_real(c.mass));
  json_object_set_new(out, "bodies", json_integer(c.bodies));
  json_object_set_new(out, "gravity", json_pack("[f,f,f]", g[0], g[1], g[2]));
  json_object_set_new(out, "regions", regions_json(&c));
  json_object_set_new(out, "groups", groups_json(&c));
  json_object_set_new(out, "loads", loads_json(&c));
  json_object_set_new(out, "springs", json_integer(scene->script.spring_count));
  json_object_set_new(out, "contact", contact_json(scene));
  json_object_set_new(out, "notes", notes);
  return EB_OK;
}
