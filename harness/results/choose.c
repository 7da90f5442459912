#include "harness/results/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/names.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

static const char *id_of(const eb_results *results, int run) {
  return eb_results_run(results, run)->id;
}

static const char *hash_of(const char *id) {
  const char *dot = strrchr(id, '.');
  return dot && dot[1] ? dot + 1 : id;
}

/* ---- a run by a name ------------------------------------------------------------------------- */

/* How near a name is to an id: of the runs that it is nearest to, there is to be one. */
enum { APART, WITHIN, AT_START, EXACT };

static int nearness(const char *id, const char *name) {
  size_t length = strlen(name);
  if (strcmp(id, name) == 0) return EXACT;
  if (strncmp(id, name, length) == 0 || strncmp(hash_of(id), name, length) == 0) return AT_START;
  return strstr(id, name) ? WITHIN : APART;
}

static eb_error no_run(const eb_results *results, const char *name) {
  EB_OWNED(eb_strings_clear) eb_strings ids = {0};
  for (int i = 0; i < eb_results_count(results); i++)
    EB_TRY(eb_strings_add(&ids, id_of(results, i)));
  return eb_unknown_name("run", name ? name : "", &ids);
}

static eb_error several(const eb_results *results, const char *name, int near, int count) {
  enum { NAMED = 8 };
  EB_OWNED(eb_text_clear) eb_text ids = {0};
  if (!name)
    return EB_ERROR(EB_ERR_USAGE, "'%s' has %d runs; name one by its id", eb_results_path(results),
                    count);
  for (int i = 0, named = 0; i < eb_results_count(results) && named <= NAMED; i++) {
    if (nearness(id_of(results, i), name) != near) continue;
    EB_TRY(
        eb_text_printf(&ids, "%s%s", named ? ", " : "", named < NAMED ? id_of(results, i) : "..."));
    named++;
  }
  return EB_ERROR(EB_ERR_USAGE, "'%s' has %d runs with '%s' %s: %s; give more of one's id",
                  eb_results_path(results), count, name,
                  near == AT_START ? "where their ids or hashes begin" : "in their ids", ids.data);
}

eb_error eb_results_choose(const eb_results *results, const char *name, int *out) {
  int best = APART, count = 0;
  for (int i = 0; i < eb_results_count(results); i++) {
    int near = name ? nearness(id_of(results, i), name) : EXACT;
    if (near == APART || near < best) continue;
    count = near > best ? 1 : count + 1;
    best = near;
    *out = i;
  }
  if (count == 1) return EB_OK;
  return count ? several(results, name, best, count) : no_run(results, name);
}

eb_error eb_results_choose_ids(const eb_results *results, const eb_strings *names,
                               eb_strings *ids) {
  for (int i = 0; i < names->count; i++) {
    int run = -1;
    EB_TRY(eb_results_choose(results, names->items[i], &run));
    EB_TRY(eb_strings_add(ids, id_of(results, run)));
  }
  return EB_OK;
}

/* ---- short ids ------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t common(const char *a, const char *b) {
  size_t length = 0;
  while (a[length] && a[length] == b[length]) length++;
  return length;
}

/* How much of a hash no other has: of sorted ones, the neighbours have most of it. */
static size_t own_length(const char *const *sorted, int count, const char *hash) {
  enum { LEAST = 4 };
  size_t length = LEAST, all = strlen(hash);
  const char *const *at = bsearch(&hash, sorted, (size_t)count, sizeof *sorted, by_text);
  for (int side = -1; side <= 1; side += 2) {
    if (at + side < sorted || at + side >= sorted + count) continue;
    size_t shared = common(hash, at[side]) + 1;
    if (shared > length) length = shared;
  }
  return length < all ? length : all;
}

eb_error eb_results_short_ids(const eb_results *results, eb_strings *out) {
  int count = eb_results_count(results);
  EB_FREED const char **sorted = NULL;
  EB_TRY(EB_NEW(sorted, (size_t)count + 1));
  for (int i = 0; i < count; i++) sorted[i] = hash_of(id_of(results, i));
  qsort(sorted, (size_t)count, sizeof *sorted, by_text);
  for (int i = 0; i < count; i++) {
    const char *hash = hash_of(id_of(results, i));
    EB_TRY(eb_strings_add_part(out, hash, own_length(sorted, count, hash)));
  }
  return EB_OK;
}
