/* Vertices are numbered as in the record: nodes of the mesh, then the vertices of the obstacles in
 * their order. Solids are the connected components of the mesh and the obstacles; one whose nodes
 * ride on a free rigid body keeps its shape.
 *
 * Workspace: the trees of crossings.h and some 150 bytes a vertex; a step allocates nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/judge_data.h"
#include "problems/base/memory.h"
#include "problems/mesh/cut.h"

/* ---- surfaces -------------------------------------------------------------------------------- */

static int32_t count_obstacle_vertices(const eb_scene *scene) {
  int32_t count = 0;
  for (int32_t o = 0; o < scene->obstacle_count; o++)
    count += scene->obstacles[o].surface->vertex_count;
  return count;
}

static void place_obstacle(const eb_obstacle *obstacle, double t, double *x) {
  double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, shift[3] = {0};
  if (obstacle->motion) obstacle->motion(t, obstacle->parameters, R, shift);
  for (size_t i = 0; i < (size_t)obstacle->surface->vertex_count; i++) {
    const double *X = obstacle->surface->X + 3 * i;
    for (int d = 0; d < 3; d++)
      x[3 * i + (size_t)d] = R[3 * d] * X[0] + R[3 * d + 1] * X[1] + R[3 * d + 2] * X[2] + shift[d];
  }
}

static void place(const eb_judge *judge, const double *nodes, double t, double *x) {
  memcpy(x, nodes, 3 * (size_t)judge->nodes * sizeof *x);
  x += 3 * (size_t)judge->nodes;
  for (int32_t o = 0; o < judge->scene->obstacle_count; o++) {
    const eb_obstacle *obstacle = &judge->scene->obstacles[o];
    place_obstacle(obstacle, t, x);
    x += 3 * (size_t)obstacle->surface->vertex_count;
  }
}

/* Triangles of the mesh's surface and of the obstacles, with their solids. */
static void list_triangles(const eb_judge *judge, int32_t *triangles, int32_t *solid) {
  const eb_scene *scene = judge->scene;
  const eb_surface *own = scene->surface;
  for (size_t k = 0; k < 3 * (size_t)own->triangle_count; k++)
    triangles[k] = own->node ? own->node[own->triangles[k]] : own->triangles[k];
  for (size_t t = 0; t < (size_t)own->triangle_count; t++) solid[t] = judge->part[triangles[3 * t]];
  size_t at = (size_t)own->triangle_count;
  int32_t first = judge->nodes;
  for (int32_t o = 0; o < scene->obstacle_count; o++) {
    const eb_surface *surface = scene->obstacles[o].surface;
    for (size_t t = 0; t < (size_t)surface->triangle_count; t++, at++) {
      for (size_t k = 0; k < 3; k++) triangles[3 * at + k] = first + surface->triangles[3 * t + k];
      solid[at] = judge->parts + o;
    }
    first += surface->vertex_count;
  }
}

static int32_t count_triangles(const eb_scene *scene) {
  int32_t count = scene->surface->triangle_count;
  for (int32_t o = 0; o < scene->obstacle_count; o++)
    count += scene->obstacles[o].surface->triangle_count;
  return count;
}

static eb_error fill_surfaces(eb_judge *judge, int32_t *triangles, int32_t *solid,
                              eb_solid_kind *kind) {
  int32_t count = judge->parts + judge->scene->obstacle_count;
  for (int32_t s = 0; s < count; s++)
    kind[s] = s >= judge->parts      ? EB_SOLID_OBSTACLE
              : judge->rider[s] >= 0 ? EB_SOLID_RIGID
                                     : EB_SOLID_SOFT;
  list_triangles(judge, triangles, solid);
  place(judge, judge->scene->x0, 0, judge->x0);
  eb_solids solids = {
      judge->vertices, count_triangles(judge->scene), count, triangles, solid, kind};
  return eb_crossings_create(&solids, judge->x0, &judge->crossings);
}

static eb_error create_surfaces(eb_judge *judge) {
  size_t triangles = (size_t)count_triangles(judge->scene);
  size_t solids = (size_t)(judge->parts + judge->scene->obstacle_count);
  int32_t *corner = eb_calloc(triangles, 3 * sizeof *corner);
  int32_t *solid = eb_calloc(triangles, sizeof *solid);
  eb_solid_kind *kind = eb_calloc(solids, sizeof *kind);
  eb_error error =
      corner && solid && kind
          ? fill_surfaces(judge, corner, solid, kind)
          : EB_ERROR(EB_ERR_MEMORY, "cannot allocate surfaces of %zu triangles", triangles);
  free(corner);
  free(solid);
  free(kind);
  return error;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static eb_error find_parts(eb_judge *judge) {
  const eb_free_bodies *bodies = judge->scene->free_bodies;
  EB_TRY(EB_NEW(judge->part, judge->nodes));
  judge->parts = eb_mesh_components(judge->scene->mesh, judge->part);
  EB_TRY(EB_NEW(judge->rider, judge->parts));
  EB_TRY(EB_NEW(judge->size, judge->parts));
  for (int32_t s = 0; s < judge->parts; s++) judge->rider[s] = -1;
  for (int32_t i = 0; i < judge->nodes; i++) {
    judge->size[judge->part[i]]++;
    if (bodies && bodies->of_node[i] >= 0) judge->rider[judge->part[i]] = bodies->of_node[i];
  }
  return EB_OK;
}

static eb_error fill(eb_judge *judge) {
  judge->nodes = judge->scene->mesh->node_count;
  judge->vertices = judge->nodes + count_obstacle_vertices(judge->scene);
  size_t vertices = (size_t)judge->vertices;
  EB_TRY(find_parts(judge));
  EB_TRY(EB_NEW(judge->held, judge->parts));
  EB_TRY(EB_NEW(judge->sum, 6 * (size_t)judge->parts));
  EB_TRY(EB_NEW(judge->scale, 2 * (size_t)judge->parts));
  EB_TRY(EB_NEW(judge->x0, 3 * vertices));
  EB_TRY(EB_NEW(judge->x1, 3 * vertices));
  EB_TRY(EB_NEW(judge->push, 3 * vertices));
  EB_TRY(EB_NEW(judge->bent, vertices));
  return create_surfaces(judge);
}

eb_error eb_judge_create(const eb_scene *scene, const eb_audit *audit, eb_judge **out) {
  eb_judge *judge;
  *out = NULL;
  EB_TRY(EB_NEW(judge, 1));
  judge->scene = scene;
  judge->audit = audit;
  eb_error error = fill(judge);
  if (error)
    eb_judge_destroy(judge);
  else
    *out = judge;
  return error;
}

void eb_judge_destroy(eb_judge *judge) {
  if (!judge) return;
  eb_crossings_destroy(judge->crossings);
  free(judge->part);
  free(judge->rider);
  free(judge->held);
  free(judge->size);
  free(judge->sum);
  free(judge->scale);
  free(judge->x0);
  free(judge->x1);
  free(judge->push);
  free(judge->bent);
  free(judge);
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* Forces of contact on all vertices; contacts with vertices out of range have none. */
static void gather_push(eb_judge *judge, const eb_contact_record *record) {
  memset(judge->push, 0, 3 * (size_t)judge->vertices * sizeof *judge->push);
  for (size_t k = 0; record && k < (size_t)record->count; k++) {
    const double *R = record->frame + 9 * k, *r = record->r + 3 * k;
    for (int i = 0; i < 4; i++) {
      int32_t vertex = record->pair[k].vertex[i];
      if (vertex < 0 || vertex >= judge->vertices) continue;
      for (int d = 0; d < 3; d++)
        judge->push[3 * (size_t)vertex + (size_t)d] +=
            record->weight[4 * k + (size_t)i] * (R[d] * r[0] + R[3 + d] * r[1] + R[6 + d] * r[2]);
    }
  }
}

/* How far the riders' paths are from h (V + W x arm), V and W at the end, which a solver linearizes
 * them to. */
static void measure_bent(eb_judge *judge, const eb_state *before, const eb_state *after,
                         double dt) {
  const eb_free_bodies *bodies = judge->scene->free_bodies;
  for (size_t i = 0; bodies && before->pose && i < (size_t)judge->nodes; i++) {
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
    judge->bent[i] = sqrt(sum);
  }
}

/* ---- a step ---------------------------------------------------------------------------------- */

const double *eb_judge_forces(eb_judge *judge, const eb_contact_record *record) {
  gather_push(judge, record);
  return judge->push;
}

/* What obstacles do on their way: they are pushed back as they push. */
static double obstacles_work(const eb_judge *judge) {
  double work = 0;
  for (size_t k = 3 * (size_t)judge->nodes; k < 3 * (size_t)judge->vertices; k++)
    work -= judge->push[k] * (judge->x1[k] - judge->x0[k]);
  return work;
}

double eb_judge_slack(eb_reason reason) {
  return reason == EB_CONVERGED_STAGNATED ? 2 : 1;
}

void eb_judge_step(eb_judge *judge, const eb_state *before, const eb_state *after, double dt,
                   const eb_contact_record *record, eb_reason reason, eb_judgement *judgement) {
  *judgement = (eb_judgement){0};
  place(judge, before->x, before->time, judge->x0);
  place(judge, after->x, after->time, judge->x1);
  eb_team *team = judge->audit->team;
  eb_crossings_count(judge->crossings, team, judge->x1, &judgement->crossings);
  if (record) {
    measure_bent(judge, before, after, dt);
    eb_contact_law_measure(record, judge->vertices, judge->x0, judge->x1, judge->bent,
                           judge->scene->contact_friction, &judge->scene->contact_bounds,
                           eb_judge_slack(reason), &judgement->law);
  }
  judgement->unrecorded = eb_near_unrecorded(judge->crossings, team, judge->x1,
                                             judge->scene->contact_bounds.near, record);
  eb_judge_balance(judge, before, after, dt, judgement);
  judgement->obstacles_work = obstacles_work(judge);
}
