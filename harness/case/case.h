/* A case: one run of one solver on one scene, fully specified. */
#ifndef EB_CASE_H
#define EB_CASE_H

#include "harness/plugin.h"
#include "harness/results/record.h"
#include "harness/strings.h"
#include "problems/scene.h"

typedef struct eb_case {
  const eb_scene_ops *scene;
  const eb_solver_ops *solver;
  char *parameters, *options; /* as given: "E=1e6,dt=1e-3", or NULL for the defaults */
  char *mesh_file;            /* or NULL */
  char *plugin;               /* path of the shared object, or NULL */
  int threads, repetition;    /* repetitions count from 0 */
  int64_t seed, steps, order;
  int64_t contact_problem; /* the step whose contact problem is kept, from 1 on; 0: none */
  eb_frames frames;        /* which steps have a frame; EB_FRAMES_UNSET is EB_FRAMES_INTERVAL */
  double timeout, memory;  /* s, bytes */
  int group; /* cases of one group are competitors: same scene, parameters and threads */
  char *all_parameters, *all_options; /* resolved, canonical */
  char *identity;                     /* scene, solver, ... as text: equal for equal work */
  char id[160];                       /* name of the run in a result file */
} eb_case;

/* Resolves parameters and options (EB_ERR_USAGE with the nearest match when wrong) and makes identity and id. `plugin` is where
 * the solver comes from, or NULL. A mesh file and a plug-in enter the identity by content. */
EB_MUST eb_error eb_case_resolve(eb_case *work, const eb_plugin *plugin);
void eb_case_clear(eb_case *work);

/* The attributes known before the case runs. */
EB_MUST eb_error eb_case_describe(const eb_case *work, eb_run *run);

/* The command line of the process that runs the case: program, "case", flags. */
EB_MUST eb_error eb_case_arguments(const eb_case *work, const char *program,
                                   const char *environment, const char *output, eb_strings *out);

#endif
