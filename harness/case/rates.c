#include "harness/case/rates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/bench/machine.h"
#include "problems/base/hash.h"
#include "problems/base/text.h"
#include "problems/scenes/mesh_cache.h"

/* ---- kept between runs ----------------------------------------------------------------------- */

static const char layout[] =
    "elastobench rates 1\nkey %016" PRIx64 "\nrates %.17g %.17g %.17g %.17g %d\nmeasured %lld %s\n";
/* The same for reading; the end is marked so that a file that was cut off is none. */
static const char pattern[] =
    "elastobench rates 1\nkey %" SCNx64 "\nrates %lg %lg %lg %lg %d\nmeasured %lld %31s%n";

/* Boot and all that the environment says. False when it cannot be told: then nothing is kept. */
static bool make_key(uint64_t *key) {
  char boot[64] = "";
  char *facts = NULL;
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (!file) return false;
  bool good = fgets(boot, sizeof boot, file) != NULL;
  fclose(file);
  eb_error error = good ? eb_environment_facts(&facts) : EB_OK;
  good = good && !error;
  if (good) *key = eb_hash(eb_hash(EB_HASH_SEED, boot, strlen(boot)), facts, strlen(facts));
  eb_error_free(error);
  free(facts);
  return good;
}

static bool make_path(char *path, size_t bytes) {
  char folder[EB_CACHE_PATH_BYTES];
  if (!eb_mesh_cache_directory(NULL, folder)) return false;
  int length = snprintf(path, bytes, "%s/rates.txt", folder);
  return length > 0 && (size_t)length < bytes;
}

static bool is_rate(double value) {
  return isfinite(value) && value > 0;
}

static bool read_rates(const char *path, uint64_t *key, long long *when, eb_rates *out) {
  char text[512] = "";
  int end = 0;
  FILE *file;
  eb_error missing = eb_file_stream(path, &file);
  eb_error_free(missing);
  if (missing) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  return sscanf(text, pattern, key, &out->dgemm, &out->triad, &out->dgemm_all, &out->triad_all,
                &out->threads, when, out->measured_at, &end) == 8 &&
         end > 0 && (size_t)end + 1 == length && text[end] == '\n' && is_rate(out->dgemm) &&
         is_rate(out->triad) && is_rate(out->dgemm_all) && is_rate(out->triad_all) &&
         out->threads > 0;
}

/* False when there are none to be trusted. */
static bool recall(eb_rates *out) {
  static const long long day = 86400;
  char path[EB_CACHE_PATH_BYTES + 16];
  uint64_t key, kept;
  long long when, now = (long long)time(NULL);
  eb_rates rates = {0};
  if (!make_key(&key) || !make_path(path, sizeof path) || !read_rates(path, &kept, &when, &rates))
    return false;
  if (kept != key || when > now || now - when > day) return false;
  *out = rates;
  return true;
}

static void keep(const eb_rates *rates) {
  char path[EB_CACHE_PATH_BYTES + 16];
  uint64_t key;
  eb_text text = {0};
  if (!is_rate(rates->dgemm) || !make_key(&key) || !make_path(path, sizeof path)) return;
  eb_error error =
      eb_text_printf(&text, layout, key, rates->dgemm, rates->triad, rates->dgemm_all,
                     rates->triad_all, rates->threads, (long long)time(NULL), rates->measured_at);
  if (!error) error = eb_file_write(path, text.data, text.length);
  eb_error_free(error);
  eb_text_clear(&text);
}

/* ---- measured -------------------------------------------------------------------------------- */

eb_error eb_rates_measure(const char *program, eb_signals *signals, eb_rates *out) {
  static const char form[] = "rates %lg %lg %lg %lg %d";
  const eb_limits limits = {.timeout = 30};
  eb_strings argv = {0}, settings = {0};
  eb_child_end end = {0};
  *out = (eb_rates){0};
  if (getenv("ELASTOBENCH_NO_RATES") || recall(out)) return EB_OK;
  eb_error error = eb_strings_add(&argv, program);
  if (!error) error = eb_strings_add(&argv, "machine");
  if (!error) error = eb_environment_settings((int)sysconf(_SC_NPROCESSORS_ONLN), &settings);
  if (!error) error = eb_child_run(&argv, &settings, limits, signals, NULL, NULL, &end);
  eb_strings_clear(&argv);
  eb_strings_clear(&settings);
  if (!error && sscanf(end.output, form, &out->dgemm, &out->triad, &out->dgemm_all, &out->triad_all,
                       &out->threads) == 5)
    eb_time_text(out->measured_at);
  else
    *out = (eb_rates){0};
  if (!error) keep(out);
  return error;
}

eb_error eb_rates_print(void) {
  enum { TIMES = 3 };
  eb_machine *machine;
  eb_rates best = {.threads = (int)sysconf(_SC_NPROCESSORS_ONLN)};
  EB_TRY(eb_machine_create(best.threads, &machine));
  /* The best of some short measurements: what the machine can do when nobody disturbs. */
  for (int i = 0; i < TIMES; i++) {
    best.dgemm = fmax(best.dgemm, eb_machine_dgemm(machine, 1));
    best.triad = fmax(best.triad, eb_machine_triad(machine, 1));
    best.dgemm_all = fmax(best.dgemm_all, eb_machine_dgemm(machine, best.threads));
    best.triad_all = fmax(best.triad_all, eb_machine_triad(machine, best.threads));
  }
  eb_machine_destroy(machine);
  printf("rates %.6g %.6g %.6g %.6g %d\n", best.dgemm, best.triad, best.dgemm_all, best.triad_all,
         best.threads);
  return EB_OK;
}
