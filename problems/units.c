#include "problems/units.h"

#include <math.h>
#include <stdio.h>

#include "problems/base/vector3.h"
#include "problems/scene_impl.h"

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

bool eb_scene_proportions(const eb_scene *scene, eb_proportions *out) {
  *out = (eb_proportions){0};
  if (scene->part || scene->clusters.count > 0) return false;
  for (int32_t r = 0; r < scene->material_count; r++) {
    const eb_material *m = &scene->materials[r];
    if (scene->rigid.regions[r]) continue;
    if (!out->soft || m->young * out->soft->density < out->soft->young * m->density) out->soft = m;
    if (!out->stiff || m->young * out->stiff->density > out->stiff->young * m->density)
      out->stiff = m;
  }
  if (!out->soft) return false;
  out->gravity = sqrt(eb_dot3(scene->gravity, scene->gravity));
  out->length = extent(scene->mesh);
  out->edge = mean_edge(scene->mesh);
  out->weight = out->soft->density * out->gravity * out->length / out->soft->young;
  out->slow = sqrt(out->soft->young / out->soft->density) * scene->dt / out->edge;
  out->fast = sqrt(out->stiff->young / out->stiff->density) * scene->dt / out->edge;
  return true;
}

bool eb_scene_units(const eb_scene *scene, char *out, size_t bytes) {
  static const char advice[] = "are all figures in one system of units?";
  eb_proportions p;
  if (!eb_scene_proportions(scene, &p)) return false;
  if (p.gravity > 0 && (p.weight < EB_WEIGHT_LEAST || p.weight > EB_WEIGHT_MOST)) {
    snprintf(out, bytes,
             "rho g L / E, weight over stiffness, is %.2g (rho %g, g %g, L %.3g, E %g), where 1e-7 "
             "to 1 is usual; %s",
             p.weight, p.soft->density, p.gravity, p.length, p.soft->young, advice);
    return true;
  }
  bool still = p.fast < EB_EDGES_LEAST;
  const eb_material *odd = still ? p.stiff : p.soft;
  if (!still && p.slow <= EB_EDGES_MOST) return false;
  snprintf(out, bytes,
           "a wave passes %.2g edges of the mesh in a step (E %g, rho %g, dt %g, edges of %.3g), "
           "where 0.1 to 1e5 is usual; %s",
           still ? p.fast : p.slow, odd->young, odd->density, scene->dt, p.edge, advice);
  return true;
}
