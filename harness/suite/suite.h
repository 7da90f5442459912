/* Suites: what to run, as INI files.
 *
 *   [suite]                      settings for all sections, and
 *   summary = one line
 *
 *   [any label]
 *   scene  = conjac2020/twist:E=1e5     one a line, any number; the label itself when there is
 * none; crate.ini:E=1e5            a scene's file, beside this one or else in the working folder
 *   solver = newton:rtol=1e-6           one a line, any number
 *   repeat = 3   steps = 50   threads = 1 2   seed = 7   timeout = 60   memory = 2000
 *   frames = all   examine = yes   embed = 20
 *
 * (each setting on a line of its own; timeout in s, memory in MB; frames: interval or all, see
 * eb_frames; examine: yes or no; embed: points an element). An indented line is another value of
 * the key above it, and a label may have loops (problems/notation/sections.h). A section may also
 * say what its cases start from, with which they compete, and that an option is to be swept: from,
 * stride, samples, checkpoints, group, sweep (harness/suite/dependencies.h). */
#ifndef EB_SUITE_H
#define EB_SUITE_H

#include "harness/results/record.h"
#include "problems/base/strings.h"
#include "harness/suite/dependencies.h"

#include <stdbool.h>
#include <stdint.h>

enum { EB_MAX_THREAD_COUNTS = 8 };

typedef enum eb_setting { EB_SETTING_UNSET, EB_SETTING_YES, EB_SETTING_NO } eb_setting;

/* 0 means not set. */
typedef struct eb_settings {
  int64_t repeat, steps;
  int64_t contact_problem; /* the step whose contact problem is kept */
  eb_frames frames;
  eb_setting examine; /* the subspace that a solver declares (harness/audit/examine.h) */
  int64_t embed;      /* points an element (harness/audit/embedding.h) */
  int64_t seed;       /* set when has_seed */
  int has_seed;
  int thread_count;
  int threads[EB_MAX_THREAD_COUNTS];
  double timeout; /* s */
  double memory;  /* MB */
} eb_settings;

/* Sets one setting by its name in a suite: EB_ERR_USAGE when the value is bad; *known is false when
 * there is no such setting. */
EB_MUST eb_error eb_settings_set(eb_settings *settings, const char *name, const char *value,
                                 int *known);
/* What `base` sets and `over` does not. */
eb_settings eb_settings_over(eb_settings base, eb_settings over);

typedef struct eb_suite_section {
  char *label;
  eb_strings scenes, solvers; /* "NAME[:assignments]" */
  eb_settings settings;       /* of the section over those of [suite] */
  eb_dependencies dependencies;
} eb_suite_section;

typedef struct eb_suite {
  char *name, *summary;
  bool foreign; /* a file of anyone's: its solvers only compute (harness/suite/trust.h) */
  int count;
  eb_suite_section *sections;
} eb_suite;

/* A built-in suite by its name, or a file by its path (what ends in .ini and is no scene's file).
 * EB_ERR_USAGE: no such suite; EB_ERR_FORMAT names file and line. The caller destroys *out. */
EB_MUST eb_error eb_suite_load(const char *name_or_path, eb_suite **out);
/* The same from text; `name` stands for the path in messages. */
EB_MUST eb_error eb_suite_parse(const char *name, const char *text, eb_suite **out);
void eb_suite_destroy(eb_suite *suite);
/* Of one that is made by hand: what it holds is freed. */
void eb_suite_clear(eb_suite *suite);

/* Whether the name is that of a built-in suite or of a suite's file: it ends in .ini, and the file
 * has no section [scene] or [body ..], as those of scenes have. A file that cannot be read is a
 * suite's. */
EB_MUST eb_error eb_suite_is(const char *name, bool *out);
/* Appends the names of the built-in suites. */
EB_MUST eb_error eb_suite_names(eb_strings *out);

#endif
