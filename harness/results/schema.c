#include "harness/results/schema.h"

#include <stdio.h>
#include <string.h>

static const char any[] = "NAME"; /* in a path: a name that the run or its scene chooses */

/* ---- names and units of columns -------------------------------------------------------------- */

static void put(eb_schema_entry *out, const char *group, const char *name, const char *unit) {
  snprintf(out->path, sizeof out->path, "%s%s%s", group, *group ? "/" : "", name);
  out->unit = unit;
}

static void put_column(eb_schema_entry *out, const char *group, const eb_column_info *column) {
  put(out, group, column->name, column->unit);
  out->meaning = column->meaning;
  out->whole = column->whole;
}

static void step_column(const char *group, int i, eb_schema_entry *out) {
  put_column(out, group, &eb_columns[i]);
}

static void part_column(const char *group, int i, eb_schema_entry *out) {
  put_column(out, group, &eb_part_columns[i]);
}

static void rotation_column(const char *group, int i, eb_schema_entry *out) {
  put_column(out, group, &eb_rotation_columns[i]);
}

static void phase(const char *group, int i, eb_schema_entry *out) {
  put(out, group, eb_phase_name((eb_phase)i), "s");
}

static void counter(const char *group, int i, eb_schema_entry *out) {
  put(out, group, eb_counter_name((eb_counter)i), "1");
}

static void memory(const char *group, int i, eb_schema_entry *out) {
  put(out, group, eb_memory_name((eb_memory_kind)i), "byte");
}

/* "subspace/size" and, from EB_NUMBER_FIRST_OF_REGION on, "subspace/variance/REGION". */
static void run_number(const char *group, int i, eb_schema_entry *out) {
  const eb_number_info *number = &eb_run_numbers[i];
  bool of_region = i >= EB_NUMBER_FIRST_OF_REGION;
  put(out, group, number->path, number->unit);
  if (of_region) snprintf(out->path, sizeof out->path, "%s/%s", number->path, any);
  out->meaning = number->meaning;
  out->setting = number->setting;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static const struct group {
  const char *path, *exported;
  int count;
  void (*fill)(const char *group, int i, eb_schema_entry *out);
  bool series;
  eb_absence absence;
} groups[] = {{"steps", "steps", EB_COL_COUNT, step_column, true, EB_ABSENT_NEVER},
              {"phases", "phases", EB_PHASE_COUNT, phase, true, EB_ABSENT_AS_ZERO},
              {"counters", "counters", EB_COUNTERS, counter, true, EB_ABSENT_AS_ZERO},
              {"parts/NAME", "parts", EB_PART_COLUMNS, part_column, true, EB_ABSENT_GROUP},
              {"rotation", "rotation", EB_ROTATION_COLUMNS, rotation_column, true, EB_ABSENT_GROUP},
              {"", "", EB_RUN_NUMBERS, run_number, false, EB_ABSENT_UNTOLD},
              {"setup", "setup/phases", EB_PHASE_COUNT, phase, false, EB_ABSENT_AS_ZERO},
              {"setup", "setup/counters", EB_COUNTERS, counter, false, EB_ABSENT_AS_ZERO},
              {"setup/memory", "setup/memory", EB_MEMORY_KINDS, memory, false, EB_ABSENT_UNTOLD}};
enum { GROUPS = sizeof groups / sizeof *groups };

bool eb_schema_at(int i, eb_schema_entry *out) {
  for (const struct group *g = groups; g < groups + GROUPS; i -= g++->count) {
    if (i >= g->count) continue;
    *out = (eb_schema_entry){.exported = g->exported, .series = g->series, .absence = g->absence};
    g->fill(g->path, i, out);
    return true;
  }
  return false;
}

static bool matches(const char *pattern, const char *path) {
  const char *name = strstr(pattern, any);
  size_t fixed = name ? (size_t)(name - pattern) : strlen(pattern) + 1;
  if (strncmp(pattern, path, fixed) != 0) return false;
  if (!name) return true;
  size_t length = strcspn(path + fixed, "/");
  return length > 0 && strcmp(path + fixed + length, name + strlen(any)) == 0;
}

bool eb_schema_column(const char *group, int i, eb_schema_entry *out) {
  const struct group *g = groups;
  while (g < groups + GROUPS && !(g->series && matches(g->path, group))) g++;
  if (g == groups + GROUPS || i >= g->count) return false;
  *out = (eb_schema_entry){.exported = g->exported, .series = true, .absence = g->absence};
  g->fill(group, i, out);
  return true;
}

bool eb_schema_find(const char *path, eb_schema_entry *out) {
  for (int i = 0; eb_schema_at(i, out); i++)
    if (matches(out->path, path)) return true;
  return false;
}
