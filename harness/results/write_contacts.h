/* The contacts of frames (solvers/contact/record.h), one list behind the other. Internal to
 * writing; record.h has the layout. */
#ifndef EB_RESULTS_WRITE_CONTACTS_H
#define EB_RESULTS_WRITE_CONTACTS_H

#include "harness/results/table.h"
#include "solvers/contact/record.h"

enum { EB_CONTACT_TABLES = 12 };

typedef struct eb_contact_writer {
  int32_t nodes;  /* of stored frames: vertices of obstacles are counted from here on */
  int64_t stored; /* contacts so far */
  eb_table tables[EB_CONTACT_TABLES];
} eb_contact_writer;

/* Makes frames/contacts in an open run; reals over contacts are stored in double precision or,
 * without `wide`, in single. */
EB_MUST eb_error eb_contact_writer_open(hid_t run, int32_t nodes, bool wide,
                                        eb_contact_writer *writer);
/* Those of one frame; `record` may be NULL. */
EB_MUST eb_error eb_contact_writer_add(eb_contact_writer *writer, const eb_contact_record *record);

#endif
