/* What a rank sends to its neighbours, those that hold nodes of its own as ghosts, and what it
 * receives: every neighbour does both. Internal to problems/ranks/. */
#ifndef EB_RANKS_HALO_H
#define EB_RANKS_HALO_H

#include "problems/ranks/subdomain.h"

typedef struct eb_halo eb_halo;

/* Of a part whose node numbers are there: its ghosts are sorted by owner[i], i from part->nodes to
 * `local` - 1. Collective. */
EB_MUST eb_error eb_halo_create(const eb_subdomain *part, int32_t local, const int32_t *owner,
                                eb_halo **out);
void eb_halo_destroy(eb_halo *halo);

/* `bytes` a node, at most EB_HALO_BYTES: those of ghosts from their owners. Collective. */
enum { EB_HALO_BYTES = 72 };
void eb_halo_update(const eb_subdomain *part, size_t bytes, void *values);

#endif
