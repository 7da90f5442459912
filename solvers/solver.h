/* Solvers: how a scene is stepped. One of the two headers a plug-in author reads (the other:
 * problems/scene.h).
 *
 * A solver is one static const eb_solver_ops. Built in, it is one line of solvers/registry.h; in a
 * shared object it is exported as the symbol `elastobench_solver`, and `elastobench run ...
 * --plugin ./it.so -s NAME` runs it. */
#ifndef EB_SOLVER_H
#define EB_SOLVER_H

#include "problems/base/plugin_abi.h"
#include "problems/scene.h"
#include "problems/step.h"

#pragma GCC visibility push(default) /* exported */

typedef struct eb_solver_ops eb_solver_ops;

/* What a solver holds beside program, scene and audit, as it was measured: `run --dry-run`
 * foretells memory by it (harness/predict/README.md). */
typedef struct eb_memory_model {
  /* The values of its option `linear` that were measured, whose own memory comes on top
   * (harness/predict/memory.c has it): "cholesky|cg". NULL: all that it solves with is here. */
  const char *linear;
  double fixed;                      /* byte: libraries */
  double node, element, block;       /* byte each; of blocks of the scene's matrix 72 are a copy */
  double factor, updates, workspace; /* of those of that matrix' Cholesky factor */
  double margin;                     /* a share of it all */
} eb_memory_model;

/* What a step of the catalogue takes in the mean, by which time is foretold. */
typedef struct eb_time_model {
  double iterations;
  bool sweeps; /* an iteration visits the elements of each node, and assembles no system */
} eb_time_model;

/* What is to be known before a solver runs with its defaults. */
typedef struct eb_caveat {
  uint32_t needs;   /* of scenes that ask for one of these eb_capability bits; 0: of all scenes */
  const char *note; /* a sentence without its stop */
  const char *cure; /* options with which it does not hold, "polish=true"; NULL: there are none */
} eb_caveat;

/* A solver at work on one scene. */
typedef struct eb_solver {
  const eb_solver_ops *ops;
  const eb_values *options; /* resolved; set before create */
  const eb_scene *scene;    /* outlives the solver; set before create */
  eb_step_log *setup_log;   /* phases and counters of the set-up; set before create */
  int threads;              /* OpenMP threads it may use */
  uint64_t seed;            /* of everything random in it */
  void *data;               /* the solver's own */
  /* What steps declare: by the table before create, which may know better. */
  eb_update update;
  /* A child process that create has started and destroy will end: the harness counts its time and
   * memory as the solver's, and lets it have no children. 0: there is none, nor may there be. */
  int process;
  const char *described; /* what that program calls itself; NULL: nothing */
  bool created;          /* there is something for ops->destroy to release */
} eb_solver;

struct eb_solver_ops {
  const char *name, *summary, *citation;
  uint32_t capabilities; /* eb_capability bits it serves */
  eb_update update; /* how positions follow from velocities, in every step that is not static */
  const eb_option *options; /* ended by a NULL name; NULL when none */
  /* Allocates everything a step needs. On failure nothing stays allocated. */
  eb_error (*create)(eb_solver *solver, const eb_scene *scene);
  /* Advances state by dt in place (x, v, time, step). The state need not be the one that the last
   * step has left, nor near it: what a solver keeps of that step may be where it starts, not what
   * it relies on. On a negative reason the state is as the method left it and the harness decides.
   * Must not allocate. */
  eb_error (*step)(eb_solver *solver, eb_state *state, double dt, eb_step_log *log,
                   eb_reason *reason);
  void (*destroy)(eb_solver *solver);
  /* Follows a change of scene->mesh (eb_scene_advance), with the state at the start of the step;
   * only asked of solvers with EB_CAP_CUTTING. NULL: destroy and create. After a failure only
   * destroy is called. */
  eb_error (*rebuild)(eb_solver *solver, const eb_state *state, eb_step_log *log);
  /* The accuracy that the solver declares, and `elastobench check` holds it to: with the options
   * `tightest` (NULL: the defaults) accelerations of bodies in contact are within accuracy g of the
   * exact ones. 0: EB_ACCURACY. More than EB_COARSEST_ACCURACY is not granted. */
  const char *tightest;
  double accuracy;
  /* Takes the place of `update` where that follows from the options. NULL: it does not. */
  eb_update (*update_of)(const eb_values *options);
  /* Options with which steps without contact solve their equation for all nodes, to rounding:
   * `elastobench check` measures orders and conservation with them. NULL: the defaults do. */
  const char *exact;
  /* Options that trade accuracy for cost, in ranges from what nobody needs to what hardly solves
   * anything, which `elastobench precision` turns beside the time step: "rtol=1e-8..1e-1
   * order=1|2". No options that change the equation (damping, stiffness): they make another motion,
   * not a coarser one. "": none; NULL: nobody has said. */
  const char *accuracy_options;
  /* NULL: nobody has measured. */
  const eb_memory_model *memory;
  const eb_time_model *time;
  const eb_caveat *caveats; /* ended by a NULL note; NULL: none */
};

#define EB_ACCURACY          1e-4
#define EB_COARSEST_ACCURACY 1e-2

/* What one eb_capability bit stands for, in words; NULL for a bit that has no meaning. */
const char *eb_capability_name(uint32_t bit);

/* The same of all bits, "tetrahedra, fibres". */
void eb_capability_names(uint32_t bits, char *out, size_t bytes);
/* The needs that are not served. */
uint32_t eb_capabilities_lacking(uint32_t serves, uint32_t needs);
/* The eb_capability bits that the scene asks for and the solver does not serve. */
uint32_t eb_solver_lacks(const eb_solver_ops *ops, const eb_scene *scene);

/* EB_ERR_UNSUPPORTED names what the scene asks for and these bits do not serve. */
EB_MUST eb_error eb_solver_require(const char *name, uint32_t serves, const eb_scene *scene);

/* Whether it cannot be created with its defaults: an option has none. */
bool eb_solver_wants_options(const eb_solver_ops *ops);

/* All built-in solvers, ended by NULL. */
const eb_solver_ops *const *eb_solvers(void);
/* NULL when there is none of that name. */
const eb_solver_ops *eb_solver_find(const char *name);

/* What the steps of a solver with these options declare: ops->update_of, or ops->update. */
eb_update eb_solver_update(const eb_solver_ops *ops, const eb_values *options);

/* The defaults that the scene has for a solver of this name, "a=1,b=x"; NULL: none but its own. */
const char *eb_solver_defaults(const eb_solver_ops *ops, const eb_scene_ops *scene);
/* Its options on that scene, resolved: what is not given is the scene's default, or its own. The
 * caller destroys *out. */
EB_MUST eb_error eb_solver_options(const eb_solver_ops *ops, const eb_scene_ops *scene,
                                   const char *options, eb_values **out);

/* Creates a solver: resolves `options` ("linear=cg,rtol=1e-6"), checks capabilities against the
 * scene (EB_ERR_UNSUPPORTED says which are missing), calls ops->create. The caller destroys *out.
 */
EB_MUST eb_error eb_solver_create(const eb_solver_ops *ops, const char *options,
                                  const eb_scene *scene, int threads, uint64_t seed,
                                  eb_solver **out);
void eb_solver_destroy(eb_solver *solver);
/* After a change of the scene's mesh: ops->rebuild, or destroy and create whose phases are added to
 * `log`; counts a rebuild. After a failure the solver can only be destroyed. */
EB_MUST eb_error eb_solver_rebuild(eb_solver *solver, const eb_state *state, eb_step_log *log);

/* What a plug-in defines: itself, and `elastobench_abi` (problems/base/plugin_abi.h). */
extern const eb_solver_ops elastobench_solver;

#pragma GCC visibility pop

#endif
