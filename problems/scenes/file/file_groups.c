/* [group NAME]: nodes found by a condition, held, moved by script or pulled by springs. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"
#include "problems/ranks/subdomain.h"
#include "problems/scenes/file/description.h"

/* ---- finding nodes --------------------------------------------------------------------------- */

/* A condition over places at rest. What goes wrong stays in `error`. */
typedef struct condition {
  eb_names names;
  eb_mesh_names looked_at;
  eb_variable place[3];
  eb_formula formula;
  eb_error error;
} condition;

static bool meets(const double X[3], const void *context) {
  condition *c = (condition *)(uintptr_t)context;
  double holds = 0;
  if (c->error) return false;
  for (int d = 0; d < 3; d++) c->place[d].quantity.value = X[d];
  c->looked_at.node = (int32_t)((X - c->looked_at.mesh->X) / 3); /* X is a row of mesh->X */
  c->error = eb_formula_values(&c->names, &c->formula, 1, &holds, NULL);
  return !c->error && holds != 0;
}

static eb_error add_where(const eb_description *description, eb_scene *scene,
                          const eb_section *section) {
  condition c = {.names = eb_description_names(description),
                 .looked_at = {.mesh = scene->mesh,
                               .scene = scene,
                               .lo = description->lo,
                               .hi = description->hi,
                               .element = -1},
                 .place = {{.name = "x"}, {.name = "y"}, {.name = "z"}}};
  c.names.bounds = eb_mesh_named_bounds;
  c.names.is_in = eb_mesh_named_in;
  c.names.context = &c.looked_at;
  c.names.variables = c.place;
  c.names.variable_count = 3;
  eb_error error = eb_described_formula(section, "where", 1, &c.formula);
  if (!error) error = eb_grips_add(scene, meets, &c, section->label);
  if (c.error) {
    eb_error_free(error);
    error = c.error;
  }
  eb_formula_clear(&c.formula);
  return eb_section_locate(section, eb_section_entry(section, "where"), error);
}

typedef struct set_test {
  const eb_mesh *mesh;
  const char *name;
} set_test;

static bool in_set(const double X[3], const void *context) {
  const set_test *set = context;
  eb_mesh_names at = {.mesh = set->mesh, .node = (int32_t)((X - set->mesh->X) / 3), .element = -1};
  return eb_mesh_named_in(&at, set->name) == 1;
}

static eb_error add_set(eb_scene *scene, const eb_section *section) {
  const eb_entry *entry = eb_section_entry(section, "set");
  const eb_mesh *mesh = scene->mesh;
  if (!eb_mesh_set(mesh, entry->value)) {
    const char *names[64];
    size_t count = 0;
    for (int32_t s = 0; s < mesh->set_count && count < 64; s++) names[count++] = mesh->sets[s].name;
    return eb_section_locate(
        section, entry,
        eb_unknown(EB_ERR_FORMAT, entry->value, names, count, "the mesh has no node set"));
  }
  set_test set = {mesh, entry->value};
  return eb_section_locate(section, entry, eb_grips_add(scene, in_set, &set, section->label));
}

/* "-x" or "+z": the axis, and the side as -1 or 1. */
static eb_error read_side(const eb_section *section, const char *key, int *axis, int *side) {
  static const char *const sides[] = {"-x", "-y", "-z", "+x", "+y", "+z", NULL};
  int chosen;
  EB_TRY(eb_described_choice(section, key, sides, &chosen));
  *axis = chosen % 3;
  *side = chosen < 3 ? -1 : 1;
  return EB_OK;
}

static eb_error add_end(eb_scene *scene, const eb_section *section) {
  int axis, side;
  EB_TRY(read_side(section, "end", &axis, &side));
  return eb_section_locate(section, eb_section_entry(section, "end"),
                           eb_grips_add_end_named(scene, axis, side, section->label));
}

/* "-x, width": the nodes within a width of the lowest (-) or highest (+) coordinate; of none, where
 * there is an `end` too, those at the end. */
static eb_error add_band(const eb_description *description, eb_scene *scene,
                         const eb_section *section) {
  const eb_entry *entry = eb_section_entry(section, "band");
  EB_OWNED(eb_formula_clear) eb_formula formula = {0};
  eb_names names = eb_description_names(description);
  const char *comma = strchr(entry->value, ',');
  int axis, side;
  double width = 0;
  EB_TRY(read_side(section, "band", &axis, &side));
  eb_error error = comma ? eb_formula_parse(comma + 1, &formula) : EB_OK;
  if (!error && comma) error = eb_formula_values(&names, &formula, 1, &width, NULL);
  EB_TRY(eb_section_locate(section, entry, error));
  if (width == 0 && eb_section_entry(section, "end")) return add_end(scene, section);
  return eb_section_locate(section, entry,
                           eb_grips_add_band(scene, axis, side, width, section->label));
}

static eb_error add_box(const eb_description *description, eb_scene *scene,
                        const eb_section *section) {
  eb_names names = eb_description_names(description);
  double shares[6];
  EB_TRY(eb_described_values(&names, section, "box", 6, shares, NULL));
  return eb_section_locate(section, eb_section_entry(section, "box"),
                           eb_grips_add_box(scene, shares, shares + 3, section->label));
}

static eb_error add_nodes(const eb_description *description, eb_scene *scene,
                          const eb_section *section) {
  if (eb_section_entry(section, "where")) return add_where(description, scene, section);
  if (eb_section_entry(section, "band")) return add_band(description, scene, section);
  if (eb_section_entry(section, "end")) return add_end(scene, section);
  if (eb_section_entry(section, "box")) return add_box(description, scene, section);
  if (eb_section_entry(section, "set")) return add_set(scene, section);
  return eb_section_locate(
      section, NULL,
      EB_ERROR(EB_ERR_FORMAT, "it does not say which nodes: where, end, band, box or set"));
}

/* ---- scripts --------------------------------------------------------------------------------- */

static eb_error read_script(const eb_description *description, const eb_section *section,
                            eb_described_group *out) {
  eb_names names = eb_description_names(description);
  const eb_entry *about = eb_section_entry(section, "about");
  bool until, holds;
  out->until = INFINITY;
  EB_TRY(eb_described_flag(section, "hold", &holds));
  EB_TRY(eb_described_formula(section, "path", 3, &out->path));
  EB_TRY(eb_described_turn(section, "rotate", &out->axis, &out->angle));
  EB_TRY(eb_described_turn(section, "then_rotate", &out->second_axis, &out->second_angle));
  EB_TRY(eb_described_formula(section, "pull", 1, &out->pull));
  EB_TRY(eb_described_values(&names, section, "until", 1, &out->until, &until));
  if (about && strcmp(about->value, "middle") != 0)
    EB_TRY(eb_described_formula(section, "about", 3, &out->about));
  out->moves = out->path.count > 0 || out->axis >= 0 || out->second_axis >= 0;
  out->held = (holds || out->moves || until) && out->pull.count == 0;
  return EB_OK;
}

/* Names of the time, and of the bounds of groups and mesh. */
typedef struct timed {
  eb_names names;
  eb_mesh_names looked_at;
  eb_variable time;
} timed;

static void at_time(const eb_description *description, double t, timed *out) {
  *out = (timed){.names = eb_description_names(description),
                 .looked_at = {.mesh = description->scene->mesh,
                               .scene = description->scene,
                               .lo = description->lo,
                               .hi = description->hi,
                               .node = -1,
                               .element = -1},
                 .time = {.name = "t", .quantity = {t, 1}}};
  out->names.bounds = eb_mesh_named_bounds;
  out->names.is_in = eb_mesh_named_in;
}

/* Pointers into itself, set where it stays. */
static eb_names *named(timed *at) {
  at->names.context = &at->looked_at;
  at->names.variables = &at->time;
  at->names.variable_count = 1;
  return &at->names;
}

/* Rotation, point and shift of a group at time t. */
typedef struct pose {
  double rotation[9], about[3], shift[3];
} pose;

static eb_error group_pose(const eb_description *description, const eb_described_group *group,
                           double t, pose *out) {
  const eb_grip *grip = &description->scene->script.grips[group->grip];
  timed now;
  double angle;
  at_time(description, t, &now);
  *out = (pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                .about = {grip->centre[0], grip->centre[1], grip->centre[2]}};
  if (group->path.count) EB_TRY(eb_formula_values(named(&now), &group->path, 3, out->shift, NULL));
  if (group->about.count)
    EB_TRY(eb_formula_values(named(&now), &group->about, 3, out->about, NULL));
  if (group->axis >= 0) {
    EB_TRY(eb_formula_values(named(&now), &group->angle, 1, &angle, NULL));
    eb_axis_rotation(group->axis, angle, out->rotation);
  }
  if (group->second_axis < 0) return EB_OK;
  double first[9], second[9];
  EB_TRY(eb_formula_values(named(&now), &group->second_angle, 1, &angle, NULL));
  memcpy(first, out->rotation, sizeof first);
  eb_axis_rotation(group->second_axis, angle, second);
  eb_multiply3(second, first, out->rotation);
  return EB_OK;
}

/* Formulas that scripts evaluate while the scene runs are tried when it is made. */
static eb_error try_script(const eb_description *description, const eb_described_group *group) {
  const double times[] = {0, 1e-3, 0.1, 1, 10};
  pose any;
  double stiffness;
  for (int k = 0; k < 5; k++) {
    timed now;
    EB_TRY(group_pose(description, group, times[k], &any));
    at_time(description, times[k], &now);
    if (group->pull.count)
      EB_TRY(eb_formula_values(named(&now), &group->pull, 1, &stiffness, NULL));
  }
  return EB_OK;
}

/* A time is a sum of steps: one a hair beyond the release belongs to what is before. */
static bool is_let_go(const eb_described_group *group, double t) {
  return t > group->until * (1 + 1e-9);
}

void eb_scene_described_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  const eb_description *description = scene->data;
  for (int g = 0; g < description->group_count; g++) {
    const eb_described_group *group = &description->groups[g];
    const eb_grip *grip = &scene->script.grips[group->grip];
    pose now;
    if (!group->held || is_let_go(group, t)) continue;
    if (group->moves) {
      eb_error error = group_pose(description, group, t, &now);
      /* What has no value at this time is nowhere: the step cannot end well unseen. */
      for (int d = 0; error && d < 3; d++) now.shift[d] = NAN;
      eb_grip_place(scene, grip, now.rotation, now.about, now.shift, fixed, target);
      eb_error_free(error);
      continue;
    }
    for (int32_t k = 0; k < grip->count; k++) {
      int32_t i = grip->nodes[k];
      fixed[i] = 1;
      for (int d = 0; d < 3; d++) target[3 * i + d] = scene->x0[3 * i + d];
    }
  }
}

void eb_scene_described_springs(const eb_scene *scene, double t, double *place, double *stiffness) {
  const eb_description *description = scene->data;
  for (int g = 0; g < description->group_count; g++) {
    const eb_described_group *group = &description->groups[g];
    const eb_grip *grip = &scene->script.grips[group->grip];
    pose now;
    timed at;
    double pull = 0;
    if (group->pull.count == 0) continue;
    at_time(description, t, &at);
    eb_error error = group_pose(description, group, t, &now);
    if (!error) error = eb_formula_values(named(&at), &group->pull, 1, &pull, NULL);
    for (int d = 0; error && d < 3; d++) now.shift[d] = NAN;
    for (int32_t k = 0; k < grip->count; k++) {
      double *p = place + 3 * ((size_t)group->first_spring + (size_t)k), r[3], turned[3];
      for (int d = 0; d < 3; d++) r[d] = p[d] - now.about[d];
      eb_turn3(now.rotation, r, turned);
      for (int d = 0; d < 3; d++) p[d] = now.about[d] + now.shift[d] + turned[d];
      stiffness[group->first_spring + k] = is_let_go(group, t) ? 0 : fmax(0, pull);
    }
    eb_error_free(error);
  }
}

static eb_error add_springs(eb_scene *scene, eb_described_group *group) {
  const eb_grip *grip = &scene->script.grips[group->grip];
  group->first_spring = scene->script.spring_count;
  for (int32_t k = 0; k < grip->count; k++) EB_TRY(eb_scene_add_spring(scene, grip->nodes[k]));
  return EB_OK;
}

eb_error eb_described_groups(eb_description *description, eb_scene *scene) {
  int at = 0;
  for (const eb_section *section; (section = eb_description_next(description, "group", &at));) {
    EB_TRY(EB_APPEND(description->groups, description->group_count));
    eb_described_group *group = &description->groups[description->group_count - 1];
    group->section = section;
    group->axis = group->second_axis = -1;
    group->grip = scene->script.grip_count;
    EB_TRY(add_nodes(description, scene, section));
    EB_TRY(read_script(description, section, group));
    EB_TRY(eb_section_locate(section, NULL, try_script(description, group)));
    if (group->pull.count) EB_TRY(add_springs(scene, group));
  }
  return EB_OK;
}

/* ---- loads: what is pushed, and how much at a time ------------------------------------------- */

/* The triangles of the surface whose corners are all in the group carry a traction. */
static void spread_traction(const eb_scene *scene, const uint8_t *in, const double *traction,
                            double pressure, double *pattern) {
  const eb_surface *surface = scene->surface;
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * (size_t)t;
    int32_t node[3];
    double u[3], v[3], area[3];
    for (int k = 0; k < 3; k++) node[k] = surface->node ? surface->node[corner[k]] : corner[k];
    if (!in[node[0]] || !in[node[1]] || !in[node[2]]) continue;
    const double *a = surface->X + 3 * (size_t)corner[0], *b = surface->X + 3 * (size_t)corner[1],
                 *c = surface->X + 3 * (size_t)corner[2];
    for (int d = 0; d < 3; d++) {
      u[d] = b[d] - a[d];
      v[d] = c[d] - a[d];
    }
    eb_cross3(u, v, area); /* twice the area, outward */
    double size = sqrt(eb_dot3(area, area));
    for (int k = 0; k < 3; k++)
      for (int d = 0; d < 3; d++)
        pattern[3 * (size_t)node[k] + (size_t)d] += (traction[d] * size - pressure * area[d]) / 6;
  }
}

static const eb_grip *group_of(const eb_scene *scene, const char *name) {
  for (int g = 0; g < scene->script.grip_count; g++)
    if (strcmp(scene->script.grips[g].name, name) == 0) return &scene->script.grips[g];
  return NULL;
}

static eb_error fill_load(const eb_description *description, eb_scene *scene,
                          const eb_section *section, const eb_grip *grip, double *pattern) {
  eb_names names = eb_description_names(description);
  double force[3], traction[3] = {0}, pressure = 0, nodes = (double)eb_grip_size(scene, grip);
  bool forced, tracted, pressed;
  EB_TRY(eb_described_values(&names, section, "force", 3, force, &forced));
  EB_TRY(eb_described_values(&names, section, "traction", 3, traction, &tracted));
  EB_TRY(eb_described_values(&names, section, "pressure", 1, &pressure, &pressed));
  if (forced + tracted + pressed != 1)
    return eb_section_locate(section, NULL,
                             EB_ERROR(EB_ERR_FORMAT, "one of force (N, of all nodes together), "
                                                     "traction (Pa) and pressure (Pa) is wanted"));
  for (int32_t k = 0; forced && k < grip->count; k++)
    for (int d = 0; d < 3; d++) pattern[3 * (size_t)grip->nodes[k] + (size_t)d] += force[d] / nodes;
  if (forced) return EB_OK;
  EB_FREED uint8_t *in = NULL;
  double all = 0;
  EB_TRY(EB_NEW(in, scene->mesh->node_count));
  for (int32_t k = 0; k < grip->count; k++) in[grip->nodes[k]] = 1;
  spread_traction(scene, in, traction, pressure, pattern);
  for (size_t i = 0; i < 3 * (size_t)scene->mesh->node_count; i++) all += fabs(pattern[i]);
  eb_ranks_sum(eb_scene_ranks(scene), 1, &all);
  if (all > 0 || (pressure == 0 && eb_dot3(traction, traction) == 0)) return EB_OK;
  return eb_section_locate(section, NULL,
                           EB_ERROR(EB_ERR_INVALID,
                                    "no triangle of the surface has all its "
                                    "corners in the group '%s'",
                                    grip->name));
}

/* The nodes of `on`, a group. */
eb_error eb_described_loads(eb_description *description, eb_scene *scene) {
  int at = 0;
  for (const eb_section *section; (section = eb_description_next(description, "load", &at));) {
    const eb_entry *on = eb_section_entry(section, "on");
    const eb_grip *grip = on ? group_of(scene, on->value) : NULL;
    double *pattern, magnitude;
    if (!grip)
      return eb_section_locate(section, on,
                               EB_ERROR(EB_ERR_FORMAT, "'on' wants the name of a group%s%s%s",
                                        on ? "; there is no '" : "", on ? on->value : "",
                                        on ? "'" : ""));
    int load = scene->script.load_count;
    EB_TRY(eb_section_locate(section, NULL, eb_scene_add_load(scene, &pattern)));
    EB_TRY(eb_described_formula(section, "times", 1, &description->load[load]));
    EB_TRY(fill_load(description, scene, section, grip, pattern));
    for (int k = 0; description->load[load].count && k < 5; k++) {
      timed now;
      at_time(description, 0.37 * k, &now);
      EB_TRY(eb_section_locate(
          section, eb_section_entry(section, "times"),
          eb_formula_values(named(&now), &description->load[load], 1, &magnitude, NULL)));
    }
  }
  return EB_OK;
}

void eb_scene_described_loads(const eb_scene *scene, double t, double *magnitude) {
  const eb_description *description = scene->data;
  for (int l = 0; l < scene->script.load_count; l++) {
    timed now;
    at_time(description, t, &now);
    if (description->load[l].count == 0) continue;
    eb_error error = eb_formula_values(named(&now), &description->load[l], 1, &magnitude[l], NULL);
    if (error) magnitude[l] = NAN;
    eb_error_free(error);
  }
}
