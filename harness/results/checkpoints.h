/* Checkpoints: states that a run keeps in doubles, for other runs to start from (record.h has the
 * layout). */
#ifndef EB_RESULTS_CHECKPOINTS_H
#define EB_RESULTS_CHECKPOINTS_H

#include "harness/results/read.h"
#include "harness/results/table.h"
#include "problems/scene_impl.h"

/* ---- writing --------------------------------------------------------------------------------- */

enum { EB_CHECKPOINT_TABLES = 10 };

/* Tables are to be started, and are closed and committed by whoever has the writer. */
typedef struct eb_checkpoint_writer {
  int32_t nodes;
  double *vectors; /* nodes x 3; NULL before it is open */
  eb_table tables[EB_CHECKPOINT_TABLES];
} eb_checkpoint_writer;

/* Makes the group `checkpoints` in an open run. States are kept over `nodes` nodes, those of the
 * mesh with all cuts made. */
EB_MUST eb_error eb_checkpoint_writer_open(hid_t run, const eb_scene *scene, int32_t nodes,
                                           eb_checkpoint_writer *writer);
/* The state after step state->step, which began at the time `began` (s); for the state before any
 * step that is its own time. Cuts that are due by `began` have been made on its mesh. */
EB_MUST eb_error eb_checkpoint_writer_add(eb_checkpoint_writer *writer, const eb_state *state,
                                          double began);
void eb_checkpoint_writer_clear(eb_checkpoint_writer *writer);

/* ---- reading --------------------------------------------------------------------------------- */

/* Which states a run has kept. */
typedef struct eb_checkpoints {
  const eb_results *results;
  int run;
  size_t count;
  double *step, *began, *nodes; /* count each; nodes: of the mesh at the state */
} eb_checkpoints;

/* count is 0 for a run that keeps none. The results must outlive *out. */
EB_MUST eb_error eb_checkpoints_open(const eb_results *results, int run, eb_checkpoints *out);
void eb_checkpoints_close(eb_checkpoints *checkpoints);
/* The row of the state after that step, or -1. */
int64_t eb_checkpoints_find(const eb_checkpoints *checkpoints, int64_t step);
/* Fills the values and the clock of a state that has the nodes of the row already, and as many
 * joints and bodies; EB_ERR_FORMAT when the row has others. */
EB_MUST eb_error eb_checkpoints_read(const eb_checkpoints *checkpoints, size_t row,
                                     eb_state *state);
/* The positions of a row's nodes, nodes x 3, m. The caller frees *out. */
EB_MUST eb_error eb_checkpoints_positions(const eb_checkpoints *checkpoints, size_t row,
                                          double **out);

#endif
