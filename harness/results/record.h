/* What a result file says of one run as attributes of its group. The whole file is in schema.md. */
#ifndef EB_RESULTS_RECORD_H
#define EB_RESULTS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "harness/results/columns.h"
#include "harness/results/h5.h"

#define EB_SCENE_TEXT "scene_text" /* dataset of a run: bytes */

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
  char *scene_file; /* path of the file that the scene is from, as given; "": of none */
  char *solver, *options, *plugin;
  /* Materials that plug-ins bring, "NAME (PATH), ..": the audit has energies and stresses of them
   * alone; "": none. */
  char *plugged_materials;
  /* What of them was not at its default then; of owners with something that has none, all. */
  char *parameters_changed, *options_changed;
  char *client; /* what a program that works for the solver calls itself; "" without one */
  /* Who vouches for counters and iterations: "logged" by a solver of the library, or "claimed" by a
   * plug-in or a program. */
  char *counts;
  char *outcome, *reason; /* eb_outcome_name, eb_reason_name of the last step */
  char *detail;           /* cause in words */
  char *frames;           /* eb_frames_name */
  char *output;           /* the end of what the process printed */
  char *audit;            /* "passed", "failed", "none" (nothing to judge) */
  char *audit_detail;     /* the first failure in words */
  char *audit_rules; /* the broken rules (harness/audit/rules.h), "update,momentum"; "" when none */
  /* what the steps solve (eb_equation_name), with the scales of a linearization that are not 1,
   * and whether implicit colliders push only what is inside at its start; "" without steps */
  char *equation;
  char *update; /* how positions follow from velocities (eb_update_name), by the solver's table */
  /* id of the run that this one starts from a state of; "" for the scene's initial state */
  char *from;
  /* after which of its steps: "20"; of samples, a step from each: "20..40/5" (harness/ranges.h) */
  char *from_steps;
  char *started;           /* UTC, ISO 8601 */
  char *state_hash;        /* of the final positions and velocities */
  int64_t order;           /* place in the plan */
  int64_t ranks;           /* processes that share the case */
  int64_t steps_per_frame; /* of the scene; 0: the file is older than this attribute */
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
  double audit_seconds;  /* s: wall time of the audits of all steps */
  /* s: how long the step was at work that the time limit has cut off, which has no row; 0 without
   * one. */
  double cut_step_seconds;
  /* Of several ranks, what messages between them take, measured behind the last step
   * (harness/network.h): s, byte/s, s a doubling of ranks; 0 of one, and of runs that
   * did not complete. */
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

#endif
