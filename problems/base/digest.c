#include "problems/base/digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "problems/base/file.h"

void eb_digest_print(eb_digest digest, char text[EB_DIGEST_TEXT_BYTES]) {
  snprintf(text, EB_DIGEST_TEXT_BYTES, "%016" PRIx64 "%016" PRIx64, (uint64_t)digest.high64,
           (uint64_t)digest.low64);
}

eb_error eb_digest_file(const char *path, eb_digest *out) {
  unsigned char buffer[1 << 14];
  FILE *file;
  EB_TRY(eb_file_stream(path, &file));
  XXH3_state_t *state = XXH3_createState();
  if (!state) {
    fclose(file);
    return EB_ERROR(EB_ERR_MEMORY, "out of memory for the digest of '%s'", path);
  }
  XXH3_128bits_reset(state);
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
    XXH3_128bits_update(state, buffer, got);
  bool failed = ferror(file);
  int reason = errno;
  fclose(file);
  *out = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return failed ? EB_ERROR(EB_ERR_IO, "cannot read '%s': %s", path, strerror(reason)) : EB_OK;
}
