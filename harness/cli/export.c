/* elastobench export: results for other programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/fclib/fclib.h"
#include "harness/names.h"
#include "harness/results/export.h"
#include "problems/mesh/io.h"

static const eb_flag flags[] = {
    {"to", 0, "xdmf|json|csv|fclib|mesh",
     "format: XDMF for ParaView, JSON of everything but frames, CSV of steps, contact problems "
     "of FCLib, the mesh of a run"},
    {"output", 'o', "PATH",
     "file (json, csv; default: the standard output) or folder (xdmf; default: "
     "beside F.h5; fclib; default: this one); mesh: a file, whose extension is the format (.mesh "
     ".msh .node .veg .vtk, or of its surface .obj .ply .off .stl)"},
    {"run", 0, "ID", "only this run; may be repeated"},
    {0}};

static eb_error check_ids(const eb_results *results, const eb_strings *ids) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < eb_results_count(results) && !error; i++)
    error = eb_strings_add(&names, eb_results_run(results, i)->id);
  for (int i = 0; i < ids->count && !error; i++) {
    bool found = false;
    for (int n = 0; n < names.count; n++)
      found = found || strcmp(names.items[n], ids->items[i]) == 0;
    if (!found) error = eb_unknown_name("run", ids->items[i], &names);
  }
  eb_strings_clear(&names);
  return error;
}

static eb_error to_stream(const eb_results *results, const eb_strings *ids, const char *path,
                          eb_error (*write)(const eb_results *, const eb_strings *, FILE *)) {
  FILE *out = path ? fopen(path, "w") : stdout;
  if (!out) return EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  eb_error error = write(results, ids, out);
  bool failed = ferror(out) != 0;
  if (path && fclose(out)) failed = true;
  if (failed && path && !error)
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
  return error;
}

static eb_error to_mesh(const eb_results *results, const eb_strings *ids, const char *path) {
  int run = 0;
  eb_mesh *mesh;
  eb_surface *surface = NULL;
  if (!path) return EB_ERROR(EB_ERR_USAGE, "export --to mesh wants a file: -o PATH");
  if (ids->count > 1 || (ids->count == 0 && eb_results_count(results) != 1))
    return EB_ERROR(EB_ERR_USAGE,
                    "export --to mesh writes the mesh of one run; choose it by --run");
  while (ids->count == 1 && strcmp(eb_results_run(results, run)->id, ids->items[0]) != 0) run++;
  EB_TRY(eb_results_mesh(results, run, &mesh));
  /* Some formats, and planar meshes in them, want the surface. */
  eb_error error = EB_OK;
  if (!eb_path_is_surface(path)) {
    error = eb_mesh_write(path, EB_FORMAT_AUTO, mesh);
  } else {
    error = eb_mesh_surface(mesh, &surface);
    if (!error) error = eb_surface_write(path, EB_FORMAT_AUTO, surface);
    eb_surface_destroy(surface);
  }
  eb_mesh_destroy(mesh);
  return error;
}

static eb_error export(const eb_arguments *arguments, const eb_results *results, int *code) {
  const eb_strings *ids = eb_arguments_values(arguments, "run");
  const char *to = eb_arguments_text(arguments, "to");
  const char *path = eb_arguments_text(arguments, "output");
  EB_TRY(check_ids(results, ids));
  if (strcmp(to, "mesh") == 0) return to_mesh(results, ids, path);
  bool xdmf = strcmp(to, "xdmf") == 0;
  if (xdmf || strcmp(to, "fclib") == 0) {
    int written;
    EB_TRY((xdmf ? eb_export_xdmf : eb_fclib_export)(results, ids, path, stdout, &written));
    if (written > 0) return EB_OK;
    fprintf(stderr, "elastobench: %s\n",
            xdmf ? "no run has frames"
                 : "no run has kept a contact problem; run with --contact-problem STEP");
    *code = EB_EXIT_NOTHING;
    return EB_OK;
  }
  return to_stream(results, ids, path, strcmp(to, "json") == 0 ? eb_export_json : eb_export_csv);
}

static const char *const formats[] = {"xdmf", "json", "csv", "fclib", "mesh"};
enum { FORMATS = sizeof formats / sizeof *formats };

static eb_error run(const eb_arguments *arguments, int *code) {
  eb_results *results;
  const char *path = arguments->positional.items[0];
  const char *to = eb_arguments_text(arguments, "to");
  size_t format = 0;
  if (!to) return EB_ERROR(EB_ERR_USAGE, "export wants --to xdmf, json, csv, fclib or mesh");
  while (format < FORMATS && strcmp(formats[format], to) != 0) format++;
  if (format == FORMATS)
    return eb_unknown(EB_ERR_USAGE, to, formats, FORMATS, "there is no export format");
  EB_TRY(eb_sandbox_verify("results", path, NULL));
  EB_TRY(eb_results_open(path, &results));
  eb_error error = export(arguments, results, code);
  eb_results_close(results);
  return error;
}

const eb_command eb_command_export = {
    .name = "export",
    .synopsis = "F.h5 --to xdmf|json|csv|fclib|mesh [-o PATH] [--run ID]..",
    .summary = "write results for ParaView, scripts or spreadsheets",
    .flags = flags,
    .least = 1,
    .most = 1,
    .run = run};
