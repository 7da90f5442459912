/* The files of a paper, compiled in or in a folder. Internal to the papers. */
#ifndef EB_REPRODUCE_PAPER_FILE_H
#define EB_REPRODUCE_PAPER_FILE_H

#include "harness/reproduce/paper.h"

/* Reads the file of that name of a paper; `from` as in eb_paper_load. Appends its path to
 * `out->path` for messages. */
typedef struct eb_paper_file {
  char path[600]; /* for messages */
  eb_text text;
} eb_paper_file;
EB_MUST eb_error eb_paper_file_read(const char *paper, const char *from, const char *name,
                                    eb_paper_file *out);
void eb_paper_file_clear(eb_paper_file *file);

/* Parses the [cases] sections into paper->cases. */
EB_MUST eb_error eb_paper_read_cases(eb_paper *paper);
void eb_paper_clear_cases(eb_paper *paper);

/* Reads the [table] sections and their data. */
EB_MUST eb_error eb_paper_read_tables(eb_paper *paper, const char *from);
void eb_paper_clear_tables(eb_paper *paper);

/* Takes "NAME: REST" apart: the length of NAME, and where REST begins. */
EB_MUST eb_error eb_paper_split(const char *value, size_t *name, const char **rest);

/* What a figure in SI is multiplied by to be in that unit (NULL: 1). */
EB_MUST eb_error eb_paper_unit(const char *unit, double *scale);

/* Reads the [figure] sections. */
EB_MUST eb_error eb_paper_read_figures(eb_paper *paper);
void eb_paper_clear_figures(eb_paper *paper);

#endif
