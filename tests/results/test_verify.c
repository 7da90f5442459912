/* Texts of result files, of either length; what a walk through a whole file finds; what a process
 * that ends badly is said to have done. */
#include <signal.h>
#include <unistd.h>
#include <zlib.h>

#include "harness/case/execute.h"
#include "harness/case/sandbox.h"
#include "harness/results/merge.h"
#include "harness/results/table.h"
#include "harness/results/verify.h"
#include "harness/results/write.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

/* ---- files ----------------------------------------------------------------------------------- */

static void run_case(const char *path) {
  eb_case work = {.scene = eb_scene_find("bench/beam"),
                  .solver = eb_solver_find("newton"),
                  .threads = 1,
                  .steps = 3};
  tap_require(eb_string_set(&work.parameters, "resolution=0.25"), "parameters");
  tap_require(eb_case_resolve(&work, NULL), "a case");
  tap_require(eb_case_execute(&work, NULL, path), "a result file");
  eb_case_clear(&work);
}

/* A copy of the one file that is made by running a case. */
static void write_result(const char *path) {
  const char *first = in_folder("first.h5");
  char command[600];
  if (access(first, F_OK)) run_case(first);
  snprintf(command, sizeof command, "cp '%s' '%s'", first, path);
  tap_ok(system(command) == 0, "a result file");
}

static hid_t open_file(const char *path) {
  hid_t file;
  tap_require(eb_h5_open_file(path, true, &file), "a file to change");
  return file;
}

static void close_file(hid_t file, const char *path) {
  tap_require(eb_h5_close_file(file, path), "closing it");
}

/* The path of one run below the root. */
static const char *run_path(const char *path, const char *below) {
  static char text[400];
  eb_results *results;
  tap_require(eb_results_open(path, &results), "the runs of a file");
  snprintf(text, sizeof text, "runs/%s/%s", eb_results_run(results, 0)->id, below);
  eb_results_close(results);
  return text;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_as(hid_t object, const char *name, hid_t type, const void *data) {
  hid_t space = H5Screate(H5S_SCALAR);
  if (H5Aexists(object, name) > 0) H5Adelete(object, name);
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  tap_ok(H5Awrite(attribute, type, data) >= 0, "%s as others write it", name);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void put_variable(hid_t object, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  put_as(object, name, type, &text);
  H5Tclose(type);
}

static void put_padded(hid_t object, const char *name, H5T_str_t padding, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, strlen(text));
  H5Tset_strpad(type, padding);
  put_as(object, name, type, text);
  H5Tclose(type);
}

static void expect_text(hid_t object, const char *name, const char *wanted) {
  char *text = NULL;
  tap_require(eb_h5_get_text(object, name, &text), name);
  tap_ok(strcmp(text, wanted) == 0, "%s is '%.40s'", name, wanted);
  free(text);
}

static bool is_variable(hid_t object, const char *name) {
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  bool variable = H5Tis_variable_str(type) > 0;
  H5Tclose(type);
  H5Aclose(attribute);
  return variable;
}

static void test_texts(void) {
  hid_t file;
  char *text = NULL;
  tap_require(eb_h5_create_file(in_folder("texts.h5"), &file), "a file");
  static char longest[70001];
  for (int i = 0; i < 35000; i++) memcpy(longest + 2 * i, "\xc3\xa4", 2);
  tap_require(eb_h5_put_text(file, "plain", "\xc3\xa4 b"), "a text");
  tap_require(eb_h5_put_text(file, "empty", ""), "an empty one");
  tap_require(eb_h5_put_text(file, "none", NULL), "none");
  tap_require(eb_h5_put_text(file, "long", longest), "one that is too long");
  tap_ok(!is_variable(file, "plain") && !is_variable(file, "empty"), "their length is fixed");
  expect_text(file, "plain", "\xc3\xa4 b");
  expect_text(file, "empty", "");
  expect_text(file, "none", "");
  expect_text(file, "missing", "");
  put_variable(file, "variable", "of its own length");
  put_padded(file, "zeros", H5T_STR_NULLPAD, "ab\0\0");
  put_padded(file, "full", H5T_STR_NULLPAD, "abc");
  put_padded(file, "spaces", H5T_STR_SPACEPAD, "a b  ");
  tap_fails(eb_h5_get_text(file, "variable", &text), EB_ERR_FORMAT, "another type",
            "a length of its own is refused");
  expect_text(file, "full", "abc");
  expect_text(file, "spaces", "a b");
  tap_require(eb_h5_get_text(file, "long", &text), "the long text");
  tap_ok(strlen(text) == 60000 && strncmp(text, longest, 60000) == 0,
         "ends after 60 000 bytes, at the border of a character");
  tap_require(eb_h5_put_int(file, "number", 3), "a number");
  tap_fails(eb_h5_get_text(file, "number", &text), EB_ERR_FORMAT, "another type", "is no text");
  free(text);
  close_file(file, "texts.h5");
}

/* Another version is another meaning: no guess is made of it. */
static void test_version(void) {
  const char *path = in_folder("version.h5");
  eb_strings parts = {0};
  write_result(path);
  tap_require(eb_strings_add(&parts, path), "a part");
  for (int version = EB_SCHEMA_VERSION - 1; version <= EB_SCHEMA_VERSION + 1; version += 2) {
    hid_t file = open_file(path);
    char words[80];
    snprintf(words, sizeof words, "schema version %d, and this program reads version %d alone",
             version, EB_SCHEMA_VERSION);
    tap_require(eb_h5_put_int(file, "schema_version", version), "another version");
    close_file(file, path);
    tap_fails(eb_results_verify(path), EB_ERR_FORMAT, words, words);
    tap_fails(eb_results_collect(in_folder("merged.h5"), &parts, EB_MERGE_REPLACE, NULL),
              EB_ERR_FORMAT, "run its cases again", "  also to be merged, with what to do");
  }
  eb_strings_clear(&parts);
}

/* ---- what the walk finds --------------------------------------------------------------------- */

static void link_away(hid_t file, const char *path) {
  (void)path;
  H5Lcreate_external("/etc/hosts", "/", file, "away", H5P_DEFAULT, H5P_DEFAULT);
}

static void link_by_name(hid_t file, const char *path) {
  (void)path;
  H5Lcreate_soft("/runs", file, "away", H5P_DEFAULT, H5P_DEFAULT);
}

static void add_foreign_type(hid_t file, const char *path) {
  (void)path;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  H5Dclose(H5Dcreate2(file, "texts", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Tclose(type);
}

static void keep_elsewhere(hid_t file, const char *path) {
  (void)path;
  const hsize_t size = 8;
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &size, NULL);
  H5Pset_external(properties, "/etc/hosts", 0, 8);
  H5Dclose(H5Dcreate2(file, "raw", H5T_STD_I8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(properties);
}

static void resize(hid_t file, const char *path, hsize_t rows) {
  hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
  hsize_t size[EB_H5_AXES];
  H5Sget_simple_extent_dims(space, size, NULL);
  size[0] = rows;
  tap_ok(H5Dset_extent(set, size) >= 0, "another number of rows");
  H5Sclose(space);
  H5Dclose(set);
}

/* As the columns of a longer run are, three rows in chunks. */
static void make_chunked(hid_t file, const char *path) {
  enum { ROWS = 3, A_CHUNK = 256 };
  static const double rows[ROWS] = {1, 2, 3};
  eb_table table = {.set = -1};
  if (eb_h5_exists(file, path)) H5Ldelete(file, path, H5P_DEFAULT);
  tap_require(eb_table_open(file, &(eb_dataset){path, "s", EB_REAL, NULL}, (eb_h5_shape){0},
                            A_CHUNK, &table),
              "a table");
  tap_require(eb_table_add(&table, rows, ROWS), "its rows");
  tap_require(eb_tables_commit(&table, 1), "in the file");
  eb_tables_clear(&table, 1);
}

static void drop_row(hid_t file, const char *path) {
  make_chunked(file, path);
  resize(file, path, 2);
}

static void claim_rows(hid_t file, const char *path) {
  make_chunked(file, path);
  resize(file, path, 1000000000);
}

static void drop_frame(hid_t file, const char *path) {
  resize(file, path, 1);
}

/* A chunk that is marked as not compressed is shorter than HDF5 takes it for, which it does not
 * see. */
static void skip_filters(hid_t file, const char *path) {
  static const char few[16] = "";
  const hsize_t start[] = {0, 0, 0};
  hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
  tap_ok(H5Dwrite_chunk(set, H5P_DEFAULT, 3, start, sizeof few, few) >= 0, "a chunk");
  H5Dclose(set);
}

/* Sixteen bytes, packed as they should be, where a whole chunk is expected. */
static void pack_few(hid_t file, const char *path) {
  static const unsigned char few[16] = {0};
  unsigned char packed[64];
  uLongf bytes = sizeof packed;
  const hsize_t start[] = {0, 0, 0};
  tap_ok(compress(packed, &bytes, few, sizeof few) == Z_OK, "a few bytes");
  hid_t set = H5Dopen2(file, path, H5P_DEFAULT);
  tap_ok(H5Dwrite_chunk(set, H5P_DEFAULT, 0, start, bytes, packed) >= 0, "as a chunk");
  H5Dclose(set);
}

static void pack_few_rows(hid_t file, const char *path) {
  make_chunked(file, path);
  pack_few(file, path);
}

static void unlink_it(hid_t file, const char *path) {
  H5Ldelete(file, path, H5P_DEFAULT);
}

static void test_walk(void) {
  static const struct {
    const char *name, *below;
    void (*change)(hid_t file, const char *path);
    const char *fragment;
    eb_error_code code;
  } changes[] = {
      {"a link out of the file", "", link_away, "'away' is a link to elsewhere", EB_ERR_FORMAT},
      {"a link by name", "", link_by_name, "'away' is a link to elsewhere", EB_ERR_FORMAT},
      {"texts as data", "", add_foreign_type, "a type or layout that we never write",
       EB_ERR_FORMAT},
      {"data in another file", "", keep_elsewhere, "a type or layout that we never write",
       EB_ERR_FORMAT},
      {"a table that lacks a row", "phases/factor", drop_row, "phases/factor has 2 rows, and",
       EB_ERR_FORMAT},
      {"a table that claims too much", "steps/cpu", claim_rows, "steps/cpu claims", EB_ERR_FORMAT},
      {"frames that are missing", "frames/positions", drop_frame, "frames/positions has no frame",
       EB_ERR_USAGE},
      {"a chunk that is not compressed", "frames/positions", skip_filters, "has a block that",
       EB_ERR_FORMAT},
      {"a chunk that is too short", "steps/wall", pack_few_rows, "has a damaged block",
       EB_ERR_FORMAT},
      {"no residuals", "residuals/values", unlink_it, "residuals/values", EB_ERR_LIBRARY},
      {"no time of frames", "frames/time", unlink_it, "frames/time", EB_ERR_LIBRARY},
      {"no positions", "frames/positions", unlink_it, "frames/positions", EB_ERR_LIBRARY},
  };
  const char *path = in_folder("walk.h5");
  write_result(path);
  tap_succeeds(eb_results_verify(path), "a good file");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    path = in_folder("walk.h5");
    write_result(path);
    const char *below = run_path(path, changes[i].below);
    hid_t file = open_file(path);
    changes[i].change(file, below);
    H5Eclear2(H5E_DEFAULT);
    close_file(file, path);
    tap_fails(eb_results_verify(path), changes[i].code, changes[i].fragment, changes[i].name);
  }
}

/* Frames are not unpacked by the walk, but when they are read. */
static void test_short_frame(void) {
  const char *path = in_folder("walk.h5");
  eb_results *results;
  float *frame = NULL;
  write_result(path);
  const char *below = run_path(path, "frames/positions");
  hid_t file = open_file(path);
  pack_few(file, below);
  close_file(file, path);
  tap_succeeds(eb_results_verify(path), "a frame that is too short is not found by the walk");
  tap_require(eb_results_open(path, &results), "the file");
  tap_fails(eb_results_frame(results, 0, 0, &frame), EB_ERR_FORMAT, "has a damaged block",
            "but by who reads it");
  tap_ok(!frame, "and leaves nothing");
  free(frame);
  eb_results_close(results);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* This program again, which does what its first word says. */
static int act(const char *word) {
  if (strcmp(word, "good") == 0) return 0;
  if (strcmp(word, "words") == 0)
    fprintf(stderr, "elastobench: not the last\nelastobench: 'a elastobench: b'\nmore\n");
  signal(SIGSEGV, SIG_DFL); /* which a sanitizer would take for itself */
  if (strcmp(word, "fault") == 0) raise(SIGSEGV);
  if (strcmp(word, "abort") == 0) raise(SIGABRT);
  return 7;
}

static void test_processes(void) {
  static const struct {
    const char *word, *fragment;
  } ends[] = {{"words", "'a elastobench: b'"},
              {"silent", "'F' is damaged: reading it ends with status 7"},
              {"fault", "'F' is damaged: reading it ends in a segmentation fault"},
              {"abort", "'F' is damaged: reading it ends in an abort"}};
  eb_strings command = {0};
  tap_require(eb_strings_add(&command, "good"), "a command");
  tap_succeeds(eb_sandbox_run(&command, 0, "reading it", "'F' is damaged", NULL), "a good end");
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    eb_strings_clear(&command);
    tap_require(eb_strings_add(&command, ends[i].word), "a command");
    tap_fails(eb_sandbox_run(&command, 0, "reading it", "'F' is damaged", NULL), EB_ERR_FORMAT,
              ends[i].fragment, ends[i].word);
  }
  eb_strings_clear(&command);
}

int main(int argc, char **argv) {
  if (argc > 1) return act(argv[1]);
  eb_h5_quiet();
  scratch_open();
  setenv("XDG_CACHE_HOME", folder, 1);
  test_texts();
  test_version();
  test_walk();
  test_short_frame();
  test_processes();
  return scratch_close();
}
