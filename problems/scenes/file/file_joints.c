/* [joint NAME]: a bone that hangs on its parent by a revolute joint, and nodes that ride on it. */
#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"
#include "problems/scenes/file/description.h"

/* A round rod from pivot to tip. */
static void shape_rod(double radius, eb_rigid_body *bone) {
  double r[3], length = 0;
  for (int d = 0; d < 3; d++) {
    r[d] = bone->tip[d] - bone->pivot[d];
    length += r[d] * r[d];
    bone->centre[d] = 0.5 * (bone->tip[d] + bone->pivot[d]);
  }
  double round = 0.5 * bone->mass * radius * radius;
  double across = bone->mass * (3 * radius * radius + length) / 12;
  for (int d = 0; d < 3; d++) bone->inertia[d] = across + (round - across) * r[d] * r[d] / length;
  bone->inertia[3] = (round - across) * r[0] * r[1] / length;
  bone->inertia[4] = (round - across) * r[0] * r[2] / length;
  bone->inertia[5] = (round - across) * r[1] * r[2] / length;
}

/* The number of the joint of that name among the first `count`, -1 for none. */
static int32_t find_joint(const eb_description *description, const char *name, int32_t count) {
  int at = 0;
  for (int32_t j = 0; j < count; j++)
    if (strcmp(eb_description_next(description, "joint", &at)->label, name) == 0) return j;
  return -1;
}

static eb_error read_parent(const eb_description *description, const eb_section *section,
                            int32_t number, int32_t *out) {
  const eb_entry *parent = eb_section_entry(section, "parent");
  *out = parent ? find_joint(description, parent->value, number) : -1;
  if (!parent || *out >= 0) return EB_OK;
  return eb_section_locate(
      section, parent,
      EB_ERROR(EB_ERR_FORMAT, "there is no joint '%s' before this one", parent->value));
}

static eb_error read_bone(const eb_description *description, const eb_section *section,
                          int32_t number, eb_rigid_body *out) {
  eb_names names = eb_description_names(description);
  double limits[2] = {-INFINITY, INFINITY}, radius = 0, least[3];
  bool limited, given, thick;
  *out = (eb_rigid_body){.axis = {0, 1, 0}};
  EB_TRY(read_parent(description, section, number, &out->parent));
  EB_TRY(eb_described_values(&names, section, "pivot", 3, out->pivot, NULL));
  EB_TRY(eb_described_values(&names, section, "tip", 3, out->tip, NULL));
  EB_TRY(eb_described_values(&names, section, "axis", 3, out->axis, &given));
  EB_TRY(eb_described_values(&names, section, "mass", 1, &out->mass, NULL));
  EB_TRY(eb_described_values(&names, section, "limits", 2, limits, &limited));
  EB_TRY(eb_described_values(&names, section, "limit_stiffness", 1, &out->limit_stiffness, &given));
  EB_TRY(eb_described_values(&names, section, "damping", 1, &out->damping, &given));
  EB_TRY(eb_described_values(&names, section, "angle", 1, &out->start, &given));
  EB_TRY(eb_described_values(&names, section, "radius", 1, &radius, &thick));
  out->lower = limits[0];
  out->upper = limits[1];
  for (int d = 0; d < 3; d++) least[d] = out->tip[d] - out->pivot[d];
  double length = sqrt(eb_dot3(least, least));
  if (!(length > 0))
    return eb_section_locate(section, NULL, EB_ERROR(EB_ERR_INVALID, "its tip is its pivot"));
  shape_rod(thick ? radius : 0.025 * length, out);
  return EB_OK;
}

/* The nodes of the group `carries`. */
static eb_error attach(const eb_section *section, eb_scene *scene, int32_t bone) {
  const eb_entry *carries = eb_section_entry(section, "carries");
  const eb_grip *grip = NULL;
  for (int g = 0; carries && g < scene->script.grip_count; g++)
    if (strcmp(scene->script.grips[g].name, carries->value) == 0) grip = &scene->script.grips[g];
  if (carries && !grip)
    return eb_section_locate(section, carries,
                             EB_ERROR(EB_ERR_FORMAT, "there is no group '%s'", carries->value));
  for (int32_t k = 0; grip && k < grip->count; k++)
    EB_TRY(eb_section_locate(section, carries,
                             eb_articulation_attach(scene->rigid.articulation, grip->nodes[k], bone,
                                                    scene->mesh->X + 3 * (size_t)grip->nodes[k])));
  return EB_OK;
}

eb_error eb_described_joints(const eb_description *description, eb_scene *scene) {
  eb_rigid_body bones[EB_MAX_JOINTS];
  const eb_section *section;
  int32_t count = 0;
  int at = 0;
  for (; (section = eb_description_next(description, "joint", &at)); count++) {
    if (count == EB_MAX_JOINTS)
      return eb_section_locate(
          section, NULL, EB_ERROR(EB_ERR_LIMIT, "a scene has at most %d joints", EB_MAX_JOINTS));
    EB_TRY(read_bone(description, section, count, &bones[count]));
  }
  if (count == 0) return EB_OK;
  EB_TRY(eb_articulation_create(count, bones, scene->gravity, &scene->rigid.articulation));
  at = 0;
  for (int32_t j = 0; (section = eb_description_next(description, "joint", &at)); j++)
    EB_TRY(attach(section, scene, j));
  return EB_OK;
}
