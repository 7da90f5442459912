#include "problems/units.h"

#include <math.h>
#include <stdio.h>

#include "problems/base/vector3.h"
#include "problems/scene_impl.h"

static const double LEAST_WEIGHT = 1e-11, MOST_WEIGHT = 10, LEAST_EDGES = 1e-3, MOST_EDGES = 1e6;

/* The mean distance between neighbours in the list of an element's nodes, m. */
static double mean_edge(const eb_mesh *mesh) {
  double sum = 0;
  int corners = (int)mesh->type;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int a = 1; a < corners; a++) {
      const int32_t *node = mesh->elements + (size_t)e * mesh->type + a;
      sum +=
          sqrt(eb_squared_distance3(mesh->X + 3 * (size_t)node[-1], mesh->X + 3 * (size_t)*node));
    }
  return sum / ((double)mesh->element_count * (corners - 1));
}

static double extent(const eb_mesh *mesh) {
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  return fmax(hi[0] - lo[0], fmax(hi[1] - lo[1], hi[2] - lo[2]));
}

bool eb_scene_units(const eb_scene *scene, char *out, size_t bytes) {
  static const char advice[] = "are all figures in one system of units?";
  const eb_material *soft = NULL, *stiff = NULL;
  if (scene->part || scene->clusters.count > 0) return false;
  for (int32_t r = 0; r < scene->material_count; r++) {
    const eb_material *m = &scene->materials[r];
    if (scene->rigid.regions[r]) continue;
    if (!soft || m->young * soft->density < soft->young * m->density) soft = m;
    if (!stiff || m->young * stiff->density > stiff->young * m->density) stiff = m;
  }
  if (!soft) return false;
  double g = sqrt(eb_dot3(scene->gravity, scene->gravity)), length = extent(scene->mesh);
  double weight = soft->density * g * length / soft->young;
  if (g > 0 && (weight < LEAST_WEIGHT || weight > MOST_WEIGHT)) {
    snprintf(out, bytes,
             "rho g L / E, weight over stiffness, is %.2g (rho %g, g %g, L %.3g, E %g), where 1e-7 "
             "to 1 is usual; %s",
             weight, soft->density, g, length, soft->young, advice);
    return true;
  }
  double edge = mean_edge(scene->mesh);
  double slow = sqrt(soft->young / soft->density) * scene->dt / edge;
  double fast = sqrt(stiff->young / stiff->density) * scene->dt / edge;
  if (fast >= LEAST_EDGES && slow <= MOST_EDGES) return false;
  const eb_material *odd = fast < LEAST_EDGES ? stiff : soft;
  snprintf(out, bytes,
           "a wave passes %.2g edges of the mesh in a step (E %g, rho %g, dt %g, edges of %.3g), "
           "where 0.1 to 1e5 is usual; %s",
           odd == stiff && fast < LEAST_EDGES ? fast : slow, odd->young, odd->density, scene->dt,
           edge, advice);
  return true;
}
