/* Whole files at once. */
#ifndef EB_BASE_FILE_H
#define EB_BASE_FILE_H

#include <stddef.h>

#include "problems/base/error.h"

/* Writes (creates or replaces) a file; EB_ERR_IO names it and the reason, a full disk included. */
EB_MUST eb_error eb_file_write(const char *path, const void *bytes, size_t count);

#endif
