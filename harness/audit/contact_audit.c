/* Vertices are numbered as in the record: nodes of the mesh, then the vertices of the obstacles in
 * their order. Solids are the connected components of the mesh and the obstacles; one whose nodes
 * ride on a free rigid body keeps its shape.
 *
 * Workspace: the trees of intersections.h and some 150 bytes a vertex; a step allocates nothing. */
#include "harness/audit/contact_audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "problems/base/arena.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/vector3.h"

struct eb_contact_audit {
  const eb_scene *scene;
  const eb_audit *audit;
  int32_t nodes, vertices, parts;
  const int32_t *part; /* nodes: connected component, as the audit has it */
  int32_t *rider;      /* parts: the free rigid body that it rides on, or -1 */
  uint8_t *held;       /* parts: has scripted nodes */
  int32_t *size;       /* parts: nodes */
  double *sum;   /* parts x 6: momentum not explained, kg m/s; of rigid bodies spin too, kg m^2/s */
  double *scale; /* parts x 2: size of the terms of each */
  double *x0, *x1;  /* vertices x 3 */
  double *push;     /* vertices x 3: forces of contact, N */
  double *bent;     /* vertices: see contact_law.h, m */
  double *grip;     /* parts x 7: sums over contacts of r_n times creep and slip, N m, and r_n, N */
  double *crept;    /* parts x 6: sums over steps of the means of both, m */
  int64_t followed; /* the step after which that stands */
  eb_intersections *intersections;
  eb_arena owned;
};

/* ---- surfaces -------------------------------------------------------------------------------- */

/* Nodes at their places, and the vertices of the obstacles where these are at time t. */
static void place(const eb_contact_audit *contact, const double *nodes, double t, double *x) {
  memcpy(x, nodes, 3 * (size_t)contact->nodes * sizeof *x);
  x += 3 * (size_t)contact->nodes;
  for (int32_t o = 0; o < contact->scene->contacts.obstacle_count; o++) {
    const eb_obstacle *obstacle = &contact->scene->contacts.obstacles[o];
    double R[9], shift[3];
    eb_obstacle_pose(obstacle, t, R, shift);
    for (size_t i = 0; i < (size_t)obstacle->surface->vertex_count; i++, x += 3) {
      const double *X = obstacle->surface->X + 3 * i;
      for (int d = 0; d < 3; d++)
        x[d] = R[3 * d] * X[0] + R[3 * d + 1] * X[1] + R[3 * d + 2] * X[2] + shift[d];
    }
  }
}

/* The triangles of the mesh's surface and of the obstacles, with their solids. */
static eb_error create_surfaces(eb_contact_audit *contact) {
  const eb_scene *scene = contact->scene;
  const eb_surface *own = scene->surface;
  int32_t solids = contact->parts + scene->contacts.obstacle_count, first = contact->nodes;
  size_t count = (size_t)own->triangle_count, at = count;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    count += (size_t)scene->contacts.obstacles[o].surface->triangle_count;
  EB_FREED int32_t *triangles = NULL, *solid = NULL;
  EB_FREED eb_solid_kind *kind = NULL;
  EB_TRY(EB_NEW(triangles, 3 * count));
  EB_TRY(EB_NEW(solid, count));
  EB_TRY(EB_NEW(kind, solids));
  for (size_t k = 0; k < 3 * at; k++)
    triangles[k] = own->node ? own->node[own->triangles[k]] : own->triangles[k];
  for (size_t t = 0; t < at; t++) solid[t] = contact->part[triangles[3 * t]];
  for (int32_t s = 0; s < contact->parts; s++)
    kind[s] = contact->rider[s] >= 0 ? EB_SOLID_RIGID : EB_SOLID_SOFT;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    const eb_surface *surface = scene->contacts.obstacles[o].surface;
    kind[contact->parts + o] = EB_SOLID_OBSTACLE;
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++, at++) {
      for (size_t k = 0; k < 3; k++) triangles[3 * at + k] = first + surface->triangles[3 * t + k];
      solid[at] = contact->parts + o;
    }
    first += surface->vertex_count;
  }
  place(contact, scene->x0, 0, contact->x0);
  eb_solids all = {contact->vertices, (int32_t)count, solids, triangles, solid, kind};
  return eb_intersections_create(&all, contact->x0, &contact->intersections);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error fill(eb_contact_audit *contact) {
  const eb_free_bodies *bodies = contact->scene->rigid.free_bodies;
  int32_t vertices = contact->scene->mesh->node_count;
  contact->nodes = vertices;
  for (int32_t o = 0; o < contact->scene->contacts.obstacle_count; o++)
    vertices += contact->scene->contacts.obstacles[o].surface->vertex_count;
  contact->vertices = vertices;
  contact->parts = contact->audit->parts;
  contact->part = contact->audit->part;
  EB_TRY(EB_TAKE(&contact->owned, contact->rider, contact->parts));
  EB_TRY(EB_TAKE(&contact->owned, contact->size, contact->parts));
  EB_TRY(EB_TAKE(&contact->owned, contact->held, contact->parts));
  EB_TRY(EB_TAKE(&contact->owned, contact->sum, 6 * (size_t)contact->parts));
  EB_TRY(EB_TAKE(&contact->owned, contact->scale, 2 * (size_t)contact->parts));
  EB_TRY(EB_TAKE(&contact->owned, contact->x0, 3 * (size_t)vertices));
  EB_TRY(EB_TAKE(&contact->owned, contact->x1, 3 * (size_t)vertices));
  EB_TRY(EB_TAKE(&contact->owned, contact->push, 3 * (size_t)vertices));
  EB_TRY(EB_TAKE(&contact->owned, contact->bent, vertices));
  EB_TRY(EB_TAKE(&contact->owned, contact->grip, 7 * (size_t)contact->parts));
  EB_TRY(EB_TAKE(&contact->owned, contact->crept, 6 * (size_t)contact->parts));
  for (int32_t s = 0; s < contact->parts; s++) contact->rider[s] = -1;
  for (int32_t i = 0; i < contact->nodes; i++) {
    contact->size[contact->part[i]]++;
    if (bodies && bodies->of_node[i] >= 0) contact->rider[contact->part[i]] = bodies->of_node[i];
  }
  return create_surfaces(contact);
}

eb_error eb_contact_audit_create(const eb_scene *scene, const eb_audit *audit,
                                 eb_contact_audit **out) {
  eb_contact_audit *contact;
  *out = NULL;
  EB_TRY(EB_NEW(contact, 1));
  contact->scene = scene;
  contact->audit = audit;
  eb_error error = fill(contact);
  if (error)
    eb_contact_audit_destroy(contact);
  else
    *out = contact;
  return error;
}

void eb_contact_audit_start(eb_contact_audit *contact, eb_intersection_counts *counts) {
  place(contact, contact->scene->x0, 0, contact->x0);
  eb_intersections_count(contact->intersections, NULL, contact->x0, counts);
}

void eb_contact_audit_destroy(eb_contact_audit *contact) {
  if (!contact) return;
  eb_intersections_destroy(contact->intersections);
  eb_arena_clear(&contact->owned);
  free(contact);
}

/* How far the riders' paths are from h (V + W x arm), V and W at the end, which a solver linearizes
 * them to. */
static void measure_bent(eb_contact_audit *contact, const eb_state *before, const eb_state *after,
                         double dt) {
  const eb_free_bodies *bodies = contact->scene->rigid.free_bodies;
  for (size_t i = 0; bodies && before->pose && i < (size_t)contact->nodes; i++) {
    int32_t b = bodies->of_node[i];
    if (b < 0) continue;
    const double *centre = before->pose + 7 * (size_t)b, *twist = after->twist + 6 * (size_t)b;
    double sum = 0, arm[3];
    for (int d = 0; d < 3; d++) arm[d] = before->x[3 * i + (size_t)d] - centre[d];
    for (int d = 0; d < 3; d++) {
      int e = (d + 1) % 3, f = (d + 2) % 3;
      double turn = twist[3 + e] * arm[f] - twist[3 + f] * arm[e];
      double way = after->x[3 * i + (size_t)d] - before->x[3 * i + (size_t)d];
      sum += (way - dt * (twist[d] + turn)) * (way - dt * (twist[d] + turn));
    }
    contact->bent[i] = sqrt(sum);
  }
}

/* ---- momentum -------------------------------------------------------------------------------- */

/* A linearly implicit step solves A v1 = M v0 + h (f_ext - g) + H^T r to a residual of norm eps1.
 * Over the nodes of a body without scripted nodes the forces of its elements and their derivatives
 * sum to 0, so that what remains of
 *   sum_i m_i (v1_i - v0_i) - h f_i - h sum_k w_ki R_k^T r_k
 * is a sum of residuals, at most sqrt(nodes) eps1 of them. A rigid body has one row for that, with
 * its own velocity, and one for its spin about its centre,
 *   I0 (W1 - W0) + h W0 x I0 W0 - h sum_i arm_i x (f_i - m_i g + sum_k w_ki R_k^T r_k),
 * I0 and the arms those before the step. */
enum { MOMENTUM = 0, SPIN = 3 };

/* Adds scale a to what a part's motion and forces leave. */
static void add_term(eb_contact_audit *contact, int32_t part, int what, double scale,
                     const double a[3]) {
  eb_add3(scale, a, contact->sum + 6 * (size_t)part + what);
  contact->scale[2 * (size_t)part + (size_t)what / 3] += fabs(scale) * sqrt(eb_dot3(a, a));
}

static void sum_parts(eb_contact_audit *contact, const eb_state *before, const eb_state *after,
                      double dt) {
  eb_audit_nodes audited = eb_audit_last(contact->audit);
  memset(contact->held, 0, (size_t)contact->parts);
  memset(contact->sum, 0, 6 * (size_t)contact->parts * sizeof *contact->sum);
  memset(contact->scale, 0, 2 * (size_t)contact->parts * sizeof *contact->scale);
  for (size_t i = 0; i < (size_t)contact->nodes; i++) {
    int32_t part = contact->part[i];
    const double *force = audited.force + 3 * i, *push = contact->push + 3 * i;
    contact->held[part] |= audited.fixed[i] == 1;
    if (contact->rider[part] < 0) {
      add_term(contact, part, MOMENTUM, audited.mass[i], after->v + 3 * i);
      add_term(contact, part, MOMENTUM, -audited.mass[i], before->v + 3 * i);
    } else { /* what acts on a riding node turns its body */
      double arm[3], load[3], moment[3];
      memcpy(arm, before->x + 3 * i, sizeof arm);
      memcpy(load, force, sizeof load);
      eb_add3(-1, before->pose + 7 * (size_t)contact->rider[part], arm);
      eb_add3(-audited.mass[i], contact->scene->gravity, load);
      eb_add3(1, push, load);
      eb_cross3(arm, load, moment);
      add_term(contact, part, SPIN, -dt, moment);
    }
    add_term(contact, part, MOMENTUM, -dt, force);
    add_term(contact, part, MOMENTUM, -dt, push);
  }
  for (int32_t part = 0; part < contact->parts; part++) {
    if (contact->rider[part] < 0) continue;
    size_t b = (size_t)contact->rider[part];
    const eb_free_body *body = &contact->scene->rigid.free_bodies->body[b];
    const double *start = before->twist + 6 * b, *end = after->twist + 6 * b;
    double inertia[9], spin[3], gyroscopic[3];
    add_term(contact, part, MOMENTUM, body->mass, end);
    add_term(contact, part, MOMENTUM, -body->mass, start);
    eb_free_body_inertia(body, before->pose + 7 * b, inertia);
    eb_turn3(inertia, end + 3, spin);
    add_term(contact, part, SPIN, 1, spin);
    eb_turn3(inertia, start + 3, spin);
    add_term(contact, part, SPIN, -1, spin);
    eb_cross3(start + 3, spin, gyroscopic);
    add_term(contact, part, SPIN, dt, gyroscopic);
  }
}

static void balance(eb_contact_audit *contact, const eb_state *before, const eb_state *after,
                    double dt, eb_contact_audit_row *row) {
  static const double rounding = 1e-10;
  double allowed = contact->scene->contacts.bounds.momentum;
  sum_parts(contact, before, after, dt);
  for (int32_t s = 0; s < contact->parts; s++) {
    const double *left = contact->sum + 6 * (size_t)s, *scale = contact->scale + 2 * (size_t)s;
    if (contact->held[s]) continue;
    double momentum = sqrt(eb_dot3(left, left)), spin = sqrt(eb_dot3(left + SPIN, left + SPIN));
    double rows = contact->rider[s] < 0 ? contact->size[s] : 1, excess = row->balance_excess;
    row->balance = fmax(row->balance, momentum);
    if (momentum > 0)
      excess = fmax(excess, momentum / (sqrt(rows) * allowed + rounding * scale[0]));
    if (spin > 0) excess = fmax(excess, spin / (allowed + rounding * scale[1]));
    if (excess > row->balance_excess) row->unbalanced = (eb_spot){EB_SPOT_BODY, s, -1};
    row->balance_excess = excess;
  }
}

/* ---- creep ----------------------------------------------------------------------------------- */

/* A contact inside Coulomb's cone does not slip, and one on it slips against its friction. What
 * tolerances let it slip otherwise in a step has any direction, and the mean over a body's
 * contacts, weighed by their forces, comes to little; summed over steps it stays little, unless
 * steps leave the same again and again. So it is of a body whose slip as a whole stays little too.
 * A body creeps by the less of the two sums, which begin anew when it slides, as its friction has
 * it, or is free.
 */
enum { CREEP = 0, SLIP = 3, FORCE = 6, GRIP = 7 };

static void add_grip(eb_contact_audit *contact, int32_t vertex, double force, const double slip[3],
                     const double creep[3]) {
  if (vertex >= contact->nodes) return;
  double *grip = contact->grip + GRIP * (size_t)contact->part[vertex];
  eb_add3(force, creep, grip + CREEP);
  eb_add3(force, slip, grip + SLIP);
  grip[FORCE] += fabs(force);
}

static void grip_contact(eb_contact_audit *contact, const eb_contact_record *record, size_t k) {
  const eb_pair *pair = &record->pair[k];
  const double *r = record->r + 3 * k, *n = record->frame + 9 * k, *w = record->weight + 4 * k;
  const eb_contact_bounds *bounds = &contact->scene->contacts.bounds;
  double limit = eb_friction_of(&contact->scene->contacts.friction, pair) * r[0], slip[3] = {0};
  double slack = 0, friction = hypot(r[1], r[2]), against[3] = {0}, creep[3];
  if (!(limit > 0)) return;
  for (int i = 0; i < 4; i++) {
    if (pair->vertex[i] < 0 || pair->vertex[i] >= contact->vertices) return;
    size_t at = 3 * (size_t)pair->vertex[i];
    eb_add3(w[i], contact->x1 + at, slip);
    eb_add3(-w[i], contact->x0 + at, slip);
    slack += fabs(w[i]) * contact->bent[pair->vertex[i]];
  }
  eb_add3(-eb_dot3(n, slip), n, slip);
  double length = sqrt(eb_dot3(slip, slip));
  for (int d = 0; d < 3; d++) slip[d] *= length > slack ? 1 - slack / length : 0;
  memcpy(creep, slip, sizeof creep);
  if (friction >= (1 - bounds->cone) * limit) { /* directions of larger slips have a rule */
    for (int d = 1; d < 3; d++) eb_add3(-r[d] / friction, n + 3 * d, against);
    eb_add3(-fmax(0, eb_dot3(against, slip)), against, creep);
    if (length > bounds->distance / 10) memset(creep, 0, sizeof creep);
  }
  add_grip(contact, pair->vertex[0], r[0], slip, creep);
  add_grip(contact, pair->vertex[3], -r[0], slip, creep);
}

/* Adds the means of a step to what a body has crept, and says how far that is. */
static double add_creep(const double grip[GRIP], double slides, double crept[6]) {
  double step[6] = {0}, sliding2 = 0;
  for (int d = 0; d < 6 && grip[FORCE] > 0; d++) step[d] = grip[d] / grip[FORCE];
  for (int d = 0; d < 3; d++)
    sliding2 += (step[SLIP + d] - step[CREEP + d]) * (step[SLIP + d] - step[CREEP + d]);
  for (int d = 0; d < 6; d++)
    crept[d] = grip[FORCE] > 0 && sliding2 <= slides * slides ? crept[d] + step[d] : 0;
  return sqrt(fmin(eb_dot3(crept + CREEP, crept + CREEP), eb_dot3(crept + SLIP, crept + SLIP)));
}

static void follow_creep(eb_contact_audit *contact, const eb_state *before,
                         const eb_contact_record *record, eb_contact_audit_row *row) {
  double slides = contact->scene->contacts.bounds.distance / 10;
  if (before->step != contact->followed)
    memset(contact->crept, 0, 6 * (size_t)contact->parts * sizeof *contact->crept);
  contact->followed = before->step + 1;
  memset(contact->grip, 0, GRIP * (size_t)contact->parts * sizeof *contact->grip);
  for (size_t k = 0; record && k < (size_t)record->count; k++) grip_contact(contact, record, k);
  for (int32_t s = 0; s < contact->parts; s++) {
    double far =
        add_creep(contact->grip + GRIP * (size_t)s, slides, contact->crept + 6 * (size_t)s);
    if (!(far > row->creep)) continue;
    row->creep = far;
    row->creeping = (eb_spot){EB_SPOT_BODY, s, -1};
  }
}

/* ---- a step ---------------------------------------------------------------------------------- */

const double *eb_contact_audit_forces(eb_contact_audit *contact, const eb_contact_record *record) {
  memset(contact->push, 0, 3 * (size_t)contact->vertices * sizeof *contact->push);
  for (size_t k = 0; record && k < (size_t)record->count; k++) {
    const double *R = record->frame + 9 * k, *r = record->r + 3 * k;
    for (size_t i = 0; i < 4; i++) {
      int32_t vertex = record->pair[k].vertex[i];
      if (vertex < 0 || vertex >= contact->vertices) continue; /* such contacts have none */
      for (size_t d = 0; d < 3; d++)
        contact->push[3 * (size_t)vertex + d] +=
            record->weight[4 * k + i] * (R[d] * r[0] + R[3 + d] * r[1] + R[6 + d] * r[2]);
    }
  }
  return contact->push;
}

double eb_contact_audit_slack(eb_reason reason) {
  return reason == EB_CONVERGED_STAGNATED ? 2 : 1;
}

void eb_contact_audit_step(eb_contact_audit *contact, const eb_state *before, const eb_state *after,
                           double dt, const eb_contact_record *record, eb_reason reason,
                           eb_contact_audit_row *row) {
  *row = (eb_contact_audit_row){0};
  place(contact, before->x, before->time, contact->x0);
  place(contact, after->x, after->time, contact->x1);
  eb_team *team = contact->audit->team;
  eb_intersections_count(contact->intersections, team, contact->x1, &row->intersections);
  if (record) {
    measure_bent(contact, before, after, dt);
    eb_contact_law_measure(record, contact->vertices, contact->x0, contact->x1, contact->bent,
                           &contact->scene->contacts.friction, &contact->scene->contacts.bounds,
                           eb_contact_audit_slack(reason), &row->law);
  }
  row->unrecorded = eb_intersections_unrecorded(contact->intersections, team, contact->x1,
                                                contact->scene->contacts.bounds.near, record);
  balance(contact, before, after, dt, row);
  follow_creep(contact, before, record, row);
  /* What obstacles do on their way: they are pushed back as they push. */
  for (size_t k = 3 * (size_t)contact->nodes; k < 3 * (size_t)contact->vertices; k++)
    row->obstacles_work -= contact->push[k] * (contact->x1[k] - contact->x0[k]);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Where the first feature's point is; of a contact whose weights are of none, its first corner. */
static void place_contact(const eb_contact_audit *contact, const eb_contact_record *record,
                          int32_t k, eb_place *out) {
  static const double rounding = 1e-6;
  if (!record || k < 0 || k >= record->count) return;
  const eb_pair *pair = &record->pair[k];
  const double *w = record->weight + 4 * (size_t)k;
  int corners = pair->kind == EB_VERTEX_FACE ? 1 : 2;
  double x[3] = {0}, sum = 0;
  for (int i = 0; i < 4; i++)
    if (pair->vertex[i] < 0 || pair->vertex[i] >= contact->vertices) return;
  for (int i = 0; i < corners; i++) sum += w[i];
  bool sound = fabs(sum - 1) <= rounding;
  for (int i = 0; i < (sound ? corners : 1); i++)
    eb_add3(sound ? w[i] : 1, contact->x1 + 3 * (size_t)pair->vertex[i], x);
  *out = (eb_place){EB_SPOT_CONTACT, k, {pair->vertex[0], pair->vertex[3]}, {x[0], x[1], x[2]}};
}

void eb_contact_audit_place(const eb_contact_audit *contact, const eb_contact_record *record,
                            eb_spot spot, eb_place *out) {
  const double near = contact->scene->contacts.bounds.near;
  int32_t pair[2] = {-1, -1};
  *out = (eb_place){EB_SPOT_NONE, -1, {-1, -1}, {NAN, NAN, NAN}};
  if (spot.kind == EB_SPOT_CONTACT) {
    place_contact(contact, record, spot.at, out);
    return;
  }
  if (spot.kind == EB_SPOT_CROSSING)
    eb_intersections_find(contact->intersections, contact->x1, pair);
  else
    eb_intersections_find_unrecorded(contact->intersections, contact->x1, near, record, pair);
  if (pair[0] < 0) return;
  const double *x = contact->x1 + 3 * (size_t)pair[0];
  *out = (eb_place){EB_SPOT_PAIR, pair[0], {pair[0], pair[1]}, {x[0], x[1], x[2]}};
}
