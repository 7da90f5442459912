/* How much of a plan the runs of a file are, so that merging files tells which shards lack:
 *
 *   /plans/<plan>.<shards>/   attributes: plan (what is planned, as a hash), shards (of how many
 *                             parts the file has some), wanted (cases and sweeps of all parts)
 *     shard, wanted, done     a row a shard that the file is of: its number from 1 on, its cases
 *                             and sweeps, and how many of these had a result when it was written
 *     command_line            of that shard
 *
 * A run that is no shard is the first of one. Files of before have no such group, and tell
 * nothing. */
#ifndef EB_RESULTS_SHARDS_H
#define EB_RESULTS_SHARDS_H

#include <stdbool.h>

#include "harness/results/h5.h"
#include "problems/base/text.h"

typedef struct eb_shard {
  int64_t number, wanted, done;
  char *command_line;
} eb_shard;

typedef struct eb_sharding {
  uint64_t plan;
  int64_t shards, wanted;
  eb_shard *rows; /* in the order of their numbers */
  int count;
} eb_sharding;

/* Start from {0}. */
typedef struct eb_shardings {
  eb_sharding *items;
  int count;
} eb_shardings;

/* The entry of the plan in so many parts, which is made when there is none. */
EB_MUST eb_error eb_shardings_of(eb_shardings *all, uint64_t plan, int64_t shards, int64_t wanted,
                                 eb_sharding **out);
/* Enters a shard. Of two with one number that which has more done stays, the later one of equals;
 * with `replace` always the later one. */
EB_MUST eb_error eb_sharding_enter(eb_sharding *sharding, int64_t number, int64_t wanted,
                                   int64_t done, const char *command_line, bool replace);
/* Whether every shard is there with all that it wants. */
bool eb_sharding_complete(const eb_sharding *sharding);
/* A plan that is complete becomes one shard of one; entries of other numbers of parts of it go. */
EB_MUST eb_error eb_shardings_settle(eb_shardings *all);

/* Leaves out other plans that have ended early: who goes on with another one in the same file has
 * given them up. */
void eb_shardings_forget(eb_shardings *all, uint64_t plan);

/* Adds what an open file says. */
EB_MUST eb_error eb_shardings_read(hid_t file, eb_shardings *all);
/* Adds what others say. */
EB_MUST eb_error eb_shardings_add(eb_shardings *all, const eb_shardings *others);
/* Takes the place of what an open file says. */
EB_MUST eb_error eb_shardings_write(hid_t file, const eb_shardings *all);
void eb_shardings_clear(eb_shardings *all);

/* Appends the command line that completes a shard: that of the shard itself or of the one next to
 * it, with its number in --shard and in the name of the file behind -o, and with --resume. Nothing
 * is appended where no shard is known. */
EB_MUST eb_error eb_sharding_command(const eb_sharding *sharding, int64_t number, eb_text *out);
/* Appends the numbers of the shards that lack, "2,5-7"; none: nothing. That is
 * what Slurm's --array takes. */
EB_MUST eb_error eb_sharding_lacking(const eb_sharding *sharding, eb_text *out);

#endif
