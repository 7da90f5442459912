/* The contact problem of a step in the result file (harness/fclib/store.h): off the clock, what the
 * method has solved last with its solution. */
#include "harness/case/job.h"
#include "harness/fclib/store.h"
#include "harness/results/h5.h"
#include "solvers/contact/record.h"

static eb_error keep(hid_t run, const eb_fclib *problem) {
  hid_t group;
  EB_TRY(eb_h5_group(run, EB_FCLIB_GROUP, &group));
  eb_error error = eb_fclib_write_into(group, problem);
  H5Gclose(group);
  return error;
}

eb_error eb_job_keep_contacts(eb_job *j) {
  const eb_contact_record *record = j->log->contacts;
  eb_fclib problem = {0};
  if (j->after->step != j->work->contact_problem || !record || !record->problem ||
      record->problem->count == 0)
    return EB_OK;
  eb_error error =
      eb_fclib_from_contact(record->problem, record->v, record->r, NULL, NULL, &problem);
  if (!error) error = keep(eb_recorder_run(j->recorder), &problem);
  eb_fclib_clear(&problem);
  return error;
}
