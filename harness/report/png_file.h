/* PNG files of 8-bit RGB pixels. */
#ifndef EB_REPORT_PNG_FILE_H
#define EB_REPORT_PNG_FILE_H

#include <stdint.h>

#include "problems/base/error.h"

/* Writes width x height x 3 bytes, row by row from the top. EB_ERR_IO names the path and the reason
 * (no such folder, no permission, disk full); what was written of a regular file is then removed. */
EB_MUST eb_error eb_png_write(const char *path, int32_t width, int32_t height, const uint8_t *rgb);

#endif
