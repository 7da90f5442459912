/* Text that leaves the program: names, messages and output of solvers and files reach a terminal or
 * a file of markup through here, made fit for it (eb_text_clean). */
#ifndef EB_PRINT_H
#define EB_PRINT_H

#include <stdio.h>

#include "problems/base/error.h"

/* fprintf, with the text made fit to be shown (eb_text_clean). Returns the bytes written. */
int eb_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What stands for a character; a list ends with a 0. */
typedef struct eb_escape {
  char character;
  const char *text;
} eb_escape;
extern const eb_escape eb_xml_content[], eb_xml_attribute[];

/* The text, made fit to be shown, with its escapes; NULL is empty. */
EB_MUST eb_error eb_print_escaped(FILE *out, const char *text, const eb_escape *escapes);

/* A value with a prefix of the SI, "6.21 M". */
typedef struct eb_prefixed {
  char text[40];
} eb_prefixed;
eb_prefixed eb_prefixed_value(double value);

#endif
