/* The seal of a result file: behind the end of what HDF5 has in it, a mark and the digest of all
 * bytes before. A file with a sound seal is, byte by byte, what this program has written, and need
 * not be read in full before it is trusted (harness/results/verify.h). Every reader of HDF5 passes
 * over it, and whoever changes the file through HDF5 cuts it off. */
#ifndef EB_RESULTS_SEAL_H
#define EB_RESULTS_SEAL_H

#include <stdbool.h>

#include "problems/base/error.h"

/* Appends the seal to a closed file without one. */
EB_MUST eb_error eb_seal_put(const char *path);
/* Whether the file has a seal that fits; not so for a file that cannot be read. */
bool eb_seal_fits(const char *path);

#endif
