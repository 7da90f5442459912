/* Owned entries of all ranks in the original order, without any rank holding them all. Internal to
 * problems/. */
#ifndef EB_RANKS_STREAM_H
#define EB_RANKS_STREAM_H

#include "problems/ranks/subdomain.h"

typedef enum eb_entries { EB_NODES, EB_ELEMENTS } eb_entries;

/* `count` entries of the original order, from the one numbered `first` on. */
typedef void eb_stream_sink(void *context, int64_t first, int32_t count, const void *values);

/* Calls the sink on rank 0 with the entries, one run after the other, `bytes` (at most
 * EB_STREAM_BYTES) each; `values` are those of local nodes or elements. A whole scene: on its
 * values. Collective. */
enum { EB_STREAM_BYTES = 72 };
EB_MUST eb_error eb_scene_stream(const eb_scene *scene, eb_entries what, size_t bytes,
                                 const void *values, eb_stream_sink *sink, void *context);

#endif
