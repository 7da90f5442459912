/* What every part of a case's run needs: outcomes, the mesh after cuts, the solver. */
#include "harness/case/job.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness/case/crash_record.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

eb_error eb_job_conclude(eb_job *j, eb_outcome outcome, const char *detail) {
  EB_TRY(eb_string_set(&j->run.outcome, eb_outcome_name(outcome)));
  return eb_string_set(&j->run.detail, detail);
}

eb_error eb_job_conclude_error(eb_job *j, const char *where, eb_error failure) {
  char detail[1200];
  eb_error_code code = eb_error_kind(failure);
  eb_outcome outcome = code == EB_ERR_MEMORY        ? EB_OUTCOME_OUT_OF_MEMORY
                       : code == EB_ERR_UNSUPPORTED ? EB_OUTCOME_SKIPPED
                                                    : EB_OUTCOME_FAILED;
  snprintf(detail, sizeof detail, "%s: %s", where, eb_error_message(failure));
  eb_text_clean(detail);
  eb_error_free(failure);
  return eb_job_conclude(j, outcome, detail);
}

eb_error eb_job_follow_mesh(eb_job *j) {
  int32_t *part;
  eb_state_destroy(j->before);
  j->before = NULL;
  EB_TRY(eb_state_create(j->scene, &j->before));
  EB_TRY(EB_NEW(part, j->scene->mesh->node_count));
  eb_error error = eb_audit_components(j->scene, part, &j->components);
  free(part);
  return error;
}

eb_error eb_job_create_solver(eb_job *j) {
  enum { RESIDUALS_KEPT = 1 << 16 };
  const eb_case *work = j->work;
  uint64_t seed = (uint64_t)work->seed;
  eb_error error =
      j->stepper.solver
          ? eb_stepper_start(&j->stepper, work->solver, work->options, work->threads, seed)
          : eb_stepper_create(work->solver, work->options, j->scene, work->threads, seed,
                              RESIDUALS_KEPT, &j->stepper);
  EB_TRY(eb_ranks_agree(j->ranks, error));
  EB_TRY(eb_string_set(&j->run.update, eb_update_name(j->stepper.solver->update)));
  EB_TRY(eb_string_set(&j->run.client, j->stepper.solver->described));
  if (!eb_helper_set(&j->cost.helper, j->stepper.solver->process))
    return EB_ERROR(EB_ERR_INVALID, "the solver declares process %d, which is not its child",
                    j->stepper.solver->process);
  j->page->helper = j->stepper.solver->process;
  if (j->stepper.solver->process)
    j->integrity.children = true; /* that one; it is asked of others */
  return EB_OK;
}
