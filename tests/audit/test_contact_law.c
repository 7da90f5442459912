/* The law of contact on fabricated records: a good one, and every law broken one at a time. */
#include "harness/audit/contact_law.h"
#include "harness/check/block.h"
#include "tests/tap.h"

enum { CONTACTS = 3, VERTICES = 12, STICKS = 0, SLIDES = 1, OPEN = 2 };

static const double gap = 1e-4, mu = 0.5;
static const eb_contact_bounds bounds = {.gap = 1e-4, .distance = 5e-5};

/* Three contacts at a floor z = 0 of one triangle: a vertex that sticks, one that slides along x,
 * and an edge above an edge without touching it. */
typedef struct stage {
  double x0[3 * VERTICES], x1[3 * VERTICES];
  eb_pair pair[CONTACTS];
  double weight[4 * CONTACTS], frame[9 * CONTACTS], c[3 * CONTACTS], mu[CONTACTS], r[3 * CONTACTS],
      u[3 * CONTACTS], bent[VERTICES];
  double friction; /* of the scene */
  double slack;
  eb_contact_record record;
} stage;

static void put(stage *s, int vertex, double x, double y, double z0, double z1) {
  const double start[3] = {x, y, z0}, end[3] = {x, y, z1};
  memcpy(s->x0 + 3 * vertex, start, sizeof start);
  memcpy(s->x1 + 3 * vertex, end, sizeof end);
}

static stage good_stage(void) {
  stage s = {.pair = {{EB_VERTEX_FACE, {0, 1, 2, 3}},
                      {EB_VERTEX_FACE, {4, 1, 2, 3}},
                      {EB_EDGE_EDGE, {5, 6, 1, 2}}},
             .weight = {1, -0.4, -0.3, -0.3, 1, -0.5, -0.25, -0.25, 0.5, 0.5, -0.5, -0.5},
             .r = {10, 1, -2, 10, -5, 0, 0, 0, 0},
             .mu = {mu, mu, mu},
             .friction = mu,
             .slack = 1};
  static const double frame[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  for (int k = 0; k < CONTACTS; k++) {
    memcpy(s.frame + 9 * k, frame, sizeof frame);
    s.c[3 * k] = -gap; /* all start at 2 gap and may come down to gap */
  }
  put(&s, 1, 0, 0, 0, 0);
  put(&s, 2, 1, 0, 0, 0);
  put(&s, 3, 0, 1, 0, 0);
  put(&s, 0, 0.3, 0.3, 2 * gap, gap);
  put(&s, 4, 0.25, 0.25, 2 * gap, gap);
  s.x1[3 * 4] += 1e-3;
  put(&s, 5, 0.5, -1, 2 * gap, 1.5 * gap);
  put(&s, 6, 0.5, 1, 2 * gap, 1.5 * gap);
  return s;
}

static eb_contact_law measure(stage *s) {
  eb_contact_law law;
  s->record = (eb_contact_record){.count = CONTACTS,
                                  .step = 1e-2,
                                  .gap = gap,
                                  .eps2 = 5e-6,
                                  .nodes = VERTICES,
                                  .pair = s->pair,
                                  .weight = s->weight,
                                  .frame = s->frame,
                                  .c = s->c,
                                  .mu = s->mu,
                                  .r = s->r,
                                  .u = s->u};
  eb_contact_law_measure(&s->record, VERTICES, s->x0, s->x1, s->bent,
                         &(eb_friction_law){.common = s->friction}, &bounds, s->slack, &law);
  return law;
}

static void test_good(void) {
  static const double rounding = 1e-15;
  stage s = good_stage();
  eb_contact_law law = measure(&s);
  tap_ok(law.count == 3 && law.active == 2 && law.unsound == 0, "good contacts are counted");
  tap_below(law.violation, rounding, "none is too close");
  tap_below(law.open, rounding, "none pushes off its distance");
  tap_below(law.sliding, rounding, "none slips inside the cone");
  tap_below(law.cone, rounding, "no friction is outside of the cone");
  tap_below(law.angle, 1e-9, "friction opposes the slip");
  tap_near(law.apart, gap, rounding, "what pushes is a gap apart");
  for (int k = 0; k < 3 * CONTACTS; k++) s.u[k] = 1;
  law = measure(&s);
  tap_below(law.violation + law.open + law.sliding, rounding,
            "what the record says of its motion does not count");
}

/* One number changed, and the measure that tells. */
typedef struct flaw {
  const char *name;
  size_t where; /* of the number in the stage */
  double value;
  size_t measure; /* in the law */
  double at_least, at_most;
} flaw;

#define IN(field, index)  offsetof(stage, field) + (size_t)(index) * sizeof(double)
#define LAW(field)        offsetof(eb_contact_law, field)
#define REACH(at, number) (double *)(void *)((char *)(at) + (number))

static void test_flaws(void) {
  static const flaw flaws[] = {
      {"too close", IN(x1, 2), 0.9 * gap, LAW(violation), 0.99e-5, 1.01e-5},
      {"too close without a force", IN(x1, 3 * 5 + 2), 0, LAW(violation), 2.4e-5, 2.6e-5},
      {"through the floor", IN(x1, 2), -gap, LAW(violation), 1.99e-4, 2.01e-4},
      {"a push across a gap", IN(x1, 2), 1.2 * gap, LAW(open), 1.99e-5, 2.01e-5},
      {"a push of an open contact", IN(r, 3 * OPEN), 1, LAW(open), 4.9e-5, 5.1e-5},
      {"a pull", IN(r, 3 * STICKS), -1, LAW(cone), 1.1, 1.15},
      {"a pull alone", IN(r, 3 * OPEN), -1e-3, LAW(cone), 4.9e-4, 5.1e-4},
      {"friction beyond the limit", IN(r, 3 * STICKS + 1), 6, LAW(cone), 0.26, 0.27},
      {"friction of a contact without a push", IN(r, 3 * OPEN + 1), 1, LAW(cone), 0.49, 0.51},
      {"a slip inside the cone", IN(x1, 1), 0.3 + 1e-4, LAW(sliding), 0.99e-4, 1.01e-4},
      {"friction along the slip", IN(r, 3 * SLIDES + 1), 5, LAW(angle), 179, 181},
      {"friction across the slip", IN(x1, 3 * 4 + 1), 0.25 + 1e-3, LAW(angle), 44, 46},
      {"a slide far off the feature", IN(x1, 3 * 4), 3.25, LAW(apart), 2, 3.1},
      {"friction by another mu than the scene's", IN(friction, 0), 0.25, LAW(cone), 0.99, 1.01},
      {"the force beyond it", IN(r, 3 * STICKS + 1), 6, LAW(off), 1.3245, 1.3246},
      {"the force that a slip inside the cone lacks", IN(x1, 1), 0.3 + 1e-4, LAW(off), 3.1622,
       3.1623},
      {"none of a slip without a direction", IN(x1, 1), 0.3 + 1e-6, LAW(off), 0, 1e-12},
  };
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
    stage s = good_stage();
    *REACH(&s, flaws[i].where) = flaws[i].value;
    eb_contact_law law = measure(&s);
    double value = *REACH(&law, flaws[i].measure);
    if (!tap_ok(value >= flaws[i].at_least && value <= flaws[i].at_most && law.unsound == 0,
                "%s is seen", flaws[i].name))
      printf("#   measured %g, unsound %d\n", value, law.unsound);
  }
}

static void test_unsound(void) {
  static const flaw flaws[] = {
      {"weights that sum to another number", IN(weight, 0), 1.1, 0, 0, 0},
      {"a point outside of the face", IN(weight, 1), 0.4, 0, 0, 0},
      {"a weight that is not a number", IN(weight, 2), NAN, 0, 0, 0},
      {"a normal that is no unit vector", IN(frame, 2), 1.001, 0, 0, 0},
      {"tangents that are not at right angles", IN(frame, 3 + 2), 0.1, 0, 0, 0},
      {"a left-handed frame", IN(frame, 3), -1, 0, 0, 0},
      {"a force that is not a number", IN(r, 0), NAN, 0, 0, 0},
      {"a demand above the gap", IN(c, 0), -0.9 * gap, 0, 0, 0},
      {"a demand below 0", IN(c, 0), -2.1 * gap, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
    stage s = good_stage();
    *REACH(&s, flaws[i].where) = flaws[i].value;
    eb_contact_law law = measure(&s);
    tap_ok(law.unsound == 1 && law.count == 3, "%s makes no contact", flaws[i].name);
  }
  stage s = good_stage();
  s.pair[0].vertex[2] = VERTICES;
  s.pair[1].kind = 7;
  s.pair[2].vertex[0] = -1;
  tap_ok(measure(&s).unsound == 3, "vertices and kinds that are not there make no contact");
}

/* Rigid bodies turn; a solver that takes their paths for straight is off by as much as they
 * bend. */
static void test_bent(void) {
  stage s = good_stage();
  s.x1[2] -= 1e-5;
  s.x1[0] += 1e-5;
  for (int i = 0; i < VERTICES; i++) s.bent[i] = 1.5e-5;
  eb_contact_law law = measure(&s);
  tap_ok(law.violation == 0 && law.open == 0 && law.sliding == 0,
         "what a turn bends is not held against a contact");
}

/* Edge 5 6 straight above edge 1 2: there is no direction across both, and the one between them is
 * up. */
static void test_parallel(void) {
  static const double sideways[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
  for (int wrong = 0; wrong < 2; wrong++) {
    stage s = good_stage();
    put(&s, 5, 0, 0, 2 * gap, gap);
    put(&s, 6, 1, 0, 2 * gap, gap);
    s.r[3 * OPEN] = 10;
    if (wrong) memcpy(s.frame + 9 * OPEN, sideways, sizeof sideways);
    if (wrong) s.c[3 * OPEN] = gap;
    eb_contact_law law = measure(&s);
    tap_ok(law.unsound == 0, "a contact of parallel edges is one");
    tap_near(law.normal, wrong ? 90 : 0, 1e-6, "its normal is that between them");
  }
}

/* The frame of a normal in the plane y = const, so many degrees from z towards x. */
static void turn_frame(double degrees, double frame[9]) {
  double c = cos(degrees * acos(-1) / 180), s = sin(degrees * acos(-1) / 180);
  const double turned[9] = {s, 0, c, c, 0, -s, 0, 1, 0};
  memcpy(frame, turned, sizeof turned);
}

/* A vertex passes the floor's edge x = 0 closely, from straight above the inside to far beside it:
 * the direction between them turns from up to sideways within a hundredth of the way. */
static void test_turning(void) {
  static const struct {
    double degrees, least, most;
    const char *name;
  } cases[] = {{0, 0, 1, "up, as at the start"},
               {-45, 0, 1, "halfway, as where it passes the edge"},
               {-80, 0, 1, "nearly sideways, as soon afterwards"},
               {20, 19, 21, "to the side where it never is"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    stage s = good_stage();
    put(&s, 0, 0.3, 0.3, gap, gap);
    s.x1[0] = -0.2;
    s.c[0] = 0;
    turn_frame(cases[i].degrees, s.frame);
    eb_contact_law law = measure(&s);
    tap_ok(law.unsound == 0 && law.normal >= cases[i].least && law.normal <= cases[i].most,
           "a normal %s (%.3g degrees off)", cases[i].name, law.normal);
  }
}

/* Directions are asked of slips above a tenth of the bound, times the slack. */
static void test_slipping(void) {
  for (int slack = 1; slack <= 2; slack++) {
    stage s = good_stage();
    s.slack = slack;
    s.x1[3 * 4] = s.x0[3 * 4];
    s.x1[3 * 4 + 1] += 7e-6;
    eb_contact_law law = measure(&s);
    tap_near(law.angle, slack == 1 ? 90 : 0, 1e-6,
             slack == 1 ? "a slip of 7e-6 m has a direction"
                        : "but none where the step has stagnated");
  }
}

/* ---- distances ------------------------------------------------------------------------------- */

enum { SAMPLES = 40 };

typedef const double (*points)[3];

/* The closest of points on a grid of both features: not below the distance, and above it by less
 * than the spacing of the grid. */
static double sampled(int32_t kind, const double x[4][3]) {
  double least = INFINITY;
  bool face = kind == EB_VERTEX_FACE;
  for (int i = 0; i <= SAMPLES; i++)
    for (int j = 0; j <= SAMPLES - (face ? i : 0); j++) {
      double s = (double)i / SAMPLES, t = (double)j / SAMPLES, sum = 0;
      for (int d = 0; d < 3; d++) {
        double p = face ? x[0][d] : x[0][d] + s * (x[1][d] - x[0][d]);
        double q = face ? x[1][d] + s * (x[2][d] - x[1][d]) + t * (x[3][d] - x[1][d])
                        : x[2][d] + t * (x[3][d] - x[2][d]);
        sum += (p - q) * (p - q);
      }
      least = fmin(least, sqrt(sum));
    }
  return least;
}

static void test_distance(void) {
  uint64_t seed = 9;
  int wrong[2] = {0, 0};
  for (int n = 0; n < 2000; n++) {
    double x[4][3];
    int32_t kind = n % 2;
    for (int k = 0; k < 12; k++) x[k / 3][k % 3] = eb_block_random(&seed);
    if (n % 10 == 2) memcpy(x[3], x[2], sizeof x[3]); /* no area, no length */
    if (n % 10 == 3)
      for (int d = 0; d < 3; d++) x[3][d] = x[2][d] + 2 * (x[1][d] - x[0][d]); /* parallel */
    double distance = eb_contact_law_distance(kind, (points)x), grid = sampled(kind, (points)x);
    /* A step of the grid moves a point by at most 2 sqrt(3) / 40 along each of two directions. */
    wrong[kind] += distance > grid + 1e-12 || distance < grid - 2 * 2 * sqrt(3) / SAMPLES;
  }
  tap_ok(wrong[EB_VERTEX_FACE] == 0,
         "the distance of a vertex from a face is that of points on it");
  tap_ok(wrong[EB_EDGE_EDGE] == 0, "the distance of edges is that of points on them");
  const double above[4][3] = {{0.2, 0.2, 0.7}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  tap_near(eb_contact_law_distance(EB_VERTEX_FACE, above), 0.7, 1e-15, "above a face, the height");
  const double crossed[4][3] = {{-1, 0, 0.3}, {1, 0, 0.3}, {0, -1, 0}, {0, 1, 0}};
  tap_near(eb_contact_law_distance(EB_EDGE_EDGE, crossed), 0.3, 1e-15, "crossed edges, the height");
}

int main(void) {
  test_good();
  test_flaws();
  test_unsound();
  test_bent();
  test_parallel();
  test_turning();
  test_slipping();
  test_distance();
  return tap_done();
}
