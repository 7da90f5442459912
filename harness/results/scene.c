#include "harness/results/scene.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/read.h"
#include "harness/results/table.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"
#include "problems/elasticity/plugged.h"
#include "problems/mesh/faces.h"
#include "problems/base/vector3.h"

/* Datasets of a mesh, by the type of its elements. */
static const struct {
  eb_element_type type;
  const char *name;
} element_sets[] = {
    {EB_TETRAHEDRON, "tetrahedra"}, {EB_HEXAHEDRON, "hexahedra"}, {EB_TRIANGLE, "triangles"}};
enum { ELEMENT_SETS = sizeof element_sets / sizeof *element_sets };

const char *eb_element_set(eb_element_type type) {
  int i = 0;
  while (element_sets[i].type != type) i++;
  return element_sets[i].name;
}

/* ---- writing: the mesh ----------------------------------------------------------------------- */

/* Surface triangles over the nodes of the mesh, and the regions of the elements behind them. */
static eb_error put_surface(hid_t group, const eb_mesh *mesh, const eb_surface *surface) {
  int32_t count = surface->triangle_count, *triangles, *behind = NULL;
  EB_TRY(EB_NEW(triangles, 3 * (size_t)count));
  for (int32_t i = 0; i < 3 * count; i++)
    triangles[i] = surface->node ? surface->node[surface->triangles[i]] : surface->triangles[i];
  eb_error error = eb_mesh_elements_behind(mesh, triangles, count, &behind);
  for (int32_t t = 0; t < count && !error; t++)
    behind[t] = behind[t] < 0 ? 0 : mesh->region[behind[t]];
  if (!error) error = eb_rows_put(group, "surface", EB_INDEX, (size_t)count, 3, "1", triangles);
  if (!error) error = eb_rows_put(group, "surface_region", EB_INDEX, (size_t)count, 1, "1", behind);
  free(triangles);
  free(behind);
  return error;
}

static eb_error put_mesh(hid_t group, const eb_mesh *mesh, const eb_surface *surface,
                         const int32_t *parent) {
  size_t nodes = (size_t)mesh->node_count, count = (size_t)mesh->element_count;
  EB_TRY(eb_rows_put(group, "positions", EB_REAL, nodes, 3, "m", mesh->X));
  EB_TRY(eb_rows_put(group, eb_element_set(mesh->type), EB_INDEX, count, mesh->type, "1",
                     mesh->elements));
  EB_TRY(eb_rows_put(group, "region", EB_INDEX, count, 1, "1", mesh->region));
  if (mesh->fibre) EB_TRY(eb_rows_put(group, "fibre", EB_REAL, count, 3, "1", mesh->fibre));
  for (int32_t i = 0; i < mesh->region_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "region_%d", i);
    EB_TRY(eb_h5_put_text(group, name, mesh->region_name[i]));
  }
  if (parent) EB_TRY(eb_rows_put(group, "parent", EB_INDEX, nodes, 1, "1", parent));
  return put_surface(group, mesh, surface);
}

/* ---- writing: materials, rigid bodies, the initial state ------------------------------------- */

static const char *material_kind_name(int kind) {
  const eb_material_info *info = eb_material_describe((eb_material_kind)kind);
  return info ? info->name : kind == EB_PLUGGED ? "plug-in" : NULL;
}

static const char *fibre_name(int fibre) {
  static const char *const names[] = {"none", "astvk", "fung"};
  return fibre < (int)(sizeof names / sizeof *names) ? names[fibre] : NULL;
}

#define PLUGGED "plugged_%d%s" /* of a region */

static const eb_quantity material_names[] = {
    {"kind", "1", EB_NAMED, offsetof(eb_material, kind), 1, material_kind_name},
    {"fibre", "1", EB_NAMED, offsetof(eb_material, fibre), 1, fibre_name},
    {0}};
static const eb_quantity material_quantities[] = {
    {"integration", "1", EB_NAMED, offsetof(eb_material, integration), 1, eb_integration_name},
    EB_REALS(eb_material, young, "Pa", 1),
    EB_REALS(eb_material, poisson, "1", 1),
    EB_REALS(eb_material, density, "kg/m^3", 1),
    EB_REALS(eb_material, fibre_stiffness, "Pa", 1),
    EB_REALS(eb_material, fibre_exponent, "1", 1),
    EB_REALS(eb_material, activation, "1", 1),
    EB_REALS(eb_material, thickness, "m", 1),
    EB_REALS(eb_material, hourglass, "1", 1),
    {0}};

static eb_error put_parameters(hid_t group, const char *name, const eb_material *m) {
  EB_OWNED(eb_text_clear) eb_text text = {0};
  const eb_material_ops *ops = m->plugged->ops;
  EB_TRY(eb_text_append(&text, "", 0));
  for (int k = 0; k < eb_plugged_parameter_count(ops); k++)
    EB_TRY(eb_text_printf(&text, "%s%s=%.17g%s%s", k ? "," : "", ops->parameters[k].name, m->own[k],
                          *ops->parameters[k].unit ? " " : "", ops->parameters[k].unit));
  return eb_h5_put_text(group, name, text.data);
}

/* What the file can say of a material that a plug-in brought. */
static eb_error put_plugged(hid_t group, const eb_scene *scene) {
  for (int32_t r = 0; r < scene->material_count; r++) {
    const eb_material *m = &scene->materials[r];
    char name[40], digits[EB_DIGEST_TEXT_BYTES];
    if (m->kind != EB_PLUGGED) continue;
    snprintf(name, sizeof name, PLUGGED, r, "");
    EB_TRY(eb_h5_put_text(group, name, eb_material_name(m)));
    snprintf(name, sizeof name, PLUGGED, r, "_parameters");
    EB_TRY(put_parameters(group, name, m));
    snprintf(name, sizeof name, PLUGGED, r, "_digest");
    eb_digest_print(m->plugged->digest, digits);
    EB_TRY(eb_h5_put_text(group, name, digits));
  }
  return EB_OK;
}

static eb_error put_materials(hid_t group, const eb_scene *scene) {
  size_t regions = (size_t)scene->material_count;
  EB_TRY(eb_quantities_put(group, material_names, scene->materials, sizeof *scene->materials,
                           regions));
  EB_TRY(eb_quantities_put(group, material_quantities, scene->materials, sizeof *scene->materials,
                           regions));
  EB_TRY(eb_rows_put(group, "rigid", EB_BYTE, regions, 1, "1", scene->rigid.regions));
  EB_TRY(put_plugged(group, scene));
  EB_TRY(eb_h5_put_text(
      group, "moduli",
      "mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu)), E young and nu poisson; "
      "problems/elasticity/material.h names each kind's energy and its source"));
  EB_TRY(eb_h5_put_text(
      group, "fibres",
      "with I5 = |F a|^2 along mesh/fibre: astvk fibre_stiffness/2 (I5 - 1)^2; fung activation "
      "fibre_stiffness / (2 fibre_exponent) (exp(fibre_exponent (I5 - 1)^2) - 1)"));
  EB_TRY(eb_h5_put_text(
      group, "hexahedra",
      "integration of hexahedra: gauss has 2 x 2 x 2 points; the others have one point with the "
      "mean "
      "gradients and the volume of the element and store sum_k s_k |gamma_k x|^2 in its hourglass "
      "modes, one-point with s_k = hourglass mu V^(1/3), staggered with mu |F|^2 on a staggered "
      "grid; harness/audit/hourglass.c has gamma_k and s_k"));
  return eb_h5_put_text(group, "planar",
                        "triangles are slices of a solid that does not stretch along z, thickness "
                        "thick (1 m where it is 0); solids ignore thickness");
}

static const eb_quantity free_body_quantities[] = {EB_REALS(eb_free_body, mass, "kg", 1),
                                                   EB_REALS(eb_free_body, centre, "m", 3),
                                                   EB_REALS(eb_free_body, inertia, "kg m^2", 9),
                                                   {0}};

static eb_error put_free_bodies(hid_t group, const eb_scene *scene) {
  const eb_free_bodies *bodies = scene->rigid.free_bodies;
  EB_TRY(eb_quantities_put(group, free_body_quantities, bodies->body, sizeof *bodies->body,
                           (size_t)bodies->count));
  EB_TRY(
      eb_rows_put(group, "of_node", EB_INDEX, (size_t)bodies->node_count, 1, "1", bodies->of_node));
  return eb_h5_put_text(
      group, "meaning",
      "connected components of the rigid regions: mass, centre and inertia (about the centre, "
      "row-major) are those of the solid at rest; of_node is the body that a node rides on, or -1");
}

static const eb_quantity jointed_body_quantities[] = {
    {"parent", "1", EB_INDEX, offsetof(eb_rigid_body, parent), 1, NULL},
    EB_REALS(eb_rigid_body, pivot, "m", 3),
    EB_REALS(eb_rigid_body, axis, "1", 3),
    EB_REALS(eb_rigid_body, mass, "kg", 1),
    EB_REALS(eb_rigid_body, centre, "m", 3),
    EB_REALS(eb_rigid_body, inertia, "kg m^2", 6),
    EB_REALS(eb_rigid_body, lower, "rad", 1),
    EB_REALS(eb_rigid_body, upper, "rad", 1),
    EB_REALS(eb_rigid_body, limit_stiffness, "N m/rad", 1),
    EB_REALS(eb_rigid_body, damping, "N m s/rad", 1),
    EB_REALS(eb_rigid_body, start, "rad", 1),
    EB_REALS(eb_rigid_body, tip, "m", 3),
    {0}};

/* A node that rides on a jointed body. */
typedef struct rider {
  int32_t node, body;
  double place[3];
} rider;
static const eb_quantity rider_quantities[] = {
    {"rider_node", "1", EB_INDEX, offsetof(rider, node), 1, NULL},
    {"rider_body", "1", EB_INDEX, offsetof(rider, body), 1, NULL},
    {"rider_place", "m", EB_REAL, offsetof(rider, place), 3, NULL},
    {0}};

static eb_error put_articulation(hid_t group, const eb_scene *scene) {
  const eb_articulation *articulation = scene->rigid.articulation;
  eb_rigid_body bodies[EB_MAX_JOINTS];
  int32_t count = eb_articulation_joints(articulation);
  for (int32_t b = 0; b < count; b++) bodies[b] = *eb_articulation_body(articulation, b);
  EB_TRY(eb_quantities_put(group, jointed_body_quantities, bodies, sizeof *bodies, (size_t)count));
  EB_TRY(eb_h5_put_text(
      group, "meaning",
      "one row a body and the revolute joint that it hangs on, at angle 0 in world axes: parent "
      "(an "
      "earlier body, -1 the world), pivot and axis of the joint, centre of mass, inertia about it "
      "(xx yy zz xy xz yz). At angle q a joint has the torque -damping q' and, beyond lower or "
      "upper, -limit_stiffness (q - limit)"));
  rider *riders;
  count = eb_articulation_attached(articulation);
  EB_TRY(EB_NEW(riders, count));
  for (int32_t k = 0; k < count; k++) {
    riders[k].node = eb_articulation_node(articulation, k);
    riders[k].body = eb_articulation_carrier(articulation, k, riders[k].place);
  }
  eb_error error =
      eb_quantities_put(group, rider_quantities, riders, sizeof *riders, (size_t)count);
  free(riders);
  return error;
}

/* Most scenes start at rest, whose positions the file has already. */
static eb_error put_state(hid_t scene_group, hid_t group, const eb_scene *scene,
                          const eb_state *state) {
  size_t nodes = (size_t)state->node_count;
  bool at_rest = scene->script.cut_count == 0 &&
                 memcmp(state->x, scene->mesh->X, 3 * nodes * sizeof *state->x) == 0;
  EB_TRY(eb_rows_put(group, "velocities", EB_REAL, nodes, 3, "m/s", state->v));
  if (!at_rest) return eb_rows_put(group, "positions", EB_REAL, nodes, 3, "m", state->x);
  herr_t status =
      H5Lcreate_hard(scene_group, "mesh/positions", group, "positions", H5P_DEFAULT, H5P_DEFAULT);
  return status < 0 ? eb_h5_error("cannot link", "initial/positions") : EB_OK;
}

static eb_error put_initial(hid_t scene_group, const eb_scene *scene) {
  eb_state *state;
  hid_t group;
  EB_TRY(eb_state_create(scene, &state));
  eb_error error = eb_h5_group(scene_group, "initial", &group);
  if (!error) {
    error = put_state(scene_group, group, scene, state);
    H5Gclose(group);
  }
  eb_state_destroy(state);
  return error;
}

/* ---- writing: colliders and obstacles -------------------------------------------------------- */

/* By eb_collider_kind. */
static const char *collider_kind_name(int kind) {
  static const char *const names[] = {"plane", "sphere",  "cylinder", "capped-cylinder",
                                      "bowl",  "capsule", "mesh"};
  return kind < (int)(sizeof names / sizeof *names) ? names[kind] : NULL;
}

static const eb_quantity collider_quantities[] = {
    {"kind", "1", EB_NAMED, offsetof(eb_collider, kind), 1, collider_kind_name},
    EB_REALS(eb_collider, origin, "m", 3),
    EB_REALS(eb_collider, axis, "1", 3),
    EB_REALS(eb_collider, radius, "m", 1),
    EB_REALS(eb_collider, half_length, "m", 1),
    EB_REALS(eb_collider, stiffness, "Pa/m", 1),
    EB_REALS(eb_collider, damping, "Pa s/m", 1),
    EB_REALS(eb_collider, friction, "1", 1),
    EB_REALS(eb_collider, margin, "m", 1),
    EB_REALS(eb_collider, grip, "Pa s/m", 1),
    EB_REALS(eb_collider, isotropy, "1", 1),
    {"implicit", "1", EB_FLAG, offsetof(eb_collider, implicit), 1, NULL},
    {0}};

static const eb_quantity pair_quantities[] = {
    {"a", "1", EB_INDEX, offsetof(eb_friction_pair, a), 1, NULL},
    {"b", "1", EB_INDEX, offsetof(eb_friction_pair, b), 1, NULL},
    EB_REALS(eb_friction_pair, mu, "1", 1),
    {0}};

eb_error eb_result_obstacles_add(eb_result_obstacles *out, const eb_surface *surface, int32_t of) {
  size_t first = (size_t)out->vertex_count, corners = 3 * (size_t)out->triangle_count;
  size_t vertices = first + (size_t)surface->vertex_count;
  size_t more = 3 * (size_t)surface->triangle_count;
  double *X = eb_recalloc(out->X, 3 * first, 3 * vertices, sizeof *X);
  out->X = X ? X : out->X;
  int32_t *number = eb_recalloc(out->obstacle, first, vertices, sizeof *number);
  out->obstacle = number ? number : out->obstacle;
  int32_t *triangles = eb_recalloc(out->triangles, corners, corners + more, sizeof *triangles);
  out->triangles = triangles ? triangles : out->triangles;
  if (!X || !number || !triangles)
    return EB_ERROR(EB_ERR_MEMORY, "no memory for a surface of %d vertices", surface->vertex_count);
  memcpy(X + 3 * first, surface->X, 3 * (vertices - first) * sizeof *X);
  for (size_t i = first; i < vertices; i++) number[i] = of;
  for (size_t k = 0; k < more; k++) triangles[corners + k] = (int32_t)first + surface->triangles[k];
  out->vertex_count = (int32_t)vertices;
  out->triangle_count += surface->triangle_count;
  return EB_OK;
}

/* The surfaces of all behind each other. */
static eb_error put_enclosing(hid_t group, const eb_scene *scene) {
  EB_OWNED(eb_result_obstacles_clear) eb_result_obstacles all = {0};
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    if (scene->contacts.colliders[c].surface)
      EB_TRY(eb_result_obstacles_add(&all, scene->contacts.colliders[c].surface, c));
  size_t vertices = (size_t)all.vertex_count, triangles = (size_t)all.triangle_count;
  if (vertices == 0) return EB_OK;
  EB_TRY(eb_rows_put(group, "surface_vertices", EB_REAL, vertices, 3, "m", all.X));
  EB_TRY(eb_rows_put(group, "surface_triangles", EB_INDEX, triangles, 3, "1", all.triangles));
  return eb_rows_put(group, "surface_collider", EB_INDEX, vertices, 1, "1", all.obstacle);
}

static eb_error put_colliders(hid_t group, const eb_scene *scene) {
  EB_TRY(put_enclosing(group, scene));
  EB_TRY(eb_quantities_put(group, collider_quantities, scene->contacts.colliders,
                           sizeof *scene->contacts.colliders,
                           (size_t)scene->contacts.collider_count));
  EB_TRY(eb_h5_put_text(
      group, "penalty",
      "with signed distance s(x), unit normal n, depth d = margin - s > 0, a node's share a of the "
      "rest surface and its velocity v relative to the collider: explicit colliders push with "
      "f_n = max(0, stiffness a d - damping a v.n) along n and drag with min(friction f_n, "
      "(grip, or damping where grip is 0) a |v_t|) against v_t, at the start of the step; implicit "
      "ones push with stiffness a d along n at its end, and isotropy changes the tangent alone"));
  return eb_h5_put_text(
      group, "penalty_rule",
      "explicit colliders of stiffness 0 push with stiffness 1.5 / (h^2 q), damping = grip = "
      "0.3 / (h q), where q (m^2/kg) is how the touched body yields to all its contacts of the "
      "moment; the forces that follow are in frames/force");
}

static eb_error put_springs(hid_t group, const eb_scene *scene) {
  return eb_rows_put(group, "node", EB_INDEX, (size_t)scene->script.spring_count, 1, "1",
                     scene->script.spring_node);
}

static eb_error put_clusters(hid_t group, const eb_scene *scene) {
  const eb_cluster_set *set = &scene->clusters;
  size_t count = (size_t)set->count;
  EB_TRY(eb_rows_put(group, "offsets", EB_INDEX, count + 1, 1, "1", set->start));
  EB_TRY(eb_rows_put(group, "node", EB_INDEX, (size_t)set->start[count], 1, "1", set->node));
  return eb_rows_put(group, "stiffness", EB_REAL, count, 1, "N/m", set->stiffness);
}

static eb_error put_obstacles(hid_t group, const eb_scene *scene) {
  eb_result_obstacles all = {0};
  eb_error error = EB_OK;
  for (int32_t o = 0; o < scene->contacts.obstacle_count && !error; o++)
    error = eb_result_obstacles_add(&all, scene->contacts.obstacles[o].surface, o);
  size_t vertices = (size_t)all.vertex_count, triangles = (size_t)all.triangle_count;
  if (!error) error = eb_rows_put(group, "vertices", EB_REAL, vertices, 3, "m", all.X);
  if (!error) error = eb_rows_put(group, "triangles", EB_INDEX, triangles, 3, "1", all.triangles);
  if (!error) error = eb_rows_put(group, "obstacle", EB_INDEX, vertices, 1, "1", all.obstacle);
  eb_result_obstacles_clear(&all);
  return error;
}

static eb_error put_friction(hid_t group, const eb_scene *scene) {
  const eb_friction_law *law = &scene->contacts.friction;
  size_t vertices = (size_t)scene->mesh->node_count;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    vertices += (size_t)scene->contacts.obstacles[o].surface->vertex_count;
  EB_TRY(eb_quantities_put(group, pair_quantities, law->pairs, sizeof *law->pairs,
                           (size_t)law->pair_count));
  EB_TRY(eb_rows_put(group, "names", EB_INDEX, vertices, 1, "1", law->names));
  uint32_t of_colliders[EB_MAX_COLLIDERS];
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    of_colliders[c] = scene->contacts.colliders[c].names;
  EB_TRY(eb_rows_put(group, "collider_names", EB_INDEX, (size_t)scene->contacts.collider_count, 1,
                     "1", of_colliders));
  return eb_h5_put_text(
      group, "law",
      "bit k of names: a vertex - a node, or behind them one of the obstacles - has name k; a "
      "triangle, an edge and a tetrahedron have those that all their corners have. The last row "
      "whose a and b are names of the two that touch, in either order, has their mu; where there "
      "is none it is contact_friction, bodies_friction or the collider's");
}

/* ---- writing: the scene ---------------------------------------------------------------------- */

static eb_error put_attributes(hid_t group, const eb_run *run, const eb_scene *scene) {
  const char *const words[][2] = {
      {"name", run->scene},
      {"parameters", run->parameters},
      {"mesh_source", run->mesh_source},
      {"stand_in", run->stand_in},
      {"citation", scene->ops->citation},
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
  const struct {
    const char *name;
    int64_t value;
  } counts[] = {{"nodes", scene->script.uncut_nodes},
                {"elements", scene->mesh->element_count},
                {"paper_vertices", scene->ops->target_vertices},
                {"paper_elements", scene->ops->target_elements},
                {"bodies_collide", scene->contacts.bodies_collide},
                {"scripted_force", scene->script.load_count > 0}};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    EB_TRY(eb_h5_put_int(group, counts[i].name, counts[i].value));
  return EB_OK;
}

static eb_error fill_scene(hid_t group, const eb_run *run, const eb_scene *scene,
                           const eb_mesh *mesh, const eb_surface *surface, const int32_t *parent) {
  hid_t part;
  EB_TRY(put_attributes(group, run, scene));
  EB_TRY(eb_rows_put(group, "gravity", EB_REAL, 3, 1, "m/s^2", scene->gravity));
  EB_TRY(eb_scalar_put(group, "dt", "s", scene->dt));
  EB_TRY(eb_scalar_put(group, "contact_friction", "1", scene->contacts.friction.common));
  EB_TRY(eb_scalar_put(group, "bodies_friction", "1", scene->contacts.bodies_friction));
  EB_TRY(eb_h5_group(group, "mesh", &part));
  eb_error error = put_mesh(part, mesh, surface, parent);
  H5Gclose(part);
  EB_TRY(error);
  EB_TRY(put_initial(group, scene));
  const struct {
    const char *name;
    eb_error (*put)(hid_t group, const eb_scene *scene);
    bool there;
  } parts[] = {{"materials", put_materials, true},
               {"free_bodies", put_free_bodies, scene->rigid.free_bodies != NULL},
               {"articulation", put_articulation, scene->rigid.articulation != NULL},
               {"springs", put_springs, scene->script.spring_count > 0},
               {"clusters", put_clusters, scene->clusters.count > 0},
               {"colliders", put_colliders, scene->contacts.collider_count > 0},
               {"obstacles", put_obstacles, scene->contacts.obstacle_count > 0},
               {"friction", put_friction, scene->contacts.friction.pair_count > 0}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !error; i++) {
    if (!parts[i].there) continue;
    EB_TRY(eb_h5_group(group, parts[i].name, &part));
    error = parts[i].put(part, scene);
    H5Gclose(part);
  }
  return error;
}

eb_error eb_scene_write(hid_t scenes, const eb_run *run, const eb_scene *scene, const eb_mesh *mesh,
                        const eb_surface *surface, const int32_t *parent) {
  hid_t group;
  EB_TRY(eb_h5_group(scenes, run->scene_hash, &group));
  eb_error error = fill_scene(group, run, scene, mesh, surface, parent);
  H5Gclose(group);
  return eb_error_prefix(error, "scene %s", run->scene);
}

/* ---- reading: the mesh ----------------------------------------------------------------------- */

static eb_error open_mesh(const eb_results *results, int run, hid_t *out) {
  const eb_run *about = eb_results_run(results, run);
  EB_TRY(eb_results_scene_group(results, run, "mesh", out));
  if (*out >= 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT,
                  *about->scene_hash
                      ? "%s: run %s: cannot open the mesh of its scene: there is none"
                      : "%s: run %s ended before its scene was built",
                  eb_results_path(results), about->id);
}

/* Node and region indices are checked here, since they come from a file. */
static eb_error check_elements(const eb_mesh *mesh) {
  int type = (int)mesh->type;
  for (int64_t i = 0; i < (int64_t)mesh->element_count * type; i++)
    if (mesh->elements[i] < 0 || mesh->elements[i] >= mesh->node_count)
      return EB_ERROR(EB_ERR_FORMAT, "element %lld has node %d of %d", (long long)(i / type),
                      mesh->elements[i], mesh->node_count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (mesh->region[e] < 0 || mesh->region[e] >= mesh->region_count)
      return EB_ERROR(EB_ERR_FORMAT, "element %d has region %d of %d", e, mesh->region[e],
                      mesh->region_count);
  return EB_OK;
}

enum { MAX_REGIONS = 256 };

/* Fills the arrays and counts of *raw, and the names of its regions. */
static eb_error read_mesh(hid_t group, eb_mesh *raw, char *names[MAX_REGIONS]) {
  int set = 0;
  raw->node_count = raw->element_count = -1;
  EB_TRY(eb_rows_get(group, "positions", EB_REAL, 3, &raw->X, &raw->node_count));
  while (set < ELEMENT_SETS && !eb_h5_exists(group, element_sets[set].name)) set++;
  if (set == ELEMENT_SETS) return EB_ERROR(EB_ERR_FORMAT, "the mesh has no elements");
  raw->type = element_sets[set].type;
  EB_TRY(eb_rows_get(group, element_sets[set].name, EB_INDEX, raw->type, &raw->elements,
                     &raw->element_count));
  EB_TRY(eb_rows_get(group, "region", EB_INDEX, 1, &raw->region, &raw->element_count));
  if (eb_h5_exists(group, "fibre"))
    EB_TRY(eb_rows_get(group, "fibre", EB_REAL, 3, &raw->fibre, &raw->element_count));
  for (; raw->region_count < MAX_REGIONS; raw->region_count++) {
    char attribute[32];
    snprintf(attribute, sizeof attribute, "region_%d", raw->region_count);
    if (H5Aexists(group, attribute) <= 0) break;
    EB_TRY(eb_h5_get_text(group, attribute, &names[raw->region_count]));
  }
  return check_elements(raw);
}

static void free_arrays(eb_mesh *mesh) {
  free(mesh->X);
  free(mesh->elements);
  free(mesh->region);
  free(mesh->fibre);
}

eb_error eb_results_mesh(const eb_results *results, int run, eb_mesh **out) {
  hid_t group;
  eb_mesh raw = {0};
  char *names[MAX_REGIONS] = {NULL};
  *out = NULL;
  EB_TRY(open_mesh(results, run, &group));
  eb_error error = read_mesh(group, &raw, names);
  H5Gclose(group);
  if (!error) error = eb_mesh_create(raw.type, raw.node_count, raw.element_count, out);
  if (!error) { /* the arrays change their owners */
    free_arrays(*out);
    (*out)->X = raw.X;
    (*out)->elements = raw.elements;
    (*out)->region = raw.region;
    (*out)->fibre = raw.fibre;
    error = eb_mesh_name_regions(*out, raw.region_count, (const char *const *)names);
  } else {
    free_arrays(&raw);
  }
  for (int i = 0; i < MAX_REGIONS; i++) free(names[i]);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return eb_error_prefix(error, "%s: scene %s", eb_results_path(results),
                         eb_results_run(results, run)->scene);
}

eb_error eb_results_surface(const eb_results *results, int run, eb_result_surface *out) {
  hid_t group;
  int64_t nodes = eb_results_run(results, run)->nodes;
  *out = (eb_result_surface){.triangle_count = -1};
  EB_TRY(open_mesh(results, run, &group));
  eb_error error =
      eb_rows_get(group, "surface", EB_INDEX, 3, &out->triangles, &out->triangle_count);
  if (!error)
    error = eb_rows_get(group, "surface_region", EB_INDEX, 1, &out->region, &out->triangle_count);
  H5Gclose(group);
  for (int64_t i = 0; !error && i < 3 * (int64_t)out->triangle_count; i++)
    if (out->triangles[i] < 0 || out->triangles[i] >= nodes)
      error = EB_ERROR(EB_ERR_FORMAT, "triangle %lld has node %d of %lld", (long long)(i / 3),
                       out->triangles[i], (long long)nodes);
  if (error) eb_result_surface_clear(out);
  return eb_error_prefix(error, "%s", eb_results_path(results));
}

void eb_result_surface_clear(eb_result_surface *surface) {
  free(surface->triangles);
  free(surface->region);
  *surface = (eb_result_surface){0};
}

/* ---- reading: what a scene is made of -------------------------------------------------------- */

/* Rows of a dataset of indices; 0 without one. */
static eb_error count_rows(hid_t scene, const char *name, int64_t *out) {
  int32_t *data, rows = -1;
  *out = 0;
  if (!eb_h5_exists(scene, name)) return EB_OK;
  EB_TRY(eb_rows_get(scene, name, EB_INDEX, 1, &data, &rows));
  free(data);
  *out = rows;
  return EB_OK;
}

/* Appends the names that the regions take, each once and in the order of the enumeration, of those
 * from `first` on and before `end`. */
static void add_names(const eb_quantity *q, const eb_material *materials, int32_t count, int first,
                      int end, const char *separator, eb_result_scene *out) {
  for (int n = first; n < end && q->name_of(n); n++) {
    size_t used = strlen(out->material);
    bool taken = false;
    for (int32_t r = 0; r < count; r++) {
      int32_t value;
      memcpy(&value, (const char *)&materials[r] + q->offset, sizeof value);
      taken = taken || value == n;
    }
    if (taken)
      snprintf(out->material + used, sizeof out->material - used, "%s%s", used ? separator : "",
               q->name_of(n));
  }
}

static bool is_listed(const char *list, const char *name) {
  size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ',')) return true;
  return false;
}

/* The names of those that plug-ins brought, in the place of what they are called together. */
static eb_error add_plugged(hid_t group, const eb_material *materials, int32_t count,
                            eb_result_scene *out) {
  for (int32_t r = 0; r < count; r++) {
    EB_FREED char *own = NULL;
    char name[40];
    if (materials[r].kind != EB_PLUGGED) continue;
    snprintf(name, sizeof name, PLUGGED, r, "");
    EB_TRY(eb_h5_get_text(group, name, &own));
    size_t used = strlen(out->material);
    if (!is_listed(out->material, *own ? own : material_kind_name(EB_PLUGGED)))
      snprintf(out->material + used, sizeof out->material - used, "%s%s", used ? "," : "",
               *own ? own : material_kind_name(EB_PLUGGED));
  }
  return EB_OK;
}

static eb_error read_scene(hid_t scene, eb_result_scene *out) {
  eb_material *materials;
  int32_t count = 0;
  out->told = true;
  out->dimensions = eb_h5_exists(scene, "mesh/triangles") ? 2 : 3;
  EB_TRY(count_rows(scene, "articulation/parent", &out->joints));
  EB_TRY(count_rows(scene, "articulation/rider_node", &out->carried));
  EB_TRY(EB_NEW(materials, MAX_REGIONS));
  hid_t group = H5Gopen2(scene, "materials", H5P_DEFAULT);
  eb_error error = group < 0 ? eb_h5_error("cannot open", "materials") : EB_OK;
  if (!error)
    error =
        eb_quantities_get(group, material_names, materials, sizeof *materials, MAX_REGIONS, &count);
  add_names(&material_names[0], materials, count, 0, EB_MATERIAL_KINDS, ",", out);
  if (!error) error = add_plugged(group, materials, count, out);
  if (group >= 0) H5Gclose(group);
  add_names(&material_names[1], materials, count, 1, INT_MAX, "+", out);
  free(materials);
  return error;
}

eb_error eb_results_scene(const eb_results *results, int run, eb_result_scene *out) {
  hid_t scene;
  *out = (eb_result_scene){0};
  EB_TRY(eb_results_locate(results, run, eb_results_scene_group(results, run, "", &scene)));
  if (scene < 0) return EB_OK;
  eb_error error = EB_OK;
  if (eb_h5_exists(scene, "materials/kind")) error = read_scene(scene, out);
  H5Gclose(scene);
  return eb_results_locate(results, run, error);
}

/* ---- reading: colliders and obstacles -------------------------------------------------------- */

static eb_error check_collider(const eb_collider *collider, int32_t c) {
  double length = 0, sum = 0;
  for (int d = 0; d < 3; d++) {
    length += collider->axis[d] * collider->axis[d];
    sum += fabs(collider->origin[d]);
  }
  bool good = isfinite(sum) && isfinite(collider->radius) && collider->radius >= 0 &&
              isfinite(collider->half_length) && collider->half_length >= 0 &&
              fabs(length - 1) < 1e-9;
  return good ? EB_OK
              : EB_ERROR(EB_ERR_FORMAT,
                         "collider %d (%s) has a place or size that is not finite or negative, or "
                         "an axis that is no unit vector",
                         c, collider_kind_name((int)collider->kind));
}

/* A point or a direction of a collider where it has turned to. */
static void turn_by(const double rotation[9], double x[3]) {
  double from[3] = {x[0], x[1], x[2]};
  eb_turn3(rotation, from, x);
}

/* How they have turned in a frame; none has in files that do not say so. */
static eb_error turn_colliders(const eb_results *results, int run, size_t frame,
                               eb_result_colliders *out) {
  EB_FREED void *data = NULL;
  eb_h5_shape row = {2, {(hsize_t)out->count, EB_COLLIDER_TURN_COLUMNS}};
  if (!eb_results_has(results, run, EB_COLLIDER_TURN)) return EB_OK;
  EB_TRY(
      eb_results_frame_row(results, run, EB_COLLIDER_TURN, frame, H5T_NATIVE_DOUBLE, row, &data));
  for (int32_t c = 0; c < out->count; c++) {
    const double *rotation = (const double *)data + EB_COLLIDER_TURN_COLUMNS * (size_t)c;
    eb_surface *surface = out->list[c].surface;
    turn_by(rotation, out->list[c].origin);
    turn_by(rotation, out->list[c].axis);
    for (int32_t i = 0; surface && i < surface->vertex_count; i++)
      turn_by(rotation, surface->X + 3 * (size_t)i);
  }
  return EB_OK;
}

/* Moves the colliders to where they are in a frame. */
static eb_error move_colliders(const eb_results *results, int run, size_t frame,
                               eb_result_colliders *out) {
  EB_FREED void *data = NULL;
  eb_h5_shape row = {2, {(hsize_t)out->count, 3}};
  EB_TRY(turn_colliders(results, run, frame, out));
  EB_TRY(
      eb_results_frame_row(results, run, EB_COLLIDER_OFFSET, frame, H5T_NATIVE_DOUBLE, row, &data));
  for (int32_t c = 0; c < out->count; c++) {
    const double *offset = (const double *)data + 3 * (size_t)c;
    eb_surface *surface = out->list[c].surface;
    for (int d = 0; d < 3 && !surface; d++) out->list[c].origin[d] += offset[d];
    for (int32_t i = 0; surface && i < surface->vertex_count; i++)
      eb_add3(1, offset, surface->X + 3 * (size_t)i);
    EB_TRY(check_collider(&out->list[c], c));
  }
  return EB_OK;
}

/* Gives every collider its part of the joined surfaces. */
static eb_error part_surfaces(const eb_result_obstacles *all, eb_result_colliders *out) {
  for (int32_t c = 0, v = 0, t = 0; c < out->count; c++) {
    int32_t vertex = v, triangle = t;
    while (v < all->vertex_count && all->obstacle[v] == c) v++;
    while (t < all->triangle_count && all->obstacle[all->triangles[3 * (size_t)t]] == c) t++;
    if ((v > vertex) != (out->list[c].kind == EB_MESH))
      return EB_ERROR(EB_ERR_FORMAT,
                      "collider %d is a mesh without a surface, or has one and is none", c);
    if (v == vertex) continue;
    EB_TRY(eb_surface_create(v - vertex, t - triangle, &out->list[c].surface));
    eb_surface *surface = out->list[c].surface;
    memcpy(surface->X, all->X + 3 * (size_t)vertex, 3 * (size_t)(v - vertex) * sizeof *surface->X);
    for (int32_t k = 0; k < 3 * (t - triangle); k++)
      surface->triangles[k] = all->triangles[3 * (size_t)triangle + (size_t)k] - vertex;
  }
  return EB_OK;
}

static eb_error check_obstacles(const eb_result_obstacles *o) {
  for (int32_t i = 0; i < o->vertex_count; i++)
    if (o->obstacle[i] < (i > 0 ? o->obstacle[i - 1] : 0) || o->obstacle[i] >= EB_MAX_OBSTACLES)
      return EB_ERROR(EB_ERR_FORMAT, "vertex %d is of obstacle %d", i, o->obstacle[i]);
  for (int32_t k = 0; k < 3 * o->triangle_count; k++) {
    int32_t first = o->triangles[k - k % 3], v = o->triangles[k];
    bool inside = v >= 0 && v < o->vertex_count && first >= 0 && first < o->vertex_count;
    if (!inside || o->obstacle[v] != o->obstacle[first])
      return EB_ERROR(EB_ERR_FORMAT, "triangle %d names vertex %d", k / 3, v);
  }
  return EB_OK;
}

static eb_error read_surfaces(hid_t group, eb_result_colliders *out) {
  EB_OWNED(eb_result_obstacles_clear)
  eb_result_obstacles all = {.vertex_count = -1, .triangle_count = -1};
  if (!eb_h5_exists(group, "surface_vertices")) {
    all.vertex_count = all.triangle_count = 0;
    return part_surfaces(&all, out);
  }
  EB_TRY(eb_rows_get(group, "surface_vertices", EB_REAL, 3, &all.X, &all.vertex_count));
  EB_TRY(eb_rows_get(group, "surface_collider", EB_INDEX, 1, &all.obstacle, &all.vertex_count));
  EB_TRY(eb_rows_get(group, "surface_triangles", EB_INDEX, 3, &all.triangles, &all.triangle_count));
  EB_TRY(check_obstacles(&all));
  return part_surfaces(&all, out);
}

static eb_error read_colliders(hid_t group, eb_result_colliders *out) {
  EB_TRY(eb_quantities_get(group, collider_quantities, out->list, sizeof *out->list,
                           EB_MAX_COLLIDERS, &out->count));
  for (int32_t c = 0; c < out->count; c++) EB_TRY(check_collider(&out->list[c], c));
  return read_surfaces(group, out);
}

eb_error eb_results_colliders(const eb_results *results, int run, size_t frame,
                              eb_result_colliders *out) {
  hid_t group;
  *out = (eb_result_colliders){0};
  eb_error error = eb_results_scene_group(results, run, "colliders", &group);
  if (!error && group >= 0) {
    error = read_colliders(group, out);
    H5Gclose(group);
    if (!error) error = move_colliders(results, run, frame, out);
  }
  if (error) eb_result_colliders_clear(out);
  return eb_results_locate(results, run, eb_error_prefix(error, "colliders"));
}

void eb_result_colliders_clear(eb_result_colliders *colliders) {
  for (int32_t c = 0; c < EB_MAX_COLLIDERS; c++) eb_collider_clear(&colliders->list[c]);
  *colliders = (eb_result_colliders){0};
}

static eb_error read_at_rest(hid_t group, eb_result_obstacles *out) {
  out->vertex_count = out->triangle_count = -1;
  EB_TRY(eb_rows_get(group, "vertices", EB_REAL, 3, &out->X, &out->vertex_count));
  EB_TRY(eb_rows_get(group, "triangles", EB_INDEX, 3, &out->triangles, &out->triangle_count));
  EB_TRY(eb_rows_get(group, "obstacle", EB_INDEX, 1, &out->obstacle, &out->vertex_count));
  EB_TRY(check_obstacles(out));
  out->count = out->vertex_count > 0 ? out->obstacle[out->vertex_count - 1] + 1 : 0;
  return EB_OK;
}

/* Moves the obstacles to where they are in a frame. */
static eb_error move_obstacles(const eb_results *results, int run, size_t frame,
                               eb_result_obstacles *out) {
  eb_h5_shape row = {2, {(hsize_t)out->count, EB_OBSTACLE_POSE_COLUMNS}};
  void *poses;
  EB_TRY(
      eb_results_frame_row(results, run, EB_OBSTACLE_POSE, frame, H5T_NATIVE_DOUBLE, row, &poses));
  eb_error error = EB_OK;
  for (int32_t i = 0; i < out->vertex_count && !error; i++) {
    const double *pose =
        (const double *)poses + EB_OBSTACLE_POSE_COLUMNS * (size_t)out->obstacle[i];
    double *X = out->X + 3 * (size_t)i, turned[3];
    eb_turn3(pose, X, turned);
    for (int d = 0; d < 3; d++) X[d] = turned[d] + pose[9 + d];
    if (!isfinite(X[0] + X[1] + X[2]))
      error =
          EB_ERROR(EB_ERR_FORMAT, "vertex %d of obstacle %d is not finite", i, out->obstacle[i]);
  }
  free(poses);
  return error;
}

eb_error eb_results_obstacles(const eb_results *results, int run, size_t frame,
                              eb_result_obstacles *out) {
  hid_t group;
  *out = (eb_result_obstacles){0};
  eb_error error = eb_results_scene_group(results, run, "obstacles", &group);
  if (!error && group >= 0) {
    error = read_at_rest(group, out);
    H5Gclose(group);
    if (!error) error = move_obstacles(results, run, frame, out);
  }
  if (error) eb_result_obstacles_clear(out);
  return eb_results_locate(results, run, eb_error_prefix(error, "obstacles"));
}

void eb_result_obstacles_clear(eb_result_obstacles *obstacles) {
  free(obstacles->X);
  free(obstacles->triangles);
  free(obstacles->obstacle);
  *obstacles = (eb_result_obstacles){0};
}
