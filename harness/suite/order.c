#include "harness/suite/order.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

/* place[1 + i]: 1 + the new place of case i, plus `more`; 0: it is gone, and its labels with it. */
static void move_labels(eb_plan *plan, const int *place, int more) {
  int kept = 0;
  for (int i = 0; i < plan->label_count; i++) {
    eb_plan_label label = plan->labels[i];
    label.at = place[label.at + 1] - 1 - more;
    if (label.at >= 0)
      plan->labels[kept++] = label;
    else
      free(label.label);
  }
  plan->label_count = kept;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Whether case a is to come before b, as their numbers are now: groups as they begin, in them
 * repetitions, in these the cases. */
static bool precedes(const eb_plan *plan, const int *first, int a, int b) {
  const eb_case *left = &plan->cases[a], *right = &plan->cases[b];
  int begins = first[left->group], other = first[right->group];
  if (begins != other) return begins < other;
  if (left->repetition != right->repetition) return left->repetition < right->repetition;
  return a < b;
}

/* first: the first case of every group; place: 1 + the new place of every case, from 1 on. */
static void order_cases(eb_plan *plan, eb_case *ordered, int *first, int *place) {
  for (int i = plan->count - 1; i >= 0; i--) first[plan->cases[i].group] = i;
  place[0] = 1;
  for (int at = 0; at < plan->count; at++) {
    /* The next case whose donor has its place already; place[0] stands for having none. */
    int next = -1;
    for (int i = 0; i < plan->count; i++)
      if (!place[i + 1] && place[plan->cases[i].donor] &&
          (next < 0 || precedes(plan, first, i, next)))
        next = i;
    place[next + 1] = at + 2;
    ordered[at] = plan->cases[next];
    ordered[at].order = at;
    ordered[at].donor = place[plan->cases[next].donor] - 1;
  }
  if (plan->count > 0) memcpy(plan->cases, ordered, (size_t)plan->count * sizeof *ordered);
  move_labels(plan, place, 1);
  for (int i = 0; i < plan->sweep_count; i++) {
    eb_case *trial = &plan->sweeps[i].trial;
    trial->order = plan->count + i;
    trial->donor = plan->sweeps[i].donor = place[trial->donor] - 1;
  }
}

eb_error eb_plan_order(eb_plan *plan) {
  eb_case *ordered = NULL;
  int *first = NULL, *place = NULL, groups = 0;
  for (int i = 0; i < plan->count; i++)
    if (plan->cases[i].group >= groups) groups = plan->cases[i].group + 1;
  eb_error error = EB_NEW(ordered, plan->count);
  if (!error) error = EB_NEW(first, groups);
  if (!error) error = EB_NEW(place, (size_t)plan->count + 1);
  if (!error) order_cases(plan, ordered, first, place);
  free(place);
  free(first);
  free(ordered);
  return error;
}

/* ---- parts ----------------------------------------------------------------------------------- */

eb_error eb_plan_keep(eb_plan *plan, bool *cases, const bool *sweeps) {
  int *place, kept = 0;
  EB_TRY(EB_NEW(place, (size_t)plan->count + 1)); /* 1 + the new one; 0: gone, and of no donor */
  /* Donors come before those that start from them. */
  for (int i = 0; i < plan->sweep_count; i++)
    if (sweeps[i] && plan->sweeps[i].donor > 0) cases[plan->sweeps[i].donor - 1] = true;
  for (int i = plan->count - 1; i >= 0; i--)
    if (cases[i] && plan->cases[i].donor > 0) cases[plan->cases[i].donor - 1] = true;
  for (int i = 0; i < plan->count; i++)
    if (cases[i]) place[i + 1] = ++kept;
  for (int i = 0; i < plan->count; i++) {
    eb_case *work = &plan->cases[i];
    work->donor = place[work->donor];
    if (!place[i + 1])
      eb_case_clear(work);
    else
      plan->cases[place[i + 1] - 1] = *work;
  }
  plan->count = kept;
  kept = 0;
  for (int i = 0; i < plan->sweep_count; i++) {
    eb_sweep *sweep = &plan->sweeps[i];
    sweep->donor = sweep->trial.donor = place[sweep->donor];
    if (sweeps[i])
      plan->sweeps[kept++] = *sweep;
    else
      eb_sweep_clear(sweep);
  }
  plan->sweep_count = kept;
  move_labels(plan, place, 0);
  free(place);
  return EB_OK;
}

/* The group of the case that a chain of donors begins with: all of them are in its shard. */
static int root_group(const eb_plan *plan, const eb_case *work) {
  while (work->donor > 0) work = &plan->cases[work->donor - 1];
  return work->group;
}

eb_error eb_plan_take_shard(eb_plan *plan, int shard, int shards) {
  bool *cases, *sweeps = NULL;
  EB_TRY(EB_NEW(cases, plan->count));
  eb_error error = EB_NEW(sweeps, plan->sweep_count);
  for (int i = 0; i < plan->count && !error; i++)
    cases[i] = root_group(plan, &plan->cases[i]) % shards == shard - 1;
  for (int i = 0; i < plan->sweep_count && !error; i++)
    sweeps[i] = root_group(plan, &plan->sweeps[i].trial) % shards == shard - 1;
  if (!error) error = eb_plan_keep(plan, cases, sweeps);
  free(sweeps);
  free(cases);
  return error;
}
