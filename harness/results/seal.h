/* The seal of a result file: behind the end of what HDF5 has in it, a mark and the digest of all
 * bytes before. A file with a sound seal is, byte by byte, what this program has written, and need
 * not be read in full before it is trusted (harness/results/verify.h); one whose seal does not fit
 * is damaged. Every reader of HDF5 passes over it, and whoever changes the file through HDF5 cuts
 * it off. */
#ifndef EB_RESULTS_SEAL_H
#define EB_RESULTS_SEAL_H

#include "problems/base/error.h"

/* Appends the seal to a closed file without one. */
EB_MUST eb_error eb_seal_put(const char *path);

typedef enum eb_seal {
  EB_SEAL_NONE, /* of a file of others, or an older one, or one that cannot be read */
  EB_SEAL_FITS,
  EB_SEAL_BROKEN /* one byte or more of the file, or of its seal, is another */
} eb_seal;

eb_seal eb_seal_look(const char *path);
/* EB_ERR_FORMAT names a file whose seal is broken. */
EB_MUST eb_error eb_seal_check(const char *path);

#endif
