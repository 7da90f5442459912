/* What a study has found, shown: a document with plots, JSON, and the reference trajectories as a
 * file. */
#ifndef EB_PRECISION_PRECISION_DOC_H
#define EB_PRECISION_PRECISION_DOC_H

#include <jansson.h>

#include "harness/doc/doc.h"
#include "harness/precision/study.h"
#include "harness/results/profile.h"

/* A profile: by a kind of cost, over the least of all solvers; or by CPU time that is paid, in
 * steps of the reference's coarsest level. */
typedef struct eb_profile_of {
  eb_cost_kind kind;
  bool paid; /* kind is EB_COST_CPU */
} eb_profile_of;
/* A share of its problems: the mean over the seeds, and the extremes. */
typedef struct eb_share {
  double mean, least, most;
} eb_share;
/* Costs of the problems with a seed, as profiles take them. */
eb_costs eb_study_costs(const eb_study *study, eb_cost_kind kind, int seed);
/* Of those that a solver solves within `at` times the least cost, or for `at` units. */
eb_share eb_study_share(const eb_study *study, eb_profile_of of, int solver, double at);
/* The least and the largest `at` at which a share changes; INFINITY and 0 when none does. */
void eb_study_changes(const eb_study *study, eb_profile_of of, double *first, double *last);

/* Names of the plots that eb_study_draw has drawn, without ending. */
typedef struct eb_study_plots {
  bool (*scene)[EB_COST_KINDS]; /* scenes: DIR/SCENE-COST, as "0-cpu" */
  /* DIR/performance, DIR/performance-products, ..; DIR/data */
  bool performance[EB_COST_KINDS], data;
} eb_study_plots;
enum { EB_STEM = 40 };
/* Of a performance profile's plot: "performance", "performance-products", .. */
void eb_performance_stem(eb_cost_kind kind, char out[EB_STEM]);
EB_MUST eb_error eb_study_draw(const eb_study *study, const char *dir, eb_study_plots *drawn);
void eb_study_plots_clear(eb_study_plots *plots);

/* Appends what was found, with the plots that are drawn; NULL: none. */
void eb_study_show(const eb_study *study, const eb_study_plots *drawn, eb_doc *doc);
/* What a kind of cost is called: "CPU time", .. */
extern const char *const eb_cost_describe[EB_COST_KINDS];

EB_MUST eb_error eb_study_json(const eb_study *study, json_t **out);
/* DIR/trajectories.h5: of every scene whose reference stands a group "0", "1", .. with attributes
 * scene, parameters, error and speed_error, and time (s), positions and velocities (times x nodes x
 * 3; m, m/s). */
EB_MUST eb_error eb_study_write_trajectories(const eb_study *study, const char *path);

#endif
