/* 128 bits of XXH3 (libxxhash): the identity of a file and of what a kept file was made from, where
 * two that differ must not be taken for one another. What result files compare has eb_hash. */
#ifndef EB_BASE_DIGEST_H
#define EB_BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <xxhash.h>

#include "problems/base/error.h"

typedef XXH128_hash_t eb_digest;

/* The digest of what `before` stands for, followed by `data`: it tells where one ends and the other
 * begins. Start from (eb_digest){0}. */
static inline eb_digest eb_digest_add(eb_digest before, const void *data, size_t bytes) {
  const eb_digest both[2] = {before, XXH3_128bits(data, bytes)};
  return XXH3_128bits(both, sizeof both);
}

static inline bool eb_digest_same(eb_digest a, eb_digest b) {
  return XXH128_isEqual(a, b);
}

enum { EB_DIGEST_TEXT_BYTES = 33 };
/* 32 hexadecimal digits. */
void eb_digest_print(eb_digest digest, char text[EB_DIGEST_TEXT_BYTES]);

/* Of a file's bytes: what `xxh128sum` prints. EB_ERR_IO: it cannot be read. */
EB_MUST eb_error eb_digest_file(const char *path, eb_digest *out);

#endif
