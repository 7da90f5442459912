#include <stdlib.h>
#include <string.h>

#include "harness/results/write.h"

eb_error eb_schema_write(hid_t file) {
  EB_TRY(eb_h5_put_text(file, "format", EB_SCHEMA_FORMAT));
  return eb_h5_put_int(file, "schema_version", EB_SCHEMA_VERSION);
}

static eb_error judge_schema(const char *path, const char *format, int64_t version) {
  if (strcmp(format, EB_SCHEMA_FORMAT) != 0)
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s' is an HDF5 file, but not a result of elastobench: its root lacks the "
                    "attribute format = \"%s\"",
                    path, EB_SCHEMA_FORMAT);
  if (version != EB_SCHEMA_VERSION)
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s' has schema version %lld, this program reads and writes version %d", path,
                    (long long)version, EB_SCHEMA_VERSION);
  return EB_OK;
}

eb_error eb_schema_check(hid_t file, const char *path) {
  char *format = NULL;
  int64_t version = 0;
  eb_error error = eb_h5_get_text(file, "format", &format);
  if (!error) error = eb_h5_get_int(file, "schema_version", &version);
  if (!error) error = judge_schema(path, format, version);
  free(format);
  return eb_error_prefix(error, "%s", path);
}
