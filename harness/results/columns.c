#include "harness/results/columns.h"

#include <stddef.h>

#define COLUMN(id, name, unit, whole, meaning) {#name, unit, meaning, whole, NULL, NULL},
#define FIGURE(id, name, unit, whole, member, meaning, rule, definition)                           \
  {#name, unit, meaning, whole, rule, definition},
#define ROW(id, name, unit, member, meaning, definition) {#name, unit, meaning, 0, "", definition},
#define NUMBER(id, path, unit, setting, meaning, definition)                                       \
  {path, unit, setting, meaning, definition},

const eb_column_info eb_columns[EB_COL_COUNT] = {EB_STEP_COLUMNS(COLUMN, FIGURE)};
const eb_column_info eb_part_columns[EB_PART_COLUMNS] = {EB_PART_FIGURES(ROW)};
const eb_column_info eb_rotation_columns[EB_ROTATION_COLUMNS] = {EB_ROTATION_FIGURES(ROW)};
const eb_number_info eb_run_numbers[EB_RUN_NUMBERS] = {EB_NUMBERS_OF_RUNS(NUMBER)};
