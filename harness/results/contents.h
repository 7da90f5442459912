/* What is in a result file: runs by short id, how they ended, with what, and what room they take;
 * and all that there is of one run. */
#ifndef EB_RESULTS_CONTENTS_H
#define EB_RESULTS_CONTENTS_H

#include <jansson.h>

#include "harness/doc/doc.h"
#include "harness/results/read.h"

/* A line a run: short id, scene, solver, outcome, audit, steps, frames, bytes. */
EB_MUST eb_error eb_contents_list(const eb_results *results, eb_doc *doc);
/* {"file", "runs": [{"id", "short", "scene", "parameters_changed", .., "bytes"}]}; the caller
 * releases *out. */
EB_MUST eb_error eb_contents_list_json(const eb_results *results, json_t **out);

/* The file and where it is from, its scenes, its runs and its sweeps. */
EB_MUST eb_error eb_contents_file(const eb_results *results, eb_doc *doc);
EB_MUST eb_error eb_contents_file_json(const eb_results *results, json_t **out);

/* The attributes and the datasets of a run. */
EB_MUST eb_error eb_contents_run(const eb_results *results, int run, eb_doc *doc);
EB_MUST eb_error eb_contents_run_json(const eb_results *results, int run, json_t **out);

#endif
