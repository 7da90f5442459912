/* The contacts that a program reports, as a record for the audit (README.md in this folder). */
#ifndef EB_EXTERNAL_REPORTED_CONTACTS_H
#define EB_EXTERNAL_REPORTED_CONTACTS_H

#include "problems/scene_contacts.h"

/* Numbers of a contact: kind, 4 vertices, 4 weights, 3 of the normal, the distance that is asked
 * for, 3 of the force. */
enum { EB_REPORTED_NUMBERS = 16 };

typedef struct eb_reported_contacts {
  eb_surfaces *surfaces;
  int32_t room; /* contacts, of every array */
  eb_pair *pair;
  double *weight, *frame, *c, *r; /* 4, 9, 3, 3 */
  eb_contact_record record;
} eb_reported_contacts;

/* How many a step may report. */
int64_t eb_reported_most(const eb_surfaces *surfaces);

/* Fills contacts->record of `numbers`, `count` contacts, for a step of dt (s) that starts at nodes
 * and obstacles x0 (m). Its arrays grow. EB_ERR_FORMAT: a kind or a vertex that is none. */
EB_MUST eb_error eb_reported_read(eb_reported_contacts *contacts, int64_t count,
                                  const double *numbers, const double *x0, const double *obstacles,
                                  double dt);
void eb_reported_clear(eb_reported_contacts *contacts);

#endif
