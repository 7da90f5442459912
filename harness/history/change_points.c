/* Change points of a mean, with bounded false alarms.
 *
 * x = log y, so that noise is relative and steps are ratios. Outliers: with levels of m records at
 * least, x_i is held within 3 s of the median of itself, the m - 1 records before it and the m - 1
 * behind it (as far as there are any), s the median distance from that times 1.4826 (Hampel's
 * identifier: L. Davies and U. Gather, The identification of multiple outliers, JASA 88, 1993). A
 * level of m records passes that filter as it is; m disturbed ones in a row are a level.
 *
 * Intervals: the seeded ones of S. Kovacs, P. Buhlmann, H. Li and A. Munk, Seeded binary
 * segmentation, Biometrika 110, 2023: lengths n, n/sqrt 2, n/2, ..., those of one length
 * overlapping, so that every change lies well inside of an interval without another one. Of an
 * interval of L entries, split into a and b, the difference of means d has
 *
 *     t = d / sqrt(g S / (L - 2) (1/a + 1/b)),
 *
 * S the sum of squares about both means. For independent Gaussian noise and g = 1 it is Student's t
 * with L - 2 degrees of freedom. Noise of correlation r from one entry to the next (an AR(1)
 * process) makes the variance of long means larger by (1 + r) / (1 - r), which is g: for short ones
 * that is more than enough. The p-value of t times the number N of splits of all intervals bounds
 * the probability that noise alone is found to change anywhere. E-divisive means (D. Matteson and
 * N. James, JASA 109, 2014) would want permutations in that place; Hunter (M. Fleming and others,
 * ICPE 2023) has put a t-test there too, without counting how many places were tried.
 *
 * Of the intervals with a change the narrowest is taken, then those that hold its change are left
 * out, and so on (narrowest over threshold: R. Baranowski, Y. Chen and P. Fryzlewicz, JRSS B 81,
 * 2019): a wide one may hold several. A drift is no step: a straight line must leave more of the
 * interval unexplained than the two levels do. In the end every change is moved to the best place
 * between its neighbours and must stand there once more. */
#include "harness/history/change_points.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/sample.h"
#include "problems/base/memory.h"

const eb_change_options eb_change_usual = {
    .p = 1e-3, .least = 0.02, .correlation = 0.3, .shortest = 5};

/* Differences below this are rounding. */
static const double rounding = 1e-9;

typedef struct series {
  eb_change_options options;
  double inflation; /* g */
  int count;
  int *entry;            /* of the caller's series */
  double *x;             /* without outliers, about their mean */
  double *sum, *squares; /* of the first i of them; count + 1 */
  double tests;          /* N */
} series;

/* Entries [from, to), changing at `at`. */
typedef struct candidate {
  int from, to, at;
  double p; /* by N tests */
} candidate;

/* ---- logarithms without outliers ------------------------------------------------------------- */

/* Of `reach` entries before and behind, as far as there are any. */
static double running_median(const double *x, int count, int reach, int i, double *room) {
  int from = i > reach ? i - reach : 0, to = i + reach < count ? i + reach + 1 : count;
  memcpy(room, x + from, (size_t)(to - from) * sizeof *room);
  return eb_sample_median(room, (size_t)(to - from));
}

/* The scale of the residuals. Where most are 0 their mean says what the median cannot. */
static double scale_of(const double *residuals, int count, double *room) {
  static const double gaussian_median = 1.4826, gaussian_mean = 1.2533;
  for (int i = 0; i < count; i++) room[i] = fabs(residuals[i]);
  double mean = eb_sample_mean(room, (size_t)count), median = eb_sample_median(room, (size_t)count);
  return median > 0 ? gaussian_median * median : gaussian_mean * mean;
}

static eb_error hold_outliers(double *x, int count, int reach) {
  static const double most = 3;
  double *room;
  EB_TRY(EB_NEW(room, 3 * (int64_t)count));
  double *median = room + count, *residual = median + count;
  for (int i = 0; i < count; i++) {
    median[i] = running_median(x, count, reach, i, room);
    residual[i] = x[i] - median[i];
  }
  double bound = most * scale_of(residual, count, room);
  for (int i = 0; i < count; i++) x[i] = median[i] + fmax(-bound, fmin(bound, residual[i]));
  free(room);
  return EB_OK;
}

/* Sums from the first entry on, about the mean, which is returned. */
static double sum_up(series *s) {
  double mean = eb_sample_mean(s->x, (size_t)s->count);
  for (int i = 0; i < s->count; i++) {
    s->x[i] -= mean;
    s->sum[i + 1] = s->sum[i] + s->x[i];
    s->squares[i + 1] = s->squares[i] + s->x[i] * s->x[i];
  }
  return mean;
}

static eb_error take(const double *values, int count, series *s) {
  EB_TRY(EB_NEW(s->entry, count));
  EB_TRY(EB_NEW(s->x, count));
  EB_TRY(EB_NEW(s->sum, count + 1));
  EB_TRY(EB_NEW(s->squares, count + 1));
  for (int i = 0; i < count; i++) {
    if (!isfinite(values[i]) || values[i] <= 0) continue;
    s->entry[s->count] = i;
    s->x[s->count++] = log(values[i]);
  }
  if (s->count == 0) return EB_OK;
  return hold_outliers(s->x, s->count, s->options.shortest - 1);
}

/* ---- one interval ---------------------------------------------------------------------------- */

static double mean_of(const series *s, int from, int to) {
  return (s->sum[to] - s->sum[from]) / (to - from);
}

/* The sum of squares about the mean. */
static double scatter_of(const series *s, int from, int to) {
  double sum = s->sum[to] - s->sum[from];
  double scatter = s->squares[to] - s->squares[from] - sum * sum / (to - from);
  return fmax(scatter, (to - from) * rounding * rounding);
}

static double t_of(const series *s, int from, int at, int to) {
  double scatter = scatter_of(s, from, at) + scatter_of(s, at, to), freedom = to - from - 2;
  double difference = mean_of(s, at, to) - mean_of(s, from, at);
  double variance = s->inflation * scatter / freedom * (1. / (at - from) + 1. / (to - at));
  return fabs(difference) / sqrt(variance);
}

/* The split of the largest t, at least `shortest` from both ends; -1 where there is no room. */
static candidate best_split(const series *s, int from, int to) {
  candidate best = {.from = from, .to = to, .at = -1, .p = 1};
  double most = -1;
  for (int at = from + s->options.shortest; at <= to - s->options.shortest; at++) {
    double t = t_of(s, from, at, to);
    if (t > most) {
      most = t;
      best.at = at;
    }
  }
  if (best.at >= 0)
    best.p = fmin(1, s->tests * eb_sample_student_tails(most, (size_t)(to - from - 2)));
  return best;
}

/* Whether a straight line leaves more unexplained than the two levels. */
static bool beats_line(const series *s, const candidate *c) {
  int n = c->to - c->from;
  double middle = 0.5 * (n - 1), xx = n * ((double)n * n - 1) / 12, xy = 0;
  for (int i = 0; i < n; i++) xy += (i - middle) * s->x[c->from + i];
  double line = scatter_of(s, c->from, c->to) - xy * xy / xx;
  return scatter_of(s, c->from, c->at) + scatter_of(s, c->at, c->to) < line;
}

static double log_size(const series *s, const candidate *c) {
  return mean_of(s, c->at, c->to) - mean_of(s, c->from, c->at);
}

static bool stands(const series *s, const candidate *c) {
  return c->at >= 0 && c->p <= s->options.p && fabs(log_size(s, c)) >= log1p(s->options.least) &&
         beats_line(s, c);
}

/* ---- all intervals --------------------------------------------------------------------------- */

/* Calls `visit` with every seeded interval in which a split has room. */
static void each_interval(series *s, void (*visit)(series *s, int from, int to, void *context),
                          void *context) {
  double length = s->count;
  for (int layer = 0; length >= 2 * s->options.shortest; layer++, length *= M_SQRT1_2) {
    int intervals = 2 * (int)ceil(pow(M_SQRT2, layer) - 1e-9) - 1;
    double shift = intervals > 1 ? (s->count - length) / (intervals - 1) : 0;
    for (int k = 0; k < intervals; k++)
      visit(s, (int)floor(k * shift + 1e-9), (int)fmin(s->count, ceil(k * shift + length - 1e-9)),
            context);
  }
}

static void count_tests(series *s, int from, int to, void *context) {
  int *intervals = context;
  ++*intervals;
  s->tests += to - from - 2 * s->options.shortest + 1;
}

typedef struct candidates {
  candidate *items;
  int count;
} candidates;

static void look_into(series *s, int from, int to, void *context) {
  candidates *all = context;
  candidate c = best_split(s, from, to);
  if (stands(s, &c)) all->items[all->count++] = c;
}

/* Narrow ones first; of one length the clearest, then the first. */
static int by_width(const void *a, const void *b) {
  const candidate *c = a, *d = b;
  int wider = (c->to - c->from) - (d->to - d->from);
  if (wider != 0) return wider;
  if (c->p != d->p) return c->p < d->p ? -1 : 1;
  return c->from - d->from;
}

static int by_place(const void *a, const void *b) {
  return ((const candidate *)a)->at - ((const candidate *)b)->at;
}

/* Keeps, of intervals that hold each other's changes, the narrowest. */
static void choose(candidates *all) {
  int kept = 0;
  qsort(all->items, (size_t)all->count, sizeof *all->items, by_width);
  for (int i = 0; i < all->count; i++) {
    bool free_of_others = true;
    for (int k = 0; k < kept && free_of_others; k++)
      free_of_others =
          all->items[k].at <= all->items[i].from || all->items[k].at >= all->items[i].to;
    if (free_of_others) all->items[kept++] = all->items[i];
  }
  all->count = kept;
  qsort(all->items, (size_t)all->count, sizeof *all->items, by_place);
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Moves every change to the best place between its neighbours. */
static void settle(const series *s, candidates *all) {
  for (int i = 0; i < all->count; i++) {
    int from = i > 0 ? all->items[i - 1].at : 0;
    int to = i + 1 < all->count ? all->items[i + 1].at : s->count;
    all->items[i] = best_split(s, from, to);
  }
}

/* The change that stands least, by p and then by size, of those that do not stand; -1: all do. */
static int weakest(const series *s, const candidates *all) {
  int worst = -1;
  for (int i = 0; i < all->count; i++) {
    const candidate *c = &all->items[i], *w = worst < 0 ? NULL : &all->items[worst];
    if (stands(s, c)) continue;
    if (!w || c->p > w->p || (c->p == w->p && fabs(log_size(s, c)) < fabs(log_size(s, w))))
      worst = i;
  }
  return worst;
}

static void drop_fallen(const series *s, candidates *all) {
  for (;;) {
    settle(s, all);
    int fallen = weakest(s, all);
    if (fallen < 0) return;
    memmove(&all->items[fallen], &all->items[fallen + 1],
            (size_t)(all->count - fallen - 1) * sizeof *all->items);
    all->count--;
  }
}

static void describe_noise(const series *s, eb_change_points *out, double mean) {
  double squares = 0, products = 0, before = NAN;
  for (int l = 0, i = 0; l < out->level_count; l++) {
    double level = log(out->levels[l].value) - mean;
    for (int k = 0; k < out->levels[l].count; k++, i++) {
      double residual = s->x[i] - level;
      squares += residual * residual;
      if (i > 0) products += residual * before;
      before = residual;
    }
  }
  int freedom = s->count - out->level_count;
  out->noise = s->count > 2 && freedom > 0 ? sqrt(squares / freedom) : NAN;
  out->correlation = s->count > 3 && out->noise > rounding ? products / squares : NAN;
}

/* Of the last level: slope times length where a line explains what noise would not. */
static eb_error describe_drift(const series *s, int first, eb_change_points *out) {
  int count = s->count - first;
  double slope, r2, *place;
  if (count < 2 * s->options.shortest || !(out->noise > rounding)) return EB_OK;
  EB_TRY(EB_NEW(place, count));
  for (int i = 0; i < count; i++) place[i] = i;
  eb_sample_line(place, s->x + first, (size_t)count, &slope, &r2);
  free(place);
  double t = sqrt(r2 * (count - 2) / fmax(1 - r2, rounding) / s->inflation);
  double way = slope * (count - 1);
  if (eb_sample_student_tails(t, (size_t)(count - 2)) <= s->options.p &&
      fabs(way) >= log1p(s->options.least))
    out->drift = expm1(way);
  return EB_OK;
}

static eb_error describe(const series *s, const candidates *all, double mean,
                         eb_change_points *out) {
  EB_TRY(EB_NEW(out->levels, all->count + 1));
  EB_TRY(EB_NEW(out->changes, all->count));
  int from = 0;
  for (int l = 0; l <= all->count; l++) {
    int to = l < all->count ? all->items[l].at : s->count;
    out->levels[out->level_count++] = (eb_level){.first = s->entry[from],
                                                 .last = s->entry[to - 1],
                                                 .count = to - from,
                                                 .value = exp(mean + mean_of(s, from, to))};
    if (l < all->count)
      out->changes[out->change_count++] = (eb_change){
          .at = s->entry[to], .size = expm1(log_size(s, &all->items[l])), .p = all->items[l].p};
    if (l < all->count) from = to;
  }
  describe_noise(s, out, mean);
  return describe_drift(s, from, out);
}

static eb_error find(series *s, eb_change_points *out) {
  int intervals = 0;
  candidates all = {0};
  double mean = sum_up(s);
  each_interval(s, count_tests, &intervals);
  EB_TRY(EB_NEW(all.items, intervals));
  each_interval(s, look_into, &all);
  choose(&all);
  drop_fallen(s, &all);
  eb_error error = describe(s, &all, mean, out);
  free(all.items);
  return error;
}

eb_error eb_change_points_find(const double *values, int count, const eb_change_options *options,
                               eb_change_points *out) {
  *out = (eb_change_points){.noise = NAN, .correlation = NAN};
  if (!(options->p > 0 && options->p < 1) || !(options->least >= 0) || options->shortest < 2 ||
      !(options->correlation >= 0 && options->correlation < 1))
    return EB_ERROR(EB_ERR_USAGE,
                    "change points want 0 < p < 1, a least size of 0 or more, a correlation from 0 "
                    "to below 1 and levels of 2 records or more");
  series s = {.options = *options,
              .inflation = (1 + options->correlation) / (1 - options->correlation)};
  eb_error error = take(values, count, &s);
  if (!error && s.count > 0) error = find(&s, out);
  free(s.entry);
  free(s.x);
  free(s.sum);
  free(s.squares);
  return error;
}

void eb_change_points_clear(eb_change_points *points) {
  free(points->levels);
  free(points->changes);
  *points = (eb_change_points){0};
}
