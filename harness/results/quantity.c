#include "harness/results/quantity.h"

#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

eb_error eb_quantities_put(hid_t group, const eb_quantity *list, const void *items, size_t stride,
                           size_t count) {
  eb_error error = EB_OK;
  for (; list->name && !error; list++) {
    double *values;
    EB_TRY(EB_NEW(values, count * list->columns));
    for (size_t i = 0; i < count; i++)
      memcpy(values + i * list->columns, (const char *)items + i * stride + list->offset,
             list->columns * sizeof *values);
    eb_h5_shape shape = {list->columns > 1 ? 2 : 1, {count, list->columns}};
    error =
        eb_h5_put(group, list->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, list->unit, values);
    free(values);
  }
  return error;
}

hid_t eb_name_type(const char *const *names, int32_t count) {
  hid_t type = H5Tenum_create(H5T_STD_I32LE);
  for (int32_t i = 0; i < count; i++) H5Tenum_insert(type, names[i], &i);
  return type;
}

eb_error eb_names_put(hid_t group, const char *name, const char *const *names, int32_t name_count,
                      const int32_t *values, size_t count) {
  hid_t type = eb_name_type(names, name_count);
  eb_error error = eb_h5_put(group, name, type, type, (eb_h5_shape){1, {count}}, "1", values);
  H5Tclose(type);
  return error;
}
