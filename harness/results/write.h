/* Writing the result of one case into a file of its own, which is a whole result file with one run.
 *
 * Rows wait in memory until eb_recorder_commit, which appends them and flushes: between two commits
 * the file on disk is always readable, so that a crash of the solver costs the rows since the last
 * commit and no more. */
#ifndef EB_RESULTS_WRITE_H
#define EB_RESULTS_WRITE_H

#include "harness/results/record.h"
#include "problems/scene_impl.h"
#include "problems/step.h"

/* Of several ranks one has a recorder: with NULL all functions below record nothing, and are
 * good. */
typedef struct eb_recorder eb_recorder;

/* Creates the file with schema, environment (copied from `environment`, a group, or left out when
 * negative), the run's attributes as they are now and, when `scene` is not NULL, the scene, its
 * mesh with all scripted cuts made, and empty tables. `run`, which says which frames are stored, is
 * not kept; the scene must outlive the recorder. */
EB_MUST eb_error eb_recorder_create(const char *path, hid_t environment, const eb_run *run,
                                    const eb_scene *scene, eb_recorder **out);
/* Keeps the text of the file that the run's scene is from; nothing of scenes of the catalogue. */
EB_MUST eb_error eb_recorder_scene_text(eb_recorder *recorder, const eb_scene_ops *scene);
/* Phases, counters, memory and elimination tree of the set-up. */
EB_MUST eb_error eb_recorder_setup(eb_recorder *recorder, const eb_step_log *log);
/* One row of steps/, phases/, counters/ and residuals/. Allocates only to grow. */
EB_MUST eb_error eb_recorder_step(eb_recorder *recorder, const double row[EB_COL_COUNT],
                                  const eb_step_log *log);
/* Opens a group of columns of steps (harness/results/schema.h), "parts/bone", which otherwise its
 * first row does. Its name is such as a file can have. */
EB_MUST eb_error eb_recorder_open(eb_recorder *recorder, const char *group);
/* A row of such a group beside the last one of eb_recorder_step. Steps without one have NaN. */
EB_MUST eb_error eb_recorder_row(eb_recorder *recorder, const char *group, const double *row);
/* Adds a number of the run; of EB_NUMBER_FIRST_OF_REGION and on, with the name of a region. */
EB_MUST eb_error eb_recorder_number(eb_recorder *recorder, eb_run_number number, const char *region,
                                    double value);
/* The subspace that the steps declare, in runs whose frames are those of every step; once. */
EB_MUST eb_error eb_recorder_basis(eb_recorder *recorder, const struct eb_subspace_record *s);
/* What is stored of a run in one moment. */
typedef struct eb_frame {
  /* at the end of a step, on the mesh that the scene then has, or the initial one */
  const eb_state *state;
  const eb_state *before; /* at its start; NULL: there was no step, and no force is told */
  /* how often each element was updated since the frame before (eb_step_log.element_updates);
   * NULL when nobody counts */
  const uint8_t *updates;
  const struct eb_contact_record *contacts; /* of the step, or NULL */
  /* Of scenes whose script is not asked, because ranks have it in parts (case/gathered.h): of the
   * nodes, whether each is scripted and where it belongs then, x 4, else 0; f_ext less weight of
   * the step, x 3, N. NULL: the scene is asked. */
  const double *held, *force;
  const double *unfiltered; /* velocities that friction of the step has filtered, x 3; or NULL */
} eb_frame;
/* f_ext less weight (nodes x 3, N) of the step that starts at `before`. */
void eb_force_beyond_weight(const eb_scene *scene, const eb_state *before, double *force);
/* Rows wait for a commit unless they have grown large. */
EB_MUST eb_error eb_recorder_frame(eb_recorder *recorder, const eb_frame *frame);
/* Keeps a state in doubles for other runs to start from (harness/results/checkpoints.h); `began` is
 * when its step began, s. */
EB_MUST eb_error eb_recorder_checkpoint(eb_recorder *recorder, const eb_state *state, double began);
/* The group of the run, for what others keep there; negative without a recorder. */
hid_t eb_recorder_run(const eb_recorder *recorder);
EB_MUST eb_error eb_recorder_commit(eb_recorder *recorder);
/* Rewrites the run's attributes, commits and closes; the recorder can then only be destroyed. */
EB_MUST eb_error eb_recorder_finish(eb_recorder *recorder, const eb_run *run);
void eb_recorder_destroy(eb_recorder *recorder);

#endif
