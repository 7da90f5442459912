#include "harness/results/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"

typedef struct types {
  hid_t stored, memory;
} types;

static types types_of(eb_number number) {
  switch (number) {
  case EB_REAL:
    return (types){H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
  case EB_ROUNDED:
    return (types){H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE};
  case EB_WHOLE:
    return (types){H5T_STD_I64LE, H5T_NATIVE_DOUBLE};
  case EB_LONG:
    return (types){H5T_STD_I64LE, H5T_NATIVE_INT64};
  case EB_INT:
    return (types){H5T_STD_I64LE, H5T_NATIVE_INT32};
  case EB_SMALL:
    return (types){H5T_STD_U8LE, H5T_NATIVE_INT32};
  case EB_BYTE:
  case EB_FLAG:
    return (types){H5T_STD_U8LE, H5T_NATIVE_UINT8};
  case EB_INDEX:
  case EB_NAMED:
    break;
  }
  return (types){H5T_STD_I32LE, H5T_NATIVE_INT32};
}

static eb_h5_shape shape_of(size_t rows, size_t columns) {
  return (eb_h5_shape){columns > 1 ? 2 : 1, {rows, columns}};
}

/* Checks a shape of `columns` columns and, unless rows < 0, so many rows; the error has the path in
 * the file. */
static eb_error check_shape(hid_t group, const char *name, eb_h5_shape shape, size_t columns,
                            int32_t rows) {
  char path[256] = "";
  bool fits = columns > 1 ? shape.rank == 2 && shape.size[1] == columns : shape.rank == 1;
  if (fits && shape.size[0] <= INT32_MAX / 3 && (rows < 0 || shape.size[0] == (hsize_t)rows))
    return EB_OK;
  H5Iget_name(group, path, sizeof path);
  if (!fits || rows < 0)
    return EB_ERROR(EB_ERR_FORMAT, "%s/%s has an unexpected shape", path, name);
  return EB_ERROR(EB_ERR_FORMAT, "%s/%s has an unexpected shape: %s has %llu rows, not %d", path,
                  name, name, (unsigned long long)shape.size[0], rows);
}

/* ---- of fixed length ------------------------------------------------------------------------- */

eb_error eb_scalar_put(hid_t group, const char *name, const char *unit, double value) {
  return eb_h5_put(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (eb_h5_shape){0}, unit, &value);
}

eb_error eb_rows_put(hid_t group, const char *name, eb_number number, size_t rows, size_t columns,
                     const char *unit, const void *data) {
  types type = types_of(number);
  return eb_h5_put(group, name, type.stored, type.memory, shape_of(rows, columns), unit, data);
}

eb_error eb_rows_get(hid_t group, const char *name, eb_number number, size_t columns, void *out,
                     int32_t *rows) {
  hid_t memory = types_of(number).memory;
  eb_h5_shape shape;
  void *data;
  EB_TRY(eb_h5_get(group, name, memory, H5Tget_size(memory), &data, &shape));
  eb_error error = check_shape(group, name, shape, columns, *rows);
  if (error) {
    free(data);
    return error;
  }
  *rows = (int32_t)shape.size[0];
  memcpy(out, &data, sizeof data);
  return EB_OK;
}

/* The type of a quantity in memory, of an enumeration in the file as well; to be closed. */
static hid_t open_type(const eb_quantity *q) {
  if (q->number != EB_NAMED) return H5Tcopy(types_of(q->number).memory);
  hid_t type = H5Tenum_create(H5T_STD_I32LE);
  for (int value = 0; q->name_of(value); value++) H5Tenum_insert(type, q->name_of(value), &value);
  return type;
}

eb_error eb_quantities_put(hid_t group, const eb_quantity *list, const void *items, size_t stride,
                           size_t count) {
  eb_error error = EB_OK;
  for (const eb_quantity *q = list; q->name && !error; q++) {
    hid_t type = open_type(q), stored = q->number == EB_NAMED ? type : types_of(q->number).stored;
    size_t width = q->columns * H5Tget_size(type);
    char *values = eb_calloc(count, width);
    for (size_t i = 0; values && i < count; i++)
      memcpy(values + i * width, (const char *)items + i * stride + q->offset, width);
    error = values ? eb_h5_put(group, q->name, stored, type, shape_of(count, q->columns), q->unit,
                               values)
                   : EB_ERROR(EB_ERR_MEMORY, "cannot write %s: out of memory", q->name);
    free(values);
    H5Tclose(type);
  }
  return error;
}

/* Spreads one quantity, of a shape that has been checked, over the items. */
static eb_error spread(const eb_quantity *q, const void *values, void *items, size_t stride,
                       size_t width, size_t count) {
  int32_t names = 0;
  while (q->number == EB_NAMED && q->name_of(names)) names++;
  for (size_t i = 0; i < count; i++) {
    const char *from = (const char *)values + i * width;
    char *to = (char *)items + i * stride + q->offset;
    memcpy(to, from, width);
    if (q->number == EB_FLAG) *(bool *)to = *from != 0;
    if (q->number == EB_NAMED) {
      int32_t value = ((const int32_t *)values)[i];
      if (value < 0 || value >= names)
        return EB_ERROR(EB_ERR_FORMAT, "%s %d is unknown", q->name, value);
    }
  }
  return EB_OK;
}

eb_error eb_quantities_get(hid_t group, const eb_quantity *list, void *items, size_t stride,
                           size_t most, int32_t *count) {
  eb_error error = EB_OK;
  for (const eb_quantity *q = list; q->name && !error; q++) {
    hid_t type = open_type(q);
    size_t size = H5Tget_size(type);
    eb_h5_shape shape;
    void *values;
    error = eb_h5_get(group, q->name, type, size, &values, &shape);
    if (!error) error = check_shape(group, q->name, shape, q->columns, q == list ? -1 : *count);
    if (!error && shape.size[0] > most)
      error = EB_ERROR(EB_ERR_FORMAT, "%s is not a list of at most %zu", q->name, most);
    if (!error) *count = (int32_t)shape.size[0];
    if (!error) error = spread(q, values, items, stride, q->columns * size, (size_t)*count);
    free(values);
    H5Tclose(type);
  }
  return error;
}

/* ---- growing --------------------------------------------------------------------------------- */

eb_error eb_table_open(hid_t group, const eb_dataset *what, eb_h5_shape row, hsize_t rows_per_chunk,
                       eb_table *table) {
  types type = types_of(what->number);
  hsize_t size[EB_H5_AXES] = {0}, largest[EB_H5_AXES] = {H5S_UNLIMITED};
  hsize_t chunk[EB_H5_AXES] = {rows_per_chunk};
  snprintf(table->name, sizeof table->name, "%s", what->name);
  table->memory = type.memory;
  table->width = H5Tget_size(type.memory);
  for (int i = 0; i < row.rank; i++) {
    size[i + 1] = largest[i + 1] = chunk[i + 1] = row.size[i];
    table->width *= (size_t)row.size[i];
  }
  hid_t space = H5Screate_simple(row.rank + 1, size, largest);
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, row.rank + 1, chunk);
  eb_h5_pack(properties);
  table->set =
      H5Dcreate2(group, what->name, type.stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  H5Pclose(properties);
  H5Sclose(space);
  if (table->set < 0) return eb_h5_error("cannot create", what->name);
  EB_TRY(eb_h5_put_text(table->set, "unit", what->unit));
  return what->meaning ? eb_h5_put_text(table->set, "meaning", what->meaning) : EB_OK;
}

eb_error eb_table_add(eb_table *table, const void *rows, size_t count) {
  if (count == 0) return EB_OK;
  if (table->rows + count > table->capacity) {
    size_t needed = table->rows + count;
    size_t capacity = needed > 2 * table->capacity ? needed : 2 * table->capacity;
    char *grown = eb_recalloc(table->data, table->rows, capacity, table->width);
    if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %zu rows of %s", capacity, table->name);
    table->data = grown;
    table->capacity = capacity;
  }
  char *to = table->data + table->rows * table->width;
  if (rows)
    memcpy(to, rows, count * table->width);
  else
    memset(to, 0, count * table->width);
  table->rows += count;
  return EB_OK;
}

eb_error eb_table_skip(eb_table *table, size_t rows) {
  hsize_t size[EB_H5_AXES] = {0};
  hid_t space = H5Dget_space(table->set);
  H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  size[0] += rows;
  return H5Dset_extent(table->set, size) < 0 ? eb_h5_error("cannot write", table->name) : EB_OK;
}

void eb_tables_start(eb_table *tables, int count) {
  for (int i = 0; i < count; i++) tables[i].set = -1;
}

size_t eb_tables_waiting(const eb_table *tables, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += tables[i].rows * tables[i].width;
  return bytes;
}

/* Writes the waiting rows behind those of the dataset. */
static eb_error append(eb_table *table) {
  if (table->rows == 0) return EB_OK;
  hid_t space = H5Dget_space(table->set);
  hsize_t size[EB_H5_AXES] = {0}, start[EB_H5_AXES] = {0};
  int rank = H5Sget_simple_extent_dims(space, size, NULL);
  H5Sclose(space);
  start[0] = size[0];
  EB_TRY(eb_table_skip(table, table->rows));
  size[0] = table->rows;
  hid_t target = H5Dget_space(table->set), source = H5Screate_simple(rank, size, NULL);
  H5Sselect_hyperslab(target, H5S_SELECT_SET, start, NULL, size, NULL);
  herr_t status = H5Dwrite(table->set, table->memory, source, target, H5P_DEFAULT, table->data);
  H5Sclose(source);
  H5Sclose(target);
  if (status < 0) return eb_h5_error("cannot write", table->name);
  table->rows = 0;
  return EB_OK;
}

eb_error eb_tables_commit(eb_table *tables, int count) {
  for (int i = 0; i < count; i++)
    if (tables[i].set >= 0) EB_TRY(append(&tables[i]));
  return EB_OK;
}

static bool are_zeros(const char *data, size_t bytes) {
  size_t i = 0;
  while (i < bytes && data[i] == 0) i++;
  return i == bytes;
}

/* Writes the dataset of that path, whose data are at hand, anew with the layout of those that do
 * not grow. */
static eb_error rewrite(hid_t file, const char *path, hid_t stored, eb_h5_shape shape,
                        const void *data) {
  char *unit = NULL, *meaning = NULL;
  hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
  eb_error error = eb_h5_get_text(set, "unit", &unit);
  if (!error) error = eb_h5_get_text(set, "meaning", &meaning);
  H5Dclose(set);
  if (!error && H5Ldelete(file, path, H5P_DEFAULT) < 0) error = eb_h5_error("cannot move", path);
  if (!error) error = eb_h5_put(file, path, stored, stored, shape, unit, data);
  if (!error && *meaning) {
    set = H5Dopen2(file, path, H5P_DEFAULT);
    error = eb_h5_put_text(set, "meaning", meaning);
    H5Dclose(set);
  }
  free(unit);
  free(meaning);
  return error;
}

/* Bytes of a column; SIZE_MAX of fields over a mesh, which stay in their chunks. */
static size_t column_bytes(const eb_table *table, hid_t stored) {
  hid_t space = H5Dget_space(table->set);
  bool column = H5Sget_simple_extent_ndims(space) == 1;
  size_t rows = (size_t)H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  return column ? rows * H5Tget_size(stored) : SIZE_MAX;
}

/* The dataset is closed before it is deleted, so that others can have its place in the file. */
static eb_error settle(eb_table *table, bool drop_zeros) {
  char path[512];
  void *data = NULL;
  eb_h5_shape shape;
  EB_TRY(append(table));
  hid_t file = H5Iget_file_id(table->set), stored = H5Dget_type(table->set);
  size_t bytes = column_bytes(table, stored);
  eb_error error = EB_OK;
  H5Iget_name(table->set, path, sizeof path);
  H5Dclose(table->set);
  table->set = -1;
  if (bytes <= EB_H5_SHORT || drop_zeros)
    error = eb_h5_get(file, path, stored, H5Tget_size(stored), &data, &shape);
  if (!error && drop_zeros && are_zeros(data, bytes)) {
    if (H5Ldelete(file, path, H5P_DEFAULT) < 0) error = eb_h5_error("cannot take out", path);
  } else if (!error && bytes <= EB_H5_SHORT) {
    error = rewrite(file, path, stored, shape, data);
  }
  free(data);
  H5Tclose(stored);
  H5Fclose(file);
  return error;
}

eb_error eb_tables_settle(eb_table *tables, int count, bool drop_zeros) {
  for (int i = 0; i < count; i++)
    if (tables[i].set >= 0) EB_TRY(settle(&tables[i], drop_zeros));
  return EB_OK;
}

void eb_tables_clear(eb_table *tables, int count) {
  for (int i = 0; i < count; i++) {
    if (tables[i].set >= 0) H5Dclose(tables[i].set);
    free(tables[i].data);
    tables[i] = (eb_table){.set = -1};
  }
}
