/* Digests behind the end of result files: XXH3 of 128 bits (problems/base/digest.h). */
#include "harness/results/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/digest.h"
#include "problems/base/file.h"
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

/* Half of the mark is enough to know a seal that is damaged itself: by chance 8 bytes of 16 are as
 * in the mark once in 1e15 files. */
static bool has_mark(const seal *s) {
  size_t same = 0;
  for (size_t i = 0; i < sizeof s->mark; i++) same += s->mark[i] == mark[i];
  return 2 * same >= sizeof s->mark;
}

eb_seal eb_seal_look(const char *path) {
  struct stat info;
  seal s;
  XXH128_canonical_t digest;
  int file;
  eb_error unread = eb_file_open(path, &file);
  eb_error_free(unread);
  if (unread) return EB_SEAL_NONE;
  eb_seal found = EB_SEAL_NONE;
  off_t bytes = fstat(file, &info) == 0 ? info.st_size - (off_t)sizeof s : 0;
  if (bytes > 0 && pread(file, &s, sizeof s, bytes) == (ssize_t)sizeof s && has_mark(&s))
    found = memcmp(s.mark, mark, sizeof s.mark) == 0 && digest_of(file, bytes, &digest) &&
                    memcmp(&digest, &s.digest, sizeof digest) == 0
                ? EB_SEAL_FITS
                : EB_SEAL_BROKEN;
  close(file);
  return found;
}

eb_error eb_seal_check(const char *path) {
  if (eb_seal_look(path) != EB_SEAL_BROKEN) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT,
                  "'%s' is damaged: its bytes are not those that were sealed; take a copy of it, "
                  "or run what it holds again (report, export and compare read it all the "
                  "same with --damaged)",
                  path);
}
