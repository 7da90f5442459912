/* What result files say of the plan that they are part of, and the seal behind them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/seal.h"
#include "harness/results/shards.h"
#include "tests/tap.h"

static char folder[] = "/tmp/elastobench-shards-XXXXXX";

static const char *in_folder(const char *name) {
  static char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void enter(eb_shardings *all, int64_t shards, int64_t number, int64_t wanted, int64_t done) {
  char line[100];
  eb_sharding *entry;
  snprintf(line, sizeof line, "elastobench run s.ini --shard %d/%d -o s-%02d.h5", (int)number,
           (int)shards, (int)number);
  tap_require(eb_shardings_of(all, 7, shards, 10, &entry), "an entry");
  tap_require(eb_sharding_enter(entry, number, wanted, done, line, false), "a shard");
}

/* The numbers that lack are told as Slurm takes them. */
static void test_lacking(void) {
  static const struct {
    const char *have, *lack; /* have: a letter a shard: full, part of it, none */
  } cases[] = {{"fffff", ""},    {"nffff", "1"},     {"ffffn", "5"},   {"nnnnf", "1-4"},
               {"fnfpf", "2,4"}, {"npnfn", "1-3,5"}, {"fnnpn", "2-5"}, {"ppppp", "1-5"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    eb_shardings all = {0};
    eb_text text = {0};
    for (int k = 0; k < 5; k++)
      if (cases[i].have[k] != 'n') enter(&all, 5, k + 1, 2, cases[i].have[k] == 'f' ? 2 : 1);
    tap_require(eb_sharding_lacking(&all.items[0], &text), "what lacks");
    tap_ok(strcmp(text.data ? text.data : "", cases[i].lack) == 0, "of %s: '%s'", cases[i].have,
           cases[i].lack);
    tap_ok(eb_sharding_complete(&all.items[0]) == (*cases[i].lack == '\0'), "  complete or not");
    eb_text_clear(&text);
    eb_shardings_clear(&all);
  }
}

static void test_commands(void) {
  static const struct {
    const char *line, *other;
  } cases[] = {
      {"e run s.ini --shard 3/12 -o s3.h5", "e run s.ini --shard 11/12 -o s11.h5 --resume"},
      {"e run s.ini -o out/3/s-003.h5 --resume --shard=3/12",
       "e run s.ini -o out/3/s-011.h5 --resume --shard=11/12"},
      {"e run 'a b 3.ini' --output='x 3.h5' --shard 3/12",
       "e run 'a b 3.ini' --output='x 11.h5' --shard 11/12 --resume"},
      {"e run s.ini -o all.h5 --shard 3/12", "e run s.ini -o all-11.h5 --shard 11/12 --resume"},
      {"e run s.ini -o v2-3-x.h5 --steps 3 --shard 3/12",
       "e run s.ini -o v2-11-x.h5 --steps 3 --shard 11/12 --resume"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    eb_shardings all = {0};
    eb_sharding *entry;
    eb_text text = {0};
    tap_require(eb_shardings_of(&all, 1, 12, 20, &entry), "an entry");
    tap_require(eb_sharding_enter(entry, 3, 2, 1, cases[i].line, false), "a shard");
    tap_require(eb_sharding_command(entry, 11, &text), "of another");
    tap_ok(strcmp(text.data, cases[i].other) == 0, "%s: %s", cases[i].line, text.data);
    eb_text_clear(&text);
    eb_shardings_clear(&all);
  }
}

/* Shards of several files are one plan when all are there; a plan in other parts is then no more.
 */
static void test_files(void) {
  eb_shardings all = {0}, read = {0};
  hid_t file;
  enter(&all, 3, 1, 4, 4);
  enter(&all, 3, 2, 3, 2);
  enter(&all, 2, 2, 5, 1);
  tap_require(eb_h5_create_file(in_folder("a.h5"), &file), "a file");
  tap_succeeds(eb_shardings_write(file, &all), "writing");
  tap_succeeds(eb_shardings_read(file, &read), "reading");
  tap_ok(read.count == 2, "two entries");
  for (int i = 0; i < read.count; i++) {
    const eb_sharding *s = &read.items[i];
    tap_ok(s->plan == 7 && s->wanted == 10 && s->count == (s->shards == 3 ? 2 : 1), "the one of %d",
           (int)s->shards);
    tap_ok(strstr(s->rows[s->count - 1].command_line, " -o s-02.h5") != NULL, "  command line");
  }
  enter(&read, 3, 2, 3, 1);
  tap_require(eb_shardings_settle(&read), "not all is there");
  tap_ok(read.count == 2 && !eb_sharding_complete(&read.items[1]), "nothing is settled");
  enter(&read, 3, 2, 3, 3);
  enter(&read, 3, 3, 3, 3);
  tap_require(eb_shardings_settle(&read), "all is there");
  tap_ok(read.count == 1 && read.items[0].shards == 1 && read.items[0].count == 1 &&
             read.items[0].rows[0].done == 10 && eb_sharding_complete(&read.items[0]),
         "one shard of one is left");
  eb_shardings_clear(&all);
  tap_require(eb_shardings_write(file, &read), "the new one in its place");
  tap_require(eb_shardings_read(file, &all), "reading");
  tap_ok(all.count == 1 && all.items[0].shards == 1, "the old ones are gone");
  eb_shardings_forget(&all, 8);
  tap_ok(all.count == 1, "what is complete is not forgotten");
  enter(&all, 4, 4, 2, 1);
  eb_shardings_forget(&all, 7);
  tap_ok(all.count == 2, "nor is a part of the same plan");
  eb_shardings_forget(&all, 8);
  tap_ok(all.count == 1, "but one that has ended early");
  eb_shardings_clear(&all);
  eb_shardings_clear(&read);
  hid_t group = H5Gopen2(file, "plans/0000000000000007.1", H5P_DEFAULT);
  tap_require(eb_h5_put_int(group, "shards", 0), "a count that cannot be");
  H5Gclose(group);
  tap_fails(eb_shardings_read(file, &all), EB_ERR_FORMAT, "is no plan", "is refused");
  eb_shardings_clear(&all);
  tap_require(eb_h5_close_file(file, "a.h5"), "closing");
}

/* A seal fits until any byte is another, and is gone once HDF5 has written the file again. */
static void test_seal(void) {
  const char *path = in_folder("a.h5");
  hid_t file;
  tap_ok(eb_seal_look(path) == EB_SEAL_NONE, "a file without a seal");
  tap_require(eb_seal_put(path), "sealing");
  tap_ok(eb_seal_look(path) == EB_SEAL_FITS, "it fits");
  FILE *raw = fopen(path, "r+b");
  fseek(raw, 0, SEEK_END);
  long size = ftell(raw);
  for (int i = 0; i < 50; i++) {
    long at = i < 48 ? size - 1 - i : (i - 47) * size / 3;
    fseek(raw, at, SEEK_SET);
    int byte = fgetc(raw);
    for (int flip = 0; flip < 2; flip++) {
      fseek(raw, at, SEEK_SET);
      fputc(byte ^ !flip, raw);
      fflush(raw);
      if (eb_seal_look(path) != (flip ? EB_SEAL_FITS : EB_SEAL_BROKEN))
        tap_ok(false, "byte %ld changed", at);
    }
  }
  fclose(raw);
  tap_ok(eb_seal_look(path) == EB_SEAL_FITS, "50 bytes were changed and changed back");
  tap_require(eb_h5_open_file(path, false, &file), "HDF5 reads it");
  tap_require(eb_h5_close_file(file, path), "closing");
  tap_ok(eb_seal_look(path) == EB_SEAL_FITS, "which leaves it as it is");
  tap_require(eb_h5_open_file(path, true, &file), "HDF5 writes it");
  tap_require(eb_h5_put_int(file, "more", 1), "an attribute");
  tap_require(eb_h5_close_file(file, path), "closing");
  tap_ok(eb_seal_look(path) == EB_SEAL_NONE, "which ends the seal");
  tap_ok(truncate(path, 10) == 0 && eb_seal_look(path) == EB_SEAL_NONE &&
             eb_seal_look(in_folder("none")) == EB_SEAL_NONE &&
             eb_seal_look(folder) == EB_SEAL_NONE,
         "nor has a short file one, none, or a folder");
  tap_fails(eb_seal_put(in_folder("none")), EB_ERR_IO, "none", "sealing what is not there");
}

int main(void) {
  eb_h5_quiet();
  if (!mkdtemp(folder)) return 1;
  test_lacking();
  test_commands();
  test_files();
  test_seal();
  unlink(in_folder("a.h5"));
  rmdir(folder);
  return tap_done();
}
