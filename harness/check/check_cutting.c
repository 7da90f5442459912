/* A block that is cut through while a solver is at work on it, against a block that never had the
 * other half. */
#include "harness/check/block.h"
#include "harness/check/check.h"
#include "problems/scene_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The block is cut in the middle of its length; what stays held is one half. */
enum { LENGTH = 6, WIDTH = 2, STEPS = 8 };

static eb_error make_block(const eb_check *check, int cubes, eb_scene **out) {
  return eb_block_create(out,
                         "nx=%d,ny=%d,nz=%d,lx=%g,ly=0.4,lz=0.4,gz=-9.8,support=x0,material=%s",
                         cubes, WIDTH, WIDTH, 0.2 * cubes, eb_subject_material(check->solver));
}

/* Of a solver that condenses, one dynamic node of the half that stays: the same in both blocks; in
 * the half that falls those that it lacks are added. */
static void options_for(const eb_solver_ops *ops, int cubes, char *options, size_t size) {
  const int along = LENGTH / 2 - 1;
  const char *exact = eb_subject_exact(ops),
             *tight = eb_subject_declares(ops, "rtol") ? "rtol=1e-12" : "";
  if (eb_subject_declares(ops, "selection"))
    snprintf(options, size, "selection=list,nodes=%d%s", along + (cubes + 1) * (1 + (WIDTH + 1)),
             eb_subject_declares(ops, "add_nodes") ? ",add_nodes=true" : "");
  else
    snprintf(options, size, "%s%s%s", exact, *exact && *tight ? "," : "", tight);
}

/* The state after some steps, and how often the mesh was cut on the way. */
static eb_error run_block(const eb_check *check, eb_scene *scene, int cubes, eb_state **state,
                          int *cuts) {
  char options[96];
  EB_OWNED(eb_stepper_clear) eb_stepper s = {0};
  options_for(check->solver, cubes, options, sizeof options);
  EB_TRY(eb_stepper_create(check->solver, options, scene, 1, 1, 0, &s));
  EB_TRY(eb_stepper_run(&s, STEPS));
  if (s.reason <= 0)
    return EB_ERROR(EB_ERR_INVALID, "step %lld ends with %s", (long long)s.state->step,
                    eb_reason_name(s.reason));
  *cuts = s.cuts;
  *state = s.state;
  s.state = NULL;
  return EB_OK;
}

/* Largest distance of corresponding corners: element t of cube (i, j, k) is the same in both
 * blocks. */
static double half_apart(const eb_scene *whole, const double *x, const eb_scene *half,
                         const double *y) {
  double most = 0;
  for (int32_t e = 0; e < half->mesh->element_count; e++) {
    int32_t cube = e / 6, i = cube % (LENGTH / 2), rest = cube / (LENGTH / 2);
    const int32_t *a = half->mesh->elements + 4 * (int64_t)e;
    const int32_t *b = whole->mesh->elements + 4 * (int64_t)(6 * (i + LENGTH * rest) + e % 6);
    for (int c = 0; c < 12; c++) {
      double off = fabs(y[3 * (int64_t)a[c / 3] + c % 3] - x[3 * (int64_t)b[c / 3] + c % 3]);
      if (!(off <= most)) most = off;
    }
  }
  return most;
}

static eb_error check_cutting(const eb_check *check) {
  EB_OWNED(eb_check_free_scene) eb_scene *whole = NULL;
  EB_OWNED(eb_check_free_scene) eb_scene *half = NULL;
  EB_OWNED(eb_check_free_state) eb_state *parted = NULL;
  EB_OWNED(eb_check_free_state) eb_state *alone = NULL;
  int cuts = 0, none = 0;
  if (!eb_subject_can(check->solver, EB_CAP_CUTTING)) return EB_OK;
  EB_TRY(make_block(check, LENGTH, &whole));
  EB_TRY(make_block(check, LENGTH / 2, &half));
  whole->script.cut_count = 1;
  whole->script.cuts[0] =
      (eb_cut){.origin = {0.1 * LENGTH, 0, 0}, .normal = {1, 0, 0}, .radius = INFINITY};
  EB_TRY(run_block(check, whole, LENGTH, &parted, &cuts));
  EB_TRY(run_block(check, half, LENGTH / 2, &alone, &none));
  double off = cuts == 0 || none > 0 ? NAN : half_apart(whole, parted->x, half, alone->x);
  eb_check_below(
      check, off, 1e-9,
      "m, of a 0.6 m block: cut off from its other half while the solver is at work, against one "
      "that never had it",
      "%s/cutting", check->solver->name);
  return EB_OK;
}

const eb_check_group eb_checks_cutting[] = {{"cutting", check_cutting, "*"}, {0}};
