/* Digests behind the end of result files: XXH3 of 128 bits (problems/base/digest.h). */
#include "harness/results/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/digest.h"
#include "problems/base/memory.h"

typedef struct seal {
  char mark[16];
  XXH128_canonical_t digest;
} seal;

static const char mark[sizeof(((seal *)0)->mark) + 1] = "elastobench-seal";

/* Of the first bytes of an open file. */
static bool digest_of(int file, off_t bytes, XXH128_canonical_t *out) {
  enum { BLOCK = 1 << 18 };
  unsigned char *block = eb_calloc(BLOCK, 1);
  XXH3_state_t *state = XXH3_createState();
  bool good = block && state && XXH3_128bits_reset(state) == XXH_OK;
  for (off_t at = 0; good && at < bytes;) {
    size_t wanted = bytes - at < BLOCK ? (size_t)(bytes - at) : BLOCK;
    ssize_t got = pread(file, block, wanted, at);
    good = got > 0 && XXH3_128bits_update(state, block, (size_t)got) == XXH_OK;
    at += got;
  }
  if (good) XXH128_canonicalFromHash(out, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  free(block);
  return good;
}

eb_error eb_seal_put(const char *path) {
  struct stat info;
  seal s;
  memcpy(s.mark, mark, sizeof s.mark);
  int file = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
  bool written = file >= 0 && fstat(file, &info) == 0 && digest_of(file, info.st_size, &s.digest) &&
                 write(file, &s, sizeof s) == (ssize_t)sizeof s;
  int cause = errno;
  if (file >= 0 && close(file) && written) {
    cause = errno;
    written = false;
  }
  return written ? EB_OK : EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(cause));
}

bool eb_seal_fits(const char *path) {
  struct stat info;
  seal s;
  XXH128_canonical_t digest;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  bool fits = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > (off_t)sizeof s &&
              pread(file, &s, sizeof s, info.st_size - (off_t)sizeof s) == (ssize_t)sizeof s &&
              memcmp(s.mark, mark, sizeof s.mark) == 0 &&
              digest_of(file, info.st_size - (off_t)sizeof s, &digest) &&
              memcmp(&digest, &s.digest, sizeof digest) == 0;
  close(file);
  return fits;
}
