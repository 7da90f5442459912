/* Clusters of nodes; the energy stands in clusters.h.
 *
 * With p_a = x_a - xm and A = sum p_a q_a^T = U diag(s) V^T, det U = det V = 1, s0 >= s1 >= |s2|,
 * the rotation is R = U V^T and U(x) = k/2 (sum |p|^2 + |q|^2 - 2 (s0 + s1 + s2)). R being the best
 * one, its change does not enter dU/dx. With dA = sum dx_a q_a^T and X = U^T dA V it is
 * dR = U W V^T, W_ij = (X_ij - X_ji) / (s_i + s_j), so that
 *
 *   d2U = k (sum |dp_a|^2 - dR : dA) = k (sum |dp_a|^2 - sum over i < j of
 *                                         (X_ij - X_ji)^2 / (s_i + s_j)).
 *
 * What is taken off has rank three: it is sum_m (sum_a (B_m q_a) . dx_a)^2 with B_m = (U_i V_j^T -
 * U_j V_i^T) / sqrt(s_i + s_j). Since sum q_a = 0, these directions are free of the mean, as dp is,
 * and d2U is positive semi-definite where none of the eigenvalues of their Gram matrix, tr(B_m J
 * B_n^T), J = sum q q^T, is above 1. Larger ones are cut to 1 by `project`.
 *
 * R is not unique where s_1 + s_2 = 0 (an inverted cluster between two ways back; one that is in a
 * line, where the last plane has no part in U). There the second derivative is -infinity, or 0 / 0,
 * and s_i + s_j counts as 1e-8 of tr J. */
#include "problems/clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/svd3.h"
#include "problems/mesh/faces.h"

enum { LINK = 2 };
static const double least_spread = 1e-8; /* of s_i + s_j over tr J, and of a link's length over L */

/* ---- of a scene ------------------------------------------------------------------------------ */

static eb_error check_cluster(const eb_scene *scene, int32_t count, const int32_t *node,
                              double stiffness) {
  if (count < LINK)
    return EB_ERROR(EB_ERR_INVALID, "a cluster of %d nodes; it takes two at least", count);
  if (!(stiffness >= 0 && isfinite(stiffness)))
    return EB_ERROR(EB_ERR_INVALID, "a cluster has a stiffness of %g N/m; it is to be at least 0",
                    stiffness);
  for (int32_t a = 0; a < count; a++) {
    if (node[a] < 0 || node[a] >= scene->mesh->node_count)
      return EB_ERROR(EB_ERR_INVALID, "a cluster is to hold node %d, but nodes are 0 to %d",
                      node[a], scene->mesh->node_count - 1);
    for (int32_t b = 0; b < a; b++)
      if (node[a] == node[b])
        return EB_ERROR(EB_ERR_INVALID, "a cluster is to hold node %d twice", node[a]);
  }
  return EB_OK;
}

static size_t room_for(size_t count) {
  size_t room = 1;
  while (room < count) room *= 2;
  return room;
}

/* Arrays double when they are full. */
static eb_error grow(void **array, size_t size, size_t before, size_t after) {
  if (*array && room_for(before) == room_for(after)) return EB_OK;
  void *grown = eb_recalloc(*array, *array ? before : 0, room_for(after), size);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %zu entries of clusters", after);
  *array = grown;
  return EB_OK;
}

/* The mean of the nodes' places. */
static void mean_of(int32_t count, const int32_t *node, const double *x, double mean[3]) {
  double sum[3] = {0};
  for (int32_t a = 0; a < count; a++) eb_add3(1, x + 3 * (int64_t)node[a], sum);
  for (int d = 0; d < 3; d++) mean[d] = sum[d] / count;
}

eb_error eb_scene_add_cluster(eb_scene *scene, int32_t count, const int32_t *node,
                              double stiffness) {
  eb_cluster_set *set = &scene->clusters;
  EB_TRY(check_cluster(scene, count, node, stiffness));
  const double *X = scene->mesh->X;
  size_t clusters = (size_t)set->count, first = set->start ? (size_t)set->start[clusters] : 0,
         last = first + (size_t)count;
  if (last > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT, "clusters of more than %d nodes in all", INT32_MAX);
  EB_TRY(grow((void **)&set->start, sizeof *set->start, clusters + 1, clusters + 2));
  EB_TRY(grow((void **)&set->stiffness, sizeof *set->stiffness, clusters, clusters + 1));
  EB_TRY(grow((void **)&set->node, sizeof *set->node, first, last));
  EB_TRY(grow((void **)&set->rest, 3 * sizeof *set->rest, first, last));
  double mean[3], size2 = 0, *q = set->rest + 3 * first;
  mean_of(count, node, X, mean);
  for (size_t a = 0; a < (size_t)count; a++) {
    for (size_t d = 0; d < 3; d++) q[3 * a + d] = X[3 * (size_t)node[a] + d] - mean[d];
    size2 += eb_dot3(q + 3 * a, q + 3 * a);
  }
  if (!(size2 > 0))
    return EB_ERROR(EB_ERR_INVALID,
                    "the nodes of a cluster, %d and %d among them, are in one place", node[0],
                    node[1]);
  memcpy(set->node + first, node, (size_t)count * sizeof *node);
  set->stiffness[clusters] = stiffness;
  set->start[++set->count] = (int32_t)last;
  return EB_OK;
}

eb_error eb_scene_add_link(eb_scene *scene, int32_t i, int32_t j, double stiffness) {
  return eb_scene_add_cluster(scene, LINK, (const int32_t[]){i, j}, LINK * stiffness);
}

/* Every edge of every element, as two nodes in ascending order: those around the faces, or the
 * faces themselves where these are edges. */
static eb_error list_edges(const eb_mesh *mesh, int32_t **edges, int32_t *count) {
  const eb_face_table *table = eb_face_table_of(mesh->type);
  int around = table->nodes > LINK ? table->nodes : 1;
  int64_t most = (int64_t)mesh->element_count * table->count * around;
  int32_t *edge;
  if (most > INT32_MAX) return EB_ERROR(EB_ERR_LIMIT, "more than %d edges to link", INT32_MAX);
  EB_TRY(EB_NEW(*edges, 2 * most));
  edge = *edges;
  *count = (int32_t)most;
  for (int32_t face = 0; face < mesh->element_count * table->count; face++) {
    int32_t node[4];
    eb_face_nodes(mesh, face, node);
    for (int k = 0; k < around; k++, edge += 2) {
      edge[0] = node[k];
      edge[1] = node[(k + 1) % table->nodes];
      eb_tuple_sort(edge, LINK);
    }
  }
  return EB_OK;
}

eb_error eb_scene_link_edges(eb_scene *scene, double stiffness) {
  int32_t *edges = NULL, *order = NULL, count = 0;
  EB_TRY(list_edges(scene->mesh, &edges, &count));
  eb_error error = eb_tuples_order(edges, LINK, count, scene->mesh->node_count, &order);
  for (int32_t k = 0; !error && k < count; k++) {
    const int32_t *edge = edges + 2 * (int64_t)order[k];
    if (k > 0 && !eb_tuple_compare(edge, edges + 2 * (int64_t)order[k - 1], LINK)) continue;
    error = eb_scene_add_link(scene, edge[0], edge[1], stiffness);
  }
  free(order);
  free(edges);
  return error;
}

eb_error eb_scene_match_elements(eb_scene *scene, double stiffness) {
  const eb_mesh *mesh = scene->mesh;
  for (int32_t e = 0; e < mesh->element_count; e++)
    EB_TRY(eb_scene_add_cluster(scene, (int32_t)mesh->type,
                                mesh->elements + (int64_t)e * (int32_t)mesh->type, stiffness));
  return EB_OK;
}

/* Of a scene without a pattern it has been asked where there is one (problems/reference_scene.h).
 */
eb_error eb_clusters_check(const eb_scene *scene) {
  const eb_cluster_set *set = &scene->clusters;
  const eb_block_matrix *pattern = eb_elasticity_pattern(scene->elasticity);
  if (!pattern) return EB_OK;
  for (int32_t c = 0; c < set->count; c++)
    for (int32_t a = set->start[c]; a < set->start[c + 1]; a++)
      for (int32_t b = set->start[c]; b < a; b++)
        if (eb_block_matrix_find(pattern, set->node[a], set->node[b]) < 0)
          return EB_ERROR(EB_ERR_INVALID,
                          "nodes %d and %d of cluster %d share no element; every two of a cluster "
                          "are to",
                          set->node[b], set->node[a], c);
  return EB_OK;
}

uint64_t eb_clusters_hash(const eb_cluster_set *set, uint64_t hash) {
  if (set->count == 0) return hash;
  size_t count = (size_t)set->count;
  hash = eb_hash(hash, set->start, (count + 1) * sizeof *set->start);
  hash = eb_hash(hash, set->node, (size_t)set->start[count] * sizeof *set->node);
  return eb_hash(hash, set->stiffness, count * sizeof *set->stiffness);
}

void eb_cluster_set_clear(eb_cluster_set *set) {
  free(set->start);
  free(set->node);
  free(set->stiffness);
  free(set->rest);
  *set = (eb_cluster_set){0};
}

/* ---- one cluster ----------------------------------------------------------------------------- */

/* One of the clusters. */
typedef struct cluster {
  int32_t count, first; /* nodes, and where they begin in the set */
  const int32_t *node;
  const double *q;  /* count x 3, m */
  double stiffness; /* N/m */
} cluster;

static cluster cluster_of(const eb_clusters *clusters, int32_t c) {
  const eb_cluster_set *set = clusters->set;
  int32_t first = set->start[c];
  return (cluster){.count = set->start[c + 1] - first,
                   .first = first,
                   .node = set->node + first,
                   .q = set->rest + 3 * (int64_t)first,
                   .stiffness = set->stiffness[c]};
}

/* The way from one place to another: y_i - y_j. */
static void way_of(const double *yi, const double *yj, double way[3]) {
  for (int d = 0; d < 3; d++) way[d] = yi[d] - yj[d];
}

/* A link by its length: along its direction, at length 0 the one at rest. */
typedef struct link_state {
  double along[3];        /* unit vector from the second node to the first */
  double length, length0; /* m */
} link_state;

static link_state link_at(const cluster *c, const double *x) {
  link_state at;
  double rest[3];
  way_of(x + 3 * (int64_t)c->node[0], x + 3 * (int64_t)c->node[1], at.along);
  way_of(c->q, c->q + 3, rest);
  at.length = sqrt(eb_dot3(at.along, at.along));
  at.length0 = sqrt(eb_dot3(rest, rest));
  for (int d = 0; d < 3; d++)
    at.along[d] = at.length == 0 ? rest[d] / at.length0 : at.along[d] / at.length;
  return at;
}

/* Four clusters of more than two nodes, one a lane; lanes behind the last repeat it. */
typedef struct batch {
  int count;
  int32_t number[EB_LANES];
  cluster lane[EB_LANES];
} batch;

static int32_t batch_count(const eb_clusters *clusters) {
  return (clusters->set->count - clusters->links + EB_LANES - 1) / EB_LANES;
}

static batch batch_of(const eb_clusters *clusters, int32_t b) {
  batch out = {0};
  int32_t first = clusters->links + EB_LANES * b, last = clusters->set->count - 1;
  for (int l = 0; l < EB_LANES; l++) {
    out.count += first + l <= last;
    out.number[l] = clusters->order[first + l <= last ? first + l : last];
    out.lane[l] = cluster_of(clusters, out.number[l]);
  }
  return out;
}

/* A = sum (x_a - xm) q_a^T, m^2, and the means. */
static void moments(const batch *b, const double *x, eb_v4 A[9], double mean[EB_LANES][3]) {
  for (int i = 0; i < 9; i++) A[i] = eb_v4_set(0);
  for (int l = 0; l < EB_LANES; l++) {
    const cluster *c = &b->lane[l];
    mean_of(c->count, c->node, x, mean[l]);
    for (int32_t a = 0; a < c->count; a++) {
      double p[3];
      way_of(x + 3 * (int64_t)c->node[a], mean[l], p);
      for (int i = 0; i < 9; i++) A[i][l] += p[i / 3] * c->q[3 * (int64_t)a + i % 3];
    }
  }
}

/* ---- energy and forces ----------------------------------------------------------------------- */

static void pull_link(const eb_clusters *clusters, int32_t number, const double *x) {
  const cluster c = cluster_of(clusters, number);
  const link_state at = link_at(&c, x);
  double stretch = at.length - at.length0, *f = clusters->force + 3 * (int64_t)c.first;
  for (int d = 0; d < 3; d++) {
    f[d] = 0.5 * c.stiffness * stretch * at.along[d];
    f[3 + d] = -f[d];
  }
  clusters->energy[number] = 0.25 * c.stiffness * stretch * stretch;
}

static void match_shapes(const eb_clusters *clusters, int32_t number, const double *x) {
  const batch b = batch_of(clusters, number);
  eb_v4 A[9], R[9];
  double mean[EB_LANES][3];
  moments(&b, x, A, mean);
  eb_polar3(A, R);
  for (int l = 0; l < b.count; l++) {
    const cluster *c = &b.lane[l];
    double turn[9], square = 0, *f = clusters->force + 3 * (int64_t)c->first;
    for (int i = 0; i < 9; i++) turn[i] = R[i][l];
    for (int32_t a = 0; a < c->count; a++, f += 3) {
      double turned[3];
      eb_turn3(turn, c->q + 3 * (int64_t)a, turned);
      for (int d = 0; d < 3; d++) {
        double off = x[3 * (int64_t)c->node[a] + d] - mean[l][d] - turned[d];
        f[d] = c->stiffness * off;
        square += off * off;
      }
    }
    clusters->energy[b.number[l]] = 0.5 * c->stiffness * square;
  }
}

/* Energy and force of each cluster by itself. */
static void evaluate(const eb_clusters *clusters, const double *x) {
  int32_t batches = batch_count(clusters);
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int32_t k = 0; k < clusters->links; k++) pull_link(clusters, clusters->order[k], x);
#pragma omp for schedule(static)
    for (int32_t b = 0; b < batches; b++) match_shapes(clusters, b, x);
  }
}

double eb_clusters_energy(const eb_clusters *clusters, const double *x) {
  double sum = 0;
  if (clusters->set->count == 0) return 0;
  evaluate(clusters, x);
  for (int32_t c = 0; c < clusters->set->count; c++) sum += clusters->energy[c];
  return sum;
}

double eb_clusters_gradient(const eb_clusters *clusters, const double *x, double *g) {
  const eb_cluster_set *set = clusters->set;
  double sum = eb_clusters_energy(clusters, x);
  for (int64_t k = 0; set->count > 0 && k < set->start[set->count]; k++)
    eb_add3(1, clusters->force + 3 * k, g + 3 * (int64_t)set->node[k]);
  return sum;
}

double eb_clusters_held_force(const eb_clusters *clusters, const uint8_t *fixed, const double *x) {
  double squares = 0;
  if (clusters->set->count == 0) return 0;
  evaluate(clusters, x);
  for (int32_t number = 0; number < clusters->set->count; number++) {
    const cluster c = cluster_of(clusters, number);
    const double *f = clusters->force + 3 * (int64_t)c.first;
    double of_free = 0;
    int32_t held = 0;
    for (int32_t a = 0; a < c.count; a++, f += 3) {
      held += fixed[c.node[a]] != 0;
      if (!fixed[c.node[a]]) of_free += eb_dot3(f, f);
    }
    if (held > 0) squares += of_free;
  }
  return sqrt(squares);
}

double eb_clusters_scale(const eb_clusters *clusters) {
  double sum = 0;
  for (int32_t number = 0; number < clusters->set->count; number++) {
    const cluster c = cluster_of(clusters, number);
    for (int32_t a = 0; a < c.count; a++)
      sum += 0.5 * c.stiffness * eb_dot3(c.q + 3 * (int64_t)a, c.q + 3 * (int64_t)a);
  }
  return sum;
}

/* ---- matrices -------------------------------------------------------------------------------- */

static double *block_at(const eb_block_matrix *A, const cluster *c, int32_t a, int32_t b) {
  return A->values + 9 * (int64_t)eb_block_matrix_find(A, c->node[a], c->node[b]);
}

/* k/2 (n n^T + (1 - L/l) (I - n n^T)) of the way between the nodes. */
static void add_link(const eb_clusters *clusters, int32_t number, const double *x, double scale,
                     bool project, eb_block_matrix *A) {
  const cluster c = cluster_of(clusters, number);
  const link_state at = link_at(&c, x);
  double across = 1 - at.length0 / fmax(at.length, least_spread * at.length0);
  if (project) across = fmax(across, 0);
  for (int k = 0; k < 4; k++) {
    double *block = block_at(A, &c, k / 2, k % 2);
    double half = scale * (k / 2 == k % 2 ? 0.5 : -0.5) * c.stiffness;
    for (int i = 0; i < 9; i++)
      block[i] += half * ((1 - across) * at.along[i / 3] * at.along[i % 3] + across * (i % 4 == 0));
  }
}

/* Turns the B_m so that they are orthogonal, and shortens those beyond 1. */
static void cut_modes(const double J[9], double B[3][9]) {
  static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  double BJ[3][9], turned[3][9] = {{0}};
  eb_v4 gram[6], l[3], Q[9];
  for (int m = 0; m < 3; m++) eb_multiply3(B[m], J, BJ[m]);
  for (int k = 0; k < 6; k++) {
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += BJ[pair[k][0]][i] * B[pair[k][1]][i];
    gram[k] = eb_v4_set(sum);
  }
  eb_eigen3(gram, l, Q);
  for (int m = 0; m < 3; m++) {
    double size = l[m][0] > 1 ? 1 / sqrt(l[m][0]) : 1;
    for (int n = 0; n < 3; n++)
      for (int i = 0; i < 9; i++) turned[m][i] += size * Q[3 * n + m][0] * B[n][i];
  }
  memcpy(B, turned, sizeof turned);
}

/* B_m of one lane. */
static void turning_modes(const cluster *c, int lane, const eb_v4 U[9], const eb_v4 s[3],
                          const eb_v4 V[9], bool project, double B[3][9]) {
  double J[9] = {0};
  for (int32_t a = 0; a < c->count; a++)
    for (int i = 0; i < 9; i++) J[i] += c->q[3 * (int64_t)a + i / 3] * c->q[3 * (int64_t)a + i % 3];
  double least = least_spread * (J[0] + J[4] + J[8]);
  for (int m = 0; m < 3; m++) {
    int i = (m + 1) % 3, j = (m + 2) % 3;
    double root = sqrt(fmax(s[i][lane] + s[j][lane], least));
    for (int k = 0; k < 9; k++)
      B[m][k] = (U[k / 3 * 3 + i][lane] * V[k % 3 * 3 + j][lane] -
                 U[k / 3 * 3 + j][lane] * V[k % 3 * 3 + i][lane]) /
                root;
  }
  if (project) cut_modes(J, B);
}

/* k ((delta_ab - 1/n) I - sum_m (B_m q_a) (B_m q_b)^T) */
static void add_shape(const cluster *c, double B[3][9], double scale, eb_block_matrix *A) {
  for (int32_t a = 0; a < c->count; a++) {
    double ya[3][3], yb[3];
    for (int m = 0; m < 3; m++) eb_turn3(B[m], c->q + 3 * (int64_t)a, ya[m]);
    for (int32_t b = 0; b < c->count; b++) {
      double *block = block_at(A, c, a, b), sum[9] = {0};
      for (int m = 0; m < 3; m++) {
        eb_turn3(B[m], c->q + 3 * (int64_t)b, yb);
        for (int i = 0; i < 9; i++) sum[i] += ya[m][i / 3] * yb[i % 3];
      }
      for (int i = 0; i < 9; i++)
        block[i] += scale * c->stiffness * ((i % 4 == 0) * ((a == b) - 1.0 / c->count) - sum[i]);
    }
  }
}

void eb_clusters_matrix(const eb_clusters *clusters, const double *x, double scale, bool project,
                        eb_block_matrix *A) {
  for (int32_t k = 0; k < clusters->links; k++)
    add_link(clusters, clusters->order[k], x, scale, project, A);
  for (int32_t number = 0; number < batch_count(clusters); number++) {
    const batch b = batch_of(clusters, number);
    eb_v4 moment[1][9], U[1][9], s[1][3], V[1][9];
    double mean[EB_LANES][3], B[3][9];
    moments(&b, x, moment[0], mean);
    eb_svd3(1, (const eb_v4(*)[9])moment, U, s, V);
    for (int l = 0; l < b.count; l++) {
      turning_modes(&b.lane[l], l, U[0], s[0], V[0], project, B);
      add_shape(&b.lane[l], B, scale, A);
    }
  }
}

void eb_clusters_bound(const eb_clusters *clusters, const eb_block_matrix *pattern, double *value) {
  for (int32_t number = 0; number < clusters->set->count; number++) {
    const cluster c = cluster_of(clusters, number);
    for (int32_t a = 0; a < c.count; a++)
      for (int32_t b = 0; b < c.count; b++)
        value[eb_block_matrix_find(pattern, c.node[a], c.node[b])] +=
            c.stiffness * ((a == b) - 1.0 / c.count);
  }
}

/* ---- life ------------------------------------------------------------------------------------ */

eb_error eb_clusters_create(const eb_scene *scene, eb_clusters *out) {
  const eb_cluster_set *set = &scene->clusters;
  *out = (eb_clusters){.set = set};
  if (set->count == 0) return EB_OK;
  EB_TRY(EB_NEW(out->order, set->count));
  EB_TRY(EB_NEW(out->force, 3 * (size_t)set->start[set->count]));
  EB_TRY(EB_NEW(out->energy, set->count));
  for (int32_t c = 0; c < set->count; c++)
    if (set->start[c + 1] - set->start[c] == LINK) out->order[out->links++] = c;
  for (int32_t c = 0, k = out->links; c < set->count; c++)
    if (set->start[c + 1] - set->start[c] > LINK) out->order[k++] = c;
  return EB_OK;
}

void eb_clusters_clear(eb_clusters *clusters) {
  free(clusters->order);
  free(clusters->force);
  free(clusters->energy);
  *clusters = (eb_clusters){0};
}
