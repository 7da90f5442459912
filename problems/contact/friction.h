/* Coulomb's mu, by pairs of what touches: bodies or parts of them, obstacles and colliders that
 * have a name. */
#ifndef EB_FRICTION_H
#define EB_FRICTION_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"
#include "problems/collision/pair.h"

#pragma GCC visibility push(default) /* exported */

enum { EB_FRICTION_NAMES = 32 };

/* Numbers of two names, which may be the same one. */
typedef struct eb_friction_pair {
  int32_t a, b;
  double mu;
} eb_friction_pair;

typedef struct eb_friction_law {
  double common; /* mu of what no pair is of */
  int32_t pair_count;
  eb_friction_pair *pairs; /* the last one that fits counts */
  /* A vertex, in the numbering of contact records: bit k where name k is one of its names. NULL
   * without pairs. */
  uint32_t *names;
} eb_friction_law;

/* mu between two things that have these names, in either order. */
double eb_friction_between(const eb_friction_law *law, uint32_t a, uint32_t b);
/* mu of a contact. The names of a feature are those that all its vertices have. */
double eb_friction_of(const eb_friction_law *law, const eb_pair *pair);

#pragma GCC visibility pop

/* Whether any mu is above 0. */
bool eb_friction_any(const eb_friction_law *law);
/* EB_ERR_INVALID: a mu below 0 or not finite, a number of a name that there is not. */
EB_MUST eb_error eb_friction_validate(const eb_friction_law *law);
void eb_friction_clear(eb_friction_law *law);

#endif
