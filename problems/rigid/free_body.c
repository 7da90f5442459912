/* Free bodies of a mesh: connected components of its rigid elements, and their mass properties. With the consistent mass matrix of an element,
 * m_ab = integral of rho N_a N_b, the integrals of rho, rho X and rho X X^T over it are
 *
 *   sum_ab m_ab,   sum_ab m_ab X_a,   sum_ab m_ab X_a X_b^T,
 *
 * because X = sum_a N_a X_a and sum_a N_a = 1. They are exact when m is: tetrahedra have m_ab = rho V (1 + delta_ab) / 20; in trilinear hexahedra
 * N_a N_b det J is of degree 4 in each coordinate, which three Gauss points a direction integrate exactly.
 *
 * Workspace: a number a node, for the components. Fails on elements that have no volume and densities that are not positive. */
#include "problems/rigid/free_body.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/mesh/disjoint.h"

enum { MOST_NODES = 8 };

/* ---- mass matrix of an element ---------------------------------------------------------------- */

static void tetrahedron_mass(double X[MOST_NODES][3], double density,
                             double m[MOST_NODES][MOST_NODES]) {
  double edge[3][3], normal[3];
  for (int k = 0; k < 3; k++)
    for (int d = 0; d < 3; d++) edge[k][d] = X[k + 1][d] - X[0][d];
  eb_cross3(edge[0], edge[1], normal);
  double share = density * eb_dot3(normal, edge[2]) / 120;
  for (int a = 0; a < 4; a++)
    for (int b = 0; b < 4; b++) m[a][b] = a == b ? 2 * share : share;
}

/* Shape functions of the cube [-1, 1]^3 at xi, and the determinant of J = sum_a X_a dN_a/dxi. */
static double shape(double X[MOST_NODES][3], const double xi[3], double N[MOST_NODES]) {
  static const double corner[MOST_NODES][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                               {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  double J[3][3] = {{0}}, normal[3];
  for (int a = 0; a < MOST_NODES; a++) {
    double f[3];
    for (int d = 0; d < 3; d++) f[d] = (1 + corner[a][d] * xi[d]) / 2;
    N[a] = f[0] * f[1] * f[2];
    for (int d = 0; d < 3; d++)
      eb_add3(corner[a][d] / 2 * f[(d + 1) % 3] * f[(d + 2) % 3], X[a], J[d]);
  }
  eb_cross3(J[0], J[1], normal);
  return eb_dot3(normal, J[2]);
}

static void hexahedron_mass(double X[MOST_NODES][3], double density,
                            double m[MOST_NODES][MOST_NODES]) {
  const double place[3] = {-sqrt(0.6), 0, sqrt(0.6)}, weight[3] = {5. / 9, 8. / 9, 5. / 9};
  for (int q = 0; q < 27; q++) {
    int i = q % 3, j = q / 3 % 3, k = q / 9;
    double xi[3] = {place[i], place[j], place[k]}, N[MOST_NODES];
    double share = density * weight[i] * weight[j] * weight[k] * shape(X, xi, N);
    for (int a = 0; a < MOST_NODES; a++)
      for (int b = 0; b < MOST_NODES; b++) m[a][b] += share * N[a] * N[b];
  }
}

/* ---- mass, centre, inertia -------------------------------------------------------------------- */

/* Nodes of the element relative to `origin`, and its mass matrix. */
static void element_mass(const eb_mesh *mesh, int32_t e, double density, const double origin[3],
                         double X[MOST_NODES][3], double m[MOST_NODES][MOST_NODES]) {
  const int32_t *node = mesh->elements + (size_t)e * mesh->type;
  for (int a = 0; a < (int)mesh->type; a++)
    for (int d = 0; d < 3; d++) X[a][d] = mesh->X[3 * (size_t)node[a] + (size_t)d] - origin[d];
  (mesh->type == EB_TETRAHEDRON ? tetrahedron_mass : hexahedron_mass)(X, density, m);
}

/* `centre` has mass times centre until all elements are in. */
static eb_error add_mass(const eb_mesh *mesh, int32_t e, double density, eb_free_body *body) {
  static const double origin[3];
  double X[MOST_NODES][3], m[MOST_NODES][MOST_NODES] = {{0}}, mass = 0;
  element_mass(mesh, e, density, origin, X, m);
  for (int a = 0; a < (int)mesh->type; a++)
    for (int b = 0; b < (int)mesh->type; b++) {
      mass += m[a][b];
      eb_add3(m[a][b], X[a], body->centre);
    }
  body->mass += mass;
  if (mass > 0 && isfinite(mass)) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID,
                  "element %d of a rigid region has mass %g kg; give the region a positive density "
                  "and elements of positive volume",
                  e, mass);
}

/* integral of rho (|r|^2 1 - r r^T), r from the centre. */
static void add_inertia(const eb_mesh *mesh, int32_t e, double density, eb_free_body *body) {
  double X[MOST_NODES][3], m[MOST_NODES][MOST_NODES] = {{0}};
  element_mass(mesh, e, density, body->centre, X, m);
  for (int a = 0; a < (int)mesh->type; a++)
    for (int b = 0; b < (int)mesh->type; b++)
      for (int i = 0; i < 3; i++) {
        body->inertia[4 * i] += m[a][b] * eb_dot3(X[a], X[b]);
        eb_add3(-m[a][b] * X[a][i], X[b], body->inertia + 3 * i);
      }
}

/* Sums over a and b are symmetric but for rounding. */
static void symmetrize(double A[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) A[3 * i + j] = A[3 * j + i] = (A[3 * i + j] + A[3 * j + i]) / 2;
}

static eb_free_body *body_of(const eb_free_bodies *bodies, const eb_mesh *mesh, int32_t e) {
  return &bodies->body[bodies->of_node[mesh->elements[(size_t)e * mesh->type]]];
}

static eb_error weigh(const eb_mesh *mesh, const uint8_t *rigid, const double *density,
                      eb_free_bodies *bodies) {
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (rigid[mesh->region[e]])
      EB_TRY(add_mass(mesh, e, density[mesh->region[e]], body_of(bodies, mesh, e)));
  for (int32_t b = 0; b < bodies->count; b++)
    for (int d = 0; d < 3; d++) bodies->body[b].centre[d] /= bodies->body[b].mass;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (rigid[mesh->region[e]])
      add_inertia(mesh, e, density[mesh->region[e]], body_of(bodies, mesh, e));
  for (int32_t b = 0; b < bodies->count; b++) symmetrize(bodies->body[b].inertia);
  return EB_OK;
}

/* ---- components ------------------------------------------------------------------------------- */

/* of_node becomes a disjoint set over the nodes of rigid elements, -1 elsewhere. */
static void join_elements(const eb_mesh *mesh, const uint8_t *rigid, int32_t *of_node) {
  for (int32_t i = 0; i < mesh->node_count; i++) of_node[i] = -1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *node = mesh->elements + (size_t)e * mesh->type;
    for (int a = 0; rigid[mesh->region[e]] && a < (int)mesh->type; a++) {
      if (of_node[node[a]] < 0) of_node[node[a]] = node[a];
      eb_disjoint_join(of_node, node[0], node[a]);
    }
  }
}

/* Bodies are numbered in the order of their lowest nodes, which are the roots: the number of a root is known before that of the others. */
static void number_bodies(eb_free_bodies *bodies, int32_t *root) {
  for (int32_t i = 0; i < bodies->node_count; i++)
    root[i] = bodies->of_node[i] < 0 ? -1 : eb_disjoint_root(bodies->of_node, i);
  for (int32_t i = 0; i < bodies->node_count; i++)
    bodies->of_node[i] = root[i] < 0    ? -1
                         : root[i] == i ? bodies->count++
                                        : bodies->of_node[root[i]];
}

static eb_error find_bodies(const eb_mesh *mesh, const uint8_t *rigid, eb_free_bodies *bodies) {
  int32_t *root;
  EB_TRY(EB_NEW(bodies->of_node, mesh->node_count));
  EB_TRY(EB_NEW(root, mesh->node_count));
  join_elements(mesh, rigid, bodies->of_node);
  number_bodies(bodies, root);
  free(root);
  return EB_OK;
}

/* ---- life ------------------------------------------------------------------------------------- */

static eb_error fill(const eb_mesh *mesh, const uint8_t *rigid, const double *density,
                     eb_free_bodies *bodies) {
  bodies->node_count = mesh->node_count;
  EB_TRY(find_bodies(mesh, rigid, bodies));
  EB_TRY(EB_NEW(bodies->body, bodies->count));
  return weigh(mesh, rigid, density, bodies);
}

eb_error eb_free_bodies_create(const eb_mesh *mesh, const uint8_t *rigid, const double *density,
                               eb_free_bodies **out) {
  eb_free_bodies *bodies;
  bool any = false;
  *out = NULL;
  for (int32_t e = 0; !any && e < mesh->element_count; e++) any = rigid[mesh->region[e]];
  if (!any) return EB_OK;
  if (mesh->type == EB_TRIANGLE)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "regions of planar triangles cannot be rigid; use tetrahedra or hexahedra");
  EB_TRY(EB_NEW(bodies, 1));
  eb_error error = fill(mesh, rigid, density, bodies);
  if (error) {
    eb_free_bodies_destroy(bodies);
    return error;
  }
  *out = bodies;
  return EB_OK;
}

void eb_free_bodies_destroy(eb_free_bodies *bodies) {
  if (!bodies) return;
  free(bodies->of_node);
  free(bodies->body);
  free(bodies);
}
