#include "harness/results/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "harness/results/read.h"
#include "harness/results/scene.h"
#include "harness/results/table.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"
#include "problems/contact/implicit_penalty.h"
#include "problems/contact_record.h"
#include "problems/subspace_record.h"

/* What a node is to the solver, as the file has it. */
enum { FREE, SCRIPTED, ON_JOINTED_BODY, ON_FREE_BODY };

/* ---- the datasets ---------------------------------------------------------------------------- */

/* The tables of a run beside the columns of its steps. */
enum {
  RESIDUALS,
  RESIDUAL_SECONDS,
  OFFSETS,
  ROUNDS,
  ROUND_OFFSETS,
  POSITIONS, /* of frames */
  VELOCITIES,
  TIME,
  STEP,
  NODE_COUNT,
  FIXED,
  TARGET,
  FORCE,
  UNFILTERED,
  ACTIVATION,
  SPRING_PLACE,
  SPRING_STIFFNESS,
  OFFSETS_OF_COLLIDERS,
  TURNS_OF_COLLIDERS,
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
  CHECKPOINT_STEP, /* of checkpoints, from here on */
  CHECKPOINT_TIME,
  CHECKPOINT_BEGAN,
  CHECKPOINT_NODES,
  CHECKPOINT_POSITIONS,
  CHECKPOINT_VELOCITIES,
  CHECKPOINT_ANGLES,
  CHECKPOINT_RATES,
  CHECKPOINT_POSES,
  CHECKPOINT_TWISTS,
  TABLES
};

/* What is large, fields over the mesh and over contacts, is wide where every frame is stored, so
 * that audits can be recomputed from it: of double precision. */
static const struct {
  eb_dataset what;
  bool widens;
} datasets[TABLES] = {
    [RESIDUALS] = {{"residuals/values", "see norm", EB_REAL, NULL}, false},
    [RESIDUAL_SECONDS] = {{"residuals/seconds", "s", EB_REAL, NULL}, false},
    [OFFSETS] = {{"residuals/offsets", "1", EB_WHOLE, NULL}, false},
    [ROUNDS] = {{"residuals/rounds", "1", EB_WHOLE, NULL}, false},
    [ROUND_OFFSETS] = {{"residuals/round_offsets", "1", EB_WHOLE, NULL}, false},
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
    [UNFILTERED] = {{"frames/unfiltered", "m/s", EB_ROUNDED,
                     "velocities that the equation of the step that ends at this frame has, where "
                     "friction of implicit colliders filters them; else its own"},
                    true},
    [ACTIVATION] = {{"frames/activation", "1", EB_REAL,
                     "of the fibres of all regions, in place of materials/activation"},
                    false},
    [SPRING_PLACE] = {{"frames/spring_place", "m", EB_REAL, "that each spring pulls its node to"},
                      false},
    [SPRING_STIFFNESS] = {{"frames/spring_stiffness", "N/m", EB_REAL,
                           "k of each spring, whose force on its node is k (spring_place - x)"},
                          false},
    [OFFSETS_OF_COLLIDERS] = {{EB_COLLIDER_OFFSET, "m", EB_REAL,
                               "of each collider's origin from colliders/origin"},
                              false},
    [VELOCITIES_OF_COLLIDERS] = {{"frames/collider_velocity", "m/s", EB_REAL,
                                  "of each collider, at its offset where it turns"},
                                 false},
    [TURNS_OF_COLLIDERS] = {{EB_COLLIDER_TURN, "1, rad/s", EB_REAL,
                             "of each collider: rotation (row-major, 9 numbers) and spin (3): x = "
                             "rotation X + offset, v = velocity + spin x (x - offset)"},
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
                true},
    [CHECKPOINT_STEP] = {{"checkpoints/step", "1", EB_WHOLE,
                          "the state is that after this step; 0: before any"},
                         false},
    [CHECKPOINT_TIME] = {{"checkpoints/time", "s", EB_REAL, "simulated time of the state"}, false},
    [CHECKPOINT_BEGAN] = {{"checkpoints/began", "s", EB_REAL,
                           "when the step began that ended there"},
                          false},
    [CHECKPOINT_NODES] = {{"checkpoints/node_count", "1", EB_WHOLE,
                           "nodes of the mesh there; rows behind are 0"},
                          false},
    [CHECKPOINT_POSITIONS] = {{"checkpoints/positions", "m", EB_REAL, "of the nodes"}, false},
    [CHECKPOINT_VELOCITIES] = {{"checkpoints/velocities", "m/s", EB_REAL, "of the nodes"}, false},
    [CHECKPOINT_ANGLES] = {{"checkpoints/angles", "rad", EB_REAL, "of the joints"}, false},
    [CHECKPOINT_RATES] = {{"checkpoints/rates", "rad/s", EB_REAL, "of the joints"}, false},
    [CHECKPOINT_POSES] = {{"checkpoints/body_pose", "m, 1", EB_REAL, "as frames/body_pose"}, false},
    [CHECKPOINT_TWISTS] = {
        {"checkpoints/body_twist", "m/s, rad/s", EB_REAL, "as frames/body_twist"}, false}};

/* The columns of a group, a row a step. */
typedef struct series {
  char group[80];
  bool drop_zeros; /* a column of zeros is left out */
  int count;
  size_t rows;
  eb_table *tables;
} series;
enum { STEPS, PHASES, COUNTERS, EVERY_RUN }; /* the first groups */

struct eb_recorder {
  char *path;
  hid_t file, run;
  bool has_tables;
  int64_t residuals, rounds; /* total so far */
  char norm[128];
  int32_t nodes;   /* of the mesh that frames are stored on */
  int32_t *parent; /* nodes: as eb_scene_final_mesh has it; NULL when nothing is cut */
  const eb_scene *scene;
  bool wide; /* frames in double precision */
  hsize_t frames_before_updates;
  int64_t contacts; /* stored with frames so far */
  double *vectors;  /* nodes x 3: work space */
  double *springs;  /* springs x 4: work space */
  uint8_t *fixed;   /* nodes: work space */
  eb_table tables[TABLES];
  series *series;
  int series_count;
};

enum { ROWS_PER_CHUNK = 256 };

static eb_error make_group(hid_t where, const char *path) {
  hid_t group;
  EB_TRY(eb_h5_group(where, path, &group));
  H5Gclose(group);
  return EB_OK;
}

/* ---- columns of steps ------------------------------------------------------------------------ */

/* Columns that every run has are explained in schema.md alone: a million runs would repeat it. */
static eb_error open_columns(hid_t run, series *s) {
  eb_schema_entry column;
  while (eb_schema_column(s->group, s->count, &column)) s->count++;
  EB_TRY(EB_NEW(s->tables, s->count));
  eb_tables_start(s->tables, s->count);
  for (int i = 0; eb_schema_column(s->group, i, &column); i++) {
    bool told = column.absence == EB_ABSENT_GROUP;
    const eb_dataset what = {column.path, column.unit, column.whole ? EB_WHOLE : EB_REAL,
                             told ? column.meaning : NULL};
    s->drop_zeros = column.absence == EB_ABSENT_AS_ZERO;
    EB_TRY(eb_table_open(run, &what, (eb_h5_shape){0}, ROWS_PER_CHUNK, &s->tables[i]));
  }
  return EB_OK;
}

static eb_error open_series(eb_recorder *recorder, const char *group) {
  size_t count = (size_t)recorder->series_count;
  series *grown = eb_recalloc(recorder->series, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot record %s: out of memory", group);
  recorder->series = grown;
  recorder->series_count++;
  snprintf(grown[count].group, sizeof grown[count].group, "%s", group);
  char parent[80];
  snprintf(parent, sizeof parent, "%.*s", (int)strcspn(group, "/"), group);
  EB_TRY(make_group(recorder->run, parent));
  EB_TRY(make_group(recorder->run, group));
  return open_columns(recorder->run, &grown[count]);
}

static series *find_series(const eb_recorder *recorder, const char *group) {
  for (int i = 0; i < recorder->series_count; i++)
    if (strcmp(recorder->series[i].group, group) == 0) return &recorder->series[i];
  return NULL;
}

static eb_error add_columns(series *s, const double *row) {
  for (int i = 0; i < s->count; i++) EB_TRY(eb_table_add(&s->tables[i], &row[i], 1));
  s->rows++;
  return EB_OK;
}

/* Rows of NaN up to so many. */
static eb_error pad_series(series *s, size_t rows) {
  static const double none = NAN;
  for (; s->rows < rows; s->rows++)
    for (int i = 0; i < s->count; i++) EB_TRY(eb_table_add(&s->tables[i], &none, 1));
  return EB_OK;
}

eb_error eb_recorder_open(eb_recorder *recorder, const char *group) {
  return recorder ? open_series(recorder, group) : EB_OK;
}

eb_error eb_recorder_row(eb_recorder *recorder, const char *group, const double *row) {
  if (!recorder) return EB_OK;
  if (!find_series(recorder, group)) EB_TRY(open_series(recorder, group));
  series *s = find_series(recorder, group);
  EB_TRY(pad_series(s, recorder->series[STEPS].rows - 1));
  return add_columns(s, row);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static eb_error open_tables(eb_recorder *recorder) {
  static const char *const groups[] = {"setup", "residuals", "frames"};
  static const char *const of_steps[EVERY_RUN] = {"steps", "phases", "counters"};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    EB_TRY(make_group(recorder->run, groups[i]));
  for (int i = 0; i < EVERY_RUN; i++) EB_TRY(open_series(recorder, of_steps[i]));
  for (int i = 0; i < POSITIONS; i++)
    EB_TRY(eb_table_open(recorder->run, &datasets[i].what, (eb_h5_shape){0}, ROWS_PER_CHUNK,
                         &recorder->tables[i]));
  return EB_OK;
}

static eb_error add_number(eb_recorder *recorder, int at, double value) {
  return eb_table_add(&recorder->tables[at], &value, 1);
}

/* ---- tables of frames ------------------------------------------------------------------------ */

/* Chunks of some 64 KB: one row of a field over a mesh, many of a number. */
static eb_error open_frame_table(eb_recorder *recorder, int at, eb_h5_shape row) {
  enum { CHUNK = 1 << 16, MOST = 256, OF_CONTACTS = 512 };
  eb_dataset what = datasets[at].what;
  if (recorder->wide && datasets[at].widens) what.number = EB_REAL;
  hsize_t bytes = what.number == EB_ROUNDED ? 4 : what.number == EB_BYTE ? 1 : 8;
  for (int i = 0; i < row.rank; i++) bytes *= row.size[i];
  hsize_t rows = bytes > CHUNK ? 1 : bytes > 0 && CHUNK / bytes < MOST ? CHUNK / bytes : MOST;
  return eb_table_open(recorder->run, &what, row, at < CONTACT_OFFSETS ? rows : OF_CONTACTS,
                       &recorder->tables[at]);
}

/* Opens every table that the scene has anything for. */
static eb_error open_frame_tables(eb_recorder *recorder) {
  const eb_scene *scene = recorder->scene;
  hsize_t nodes = (hsize_t)recorder->nodes, colliders = (hsize_t)scene->contacts.collider_count,
          joints = 0, bodies = 0, springs = (hsize_t)scene->script.spring_count;
  if (scene->rigid.articulation)
    joints = (hsize_t)eb_articulation_joints(scene->rigid.articulation);
  if (scene->rigid.free_bodies) bodies = (hsize_t)scene->rigid.free_bodies->count;
  bool holds_nodes = scene->ops->boundary || scene->rigid.articulation || scene->rigid.free_bodies;
  bool pushes_nodes =
      scene->contacts.penalty || scene->script.load_count > 0; /* f_ext can be more than weight */
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    pushes_nodes = pushes_nodes || !scene->contacts.colliders[c].implicit;
  bool filters = recorder->wide && eb_implicit_room(scene) > 0;
  bool contacts = (eb_scene_needs(scene) & EB_CAP_CONTACT) != 0;
  const eb_h5_shape single = {0}, vectors = {2, {nodes, 3}}, four = {1, {4}}, three = {1, {3}},
                    moved = {2, {colliders, 3}};
  bool turns = false;
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    turns = turns || scene->contacts.colliders[c].turn;
  const struct {
    int at;
    bool there;
    eb_h5_shape row;
  } tables[] = {{POSITIONS, true, vectors},
                {VELOCITIES, true, vectors},
                {TIME, true, single},
                {STEP, true, single},
                {NODE_COUNT, recorder->parent != NULL, single},
                {FIXED, holds_nodes, {1, {nodes}}},
                {TARGET, holds_nodes, vectors},
                {FORCE, pushes_nodes, vectors},
                {UNFILTERED, filters, vectors},
                {ACTIVATION, scene->ops->activation != NULL, single},
                {SPRING_PLACE, springs > 0, {2, {springs, 3}}},
                {SPRING_STIFFNESS, springs > 0, {1, {springs}}},
                {OFFSETS_OF_COLLIDERS, colliders > 0, moved},
                {VELOCITIES_OF_COLLIDERS, colliders > 0, moved},
                {TURNS_OF_COLLIDERS, turns, {2, {colliders, EB_COLLIDER_TURN_COLUMNS}}},
                {POSES_OF_OBSTACLES,
                 scene->contacts.obstacle_count > 0,
                 {2, {(hsize_t)scene->contacts.obstacle_count, EB_OBSTACLE_POSE_COLUMNS}}},
                {BONES, scene->rigid.articulation != NULL, {3, {joints, 2, 3}}},
                {JOINTS, scene->rigid.articulation != NULL, {2, {joints, 2}}},
                {BODY_POSES, scene->rigid.free_bodies != NULL, {2, {bodies, 7}}},
                {BODY_TWISTS, scene->rigid.free_bodies != NULL, {2, {bodies, 6}}},
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
  if (contacts) EB_TRY(make_group(recorder->run, "frames/contacts"));
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (tables[i].there) EB_TRY(open_frame_table(recorder, tables[i].at, tables[i].row));
  return contacts ? eb_table_add(&recorder->tables[CONTACT_OFFSETS], &recorder->contacts, 1)
                  : EB_OK;
}

/* ---- a frame --------------------------------------------------------------------------------- */

static bool is_open(const eb_recorder *recorder, int at) {
  return recorder->tables[at].set >= 0;
}

/* A row of a table, when the scene has it. */
static eb_error add_row(eb_recorder *recorder, int at, const void *row) {
  return is_open(recorder, at) ? eb_table_add(&recorder->tables[at], row, 1) : EB_OK;
}

/* A field over the nodes there are; those that are still to be parted have what the node has that
 * they part from. */
static eb_error add_vectors(eb_recorder *recorder, int at, const double *values, int32_t count) {
  double *all = recorder->vectors;
  if (all != values) memcpy(all, values, 3 * (size_t)count * sizeof *all);
  for (int32_t i = count; i < recorder->nodes; i++)
    memcpy(all + 3 * (size_t)i, all + 3 * (size_t)recorder->parent[i], 3 * sizeof *all);
  return eb_table_add(&recorder->tables[at], all, 1);
}

/* Carried nodes belong to their bodies even when they are scripted, too. */
static void find_held(eb_recorder *recorder, const eb_state *state) {
  const eb_scene *scene = recorder->scene;
  uint8_t *fixed = recorder->fixed;
  double *target = recorder->vectors;
  eb_scene_boundary(scene, state->time, fixed, target);
  for (int32_t i = 0; i < state->node_count; i++) {
    if (fixed[i]) fixed[i] = SCRIPTED;
    if (!fixed[i]) memset(target + 3 * (size_t)i, 0, 3 * sizeof *target);
  }
  for (int32_t k = 0;
       scene->rigid.articulation && k < eb_articulation_attached(scene->rigid.articulation); k++) {
    int32_t node = eb_articulation_node(scene->rigid.articulation, k);
    fixed[node] = ON_JOINTED_BODY;
    eb_articulation_place(scene->rigid.articulation, state->q, k, target + 3 * (size_t)node, NULL);
  }
  if (!scene->rigid.free_bodies) return;
  eb_free_bodies_place(scene->rigid.free_bodies, scene->mesh->X, state->pose, state->twist, target,
                       NULL);
  for (int32_t i = 0; i < state->node_count; i++)
    if (scene->rigid.free_bodies->of_node[i] >= 0) fixed[i] = ON_FREE_BODY;
}

/* The same as another has found it (eb_frame.held). */
static void take_held(eb_recorder *recorder, const double *held) {
  for (size_t i = 0; i < (size_t)recorder->nodes; i++) {
    recorder->fixed[i] = held[4 * i] != 0 ? SCRIPTED : FREE;
    memcpy(recorder->vectors + 3 * i, held + 4 * i + 1, 3 * sizeof *held);
  }
}

/* Where nothing but weight acts, f_ext is the product m g as it is rounded: 0 is left, which takes
 * no room, and not what a fused multiplication and subtraction makes of it. */
void eb_force_beyond_weight(const eb_scene *scene, const eb_state *before, double *force) {
  const double *mass = eb_elasticity_mass(scene->elasticity);
  eb_scene_force(scene, before->time, before->x, before->v, force);
  for (size_t k = 0; k < 3 * (size_t)before->node_count; k++) {
    double weight = mass[k / 3] * scene->gravity[k % 3];
    force[k] = force[k] == weight ? 0 : force[k] - weight;
  }
}

static eb_error add_force(eb_recorder *recorder, const eb_frame *frame) {
  const eb_state *before = frame->before;
  if (is_open(recorder, FORCE) && frame->force)
    return add_vectors(recorder, FORCE, frame->force, frame->state->node_count);
  if (!is_open(recorder, FORCE) || !before) return add_row(recorder, FORCE, NULL);
  eb_force_beyond_weight(recorder->scene, before, recorder->vectors);
  return add_vectors(recorder, FORCE, recorder->vectors, before->node_count);
}

static eb_error add_springs(eb_recorder *recorder, double time) {
  double *place = recorder->springs,
         *stiffness = place + 3 * (size_t)recorder->scene->script.spring_count;
  eb_scene_springs(recorder->scene, time, NULL, place, stiffness);
  EB_TRY(add_row(recorder, SPRING_PLACE, place));
  return add_row(recorder, SPRING_STIFFNESS, stiffness);
}

/* Colliders, obstacles and rigid bodies. */
static eb_error add_rigid(eb_recorder *recorder, const eb_state *state) {
  const eb_scene *scene = recorder->scene;
  double offsets[EB_MAX_COLLIDERS][3] = {{0}}, velocities[EB_MAX_COLLIDERS][3] = {{0}};
  double turns[EB_MAX_COLLIDERS][EB_COLLIDER_TURN_COLUMNS] = {{0}};
  double poses[EB_MAX_OBSTACLES][EB_OBSTACLE_POSE_COLUMNS];
  double bones[EB_MAX_JOINTS][2][3], joints[EB_MAX_JOINTS][2];
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    eb_pose pose;
    (void)eb_collider_pose(collider, state->time, &pose);
    memcpy(offsets[c], pose.shift, sizeof pose.shift);
    memcpy(velocities[c], pose.velocity, sizeof pose.velocity);
    memcpy(turns[c], pose.rotation, sizeof pose.rotation);
    memcpy(turns[c] + 9, pose.spin, sizeof pose.spin);
  }
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    eb_obstacle_pose(&scene->contacts.obstacles[o], state->time, poses[o], poses[o] + 9);
  for (int32_t j = 0; scene->rigid.articulation && j < state->joint_count; j++) {
    eb_articulation_bone(scene->rigid.articulation, state->q, j, bones[j][0], bones[j][1]);
    joints[j][0] = state->q[j];
    joints[j][1] = state->u[j];
  }
  EB_TRY(add_row(recorder, OFFSETS_OF_COLLIDERS, offsets));
  EB_TRY(add_row(recorder, VELOCITIES_OF_COLLIDERS, velocities));
  EB_TRY(add_row(recorder, TURNS_OF_COLLIDERS, turns));
  EB_TRY(add_row(recorder, POSES_OF_OBSTACLES, poses));
  EB_TRY(add_row(recorder, BONES, bones));
  EB_TRY(add_row(recorder, JOINTS, joints));
  EB_TRY(add_row(recorder, BODY_POSES, state->pose));
  return add_row(recorder, BODY_TWISTS, state->twist);
}

/* The first updates begin the table, whose dataset eb_recorder_commit makes; the frames before
 * them had none. */
static eb_error add_updates(eb_recorder *recorder, const uint8_t *updates) {
  eb_table *table = &recorder->tables[UPDATES];
  bool begun = table->set >= 0 || table->rows > 0;
  for (size_t e = 0; updates && !begun && e < table->width; e++) begun = updates[e] > 0;
  if (begun) return eb_table_add(table, updates, 1);
  recorder->frames_before_updates++;
  return EB_OK;
}

/* The contacts of a step, or none of NULL. Vertices of obstacles are counted from the stored nodes
 * on. */
static eb_error add_contacts(eb_recorder *recorder, const eb_contact_record *record) {
  static const eb_contact_record none;
  if (!record) record = &none;
  size_t count = record->count > 0 ? (size_t)record->count : 0;
  int32_t shift = recorder->nodes - record->nodes;
  for (size_t k = 0; k < count; k++) {
    int32_t vertex[4];
    for (int i = 0; i < 4; i++) {
      vertex[i] = record->pair[k].vertex[i];
      if (vertex[i] >= record->nodes) vertex[i] += shift;
    }
    EB_TRY(add_row(recorder, KIND, &record->pair[k].kind));
    EB_TRY(add_row(recorder, VERTICES, vertex));
  }
  EB_TRY(eb_table_add(&recorder->tables[WEIGHT], record->weight, count));
  EB_TRY(eb_table_add(&recorder->tables[FRAME], record->frame, count));
  EB_TRY(eb_table_add(&recorder->tables[CONTACT_FORCE], record->r, count));
  EB_TRY(eb_table_add(&recorder->tables[DEMAND], record->c, count));
  EB_TRY(add_row(recorder, GAP, &record->gap));
  EB_TRY(add_row(recorder, EPS1, &record->eps1));
  EB_TRY(add_row(recorder, EPS2, &record->eps2));
  EB_TRY(add_row(recorder, CONE, &record->cone));
  EB_TRY(add_row(recorder, ANGLE, &record->angle));
  recorder->contacts += (int64_t)count;
  return add_row(recorder, CONTACT_OFFSETS, &recorder->contacts);
}

static eb_error add_frame(eb_recorder *recorder, const eb_frame *frame) {
  const eb_state *state = frame->state;
  const eb_scene *scene = recorder->scene;
  double step = (double)state->step, nodes = state->node_count;
  if (state->node_count != scene->mesh->node_count)
    return EB_ERROR(EB_ERR_INVALID, "a frame has %d nodes where the mesh has %d", state->node_count,
                    scene->mesh->node_count);
  EB_TRY(add_vectors(recorder, POSITIONS, state->x, state->node_count));
  EB_TRY(add_vectors(recorder, VELOCITIES, state->v, state->node_count));
  EB_TRY(add_row(recorder, TIME, &state->time));
  EB_TRY(add_row(recorder, STEP, &step));
  EB_TRY(add_row(recorder, NODE_COUNT, &nodes));
  if (is_open(recorder, FIXED)) {
    if (frame->held)
      take_held(recorder, frame->held);
    else
      find_held(recorder, state);
    for (int32_t i = state->node_count; i < recorder->nodes; i++)
      recorder->fixed[i] = recorder->fixed[recorder->parent[i]];
    EB_TRY(add_row(recorder, FIXED, recorder->fixed));
    EB_TRY(add_vectors(recorder, TARGET, recorder->vectors, state->node_count));
  }
  EB_TRY(add_force(recorder, frame));
  if (is_open(recorder, UNFILTERED))
    EB_TRY(add_vectors(recorder, UNFILTERED, frame->unfiltered ? frame->unfiltered : state->v,
                       state->node_count));
  if (is_open(recorder, ACTIVATION)) {
    double activation = scene->ops->activation(scene, state->time);
    EB_TRY(add_row(recorder, ACTIVATION, &activation));
  }
  EB_TRY(add_springs(recorder, state->time));
  if (is_open(recorder, CONTACT_OFFSETS)) EB_TRY(add_contacts(recorder, frame->contacts));
  EB_TRY(add_updates(recorder, frame->updates));
  return add_rigid(recorder, state);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* The scene with the mesh that frames are stored on. */
static eb_error write_scene(eb_recorder *recorder, const eb_run *run, const eb_scene *scene) {
  eb_mesh *cut = NULL;
  eb_surface *surface = NULL;
  hid_t scenes;
  EB_TRY(eb_h5_group(recorder->file, "scenes", &scenes));
  eb_error error = EB_OK;
  if (scene->script.cut_count > 0) {
    error = eb_scene_final_mesh(scene, &cut, &recorder->parent);
    if (!error) error = eb_mesh_surface(cut, &surface);
  }
  if (!error) {
    const eb_mesh *mesh = cut ? cut : scene->mesh;
    recorder->nodes = mesh->node_count;
    error = eb_scene_write(scenes, run, scene, mesh, surface ? surface : scene->surface,
                           recorder->parent);
  }
  eb_surface_destroy(surface);
  eb_mesh_destroy(cut);
  H5Gclose(scenes);
  return error;
}

/* The group of the run, with its attributes and their units: attributes have no attributes of their
 * own in HDF5, so these are attributes of the group `units`, by the same names. */
static eb_error create_run(eb_recorder *recorder, const eb_run *run) {
  hid_t group;
  EB_TRY(eb_h5_group(recorder->file, "runs", &group));
  eb_error error = eb_h5_group(group, run->id, &recorder->run);
  H5Gclose(group);
  EB_TRY(error);
  EB_TRY(eb_run_write(recorder->run, run));
  EB_TRY(eb_h5_group(recorder->run, "units", &group));
  for (const eb_field *field = eb_run_fields; field->name && !error; field++)
    if (field->type != EB_FIELD_TEXT) error = eb_h5_put_text(group, field->name, field->unit);
  H5Gclose(group);
  return error;
}

static eb_error fill(eb_recorder *recorder, hid_t environment, const eb_run *run,
                     const eb_scene *scene) {
  EB_TRY(eb_schema_write(recorder->file));
  if (environment >= 0 &&
      H5Ocopy(environment, ".", recorder->file, "environment", H5P_DEFAULT, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot copy", "environment");
  EB_TRY(make_group(recorder->file, "scenes"));
  EB_TRY(create_run(recorder, run));
  if (!scene) return EB_OK;
  EB_TRY(write_scene(recorder, run, scene));
  recorder->wide = run->frames && strcmp(run->frames, eb_frames_name(EB_FRAMES_ALL)) == 0;
  recorder->has_tables = true;
  recorder->scene = scene;
  EB_TRY(open_tables(recorder));
  EB_TRY(EB_NEW(recorder->vectors, 3 * (size_t)recorder->nodes));
  EB_TRY(EB_NEW(recorder->fixed, recorder->nodes));
  EB_TRY(EB_NEW(recorder->springs, 4 * (size_t)scene->script.spring_count));
  recorder->tables[UPDATES].width = (size_t)scene->mesh->element_count;
  EB_TRY(open_frame_tables(recorder));
  EB_TRY(add_number(recorder, OFFSETS, 0));
  EB_TRY(add_number(recorder, ROUND_OFFSETS, 0));
  return eb_recorder_commit(recorder);
}

eb_error eb_recorder_create(const char *path, hid_t environment, const eb_run *run,
                            const eb_scene *scene, eb_recorder **out) {
  eb_recorder *recorder;
  *out = NULL;
  EB_TRY(EB_NEW(recorder, 1));
  recorder->file = recorder->run = -1;
  eb_tables_start(recorder->tables, TABLES);
  eb_error error = eb_string_set(&recorder->path, path);
  if (!error) error = eb_h5_create_file(path, &recorder->file);
  if (!error) error = fill(recorder, environment, run, scene);
  if (error) {
    eb_recorder_destroy(recorder);
    return eb_error_prefix(error, "%s", path);
  }
  *out = recorder;
  return EB_OK;
}

eb_error eb_recorder_scene_text(eb_recorder *recorder, const eb_scene_ops *scene) {
  if (!recorder || !eb_scene_path(scene)) return EB_OK;
  const char *text = scene->source->text;
  return eb_rows_put(recorder->run, EB_SCENE_TEXT, EB_BYTE, strlen(text), 1, "1", text);
}

static eb_error put_setup(hid_t setup, const eb_step_log *log) {
  hid_t group;
  const eb_tree_log *tree = &log->tree;
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    if (log->phase_seconds[i] != 0)
      EB_TRY(eb_scalar_put(setup, eb_phase_name((eb_phase)i), "s", log->phase_seconds[i]));
  for (int i = 0; i < EB_COUNTERS; i++)
    if (log->counters[i] != 0)
      EB_TRY(eb_scalar_put(setup, eb_counter_name((eb_counter)i), "1", log->counters[i]));
  for (int i = 0; i < EB_MEMORY_KINDS; i++) {
    if (!(log->memory_bytes[i] > 0)) continue;
    EB_TRY(eb_h5_group(setup, "memory", &group));
    eb_error error =
        eb_scalar_put(group, eb_memory_name((eb_memory_kind)i), "byte", log->memory_bytes[i]);
    H5Gclose(group);
    EB_TRY(error);
  }
  if (tree->count == 0) return EB_OK;
  size_t rows = (size_t)tree->count;
  EB_TRY(eb_h5_group(setup, "supernodes", &group));
  eb_error error = eb_rows_put(group, "parent", EB_INDEX, rows, 1, "1", tree->parent);
  if (!error) error = eb_rows_put(group, "pivots", EB_INDEX, rows, 1, "1", tree->pivots);
  if (!error) error = eb_rows_put(group, "rows", EB_INDEX, rows, 1, "1", tree->rows);
  if (!error) error = eb_rows_put(group, "flops", EB_REAL, rows, 1, "flop", tree->flops);
  H5Gclose(group);
  return error;
}

eb_error eb_recorder_setup(eb_recorder *recorder, const eb_step_log *log) {
  hid_t group;
  if (!recorder) return EB_OK;
  EB_TRY(eb_h5_group(recorder->run, "setup", &group));
  eb_error error = put_setup(group, log);
  H5Gclose(group);
  return error;
}

eb_error eb_recorder_step(eb_recorder *recorder, const double row[EB_COL_COUNT],
                          const eb_step_log *log) {
  if (!recorder) return EB_OK;
  EB_TRY(add_columns(&recorder->series[STEPS], row));
  EB_TRY(add_columns(&recorder->series[PHASES], log->phase_seconds));
  EB_TRY(add_columns(&recorder->series[COUNTERS], log->counters));
  int64_t kept =
      log->residual_count < log->residual_capacity ? log->residual_count : log->residual_capacity;
  EB_TRY(eb_table_add(&recorder->tables[RESIDUALS], log->residuals, (size_t)kept));
  EB_TRY(eb_table_add(&recorder->tables[RESIDUAL_SECONDS], log->residual_seconds, (size_t)kept));
  recorder->residuals += kept;
  for (int r = 0; r < log->round_count; r++)
    EB_TRY(add_number(recorder, ROUNDS, (double)log->rounds[r]));
  recorder->rounds += log->round_count;
  EB_TRY(add_number(recorder, ROUND_OFFSETS, (double)recorder->rounds));
  snprintf(recorder->norm, sizeof recorder->norm, "%s", eb_log_norm(log));
  return add_number(recorder, OFFSETS, (double)recorder->residuals);
}

eb_error eb_recorder_number(eb_recorder *recorder, eb_run_number number, const char *region,
                            double value) {
  char path[128], group_path[128];
  const eb_number_info *info = &eb_run_numbers[number];
  if (!recorder) return EB_OK;
  snprintf(path, sizeof path, "%s%s%.60s", info->path, region ? "/" : "", region ? region : "");
  for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
    snprintf(group_path, sizeof group_path, "%.*s", (int)(end - path), path);
    EB_TRY(make_group(recorder->run, group_path));
  }
  return eb_scalar_put(recorder->run, path, info->unit, value);
}

eb_error eb_recorder_basis(eb_recorder *recorder, const eb_subspace_record *s) {
  hid_t group;
  double *phi;
  if (!recorder || !recorder->wide) return EB_OK;
  size_t rows = (size_t)s->nodes * (size_t)s->axes, size = (size_t)s->size;
  EB_TRY(EB_NEW(phi, rows * size));
  for (size_t i = 0; i < rows; i++)
    memcpy(phi + size * i, s->phi + (size_t)s->stride * i, size * sizeof *phi);
  eb_error error = eb_h5_group(recorder->run, "basis", &group);
  if (!error) {
    error = eb_rows_put(group, "phi", EB_REAL, rows, size, "kg^-1/2", phi);
    if (!error)
      error = eb_rows_put(group, "element", EB_INDEX, (size_t)s->count, 1, "1", s->element);
    if (!error)
      error = eb_rows_put(group, "weight", EB_REAL, (size_t)s->count, 1, "m^3", s->weight);
    H5Gclose(group);
  }
  free(phi);
  return error;
}

/* Frames of all steps of a large scene would fill the memory between two commits. */
static eb_error commit_when_large(eb_recorder *recorder) {
  static const size_t most = 4 << 20; /* bytes */
  return eb_tables_waiting(recorder->tables, TABLES) > most ? eb_recorder_commit(recorder) : EB_OK;
}

eb_error eb_recorder_frame(eb_recorder *recorder, const eb_frame *frame) {
  if (!recorder) return EB_OK;
  EB_TRY(add_frame(recorder, frame));
  return commit_when_large(recorder);
}

/* The tables that the scene has anything for. States are kept over the nodes of the mesh with all
 * cuts made. */
static eb_error open_checkpoints(eb_recorder *recorder) {
  enum { OF_NUMBERS = 256 };
  const eb_scene *scene = recorder->scene;
  hsize_t nodes = (hsize_t)recorder->nodes, joints = 0, bodies = 0;
  if (scene->rigid.articulation)
    joints = (hsize_t)eb_articulation_joints(scene->rigid.articulation);
  if (scene->rigid.free_bodies) bodies = (hsize_t)scene->rigid.free_bodies->count;
  const eb_h5_shape rows[] = {{0},
                              {0},
                              {0},
                              {0},
                              {2, {nodes, 3}},
                              {2, {nodes, 3}},
                              {1, {joints}},
                              {1, {joints}},
                              {2, {bodies, 7}},
                              {2, {bodies, 6}}};
  EB_TRY(make_group(recorder->run, "checkpoints"));
  for (int at = CHECKPOINT_STEP; at < TABLES; at++) {
    eb_h5_shape row = rows[at - CHECKPOINT_STEP];
    bool there =
        at < CHECKPOINT_ANGLES || (at < CHECKPOINT_POSES ? scene->rigid.articulation != NULL
                                                         : scene->rigid.free_bodies != NULL);
    if (there)
      EB_TRY(eb_table_open(recorder->run, &datasets[at].what, row, row.rank ? 1 : OF_NUMBERS,
                           &recorder->tables[at]));
  }
  return EB_OK;
}

eb_error eb_recorder_checkpoint(eb_recorder *recorder, const eb_state *state, double began) {
  if (!recorder) return EB_OK;
  double step = (double)state->step, nodes = state->node_count;
  const double *const rows[] = {&step,    &state->time, &began,   &nodes,      state->x,
                                state->v, state->q,     state->u, state->pose, state->twist};
  if (!is_open(recorder, CHECKPOINT_STEP)) EB_TRY(open_checkpoints(recorder));
  for (int at = CHECKPOINT_STEP; at < TABLES; at++) {
    const double *row = rows[at - CHECKPOINT_STEP];
    if (at == CHECKPOINT_POSITIONS || at == CHECKPOINT_VELOCITIES) { /* of the nodes there are */
      size_t used = 3 * (size_t)state->node_count, all = 3 * (size_t)recorder->nodes;
      memcpy(recorder->vectors, row, used * sizeof *row);
      memset(recorder->vectors + used, 0, (all - used) * sizeof *row);
      row = recorder->vectors;
    }
    EB_TRY(add_row(recorder, at, row));
  }
  return commit_when_large(recorder);
}

hid_t eb_recorder_run(const eb_recorder *recorder) {
  return recorder ? recorder->run : -1;
}

eb_error eb_recorder_commit(eb_recorder *recorder) {
  if (!recorder) return EB_OK;
  eb_table *updates = &recorder->tables[UPDATES];
  if (updates->set < 0 && updates->rows > 0) {
    EB_TRY(open_frame_table(recorder, UPDATES, (eb_h5_shape){1, {updates->width}}));
    EB_TRY(eb_table_skip(updates, recorder->frames_before_updates));
  }
  EB_TRY(eb_tables_commit(recorder->tables, TABLES));
  for (series *s = recorder->series; s < recorder->series + recorder->series_count; s++) {
    EB_TRY(pad_series(s, recorder->series[STEPS].rows));
    EB_TRY(eb_tables_commit(s->tables, s->count));
  }
  if (H5Fflush(recorder->file, H5F_SCOPE_GLOBAL) < 0)
    return eb_h5_error("cannot write", recorder->path);
  return EB_OK;
}

/* Closes every object first, so that closing the file writes all of it. */
static void close_objects(eb_recorder *recorder) {
  eb_tables_clear(recorder->tables, TABLES);
  for (int i = 0; i < recorder->series_count; i++)
    eb_tables_clear(recorder->series[i].tables, recorder->series[i].count);
  if (recorder->run >= 0) H5Gclose(recorder->run);
  recorder->run = -1;
}

eb_error eb_recorder_finish(eb_recorder *recorder, const eb_run *run) {
  if (!recorder) return EB_OK;
  EB_TRY(eb_run_write(recorder->run, run));
  if (recorder->has_tables) {
    hid_t group;
    EB_TRY(eb_h5_group(recorder->run, "residuals", &group));
    eb_error error = eb_h5_put_text(group, "norm", recorder->norm);
    H5Gclose(group);
    EB_TRY(error);
  }
  EB_TRY(eb_recorder_commit(recorder));
  EB_TRY(eb_tables_settle(recorder->tables, TABLES, false));
  for (series *s = recorder->series; s < recorder->series + recorder->series_count; s++)
    EB_TRY(eb_tables_settle(s->tables, s->count, s->drop_zeros));
  close_objects(recorder);
  hid_t file = recorder->file;
  recorder->file = -1;
  return eb_h5_close_file(file, recorder->path);
}

void eb_recorder_destroy(eb_recorder *recorder) {
  if (!recorder) return;
  close_objects(recorder);
  if (recorder->file >= 0) {
    H5Fclose(recorder->file);
    H5Eclear2(H5E_DEFAULT);
  }
  for (int i = 0; i < recorder->series_count; i++) free(recorder->series[i].tables);
  free(recorder->series);
  free(recorder->vectors);
  free(recorder->springs);
  free(recorder->fixed);
  free(recorder->parent);
  free(recorder->path);
  free(recorder);
}
