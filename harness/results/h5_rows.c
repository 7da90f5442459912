#include <stdlib.h>

#include "harness/results/h5.h"
#include "problems/base/memory.h"

eb_error eb_h5_check_rows(const char *name, hid_t space, size_t frame, eb_h5_shape row) {
  hsize_t size[EB_H5_AXES];
  if (H5Sget_simple_extent_ndims(space) != row.rank + 1)
    return EB_ERROR(EB_ERR_FORMAT, "%s does not have %d axes", name, row.rank + 1);
  H5Sget_simple_extent_dims(space, size, NULL);
  if (frame >= size[0])
    return EB_ERROR(EB_ERR_USAGE, "%s has no frame %zu; it has %zu", name, frame, (size_t)size[0]);
  for (int i = 0; i < row.rank; i++)
    if (size[i + 1] != row.size[i])
      return EB_ERROR(EB_ERR_FORMAT, "%s has %llu entries along axis %d, not %llu", name,
                      (unsigned long long)size[i + 1], i + 1, (unsigned long long)row.size[i]);
  return EB_OK;
}

eb_error eb_h5_get_row(hid_t set, const char *name, size_t frame, hid_t memory, eb_h5_shape row,
                       void **out) {
  hsize_t start[EB_H5_AXES] = {frame}, one[EB_H5_AXES] = {1}, entries = 1;
  *out = NULL;
  for (int i = 0; i < row.rank; i++) entries *= one[i + 1] = row.size[i];
  hid_t space = H5Dget_space(set);
  eb_error error = eb_h5_check_rows(name, space, frame, row);
  if (!error) error = eb_h5_check_block(set, name, start, true);
  if (!error) {
    *out = eb_calloc(entries, H5Tget_size(memory));
    if (!*out) error = EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", name);
  }
  if (!error) {
    hid_t target = H5Screate_simple(row.rank + 1, one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, one, NULL);
    if (H5Dread(set, memory, target, space, H5P_DEFAULT, *out) < 0)
      error = eb_h5_error("cannot read", name);
    H5Sclose(target);
  }
  H5Sclose(space);
  if (error) {
    free(*out);
    *out = NULL;
  }
  return error;
}
