/* What is compared: a program by its path, or a git revision of the repository around the current
 * folder, which is built. */
#ifndef EB_COMPARE_BUILD_H
#define EB_COMPARE_BUILD_H

#include "harness/case/child.h"
#include "problems/base/strings.h"

typedef struct eb_build {
  char *given;   /* what the user called it */
  char *program; /* absolute path */
  char *version; /* what it says of itself: "elastobench 0.1.0 (commit ..)"; "" when nothing */
  char *flags;   /* and of how it was built: compiler and flags, a line each */
} eb_build;

typedef enum eb_build_kind { EB_BUILD_PROGRAM, EB_BUILD_REVISION, EB_BUILD_RESULTS } eb_build_kind;

/* What a name stands for: a result file or a program where there is a file of that name, else a
 * revision. EB_ERR_USAGE: a file that is neither. */
EB_MUST eb_error eb_build_classify(const char *name, eb_build_kind *out);

/* Finds a program, or makes one of a revision: its files go to
 *   $XDG_CACHE_HOME/elastobench/builds/COMMIT-HASH     (or ~/.cache/elastobench/builds)
 * HASH being that of `make`, arguments such as "ARCH=native" and "CC=clang", and are built there by
 * `make -j2` with them, once. Processes that want the same one wait for one another. EB_ERR_USAGE:
 * no such revision; EB_ERR_INVALID tells the end of what a build that failed has printed. The
 * caller clears *out also after an error. */
EB_MUST eb_error eb_build_open(const char *name, eb_build_kind kind, const eb_strings *make,
                               eb_signals *signals, eb_build *out);
void eb_build_clear(eb_build *build);

#endif
