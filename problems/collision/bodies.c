/* The connected components of a mesh, what each is made of, and its rigid motion. */
#include "problems/collision/bodies.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/cut.h"

/* ---- what each body is made of --------------------------------------------------------------- */

static eb_error fill(const eb_mesh *mesh, const double *area, const double *young,
                     eb_bodies *bodies) {
  EB_TRY(EB_NEW(bodies->of, mesh->node_count));
  bodies->count = eb_mesh_components(mesh, bodies->of);
  EB_TRY(EB_NEW(bodies->body, bodies->count));
  EB_TRY(EB_NEW(bodies->start, bodies->count + 1));
  EB_TRY(EB_NEW(bodies->nodes, mesh->node_count));
  for (int32_t i = 0; i < bodies->node_count; i++) {
    eb_body *body = &bodies->body[bodies->of[i]];
    body->mass += bodies->mass[i];
    body->area += area[i];
    bodies->start[bodies->of[i] + 1]++;
  }
  for (int32_t e = 0; e < mesh->element_count; e++) {
    eb_body *body = &bodies->body[bodies->of[mesh->elements[(size_t)e * mesh->type]]];
    body->volume += eb_mesh_element_volume(mesh, mesh->X, e);
    body->stiffest = fmax(body->stiffest, young[mesh->region[e]]);
  }
  /* Nodes by body: a counting sort, which moves the starts to the ends and back. */
  for (int32_t b = 0; b < bodies->count; b++) bodies->start[b + 1] += bodies->start[b];
  for (int32_t i = 0; i < bodies->node_count; i++)
    bodies->nodes[bodies->start[bodies->of[i]]++] = i;
  for (int32_t b = bodies->count; b > 0; b--) bodies->start[b] = bodies->start[b - 1];
  bodies->start[0] = 0;
  return EB_OK;
}

eb_error eb_bodies_create(const eb_mesh *mesh, const double *mass, const double *area,
                          const double *young, eb_bodies **out) {
  *out = NULL;
  eb_bodies *bodies;
  EB_TRY(EB_NEW(bodies, 1));
  bodies->node_count = mesh->node_count;
  bodies->mass = mass;
  eb_error error = fill(mesh, area, young, bodies);
  if (error) {
    eb_bodies_destroy(bodies);
    return error;
  }
  *out = bodies;
  return EB_OK;
}

void eb_bodies_destroy(eb_bodies *bodies) {
  if (!bodies) return;
  free(bodies->nodes);
  free(bodies->start);
  free(bodies->of);
  free(bodies->body);
  free(bodies);
}

/* ---- rigid motion ---------------------------------------------------------------------------- */

void eb_bodies_measure(eb_bodies *bodies, int32_t b, const double *x) {
  eb_body *body = &bodies->body[b];
  const int32_t *node = bodies->nodes + bodies->start[b];
  int32_t count = bodies->start[b + 1] - bodies->start[b];
  double centre[3] = {0, 0, 0}, second[9] = {0}, inertia[9];
  for (int32_t k = 0; k < count; k++)
    for (int d = 0; d < 3; d++) centre[d] += bodies->mass[node[k]] * x[3 * node[k] + d];
  for (int d = 0; d < 3; d++) body->centre[d] = centre[d] / body->mass;
  for (int32_t k = 0; k < count; k++) {
    double r[3], m = bodies->mass[node[k]];
    for (int d = 0; d < 3; d++) r[d] = x[3 * node[k] + d] - body->centre[d];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j <= i; j++) second[3 * i + j] += m * r[i] * r[j];
  }
  double trace = second[0] + second[4] + second[8];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      inertia[3 * i + j] = (i == j ? trace : 0) - second[i > j ? 3 * i + j : 3 * j + i];
  /* The inverse by cofactors: rows of a symmetric matrix's adjugate are cross products of its rows.
   */
  double *inverse = body->inverse_inertia;
  for (int i = 0; i < 3; i++)
    eb_cross3(inertia + 3 * ((i + 1) % 3), inertia + 3 * ((i + 2) % 3), inverse + 3 * i);
  double det = eb_dot3(inertia, inverse);
  trace = inertia[0] + inertia[4] + inertia[8];
  bool regular = det > 1e-12 * trace * trace * trace;
  for (int k = 0; k < 9; k++) inverse[k] = regular ? inverse[k] / det : 0;
}

void eb_body_add_load(const eb_body *body, double area, const double p[3], const double n[3],
                      double load[36]) {
  double r[3], w[6] = {n[0], n[1], n[2]};
  for (int d = 0; d < 3; d++) r[d] = p[d] - body->centre[d];
  eb_cross3(r, n, w + 3);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) load[6 * i + j] += area * w[i] * w[j];
}

static void square(const double A[36], double out[36]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      out[6 * i + j] = 0;
      for (int k = 0; k < 6; k++) out[6 * i + j] += A[6 * i + k] * A[6 * k + j];
    }
}

double eb_body_yield(const eb_body *body, const double load[36]) {
  double P[36], P2[36], P4[36], trace = 0, P8 = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      P[6 * i + j] = j < 3 ? load[6 * i + j] / body->mass : 0;
      for (int k = 0; j >= 3 && k < 3; k++)
        P[6 * i + j] += load[6 * i + 3 + k] * body->inverse_inertia[3 * k + j - 3];
    }
  for (int i = 0; i < 6; i++) trace += P[7 * i];
  if (!(trace > 0)) return 0;
  /* Scaled, so that no power overflows. */
  for (int k = 0; k < 36; k++) P[k] /= trace;
  square(P, P2);
  square(P2, P4);
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) P8 += P4[6 * i + j] * P4[6 * j + i];
  return trace * pow(P8, 0.125);
}
