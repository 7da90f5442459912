/* Open addressing with linear probing: the hashes are well mixed already. */
#include "harness/hash_set.h"

#include <stdlib.h>

#include "problems/base/memory.h"

/* 0 marks an empty slot. */
static uint64_t stored(uint64_t hash) {
  return hash ? hash : 1;
}

static size_t find(const eb_hash_set *set, uint64_t hash) {
  size_t at = (size_t)hash & (set->room - 1);
  while (set->slots[at] && set->slots[at] != hash) at = (at + 1) & (set->room - 1);
  return at;
}

static eb_error grow(eb_hash_set *set) {
  enum { LEAST = 64 };
  eb_hash_set larger = {.room = set->room ? 2 * set->room : LEAST, .count = set->count};
  EB_TRY(EB_NEW(larger.slots, larger.room));
  for (size_t i = 0; i < set->room; i++)
    if (set->slots[i]) larger.slots[find(&larger, set->slots[i])] = set->slots[i];
  free(set->slots);
  *set = larger;
  return EB_OK;
}

eb_error eb_hash_set_add(eb_hash_set *set, uint64_t hash) {
  if (2 * set->count >= set->room) EB_TRY(grow(set));
  size_t at = find(set, stored(hash));
  set->count += set->slots[at] == 0;
  set->slots[at] = stored(hash);
  return EB_OK;
}

bool eb_hash_set_has(const eb_hash_set *set, uint64_t hash) {
  return set->count > 0 && set->slots[find(set, stored(hash))];
}

void eb_hash_set_clear(eb_hash_set *set) {
  free(set->slots);
  *set = (eb_hash_set){0};
}
