/* Kernels of corotation taken apart, on a bent and twisted bar of 124 800 tetrahedra whose matrix
 * is stale by half of its deformation. Refresh is measured with every element marked, with one in
 * ten anywhere (marked elements a second), and with none (all elements a second: what looking at
 * the marks costs). */
#include <math.h>

#include "harness/bench/bench.h"
#include "problems/base/memory.h"
#include "problems/elasticity/corotation.h"
#include "problems/mesh/generate.h"

typedef struct corotation_context {
  eb_mesh *mesh;
  eb_corotation *corotation;
  eb_elasticity *elasticity; /* mass and pattern */
  eb_block_matrix *matrix;
  double *x, *v, *out;
  uint8_t *marked;
} corotation_context;

static const eb_grid bar = {.cubes = {52, 20, 20}, .size = {1.3, 0.5, 0.5}};
static const double STIFFNESS_SCALE = 1.0 / 900; /* h^2 of the published steps, s^2 */

static void clear(void *context) {
  corotation_context *c = context;
  if (!c) return;
  eb_block_matrix_destroy(c->matrix);
  eb_elasticity_destroy(c->elasticity);
  eb_corotation_destroy(c->corotation);
  eb_mesh_destroy(c->mesh);
  free(c->x);
  free(c->v);
  free(c->out);
  free(c->marked);
  free(c);
}

/* Bent round an axis along y by `angle` over its length and twisted by as much; v is what is left
 * of a swing. */
static void deform(corotation_context *c, double angle) {
  for (int64_t n = 0; n < c->mesh->node_count; n++) {
    const double *X = c->mesh->X + 3 * n;
    double t = angle * X[0] / bar.size[0], ct = cos(t), st = sin(t);
    double y = ct * X[1] - st * X[2], z = st * X[1] + ct * X[2], r = bar.size[0] / angle;
    const double at[3] = {(r - z) * st, y, r - (r - z) * ct};
    for (int i = 0; i < 3; i++) {
      c->x[3 * n + i] = at[i] + 1e-3 * sin(40 * X[(i + 1) % 3]);
      c->v[3 * n + i] = sin(3 * X[0] + i) - at[(i + 2) % 3];
    }
  }
}

static eb_error fill(corotation_context *c) {
  const eb_material material = {
      .kind = EB_COROTATIONAL, .young = 5e6, .poisson = 0.4, .density = 1000};
  EB_TRY(eb_generate_tets6(&bar, &c->mesh));
  EB_TRY(eb_corotation_create(c->mesh, &material, &c->corotation));
  EB_TRY(eb_elasticity_create(c->mesh, &material, &c->elasticity));
  EB_TRY(eb_block_matrix_like(eb_elasticity_pattern(c->elasticity), &c->matrix));
  EB_TRY(EB_NEW(c->x, 3 * (size_t)c->mesh->node_count));
  EB_TRY(EB_NEW(c->v, 3 * (size_t)c->mesh->node_count));
  EB_TRY(EB_NEW(c->out, 3 * (size_t)c->mesh->element_count));
  EB_TRY(EB_NEW(c->marked, c->mesh->element_count));
  const double angle[2] = {0.8, 1.6};
  for (int k = 0; k < 2; k++) {
    deform(c, angle[k]);
    eb_corotation_rotate_elements(c->corotation, c->x);
    eb_corotation_rotate_nodes(c->corotation, c->x);
    if (k == 0)
      eb_corotation_assemble(c->corotation, eb_elasticity_mass(c->elasticity), 1, STIFFNESS_SCALE,
                             c->matrix);
  }
  return EB_OK;
}

/* Marks each element with a chance of one in `one_in`, none when 0; *work is the number of marks,
 * or of all. */
static eb_error setup_marked(uint32_t one_in, void **context, double *work) {
  corotation_context *c;
  EB_TRY(EB_NEW(c, 1));
  eb_error error = fill(c);
  if (error) {
    clear(c);
    return error;
  }
  uint32_t random = 1;
  int32_t marks = 0;
  for (int32_t e = 0; one_in && e < c->mesh->element_count; e++) {
    random = random * 1664525u + 1013904223u;
    c->marked[e] = (random >> 8) % one_in == 0;
    marks += c->marked[e];
  }
  *context = c;
  *work = one_in ? marks : c->mesh->element_count;
  return EB_OK;
}

static eb_error setup(void **context, double *work) {
  return setup_marked(0, context, work);
}

static eb_error setup_all(void **context, double *work) {
  return setup_marked(1, context, work);
}

static eb_error setup_scattered(void **context, double *work) {
  return setup_marked(10, context, work);
}

static eb_error setup_nodes(void **context, double *work) {
  EB_TRY(setup_marked(0, context, work));
  *work = ((corotation_context *)*context)->mesh->node_count;
  return EB_OK;
}

static void run_elements(void *context) {
  corotation_context *c = context;
  eb_corotation_rotate_elements(c->corotation, c->x);
}

static void run_nodes(void *context) {
  corotation_context *c = context;
  eb_corotation_rotate_nodes(c->corotation, c->x);
}

static void run_gradient(void *context) {
  corotation_context *c = context;
  eb_corotation_gradient(c->corotation, c->x, c->out);
}

static void run_errors(void *context) {
  corotation_context *c = context;
  eb_corotation_errors(c->corotation, c->v, STIFFNESS_SCALE, c->out);
}

static void run_assemble(void *context) {
  corotation_context *c = context;
  eb_corotation_assemble(c->corotation, eb_elasticity_mass(c->elasticity), 1, STIFFNESS_SCALE,
                         c->matrix);
}

static void run_refresh(void *context) {
  corotation_context *c = context;
  eb_corotation_refresh(c->corotation, c->marked, STIFFNESS_SCALE, c->matrix);
}

#define COROTATION(name_, unit_, target_, setup_, run_)                                            \
  {                                                                                                \
    .name = "corotation/" name_, .unit = unit_, .measure = EB_BENCH_RATE, .target = target_,       \
    .scales_with = "dgemm", .setup = setup_, .run = run_, .clear = clear                           \
  }

const eb_bench_case eb_bench_corotation[] = {
    COROTATION("rotate-elements", "tets", 8e6, setup, run_elements),
    COROTATION("rotate-nodes", "nodes", 4e6, setup_nodes, run_nodes),
    COROTATION("gradient", "tets", 15e6, setup, run_gradient),
    COROTATION("errors", "tets", 8e6, setup, run_errors),
    COROTATION("assemble", "tets", 4e6, setup, run_assemble),
    COROTATION("refresh-all", "tets", 3e6, setup_all, run_refresh),
    COROTATION("refresh-scattered", "tets", 3e6, setup_scattered, run_refresh),
    COROTATION("refresh-none", "tets", 100e6, setup, run_refresh),
    {0}};
