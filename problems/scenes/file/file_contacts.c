/* [collider NAME], [obstacle NAME] and [contact] of a scene file. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/strings.h"
#include "problems/base/vector3.h"
#include "problems/collision/overlaps.h"
#include "problems/mesh/io.h"
#include "problems/notation/unit.h"
#include "problems/scenes/file/description.h"

static const double pi = 3.14159265358979323846;

/* ---- motions --------------------------------------------------------------------------------- */

/* What formulas of colliders and obstacles may name: the bounds of the mesh and its parts, too. */
static eb_names placed_names(const eb_description *description, eb_mesh_names *looked_at) {
  eb_names names = eb_description_names(description);
  *looked_at = (eb_mesh_names){.mesh = description->scene->mesh,
                               .scene = description->scene,
                               .lo = description->lo,
                               .hi = description->hi,
                               .node = -1,
                               .element = -1};
  names.bounds = eb_mesh_named_bounds;
  names.is_in = eb_mesh_named_in;
  names.context = looked_at;
  return names;
}

/* And those of a motion: the time. */
static eb_names timed_names(const eb_described_motion *motion, const eb_variable *time,
                            eb_mesh_names *looked_at) {
  eb_names names = placed_names(motion->description, looked_at);
  names.variables = time;
  names.variable_count = 1;
  return names;
}

/* Of colliders and obstacles. `out` is left at rest where there is no script. */
static eb_error path_at(const eb_described_motion *motion, double t, eb_pose *out) {
  const eb_variable time = {.name = "t", .quantity = {t, 1}};
  eb_mesh_names looked_at;
  eb_names names = timed_names(motion, &time, &looked_at);
  if (!motion->path.count) return EB_OK;
  return eb_formula_values(&names, &motion->path, 3, out->shift, out->velocity);
}

static eb_error turn_at(const eb_described_motion *motion, double t, eb_pose *out) {
  const eb_variable time = {.name = "t", .quantity = {t, 1}};
  eb_mesh_names looked_at;
  eb_names names = timed_names(motion, &time, &looked_at);
  double angle;
  if (motion->axis < 0) return EB_OK;
  EB_TRY(eb_formula_values(&names, &motion->angle, 1, &angle, &out->spin[motion->axis]));
  eb_axis_rotation(motion->axis, angle, out->rotation);
  return EB_OK;
}

/* Formulas are tried when the scene is made (try_motion); one without a value at a time between
 * puts what it moves nowhere. */
static void shift_by(double t, const void *script, double shift[3], double velocity[3]) {
  eb_pose pose = {.shift = {0}};
  eb_error error = path_at(script, t, &pose);
  memcpy(shift, pose.shift, sizeof pose.shift);
  memcpy(velocity, pose.velocity, sizeof pose.velocity);
  if (error) shift[0] = NAN;
  eb_error_free(error);
}

static void turn_by(double t, const void *script, double rotation[9], double spin[3]) {
  eb_pose pose = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  eb_error error = turn_at(script, t, &pose);
  memcpy(rotation, pose.rotation, sizeof pose.rotation);
  memcpy(spin, pose.spin, sizeof pose.spin);
  if (error) rotation[0] = NAN;
  eb_error_free(error);
}

static void move_obstacle(double t, const void *script, double rotation[9], double shift[3]) {
  double rate[3];
  shift_by(t, script, shift, rate);
  turn_by(t, script, rotation, rate);
}

static eb_error try_motion(const eb_described_motion *motion) {
  const double times[] = {0, 1e-3, 0.1, 1, 10};
  eb_pose pose = {.shift = {0}};
  for (int k = 0; k < 5; k++) {
    EB_TRY(path_at(motion, times[k], &pose));
    EB_TRY(turn_at(motion, times[k], &pose));
  }
  return EB_OK;
}

/* *out is NULL for what stands still. */
static eb_error read_motion(eb_description *description, const eb_section *section,
                            eb_described_motion **out) {
  *out = NULL;
  if (!eb_section_entry(section, "path") && !eb_section_entry(section, "rotate")) return EB_OK;
  if (description->motion_count ==
      (int)(sizeof description->motions / sizeof *description->motions))
    return EB_ERROR(EB_ERR_LIMIT, "too many colliders and obstacles move");
  eb_described_motion *motion;
  EB_TRY(EB_NEW(motion, 1));
  description->motions[description->motion_count++] = motion;
  *motion = (eb_described_motion){.description = description, .axis = -1};
  EB_TRY(eb_described_formula(section, "path", 3, &motion->path));
  EB_TRY(eb_described_turn(section, "rotate", &motion->axis, &motion->angle));
  *out = motion;
  return eb_section_locate(section, NULL, try_motion(motion));
}

/* ---- surfaces ---------------------------------------------------------------------------------
 */

static eb_error make_box(const eb_names *names, const eb_section *section, eb_surface **out) {
  double size[3];
  EB_TRY(eb_described_values(names, section, "size", 3, size, NULL));
  for (int d = 0; d < 3; d++) {
    size[d] *= 0.5;
    if (!(size[d] > 0)) return EB_ERROR(EB_ERR_FORMAT, "its size is not above 0");
  }
  return eb_surface_box(size, out);
}

static eb_error read_surface(const eb_description *description, const eb_section *section,
                             eb_surface **out) {
  EB_FREED char *path = NULL;
  const eb_entry *file = eb_section_entry(section, "file");
  if (!file) return EB_ERROR(EB_ERR_FORMAT, "'file' is missing");
  const char *unit_text = eb_section_value(section, "unit");
  const eb_unit *unit = unit_text ? eb_unit_at(unit_text) : NULL;
  if (unit_text && !unit) return EB_ERROR(EB_ERR_FORMAT, "'%s' is no unit of length", unit_text);
  bool y_up = eb_section_value(section, "up") && eb_section_value(section, "up")[0] == 'y';
  EB_TRY(eb_string_format(&path, "%s%s",
                          file->value[0] == '/' ? "" : description->ops->source->directory,
                          file->value));
  EB_TRY(eb_surface_read(path, out));
  double scale = eb_unit_value(unit, 1), quarter[9];
  for (size_t i = 0; i < 3 * (size_t)(*out)->vertex_count; i++) (*out)->X[i] *= scale;
  eb_axis_rotation(0, 0.5 * pi, quarter);
  if (y_up) eb_surface_move(*out, quarter, (const double[3]){0, 0, 0});
  return EB_OK;
}

/* ---- colliders ------------------------------------------------------------------------------- */

static eb_error unit_axis(const eb_section *section, double axis[3]) {
  double length = sqrt(eb_dot3(axis, axis));
  if (!(length > 0))
    return eb_section_locate(section, eb_section_entry(section, "axis"),
                             EB_ERROR(EB_ERR_INVALID, "it is no direction: 0, 0, 0"));
  for (int d = 0; d < 3; d++) axis[d] /= length;
  return EB_OK;
}

static eb_error read_constants(const eb_names *names, const eb_section *section, eb_collider *out) {
  bool given;
  const struct {
    const char *key;
    double *value;
  } reals[] = {{"radius", &out->radius},     {"friction", &out->friction},
               {"margin", &out->margin},     {"stiffness", &out->stiffness},
               {"damping", &out->damping},   {"grip", &out->grip},
               {"isotropy", &out->isotropy}, {"length", &out->half_length}};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
    EB_TRY(eb_described_values(names, section, reals[k].key, 1, reals[k].value, &given));
    if (*reals[k].value < 0)
      return eb_section_locate(section, eb_section_entry(section, reals[k].key),
                               EB_ERROR(EB_ERR_FORMAT, "%g is below 0", *reals[k].value));
  }
  out->half_length *= 0.5;
  return eb_described_flag(section, "implicit", &out->implicit);
}

/* A box or the surface of a file, as it stands. */
static eb_error enclose(const eb_description *description, const eb_names *names,
                        const eb_section *section, bool box, eb_collider *collider) {
  eb_error error = box ? make_box(names, section, &collider->surface)
                       : read_surface(description, section, &collider->surface);
  EB_TRY(eb_section_locate(section, NULL, error));
  EB_TRY(eb_described_place(names, section, collider->surface->X,
                            (size_t)collider->surface->vertex_count));
  return eb_section_locate(section, NULL, eb_collider_enclose(collider, collider->surface));
}

/* Keys of the other shapes are none of this one. */
static eb_error check_keys(const eb_section *section, bool surface) {
  static const char *const analytic[] = {"origin", "axis", "radius", "length", NULL};
  static const char *const placed[] = {"size", "file", "unit", "up", "move", "turn", NULL};
  for (const char *const *key = surface ? analytic : placed; *key; key++)
    if (eb_section_entry(section, *key))
      return eb_section_locate(
          section, eb_section_entry(section, *key),
          EB_ERROR(EB_ERR_FORMAT, surface ? "a box or a file stands by move and turn"
                                          : "it is a key of a box or a file; this shape stands by "
                                            "origin and axis"));
  return EB_OK;
}

enum { BOX_COLLIDER = 6 };
static const char *const collider_shapes[] = {"plane",   "sphere", "rod",  "cylinder", "bowl",
                                              "capsule", "box",    "file", NULL};

static eb_error add_collider(eb_description *description, eb_scene *scene,
                             const eb_section *section) {
  static const eb_collider_kind kinds[] = {EB_PLANE, EB_SPHERE,  EB_CYLINDER, EB_CAPPED_CYLINDER,
                                           EB_BOWL,  EB_CAPSULE, EB_MESH,     EB_MESH};
  eb_mesh_names looked_at;
  eb_names names = placed_names(description, &looked_at);
  double origin[3] = {0, 0, 0}, axis[3] = {0, 0, 1};
  bool given;
  int shape;
  eb_described_motion *motion;
  if (scene->contacts.collider_count == EB_MAX_COLLIDERS)
    return eb_section_locate(
        section, NULL,
        EB_ERROR(EB_ERR_LIMIT, "a scene has at most %d colliders", EB_MAX_COLLIDERS));
  EB_TRY(eb_described_choice(section, "shape", collider_shapes, &shape));
  if (shape < 0)
    return eb_section_locate(
        section, NULL,
        EB_ERROR(EB_ERR_FORMAT,
                 "'shape' is missing: plane, sphere, rod, cylinder, bowl, capsule, box "
                 "or file"));
  EB_TRY(check_keys(section, kinds[shape] == EB_MESH));
  EB_TRY(eb_described_values(&names, section, "origin", 3, origin, &given));
  EB_TRY(eb_described_values(&names, section, "axis", 3, axis, &given));
  EB_TRY(unit_axis(section, axis));
  eb_collider *collider = eb_scene_add_collider(scene, kinds[shape], origin, axis, 0);
  EB_TRY(read_constants(&names, section, collider));
  if (kinds[shape] == EB_MESH)
    EB_TRY(enclose(description, &names, section, shape == BOX_COLLIDER, collider));
  else if (kinds[shape] != EB_PLANE && !(collider->radius > 0))
    return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_FORMAT, "'radius' is missing"));
  EB_TRY(read_motion(description, section, &motion));
  collider->script = motion;
  collider->motion = motion && motion->path.count ? shift_by : NULL;
  collider->turn = motion && motion->axis >= 0 ? turn_by : NULL;
  return EB_OK;
}

/* ---- obstacles ------------------------------------------------------------------------------- */

static const char *const obstacle_shapes[] = {"box", "cup", "cylinder", "sphere", "file", NULL};
enum { BOX, CUP, CYLINDER, SPHERE, SURFACE_FILE };

static eb_error whole_or(const eb_names *names, const eb_section *section, const char *key,
                         int32_t fallback, int32_t *out) {
  double value = fallback;
  bool given;
  EB_TRY(eb_described_values(names, section, key, 1, &value, &given));
  *out = (int32_t)fmin(4096, fmax(0, round(value)));
  return EB_OK;
}

/* `size`: of its hollow, which is open at the top. */
static eb_error make_cup(const eb_names *names, const eb_section *section, eb_surface **out) {
  double size[3], wall;
  EB_TRY(eb_described_values(names, section, "size", 3, size, NULL));
  EB_TRY(eb_described_values(names, section, "wall", 1, &wall, NULL));
  return eb_surface_cup((const double[2]){0.5 * size[0], 0.5 * size[1]}, size[2], wall, out);
}

static eb_error make_round(const eb_names *names, const eb_section *section, bool sphere,
                           eb_surface **out) {
  double radius, length;
  int32_t around, rows;
  EB_TRY(eb_described_values(names, section, "radius", 1, &radius, NULL));
  EB_TRY(whole_or(names, section, "around", 64, &around));
  EB_TRY(whole_or(names, section, "rows", around / 2, &rows));
  if (sphere) return eb_surface_sphere(radius, rows, around, out);
  EB_TRY(eb_described_values(names, section, "length", 1, &length, NULL));
  return eb_surface_cylinder(radius, 0.5 * length, around, out);
}

static eb_error make_surface(const eb_description *description, const eb_names *names,
                             const eb_section *section, eb_surface **out) {
  int shape;
  EB_TRY(eb_described_choice(section, "shape", obstacle_shapes, &shape));
  switch (shape) {
  case BOX:
    return make_box(names, section, out);
  case CUP:
    return make_cup(names, section, out);
  case CYLINDER:
    return make_round(names, section, false, out);
  case SPHERE:
    return make_round(names, section, true, out);
  case SURFACE_FILE:
    return read_surface(description, section, out);
  default:
    return EB_ERROR(EB_ERR_FORMAT, "'shape' is missing: box, cup, cylinder, sphere or file");
  }
}

static eb_error add_obstacle(eb_description *description, eb_scene *scene,
                             const eb_section *section) {
  eb_mesh_names looked_at;
  eb_names names = placed_names(description, &looked_at);
  eb_described_motion *motion;
  if (scene->contacts.obstacle_count == EB_MAX_OBSTACLES)
    return eb_section_locate(
        section, NULL,
        EB_ERROR(EB_ERR_LIMIT, "a scene has at most %d obstacles", EB_MAX_OBSTACLES));
  eb_obstacle *obstacle = &scene->contacts.obstacles[scene->contacts.obstacle_count++];
  EB_TRY(eb_section_locate(section, NULL,
                           make_surface(description, &names, section, &obstacle->surface)));
  EB_TRY(eb_described_place(&names, section, obstacle->surface->X,
                            (size_t)obstacle->surface->vertex_count));
  EB_TRY(read_motion(description, section, &motion));
  obstacle->script = motion;
  obstacle->motion = motion ? move_obstacle : NULL;
  return EB_OK;
}

/* ---- between bodies -------------------------------------------------------------------------- */

/* [contact]: by constraints, of all surfaces with each other and with obstacles; or by = penalty,
 * of bodies with each other. */
static eb_error read_contact(const eb_description *description, eb_scene *scene) {
  static const char *const ways[] = {"constraints", "penalty", NULL};
  const eb_section *section = eb_sections_find(&description->sections, "contact", "");
  eb_names names = eb_description_names(description);
  eb_contact_bounds *b = &scene->contacts.bounds;
  double friction = 0;
  bool given;
  int way;
  if (!section) return EB_OK;
  const struct {
    const char *key;
    double *value;
  } reals[] = {{"friction", &friction},    {"gap", &b->gap},     {"near", &b->near},
               {"distance", &b->distance}, {"reach", &b->reach}, {"momentum", &b->momentum},
               {"cone", &b->cone},         {"angle", &b->angle}, {"normal", &b->normal}};
  EB_TRY(eb_described_choice(section, "by", ways, &way));
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
    EB_TRY(eb_described_values(&names, section, reals[k].key, 1, reals[k].value, &given));
  if (way == 1) {
    scene->contacts.bodies_collide = true;
    scene->contacts.bodies_friction = friction;
  } else {
    scene->contacts.friction.common = friction;
  }
  return EB_OK;
}

/* Constraints keep apart what is apart: bodies that begin in each other are refused. */
static eb_error find_overlap(const eb_scene *scene, eb_bodies *bodies) {
  eb_overlaps *overlaps;
  const eb_overlap *found;
  EB_TRY(eb_overlaps_create(scene->mesh, scene->surface, bodies, &overlaps));
  int32_t count = eb_overlaps_find(overlaps, scene->x0, &found);
  eb_error error = EB_OK;
  if (count > 0)
    error =
        EB_ERROR(EB_ERR_INVALID,
                 "bodies overlap at the start, at %d nodes: node %d of body %d is %.3g m inside "
                 "body %d; move them apart",
                 count, found->node, bodies->of[found->node], found->depth, found->body);
  eb_overlaps_destroy(overlaps);
  return error;
}

static eb_error check_apart(const eb_description *description, const eb_scene *scene) {
  const eb_section *section = eb_sections_find(&description->sections, "contact", "");
  EB_FREED double *mass = NULL;
  double young[EB_MAX_REGIONS] = {0};
  eb_bodies *bodies;
  if (!section || !(scene->ops->needs & EB_CAP_CONTACT) || scene->mesh->type != EB_TETRAHEDRON)
    return EB_OK;
  EB_TRY(EB_NEW(mass, scene->mesh->node_count));
  for (int32_t i = 0; i < scene->mesh->node_count; i++) mass[i] = 1; /* it weighs nothing here */
  EB_TRY(eb_bodies_create(scene->mesh, mass, scene->node_area, young, &bodies));
  eb_error error = bodies->count > 1 ? find_overlap(scene, bodies) : EB_OK;
  eb_bodies_destroy(bodies);
  return eb_section_locate(section, NULL, error);
}

eb_error eb_described_contacts(eb_description *description, eb_scene *scene) {
  int at = 0;
  const eb_section *section;
  while ((section = eb_description_next(description, "collider", &at)))
    EB_TRY(add_collider(description, scene, section));
  at = 0;
  while ((section = eb_description_next(description, "obstacle", &at)))
    EB_TRY(add_obstacle(description, scene, section));
  EB_TRY(read_contact(description, scene));
  return check_apart(description, scene);
}
