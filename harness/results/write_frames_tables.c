/* The datasets of a run's frames: their names, types, units and meanings. */
#include "harness/results/colliders.h"
#include "harness/results/obstacles.h"
#include "harness/results/write_frames_data.h"

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

eb_error eb_frame_tables_open(eb_frame_writer *writer) {
  EB_TRY(open_motion(writer));
  EB_TRY(open_held(writer));
  EB_TRY(open_forces(writer));
  EB_TRY(open_surroundings(writer));
  return open_bodies(writer);
}

/* The first updates make the dataset; the frames before them had none. */
eb_error eb_frame_updates_open(eb_frame_writer *writer) {
  eb_table *table = &writer->tables[UPDATES_AT];
  if (table->set >= 0 || table->rows == 0) return EB_OK;
  EB_TRY(open_table(writer, UPDATES_AT, EB_FRAME_UPDATES, byte(),
                    (eb_h5_shape){1, {(hsize_t)writer->elements}}, "1",
                    "how often the solver has brought an element's matrix up to date since the "
                    "frame before; 255: that often and more"));
  return eb_h5_skip(table->set, table->name, writer->frames_before_updates);
}
