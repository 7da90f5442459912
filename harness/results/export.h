/* Results for other programs. `ids` selects runs; all when it is empty. */
#ifndef EB_RESULTS_EXPORT_H
#define EB_RESULTS_EXPORT_H

#include <jansson.h>
#include <stdio.h>

#include "harness/results/read.h"
#include "problems/base/strings.h"
#include "problems/base/text.h"

/* {"environment", "runs": [attributes, "steps", "phases", "counters", "setup", "residuals", and
 * where the run has them "parts", "rotation", "subspace", "element", "embedding"]}; numbers that
 * are not finite are null. */
EB_MUST eb_error eb_export_json(const eb_results *results, const eb_strings *ids, FILE *out);
/* One line a step of every run: id, scene, solver, options, threads, repetition, then eb_columns,
 * phases and counters. Texts are quoted as in RFC 4180, in one line each, and with an apostrophe
 * before = + - @ at their start, which are no formulas. */
EB_MUST eb_error eb_export_csv(const eb_results *results, const eb_strings *ids, FILE *out);
/* Every run is a test: one that completed and passed its audit has passed; one that the audit or
 * its own outcome speaks against has failed, by the names of the broken rules; one that crashed or
 * was ended at a limit is in error; harness/results/ci.h has both formats. */
EB_MUST eb_error eb_export_junit(const eb_results *results, const eb_strings *ids, FILE *out);
EB_MUST eb_error eb_export_tap(const eb_results *results, const eb_strings *ids, FILE *out);
/* Runs that have times to be compared (eb_export_timed) as google-benchmark's JSON
 * (harness/results/benchmark.h): repetitions of one name, the median step of each. */
EB_MUST eb_error eb_export_benchmark(const eb_results *results, const eb_strings *ids, FILE *out);
/* The text of the file that the scene of the runs is from. EB_ERR_USAGE: none is from a file, or
 * they are from several. */
EB_MUST eb_error eb_export_scene(const eb_results *results, const eb_strings *ids, FILE *out);
/* Whether a run completed with steps that its audit does not contradict. */
bool eb_export_timed(const eb_run *run);
/* One XDMF 3 file a run that has frames, which refers to the arrays in the result file: ParaView,
 * VTK and meshio read it, with position and velocity at the nodes, region and updates as values of
 * the cells; and one of its bones as lines and one of its obstacles when it has any. Files go to
 * `folder` (made when missing), or beside the result file when NULL, named <result>.<id>.xdmf,
 * <result>.<id>.bones.xdmf and <result>.<id>.obstacles.xdmf; their paths are printed to
 * `out`. <result>.<id>.frames.hdf5 has a virtual dataset for every frame's part of an array and no
 * numbers of its own. *written is the number of runs. */
EB_MUST eb_error eb_export_xdmf(const eb_results *results, const eb_strings *ids,
                                const char *folder, FILE *out, int *written);

/* One VTK file (.vtu) a frame and part - bodies, bones, obstacles, contacts - in a folder
 * <result>.<id>, and <result>.<id>.pvd over all of them, which ParaView opens; *written, folder and
 * out as above. Bodies have velocity, displacement (from rest), force (frames/force) and fixed
 * (frames/fixed) at their nodes, where the file has them, and region and updates of their cells. */
EB_MUST eb_error eb_export_vtu(const eb_results *results, const eb_strings *ids, const char *folder,
                               FILE *out, int *written);

/* ---- what exports share ---------------------------------------------------------------------- */

/* Adds the attributes of a group of environments to an object; none where there is no group. */
EB_MUST eb_error eb_export_environment(hid_t file, const char *path, json_t *json);

/* Whether `ids` selects the run. */
bool eb_export_selects(const eb_strings *ids, const eb_run *run);
/* Of a path what is behind its folder. */
const char *eb_export_file_name(const char *path);
/* "<folder>/<result without .h5>.<id>.<suffix>", or that beside the result file; without a suffix
 * nothing follows the id. The caller clears *path. */
EB_MUST eb_error eb_export_path(const eb_results *results, int run, const char *folder,
                                const char *suffix, eb_text *path);
/* Writes files of a run, when it has what they are of, and prints their paths. */
typedef eb_error eb_export_run(const eb_results *results, int run, const char *folder, FILE *out,
                               bool *written);
/* That of every selected run; `folder` is made when missing. */
EB_MUST eb_error eb_export_each(const eb_results *results, const eb_strings *ids,
                                const char *folder, FILE *out, eb_export_run *export_run,
                                int *written);

#endif
