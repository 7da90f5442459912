/* Kernels of problems/elasticity: SVD, gradient, assembled matrices. Meshes are twisted bars, so
 * that every element is deformed and the projection has work to do: 124 800 tetrahedra, whose
 * matrix is far larger than a second-level cache, and the 15 360 of bench/beam.
 *
 * Kernels of corotation are taken apart on the larger bar, bent and twisted, whose matrix is stale
 * by half of its deformation. Refresh is measured with every element marked, with one in ten
 * anywhere (marked elements a second), and with none (all elements a second: what looking at the
 * marks costs). */
#include <math.h>

#include "harness/bench/bench.h"
#include "problems/base/memory.h"
#include "problems/elasticity/corotation.h"
#include "problems/elasticity/elasticity.h"
#include "problems/elasticity/svd3.h"
#include "problems/mesh/generate.h"

/* ---- SVD ------------------------------------------------------------------------------------- */

enum { BATCHES = 8192, CHUNK = 64 };

typedef eb_v4 batch9[9];
typedef eb_v4 batch3[3];

typedef struct svd_context {
  batch9 *F, *U, *V;
  batch3 *s;
} svd_context;

static void clear_svd(void *context) {
  svd_context *c = context;
  free(c->F);
  free(c->U);
  free(c->V);
  free(c->s);
}

static eb_error set_up_svd(void *context, const void *of, double *work) {
  svd_context *c = context;
  uint32_t random = 1;
  (void)of;
  EB_TRY(EB_NEW(c->F, BATCHES));
  EB_TRY(EB_NEW(c->U, BATCHES));
  EB_TRY(EB_NEW(c->V, BATCHES));
  EB_TRY(EB_NEW(c->s, BATCHES));
  for (int b = 0; b < BATCHES; b++)
    for (int i = 0; i < 9 * EB_LANES; i++) {
      random = random * 1664525u + 1013904223u;
      c->F[b][i / EB_LANES][i % EB_LANES] = (double)random * 0x1p-31 - 1;
    }
  *work = (double)BATCHES * EB_LANES;
  return EB_OK;
}

static void run_svd(void *context, int which) {
  svd_context *c = context;
  (void)which;
#pragma omp parallel for schedule(static)
  for (int b = 0; b < BATCHES; b += CHUNK)
    eb_svd3(CHUNK, (const batch9 *)c->F + b, c->U + b, c->s + b, c->V + b);
}

/* ---- bars ------------------------------------------------------------------------------------ */

typedef struct bar {
  eb_mesh *mesh;
  eb_corotation *corotation; /* or NULL */
  eb_elasticity *elasticity;
  eb_block_matrix *matrix;
  double *x, *v, *out; /* out: 9 an element */
  uint8_t *marked;     /* elements */
} bar;

static void clear_bar(void *context) {
  bar *c = context;
  eb_block_matrix_destroy(c->matrix);
  eb_elasticity_destroy(c->elasticity);
  eb_corotation_destroy(c->corotation);
  eb_mesh_destroy(c->mesh);
  free(c->x);
  free(c->v);
  free(c->out);
  free(c->marked);
}

static const eb_grid large = {.cubes = {52, 20, 20}, .size = {1.3, 0.5, 0.5}};
static const eb_grid beam = {.cubes = {40, 8, 8}, .size = {1, 0.2, 0.2}};
static const eb_grid blocks = {.cubes = {40, 20, 20}, .size = {1, 0.5, 0.5}};
static const double STIFFNESS_SCALE = 1.0 / 900; /* h^2 of the published steps, s^2 */

/* A turn of 120 degrees along the bar and a wave across it. */
static void twist(const eb_mesh *mesh, double length, double *x) {
  for (int64_t n = 0; n < mesh->node_count; n++) {
    const double *X = mesh->X + 3 * n;
    double angle = 2.1 * X[0] / length, c = cos(angle), s = sin(angle);
    double bulge = 1 + 0.2 * sin(9 * X[0] / length) * cos(40 * X[1] / length);
    x[3 * n] = X[0] * (1 + 0.1 * sin(50 * X[2] / length));
    x[3 * n + 1] = bulge * (c * X[1] - s * X[2]);
    x[3 * n + 2] = bulge * (s * X[1] + c * X[2]);
  }
}

/* Bent round an axis along y by `angle` over its length and twisted by as much; v is what is left
 * of a swing. */
static void bend(bar *c, double angle) {
  for (int64_t n = 0; n < c->mesh->node_count; n++) {
    const double *X = c->mesh->X + 3 * n;
    double t = angle * X[0] / large.size[0], ct = cos(t), st = sin(t);
    double y = ct * X[1] - st * X[2], z = st * X[1] + ct * X[2], r = large.size[0] / angle;
    const double at[3] = {(r - z) * st, y, r - (r - z) * ct};
    for (int i = 0; i < 3; i++) {
      c->x[3 * n + i] = at[i] + 1e-3 * sin(40 * X[(i + 1) % 3]);
      c->v[3 * n + i] = sin(3 * X[0] + i) - at[(i + 2) % 3];
    }
  }
}

static eb_error make_bar(bar *c, const eb_grid *grid, const eb_material *material, bool hexahedra) {
  EB_TRY(hexahedra ? eb_generate_hexahedra(grid, &c->mesh) : eb_generate_tets6(grid, &c->mesh));
  EB_TRY(eb_elasticity_create(c->mesh, material, &c->elasticity));
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(c->elasticity), &c->matrix));
  EB_TRY(EB_NEW(c->x, 3 * (size_t)c->mesh->node_count));
  EB_TRY(EB_NEW(c->v, 3 * (size_t)c->mesh->node_count));
  return EB_NEW(c->out, 9 * (size_t)c->mesh->element_count);
}

/* ---- assembly -------------------------------------------------------------------------------- */

typedef struct assembly_of {
  const eb_grid *grid;
  eb_material_kind kind;
  bool hexahedra;
  eb_integration integration;
} assembly_of;

static eb_error set_up_assembly(void *context, const void *of, double *work) {
  bar *c = context;
  const assembly_of *a = of;
  const eb_material material = {.kind = a->kind,
                                .young = 1e6,
                                .poisson = 0.45,
                                .density = 1000,
                                .integration = a->integration};
  EB_TRY(make_bar(c, a->grid, &material, a->hexahedra));
  twist(c->mesh, a->grid->size[0], c->x);
  *work = c->mesh->element_count;
  return EB_OK;
}

enum { ENERGY, GRADIENT, ROTATIONS, MATRIX, MATRIX_AND_GRADIENT };

static void run_assembly(void *context, int which) {
  bar *c = context;
  switch (which) {
  case ENERGY:
    c->out[0] = eb_elasticity_energy(c->elasticity, c->x);
    break;
  case GRADIENT:
    eb_elasticity_gradient(c->elasticity, c->x, c->v);
    break;
  case ROTATIONS:
    eb_elasticity_rotations(c->elasticity, c->x, c->out);
    break;
  default:
    eb_elasticity_matrix(c->elasticity, c->x, 1, 1e-4, true, c->matrix,
                         which == MATRIX ? NULL : c->v);
  }
}

/* ---- corotation ------------------------------------------------------------------------------ */

/* *of: elements are marked with a chance of one in that, none when 0; *work is the number of marks,
 * or of all elements. */
static eb_error set_up_corotation(void *context, const void *of, double *work) {
  bar *c = context;
  const uint32_t one_in = *(const uint32_t *)of;
  const eb_material material = {
      .kind = EB_COROTATIONAL, .young = 5e6, .poisson = 0.4, .density = 1000};
  const double angle[2] = {0.8, 1.6};
  uint32_t random = 1;
  int32_t marks = 0;
  EB_TRY(make_bar(c, &large, &material, false));
  EB_TRY(eb_corotation_create(c->mesh, &material, &c->corotation));
  EB_TRY(EB_NEW(c->marked, c->mesh->element_count));
  for (int k = 0; k < 2; k++) {
    bend(c, angle[k]);
    eb_corotation_rotate_elements(c->corotation, c->x);
    eb_corotation_rotate_nodes(c->corotation, c->x);
    if (k == 0)
      eb_corotation_assemble(c->corotation, eb_elasticity_mass(c->elasticity), 1, STIFFNESS_SCALE,
                             c->matrix);
  }
  for (int32_t e = 0; one_in && e < c->mesh->element_count; e++) {
    random = random * 1664525u + 1013904223u;
    c->marked[e] = (random >> 8) % one_in == 0;
    marks += c->marked[e];
  }
  *work = one_in ? marks : c->mesh->element_count;
  return EB_OK;
}

static eb_error set_up_nodes(void *context, const void *of, double *work) {
  EB_TRY(set_up_corotation(context, of, work));
  *work = ((bar *)context)->mesh->node_count;
  return EB_OK;
}

enum { ROTATE_ELEMENTS, ROTATE_NODES, COROTATED_GRADIENT, ERRORS, ASSEMBLE, REFRESH };

static void run_corotation(void *context, int which) {
  bar *c = context;
  switch (which) {
  case ROTATE_ELEMENTS:
    eb_corotation_rotate_elements(c->corotation, c->x);
    break;
  case ROTATE_NODES:
    eb_corotation_rotate_nodes(c->corotation, c->x);
    break;
  case COROTATED_GRADIENT:
    eb_corotation_gradient(c->corotation, c->x, c->out);
    break;
  case ERRORS:
    eb_corotation_errors(c->corotation, c->v, STIFFNESS_SCALE, c->out);
    break;
  case ASSEMBLE:
    eb_corotation_assemble(c->corotation, eb_elasticity_mass(c->elasticity), 1, STIFFNESS_SCALE,
                           c->matrix);
    break;
  default:
    eb_corotation_refresh(c->corotation, c->marked, STIFFNESS_SCALE, c->matrix);
  }
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const assembly_of neo_hookean = {&large, EB_STABLE_NEO_HOOKEAN, false, 0},
                         on_beam = {&beam, EB_STABLE_NEO_HOOKEAN, false, 0},
                         corotational = {&large, EB_COROTATIONAL, false, 0},
                         hexahedra = {&blocks, EB_STABLE_NEO_HOOKEAN, true, 0},
                         staggered = {&blocks, EB_STABLE_NEO_HOOKEAN, true,
                                      EB_INTEGRATION_STAGGERED};
static const uint32_t none = 0, all = 1, one_in_ten = 10;

#define ASSEMBLY(name_, unit_, target_, of_, which_)                                               \
  {                                                                                                \
    .name = name_, .unit = unit_, .measure = EB_BENCH_RATE, .target = target_,                     \
    .scales_with = "dgemm", .bytes = sizeof(bar), .of = &of_, .setup = set_up_assembly,            \
    .run = run_assembly, .which = which_, .clear = clear_bar                                       \
  }
#define COROTATION(name_, unit_, target_, of_, setup_, which_)                                     \
  {                                                                                                \
    .name = "corotation/" name_, .unit = unit_, .measure = EB_BENCH_RATE, .target = target_,       \
    .scales_with = "dgemm", .bytes = sizeof(bar), .of = &of_, .setup = setup_,                     \
    .run = run_corotation, .which = which_, .clear = clear_bar                                     \
  }

const eb_bench_case eb_bench_elasticity[] = {
    {.name = "svd",
     .unit = "matrix",
     .measure = EB_BENCH_TIME,
     .target = 60e-9,
     .scales_with = "dgemm",
     .bytes = sizeof(svd_context),
     .setup = set_up_svd,
     .run = run_svd,
     .clear = clear_svd},
    ASSEMBLY("energy/stable-neo-hookean", "tets", 0, neo_hookean, ENERGY),
    ASSEMBLY("gradient/stable-neo-hookean", "tets", 6e6, neo_hookean, GRADIENT),
    ASSEMBLY("gradient/corotational", "tets", 0, corotational, GRADIENT),
    ASSEMBLY("rotations", "tets", 0, corotational, ROTATIONS),
    ASSEMBLY("projected-matrix/stable-neo-hookean", "tets", 1e6, neo_hookean, MATRIX),
    ASSEMBLY("projected-matrix-gradient/beam", "tets", 1e6, on_beam, MATRIX_AND_GRADIENT),
    ASSEMBLY("matrix/corotational", "tets", 3e6, corotational, MATRIX),
    ASSEMBLY("gradient/hexahedra", "hexahedra", 0, hexahedra, GRADIENT),
    ASSEMBLY("gradient/staggered-hexahedra", "hexahedra", 0, staggered, GRADIENT),
    ASSEMBLY("projected-matrix/hexahedra", "hexahedra", 0, hexahedra, MATRIX),
    ASSEMBLY("projected-matrix/staggered-hexahedra", "hexahedra", 0, staggered, MATRIX),
    COROTATION("rotate-elements", "tets", 8e6, none, set_up_corotation, ROTATE_ELEMENTS),
    COROTATION("rotate-nodes", "nodes", 4e6, none, set_up_nodes, ROTATE_NODES),
    COROTATION("gradient", "tets", 15e6, none, set_up_corotation, COROTATED_GRADIENT),
    COROTATION("errors", "tets", 8e6, none, set_up_corotation, ERRORS),
    COROTATION("assemble", "tets", 4e6, none, set_up_corotation, ASSEMBLE),
    COROTATION("refresh-all", "tets", 3e6, all, set_up_corotation, REFRESH),
    COROTATION("refresh-scattered", "tets", 3e6, one_in_ten, set_up_corotation, REFRESH),
    COROTATION("refresh-none", "tets", 100e6, none, set_up_corotation, REFRESH),
    {0}};
