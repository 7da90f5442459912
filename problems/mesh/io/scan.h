/* A bounded cursor over a file held in memory: words, numbers and raw bytes, with messages that
 * name the file and the line (text) or byte (binary). It never reads past `end` and needs no final
 * zero.
 *
 * Numbers are written in the C locale; the caller sets it (eb_mesh_parse does). */
#ifndef EB_MESH_IO_SCAN_H
#define EB_MESH_IO_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "problems/base/error.h"
#include "problems/base/text.h"

typedef struct eb_word {
  const char *text; /* not 0-terminated */
  size_t length;    /* 0: there was none */
} eb_word;

/* The two arguments of "%.*s" that show a word in a message, cut where it is long. */
#define EB_SHOWN(word) (int)((word).length < 40 ? (word).length : 40), (word).text

typedef struct eb_scan {
  const char *name; /* of the file, for messages */
  const char *begin, *end, *at;
  char comment;    /* opens a comment that runs to the end of the line; 0: none */
  char separator;  /* counts as white space; 0: none */
  bool binary;     /* messages give the byte, not the line */
  bool big_endian; /* of binary numbers */
  bool on_disk;    /* `name` is a path, and files named inside may be opened */
  eb_text *notes;  /* where to tell what else is worth knowing, or NULL */
} eb_scan;

/* Starts over data[bytes], behind a UTF-8 byte order mark where there is one. */
void eb_scan_start(eb_scan *scan, const char *name, const void *data, size_t bytes);

/* EB_ERR_FORMAT with "name:line: " or "name: byte n: " of the place `at` in front. */
eb_error eb_scan_error(const eb_scan *scan, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A line for the reader of the file: "name: " and the words. Does nothing when nobody asks. */
EB_MUST eb_error eb_scan_note(const eb_scan *scan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Skips white space and comments; false at the end of the file. */
bool eb_scan_more(eb_scan *scan);
eb_word eb_scan_word(eb_scan *scan);         /* the next word, on whatever line */
eb_word eb_scan_word_in_line(eb_scan *scan); /* the next word of this line */
eb_word eb_scan_peek(eb_scan *scan);         /* the next word, left where it is */
eb_word eb_scan_rest(eb_scan *scan);         /* the rest of this line, trimmed; goes to the next */
void eb_scan_next_line(eb_scan *scan);

bool eb_word_is(eb_word word, const char *text);               /* case does not matter */
bool eb_word_is_among(eb_word word, const char *const *texts); /* ended by NULL */
bool eb_word_starts(eb_word word, const char *text);
/* The decimal integer that is the whole word; false when it is none or does not fit. */
bool eb_word_int(eb_word word, int64_t *out);
/* Copies a name, unprintable bytes as '_'; EB_ERR_FORMAT when it does not fit. */
EB_MUST eb_error eb_scan_name(const eb_scan *scan, eb_word word, char *out, size_t bytes);

/* The next word as a number; `what` stands for it in messages. Reals must be finite. */
EB_MUST eb_error eb_scan_int(eb_scan *scan, const char *what, int64_t *out);
EB_MUST eb_error eb_scan_real(eb_scan *scan, const char *what, double *out);
EB_MUST eb_error eb_scan_reals(eb_scan *scan, const char *what, int count, double *out);

/* Fails unless `count` entries of at least `bytes_each` bytes can follow in the file. */
EB_MUST eb_error eb_scan_fits(const eb_scan *scan, const char *what, int64_t count,
                              size_t bytes_each);
/* The next word as a count of entries that fits. */
EB_MUST eb_error eb_scan_count(eb_scan *scan, const char *what, size_t bytes_each, int64_t *out);

/* The next entry of a list, for messages: the next word, or byte where the scan is binary. */
const char *eb_scan_place(eb_scan *scan);

typedef enum eb_number_kind {
  EB_SIGNED,
  EB_UNSIGNED,
  EB_REAL,
  EB_BITS, /* VTK: eight a byte */
  EB_TEXT  /* VTK */
} eb_number_kind;

/* A type of numbers that a format knows, by one or two names; `bytes` of each in binary. */
typedef struct eb_number_type {
  const char *name, *other;
  eb_number_kind kind;
  int bytes;
} eb_number_type;

/* Looks a type up in a table that a NULL name ends; `format` stands for the format in messages. */
EB_MUST eb_error eb_scan_type(const eb_scan *scan, eb_word name, const eb_number_type *types,
                              const char *format, const eb_number_type **out);
/* The next number: a word, or, where the scan is binary, bytes of the scan's order. A real may be
 * of any type but EB_BITS and EB_TEXT. */
EB_MUST eb_error eb_scan_typed_int(eb_scan *scan, const char *what, const eb_number_type *type,
                                   int64_t *out);
EB_MUST eb_error eb_scan_typed_real(eb_scan *scan, const char *what, const eb_number_type *type,
                                    double *out);
/* `count` raw bytes. */
EB_MUST eb_error eb_scan_bytes(eb_scan *scan, const char *what, size_t count, const char **out);

/* The whole file, released with free(). EB_ERR_IO for what cannot be read as a file. */
EB_MUST eb_error eb_file_load(const char *path, char **data, size_t *bytes);

#endif
