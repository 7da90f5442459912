/* Errors, options, text and memory. */
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "problems/base/assert.h"
#include "problems/base/digest.h"
#include "problems/base/file.h"
#include "problems/base/hash.h"
#include "problems/base/arena.h"
#include "problems/base/memory.h"
#include "problems/base/option.h"
#include "problems/base/text.h"
#include "tests/support/owned.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static const eb_option options[] = {
    {"rtol", EB_OPTION_REAL, "1e-8", 0, 1, NULL, "", "relative tolerance"},
    {"max_iterations", EB_OPTION_INT, "50", 1, 1000, NULL, "", "limit"},
    {"project", EB_OPTION_BOOL, "true", 0, 0, NULL, "", "project"},
    {"linear", EB_OPTION_CHOICE, "cg", 0, 0, "cg|cholesky|petsc", "", "linear solver"},
    {"petsc", EB_OPTION_TEXT, "", 0, 0, NULL, "", "options string"},
    {"shift", EB_OPTION_REAL, "0", 0, 0, NULL, "m", "any finite number"},
    {"order", EB_OPTION_CHOICE, "natural; nested if max_iterations>100", 0, 0, "natural|nested", "",
     "by another option"},
    {.name = NULL}};

static eb_error resolve(const char *text) {
  eb_values *values;
  eb_error error = eb_values_create("solver", options, text, &values);
  if (!error) eb_values_destroy(values);
  return error;
}

static void test_values(void) {
  eb_values *values;
  tap_require(
      eb_values_create("solver", options, "linear=petsc,petsc=-ksp_type cg,rtol=1e-3", &values),
      "values");
  tap_near(eb_values_real(values, "rtol"), 1e-3, 0, "a given real");
  tap_ok(eb_values_int(values, "max_iterations") == 50, "a default integer");
  tap_ok(eb_values_bool(values, "project"), "a default boolean");
  tap_ok(strcmp(eb_values_text(values, "petsc"), "-ksp_type cg") == 0, "a text with spaces");
  tap_ok(eb_values_given(values, "rtol") && !eb_values_given(values, "project"),
         "given options are told from defaults");
  tap_ok(eb_values_declares(values, "shift") && !eb_values_declares(values, "nosuch"),
         "declared options are known");
  tap_ok(strcmp(eb_values_canonical(values),
                "rtol=1e-3,max_iterations=50,project=true,linear=petsc,petsc=-ksp_type cg,"
                "shift=0,order=natural") == 0,
         "the canonical text lists every option in order");
  eb_values_destroy(values);
  tap_require(eb_values_create("solver", NULL, "", &values), "no options");
  tap_ok(eb_values_canonical(values)[0] == '\0', "a table may be empty");
  eb_values_destroy(values);
}

/* Of a table that begins with a line: `given` is `command` behind settings, all of it canonical. */
static void has_line(const char *given, const char *command, double wait, const char *canonical) {
  static const eb_option table[] = {{"command", EB_OPTION_LINE, NULL, 0, 0, NULL, "", "a command"},
                                    {"wait", EB_OPTION_REAL, "60", 1, 99, NULL, "s", "patience"},
                                    {"more", EB_OPTION_BOOL, "no", 0, 0, NULL, "", "more"},
                                    {0}};
  eb_values *values;
  eb_error error = eb_values_create("solver", table, given, &values);
  if (!command) {
    tap_fails(error, EB_ERR_USAGE, canonical, given);
    return;
  }
  tap_require(error, given);
  tap_ok(strcmp(eb_values_text(values, "command"), command) == 0, "'%s' is '%s'", given,
         eb_values_text(values, "command"));
  tap_near(eb_values_real(values, "wait"), wait, 0, "behind its settings");
  tap_ok(strcmp(eb_values_canonical(values), canonical) == 0, "in canonical text %s", canonical);
  eb_values_destroy(values);
}

static void test_lines(void) {
  has_line("run a=1,b", "run a=1,b", 60, "command=run a=1,b");
  has_line("command=run wait=2", "run wait=2", 60, "command=run wait=2");
  has_line("wait=2,run", "run", 2, "wait=2,command=run");
  has_line("more=yes,wait=2,command=run,wait=3", "run,wait=3", 2,
           "wait=2,more=yes,command=run,wait=3");
  has_line("waits=2,run", "waits=2,run", 60, "command=waits=2,run");
  has_line("wait=2", "wait=2", 60, "command=wait=2");
  has_line("", NULL, 0, "wants a command");
  has_line("wait=2,", NULL, 0, "wants a command");
  has_line("wait=2,wait=3,run", NULL, 0, "wait is set twice");
  has_line("wait=0,run", NULL, 0, "outside");
}

/* Defaults of somebody else's stand where nothing is given, and are not given. */
static void test_other_defaults(void) {
  eb_values *values = NULL;
  tap_require(
      eb_values_create_over("solver", options, "rtol=1e-2,linear=petsc", "rtol=1e-3", &values),
      "other defaults");
  tap_ok(eb_values_real(values, "rtol") == 1e-3 && eb_values_given(values, "rtol"),
         "what is given goes over other defaults");
  tap_ok(!strcmp(eb_values_text(values, "linear"), "petsc") && !eb_values_given(values, "linear"),
         "another default stands, and is not given");
  eb_values_destroy(values);
  tap_fails(eb_values_create_over("solver", options, "lineer=petsc", NULL, &values), EB_ERR_USAGE,
            "linear", "another default has to be of an option");
}

static void has_order(const char *given, const char *want) {
  eb_values *values;
  tap_require(eb_values_create("solver", options, given, &values), given);
  const char *got = eb_values_text(values, "order");
  tap_ok(strcmp(got, want) == 0 && strstr(eb_values_canonical(values), got),
         "with %s the order is %s, in the canonical text too", given, want);
  tap_ok(eb_values_given(values, "order") == (strstr(given, "order") != NULL),
         "a default by another option is a default");
  eb_values_destroy(values);
}

/* A default that depends on another option is settled when that one is known, in any order. */
static void test_conditional_defaults(void) {
  static const eb_option broken[] = {
      {"order", EB_OPTION_CHOICE, "a; b when n is 1", 0, 0, "a|b", "", "no condition"}, {0}};
  static const eb_option lost[] = {
      {"order", EB_OPTION_CHOICE, "a; b if n>1", 0, 0, "a|b", "", "no option n"}, {0}};
  eb_values *values;
  has_order("max_iterations=100", "natural");
  has_order("max_iterations=101", "nested");
  has_order("max_iterations=500,order=natural", "natural");
  has_order("order=nested,max_iterations=5", "nested");
  tap_fails(eb_values_create("solver", broken, NULL, &values), EB_ERR_INVALID, "when n is 1",
            "a condition that is none");
  tap_fails(eb_values_create("solver", lost, NULL, &values), EB_ERR_USAGE, "'n'",
            "a condition on an option that there is not");
}

static void test_bad_values(void) {
  tap_fails(resolve("rtool=1"), EB_ERR_USAGE, "did you mean 'rtol'", "the nearest name is named");
  tap_fails(resolve("zzzzzz=1"), EB_ERR_USAGE, "there are: rtol, max_iterations",
            "the valid names are listed");
  tap_fails(resolve("rtol=2"), EB_ERR_USAGE, "outside [0, 1]", "a value out of range");
  tap_fails(resolve("rtol=abc"), EB_ERR_USAGE, "wants a number", "a word for a number");
  tap_fails(resolve("rtol=1x"), EB_ERR_USAGE, "wants a number", "a number with a tail");
  tap_fails(resolve("rtol="), EB_ERR_USAGE, "wants a number", "an empty number");
  tap_fails(resolve("rtol=nan"), EB_ERR_USAGE, "outside", "not a number");
  tap_fails(resolve("shift=inf"), EB_ERR_USAGE, "finite", "an infinite number");
  tap_fails(resolve("rtol=1e999"), EB_ERR_USAGE, "wants a number", "an overflowing number");
  tap_fails(resolve("max_iterations=1.5"), EB_ERR_USAGE, "wants an integer", "half an integer");
  tap_fails(resolve("max_iterations=0"), EB_ERR_USAGE, "outside", "an integer out of range");
  tap_fails(resolve("project=perhaps"), EB_ERR_USAGE, "true or false", "not a boolean");
  tap_fails(resolve("linear=gauss"), EB_ERR_USAGE, "cg|cholesky|petsc", "not a choice");
  tap_fails(resolve("linear=c"), EB_ERR_USAGE, "cg|cholesky|petsc", "the beginning of a choice");
  tap_fails(resolve("rtol"), EB_ERR_USAGE, "name=value", "no equals sign");
  tap_fails(resolve("=1"), EB_ERR_USAGE, "name=value", "no name");
  tap_fails(resolve("rtol=1e-3,rtol=1e-4"), EB_ERR_USAGE, "twice", "an option set twice");
}

static eb_error fails_inside(void) {
  EB_TRY(EB_ERROR(EB_ERR_IO, "cannot read %s", "x.mesh"));
  return EB_OK;
}

static void test_errors(void) {
  eb_error error = eb_error_prefix(fails_inside(), "scene '%s'", "bench/beam");
  tap_ok(strcmp(eb_error_message(error), "scene 'bench/beam': cannot read x.mesh") == 0,
         "a prefix goes in front");
  tap_ok(eb_error_kind(error) == EB_ERR_IO && eb_error_line(error) > 0 &&
             strstr(eb_error_file(error), "test_base.c"),
         "an error knows its kind and place");
  eb_error_free(error);
  char text[3000];
  memset(text, 'a', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  error = eb_error_prefix(EB_ERROR(EB_ERR_IO, "%s", text), "%s", text);
  tap_ok(strlen(eb_error_message(error)) < 2000, "long messages are cut");
  eb_error_free(error);
  tap_ok(eb_error_prefix(EB_OK, "nothing") == EB_OK, "success has no prefix");
  eb_error_free(EB_OK);
}

/* What is checked in builds for debugging and with sanitizers: by a process of its own, which dies.
 */
static void test_assert(void) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    int indices = 3;
    EB_ASSERT(indices < 3);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  tap_ok(aborted == (EB_DEBUG == 1), "a broken invariant ends the process where it is checked");
}

static void test_arena(void) {
  eb_arena arena = {0};
  double *x = NULL;
  int *many = NULL;
  tap_succeeds(EB_TAKE(&arena, x, 5), "an arena gives");
  tap_ok((uintptr_t)x % 64 == 0 && x[0] == 0 && x[4] == 0, "aligned zeros");
  tap_fails(EB_TAKE(&arena, many, SIZE_MAX / 2), EB_ERR_MEMORY, "'many'",
            "what is too much has a name");
  tap_ok(many == NULL, "and is nothing");
  for (int k = 0; k < 3; k++) tap_succeeds(EB_TAKE(&arena, many, 0), "and goes on");
  eb_arena_clear(&arena);
  tap_ok(arena.last == NULL, "until it is cleared");
  eb_arena_clear(&arena);
}

static void test_memory(void) {
  double *array = NULL;
  tap_fails(EB_NEW(array, SIZE_MAX / 4), EB_ERR_MEMORY, "array", "an overflowing size is refused");
  tap_ok(eb_calloc(SIZE_MAX, 2) == NULL, "a wrapping product is refused");
  tap_require(EB_NEW(array, 0), "nothing");
  tap_ok(array && (uintptr_t)array % 64 == 0, "no entries still give an aligned pointer");
  free(array);
  tap_require(EB_NEW(array, 10), "ten");
  array[9] = 1;
  array = eb_recalloc(array, 10, 20, sizeof *array);
  tap_ok(array && array[9] == 1 && array[19] == 0, "growing keeps and zeroes");
  free(array);
}

static void test_text(void) {
  eb_text text = {0};
  bool good = true;
  for (int i = 0; i < 1000; i++) {
    eb_error error = eb_text_printf(&text, "%03d,", i);
    good = good && !error;
    eb_error_free(error);
  }
  tap_ok(good && text.length == 4000 && strncmp(text.data + 3996, "999,", 5) == 0,
         "a text grows as it is written");
  eb_text_clear(&text);
  char joined[8];
  eb_text_join(joined, sizeof joined, (const char *const[]){"one", "two", "three"}, 3, ", ");
  tap_ok(strlen(joined) == 7 && strcmp(joined + 4, "...") == 0, "a long list is cut with dots");
  static const char *const shown[][2] = {{"plain\ttext\n", "plain\ttext\n"},
                                         {"\033[31mred\033[0m", "?[31mred?[0m"},
                                         {"\033]0;title\007", "?]0;title?"},
                                         {"up\rdown\b\177", "up?down??"},
                                         {"\302\233[2J", "??[2J"},
                                         {"Kr\303\274ger \342\202\254 \360\237\230\200",
                                          "Kr\303\274ger \342\202\254 \360\237\230\200"},
                                         {"\303", "?"},
                                         {"\233[2J", "?[2J"},
                                         {"\300\233 \340\200\233", "?? ???"},
                                         {"\355\240\200", "???"},
                                         {"a\342\200\256b\342\200\254", "a???b???"},
                                         {"\342\201\246x\342\201\251", "???x???"},
                                         {"\342\200\213\357\273\277\342\200\250", "?????????"},
                                         {"\330\234\342\200\217", "?????"},
                                         {"\363\240\201\201", "????"},
                                         {"\357\277\276\357\277\277", "??????"},
                                         {"\357\277\275 \342\200\215", "\357\277\275 \342\200\215"},
                                         {"\364\220\200\200", "????"},
                                         {"a\342\202", "a??"}};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    char cleaned[64];
    snprintf(cleaned, sizeof cleaned, "%s", shown[i][0]);
    eb_text_clean(cleaned);
    tap_ok(strcmp(cleaned, shown[i][1]) == 0, "text %zu is fit to be shown", i + 1);
  }
  const char *names[] = {"newton", "semi-implicit", "corotational"};
  tap_fails(eb_unknown(EB_ERR_USAGE, "newtn", names, 3, "no %s", "solver"), EB_ERR_USAGE,
            "no solver 'newtn' (did you mean 'newton'?); there are: newton, semi-implicit, coro",
            "one letter off is near");
  tap_fails(eb_unknown(EB_ERR_FORMAT, "xyzzy", names, 3, "no"), EB_ERR_FORMAT,
            "no 'xyzzy'; there are: newton", "nonsense is near nothing");
  tap_fails(eb_unknown(EB_ERR_USAGE, "beam", &(const char *){"bench/beam"}, 1, "no"), EB_ERR_USAGE,
            "did you mean 'bench/beam'", "a scene without its paper is near");
  tap_fails(eb_unknown(EB_ERR_USAGE, "x", NULL, 0, "no"), EB_ERR_USAGE, "there are: none",
            "of nothing, nothing is near");
  tap_ok(eb_hash(EB_HASH_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c),
         "FNV-1a of \"a\" is the published value");
}

static void digest_of(const void *data, size_t bytes, char text[EB_DIGEST_TEXT_BYTES]) {
  eb_digest digest;
  write_bytes("bytes", data, bytes);
  tap_require(eb_digest_file(in_folder("bytes"), &digest), "a file");
  eb_digest_print(digest, text);
}

static void test_digest(void) {
  char text[EB_DIGEST_TEXT_BYTES], other[EB_DIGEST_TEXT_BYTES];
  eb_digest unread, none = {0};
  digest_of("", 0, text);
  tap_ok(strcmp(text, "99aa06d3014798d86001c324468d497f") == 0,
         "XXH3 of an empty file is the published value (%s)", text);
  static unsigned char data[50001]; /* several blocks of reading */
  for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * i >> 3);
  digest_of(data, sizeof data, text);
  eb_digest_print(XXH3_128bits(data, sizeof data), other);
  tap_ok(strcmp(text, other) == 0, "a long file's digest is that of its bytes at once");
  data[40000] ^= 1;
  digest_of(data, sizeof data, other);
  tap_ok(strcmp(text, other) != 0, "one bit more is another file");
  tap_fails(eb_digest_file("/nowhere/at/all", &unread), EB_ERR_IO, "cannot open '/nowhere/at/all'",
            "a missing file");
  tap_ok(!XXH128_isEqual(eb_digest_add(eb_digest_add(none, "ab", 2), "c", 1),
                         eb_digest_add(eb_digest_add(none, "a", 1), "bc", 2)),
         "where one part ends and the next begins enters a digest of both");
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool has_text(const char *path, const char *text) {
  char read[64] = "";
  FILE *file = fopen(path, "rb");
  size_t length = file ? fread(read, 1, sizeof read - 1, file) : 0;
  if (file) fclose(file);
  return length == strlen(text) && strcmp(read, text) == 0;
}

static void test_reading(void) {
  int file;
  const char *fifo = in_folder("fifo");
  write_bytes("text", "abc", 3);
  tap_succeeds(eb_file_open(in_folder("text"), &file), "a regular file");
  close(file);
  tap_fails(eb_file_open(folder, &file), EB_ERR_IO, "is a folder, not a regular file", "a folder");
  tap_fails(eb_file_open("/dev/null", &file), EB_ERR_IO, "is a device, not a", "a device");
  alarm(20); /* s: who waits for a writer is ended */
  tap_ok(mkfifo(fifo, 0600) == 0, "a FIFO without a writer");
  tap_fails(eb_file_open(fifo, &file), EB_ERR_IO, "is a FIFO, not a regular file",
            "is not waited for");
  alarm(0);
  tap_fails(eb_file_open(in_folder("none"), &file), EB_ERR_IO, "No such file", "none");
}

/* What is given a name, and what is written, loses nothing that was there. */
static void test_writing(void) {
  owned(char) *name = NULL, *other = NULL, *end = NULL;
  int file, more, pid;
  eb_output output;
  const char *path = in_folder("written"), *link = in_folder("link");
  tap_require(eb_file_beside(path, &name, &file), "a file beside");
  tap_require(eb_file_beside(path, &other, &more), "another");
  tap_ok(strcmp(name, other) != 0 && close(file) == 0 && close(more) == 0, "has another name");
  const char *entry = strrchr(name, '/') + 1;
  tap_ok(eb_file_is_beside("written", entry, &pid) && pid == getpid() &&
             eb_file_is_beside("written", strrchr(other, '/') + 1, &pid) && pid == getpid(),
         "both are known by it");
  tap_ok(!eb_file_is_beside("written", "written.12.newer", &pid) &&
             !eb_file_is_beside("written", "written.x.new", &pid) &&
             !eb_file_is_beside("writ", entry, &pid),
         "which others are not");
  tap_succeeds(eb_file_rename(name, path, false), "a name that is free");
  tap_fails(eb_file_rename(other, path, false), EB_ERR_USAGE, "exists by now", "and is so once");
  tap_succeeds(eb_file_rename(other, path, true), "but may be taken over");
  tap_succeeds(eb_file_write(path, "old", 3), "a text");
  tap_ok(symlink("written", link) == 0 && eb_path_follow(link, &end) == EB_OK &&
             strcmp(end, path) == 0,
         "a link is followed to its end");
  tap_require(eb_output_open(link, &output), "an output through it");
  fputs("new", output.file);
  tap_ok(has_text(path, "old"), "is not there until it is whole");
  tap_fails(eb_output_close(&output, EB_ERROR(EB_ERR_INVALID, "bad")), EB_ERR_INVALID, "bad",
            "an error of the writer's");
  tap_ok(has_text(path, "old"), "leaves what was there");
  tap_succeeds(eb_file_write(link, "new", 3), "a text through a link");
  tap_ok(has_text(path, "new") && has_text(link, "new"), "is where it leads to");
  tap_fails(eb_file_write("/dev/full", "new", 3), EB_ERR_IO, "No space left", "a full device");
}

int main(void) {
  scratch_open();
  test_values();
  test_lines();
  test_other_defaults();
  test_conditional_defaults();
  test_bad_values();
  test_errors();
  test_assert();
  test_arena();
  test_memory();
  test_text();
  test_digest();
  test_reading();
  test_writing();
  return scratch_close();
}
