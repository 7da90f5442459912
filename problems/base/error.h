/* Errors: what went wrong in the program (no memory, bad file, unsupported scene).
 *
 * An eb_error is a pointer: NULL is success, anything else owns a message that says what happened,
 * where, and what the user can do about it. The caller that does not pass an error on must free it.
 * The outcome of a numerical method (converged, diverged) is never an error: see eb_reason in
 * solvers/solver.h.
 *
 * Clean-up on every path is done by splitting a function in two: the outer one owns the resources,
 * the inner one uses EB_TRY and returns early. */
#ifndef EB_BASE_ERROR_H
#define EB_BASE_ERROR_H

#include <stdarg.h>

#pragma GCC visibility push(default) /* exported */

typedef enum eb_error_code {
  EB_ERR_MEMORY = 1,  /* an allocation failed or would overflow */
  EB_ERR_IO,          /* open, read, write, fork, ...: the message carries strerror */
  EB_ERR_FORMAT,      /* a file's content is wrong: the message names file and line or byte */
  EB_ERR_USAGE,       /* an unknown name or option, a value out of range */
  EB_ERR_UNSUPPORTED, /* a valid request that this solver, scene or build cannot serve */
  EB_ERR_INVALID,     /* a mesh, matrix or state that breaks its own rules */
  EB_ERR_LIBRARY,     /* a library (CHOLMOD, PETSc, HDF5, METIS) reported a failure */
  EB_ERR_LIMIT        /* a time, memory or size limit was reached */
} eb_error_code;

typedef struct eb_error_data *eb_error;

#define EB_OK   ((eb_error)0)
#define EB_MUST __attribute__((warn_unused_result))

/* Makes an error with a printf-style message. Never returns NULL: when memory is gone, a static
 * out-of-memory error is returned, which eb_error_free accepts. */
eb_error eb_error_make(eb_error_code code, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define EB_ERROR(code, ...) eb_error_make((code), __FILE__, __LINE__, __VA_ARGS__)

/* Puts "context: " in front of the message; returns the same error. EB_OK passes through. */
eb_error eb_error_prefix(eb_error error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

eb_error_code eb_error_kind(eb_error error);
const char *eb_error_message(eb_error error); /* never NULL; valid until eb_error_free */
const char *eb_error_file(eb_error error);    /* source file that raised it */
int eb_error_line(eb_error error);
void eb_error_free(eb_error error); /* NULL is fine */

/* The one macro that checks: returns the error from the enclosing function. */
#define EB_TRY(expression)                                                                         \
  do {                                                                                             \
    eb_error eb_try_error_ = (expression);                                                         \
    if (eb_try_error_) return eb_try_error_;                                                       \
  } while (0)

#pragma GCC visibility pop

#endif
