/* Printing for people: names, messages and output of solvers and files reach the terminal through
 * here and without control characters. */
#ifndef EB_PRINT_H
#define EB_PRINT_H

#include <stdio.h>

/* fprintf, with the text made fit to be shown (eb_text_clean). Returns the bytes written. */
int eb_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
