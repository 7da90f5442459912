/* Texts of anyone's in plots: whatever stands in titles, names of axes, labels and words, gnuplot
 * draws it, letter by letter, and runs nothing of it. */
#include <dirent.h>
#include <math.h>
#include <string.h>

#include "harness/report/gnuplot.h"
#include "harness/report/plots.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static const char *const texts[] = {"`touch trap`",
                                    "\\`touch trap\\`",
                                    "'`touch trap`'",
                                    "'.system(\"touch trap\").'",
                                    "''.system(\"touch trap\").''",
                                    "\".system('touch trap').\"",
                                    "\\\".system('touch trap').\\\"",
                                    "'\nsystem 'touch trap'\n#",
                                    "\"\nsystem 'touch trap'\n#",
                                    "\\\nsystem 'touch trap'",
                                    "\r\n!touch trap\r\n",
                                    "x\"; system('touch trap')",
                                    "x'; system('touch trap') #",
                                    "< touch trap",
                                    "| touch trap",
                                    "$(touch trap)",
                                    "@colors @title",
                                    "'",
                                    "''",
                                    "'''",
                                    "it's one of a 'few'",
                                    "\"",
                                    "\"\"",
                                    "\\",
                                    "\\n \\101 \\\\",
                                    "100 % %s %d %n %c %.999f",
                                    "{/=99 x_{y}^2} &{wide} ~a{.8-}",
                                    "# a comment",
                                    "a: b: c",
                                    "\x1b[2J\x07 control",
                                    "<svg onload=\"alert(1)\">&amp;</text>",
                                    "k\xc3\xb6nnte",
                                    ""};
enum { TEXTS = sizeof texts / sizeof *texts };

/* ---- every place where a text is drawn ------------------------------------------------------- */

static eb_error draw_curves(eb_plotter *plotter, const char *base, const char *text) {
  static const double x[] = {1, 2}, y[] = {1, 4};
  const eb_curve curves[] = {{text, 2, x, y}, {text, 2, y, x}};
  bool drawn;
  return eb_plots_curves(plotter, base, "curves", text, text, text, 0, curves, 2, &drawn);
}

static eb_error draw_bars(eb_plotter *plotter, const char *base, const char *text) {
  static const double values[] = {1, 2, 3, 4};
  const char *const twice[] = {text, text};
  bool drawn;
  return eb_plots_bars(plotter, base, text, text, twice, 2, twice, 2, values, &drawn);
}

static eb_error draw_map(eb_plotter *plotter, const char *base, const char *text) {
  static const eb_map_cell cells[] = {{1, 1, 5}, {2, 1, 6}};
  bool drawn;
  return eb_plots_map(plotter, base, text, text, text, text, false, cells, 2, &drawn);
}

/* A list of words, whose other lists are numbers. */
static eb_error draw_words(eb_plotter *plotter, const char *base, const char *text) {
  static const char *const lists[] = {"hues", "dashes", "kind_dashes"};
  eb_plot plot = {0};
  eb_plot_begin(&plot, text);
  eb_plot_point(&plot, 1, 1, 0, NULL);
  for (int l = 0; l < 3; l++) eb_plot_list_number(&plot, lists[l], 1);
  eb_plot_list_word(&plot, "runs", text);
  eb_plot_list_word(&plot, "kinds", text);
  return eb_plot_draw(plotter, base, "energy", text, &plot, NULL);
}

/* Words beside points. */
static eb_error draw_points(eb_plotter *plotter, const char *base, const char *text) {
  eb_plot plot = {0};
  eb_plot_axes(&plot, text, text, 0);
  for (int s = 0; s < 3; s++) {
    eb_plot_begin(&plot, text);
    eb_plot_point(&plot, 1, 1, 0, text);
    eb_plot_point(&plot, 2, 3, 0, text);
  }
  return eb_plot_draw(plotter, base, "history", text, &plot, NULL);
}

static const struct kind {
  const char *name;
  eb_error (*draw)(eb_plotter *plotter, const char *base, const char *text);
  int titles, words; /* how often the text stands in scripts' strings, and in data or lists */
} kinds[] = {{"curves", draw_curves, 3, 2},
             {"bars", draw_bars, 2, 4},
             {"map", draw_map, 4, 0},
             {"words", draw_words, 1, 2},
             {"points", draw_points, 3, 3}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- what came of it ------------------------------------------------------------------------- */

/* As XML, and of words what a line of data cannot hold replaced. */
static void expected_of(const char *text, bool word, char out[1000]) {
  size_t n = 0;
  for (; *text && n < 900; text++) {
    char c = (unsigned char)*text < ' ' ? ' ' : *text;
    if (word) c = c == '"' ? '\'' : c == '\\' ? '/' : c;
    const char *entity = c == '<' ? "&lt;" : c == '&' ? "&amp;" : NULL;
    n += (size_t)snprintf(out + n, 1000 - n, entity ? "%s" : "%.1s", entity ? entity : &c);
  }
  out[n] = '\0';
}

static int count_in(const char *whole, const char *part) {
  int count = 0;
  for (const char *at = whole; *part && (at = strstr(at, part)); at += strlen(part)) count++;
  return count;
}

/* A new line in a script's string begins a line of the picture: it is looked for in words alone. */
static bool is_drawn(const struct kind *kind, const char *base, const char *text) {
  char name[40], title[1000], word[1000];
  eb_text svg = {0};
  expected_of(text, false, title);
  expected_of(text, true, word);
  snprintf(name, sizeof name, "%s.svg", base);
  tap_require(eb_text_read(in_folder(name), "a plot", &svg), name);
  bool same = strcmp(title, word) == 0, lines = strchr(text, '\n') != NULL;
  int titles = count_in(svg.data, title), words = count_in(svg.data, word);
  bool good =
      !*text || (same && !lines ? titles >= kind->titles + kind->words
                                : words >= kind->words && (lines || titles >= kind->titles));
  if (!good) printf("# '%s': %d titles, %d words\n", text, titles, words);
  eb_text_clear(&svg);
  return good;
}

/* Files in the folder. */
static int count_files(void) {
  int count = 0;
  DIR *dir = opendir(folder);
  for (struct dirent *entry; dir && (entry = readdir(dir));) count += *entry->d_name != '.';
  if (dir) closedir(dir);
  return count;
}

static void test_texts(void) {
  eb_plotter plotter = {.dir = folder};
  eb_error error = EB_OK;
  char base[40];
  for (int k = 0; k < KINDS; k++)
    for (int t = 0; t < TEXTS && !error; t++) {
      snprintf(base, sizeof base, "%s-%d", kinds[k].name, t);
      error = kinds[k].draw(&plotter, base, texts[t]);
    }
  tap_succeeds(eb_plotter_finish(&plotter, error), "any text can be drawn");
  tap_ok(count_files() == 3 * KINDS * TEXTS, "and nothing is made but data, scripts and pictures");
  for (int k = 0; k < KINDS; k++) {
    bool all = true;
    for (int t = 0; t < TEXTS; t++) {
      snprintf(base, sizeof base, "%s-%d", kinds[k].name, t);
      all = is_drawn(&kinds[k], base, texts[t]) && all;
    }
    tap_ok(all, "%s show every text as it is", kinds[k].name);
  }
}

/* Names of files reach gnuplot too, which runs those that begin with '<' or '|'. */
static void test_bases(void) {
  static const char *const bases[] = {"`touch trap`", "< touch trap", "| touch trap", "../trap",
                                      "a/trap",       "-e",           "a b",          "a'b",
                                      "a\"b",         "a.b",          "a\nb",         ""};
  int before = count_files();
  for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
    eb_plotter plotter = {.dir = folder};
    eb_error error = draw_curves(&plotter, bases[b], "title");
    tap_fails(eb_plotter_finish(&plotter, error), EB_ERR_FORMAT, "no name for a picture",
              "a file's name that is none");
  }
  tap_ok(count_files() == before, "writes nothing");
}

/* Numbers that no axis of gnuplot holds are left out, as those are that are none. */
static void test_numbers(void) {
  static const double x[] = {1, 2, 1e308, -1e308, 3}, y[] = {1, INFINITY, 2, 3, NAN};
  const eb_curve curve = {"numbers", 5, x, y};
  eb_plotter plotter = {.dir = folder};
  eb_text data = {0};
  bool drawn;
  eb_error error =
      eb_plots_curves(&plotter, "numbers", "curves", "title", "x", "y", 0, &curve, 1, &drawn);
  tap_succeeds(eb_plotter_finish(&plotter, error), "numbers of any size can be drawn");
  tap_require(eb_text_read(in_folder("numbers.dat"), "data", &data), "the data");
  tap_ok(strcmp(data.data, "\"x\" \"numbers\"\n1 1\n") == 0, "those that have a place are");
  eb_text_clear(&data);
}

int main(void) {
  scratch_open();
  test_texts();
  test_bases();
  test_numbers();
  return scratch_close();
}
