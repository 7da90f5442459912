/* Residual of the incremental potential, by plain loops over elements:
 *
 *   grad W(x1) = M (x1 - xt) / h^2 + sum_e sum_q w_q P(F_q) grad N - f_c(x1) - f_ext(x0, v0),   xt = x0 + h v0,
 *
 * with f_c the penalty of implicit colliders (their friction is no force: it stays in the residual).
 *
 * One loop, one thread, sums in element order: slower than what it judges, and the same on every run. */
#include "harness/audit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/bodies.h"
#include "harness/audit/joints.h"
#include "harness/audit/reference.h"
#include "problems/base/memory.h"

enum { MOST_POINTS = 8, MOST_NODES = 8, CARRIED = 2 };

struct eb_audit {
  const eb_scene *scene;
  size_t nodes;                          /* of the mesh when the audit was made */
  eb_material materials[EB_MAX_REGIONS]; /* with the activation of the step */
  int points;                            /* quadrature points of an element */
  double *gradients;                     /* elements x points x nodes x 3: dN_a/dX */
  double *weights;                       /* elements x points: rest volume of the point, m^3 */
  double *mass;                          /* nodes */
  eb_mass_points *bodies;                /* or NULL */
  double *force;                         /* nodes x 3: f_ext */
  double *residual;                      /* nodes x 3 */
  double *target;                        /* nodes x 3 */
  uint8_t *fixed;                        /* nodes: 1 scripted, CARRIED */
};

/* Inverse transpose of the 3x3 matrix A; returns its determinant. */
static double inverse_transpose(const double A[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      out[3 * i + j] = A[3 * i1 + j1] * A[3 * i2 + j2] - A[3 * i1 + j2] * A[3 * i2 + j1];
    }
  double det = A[0] * out[0] + A[1] * out[1] + A[2] * out[2];
  for (int i = 0; i < 9; i++) out[i] /= det;
  return det;
}

/* dN_a/dxi of the reference element: linear triangle (0, e1, e2), linear tetrahedron (0, e1, e2, e3), trilinear cube [-1, 1]^3. */
static void reference_gradients(eb_element_type type, int point, double dN[MOST_NODES][3]) {
  if (type == EB_TRIANGLE) {
    static const double triangle[3][3] = {{-1, -1, 0}, {1, 0, 0}, {0, 1, 0}};
    memcpy(dN, triangle, sizeof triangle);
    return;
  }
  if (type == EB_TETRAHEDRON) {
    static const double tetrahedron[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    memcpy(dN, tetrahedron, sizeof tetrahedron);
    return;
  }
  static const double corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                      {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  double xi[3];
  for (int d = 0; d < 3; d++) xi[d] = corner[point][d] / sqrt(3);
  for (int a = 0; a < 8; a++)
    for (int d = 0; d < 3; d++) {
      int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      dN[a][d] = 0.125 * corner[a][d] * (1 + corner[a][d1] * xi[d1]) * (1 + corner[a][d2] * xi[d2]);
    }
}

/* Gradients and weight of one quadrature point of one element. Triangles are slices of a solid that does not stretch along z. */
static void rest_point(const eb_mesh *mesh, const eb_material *material, int32_t e, int point,
                       double *gradients, double *weight) {
  static const double cells[] = {
      [EB_TRIANGLE] = 1. / 2, [EB_TETRAHEDRON] = 1. / 6, [EB_HEXAHEDRON] = 1};
  int nodes = (int)mesh->type;
  const int32_t *node = mesh->elements + (size_t)e * (size_t)nodes;
  double dN[MOST_NODES][3] = {{0}}, A[9] = {0}, invT[9]; /* A_ij = dX_i / dxi_j */
  reference_gradients(mesh->type, point, dN);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) A[3 * i + j] += mesh->X[3 * (size_t)node[a] + i] * dN[a][j];
  if (mesh->type == EB_TRIANGLE) A[8] = 1;
  double det = inverse_transpose(A, invT);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++) {
      gradients[3 * a + i] = 0;
      for (int j = 0; j < 3; j++) gradients[3 * a + i] += invT[3 * i + j] * dN[a][j];
    }
  *weight = det * cells[mesh->type];
  if (mesh->type == EB_TRIANGLE && material->thickness > 0) *weight *= material->thickness;
}

static void precompute(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  size_t nodes = mesh->type, points = (size_t)audit->points;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const eb_material *material = &audit->scene->materials[mesh->region[e]];
    double volume = 0;
    for (size_t q = 0; q < points; q++) {
      size_t at = (size_t)e * points + q;
      rest_point(mesh, material, e, (int)q, audit->gradients + 3 * nodes * at, audit->weights + at);
      volume += audit->weights[at];
    }
    double share = material->density * volume / (double)nodes;
    for (size_t a = 0; a < nodes; a++) audit->mass[mesh->elements[(size_t)e * nodes + a]] += share;
  }
}

static eb_error allocate(eb_audit *audit) {
  const eb_mesh *mesh = audit->scene->mesh;
  size_t nodes = (size_t)mesh->node_count;
  size_t points = (size_t)mesh->element_count * (size_t)audit->points;
  EB_TRY(EB_NEW(audit->gradients, points * mesh->type * 3));
  EB_TRY(EB_NEW(audit->weights, points));
  EB_TRY(EB_NEW(audit->mass, nodes));
  EB_TRY(EB_NEW(audit->force, 3 * nodes));
  EB_TRY(EB_NEW(audit->residual, 3 * nodes));
  EB_TRY(EB_NEW(audit->target, 3 * nodes));
  EB_TRY(eb_mass_points_create(audit->scene, &audit->bodies));
  return EB_NEW(audit->fixed, nodes);
}

eb_error eb_audit_create(const eb_scene *scene, eb_audit **out) {
  *out = NULL;
  eb_audit *audit;
  EB_TRY(EB_NEW(audit, 1));
  audit->scene = scene;
  audit->nodes = (size_t)scene->mesh->node_count;
  audit->points = scene->mesh->type == EB_HEXAHEDRON ? MOST_POINTS : 1;
  eb_error error = allocate(audit);
  if (error) {
    eb_audit_destroy(audit);
    return error;
  }
  precompute(audit);
  *out = audit;
  return EB_OK;
}

void eb_audit_destroy(eb_audit *audit) {
  if (!audit) return;
  free(audit->gradients);
  free(audit->weights);
  free(audit->mass);
  eb_mass_points_destroy(audit->bodies);
  free(audit->force);
  free(audit->residual);
  free(audit->target);
  free(audit->fixed);
  free(audit);
}

static double squared(const double a[3]) {
  return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* Adds one quadrature point's internal force to the residual, unless its element is rigid; returns the squared size of its
 * contributions to free nodes. */
static double add_point(eb_audit *audit, const double *x, int32_t e, int q, eb_audit_row *row,
                        double *least) {
  const eb_mesh *mesh = audit->scene->mesh;
  size_t nodes = mesh->type, at = (size_t)e * (size_t)audit->points + (size_t)q;
  const int32_t *node = mesh->elements + (size_t)e * nodes;
  const double *g = audit->gradients + 3 * nodes * at;
  double F[9] = {0}, P[9], scale2 = 0;
  for (size_t a = 0; a < nodes; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) F[3 * i + j] += x[3 * (size_t)node[a] + i] * g[3 * a + j];
  for (int k = 0; mesh->type == EB_TRIANGLE && k < 3; k++) F[6 + k] = k == 2;
  double J = F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
             F[2] * (F[3] * F[7] - F[4] * F[6]);
  *least = fmin(*least, J);
  if (audit->scene->rigid[mesh->region[e]]) return 0;
  const double *fibre = mesh->fibre ? mesh->fibre + 3 * (size_t)e : NULL;
  double weight = audit->weights[at];
  row->elastic += weight * eb_reference_material(&audit->materials[mesh->region[e]], F, fibre, P);
  for (int k = 0; mesh->type == EB_TRIANGLE && k < 3; k++) P[6 + k] = 0;
  for (size_t a = 0; a < nodes; a++) {
    double f[3];
    for (int i = 0; i < 3; i++)
      f[i] = weight *
             (P[3 * i] * g[3 * a] + P[3 * i + 1] * g[3 * a + 1] + P[3 * i + 2] * g[3 * a + 2]);
    if (!audit->fixed[node[a]]) scale2 += squared(f);
    for (int i = 0; i < 3; i++) audit->residual[3 * (size_t)node[a] + i] += f[i];
  }
  return scale2;
}

static double add_elements(eb_audit *audit, const double *x, eb_audit_row *row) {
  double scale2 = 0;
  row->min_volume_ratio = INFINITY;
  for (int32_t e = 0; e < audit->scene->mesh->element_count; e++) {
    double least = INFINITY;
    for (int q = 0; q < audit->points; q++) scale2 += add_point(audit, x, e, q, row, &least);
    row->inverted += !(least > 0);
    row->min_volume_ratio = fmin(row->min_volume_ratio, least);
  }
  return scale2;
}

/* Inertia (carried nodes': audit/joints.c) and external force on node i; returns the squared size of both, over free nodes. */
static double add_node(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       eb_equation equation, size_t i) {
  double inertia[3] = {0}, *r = audit->residual + 3 * i;
  bool moving = equation == EB_EQUATION_IMPLICIT_EULER && audit->fixed[i] != CARRIED;
  for (size_t d = 3 * i; moving && d < 3 * i + 3; d++)
    inertia[d - 3 * i] =
        audit->mass[i] * (after->x[d] - before->x[d] - dt * before->v[d]) / (dt * dt);
  for (int d = 0; d < 3; d++) r[d] += inertia[d] - audit->force[3 * i + (size_t)d];
  return audit->fixed[i] ? 0 : squared(inertia) + squared(audit->force + 3 * i);
}

/* Of the nodes that do not ride on free bodies. */
static void add_motion(const eb_audit *audit, const eb_state *state, eb_audit_row *row) {
  const double *gravity = audit->scene->gravity;
  const eb_free_bodies *bodies = audit->scene->free_bodies;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    if (bodies && bodies->of_node[i] >= 0) continue;
    const double *x = state->x + 3 * i, *v = state->v + 3 * i;
    double m = audit->mass[i];
    row->kinetic += 0.5 * m * squared(v);
    for (int d = 0; d < 3; d++) {
      int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      row->gravitational -= m * gravity[d] * x[d];
      row->momentum[d] += m * v[d];
      row->angular_momentum[d] += m * (x[d1] * v[d2] - x[d2] * v[d1]);
    }
  }
}

/* The penalty of implicit colliders at the end of the step; returns the squared size of it over free nodes. */
static double add_implicit_contact(eb_audit *audit, const eb_state *after) {
  const eb_scene *scene = audit->scene;
  double scale2 = 0;
  for (int32_t c = 0; c < scene->collider_count; c++) {
    const eb_collider *collider = &scene->colliders[c];
    for (size_t i = 0; collider->implicit && i < (size_t)after->node_count; i++) {
      double normal[3], velocity[3], push[3];
      double depth = collider->margin - eb_collider_distance(collider, after->time,
                                                             after->x + 3 * i, normal, velocity);
      double pressure = depth > 0 ? collider->stiffness * depth : 0;
      for (int d = 0; d < 3; d++) {
        push[d] = pressure * scene->node_area[i] * normal[d];
        audit->residual[3 * i + (size_t)d] -= push[d];
      }
      if (!audit->fixed[i]) scale2 += squared(push);
    }
  }
  return scale2;
}

static void add_penetration(const eb_audit *audit, const eb_state *state, eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  for (size_t i = 0; i < (size_t)state->node_count; i++) {
    double deepest = 0, normal[3], velocity[3];
    for (int32_t c = 0; c < scene->collider_count; c++)
      deepest = fmax(deepest, -eb_collider_distance(&scene->colliders[c], state->time,
                                                    state->x + 3 * i, normal, velocity));
    row->contacts += deepest > 0;
    row->max_penetration = fmax(row->max_penetration, deepest);
  }
}

static bool all_finite(const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

/* Materials, scripted and carried nodes, and external forces of the step. */
static void prepare_step(eb_audit *audit, const eb_state *before, const eb_state *after,
                         eb_audit_row *row) {
  const eb_scene *scene = audit->scene;
  memcpy(audit->materials, scene->materials, sizeof audit->materials);
  if (scene->ops->activation) row->activation = scene->ops->activation(scene, after->time);
  for (int32_t r = 0; scene->ops->activation && r < scene->material_count; r++)
    audit->materials[r].activation = row->activation;
  memset(audit->residual, 0, 3 * audit->nodes * sizeof *audit->residual);
  memset(audit->fixed, 0, audit->nodes);
  eb_scene_boundary(scene, after->time, audit->fixed, audit->target);
  eb_scene_force(scene, before->time, before->x, before->v, audit->force);
  for (int32_t k = 0; scene->articulation && k < eb_articulation_attached(scene->articulation); k++)
    audit->fixed[eb_articulation_node(scene->articulation, k)] = CARRIED;
  for (size_t i = 0; scene->free_bodies && i < audit->nodes; i++)
    if (scene->free_bodies->of_node[i] >= 0) audit->fixed[i] = CARRIED;
}

static eb_error check_states(const eb_audit *audit, const eb_state *before, const eb_state *after) {
  const eb_scene *scene = audit->scene;
  int32_t joints = scene->articulation ? eb_articulation_joints(scene->articulation) : 0;
  if ((size_t)scene->mesh->node_count != audit->nodes)
    return EB_ERROR(EB_ERR_INVALID,
                    "the mesh of '%s' has been cut since its audit was made; make another",
                    scene->ops->name);
  if ((size_t)before->node_count != audit->nodes || (size_t)after->node_count != audit->nodes)
    return EB_ERROR(EB_ERR_INVALID, "the audit of '%s' wants states of %zu nodes, not %d and %d",
                    scene->ops->name, audit->nodes, before->node_count, after->node_count);
  int32_t bodies = scene->free_bodies ? scene->free_bodies->count : 0;
  if (before->body_count != bodies || after->body_count != bodies)
    return EB_ERROR(EB_ERR_INVALID,
                    "the audit of '%s' wants states of %d free bodies, not %d and %d",
                    scene->ops->name, bodies, before->body_count, after->body_count);
  if (before->joint_count != joints || after->joint_count != joints)
    return EB_ERROR(EB_ERR_INVALID, "the audit of '%s' wants states of %d joints, not %d and %d",
                    scene->ops->name, joints, before->joint_count, after->joint_count);
  return EB_OK;
}

static bool is_finite(const eb_state *state) {
  size_t nodes = 3 * (size_t)state->node_count, joints = (size_t)state->joint_count,
         bodies = (size_t)state->body_count;
  return all_finite(state->x, nodes) && all_finite(state->v, nodes) &&
         all_finite(state->q, joints) && all_finite(state->u, joints) &&
         all_finite(state->pose, 7 * bodies) && all_finite(state->twist, 6 * bodies);
}

eb_error eb_audit_step(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                       eb_equation equation, eb_audit_row *row) {
  const eb_articulation *articulation = audit->scene->articulation;
  EB_TRY(check_states(audit, before, after));
  *row = (eb_audit_row){.residual = NAN, .residual_relative = NAN};
  row->finite = is_finite(after);
  if (!row->finite) return EB_OK;
  prepare_step(audit, before, after, row);
  double scale2 = add_elements(audit, after->x, row) + add_implicit_contact(audit, after), sum2 = 0;
  for (size_t i = 0; i < audit->nodes; i++) {
    scale2 += add_node(audit, before, after, dt, equation, i);
    if (!audit->fixed[i]) sum2 += squared(audit->residual + 3 * i);
  }
  row->residual = sqrt(sum2);
  row->residual_relative = scale2 > 0 ? sqrt(sum2 / scale2) : 0;
  add_motion(audit, after, row);
  if (audit->bodies) eb_audit_bodies(audit->bodies, audit->scene->gravity, after, row);
  if (articulation)
    eb_audit_joints(articulation, audit->mass, audit->residual, before, after, dt, equation, row);
  add_penetration(audit, after, row);
  return EB_OK;
}

eb_audit_nodes eb_audit_last(const eb_audit *audit) {
  return (eb_audit_nodes){audit->residual, audit->force, audit->mass, audit->fixed};
}
