/* Every body is named after its lowest global node. Names start as those of the pieces that a rank
 * can see and spread through the ghosts, until no rank learns a lower one: as many rounds as there
 * are ranks along a body, at most. Then rank 0 joins the boxes of equal names. */
#include "problems/scene_bodies.h"

#include <math.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"
#include "problems/ranks/communicator.h"

/* A double holds the number of any node. */
typedef struct body {
  double name, lo[3], hi[3];
} body;

typedef struct pieces {
  int32_t count;
  int32_t *of;  /* local nodes: which piece */
  double *name; /* local nodes */
  body *body;   /* count */
} pieces;

static eb_error find_pieces(const eb_scene *scene, pieces *p) {
  const eb_mesh *mesh = scene->mesh;
  EB_TRY(EB_NEW(p->of, mesh->node_count));
  p->count = eb_mesh_components(mesh, p->of);
  EB_TRY(EB_NEW(p->name, mesh->node_count));
  EB_TRY(EB_NEW(p->body, p->count));
  for (int32_t b = 0; b < p->count; b++)
    p->body[b] = (body){.name = INFINITY,
                        .lo = {INFINITY, INFINITY, INFINITY},
                        .hi = {-INFINITY, -INFINITY, -INFINITY}};
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *X = mesh->X + 3 * (size_t)i;
    body *of = &p->body[p->of[i]];
    of->name = fmin(of->name, scene->part ? (double)scene->part->global[i] : i);
    for (int d = 0; d < 3; d++) {
      of->lo[d] = fmin(of->lo[d], X[d]);
      of->hi[d] = fmax(of->hi[d], X[d]);
    }
  }
  return EB_OK;
}

static void spread_names(const eb_scene *scene, pieces *p) {
  int32_t nodes = scene->mesh->node_count;
  bool changed = scene->part != NULL;
  while (eb_ranks_any(eb_scene_ranks(scene), changed)) {
    changed = false;
    for (int32_t i = 0; i < nodes; i++) p->name[i] = p->body[p->of[i]].name;
    eb_subdomain_update(scene->part, 1, p->name);
    for (int32_t i = 0; i < nodes; i++) {
      body *of = &p->body[p->of[i]];
      changed = changed || p->name[i] < of->name;
      of->name = fmin(of->name, p->name[i]);
    }
  }
}

static int by_name(const void *a, const void *b) {
  double left = ((const body *)a)->name, right = ((const body *)b)->name;
  return (left > right) - (left < right);
}

static double largest_diagonal(body *all, int32_t count) {
  double largest = 0;
  qsort(all, (size_t)count, sizeof *all, by_name);
  for (int32_t b = 0, end; b < count; b = end) {
    body joined = all[b];
    for (end = b + 1; end < count && all[end].name == joined.name; end++)
      for (int d = 0; d < 3; d++) {
        joined.lo[d] = fmin(joined.lo[d], all[end].lo[d]);
        joined.hi[d] = fmax(joined.hi[d], all[end].hi[d]);
      }
    largest = fmax(largest, sqrt(eb_squared_distance3(joined.hi, joined.lo)));
  }
  return largest;
}

/* The bodies of all ranks, at rank 0. */
typedef struct gathered {
  int *counts, *offsets; /* ranks; in doubles */
  body *all;
} gathered;

enum { REALS = sizeof(body) / sizeof(double) };

static eb_error open_gathered(const eb_ranks *ranks, gathered *g, int32_t mine, int32_t *total) {
  int count = eb_ranks_count(ranks), reals = REALS * mine;
  eb_error error = EB_NEW(g->counts, count);
  if (!error) error = EB_NEW(g->offsets, count);
  EB_TRY(eb_ranks_agree(ranks, error));
  MPI_Gather(&reals, 1, MPI_INT, g->counts, 1, MPI_INT, 0, eb_ranks_communicator(ranks));
  for (int r = 1; r < count; r++) g->offsets[r] = g->offsets[r - 1] + g->counts[r - 1];
  *total = (g->offsets[count - 1] + g->counts[count - 1]) / REALS;
  return eb_ranks_agree(ranks, EB_NEW(g->all, *total));
}

static eb_error gather_diagonal(const eb_ranks *ranks, const pieces *p, gathered *g, double *out) {
  int32_t total;
  EB_TRY(open_gathered(ranks, g, p->count, &total));
  MPI_Gatherv(p->body, REALS * p->count, MPI_DOUBLE, g->all, g->counts, g->offsets, MPI_DOUBLE, 0,
              eb_ranks_communicator(ranks));
  *out = eb_ranks_self(ranks) == 0 ? largest_diagonal(g->all, total) : 0;
  eb_ranks_max(ranks, 1, out);
  return EB_OK;
}

static eb_error find_diagonal(const eb_scene *scene, pieces *p, double *out) {
  const eb_ranks *ranks = eb_scene_ranks(scene);
  EB_TRY(eb_ranks_agree(ranks, find_pieces(scene, p)));
  if (!ranks) {
    *out = largest_diagonal(p->body, p->count);
    return EB_OK;
  }
  spread_names(scene, p);
  gathered g = {0};
  eb_error error = gather_diagonal(ranks, p, &g, out);
  free(g.all);
  free(g.offsets);
  free(g.counts);
  return error;
}

eb_error eb_scene_body_diagonal(const eb_scene *scene, double *out) {
  pieces p = {0};
  *out = 0;
  eb_error error = find_diagonal(scene, &p, out);
  free(p.body);
  free(p.name);
  free(p.of);
  return error;
}
