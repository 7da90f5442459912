/* HDF5 with our errors: small functions that attach a name and a unit to everything they write.
 *
 * Texts are UTF-8 of a fixed length that ends in a zero byte: HDF5 1.10 reads those of variable
 * length through a heap in the file whose damage it does not survive. h5py shows them as bytes
 * (.decode() makes them str), MATLAB as char. Of a text that is longer than 60 000 bytes the end is
 * lost. The library is used without MPI_Init. */
#ifndef EB_RESULTS_H5_H
#define EB_RESULTS_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* HDF5 1.10 to 1.14 by the functions and types of 1.10. */
#define H5_USE_110_API
#include <hdf5.h>

#include "problems/base/error.h"

/* Stops HDF5 from printing on its own and from closing files behind our back at exit. Call
 * first. */
void eb_h5_quiet(void);

/* An error that carries HDF5's own deepest explanation; `what` was being done, as in "cannot write
 * steps/wall". */
eb_error eb_h5_error(const char *what, const char *name);

/* Files. `open` tells apart: missing, a folder, not HDF5 or truncated. */
EB_MUST eb_error eb_h5_create_file(const char *path, hid_t *out);
/* What is made of `content` in a file that takes its place when it is whole (eb_output). */
typedef eb_error eb_h5_fill(hid_t file, const void *content);
EB_MUST eb_error eb_h5_write_file(const char *path, eb_h5_fill *fill, const void *content);
EB_MUST eb_error eb_h5_open_file(const char *path, bool writable, hid_t *out);
/* Writes everything out and closes; the error is that of the first failure (a full disk). */
EB_MUST eb_error eb_h5_close_file(hid_t file, const char *path);
EB_MUST eb_error eb_h5_group(hid_t where, const char *name, hid_t *out);

/* Attributes of an object. Existing ones are replaced. */
EB_MUST eb_error eb_h5_put_text(hid_t object, const char *name, const char *text);
EB_MUST eb_error eb_h5_put_real(hid_t object, const char *name, double value);
EB_MUST eb_error eb_h5_put_int(hid_t object, const char *name, int64_t value);
enum { EB_H5_TEXT = 1 << 20 }; /* a longer text in a file is EB_ERR_FORMAT */
/* *out is freed and replaced, and belongs to the caller; a missing attribute gives "", 0. */
EB_MUST eb_error eb_h5_get_text(hid_t object, const char *name, char **out);
EB_MUST eb_error eb_h5_get_real(hid_t object, const char *name, double *out);
EB_MUST eb_error eb_h5_get_int(hid_t object, const char *name, int64_t *out);

enum { EB_H5_AXES = 4 }; /* the most that an array has */

/* The shape of an array: rank 0 is a scalar. */
typedef struct eb_h5_shape {
  int rank;
  hsize_t size[EB_H5_AXES];
} eb_h5_shape;

/* Lets the chunks of a dataset that is to be created be packed as all of ours are. */
void eb_h5_pack(hid_t properties);
/* Bytes of a dataset that lies in the header of its object: blocks, with the tree that leads to
 * them, would take more room and twice the time to be copied. */
enum { EB_H5_SHORT = 1024 };
/* Writes a whole dataset of `stored` type from `memory` type. Compressed unless it is short. */
EB_MUST eb_error eb_h5_put(hid_t where, const char *name, hid_t stored, hid_t memory,
                           eb_h5_shape shape, const char *unit, const void *data);

/* Reads a whole dataset as `memory` type of `size` bytes; the caller frees *out. */
EB_MUST eb_error eb_h5_get(hid_t where, const char *name, hid_t memory, size_t size, void **out,
                           eb_h5_shape *shape);
/* A block of a chunked dataset as it lies in the file: inside it, packed by the filters that we use
 * and, when it is to be unpacked, of its full size then: HDF5 1.10 reads beyond the end of one that
 * is shorter. EB_OK for a block that is not stored, which reads as zeros, and for other layouts.
 * `entry` is one of its entries. */
EB_MUST eb_error eb_h5_check_block(hid_t set, const char *name, const hsize_t *entry, bool unpack);
/* Whether there is a link of that path; groups on the way may be missing. */
bool eb_h5_exists(hid_t where, const char *path);

#endif
