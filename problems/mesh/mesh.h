/* Volume meshes (tetrahedra, hexahedra, planar triangles) and triangle surfaces.
 *
 * Lengths are metres. A tetrahedron (a b c d) has positive volume det[b-a, c-a, d-a] / 6; a
 * hexahedron lists its bottom face counter-clockwise seen from above, then the top face, as in VTK;
 * a planar triangle lies in z = 0 and is counter-clockwise. Surface triangles point outwards. */
#ifndef EB_MESH_H
#define EB_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/base/error.h"

#pragma GCC visibility push(default) /* exported */

enum { EB_NAME_BYTES = 48 };

typedef enum eb_element_type {
  EB_TRIANGLE = 3,
  EB_TETRAHEDRON = 4,
  EB_HEXAHEDRON = 8
} eb_element_type;

typedef struct eb_node_set {
  char name[EB_NAME_BYTES];
  int32_t count;
  int32_t *nodes; /* ascending, unique */
} eb_node_set;

typedef struct eb_mesh {
  eb_element_type type; /* its value is the number of nodes of an element */
  int32_t node_count, element_count, region_count, set_count;
  double *X;                          /* node_count x 3, rest positions, m */
  int32_t *elements;                  /* element_count x type */
  int32_t *region;                    /* element_count, 0 <= region < region_count */
  double *fibre;                      /* element_count x 3 unit vectors, or NULL */
  char (*region_name)[EB_NAME_BYTES]; /* region_count */
  eb_node_set *sets;                  /* set_count */
} eb_mesh;

typedef struct eb_surface {
  int32_t vertex_count, triangle_count;
  double *X;          /* vertex_count x 3, m */
  int32_t *triangles; /* triangle_count x 3 */
  int32_t *node;      /* vertex_count: the volume node behind each vertex, or NULL */
} eb_surface;

/* Allocates the arrays of a mesh with one region named "body" and no fibres or sets. The caller
 * fills X and elements. Destroying NULL is fine. */
EB_MUST eb_error eb_mesh_create(eb_element_type type, int32_t nodes, int32_t elements,
                                eb_mesh **out);
/* With regions, fibres and sets. */
EB_MUST eb_error eb_mesh_copy(const eb_mesh *mesh, eb_mesh **out);
void eb_mesh_destroy(eb_mesh *mesh);
/* Allocates the arrays but for `node`, which is NULL. The caller fills X and triangles. */
EB_MUST eb_error eb_surface_create(int32_t vertices, int32_t triangles, eb_surface **out);
void eb_surface_destroy(eb_surface *surface);

/* Replaces the region names by `count` copies; entries of mesh->region must stay below count. */
EB_MUST eb_error eb_mesh_name_regions(eb_mesh *mesh, int32_t count, const char *const *names);
/* Adds a node set; nodes are copied, sorted and made unique. */
EB_MUST eb_error eb_mesh_add_set(eb_mesh *mesh, const char *name, const int32_t *nodes,
                                 int32_t count);
/* The set of that name, or NULL. */
const eb_node_set *eb_mesh_set(const eb_mesh *mesh, const char *name);
/* The region of that name, or -1. */
int32_t eb_mesh_region(const eb_mesh *mesh, const char *name);

/* Signed volume of element e, m^3 (area for triangles, m^2), at positions x (node_count x 3). */
double eb_mesh_element_volume(const eb_mesh *mesh, const double *x, int32_t e);
/* The box around `count` points x; of none lo is infinite and hi minus infinity. */
void eb_mesh_bounds(const double *x, int32_t count, double lo[3], double hi[3]);
/* Content hash over every field; equal meshes have equal hashes on every machine. */
uint64_t eb_mesh_hash(const eb_mesh *mesh);

/* Checks indices, finiteness, orientation, repeated nodes within an element, duplicate elements,
 * unused nodes, faces shared by more than two elements and elements that overlap a neighbour;
 * EB_ERR_INVALID names the first offending element and what is wrong with it. */
EB_MUST eb_error eb_mesh_validate(const eb_mesh *mesh);
/* Checks indices, finiteness, degenerate triangles; with `closed`, also that every edge joins
 * exactly two consistently oriented triangles. */
EB_MUST eb_error eb_surface_validate(const eb_surface *surface, bool closed);

/* The boundary of a volume mesh, outward; hexahedral faces become two triangles. A planar triangle
 * mesh is its own surface. Order is deterministic. The caller destroys *out. */
EB_MUST eb_error eb_mesh_surface(const eb_mesh *mesh, eb_surface **out);

#pragma GCC visibility pop

#endif
