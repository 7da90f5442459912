#include "harness/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"

/* Of a solver's name: what a command line, a file and a terminal take as it is. */
static const char name_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";
enum { LONGEST_NAME = 100 };

static eb_error check_interface(const char *path, void *handle, const eb_solver_ops **out) {
  const int *abi = dlsym(handle, "elastobench_abi");
  const eb_solver_ops *ops = dlsym(handle, "elastobench_solver");
  if (!abi || !ops)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "plug-in '%s' does not export %s; see solvers/solver.h for what it must", path,
                    abi ? "elastobench_solver" : "elastobench_abi");
  if (*abi != EB_PLUGIN_ABI)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "plug-in '%s' was built for interface version %d, this program has %d; build "
                    "it again against the installed headers",
                    path, *abi, EB_PLUGIN_ABI);
  if (!ops->name || !*ops->name || !ops->summary || !ops->create || !ops->step || !ops->destroy)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "plug-in '%s': elastobench_solver lacks its name, summary, create, step or "
                    "destroy",
                    path);
  if (strspn(ops->name, name_characters) != strlen(ops->name) || strlen(ops->name) > LONGEST_NAME)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "plug-in '%s': its name may have up to %d letters, digits, '-', '_', '.' and "
                    "'+'",
                    path, LONGEST_NAME);
  *out = ops;
  return EB_OK;
}

static eb_error keep(eb_plugins *plugins, eb_plugin plugin) {
  EB_TRY(check_interface(plugin.path, plugin.handle, &plugin.solver));
  const char *name = plugin.solver->name;
  if (eb_solver_find(name))
    return EB_ERROR(EB_ERR_USAGE, "plug-in '%s' calls itself '%s', which is a built-in solver",
                    plugin.path, name);
  for (int i = 0; i < plugins->count; i++)
    if (strcmp(plugins->items[i].solver->name, name) == 0)
      return EB_ERROR(EB_ERR_USAGE, "plug-ins '%s' and '%s' are both called '%s'",
                      plugins->items[i].path, plugin.path, name);
  EB_TRY(EB_APPEND(plugins->items, plugins->count));
  plugins->items[plugins->count - 1] = plugin;
  return EB_OK;
}

eb_error eb_plugins_load(eb_plugins *plugins, const char *path) {
  eb_plugin plugin = {.path = realpath(path, NULL)};
  if (!plugin.path)
    return EB_ERROR(EB_ERR_IO, "cannot load plug-in '%s': %s", path, strerror(errno));
  /* Before dlopen, which would wait for a FIFO. */
  eb_error error = eb_error_prefix(eb_digest_file(plugin.path, &plugin.digest), "plug-in");
  if (!error) plugin.handle = dlopen(plugin.path, RTLD_NOW | RTLD_LOCAL);
  if (!error && !plugin.handle)
    error = EB_ERROR(EB_ERR_IO, "cannot load plug-in '%s': %s", path, dlerror());
  if (!error) error = keep(plugins, plugin);
  if (error) {
    if (plugin.handle) dlclose(plugin.handle);
    free(plugin.path);
  }
  return error;
}

void eb_plugins_forget(eb_plugins *plugins) {
  for (int i = 0; i < plugins->count; i++) free(plugins->items[i].path);
  free(plugins->items);
  *plugins = (eb_plugins){0};
}

void eb_plugins_clear(eb_plugins *plugins) {
  for (int i = 0; i < plugins->count; i++) dlclose(plugins->items[i].handle);
  eb_plugins_forget(plugins);
}

eb_error eb_solver_lookup(const eb_plugins *plugins, const char *name, const eb_solver_ops **out,
                          const eb_plugin **plugin) {
  if (plugin) *plugin = NULL;
  for (int i = 0; plugins && i < plugins->count; i++)
    if (strcmp(plugins->items[i].solver->name, name) == 0) {
      if (plugin) *plugin = &plugins->items[i];
      *out = plugins->items[i].solver;
      return EB_OK;
    }
  *out = eb_solver_find(name);
  if (*out) return EB_OK;
  eb_strings names = {0};
  eb_error error = eb_solver_names(plugins, &names);
  if (!error) error = eb_unknown_name("solver", name, &names);
  eb_strings_clear(&names);
  return error;
}

bool eb_solver_is_foreign(const eb_solver_ops *ops) {
  return eb_solver_find(ops->name) != ops || strcmp(ops->name, "external") == 0;
}
