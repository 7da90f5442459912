/* elastobench export: results for other programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/case/sandbox.h"
#include "harness/cli/command.h"
#include "harness/fclib/fclib.h"
#include "harness/names.h"
#include "harness/print.h"
#include "harness/results/choose.h"
#include "harness/results/export.h"
#include "problems/base/owned.h"
#include "problems/mesh/io.h"

static const eb_flag flags[] = {
    {"to", 0, "FORMAT", "one of those below"},
    {"output", 'o', "PATH",
     "file (default: the standard output), or folder of formats that are several files (default: "
     "beside F.h5; of fclib: this one)"},
    {"run", 0, "ID", "only this run, by so much of its id as no other has; may be repeated"},
    EB_FLAG_DAMAGED,
    {0}};

typedef eb_error stream_writer(const eb_results *results, const eb_strings *ids, FILE *out);
typedef eb_error files_writer(const eb_results *results, const eb_strings *ids, const char *folder,
                              FILE *out, int *written);

typedef struct export_format {
  const char *name;
  stream_writer *stream; /* what is written is one stream, */
  files_writer *files;   /* or files in a folder; NULL both: a mesh */
  const char *nothing;   /* why no file was written */
} export_format;

static const char no_frames[] = "no run has frames",
                  no_problem[] =
                      "no run has kept a contact problem; run with --contact-problem STEP";

/* Name, stream, files, why there are none, and what it is in words. */
/* clang-format off */
#define FORMATS_OF(each)                                                                           \
  each("xdmf", NULL, eb_export_xdmf, no_frames,                                                    \
       "frames for ParaView and meshio, beside F.h5 and by reference to it")                       \
  each("vtu", NULL, eb_export_vtu, no_frames,                                                      \
       "frames for ParaView, VTK and PyVista: a .pvd, and a .vtu for each frame that stands alone") \
  each("json", eb_export_json, NULL, NULL, "everything but frames")                                \
  each("csv", eb_export_csv, NULL, NULL, "a line a step, for spreadsheets")                        \
  each("benchmark", eb_export_benchmark, NULL, NULL,                                               \
       "step times as google-benchmark's compare.py reads them")                                   \
  each("junit", eb_export_junit, NULL, NULL, "runs as tests, for continuous integration")          \
  each("tap", eb_export_tap, NULL, NULL, "the same for prove")                                     \
  each("fclib", NULL, eb_fclib_export, no_problem, "contact problems of run --contact-problem")    \
  each("mesh", NULL, NULL, NULL,                                                                   \
       "the mesh of one run; -o's extension is the format: .msh of Gmsh, .vtk, .obj of its surface")
/* clang-format on */

#define AS_ROW(name, stream, files, nothing, words) {name, stream, files, nothing},
static const export_format formats[] = {FORMATS_OF(AS_ROW)};
enum { FORMATS = sizeof formats / sizeof *formats };

#define AS_LINE(name, stream, files, nothing, words) "\n  " name ": " words

/* EB_ERR_USAGE when `name` is NULL or none of them. */
static eb_error find_format(const char *name, const export_format **out) {
  const char *names[FORMATS];
  char all[160];
  *out = NULL;
  for (int f = 0; f < FORMATS; f++) {
    names[f] = formats[f].name;
    if (name && strcmp(formats[f].name, name) == 0) *out = &formats[f];
  }
  if (*out) return EB_OK;
  if (name) return eb_unknown(EB_ERR_USAGE, name, names, FORMATS, "there is no export format");
  eb_text_join(all, sizeof all, names, FORMATS, ", ");
  return EB_ERROR(EB_ERR_USAGE, "export wants --to with one of %s", all);
}

/* Which runs have no times to be compared. */
static void tell_untimed(const eb_results *results, const eb_strings *ids, int *code) {
  int timed = 0;
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (!eb_export_selects(ids, run)) continue;
    timed += eb_export_timed(run);
    if (!eb_export_timed(run))
      eb_print(stderr, "elastobench: left out: %s (%s%s%s)\n", run->id, run->outcome,
               *run->audit_rules ? ", audit failed: " : "", run->audit_rules);
  }
  if (timed == 0) *code = EB_EXIT_NOTHING;
}

static bool is_one_file(const char *a, const char *b) {
  struct stat first, second;
  return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

static eb_error to_stream(const eb_results *results, const eb_strings *ids, const char *path,
                          stream_writer *write) {
  if (path && is_one_file(path, eb_results_path(results)))
    return EB_ERROR(EB_ERR_USAGE, "'%s' is the result file itself: name another by -o", path);
  if (!path) return write(results, ids, stdout);
  eb_output output;
  EB_TRY(eb_output_open(path, &output));
  return eb_output_close(&output, write(results, ids, output.file));
}

static eb_error to_mesh(const eb_results *results, const eb_strings *ids, const char *path) {
  int run = 0;
  eb_mesh *mesh;
  if (!path) return EB_ERROR(EB_ERR_USAGE, "export --to mesh wants a file: -o PATH");
  if (ids->count > 1 || (ids->count == 0 && eb_results_count(results) != 1))
    return EB_ERROR(EB_ERR_USAGE,
                    "export --to mesh writes the mesh of one run; choose it by --run");
  EB_TRY(eb_results_choose(results, ids->count ? ids->items[0] : NULL, &run));
  EB_TRY(eb_results_mesh(results, run, &mesh));
  eb_error error = eb_mesh_write(path, mesh);
  eb_mesh_destroy(mesh);
  return error;
}

static eb_error to_files(const eb_results *results, const eb_strings *ids, const char *path,
                         const export_format *format, int *code) {
  int written;
  EB_TRY(format->files(results, ids, path, stdout, &written));
  if (written > 0) return EB_OK;
  eb_print(stderr, "elastobench: %s\n", format->nothing);
  *code = EB_EXIT_NOTHING;
  return EB_OK;
}

static eb_error export(const eb_arguments *arguments, const export_format *format,
                       const eb_results *results, const eb_strings *ids, int *code) {
  const char *path = eb_arguments_text(arguments, "output");
  if (format->files) return to_files(results, ids, path, format, code);
  if (!format->stream) return to_mesh(results, ids, path);
  if (format->stream == eb_export_benchmark) tell_untimed(results, ids, code);
  return to_stream(results, ids, path, format->stream);
}

static eb_error run(const eb_arguments *arguments, int *code) {
  eb_results *results;
  bool damaged;
  EB_OWNED(eb_strings_clear) eb_strings ids = {0};
  const char *path = arguments->positional.items[0];
  const export_format *format;
  EB_TRY(find_format(eb_arguments_text(arguments, "to"), &format));
  EB_TRY(eb_arguments_verify(arguments, path, &damaged));
  EB_TRY(eb_results_open(path, &results));
  eb_error error = eb_results_choose_ids(results, eb_arguments_values(arguments, "run"), &ids);
  if (!error) error = export(arguments, format, results, &ids, code);
  eb_results_close(results);
  return error;
}

const eb_command eb_command_export = {
    .name = "export",
    .synopsis = "F.h5 --to FORMAT [-o PATH] [--run ID]..",
    .summary = "write results for ParaView, scripts, spreadsheets, compare.py or CI",
    .details = "Formats:" FORMATS_OF(AS_LINE),
    .flags = flags,
    .least = 1,
    .most = 1,
    .run = run};
