/* Printing for people: names, messages and output of solvers and files reach the terminal through
 * here and without control characters. */
#ifndef EB_PRINT_H
#define EB_PRINT_H

#include <stdio.h>

/* fprintf, with the text made fit to be shown (eb_text_clean). Returns the bytes written. */
int eb_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A value with a prefix of the SI, "6.21 M". */
typedef struct eb_prefixed {
  char text[40];
} eb_prefixed;
eb_prefixed eb_prefixed_value(double value);

#endif
