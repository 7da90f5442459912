/* What a solver asks of a scene: script, forces, needs, and its parts by functions, which plug-ins
 * have alone. Where a scene is held in parts the answers are of the local nodes and elements, and
 * nothing here exchanges anything. */
#include "problems/base/assert.h"
#include "problems/scene_impl.h"

#include <string.h>

void eb_scene_boundary(const eb_scene *scene, double t, uint8_t *fixed, double *target) {
  size_t nodes = (size_t)scene->mesh->node_count;
  memset(fixed, 0, nodes);
  memcpy(target, scene->mesh->X, 3 * nodes * sizeof *target);
  if (!scene->ops->boundary) return;
  if (scene->script.uncut_mesh) {
    eb_scene uncut = *scene;
    uncut.mesh = scene->script.uncut_mesh;
    scene->ops->boundary(&uncut, t, fixed, target);
  } else {
    scene->ops->boundary(scene, t, fixed, target);
  }
  for (size_t i = (size_t)scene->script.uncut_nodes; i < nodes; i++) {
    size_t origin = (size_t)scene->script.node_origin[i];
    fixed[i] = fixed[origin];
    memcpy(target + 3 * i, target + 3 * origin, 3 * sizeof *target);
  }
}

void eb_scene_load_magnitudes(const eb_scene *scene, double t, double magnitude[EB_MAX_LOADS]) {
  for (int k = 0; k < EB_MAX_LOADS; k++) magnitude[k] = 1;
  if (scene->ops->loads) scene->ops->loads(scene, t, magnitude);
}

void eb_scene_force(const eb_scene *scene, double t, const double *x, const double *v, double *f) {
  EB_ASSERT(x != f && v != f);
  const double *mass = eb_elasticity_mass(scene->elasticity);
  for (int32_t i = 0; i < scene->mesh->node_count; i++)
    for (int d = 0; d < 3; d++) f[3 * i + d] = mass[i] * scene->gravity[d];
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    bool pushes = collider->stiffness > 0 && !collider->implicit;
    for (int32_t i = 0; pushes && i < scene->mesh->node_count; i++)
      if (scene->node_area[i] > 0)
        eb_collider_force(collider, eb_collider_friction(&scene->contacts.friction, collider, i), t,
                          scene->node_area[i], x + 3 * i, v + 3 * i, f + 3 * i);
  }
  if (scene->contacts.penalty)
    eb_contact_force(scene->contacts.penalty, scene->contacts.colliders,
                     scene->contacts.collider_count, t, x, v, f);
  double magnitude[EB_MAX_LOADS];
  eb_scene_load_magnitudes(scene, t, magnitude);
  for (int32_t k = 0; k < scene->script.load_count; k++)
    for (int64_t i = 0; i < 3 * (int64_t)scene->mesh->node_count; i++)
      f[i] += magnitude[k] * scene->script.load[k][i];
}

uint32_t eb_scene_needs(const eb_scene *scene) {
  uint32_t needs = scene->ops->needs & (EB_CAP_SCRIPTED | EB_CAP_CONTACT | EB_CAP_STATICS);
  if (!scene->script.stands_still) needs |= EB_CAP_SCRIPTED;
  if (scene->mesh->type == EB_TETRAHEDRON) needs |= EB_CAP_TETRAHEDRA;
  if (scene->mesh->type == EB_HEXAHEDRON)
    needs |= scene->materials[0].integration == EB_INTEGRATION_GAUSS ? EB_CAP_HEXAHEDRA
                                                                     : EB_CAP_ONE_POINT;
  if (scene->mesh->type == EB_TRIANGLE) needs |= EB_CAP_TRIANGLES;
  for (int32_t r = 0; r < scene->material_count; r++) {
    const eb_material *material = &scene->materials[r];
    needs |= material->kind == EB_COROTATIONAL     ? EB_CAP_COROTATIONAL
             : eb_material_is_projective(material) ? EB_CAP_PROJECTIVE
                                                   : EB_CAP_HYPERELASTIC;
    if (material->fibre != EB_FIBRE_NONE) needs |= EB_CAP_FIBRES;
  }
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    needs |= scene->contacts.colliders[c].implicit ? EB_CAP_IMPLICIT_PENALTY : EB_CAP_COLLIDERS;
  if (scene->script.cut_count > 0) needs |= EB_CAP_CUTTING;
  if (scene->rigid.articulation) needs |= EB_CAP_ARTICULATION;
  if (scene->rigid.free_bodies) needs |= EB_CAP_FREE_BODIES;
  if (scene->script.spring_count > 0) needs |= EB_CAP_SPRINGS;
  if (scene->clusters.count > 0) needs |= EB_CAP_CLUSTERS;
  return needs;
}

const char *eb_scene_name(const eb_scene *scene) {
  return scene->ops->name;
}

double eb_scene_dt(const eb_scene *scene) {
  return scene->dt;
}

const double *eb_scene_gravity(const eb_scene *scene) {
  return scene->gravity;
}

const eb_mesh *eb_scene_mesh(const eb_scene *scene) {
  return scene->mesh;
}

const double *eb_scene_start(const eb_scene *scene) {
  return scene->x0;
}

const eb_values *eb_scene_parameters(const eb_scene *scene) {
  return scene->parameters;
}

const eb_material *eb_scene_material(const eb_scene *scene, int32_t region) {
  return &scene->materials[region];
}

const double *eb_scene_mass(const eb_scene *scene) {
  return eb_elasticity_mass(scene->elasticity);
}

double eb_scene_energy(const eb_scene *scene, const double *x) {
  return eb_elasticity_energy(scene->elasticity, x);
}

void eb_scene_gradient(const eb_scene *scene, const double *x, double *g) {
  EB_ASSERT(x != g);
  eb_elasticity_gradient(scene->elasticity, x, g);
}

void eb_scene_pattern(const eb_scene *scene, const int32_t **start, const int32_t **column) {
  const eb_block_matrix *pattern = eb_elasticity_pattern(scene->elasticity);
  *start = pattern->start;
  *column = pattern->column;
}

void eb_scene_hessian(const eb_scene *scene, const double *x, double mass_scale,
                      double hessian_scale, bool project, double *values, double *g) {
  eb_block_matrix matrix = *eb_elasticity_pattern(scene->elasticity);
  matrix.values = values;
  eb_elasticity_matrix(scene->elasticity, x, mass_scale, hessian_scale, project, &matrix, g);
}

const eb_scene_default *eb_scene_default_of(const eb_scene_ops *ops, const char *solver) {
  for (const eb_scene_default *at = ops->solver_defaults; at && at->solver; at++)
    for (const char *name = at->solver; *name; name += strcspn(name, "|"), name += *name == '|')
      if (strlen(solver) == strcspn(name, "|") && strncmp(name, solver, strlen(solver)) == 0)
        return at;
  return NULL;
}
