#include "harness/report/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/embedded.h"
#include "problems/notation/untrusted.h"
#include "problems/base/assert.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/text.h"

/* ---- building -------------------------------------------------------------------------------- */

/* Appends, unless something went wrong before. */
#define PUT(plot, text, ...)                                                                       \
  do {                                                                                             \
    if (!(plot)->error) (plot)->error = eb_text_printf((text), __VA_ARGS__);                       \
  } while (0)

/* A line is a row, and SVG takes no controls. */
static void quote_word(eb_plot *plot, const char *text, eb_text *out) {
  bool first = out->length == 0 || out->data[out->length - 1] == '\n';
  PUT(plot, out, first ? "\"" : " \"");
  for (const char *c = text; *c; c++) {
    bool control = (unsigned char)*c < ' ';
    PUT(plot, out, "%c", *c == '"' ? '\'' : *c == '\\' ? '/' : control ? ' ' : *c);
  }
  PUT(plot, out, "\"");
}

/* A string in single quotes, in which gnuplot replaces no `commands`, @macros or \escapes. What
 * cannot stand in them is put between two of them: a new line, and a single quote, which gnuplot
 * takes for the end of the string when it comes first or twice, though doubled. */
static void put_string(eb_plot *plot, const char *name, const char *text, eb_text *out) {
  PUT(plot, out, "%s = '", name);
  for (const char *c = text; *c; c++) {
    bool control = (unsigned char)*c < ' ';
    if (*c == '\n' || *c == '\'')
      PUT(plot, out, "'.\"%s\".'", *c == '\n' ? "\\n" : "'");
    else
      PUT(plot, out, "%c", control ? ' ' : *c);
  }
  PUT(plot, out, "'\n");
}

static void put_formatted(eb_plot *plot, eb_text *out, const char *format, va_list arguments) {
  char text[1000];
  vsnprintf(text, sizeof text, format, arguments);
  PUT(plot, out, "%s", text);
}

void eb_plot_put(eb_plot *plot, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put_formatted(plot, &plot->data, format, arguments);
  va_end(arguments);
}

void eb_plot_setting(eb_plot *plot, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put_formatted(plot, &plot->settings, format, arguments);
  va_end(arguments);
}

void eb_plot_word(eb_plot *plot, const char *text) {
  quote_word(plot, text, &plot->data);
}

void eb_plot_key(eb_plot *plot, const char *name) {
  if (strlen(name) > plot->longest) plot->longest = strlen(name);
}

void eb_plot_block(eb_plot *plot, const char *name) {
  eb_plot_put(plot, "%s\"x\"", plot->series++ ? "\n\n" : "");
  eb_plot_word(plot, name);
  eb_plot_put(plot, "\n");
}

void eb_plot_begin(eb_plot *plot, const char *name) {
  snprintf(plot->pending, sizeof plot->pending, "%s", *name ? name : " ");
}

void eb_plot_point(eb_plot *plot, double x, double y, unsigned logarithmic, const char *words) {
  static const double most = 1e300; /* of gnuplot, about: beyond it an axis has no range */
  if (!(fabs(x) < most) || !(fabs(y) < most) || (x <= 0 && (logarithmic & EB_LOG_X)) ||
      (y <= 0 && (logarithmic & EB_LOG_Y)))
    return;
  if (plot->pending[0]) {
    eb_plot_block(plot, plot->pending);
    eb_plot_key(plot, plot->pending);
    plot->pending[0] = '\0';
  }
  eb_plot_put(plot, "%.9g %.9g", x, y);
  if (words) eb_plot_word(plot, words);
  eb_plot_put(plot, "\n");
}

void eb_plot_set(eb_plot *plot, const char *name, const char *text) {
  put_string(plot, name, text, &plot->settings);
}

void eb_plot_axes(eb_plot *plot, const char *x, const char *y, unsigned logarithmic) {
  eb_plot_set(plot, "xname", x);
  eb_plot_set(plot, "yname", y);
  eb_plot_setting(plot, "logx = %d\nlogy = %d\n", (logarithmic & EB_LOG_X) != 0,
                  (logarithmic & EB_LOG_Y) != 0);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static eb_text *list_of(eb_plot *plot, const char *name) {
  int l = 0;
  while (plot->lists[l].name && strcmp(plot->lists[l].name, name) != 0) l++;
  EB_ASSERT(l < EB_PLOT_LISTS);
  plot->lists[l].name = name;
  return &plot->lists[l].text;
}

void eb_plot_list_number(eb_plot *plot, const char *name, int number) {
  PUT(plot, list_of(plot, name), " %d", number);
}

void eb_plot_list_word(eb_plot *plot, const char *name, const char *word) {
  quote_word(plot, word, list_of(plot, name));
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

/* The words of a command that draws every `step`-th script from `first` on, each in a state as
 * gnuplot starts with. The caller frees *out; the words are not its own. */
static eb_error command_of(const eb_plotter *plotter, int first, int step, char ***out) {
  static char program[] = "gnuplot", option[] = "-e", fresh[] = "reset session";
  EB_TRY(EB_NEW(*out, 3 * plotter->scripts.count + 2));
  int count = 0;
  (*out)[count++] = program;
  for (int s = first; s < plotter->scripts.count; s += step) {
    (*out)[count++] = option;
    (*out)[count++] = fresh;
    (*out)[count++] = plotter->scripts.items[s];
  }
  return EB_OK;
}

/* Runs gnuplot in the folder, so that scripts name their files without a path. */
static eb_error start_process(const char *dir, char **command, eb_plot_process *out) {
  out->messages = tmpfile();
  if (!out->messages)
    return EB_ERROR(EB_ERR_IO, "cannot make a file for gnuplot's messages: %s", strerror(errno));
  out->child = fork();
  if (out->child == 0) {
    if (dup2(fileno(out->messages), STDERR_FILENO) >= 0 && chdir(dir) == 0)
      execvp(command[0], command);
    _exit(127);
  }
  if (out->child > 0) return EB_OK;
  fclose(out->messages);
  return EB_ERROR(EB_ERR_IO, "cannot start gnuplot: %s", strerror(errno));
}

eb_error eb_plotter_start(eb_plotter *plotter) {
  int cores = omp_get_num_procs(), wanted = plotter->scripts.count;
  if (wanted > cores) wanted = cores;
  if (wanted > EB_PLOT_PROCESSES) wanted = EB_PLOT_PROCESSES;
  while (plotter->count < wanted) {
    EB_FREED char **command = NULL;
    EB_TRY(command_of(plotter, plotter->count, wanted, &command));
    EB_TRY(start_process(plotter->dir, command, &plotter->process[plotter->count]));
    plotter->count++;
  }
  eb_strings_clear(&plotter->scripts);
  return EB_OK;
}

/* Warnings are dropped, errors passed on: a failing script is the last, so is what is said of it.
 */
static eb_error finish_process(const char *dir, const eb_plot_process *process) {
  int status = 0;
  char text[512];
  while (waitpid(process->child, &status, 0) < 0)
    if (errno != EINTR) return EB_ERROR(EB_ERR_IO, "cannot wait for gnuplot: %s", strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return EB_ERROR(EB_ERR_LIBRARY, "gnuplot was not found: install the package gnuplot-nox");
  if (status == 0) return EB_OK;
  if (fseek(process->messages, -(long)(sizeof text - 1), SEEK_END) != 0) rewind(process->messages);
  text[fread(text, 1, sizeof text - 1, process->messages)] = '\0';
  return EB_ERROR(EB_ERR_LIBRARY, "gnuplot failed in '%s' (status %d): %s", dir, status, text);
}

eb_error eb_plotter_finish(eb_plotter *plotter, eb_error error) {
  if (!error) error = eb_plotter_start(plotter);
  for (int p = 0; p < plotter->count; p++) {
    eb_error failed = finish_process(plotter->dir, &plotter->process[p]);
    fclose(plotter->process[p].messages);
    if (error)
      eb_error_free(failed);
    else
      error = failed;
  }
  plotter->count = 0;
  eb_strings_clear(&plotter->scripts);
  return error;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static eb_error append_template(eb_text *script, const char *stem) {
  char name[64];
  snprintf(name, sizeof name, "gnuplot/%s.gp", stem);
  eb_embedded file;
  EB_TRY(eb_embedded_find(name, &file));
  return eb_text_append(script, file.data, file.size);
}

/* Pixels. The key stands above the axes, which keep their height: as many columns, three at most,
 * as its longest name leaves room for. */
static int height_of(const eb_plot *plot) {
  enum { USUAL = 440, ROW = 17, USUAL_ROWS = 3, ACROSS = 600, SAMPLE = 45, LETTER = 6 };
  int entries = plot->entries ? plot->entries : plot->series;
  int columns = ACROSS / (SAMPLE + LETTER * (int)plot->longest);
  columns = columns < 1 ? 1 : columns > 3 ? 3 : columns;
  int rows = plot->longest ? (entries + columns - 1) / columns : 0;
  return USUAL + plot->below + (rows > USUAL_ROWS ? ROW * (rows - USUAL_ROWS) : 0);
}

static void fill_script(eb_plot *plot, const char *base, const char *stem, const char *title,
                        eb_text *script) {
  PUT(plot, script, "data = '%s.dat'\noutput = '%s.svg'\n", base, base);
  put_string(plot, "title", title, script);
  PUT(plot, script, "series = %d\nheight = %d\n", plot->series, height_of(plot));
  for (int l = 0; l < EB_PLOT_LISTS && plot->lists[l].text.data; l++)
    put_string(plot, plot->lists[l].name, plot->lists[l].text.data, script);
  if (plot->settings.data) PUT(plot, script, "%s", plot->settings.data);
  if (!plot->error) plot->error = append_template(script, "style");
  if (!plot->error) plot->error = append_template(script, stem);
}

static eb_error write_plot(eb_plotter *plotter, const char *base, const char *stem,
                           const char *title, eb_plot *plot, eb_text *script) {
  char path[4096], name[512];
  if (plot->error) return plot->error;
  if (!eb_is_word(base)) return EB_ERROR(EB_ERR_FORMAT, "'%s' is no name for a picture", base);
  fill_script(plot, base, stem, title, script);
  EB_TRY(plot->error);
  snprintf(path, sizeof path, "%s/%s.dat", plotter->dir, base);
  EB_TRY(eb_text_write(path, &plot->data));
  snprintf(name, sizeof name, "%s.gp", base);
  snprintf(path, sizeof path, "%s/%s", plotter->dir, name);
  EB_TRY(eb_text_write(path, script));
  return eb_strings_add(&plotter->scripts, name);
}

eb_error eb_plot_draw(eb_plotter *plotter, const char *base, const char *stem, const char *title,
                      eb_plot *plot, bool *drawn) {
  eb_text script = {0};
  bool empty = plot->series == 0 && !plot->error;
  eb_error error = empty ? EB_OK : write_plot(plotter, base, stem, title, plot, &script);
  if (drawn) *drawn = !empty && !error;
  eb_text_clear(&script);
  eb_text_clear(&plot->data);
  eb_text_clear(&plot->settings);
  for (int l = 0; l < EB_PLOT_LISTS; l++) eb_text_clear(&plot->lists[l].text);
  return error;
}
