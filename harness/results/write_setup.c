#include "harness/results/write_setup.h"

static eb_error put_number(hid_t where, const char *name, const char *unit, double value) {
  return eb_h5_put(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, (eb_h5_shape){0}, unit, &value);
}

static eb_error put_memory(hid_t group, const double bytes[EB_MEMORY_KINDS]) {
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    if (bytes[i] > 0)
      EB_TRY(put_number(group, eb_memory_name((eb_memory_kind)i), "byte", bytes[i]));
  return EB_OK;
}

static eb_error put_tree(hid_t group, const eb_tree_log *tree) {
  const struct {
    const char *name;
    const int32_t *values;
  } columns[] = {{"parent", tree->parent}, {"pivots", tree->pivots}, {"rows", tree->rows}};
  eb_h5_shape shape = {1, {(hsize_t)tree->count}};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    EB_TRY(eb_h5_put(group, columns[i].name, H5T_STD_I32LE, H5T_NATIVE_INT32, shape, "1",
                     columns[i].values));
  return eb_h5_put(group, "flops", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, shape, "flop", tree->flops);
}

static bool any_memory(const double bytes[EB_MEMORY_KINDS]) {
  for (int i = 0; i < EB_MEMORY_KINDS; i++)
    if (bytes[i] > 0) return true;
  return false;
}

eb_error eb_setup_write(hid_t setup, const eb_step_log *log) {
  hid_t group;
  for (int i = 0; i < EB_PHASE_COUNT; i++)
    EB_TRY(put_number(setup, eb_phase_name((eb_phase)i), "s", log->phase_seconds[i]));
  for (int i = 0; i < EB_COUNTERS; i++)
    EB_TRY(put_number(setup, eb_counter_name((eb_counter)i), "1", log->counters[i]));
  if (any_memory(log->memory_bytes)) {
    EB_TRY(eb_h5_group(setup, "memory", &group));
    eb_error error = put_memory(group, log->memory_bytes);
    H5Gclose(group);
    EB_TRY(error);
  }
  if (log->tree.count == 0) return EB_OK;
  EB_TRY(eb_h5_group(setup, "supernodes", &group));
  eb_error error = put_tree(group, &log->tree);
  H5Gclose(group);
  return error;
}
