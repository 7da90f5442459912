/* The audit of parts of a scene: every rank has the figures that one process has of the whole. */
#include <math.h>
#include <stddef.h>

#include "harness/audit/momentum_balance.h"
#include "harness/audit/parts.h"
#include "problems/base/memory.h"
#include "problems/ranks/subdomain.h"
#include "tests/support/under_mpiexec.h"

enum { MOST_RANKS = 3, STEPS = 3 };

/* Sums of some hundred terms in another order. */
static const double rounding = 1e-12;

/* ---- a scene and its motion ------------------------------------------------------------------ */

typedef struct side {
  eb_scene *scene;
  eb_audit *audit;
  eb_momentum_balance *momentum;
  eb_parts *parts;
  eb_state *before, *after;
  eb_part_row *rows;
} side;

static void need(eb_error error) {
  rank_require(error, "the trial");
}

/* The quarters at both ends are one region, of two pieces, the middle is another; the nodes of one
 * end face are a group. */
static void dress(eb_scene *scene) {
  eb_mesh *mesh = scene->mesh;
  double lo[3], hi[3];
  eb_scene_bounds(scene, mesh->X, lo, hi);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double middle = 0;
    for (size_t a = 0; a < mesh->type; a++)
      middle += mesh->X[3 * (size_t)mesh->elements[(size_t)e * mesh->type + a]];
    middle /= (double)mesh->type;
    mesh->region[e] = fabs(middle - 0.5 * (lo[0] + hi[0])) < 0.25 * (hi[0] - lo[0]);
  }
  need(eb_mesh_name_regions(mesh, 2, (const char *const[]){"ends", "middle"}));
  scene->materials[1] = scene->materials[0];
  scene->material_count = 2;
  eb_grip *grip = &scene->script.grips[scene->script.grip_count++];
  snprintf(grip->name, sizeof grip->name, "face");
  need(EB_NEW(grip->nodes, mesh->node_count));
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (mesh->X[3 * (size_t)i] == hi[0]) grip->nodes[grip->count++] = i;
}

static void begin(const eb_ranks *ranks, side *s) {
  need(eb_scene_create_part(eb_scene_find("bench/beam"), "resolution=0.5", NULL, "", ranks,
                            &s->scene));
  dress(s->scene);
  need(eb_audit_create(s->scene, &s->audit));
  need(eb_momentum_balance_create(s->audit, &s->momentum));
  need(eb_parts_create(s->audit, &s->parts));
  need(eb_state_create(s->scene, &s->before));
  need(eb_state_create(s->scene, &s->after));
  need(EB_NEW(s->rows, eb_parts_count(s->parts)));
}

static void end(side *s) {
  free(s->rows);
  eb_parts_destroy(s->parts);
  eb_momentum_balance_destroy(s->momentum);
  eb_audit_destroy(s->audit);
  eb_state_destroy(s->before);
  eb_state_destroy(s->after);
  eb_scene_destroy(s->scene);
}

/* Bends, stretches and turns; the same numbers for the same node. */
static void move(const side *s, int64_t step) {
  const double *X = s->scene->mesh->X, dt = s->scene->dt;
  eb_state_copy(s->after, s->before);
  for (size_t k = 0; k < 3 * (size_t)s->after->node_count; k++) {
    const double *at = X + 3 * (k / 3);
    double phase = 3 * at[0] + 2 * at[1] - at[2] + (double)(k % 3) + 0.3 * (double)step;
    s->after->v[k] = 0.3 * sin(phase) + 0.2 * at[(k + 1) % 3];
    s->after->x[k] = s->before->x[k] + dt * s->after->v[k];
  }
  s->after->step = step;
  s->after->time = s->before->time + dt;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* A number of a row, known to rounding of its terms: itself, or another of the row. */
typedef struct figure {
  const char *name;
  size_t at, of;
} figure;
#define FIGURE(member, terms)                                                                      \
  { #member, offsetof(eb_audit_row, member), offsetof(eb_audit_row, terms) }

static const figure figures[] = {FIGURE(implicit_euler.norm, implicit_euler.scale),
                                 FIGURE(implicit_euler.scale, implicit_euler.scale),
                                 FIGURE(totals.kinetic, totals.kinetic),
                                 FIGURE(totals.elastic, totals.elastic),
                                 FIGURE(totals.gravitational, totals.gravitational),
                                 FIGURE(totals.momentum[0], totals.momentum[2]),
                                 FIGURE(totals.momentum[1], totals.momentum[2]),
                                 FIGURE(totals.momentum[2], totals.momentum[2]),
                                 FIGURE(totals.angular_momentum[0], totals.angular_momentum[1]),
                                 FIGURE(totals.angular_momentum[1], totals.angular_momentum[1]),
                                 FIGURE(totals.angular_momentum[2], totals.angular_momentum[1]),
                                 FIGURE(min_volume_ratio, min_volume_ratio),
                                 FIGURE(declared.norm, declared.scale),
                                 FIGURE(declared.scale, declared.scale),
                                 FIGURE(step_residual, implicit_euler.scale),
                                 FIGURE(idle, declared.scale),
                                 FIGURE(progress, work.scale),
                                 FIGURE(update.error, displacement),
                                 FIGURE(update.allowed, update.allowed),
                                 FIGURE(held.error, displacement),
                                 FIGURE(held.allowed, held.allowed),
                                 FIGURE(work.excess, work.scale),
                                 FIGURE(work.scale, work.scale),
                                 FIGURE(work.raised, work.scale),
                                 FIGURE(work.of_residual, work.scale),
                                 FIGURE(work.rounding, work.rounding),
                                 FIGURE(work.stored, work.stored),
                                 FIGURE(work.stored_gain, work.scale),
                                 FIGURE(work.kinetic_scale, work.scale),
                                 FIGURE(displacement, displacement),
                                 FIGURE(rounding, rounding)};

static double number(const void *row, size_t at) {
  double value;
  memcpy(&value, (const char *)row + at, sizeof value);
  return value;
}

/* How far two numbers are apart, of the size of their terms; 0: both are none. */
static double apart(double a, double b, double size) {
  if (isnan(a) && isnan(b)) return 0;
  double off = fabs(a - b);
  return off > 0 ? off / fabs(size) : isnan(off) ? INFINITY : 0;
}

static double rows_apart(const eb_audit_row *part, const eb_audit_row *whole, const char **worst) {
  double most = 0;
  for (size_t f = 0; f < sizeof figures / sizeof *figures; f++) {
    double off = apart(number(part, figures[f].at), number(whole, figures[f].at),
                       number(whole, figures[f].of));
    if (off > most) *worst = figures[f].name;
    most = fmax(most, off);
  }
  if (part->inverted != whole->inverted || part->stands_in != whole->stands_in) most = INFINITY;
  return most;
}

static double parts_apart(const side *part, const side *whole) {
  double most = 0;
  for (int p = 0; p < eb_parts_count(whole->parts); p++) {
    const double *a = (const double *)&part->rows[p], *b = (const double *)&whole->rows[p];
    double spin = 0;
    for (int d = 0; d < 3; d++) spin = fmax(spin, fabs(whole->rows[p].spin[d]));
    for (size_t k = 0; k < sizeof(eb_part_row) / sizeof(double); k++)
      most = fmax(most, apart(a[k], b[k], k >= 3 && k < 6 ? spin : 1));
  }
  return most;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void audit(side *s, const eb_declaration *declared, eb_audit_row *row,
                  eb_momentum_row *momentum) {
  need(eb_audit_step(s->audit, s->before, s->after, s->scene->dt, declared->equation, row));
  need(eb_audit_declared(s->audit, s->before, s->after, s->scene->dt, declared, row));
  eb_momentum_balance_step(s->momentum, s->before, s->after, s->scene->dt, declared, momentum);
  eb_parts_step(s->parts, s->before, s->after, s->rows);
}

/* Whether a spot is the same place of the same body, whoever has it. */
static bool same_place(const side *part, const side *whole, eb_spot a, eb_spot b) {
  eb_place at, wanted;
  char name[2][100];
  eb_audit_place(part->audit, part->before, part->after, a, &at);
  eb_audit_place(whole->audit, whole->before, whole->after, b, &wanted);
  eb_audit_body_name(part->audit, at.vertex[0], name[0], sizeof name[0]);
  eb_audit_body_name(whole->audit, wanted.vertex[0], name[1], sizeof name[1]);
  bool same = at.kind == wanted.kind && strcmp(name[0], name[1]) == 0;
  for (int d = 0; d < 3 && at.kind != EB_SPOT_NONE; d++)
    same = same && fabs(at.x[d] - wanted.x[d]) <= rounding;
  return same && (at.kind == EB_SPOT_NONE || at.at == wanted.at);
}

static void check_declared(const eb_ranks *ranks, const char *name, const eb_declaration *d) {
  side part = {0}, whole = {0};
  double rows = 0, momenta = 0, parts = 0;
  const char *worst = "none";
  bool placed = true;
  begin(ranks, &part);
  begin(NULL, &whole);
  for (int64_t step = 1; step <= STEPS; step++) {
    eb_audit_row a, b;
    eb_momentum_row f, g;
    move(&part, step);
    move(&whole, step);
    audit(&part, d, &a, &f);
    audit(&whole, d, &b, &g);
    rows = fmax(rows, rows_apart(&a, &b, &worst));
    momenta = fmax(momenta, fmax(apart(f.balance, g.balance, b.totals.momentum[2]),
                                 apart(f.held_excess, g.held_excess, 1)));
    momenta = fmax(momenta, apart(f.excess, g.excess, 1));
    parts = fmax(parts, parts_apart(&part, &whole));
    const eb_spot residual = {EB_SPOT_RESIDUAL, -1, -1}, body = {EB_SPOT_BODY, 0, -1};
    const eb_spot spots[][2] = {{residual, residual},
                                {body, body},
                                {a.held.spot, b.held.spot},
                                {a.update.spot, b.update.spot}};
    /* By late forces all nodes of a fall are as far off. */
    size_t count = d->update == EB_UPDATE_LATE_FORCE ? 3 : sizeof spots / sizeof *spots;
    for (size_t k = 0; k < count; k++)
      placed = same_place(&part, &whole, spots[k][0], spots[k][1]) && placed;
  }
  char text[120];
  snprintf(text, sizeof text, "%s: rows (farthest: %s)", name, worst);
  rank_below(ranks, rows, rounding, text);
  snprintf(text, sizeof text, "%s: momenta", name);
  rank_below(ranks, momenta, rounding, text);
  snprintf(text, sizeof text, "%s: places", name);
  rank_ok(ranks, placed, text);
  snprintf(text, sizeof text, "%s: regions and groups", name);
  rank_below(ranks, parts, rounding, text);
  end(&part);
  end(&whole);
}

/* ---- components ------------------------------------------------------------------------------ */

/* Pieces of regions, which the figures of parts tell, are joined alike. */
static void check_components(const eb_ranks *ranks) {
  side part = {0}, whole = {0};
  int32_t *of, *all, count = 0, wanted = 0;
  begin(ranks, &part);
  begin(NULL, &whole);
  need(EB_NEW(of, part.scene->mesh->node_count));
  need(EB_NEW(all, whole.scene->mesh->node_count));
  need(eb_audit_components(part.scene, of, &count));
  need(eb_audit_components(whole.scene, all, &wanted));
  rank_ok(ranks, count == wanted && count == 1, "a beam is one body");
  rank_ok(ranks, eb_parts_count(part.parts) == eb_parts_count(whole.parts),
          "regions and groups are those of the whole");
  free(of);
  free(all);
  end(&part);
  end(&whole);
}

static void check_all(const eb_ranks *ranks) {
  const eb_linearization plain = {1, 1, EB_TANGENT_EXACT}, damped = {1.5, 2, EB_TANGENT_PROJECTED};
  const struct {
    const char *name;
    eb_declaration declared;
  } cases[] = {
      {"implicit Euler",
       {.equation = EB_EQUATION_IMPLICIT_EULER,
        .linearization = plain,
        .update = EB_UPDATE_END_VELOCITY}},
      {"statics",
       {.equation = EB_EQUATION_STATIC, .linearization = plain, .update = EB_UPDATE_END_VELOCITY}},
      {"linearized",
       {.equation = EB_EQUATION_LINEARIZED,
        .linearization = damped,
        .update = EB_UPDATE_END_VELOCITY}},
      {"reduced",
       {.equation = EB_EQUATION_REDUCED,
        .linearization = plain,
        .update = EB_UPDATE_MEAN_VELOCITY}},
      {"position-based",
       {.equation = EB_EQUATION_POSITION_BASED,
        .linearization = plain,
        .update = EB_UPDATE_LATE_FORCE}},
      {"substeps",
       {.equation = EB_EQUATION_IMPLICIT_EULER,
        .linearization = plain,
        .update = EB_UPDATE_SUBSTEPS}},
      {"corrected",
       {.equation = EB_EQUATION_IMPLICIT_EULER,
        .linearization = plain,
        .update = EB_UPDATE_CORRECTED}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    check_declared(ranks, cases[k].name, &cases[k].declared);
  check_components(ranks);
}

int main(int argc, char **argv) {
  return under_mpiexec(argc, argv, MOST_RANKS, check_all);
}
