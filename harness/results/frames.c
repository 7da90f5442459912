#include "harness/results/frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/colliders.h"
#include "harness/results/obstacles.h"
#include "problems/base/memory.h"
#include "solvers/contact/record.h"

/* What a node is to the solver, as the file has it. */
enum { FREE, SCRIPTED, ON_JOINTED_BODY, ON_FREE_BODY };

/* ---- the datasets ---------------------------------------------------------------------------- */

enum {
  POSITIONS,
  VELOCITIES,
  TIME,
  STEP,
  NODE_COUNT,
  FIXED,
  TARGET,
  FORCE,
  ACTIVATION,
  OFFSETS_OF_COLLIDERS,
  VELOCITIES_OF_COLLIDERS,
  POSES_OF_OBSTACLES,
  UPDATES,
  BONES,
  JOINTS,
  BODY_POSES,
  BODY_TWISTS,
  CONTACT_OFFSETS, /* a row a frame and one; of contacts from here on */
  GAP,             /* a row a frame, five times */
  EPS1,
  EPS2,
  CONE,
  ANGLE,
  KIND, /* a row a contact, from here on */
  VERTICES,
  WEIGHT,
  FRAME,
  CONTACT_FORCE,
  DEMAND,
  TABLES
};
_Static_assert((int)TABLES == (int)EB_FRAME_TABLES, "the writer has room for every table");

/* What is large, fields over the mesh and over contacts, is wide where every frame is stored, so
 * that audits can be recomputed from it: of double precision. */
static const struct {
  eb_dataset what;
  bool widens;
} datasets[TABLES] = {
    [POSITIONS] = {{EB_FRAME_POSITIONS, "m", EB_ROUNDED, "of the nodes"}, true},
    [VELOCITIES] = {{EB_FRAME_VELOCITIES, "m/s", EB_ROUNDED, "of the nodes"}, true},
    [TIME] = {{"frames/time", "s", EB_REAL, "simulated time"}, false},
    [STEP] = {{"frames/step", "1", EB_WHOLE,
               "number of the step that ends here; 0 is the initial state"},
              false},
    [NODE_COUNT] = {{"frames/node_count", "1", EB_WHOLE,
                     "nodes of the mesh that the step was solved on; the copies behind them are "
                     "still their parents (mesh/parent)"},
                    false},
    [FIXED] = {{"frames/fixed", "1", EB_BYTE,
                "0 free, 1 scripted, 2 rides on a body of the articulation (or on the world), "
                "3 rides on a free rigid body"},
               false},
    [TARGET] = {{"frames/target", "m", EB_ROUNDED,
                 "where nodes that are not free belong at the time of the frame; 0 for free "
                 "nodes"},
                true},
    [FORCE] = {{"frames/force", "N", EB_ROUNDED,
                "f_ext less the weight m g of the nodes: explicit penalty contact and "
                "scripted forces, taken at the start of the step that ends at this frame"},
               true},
    [ACTIVATION] = {{"frames/activation", "1", EB_REAL,
                     "of the fibres of all regions, in place of materials/activation"},
                    false},
    [OFFSETS_OF_COLLIDERS] = {{EB_COLLIDER_OFFSET, "m", EB_REAL,
                               "of each collider's origin from colliders/origin"},
                              false},
    [VELOCITIES_OF_COLLIDERS] = {{"frames/collider_velocity", "m/s", EB_REAL,
                                  "of each collider, which does not turn"},
                                 false},
    [POSES_OF_OBSTACLES] = {{EB_OBSTACLE_POSE, "1, m", EB_REAL,
                             "rotation (row-major, 9 numbers) and shift (3): x = rotation X + "
                             "shift"},
                            false},
    [UPDATES] = {{EB_FRAME_UPDATES, "1", EB_BYTE,
                  "how often the solver has brought an element's matrix up to date since the "
                  "frame before; 255: that often and more"},
                 false},
    [BONES] = {{EB_FRAME_BONES, "m", EB_ROUNDED, "pivot and tip"}, false},
    [JOINTS] = {{EB_FRAME_JOINTS, "rad, rad/s", EB_REAL, "angle and its rate"}, false},
    [BODY_POSES] = {{"frames/body_pose", "m, 1", EB_REAL,
                     "px py pz qw qx qy qz: centre of mass p and unit quaternion q; "
                     "x = p + R(q) (X - free_bodies/centre)"},
                    false},
    [BODY_TWISTS] = {{"frames/body_twist", "m/s, rad/s", EB_REAL,
                      "vx vy vz wx wy wz: velocity of the centre of mass and angular velocity in "
                      "world axes"},
                     false},
    [CONTACT_OFFSETS] = {{"frames/contacts/offsets", "1", EB_LONG,
                          "contacts of frame f are rows offsets[f] to offsets[f + 1] - 1"},
                         false},
    [GAP] = {{"frames/contacts/gap", "m", EB_REAL, "distance that constraints ask for in the end"},
             false},
    [EPS1] = {{"frames/contacts/eps1", "kg m/s", EB_REAL,
               "the solver's bound on the 2-norm of its momentum equations"},
              false},
    [EPS2] = {{"frames/contacts/eps2", "m", EB_REAL, "the solver's tolerance on constraints"},
              false},
    [CONE] = {{"frames/contacts/cone", "1", EB_REAL,
               "the solver's tolerance on friction beyond Coulomb's cone, of the largest force"},
              false},
    [ANGLE] = {{"frames/contacts/angle", "deg", EB_REAL,
                "the solver's tolerance between friction and sliding"},
               false},
    [KIND] = {{"frames/contacts/kind", "1", EB_SMALL, "0 vertex and triangle, 1 edge and edge"},
              false},
    [VERTICES] = {{"frames/contacts/vertices", "1", EB_INDEX,
                   "vertex and triangle, or edge and edge; numbers below the nodes of "
                   "frames/positions are nodes, those above vertices of the obstacles"},
                  false},
    [WEIGHT] = {{"frames/contacts/weight", "1", EB_ROUNDED,
                 "signed, sum 0: sum_i weight_i x_i leads from the second feature to the first"},
                true},
    [FRAME] = {{"frames/contacts/frame", "1", EB_ROUNDED,
                "rows n, t1, t2: normal and tangents, orthonormal, right-handed"},
               true},
    [CONTACT_FORCE] = {{"frames/contacts/force", "N", EB_ROUNDED,
                        "a force, not an impulse: of the second feature on the first, in the "
                        "frame, through the whole step; vertex i is pushed by weight_i frame^T "
                        "force"},
                       true},
    [DEMAND] = {{"frames/contacts/demand", "m", EB_ROUNDED,
                 "displacement c that the step asks for: "
                 "(frame sum_i weight_i (x1_i - x0_i) - demand)_n >= 0"},
                true}};

/* Chunks of some 64 KB: one row of a field over a mesh, many of a number. */
static eb_error open_table(eb_frame_writer *writer, int at, eb_h5_shape row) {
  enum { CHUNK = 1 << 16, MOST = 256, OF_CONTACTS = 512 };
  eb_dataset what = datasets[at].what;
  if (writer->wide && datasets[at].widens) what.number = EB_REAL;
  hsize_t bytes = what.number == EB_ROUNDED ? 4 : what.number == EB_BYTE ? 1 : 8;
  for (int i = 0; i < row.rank; i++) bytes *= row.size[i];
  hsize_t rows = bytes > CHUNK ? 1 : bytes > 0 && CHUNK / bytes < MOST ? CHUNK / bytes : MOST;
  return eb_table_open(writer->run, &what, row, at < CONTACT_OFFSETS ? rows : OF_CONTACTS,
                       &writer->tables[at]);
}

/* Opens every table that the scene has anything for. */
static eb_error open_tables(eb_frame_writer *writer) {
  const eb_scene *scene = writer->scene;
  hsize_t nodes = (hsize_t)writer->nodes, colliders = (hsize_t)scene->collider_count, joints = 0,
          bodies = 0;
  if (scene->articulation) joints = (hsize_t)eb_articulation_joints(scene->articulation);
  if (scene->free_bodies) bodies = (hsize_t)scene->free_bodies->count;
  bool holds_nodes = scene->ops->boundary || scene->articulation || scene->free_bodies;
  bool pushes_nodes = scene->contact || scene->ops->force; /* f_ext can be more than weight */
  for (int32_t c = 0; c < scene->collider_count; c++)
    pushes_nodes = pushes_nodes || !scene->colliders[c].implicit;
  bool contacts = (eb_scene_needs(scene) & EB_CAP_CONTACT) != 0;
  const eb_h5_shape single = {0}, vectors = {2, {nodes, 3}}, four = {1, {4}}, three = {1, {3}},
                    moved = {2, {colliders, 3}};
  const struct {
    int at;
    bool there;
    eb_h5_shape row;
  } tables[] = {{POSITIONS, true, vectors},
                {VELOCITIES, true, vectors},
                {TIME, true, single},
                {STEP, true, single},
                {NODE_COUNT, writer->parent != NULL, single},
                {FIXED, holds_nodes, {1, {nodes}}},
                {TARGET, holds_nodes, vectors},
                {FORCE, pushes_nodes, vectors},
                {ACTIVATION, scene->ops->activation != NULL, single},
                {OFFSETS_OF_COLLIDERS, colliders > 0, moved},
                {VELOCITIES_OF_COLLIDERS, colliders > 0, moved},
                {POSES_OF_OBSTACLES,
                 scene->obstacle_count > 0,
                 {2, {(hsize_t)scene->obstacle_count, EB_OBSTACLE_POSE_COLUMNS}}},
                {BONES, scene->articulation != NULL, {3, {joints, 2, 3}}},
                {JOINTS, scene->articulation != NULL, {2, {joints, 2}}},
                {BODY_POSES, scene->free_bodies != NULL, {2, {bodies, 7}}},
                {BODY_TWISTS, scene->free_bodies != NULL, {2, {bodies, 6}}},
                {CONTACT_OFFSETS, contacts, single},
                {GAP, contacts, single},
                {EPS1, contacts, single},
                {EPS2, contacts, single},
                {CONE, contacts, single},
                {ANGLE, contacts, single},
                {KIND, contacts, single},
                {VERTICES, contacts, four},
                {WEIGHT, contacts, four},
                {FRAME, contacts, {2, {3, 3}}},
                {CONTACT_FORCE, contacts, three},
                {DEMAND, contacts, three}};
  if (contacts) {
    hid_t group;
    EB_TRY(eb_h5_group(writer->run, "frames/contacts", &group));
    H5Gclose(group);
  }
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (tables[i].there) EB_TRY(open_table(writer, tables[i].at, tables[i].row));
  return contacts ? eb_table_add(&writer->tables[CONTACT_OFFSETS], &writer->contacts, 1) : EB_OK;
}

eb_error eb_frame_writer_open(hid_t run, const eb_scene *scene, int32_t nodes,
                              const int32_t *parent, bool wide, eb_frame_writer *writer) {
  *writer =
      (eb_frame_writer){.run = run, .scene = scene, .nodes = nodes, .parent = parent, .wide = wide};
  eb_tables_start(writer->tables, TABLES);
  EB_TRY(EB_NEW(writer->vectors, 3 * (size_t)nodes));
  EB_TRY(EB_NEW(writer->fixed, nodes));
  writer->tables[UPDATES].width = (size_t)scene->mesh->element_count;
  return open_tables(writer);
}

void eb_frame_writer_clear(eb_frame_writer *writer) {
  eb_tables_clear(writer->tables, TABLES);
  free(writer->vectors);
  free(writer->fixed);
}

/* ---- writing a frame ------------------------------------------------------------------------- */

static bool is_open(const eb_frame_writer *writer, int at) {
  return writer->tables[at].set >= 0;
}

/* A row of a table, when the scene has it. */
static eb_error add_row(eb_frame_writer *writer, int at, const void *row) {
  return is_open(writer, at) ? eb_table_add(&writer->tables[at], row, 1) : EB_OK;
}

/* A field over the nodes there are; those that are still to be parted have what the node has that
 * they part from. */
static eb_error add_vectors(eb_frame_writer *writer, int at, const double *values, int32_t count) {
  double *all = writer->vectors;
  if (all != values) memcpy(all, values, 3 * (size_t)count * sizeof *all);
  for (int32_t i = count; i < writer->nodes; i++)
    memcpy(all + 3 * (size_t)i, all + 3 * (size_t)writer->parent[i], 3 * sizeof *all);
  return eb_table_add(&writer->tables[at], all, 1);
}

/* Carried nodes belong to their bodies even when they are scripted, too. */
static void find_held(eb_frame_writer *writer, const eb_state *state) {
  const eb_scene *scene = writer->scene;
  uint8_t *fixed = writer->fixed;
  double *target = writer->vectors;
  eb_scene_boundary(scene, state->time, fixed, target);
  for (int32_t i = 0; i < state->node_count; i++) {
    if (fixed[i]) fixed[i] = SCRIPTED;
    if (!fixed[i]) memset(target + 3 * (size_t)i, 0, 3 * sizeof *target);
  }
  for (int32_t k = 0; scene->articulation && k < eb_articulation_attached(scene->articulation);
       k++) {
    int32_t node = eb_articulation_node(scene->articulation, k);
    fixed[node] = ON_JOINTED_BODY;
    eb_articulation_place(scene->articulation, state->q, k, target + 3 * (size_t)node, NULL);
  }
  if (!scene->free_bodies) return;
  eb_free_bodies_place(scene->free_bodies, scene->mesh->X, state->pose, state->twist, target, NULL);
  for (int32_t i = 0; i < state->node_count; i++)
    if (scene->free_bodies->of_node[i] >= 0) fixed[i] = ON_FREE_BODY;
}

/* Where nothing but weight acts, f_ext is the product m g as it is rounded: 0 is left, which takes
 * no room, and not what a fused multiplication and subtraction makes of it. */
static eb_error add_force(eb_frame_writer *writer, const eb_state *before) {
  const eb_scene *scene = writer->scene;
  if (!is_open(writer, FORCE) || !before) return add_row(writer, FORCE, NULL);
  const double *mass = eb_elasticity_mass(scene->elasticity);
  eb_scene_force(scene, before->time, before->x, before->v, writer->vectors);
  for (size_t k = 0; k < 3 * (size_t)before->node_count; k++) {
    double *f = &writer->vectors[k], weight = mass[k / 3] * scene->gravity[k % 3];
    *f = *f == weight ? 0 : *f - weight;
  }
  return add_vectors(writer, FORCE, writer->vectors, before->node_count);
}

/* Colliders, obstacles and rigid bodies. */
static eb_error add_rigid(eb_frame_writer *writer, const eb_state *state) {
  const eb_scene *scene = writer->scene;
  double offsets[EB_MAX_COLLIDERS][3] = {{0}}, velocities[EB_MAX_COLLIDERS][3] = {{0}};
  double poses[EB_MAX_OBSTACLES][EB_OBSTACLE_POSE_COLUMNS];
  double bones[EB_MAX_JOINTS][2][3], joints[EB_MAX_JOINTS][2];
  for (int32_t c = 0; c < scene->collider_count; c++) {
    const eb_collider *collider = &scene->colliders[c];
    if (collider->motion)
      collider->motion(state->time, collider->motion_parameters, offsets[c], velocities[c]);
  }
  for (int32_t o = 0; o < scene->obstacle_count; o++)
    eb_obstacle_pose(&scene->obstacles[o], state->time, poses[o], poses[o] + 9);
  for (int32_t j = 0; scene->articulation && j < state->joint_count; j++) {
    eb_articulation_bone(scene->articulation, state->q, j, bones[j][0], bones[j][1]);
    joints[j][0] = state->q[j];
    joints[j][1] = state->u[j];
  }
  EB_TRY(add_row(writer, OFFSETS_OF_COLLIDERS, offsets));
  EB_TRY(add_row(writer, VELOCITIES_OF_COLLIDERS, velocities));
  EB_TRY(add_row(writer, POSES_OF_OBSTACLES, poses));
  EB_TRY(add_row(writer, BONES, bones));
  EB_TRY(add_row(writer, JOINTS, joints));
  EB_TRY(add_row(writer, BODY_POSES, state->pose));
  return add_row(writer, BODY_TWISTS, state->twist);
}

/* The first updates begin the table, whose dataset eb_frame_writer_commit makes; the frames before
 * them had none. */
static eb_error add_updates(eb_frame_writer *writer, const uint8_t *updates) {
  eb_table *table = &writer->tables[UPDATES];
  bool begun = table->set >= 0 || table->rows > 0;
  for (size_t e = 0; updates && !begun && e < table->width; e++) begun = updates[e] > 0;
  if (begun) return eb_table_add(table, updates, 1);
  writer->frames_before_updates++;
  return EB_OK;
}

/* The contacts of a step, or none of NULL. Vertices of obstacles are counted from the stored nodes
 * on. */
static eb_error add_contacts(eb_frame_writer *writer, const eb_contact_record *record) {
  static const eb_contact_record none;
  if (!record) record = &none;
  size_t count = record->count > 0 ? (size_t)record->count : 0;
  int32_t shift = writer->nodes - record->nodes;
  for (size_t k = 0; k < count; k++) {
    int32_t vertex[4];
    for (int i = 0; i < 4; i++) {
      vertex[i] = record->pair[k].vertex[i];
      if (vertex[i] >= record->nodes) vertex[i] += shift;
    }
    EB_TRY(add_row(writer, KIND, &record->pair[k].kind));
    EB_TRY(add_row(writer, VERTICES, vertex));
  }
  EB_TRY(eb_table_add(&writer->tables[WEIGHT], record->weight, count));
  EB_TRY(eb_table_add(&writer->tables[FRAME], record->frame, count));
  EB_TRY(eb_table_add(&writer->tables[CONTACT_FORCE], record->r, count));
  EB_TRY(eb_table_add(&writer->tables[DEMAND], record->c, count));
  EB_TRY(add_row(writer, GAP, &record->gap));
  EB_TRY(add_row(writer, EPS1, &record->eps1));
  EB_TRY(add_row(writer, EPS2, &record->eps2));
  EB_TRY(add_row(writer, CONE, &record->cone));
  EB_TRY(add_row(writer, ANGLE, &record->angle));
  writer->contacts += (int64_t)count;
  return add_row(writer, CONTACT_OFFSETS, &writer->contacts);
}

eb_error eb_frame_writer_add(eb_frame_writer *writer, const eb_frame *frame) {
  const eb_state *state = frame->state;
  const eb_scene *scene = writer->scene;
  double step = (double)state->step, nodes = state->node_count;
  if (state->node_count != scene->mesh->node_count)
    return EB_ERROR(EB_ERR_INVALID, "a frame has %d nodes where the mesh has %d", state->node_count,
                    scene->mesh->node_count);
  EB_TRY(add_vectors(writer, POSITIONS, state->x, state->node_count));
  EB_TRY(add_vectors(writer, VELOCITIES, state->v, state->node_count));
  EB_TRY(add_row(writer, TIME, &state->time));
  EB_TRY(add_row(writer, STEP, &step));
  EB_TRY(add_row(writer, NODE_COUNT, &nodes));
  if (is_open(writer, FIXED)) {
    find_held(writer, state);
    for (int32_t i = state->node_count; i < writer->nodes; i++)
      writer->fixed[i] = writer->fixed[writer->parent[i]];
    EB_TRY(add_row(writer, FIXED, writer->fixed));
    EB_TRY(add_vectors(writer, TARGET, writer->vectors, state->node_count));
  }
  EB_TRY(add_force(writer, frame->before));
  if (is_open(writer, ACTIVATION)) {
    double activation = scene->ops->activation(scene, state->time);
    EB_TRY(add_row(writer, ACTIVATION, &activation));
  }
  if (is_open(writer, CONTACT_OFFSETS)) EB_TRY(add_contacts(writer, frame->contacts));
  EB_TRY(add_updates(writer, frame->updates));
  return add_rigid(writer, state);
}

eb_error eb_frame_writer_commit(eb_frame_writer *writer) {
  eb_table *updates = &writer->tables[UPDATES];
  if (updates->set < 0 && updates->rows > 0) {
    EB_TRY(open_table(writer, UPDATES, (eb_h5_shape){1, {updates->width}}));
    EB_TRY(eb_table_skip(updates, writer->frames_before_updates));
  }
  return eb_tables_commit(writer->tables, TABLES);
}

/* ---- reading --------------------------------------------------------------------------------- */

eb_error eb_results_frame_count(const eb_results *results, int run, size_t *out) {
  double *time;
  EB_TRY(eb_results_column(results, run, "frames/time", &time, out));
  free(time);
  return EB_OK;
}

eb_error eb_results_frame(const eb_results *results, int run, size_t frame, float **out) {
  void *data;
  eb_h5_shape row = {2, {(hsize_t)eb_results_run(results, run)->nodes, 3}};
  eb_error error =
      eb_results_frame_row(results, run, EB_FRAME_POSITIONS, frame, H5T_NATIVE_FLOAT, row, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

eb_error eb_results_frame_precision(const eb_results *results, int run, const char *path,
                                    int *bytes) {
  hid_t set;
  *bytes = 0;
  EB_TRY(eb_results_locate(results, run, eb_results_set(results, run, path, &set)));
  if (set < 0) return EB_OK;
  hid_t type = H5Dget_type(set);
  *bytes = (int)H5Tget_size(type);
  H5Tclose(type);
  H5Dclose(set);
  return EB_OK;
}

bool eb_results_has_updates(const eb_results *results, int run) {
  return eb_results_has(results, run, EB_FRAME_UPDATES);
}

eb_error eb_results_updates(const eb_results *results, int run, size_t frame, uint8_t **out) {
  void *data;
  *out = NULL;
  if (!eb_results_has_updates(results, run)) return EB_OK;
  eb_h5_shape row = {1, {(hsize_t)eb_results_run(results, run)->elements}};
  eb_error error =
      eb_results_frame_row(results, run, EB_FRAME_UPDATES, frame, H5T_NATIVE_UINT8, row, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

/* Entries along the second axis of a dataset of frames; 0 when the run has none. */
static eb_error count_bodies(const eb_results *results, int run, const char *name, int32_t *count) {
  hsize_t size[EB_H5_AXES] = {0};
  hid_t set;
  *count = 0;
  EB_TRY(eb_results_set(results, run, name, &set));
  if (set < 0) return EB_OK;
  hid_t space = H5Dget_space(set);
  int rank = H5Sget_simple_extent_ndims(space);
  if (rank > 1 && rank <= EB_H5_AXES) H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  H5Dclose(set);
  if (size[1] == 0 || size[1] > EB_MAX_JOINTS)
    return EB_ERROR(EB_ERR_FORMAT, "%s is not of 1 to %d bodies", name, EB_MAX_JOINTS);
  *count = (int32_t)size[1];
  return EB_OK;
}

eb_error eb_results_bones(const eb_results *results, int run, size_t frame, int32_t *count,
                          float **out) {
  void *data = NULL;
  eb_error error = count_bodies(results, run, EB_FRAME_BONES, count);
  if (!error && *count > 0)
    error = eb_results_frame_row(results, run, EB_FRAME_BONES, frame, H5T_NATIVE_FLOAT,
                                 (eb_h5_shape){3, {(hsize_t)*count, 2, 3}}, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

eb_error eb_results_joints(const eb_results *results, int run, size_t frame, int32_t *count,
                           double **out) {
  void *data = NULL;
  eb_error error = count_bodies(results, run, EB_FRAME_JOINTS, count);
  if (!error && *count > 0)
    error = eb_results_frame_row(results, run, EB_FRAME_JOINTS, frame, H5T_NATIVE_DOUBLE,
                                 (eb_h5_shape){2, {(hsize_t)*count, 2}}, &data);
  *out = data;
  return eb_results_locate(results, run, error);
}

eb_error eb_results_check_frames(const eb_results *results, int run, size_t count) {
  const eb_run *about = eb_results_run(results, run);
  int32_t bones = 0, joints = 0;
  eb_error error = count_bodies(results, run, EB_FRAME_BONES, &bones);
  if (!error) error = count_bodies(results, run, EB_FRAME_JOINTS, &joints);
  const eb_h5_shape vectors = {2, {(hsize_t)about->nodes, 3}};
  const struct {
    const char *name;
    eb_h5_shape row;
  } sets[] = {{EB_FRAME_POSITIONS, vectors},
              {EB_FRAME_VELOCITIES, vectors},
              {EB_FRAME_UPDATES, {1, {(hsize_t)about->elements}}},
              {EB_FRAME_BONES, {3, {(hsize_t)bones, 2, 3}}},
              {EB_FRAME_JOINTS, {2, {(hsize_t)joints, 2}}}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets && !error; i++) {
    hid_t set;
    error = eb_results_set(results, run, sets[i].name, &set);
    if (error || set < 0) continue;
    hid_t space = H5Dget_space(set);
    error = eb_h5_check_rows(sets[i].name, space, count - 1, sets[i].row);
    H5Sclose(space);
    H5Dclose(set);
  }
  if (!error && !eb_results_has(results, run, EB_FRAME_POSITIONS))
    error = EB_ERROR(EB_ERR_LIBRARY, "the run has no dataset %s", EB_FRAME_POSITIONS);
  return eb_results_locate(results, run, error);
}
