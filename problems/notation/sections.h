/* INI files as they are, those of papers and of suites: sections with their entries in order.
 *
 *   [claim table1 | Table 1]     kind, label, and a text; of a suite all of it is the label
 *   claim = a text that goes on
 *     on indented lines; of a suite such a line is another entry of the key
 *   row = a b            ; a key may be repeated: entries are kept apart, in order
 *
 * A section with loops in its label stands for several: [cases {n} for n q in few 8 some 16] for
 * [cases few] and [cases some], in which {n} and {q} are replaced throughout.
 *
 * A comment begins with ';' at the start of a line or behind a blank, or with '#' before anything
 * else in a line. Lines are of any length. What kinds, keys and values mean is for who reads the
 * sections. */
#ifndef EB_NOTATION_SECTIONS_H
#define EB_NOTATION_SECTIONS_H

#include "problems/notation/words.h"

typedef struct eb_entry {
  char *key, *value;
  int line;
  const struct eb_entry *of; /* of a visited one: the section's, with the loops; else NULL */
} eb_entry;

typedef struct eb_section {
  char *kind, *label, *text; /* "" when there is none */
  eb_entry *entries;
  int count, line;
  const char *path; /* of the file, for messages; this and `asked` are the sections' */
  double *asked;    /* for by the file so far (eb_ask) */
} eb_section;

typedef enum eb_sections_of { EB_SECTIONS_OF_PAPER, EB_SECTIONS_OF_SUITE } eb_sections_of;

typedef struct eb_sections {
  eb_section *items;
  int count;
  char *path;
  double *asked;
  eb_sections_of of;
} eb_sections;

/* `name` stands for the path in messages. EB_ERR_FORMAT names it and the line. Clear *out also
 * after a failure. */
EB_MUST eb_error eb_sections_parse(const char *name, const char *text, eb_sections_of of,
                                   eb_sections *out);
void eb_sections_clear(eb_sections *sections);

/* Puts file, line and section before the message of an error, and with `entry` its key. EB_OK and
 * what is located already pass through. */
eb_error eb_section_locate(const eb_section *section, const eb_entry *entry, eb_error error);

/* The section of that kind and label, or NULL. */
const eb_section *eb_sections_find(const eb_sections *sections, const char *kind,
                                   const char *label);
/* The last entry of a key, and its value; or NULL. */
const eb_entry *eb_section_entry(const eb_section *section, const char *key);
const char *eb_section_value(const eb_section *section, const char *key);
/* The values of one key in turn: *at is 0 at first, then what the last call left there. NULL
 * after the last. */
const char *eb_section_next(const eb_section *section, const char *key, int *at);
/* What a kind of section may hold. `out` of eb_section_read is the struct that the offsets are of.
 */
typedef enum eb_key_type {
  EB_KEY_OTHER,  /* for who reads the entries one by one */
  EB_KEY_JOINED, /* char *: all values, joined by spaces; "" without one. The caller frees it. */
  EB_KEY_LAST    /* const char *: the last value, owned by the section, or `fallback` */
} eb_key_type;
typedef struct eb_key eb_key;
struct eb_key {
  const char *name;
  eb_key_type type;
  size_t offset;
  const char *fallback;
  /* of eb_section_each: for every entry of the key or, with `loops`, every one that it stands for
   */
  eb_error (*read)(void *context, const eb_key *key, const eb_entry *entry);
  bool loops;
};
/* `keys` end with a NULL name; a section that is NULL has no entries. EB_ERR_FORMAT, located, for
 * the first key that is not among them, with the nearest one. */
EB_MUST eb_error eb_section_read(const eb_section *section, const eb_key *keys, void *out);
/* Hands the entries to what reads them, in the section's order; errors are located. */
EB_MUST eb_error eb_section_each(const eb_section *section, const eb_key *keys, void *context);

/* Calls `visit` for every entry that one with loops stands for: "{m}-{n} = X:n={n} {m} for m in
 * a b for n in 1 2" for four, the first loop slowest; "for n dt in one 1e-3 two 2e-3" takes
 * words two at a time. Loops stand at the end, outside parentheses, and no '|' follows. An entry
 * without loops is visited as it is. EB_ERR_FORMAT for a loop without words, and for more turns
 * than a file may ask for. */
typedef eb_error (*eb_entry_visit)(void *context, const eb_entry *entry);
EB_MUST eb_error eb_entry_unroll(const eb_section *section, const eb_entry *entry,
                                 eb_entry_visit visit, void *context);

/* A section whose entries are all unrolled; NULL is one without entries. The caller clears *out,
 * also after a failure. */
EB_MUST eb_error eb_section_unroll(const eb_section *section, eb_section *out);
void eb_section_clear(eb_section *section);

#endif
