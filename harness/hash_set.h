/* A set of 64-bit hashes, as of the identities of a million cases. */
#ifndef EB_HASH_SET_H
#define EB_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/base/error.h"

/* Start from {0}. */
typedef struct eb_hash_set {
  uint64_t *slots; /* open addressing; 0: none */
  size_t room, count;
} eb_hash_set;

/* Adding one that is there changes nothing. Hashes of 0 and of 1 count as one. */
EB_MUST eb_error eb_hash_set_add(eb_hash_set *set, uint64_t hash);
bool eb_hash_set_has(const eb_hash_set *set, uint64_t hash);
void eb_hash_set_clear(eb_hash_set *set);

#endif
