#include "problems/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

eb_error eb_file_write(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  if (!file) return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  size_t written = fwrite(bytes, 1, count, file);
  int cause = written == count ? 0 : errno;
  if (fclose(file) != 0 && cause == 0) cause = errno;
  if (cause != 0) return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(cause));
  return EB_OK;
}
