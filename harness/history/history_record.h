/* One record of the history: the figures of one commit on one machine, a small JSON file.
 *
 *   {"schema": "elastobench history 1",
 *    "commit": "0123456789ab", "date": "2026-11-25T04:11:26Z" (of the commit), "dirty": false,
 *    "machine": {"fingerprint": "1a2b3c4d", "cpu", "cores", "compiler", "flags"},
 *    "limits": {"dgemm" (flop/s), "triad" (byte/s)},
 *    "figures": [{"name", "unit", "better": "more" or "less", "value", "relative", "spread",
 *                 "samples", "class"}, ...]}
 *
 * `relative` is the value beside the machine's limit in the same rounds, in the direction of the
 * value; `spread` the distance of the quartiles over the median; both are null where they are not
 * known. `class` is the accuracy class that the figure was measured in, where it has one.
 *
 * Machines are one that have the same processor, number of cores, compiler and flags: those are
 * what the fingerprint is made of. */
#ifndef EB_HISTORY_HISTORY_RECORD_H
#define EB_HISTORY_HISTORY_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/environment.h"
#include "problems/base/error.h"

typedef struct eb_history_figure {
  char *name, *unit, *class;      /* class: "" when there is none */
  bool more;                      /* more is better */
  double value, relative, spread; /* NAN: not known (the value always is) */
  int64_t samples;
} eb_history_figure;

enum { EB_FINGERPRINT_BYTES = 9 };

/* All texts are the record's. Start from {0}. */
typedef struct eb_history_record {
  char *commit, *date; /* 7 hexadecimal digits or more; UTC, ISO 8601 */
  bool dirty;          /* measured with local changes, which the commit does not have */
  char fingerprint[EB_FINGERPRINT_BYTES];
  char *cpu, *compiler, *flags;
  int cores;
  double dgemm, triad; /* flop/s, byte/s; NAN: not known */
  eb_history_figure *figures;
  int count;
} eb_history_record;

/* Begins the record of a build on a machine. EB_ERR_USAGE where the commit is not known. */
EB_MUST eb_error eb_history_record_begin(const eb_host *host, eb_history_record *out);
/* Adds a copy of a figure, in the place of one of that name and class. */
EB_MUST eb_error eb_history_record_put(eb_history_record *record, const eb_history_figure *figure);
void eb_history_record_clear(eb_history_record *record);

/* EB_ERR_FORMAT names the file, and what of it is missing or wrong. */
EB_MUST eb_error eb_history_record_read(const char *path, eb_history_record *out);
/* Writes DATE-COMMIT-FINGERPRINT[-dirty].json in the folder, which is made when there is none. Of a
 * record that is there, the figures that were measured again are replaced, the others stay. The
 * caller frees *path, which the file has. */
EB_MUST eb_error eb_history_record_store(const char *folder, const eb_history_record *record,
                                         char **path);

#endif
