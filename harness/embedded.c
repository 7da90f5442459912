#include "harness/embedded.h"

#include <string.h>

eb_error eb_embedded_find(const char *name, eb_embedded *out) {
  for (const eb_embedded *file = eb_embedded_files; file->name; file++)
    if (strcmp(file->name, name) == 0) {
      *out = *file;
      return EB_OK;
    }
  return EB_ERROR(EB_ERR_USAGE, "no data file '%s' is compiled into this program", name);
}
