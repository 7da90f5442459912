/* The equation of a step in a subspace (problems/subspace_record.h).
 *
 * With r the forces at all nodes, M (x1 - xt) / h^2 - f_ext - f_s (springs) + the cubature points'
 * elastic forces,
 * of which each is one element's by the audit's own stress, times weight over volume, the residual
 * is |B^T r|_2, over the norm of its terms B^T M (x1 - xt) / h^2, B^T f_ext, B^T f_s and B^T g,
 * and of the rounding of springs and of the last: 1e-8 of what the points' stiffness makes of
 * positions. As B^T M B = I, these are N / kg^1/2; times the root of the mean mass of a node they
 * are N.
 *
 * What the solver says of the subspace is held to three rules: the step stays in it,
 *   |x1 - X - B B^T M (x1 - X)| <= 1e-9 (|x1 - X| + the body's size),
 * which fails, too, when B is not orthonormal in the masses; the points' volumes are positive and
 * make up the body; and there are functions and points at all, and as many finite skinning weights
 * as it says. */
#include <math.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/reference.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* out (3 size, or size of them and zeros) = B^T of values (nodes x 3), times the masses or not. */
static void restrict_to(const eb_audit *audit, const eb_subspace_record *s, const double *values,
                        bool masses, double *out) {
  memset(out, 0, 3 * (size_t)s->size * sizeof *out);
  for (size_t i = 0; i < audit->nodes; i++)
    for (size_t d = 0; d < 3; d++) {
      double value = values[3 * i + d] * (masses ? audit->mass[i] : 1);
      size_t first;
      const double *phi = eb_subspace_row(s, i, d, &first);
      double *to = out + first;
      for (int32_t k = 0; k < s->size; k++) to[k] += value * phi[k];
    }
}

void eb_audit_tetrahedron(const eb_mesh *mesh, int32_t element, double gradient[4][3]) {
  const int32_t *node = mesh->elements + 4 * (size_t)element;
  double edge[3][3], det = 0;
  memset(gradient[0], 0, sizeof gradient[0]);
  for (int a = 0; a < 3; a++)
    for (int d = 0; d < 3; d++)
      edge[a][d] =
          mesh->X[3 * (size_t)node[a + 1] + (size_t)d] - mesh->X[3 * (size_t)node[0] + (size_t)d];
  for (int a = 0; a < 3; a++) {
    const double *p = edge[(a + 1) % 3], *q = edge[(a + 2) % 3];
    for (int d = 0; d < 3; d++) {
      int j = (d + 1) % 3, k = (d + 2) % 3;
      gradient[a + 1][d] = p[j] * q[k] - p[k] * q[j];
      if (a == 0) det += edge[0][d] * gradient[1][d];
    }
  }
  for (int a = 1; a < 4; a++)
    for (int d = 0; d < 3; d++) {
      gradient[a][d] /= det;
      gradient[0][d] -= gradient[a][d];
    }
}

/* Adds the elastic forces of the points to g (nodes x 3), with their energy in *energy (J); returns
 * the squares of what rounding of the positions may leave of the forces, times 1e8. */
static double add_points(const eb_audit *audit, const eb_subspace_record *s, const double *x,
                         double *g, double *energy) {
  const eb_mesh *mesh = audit->scene->mesh;
  double rounding2 = 0;
  *energy = 0;
  for (int32_t c = 0; c < s->count; c++) {
    const int32_t *node = mesh->elements + 4 * (size_t)s->element[c];
    const eb_material *material = &audit->materials[mesh->region[s->element[c]]];
    double gradient[4][3];
    eb_four F[9], P[9], psi;
    eb_audit_tetrahedron(mesh, s->element[c], gradient);
    for (int i = 0; i < 9; i++) {
      double sum = 0;
      for (int a = 0; a < 4; a++)
        sum += x[3 * (size_t)node[a] + (size_t)(i / 3)] * gradient[a][i % 3];
      F[i] = eb_four_of(sum);
    }
    eb_reference_material(material, F, NULL, &psi, P);
    *energy += s->weight[c] * psi[0];
    double stiff = material->young / (1 + material->poisson) *
                   (1 + material->poisson / (1 - 2 * material->poisson));
    for (int a = 0; a < 4; a++) {
      double slope = sqrt(eb_audit_squared(gradient[a])), spread = 0;
      for (int b = 0; b < 4; b++)
        spread += sqrt(eb_audit_squared(x + 3 * (size_t)node[b]) * eb_audit_squared(gradient[b]));
      double unknown = 1e-8 * s->weight[c] * slope * stiff * spread;
      rounding2 += unknown * unknown;
      for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
          g[3 * (size_t)node[a] + (size_t)i] += s->weight[c] * P[3 * i + k][0] * gradient[a][k];
    }
  }
  return rounding2;
}

/* Each skinning weight w makes four functions at most, w X, w Y, w Z and w. */
static bool weights_sound(const eb_subspace_record *s) {
  size_t entries = (size_t)s->weights * (size_t)s->nodes;
  if (s->weights == 0) return true;
  if (s->weights < 0 || !s->weight_of || s->size > 4 * (int64_t)s->weights) return false;
  for (size_t k = 0; k < entries; k++)
    if (!isfinite(s->weight_of[k])) return false;
  return true;
}

bool eb_audit_subspace_sound(const eb_audit *audit, const eb_subspace_record *s) {
  const eb_mesh *mesh = audit->scene->mesh;
  double sum = 0, volume = 0;
  if (mesh->type != EB_TETRAHEDRON || (s->axes != 1 && s->axes != 3) ||
      s->nodes != mesh->node_count || s->size < 1 || s->count < 1 || s->stride < s->size)
    return false;
  for (int32_t c = 0; c < s->count; c++) {
    if (s->element[c] < 0 || s->element[c] >= mesh->element_count || !(s->weight[c] > 0))
      return false;
    sum += s->weight[c];
  }
  for (int32_t e = 0; e < mesh->element_count; e++)
    volume += eb_mesh_element_volume(mesh, mesh->X, e);
  return fabs(sum - volume) <= 1e-9 * volume && weights_sound(s);
}

/* The largest way of a node off the span, m; x - X into `off` (nodes x 3), u is workspace. */
static double leaves_span(const eb_audit *audit, const eb_subspace_record *s, const double *x,
                          double *off, double *u, double *allowed) {
  const double *X = audit->scene->mesh->X;
  double lo[3], hi[3], most = 0, worst = 0;
  for (size_t k = 0; k < 3 * audit->nodes; k++) {
    off[k] = x[k] - X[k];
    most = fmax(most, fabs(off[k]));
  }
  restrict_to(audit, s, off, true, u);
  for (size_t i = 0; i < audit->nodes; i++)
    for (size_t d = 0; d < 3; d++) {
      size_t first;
      const double *phi = eb_subspace_row(s, i, d, &first), *from = u + first;
      double left = off[3 * i + d];
      for (int32_t k = 0; k < s->size; k++) left -= phi[k] * from[k];
      eb_audit_raise(fabs(left), &worst);
    }
  eb_mesh_bounds(X, (int32_t)audit->nodes, lo, hi);
  *allowed = 1e-9 * (most + hi[0] - lo[0] + hi[1] - lo[1] + hi[2] - lo[2]);
  return worst;
}

/* By how much a step from `before` raises the energy of the equation in the subspace, J: kinetic,
 * of the points, of clusters and of springs, beyond the work of forces and of what moves springs.
 */
static double energy_gain(eb_audit *audit, const eb_subspace_record *s, const eb_state *before,
                          const eb_state *after, bool statics) {
  double elastic[2], kinetic = 0, work = eb_audit_springs_work(audit, before->x, after->x);
  eb_audit_elastic clusters[2] = {{.g = audit->own}, {.g = audit->own}};
  add_points(audit, s, before->x, audit->own, &elastic[0]);
  add_points(audit, s, after->x, audit->own, &elastic[1]);
  eb_audit_clusters(audit, before->x, &clusters[0]);
  eb_audit_clusters(audit, after->x, &clusters[1]);
  for (size_t k = 0; k < 3 * audit->nodes; k++) {
    double v0 = before->v[k], v1 = after->v[k];
    kinetic += statics ? 0 : 0.5 * audit->mass[k / 3] * (v1 - v0) * (v1 + v0);
    work += audit->force[k] * (after->x[k] - before->x[k]);
  }
  return kinetic + elastic[1] - elastic[0] + clusters[1].energy - clusters[0].energy +
         eb_audit_springs_energy(audit, after->x) - eb_audit_springs_before(audit, before->x) -
         work;
}

/* The restricted residual of a step that ends at x into u (5 x 3 size, of which the rest is
 * workspace), the squares of it and of its terms (N^2 / kg), with what rounding leaves of the
 * points' and springs' forces in *rounding2 (N^2). audit->trial and audit->own are workspace. */
static void residual_at(eb_audit *audit, const eb_subspace_record *s, const eb_state *before,
                        const double *x, double dt, bool statics, double *u, double squares[2],
                        double *rounding2) {
  double *inertia = audit->trial, *g = audit->own, energy;
  size_t size = 3 * (size_t)s->size;
  double *pushed = u + size, *pulled = pushed + size, *strained = pulled + size,
         *sprung = strained + size;
  memset(g, 0, 3 * audit->nodes * sizeof *g);
  *rounding2 = add_points(audit, s, x, g, &energy);
  eb_audit_elastic clusters = {.g = g};
  eb_audit_clusters(audit, x, &clusters);
  *rounding2 += clusters.rounding2;
  for (size_t k = 0; k < 3 * audit->nodes; k++)
    inertia[k] = statics ? 0 : (x[k] - before->x[k] - dt * before->v[k]) / (dt * dt);
  restrict_to(audit, s, inertia, true, pushed);
  restrict_to(audit, s, audit->force, false, pulled);
  restrict_to(audit, s, g, false, strained);
  memset(sprung, 0, size * sizeof *sprung);
  if (audit->spring_count > 0) {
    memset(g, 0, 3 * audit->nodes * sizeof *g);
    eb_audit_add_springs(audit, x, g);
    restrict_to(audit, s, g, false, sprung);
    *rounding2 += eb_audit_springs_rounding2(audit, x);
  }
  squares[0] = squares[1] = 0;
  for (size_t k = 0; k < size; k++) {
    double left = pushed[k] - pulled[k] + strained[k] + sprung[k];
    squares[0] += left * left;
    u[k] = left;
    squares[1] += pushed[k] * pushed[k] + pulled[k] * pulled[k] + strained[k] * strained[k] +
                  sprung[k] * sprung[k];
  }
}

eb_error eb_audit_subspace_residual(eb_audit *audit, const eb_state *before, const double *x,
                                    double dt, bool statics, const eb_subspace_record *s,
                                    double *out) {
  EB_FREED double *u = NULL;
  double squares[2], rounding2;
  size_t size = 3 * (size_t)s->size;
  EB_TRY(EB_NEW(u, 5 * size));
  residual_at(audit, s, before, x, dt, statics, u, squares, &rounding2);
  memcpy(out, u, size * sizeof *out);
  return EB_OK;
}

eb_error eb_audit_subspace(eb_audit *audit, const eb_state *before, const eb_state *after,
                           double dt, bool statics, bool compared, const eb_subspace_record *s,
                           eb_audit_subspace_row *out) {
  EB_FREED double *u = NULL;
  double mass = 0, squares[2], rounding2;
  *out = (eb_audit_subspace_row){.nothing = INFINITY};
  EB_TRY(EB_NEW(u, 15 * (size_t)s->size));
  for (size_t i = 0; i < audit->nodes; i++) mass += audit->mass[i] / (double)audit->nodes;
  out->unit = sqrt(mass);
  out->outside = leaves_span(audit, s, after->x, audit->trial, u, &out->outside_allowed);
  /* Bodies that stop, or go on as they are. */
  for (int going = 0; compared && going < (statics ? 1 : 2); going++) {
    for (size_t k = 0; k < 3 * audit->nodes; k++)
      audit->stopped[k] = before->x[k] + (going ? dt * before->v[k] : 0);
    residual_at(audit, s, before, audit->stopped, dt, statics, u, squares, &rounding2);
    out->nothing = fmin(out->nothing, out->unit * sqrt(squares[0]));
  }
  residual_at(audit, s, before, after->x, dt, statics, u, squares, &rounding2);
  out->residual2 = mass * squares[0];
  out->scale2 = mass * squares[1] + rounding2;
  /* The residual's work on what of the way is in the subspace: a state that is not, to begin with,
   * is taken for its part in it. What implicit Euler dissipates, 1/2 (K way . way + |v1 - v0|_M^2),
   * is a part of it: where a stiff body turns and iterations end early, nearly all. So no more than
   * the energy has risen comes from nowhere. */
  double *way = u + 3 * (size_t)s->size;
  for (size_t k = 0; k < 3 * audit->nodes; k++) audit->trial[k] = after->x[k] - before->x[k];
  restrict_to(audit, s, audit->trial, true, way);
  for (size_t k = 0; k < 3 * (size_t)s->size; k++) out->work += u[k] * way[k];
  if (out->work > 0)
    out->work = fmin(out->work, fmax(0, energy_gain(audit, s, before, after, statics)));
  return EB_OK;
}
