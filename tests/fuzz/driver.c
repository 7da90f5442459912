/* Runs a fuzz target without libFuzzer: the seeds, every prefix of them, and a fixed sequence of
 * mutations, bounded in number and time. With arguments: the named inputs only (to see a crash
 * again). A crash ends the program without a plan, which fails the test. */
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/mesh_files.h"
#include "tests/tap.h"

/* As many mutants as the time allows; the least of them whatever it is. */
enum { MUTANTS = 20000, LEAST_MUTANTS = 100, MOST_BYTES = 1 << 14 };
static const double most_seconds = 5.0;

typedef struct input {
  uint8_t *data;
  size_t bytes;
} input;

static uint64_t next_random(uint64_t *state) { /* SplitMix64 */
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t bound) {
  return bound ? (size_t)(next_random(state) % bound) : 0;
}

/* ---- seeds ----------------------------------------------------------------------------------- */

static void load(const char *path, input *out) {
  FILE *file = fopen(path, "rb");
  out->data = eb_calloc(MOST_BYTES, 1);
  out->bytes = 0;
  if (!file || !out->data) {
    printf("Bail out! cannot read %s\n", path);
    exit(1);
  }
  out->bytes = fread(out->data, 1, MOST_BYTES, file);
  fclose(file);
}

/* The pair of TetGen becomes one input: the nodes, a zero byte, the elements. */
static void load_pair(const char *stem, input *out) {
  char path[64];
  input elements;
  snprintf(path, sizeof path, "%s.node", stem);
  load(path, out);
  unlink(path);
  snprintf(path, sizeof path, "%s.ele", stem);
  load(path, &elements);
  unlink(path);
  if (out->bytes + elements.bytes < MOST_BYTES)
    memcpy(out->data + out->bytes + 1, elements.data, elements.bytes);
  out->bytes += 1 + elements.bytes;
  free(elements.data);
}

static eb_error write_seed(const char *path, eb_mesh_format format) {
  const eb_grid grid = {.cubes = {1, 1, 1}, .size = {1, 2, 3}};
  eb_mesh *mesh;
  eb_surface *surface = NULL;
  EB_TRY(eb_generate_tets5(&grid, &mesh));
  eb_error error =
      format < EB_FORMAT_OBJ ? mesh_file(path, format, mesh) : eb_mesh_surface(mesh, &surface);
  if (!error && surface) error = surface_file(path, format, surface);
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
  return error;
}

static void make_seed(eb_mesh_format format, input *out) {
  char path[] = "/tmp/elastobench-fuzz-XXXXXX";
  int file = mkstemp(path);
  if (file >= 0) close(file);
  tap_require(write_seed(path, format), "writing a seed");
  if (format == EB_FORMAT_TETGEN)
    load_pair(path, out);
  else
    load(path, out);
  unlink(path);
}

static int gather(input *seeds) {
  int count = 0;
  for (int i = 0; i < FUZZ_SEEDS && fuzz_seeds.formats[i] != EB_FORMAT_AUTO; i++)
    make_seed(fuzz_seeds.formats[i], &seeds[count++]);
  for (int i = 0; i < FUZZ_SEEDS && fuzz_seeds.texts[i]; i++) {
    size_t bytes = strlen(fuzz_seeds.texts[i]);
    seeds[count].data = eb_calloc(bytes + 1, 1);
    if (!seeds[count].data) exit(1);
    memcpy(seeds[count].data, fuzz_seeds.texts[i], bytes);
    seeds[count++].bytes = bytes;
  }
  return count;
}

/* ---- mutations ------------------------------------------------------------------------------- */

/* Replaces data[at, at + old) by `fresh`, as far as there is room. */
static void replace(input *m, size_t at, size_t old, const void *fresh, size_t bytes) {
  if (m->bytes - old + bytes > MOST_BYTES) return;
  memmove(m->data + at + bytes, m->data + at + old, m->bytes - at - old);
  memcpy(m->data + at, fresh, bytes);
  m->bytes += bytes - old;
}

static bool is_number(uint8_t c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == 'e';
}

/* Puts an awkward number in the place of one in the text. */
static void replace_number(input *m, uint64_t *state) {
  static const char *const numbers[] = {"0",
                                        "-1",
                                        "1",
                                        "2147483647",
                                        "2147483648",
                                        "4294967295",
                                        "1000000000",
                                        "99",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e999",
                                        "nan",
                                        "1e-320",
                                        "1.5D+03",
                                        ""};
  size_t at = below(state, m->bytes), end;
  while (at < m->bytes && !is_number(m->data[at])) at++;
  for (end = at; end < m->bytes && is_number(m->data[end]);) end++;
  const char *fresh = numbers[below(state, sizeof numbers / sizeof *numbers)];
  replace(m, at, end - at, fresh, strlen(fresh));
}

/* Puts an awkward binary number over four bytes. */
static void overwrite_int(input *m, uint64_t *state) {
  static const uint32_t numbers[] = {0,          1,          0x7fffffff, 0x80000000,
                                     0xffffffff, 0x7f800000, 0x01000000};
  if (m->bytes < 4) return;
  uint32_t fresh = numbers[below(state, sizeof numbers / sizeof *numbers)];
  memcpy(m->data + below(state, m->bytes - 3), &fresh, 4);
}

static void mutate(input *m, const input *other, uint64_t *state) {
  size_t at = below(state, m->bytes), span = 1 + below(state, 16);
  if (m->bytes == 0) return;
  if (span > m->bytes - at) span = m->bytes - at;
  uint8_t byte = (uint8_t)next_random(state);
  switch (below(state, 8)) {
  case 0:
    m->data[at] ^= (uint8_t)(1u << (byte & 7));
    break;
  case 1:
    m->data[at] = byte;
    break;
  case 2:
    replace(m, at, span, "", 0);
    break;
  case 3: {
    uint8_t kept[16];
    memcpy(kept, m->data + at, span);
    replace(m, below(state, m->bytes), 0, kept, span);
    break;
  }
  case 4:
    overwrite_int(m, state);
    break;
  case 5:
    if (below(state, 4) == 0) m->bytes = at;
    break;
  case 6: {
    size_t from = below(state, other->bytes), count = below(state, other->bytes - from + 1);
    replace(m, at, span, other->data + from, count < 200 ? count : 200);
    break;
  }
  default:
    replace_number(m, state);
  }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A copy of exactly the input's size lets the sanitizer see a read beyond it. */
static void run(const uint8_t *data, size_t bytes) {
  uint8_t *copy = malloc(bytes ? bytes : 1);
  if (!copy) exit(1);
  memcpy(copy, data, bytes);
  LLVMFuzzerTestOneInput(copy, bytes);
  free(copy);
}

static int run_mutants(const input *seeds, int count, double until) {
  uint64_t state = 1;
  int runs = 0;
  input mutant = {.data = eb_calloc(MOST_BYTES, 1)};
  if (!mutant.data) exit(1);
  for (; runs < LEAST_MUTANTS || (runs < MUTANTS && eb_wall_seconds() < until); runs++) {
    const input *seed = &seeds[below(&state, (size_t)count)];
    const input *other = &seeds[below(&state, (size_t)count)];
    memcpy(mutant.data, seed->data, seed->bytes);
    mutant.bytes = seed->bytes;
    for (size_t m = 1 + below(&state, 4); m > 0; m--) mutate(&mutant, other, &state);
    run(mutant.data, mutant.bytes);
  }
  free(mutant.data);
  return runs;
}

int main(int argc, char **argv) {
  input seeds[2 * FUZZ_SEEDS];
  for (int i = 1; i < argc; i++) {
    load(argv[i], &seeds[0]);
    run(seeds[0].data, seeds[0].bytes);
    free(seeds[0].data);
  }
  if (argc > 1) return 0;
  double until = eb_wall_seconds() + most_seconds;
  int count = gather(seeds);
  for (int s = 0; s < count; s++)
    for (size_t bytes = 0; bytes <= seeds[s].bytes && eb_wall_seconds() < until; bytes++)
      run(seeds[s].data, bytes);
  int runs = run_mutants(seeds, count, until);
  for (int s = 0; s < count; s++) free(seeds[s].data);
  tap_ok(count > 0 && runs >= LEAST_MUTANTS, "%s: prefixes and %d mutants of %d seeds",
         fuzz_seeds.name, runs, count);
  return tap_done();
}
