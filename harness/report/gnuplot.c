#include "harness/report/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/embedded.h"
#include "harness/untrusted.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

/* ---- data ------------------------------------------------------------------------------------ */

/* A line is a row, and SVG takes no controls. */
eb_error eb_plot_word(eb_text *out, const char *text) {
  bool first = out->length == 0 || out->data[out->length - 1] == '\n';
  EB_TRY(eb_text_printf(out, first ? "\"" : " \""));
  for (const char *c = text; *c; c++) {
    bool control = (unsigned char)*c < ' ';
    EB_TRY(eb_text_printf(out, "%c", *c == '"' ? '\'' : *c == '\\' ? '/' : control ? ' ' : *c));
  }
  return eb_text_printf(out, "\"");
}

void eb_plot_begin(eb_plot_data *data, const char *name) {
  snprintf(data->pending, sizeof data->pending, "%s", *name ? name : " ");
}

eb_error eb_plot_point(eb_plot_data *data, double x, double y, unsigned logarithmic,
                       const char *words) {
  static const double most = 1e300; /* of gnuplot, about: beyond it an axis has no range */
  if (!(fabs(x) < most) || !(fabs(y) < most) || (x <= 0 && (logarithmic & EB_LOG_X)) ||
      (y <= 0 && (logarithmic & EB_LOG_Y)))
    return EB_OK;
  if (data->pending[0]) { /* begins the block of the series, which had no point yet */
    const char *gap = data->series++ ? "\n\n" : "";
    EB_TRY(eb_text_printf(&data->text, "%s\"x\"", gap));
    EB_TRY(eb_plot_word(&data->text, data->pending));
    EB_TRY(eb_text_printf(&data->text, "\n"));
    if (strlen(data->pending) > data->longest) data->longest = strlen(data->pending);
    data->pending[0] = '\0';
  }
  EB_TRY(eb_text_printf(&data->text, "%.9g %.9g", x, y));
  if (words) EB_TRY(eb_plot_word(&data->text, words));
  return eb_text_printf(&data->text, "\n");
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
    char **command;
    EB_TRY(command_of(plotter, plotter->count, wanted, &command));
    eb_error error = start_process(plotter->dir, command, &plotter->process[plotter->count]);
    free(command);
    EB_TRY(error);
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

/* A string in single quotes, in which gnuplot replaces no `commands`, @macros or \escapes. What
 * cannot stand in them is put between two of them: a new line, and a single quote, which gnuplot
 * takes for the end of the string when it comes first or twice, though doubled. */
static eb_error append_quoted(eb_text *script, const char *text) {
  EB_TRY(eb_text_printf(script, "'"));
  for (const char *c = text; *c; c++) {
    bool control = (unsigned char)*c < ' ';
    if (*c == '\n' || *c == '\'')
      EB_TRY(eb_text_printf(script, "'.\"%s\".'", *c == '\n' ? "\\n" : "'"));
    else
      EB_TRY(eb_text_printf(script, "%c", control ? ' ' : *c));
  }
  return eb_text_printf(script, "'");
}

eb_error eb_plot_set(eb_plot_data *data, const char *name, const char *text) {
  EB_TRY(eb_text_printf(&data->settings, "%s = ", name));
  EB_TRY(append_quoted(&data->settings, text));
  return eb_text_printf(&data->settings, "\n");
}

/* Pixels. The key stands above the axes, which keep their height: as many columns, three at most,
 * as its longest name leaves room for. */
static int height_of(const eb_plot_data *data) {
  enum { USUAL = 440, ROW = 17, USUAL_ROWS = 3, ACROSS = 600, SAMPLE = 45, LETTER = 6 };
  int entries = data->entries ? data->entries : data->series;
  int columns = ACROSS / (SAMPLE + LETTER * (int)data->longest);
  columns = columns < 1 ? 1 : columns > 3 ? 3 : columns;
  int rows = data->longest ? (entries + columns - 1) / columns : 0;
  return USUAL + data->below + (rows > USUAL_ROWS ? ROW * (rows - USUAL_ROWS) : 0);
}

static eb_error fill_script(eb_text *script, const char *base, const char *stem, const char *title,
                            const eb_plot_data *data) {
  EB_TRY(eb_text_printf(script, "data = '%s.dat'\noutput = '%s.svg'\ntitle = ", base, base));
  EB_TRY(append_quoted(script, title));
  EB_TRY(eb_text_printf(script, "\nseries = %d\nheight = %d\n", data->series, height_of(data)));
  if (data->stages[0]) EB_TRY(eb_text_printf(script, "stages = \"%s\"\n", data->stages));
  if (data->x && data->y) {
    EB_TRY(eb_text_printf(script, "xname = "));
    EB_TRY(append_quoted(script, data->x));
    EB_TRY(eb_text_printf(script, "\nyname = "));
    EB_TRY(append_quoted(script, data->y));
    EB_TRY(eb_text_printf(script, "\nlogx = %d\nlogy = %d\n", (data->logarithmic & EB_LOG_X) != 0,
                          (data->logarithmic & EB_LOG_Y) != 0));
  }
  if (data->settings.data) EB_TRY(eb_text_printf(script, "%s", data->settings.data));
  EB_TRY(append_template(script, "style"));
  return append_template(script, stem);
}

eb_error eb_plot_draw(eb_plotter *plotter, const char *base, const char *stem, const char *title,
                      eb_plot_data *data) {
  char path[4096], name[512];
  if (!eb_is_word(base)) return EB_ERROR(EB_ERR_FORMAT, "'%s' is no name for a picture", base);
  snprintf(path, sizeof path, "%s/%s.dat", plotter->dir, base);
  EB_TRY(eb_text_write(path, &data->text));
  eb_text script = {0};
  eb_error error = fill_script(&script, base, stem, title, data);
  snprintf(name, sizeof name, "%s.gp", base);
  snprintf(path, sizeof path, "%s/%s", plotter->dir, name);
  if (!error) error = eb_text_write(path, &script);
  eb_text_clear(&script);
  return error ? error : eb_strings_add(&plotter->scripts, name);
}
