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
#include "harness/report/animation.h"
#include "harness/results/export.h"
#include "problems/base/owned.h"
#include "problems/mesh/io.h"

static const eb_flag flags[] = {
    {"to", 0, "FORMAT", "one of those below"},
    {"output", 'o', "PATH",
     "file (default: the standard output), or folder of formats that are several files (default: "
     "beside F.h5; of fclib: this one)"},
    {"run", 0, "ID", "only this run, by so much of its id as no other has; may be repeated"},
    {"steps", 0, "A..B/N", "of gif, png: only frames of these steps (all)"},
    {"size", 0, "WxH", "of gif, png: pixels (640x480, 1280x960)"},
    {"view", 0, "VIEW",
     "of gif, png: front, back, left, right, top, aslant (of planar scenes top), or a direction "
     "X,Y,Z into the picture"},
    {"speed", 0, "X", "of gif: 0.5 is slow motion (1, or less so that it takes 3 s)"},
    EB_FLAG_DAMAGED,
    {0}};

static const char no_frames[] = "no run has frames";

/* ---- the mesh of a run ----------------------------------------------------------------------- */

static eb_error write_mesh(const eb_arguments *arguments, const eb_results *results,
                           const eb_strings *ids, int *code) {
  const char *path = eb_arguments_text(arguments, "output");
  (void)code;
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

/* ---- pictures -------------------------------------------------------------------------------- */

static eb_error read_animation(const eb_arguments *arguments, eb_animation *out) {
  const char *size = eb_arguments_text(arguments, "size");
  const char *view = eb_arguments_text(arguments, "view");
  const char *steps = eb_arguments_text(arguments, "steps");
  const char *speed = eb_arguments_text(arguments, "speed");
  out->to = eb_arguments_text(arguments, "output");
  if (size) EB_TRY(eb_animation_size(size, &out->width, &out->height));
  if (view) EB_TRY(eb_animation_view(view, out->direction));
  if (speed) EB_TRY(eb_parse_real("--speed", speed, 1e-6, 1e6, &out->speed));
  return steps ? eb_ranges_parse("--steps", steps, &out->steps) : EB_OK;
}

static eb_error write_pictures(const eb_arguments *arguments, const eb_results *results,
                               const eb_strings *ids, eb_animation *animation, int *code) {
  int written;
  EB_TRY(read_animation(arguments, animation));
  EB_TRY(eb_animation_write(animation, eb_results_path(results), ids, stdout, stderr, &written));
  if (written > 0) return EB_OK;
  eb_print(stderr, "elastobench: %s\n",
           animation->steps.count > 0 ? "no run has frames of these steps" : no_frames);
  *code = EB_EXIT_NOTHING;
  return EB_OK;
}

static eb_error write_gif(const eb_arguments *arguments, const eb_results *results,
                          const eb_strings *ids, int *code) {
  eb_animation animation = {.moving = true, .width = 640, .height = 480};
  eb_error error = write_pictures(arguments, results, ids, &animation, code);
  eb_ranges_clear(&animation.steps);
  return error;
}

static eb_error write_png(const eb_arguments *arguments, const eb_results *results,
                          const eb_strings *ids, int *code) {
  eb_animation animation = {.width = 1280, .height = 960};
  eb_error error = write_pictures(arguments, results, ids, &animation, code);
  eb_ranges_clear(&animation.steps);
  return error;
}

/* ---- formats --------------------------------------------------------------------------------- */

typedef eb_error stream_writer(const eb_results *results, const eb_strings *ids, FILE *out);
typedef eb_error files_writer(const eb_results *results, const eb_strings *ids, const char *folder,
                              FILE *out, int *written);

typedef eb_error own_writer(const eb_arguments *arguments, const eb_results *results,
                            const eb_strings *ids, int *code);

typedef struct export_format {
  const char *name;
  stream_writer *stream; /* what is written is one stream, */
  files_writer *files;   /* or files in a folder, */
  own_writer *own;       /* or what has a way of its own */
  const char *nothing;   /* why no file was written */
} export_format;

static const char no_problem[] =
    "no run has kept a contact problem; run with --contact-problem STEP";

/* Name, stream, files or a way of its own, why there are no files, and what it is in words. */
/* clang-format off */
#define FORMATS_OF(each)                                                                           \
  each("xdmf", NULL, eb_export_xdmf, NULL, no_frames,                                              \
       "frames for ParaView and meshio, beside F.h5 and by reference to it")                       \
  each("vtu", NULL, eb_export_vtu, NULL, no_frames,                                                \
       "frames for ParaView, VTK and PyVista: a .pvd, and a .vtu for each frame that stands alone") \
  each("gif", NULL, NULL, write_gif, NULL, "frames as a moving picture")                           \
  each("png", NULL, NULL, write_png, NULL, "frames as pictures")                                   \
  each("json", eb_export_json, NULL, NULL, NULL, "everything but frames")                          \
  each("csv", eb_export_csv, NULL, NULL, NULL, "a line a step, for spreadsheets")                  \
  each("benchmark", eb_export_benchmark, NULL, NULL, NULL,                                         \
       "step times as google-benchmark's compare.py reads them")                                   \
  each("junit", eb_export_junit, NULL, NULL, NULL, "runs as tests, for continuous integration")    \
  each("tap", eb_export_tap, NULL, NULL, NULL, "the same for prove")                               \
  each("fclib", NULL, eb_fclib_export, NULL, no_problem,                                           \
       "contact problems of run --contact-problem")                                                \
  each("scene", eb_export_scene, NULL, NULL, NULL,                                                 \
       "the file that the scene was from, as it was when it ran")                                  \
  each("mesh", NULL, NULL, write_mesh, NULL,                                                       \
       "the mesh of one run; -o's extension is the format: .msh of Gmsh, .vtk, .obj of its surface")
/* clang-format on */

#define AS_ROW(name, stream, files, own, nothing, words) {name, stream, files, own, nothing},
static const export_format formats[] = {FORMATS_OF(AS_ROW)};
enum { FORMATS = sizeof formats / sizeof *formats };

#define AS_LINE(name, stream, files, own, nothing, words) "\n  " name ": " words

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

static eb_error to_files(const eb_results *results, const eb_strings *ids, const char *path,
                         const export_format *format, int *code) {
  int written;
  EB_TRY(format->files(results, ids, path, stdout, &written));
  if (written > 0) return EB_OK;
  eb_print(stderr, "elastobench: %s\n", format->nothing);
  *code = EB_EXIT_NOTHING;
  return EB_OK;
}

/* Flags of pictures are of nothing else. */
static eb_error check_flags(const eb_arguments *arguments, const export_format *format) {
  static const char *const of_pictures[] = {"steps", "size", "view", "speed"};
  bool pictures = format->own == write_gif || format->own == write_png;
  for (int i = 0; i < 4 && !pictures; i++)
    if (eb_arguments_has(arguments, of_pictures[i]))
      return EB_ERROR(EB_ERR_USAGE, "--%s is of --to gif and --to png, not of %s", of_pictures[i],
                      format->name);
  if (format->own == write_png && eb_arguments_has(arguments, "speed"))
    return EB_ERROR(EB_ERR_USAGE, "--speed is of --to gif: still pictures have none");
  return EB_OK;
}

static eb_error export(const eb_arguments *arguments, const export_format *format,
                       const eb_results *results, const eb_strings *ids, int *code) {
  const char *path = eb_arguments_text(arguments, "output");
  if (format->own) return format->own(arguments, results, ids, code);
  if (format->files) return to_files(results, ids, path, format, code);
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
  EB_TRY(check_flags(arguments, format));
  EB_TRY(eb_arguments_verify(arguments, path, &damaged));
  EB_TRY(eb_results_open(path, &results));
  eb_error error = eb_results_choose_ids(results, eb_arguments_values(arguments, "run"), &ids);
  if (!error) error = export(arguments, format, results, &ids, code);
  eb_results_close(results);
  return error;
}

const eb_command eb_command_export = {
    .name = "export",
    .synopsis = "F.h5 --to FORMAT [-o PATH] [--run ID].. [options]",
    .summary = "write results for ParaView, talks, scripts, spreadsheets, compare.py or CI",
    .details = "Formats:" FORMATS_OF(AS_LINE),
    .flags = flags,
    .least = 1,
    .most = 1,
    .run = run};
