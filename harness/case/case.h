/* A case: one run of one solver on one scene, fully specified. */
#ifndef EB_CASE_H
#define EB_CASE_H

#include "harness/plugin.h"
#include "harness/ranges.h"
#include "harness/results/record.h"
#include "problems/base/strings.h"
#include "problems/ranks/ranks.h"
#include "problems/scene_impl.h"

/* Where a case starts that does not start from the scene's initial state: states that another run,
 * the source run, has kept as checkpoints. */
typedef struct eb_origin {
  char *run;           /* id of the source run; NULL: there is none */
  char *file;          /* result file that has it; NULL: the one that the case goes into */
  uint64_t source_run; /* hash of the source run's origin and work, part of the identity */
  eb_range steps;      /* of the source run, after which the states were */
  /* the case takes one step from each state; else there is one, and the case goes on from it */
  bool samples;
} eb_origin;

typedef struct eb_case {
  const eb_scene_ops *scene; /* held: eb_case_clear closes it */
  const eb_solver_ops *solver;
  char *parameters, *options; /* as given: "E=1e6,dt=1e-3", or NULL for the defaults */
  char *mesh_file;            /* or NULL */
  char *plugin;               /* path of the shared object, or NULL */
  int threads, repetition;    /* repetitions count from 0 */
  int ranks; /* processes that share the case, by the solver's option `ranks`; 1: it has none */
  bool distributed; /* this process is one of those that mpiexec has started */
  int64_t seed, steps, order;
  int64_t contact_problem; /* the step whose contact problem is kept, from 1 on; 0: none */
  eb_frames frames;        /* which steps have a frame; EB_FRAMES_UNSET is EB_FRAMES_INTERVAL */
  bool examine;            /* a declared subspace: harness/audit/examine.h */
  int64_t embed;           /* points an element of the mesh at rest: harness/audit/embedding.h */
  eb_origin from;          /* times go on from the source run's; steps count from 1 */
  eb_ranges checkpoints;   /* steps after which the state is kept for other cases */
  double timeout, memory;  /* s, bytes */
  /* cases of one group are competitors: same scene, parameters and threads, or one `group` of a
   * suite */
  int group;
  /* 1 + the place in the plan of the case that this one starts from; 0: it starts from none of
   * the plan */
  int source_run;
  /* of the file that the scene is from, in digits, when the case was planned; NULL: of none, or
   * not resolved */
  char *scene_digest;
  char *all_parameters, *all_options; /* resolved, canonical */
  char *task;                         /* scene, solver, origin ... as text: equal for equal steps */
  /* that and what is kept beside: equal for cases of which one answers for the other */
  char *identity;
  char id[160]; /* name of the run in a result file */
} eb_case;

/* Resolves parameters and options (EB_ERR_USAGE with the nearest match when wrong) and makes
 * identity and id. `plugin` is where the solver comes from, or NULL. A scene's
 * file, a mesh file and a plug-in enter the identity by content. */
EB_MUST eb_error eb_case_resolve(eb_case *work, const eb_plugin *plugin);
/* Makes identity and id anew, when checkpoints or an examination have been asked for since. */
EB_MUST eb_error eb_case_identify(eb_case *work);
/* Copies what is asked for, not what is resolved. */
EB_MUST eb_error eb_case_copy(const eb_case *from, eb_case *to);
void eb_case_clear(eb_case *work);

/* The attributes known before the case runs. */
EB_MUST eb_error eb_case_describe(const eb_case *work, eb_run *run);

/* The next material of a plug-in, from *at on (0 at first), that the case may have: the one that
 * its parameters choose, and those that the scene's file names and cannot be read without. NULL
 * behind the last. */
const eb_plugged *eb_case_material(const eb_case *work, int *at);

/* Appends "PROGRAM COMMAND SCENE SOLVER" and the flags of what is computed, which all processes
 * that work on a case take. */
EB_MUST eb_error eb_case_command(const eb_case *work, const char *program, const char *command,
                                 eb_strings *out);

/* The scene, or with `ranks` this process's part of it; then all ranks call. EB_ERR_UNSUPPORTED:
 * its file is no longer what was planned. */
EB_MUST eb_error eb_case_scene(const eb_case *work, const eb_ranks *ranks, eb_scene **out);

/* The command line of the process that runs the case: program, "case", flags; of several ranks
 * what starts them stands before it (launch.h), and each has it. `source run` is the file
 * that has the run it starts from, or NULL. */
EB_MUST eb_error eb_case_arguments(const eb_case *work, const char *program,
                                   const char *environment, const char *source_run,
                                   const char *output, eb_strings *out);

#endif
