/* Units that a number may carry in an INI file: "5 mm", "2 MPa", "30 deg". */
#ifndef EB_NOTATION_UNIT_H
#define EB_NOTATION_UNIT_H

#include <stddef.h>

/* number x name = number * times / over in SI units: two factors, so that 50 mm is 50 / 1000. */
typedef struct eb_unit {
  const char *name;
  double times, over;
} eb_unit;

/* The longest unit that the text begins with, or NULL; nothing of a word follows it. */
const eb_unit *eb_unit_at(const char *text);
double eb_unit_value(const eb_unit *unit, double number);

#endif
