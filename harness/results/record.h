/* What a result file says of one run: its attributes and the columns of its steps. The tables here
 * and in columns.h are the one home of the file's names, types and units; writing, reading,
 * exporting and merging go through them.
 *
 *   /                         attributes: schema_version, format
 *   /environment              attributes only (harness/environment.h)
 *   /scenes/<hash>/           attributes: name, parameters, mesh_source, stand_in, counts,
 *                             bodies_collide, scripted_force, and in words mass_convention,
 *                             area_convention, energy_datum, moment_origin, quadrature; gravity
 *                             (3, m/s^2), dt (s), contact_friction, bodies_friction
 *     mesh/                   positions (nodes x 3, m), tetrahedra|hexahedra|triangles, region,
 *                             fibre, surface (triangles x 3 nodes), surface_region; with all
 *                             scripted cuts made: the copies of nodes that a cut makes come
 *                             behind the nodes of the mesh before it (the attribute nodes counts
 *                             those before any cut); parent (nodes): the node that a copy parts
 *                             from, itself else; only where there are cuts. The mesh of a step
 *                             with n nodes is this one with every node from n on replaced by its
 *                             parent until it is below n
 *     materials/              a row a region: kind and fibre (enumerations that carry their
 *                             names), young, poisson, density, fibre_stiffness, fibre_exponent,
 *                             activation, thickness, integration, hourglass, rigid
 *     initial/                positions, velocities: what the first step starts from, in
 *                             doubles, on the nodes before any cut
 *     free_bodies/            where regions are rigid: mass, centre, inertia (bodies x 9),
 *                             of_node (nodes: body or -1)
 *     articulation/           where nodes ride on jointed bodies: parent, pivot, axis, mass,
 *                             centre, inertia (x 6), lower, upper, limit_stiffness, damping,
 *                             start, tip, a row a body; rider_node, rider_body, rider_place (at
 *                             angles 0)
 *     springs/                when the scene has any: node
 *     clusters/               when the scene has any: node, those of one cluster after those of
 *                             another; offsets (clusters + 1), where each begins and the last
 *                             ends; stiffness (N/m): the energy is k/2 sum |x - xm - R (X - Xm)|^2
 *                             over a cluster's nodes, xm and Xm their means, R the best rotation
 *     colliders/              when the scene has any (harness/results/scene.h)
 *     obstacles/              when the scene has any (harness/results/scene.h)
 *   /runs/<id>/               attributes: eb_run
 *     setup/                  phases and counters of the set-up, one number each; those that are 0
 *                             are left out
 *       memory/<kind>         what the solver holds while it steps, byte; only the kinds that it
 *                             reports (eb_memory_kind)
 *       supernodes/           the elimination tree of its factorization, when it reports one:
 *                             parent (of each supernode; -1 at a root), pivots and rows of its
 *                             front (nodes), flops of the front's partial factorization
 *     steps/                  EB_STEP_COLUMNS, one row a step; row 0 is the first step (cold
 * caches) phases/<name>           s, one row a step; phases that the solver never went through are
 * left out counters/<name>         one row a step; what was never counted is left out parts/<name>/
 * EB_PART_FIGURES, one row a step: how a region of the mesh moves, or a group of nodes that the
 * scene names (harness/audit/parts.h); only of scenes that have any rotation/ EB_ROTATION_FIGURES,
 * one row a step: the rotations of elements that the solver has worked with
 * (harness/audit/rotations.h); only of runs whose solver records any, NaN in steps that do not
 *     embedding/              of a run that was to embed points (harness/audit/embedding.h), one
 *                             number each: iterations_max, iterations_mean, error_max
 *     element/                of an examined run (harness/audit/element_rank.h): rank, of the
 *                             stiffness of the mesh's first element at rest
 *     subspace/               of a run that was to be examined and declares a subspace
 *                             (harness/audit/examine.h), one number each: size (coefficients),
 *                             points, null, start_outside; variance/<part> (1/kg) and
 *                             density/<part> of the regions
 *     basis/                  with frames of every step, of a run whose solver declares a subspace
 *                             (problems/subspace_record.h): phi (kg^-1/2; nodes, or 3 nodes, x
 *                             functions) of positions X + (I_3 (x) phi) u, or X + phi u; element
 *                             and weight (m^3) of the points that elastic forces are summed over
 *     residuals/              values, seconds (since the step began), offsets (steps + 1);
 *                             attribute norm. rounds, round_offsets (steps + 1): of every step,
 *                             how many residuals there were before the problem was made anew in
 *                             it, each time
 *     units/                  attributes by the names of the run's numbers: their units
 *     frames/                 a row a frame, of the steps that the run's attribute frames says
 *                             (eb_frames); the initial state is frame 0. Fields over the mesh
 *                             and contacts are float32, with "all" float64. Frames of samples
 *                             (the attribute from_steps is a range) come in pairs: the state that
 *                             the sample starts from, and the one after it; an interval counts
 *                             samples:
 *       positions, velocities nodes x 3, m and m/s; until the cut that parts it, a node's copy has
 *                             what the node has, here and below
 *       time, step, node_count s; 1; nodes of the mesh of the step, where there are cuts
 *       fixed, target         nodes: 0 free, 1 scripted, 2 on a jointed body, 3 on a free body;
 *                             nodes x 3, m: where those belong; absent when the scene holds no
 *                             nodes
 *       force                 nodes x 3, N: f_ext less m g, taken at the start of the step that
 *                             ends at the frame; absent when that is 0
 *       unfiltered            nodes x 3, m/s: velocities of the step's equation, where friction of
 *                             implicit colliders filters them; with all frames alone
 *       activation            of the fibres, where it is scripted
 *       spring_place, spring_stiffness   springs x 3 and springs, m and N/m, where there are any
 *       collider_offset, collider_velocity   colliders x 3, m and m/s
 *       obstacle_pose         obstacles x 12: rotation and shift, m
 *       updates               elements, uint8: how often the solver has brought an element's
 *                             matrix up to date since the frame before, 255 for that often and
 *                             more; absent when it never has
 *       bones, joints         bodies x 2 x 3, float32, m: pivot and tip of every body of the
 *                             articulation; joints x 2: angle and rate
 *       body_pose, body_twist bodies x 7 and x 6 of the free rigid bodies
 *                             (problems/rigid/free_body.h)
 *       contacts/             of scenes with contact as constraints, lists one behind the other
 *                             (problems/contact_record.h): offsets (frames + 1); gap, eps1, eps2,
 *                             cone, angle, a row a frame; kind, vertices (x 4), weight (x 4),
 *                             frame (x 3 x 3), force (x 3, N), demand (x 3, m), a row a contact
 *
 *     checkpoints/            a row a state that other runs were to start from, in float64;
 *                             absent when none were asked for. A run that starts from another's
 *                             state has that one as its row of step 0:
 *       step, time, began     1; s: of the state; s: when the step began that ended there
 *       node_count            nodes of the mesh there
 *       positions, velocities nodes x 3, m and m/s; rows behind node_count are 0
 *       angles, rates         joints, rad and rad/s
 *       body_pose, body_twist as in frames/
 *   /environments/<hash>/     of other machines, in files joined from shards; runs from there have
 *                             the attribute environment = <hash> (harness/results/merge.h)
 *   /plans/<plan>.<shards>/   how much of a plan the file is (harness/results/shards.h)
 *   /sweeps/<name>/           searches for the least stable value of an option
 *                             (harness/results/sweeps.h)
 *
 * A run that starts from another goes on in its simulated time and counts steps from 1; its initial
 * state is that one, not scenes/<hash>/initial. Samples are steps that each start from a state of
 * their own: row k has the k-th, from_step says whose.
 *
 * Phases, counters and kinds of memory go by their names (problems/step.h); those that an older
 * file lacks read as 0 or as not reported. Every dataset has the attribute `unit` ("1" when it has
 * none), and those of frames say in words what they are (`meaning`). */
#ifndef EB_RESULTS_RECORD_H
#define EB_RESULTS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "harness/results/columns.h"
#include "harness/results/h5.h"

/* 1: texts of variable length; 2: of fixed length (harness/results/h5.h). Both are read. */
enum { EB_SCHEMA_VERSION = 2 };
#define EB_SCHEMA_FORMAT    "elastobench result"
#define EB_FRAME_POSITIONS  "frames/positions"
#define EB_FRAME_VELOCITIES "frames/velocities"
#define EB_FRAME_UPDATES    "frames/updates"
#define EB_FRAME_BONES      "frames/bones"
#define EB_FRAME_JOINTS     "frames/joints"

/* How a case ended. Everything but `unfinished` is a result that --resume keeps. */
typedef enum eb_outcome {
  EB_OUTCOME_UNFINISHED,    /* cut off: the steps that are there are good */
  EB_OUTCOME_COMPLETED,     /* every step asked for, each with a positive reason */
  EB_OUTCOME_DIVERGED,      /* a step ended with a negative reason; the case stopped there */
  EB_OUTCOME_NOT_FINITE,    /* a step left positions or velocities that are not numbers */
  EB_OUTCOME_CRASHED,       /* ended by a signal or an unexpected exit */
  EB_OUTCOME_TIMED_OUT,     /* over the time limit */
  EB_OUTCOME_OUT_OF_MEMORY, /* over the memory limit, or an allocation failed */
  EB_OUTCOME_FAILED,        /* the scene or solver reported an error */
  EB_OUTCOME_SKIPPED,       /* the solver does not declare what the scene needs */
  EB_OUTCOMES
} eb_outcome;
const char *eb_outcome_name(eb_outcome outcome); /* "completed", "out-of-memory", ... */
/* The outcome of that name; EB_OUTCOME_UNFINISHED when there is none. */
eb_outcome eb_outcome_find(const char *name);

/* Which steps a run stores a frame of. */
typedef enum eb_frames {
  EB_FRAMES_UNSET, /* as EB_FRAMES_INTERVAL */
  /* Those at the scene's interval and the last one; fields over the mesh in single precision. */
  EB_FRAMES_INTERVAL,
  EB_FRAMES_ALL /* all, in double precision: enough to recompute every audit of the run */
} eb_frames;
const char *eb_frames_name(eb_frames frames); /* "interval", "all" */
/* EB_ERR_USAGE when it is neither name. */
EB_MUST eb_error eb_frames_parse(const char *name, eb_frames *out);

/* The attributes of a run. Texts are owned by the struct and never NULL once filled by a reader. */
#define EB_COUNTS_CLAIMED "claimed"

typedef struct eb_run {
  char *id;       /* name of its group, unique for its identity */
  char *identity; /* everything that makes it this run and no other */
  char *scene, *scene_hash, *parameters, *mesh_source, *stand_in;
  char *solver, *options, *plugin;
  char *client; /* what a program that works for the solver calls itself; "" without one */
  /* Who vouches for counters and iterations: "logged" by a solver of the library, or "claimed" by a
   * plug-in or a program; "" in older files. */
  char *counts;
  char *outcome, *reason; /* eb_outcome_name, eb_reason_name of the last step */
  char *detail;           /* cause in words */
  char *frames;           /* eb_frames_name; "" in older files, which is "interval" */
  char *output;           /* the end of what the process printed */
  char *audit;            /* "passed", "failed", "none" (nothing to judge) */
  char *audit_detail;     /* the first failure in words */
  char *audit_rules; /* the broken rules (harness/audit/rules.h), "update,momentum"; "" when none */
  /* what the steps solve (eb_equation_name), with the scales of a linearization that are not 1,
   * and whether implicit colliders push only what is inside at its start; "" without steps */
  char *equation;
  /* how positions follow from velocities (eb_update_name), by the solver's table; "" in older
   * files */
  char *update;
  /* id of the run that this one starts from a state of; "" for the scene's initial state */
  char *from;
  /* after which of its steps: "20"; of samples, a step from each: "20..40/5" (harness/ranges.h) */
  char *from_steps;
  char *started;    /* UTC, ISO 8601 */
  char *state_hash; /* of the final positions and velocities */
  int64_t order;    /* place in the plan */
  int64_t ranks;    /* processes that share the case; older files have 1 */
  int64_t threads, seed, repetition, steps_wanted, steps_done, elements;
  int64_t nodes;       /* of the stored mesh: with all scripted cuts made */
  int64_t uncut_nodes; /* before any cut */
  double dt, scene_seconds, setup_seconds, setup_cpu_seconds, total_seconds; /* s */
  double peak_rss, memory_limit;                                             /* bytes */
  double timeout;                                                            /* s */
  /* Audited residual of the declared equation over its force scale, both as roots of the sums of
   * squares over all steps that do not admit failure: what a run is classed by. NAN: all do. */
  double error;
  int64_t audit_failures; /* steps that broke a rule, and breaches of the run as a whole */
  /* Cost beside the timed steps: from the start of the process to the first step; processor time of
   * the whole process, of the timed steps, and of threads of the solver's while the clock stood;
   * growth of resident memory from the first step to the last. */
  double first_step_at, process_cpu_seconds, timed_cpu_seconds, untimed_cpu_seconds, memory_growth;
  int64_t threads_alive; /* most threads of the process between steps, without those that audit */
  double audit_seconds;  /* s: wall time of the audits of all steps; 0 in older files */
  /* s: how long the step was at work that the time limit has cut off, which has no row; 0 without
   * one, and in older files. */
  double cut_step_seconds;
  /* Of several ranks, what messages between them take, measured behind the last step
   * (harness/network.h): s, byte/s, s a doubling of ranks; 0 of one, in older files, and of
   * runs that did not complete. */
  double network_latency, network_bandwidth, network_reduction;
} eb_run;

typedef enum eb_field_type { EB_FIELD_TEXT, EB_FIELD_INT, EB_FIELD_REAL } eb_field_type;
typedef struct eb_field {
  const char *name, *unit;
  eb_field_type type;
  size_t offset;
} eb_field;
/* Of any struct, by a list of its members that ends with a NULL name: its texts are freed; all are
 * written and read as attributes, those that a group lacks as "" and 0. */
void eb_fields_clear(const eb_field *fields, void *record);
EB_MUST eb_error eb_fields_write(hid_t group, const eb_field *fields, const void *record);
EB_MUST eb_error eb_fields_read(hid_t group, const eb_field *fields, void *record);

/* The attributes of a run in order. */
extern const eb_field eb_run_fields[];

void eb_run_clear(eb_run *run);
EB_MUST eb_error eb_run_copy(const eb_run *from, eb_run *to);
EB_MUST eb_error eb_run_write(hid_t group, const eb_run *run);

/* ---- the schema ------------------------------------------------------------------------------ */

/* Writes the attributes of format and schema to an open file's root. */
EB_MUST eb_error eb_schema_write(hid_t file);

#define EB_SUBSPACE_GROUP  "subspace"
#define EB_BASIS_GROUP     "basis"
#define EB_EMBEDDING_GROUP "embedding"

#endif
