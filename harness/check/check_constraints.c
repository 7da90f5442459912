/* Position-based steps, kind of constraint by kind: that each does what it is there for.
 *
 * Stiffnesses of constraints are no moduli, and errors against implicit Euler are of order one with
 * or without one of them: a run does not show that a kind is missing, since the others lower its
 * energy as well. So a block at rest, on which nothing else acts, is put where the others have
 * nothing to do in some direction, and takes one step. Of unit cubes, X from the middle:
 *
 *   shape       x += s y, a simple shear: det F = 1, and no hourglass pattern
 *   volume      x = F X with ends that stay there; F stretches along the block by 8 % and across it
 *               by -5 and 4 %. |F - R|^2 draws the sides in by as much as it lets them out, near
 *               enough; det F = 1.07 wants them in
 *   hourglass   x += s (-1)^(i + j + k), hexahedra of one point: F = I in the middle of each
 *
 * A figure is how far the step moves nodes back along such a field u, sum (x0 - x1).u / sum u.u,
 * over the size that it is to lose. */
#include <math.h>

#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"

enum { CUBES = 4 };

static const double strain = 0.05;

/* ---- fields ---------------------------------------------------------------------------------- */

typedef void field(const eb_mesh *mesh, const double X[3], double u[3]);

static void shear(const eb_mesh *mesh, const double X[3], double u[3]) {
  (void)mesh;
  u[0] = X[1] - 0.5 * CUBES;
}

static void affine(const eb_mesh *mesh, const double X[3], double u[3]) {
  eb_block_affine(mesh, X, u);
  for (int d = 0; d < 3; d++) u[d] = (u[d] - X[d]) / strain;
}

static void sides(const eb_mesh *mesh, const double X[3], double u[3]) {
  (void)mesh;
  for (int d = 1; d < 3; d++) u[d] = X[d] - 0.5 * CUBES;
}

static void pattern(const eb_mesh *mesh, const double X[3], double u[3]) {
  (void)mesh;
  u[0] = lround(X[0] + X[1] + X[2]) % 2 ? -1 : 1;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

typedef struct kind {
  const char *name, *parameters;
  field *put, *seen;
  double least;
  const char *reason;
} kind;

static const kind kinds[] = {
    {"shape", "element=tets5", shear, shear, 0.05,
     "of a shear is gone after a step; the volume of a block has nothing to say to it"},
    {"volume", "element=tets5,support=ends,motion=affine", affine, sides, 0.05,
     "of a strain of 5 % is taken off the sides of a block that is stretched between its ends; "
     "its shape leaves them where they are"},
    {"hourglass", "element=hexahedra-one-point", pattern, pattern, 0.05,
     "of an hourglass pattern is gone after a step; F in the middle of elements has nothing to say "
     "to it"}};

static double moved_back(const eb_scene *scene, const double *x, field *f) {
  double with = 0, square = 0;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    const int64_t at = 3 * (int64_t)i;
    double u[3] = {0};
    f(scene->mesh, scene->mesh->X + at, u);
    for (int d = 0; d < 3; d++) {
      with += u[d] * (scene->x0[at + d] - x[at + d]);
      square += u[d] * u[d];
    }
  }
  return with / square / strain;
}

static eb_error look_at(const eb_check *check, const kind *k) {
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(eb_check_free_state) eb_state *state = NULL;
  EB_TRY(eb_block_create(&scene, "nx=%d,ny=%d,nz=%d,lx=%d,ly=%d,lz=%d,nu=0.45,material=%s,%s",
                         CUBES, CUBES, CUBES, CUBES, CUBES, CUBES,
                         eb_subject_material(check->solver), k->parameters));
  if (eb_solver_lacks(check->solver, scene)) return EB_OK;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    double u[3] = {0};
    k->put(scene->mesh, scene->mesh->X + 3 * (int64_t)i, u);
    for (int d = 0; d < 3; d++) scene->x0[3 * (int64_t)i + d] += strain * u[d];
  }
  EB_TRY(eb_block_run(scene, check->solver, "", 1, 1, NULL, &state));
  eb_check_above(check, moved_back(scene, state->x, k->seen), k->least, k->reason,
                 "%s/constraints/%s", check->solver->name, k->name);
  return EB_OK;
}

static eb_error check_constraints(const eb_check *check) {
  eb_equation equation;
  EB_TRY(eb_subject_equation(check->solver, &equation));
  if (equation != EB_EQUATION_POSITION_BASED) return EB_OK;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) EB_TRY(look_at(check, &kinds[k]));
  return EB_OK;
}

const eb_check_group eb_checks_constraints[] = {{"constraints", check_constraints, "*"}, {0}};
