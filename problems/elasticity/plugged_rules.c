#include "problems/elasticity/plugged_rules.h"

#include <math.h>
#include <string.h>

#include "problems/base/random.h"
#include "problems/base/vector3.h"
#include "problems/elasticity/plugged.h"

/* Rounding of rotated arguments is some 1e-15 of terms that may be a thousand times their sum;
 * differences err by the square of their step or by rounding over it. A factor that is 1 % off is a
 * thousand times more. */
static const struct {
  const char *name, *what;
  double bound;
} rules[EB_PLUGGED_RULES] = {
    [EB_RULE_FINITE] = {"finite",
                        "answers that are no numbers near rest, or beside an energy that "
                        "is one",
                        0},
    [EB_RULE_PURE] = {"pure", "answers that are others when asked again", 0},
    [EB_RULE_REST] = {"rest", "energy and stress at F = I, over mu + |lambda|; subtract them",
                      1e-9},
    [EB_RULE_STRESS] = {"stress", "stress less the derivative of the energy, over the stress",
                        1e-5},
    [EB_RULE_TANGENT] = {"tangent", "tangent less the derivative of the stress, over the tangent",
                         1e-5},
    [EB_RULE_SYMMETRY] = {"symmetry", "tangent less its transpose, over the tangent", 1e-8},
    [EB_RULE_OBJECTIVE] = {"objectivity", "change of the energy when the body is turned, over it",
                           1e-9},
    [EB_RULE_ISOTROPIC] = {"isotropy",
                           "change of the energy when the body is turned at rest, over "
                           "it: fibres come from the scene",
                           1e-9},
    [EB_RULE_STABLE] = {"stability", "shear and bulk moduli of small strains that are not above 0",
                        0}};

enum { NEAR = 12, STRETCHED = 12, INVERTED = 6, SAMPLES = NEAR + STRETCHED + INVERTED };

/* ---- deformation gradients ------------------------------------------------------------------- */

/* Of a random unit quaternion. */
static void random_rotation(uint64_t *seed, double R[9]) {
  double q[4], length = 0;
  do {
    for (int k = 0; k < 4; k++) q[k] = eb_random_uniform(seed, -1, 1);
    length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  } while (!(length > 0.1 && length < 1));
  double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
  const double rows[9] = {
      1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
      2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
      2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, rows, sizeof rows);
}

static void make_sample(uint64_t *seed, int sample, double F[9]) {
  double U[9], V[9], US[9], s[3];
  if (sample < NEAR) {
    for (int i = 0; i < 9; i++) F[i] = (i % 4 == 0) + eb_random_uniform(seed, -0.05, 0.05);
    return;
  }
  random_rotation(seed, U);
  random_rotation(seed, V);
  for (int k = 0; k < 3; k++) s[k] = eb_random_uniform(seed, 0.5, 2.5);
  if (sample >= NEAR + STRETCHED) s[2] = -0.4 * s[2];
  for (int i = 0; i < 9; i++) US[i] = U[i] * s[i % 3];
  eb_multiply3(US, V, F);
}

/* ---- figures of one F ------------------------------------------------------------------------ */

typedef struct subject {
  const eb_material_ops *ops;
  double p[EB_FIRST_OWN + EB_OWN_PARAMETERS];
  double unit; /* Pa */
  eb_plugged_finding *found;
} subject;

typedef struct answers {
  double psi, P[9], T[81];
} answers;

/* What a function leaves unwritten is no number. */
static void ask(const subject *s, const double F[9], answers *out) {
  for (int i = 0; i < 9; i++) out->P[i] = NAN;
  for (int i = 0; i < 81; i++) out->T[i] = NAN;
  out->psi = s->ops->energy(s->p, F);
  s->ops->stress(s->p, F, out->P);
  s->ops->tangent(s->p, F, out->T);
}

static double length_of(const double *values, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i] * values[i];
  return sqrt(sum);
}

static double difference(const double *a, const double *b, int count) {
  double off[81];
  for (int i = 0; i < count; i++) off[i] = a[i] - b[i];
  return length_of(off, count);
}

/* One that is no number is the worst. */
static void report(const subject *s, eb_plugged_rule rule, double defect, const double F[9]) {
  eb_plugged_finding *at = &s->found[rule];
  if (isnan(defect)) defect = INFINITY;
  if (!(defect > at->defect)) return;
  at->defect = defect;
  memcpy(at->F, F, sizeof at->F);
}

/* Steps of three sizes: what is right is so for one of them at least, also beside a kink of a
 * higher derivative; what is wrong is so for all. */
static void examine_derivatives(const subject *s, const double F[9], const answers *at) {
  static const double steps[] = {1e-3, 1e-4, 1e-5};
  double stress = INFINITY, tangent = INFINITY;
  for (int k = 0; k < 3; k++) {
    double slope[9], T[81];
    for (int c = 0; c < 9; c++) {
      double moved[9], ahead[9], behind[9];
      memcpy(moved, F, sizeof moved);
      moved[c] = F[c] + steps[k];
      slope[c] = s->ops->energy(s->p, moved);
      s->ops->stress(s->p, moved, ahead);
      moved[c] = F[c] - steps[k];
      slope[c] = (slope[c] - s->ops->energy(s->p, moved)) / (2 * steps[k]);
      s->ops->stress(s->p, moved, behind);
      for (int r = 0; r < 9; r++) T[9 * r + c] = (ahead[r] - behind[r]) / (2 * steps[k]);
    }
    stress = fmin(stress, difference(at->P, slope, 9));
    tangent = fmin(tangent, difference(at->T, T, 81));
  }
  report(s, EB_RULE_STRESS, stress / (length_of(at->P, 9) + 1e-3 * s->unit), F);
  report(s, EB_RULE_TANGENT, tangent / (length_of(at->T, 81) + 1e-3 * s->unit), F);
}

static void examine_turns(const subject *s, uint64_t *seed, const double F[9], double psi) {
  double Q[9], turned[9], scale = fabs(psi) + 1e-6 * s->unit;
  random_rotation(seed, Q);
  eb_multiply3(Q, F, turned);
  report(s, EB_RULE_OBJECTIVE, fabs(s->ops->energy(s->p, turned) - psi) / scale, F);
  eb_multiply3(F, Q, turned);
  report(s, EB_RULE_ISOTROPIC, fabs(s->ops->energy(s->p, turned) - psi) / scale, F);
}

static bool all_finite(const double *values, int count) {
  for (int i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

static void examine_sample(const subject *s, uint64_t *seed, const double F[9], bool required) {
  answers at, again;
  double turned[81];
  ask(s, F, &at);
  if (!isfinite(at.psi) && !required) return;
  if (!isfinite(at.psi) || !all_finite(at.P, 9) || !all_finite(at.T, 81)) {
    report(s, EB_RULE_FINITE, 1, F);
    return;
  }
  examine_derivatives(s, F, &at);
  examine_turns(s, seed, F, at.psi);
  for (int r = 0; r < 9; r++)
    for (int c = 0; c < 9; c++) turned[9 * r + c] = at.T[9 * c + r];
  report(s, EB_RULE_SYMMETRY, difference(at.T, turned, 81) / (length_of(at.T, 81) + 1e-3 * s->unit),
         F);
  ask(s, F, &again);
  bool same = at.psi == again.psi && !memcmp(at.P, again.P, sizeof at.P) &&
              !memcmp(at.T, again.T, sizeof at.T);
  report(s, EB_RULE_PURE, !same, F);
}

/* ---- at rest --------------------------------------------------------------------------------- */

static const double rest[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void examine_rest(const subject *s) {
  answers at;
  ask(s, rest, &at);
  report(s, EB_RULE_FINITE, !isfinite(at.psi) || !all_finite(at.P, 9) || !all_finite(at.T, 81),
         rest);
  report(s, EB_RULE_REST, fmax(fabs(at.psi), length_of(at.P, 9)) / s->unit, rest);
  double shear = at.T[9 * 1 + 1], bulk = at.T[4] + 2. / 3 * shear;
  report(s, EB_RULE_STABLE, !(shear > 0) + !(bulk > 0), rest);
}

static subject subject_of(const eb_material *material, eb_plugged_finding *found) {
  subject s = {.ops = material->plugged->ops, .found = found};
  eb_plugged_numbers(material, s.p);
  s.unit = s.p[0] + fabs(s.p[1]);
  return s;
}

void eb_plugged_moduli(const eb_material *material, double *young, double *poisson) {
  const subject s = subject_of(material, NULL);
  answers at;
  ask(&s, rest, &at);
  double mu = at.T[9 * 1 + 1], lambda = at.T[4];
  *young = mu * (3 * lambda + 2 * mu) / (lambda + mu);
  *poisson = lambda / (2 * (lambda + mu));
}

/* ---- all of it ------------------------------------------------------------------------------- */

void eb_plugged_examine(const eb_material *material, eb_plugged_finding found[EB_PLUGGED_RULES]) {
  uint64_t seed = 47;
  const subject s = subject_of(material, found);
  for (int r = 0; r < EB_PLUGGED_RULES; r++)
    found[r] =
        (eb_plugged_finding){.name = rules[r].name, .what = rules[r].what, .bound = rules[r].bound};
  examine_rest(&s);
  for (int sample = 0; sample < SAMPLES; sample++) {
    double F[9];
    make_sample(&seed, sample, F);
    examine_sample(&s, &seed, F, sample < NEAR);
  }
}

eb_error eb_plugged_check(const eb_material *material) {
  eb_plugged_finding found[EB_PLUGGED_RULES];
  eb_plugged_examine(material, found);
  for (int r = 0; r < EB_PLUGGED_RULES; r++) {
    const eb_plugged_finding *f = &found[r];
    const double *F = f->F;
    if (f->defect <= f->bound) continue;
    return EB_ERROR(EB_ERR_INVALID,
                    "material '%s' of plug-in '%s' breaks the rule '%s' at E = %g Pa, nu = %g: %s: "
                    "%.3g, at most %.3g, at F = [%.4g %.4g %.4g; %.4g %.4g %.4g; %.4g %.4g %.4g]; "
                    "'elastobench check --plugin' shows all rules",
                    material->plugged->ops->name, material->plugged->path, f->name, material->young,
                    material->poisson, f->what, f->defect, f->bound, F[0], F[1], F[2], F[3], F[4],
                    F[5], F[6], F[7], F[8]);
  }
  return EB_OK;
}
