/* Springs of the scene (problems/scene.h): a node at x is pulled by f_s = k (p - x), with place p
 * and stiffness k of the end of the step, and has the energy k |x - p|^2 / 2.
 *
 * What the script puts in when it moves a place and changes a stiffness, by d = p - x:
 *
 *   W = (k1 - k0) |d0|^2 / 2 + k1 d1 . (p1 - p0),
 *
 * the stiffness first, where the node was, then the place, against the force of the end. With the
 * force's own work on the node, k1 d1 . (x1 - x0), that leaves of the gain of the energy
 * -k1 |d1 - d0|^2 / 2: implicit Euler dissipates in springs, and gains nothing. */
#include "harness/audit/audit_data.h"
#include "problems/base/memory.h"
#include "problems/base/vector3.h"

eb_error eb_audit_springs_create(eb_audit *audit) {
  int32_t count = eb_scene_springs(audit->scene, 0, &audit->spring_node, NULL, NULL);
  audit->spring_count = (size_t)count;
  if (count == 0) return EB_OK;
  for (int k = 0; k < 2; k++) {
    EB_TRY(EB_TAKE(&audit->owned, audit->springs[k].place, 3 * audit->spring_count));
    EB_TRY(EB_TAKE(&audit->owned, audit->springs[k].stiffness, audit->spring_count));
  }
  return EB_TAKE(&audit->owned, audit->pull, 3 * audit->nodes);
}

bool eb_audit_springs_prepare(eb_audit *audit, double before, double after) {
  const double times[2] = {before, after};
  bool same = true;
  for (int k = 0; k < 2; k++)
    eb_scene_springs(audit->scene, times[k], NULL, audit->springs[k].place,
                     audit->springs[k].stiffness);
  for (size_t s = 0; s < audit->spring_count; s++)
    same = same && audit->springs[0].stiffness[s] == audit->springs[1].stiffness[s];
  return same;
}

double eb_audit_add_springs(const eb_audit *audit, const double *x, double *residual) {
  const eb_audit_springs *end = &audit->springs[1];
  double squares = 0;
  for (size_t s = 0; s < audit->spring_count; s++) {
    size_t node = (size_t)audit->spring_node[s];
    double force2 = 0;
    for (size_t d = 0; d < 3; d++) {
      double f = end->stiffness[s] * (end->place[3 * s + d] - x[3 * node + d]);
      residual[3 * node + d] -= f;
      force2 += f * f;
    }
    if (!audit->fixed[node]) squares += force2;
  }
  return squares;
}

double eb_audit_springs_rounding2(const eb_audit *audit, const double *x) {
  static const double resolution = 1e-8; /* of places: audit.h */
  double squares = 0;
  for (size_t s = 0; s < audit->spring_count; s++) {
    size_t node = (size_t)audit->spring_node[s];
    double size = resolution * audit->springs[1].stiffness[s];
    if (!audit->fixed[node]) squares += size * size * eb_audit_squared(x + 3 * node);
  }
  return squares;
}

static double energy_of(const eb_audit *audit, int when, const double *x) {
  const eb_audit_springs *springs = &audit->springs[when];
  double sum = 0;
  for (size_t s = 0; s < audit->spring_count; s++)
    sum += springs->stiffness[s] *
           eb_squared_distance3(springs->place + 3 * s, x + 3 * (size_t)audit->spring_node[s]) / 2;
  return sum;
}

double eb_audit_springs_energy(const eb_audit *audit, const double *x) {
  return energy_of(audit, 1, x);
}

double eb_audit_springs_before(const eb_audit *audit, const double *x) {
  return energy_of(audit, 0, x);
}

double eb_audit_springs_work(const eb_audit *audit, const double *x0, const double *x1) {
  const eb_audit_springs *a = &audit->springs[0], *b = &audit->springs[1];
  double work = 0;
  for (size_t s = 0; s < audit->spring_count; s++) {
    size_t node = (size_t)audit->spring_node[s];
    for (size_t d = 0; d < 3; d++) {
      double p0 = a->place[3 * s + d], p1 = b->place[3 * s + d];
      double was = p0 - x0[3 * node + d], is = p1 - x1[3 * node + d];
      work +=
          0.5 * (b->stiffness[s] - a->stiffness[s]) * was * was + b->stiffness[s] * is * (p1 - p0);
    }
  }
  return work;
}
