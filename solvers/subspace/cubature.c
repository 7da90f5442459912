/* k-means of elements by their skinning weights.
 *
 * Seeding: k-means++ (Arthur and Vassilvitskii 2007), each further centre drawn with a probability
 * proportional to the squared distance from the nearest one. Iterations: Lloyd's, with Hamerly's
 * bounds (2010): an element whose distance to its own mean is below half that mean's distance to
 * the nearest other one keeps its cluster unseen, and so does one whose upper bound is below the
 * lower bound to all others. Seeding passes over elements whose centre is at least twice as far
 * from the new one as from them. All give what the plain loop gives. Features are floats: they only
 * choose representatives; a search through all centres takes them 32 at a time, from a copy that
 * has their entries side by side. Elements are drawn, summed and told apart in the order of
 * their places (places.h): a body has the same points however it is numbered. */
#include "solvers/subspace/cubature.h"

#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/random.h"
#include "problems/mesh/places.h"

#include <math.h>
#include <string.h>

enum { LANES = 32 }; /* four vectors: enough sums under way at once */
typedef float lanes __attribute__((vector_size(LANES / 4 * sizeof(float))));
typedef int32_t mask __attribute__((vector_size(LANES / 4 * sizeof(int32_t))));

typedef struct clustering {
  int32_t elements, clusters, features;
  int32_t *order; /* the elements by place: all below counts them so */
  float *feature; /* elements x features */
  float *centre;  /* clusters x features */
  lanes *aside;   /* the centres again: strips of LANES clusters, x features x 4 */
  double *sum;    /* clusters x features */
  double *volume; /* elements */
  double *filled; /* clusters: volume */
  int32_t *of;    /* elements: cluster */
  float *upper;   /* elements: at least the distance to the own centre */
  float *lower;   /* elements: at most the distance to any other */
  float *apart;   /* clusters: half the distance to the nearest other centre */
  float *moved;   /* clusters: how far the centre went */
} clustering;

static float distance2(const clustering *c, const float *a, const float *b) {
  float sum = 0;
  for (int32_t k = 0; k < c->features; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

static const float *feature_of(const clustering *c, int32_t e) {
  return c->feature + (int64_t)e * c->features;
}

static float *centre_of(const clustering *c, int32_t k) {
  return c->centre + (int64_t)k * c->features;
}

/* `value` to a whole number of units: what differs by rounding is the same then, so that elements
 * which mirror each other are as far from a centre, and their order alone tells them apart. */
static double settle(double value, double unit) {
  return unit > 0 ? unit * nearbyint(value / unit) : value;
}

/* The power of two that is 2^-bits of what is at least as large as `most`. */
static double unit_of(double most, int bits) {
  int exponent;
  frexp(most, &exponent);
  return most > 0 && isfinite(most) ? ldexp(1, exponent - bits) : 0;
}

/* Values at the centres of the elements over the squares of their eigenvalues, these in units of
 * the lowest that is not 0. Eigenvectors are the same to some ten digits when a mesh is numbered
 * otherwise; values are kept to five of their largest. */
static void make_features(clustering *c, const eb_mesh *mesh, const eb_skinning *s) {
  enum { KEPT_BITS = 16, KEPT_BITS_OF_RATIO = 20 };
  int32_t corners = (int32_t)mesh->type, axes = s->axes;
  int32_t first = s->modes - c->features / axes;
#pragma omp parallel for schedule(static)
  for (int32_t e = 0; e < c->elements; e++)
    c->volume[e] = eb_mesh_element_volume(mesh, mesh->X, c->order[e]);
#pragma omp parallel for schedule(static)
  for (int32_t k = 0; k < c->features; k++) {
    int32_t mode = first + k / axes;
    const double *w = s->weight + (int64_t)mode * axes * s->nodes + k % axes;
    double ratio = s->eigenvalue ? s->eigenvalue[mode] / s->eigenvalue[first] : 1, most = 0;
    for (int64_t i = 0; i < s->nodes; i++) most = fmax(most, fabs(w[axes * i]));
    double unit = unit_of(most, KEPT_BITS);
    ratio = settle(ratio, unit_of(ratio, KEPT_BITS_OF_RATIO));
    for (int32_t e = 0; e < c->elements; e++) {
      const int32_t *node = mesh->elements + (int64_t)c->order[e] * corners;
      double mean = 0;
      for (int32_t a = 0; a < corners; a++) mean += w[(int64_t)axes * node[a]] / corners;
      c->feature[(int64_t)e * c->features + k] = (float)(settle(mean, unit) / (ratio * ratio));
    }
  }
}

/* Squared distances from `at` to the LANES centres of a strip; those behind the last are far. Not
 * all of their features are looked at once none of them can be below `enough`: features come by
 * falling weight, so that the first few tell nearly all centres of a body from an element. */
static inline void distances(const clustering *c, const float *at, int32_t strip, float enough,
                             float *to) {
  enum { LOOK = 4 };
  const lanes *centre = c->aside + (int64_t)strip * c->features * 4;
  lanes sum[4] = {{0}};
  for (int32_t begin = 0; begin < c->features; begin += LOOK) {
    int32_t end = begin + LOOK < c->features ? begin + LOOK : c->features;
    for (int32_t k = begin; k < end; k++)
      for (int l = 0; l < 4; l++)
        sum[l] += (at[k] - centre[4 * k + l]) * (at[k] - centre[4 * k + l]);
    mask below = (sum[0] < enough) | (sum[1] < enough) | (sum[2] < enough) | (sum[3] < enough);
    int32_t any = 0;
    for (int i = 0; i < LANES / 4; i++) any |= below[i];
    if (!any) break;
  }
  memcpy(to, sum, sizeof sum);
  for (int32_t l = c->clusters - strip * LANES; l < LANES; l++) to[l] = INFINITY;
}

static void set_aside(clustering *c) {
  for (int32_t k = 0; k < c->clusters; k++)
    for (int32_t f = 0; f < c->features; f++)
      c->aside[4 * ((int64_t)(k / LANES) * c->features + f) + k % LANES / 8][k % 8] =
          centre_of(c, k)[f];
}

/* Centres by k-means++; c->upper serves for the squared distances to the nearest so far, which is
 * c->of. */
static void seed_centres(clustering *c, uint64_t seed) {
  int32_t chosen = (int32_t)eb_random_uniform(&seed, 0, c->elements);
  for (int32_t e = 0; e < c->elements; e++) c->upper[e] = INFINITY;
  for (int32_t k = 0;; k++) {
    memcpy(centre_of(c, k), feature_of(c, chosen), (size_t)c->features * sizeof(float));
    if (k + 1 == c->clusters) break;
    for (int32_t j = 0; j < k; j++) c->apart[j] = distance2(c, centre_of(c, j), centre_of(c, k));
#pragma omp parallel for schedule(static)
    for (int32_t e = 0; e < c->elements; e++) {
      if (k > 0 && c->apart[c->of[e]] > 4.001f * c->upper[e]) continue;
      float to = distance2(c, feature_of(c, e), centre_of(c, k));
      if (to >= c->upper[e]) continue;
      c->upper[e] = to;
      c->of[e] = k;
    }
    double total = 0, up_to = 0;
    for (int32_t e = 0; e < c->elements; e++) total += (double)c->upper[e] * c->volume[e];
    double draw = eb_random_uniform(&seed, 0, total);
    for (chosen = 0; chosen + 1 < c->elements; chosen++) {
      up_to += (double)c->upper[chosen] * c->volume[chosen];
      if (up_to > draw) break;
    }
  }
}

/* The nearest centre of element e, whose bounds become exact. */
static void assign(clustering *c, int32_t e) {
  const float *at = feature_of(c, e);
  float best = INFINITY, second = INFINITY;
  for (int32_t k = 0; k < c->clusters; k += LANES) {
    float to[LANES], nearest = INFINITY;
    distances(c, at, k / LANES, second, to);
    for (int l = 0; l < LANES; l++) nearest = to[l] < nearest ? to[l] : nearest;
    for (int l = 0; l < LANES && nearest < second; l++)
      if (to[l] < best) {
        second = best;
        best = to[l];
        c->of[e] = k + l;
      } else if (to[l] < second) {
        second = to[l];
      }
  }
  c->upper[e] = sqrtf(best);
  c->lower[e] = sqrtf(second);
}

/* Means of the clusters, and how far each went. */
static void move_centres(clustering *c) {
  memset(c->sum, 0, (size_t)c->clusters * (size_t)c->features * sizeof *c->sum);
  memset(c->filled, 0, (size_t)c->clusters * sizeof *c->filled);
  for (int32_t e = 0; e < c->elements; e++) {
    double *sum = c->sum + (int64_t)c->of[e] * c->features;
    const float *at = feature_of(c, e);
    c->filled[c->of[e]] += c->volume[e];
    for (int32_t k = 0; k < c->features; k++) sum[k] += c->volume[e] * (double)at[k];
  }
  for (int32_t k = 0; k < c->clusters; k++) {
    float *centre = centre_of(c, k), square = 0;
    for (int32_t f = 0; f < c->features && c->filled[k] > 0; f++) {
      float mean = (float)(c->sum[(int64_t)k * c->features + f] / c->filled[k]);
      square += (mean - centre[f]) * (mean - centre[f]);
      centre[f] = mean;
    }
    c->moved[k] = sqrtf(square);
  }
}

/* An empty cluster begins anew at the element that is farthest from its own mean, which it takes.
 */
static bool refill(clustering *c) {
  bool any = false;
  for (int32_t k = 0; k < c->clusters; k++) {
    if (c->filled[k] > 0) continue;
    int32_t farthest = 0;
    for (int32_t e = 1; e < c->elements; e++)
      if (c->upper[e] > c->upper[farthest]) farthest = e;
    memcpy(centre_of(c, k), feature_of(c, farthest), (size_t)c->features * sizeof(float));
    c->filled[c->of[farthest]] -= c->volume[farthest];
    c->filled[k] = c->volume[farthest];
    c->of[farthest] = k;
    c->upper[farthest] = c->lower[farthest] = 0;
    any = true;
  }
  return any;
}

/* One iteration; how many elements have changed their cluster. */
static int32_t iterate(clustering *c) {
  move_centres(c);
  bool refilled = refill(c);
  float farthest = 0;
  set_aside(c);
  for (int32_t k = 0; k < c->clusters; k++) farthest = fmaxf(farthest, c->moved[k]);
#pragma omp parallel for schedule(dynamic, 8)
  for (int32_t k = 0; k < c->clusters; k++) {
    float to[LANES], nearest = INFINITY;
    for (int32_t j = 0; j < c->clusters; j++) {
      if (j % LANES == 0) distances(c, centre_of(c, k), j / LANES, nearest, to);
      if (j != k) nearest = fminf(nearest, to[j % LANES]);
    }
    c->apart[k] = 0.5f * sqrtf(nearest);
  }
  int32_t changed = 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(+ : changed)
  for (int32_t e = 0; e < c->elements; e++) {
    int32_t before = c->of[e];
    c->upper[e] += c->moved[before];
    c->lower[e] -= farthest;
    float bound = fmaxf(c->lower[e], c->apart[before]);
    if (!refilled && c->upper[e] * 1.0001f < bound) continue;
    c->upper[e] = sqrtf(distance2(c, feature_of(c, e), centre_of(c, before)));
    if (!refilled && c->upper[e] * 1.0001f < bound) continue;
    assign(c, e);
    changed += c->of[e] != before;
  }
  return changed;
}

typedef struct point {
  int32_t element;
  double weight;
} point;

static int compare_points(const void *a, const void *b) {
  const point *x = a, *y = b;
  return (x->element > y->element) - (x->element < y->element);
}

/* Sums of the clusters over their elements, each by its volume over its distance to the centre; the
 * distance is that beside `blur` times the radius of the cluster. */
static void sum_by_nearness(clustering *c, const double *radius, double blur) {
  memset(c->sum, 0, (size_t)c->clusters * (size_t)c->features * sizeof *c->sum);
  memset(c->filled, 0, (size_t)c->clusters * sizeof *c->filled);
  for (int32_t e = 0; e < c->elements; e++) {
    int32_t k = c->of[e];
    const float *at = feature_of(c, e);
    double away2 = (double)distance2(c, at, centre_of(c, k)), least = blur * radius[k] + 1e-30;
    double share = c->volume[e] / sqrt(away2 + least * least);
    c->filled[k] += share;
    for (int32_t f = 0; f < c->features; f++)
      c->sum[(int64_t)k * c->features + f] += share * (double)at[f];
  }
}

/* The largest distance of an element of each cluster from its centre. */
static void find_radii(const clustering *c, double *radius) {
  for (int32_t e = 0; e < c->elements; e++) {
    double away = sqrt((double)distance2(c, feature_of(c, e), centre_of(c, c->of[e])));
    if (away > radius[c->of[e]]) radius[c->of[e]] = away;
  }
}

/* Centres from the clusters' means to their geometric medians, the least sum of distances instead
 * of their squares: Weiszfeld's iteration, blurred less and less, since it would stay at an element
 * that a mean happens to meet. */
static eb_error take_medians(clustering *c) {
  enum { WEISZFELD = 40 };
  double *radius, blur = 1;
  EB_TRY(EB_NEW(radius, c->clusters));
  find_radii(c, radius);
  for (int i = 0; i < WEISZFELD; i++, blur *= 0.7) {
    sum_by_nearness(c, radius, blur);
    for (int32_t k = 0; k < c->clusters; k++)
      for (int32_t f = 0; f < c->features && c->filled[k] > 0; f++)
        centre_of(c, k)[f] = (float)(c->sum[(int64_t)k * c->features + f] / c->filled[k]);
  }
  memset(c->filled, 0, (size_t)c->clusters * sizeof *c->filled);
  for (int32_t e = 0; e < c->elements; e++) c->filled[c->of[e]] += c->volume[e];
  free(radius);
  return EB_OK;
}

/* Clusters stay empty where elements mirror each other and have the same features: such a one takes
 * the next element of the largest, and half of its volume. */
static void split_largest(clustering *c, int32_t *nearest, int32_t empty) {
  int32_t from = -1, found = -1;
  float least = 0;
  for (int32_t e = 0; e < c->elements; e++) {
    int32_t k = c->of[e];
    if (e == nearest[k]) continue;
    float own = distance2(c, feature_of(c, e), centre_of(c, k));
    bool larger = from < 0 || c->filled[k] > c->filled[from];
    if (!larger && !(k == from && own < least)) continue;
    from = k;
    found = e;
    least = own;
  }
  if (found < 0) return;
  c->filled[empty] = c->filled[from] *= 0.5;
  c->of[found] = empty;
  nearest[empty] = found;
}

/* The element nearest to each centre, with the cluster's volume. */
static eb_error choose_points(clustering *c, eb_cubature *out) {
  EB_FREED int32_t *nearest = NULL;
  EB_FREED point *points = NULL;
  EB_TRY(EB_NEW(nearest, c->clusters));
  EB_TRY(EB_NEW(points, c->clusters));
  for (int32_t k = 0; k < c->clusters; k++) nearest[k] = -1;
  for (int32_t e = 0; e < c->elements; e++) {
    int32_t k = c->of[e];
    float own = distance2(c, feature_of(c, e), centre_of(c, k));
    if (nearest[k] < 0 || own < distance2(c, feature_of(c, nearest[k]), centre_of(c, k)))
      nearest[k] = e;
  }
  for (int32_t k = 0; k < c->clusters; k++)
    if (nearest[k] < 0) split_largest(c, nearest, k);
  for (int32_t k = 0; k < c->clusters; k++)
    if (nearest[k] >= 0) points[out->count++] = (point){c->order[nearest[k]], c->filled[k]};
  qsort(points, (size_t)out->count, sizeof *points, compare_points);
  for (int32_t i = 0; i < out->count; i++) {
    out->element[i] = points[i].element;
    out->weight[i] = points[i].weight;
  }
  return EB_OK;
}

static eb_error cluster(clustering *c, const eb_mesh *mesh, const eb_skinning *skinning,
                        const eb_clustering_choice *choice, eb_cubature *out) {
  size_t elements = (size_t)c->elements, clusters = (size_t)c->clusters;
  size_t features = (size_t)c->features;
  EB_TRY(EB_NEW(c->order, elements));
  EB_TRY(eb_mesh_elements_by_place(mesh, c->order));
  EB_TRY(EB_NEW(c->feature, elements * features));
  EB_TRY(EB_NEW(c->centre, clusters * features));
  EB_TRY(EB_NEW(c->aside, (clusters / LANES + 1) * features * 4));
  EB_TRY(EB_NEW(c->sum, clusters * features));
  EB_TRY(EB_NEW(c->volume, elements));
  EB_TRY(EB_NEW(c->filled, clusters));
  EB_TRY(EB_NEW(c->of, elements));
  EB_TRY(EB_NEW(c->upper, elements));
  EB_TRY(EB_NEW(c->lower, elements));
  EB_TRY(EB_NEW(c->apart, clusters));
  EB_TRY(EB_NEW(c->moved, clusters));
  make_features(c, mesh, skinning);
  seed_centres(c, choice->seed);
  set_aside(c);
#pragma omp parallel for schedule(dynamic, 1024)
  for (int32_t e = 0; e < c->elements; e++) assign(c, e);
  for (int i = 0; i < choice->iterations && iterate(c) > 0;) i++;
  move_centres(c);
  refill(c);
  if (choice->medians) EB_TRY(take_medians(c));
  return choose_points(c, out);
}

eb_error eb_cubature_create(const eb_mesh *mesh, const eb_skinning *skinning,
                            const eb_clustering_choice *choice, eb_cubature *out) {
  int32_t count = choice->count;
  bool all = choice->all;
  *out = (eb_cubature){0};
  clustering c = {.elements = mesh->element_count,
                  .clusters = all || count > mesh->element_count ? mesh->element_count : count};
  /* Without pins the first weight is constant: its eigenvalue is rounding beside the second. */
  const double *gamma = skinning->eigenvalue;
  for (int32_t k = 0; k < skinning->modes; k++)
    if (!gamma || gamma[k] > 1e-6 * gamma[skinning->modes - 1]) c.features += skinning->axes;
  eb_error error = EB_NEW(out->element, c.clusters);
  if (!error) error = EB_NEW(out->weight, c.clusters);
  all = all || c.clusters == c.elements || c.features == 0;
  if (!error && c.clusters < 1) error = EB_ERROR(EB_ERR_USAGE, "cubature needs a point");
  if (!error && all) {
    /* One mode that is constant tells nothing apart: then all elements are alike, and all serve. */
    free(out->element);
    free(out->weight);
    *out = (eb_cubature){.count = c.elements};
    error = EB_NEW(out->element, c.elements);
    if (!error) error = EB_NEW(out->weight, c.elements);
    for (int32_t e = 0; !error && e < c.elements; e++) {
      out->element[e] = e;
      out->weight[e] = eb_mesh_element_volume(mesh, mesh->X, e);
    }
  } else if (!error) {
    error = cluster(&c, mesh, skinning, choice, out);
  }
  void *const owned[] = {c.order,  c.feature, c.centre, c.aside, c.sum,   c.volume,
                         c.filled, c.of,      c.upper,  c.lower, c.apart, c.moved};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  if (error) eb_cubature_clear(out);
  return error;
}

void eb_cubature_clear(eb_cubature *cubature) {
  free(cubature->element);
  free(cubature->weight);
  *cubature = (eb_cubature){0};
}
