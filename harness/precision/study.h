/* A study of precision: solvers on scenes, turned by their knobs within one budget of trials, their
 * errors against a reference whose own error is stated, and what follows for who is cheapest at
 * equal accuracy. README.md has the definitions.
 *
 *   eb_study_create   reads the request: scenes, their times and steps, solvers, trials
 *   eb_study_refer    runs the references (DIR/reference.h5) and the controls of locking
 *   eb_study_run      runs the trials (DIR/precision.h5), measures and judges them
 *
 * precision_doc.h shows what was found. */
#ifndef EB_PRECISION_STUDY_H
#define EB_PRECISION_STUDY_H

#include "harness/precision/batch.h"
#include "harness/precision/extrapolation.h"
#include "harness/precision/accuracy_parameters.h"
#include "harness/precision/trajectory.h"

enum {
  EB_MOST_TIMES = 64,
  EB_PRECISION_LEVELS = 7, /* of error: 1e-1 to 1e-4 of the motion, two a decade */
  EB_RESOLVED = 4          /* times the reference's error: what is smaller is not resolved */
};

/* What the user asks for; everything in it outlives the study. */
typedef struct eb_study_request {
  const eb_strings *scenes, *solvers; /* "NAME[:a=1,..]" */
  const eb_strings *knobs, *meshes;   /* "SOLVER:o=..", "SCENE=FILE" */
  const char *ratios;                 /* Poisson's, "0.3|0.45"; NULL: the scenes' own */
  const char *reference; /* solver; has a tolerance rtol, or steps in parts; NULL: what suits */
  const eb_plugins *plugins;
  int budget, seeds, times, threads, levels;
  int64_t seed;
  double seconds;         /* simulated; 0: the scene's */
  double dt_low, dt_high; /* s; 0: a sixteenth of the scene's, and four times it */
  double reference_error; /* asked for, of the motion */
  bool same_step;         /* against the same step solved tightly, not against time */
  double timeout, memory; /* s, MB; 0: the defaults */
  const char *folder, *command_line;
  eb_existing existing;
} eb_study_request;

/* ---- references ------------------------------------------------------------------------------ */

typedef enum eb_reference_state {
  EB_REFERENCE_VALID,
  EB_REFERENCE_DIVERGES, /* its levels do not approach each other */
  EB_REFERENCE_FAILED,   /* a run of it failed, or its audit did */
  EB_REFERENCE_MISSING   /* it was interrupted */
} eb_reference_state;

typedef struct eb_reference {
  eb_reference_state state;
  char *detail;                    /* why it does not stand; or NULL */
  char *solver;                    /* with its options */
  int levels;                      /* that were run */
  int64_t finest;                  /* steps of the finest one */
  eb_trajectory motion;            /* extrapolated */
  eb_extrapolation x, v;           /* errors: of the steps alone, m and m/s */
  double tolerance_x, tolerance_v; /* what a tolerance a hundred times as loose changes */
  double damped_x, damped_v;       /* of modes that every level damps away (extrapolation.h) */
  double error, speed_error; /* all of it, of the motion and of the speed; speed_error: INFINITY
                                when velocities do not converge */
  double moved, speed;       /* sizes: max over times of RMS |x - x(0)| and of RMS |v|; m, m/s */
  double unit;               /* s: CPU time of a step of the coarsest level */
} eb_reference;

/* What refining the mesh changes in the motion of a scene whose Poisson's ratio is swept: solvers
 * are measured against the motion of the mesh, however far that is from the body's. */
typedef struct eb_control {
  bool wanted;       /* the scene is a point of a sweep */
  char *detail;      /* why there is none; or NULL */
  double resolution; /* of the refined mesh */
  double difference; /* of displacements, mean and spread: of those of the refined mesh */
} eb_control;

typedef struct eb_study_scene {
  char *name, *parameters; /* as given, with the ratio; parameters may be NULL */
  char *title;             /* "NAME:PARAMETERS" */
  double ratio;            /* Poisson's */
  eb_scene *scene;
  double diagonal; /* m: of the box of the mesh at rest */
  double seconds;  /* simulated */
  int64_t stride;  /* steps of the scene's own size between two times */
  eb_measure measure;
  eb_reference reference;
  eb_control control;
} eb_study_scene;

/* ---- trials ---------------------------------------------------------------------------------- */

typedef struct eb_competitor {
  char *spec;    /* as given */
  char *options; /* of it, or NULL */
  const eb_solver_ops *solver;
  bool claims; /* what it counts is its own word: a plug-in's, or a program's */
  eb_accuracy_parameters knobs;
  eb_text words; /* what is said of its knobs */
} eb_competitor;

typedef enum eb_cost_kind {
  EB_COST_CPU,      /* s, of set-up and steps, all threads */
  EB_COST_PRODUCTS, /* with the matrix */
  EB_COST_FACTORIZATIONS,
  EB_COST_KINDS
} eb_cost_kind;
extern const char *const eb_cost_names[EB_COST_KINDS]; /* "cpu", .. */

typedef enum eb_trial_state {
  EB_TRIAL_VALID,
  EB_TRIAL_UNRESOLVED, /* its error is too near to the reference's */
  EB_TRIAL_FAILED,     /* the run or its audit */
  EB_TRIAL_MISSING     /* not run */
} eb_trial_state;
const char *eb_trial_state_name(eb_trial_state state);

/* One run; errors are of the motion and of the speed. */
typedef struct eb_measured {
  eb_trial_state state;
  double error, speed_error, cost[EB_COST_KINDS];
} eb_measured;

typedef struct eb_trial {
  int64_t stride;    /* steps between two times; 0: there is no such trial */
  double dt;         /* s */
  char *options;     /* all that are set, or NULL */
  eb_measured *runs; /* one a seed */
  /* Over the seeds: the worst state and error, and of costs the median and the extremes. */
  eb_trial_state state;
  char *why;            /* it failed, with the rules that it breaks; or NULL */
  bool broken, skipped; /* its audit has failed; the solver does not serve the scene */
  double error, speed_error, cost[EB_COST_KINDS], least[EB_COST_KINDS], most[EB_COST_KINDS];
  bool front[EB_COST_KINDS]; /* no other trial of the solver is as accurate for less */
} eb_trial;

/* ---- profiles -------------------------------------------------------------------------------- */

/* To come within an error on a scene. */
typedef struct eb_precision_problem {
  int scene;
  double error; /* of the motion */
} eb_precision_problem;

/* By one kind of cost. Of the problems that some solver solves with some seed: cost[seed] has
 * problems x solvers, the cost of the cheapest audited trial that gets there, INFINITY: none does,
 * or none that counts anything of the kind. */
typedef struct eb_profiles {
  int problems, unsolved, unresolved; /* unsolved: by none; unresolved: finer than a reference is */
  eb_precision_problem *problem;
  double *unit;  /* problems, s of CPU time: of a step of the reference's coarsest level */
  double **cost; /* seeds */
} eb_profiles;

typedef struct eb_study {
  const eb_study_request *request;
  int scene_count, solver_count;
  eb_study_scene *scenes;
  eb_competitor *solvers;
  eb_trial *trials; /* scenes x solvers x budget */
  eb_batch reference_runs, trial_runs;
  eb_profiles profiles[EB_COST_KINDS];
  bool interrupted;
} eb_study;

/* The caller clears *out also after an error. EB_ERR_USAGE for everything that is wrong in the
 * request. */
EB_MUST eb_error eb_study_create(const eb_study_request *request, eb_study *out);
/* How the request wants its runs, and where to; borrows all it has. */
eb_batch_setting eb_study_batch(const eb_study *study, const char *target);
EB_MUST eb_error eb_study_refer(eb_study *study);
EB_MUST eb_error eb_study_run(eb_study *study);
void eb_study_clear(eb_study *study);

/* The trials of a solver on a scene: budget entries. */
eb_trial *eb_study_trials(const eb_study *study, int scene, int solver);
/* The step of a run of a scene with so many steps between two times, s. */
double eb_study_dt(const eb_study *study, const eb_study_scene *scene, int64_t stride);
/* Of the k-th level: 1e-1, 10^-1.5, 1e-2, .. */
double eb_precision_level(int k);

/* Fills state, errors and costs over the seeds, and fronts, of `count` trials with `seeds` measured
 * runs each. */
EB_MUST eb_error eb_trials_judge(eb_trial *trials, int count, int seeds);
/* Whether any trial of the solver costs anything of the kind, as the harness or a solver of the
 * library counts it: who counts no products, or claims to, is in no comparison of them. */
bool eb_study_counts(const eb_study *study, int solver, eb_cost_kind kind);
/* Fills study->profiles from measured trials. */
EB_MUST eb_error eb_study_profile(eb_study *study);

#endif
