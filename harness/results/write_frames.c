#include "harness/results/write_frames_data.h"

#include <stdlib.h>
#include <string.h>

#include "harness/results/colliders.h"
#include "harness/results/obstacles.h"
#include "problems/base/memory.h"

/* What a node is to the solver, as the file has it. */
enum { FREE, SCRIPTED, ON_JOINTED_BODY, ON_FREE_BODY };

/* ---- life ------------------------------------------------------------------------------------ */

static eb_error fill(eb_frame_writer *writer) {
  size_t nodes = (size_t)writer->nodes;
  EB_TRY(EB_NEW(writer->vectors, 3 * nodes));
  EB_TRY(EB_NEW(writer->fixed, nodes));
  if (!writer->wide) EB_TRY(EB_NEW(writer->narrow, 3 * nodes));
  writer->tables[UPDATES_AT].width = (size_t)writer->elements;
  return eb_frame_tables_open(writer);
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

/* ---- a frame --------------------------------------------------------------------------------- */

static eb_error add_number(eb_frame_writer *writer, int at, double value) {
  return writer->tables[at].set < 0 ? EB_OK : eb_table_add(&writer->tables[at], &value, 1);
}

/* A field over the nodes there are; those that are still to be parted have what the node has that
 * they part from. */
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

/* Where nothing but weight acts, f_ext is the product m g as it is rounded: 0 is left, which takes
 * no room, and not what a fused multiplication and subtraction makes of it. */
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

/* ---- committing ------------------------------------------------------------------------------ */

static size_t waiting(const eb_table *tables, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += tables[i].rows * tables[i].width;
  return bytes;
}

size_t eb_frame_writer_waiting(const eb_frame_writer *writer) {
  return waiting(writer->tables, TABLES) + waiting(writer->contacts.tables, EB_CONTACT_TABLES);
}

eb_error eb_frame_writer_commit(eb_frame_writer *writer) {
  EB_TRY(eb_frame_updates_open(writer));
  for (int i = 0; i < TABLES; i++) EB_TRY(eb_table_commit(&writer->tables[i]));
  for (int i = 0; i < EB_CONTACT_TABLES; i++) EB_TRY(eb_table_commit(&writer->contacts.tables[i]));
  return EB_OK;
}
