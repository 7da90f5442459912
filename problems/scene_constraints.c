/* What a scene with contact as constraints has beside its mesh: obstacles, friction, free rigid bodies. */
#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/scene_parts.h"

static eb_error check_constraints(const eb_scene *scene) {
  double friction = scene->contact_friction;
  bool constrained = scene->obstacle_count != 0 || friction != 0;
  for (int32_t r = 0; r < EB_MAX_REGIONS; r++) constrained = constrained || scene->rigid[r];
  if (constrained && !(scene->ops->needs & EB_CAP_CONTACT))
    return EB_ERROR(EB_ERR_INVALID,
                    "obstacles, contact friction and rigid regions belong to contact as "
                    "constraints; add EB_CAP_CONTACT to the scene's needs");
  if (!(friction >= 0 && isfinite(friction)))
    return EB_ERROR(EB_ERR_INVALID, "contact friction is %g; it is to be at least 0", friction);
  if (scene->obstacle_count < 0 || scene->obstacle_count > EB_MAX_OBSTACLES)
    return EB_ERROR(EB_ERR_LIMIT, "%d obstacles are set up; a scene has at most %d",
                    scene->obstacle_count, EB_MAX_OBSTACLES);
  for (int32_t o = 0; o < scene->obstacle_count; o++)
    EB_TRY(eb_error_prefix(eb_obstacle_validate(&scene->obstacles[o]), "obstacle %d", o));
  return EB_OK;
}

/* Nothing else moves the nodes of free bodies, and cuts would leave copies behind. */
static eb_error check_riders(const eb_scene *scene) {
  uint8_t *fixed;
  double *target;
  if (scene->cut_count > 0 || scene->articulation)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "a scene with rigid regions can have neither cuts nor an articulation");
  EB_TRY(EB_NEW(fixed, scene->mesh->node_count));
  eb_error error = EB_NEW(target, 3 * (size_t)scene->mesh->node_count);
  if (!error) eb_scene_boundary(scene, 0, fixed, target);
  for (int32_t i = 0; !error && i < scene->mesh->node_count; i++)
    if (fixed[i] && scene->free_bodies->of_node[i] >= 0)
      error = EB_ERROR(EB_ERR_INVALID,
                       "node %d is scripted and of a rigid region; make what is scripted an "
                       "obstacle, or an elastic region",
                       i);
  free(target);
  free(fixed);
  return error;
}

static eb_error make_free_bodies(eb_scene *scene) {
  double density[EB_MAX_REGIONS];
  for (int32_t r = 0; r < scene->material_count; r++) density[r] = scene->materials[r].density;
  EB_TRY(eb_free_bodies_create(scene->mesh, scene->rigid, density, &scene->free_bodies));
  return scene->free_bodies ? check_riders(scene) : EB_OK;
}

eb_error eb_scene_make_constraints(eb_scene *scene) {
  EB_TRY(check_constraints(scene));
  return make_free_bodies(scene);
}
