/* Threads that audit beside the one that calls, on cores that are idle while the solver's clock
 * stands.
 *
 * Some microseconds after a call they sleep, where the team of OpenMP may spin for much longer: so
 * nothing of them is on a core while the clock runs. */
#ifndef EB_AUDIT_TEAM_H
#define EB_AUDIT_TEAM_H

#include <stdint.h>

#include "problems/base/error.h"

typedef struct eb_team eb_team;

/* Does part `part` of some work; parts may be done at the same time and in any order. */
typedef void (*eb_team_work)(void *context, int32_t part);

/* As many threads as there are cores for this process, less the calling one and at most `most`.
 * Where none can be had, eb_team_run does the work alone. */
EB_MUST eb_error eb_team_create(int32_t most, eb_team **out);
/* Nothing may be under way. */
void eb_team_destroy(eb_team *team);

/* Has parts 0 .. count - 1 done by the calling thread and the team's, and returns when they are;
 * `team` may be NULL. */
void eb_team_run(eb_team *team, int32_t count, eb_team_work work, void *context);

/* Threads beside the calling one, and the processor time that they have used, s. */
int32_t eb_team_size(const eb_team *team);
double eb_team_cpu_seconds(const eb_team *team);

#endif
