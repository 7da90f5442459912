/* Results of long computations kept in files. A file is found by the digest of what its content was
 * made from, holds a digest of the whole, and is trusted only when both match; it is written beside
 * its name and renamed, so that readers see all of it or nothing. Keeping is an optimization: no
 * failure of the file system is an error. */
#ifndef EB_BASE_KEPT_H
#define EB_BASE_KEPT_H

#include <stdbool.h>

#include "problems/base/digest.h"

/* What is kept under directory/name-KEY.ending in this version of its layout, into *data (the
 * caller frees it) and *bytes; NULL when there is none, or none that can be trusted. Fails only
 * without memory. */
EB_MUST eb_error eb_kept_load(const char *directory, const char *name, const char *ending,
                              uint32_t version, eb_digest key, void **data, size_t *bytes);
/* False when it could not be written: then nothing has changed. */
bool eb_kept_store(const char *directory, const char *name, const char *ending, uint32_t version,
                   eb_digest key, const void *data, size_t bytes);

/* Writes both parts beside `path`, in its directory, and renames the file: readers see the whole of
 * it or none. False: nothing has changed. */
bool eb_kept_replace(const char *directory, const char *path, const void *head, size_t head_bytes,
                     const void *data, size_t bytes);

#endif
