#include "harness/cli/skeleton.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/embedded.h"
#include "harness/print.h"
#include "problems/base/file.h"
#include "problems/base/owned.h"

eb_error eb_text_replaced(const char *from, size_t size, const char *mark, const char *with,
                          eb_text *out) {
  size_t length = strlen(mark);
  for (const char *at = from, *end = from + size; at < end;) {
    const char *next = memmem(at, (size_t)(end - at), mark, length);
    EB_TRY(eb_text_append(out, at, (size_t)((next ? next : end) - at)));
    if (!next) break;
    EB_TRY(eb_text_append(out, with, strlen(with)));
    at = next + length;
  }
  return EB_OK;
}

eb_error eb_skeleton_write(const char *path, const char *embedded, const char *name,
                           const char *advice) {
  eb_embedded file;
  EB_OWNED(eb_text_clear) eb_text text = {0};
  if (access(path, F_OK) == 0)
    return EB_ERROR(EB_ERR_USAGE, "'%s' is there already: %s", path, advice);
  EB_TRY(eb_embedded_find(embedded, &file));
  EB_TRY(eb_text_replaced(file.data, file.size, "@NAME@", name, &text));
  EB_TRY(eb_file_write(path, text.data, text.length));
  eb_print(stdout, "%s\n", path);
  return EB_OK;
}
