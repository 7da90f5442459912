/* Rotations of elements and the forces that follow from them.
 *
 * For a linear tetrahedron K_e needs no matrix. With the rest gradients G_a of the shape functions, V the volume and
 * displacements u_a,
 *   H = sum_a u_a G_a^T,   sigma = mu (H + H^T) + lambda tr(H) I,   (K_e u)_a = V sigma G_a,
 * and R_e K_e R_e^T is the same with the turned gradients R_e G_a in place of G_a.
 *
 * The error of an element needs the stale product as well: with T_a = R_a Q_a, the displacements are T_a^T v_a, the
 * gradients G_a, and the forces T_a V sigma G_a. Where Q_a is of the present T_a = R_e, and the two agree to rounding. */
#include "problems/elasticity/corotation_data.h"

#include "problems/base/memory.h"

/* ---- set-up -------------------------------------------------------------------------------------- */

static eb_error check_materials(const eb_mesh *mesh, const eb_material *materials) {
  if (mesh->type != EB_TETRAHEDRON)
    return EB_ERROR(EB_ERR_UNSUPPORTED,
                    "corotation needs tetrahedra; the mesh has elements of %d nodes",
                    (int)mesh->type);
  for (int32_t r = 0; r < mesh->region_count; r++) {
    const eb_material_info *info = eb_material_describe(materials[r].kind);
    const char *name = mesh->region_name ? mesh->region_name[r] : "";
    if (info && (materials[r].kind != EB_COROTATIONAL || materials[r].fibre != EB_FIBRE_NONE))
      return EB_ERROR(EB_ERR_UNSUPPORTED,
                      "region %d '%s' has material %s%s; corotation needs corotational without "
                      "fibres in every region",
                      (int)r, name, info->name, materials[r].fibre ? " with fibres" : "");
  }
  return EB_OK;
}

static eb_error build(const eb_mesh *mesh, const eb_material *materials, eb_corotation *c) {
  EB_TRY(eb_elasticity_create(mesh, materials, &c->elasticity));
  size_t nodes = (size_t)mesh->node_count, batches = (size_t)c->elasticity->batch_count;
  EB_TRY(EB_NEW(c->rest, nodes));
  EB_TRY(EB_NEW(c->node_quaternion, nodes));
  EB_TRY(EB_NEW(c->node_rotation, 9 * nodes));
  EB_TRY(EB_NEW(c->rotation, 4 * batches));
  EB_TRY(EB_NEW(c->stale, 4 * EB_CORNERS * batches));
  for (size_t n = 0; n < nodes; n++)
    for (int i = 0; i < 3; i++) c->rest[n][i] = mesh->X[3 * n + (size_t)i];
  for (size_t b = 0; b < batches; b++) c->rotation[4 * b] = eb_v4_set(1);
  for (size_t k = 0; k < EB_CORNERS * batches; k++) c->stale[4 * k] = eb_v4_set(1);
  eb_corotation_freeze_nodes(c);
  return EB_OK;
}

eb_error eb_corotation_create(const eb_mesh *mesh, const eb_material *materials,
                              eb_corotation **out) {
  eb_corotation *c;
  *out = NULL;
  EB_TRY(check_materials(mesh, materials));
  EB_TRY(EB_NEW(c, 1));
  eb_error error = build(mesh, materials, c);
  if (error) {
    eb_corotation_destroy(c);
    return error;
  }
  *out = c;
  return EB_OK;
}

void eb_corotation_destroy(eb_corotation *c) {
  if (!c) return;
  eb_elasticity_destroy(c->elasticity);
  free(c->rest);
  free(c->node_quaternion);
  free(c->node_rotation);
  free(c->rotation);
  free(c->stale);
  free(c);
}

int64_t eb_corotation_bytes(const eb_corotation *c) {
  int64_t nodes = c->elasticity->node_count, batches = c->elasticity->batch_count;
  int64_t vectors = 2 * nodes + 4 * (1 + EB_CORNERS) * batches;
  return (int64_t)sizeof *c + eb_elasticity_bytes(c->elasticity) +
         vectors * (int64_t)sizeof(eb_v4) + 9 * nodes * (int64_t)sizeof(double);
}

/* ---- rotations ------------------------------------------------------------------------------------- */

static void rotate_chunk(eb_corotation *c, int32_t begin, int32_t end, const double *x) {
  point_group group;
  eb_v4 R[9];
  for (int32_t first = begin; first < end; first += EB_GROUP_POINTS) {
    int32_t stop = group_end(1, first, end);
    for (int32_t b = first; b < stop; b++)
      mean_deformation(EB_CORNERS, 1, c->elasticity, b, x, group.F[b - first]);
    eb_svd3(stop - first, (const eb_v4(*)[9])group.F, group.U, group.s, group.V);
    for (int32_t b = first; b < stop; b++) {
      eb_rotation3(group.U[b - first], group.V[b - first], R);
      eb_quaternion_of(R, c->rotation + 4 * (int64_t)b);
    }
  }
}

void eb_corotation_rotate_elements(eb_corotation *c, const double *x) {
  const eb_elasticity *e = c->elasticity;
#pragma omp parallel for schedule(dynamic)
  for (int32_t k = 0; k < e->chunk_count; k++)
    rotate_chunk(c, e->chunk_start[k], e->chunk_start[k + 1], x);
}

/* ---- forces -------------------------------------------------------------------------------------------- */

/* Gradients of nodes 1 to 3 in the frame R, and the volume. */
EB_INLINE void turn_geometry(const eb_v4 R[9], const eb_v4 *geometry,
                             eb_v4 turned[EB_TET_GEOMETRY]) {
  for (int a = 0; a < 3; a++) turn(R, geometry + 3 * a, turned + 3 * a);
  turned[9] = geometry[9];
}

EB_INLINE void linear_stress(const eb_law *law, const eb_v4 H[9], eb_v4 sigma[9]) {
  eb_v4 pressure = law->lambda * (H[0] + H[4] + H[8]);
  for (int i = 0; i < 3; i++) {
    sigma[4 * i] = 2 * law->mu * H[4 * i] + pressure;
    for (int j = i + 1; j < 3; j++)
      sigma[3 * i + j] = sigma[3 * j + i] = law->mu * (H[3 * i + j] + H[3 * j + i]);
  }
}

static void add_gradient(const eb_corotation *c, int32_t begin, int32_t end, const double *x,
                         double *g) {
  eb_v4 edge[3][3], R[9], turned[EB_TET_GEOMETRY], H[9], sigma[9], force[3][3];
  for (int32_t b = begin; b < end; b++) {
    gather_edges(EB_CORNERS, tet_nodes(c, b), x, edge);
    unit_matrix(c->rotation + 4 * (int64_t)b, R);
    turn_geometry(R, tet_geometry(c, b), turned);
    deformation(EB_CORNERS, edge, turned, H);
    for (int i = 0; i < 3; i++) H[4 * i] -= 1;
    linear_stress(tet_law(c, b), H, sigma);
    add_force(EB_CORNERS, sigma, turned, true, force);
    scatter_force(EB_CORNERS, tet_nodes(c, b), force, g);
  }
}

void eb_corotation_gradient(const eb_corotation *c, const double *x, double *g) {
  const eb_elasticity *e = c->elasticity;
  eb_schedule *s = e->schedule;
  eb_schedule_begin(s);
#pragma omp parallel
  for (int32_t k; (k = eb_schedule_take(s)) >= 0;) {
    eb_elements_open_gradient(e, k, g);
    add_gradient(c, e->chunk_start[k], e->chunk_start[k + 1], x, g);
    eb_schedule_finish(s, k);
  }
}

/* ---- errors -------------------------------------------------------------------------------------------- */

/* V sigma G_a at all four nodes from vectors at them; geometry as in a batch. */
EB_INLINE void linear_forces(const eb_law *law, const eb_v4 *geometry, const eb_v4 v[EB_CORNERS][3],
                             eb_v4 force[EB_CORNERS][3]) {
  eb_v4 edge[3][3], H[9], sigma[9];
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++) edge[a][i] = v[a + 1][i] - v[0][i];
  deformation(EB_CORNERS, edge, geometry, H);
  linear_stress(law, H, sigma);
  add_force(EB_CORNERS, sigma, geometry, true, force + 1);
  for (int i = 0; i < 3; i++) force[0][i] = -(force[1][i] + force[2][i] + force[3][i]);
}

/* | exact - stale |^2 of batch b. */
EB_INLINE eb_v4 squared_errors(const eb_corotation *c, int32_t b, const double *velocity) {
  const int32_t *node = tet_nodes(c, b);
  eb_v4 v[EB_CORNERS][3], back[EB_CORNERS][3], exact[EB_CORNERS][3], stale[EB_CORNERS][3];
  eb_v4 T[EB_CORNERS][9], R[9], turned[EB_TET_GEOMETRY], q[4], sum = {0};
  for (int a = 0; a < EB_CORNERS; a++) {
    for (int i = 0; i < 3; i++) v[a][i] = gather(node + EB_LANES * a, velocity, i);
    gather_rotation(c, node + EB_LANES * a, q);
    eb_quaternion_product(q, c->stale + 4 * (EB_CORNERS * (int64_t)b + a), q);
    unit_matrix(q, T[a]);
    turn_back(T[a], v[a], back[a]);
  }
  unit_matrix(c->rotation + 4 * (int64_t)b, R);
  turn_geometry(R, tet_geometry(c, b), turned);
  linear_forces(tet_law(c, b), turned, (const eb_v4(*)[3])v, exact);
  linear_forces(tet_law(c, b), tet_geometry(c, b), (const eb_v4(*)[3])back, stale);
  for (int a = 0; a < EB_CORNERS; a++) {
    eb_v4 off[3];
    turn(T[a], stale[a], off);
    for (int i = 0; i < 3; i++) off[i] -= exact[a][i];
    sum += eb_v4_dot3(off, off);
  }
  return sum;
}

static void estimate_chunk(const eb_corotation *c, int32_t begin, int32_t end, const double *v,
                           double scale, double *error) {
  for (int32_t b = begin; b < end; b++) {
    const int32_t *element = c->elasticity->element + EB_LANES * (int64_t)b;
    eb_v4 length = fabs(scale) * eb_v4_sqrt(squared_errors(c, b, v));
    for (int l = 0; l < EB_LANES; l++)
      if (element[l] >= 0) error[element[l]] = length[l];
  }
}

void eb_corotation_errors(const eb_corotation *c, const double *v, double stiffness_scale,
                          double *error) {
  const eb_elasticity *e = c->elasticity;
#pragma omp parallel for schedule(dynamic)
  for (int32_t k = 0; k < e->chunk_count; k++)
    estimate_chunk(c, e->chunk_start[k], e->chunk_start[k + 1], v, stiffness_scale, error);
}
