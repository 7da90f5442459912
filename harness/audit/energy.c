/* Energies and momenta of a state, the penalty of implicit colliders, and the energy that a step
 * gains from nowhere:
 *
 *   (K + E + P + S + V)_1 - (K + E + P + S + V)_0 - W
 *
 * with kinetic and elastic energy, the penalty P of implicit colliders, the energy S of springs
 * (springs.c), and the potential V of gravity, joints and limits; E_0 with the fibres as active as
 * in the step. W is the work of everything else: of f_ext beyond gravity, which is constant in the
 * step, of what keeps scripted nodes on their way, of colliders that move, of what moves and
 * changes springs; contact forces between bodies have none of their own: what they take is lost.
 * A script works with the force of the end of the step, as implicit steps have it. Of a step in
 * parts it is what scripted nodes gain of kinetic energy, and the elastic force on them on their
 * way by the mean of start and end. Most implicit steps lose energy. Of what is gained, equation.c
 * tells the part that is not the equation's own. */
#include <float.h>
#include <math.h>

#include "harness/audit/audit_data.h"
#include "problems/base/vector3.h"

/* ---- free bodies -----------------------------------------------------------------------------
 *
 * A free body as a cloud of mass points that turn with it: energies and momenta are sums over the
 * points,
 *
 *   x_q = p + R r_q,   v_q = v + w x (R r_q),   sum_q m_q |v_q|^2 / 2,   -sum_q m_q g . x_q,
 *   sum_q m_q v_q,   sum_q m_q x_q x v_q,
 *
 * with no mass, centre or inertia of problems/rigid in them. The points are those of quadrature
 * rules that are exact for the quadratics in the sums: four in a tetrahedron (a = (5 + 3 sqrt 5) /
 * 20 on one corner, (1 - a) / 3 on the others), 27 Gauss points in a hexahedron. */

struct eb_mass_points {
  size_t count;
  double *r;     /* count x 3: rest position from the reference of the body's pose, m */
  double *mass;  /* count, kg */
  int32_t *body; /* count */
};

enum { TETRAHEDRON_POINTS = 4, HEXAHEDRON_POINTS = 27 };

/* Shape functions of the cube [0, 1]^3 at point q; returns the volume that the point stands for. */
static double hexahedron_point(const double *X, const int32_t *node, int q, double N[8]) {
  const double off = sqrt(0.15), place[3] = {0.5 - off, 0.5, 0.5 + off};
  const double weight[3] = {5. / 18, 4. / 9, 5. / 18};
  const double s[3] = {place[q % 3], place[q / 3 % 3], place[q / 9]};
  double along[3][3] = {{0}}, area[3];
  for (int a = 0; a < 8; a++) {
    /* Along x, y and z the weight of corner a is that of its end, in the order of VTK. */
    const int end[3] = {a % 4 == 1 || a % 4 == 2, a % 4 >= 2, a >= 4};
    double f[3], slope[3];
    for (int d = 0; d < 3; d++) {
      f[d] = end[d] ? s[d] : 1 - s[d];
      slope[d] = end[d] ? 1 : -1;
    }
    N[a] = f[0] * f[1] * f[2];
    for (int d = 0; d < 3; d++)
      eb_add3(slope[d] * f[(d + 1) % 3] * f[(d + 2) % 3], X + 3 * (size_t)node[a], along[d]);
  }
  eb_cross3(along[1], along[2], area);
  return weight[q % 3] * weight[q / 3 % 3] * weight[q / 9] * eb_dot3(along[0], area);
}

eb_error eb_audit_mass_points(eb_audit *audit) {
  const eb_scene *scene = audit->scene;
  eb_mass_points *points;
  if (!scene->rigid.free_bodies) return EB_OK;
  EB_TRY(EB_TAKE(&audit->owned, points, 1));
  audit->bodies = points;
  const eb_mesh *mesh = scene->mesh;
  const double near = (5 + 3 * sqrt(5)) / 20;
  bool tetrahedra = mesh->type == EB_TETRAHEDRON;
  int per_element = tetrahedra ? TETRAHEDRON_POINTS : HEXAHEDRON_POINTS;
  size_t rigid = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    rigid += scene->rigid.regions[mesh->region[e]] != 0;
  EB_TRY(EB_TAKE(&audit->owned, points->r, 3 * rigid * (size_t)per_element));
  EB_TRY(EB_TAKE(&audit->owned, points->mass, rigid * (size_t)per_element));
  EB_TRY(EB_TAKE(&audit->owned, points->body, rigid * (size_t)per_element));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (!scene->rigid.regions[mesh->region[e]]) continue;
    const int32_t *node = mesh->elements + (size_t)e * mesh->type;
    int32_t body = scene->rigid.free_bodies->of_node[node[0]];
    for (int q = 0; q < per_element; q++) {
      double N[8], volume, *r = points->r + 3 * points->count;
      for (int a = 0; tetrahedra && a < 4; a++) N[a] = a == q ? near : (1 - near) / 3;
      volume = tetrahedra ? eb_mesh_element_volume(mesh, mesh->X, e) / TETRAHEDRON_POINTS
                          : hexahedron_point(mesh->X, node, q, N);
      for (int a = 0; a < (int)mesh->type; a++) eb_add3(N[a], mesh->X + 3 * (size_t)node[a], r);
      eb_add3(-1, scene->rigid.free_bodies->body[body].centre, r);
      points->mass[points->count] = scene->materials[mesh->region[e]].density * volume;
      points->body[points->count++] = body;
    }
  }
  return EB_OK;
}

/* y = q r q^-1 as a product of quaternions. */
static void turn(const double q[4], const double r[3], double y[3]) {
  double scalar = -eb_dot3(q + 1, r), vector[3], swept[3];
  eb_cross3(q + 1, r, vector);
  eb_add3(q[0], r, vector);
  eb_cross3(vector, q + 1, swept);
  for (int d = 0; d < 3; d++) y[d] = q[0] * vector[d] - scalar * q[d + 1] - swept[d];
}

/* ---- a state --------------------------------------------------------------------------------- */

static void sum_ranks(const eb_audit *audit, eb_audit_totals *totals) {
  double sums[8] = {totals->kinetic, totals->gravitational};
  if (!audit->ranks) return;
  for (int d = 0; d < 3; d++) {
    sums[2 + d] = totals->momentum[d];
    sums[5 + d] = totals->angular_momentum[d];
  }
  eb_ranks_sum(audit->ranks, 8, sums);
  totals->kinetic = sums[0];
  totals->gravitational = sums[1];
  for (int d = 0; d < 3; d++) {
    totals->momentum[d] = sums[2 + d];
    totals->angular_momentum[d] = sums[5 + d];
  }
}

void eb_audit_energies(const eb_audit *audit, const eb_state *state, eb_audit_totals *totals) {
  const double *gravity = audit->scene->gravity;
  const eb_free_bodies *bodies = audit->scene->rigid.free_bodies;
  const eb_articulation *articulation = audit->scene->rigid.articulation;
  for (size_t i = 0; i < audit->own_nodes; i++) {
    if (bodies && bodies->of_node[i] >= 0) continue;
    const double *x = state->x + 3 * i, *v = state->v + 3 * i;
    double m = audit->mass[i];
    totals->kinetic += 0.5 * m * eb_audit_squared(v);
    for (int d = 0; d < 3; d++) {
      int d1 = (d + 1) % 3, d2 = (d + 2) % 3;
      totals->gravitational -= m * gravity[d] * x[d];
      totals->momentum[d] += m * v[d];
      totals->angular_momentum[d] += m * (x[d1] * v[d2] - x[d2] * v[d1]);
    }
  }
  sum_ranks(audit, totals);
  const eb_mass_points *points = audit->bodies;
  for (size_t k = 0; points && k < points->count; k++) {
    const double *pose = state->pose + 7 * (size_t)points->body[k];
    const double *twist = state->twist + 6 * (size_t)points->body[k];
    double m = points->mass[k], x[3], v[3], moment[3];
    turn(pose + 3, points->r + 3 * k, x);
    eb_cross3(twist + 3, x, v);
    eb_add3(1, twist, v);
    eb_add3(1, pose, x);
    eb_cross3(x, v, moment);
    totals->kinetic += 0.5 * m * eb_dot3(v, v);
    totals->gravitational -= m * eb_dot3(gravity, x);
    eb_add3(m, v, totals->momentum);
    eb_add3(m, moment, totals->angular_momentum);
  }
  if (!articulation) return;
  double gravitational, limits;
  eb_articulation_energy(articulation, state->q, state->u, &totals->joint_kinetic, &gravitational,
                         &limits);
  totals->joint_potential = gravitational + limits;
  eb_articulation_momentum(articulation, state->q, state->u, totals->momentum,
                           totals->angular_momentum);
}

/* ---- colliders ------------------------------------------------------------------------------- */

void eb_audit_take_tangential(double bound, const double normal[3], const double from[3],
                              double out[3]) {
  double along = eb_dot3(from, normal), tangential[3];
  for (int d = 0; d < 3; d++) tangential[d] = from[d] - along * normal[d];
  double size = sqrt(eb_audit_squared(tangential));
  double share = size > bound ? bound / size : 1;
  for (int d = 0; d < 3; d++) out[d] -= share * tangential[d];
}

void eb_audit_take_friction(double bound, double rate, const double normal[3], const double slip[3],
                            double r[3]) {
  double wanted[3];
  for (int d = 0; d < 3; d++) wanted[d] = r[d] - rate * slip[d];
  eb_audit_take_tangential(bound, normal, wanted, r);
}

double eb_audit_add_penalty(const eb_audit *audit, double time, const double *x, const double *from,
                            double dt, double *residual) {
  const eb_scene *scene = audit->scene;
  double scale2 = 0;
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    for (size_t i = 0; collider->implicit && i < audit->nodes; i++) {
      double normal[3], velocity[3], push[3], *r = residual + 3 * i;
      double depth =
          collider->margin - eb_collider_distance(collider, time, x + 3 * i, normal, velocity);
      double pressure = depth > 0 ? collider->stiffness * depth : 0;
      for (int d = 0; d < 3; d++) {
        push[d] = pressure * scene->node_area[i] * normal[d];
        r[d] -= push[d];
      }
      if (!audit->fixed[i]) scale2 += eb_audit_squared(push);
      if (!from || !(pressure > 0)) continue;
      double slip[3];
      for (size_t d = 0; d < 3; d++) slip[d] = (x[3 * i + d] - from[3 * i + d]) / dt - velocity[d];
      double mu = eb_collider_friction(&scene->contacts.friction, collider, (int64_t)i);
      eb_audit_take_friction(mu * pressure * scene->node_area[i],
                             audit->mass[i] / dt + dt * collider->stiffness * scene->node_area[i],
                             normal, slip, r);
    }
  }
  return scale2;
}

/* Energy of the penalty with nodes at x; with dt > 0 instead the work in that time of colliders
 * that move, by the push of the penalty. Of nodes that were inside at `start`, NULL: of all. J. */
static double sum_penalty(const eb_audit *audit, double time, const double *x, double dt,
                          const eb_state *start) {
  double sum = 0, scale = dt > 0 ? dt : 0.5;
  for (int32_t c = 0; c < audit->scene->contacts.collider_count; c++) {
    const eb_collider *collider = &audit->scene->contacts.colliders[c];
    bool counts = collider->implicit && (!(dt > 0) || collider->motion || collider->turn);
    for (size_t i = 0; counts && i < audit->nodes; i++) {
      double normal[3], velocity[3];
      if (start && !(eb_collider_distance(collider, start->time, start->x + 3 * i, normal,
                                          velocity) < collider->margin))
        continue;
      double depth =
          collider->margin - eb_collider_distance(collider, time, x + 3 * i, normal, velocity);
      double way = dt > 0 ? eb_dot3(normal, velocity) : depth;
      if (depth > 0) sum += scale * collider->stiffness * audit->scene->node_area[i] * depth * way;
    }
  }
  return sum;
}

double eb_audit_penalty_energy(const eb_audit *audit, double time, const double *x) {
  return sum_penalty(audit, time, x, 0, NULL);
}

double eb_audit_taken_penalty_energy(const eb_audit *audit, const eb_declaration *declared,
                                     const eb_state *start, double time, const double *x) {
  return sum_penalty(audit, time, x, 0, declared->touching == EB_TOUCHING_PRESENT ? start : NULL);
}

bool eb_audit_meets(const eb_scene *scene, const eb_state *before, const eb_state *after, double dt,
                    bool every, size_t i) {
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    const eb_collider *collider = &scene->contacts.colliders[c];
    double normal[3], velocity[3], speed = sqrt(eb_audit_squared(before->v + 3 * i));
    if (!every && !collider->implicit) continue;
    double near = collider->margin + 2 * dt * speed;
    if (eb_collider_distance(collider, before->time, before->x + 3 * i, normal, velocity) < near ||
        eb_collider_distance(collider, after->time, after->x + 3 * i, normal, velocity) < near)
      return true;
  }
  return false;
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* Sizes in a step of what its gain is a difference of. */
typedef struct gain_sizes {
  double terms;   /* nodes' and points' */
  double energy;  /* J: of energies and works, each before they cancel */
  double places2; /* m^2: sum |x0|^2 + |x1|^2 */
  double forces2; /* N^2: elastic forces, likewise */
  double reach2;  /* kg m^2: sum m (|x0|^2 + |x1|^2) */
  double shear;   /* J: sum of w mu over the points */
} gain_sizes;

static gain_sizes sizes_of(const eb_audit *audit, const eb_state *before, const eb_state *after) {
  const double *gravity = audit->scene->gravity;
  double points = (double)audit->own_elements * audit->points;
  gain_sizes s = {.terms = 3 * (double)audit->own_nodes + points, .shear = audit->shear};
  for (size_t k = 0; k < 3 * audit->own_nodes; k++) {
    double x0 = before->x[k], x1 = after->x[k], m = audit->mass[k / 3], both2 = x0 * x0 + x1 * x1;
    double load = fabs(audit->force[k] - m * gravity[k % 3]) + fabs(audit->residual[k]);
    s.energy += m * fabs(gravity[k % 3]) * (fabs(x0) + fabs(x1)) + load * fabs(x1 - x0);
    s.places2 += both2;
    s.reach2 += m * both2;
    s.forces2 += audit->start.g[k] * audit->start.g[k] + audit->end.g[k] * audit->end.g[k];
  }
  double sums[] = {s.terms, s.energy, s.places2, s.forces2, s.reach2, s.shear};
  eb_ranks_sum(audit->ranks, 6, sums);
  return (gain_sizes){sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
}

/* What rounding may leave of the gain, J, for which `stored` is all energy at both ends but that of
 * gravity. A sum of n terms is known to n eps of their sizes; the energy of a point, in whose mu/2
 * (|F|^2 - 3) nine squares cancel near rest, to 8 eps w mu at each end. Places are known to d = 45
 * eps |x|: energies change on them by the forces there and by those that d makes, (|g0| + |g1| +
 * |f_d|) |d|, and velocities that are made of them by d / h. */
static double unknown_gain(const eb_audit *audit, const gain_sizes *s, double dt, double kinetic,
                           double stored) {
  static const double roundings = 45 * DBL_EPSILON;
  double places = roundings * sqrt(s->places2);
  double speed = roundings * sqrt(s->reach2) / dt; /* times the root of mass */
  /* rounding2 belongs to changes of 1e-8 of the places. */
  double made = 1e8 * roundings * sqrt(audit->start.rounding2 + audit->end.rounding2);
  return DBL_EPSILON * (s->terms * (s->energy + stored) + 16 * s->shear) +
         (sqrt(2 * s->forces2) + made) * places + (2 * sqrt(kinetic) + speed) * speed;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* What a script does in a step in parts beyond the work of the end's forces, the only ones that
 * implicit steps know: scripted nodes gain kinetic energy, and meet on their way the elastic forces
 * on them, the mean of those at both ends. That is as much as *unknown off where the script goes
 * evenly and the step resolves the motion, so that the residual of implicit Euler is small; else
 * all that Cauchy's inequality leaves to a body that has `moving` (script.c). J. */
static double work_of_script(const eb_audit *audit, const eb_state *before, const eb_state *after,
                             double dt, double moving, const eb_audit_row *row, double *unknown) {
  static const double resolved = 0.1; /* of the forces */
  double sums[3] = {0};               /* beyond the end's forces; elastic, and half its change */
  for (size_t k = 0; k < 3 * audit->own_nodes; k++) {
    double v0 = before->v[k], v1 = after->v[k], way = after->x[k] - before->x[k];
    double change = 0.5 * (audit->end.g[k] - audit->start.g[k]) * way;
    double inertia = (way / dt - v0) * way / dt;
    if (audit->fixed[k / 3] != EB_AUDIT_SCRIPTED) continue;
    sums[0] += audit->mass[k / 3] * (0.5 * (v1 * v1 - v0 * v0) - inertia) - change;
    sums[1] += audit->end.g[k] * way - change;
    sums[2] += change;
  }
  eb_ranks_sum(audit->ranks, 3, sums);
  *unknown = fabs(sums[2]);
  if (!row->script.even || !(row->implicit_euler.relative <= resolved))
    *unknown += fabs(sums[1]) + row->script.root * (2 * sqrt(fmax(0, moving)) + row->script.root);
  return sums[0];
}

void eb_audit_work(eb_audit *audit, const eb_state *before, const eb_state *after, double dt,
                   const eb_declaration *declared, eb_audit_row *row) {
  const double *gravity = audit->scene->gravity;
  /* Of forces on nodes that no potential has, and of colliders by the push at the end. */
  double work = 0;
  for (size_t k = 0; k < 3 * audit->own_nodes; k++) {
    double way = after->x[k] - before->x[k];
    double load = audit->force[k] - audit->mass[k / 3] * gravity[k % 3];
    if (audit->fixed[k / 3] == EB_AUDIT_SCRIPTED) load += audit->residual[k];
    work += load * way;
  }
  work = eb_audit_sum(audit, work);
  work += sum_penalty(audit, after->time, after->x, dt, NULL);
  work += eb_audit_springs_work(audit, before->x, after->x);
  eb_audit_totals was = {.elastic = audit->start.energy,
                         .springs = eb_audit_springs_before(audit, before->x)};
  eb_audit_energies(audit, before, &was);
  const eb_audit_totals *totals[2] = {&was, &row->totals};
  const eb_state *states[2] = {before, after};
  double sum[2], moving[2], stored[2];
  for (int k = 0; k < 2; k++) {
    const eb_audit_totals *of = totals[k];
    stored[k] = of->elastic + eb_audit_penalty_energy(audit, states[k]->time, states[k]->x);
    moving[k] = of->kinetic + of->springs + of->joint_kinetic + stored[k];
    sum[k] = moving[k] + of->gravitational + of->joint_potential;
  }
  row->script.unknown = 0;
  if (declared->update == EB_UPDATE_SUBSTEPS && declared->equation != EB_EQUATION_STATIC)
    work += work_of_script(audit, before, after, dt, moving[0], row, &row->script.unknown);
  row->work.excess = sum[1] - sum[0] - work;
  row->work.scale = fmax(moving[0], moving[1]) + fabs(work);
  row->work.stored = stored[0];
  row->work.stored_gain = stored[1] - stored[0];
  row->work.kinetic_scale = fmax(moving[0] - stored[0], moving[1] - stored[1]) + fabs(work);
  gain_sizes sizes = sizes_of(audit, before, after);
  row->work.rounding = unknown_gain(audit, &sizes, dt, fmax(was.kinetic, row->totals.kinetic),
                                    moving[0] + moving[1]);
}
