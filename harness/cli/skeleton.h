/* Files to start from, which are compiled in: solvers and scenes. */
#ifndef EB_CLI_SKELETON_H
#define EB_CLI_SKELETON_H

#include "problems/base/text.h"

/* Appends the text with `with` in the place of every `mark`. */
EB_MUST eb_error eb_text_replaced(const char *from, size_t size, const char *mark, const char *with,
                                  eb_text *out);

/* Writes an embedded file with the name for every @NAME@, and prints its path. EB_ERR_USAGE: the
 * file is there already; `advice` says what to do then. */
EB_MUST eb_error eb_skeleton_write(const char *path, const char *embedded, const char *name,
                                   const char *advice);

#endif
