/* Gathering by runs of the original order.
 *
 * A rank's owned entries ascend in the original order, so those of a run stand together: it sends
 * their places in the run and their values, and rank 0 puts them in order. Memory is that of a run,
 * whatever the mesh. */
#include "problems/ranks/stream.h"

#include <string.h>

#include "problems/base/memory.h"
#include "problems/ranks/communicator.h"

enum { LONGEST_RUN = 1 << 16 };

typedef struct exchange {
  const eb_subdomain *part;
  const int32_t *original; /* of the owned entries */
  int32_t own, at;         /* owned; the first of the run */
  int32_t count;           /* of the run */
  int64_t all, run;        /* entries of the whole, and of a run but for the last */
  /* Of a run. Ranks' entries stand one rank after the other at rank 0, which alone has more than
   * its own. */
  int32_t *place;         /* own ones, then (rank 0) all: of entries in the run */
  char *packed, *ordered; /* run x bytes */
  int *counts, *offsets;  /* ranks */
} exchange;

static bool at_root(const exchange *e) {
  return eb_ranks_self(e->part->ranks) == 0;
}

static eb_error open_exchange(const eb_subdomain *part, eb_entries what, size_t bytes,
                              exchange *e) {
  bool nodes = what == EB_NODES;
  *e = (exchange){.part = part,
                  .original = nodes ? part->original_node : part->original_element,
                  .own = nodes ? part->nodes : part->elements,
                  .all = nodes ? part->all_nodes : part->all_elements};
  size_t ranks = (size_t)eb_ranks_count(part->ranks), root = at_root(e);
  e->run = e->all < LONGEST_RUN ? e->all : LONGEST_RUN;
  EB_TRY(EB_NEW(e->place, (size_t)e->run * (1 + root)));
  EB_TRY(EB_NEW(e->packed, (size_t)e->run * bytes * (1 + root)));
  EB_TRY(EB_NEW(e->ordered, (size_t)e->run * bytes * root));
  EB_TRY(EB_NEW(e->counts, ranks * root));
  return EB_NEW(e->offsets, ranks * root);
}

static void close_exchange(exchange *e) {
  free(e->place);
  free(e->packed);
  free(e->ordered);
  free(e->counts);
  free(e->offsets);
}

/* The owned entries of the run from `first` on, and at rank 0 everybody's places: how many it has
 * itself. */
static int32_t open_run(exchange *e, int64_t first) {
  MPI_Comm comm = eb_ranks_communicator(e->part->ranks);
  int mine = 0;
  e->count = (int32_t)(e->all - first < e->run ? e->all - first : e->run);
  for (; e->at + mine < e->own && e->original[e->at + mine] < first + e->count; mine++)
    e->place[mine] = (int32_t)(e->original[e->at + mine] - first);
  MPI_Gather(&mine, 1, MPI_INT, e->counts, 1, MPI_INT, 0, comm);
  for (int r = 1; at_root(e) && r < eb_ranks_count(e->part->ranks); r++)
    e->offsets[r] = e->offsets[r - 1] + e->counts[r - 1];
  MPI_Gatherv(e->place, mine, MPI_INT32_T, e->place + e->run, e->counts, e->offsets, MPI_INT32_T, 0,
              comm);
  return mine;
}

static eb_error part_stream(const eb_subdomain *part, eb_entries what, size_t bytes,
                            const void *values, eb_stream_sink *sink, void *context) {
  MPI_Comm comm = eb_ranks_communicator(part->ranks);
  MPI_Datatype entry;
  exchange e;
  eb_error error = eb_ranks_agree(part->ranks, open_exchange(part, what, bytes, &e));
  MPI_Type_contiguous((int)bytes, MPI_BYTE, &entry);
  MPI_Type_commit(&entry);
  for (int64_t first = 0; !error && first < e.all; first += e.run) {
    int32_t mine = open_run(&e, first);
    char *received = e.packed + (size_t)e.run * bytes;
    memcpy(e.packed, (const char *)values + bytes * (size_t)e.at, bytes * (size_t)mine);
    MPI_Gatherv(e.packed, mine, entry, received, e.counts, e.offsets, entry, 0, comm);
    e.at += mine;
    if (!at_root(&e)) continue;
    for (int32_t k = 0; k < e.count; k++)
      memcpy(e.ordered + bytes * (size_t)e.place[e.run + k], received + bytes * (size_t)k, bytes);
    sink(context, first, e.count, e.ordered);
  }
  MPI_Type_free(&entry);
  close_exchange(&e);
  return error;
}

eb_error eb_scene_stream(const eb_scene *scene, eb_entries what, size_t bytes, const void *values,
                         eb_stream_sink *sink, void *context) {
  if (scene->part) return part_stream(scene->part, what, bytes, values, sink, context);
  const eb_mesh *mesh = scene->mesh;
  sink(context, 0, what == EB_NODES ? mesh->node_count : mesh->element_count, values);
  return EB_OK;
}

/* ---- nodes' values --------------------------------------------------------------------------- */

typedef struct reals {
  double *all;
  int width;
} reals;

static void store_reals(void *context, int64_t first, int32_t count, const void *values) {
  const reals *to = context;
  size_t width = (size_t)to->width;
  memcpy(to->all + width * (size_t)first, values, width * (size_t)count * sizeof *to->all);
}

eb_error eb_subdomain_gather(const eb_subdomain *part, int width, const double *values,
                             double *all) {
  reals to = {all, width};
  return part_stream(part, EB_NODES, (size_t)width * sizeof *values, values, store_reals, &to);
}

/* ---- the mesh -------------------------------------------------------------------------------- */

typedef struct membership {
  int32_t *node, count;
} membership;

static void store_members(void *context, int64_t first, int32_t count, const void *values) {
  membership *to = context;
  const uint8_t *in = values;
  for (int32_t i = 0; i < count; i++)
    if (in[i]) to->node[to->count++] = (int32_t)(first + i);
}

static eb_error gather_set(const eb_scene *scene, const eb_node_set *set, uint8_t *in,
                           membership *to, eb_mesh *all) {
  memset(in, 0, (size_t)scene->mesh->node_count);
  for (int32_t k = 0; k < set->count; k++) in[set->nodes[k]] = 1;
  to->count = 0;
  EB_TRY(part_stream(scene->part, EB_NODES, 1, in, store_members, to));
  eb_error error = EB_OK;
  if (all) error = eb_mesh_add_set(all, set->name, to->node, to->count);
  return eb_ranks_agree(scene->part->ranks, error);
}

typedef struct rows {
  char *to;
  size_t bytes;
} rows;

static void store_rows(void *context, int64_t first, int32_t count, const void *values) {
  const rows *all = context;
  memcpy(all->to + all->bytes * (size_t)first, values, all->bytes * (size_t)count);
}

static eb_error gather_rows(const eb_subdomain *part, eb_entries what, size_t bytes,
                            const void *values, void *to) {
  return part_stream(part, what, bytes, values, store_rows, &(rows){to, bytes});
}

/* What the gathering of a mesh needs for itself. */
typedef struct workspace {
  int32_t *corner; /* of the local elements, by their original numbers */
  uint8_t *in;     /* local nodes */
  membership members;
} workspace;

static eb_error open_workspace(const eb_scene *scene, workspace *w, eb_mesh **all) {
  const eb_mesh *mesh = scene->mesh;
  const eb_subdomain *part = scene->part;
  size_t corners = (size_t)mesh->element_count * mesh->type;
  EB_TRY(EB_NEW(w->corner, corners));
  EB_TRY(EB_NEW(w->in, mesh->node_count));
  for (size_t i = 0; i < corners; i++) w->corner[i] = part->original_node[mesh->elements[i]];
  if (eb_ranks_self(part->ranks) != 0) return EB_OK;
  if (part->all_nodes > INT32_MAX || part->all_elements > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT, "%lld elements are too many for one process",
                    (long long)part->all_elements);
  EB_TRY(EB_NEW(w->members.node, part->all_nodes));
  EB_TRY(eb_mesh_create(mesh->type, (int32_t)part->all_nodes, (int32_t)part->all_elements, all));
  if (mesh->fibre) EB_TRY(EB_NEW((*all)->fibre, 3 * (size_t)part->all_elements));
  char(*names)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(names, mesh->region_count));
  memcpy(names, mesh->region_name, (size_t)mesh->region_count * sizeof *names);
  free((*all)->region_name);
  (*all)->region_name = names;
  (*all)->region_count = mesh->region_count;
  return EB_OK;
}

static eb_error gather_mesh(const eb_scene *scene, workspace *w, eb_mesh **out) {
  const eb_mesh *mesh = scene->mesh;
  const eb_subdomain *part = scene->part;
  EB_TRY(eb_ranks_agree(part->ranks, open_workspace(scene, w, out)));
  static const eb_mesh none = {0};
  const eb_mesh *all = *out ? *out : &none;
  EB_TRY(gather_rows(part, EB_NODES, 3 * sizeof *mesh->X, mesh->X, all->X));
  EB_TRY(gather_rows(part, EB_ELEMENTS, mesh->type * sizeof *w->corner, w->corner, all->elements));
  EB_TRY(gather_rows(part, EB_ELEMENTS, sizeof *mesh->region, mesh->region, all->region));
  if (mesh->fibre)
    EB_TRY(gather_rows(part, EB_ELEMENTS, 3 * sizeof *mesh->fibre, mesh->fibre, all->fibre));
  for (int32_t s = 0; s < mesh->set_count; s++)
    EB_TRY(gather_set(scene, &mesh->sets[s], w->in, &w->members, *out));
  return EB_OK;
}

eb_error eb_subdomain_gather_mesh(const eb_scene *scene, eb_mesh **out) {
  *out = NULL;
  if (!scene->part) return eb_mesh_copy(scene->mesh, out);
  workspace w = {0};
  eb_error error = gather_mesh(scene, &w, out);
  free(w.corner);
  free(w.in);
  free(w.members.node);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
}
