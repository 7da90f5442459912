/* Recorded rotations beside the harness's own: blocks turned and stretched by hand, rotations off
 * by known angles. */
#include "harness/audit/rotations.h"
#include "problems/base/memory.h"
#include "tests/support/audit_fixture.h"
#include "tests/support/turn.h"

static const double PI = 3.14159265358979323846;

typedef struct rotated {
  trial t;
  eb_rotations *rotations;
  double *R, *x;
  int32_t elements;
} rotated;

/* x = turn of `degrees` about `axis` after the stretch. */
static void rotated_open(rotated *r, const char *parameters, const double axis[3], double degrees,
                         const double stretch[3]) {
  double Q[9];
  trial_open(&r->t, parameters, 0, 0);
  r->elements = r->t.scene->mesh->element_count;
  tap_require(eb_rotations_create(r->t.audit, &r->rotations), "rotations");
  tap_require(EB_NEW(r->R, 9 * r->elements), "R");
  tap_require(EB_NEW(r->x, r->t.size), "x");
  turn_about(axis, degrees * PI / 180, Q);
  for (size_t k = 0; k < r->t.size; k++) {
    const double *X = r->t.scene->mesh->X + k - k % 3, *row = Q + 3 * (k % 3);
    r->x[k] = row[0] * stretch[0] * X[0] + row[1] * stretch[1] * X[1] + row[2] * stretch[2] * X[2];
  }
}

static void rotated_close(rotated *r) {
  eb_rotations_destroy(r->rotations);
  free(r->R);
  free(r->x);
  trial_close(&r->t);
}

/* Audits all rotations at `degrees` about the axis. */
static eb_rotation_row tell(rotated *r, const double axis[3], double degrees) {
  eb_rotation_row row;
  double Q[9];
  turn_about(axis, degrees * PI / 180, Q);
  for (int32_t k = 0; k < 9 * r->elements; k++) r->R[k] = Q[k % 9];
  eb_rotations_step(r->rotations, r->t.audit, r->R, r->x, &row);
  return row;
}

static void test_angles(const char *elements) {
  const double axis[3] = {0.48, -0.64, 0.6}, stretch[3] = {1.4, 0.7, 1.1};
  rotated r;
  rotated_open(&r, elements, axis, 100, stretch);
  eb_rotation_row row = tell(&r, axis, 85);
  /* Rounding of asin near 1. */
  tap_near(row.off_svd, 15, 1e-9, "15 degrees short are found");
  tap_near(row.turn_max, 85, 1e-9, "the first turn is from the identity");
  tap_near(row.det_min, 1, 1e-13, "rotations have a determinant of 1");
  tap_ok(row.reflections == 0, "and are no reflections");
  tap_ok(isnan(row.gain), "100 degrees are too much for a gain");
  row = tell(&r, axis, 91);
  tap_near(row.turn_max, 6, 1e-9, "then from the last one");
  tap_near(row.gain, 6. / 15, 1e-10, "6 of 15 degrees are gained");
  row = tell(&r, axis, 103);
  tap_near(row.gain, 12. / 9, 1e-10, "12 of 9 degrees overshoot");
  row = tell(&r, axis, 104);
  tap_near(row.gain, -1. / 3, 1e-10, "the wrong way is negative");
  eb_rotations_reset(r.rotations);
  row = tell(&r, axis, 100);
  tap_ok(row.turn_max == 0 && isnan(row.gain), "nothing reaches across a jump");
  tap_below(row.off_svd, 1e-6, "the polar rotation is where it should be");
  for (int i = 0; i < 9; i++) r.R[9 + i] *= -1;
  eb_rotations_step(r.rotations, r.t.audit, r.R, r.x, &row);
  tap_ok(row.reflections == 1 && fabs(row.det_min + 1) < 1e-13, "a reflection is counted");
  tap_ok(row.turn_max == 180 && row.off_svd == 180, "and is far from every rotation");
  r.R[4] = NAN;
  eb_rotations_step(r.rotations, r.t.audit, r.R, r.x, &row);
  tap_ok(isnan(row.det_min), "NaN is told");
  rotated_close(&r);
}

/* Of an inverted element the nearest rotation is proper. */
static void test_inverted(void) {
  const double axis[3] = {0, 0, 1}, stretch[3] = {1, 1, -0.5};
  rotated r;
  rotated_open(&r, "nx=2,ny=2,nz=2", axis, 30, stretch);
  eb_rotation_row row = tell(&r, axis, 30);
  tap_below(row.off_svd, 1e-6, "inverted elements keep their rotation");
  rotated_close(&r);
}

int main(void) {
  test_angles("nx=2,ny=2,nz=2,jitter=0.2");
  test_angles("nx=2,ny=2,nz=2,jitter=0.2,element=hexahedra");
  test_inverted();
  return tap_done();
}
