/* Waiting for the last earlier chunk at each node is enough: that one has itself waited for those
 * before it. It cannot deadlock, since chunks are taken in ascending order: the lowest one taken
 * and not finished waits for none. A wait spins for a moment and then gives up its processor, so
 * that more threads than cores do no harm. */
#include "problems/elasticity/schedule.h"

#include <sched.h>

#include "problems/base/assert.h"
#include "problems/base/memory.h"

enum { SPINS = 200 };

typedef struct builder {
  int32_t *first; /* per node: the first chunk, plus 1; 0 for none */
  int32_t *last;  /* per node: the last chunk so far, plus 1 */
  int32_t *mark;  /* per chunk: the last chunk that waits for it, plus 1 */
} builder;

/* Visits the chunks that c waits for; stores them from `out` on when it is given. Returns their
 * number. */
static int32_t find_before(const builder *b, int32_t c, const int32_t *node, int64_t count,
                           int32_t *out) {
  int32_t found = 0;
  for (int64_t i = 0; i < count; i++) {
    int32_t other = b->last[node[i]] - 1;
    if (other < 0 || b->mark[other] == c + 1) continue;
    b->mark[other] = c + 1;
    if (out) out[found] = other;
    found++;
  }
  return found;
}

/* Lists the nodes by the chunk (plus 1) each belongs to, those of none under chunk 0. */
static eb_error group_nodes(const eb_schedule *s, int32_t node_count, const int32_t *owner,
                            int32_t **start_out, int32_t **list_out) {
  int32_t *start, *list;
  EB_TRY(EB_NEW(start, (size_t)s->chunks + 2));
  *start_out = start;
  EB_TRY(EB_NEW(list, node_count));
  *list_out = list;
  for (int32_t i = 0; i < node_count; i++) start[(owner[i] ? owner[i] : 1) + 1]++;
  for (int32_t c = 0; c < s->chunks; c++) start[c + 2] += start[c + 1];
  for (int32_t i = 0; i < node_count; i++) list[start[owner[i] ? owner[i] : 1]++] = i;
  return EB_OK;
}

static eb_error build(eb_schedule *s, builder *b, const int64_t *node_start, const int32_t *node,
                      int32_t node_count) {
  EB_TRY(EB_NEW(b->first, node_count));
  EB_TRY(EB_NEW(b->last, node_count));
  EB_TRY(EB_NEW(b->mark, s->chunks));
  EB_TRY(EB_NEW(s->before_start, (size_t)s->chunks + 1));
  EB_TRY(EB_NEW(s->finished, s->chunks));
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < node_count; i++) b->last[i] = 0;
    for (int32_t c = 0; c < s->chunks; c++) b->mark[c] = 0;
    for (int32_t c = 0; c < s->chunks; c++) {
      const int32_t *own = node + node_start[c];
      int64_t count = node_start[c + 1] - node_start[c];
      int32_t *out = pass ? s->before + s->before_start[c] : NULL;
      int32_t found = find_before(b, c, own, count, out);
      if (!pass) s->before_start[c + 1] = s->before_start[c] + found;
      for (int64_t i = 0; i < count; i++) {
        b->last[own[i]] = c + 1;
        if (!b->first[own[i]]) b->first[own[i]] = c + 1;
      }
    }
    if (!pass) EB_TRY(EB_NEW(s->before, s->before_start[s->chunks]));
  }
  EB_TRY(group_nodes(s, node_count, b->first, &s->open_start, &s->open));
  return group_nodes(s, node_count, b->last, &s->close_start, &s->close);
}

eb_error eb_schedule_create(int32_t chunks, const int64_t *node_start, const int32_t *node,
                            int32_t node_count, eb_schedule **out) {
  EB_ASSERT(chunks >= 0 && node_count >= 0);
  eb_schedule *s;
  builder b = {0};
  *out = NULL;
  EB_TRY(EB_NEW(s, 1));
  s->chunks = chunks;
  eb_error error = build(s, &b, node_start, node, node_count);
  free(b.first);
  free(b.last);
  free(b.mark);
  if (error) {
    eb_schedule_destroy(s);
    return error;
  }
  *out = s;
  return EB_OK;
}

void eb_schedule_destroy(eb_schedule *s) {
  if (!s) return;
  free(s->before_start);
  free(s->before);
  free(s->open_start);
  free(s->open);
  free(s->close_start);
  free(s->close);
  free(s->finished);
  free(s);
}

int64_t eb_schedule_bytes(const eb_schedule *s) {
  int64_t chunks = s->chunks;
  int64_t lists = s->before_start[chunks] + s->open_start[chunks] + s->close_start[chunks];
  return (int64_t)sizeof *s + (int64_t)sizeof(int32_t) * (4 * chunks + 5 + lists) +
         chunks * (int64_t)sizeof *s->finished;
}

void eb_schedule_begin(eb_schedule *s) {
  s->round++;
  atomic_store_explicit(&s->next, 0, memory_order_relaxed);
}

static void wait_for(eb_schedule *s, int32_t chunk) {
  for (int spin = 0; atomic_load_explicit(&s->finished[chunk], memory_order_acquire) != s->round;
       spin++)
    if (spin >= SPINS) sched_yield();
}

int32_t eb_schedule_take(eb_schedule *s) {
  int32_t c = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
  if (c >= s->chunks) return -1;
  for (int32_t i = s->before_start[c]; i < s->before_start[c + 1]; i++) wait_for(s, s->before[i]);
  return c;
}

void eb_schedule_finish(eb_schedule *s, int32_t chunk) {
  atomic_store_explicit(&s->finished[chunk], s->round, memory_order_release);
}
