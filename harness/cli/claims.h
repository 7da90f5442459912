/* Claims as `list` and `info` show them. Internal to the command line. */
#ifndef EB_CLI_CLAIMS_H
#define EB_CLI_CLAIMS_H

#include <jansson.h>

#include "harness/reproduce/paper.h"

/* {"name", "summary", "where", "holds": [..], "names": {those that they use}, "source", ..}; the
 * caller releases *json. */
EB_MUST eb_error eb_claim_json(const eb_paper *paper, const eb_paper_claim *claim, json_t **json);
/* Text, place, expressions and the names that they use, bounds' source, and the file that they
 * stand in. */
EB_MUST eb_error eb_claim_print(const eb_paper *paper, const eb_paper_claim *claim);

/* Looks "PAPER/CLAIM" up among the papers that are compiled in; *paper is NULL when there is
 * none. The caller destroys it. */
EB_MUST eb_error eb_claim_find(const char *name, eb_paper **paper, const eb_paper_claim **claim);

#endif
