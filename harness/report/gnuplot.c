#include "harness/report/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/embedded.h"
#include "problems/base/text.h"

/* ---- data ------------------------------------------------------------------------------------ */

void eb_plot_quotable(char *text) {
  for (char *c = text; *c; c++)
    if (*c == '"' || *c == '\\') *c = '\'';
}

void eb_plot_begin(eb_plot_data *data, const char *name) {
  snprintf(data->pending, sizeof data->pending, "%s", name);
  eb_plot_quotable(data->pending);
}

eb_error eb_plot_point(eb_plot_data *data, double x, double y, unsigned logarithmic,
                       const char *words) {
  char quotable[256];
  if (!isfinite(x) || !isfinite(y) || (x <= 0 && (logarithmic & EB_LOG_X)) ||
      (y <= 0 && (logarithmic & EB_LOG_Y)))
    return EB_OK;
  if (data->pending[0]) { /* begins the block of the series, which had no point yet */
    const char *gap = data->series++ ? "\n\n" : "";
    EB_TRY(eb_text_printf(&data->text, "%s\"x\" \"%s\"\n", gap, data->pending));
    if (strlen(data->pending) > data->longest) data->longest = strlen(data->pending);
    data->pending[0] = '\0';
  }
  if (!words) return eb_text_printf(&data->text, "%.9g %.9g\n", x, y);
  snprintf(quotable, sizeof quotable, "%s", words);
  eb_plot_quotable(quotable);
  return eb_text_printf(&data->text, "%.9g %.9g \"%s\"\n", x, y, quotable);
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

/* Reads to the end and keeps what fits. */
static void read_messages(int from, char *text, size_t bytes) {
  char rest[256];
  size_t used = 0;
  for (;;) {
    bool room = used + 1 < bytes;
    ssize_t got = read(from, room ? text + used : rest, room ? bytes - 1 - used : sizeof rest);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (room) used += (size_t)got;
  }
  text[used] = '\0';
}

/* Runs gnuplot in the folder, so that scripts name their files without a path. Its warnings are
 * dropped, its errors passed on. */
static eb_error run_gnuplot(const char *dir, const char *script) {
  int messages[2], status = 0;
  char text[512];
  if (pipe(messages) != 0) return EB_ERROR(EB_ERR_IO, "cannot make a pipe: %s", strerror(errno));
  pid_t child = fork();
  if (child == 0) {
    close(messages[0]);
    if (dup2(messages[1], STDERR_FILENO) >= 0 && chdir(dir) == 0)
      execlp("gnuplot", "gnuplot", script, (char *)NULL);
    _exit(127);
  }
  int cause = errno;
  close(messages[1]);
  if (child > 0) read_messages(messages[0], text, sizeof text);
  close(messages[0]);
  if (child < 0) return EB_ERROR(EB_ERR_IO, "cannot start gnuplot: %s", strerror(cause));
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return EB_ERROR(EB_ERR_IO, "cannot wait for gnuplot: %s", strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return EB_ERROR(EB_ERR_LIBRARY, "gnuplot was not found: install the package gnuplot-nox");
  return status == 0 ? EB_OK
                     : EB_ERROR(EB_ERR_LIBRARY, "gnuplot failed on '%s/%s' (status %d): %s", dir,
                                script, status, text);
}

static eb_error append_template(eb_text *script, const char *stem) {
  char name[64];
  snprintf(name, sizeof name, "gnuplot/%s.gp", stem);
  eb_embedded file;
  EB_TRY(eb_embedded_find(name, &file));
  return eb_text_append(script, file.data, file.size);
}

/* A string in single quotes, in which gnuplot runs no commands; a new line is put between two of
 * them. */
static eb_error append_quoted(eb_text *script, const char *text) {
  EB_TRY(eb_text_printf(script, "'"));
  for (const char *c = text; *c; c++) {
    if (*c == '\n')
      EB_TRY(eb_text_printf(script, "'.\"\\n\".'"));
    else
      EB_TRY(eb_text_printf(script, *c == '\'' ? "%c'" : "%c", *c));
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
  EB_TRY(eb_text_printf(script, "data = \"%s.dat\"\noutput = \"%s.svg\"\ntitle = ", base, base));
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

eb_error eb_plot_draw(const char *dir, const char *base, const char *stem, const char *title,
                      const eb_plot_data *data) {
  char path[4096], name[512];
  snprintf(path, sizeof path, "%s/%s.dat", dir, base);
  EB_TRY(eb_file_write(path, data->text.data, data->text.length));
  eb_text script = {0};
  eb_error error = fill_script(&script, base, stem, title, data);
  snprintf(path, sizeof path, "%s/%s.gp", dir, base);
  if (!error) error = eb_file_write(path, script.data, script.length);
  eb_text_clear(&script);
  EB_TRY(error);
  snprintf(name, sizeof name, "%s.gp", base);
  return run_gnuplot(dir, name);
}
