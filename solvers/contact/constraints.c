/* The set of constraints: an array in order of appearance, and an open hash table from pairs to their first constraint, at most half full. */
#include "solvers/contact/constraints.h"

#include "problems/base/hash.h"
#include "problems/base/memory.h"

#include <string.h>

static eb_error reserve(eb_constraints *set, int32_t room) {
  int32_t slots = 16, before = set->room;
  while (slots < 2 * (int64_t)room) slots *= 2;
  EB_TRY(EB_CONTACT_GROW(set->slot, 1, set->slots, slots));
  set->slots = slots;
  EB_TRY(EB_CONTACT_GROW(set->of, 4, before, room));
  EB_TRY(EB_CONTACT_GROW(set->mark, 1, before, room));
  EB_TRY(EB_CONTACT_GROW(set->side, 3, before, room));
  EB_TRY(EB_CONTACT_GROW(set->all, 1, before, room));
  set->room = room;
  return EB_OK;
}

static eb_error create(int32_t nodes, int32_t room, eb_constraints *set) {
  EB_TRY(EB_NEW(set->start, (size_t)nodes + 1));
  return reserve(set, room);
}

eb_error eb_constraints_create(int32_t nodes, int32_t room, eb_constraints *out) {
  *out = (eb_constraints){0};
  eb_error error = create(nodes, room, out);
  if (error) eb_constraints_clear(out);
  return error;
}

void eb_constraints_clear(eb_constraints *set) {
  free(set->all);
  free(set->slot);
  free(set->start);
  free(set->of);
  free(set->mark);
  free(set->side);
  *set = (eb_constraints){0};
}

static bool same(const eb_pair *a, const eb_pair *b) {
  return a->kind == b->kind && !memcmp(a->vertex, b->vertex, sizeof a->vertex);
}

/* The slot that holds the pair, or the free one where it would go. */
static int32_t slot_of(const eb_constraints *set, const eb_pair *pair) {
  uint64_t hash = eb_hash(EB_HASH_SEED, &pair->kind, sizeof pair->kind);
  hash = eb_hash(hash, pair->vertex, sizeof pair->vertex);
  uint64_t mask = (uint64_t)set->slots - 1, at = hash & mask;
  while (set->slot[at] && !same(&set->all[set->slot[at] - 1].pair, pair)) at = (at + 1) & mask;
  return (int32_t)at;
}

int32_t eb_constraints_find(const eb_constraints *set, const eb_pair *pair) {
  return set->slot[slot_of(set, pair)] - 1;
}

static void enter(eb_constraints *set, int32_t k) {
  int32_t at = slot_of(set, &set->all[k].pair);
  if (!set->slot[at]) set->slot[at] = k + 1;
}

static void empty_table(eb_constraints *set) {
  memset(set->slot, 0, (size_t)set->slots * sizeof *set->slot);
}

eb_error eb_constraints_append(eb_constraints *set, const eb_constraint *constraint) {
  if (set->count == set->room) {
    EB_TRY(reserve(set, 2 * set->room));
    empty_table(set);
    for (int32_t k = 0; k < set->count; k++) enter(set, k);
  }
  set->all[set->count++] = *constraint;
  enter(set, set->count - 1);
  return EB_OK;
}

void eb_constraints_filter(eb_constraints *set, const uint8_t *keep) {
  int32_t before = set->count;
  empty_table(set);
  set->count = 0;
  for (int32_t k = 0; k < before; k++) {
    if (!keep[k] || eb_constraints_find(set, &set->all[k].pair) >= 0) continue;
    set->all[set->count++] = set->all[k];
    enter(set, set->count - 1);
  }
}

void eb_constraints_forget(eb_constraints *set) {
  empty_table(set);
  set->count = 0;
}
