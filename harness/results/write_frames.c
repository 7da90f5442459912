#include "harness/results/write_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/colliders.h"
#include "harness/results/obstacles.h"
#include "harness/results/write_contacts.h"
#include "problems/base/memory.h"

enum {
  POSITIONS_AT,
  VELOCITIES_AT,
  TIME_AT,
  STEP_AT,
  NODE_COUNT_AT,
  FIXED_AT,
  TARGET_AT,
  FORCE_AT,
  ACTIVATION_AT,
  COLLIDER_OFFSET_AT,
  COLLIDER_VELOCITY_AT,
  OBSTACLE_POSE_AT,
  UPDATES_AT,
  BONES_AT,
  JOINTS_AT,
  BODY_POSE_AT,
  BODY_TWIST_AT,
  TABLES
};

/* What a node is to the solver, as the file has it. */
enum { FREE, SCRIPTED, ON_JOINTED_BODY, ON_FREE_BODY };

struct eb_frame_writer {
  hid_t run;
  const eb_scene *scene;
  int32_t nodes, elements;
  const int32_t *parent;
  bool wide; /* in double precision */
  hsize_t frames_before_updates;
  double *vectors; /* nodes x 3 */
  float *narrow;   /* nodes x 3; NULL when wide */
  uint8_t *fixed;  /* nodes */
  bool has_contacts;
  eb_contact_writer contacts;
  eb_table tables[TABLES];
};

/* ---- tables ----------------------------------------------------------------------------------- */

typedef struct kind {
  hid_t stored, memory;
} kind;

static kind whole(void) {
  return (kind){H5T_STD_I64LE, H5T_NATIVE_DOUBLE};
}

static kind real(void) {
  return (kind){H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
}

static kind byte(void) {
  return (kind){H5T_STD_U8LE, H5T_NATIVE_UINT8};
}

/* Of what is large: fields over the mesh. */
static kind field(const eb_frame_writer *writer) {
  return writer->wide ? real() : (kind){H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
}

/* Chunks of some 64 KB: one row of a field over a mesh, many of a number. */
static hsize_t rows_per_chunk(kind type, eb_h5_shape row) {
  enum { CHUNK = 1 << 16, MOST = 256 };
  size_t bytes = H5Tget_size(type.stored);
  for (int i = 0; i < row.rank; i++) bytes *= (size_t)row.size[i];
  hsize_t rows = bytes > 0 ? CHUNK / bytes : MOST;
  return rows < 1 ? 1 : rows > MOST ? MOST : rows;
}

static eb_error open_table(eb_frame_writer *writer, int at, const char *path, kind type,
                           eb_h5_shape row, const char *unit, const char *meaning) {
  eb_table *table = &writer->tables[at];
  EB_TRY(eb_table_open(writer->run, path, type.stored, type.memory, row, rows_per_chunk(type, row),
                       unit, table));
  return eb_h5_put_text(table->set, "meaning", meaning);
}

static eb_h5_shape over_nodes(const eb_frame_writer *writer) {
  return (eb_h5_shape){2, {(hsize_t)writer->nodes, 3}};
}

static eb_error open_motion(eb_frame_writer *writer) {
  const eb_h5_shape single = {0};
  EB_TRY(open_table(writer, POSITIONS_AT, EB_FRAME_POSITIONS, field(writer), over_nodes(writer),
                    "m", "of the nodes"));
  EB_TRY(open_table(writer, VELOCITIES_AT, EB_FRAME_VELOCITIES, field(writer), over_nodes(writer),
                    "m/s", "of the nodes"));
  EB_TRY(open_table(writer, TIME_AT, "frames/time", real(), single, "s", "simulated time"));
  EB_TRY(open_table(writer, STEP_AT, "frames/step", whole(), single, "1",
                    "number of the step that ends here; 0 is the initial state"));
  if (!writer->parent) return EB_OK;
  return open_table(writer, NODE_COUNT_AT, "frames/node_count", whole(), single, "1",
                    "nodes of the mesh that the step was solved on; the copies behind them are "
                    "still their parents (mesh/parent)");
}

/* Whether a node may have a place that is not its own to choose. */
static bool holds_nodes(const eb_scene *scene) {
  return scene->ops->boundary || scene->articulation || scene->free_bodies;
}

static eb_error open_held(eb_frame_writer *writer) {
  if (!holds_nodes(writer->scene)) return EB_OK;
  EB_TRY(open_table(writer, FIXED_AT, "frames/fixed", byte(),
                    (eb_h5_shape){1, {(hsize_t)writer->nodes}}, "1",
                    "0 free, 1 scripted, 2 rides on a body of the articulation (or on the world), "
                    "3 rides on a free rigid body"));
  return open_table(writer, TARGET_AT, "frames/target", field(writer), over_nodes(writer), "m",
                    "where nodes that are not free belong at the time of the frame; 0 for free "
                    "nodes");
}

/* Whether f_ext can be more than the weight of the nodes. */
static bool pushes_nodes(const eb_scene *scene) {
  bool any = scene->contact || scene->ops->force;
  for (int32_t c = 0; c < scene->collider_count; c++) any = any || !scene->colliders[c].implicit;
  return any;
}

static eb_error open_forces(eb_frame_writer *writer) {
  const eb_scene *scene = writer->scene;
  if (pushes_nodes(scene))
    EB_TRY(open_table(writer, FORCE_AT, "frames/force", field(writer), over_nodes(writer), "N",
                      "f_ext less the weight m g of the nodes: explicit penalty contact and "
                      "scripted forces, taken at the start of the step that ends at this frame"));
  if (scene->ops->activation)
    EB_TRY(open_table(writer, ACTIVATION_AT, "frames/activation", real(), (eb_h5_shape){0}, "1",
                      "of the fibres of all regions, in place of materials/activation"));
  writer->has_contacts = (eb_scene_needs(scene) & EB_CAP_CONTACT) != 0;
  if (!writer->has_contacts) return EB_OK;
  return eb_contact_writer_open(writer->run, writer->nodes, writer->wide, &writer->contacts);
}

static eb_error open_surroundings(eb_frame_writer *writer) {
  const eb_scene *scene = writer->scene;
  eb_h5_shape colliders = {2, {(hsize_t)scene->collider_count, 3}};
  eb_h5_shape poses = {2, {(hsize_t)scene->obstacle_count, EB_OBSTACLE_POSE_COLUMNS}};
  if (scene->collider_count > 0) {
    EB_TRY(open_table(writer, COLLIDER_OFFSET_AT, EB_COLLIDER_OFFSET, real(), colliders, "m",
                      "of each collider's origin from colliders/origin"));
    EB_TRY(open_table(writer, COLLIDER_VELOCITY_AT, "frames/collider_velocity", real(), colliders,
                      "m/s", "of each collider, which does not turn"));
  }
  if (scene->obstacle_count == 0) return EB_OK;
  return open_table(writer, OBSTACLE_POSE_AT, EB_OBSTACLE_POSE, real(), poses, "1, m",
                    "rotation (row-major, 9 numbers) and shift (3): x = rotation X + shift");
}

static eb_error open_bodies(eb_frame_writer *writer) {
  const eb_scene *scene = writer->scene;
  if (scene->articulation) {
    hsize_t joints = (hsize_t)eb_articulation_joints(scene->articulation);
    eb_h5_shape bones = {3, {joints, 2, 3}}, angles = {2, {joints, 2}};
    EB_TRY(open_table(writer, BONES_AT, EB_FRAME_BONES, (kind){H5T_IEEE_F32LE, H5T_NATIVE_FLOAT},
                      bones, "m", "pivot and tip"));
    EB_TRY(open_table(writer, JOINTS_AT, EB_FRAME_JOINTS, real(), angles, "rad, rad/s",
                      "angle and its rate"));
  }
  if (!scene->free_bodies) return EB_OK;
  hsize_t bodies = (hsize_t)scene->free_bodies->count;
  EB_TRY(open_table(writer, BODY_POSE_AT, "frames/body_pose", real(), (eb_h5_shape){2, {bodies, 7}},
                    "m, 1",
                    "px py pz qw qx qy qz: centre of mass p and unit quaternion q; "
                    "x = p + R(q) (X - free_bodies/centre)"));
  return open_table(writer, BODY_TWIST_AT, "frames/body_twist", real(),
                    (eb_h5_shape){2, {bodies, 6}}, "m/s, rad/s",
                    "vx vy vz wx wy wz: velocity of the centre of mass and angular velocity in "
                    "world axes");
}

static eb_error fill(eb_frame_writer *writer) {
  size_t nodes = (size_t)writer->nodes;
  EB_TRY(EB_NEW(writer->vectors, 3 * nodes));
  EB_TRY(EB_NEW(writer->fixed, nodes));
  if (!writer->wide) EB_TRY(EB_NEW(writer->narrow, 3 * nodes));
  writer->tables[UPDATES_AT].width = (size_t)writer->elements;
  EB_TRY(open_motion(writer));
  EB_TRY(open_held(writer));
  EB_TRY(open_forces(writer));
  EB_TRY(open_surroundings(writer));
  return open_bodies(writer);
}

eb_error eb_frame_writer_create(hid_t run, const eb_scene *scene, int32_t nodes,
                                const int32_t *parent, eb_frames which, eb_frame_writer **out) {
  eb_frame_writer *writer;
  *out = NULL;
  EB_TRY(EB_NEW(writer, 1));
  writer->run = run;
  writer->scene = scene;
  writer->nodes = nodes;
  writer->elements = scene->mesh->element_count;
  writer->parent = parent;
  writer->wide = which == EB_FRAMES_ALL;
  for (int i = 0; i < TABLES; i++) writer->tables[i].set = -1;
  for (int i = 0; i < EB_CONTACT_TABLES; i++) writer->contacts.tables[i].set = -1;
  eb_error error = fill(writer);
  if (error) {
    eb_frame_writer_destroy(writer);
    return error;
  }
  *out = writer;
  return EB_OK;
}

void eb_frame_writer_close(eb_frame_writer *writer) {
  for (int i = 0; i < TABLES; i++) eb_table_close(&writer->tables[i]);
  for (int i = 0; i < EB_CONTACT_TABLES; i++) eb_table_close(&writer->contacts.tables[i]);
}

void eb_frame_writer_destroy(eb_frame_writer *writer) {
  if (!writer) return;
  eb_frame_writer_close(writer);
  for (int i = 0; i < TABLES; i++) free(writer->tables[i].data);
  for (int i = 0; i < EB_CONTACT_TABLES; i++) free(writer->contacts.tables[i].data);
  free(writer->vectors);
  free(writer->narrow);
  free(writer->fixed);
  free(writer);
}

/* ---- a frame ---------------------------------------------------------------------------------- */

static eb_error add_number(eb_frame_writer *writer, int at, double value) {
  return writer->tables[at].set < 0 ? EB_OK : eb_table_add(&writer->tables[at], &value, 1);
}

/* A field over the nodes there are; those that are still to be parted have what the node has that they part from. */
static eb_error add_vectors(eb_frame_writer *writer, int at, const double *values, int32_t count) {
  double *all = writer->vectors;
  if (all != values) memcpy(all, values, 3 * (size_t)count * sizeof *all);
  for (int32_t i = count; i < writer->nodes; i++)
    memcpy(all + 3 * (size_t)i, all + 3 * (size_t)writer->parent[i], 3 * sizeof *all);
  for (size_t k = 0; writer->narrow && k < 3 * (size_t)writer->nodes; k++)
    writer->narrow[k] = (float)all[k];
  return eb_table_add(&writer->tables[at], writer->narrow ? (void *)writer->narrow : all, 1);
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

static eb_error add_held(eb_frame_writer *writer, const eb_state *state) {
  if (writer->tables[FIXED_AT].set < 0) return EB_OK;
  find_held(writer, state);
  for (int32_t i = state->node_count; i < writer->nodes; i++)
    writer->fixed[i] = writer->fixed[writer->parent[i]];
  EB_TRY(eb_table_add(&writer->tables[FIXED_AT], writer->fixed, 1));
  return add_vectors(writer, TARGET_AT, writer->vectors, state->node_count);
}

/* Where nothing but weight acts, f_ext is the product m g as it is rounded: 0 is left, which takes no room, and not what a fused multiplication and
 * subtraction makes of it. */
static eb_error add_force(eb_frame_writer *writer, const eb_state *before) {
  const eb_scene *scene = writer->scene;
  if (writer->tables[FORCE_AT].set < 0) return EB_OK;
  if (!before) return eb_table_add(&writer->tables[FORCE_AT], NULL, 1);
  const double *mass = eb_elasticity_mass(scene->elasticity);
  eb_scene_force(scene, before->time, before->x, before->v, writer->vectors);
  for (size_t k = 0; k < 3 * (size_t)before->node_count; k++) {
    double *f = &writer->vectors[k], weight = mass[k / 3] * scene->gravity[k % 3];
    *f = *f == weight ? 0 : *f - weight;
  }
  return add_vectors(writer, FORCE_AT, writer->vectors, before->node_count);
}

static eb_error add_surroundings(eb_frame_writer *writer, double time) {
  const eb_scene *scene = writer->scene;
  double offsets[3 * EB_MAX_COLLIDERS], velocities[3 * EB_MAX_COLLIDERS];
  double poses[EB_OBSTACLE_POSE_COLUMNS * EB_MAX_OBSTACLES];
  if (writer->tables[COLLIDER_OFFSET_AT].set >= 0) {
    eb_colliders_motion(scene->colliders, scene->collider_count, time, offsets, velocities);
    EB_TRY(eb_table_add(&writer->tables[COLLIDER_OFFSET_AT], offsets, 1));
    EB_TRY(eb_table_add(&writer->tables[COLLIDER_VELOCITY_AT], velocities, 1));
  }
  if (writer->tables[OBSTACLE_POSE_AT].set < 0) return EB_OK;
  eb_obstacles_poses(scene->obstacles, scene->obstacle_count, time, poses);
  return eb_table_add(&writer->tables[OBSTACLE_POSE_AT], poses, 1);
}

static eb_error add_articulation(eb_frame_writer *writer, const eb_state *state) {
  float bones[EB_MAX_JOINTS][2][3];
  double joints[EB_MAX_JOINTS][2], pivot[3], tip[3];
  if (!writer->scene->articulation) return EB_OK;
  for (int32_t j = 0; j < state->joint_count; j++) {
    eb_articulation_bone(writer->scene->articulation, state->q, j, pivot, tip);
    for (int d = 0; d < 3; d++) {
      bones[j][0][d] = (float)pivot[d];
      bones[j][1][d] = (float)tip[d];
    }
    joints[j][0] = state->q[j];
    joints[j][1] = state->u[j];
  }
  EB_TRY(eb_table_add(&writer->tables[BONES_AT], bones, 1));
  return eb_table_add(&writer->tables[JOINTS_AT], joints, 1);
}

static eb_error add_free_bodies(eb_frame_writer *writer, const eb_state *state) {
  if (writer->tables[BODY_POSE_AT].set < 0) return EB_OK;
  EB_TRY(eb_table_add(&writer->tables[BODY_POSE_AT], state->pose, 1));
  return eb_table_add(&writer->tables[BODY_TWIST_AT], state->twist, 1);
}

static bool any(const uint8_t *updates, int32_t elements) {
  for (int32_t e = 0; updates && e < elements; e++)
    if (updates[e]) return true;
  return false;
}

static eb_error add_updates(eb_frame_writer *writer, const uint8_t *updates) {
  eb_table *table = &writer->tables[UPDATES_AT];
  bool begun = table->set >= 0 || table->rows > 0;
  if (!begun && !any(updates, writer->elements)) {
    writer->frames_before_updates++;
    return EB_OK;
  }
  return eb_table_add(table, updates, 1);
}

eb_error eb_frame_writer_add(eb_frame_writer *writer, const eb_frame *frame) {
  const eb_state *state = frame->state;
  if (state->node_count != writer->scene->mesh->node_count)
    return EB_ERROR(EB_ERR_INVALID, "a frame has %d nodes where the mesh has %d", state->node_count,
                    writer->scene->mesh->node_count);
  EB_TRY(add_vectors(writer, POSITIONS_AT, state->x, state->node_count));
  EB_TRY(add_vectors(writer, VELOCITIES_AT, state->v, state->node_count));
  EB_TRY(add_number(writer, TIME_AT, state->time));
  EB_TRY(add_number(writer, STEP_AT, (double)state->step));
  EB_TRY(add_number(writer, NODE_COUNT_AT, state->node_count));
  EB_TRY(add_held(writer, state));
  EB_TRY(add_force(writer, frame->before));
  if (writer->tables[ACTIVATION_AT].set >= 0)
    EB_TRY(add_number(writer, ACTIVATION_AT,
                      writer->scene->ops->activation(writer->scene, state->time)));
  if (writer->has_contacts) EB_TRY(eb_contact_writer_add(&writer->contacts, frame->contacts));
  EB_TRY(add_surroundings(writer, state->time));
  EB_TRY(add_updates(writer, frame->updates));
  EB_TRY(add_articulation(writer, state));
  return add_free_bodies(writer, state);
}

/* ---- committing ------------------------------------------------------------------------------- */

static size_t waiting(const eb_table *tables, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += tables[i].rows * tables[i].width;
  return bytes;
}

size_t eb_frame_writer_waiting(const eb_frame_writer *writer) {
  return waiting(writer->tables, TABLES) + waiting(writer->contacts.tables, EB_CONTACT_TABLES);
}

/* The first updates make the dataset; the frames before them had none. */
static eb_error open_updates(eb_frame_writer *writer) {
  eb_table *table = &writer->tables[UPDATES_AT];
  if (table->set >= 0 || table->rows == 0) return EB_OK;
  EB_TRY(open_table(writer, UPDATES_AT, EB_FRAME_UPDATES, byte(),
                    (eb_h5_shape){1, {(hsize_t)writer->elements}}, "1",
                    "how often the solver has brought an element's matrix up to date since the "
                    "frame before; 255: that often and more"));
  return eb_h5_skip(table->set, table->name, writer->frames_before_updates);
}

eb_error eb_frame_writer_commit(eb_frame_writer *writer) {
  EB_TRY(open_updates(writer));
  for (int i = 0; i < TABLES; i++) EB_TRY(eb_table_commit(&writer->tables[i]));
  for (int i = 0; i < EB_CONTACT_TABLES; i++) EB_TRY(eb_table_commit(&writer->contacts.tables[i]));
  return EB_OK;
}
