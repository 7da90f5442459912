#include "problems/mesh/io/draft.h"

#include <stdio.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/mesh/faces.h"

eb_error eb_grow(void *array, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return EB_OK;
  size_t wanted = *capacity ? 2 * *capacity : 16;
  void *old;
  memcpy(&old, array, sizeof old);
  void *grown = eb_recalloc(old, count, wanted, size);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot grow a mesh to %zu entries", wanted);
  memcpy(array, &grown, sizeof grown);
  *capacity = wanted;
  return EB_OK;
}

eb_error eb_draft_nodes(eb_draft *draft, int64_t count, bool tagged) {
  EB_TRY(EB_NEW(draft->X, 3 * (size_t)count));
  if (tagged) EB_TRY(EB_NEW(draft->tag, count));
  draft->node_count = count;
  return EB_OK;
}

eb_error eb_draft_number(eb_scan *scan, const char *what, int64_t i, int64_t *base,
                         const char **place) {
  char words[40];
  int64_t number;
  snprintf(words, sizeof words, "the number of a%s %s", *what == 'e' ? "n" : "", what);
  *place = eb_scan_place(scan);
  EB_TRY(eb_scan_int(scan, words, &number));
  if (i == 0) *base = number;
  if (i == 0 && number != 0 && number != 1)
    return eb_scan_error(scan, *place, "the first %s is %lld, but numbering starts at 0 or 1", what,
                         (long long)number);
  if (number != *base + i)
    return eb_scan_error(scan, *place, "%s %lld should be %lld; number the %ss in sequence", what,
                         (long long)number, (long long)(*base + i), what);
  return EB_OK;
}

eb_error eb_draft_numbered_nodes(eb_draft *draft, eb_scan *scan) {
  int64_t count, dimension;
  EB_TRY(eb_scan_count(scan, "nodes", 8, &count));
  EB_TRY(eb_scan_int(scan, "the dimension", &dimension));
  if (dimension != 3)
    return eb_scan_error(scan, scan->at, "the dimension is %lld, not 3", (long long)dimension);
  if (draft->X) return eb_scan_error(scan, scan->at, "a second list of nodes; remove one");
  eb_scan_next_line(scan);
  EB_TRY(eb_draft_nodes(draft, count, false));
  for (int64_t i = 0; i < count; i++) {
    const char *place;
    EB_TRY(eb_draft_number(scan, "node", i, &draft->base, &place));
    EB_TRY(eb_scan_reals(scan, "a coordinate of a node", 3, draft->X + 3 * i));
    eb_scan_next_line(scan);
  }
  return EB_OK;
}

eb_error eb_draft_element(eb_draft *draft, const eb_scan *scan, const char *place, int64_t number,
                          int corners, int listed, const int64_t *nodes, int64_t label) {
  if (draft->corners && draft->corners != corners)
    return eb_scan_error(scan, place,
                         "the file holds both tetrahedra and hexahedra; split it, or re-mesh with "
                         "one kind of element");
  draft->corners = corners;
  draft->source = scan;
  size_t e = draft->element_count, capacity[3];
  for (int k = 0; k < 3; k++) capacity[k] = draft->element_capacity;
  EB_TRY(eb_grow(&draft->corner, e, &capacity[0], (size_t)corners * sizeof *draft->corner));
  EB_TRY(eb_grow(&draft->label, e, &capacity[1], sizeof *draft->label));
  EB_TRY(eb_grow(&draft->number, e, &capacity[2], sizeof *draft->number));
  EB_TRY(eb_grow(&draft->place, e, &draft->element_capacity, sizeof *draft->place));
  draft->element_count++;
  memcpy(draft->corner + e * (size_t)corners, nodes, (size_t)corners * sizeof *nodes);
  draft->label[e] = label;
  draft->number[e] = number;
  draft->place[e] = place;
  for (int a = corners; a < listed; a++) {
    EB_TRY(eb_grow(&draft->beside, draft->beside_count, &draft->beside_capacity, sizeof *nodes));
    draft->beside[draft->beside_count++] = nodes[a];
  }
  return EB_OK;
}

static eb_error too_many(const eb_scan *scan, const char *what) {
  return eb_scan_error(scan, scan->at, "more than %d %s; join some of them", EB_DRAFT_GROUPS, what);
}

eb_error eb_draft_name(eb_draft *draft, const eb_scan *scan, int64_t label, eb_word name) {
  if (draft->region_count == EB_DRAFT_GROUPS) return too_many(scan, "named regions");
  EB_TRY(eb_grow(&draft->regions, draft->region_count, &draft->region_capacity,
                 sizeof *draft->regions));
  eb_draft_region *region = &draft->regions[draft->region_count];
  region->label = label;
  EB_TRY(eb_scan_name(scan, name, region->name, sizeof region->name));
  draft->region_count++;
  return EB_OK;
}

eb_error eb_draft_set_new(eb_draft *draft, const eb_scan *scan, size_t *out) {
  if (draft->set_count == EB_DRAFT_GROUPS) return too_many(scan, "node sets");
  EB_TRY(eb_grow(&draft->sets, draft->set_count, &draft->set_capacity, sizeof *draft->sets));
  *out = draft->set_count++;
  return EB_OK;
}

eb_error eb_draft_set_node(eb_draft *draft, size_t index, int64_t node) {
  eb_draft_set *set = &draft->sets[index];
  EB_TRY(eb_grow(&set->nodes, set->count, &set->capacity, sizeof *set->nodes));
  set->nodes[set->count++] = node;
  return EB_OK;
}

void eb_draft_clear(eb_draft *draft) {
  for (size_t s = 0; s < draft->set_count; s++) free(draft->sets[s].nodes);
  for (int k = 0; k < draft->kept_count; k++) free(draft->kept[k]);
  free(draft->sets);
  free(draft->regions);
  free(draft->beside);
  free(draft->fibre);
  free(draft->place);
  free(draft->number);
  free(draft->label);
  free(draft->corner);
  free(draft->tag);
  free(draft->X);
  *draft = (eb_draft){0};
}

/* ---- from the file's node numbers to ours ---------------------------------------------------- */

typedef struct numbered {
  int64_t tag;
  int32_t node;
} numbered;

static int by_tag(const void *a, const void *b) {
  const numbered *left = a, *right = b;
  return (left->tag > right->tag) - (left->tag < right->tag);
}

static eb_error sort_tags(const eb_draft *draft, numbered *order) {
  bool sorted = true;
  for (int64_t i = 0; i < draft->node_count; i++) {
    order[i] = (numbered){draft->tag[i], (int32_t)i};
    sorted = sorted && (i == 0 || order[i - 1].tag < order[i].tag);
  }
  if (sorted) return EB_OK;
  qsort(order, (size_t)draft->node_count, sizeof *order, by_tag);
  for (int64_t i = 1; i < draft->node_count; i++)
    if (order[i].tag == order[i - 1].tag)
      return EB_ERROR(EB_ERR_FORMAT, "%s: node %lld is listed twice; number the nodes uniquely",
                      draft->source->name, (long long)order[i].tag);
  return EB_OK;
}

/* The node of that number, or -1. Numbers mostly run on, so the sorted list is first tried at the
 * place it would have without gaps. */
static int32_t find_node(const eb_draft *draft, const numbered *order, int64_t tag) {
  if (!order) {
    bool inside = tag >= draft->base && tag - draft->base < draft->node_count;
    return inside ? (int32_t)(tag - draft->base) : -1;
  }
  int64_t low = 0, high = draft->node_count - 1;
  if (high < 0 || tag < order[0].tag || tag > order[high].tag) return -1;
  uint64_t guess = (uint64_t)tag - (uint64_t)order[0].tag;
  if (guess <= (uint64_t)high && order[guess].tag == tag) return order[guess].node;
  while (low <= high) {
    int64_t middle = low + (high - low) / 2;
    if (order[middle].tag == tag) return order[middle].node;
    if (order[middle].tag < tag)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

static eb_error unknown_node(const eb_draft *draft, const numbered *order, size_t e, int64_t tag) {
  int64_t count = draft->node_count;
  if (count == 0)
    return eb_scan_error(draft->source, draft->place[e],
                         "element %lld refers to node %lld, but the file lists no nodes",
                         (long long)draft->number[e], (long long)tag);
  long long first = order ? order[0].tag : draft->base;
  long long last = order ? order[count - 1].tag : draft->base + count - 1;
  return eb_scan_error(draft->source, draft->place[e],
                       "element %lld refers to node %lld, but the %lld nodes of the file are "
                       "numbered %lld to %lld%s",
                       (long long)draft->number[e], (long long)tag, (long long)count, first, last,
                       (uint64_t)last - (uint64_t)first + 1 == (uint64_t)count ? ""
                                                                               : ", with gaps");
}

typedef struct resolution {
  numbered *order;  /* nodes by number, or NULL when they run on */
  int32_t *element; /* element_count x corners, as listed in the file */
  int32_t *fresh;   /* node_count: our index, below 0 when unused */
  int32_t used;
  int32_t beside;   /* nodes beside corners that no element has as a corner */
  int32_t *scratch; /* of a node set */
} resolution;

static eb_error resolve(const eb_draft *draft, resolution *r) {
  size_t corners = (size_t)draft->corners;
  if (draft->tag) {
    EB_TRY(EB_NEW(r->order, draft->node_count));
    EB_TRY(sort_tags(draft, r->order));
  }
  EB_TRY(EB_NEW(r->element, draft->element_count * corners));
  EB_TRY(EB_NEW(r->fresh, draft->node_count));
  for (int64_t i = 0; i < draft->node_count; i++) r->fresh[i] = -1;
  for (size_t k = 0; k < draft->element_count * corners; k++) {
    size_t e = k / corners;
    int64_t tag = draft->corner[k];
    r->element[k] = find_node(draft, r->order, tag);
    if (r->element[k] < 0) return unknown_node(draft, r->order, e, tag);
    for (size_t b = e * corners; b < k; b++)
      if (r->element[k] == r->element[b])
        return eb_scan_error(draft->source, draft->place[e],
                             "element %lld lists node %lld twice; remove or re-mesh it",
                             (long long)draft->number[e], (long long)tag);
    r->fresh[r->element[k]] = 0;
  }
  enum { CORNER = 0, BESIDE = -2 };
  for (size_t k = 0; k < draft->beside_count; k++) {
    int32_t node = find_node(draft, r->order, draft->beside[k]);
    if (node < 0 || r->fresh[node] == CORNER || r->fresh[node] == BESIDE) continue;
    r->fresh[node] = BESIDE;
    r->beside++;
  }
  for (int64_t i = 0; i < draft->node_count; i++)
    if (r->fresh[i] == CORNER) r->fresh[i] = r->used++;
  return EB_OK;
}

/* ---- orientation ----------------------------------------------------------------------------- */

static void swap(int32_t *a, int32_t *b) {
  int32_t kept = *a;
  *a = *b;
  *b = kept;
}

static void turn(eb_mesh *mesh, int32_t e) {
  int32_t *node = mesh->elements + (size_t)e * mesh->type;
  if (mesh->type == EB_TETRAHEDRON) swap(&node[2], &node[3]);
  for (int a = 0; mesh->type == EB_HEXAHEDRON && a < 4; a++) swap(&node[a], &node[a + 4]);
}

/* Turns elements of negative volume round. A file that lists all of them so is left-handed. One
 * that mixes both orders is sound when the elements at every face then lie on either side of it;
 * where both lie on one side, no order of nodes mends it: the mesh is tangled. */
static eb_error orient(const eb_draft *draft, eb_mesh *mesh) {
  int32_t negative = 0, *mate, crowded;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    double volume = eb_mesh_element_volume(mesh, mesh->X, e);
    if (!(volume > 0) && !(volume < 0))
      return eb_scan_error(draft->source, draft->place[e],
                           "element %lld is degenerate: its volume is zero; remove or re-mesh it",
                           (long long)draft->number[e]);
    if (volume > 0) continue;
    negative++;
    turn(mesh, e);
  }
  if (negative == 0) return EB_OK;
  if (negative == mesh->element_count)
    return eb_scan_note(draft->source, "all elements have negative volume: they are turned round");
  EB_TRY(eb_mesh_face_mates(mesh, &mate, &crowded));
  int32_t face = eb_mesh_overlap(mesh, mate);
  int32_t faces = eb_face_table_of(mesh->type)->count;
  int32_t one = face / faces, other = face < 0 ? -1 : mate[face] / faces;
  free(mate);
  if (face >= 0)
    return eb_scan_error(draft->source, draft->place[one],
                         "elements %lld and %lld lie on the same side of their common face, in "
                         "whatever order their nodes are listed (%d of %d elements have negative "
                         "volume): the mesh is tangled; untangle or re-mesh it",
                         (long long)draft->number[one], (long long)draft->number[other], negative,
                         mesh->element_count);
  return eb_scan_note(draft->source,
                      "%d of %d elements list their nodes in the other orientation (negative "
                      "volume): they are reordered",
                      negative, mesh->element_count);
}

/* ---- regions --------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

typedef struct naming {
  size_t count;      /* labels */
  int64_t *label;    /* ascending */
  int32_t *region;   /* of each label */
  const char **name; /* of each region */
  char (*own)[EB_NAME_BYTES];
} naming;

/* Every label used or named, ascending; few in practice, though there may be one an element. */
static eb_error list_labels(const eb_draft *draft, naming *n) {
  EB_TRY(EB_NEW(n->label, draft->element_count + draft->region_count));
  for (size_t e = 0; e < draft->element_count; e++)
    if (n->count == 0 || n->label[n->count - 1] != draft->label[e])
      n->label[n->count++] = draft->label[e];
  for (size_t r = 0; r < draft->region_count; r++) n->label[n->count++] = draft->regions[r].label;
  qsort(n->label, n->count, sizeof *n->label, ascending);
  size_t listed = n->count;
  n->count = 0;
  for (size_t i = 0; i < listed; i++)
    if (i == 0 || n->label[i] != n->label[n->count - 1]) n->label[n->count++] = n->label[i];
  if (n->count > EB_DRAFT_GROUPS) {
    return EB_ERROR(EB_ERR_FORMAT,
                    "%s: more than %d regions; the labels of the elements are no regions, remove "
                    "them from the file",
                    draft->source->name, EB_DRAFT_GROUPS);
  }
  return EB_OK;
}

/* Labels of equal name make one region. */
static eb_error name_regions(const eb_draft *draft, naming *n, eb_mesh *mesh) {
  EB_TRY(list_labels(draft, n));
  EB_TRY(EB_NEW(n->region, n->count));
  EB_TRY(EB_NEW(n->name, n->count));
  EB_TRY(EB_NEW(n->own, n->count));
  int32_t regions = 0;
  for (size_t l = 0; l < n->count; l++) {
    const char *name = NULL;
    for (size_t d = 0; !name && d < draft->region_count; d++)
      if (draft->regions[d].label == n->label[l] && draft->regions[d].name[0])
        name = draft->regions[d].name;
    if (!name) {
      snprintf(n->own[l], EB_NAME_BYTES, "region%lld", (long long)n->label[l]);
      name = n->count == 1 ? "body" : n->own[l];
    }
    int32_t r = 0;
    while (r < regions && strcmp(n->name[r], name) != 0) r++;
    n->region[l] = r;
    n->name[r] = name;
    if (r == regions) regions++;
  }
  for (size_t e = 0; e < draft->element_count; e++) {
    const int64_t *found =
        bsearch(&draft->label[e], n->label, n->count, sizeof *n->label, ascending);
    mesh->region[e] = n->region[found - n->label];
  }
  return eb_mesh_name_regions(mesh, regions, n->name);
}

/* ---- the mesh -------------------------------------------------------------------------------- */

/* Sets of one name are joined. Nodes that no element uses leave them; a set without nodes is
 * dropped. */
static eb_error add_sets(const eb_draft *draft, resolution *r, eb_mesh *mesh) {
  for (size_t s = 0; s < draft->set_count; s++) {
    const char *name = draft->sets[s].name;
    bool added = false;
    size_t most = 0;
    for (size_t t = 0; t < draft->set_count; t++) {
      if (strcmp(draft->sets[t].name, name) != 0) continue;
      most += draft->sets[t].count;
      added |= t < s;
    }
    if (added) continue;
    int32_t count = 0;
    free(r->scratch);
    EB_TRY(EB_NEW(r->scratch, most));
    for (size_t t = s; t < draft->set_count; t++) {
      const eb_draft_set *set = &draft->sets[t];
      for (size_t i = 0; i < set->count && strcmp(set->name, name) == 0; i++) {
        int32_t node = find_node(draft, r->order, set->nodes[i]);
        if (node < 0)
          return EB_ERROR(EB_ERR_FORMAT, "%s: group '%s' refers to node %lld, which is not listed",
                          draft->source->name, name, (long long)set->nodes[i]);
        if (r->fresh[node] >= 0) r->scratch[count++] = r->fresh[node];
      }
    }
    if (count > 0) EB_TRY(eb_mesh_add_set(mesh, name, r->scratch, count));
  }
  return EB_OK;
}

static eb_error build_mesh(eb_draft *draft, resolution *r, eb_mesh **out) {
  EB_TRY(resolve(draft, r));
  EB_TRY(
      eb_mesh_create((eb_element_type)draft->corners, r->used, (int32_t)draft->element_count, out));
  eb_mesh *mesh = *out;
  for (int64_t i = 0; i < draft->node_count; i++)
    if (r->fresh[i] >= 0) memcpy(mesh->X + 3 * (size_t)r->fresh[i], draft->X + 3 * i, 24);
  size_t entries = draft->element_count * (size_t)draft->corners;
  for (size_t i = 0; i < entries; i++) mesh->elements[i] = r->fresh[r->element[i]];
  if (r->beside)
    EB_TRY(eb_scan_note(draft->source,
                        "its elements are of second order or higher and are read as linear: %d "
                        "nodes beside the corners are left out",
                        r->beside));
  EB_TRY(orient(draft, mesh));
  naming n = {0};
  eb_error error = name_regions(draft, &n, mesh);
  free(n.own);
  free(n.name);
  free(n.region);
  free(n.label);
  EB_TRY(error);
  EB_TRY(add_sets(draft, r, mesh));
  mesh->fibre = draft->fibre;
  draft->fibre = NULL;
  return eb_error_prefix(eb_mesh_validate(mesh),
                         "%s: with nodes and elements counted from 0 in the order of the file",
                         draft->source->name);
}

eb_error eb_draft_finish(eb_draft *draft, const eb_scan *scan, eb_mesh **out) {
  *out = NULL;
  if (draft->element_count == 0)
    return EB_ERROR(EB_ERR_FORMAT, "%s: the file holds no tetrahedra or hexahedra", scan->name);
  resolution r = {0};
  eb_error error = build_mesh(draft, &r, out);
  free(r.scratch);
  free(r.fresh);
  free(r.element);
  free(r.order);
  if (error) {
    eb_mesh_destroy(*out);
    *out = NULL;
  }
  return error;
}
