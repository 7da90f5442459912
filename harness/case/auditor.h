/* What the harness holds beside the solver to audit its steps: a scene of its own, built anew from
 * the case, so that nothing a solver writes to its scene reaches the audit; audits and
 * flights on that scene's mesh; and the verdict so far. */
#ifndef EB_CASE_AUDITOR_H
#define EB_CASE_AUDITOR_H

#include "harness/audit/examine.h"
#include "harness/audit/rotations.h"
#include "harness/case/case.h"
#include "harness/case/verdict.h"
#include "harness/results/breaches.h"

typedef struct eb_auditor {
  const eb_ranks *ranks; /* NULL: one process has the scene */
  double *shared;  /* of its nodes x 3: workspace of eb_auditor_synchronize; NULL without ranks */
  eb_scene *scene; /* the reference that the solver's is compared with */
  eb_state *state; /* that cuts are made on */
  eb_team *team;   /* threads that audit; they sleep while the solver steps */
  eb_audit *audit;
  eb_contact_audit *contact; /* of contact as constraints; NULL when the scene has none */
  eb_momentum_balance *momentum;
  eb_parts *parts;
  eb_part_row *part_rows;  /* of the step audited last: a part each; NaN where it is not finite */
  eb_rotations *rotations; /* of solvers that record any; NULL before */
  eb_rotation_row rotation_row; /* of the step audited last */
  bool rotated;                 /* it has recorded them */
  bool examines;                /* declared subspaces */
  unsigned friction_models;     /* 1 << eb_friction_model: those that steps have declared */
  int threads;                  /* of the solver */
  eb_verdict verdict;
} eb_auditor;

/* Before the solver is created. With `ranks`, which outlive it, of this one's part of the scene;
 * then every function below is for all ranks to call together, unless it says otherwise. Figures
 * and verdict are those of the whole, and the same on all. */
EB_MUST eb_error eb_auditor_create(const eb_case *work, const eb_ranks *ranks, eb_auditor *out);
void eb_auditor_clear(eb_auditor *auditor);

/* Brings the scene to the start of a step at `state`, which cuts may still have to part there. */
EB_MUST eb_error eb_auditor_advance(eb_auditor *auditor, const eb_state *state);
/* Audits and judges the step that led from `before` to `after` by the solver's update; `row` has
 * its wall time, or 0, and receives the columns of the audit, *finite whether state and audit are.
 */
EB_MUST eb_error eb_auditor_step(eb_auditor *auditor, const eb_state *before, const eb_state *after,
                                 eb_update update, const eb_step_log *log, eb_reason reason,
                                 double row[EB_COL_COUNT], bool *finite);
/* What ranks have of the same nodes must be the same, bit by bit, and the least of their reasons is
 * that of the step: what differs breaks rule "ranks". In `state` and *reason is then what all have:
 * of nodes what their owners have. */
void eb_auditor_synchronize(eb_auditor *auditor, eb_state *state, eb_reason *reason);
/* The figures of the parts after it: parts x EB_PART_COLUMNS. Not collective. */
void eb_auditor_part_columns(const eb_auditor *auditor, double *rows);
/* The figures of the rotations of the step audited last; false: it has recorded none, or there are
 * ranks, of which none are told. Not collective. */
bool eb_auditor_rotation_columns(const eb_auditor *auditor, double row[EB_ROTATION_COLUMNS]);
/* The subspace that the step declares, whose run starts from `start`; *sound is false when there is
 * none that could be. */
EB_MUST eb_error eb_auditor_examine(const eb_auditor *auditor, const eb_step_log *log,
                                    const eb_state *start, eb_subspace_figures *out, bool *sound);
/* The step that comes does not begin where the last one ended: flights begin anew, and no sum
 * reaches across. */
EB_MUST eb_error eb_auditor_reset(eb_auditor *auditor);
/* eb_auditor_step of a step that belongs to no run, from a state that the solver has not been led
 * to: what does not answer to it breaks rule "replay". */
EB_MUST eb_error eb_auditor_test_replay(eb_auditor *auditor, const eb_state *before,
                                        const eb_state *after, eb_update update,
                                        const eb_step_log *log, eb_reason reason);
/* Compares the solver's scene with ours at the end; what is different breaks rule "scene". */
EB_MUST eb_error eb_auditor_compare(eb_auditor *auditor, const eb_scene *scene);
/* The worst that was done to each broken rule, with its place; after eb_auditor_fill. The caller
 * clears *out also after an error. */
EB_MUST eb_error eb_auditor_breaches(const eb_auditor *auditor, eb_breaches *out);
/* The verdict's attributes of the run; `log` is that of the last step. */
EB_MUST eb_error eb_auditor_fill(eb_auditor *auditor, const eb_step_log *log, eb_run *run);

#endif
