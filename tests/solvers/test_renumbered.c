/* Bodies whose nodes, elements and nodes within elements are numbered otherwise move alike: what
 * solvers choose, they choose by place. */
#include "problems/mesh/places.h"
#include "tests/support/owned.h"
#include "tests/support/random.h"
#include "tests/support/solver_fixture.h"

/* ---- a mesh that is numbered otherwise ------------------------------------------------------- */

/* place[i]: where the i-th goes. */
static int32_t *shuffled(int32_t count, uint64_t seed) {
  random_state random = random_seed(seed);
  int32_t *place = malloc((size_t)count * sizeof *place);
  for (int32_t i = 0; i < count; i++) place[i] = i;
  for (int32_t i = count - 1; i > 0; i--) {
    int32_t j = (int32_t)random_uniform(&random, 0, i + 1), kept = place[i];
    place[i] = place[j];
    place[j] = kept;
  }
  return place;
}

/* The nodes of an element after a rotation of three of them, which keeps its volume's sign. */
static void place_element(const int32_t *nodes, int type, const int32_t *place, bool turned,
                          int32_t *to) {
  for (int k = 0; k < type; k++) to[k] = place[nodes[turned && k ? 1 + k % (type - 1) : k]];
}

static int compare_numbers(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* nodes_to: where each node went, for the caller to free. */
static eb_mesh *renumbered(const eb_mesh *mesh, int32_t **nodes_to) {
  int type = (int)mesh->type;
  bool turns = mesh->type == EB_TETRAHEDRON;
  owned(int32_t) *element_to = shuffled(mesh->element_count, 5);
  int32_t *to = *nodes_to = shuffled(mesh->node_count, 3);
  eb_mesh *out;
  tap_require(eb_mesh_copy(mesh, &out), "a copy");
  for (int32_t i = 0; i < mesh->node_count; i++)
    memcpy(out->X + 3 * to[i], mesh->X + 3 * i, 3 * sizeof *mesh->X);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    int32_t at = element_to[e];
    place_element(mesh->elements + type * e, type, to, turns && e % 3, out->elements + type * at);
    out->region[at] = mesh->region[e];
  }
  for (int32_t s = 0; s < out->set_count; s++) {
    eb_node_set *set = &out->sets[s];
    for (int32_t k = 0; k < set->count; k++) set->nodes[k] = to[mesh->sets[s].nodes[k]];
    qsort(set->nodes, (size_t)set->count, sizeof *set->nodes, compare_numbers);
  }
  return out;
}

static eb_error renumbered_block(const eb_values *values, eb_mesh **out) {
  owned(eb_mesh) *mesh = NULL;
  owned(int32_t) *to = NULL;
  EB_TRY(eb_block_scene.mesh(values, &mesh));
  *out = renumbered(mesh, &to);
  return EB_OK;
}

static fixture renumbered_open(const char *parameters) {
  static eb_scene_ops ops;
  fixture f = {0};
  ops = eb_block_scene;
  ops.mesh = renumbered_block;
  tap_require(eb_scene_create(&ops, parameters, NULL, "", &f.scene), parameters);
  tap_require(eb_state_create(f.scene, &f.state), "a state");
  tap_require(eb_step_log_create(4096, &f.log), "a log");
  return f;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void orders_follow_places(const char *parameters) {
  owned(fixture) f = fixture_open(parameters);
  const eb_mesh *mesh = f.scene->mesh;
  int type = (int)mesh->type;
  owned(int32_t) *to = NULL;
  owned(eb_mesh) *other = renumbered(mesh, &to);
  size_t most = (size_t)mesh->node_count + (size_t)mesh->element_count;
  owned(int32_t) *a = malloc(most * sizeof *a), *b = malloc(most * sizeof *b);
  bool nodes = true, elements = true, moved = false;
  tap_require(eb_mesh_nodes_by_place(mesh, a), "an order");
  tap_require(eb_mesh_nodes_by_place(other, b), "an order");
  for (int32_t i = 0; i < mesh->node_count; i++) {
    nodes &= b[i] == to[a[i]];
    moved |= b[i] != a[i];
  }
  tap_ok(nodes && moved, "%s: nodes come in the order of their places", parameters);
  tap_require(eb_mesh_elements_by_place(mesh, a), "an order");
  tap_require(eb_mesh_elements_by_place(other, b), "an order");
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = 0; k < type; k++) {
      bool found = false;
      for (int m = 0; m < type; m++)
        found |= other->elements[type * b[e] + m] == to[mesh->elements[type * a[e] + k]];
      elements &= found;
    }
  tap_ok(elements, "%s: elements too, whatever the order of their nodes", parameters);
}

static void generated_grids_are_in_order(void) {
  owned(fixture) f = fixture_open("nx=3,ny=2,nz=2");
  const eb_mesh *mesh = f.scene->mesh;
  owned(int32_t) *order = malloc((size_t)mesh->node_count * sizeof *order);
  bool same = true;
  tap_require(eb_mesh_nodes_by_place(mesh, order), "an order");
  for (int32_t i = 0; i < mesh->node_count; i++) same &= order[i] == i;
  tap_ok(same, "the nodes of a grid are numbered by place");
}

/* ---- motions --------------------------------------------------------------------------------- */

/* How far apart a body and its renumbered twin are, over the motion. */
static double apart(const char *parameters, const char *solver, const char *options) {
  owned(fixture) f = fixture_open(parameters), g = renumbered_open(parameters);
  owned(int32_t) *to = shuffled(f.scene->mesh->node_count, 3);
  double off = 0, motion = 0;
  fixture_step(&f, solver, options, 6);
  fixture_step(&g, solver, options, 6);
  if (f.reason < 0 || g.reason < 0) return NAN;
  for (int32_t i = 0; i < f.state->node_count; i++)
    for (int d = 0; d < 3; d++) {
      double x = f.state->x[3 * i + d];
      off = fmax(off, fabs(g.state->x[3 * to[i] + d] - x));
      motion = fmax(motion, fabs(x - f.scene->mesh->X[3 * i + d]));
    }
  return off / motion;
}

/* Rounding of a step is some 1e-14 of the motion, of modes that a factor has found 1e-11. */
static void motions_are_alike(void) {
  static const struct {
    const char *solver, *options;
  } all[] = {{"newton", ""},
             {"vbd", "iterations=3"},
             {"conjac", "dynamic=6"},
             {"conjac", "dynamic=6,selection=farthest"},
             {"conjac", "dynamic=1,add_nodes=true"},
             {"mfem-subspace", "cache=false"},
             {"mfem-subspace", "cache=false,modes=6,points=20"},
             {"mfem-subspace", "cache=false,representative=median"},
             {"mfem-subspace", "cache=false,weights=biharmonic,modes=5"},
             {"fem-subspace", "cache=false,basis=linear"},
             {"fem-subspace", "cache=false,stiffness=uniform"}};
  static const char *const blocks[] = {"nx=6,ny=2,nz=2,lx=3,ly=0.9,lz=1,support=x0,gz=-9.8,dt=0.01",
                                       "nx=6,ny=2,nz=3,lx=3,ly=0.9,lz=1,support=x0,gy=-9.8,dt=0.01,"
                                       "jitter=0.1"};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
      double off = apart(blocks[b], all[i].solver, all[i].options);
      tap_ok(off <= 1e-9, "%s:%s moves alike however %s is numbered (%.1e)", all[i].solver,
             all[i].options, blocks[b], off);
    }
}

int main(void) {
  orders_follow_places("nx=3,ny=2,nz=2");
  orders_follow_places("nx=3,ny=2,nz=2,element=hexahedra,jitter=0.1");
  generated_grids_are_in_order();
  motions_are_alike();
  return tap_done();
}
