/* The worst that a run did to each rule of the audit that it broke: groups broken/<rule> of the run
 * in its file, which runs of older files lack. */
#ifndef EB_RESULTS_BREACHES_H
#define EB_RESULTS_BREACHES_H

#include <jansson.h>

#include "harness/results/read.h"

typedef struct eb_breach {
  char *rule;          /* eb_rule_name */
  char *words;         /* what was wrong, with the step */
  char *unit;          /* of value and bound */
  char *place;         /* what is there (eb_spot_name): "node", "contact", ...; "": nobody knows */
  char *body;          /* its name, or "" */
  char *other_body;    /* of a contact or a pair the other one's, or "" */
  int64_t times;       /* how often the rule was broken */
  int64_t step;        /* 0: of none */
  int64_t number;      /* of the node, body or contact; -1: nobody knows */
  double value, bound; /* NAN: what is wrong is no number */
  double x, y, z;      /* m, where it is; NAN: nobody knows */
} eb_breach;

typedef struct eb_breaches {
  eb_breach *all;
  int count;
} eb_breaches;

void eb_breaches_clear(eb_breaches *breaches);
/* Into the group of a run. */
EB_MUST eb_error eb_breaches_write(hid_t run, const eb_breaches *breaches);
/* In the order of the rules; none where the file has none. The caller clears *out also after an
 * error. */
EB_MUST eb_error eb_breaches_read(const eb_results *results, int run, eb_breaches *out);
/* A list of objects, with what the rule measures and what may help; *out is owned by the caller. */
EB_MUST eb_error eb_breaches_json(const eb_breaches *breaches, json_t **out);

#endif
