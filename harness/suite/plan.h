/* From what the user asks for to the list of cases. */
#ifndef EB_PLAN_H
#define EB_PLAN_H

#include "harness/case/case.h"
#include "harness/suite/product.h"
#include "harness/suite/suite.h"
#include "harness/suite/sweep.h"

enum { EB_GRID_CASES = 1000 };

typedef struct eb_request {
  const eb_suite *suite; /* one that is no file, besides those that names say; or NULL */
  /* suites, scenes "NAME[:assignments]" or "FILE.ini[:assignments]", patterns such as
   * "conjac2020/" "*" */
  eb_strings names;
  eb_strings solvers;   /* "NAME[:assignments]"; replaces those of suites when given */
  eb_strings meshes;    /* "SCENE=FILE" */
  eb_settings settings; /* over those of suites */
  /* of the scenes named; suites have their own, and are refused beside a `from` or `sweep`.
   * NULL: none */
  const eb_dependencies *dependencies;
  /* grids stay what they are, in `grids` of the plan; else their cases are among the others, and
   * more than EB_GRID_CASES are refused */
  bool grids;
  int shard, shards;   /* 1 <= shard <= shards; 0: everything */
  bool allow_external; /* solvers that a suite's file names may do what those of the request may */
  const eb_plugins *plugins;
} eb_request;

/* A case that a section of a suite has asked for. Cases that occur twice have several. */
typedef struct eb_plan_label {
  char *label; /* of the section */
  int at;      /* place in the plan */
} eb_plan_label;

typedef struct eb_plan {
  eb_case *cases;
  int count;
  double asked;     /* for by all sections, of which some cases may be one (eb_ask) */
  eb_sweep *sweeps; /* run behind the cases, each trial by what the ones before it showed */
  int sweep_count;
  eb_product
      *grids; /* their cases are behind these and before the sweeps; none has a source run here */
  int grid_count;
  eb_plan_label *labels; /* in the order in which the cases were asked for */
  int label_count;
  /* Of the whole plan of which this is a part: a hash, and how many cases and sweeps it has. */
  uint64_t hash;
  int64_t wanted;
  int shard, shards; /* the part; 1 of 1 is the whole */
} eb_plan;

/* Expands scenes x threads x repetitions x solvers, in this order of loops from the outside in, so
 * that repetitions of competing solvers interleave; those of the sections of one `group` do, too.
 * Competitors (same scene, parameters, threads; same group) go to the same shard: they must run on
 * one machine. A case that starts from another is behind it and in its shard, and makes it keep
 * what is wanted. Cases that occur twice are run once. EB_ERR_USAGE for everything that the user
 * got wrong. */
EB_MUST eb_error eb_plan_create(const eb_request *request, eb_plan *out);
void eb_plan_clear(eb_plan *plan);
/* Cases and sweeps of this part. */
int64_t eb_plan_size(const eb_plan *plan);

/* Leaves the cases and sweeps that are marked, and the cases that these start from, which are
 * marked too. Order and group keep their numbers from the whole plan. */
EB_MUST eb_error eb_plan_keep(eb_plan *plan, bool *cases, const bool *sweeps);

/* Leaves the cases and sweeps of one shard, 1 <= shard <= shards: chains of cases that start from
 * each other stay together, and so do groups, which go round the shards. Order, group and hash
 * stay those of the whole plan. */
EB_MUST eb_error eb_plan_take_shard(eb_plan *plan, int shard, int shards);

#endif
