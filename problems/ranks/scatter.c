/* Nodes are dealt by METIS, which balances them and keeps the cuts short (Karypis and Kumar 1998,
 * "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci.
 * Comput. 20(1)); its seed is fixed, so that the same mesh is cut alike every time. Rank 0 sends
 * one piece after the other and needs memory for one of them beside the mesh. */
#include "problems/ranks/scatter.h"

#include <metis.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/ranks/communicator.h"
#include "problems/ranks/pieces.h"

/* ---- owners of nodes ------------------------------------------------------------------------- */

typedef struct nodal_graph {
  idx_t *start;               /* elements + 1, into their nodes */
  idx_t *element_part, *part; /* elements; nodes */
} nodal_graph;

static eb_error run_metis(const eb_mesh *mesh, int ranks, nodal_graph *g) {
  idx_t elements = mesh->element_count, nodes = mesh->node_count, parts = ranks, cut;
  idx_t options[METIS_NOPTIONS];
  EB_TRY(EB_NEW(g->start, (size_t)elements + 1));
  EB_TRY(EB_NEW(g->element_part, elements));
  EB_TRY(EB_NEW(g->part, nodes));
  for (idx_t e = 0; e <= elements; e++) g->start[e] = e * (idx_t)mesh->type;
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  int status = METIS_PartMeshNodal(&elements, &nodes, g->start, mesh->elements, NULL, NULL, &parts,
                                   NULL, options, &cut, g->element_part, g->part);
  if (status == METIS_ERROR_MEMORY)
    return EB_ERROR(EB_ERR_MEMORY, "METIS is out of memory; use fewer elements");
  if (status != METIS_OK)
    return EB_ERROR(EB_ERR_LIBRARY, "METIS could not cut the mesh (status %d)", status);
  return EB_OK;
}

/* Whether METIS has left a rank without nodes, as it may when there are few. */
static eb_error is_empty(const idx_t *part, int32_t nodes, int ranks, bool *out) {
  int32_t *count, used = 0;
  EB_TRY(EB_NEW(count, ranks));
  for (int32_t i = 0; i < nodes; i++) used += count[part[i]]++ == 0;
  free(count);
  *out = used < ranks;
  return EB_OK;
}

static eb_error deal_by_metis(const eb_mesh *mesh, int ranks, nodal_graph *g, int32_t *owner) {
  bool empty;
  EB_TRY(run_metis(mesh, ranks, g));
  EB_TRY(is_empty(g->part, mesh->node_count, ranks, &empty));
  for (int32_t i = 0; i < mesh->node_count; i++)
    owner[i] = empty ? (int32_t)((int64_t)i * ranks / mesh->node_count) : g->part[i];
  return EB_OK;
}

static eb_error deal_nodes(const eb_mesh *mesh, int ranks, int32_t *owner) {
  if (ranks == 1) return EB_OK; /* they are zero */
  nodal_graph g = {0};
  eb_error error = deal_by_metis(mesh, ranks, &g, owner);
  free(g.start);
  free(g.element_part);
  free(g.part);
  return error;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Lists of numbers by rank: those of rank r are item[start[r]] .. item[start[r + 1] - 1]. */
typedef struct lists {
  int64_t *start;
  int32_t *item;
} lists;

typedef struct cutter {
  const eb_mesh *mesh;
  int ranks;
  int32_t *owner;      /* nodes */
  lists node, element; /* nodes that a rank owns; elements that have one of them; ascending */
  int32_t *local;      /* nodes: their number in the piece at hand, or -1 */
} cutter;

/* The ranks that own nodes of an element, each once. */
static int owners_of(const cutter *c, int32_t e, int32_t owners[EB_HEXAHEDRON]) {
  int count = 0, type = (int)c->mesh->type;
  for (int a = 0; a < type; a++) {
    int32_t owner = c->owner[c->mesh->elements[(size_t)e * (size_t)type + (size_t)a]];
    bool known = false;
    for (int k = 0; k < count; k++) known = known || owners[k] == owner;
    if (!known) owners[count++] = owner;
  }
  return count;
}

/* Counts become starts; start[r + 1] is then where the next of rank r goes. */
static void open_lists(lists *l, int ranks) {
  for (int r = 0; r < ranks; r++) l->start[r + 2] += l->start[r + 1];
}

static eb_error list_by_rank(cutter *c) {
  const eb_mesh *mesh = c->mesh;
  int32_t owners[EB_HEXAHEDRON];
  EB_TRY(EB_NEW(c->node.start, (size_t)c->ranks + 2));
  EB_TRY(EB_NEW(c->element.start, (size_t)c->ranks + 2));
  for (int32_t i = 0; i < mesh->node_count; i++) c->node.start[c->owner[i] + 2]++;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = owners_of(c, e, owners); k > 0; k--) c->element.start[owners[k - 1] + 2]++;
  open_lists(&c->node, c->ranks);
  open_lists(&c->element, c->ranks);
  EB_TRY(EB_NEW(c->node.item, c->node.start[c->ranks + 1]));
  EB_TRY(EB_NEW(c->element.item, c->element.start[c->ranks + 1]));
  for (int32_t i = 0; i < mesh->node_count; i++) c->node.item[c->node.start[c->owner[i] + 1]++] = i;
  for (int32_t e = 0; e < mesh->element_count; e++)
    for (int k = owners_of(c, e, owners); k > 0; k--)
      c->element.item[c->element.start[owners[k - 1] + 1]++] = e;
  return EB_OK;
}

static eb_error open_cutter(const eb_mesh *mesh, int ranks, cutter *c) {
  *c = (cutter){.mesh = mesh, .ranks = ranks};
  EB_TRY(EB_NEW(c->owner, mesh->node_count));
  EB_TRY(EB_NEW(c->local, mesh->node_count));
  EB_TRY(deal_nodes(mesh, ranks, c->owner));
  return list_by_rank(c);
}

static void close_cutter(cutter *c) {
  free(c->owner);
  free(c->local);
  free(c->node.start);
  free(c->node.item);
  free(c->element.start);
  free(c->element.item);
}

static int ascending(const void *a, const void *b) {
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

/* The nodes of rank r's piece, ascending; numbered in c->local. */
static eb_error cut_nodes(cutter *c, int r, int32_t **nodes, int32_t *count) {
  const eb_mesh *mesh = c->mesh;
  const int32_t *own = c->node.item + c->node.start[r], *element = c->element.item;
  int64_t owned = c->node.start[r + 1] - c->node.start[r];
  int64_t first = c->element.start[r], end = c->element.start[r + 1];
  size_t type = mesh->type;
  EB_TRY(EB_NEW(*nodes, (size_t)owned + type * (size_t)(end - first)));
  for (int32_t i = 0; i < mesh->node_count; i++) c->local[i] = -1;
  *count = (int32_t)owned;
  for (int64_t i = 0; i < owned; i++) {
    (*nodes)[i] = own[i];
    c->local[own[i]] = 0;
  }
  for (int64_t k = first; k < end; k++)
    for (size_t a = 0; a < type; a++) {
      int32_t node = mesh->elements[type * (size_t)element[k] + a];
      if (c->local[node] >= 0) continue;
      c->local[node] = 0;
      (*nodes)[(*count)++] = node;
    }
  qsort(*nodes, (size_t)*count, sizeof **nodes, ascending);
  for (int32_t i = 0; i < *count; i++) c->local[(*nodes)[i]] = i;
  return EB_OK;
}

static eb_error cut_sets(const cutter *c, eb_mesh *to) {
  for (int32_t s = 0; s < c->mesh->set_count; s++) {
    const eb_node_set *set = &c->mesh->sets[s];
    int32_t *nodes, count = 0;
    EB_TRY(EB_NEW(nodes, set->count));
    for (int32_t k = 0; k < set->count; k++)
      if (c->local[set->nodes[k]] >= 0) nodes[count++] = c->local[set->nodes[k]];
    eb_error error = eb_mesh_add_set(to, set->name, nodes, count);
    free(nodes);
    if (error) return error;
  }
  return EB_OK;
}

static eb_error name_regions(eb_mesh *to, int32_t count, const void *names) {
  char(*copy)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(copy, count));
  memcpy(copy, names, (size_t)count * sizeof *copy);
  free(to->region_name);
  to->region_name = copy;
  to->region_count = count;
  return EB_OK;
}

static eb_error cut_piece(cutter *c, int r, eb_share *out) {
  const eb_mesh *from = c->mesh;
  const int32_t *element = c->element.item + c->element.start[r];
  int32_t elements = (int32_t)(c->element.start[r + 1] - c->element.start[r]), nodes;
  size_t type = from->type;
  EB_TRY(cut_nodes(c, r, &out->piece.node, &nodes));
  EB_TRY(eb_mesh_create(from->type, nodes, elements, &out->piece.mesh));
  EB_TRY(EB_NEW(out->piece.element, elements));
  EB_TRY(EB_NEW(out->owner, nodes));
  eb_mesh *to = out->piece.mesh;
  if (from->fibre) EB_TRY(EB_NEW(to->fibre, 3 * (size_t)elements));
  for (int32_t i = 0; i < nodes; i++) {
    int32_t node = out->piece.node[i];
    memcpy(to->X + 3 * (size_t)i, from->X + 3 * (size_t)node, 3 * sizeof *to->X);
    out->owner[i] = c->owner[node];
  }
  for (size_t k = 0; k < (size_t)elements; k++) {
    size_t e = (size_t)element[k];
    for (size_t a = 0; a < type; a++)
      to->elements[type * k + a] = c->local[from->elements[type * e + a]];
    to->region[k] = from->region[e];
    if (from->fibre) memcpy(to->fibre + 3 * k, from->fibre + 3 * e, 3 * sizeof *to->fibre);
    out->piece.element[k] = element[k];
  }
  out->all_nodes = from->node_count;
  out->all_elements = from->element_count;
  EB_TRY(name_regions(to, from->region_count, from->region_name));
  return cut_sets(c, to);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* What comes first; `good` is 0 when there is nothing to come. */
typedef struct header {
  int64_t good, type, nodes, elements, regions, sets, fibre, all_nodes, all_elements;
} header;

enum { HEADER, READY, BODY };

/* The arrays of a piece one by one: from rank 0 to another. */
typedef void transfer(void *context, void *values, size_t bytes, int32_t count);

static void transfer_arrays(eb_share *share, transfer *move, void *context) {
  eb_mesh *mesh = share->piece.mesh;
  int32_t nodes = mesh->node_count, elements = mesh->element_count;
  move(context, mesh->X, 3 * sizeof *mesh->X, nodes);
  move(context, mesh->elements, mesh->type * sizeof *mesh->elements, elements);
  move(context, mesh->region, sizeof *mesh->region, elements);
  if (mesh->fibre) move(context, mesh->fibre, 3 * sizeof *mesh->fibre, elements);
  move(context, share->piece.node, sizeof *share->piece.node, nodes);
  move(context, share->piece.element, sizeof *share->piece.element, elements);
  move(context, share->owner, sizeof *share->owner, nodes);
  move(context, mesh->region_name, EB_NAME_BYTES, mesh->region_count);
}

typedef struct line {
  MPI_Comm comm;
  int other; /* rank */
} line;

static void send_values(void *context, void *values, size_t bytes, int32_t count) {
  const line *to = context;
  MPI_Datatype entry;
  MPI_Type_contiguous((int)bytes, MPI_BYTE, &entry);
  MPI_Type_commit(&entry);
  MPI_Send(values, count, entry, to->other, BODY, to->comm);
  MPI_Type_free(&entry);
}

static void receive_values(void *context, void *values, size_t bytes, int32_t count) {
  const line *from = context;
  MPI_Datatype entry;
  MPI_Type_contiguous((int)bytes, MPI_BYTE, &entry);
  MPI_Type_commit(&entry);
  MPI_Recv(values, count, entry, from->other, BODY, from->comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&entry);
}

/* Sends a piece, or word that there is none, to one that is ready for it. */
static void send_share(line to, eb_share *share) {
  header h = {0};
  int ready;
  if (share) {
    const eb_mesh *mesh = share->piece.mesh;
    h = (header){.good = 1,
                 .type = (int64_t)mesh->type,
                 .nodes = mesh->node_count,
                 .elements = mesh->element_count,
                 .regions = mesh->region_count,
                 .sets = mesh->set_count,
                 .fibre = mesh->fibre != NULL,
                 .all_nodes = share->all_nodes,
                 .all_elements = share->all_elements};
  }
  MPI_Send(&h, sizeof h, MPI_BYTE, to.other, HEADER, to.comm);
  if (!share) return;
  MPI_Recv(&ready, 1, MPI_INT, to.other, READY, to.comm, MPI_STATUS_IGNORE);
  if (!ready) return;
  transfer_arrays(share, send_values, &to);
  for (int32_t s = 0; s < share->piece.mesh->set_count; s++) {
    eb_node_set *set = &share->piece.mesh->sets[s];
    send_values(&to, set->name, sizeof set->name, 1);
    send_values(&to, &set->count, sizeof set->count, 1);
    send_values(&to, set->nodes, sizeof *set->nodes, set->count);
  }
}

/* Room for what the header announces; `*members` for the largest set. */
static eb_error make_room(const header *h, eb_share *out, int32_t **members) {
  EB_TRY(eb_mesh_create((eb_element_type)h->type, (int32_t)h->nodes, (int32_t)h->elements,
                        &out->piece.mesh));
  eb_mesh *mesh = out->piece.mesh;
  if (h->fibre) EB_TRY(EB_NEW(mesh->fibre, 3 * h->elements));
  EB_TRY(EB_NEW(out->piece.node, h->nodes));
  EB_TRY(EB_NEW(out->piece.element, h->elements));
  EB_TRY(EB_NEW(out->owner, h->nodes));
  EB_TRY(EB_NEW(*members, h->nodes));
  char(*names)[EB_NAME_BYTES];
  EB_TRY(EB_NEW(names, h->regions));
  free(mesh->region_name);
  mesh->region_name = names;
  mesh->region_count = (int32_t)h->regions;
  out->all_nodes = h->all_nodes;
  out->all_elements = h->all_elements;
  return EB_OK;
}

static eb_error receive_share(line from, eb_share *out) {
  header h;
  int32_t *members = NULL;
  MPI_Recv(&h, sizeof h, MPI_BYTE, from.other, HEADER, from.comm, MPI_STATUS_IGNORE);
  if (!h.good) return EB_OK; /* rank 0 says why */
  eb_error error = make_room(&h, out, &members);
  int ready = !error;
  MPI_Send(&ready, 1, MPI_INT, from.other, READY, from.comm);
  if (ready) transfer_arrays(out, receive_values, &from);
  for (int64_t s = 0; ready && s < h.sets; s++) {
    char name[EB_NAME_BYTES];
    int32_t count;
    receive_values(&from, name, sizeof name, 1);
    receive_values(&from, &count, sizeof count, 1);
    receive_values(&from, members, sizeof *members, count);
    if (!error) error = eb_mesh_add_set(out->piece.mesh, name, members, count);
  }
  free(members);
  return error;
}

/* ---- rank 0 and the others ------------------------------------------------------------------- */

/* Even after an error everybody is told something. */
static eb_error send_shares(const eb_ranks *ranks, const eb_mesh *mesh, eb_share *own) {
  int count = eb_ranks_count(ranks);
  cutter c = {.ranks = 0};
  eb_error error = eb_parts_check(ranks, mesh->node_count);
  if (!error) error = open_cutter(mesh, count, &c);
  for (int r = 1; r < count; r++) {
    eb_share share = {0};
    if (!error) error = cut_piece(&c, r, &share);
    send_share((line){eb_ranks_communicator(ranks), r}, error ? NULL : &share);
    eb_share_clear(&share);
  }
  if (!error) error = cut_piece(&c, 0, own);
  close_cutter(&c);
  return error;
}

eb_error eb_share_scatter(const eb_ranks *ranks, const eb_mesh *mesh, eb_share *out) {
  *out = (eb_share){.owner = NULL};
  bool first = eb_ranks_self(ranks) == 0;
  line to_first = {eb_ranks_communicator(ranks), 0};
  return eb_ranks_agree(ranks,
                        first ? send_shares(ranks, mesh, out) : receive_share(to_first, out));
}

void eb_share_clear(eb_share *share) {
  eb_piece_clear(&share->piece);
  free(share->owner);
  *share = (eb_share){.owner = NULL};
}
