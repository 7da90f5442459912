/* Which solvers serve which scenes, as they are or with other values of parameters, and why not. */
#ifndef EB_CLI_MATRIX_H
#define EB_CLI_MATRIX_H

#include "harness/plugin.h"

typedef enum eb_list_format { EB_LIST_TEXT, EB_LIST_JSON, EB_LIST_MARKDOWN } eb_list_format;

typedef struct eb_matrix_request {
  const eb_plugins *plugins;
  eb_list_format format;
} eb_matrix_request;

/* Prints what each solver is to the scene "NAME[:p=v,..]". */
EB_MUST eb_error eb_matrix_scene(const eb_matrix_request *request, const char *spec);
/* Prints what each scene is to the solver of that name. */
EB_MUST eb_error eb_matrix_solver(const eb_matrix_request *request, const char *name);
/* Prints a mark for every pair, and below it all values and reasons. */
EB_MUST eb_error eb_matrix_all(const eb_matrix_request *request);

#endif
