/* Forces of the elements at supports.
 *
 * With reference gradients G_a of the shape functions at the centre and J = sum X_a G_a^T, the
 * gradients with respect to X are J^-T G_a by the chain rule, hence
 *   F = sum x_a (J^-T G_a)^T,   f_a = dE_e/dx_a = V P(F) J^-T G_a.
 * This is exact for linear triangles and tetrahedra, whose F is constant; for hexahedra it is
 * one-point integration, which sees no hourglass mode: good enough for the size of a force. Planar
 * triangles have J_zz = F_zz = 1 and no force along z.
 *
 * Workspace: an integer an element. Fails when memory is gone. */
#include "solvers/common/support_layer.h"

#include "problems/base/memory.h"
#include "problems/ranks/subdomain.h"

#include <math.h>

eb_error eb_support_layer_create(const eb_scene *scene, eb_support_layer *out) {
  *out = (eb_support_layer){.scene = scene};
  return EB_NEW(out->elements, eb_scene_own_elements(scene));
}

void eb_support_layer_clear(eb_support_layer *layer) {
  free(layer->elements);
  *layer = (eb_support_layer){0};
}

void eb_support_layer_update(eb_support_layer *layer, const uint8_t *fixed) {
  const eb_mesh *mesh = layer->scene->mesh;
  const int nodes = (int)mesh->type;
  layer->count = 0;
  for (int32_t e = 0; e < eb_scene_own_elements(layer->scene); e++) {
    const int32_t *node = mesh->elements + (int64_t)nodes * e;
    int scripted = 0;
    for (int a = 0; a < nodes; a++) scripted += fixed[node[a]] != 0;
    if (scripted > 0 && scripted < nodes) layer->elements[layer->count++] = e;
  }
}

static const double triangle[3][3] = {{-1, -1, 0}, {1, 0, 0}, {0, 1, 0}};
static const double tetrahedron[4][3] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
/* Of the cube [-1, 1]^3, corners in VTK's order. */
static const double hexahedron[8][3] = {{-0.125, -0.125, -0.125}, {0.125, -0.125, -0.125},
                                        {0.125, 0.125, -0.125},   {-0.125, 0.125, -0.125},
                                        {-0.125, -0.125, 0.125},  {0.125, -0.125, 0.125},
                                        {0.125, 0.125, 0.125},    {-0.125, 0.125, 0.125}};

/* sum p_a G_a^T */
static void gather(const double *p, const int32_t *node, int nodes, const double (*G)[3],
                   double out[9]) {
  for (int i = 0; i < 9; i++) out[i] = 0;
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < 9; i++) out[i] += p[3 * (int64_t)node[a] + i / 3] * G[a][i % 3];
}

/* Cofactor matrix; J^-1 = cof(J)^T / det J. Returns det J. */
static double cofactor(const double J[9], double out[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      out[3 * i + j] = J[3 * a + c] * J[3 * b + d] - J[3 * a + d] * J[3 * b + c];
    }
  return J[0] * out[0] + J[1] * out[1] + J[2] * out[2];
}

/* c = a b, or a b^T */
static void multiply(const double a[9], const double b[9], bool transpose, double c[9]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      c[3 * i + j] = 0;
      for (int k = 0; k < 3; k++)
        c[3 * i + j] += a[3 * i + k] * (transpose ? b[3 * j + k] : b[3 * k + j]);
    }
}

typedef struct element_shape {
  const double (*gradients)[3];
  double volume; /* over that of J */
} element_shape;

static element_shape shape_of(eb_element_type type) {
  if (type == EB_TRIANGLE) return (element_shape){triangle, 1. / 2};
  if (type == EB_TETRAHEDRON) return (element_shape){tetrahedron, 1. / 6};
  return (element_shape){hexahedron, 8};
}

/* Sum of |f_a|^2 over the free nodes of element e.
 *
 * With x = sum x_a N_a(xi), J = dX/dxi = sum X_a G_a^T, G_a = dN_a/dxi, and F = (sum x_a G_a^T)
 * inv(J), the force on corner a is dE/dx_a = V P(F) inv(J)^T G_a: flux = P inv(J)^T is common to
 * the corners. Linear elements have one F; of a hexahedron the one at its centre is taken,
 * volume 8 det J, which is a scale for a tolerance and no force that anything is moved by. In
 * the plane F_33 = 1 and V is area times thickness. */
static double squared_force(const eb_support_layer *layer, const uint8_t *fixed, const double *x,
                            int32_t e) {
  const eb_mesh *mesh = layer->scene->mesh;
  const int nodes = (int)mesh->type;
  const bool planar = mesh->type == EB_TRIANGLE;
  const element_shape shape = shape_of(mesh->type);
  const double(*G)[3] = shape.gradients;
  const eb_material *material = &layer->scene->materials[mesh->region[e]];
  const int32_t *node = mesh->elements + (int64_t)nodes * e;
  double J[9], cof[9], inverse[9], spread[9], F[9], P[9], flux[9], sum = 0;
  gather(mesh->X, node, nodes, G, J);
  if (planar) J[8] = 1;
  double det = cofactor(J, cof);
  double volume = det * shape.volume * (planar ? eb_material_thickness(material) : 1);
  for (int i = 0; i < 9; i++) inverse[i] = cof[3 * (i % 3) + i / 3] / det;
  gather(x, node, nodes, G, spread);
  multiply(spread, inverse, false, F);
  for (int k = 0; planar && k < 3; k++) F[6 + k] = k == 2;
  const double *fibre = mesh->fibre ? mesh->fibre + 3 * (int64_t)e : NULL;
  eb_material_stress(material, F, fibre, P);
  multiply(P, inverse, true, flux);
  for (int a = 0; a < nodes; a++)
    for (int i = 0; i < (planar ? 2 : 3) && !fixed[node[a]]; i++) {
      double f =
          volume * (flux[3 * i] * G[a][0] + flux[3 * i + 1] * G[a][1] + flux[3 * i + 2] * G[a][2]);
      sum += f * f;
    }
  return sum;
}

double eb_support_layer_force(const eb_support_layer *layer, const uint8_t *fixed,
                              const double *x) {
  double sum = 0;
  for (int32_t k = 0; k < layer->count; k++)
    sum += squared_force(layer, fixed, x, layer->elements[k]);
  eb_ranks_sum(eb_scene_ranks(layer->scene), 1, &sum);
  return sqrt(sum);
}
