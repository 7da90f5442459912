/* What a person wants to know of a scene of their own before long runs: whether its figures go
 * together, its elements are sound, its bodies apart at the start, its forces those of an energy,
 * and its script a motion. Bounds are on the figures and not on taste: what is only worth knowing
 * is a note. */
#include "harness/check/check.h"
#include "harness/check/check_printer.h"
#include "harness/check/forces.h"
#include "harness/audit/contact_audit.h"
#include "harness/check/block.h"
#include "harness/check/scene_trials.h"
#include "harness/names.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"
#include "problems/base/random.h"
#include "problems/base/text.h"
#include "problems/base/vector3.h"
#include "problems/mesh/diagnose.h"
#include "problems/units.h"
#include "solvers/linalg/block_ops.h"

#include <math.h>
#include <string.h>

static double diagonal_of(const eb_scene *scene) {
  double lo[3], hi[3];
  eb_mesh_bounds(scene->mesh->X, scene->mesh->node_count, lo, hi);
  return sqrt(eb_squared_distance3(lo, hi));
}

/* ---- units ----------------------------------------------------------------------------------- */

static void check_units(const eb_check *check, const eb_scene *scene) {
  static const char weight[] =
      "rho g L / E of the softest material, the strain that its own weight gives to a column as "
      "long as the mesh: 1e-7 to 1 is usual; a length in mm or a modulus in kPa is a thousand off";
  static const char edges[] = "edges of the mesh that a wave passes in a step, sqrt(E / rho) dt / "
                              "h: 0.1 to 1e5 is usual";
  eb_proportions p;
  if (!eb_scene_proportions(scene, &p)) return;
  if (p.weight > 0) {
    eb_check_below(check, p.weight, EB_WEIGHT_MOST, weight, "scene/units/weight");
    eb_check_above(check, p.weight, EB_WEIGHT_LEAST, weight, "scene/units/stiffness");
  }
  eb_check_below(check, p.slow, EB_EDGES_MOST, edges, "scene/units/long-step");
  eb_check_above(check, p.fast, EB_EDGES_LEAST, edges, "scene/units/short-step");
}

/* ---- mesh ------------------------------------------------------------------------------------ */

/* Elements that are turned over or flat at positions x. */
static int32_t count_turned(const eb_mesh *mesh, const double *x, int32_t *first) {
  int32_t count = 0;
  *first = -1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (eb_mesh_element_volume(mesh, x, e) > 0) continue;
    if (count++ == 0) *first = e;
  }
  return count;
}

static eb_error check_orientation(const eb_check *check, const eb_scene *scene, const double *x,
                                  const char *when, const char *name) {
  int32_t first, count = count_turned(scene->mesh, x, &first);
  EB_OWNED(eb_text_clear) eb_text reason = {0};
  EB_TRY(eb_text_printf(&reason, "elements that are turned over or flat at %s, of %d", when,
                        scene->mesh->element_count));
  if (count > 0) EB_TRY(eb_text_printf(&reason, "; the first: %d", first));
  eb_check_below(check, count, 0, reason.data, "scene/mesh/orientation-%s", name);
  return EB_OK;
}

static eb_error check_mesh(const eb_check *check, const eb_scene *scene) {
  const eb_mesh *mesh = scene->mesh;
  eb_mesh_diagnosis d;
  EB_OWNED(eb_text_clear) eb_text quality = {0};
  EB_TRY(eb_mesh_diagnose(mesh, &d));
  EB_TRY(eb_text_printf(&quality,
                        "the least %s of an element, of element %d; 1 is best, and poor "
                        "elements make matrices ill-conditioned and steps short",
                        eb_mesh_quality_name(mesh->type), d.worst));
  EB_TRY(check_orientation(check, scene, mesh->X, "rest", "rest"));
  EB_TRY(check_orientation(check, scene, scene->x0, "the start", "start"));
  eb_check_above(check, d.quality, EB_MESH_POOR, quality.data, "scene/mesh/quality");
  eb_check_note(check, d.pieces, "connected pieces of the mesh", "scene/mesh/pieces");
  eb_check_note(check, d.coincident, "pairs of nodes at one place that nothing joins",
                "scene/mesh/coincident");
  eb_check_below(check, d.hanging, 0,
                 "nodes inside a face or an edge that does not have them: nothing joins them to it",
                 "scene/mesh/hanging");
  return EB_OK;
}

/* ---- the start ------------------------------------------------------------------------------- */

static void release_audit(eb_audit **audit) {
  eb_audit_destroy(*audit);
}

static void release_contact(eb_contact_audit **contact) {
  eb_contact_audit_destroy(*contact);
}

/* Surfaces that cross where they must not: with contact as constraints, and of bodies that push
 * each other. What crosses elsewhere passes through each other, and is a note. */
static eb_error check_overlaps(const eb_check *check, const eb_scene *scene) {
  static const char crossing[] = "pairs of triangles of different bodies, or of a body and an "
                                 "obstacle, that cross at the start";
  static const char nested[] = "pairs of bodies of which one is inside the other at the start";
  static const char self[] = "pairs of triangles of one body that cross at the start";
  EB_OWNED(release_audit) eb_audit *audit = NULL;
  EB_OWNED(release_contact) eb_contact_audit *contact = NULL;
  eb_intersection_counts counts;
  bool constraints = eb_scene_needs(scene) & EB_CAP_CONTACT;
  double bound = constraints || scene->contacts.bodies_collide ? 0 : NAN;
  if (scene->mesh->type == EB_TRIANGLE) return EB_OK;
  EB_TRY(eb_audit_create(scene, &audit));
  EB_TRY(eb_contact_audit_create(scene, audit, &contact));
  eb_contact_audit_start(contact, &counts);
  eb_check_below(check, (double)counts.between, bound, crossing, "scene/start/crossing");
  eb_check_below(check, (double)counts.nested, bound, nested, "scene/start/nested");
  eb_check_below(check, (double)counts.self, constraints ? 0 : NAN, self, "scene/start/self");
  return EB_OK;
}

/* How deep the deepest node is in a collider. */
static double depth_at_start(const eb_scene *scene) {
  double deepest = 0, normal[3], velocity[3];
  for (int32_t c = 0; c < scene->contacts.collider_count; c++)
    for (int32_t i = 0; i < scene->mesh->node_count; i++)
      deepest = fmax(deepest, -eb_collider_distance(&scene->contacts.colliders[c], 0,
                                                    scene->x0 + 3 * (size_t)i, normal, velocity));
  return deepest;
}

static eb_error check_start(const eb_check *check, const eb_scene *scene) {
  EB_TRY(check_overlaps(check, scene));
  if (scene->contacts.collider_count > 0)
    eb_check_below(check, depth_at_start(scene), scene->contacts.penetration_bound,
                   "m, the deepest node in a collider at the start, within what the audit allows",
                   "scene/start/colliders");
  return EB_OK;
}

/* ---- forces ---------------------------------------------------------------------------------- */

static const double EPSILON = 0x1p-52;

static bool has_kind(const eb_scene *scene, eb_material_kind kind) {
  for (int32_t r = 0; r < scene->material_count; r++)
    if (scene->materials[r].kind == kind) return true;
  return false;
}

static bool has_fibres(const eb_scene *scene) {
  for (int32_t r = 0; r < scene->material_count; r++)
    if (scene->materials[r].fibre != EB_FIBRE_NONE) return true;
  return false;
}

/* Of each node a tenth or so of the height of the lowest element beside it: V / L^2, in the plane
 * A / L, L the longest edge. *least is the least of all. */
static void measure_room(const eb_mesh *mesh, double *room, double *least) {
  *least = INFINITY;
  size_t corners = mesh->type;
  for (int32_t i = 0; i < mesh->node_count; i++) room[i] = INFINITY;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *node = mesh->elements + (size_t)e * corners;
    double longest2 = 0;
    for (size_t a = 0; a < corners; a++)
      for (size_t b = 0; b < a; b++)
        longest2 = fmax(longest2, eb_squared_distance3(mesh->X + 3 * (size_t)node[a],
                                                       mesh->X + 3 * (size_t)node[b]));
    double height = eb_mesh_element_volume(mesh, mesh->X, e) /
                    (mesh->type == EB_TRIANGLE ? sqrt(longest2) : longest2);
    for (size_t a = 0; a < corners; a++) room[node[a]] = fmin(room[node[a]], height);
    *least = fmin(*least, height);
  }
}

/* The direction in which forces are asked, whose largest step strains elements by about 1 %, and
 * the deformed state: the mesh at rest stretched and sheared by a tenth, and shaken. */
static void deform(const eb_scene *scene, const double *room, uint64_t seed, eb_forces *f,
                   double *deformed) {
  int axes = scene->mesh->type == EB_TRIANGLE ? 2 : 3;
  for (int64_t k = 0; k < f->size; k++) {
    const double *X = scene->mesh->X + 3 * (k / 3);
    double by = isfinite(room[k / 3]) ? room[k / 3] : 0;
    f->d[k] = 10 * eb_random_uniform(&seed, -by, by);
    deformed[k] = X[k % 3] * (1 + 0.05 * (double)(k % 3)) + 0.1 * X[(k + 1) % 3] +
                  0.3 * eb_random_uniform(&seed, -by, by);
    if (k % 3 >= axes) f->d[k] = deformed[k] = 0;
  }
}

/* Elements with frozen rotations have no second derivative: their nodes stay. */
static void hold_corotational(const eb_scene *scene, double *d) {
  const eb_mesh *mesh = scene->mesh;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (size_t a = 0; scene->materials[mesh->region[e]].kind == EB_COROTATIONAL && a < mesh->type;
         a++)
      memset(d + 3 * (size_t)mesh->elements[(size_t)e * mesh->type + a], 0, 3 * sizeof *d);
}

/* At f->x. Fibres that pull and do not push have no second derivative where they are at rest. */
static void check_derivatives(const eb_check *check, const eb_scene *scene, eb_forces *f,
                              const char *where, bool kinks) {
  double orders[2];
  eb_forces_orders(f, orders);
  eb_check_above(check, orders[0], 1.9, eb_gradient_reason, "scene/forces/gradient-%s", where);
  if (kinks) return;
  if (has_kind(scene, EB_COROTATIONAL)) {
    hold_corotational(scene, f->d);
    if (eb_norm(f->size, f->d) == 0) return;
    eb_forces_orders(f, orders);
  }
  eb_check_above(check, orders[1], 2.9, eb_hessian_reason, "scene/forces/matrix-%s", where);
}

/* The sum of the inner forces over the sum of their sizes. */
static double unbalanced(eb_forces *f) {
  double sum[3] = {0, 0, 0}, sizes = 0;
  eb_forces_gradient(f, f->x, f->g);
  for (int64_t k = 0; k < f->size; k++) {
    sum[k % 3] += f->g[k];
    sizes += fabs(f->g[k]);
  }
  return sqrt(eb_dot3(sum, sum)) / sizes;
}

static eb_error check_forces(const eb_check *check, const eb_scene *scene) {
  EB_OWNED(eb_forces_clear) eb_forces f = {0};
  EB_FREED double *room = NULL, *deformed = NULL;
  double change[2], least;
  EB_TRY(eb_forces_create(scene, &f));
  EB_TRY(EB_NEW(room, scene->mesh->node_count));
  EB_TRY(EB_NEW(deformed, f.size));
  measure_room(scene->mesh, room, &least);
  /* Strains of rounded places, of the size of the mesh, in the lowest element: beside those of a
   * step, 1e-2, and of the deformed state, 0.1. */
  double strain = EPSILON * (diagonal_of(scene) + 2) / least;
  f.rounding = 1e2 * strain;
  for (int at = 0; at < 2; at++) {
    deform(scene, room, check->seed, &f, deformed);
    memcpy(f.x, at ? deformed : scene->x0, (size_t)f.size * sizeof *f.x);
    check_derivatives(check, scene, &f, at ? "deformed" : "start", !at && has_fibres(scene));
  }
  eb_check_below(check, unbalanced(&f), 1e-12,
                 "sum of the inner forces of the deformed state over the sum of their sizes: they "
                 "push nothing as a whole",
                 "scene/forces/balance");
  if (has_kind(scene, EB_LINEAR)) return EB_OK; /* is not invariant, by definition */
  double turned = fmax(1e-12, 1e2 * strain);
  eb_forces_turn(&f, change);
  eb_check_below(check, change[0], turned, eb_turn_reason, "scene/forces/energy-turned");
  eb_check_below(check, change[1], turned, eb_turn_reason, "scene/forces/gradient-turned");
  return EB_OK;
}

/* ---- masses ---------------------------------------------------------------------------------- */

static void check_masses(const eb_check *check, const eb_scene *scene) {
  const double *lumped = eb_elasticity_mass(scene->elasticity);
  const eb_mesh *mesh = scene->mesh;
  double mass = 0, whole = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) mass += lumped[i];
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const eb_material *m = &scene->materials[mesh->region[e]];
    bool thick = mesh->type == EB_TRIANGLE && m->thickness > 0;
    whole += m->density * eb_mesh_element_volume(mesh, mesh->X, e) * (thick ? m->thickness : 1);
  }
  eb_check_note(check, mass, "kg, of all bodies", "scene/mass/total");
  eb_check_below(check, fabs(mass / whole - 1), mesh->type == EB_HEXAHEDRON ? 1e-2 : 1e-9,
                 "how far the masses of the nodes are off density times volume, which of "
                 "hexahedra is that of flat faces",
                 "scene/mass/lumped");
  eb_check_note(check, mass * sqrt(eb_dot3(scene->gravity, scene->gravity)),
                "N, the weight: what supports bear in all once everything is at rest",
                "scene/mass/weight");
}

/* ---- script ---------------------------------------------------------------------------------- */

/* All that a script places, at a time: nodes that it holds, obstacles, colliders. */
typedef struct scripted {
  uint8_t *fixed; /* places; nodes that are free are 0 */
  double *place;
} scripted;

enum {
  INTERVALS = 64, /* of the run, in each of which a jump is looked for */
  HALVINGS = 30,  /* what goes by the length of the run in an interval goes by 1e-9 of that then */
  MOMENTS = 40    /* at which velocities are compared */
};

static size_t places_of(const eb_scene *scene) {
  size_t count = (size_t)scene->mesh->node_count + (size_t)scene->contacts.collider_count;
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++)
    count += (size_t)scene->contacts.obstacles[o].surface->vertex_count;
  return count;
}

/* A point that moves and turns with a collider; whether it ever does. */
static bool follow_collider(const eb_collider *collider, double t, double place[3],
                            double velocity[3]) {
  eb_pose pose;
  bool moves = eb_collider_pose(collider, t, &pose);
  for (int d = 0; d < 3; d++)
    place[d] =
        pose.shift[d] + pose.rotation[3 * d] + pose.rotation[3 * d + 1] + pose.rotation[3 * d + 2];
  eb_pose_velocity(&pose, place, velocity);
  return moves;
}

static void ask_script(const eb_scene *scene, double t, const scripted *out) {
  size_t at = (size_t)scene->mesh->node_count;
  double velocity[3];
  eb_scene_boundary(scene, t, out->fixed, out->place);
  for (int32_t o = 0; o < scene->contacts.obstacle_count; o++) {
    eb_obstacle_place(&scene->contacts.obstacles[o], t, out->place + 3 * at);
    at += (size_t)scene->contacts.obstacles[o].surface->vertex_count;
  }
  for (int32_t c = 0; c < scene->contacts.collider_count; c++, at++)
    follow_collider(&scene->contacts.colliders[c], t, out->place + 3 * at, velocity);
  memset(out->fixed + scene->mesh->node_count, 1, at - (size_t)scene->mesh->node_count);
}

/* The farthest that anything is moved between two times at which it is scripted. */
static double farthest(const scripted *a, const scripted *b, size_t places) {
  double most = 0;
  for (size_t i = 0; i < places; i++)
    if (a->fixed[i] && b->fixed[i])
      most = fmax(most, eb_squared_distance3(a->place + 3 * i, b->place + 3 * i));
  return sqrt(most);
}

/* How far something still goes in an interval that is halved again and again, towards the half in
 * which it goes farther: 0 of what is continuous. s[0] and s[2] are its ends, s[1] is workspace. */
static double look_for_jump(const eb_scene *scene, size_t places, double from, double to,
                            scripted s[3]) {
  for (int k = 0; k < HALVINGS; k++) {
    double middle = 0.5 * (from + to);
    ask_script(scene, middle, &s[1]);
    bool early = farthest(&s[0], &s[1], places) >= farthest(&s[1], &s[2], places);
    scripted swapped = s[early ? 2 : 0];
    s[early ? 2 : 0] = s[1];
    s[1] = swapped;
    *(early ? &to : &from) = middle;
    if (farthest(&s[0], &s[2], places) == 0) return 0;
  }
  return farthest(&s[0], &s[2], places);
}

static eb_error check_continuity(const eb_check *check, const eb_scene *scene) {
  size_t places = places_of(scene);
  double end = (double)scene->ops->steps * scene->dt, worst = 0, when = 0;
  EB_FREED uint8_t *fixed = NULL;
  EB_FREED double *place = NULL;
  EB_OWNED(eb_text_clear) eb_text reason = {0};
  EB_TRY(EB_NEW(fixed, 3 * places));
  EB_TRY(EB_NEW(place, 9 * places));
  for (int k = 0; k < INTERVALS; k++) {
    scripted s[3];
    double from = end * k / INTERVALS, to = end * (k + 1) / INTERVALS;
    for (size_t i = 0; i < 3; i++) s[i] = (scripted){fixed + i * places, place + 3 * i * places};
    ask_script(scene, from, &s[0]);
    ask_script(scene, to, &s[2]);
    double jump = look_for_jump(scene, places, from, to, s);
    if (jump > worst) when = from;
    worst = fmax(worst, jump);
  }
  double allowed = 1e-6 * diagonal_of(scene);
  EB_TRY(eb_text_printf(&reason, "m, by which something that is held or moved jumps"));
  if (worst > allowed)
    EB_TRY(eb_text_printf(&reason, ", between %g and %g s", when, when + end / INTERVALS));
  eb_check_below(check, worst, allowed, reason.data, "scene/script/continuous");
  return EB_OK;
}

/* Velocities of colliders beside differences of their places, over the largest of both. */
static double wrong_velocity(const eb_scene *scene, uint64_t seed) {
  double end = (double)scene->ops->steps * scene->dt, h = 1e-6 * end, worst = 0;
  for (int32_t c = 0; c < scene->contacts.collider_count; c++) {
    double error = 0, size = 1e-9 * diagonal_of(scene) / end;
    for (int k = 0; k < MOMENTS; k++) {
      double t = eb_random_uniform(&seed, h, end - h), at[3], before[3], after[3], v[3], unused[3];
      if (!follow_collider(&scene->contacts.colliders[c], t, at, v)) break;
      follow_collider(&scene->contacts.colliders[c], t - h, before, unused);
      follow_collider(&scene->contacts.colliders[c], t + h, after, unused);
      for (int d = 0; d < 3; d++) {
        double difference = (after[d] - before[d]) / (2 * h);
        error = fmax(error, fabs(difference - v[d]));
        size = fmax(size, fmax(fabs(difference), fabs(v[d])));
      }
    }
    worst = fmax(worst, error / size);
  }
  return worst;
}

/* Of nodes that are held at the start: how many, and how far the script has them from where they
 * start. */
static eb_error check_held(const eb_check *check, const eb_scene *scene) {
  int32_t nodes = scene->mesh->node_count, held = 0;
  double off = 0;
  EB_FREED uint8_t *fixed = NULL;
  EB_FREED double *target = NULL;
  EB_TRY(EB_NEW(fixed, nodes));
  EB_TRY(EB_NEW(target, 3 * (size_t)nodes));
  eb_scene_boundary(scene, 0, fixed, target);
  for (int32_t i = 0; i < nodes; i++) {
    held += fixed[i] != 0;
    if (fixed[i])
      off = fmax(off, eb_squared_distance3(target + 3 * (size_t)i, scene->x0 + 3 * (size_t)i));
  }
  eb_check_note(check, held,
                held > 0 ? "nodes that are held or moved from the start on"
                         : "nodes that are held or moved from the start on: bodies are free",
                "scene/script/held");
  eb_check_below(check, sqrt(off), 1e-6 * diagonal_of(scene),
                 "m, by which the script has a held node off its place at the start: the first "
                 "step would jump there",
                 "scene/script/start");
  return EB_OK;
}

static eb_error check_script(const eb_check *check, const eb_scene *scene) {
  EB_TRY(check_held(check, scene));
  EB_TRY(check_continuity(check, scene));
  eb_check_below(check, wrong_velocity(scene, check->seed), 1e-4,
                 "velocities of colliders beside differences of their places, relative",
                 "scene/script/velocity");
  return EB_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void begin(const eb_check *check, const char *group) {
  if (check->begin) check->begin(check->context, NULL, group);
}

eb_error eb_check_scene(const eb_check *check, eb_scene *scene) {
  begin(check, "units");
  check_units(check, scene);
  begin(check, "mesh");
  EB_TRY(check_mesh(check, scene));
  check_masses(check, scene);
  begin(check, "the start");
  EB_TRY(check_start(check, scene));
  begin(check, "forces");
  EB_TRY(check_forces(check, scene));
  begin(check, "the script");
  return check_script(check, scene);
}

static void close_scene(const eb_scene_ops **ops) {
  eb_scene_close(*ops);
}

eb_error eb_check_scene_run(const eb_scene_check *request, uint64_t seed, eb_check_format format,
                            FILE *out, int *failed) {
  eb_check_printer to;
  EB_OWNED(eb_check_free_scene) eb_scene *scene = NULL;
  EB_OWNED(close_scene) const eb_scene_ops *ops = NULL;
  EB_OWNED(eb_scene_trials_clear) eb_scene_trials trials = {0};
  EB_FREED char *parameters = NULL;
  *failed = 0;
  EB_TRY(eb_open_scene_spec(request->scene, request->plugins, &ops, &parameters));
  EB_TRY(eb_scene_create(ops, parameters, NULL, NULL, &scene));
  EB_TRY(eb_scene_trials_plan(request, scene, &trials));
  eb_check check = eb_check_printer_open(&to, out, format);
  check.seed = seed;
  eb_error error = eb_check_scene(&check, scene);
  if (!error) error = eb_scene_trials_run(&check, request, &trials);
  eb_error closing = eb_check_printer_close(&to, failed);
  if (!error) return closing;
  eb_error_free(closing);
  return error;
}
