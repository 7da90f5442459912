/* A free body as a cloud of mass points that turn with it: energies and momenta are sums over the
 * points,
 *
 *   x_q = p + R r_q,   v_q = v + w x (R r_q),   sum_q m_q |v_q|^2 / 2,   -sum_q m_q g . x_q,
 *   sum_q m_q v_q,   sum_q m_q x_q x v_q,
 *
 * with no mass, centre or inertia of problems/rigid in them. The points are those of quadrature
 * rules that are exact for the quadratics in the sums: four in a tetrahedron (a = (5 + 3 sqrt 5) /
 * 20 on one corner, (1 - a) / 3 on the others), 27 Gauss points in a hexahedron. */
#include "harness/audit/bodies.h"

#include <math.h>
#include <stdlib.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

struct eb_mass_points {
  size_t count;
  double *r;     /* count x 3: rest position from the reference of the body's pose, m */
  double *mass;  /* count, kg */
  int32_t *body; /* count */
};

enum { TETRAHEDRON_POINTS = 4, HEXAHEDRON_POINTS = 27 };

/* ---- points ---------------------------------------------------------------------------------- */

/* Barycentric coordinates of point q. */
static void tetrahedron_point(int q, double N[8]) {
  const double near = (5 + 3 * sqrt(5)) / 20;
  for (int a = 0; a < 4; a++) N[a] = a == q ? near : (1 - near) / 3;
}

/* Along x, y and z the weight of corner a is that of its end, in the order of VTK. */
static void corner_weights(int a, const double s[3], double f[3], double slope[3]) {
  const int end[3] = {a % 4 == 1 || a % 4 == 2, a % 4 >= 2, a >= 4};
  for (int d = 0; d < 3; d++) {
    f[d] = end[d] ? s[d] : 1 - s[d];
    slope[d] = end[d] ? 1 : -1;
  }
}

/* Shape functions of the cube [0, 1]^3 at point q; returns the volume that the point stands for. */
static double hexahedron_point(const double *X, const int32_t *node, int q, double N[8]) {
  const double off = sqrt(0.15), place[3] = {0.5 - off, 0.5, 0.5 + off};
  const double weight[3] = {5. / 18, 4. / 9, 5. / 18};
  const double s[3] = {place[q % 3], place[q / 3 % 3], place[q / 9]};
  double along[3][3] = {{0}}, area[3];
  for (int a = 0; a < 8; a++) {
    double f[3], slope[3];
    corner_weights(a, s, f, slope);
    N[a] = f[0] * f[1] * f[2];
    for (int d = 0; d < 3; d++)
      eb_add3(slope[d] * f[(d + 1) % 3] * f[(d + 2) % 3], X + 3 * (size_t)node[a], along[d]);
  }
  eb_cross3(along[1], along[2], area);
  return weight[q % 3] * weight[q / 3 % 3] * weight[q / 9] * eb_dot3(along[0], area);
}

static void add_element(const eb_scene *scene, int32_t e, int per_element, eb_mass_points *points) {
  const eb_mesh *mesh = scene->mesh;
  const int32_t *node = mesh->elements + (size_t)e * mesh->type;
  double density = scene->materials[mesh->region[e]].density;
  int32_t body = scene->free_bodies->of_node[node[0]];
  for (int q = 0; q < per_element; q++) {
    double N[8], *r = points->r + 3 * points->count;
    double volume = eb_mesh_element_volume(mesh, mesh->X, e) / TETRAHEDRON_POINTS;
    if (mesh->type == EB_TETRAHEDRON)
      tetrahedron_point(q, N);
    else
      volume = hexahedron_point(mesh->X, node, q, N);
    for (int a = 0; a < (int)mesh->type; a++) eb_add3(N[a], mesh->X + 3 * (size_t)node[a], r);
    eb_add3(-1, scene->free_bodies->body[body].centre, r);
    points->mass[points->count] = density * volume;
    points->body[points->count++] = body;
  }
}

static eb_error fill(const eb_scene *scene, eb_mass_points *points) {
  const eb_mesh *mesh = scene->mesh;
  int per_element = mesh->type == EB_TETRAHEDRON ? TETRAHEDRON_POINTS : HEXAHEDRON_POINTS;
  size_t rigid = 0;
  for (int32_t e = 0; e < mesh->element_count; e++) rigid += scene->rigid[mesh->region[e]] != 0;
  EB_TRY(EB_NEW(points->r, 3 * rigid * (size_t)per_element));
  EB_TRY(EB_NEW(points->mass, rigid * (size_t)per_element));
  EB_TRY(EB_NEW(points->body, rigid * (size_t)per_element));
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (scene->rigid[mesh->region[e]]) add_element(scene, e, per_element, points);
  return EB_OK;
}

eb_error eb_mass_points_create(const eb_scene *scene, eb_mass_points **out) {
  eb_mass_points *points;
  *out = NULL;
  if (!scene->free_bodies) return EB_OK;
  EB_TRY(EB_NEW(points, 1));
  eb_error error = fill(scene, points);
  if (error) {
    eb_mass_points_destroy(points);
    return error;
  }
  *out = points;
  return EB_OK;
}

void eb_mass_points_destroy(eb_mass_points *points) {
  if (!points) return;
  free(points->r);
  free(points->mass);
  free(points->body);
  free(points);
}

/* ---- motion ---------------------------------------------------------------------------------- */

/* y = q r q^-1 as a product of quaternions. */
static void turn(const double q[4], const double r[3], double y[3]) {
  double scalar = -eb_dot3(q + 1, r), vector[3], swept[3];
  eb_cross3(q + 1, r, vector);
  eb_add3(q[0], r, vector);
  eb_cross3(vector, q + 1, swept);
  for (int d = 0; d < 3; d++) y[d] = q[0] * vector[d] - scalar * q[d + 1] - swept[d];
}

void eb_audit_bodies(const eb_mass_points *points, const double gravity[3], const eb_state *state,
                     eb_audit_row *row) {
  for (size_t k = 0; k < points->count; k++) {
    const double *pose = state->pose + 7 * (size_t)points->body[k];
    const double *twist = state->twist + 6 * (size_t)points->body[k];
    double m = points->mass[k], x[3], v[3], moment[3];
    turn(pose + 3, points->r + 3 * k, x);
    eb_cross3(twist + 3, x, v);
    eb_add3(1, twist, v);
    eb_add3(1, pose, x);
    eb_cross3(x, v, moment);
    row->kinetic += 0.5 * m * eb_dot3(v, v);
    row->gravitational -= m * eb_dot3(gravity, x);
    eb_add3(m, v, row->momentum);
    eb_add3(m, moment, row->angular_momentum);
  }
}
