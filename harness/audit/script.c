/* What a script does within a step that is cut into parts, where nobody knows the nodes' way.
 *
 * Scripted nodes that go by y bring energy into a body. They work with the power y'.K x, and by
 * Cauchy's inequality in the norm of K no energy A of the body makes that larger than 2 sqrt(A)
 * times the root of what y' alone has in it:
 *   sqrt(A(t)) <= sqrt(A(0)) + sum sqrt(Y),   Y = d.K(x0) d / 2,
 * over the pieces d of their way, as far as forces are linear. K is the projected tangent: a body
 * under pressure has no less for a script to work with.
 *
 * How much of that it has done is told from the forces at the ends of a step, where nodes go evenly
 * in between and not by turns, starts or ways out and back (energy.c). */
#include "harness/audit/audit_data.h"

enum { PIECES = 4 }; /* of a step */

/* Where scripted nodes are when `piece` pieces are over: out, and audit->distance is overwritten.
 * Those that are not gripped yet count as on their way, all others stay. */
static void find_places(eb_audit *audit, const eb_state *before, double dt, int piece,
                        double *out) {
  uint8_t *held = (uint8_t *)audit->distance;
  double share = (double)piece / PIECES;
  bool between = piece > 0 && piece < PIECES;
  if (between) eb_scene_boundary(audit->scene, before->time + share * dt, held, out);
  for (size_t k = 0; k < 3 * audit->nodes; k++) {
    bool scripted = audit->fixed[k / 3] == EB_AUDIT_SCRIPTED;
    double way = scripted ? audit->target[k] - before->x[k] : 0;
    if (!between || !scripted || !held[k / 3]) out[k] = before->x[k] + share * way;
  }
}

/* The largest way of a coordinate in the step, and the most that one is off going evenly, m. */
static void measure_ways(eb_audit *audit, const eb_state *before, double dt, double *way,
                         double *off) {
  double most[2] = {0}, *place = audit->own;
  for (int piece = 1; piece <= PIECES; piece++) {
    find_places(audit, before, dt, piece, place);
    for (size_t k = 0; k < 3 * audit->nodes; k++) {
      double all = audit->fixed[k / 3] == EB_AUDIT_SCRIPTED ? audit->target[k] - before->x[k] : 0;
      eb_audit_raise(fabs(all), &most[0]);
      eb_audit_raise(fabs(place[k] - before->x[k] - all * piece / PIECES), &most[1]);
    }
  }
  eb_ranks_max(audit->ranks, 2, most);
  *way = most[0];
  *off = most[1];
}

/* sqrt(Y) of two pieces in a row, whose ways are audit->trial and audit->stopped. */
static double root_of_energy(eb_audit *audit, const eb_state *before) {
  const double *const way[EB_AUDIT_MOTIONS] = {audit->trial, audit->stopped};
  double *const force[EB_AUDIT_MOTIONS] = {audit->own, audit->stretch};
  double scale2[EB_AUDIT_MOTIONS], sums[EB_AUDIT_MOTIONS] = {0};
  eb_audit_tangent(audit, before->x, EB_TANGENT_PROJECTED, EB_AUDIT_MOTIONS, way, force, scale2);
  for (int m = 0; m < EB_AUDIT_MOTIONS; m++)
    for (size_t k = 0; k < 3 * audit->own_nodes; k++) sums[m] += 0.5 * way[m][k] * force[m][k];
  eb_ranks_sum(audit->ranks, EB_AUDIT_MOTIONS, sums);
  return sqrt(fmax(0, sums[0])) + sqrt(fmax(0, sums[1]));
}

void eb_audit_script(eb_audit *audit, const eb_state *before, double dt, eb_audit_row *row) {
  static const double tenth = 0.1; /* of the largest way, that nodes may be off it */
  double way, off, *from = audit->own, *middle = audit->trial, *to = audit->stopped;
  measure_ways(audit, before, dt, &way, &off);
  row->script.root = 0;
  row->script.even = off <= tenth * way;
  for (int piece = 0; way + off > 0 && piece < PIECES; piece += EB_AUDIT_MOTIONS) {
    find_places(audit, before, dt, piece, from);
    find_places(audit, before, dt, piece + 1, middle);
    find_places(audit, before, dt, piece + 2, to);
    for (size_t k = 0; k < 3 * audit->nodes; k++) {
      to[k] -= middle[k];
      middle[k] -= from[k];
    }
    row->script.root += root_of_energy(audit, before);
  }
}
