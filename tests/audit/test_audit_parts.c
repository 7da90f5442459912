/* Figures of parts: turns, spins and energies of a block that is turned and spun by hand, against
 * angles and inertias that are known. */
#include "harness/audit/parts.h"
#include "problems/base/memory.h"
#include "tests/support/audit_fixture.h"

/* Rounding of sums over some hundred nodes. */
static const double rounding = 1e-11;

/* 8 x 4 x 4 hexahedra of 0.25 m: the outer quarters along x are region "ends", the middle one is
 * "heart (left)". Groups: the face at the lower end, "ends" as well, and one node. */
static void open_slabs(trial *t) {
  *t = (trial){0};
  tap_require(eb_block_create(&t->scene, "nx=8,ny=4,nz=4,lx=2,ly=1,lz=1,element=hexahedra,jitter=0,"
                                         "rho=1000"),
              "a block");
  eb_scene *scene = t->scene;
  eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double middle = 0;
    for (size_t a = 0; a < 8; a++) middle += mesh->X[3 * mesh->elements[8 * (size_t)e + a]] / 8;
    mesh->region[e] = fabs(middle - 0.5 * (lo[0] + hi[0])) < 0.5;
  }
  tap_require(eb_mesh_name_regions(mesh, 2, (const char *const[]){"ends", "heart (left)"}),
              "regions");
  scene->materials[1] = scene->materials[0];
  scene->script.grip_count = 2;
  for (int g = 0; g < 2; g++) {
    eb_grip *grip = &scene->script.grips[g];
    snprintf(grip->name, sizeof grip->name, "%s", g == 0 ? "ends" : "corner");
    free(grip->nodes);
    grip->count = 0;
    tap_require(EB_NEW(grip->nodes, mesh->node_count), "a group");
    for (int32_t i = 0; i < mesh->node_count && (g == 0 || grip->count == 0); i++)
      if (mesh->X[3 * i] == lo[0]) grip->nodes[grip->count++] = i;
  }
  trial_begin(t);
}
enum { ENDS, HEART, FACE, CORNER, PARTS };

/* Rodrigues. */
static void rotation(const double w[3], double R[9]) {
  double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), a[3] = {0};
  for (int d = 0; d < 3 && angle > 0; d++) a[d] = w[d] / angle;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      R[3 * i + j] = (i == j ? cos(angle) : 0) + (1 - cos(angle)) * a[i] * a[j];
  for (int d = 0; d < 3; d++) {
    R[3 * ((d + 1) % 3) + d] += sin(angle) * a[(d + 2) % 3];
    R[3 * d + (d + 1) % 3] -= sin(angle) * a[(d + 2) % 3];
  }
}

/* x = R diag(stretch) X + shift */
static void pose(const trial *t, const double R[9], const double stretch[3], const double shift[3],
                 eb_state *state) {
  for (size_t k = 0; k < t->size; k += 3)
    for (size_t i = 0; i < 3; i++) {
      state->x[k + i] = shift[i];
      for (size_t j = 0; j < 3; j++)
        state->x[k + i] += R[3 * i + j] * stretch[j] * t->scene->mesh->X[k + j];
    }
}

static const double whole[3] = {1, 1, 1}, nowhere[3] = {0, 0, 0};

static double off_by(const double a[3], const double b[3], double times) {
  double worst = 0;
  for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(a[d] - times * b[d]));
  return worst;
}

static void turn_to(const trial *t, const double w[3], eb_state *state) {
  double R[9];
  rotation(w, R);
  pose(t, R, whole, nowhere, state);
}

static void test_names(const eb_parts *parts) {
  static const char *const names[PARTS] = {"ends", "heart--left", "ends-2", "corner"};
  tap_ok(eb_parts_count(parts) == PARTS, "two regions and two groups are parts");
  for (int p = 0; p < PARTS; p++)
    tap_ok(strcmp(eb_parts_name(parts, p), names[p]) == 0, "part %d is %s", p, names[p]);
  tap_ok(eb_parts_of_region(parts, 1) == HEART && eb_parts_of_region(parts, 2) == -1,
         "parts of regions are found");
}

/* Five turns in steps of 0.4 rad about an axis, and four back. */
static void test_turns(trial *t, eb_parts *parts) {
  static const double axis[3] = {0.48, -0.6, 0.64};
  eb_part_row rows[PARTS];
  double worst = 0, angle = 0, w[3];
  bool none = true;
  eb_parts_reset(parts);
  turn_to(t, nowhere, t->before);
  for (int k = 0; k < 140; k++) {
    angle += k < 80 ? 0.4 : -0.4;
    for (int d = 0; d < 3; d++) w[d] = angle * axis[d];
    turn_to(t, w, t->after);
    eb_parts_step(parts, t->before, t->after, rows);
    for (int p = ENDS; p <= FACE; p++) worst = fmax(worst, off_by(rows[p].turn, axis, angle));
    none = none && isnan(rows[CORNER].turn[0]);
    memcpy(t->before->x, t->after->x, t->size * sizeof(double));
  }
  tap_below(worst, 140 * rounding, "five turns and almost four back are told to the end");
  tap_ok(none, "one node has no turn");
  eb_parts_reset(parts);
  eb_parts_step(parts, t->before, t->after, rows);
  tap_near(fabs(rows[HEART].turn[1]), 0.6 * fabs(angle - 2 * acos(-1)), 140 * rounding,
           "a jump begins anew, with half a turn at most");
}

/* A path of changing axes: below half a turn the vector is that of the shape alone. */
static void test_path(trial *t, eb_parts *parts) {
  eb_part_row rows[PARTS];
  double worst = 0, R[9], told[9];
  eb_parts_reset(parts);
  turn_to(t, (const double[]){1.8, 0, 0}, t->before);
  for (int k = 1; k < 60; k++) {
    double w[3] = {1.8 * cos(0.2 * k), 1.5 * sin(0.2 * k), 0.9 * sin(0.1 * k)};
    rotation(w, R);
    pose(t, R, (const double[]){1.2, 0.9, 1}, (const double[]){3, 1, 2}, t->after);
    eb_parts_step(parts, t->before, t->after, rows);
    worst = fmax(worst, off_by(rows[HEART].turn, w, 1));
    rotation(rows[ENDS].turn, told);
    for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(told[i] - R[i]));
    memcpy(t->before->x, t->after->x, t->size * sizeof(double));
  }
  tap_below(worst, 10 * rounding, "turns of a stretched part are rotation vectors of its rotation");
}

/* Lumped masses at the corners of cells of size h make m (a^2 + b^2) / 12 + m (h^2 + h^2) / 6 of
 * the inertia of a box about an axis. */
static double box_inertia(double mass, double a, double b) {
  return mass * ((a * a + b * b) / 12 + 2 * 0.25 * 0.25 / 6);
}

static void test_spin(trial *t, eb_parts *parts) {
  static const double rate = 3;
  eb_part_row rows[PARTS];
  double middle[3], lo[3], hi[3];
  const double *X = t->scene->mesh->X;
  eb_mesh_bounds(X, t->scene->mesh->node_count, lo, hi);
  for (int d = 0; d < 3; d++) middle[d] = 0.5 * (lo[d] + hi[d]);
  eb_parts_reset(parts);
  memcpy(t->before->x, X, t->size * sizeof *X);
  memcpy(t->after->x, X, t->size * sizeof *X);
  for (size_t k = 0; k < t->size; k += 3) {
    t->after->v[k] = 5 - rate * (X[k + 1] - middle[1]);
    t->after->v[k + 1] = rate * (X[k] - middle[0]);
    t->after->v[k + 2] = -1;
  }
  eb_parts_step(parts, t->before, t->after, rows);
  double heart = box_inertia(1000, 1, 1), end = box_inertia(500, 0.5, 1);
  double ends = 2 * (end + 500 * 0.75 * 0.75);
  tap_near(rows[HEART].spin[2], heart * rate, rounding * 1000, "spin of a box");
  tap_near(rows[HEART].rotational, 0.5 * heart * rate * rate, rounding * 1000, "its energy");
  tap_near(rows[ENDS].spin[2], ends * rate, rounding * 1000, "spin of two pieces");
  tap_near(rows[ENDS].rotational, end * rate * rate, rounding * 1000,
           "their energy is of each about its own centre");
  tap_below(fabs(rows[ENDS].spin[0]) + fabs(rows[HEART].spin[1]), rounding * 1000,
            "and about no other axis");
  tap_ok(rows[CORNER].rotational == 0 && rows[CORNER].spin[2] == 0, "one node does not spin");
  tap_below(fabs(rows[FACE].centre[0] - lo[0]) + fabs(rows[ENDS].centre[0] - middle[0]), rounding,
            "centres of mass");
  tap_ok(rows[HEART].displacement == 0, "at rest nothing is displaced");
  for (size_t k = 0; k < t->size; k += 3) {
    t->after->x[k] += 3;
    t->after->x[k + 2] -= 4;
  }
  eb_parts_step(parts, t->before, t->after, rows);
  tap_near(rows[FACE].displacement, 5, rounding, "displacement");
}

/* A weight that is constant in each piece, and one that is x. */
static void test_variance(const trial *t, const eb_parts *parts) {
  const eb_mesh *mesh = t->scene->mesh;
  size_t nodes = (size_t)mesh->node_count;
  double *weight, lo[3], hi[3];
  eb_mesh_bounds(mesh->X, mesh->node_count, lo, hi);
  tap_require(EB_NEW(weight, 2 * nodes), "weights");
  for (size_t i = 0; i < nodes; i++) {
    double x = mesh->X[3 * i] - lo[0];
    weight[i] = x > 1.2 ? 7 : -2;
    weight[nodes + i] = x;
  }
  double end = 0.5 * 0.5 / 12 + 0.25 * 0.25 / 6;
  tap_near(eb_parts_variance(parts, ENDS, 1, weight), 0, rounding,
           "weights that are constant in each piece do not vary");
  tap_near(eb_parts_variance(parts, ENDS, 2, weight), end, rounding, "x varies within pieces");
  free(weight);
}

int main(void) {
  trial t;
  eb_parts *parts;
  open_slabs(&t);
  tap_require(eb_parts_create(t.audit, &parts), "parts");
  test_names(parts);
  test_turns(&t, parts);
  test_path(&t, parts);
  test_spin(&t, parts);
  test_variance(&t, parts);
  eb_parts_destroy(parts);
  trial_close(&t);
  return tap_done();
}
