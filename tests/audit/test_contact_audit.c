/* The audit of contact on a scene with everything: an elastic and a rigid block, a tray that moves
 * and a step. Fabricated steps that are right pass; wrong forces, momentum, energy and places do
 * not. */
#include "harness/audit/contact_audit.h"
#include "harness/case/verdict.h"
#include "problems/base/vector3.h"
#include "tests/support/bodies_fixture.h"

static const double h = 1e-3;

typedef struct stage {
  eb_scene_ops ops;
  eb_scene *scene;
  eb_audit *audit;
  eb_contact_audit *contact;
  eb_state *before, *after;
  eb_audit_row row;
  /* One contact: a node of the elastic block on the floor of the tray. */
  eb_pair pair;
  double weight[4], frame[9], c[3], mu, r[3], u[3];
  eb_contact_record record;
} stage;

/* Of the lowest nodes of the elastic block, or the rigid one, that farthest along x - y, which lies
 * above the triangle 0 1 2 of the tray. */
static int32_t lowest_node(const eb_scene *scene, bool rigid) {
  int32_t lowest = -1;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    if ((scene->rigid.free_bodies->of_node[i] >= 0) != rigid) continue;
    if (lowest < 0) lowest = i;
    const double *x = scene->x0 + 3 * (size_t)i, *y = scene->x0 + 3 * (size_t)lowest;
    if (x[2] < y[2] || (x[2] == y[2] && x[0] - x[1] > y[0] - y[1])) lowest = i;
  }
  return lowest;
}

/* The floor pushes the node by `push` N, at the distance at which it will be. */
static void add_contact(stage *s, bool rigid, double push) {
  int32_t node = lowest_node(s->scene, rigid), first = s->scene->mesh->node_count;
  static const double frame[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  const double *x = s->before->x + 3 * (size_t)node, x_floor = -1, y_floor = -1;
  /* The triangle's corners are (-1, -1), (2, -1) and (2, 1.4). */
  double b = (x[1] - y_floor) / 2.4, a = (x[0] - x_floor) / 3 - b;
  s->pair = (eb_pair){EB_VERTEX_FACE, {node, first, first + 1, first + 2}};
  const double weight[4] = {1, -(1 - a - b), -a, -b};
  memcpy(s->weight, weight, sizeof weight);
  memcpy(s->frame, frame, sizeof frame);
  s->r[0] = push;
  s->record = (eb_contact_record){.count = 1,
                                  .step = h,
                                  .gap = 10,
                                  .eps1 = 1e-9,
                                  .eps2 = 5e-6,
                                  .cone = 1e-3,
                                  .angle = 1.2,
                                  .nodes = first,
                                  .pair = &s->pair,
                                  .weight = s->weight,
                                  .frame = s->frame,
                                  .c = s->c,
                                  .mu = &s->mu,
                                  .r = s->r,
                                  .u = s->u};
}

/* y = A^-1 x for a symmetric A: rows of the adjugate are cross products of the rows of A. */
static void solve3(const double A[9], const double x[3], double y[3]) {
  double row[3], det;
  for (int i = 0; i < 3; i++) {
    eb_cross3(A + 3 * ((i + 1) % 3), A + 3 * ((i + 2) % 3), row);
    det = eb_dot3(A + 3 * i, row);
    y[i] = eb_dot3(row, x) / det;
  }
}

/* The rigid block turns by the moment of its push, if it has one, and its gyroscopic torque. */
static void turn_rigid(stage *s) {
  const eb_free_body *body = &s->scene->rigid.free_bodies->body[0];
  const double *pose = s->before->pose, *spin = s->before->twist + 3;
  double inertia[9], momentum[3], torque[3], change[3];
  eb_free_body_inertia(body, pose, inertia);
  eb_turn3(inertia, spin, momentum);
  eb_cross3(momentum, spin, torque);
  if (s->scene->rigid.free_bodies->of_node[s->pair.vertex[0]] >= 0) {
    const double *x = s->before->x + 3 * (size_t)s->pair.vertex[0], push[3] = {0, 0, s->r[0]};
    const double arm[3] = {x[0] - pose[0], x[1] - pose[1], x[2] - pose[2]};
    double moment[3];
    eb_cross3(arm, push, moment);
    eb_add3(1, moment, torque);
    s->after->twist[2] += h * s->r[0] / body->mass;
  }
  solve3(inertia, torque, change);
  eb_add3(h, change, s->after->twist + 3);
}

/* All fall for a step, and the node is pushed: at rest the elastic forces are 0. */
static void fall(stage *s) {
  const double *mass = eb_elasticity_mass(s->scene->elasticity);
  eb_state *to = s->after;
  eb_state_copy(s->before, to);
  for (int32_t i = 0; i < to->node_count; i++)
    for (int d = 0; d < 3; d++) {
      double force = i == s->pair.vertex[0] && d == 2 ? s->r[0] : 0;
      to->v[3 * i + d] += h * (s->scene->gravity[d] + force / mass[i]);
      to->x[3 * i + d] += h * to->v[3 * i + d];
    }
  eb_add3(h, s->scene->gravity, to->twist);
  turn_rigid(s);
  eb_free_body_advance(s->before->pose, to->twist, h, to->pose);
  eb_free_bodies_place(s->scene->rigid.free_bodies, s->scene->mesh->X, to->pose, to->twist, to->x,
                       to->v);
  to->time += h;
  to->step++;
}

/* The demand that makes the contact closed at the end of the step. */
static void close_contact(stage *s) {
  double X0[3 * 8], X1[3 * 8];
  eb_obstacle_place(&s->scene->contacts.obstacles[0], s->before->time, X0);
  eb_obstacle_place(&s->scene->contacts.obstacles[0], s->after->time, X1);
  int32_t node = s->pair.vertex[0];
  double way = s->after->x[3 * node + 2] - s->before->x[3 * node + 2];
  for (int i = 0; i < 3; i++) way += s->weight[1 + i] * (X1[3 * i + 2] - X0[3 * i + 2]);
  s->c[0] = way;
}

/* Everything comes down at 1 m/s, and the floor takes half of that from one node of the elastic
 * block: a good step. Or it pushes the rigid block, which tumbles. */
static void stage_open(stage *s, const char *parameters, bool rigid) {
  *s = (stage){.ops = bodies_scene(), .mu = 0.3};
  tap_require(eb_scene_create(&s->ops, parameters, NULL, "", &s->scene), "a scene");
  s->scene->contacts.obstacles[0].parameters[0] = 0; /* the tray only sinks */
  tap_require(eb_audit_create(s->scene, &s->audit), "an audit");
  tap_require(eb_contact_audit_create(s->scene, s->audit, &s->contact), "an audit of contact");
  tap_require(eb_state_create(s->scene, &s->before), "a state");
  tap_require(eb_state_create(s->scene, &s->after), "a state");
  for (int32_t i = 0; i < s->before->node_count; i++) s->before->v[3 * i + 2] = -1;
  s->before->twist[2] = -1;
  s->before->twist[3] = 1;
  s->before->twist[4] = 2;
  int32_t node = lowest_node(s->scene, rigid);
  /* The bodies of this scene are large: its bounds are wider than the default's. */
  s->scene->contacts.bounds.gap = s->scene->contacts.bounds.reach = 10;
  add_contact(s, rigid, 0.5 * eb_elasticity_mass(s->scene->elasticity)[node] / h);
  fall(s);
  close_contact(s);
}

static void stage_close(stage *s) {
  eb_state_destroy(s->after);
  eb_state_destroy(s->before);
  eb_contact_audit_destroy(s->contact);
  eb_audit_destroy(s->audit);
  eb_scene_destroy(s->scene);
}

static eb_contact_audit_row audit_contact(stage *s) {
  static const eb_declaration declared = {.linearization = {1, 1, EB_TANGENT_EXACT}};
  eb_contact_audit_row row;
  eb_audit_contact_forces(s->audit, eb_contact_audit_forces(s->contact, &s->record));
  tap_require(eb_audit_step(s->audit, s->before, s->after, h, EB_EQUATION_IMPLICIT_EULER, &s->row),
              "audit");
  tap_require(eb_audit_declared(s->audit, s->before, s->after, h, &declared, &s->row), "audit");
  eb_contact_audit_step(s->contact, s->before, s->after, h, &s->record, EB_CONVERGED_ATOL, &row);
  s->row.work.excess -= row.obstacles_work;
  return row;
}

static const char *verdict_on(const stage *s, const eb_contact_audit_row *row, eb_reason reason,
                              eb_friction_model friction, eb_verdict *verdict) {
  const eb_declaration declared = {.friction = friction};
  const eb_audited_step step = {
      .scene = s->scene, .declared = &declared, .contact = row, .reason = reason, .number = 1};
  *verdict = (eb_verdict){.steps = 1};
  eb_verdict_contact(verdict, &step);
  return eb_verdict_word(verdict);
}

static const char *verdict_of(const stage *s, const eb_contact_audit_row *row, eb_reason reason,
                              eb_verdict *verdict) {
  return verdict_on(s, row, reason, EB_FRICTION_COULOMB, verdict);
}

static const char scene[] = "nx=2,ny=2,nz=2,gz=-9.81,support=none";

static void test_good(bool rigid) {
  stage s;
  eb_verdict verdict;
  const char *what = rigid ? "the rigid block" : "the elastic block";
  stage_open(&s, scene, rigid);
  if (rigid) s.scene->contacts.friction.common = 0; /* a body that tumbles slips */
  eb_contact_audit_row row = audit_contact(&s);
  tap_ok(row.intersections.between + row.intersections.self + row.intersections.nested == 0,
         "%s pushed: bodies apart do not cross", what);
  tap_ok(row.law.count == 1 && row.law.active == 1, "the contact is counted");
  /* Some thousand kg m/s of bodies, summed in doubles. */
  tap_below(row.balance, 1e-10, "its force explains the motion of the bodies");
  tap_below(row.balance_excess, 1, "and their spin, to what the tolerance leaves");
  tap_below(s.row.work.excess, 0, "the step dissipates");
  if (!tap_ok(strcmp(verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict), "passed") == 0,
              "a good step passes"))
    printf("#   %s\n", verdict.detail);
  stage_close(&s);
}

/* The forces of contact belong to the residual: without elastic forces nothing else is left of a
 * step of implicit Euler. */
static void test_residual(void) {
  stage s;
  stage_open(&s, "nx=2,ny=2,nz=2,gz=-9.81,E=1e-9", false);
  audit_contact(&s);
  tap_below(s.row.implicit_euler.relative, 1e-10,
            "with the forces of contact the step is implicit Euler's");
  s.record.count = 0;
  audit_contact(&s);
  tap_ok(s.row.implicit_euler.relative > 0.01, "without them it is not");
  stage_close(&s);
}

/* ---- steps that are wrong -------------------------------------------------------------------- */

static void double_force(stage *s) {
  s->r[0] *= 2;
}
static void forget_contact(stage *s) {
  s->record.count = 0;
}
static void speed_rider(stage *s) {
  s->after->twist[0] += 1e-3;
}
static void spin_rider(stage *s) {
  s->after->twist[3] += 1e-3;
}
static void speed_node(stage *s) {
  s->after->v[0] += 1e-2;
}
static void approach(stage *s) {
  s->c[0] += 1e-3;
}
static void retreat(stage *s) {
  s->c[0] -= 1e-3;
}
static void rub(stage *s) {
  s->r[1] = s->r[0];
}
static void slip(stage *s) {
  for (int i = 0; i < s->after->node_count; i++) s->after->x[3 * i + 1] += 1e-3;
}
static void confuse(stage *s) {
  s->weight[0] = 2;
}
static void claim_nothing(stage *s) {
  s->record.eps2 = 1;
  s->c[0] -= 0.02;
}
static void lower_rigid(stage *s) {
  s->after->pose[2] -= 0.6;
  eb_free_bodies_place(s->scene->rigid.free_bodies, s->scene->mesh->X, s->after->pose,
                       s->after->twist, s->after->x, s->after->v);
}
static void raise_tray(stage *s) {
  s->scene->contacts.obstacles[0].parameters[1] = 600;
}
static void fold(stage *s) {
  for (int d = 0; d < 3; d++) s->after->x[d] = 5 * (d + 1);
  s->after->x[2] = 0.3;
}

typedef struct flaw {
  const char *name, *words; /* of the verdict */
  void (*spoil)(stage *);
} flaw;

static void test_flaws(void) {
  static const flaw flaws[] = {
      {"a force twice as large", "momentum", double_force},
      {"a force that is not told", "momentum", forget_contact},
      {"a rigid body that nothing pushes", "momentum", speed_rider},
      {"a rigid body that nothing turns", "momentum", spin_rider},
      {"an elastic body that nothing pushes", "momentum", speed_node},
      {"a contact that is too close", "too close", approach},
      {"a contact that pushes across air", "pushes off", retreat},
      {"a tolerance that allows anything", "pushes off", claim_nothing},
      {"a contact that is none", "cannot be", confuse},
      {"a body in another one", "of different bodies", lower_rigid},
      {"a body in an obstacle", "of different bodies", raise_tray},
      {"a body through itself", "of the same body", fold},
      {"a slip of a contact that should stick", "slips", slip},
  };
  for (size_t i = 0; i < sizeof flaws / sizeof *flaws; i++) {
    stage s;
    eb_verdict verdict;
    stage_open(&s, scene, false);
    flaws[i].spoil(&s);
    eb_contact_audit_row row = audit_contact(&s);
    bool failed = strcmp(verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict), "failed") == 0;
    if (!tap_ok(failed && strstr(verdict.detail, flaws[i].words), "%s fails", flaws[i].name))
      printf("#   '%s'\n", verdict.detail);
    verdict_of(&s, &row, EB_CONVERGED_STAGNATED, &verdict);
    tap_ok(verdict.failures > 0, "%s fails too when it stagnated", flaws[i].name);
    stage_close(&s);
  }
}

/* Where each is worst: the contact or the body, with a vertex of both sides, and its place. */
static void test_places(void) {
  static const struct {
    const char *name;
    void (*spoil)(stage *);
    eb_rule rule;
    eb_spot_kind kind;
  } wanted[] = {{"a contact that is too close", approach, EB_RULE_CONTACT_GAP, EB_SPOT_CONTACT},
                {"a slip", slip, EB_RULE_FRICTION, EB_SPOT_CONTACT},
                {"a contact that is none", confuse, EB_RULE_CONTACT_RECORD, EB_SPOT_CONTACT},
                {"a body in an obstacle", raise_tray, EB_RULE_INTERSECTION, EB_SPOT_PAIR},
                {"a body in another one", lower_rigid, EB_RULE_INTERSECTION, EB_SPOT_PAIR}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    stage s;
    eb_verdict verdict;
    eb_place at;
    stage_open(&s, scene, false);
    wanted[i].spoil(&s);
    eb_contact_audit_row row = audit_contact(&s);
    verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict);
    eb_spot spot = verdict.worst_of[wanted[i].rule].measure.spot;
    eb_contact_audit_place(s.contact, &s.record, spot, &at);
    tap_ok(at.kind == wanted[i].kind, "%s has a place", wanted[i].name);
    int32_t node = at.vertex[0], nodes = s.after->node_count;
    bool there = node >= 0 && node < nodes && at.vertex[1] >= 0 && at.vertex[1] != node;
    for (int d = 0; d < 3 && there; d++) there = at.x[d] == s.after->x[3 * node + d];
    tap_ok(there, "that of a node at the end of the step");
    char names[2][100];
    for (int b = 0; b < 2; b++)
      eb_audit_body_name(s.audit, at.vertex[b], names[b], sizeof names[b]);
    tap_ok(*names[0] && *names[1] && strcmp(names[0], names[1]) != 0,
           "between two bodies: '%s' and '%s'", names[0], names[1]);
    stage_close(&s);
  }
}

/* The body whose motion nothing explains, and its middle. */
static void test_body_places(void) {
  stage s;
  eb_verdict verdict;
  eb_place at;
  char name[100];
  stage_open(&s, scene, false);
  speed_rider(&s);
  eb_contact_audit_row row = audit_contact(&s);
  verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict);
  eb_audit_place(s.audit, s.before, s.after, verdict.worst_of[EB_RULE_MOMENTUM].measure.spot, &at);
  eb_audit_body_name(s.audit, at.vertex[0], name, sizeof name);
  tap_ok(at.kind == EB_SPOT_BODY && strstr(name, "rigid"), "the body that nothing pushes: '%s'",
         name);
  /* The middle of its nodes is the centre of a block. */
  for (int d = 0; d < 3; d++) tap_near(at.x[d], s.after->pose[d], 1e-9, "and where it is");
  stage_close(&s);
}

static void test_friction(void) {
  stage s;
  eb_verdict verdict;
  stage_open(&s, scene, false);
  rub(&s);
  eb_contact_audit_row row = audit_contact(&s);
  tap_ok(row.law.cone > 2.3 && row.law.cone < 2.4, "friction beyond the limit is measured");
  row.balance_excess = 0;
  verdict_on(&s, &row, EB_CONVERGED_ATOL, EB_FRICTION_BY_MOTION, &verdict);
  tap_ok(verdict.failures == 0, "it does not fail where that is declared");
  for (int m = 0; m < EB_FRICTION_BY_MOTION; m++)
    tap_ok(strcmp(verdict_on(&s, &row, EB_CONVERGED_ATOL, (eb_friction_model)m, &verdict),
                  "failed") == 0,
           "whatever else is declared (%d)", m);
  verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict);
  tap_ok(strstr(verdict.detail, "outside of Coulomb's cone") != NULL, "it fails");
  row.law.cone = 0;
  row.law.angle = 3;
  verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict);
  tap_ok(strstr(verdict.detail, "off the direction") != NULL, "so does friction that is turned");
  row.law.angle = 1;
  tap_ok(strcmp(verdict_of(&s, &row, EB_CONVERGED_ATOL, &verdict), "passed") == 0,
         "within the tolerance it does not");
  stage_close(&s);
}

/* ---- energy ---------------------------------------------------------------------------------- */

static void test_energy(void) {
  stage s;
  stage_open(&s, scene, false);
  audit_contact(&s);
  double good = s.row.work.excess;
  s.after->twist[2] = -2;
  double mass = s.scene->rigid.free_bodies->body[0].mass, fall_speed = 1 + 9.81 * h;
  double more = 0.5 * mass * (4 - fall_speed * fall_speed);
  audit_contact(&s);
  tap_near(s.row.work.excess - good, more, 1e-9 * more, "energy from nowhere is measured");
  s.after->twist[2] = -fall_speed;
  /* The tray rises by 0.2 m instead of sinking by 0.1 mm; the contact's distance is what it was. */
  s.scene->contacts.obstacles[0].parameters[1] = 200;
  audit_contact(&s);
  double risen = s.row.work.excess;
  tap_near(good - risen, s.r[0] * (0.2 + 1e-4), 1e-6 * s.r[0],
           "the work of an obstacle is no excess");
  stage_close(&s);
}

int main(void) {
  test_good(false);
  test_good(true);
  test_residual();
  test_flaws();
  test_places();
  test_body_places();
  test_friction();
  test_energy();
  return tap_done();
}
