/* Files of the user: regular ones are read, and what is written takes its place whole. */
#ifndef EB_BASE_FILE_H
#define EB_BASE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "problems/base/error.h"

/* Opens a regular file for reading. EB_ERR_IO names what else is there - a folder, a FIFO, a
 * device, a socket -, none of which is waited for. */
EB_MUST eb_error eb_file_open(const char *path, int *out);
/* The same as a stream, which the caller closes. */
EB_MUST eb_error eb_file_stream(const char *path, FILE **out);

/* What a path stands for: the end of its links, also when nothing is there yet. The caller frees
 * it. */
EB_MUST eb_error eb_path_follow(const char *path, char **out);

/* Makes an empty file beside a path, PATH.PID.new or, where that is taken, PATH.PID-N.new, and
 * nothing in the place of another. The caller frees *name. */
EB_MUST eb_error eb_file_beside(const char *path, char **name, int *out);
/* Whether a name in a folder is that of a file beside `name`, and of which process. */
bool eb_file_is_beside(const char *name, const char *entry, int *pid);
/* Gives a file the name of another, in its place or, without `replace`, only where there is none:
 * EB_ERR_USAGE. */
EB_MUST eb_error eb_file_rename(const char *from, const char *to, bool replace);

/* A file that is written beside its path and takes its place at the end. What is no regular file,
 * as a device, is written itself, and so is what is named as an open file (/dev/stdout). */
typedef struct eb_output {
  char *path, *fresh; /* what the path given stands for; where it is written, or NULL: itself */
  FILE *file;
} eb_output;

EB_MUST eb_error eb_output_open(const char *path, eb_output *out);
/* Ends it, and passes on the error that writing met, if any. Then, and when the disk is full, what
 * was there before is as it was. */
EB_MUST eb_error eb_output_close(eb_output *output, eb_error error);

/* Writes (creates or replaces) a file so; EB_ERR_IO names it and the reason. */
EB_MUST eb_error eb_file_write(const char *path, const void *bytes, size_t count);
/* Makes a folder unless it is there, in one that is; EB_ERR_IO names it and the reason. */
EB_MUST eb_error eb_folder_make(const char *path);
/* Makes an empty folder of this process's own under $TMPDIR or /tmp. The caller removes it and
 * frees *path. */
EB_MUST eb_error eb_folder_temporary(char **path);

#endif
