/* Solvers and materials from shared objects: `--plugin ./it.so`.
 *
 * A plug-in exports `const eb_solver_ops elastobench_solver`, `const eb_material_ops
 * elastobench_material`, or both, and `const int elastobench_abi = EB_PLUGIN_ABI`. */
#ifndef EB_PLUGIN_H
#define EB_PLUGIN_H

#include <stdbool.h>

#include "problems/base/digest.h"
#include "problems/elasticity/plugged.h"
#include "solvers/solver.h"

/* A solver of a plug-in. */
typedef struct eb_plugin {
  const char *path; /* of the file */
  const eb_solver_ops *solver;
  eb_digest digest; /* of the file: another build is another solver */
} eb_plugin;

/* A shared object, whatever it brings. */
typedef struct eb_plugin_file {
  char *path; /* absolute */
  void *handle;
  eb_digest digest;
} eb_plugin_file;

typedef struct eb_plugins {
  eb_plugin *items; /* those with a solver */
  int count;
  eb_plugged *materials;
  int material_count;
  eb_plugin_file *files;
  int file_count;
} eb_plugins;

/* Loads one more. EB_ERR_IO: cannot be loaded; EB_ERR_UNSUPPORTED: wrong or missing interface;
 * EB_ERR_USAGE: a name of its is taken. Plug-ins are checked for complete tables before anything of
 * theirs is called. */
EB_MUST eb_error eb_plugins_load(eb_plugins *plugins, const char *path);
void eb_plugins_clear(eb_plugins *plugins);
/* The same, but the shared objects stay loaded: for a process in which their solvers have run,
 * since threads of theirs may still. */
void eb_plugins_forget(eb_plugins *plugins);

/* The solver of that name among the plug-ins and the built-in ones. EB_ERR_USAGE lists the valid
 * names and the nearest. *plugin (may be NULL) receives where it comes from, or NULL. `plugins` may
 * be NULL. */
EB_MUST eb_error eb_solver_lookup(const eb_plugins *plugins, const char *name,
                                  const eb_solver_ops **out, const eb_plugin **plugin);

/* What scenes are opened with; `plugins` may be NULL. */
eb_plugged_list eb_plugins_materials(const eb_plugins *plugins);

/* Whether it is a plug-in, or a program: what such a solver counts of its work is its own word, and
 * ranks nothing. Times are measured, whoever it is. */
bool eb_solver_is_foreign(const eb_solver_ops *ops);

#endif
