#include "harness/case/rates_kept.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "problems/base/hash.h"
#include "problems/base/text.h"
#include "problems/scenes/mesh_cache.h"

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
  FILE *file = fopen(path, "re");
  if (!file) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  return sscanf(text, pattern, key, &out->dgemm, &out->triad, &out->dgemm_all, &out->triad_all,
                &out->threads, when, out->measured_at, &end) == 8 &&
         end > 0 && (size_t)end + 1 == length && text[end] == '\n' && is_rate(out->dgemm) &&
         is_rate(out->triad) && is_rate(out->dgemm_all) && is_rate(out->triad_all) &&
         out->threads > 0;
}

bool eb_rates_recall(eb_rates *out) {
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

void eb_rates_keep(const eb_rates *rates) {
  char path[EB_CACHE_PATH_BYTES + 16], fresh[EB_CACHE_PATH_BYTES + 32];
  uint64_t key;
  eb_text text = {0};
  if (!is_rate(rates->dgemm) || !make_key(&key) || !make_path(path, sizeof path)) return;
  snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
  eb_error error =
      eb_text_printf(&text, layout, key, rates->dgemm, rates->triad, rates->dgemm_all,
                     rates->triad_all, rates->threads, (long long)time(NULL), rates->measured_at);
  if (!error) error = eb_file_write(fresh, text.data, text.length);
  if (error || rename(fresh, path)) unlink(fresh);
  eb_error_free(error);
  eb_text_clear(&text);
}
