#include "harness/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"

/* Of a name: what a command line, a file and a terminal take as it is. */
static const char name_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+";
enum { LONGEST_NAME = 100 };

static eb_error check_name(const char *name) {
  if (strspn(name, name_characters) == strlen(name) && strlen(name) <= LONGEST_NAME) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "its name may have up to %d letters, digits, '-', '_', '.' and '+'",
                  LONGEST_NAME);
}

static eb_error check_solver(const eb_solver_ops *ops) {
  if (ops->name && *ops->name && ops->summary && ops->create && ops->step && ops->destroy)
    return check_name(ops->name);
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "elastobench_solver lacks its name, summary, create, step or destroy");
}

static eb_error check_interface(const char *path, void *handle) {
  const int *abi = dlsym(handle, "elastobench_abi");
  if (!abi)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "plug-in '%s' does not export elastobench_abi; see solvers/solver.h and "
                    "problems/elasticity/material_ops.h for what it must",
                    path);
  if (*abi != EB_PLUGIN_ABI)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "plug-in '%s' was built for interface version %d, this program has %d; build "
                    "it again against the installed headers",
                    path, *abi, EB_PLUGIN_ABI);
  if (dlsym(handle, "elastobench_solver") || dlsym(handle, "elastobench_material")) return EB_OK;
  return EB_ERROR(EB_ERR_UNSUPPORTED,
                  "plug-in '%s' exports neither elastobench_solver (solvers/solver.h) nor "
                  "elastobench_material (problems/elasticity/material_ops.h)",
                  path);
}

static eb_error keep_solver(eb_plugins *plugins, const eb_plugin_file *file) {
  const eb_solver_ops *ops = dlsym(file->handle, "elastobench_solver");
  if (!ops) return EB_OK;
  EB_TRY(eb_error_prefix(check_solver(ops), "plug-in '%s'", file->path));
  if (eb_solver_find(ops->name))
    return EB_ERROR(EB_ERR_USAGE, "plug-in '%s' calls itself '%s', which is a built-in solver",
                    file->path, ops->name);
  for (int i = 0; i < plugins->count; i++)
    if (strcmp(plugins->items[i].solver->name, ops->name) == 0)
      return EB_ERROR(EB_ERR_USAGE, "plug-ins '%s' and '%s' are both called '%s'",
                      plugins->items[i].path, file->path, ops->name);
  EB_TRY(EB_APPEND(plugins->items, plugins->count));
  plugins->items[plugins->count - 1] = (eb_plugin){file->path, ops, file->digest};
  return EB_OK;
}

static eb_error keep_material(eb_plugins *plugins, const eb_plugin_file *file) {
  const eb_material_ops *ops = dlsym(file->handle, "elastobench_material");
  if (!ops) return EB_OK;
  eb_error error = eb_material_ops_validate(ops);
  if (!error) error = check_name(ops->name);
  EB_TRY(eb_error_prefix(error, "plug-in '%s'", file->path));
  const eb_plugged_list others = eb_plugins_materials(plugins);
  const eb_plugged *other = eb_plugged_find(&others, ops->name);
  if (eb_material_find(ops->name) >= 0)
    return EB_ERROR(EB_ERR_USAGE, "plug-in '%s' calls its material '%s', which is a built-in one",
                    file->path, ops->name);
  if (other)
    return EB_ERROR(EB_ERR_USAGE, "the materials of plug-ins '%s' and '%s' are both called '%s'",
                    other->path, file->path, ops->name);
  EB_TRY(EB_APPEND(plugins->materials, plugins->material_count));
  plugins->materials[plugins->material_count - 1] =
      (eb_plugged){.ops = ops, .path = file->path, .digest = file->digest};
  return EB_OK;
}

static eb_error keep(eb_plugins *plugins, const eb_plugin_file *file) {
  EB_TRY(check_interface(file->path, file->handle));
  EB_TRY(keep_solver(plugins, file));
  return keep_material(plugins, file);
}

eb_error eb_plugins_load(eb_plugins *plugins, const char *path) {
  EB_TRY(EB_APPEND(plugins->files, plugins->file_count));
  eb_plugin_file *file = &plugins->files[plugins->file_count - 1];
  file->path = realpath(path, NULL);
  if (!file->path)
    return EB_ERROR(EB_ERR_IO, "cannot load plug-in '%s': %s", path, strerror(errno));
  /* Before dlopen, which would wait for a FIFO. */
  EB_TRY(eb_error_prefix(eb_digest_file(file->path, &file->digest), "plug-in"));
  file->handle = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
  if (!file->handle) return EB_ERROR(EB_ERR_IO, "cannot load plug-in '%s': %s", path, dlerror());
  return keep(plugins, file);
}

void eb_plugins_forget(eb_plugins *plugins) {
  for (int i = 0; i < plugins->file_count; i++) free(plugins->files[i].path);
  free(plugins->files);
  free(plugins->items);
  free(plugins->materials);
  *plugins = (eb_plugins){0};
}

void eb_plugins_clear(eb_plugins *plugins) {
  for (int i = 0; i < plugins->file_count; i++)
    if (plugins->files[i].handle) dlclose(plugins->files[i].handle);
  eb_plugins_forget(plugins);
}

eb_plugged_list eb_plugins_materials(const eb_plugins *plugins) {
  return plugins ? (eb_plugged_list){plugins->materials, plugins->material_count}
                 : (eb_plugged_list){0};
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
