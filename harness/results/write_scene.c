#include "harness/results/write_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/colliders.h"
#include "harness/results/obstacles.h"
#include "harness/results/write_materials.h"
#include "harness/results/write_rigid.h"
#include "problems/base/memory.h"

static eb_h5_shape vector(hsize_t count) {
  return (eb_h5_shape){1, {count}};
}

static eb_h5_shape matrix(hsize_t rows, hsize_t columns) {
  return (eb_h5_shape){2, {rows, columns}};
}

static const char *element_name(eb_element_type type) {
  return type == EB_TETRAHEDRON ? "tetrahedra" : type == EB_HEXAHEDRON ? "hexahedra" : "triangles";
}

/* Elements around each node: those of node n are list[start[n]] .. list[start[n + 1] - 1]. */
typedef struct incidence {
  int32_t *start, *list;
} incidence;

static eb_error find_around(const eb_mesh *mesh, incidence *out) {
  size_t corners = (size_t)mesh->element_count * mesh->type;
  EB_TRY(EB_NEW(out->start, (size_t)mesh->node_count + 2));
  EB_TRY(EB_NEW(out->list, corners));
  for (size_t i = 0; i < corners; i++) out->start[mesh->elements[i] + 2]++;
  for (int32_t n = 0; n < mesh->node_count; n++) out->start[n + 2] += out->start[n + 1];
  for (size_t i = 0; i < corners; i++)
    out->list[out->start[mesh->elements[i] + 1]++] = (int32_t)(i / mesh->type);
  return EB_OK;
}

static bool holds(const eb_mesh *mesh, int32_t element, int32_t node) {
  for (int i = 0; i < (int)mesh->type; i++)
    if (mesh->elements[(size_t)element * mesh->type + (size_t)i] == node) return true;
  return false;
}

static int32_t region_behind(const eb_mesh *mesh, const incidence *around,
                             const int32_t *triangle) {
  for (int32_t i = around->start[triangle[0]]; i < around->start[triangle[0] + 1]; i++) {
    int32_t e = around->list[i];
    if (holds(mesh, e, triangle[1]) && holds(mesh, e, triangle[2])) return mesh->region[e];
  }
  return 0;
}

static eb_error put_triangle_regions(hid_t group, const eb_mesh *mesh, const int32_t *triangles,
                                     int32_t count, incidence *around, int32_t *region) {
  EB_TRY(find_around(mesh, around));
  for (int32_t t = 0; t < count; t++)
    region[t] = region_behind(mesh, around, triangles + 3 * (size_t)t);
  return eb_h5_put(group, "surface_region", H5T_STD_I32LE, H5T_NATIVE_INT32, vector((hsize_t)count),
                   "1", region);
}

static eb_error put_triangles(hid_t group, const eb_mesh *mesh, const int32_t *triangles,
                              int32_t count) {
  int32_t *region;
  incidence around = {0};
  EB_TRY(eb_h5_put(group, "surface", H5T_STD_I32LE, H5T_NATIVE_INT32, matrix((hsize_t)count, 3),
                   "1", triangles));
  EB_TRY(EB_NEW(region, count));
  eb_error error = put_triangle_regions(group, mesh, triangles, count, &around, region);
  free(around.start);
  free(around.list);
  free(region);
  return error;
}

/* Surface triangles over mesh nodes. */
static eb_error put_surface(hid_t group, const eb_mesh *mesh, const eb_surface *surface) {
  int32_t *triangles;
  EB_TRY(EB_NEW(triangles, 3 * (size_t)surface->triangle_count));
  for (int32_t i = 0; i < 3 * surface->triangle_count; i++)
    triangles[i] = surface->node ? surface->node[surface->triangles[i]] : surface->triangles[i];
  eb_error error = put_triangles(group, mesh, triangles, surface->triangle_count);
  free(triangles);
  return error;
}

static eb_error put_region_names(hid_t group, const eb_mesh *mesh) {
  for (int32_t i = 0; i < mesh->region_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "region_%d", i);
    EB_TRY(eb_h5_put_text(group, name, mesh->region_name[i]));
  }
  return EB_OK;
}

static eb_error put_parents(hid_t group, int32_t nodes, const int32_t *parent) {
  if (!parent) return EB_OK;
  return eb_h5_put(group, "parent", H5T_STD_I32LE, H5T_NATIVE_INT32, vector((hsize_t)nodes), "1",
                   parent);
}

static eb_error put_mesh(hid_t group, const eb_mesh *mesh, const eb_surface *surface,
                         const int32_t *parent) {
  hsize_t nodes = (hsize_t)mesh->node_count, count = (hsize_t)mesh->element_count;
  EB_TRY(eb_h5_put(group, "positions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, matrix(nodes, 3), "m",
                   mesh->X));
  EB_TRY(eb_h5_put(group, element_name(mesh->type), H5T_STD_I32LE, H5T_NATIVE_INT32,
                   matrix(count, mesh->type), "1", mesh->elements));
  EB_TRY(eb_h5_put(group, "region", H5T_STD_I32LE, H5T_NATIVE_INT32, vector(count), "1",
                   mesh->region));
  if (mesh->fibre)
    EB_TRY(eb_h5_put(group, "fibre", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, matrix(count, 3), "1",
                     mesh->fibre));
  EB_TRY(put_region_names(group, mesh));
  EB_TRY(put_parents(group, mesh->node_count, parent));
  return put_surface(group, mesh, surface);
}

static eb_error put_scene_attributes(hid_t group, const eb_run *run, const eb_scene *scene) {
  EB_TRY(eb_h5_put_text(group, "name", run->scene));
  EB_TRY(eb_h5_put_text(group, "parameters", run->parameters));
  EB_TRY(eb_h5_put_text(group, "mesh_source", run->mesh_source));
  EB_TRY(eb_h5_put_text(group, "stand_in", run->stand_in));
  EB_TRY(eb_h5_put_text(group, "citation", scene->ops->citation));
  EB_TRY(eb_h5_put_int(group, "nodes", scene->uncut_nodes));
  EB_TRY(eb_h5_put_int(group, "elements", scene->mesh->element_count));
  EB_TRY(eb_h5_put_int(group, "paper_vertices", scene->ops->target_vertices));
  return eb_h5_put_int(group, "paper_elements", scene->ops->target_elements);
}

/* ---- conventions and what the motion starts from --------------------------------------------- */

static eb_error put_conventions(hid_t group) {
  static const char *const words[][2] = {
      {"mass_convention",
       "lumped: a node has the integral of rho N_a over the elements around it at rest, which is "
       "an "
       "equal share of rho V of each tetrahedron and triangle, and in hexahedra is taken by the "
       "eight Gauss points; free rigid bodies have the mass and inertia of the solid"},
      {"area_convention",
       "a node has a third of the area of each triangle of the mesh's surface around it, at rest"},
      {"energy_datum",
       "gravitational energy is -sum m g.x, 0 at the origin; elastic energy is 0 at rest"},
      {"moment_origin", "angular momentum is about the origin of the coordinates"},
      {"quadrature", "one point in tetrahedra and triangles, 2 x 2 x 2 Gauss points in hexahedra"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    EB_TRY(eb_h5_put_text(group, words[i][0], words[i][1]));
  return EB_OK;
}

static eb_error put_number(hid_t group, const char *name, const char *unit, double value) {
  return eb_h5_put(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (eb_h5_shape){0}, unit, &value);
}

static eb_error put_physics(hid_t group, const eb_scene *scene) {
  EB_TRY(put_conventions(group));
  EB_TRY(eb_h5_put(group, "gravity", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, vector(3), "m/s^2",
                   scene->gravity));
  EB_TRY(put_number(group, "dt", "s", scene->dt));
  EB_TRY(put_number(group, "contact_friction", "1", scene->contact_friction));
  EB_TRY(put_number(group, "bodies_friction", "1", scene->bodies_friction));
  EB_TRY(eb_h5_put_int(group, "bodies_collide", scene->bodies_collide));
  return eb_h5_put_int(group, "scripted_force", scene->ops->force != NULL);
}

/* Most scenes start at rest, whose positions the file has already. */
static eb_error put_start_positions(hid_t scene_group, hid_t group, const eb_scene *scene,
                                    const eb_state *state) {
  size_t bytes = 3 * (size_t)state->node_count * sizeof *state->x;
  bool at_rest = scene->cut_count == 0 && memcmp(state->x, scene->mesh->X, bytes) == 0;
  if (!at_rest)
    return eb_h5_put(group, "positions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                     matrix((hsize_t)state->node_count, 3), "m", state->x);
  herr_t status =
      H5Lcreate_hard(scene_group, "mesh/positions", group, "positions", H5P_DEFAULT, H5P_DEFAULT);
  return status < 0 ? eb_h5_error("cannot link", "initial/positions") : EB_OK;
}

static eb_error put_start(hid_t scene_group, const eb_scene *scene, const eb_state *state) {
  hid_t group;
  EB_TRY(eb_h5_group(scene_group, "initial", &group));
  eb_error error = put_start_positions(scene_group, group, scene, state);
  if (!error)
    error = eb_h5_put(group, "velocities", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                      matrix((hsize_t)state->node_count, 3), "m/s", state->v);
  H5Gclose(group);
  return error;
}

static eb_error put_initial(hid_t group, const eb_scene *scene) {
  eb_state *state;
  EB_TRY(eb_state_create(scene, &state));
  eb_error error = put_start(group, scene, state);
  eb_state_destroy(state);
  return error;
}

/* ---- the scene ------------------------------------------------------------------------------- */

static eb_error fill_scene(hid_t group, const eb_run *run, const eb_scene *scene,
                           const eb_mesh *mesh, const eb_surface *surface, const int32_t *parent) {
  hid_t mesh_group;
  EB_TRY(put_scene_attributes(group, run, scene));
  EB_TRY(eb_h5_group(group, "mesh", &mesh_group));
  eb_error error = put_mesh(mesh_group, mesh, surface, parent);
  H5Gclose(mesh_group);
  EB_TRY(error);
  EB_TRY(put_physics(group, scene));
  EB_TRY(put_initial(group, scene));
  EB_TRY(eb_materials_write(group, scene));
  EB_TRY(eb_rigid_write(group, scene));
  EB_TRY(eb_colliders_write(group, scene));
  return eb_obstacles_write(group, scene);
}

eb_error eb_scene_write(hid_t scenes, const eb_run *run, const eb_scene *scene, const eb_mesh *mesh,
                        const eb_surface *surface, const int32_t *parent) {
  hid_t group;
  EB_TRY(eb_h5_group(scenes, run->scene_hash, &group));
  eb_error error = fill_scene(group, run, scene, mesh, surface, parent);
  H5Gclose(group);
  return eb_error_prefix(error, "scene %s", run->scene);
}
