/* The file: a header, then the content, in the byte order of the machine that wrote it (another
 * order is a miss). */
#include "problems/base/kept.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/file.h"
#include "problems/base/memory.h"

enum { PATH_BYTES = 4096 };

typedef struct kept_header {
  char magic[8];
  uint32_t byte_order, version;
  eb_digest key, content; /* of what it was made from; of the file with 0 in this place */
  uint64_t bytes;         /* of the content */
} kept_header;

static kept_header make_header(uint32_t version, eb_digest key, const void *data, size_t bytes) {
  kept_header header = {.byte_order = 0x01020304, .version = version, .key = key, .bytes = bytes};
  memcpy(header.magic, "EBKEPT\r\n", sizeof header.magic);
  header.content =
      eb_digest_add(eb_digest_add(header.content, &header, sizeof header), data, bytes);
  return header;
}

static bool make_path(const char *directory, const char *name, const char *ending, eb_digest key,
                      char path[PATH_BYTES]) {
  char digits[EB_DIGEST_TEXT_BYTES];
  eb_digest_print(key, digits);
  int length = snprintf(path, PATH_BYTES, "%s/%s-%s.%s", directory, name, digits, ending);
  return length > 0 && length < PATH_BYTES;
}

eb_error eb_kept_load(const char *directory, const char *name, const char *ending, uint32_t version,
                      eb_digest key, void **data, size_t *bytes) {
  char path[PATH_BYTES];
  kept_header header;
  struct stat status;
  *data = NULL;
  *bytes = 0;
  if (!make_path(directory, name, ending, key, path)) return EB_OK;
  FILE *file;
  eb_error missing = eb_file_stream(path, &file);
  eb_error_free(missing);
  if (missing) return EB_OK;
  bool whole = fstat(fileno(file), &status) == 0 && (size_t)status.st_size >= sizeof header &&
               fread(&header, sizeof header, 1, file) == 1 &&
               header.bytes == (uint64_t)status.st_size - sizeof header;
  eb_error error = EB_OK;
  if (whole) {
    unsigned char *content;
    error = EB_NEW(content, header.bytes);
    *data = content;
    whole = !error && fread(content, 1, header.bytes, file) == header.bytes;
  }
  if (whole) {
    kept_header wanted = make_header(version, key, *data, header.bytes);
    whole = memcmp(&wanted, &header, sizeof header) == 0;
  }
  fclose(file);
  if (whole) {
    *bytes = header.bytes;
  } else {
    free(*data);
    *data = NULL;
  }
  return error;
}

bool eb_kept_replace(const char *directory, const char *path, const void *head, size_t head_bytes,
                     const void *data, size_t bytes) {
  char temporary[PATH_BYTES];
  int length = snprintf(temporary, sizeof temporary, "%s/writing-XXXXXX", directory);
  if (length <= 0 || length >= PATH_BYTES) return false;
  int descriptor = mkstemp(temporary);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
  bool good = file && fwrite(head, 1, head_bytes, file) == head_bytes &&
              fwrite(data, 1, bytes, file) == bytes;
  if (file)
    good = fclose(file) == 0 && good;
  else if (descriptor >= 0)
    close(descriptor);
  good = good && rename(temporary, path) == 0;
  if (!good && descriptor >= 0) unlink(temporary);
  return good;
}

bool eb_kept_store(const char *directory, const char *name, const char *ending, uint32_t version,
                   eb_digest key, const void *data, size_t bytes) {
  char path[PATH_BYTES];
  if (!make_path(directory, name, ending, key, path)) return false;
  kept_header header = make_header(version, key, data, bytes);
  return eb_kept_replace(directory, path, &header, sizeof header, data, bytes);
}
