#include "harness/results/record.h"

#include <stdlib.h>
#include <string.h>

#include "harness/strings.h"

static const char *const outcome_names[EB_OUTCOMES] = {"unfinished",    "completed", "diverged",
                                                       "not-finite",    "crashed",   "timed-out",
                                                       "out-of-memory", "failed",    "skipped"};

const char *eb_outcome_name(eb_outcome outcome) {
  return outcome_names[outcome];
}

eb_outcome eb_outcome_find(const char *name) {
  for (int i = 0; i < EB_OUTCOMES; i++)
    if (strcmp(outcome_names[i], name) == 0) return (eb_outcome)i;
  return EB_OUTCOME_UNFINISHED;
}

const char *eb_frames_name(eb_frames frames) {
  return frames == EB_FRAMES_ALL ? "all" : "interval";
}

eb_error eb_frames_parse(const char *name, eb_frames *out) {
  *out = strcmp(name, "all") == 0        ? EB_FRAMES_ALL
         : strcmp(name, "interval") == 0 ? EB_FRAMES_INTERVAL
                                         : EB_FRAMES_UNSET;
  if (*out != EB_FRAMES_UNSET) return EB_OK;
  return EB_ERROR(EB_ERR_USAGE, "frames are stored at the scene's 'interval' or 'all', not '%s'",
                  name);
}

#define TEXT(field)                                                                                \
  { #field, "", EB_FIELD_TEXT, offsetof(eb_run, field) }
#define INT(field)                                                                                 \
  { #field, "1", EB_FIELD_INT, offsetof(eb_run, field) }
#define REAL(field, unit)                                                                          \
  { #field, unit, EB_FIELD_REAL, offsetof(eb_run, field) }

const eb_field eb_run_fields[] = {TEXT(identity),
                                  TEXT(scene),
                                  TEXT(scene_hash),
                                  TEXT(parameters),
                                  TEXT(mesh_source),
                                  TEXT(stand_in),
                                  TEXT(solver),
                                  TEXT(options),
                                  TEXT(plugin),
                                  TEXT(client),
                                  TEXT(counts),
                                  TEXT(outcome),
                                  TEXT(reason),
                                  TEXT(detail),
                                  TEXT(frames),
                                  TEXT(output),
                                  TEXT(audit),
                                  TEXT(audit_detail),
                                  TEXT(audit_rules),
                                  TEXT(equation),
                                  TEXT(update),
                                  TEXT(from),
                                  TEXT(from_steps),
                                  TEXT(started),
                                  TEXT(state_hash),
                                  INT(order),
                                  INT(ranks),
                                  INT(threads),
                                  INT(seed),
                                  INT(repetition),
                                  INT(steps_wanted),
                                  INT(steps_done),
                                  INT(nodes),
                                  INT(uncut_nodes),
                                  INT(elements),
                                  REAL(dt, "s"),
                                  REAL(scene_seconds, "s"),
                                  REAL(setup_seconds, "s"),
                                  REAL(setup_cpu_seconds, "s"),
                                  REAL(total_seconds, "s"),
                                  REAL(peak_rss, "byte"),
                                  REAL(memory_limit, "byte"),
                                  REAL(timeout, "s"),
                                  REAL(error, "1"),
                                  INT(audit_failures),
                                  REAL(first_step_at, "s"),
                                  REAL(process_cpu_seconds, "s"),
                                  REAL(timed_cpu_seconds, "s"),
                                  REAL(untimed_cpu_seconds, "s"),
                                  REAL(memory_growth, "byte"),
                                  REAL(audit_seconds, "s"),
                                  REAL(cut_step_seconds, "s"),
                                  REAL(network_latency, "s"),
                                  REAL(network_bandwidth, "byte/s"),
                                  REAL(network_reduction, "s"),
                                  INT(threads_alive),
                                  {0}};

static void *at(const void *record, const eb_field *field) {
  return (char *)(uintptr_t)record + field->offset;
}

void eb_fields_clear(const eb_field *fields, void *record) {
  for (const eb_field *f = fields; f->name; f++)
    if (f->type == EB_FIELD_TEXT) free(*(char **)at(record, f));
}

eb_error eb_fields_write(hid_t group, const eb_field *fields, const void *record) {
  for (const eb_field *f = fields; f->name; f++) {
    const void *value = at(record, f);
    EB_TRY(f->type == EB_FIELD_TEXT  ? eb_h5_put_text(group, f->name, *(char *const *)value)
           : f->type == EB_FIELD_INT ? eb_h5_put_int(group, f->name, *(const int64_t *)value)
                                     : eb_h5_put_real(group, f->name, *(const double *)value));
  }
  return EB_OK;
}

eb_error eb_fields_read(hid_t group, const eb_field *fields, void *record) {
  for (const eb_field *f = fields; f->name; f++) {
    void *value = at(record, f);
    EB_TRY(f->type == EB_FIELD_TEXT  ? eb_h5_get_text(group, f->name, value)
           : f->type == EB_FIELD_INT ? eb_h5_get_int(group, f->name, value)
                                     : eb_h5_get_real(group, f->name, value));
  }
  return EB_OK;
}

void eb_run_clear(eb_run *run) {
  free(run->id);
  eb_fields_clear(eb_run_fields, run);
  *run = (eb_run){0};
}

eb_error eb_run_copy(const eb_run *from, eb_run *to) {
  *to = *from;
  to->id = NULL;
  for (const eb_field *f = eb_run_fields; f->name; f++)
    if (f->type == EB_FIELD_TEXT) *(char **)at(to, f) = NULL;
  eb_error error = eb_string_set(&to->id, from->id);
  for (const eb_field *f = eb_run_fields; f->name && !error; f++)
    if (f->type == EB_FIELD_TEXT) error = eb_string_set(at(to, f), *(char **)at(from, f));
  if (error) eb_run_clear(to);
  return error;
}

eb_error eb_run_write(hid_t group, const eb_run *run) {
  return eb_fields_write(group, eb_run_fields, run);
}

const eb_column_info eb_columns[EB_COL_COUNT] = {
    [EB_COL_STEP] = {"step", "1", "number of the step, from 1", 1},
    [EB_COL_TIME] = {"time", "s", "simulated time at the end of the step", 0},
    [EB_COL_WALL] = {"wall", "s", "wall time of the step", 0},
    [EB_COL_CPU] = {"cpu", "s", "processor time of the step, all threads", 0},
    [EB_COL_STEAL] = {"steal", "s", "time the hypervisor took from all cores during the step", 0},
    [EB_COL_ITERATIONS] = {"iterations", "1", "outermost iterations, by the solver's count", 1},
    [EB_COL_REASON] = {"reason", "1", "eb_reason: positive converged, negative diverged", 1},
    [EB_COL_RESIDUAL] = {"residual", "N", "audited residual, 2-norm over free nodes", 0},
    [EB_COL_RESIDUAL_RELATIVE] = {"residual_relative", "1", "audited residual over the force scale",
                                  0},
    [EB_COL_KINETIC] = {"kinetic", "J", "kinetic energy at the end of the step", 0},
    [EB_COL_ELASTIC] = {"elastic", "J", "elastic energy", 0},
    [EB_COL_GRAVITATIONAL] = {"gravitational", "J", "potential energy of gravity", 0},
    [EB_COL_MOMENTUM_X] = {"momentum_x", "kg m/s", "linear momentum", 0},
    [EB_COL_MOMENTUM_Y] = {"momentum_y", "kg m/s", "linear momentum", 0},
    [EB_COL_MOMENTUM_Z] = {"momentum_z", "kg m/s", "linear momentum", 0},
    [EB_COL_ANGULAR_MOMENTUM_X] = {"angular_momentum_x", "kg m^2/s", "about the origin", 0},
    [EB_COL_ANGULAR_MOMENTUM_Y] = {"angular_momentum_y", "kg m^2/s", "about the origin", 0},
    [EB_COL_ANGULAR_MOMENTUM_Z] = {"angular_momentum_z", "kg m^2/s", "about the origin", 0},
    [EB_COL_MIN_VOLUME_RATIO] = {"min_volume_ratio", "1", "least det F", 0},
    [EB_COL_MAX_PENETRATION] = {"max_penetration", "m", "deepest node inside a collider", 0},
    [EB_COL_INVERTED] = {"inverted", "1", "elements with det F <= 0", 1},
    [EB_COL_CONTACTS] = {"contacts", "1", "nodes inside a collider", 1},
    [EB_COL_FINITE] = {"finite", "1", "1 when the state and all figures of the audit are numbers",
                       1},
    [EB_COL_COMPONENTS] = {"components", "1", "connected components of the mesh, cut so far", 1},
    [EB_COL_JOINT_KINETIC] = {"joint_kinetic", "J", "kinetic energy of the rigid bodies", 0},
    [EB_COL_JOINT_POTENTIAL] = {"joint_potential", "J",
                                "energy of the rigid bodies in gravity and of the joints' limits",
                                0},
    [EB_COL_JOINT_RESIDUAL] = {"joint_residual", "N m", "audited residual of the joints, 2-norm",
                               0},
    [EB_COL_JOINT_RESIDUAL_RELATIVE] = {"joint_residual_relative", "1",
                                        "audited residual of the joints over its terms", 0},
    [EB_COL_ACTIVATION] = {"activation", "1",
                           "of the fibres at the end of the step, by the scene's script", 0},
    [EB_COL_INTERSECTIONS] =
        {"intersections", "1",
         "pairs of surface triangles of different bodies or obstacles that meet", 1},
    [EB_COL_SELF_INTERSECTIONS] = {"self_intersections", "1",
                                   "pairs of surface triangles of one body that meet", 1},
    [EB_COL_NESTED] = {"nested", "1", "pairs of bodies, one inside the other", 1},
    [EB_COL_CONTACT_COUNT] = {"contact_count", "1", "contacts that the solver reports", 1},
    [EB_COL_CONTACT_ACTIVE] = {"contact_active", "1", "those of them with a force", 1},
    [EB_COL_CONTACT_VIOLATION] = {"contact_violation", "m",
                                  "most that a contact is closer than it may be", 0},
    [EB_COL_CONTACT_OPEN] = {"contact_open", "m",
                             "most that a contact with a force is off its demanded distance", 0},
    [EB_COL_CONTACT_APART] = {"contact_apart", "m",
                              "largest distance between features that push each other", 0},
    [EB_COL_CONTACT_SLIDING] = {"contact_sliding", "m",
                                "farthest slip of a contact inside Coulomb's cone", 0},
    [EB_COL_CONTACT_CONE] = {"contact_cone", "1",
                             "friction beyond Coulomb's cone, or pull, over the contact's limit",
                             0},
    [EB_COL_CONTACT_ANGLE] = {"contact_angle", "deg",
                              "largest angle between friction and what opposes the slip", 0},
    [EB_COL_CONTACT_BALANCE] = {"contact_balance", "kg m/s",
                                "largest momentum of a body that no force explains", 0},
    [EB_COL_ENERGY_EXCESS] = {"energy_excess", "J",
                              "energy gained beyond the work done; negative: dissipated", 0},
    [EB_COL_EQUATION] = {"equation", "1", "eb_equation: what the step claims to solve", 1},
    [EB_COL_EQUATION_RESIDUAL] = {"equation_residual", "1",
                                  "audited residual of that equation over its force scale", 0},
    [EB_COL_UPDATE_ERROR] = {"update_error", "m",
                             "most that a node is off the declared update of positions", 0},
    [EB_COL_HELD_ERROR] = {"held_error", "m", "most that a held or carried node is off its place",
                           0},
    [EB_COL_BALANCE] = {"balance", "kg m/s",
                        "largest momentum of a body that no force explains, by x or by v", 0},
    [EB_COL_BALANCE_RELATIVE] = {"balance_relative", "1", "the same over the size of its terms", 0},
    [EB_COL_CONTACT_TRUE_GAP] = {"contact_true_gap", "m",
                                 "most that features which push each other are off the gap", 0},
    [EB_COL_CONTACT_UNRECORDED] = {"contact_unrecorded", "1",
                                   "pairs of features too near (1e-5 m) that no contact reports",
                                   1},
    [EB_COL_CONTACT_NORMAL] = {"contact_normal", "deg",
                               "largest angle between a contact's normal and the geometry's", 0},
    [EB_COL_RESIDENT] = {"resident", "byte", "resident memory of the process after the step", 0},
    [EB_COL_FROM_STEP] = {"from_step", "1",
                          "of samples: the step of the run `from` after which this one starts", 1},
    [EB_COL_LEAD] = {"lead", "s",
                     "of samples: wall time, off the clock, of the unrecorded step that leads the "
                     "solver to the state",
                     0},
    [EB_COL_SPRINGS] = {"springs", "J", "energy of the springs that pull nodes to places", 0},
    [EB_COL_DECREMENT] = {"decrement", "J^1/2",
                          "of the examined subspace: sqrt(g . inv(H) g) of its residual; NaN "
                          "elsewhere",
                          0},
    [EB_COL_DECREMENT_BEFORE] = {"decrement_before", "J^1/2", "the same where the step starts", 0},
    [EB_COL_HOURGLASS] = {"hourglass", "1", "root mean square of the hourglass modes of hexahedra",
                          0},
    [EB_COL_OWN] = {"own", "s",
                    "what a program of the user's says that the step took, beside `wall`; NaN "
                    "where there is none",
                    0}};

const eb_column_info eb_part_columns[EB_PART_COLUMNS] = {
    [EB_PART_TURN_X] = {"turn_x", "rad", "rotation vector of the best fit to the rest shape", 0},
    [EB_PART_TURN_Y] = {"turn_y", "rad", "continuous from step to step, over several turns too", 0},
    [EB_PART_TURN_Z] = {"turn_z", "rad", "NaN where the nodes tell no rotation", 0},
    [EB_PART_SPIN_X] = {"spin_x", "kg m^2/s", "angular momentum about its own centre of mass", 0},
    [EB_PART_SPIN_Y] = {"spin_y", "kg m^2/s", "angular momentum about its own centre of mass", 0},
    [EB_PART_SPIN_Z] = {"spin_z", "kg m^2/s", "angular momentum about its own centre of mass", 0},
    [EB_PART_ROTATIONAL] = {"rotational", "J",
                            "rotational energy of its connected pieces, each about its own centre",
                            0},
    [EB_PART_DISPLACEMENT] = {"displacement", "m", "mean distance of its nodes from rest", 0},
    [EB_PART_CENTRE_X] = {"centre_x", "m", "centre of mass", 0},
    [EB_PART_CENTRE_Y] = {"centre_y", "m", "centre of mass", 0},
    [EB_PART_CENTRE_Z] = {"centre_z", "m", "centre of mass", 0}};

const eb_column_info eb_rotation_columns[EB_ROTATION_COLUMNS] = {
    [EB_ROTATION_DET_MIN] = {"det_min", "1", "least determinant of the elements' rotations", 0},
    [EB_ROTATION_TURN_MAX] = {"turn_max", "deg",
                              "largest angle from the last step's, before the first one from the "
                              "identity",
                              0},
    [EB_ROTATION_OFF_SVD] = {"off_svd", "deg",
                             "largest angle from the rotation nearest to the element's mean F", 0},
    [EB_ROTATION_REFLECTIONS] = {"reflections", "1", "elements of negative determinant", 0},
    [EB_ROTATION_GAIN] = {
        "gain", "1",
        "median share of what was missing of it, where that is 0.01 to 20 degrees; "
        "NaN: nowhere",
        0}};

/* ---- the schema ------------------------------------------------------------------------------ */

eb_error eb_schema_write(hid_t file) {
  EB_TRY(eb_h5_put_text(file, "format", EB_SCHEMA_FORMAT));
  return eb_h5_put_int(file, "schema_version", EB_SCHEMA_VERSION);
}
