#include "harness/results/write_rigid.h"

#include <stdlib.h>

#include "harness/results/quantity.h"
#include "problems/base/memory.h"

/* ---- free bodies ----------------------------------------------------------------------------- */

static eb_error put_free(hid_t group, const eb_free_bodies *bodies) {
  static const eb_quantity quantities[] = {
      {"mass", "kg", offsetof(eb_free_body, mass), 1},
      {"centre", "m", offsetof(eb_free_body, centre), 3},
      {"inertia", "kg m^2", offsetof(eb_free_body, inertia), 9},
      {0}};
  EB_TRY(eb_quantities_put(group, quantities, bodies->body, sizeof *bodies->body,
                           (size_t)bodies->count));
  EB_TRY(eb_h5_put(group, "of_node", H5T_STD_I32LE, H5T_NATIVE_INT32,
                   (eb_h5_shape){1, {(hsize_t)bodies->node_count}}, "1", bodies->of_node));
  return eb_h5_put_text(
      group, "meaning",
      "connected components of the rigid regions: mass, centre and inertia (about the centre, "
      "row-major) are those of the solid at rest; of_node is the body that a node rides on, or -1");
}

/* ---- the articulation ------------------------------------------------------------------------ */

static const eb_quantity quantities[] = {
    {"pivot", "m", offsetof(eb_rigid_body, pivot), 3},
    {"axis", "1", offsetof(eb_rigid_body, axis), 3},
    {"mass", "kg", offsetof(eb_rigid_body, mass), 1},
    {"centre", "m", offsetof(eb_rigid_body, centre), 3},
    {"inertia", "kg m^2", offsetof(eb_rigid_body, inertia), 6},
    {"lower", "rad", offsetof(eb_rigid_body, lower), 1},
    {"upper", "rad", offsetof(eb_rigid_body, upper), 1},
    {"limit_stiffness", "N m/rad", offsetof(eb_rigid_body, limit_stiffness), 1},
    {"damping", "N m s/rad", offsetof(eb_rigid_body, damping), 1},
    {"start", "rad", offsetof(eb_rigid_body, start), 1},
    {"tip", "m", offsetof(eb_rigid_body, tip), 3},
    {0}};

static eb_error put_bodies(hid_t group, const eb_articulation *articulation) {
  eb_rigid_body bodies[EB_MAX_JOINTS];
  int32_t parent[EB_MAX_JOINTS], count = eb_articulation_joints(articulation);
  for (int32_t b = 0; b < count; b++) {
    bodies[b] = *eb_articulation_body(articulation, b);
    parent[b] = bodies[b].parent;
  }
  EB_TRY(eb_h5_put(group, "parent", H5T_STD_I32LE, H5T_NATIVE_INT32,
                   (eb_h5_shape){1, {(hsize_t)count}}, "1", parent));
  EB_TRY(eb_quantities_put(group, quantities, bodies, sizeof *bodies, (size_t)count));
  return eb_h5_put_text(
      group, "meaning",
      "one row a body and the revolute joint that it hangs on, at angle 0 in world axes: parent "
      "(an "
      "earlier body, -1 the world), pivot and axis of the joint, centre of mass, inertia about it "
      "(xx yy zz xy xz yz). At angle q a joint has the torque -damping q' and, beyond lower or "
      "upper, -limit_stiffness (q - limit)");
}

typedef struct riders {
  int32_t *node, *body;
  double *place;
} riders;

static eb_error put_riders(hid_t group, const eb_articulation *articulation, riders *r) {
  hsize_t count = (hsize_t)eb_articulation_attached(articulation);
  eb_h5_shape one = {1, {count}}, three = {2, {count, 3}};
  EB_TRY(EB_NEW(r->node, count));
  EB_TRY(EB_NEW(r->body, count));
  EB_TRY(EB_NEW(r->place, 3 * count));
  for (int32_t k = 0; k < (int32_t)count; k++) {
    r->node[k] = eb_articulation_node(articulation, k);
    r->body[k] = eb_articulation_carrier(articulation, k, r->place + 3 * (size_t)k);
  }
  EB_TRY(eb_h5_put(group, "rider_node", H5T_STD_I32LE, H5T_NATIVE_INT32, one, "1", r->node));
  EB_TRY(eb_h5_put(group, "rider_body", H5T_STD_I32LE, H5T_NATIVE_INT32, one, "1", r->body));
  return eb_h5_put(group, "rider_place", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, three, "m", r->place);
}

static eb_error put_articulation(hid_t group, const eb_articulation *articulation) {
  riders r = {0};
  EB_TRY(put_bodies(group, articulation));
  eb_error error = put_riders(group, articulation, &r);
  free(r.node);
  free(r.body);
  free(r.place);
  return error;
}

/* ---- both ------------------------------------------------------------------------------------ */

eb_error eb_rigid_write(hid_t scene_group, const eb_scene *scene) {
  hid_t group;
  if (scene->free_bodies) {
    EB_TRY(eb_h5_group(scene_group, "free_bodies", &group));
    eb_error error = put_free(group, scene->free_bodies);
    H5Gclose(group);
    EB_TRY(error);
  }
  if (!scene->articulation) return EB_OK;
  EB_TRY(eb_h5_group(scene_group, "articulation", &group));
  eb_error error = put_articulation(group, scene->articulation);
  H5Gclose(group);
  return error;
}
