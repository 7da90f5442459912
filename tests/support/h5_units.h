/* Whether datasets of a result file say their units. */
#ifndef EB_TESTS_H5_UNITS_H
#define EB_TESTS_H5_UNITS_H

#include "harness/results/h5.h"

/* For H5Ovisit2: data is int[2], datasets and those of them without a unit. */
static herr_t count_without_unit(hid_t file, const char *name, const H5O_info_t *info, void *data) {
  int *counts = data;
  if (info->type != H5O_TYPE_DATASET) return 0;
  counts[0]++;
  counts[1] += H5Aexists_by_name(file, name, "unit", H5P_DEFAULT) <= 0;
  return 0;
}

#endif
