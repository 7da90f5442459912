/* What the harness holds beside the solver to audit its steps: a scene of its own, built anew from
 * the case, so that nothing a solver writes to its scene reaches the audit; audits and
 * flights on that scene's mesh; and the verdict so far. */
#ifndef EB_CASE_WITNESS_H
#define EB_CASE_WITNESS_H

#include "harness/case/case.h"
#include "harness/case/verdict.h"
#include "harness/results/record.h"

typedef struct eb_witness {
  eb_scene *scene;
  eb_state *state; /* that cuts are made on */
  eb_team *team;   /* threads that audit; they sleep while the solver steps */
  eb_audit *audit;
  eb_contact_audit *contact; /* of contact as constraints; NULL when the scene has none */
  eb_flight *flight;
  eb_verdict verdict;
} eb_witness;

/* Before the solver is created. */
EB_MUST eb_error eb_witness_create(const eb_case *work, eb_witness *out);
void eb_witness_clear(eb_witness *witness);

/* Brings the scene to the start of a step at `state`, which cuts may still have to part there. */
EB_MUST eb_error eb_witness_advance(eb_witness *witness, const eb_state *state);
/* Audits and judges the step that led from `before` to `after`; `row` receives the columns of the
 * audit, *finite whether state and audit are. */
EB_MUST eb_error eb_witness_step(eb_witness *witness, const eb_state *before, const eb_state *after,
                                 const eb_solver_ops *solver, const eb_step_log *log,
                                 eb_reason reason, double row[EB_COL_COUNT], bool *finite);
/* The step that comes does not begin where the last one ended: flights begin anew, and no sum
 * reaches across. */
EB_MUST eb_error eb_witness_jump(eb_witness *witness);
/* The same for a step that belongs to no run, from a state that the solver has not been led to:
 * what does not answer to it breaks rule "replay". */
EB_MUST eb_error eb_witness_challenge(eb_witness *witness, const eb_state *before,
                                      const eb_state *after, const eb_solver_ops *solver,
                                      const eb_step_log *log, eb_reason reason);
/* Compares the solver's scene with ours at the end; what is different breaks rule "scene". */
EB_MUST eb_error eb_witness_compare(eb_witness *witness, const eb_scene *scene);
/* The verdict's attributes of the run; `log` is that of the last step. */
EB_MUST eb_error eb_witness_fill(eb_witness *witness, const eb_step_log *log, eb_run *run);

#endif
