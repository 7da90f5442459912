/* The order of a plan's cases, and its shards. Internal to planning. */
#ifndef EB_SUITE_ORDER_H
#define EB_SUITE_ORDER_H

#include "harness/suite/plan.h"

/* Puts cases in the order of their groups, in these of their repetitions, and none before the case
 * that it starts from; numbers them. */
EB_MUST eb_error eb_plan_order(eb_plan *plan);
/* Leaves the cases and sweeps of one shard: chains of cases that start from each other stay
 * together, and so do groups. Order and group keep their numbers from the whole plan. */
EB_MUST eb_error eb_plan_take_shard(eb_plan *plan, int shard, int shards);

#endif
