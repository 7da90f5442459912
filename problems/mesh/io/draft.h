/* What a reader gathers before it becomes a mesh: nodes and elements under the file's own numbers,
 * regions under the file's labels, node sets. Finishing resolves the numbers, drops unused nodes,
 * orients the elements and validates; every message gives the place in the file. */
#ifndef EB_MESH_IO_DRAFT_H
#define EB_MESH_IO_DRAFT_H

#include "problems/mesh/io/scan.h"
#include "problems/mesh/mesh.h"

enum { EB_DRAFT_GROUPS = 4096 /* named regions, node sets */ };

typedef struct eb_draft_region {
  int64_t label;
  char name[EB_NAME_BYTES];
} eb_draft_region;

typedef struct eb_draft_set {
  char name[EB_NAME_BYTES];
  int64_t *nodes; /* numbers of the file */
  size_t count, capacity;
} eb_draft_set;

typedef struct eb_draft {
  int64_t node_count;
  double *X;    /* node_count x 3 */
  int64_t *tag; /* number of each node in the file, or NULL: base, base + 1, ... */
  int64_t base;
  int corners; /* 4 or 8; 0 before the first element */
  size_t element_count, element_capacity;
  int64_t *corner;       /* element_count x corners, numbers of the file */
  int64_t *label;        /* element_count */
  int64_t *number;       /* element_count: what the file calls it */
  const char **place;    /* element_count: where the file lists it */
  const eb_scan *source; /* the file that lists the elements */
  double *fibre;         /* element_count x 3, or NULL */
  int64_t *beside;       /* beside_count: nodes of curved elements beside their corners */
  size_t beside_count, beside_capacity;
  size_t region_count, region_capacity, set_count, set_capacity;
  eb_draft_region *regions;
  eb_draft_set *sets;
  void *kept[64]; /* released with the draft */
  int kept_count;
} eb_draft;

/* Room for the nodes; `tagged` when the file numbers them freely. */
EB_MUST eb_error eb_draft_nodes(eb_draft *draft, int64_t count, bool tagged);
/* A list whose rows are numbered on from 0 or 1, as TetGen and Vega have them: reads the number of
 * row i, the first of which sets *base. `what` is the row in messages, "node". */
EB_MUST eb_error eb_draft_number(eb_scan *scan, const char *what, int64_t i, int64_t *base,
                                 const char **place);
/* All nodes of such a list: "count 3 ..", then a line each, number, position and what is ignored.
 */
EB_MUST eb_error eb_draft_numbered_nodes(eb_draft *draft, eb_scan *scan);
/* Adds a tetrahedron (4 corners) or a hexahedron (8) of `listed` nodes, the corners first: a curved
 * element keeps them alone. `number` is what messages call it: the one that the file gives, or its
 * place in the list, counted as the format counts. */
EB_MUST eb_error eb_draft_element(eb_draft *draft, const eb_scan *scan, const char *place,
                                  int64_t number, int corners, int listed, const int64_t *nodes,
                                  int64_t label);
/* Names the elements of a label. */
EB_MUST eb_error eb_draft_name(eb_draft *draft, const eb_scan *scan, int64_t label, eb_word name);
/* Adds an empty node set and gives its index; sets of equal name are joined in the end. */
EB_MUST eb_error eb_draft_set_new(eb_draft *draft, const eb_scan *scan, size_t *out);
EB_MUST eb_error eb_draft_set_node(eb_draft *draft, size_t set, int64_t node);

/* `scan` is the main file. The caller destroys *out. */
EB_MUST eb_error eb_draft_finish(eb_draft *draft, const eb_scan *scan, eb_mesh **out);
void eb_draft_clear(eb_draft *draft);

/* Makes room for one more entry of `size` bytes in array[count of capacity]. */
EB_MUST eb_error eb_grow(void *array, size_t count, size_t *capacity, size_t size);

#endif
