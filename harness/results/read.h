/* Reading result files.
 *
 * Opening reads the attributes of all runs; columns, residuals, frames and meshes are read when
 * asked for and belong to the caller (free()). */
#ifndef EB_RESULTS_READ_H
#define EB_RESULTS_READ_H

#include "harness/results/record.h"
#include "harness/results/schema.h"
#include "problems/base/strings.h"
#include "problems/mesh/mesh.h"
#include "problems/step.h"

typedef struct eb_results eb_results;

/* Opens a result file. EB_ERR_IO: missing or unreadable; EB_ERR_FORMAT: not HDF5, truncated, not
 * ours, other schema. */
EB_MUST eb_error eb_results_open(const char *path, eb_results **out);
void eb_results_close(eb_results *results);
const char *eb_results_path(const eb_results *results);
/* The open HDF5 file, for copying groups. */
hid_t eb_results_file(const eb_results *results);

/* Runs in the order of their plan, then of their names. */
int eb_results_count(const eb_results *results);
const eb_run *eb_results_run(const eb_results *results, int run);
/* The run of that identity, or -1. */
int eb_results_find(const eb_results *results, const char *identity);

/* ---- for readers of one part of the file ----------------------------------------------------- */

/* Puts file and run before the words of an error, if there is one. Those of the functions below
 * need it. */
eb_error eb_results_locate(const eb_results *results, int run, eb_error error);
/* Whether a run has an object of that path. */
bool eb_results_has(const eb_results *results, int run, const char *path);
/* Opens a group of a run's scene ("": the scene's own); *out < 0 when there is none. */
EB_MUST eb_error eb_results_scene_group(const eb_results *results, int run, const char *name,
                                        hid_t *out);
/* One row of a dataset of a run over frames, whose rows have the shape `row`, in memory of its own
 * that the caller frees. EB_ERR_LIBRARY when there is no such dataset, EB_ERR_USAGE when it has no
 * row of that number, EB_ERR_FORMAT when its rows have another shape. */
EB_MUST eb_error eb_results_frame_row(const eb_results *results, int run, const char *path,
                                      size_t frame, hid_t memory, eb_h5_shape row, void **out);

/* ---- runs ------------------------------------------------------------------------------------ */

/* The text of the file that the scene of a run was from, "" for a scene of the catalogue. The
 * caller frees *out. */
EB_MUST eb_error eb_results_scene_text(const eb_results *results, int run, char **out);

/* A one-dimensional dataset of a run as doubles, by its path: "steps/wall", "phases/factor",
 * "parts/bone/turn_x", "residuals/values", "frames/time". Runs without tables (skipped, or crashed
 * in their set-up) give *count = 0 and a valid pointer; what is left out since it is 0 throughout
 * (harness/results/schema.h) gives zeros. A path that a run with tables lacks is EB_ERR_LIBRARY.
 * The caller frees *values. */
EB_MUST eb_error eb_results_read(const eb_results *results, int run, const char *path,
                                 double **values, size_t *count);
/* The same of what all runs have, by its number (eb_schema_at). */
EB_MUST eb_error eb_results_steps(const eb_results *results, int run, int table, double **values,
                                  size_t *count);
/* One number of the run by its path: "subspace/null", "setup/flops". *out is NAN when the file does
 * not say, and 0 of what a set-up leaves out since it is. */
EB_MUST eb_error eb_results_number(const eb_results *results, int run, const char *path,
                                   double *out);
/* Appends the paths of what an entry stands for in a run: of what is in every run its own, of the
 * rest what the run has. */
EB_MUST eb_error eb_results_paths(const eb_results *results, int run, const eb_schema_entry *entry,
                                  eb_strings *out);
/* Appends the names in a group of the run; none where there is no such group. */
EB_MUST eb_error eb_results_members(const eb_results *results, int run, const char *group,
                                    eb_strings *out);

/* Bytes that the solver holds while it steps, by eb_memory_kind; NAN for kinds that the file does
 * not tell. */
EB_MUST eb_error eb_results_memory(const eb_results *results, int run,
                                   double bytes[EB_MEMORY_KINDS]);
/* The elimination tree of the solver's factorization; count 0 when the file has none. EB_ERR_FORMAT
 * when it is no forest in which children precede their parents, or has a front smaller than its
 * pivots. */
EB_MUST eb_error eb_results_tree(const eb_results *results, int run, eb_tree_log *out);
void eb_results_tree_clear(eb_tree_log *tree);

/* The solver's own residuals: those of step s are values[offsets[s]] .. values[offsets[s + 1] -
 * 1]. */
typedef struct eb_residuals {
  size_t steps;
  int64_t *offsets; /* steps + 1 */
  double *values;   /* offsets[steps] */
  double *seconds;  /* wall seconds since the step began, beside each value */
  char *norm;       /* what the values are */
  /* How many residuals of step s there were before the problem was made anew within it:
   * rounds[round_offsets[s]] .. rounds[round_offsets[s + 1] - 1]; NULL without steps. */
  int64_t *rounds, *round_offsets;
} eb_residuals;
EB_MUST eb_error eb_results_residuals(const eb_results *results, int run, eb_residuals *out);
void eb_residuals_clear(eb_residuals *residuals);

EB_MUST eb_error eb_results_frame_count(const eb_results *results, int run, size_t *out);
/* The shapes of all that a run keeps of its frames: rows for `count` frames at least, as wide as
 * the run says. Reads nothing. */
EB_MUST eb_error eb_results_check_frames(const eb_results *results, int run, size_t count);
/* Positions of one frame, nodes x 3, m. */
EB_MUST eb_error eb_results_frame(const eb_results *results, int run, size_t frame, float **out);
/* Bytes of one number of a dataset over frames, by its path ("frames/velocities"): 4 or 8, and 0
 * when the run has none of that name. */
EB_MUST eb_error eb_results_frame_precision(const eb_results *results, int run, const char *path,
                                            int *bytes);
/* Whether the run has brought element matrices up to date, and how often each since the frame
 * before, saturating at 255 (*out is NULL when it never has, or the file does not tell). */
bool eb_results_has_updates(const eb_results *results, int run);
EB_MUST eb_error eb_results_updates(const eb_results *results, int run, size_t frame,
                                    uint8_t **out);

/* What of a scene's rigid bodies is in one frame: their bones (count x 2 x 3: pivot and tip, m),
 * and their joints (count x 2: angle, rad, and rate, rad/s). *count is 0 and *out NULL when the run
 * has none. */
EB_MUST eb_error eb_results_bones(const eb_results *results, int run, size_t frame, int32_t *count,
                                  float **out);
EB_MUST eb_error eb_results_joints(const eb_results *results, int run, size_t frame, int32_t *count,
                                   double **out);

/* The contacts of all frames of a run. */
typedef struct eb_result_contacts {
  int32_t count;
  int64_t *offsets;  /* frames + 1: those of frame f are offsets[f] .. offsets[f + 1] - 1 */
  int32_t *vertices; /* count x 4: nodes of the run and, behind them, vertices of its obstacles */
  double *weight;    /* count x 4, signed */
  double *frame;     /* count x 9, rows n, t1, t2 */
  double *force;     /* count x 3, N, in the frame: vertex i is pushed by weight_i frame^T force */
} eb_result_contacts;
/* Those of `frames` frames; none (offsets NULL) when the run has no list of contacts. EB_ERR_FORMAT
 * when offsets fall or end beyond the lists; vertices may be any numbers. The caller clears
 * *out. */
EB_MUST eb_error eb_results_contacts(const eb_results *results, int run, size_t frames,
                                     eb_result_contacts *out);
void eb_result_contacts_clear(eb_result_contacts *contacts);

/* The mesh of a run's scene, with all scripted cuts made (regions and fibres included, node sets
 * not), and its surface over the mesh's nodes. */
EB_MUST eb_error eb_results_mesh(const eb_results *results, int run, eb_mesh **out);
typedef struct eb_result_surface {
  int32_t triangle_count;
  int32_t *triangles; /* triangle_count x 3 nodes, outward */
  int32_t *region;    /* triangle_count: region of the element behind */
} eb_result_surface;
EB_MUST eb_error eb_results_surface(const eb_results *results, int run, eb_result_surface *out);
void eb_result_surface_clear(eb_result_surface *surface);

/* What a run's scene is made of, before any cut. */
typedef struct eb_result_scene {
  bool told;               /* false of runs that ended before their scene was built */
  char material[400];      /* kinds of all regions, each once; behind a + fibres that some have */
  int dimensions;          /* in which nodes move: 2 for triangles */
  int64_t joints, carried; /* of the articulation, and nodes that ride on it */
} eb_result_scene;
EB_MUST eb_error eb_results_scene(const eb_results *results, int run, eb_result_scene *out);

/* /environment as texts. */
typedef struct eb_fact {
  char *name, *value;
} eb_fact;
const eb_fact *eb_results_facts(const eb_results *results, int *count);
/* The value of that name, or "". */
const char *eb_results_environment(const eb_results *results, const char *name);
/* Which of the file's machines the run is of: a name in /environments, or "" of /environment. The
 * caller frees it. */
EB_MUST eb_error eb_results_machine(const eb_results *results, int run, char **out);

#endif
