/* The formats behind problems/mesh/io.h: a reader fills a draft from a scan, a writer prints. */
#ifndef EB_MESH_IO_FORMATS_H
#define EB_MESH_IO_FORMATS_H

#include <stdio.h>

#include "problems/mesh/io.h"
#include "problems/mesh/io/draft.h"

EB_MUST eb_error eb_read_medit(eb_scan *scan, eb_draft *draft);
EB_MUST eb_error eb_read_gmsh(eb_scan *scan, eb_draft *draft);
EB_MUST eb_error eb_read_tetgen(eb_scan *nodes, eb_scan *elements, eb_draft *draft);
EB_MUST eb_error eb_read_vega(eb_scan *scan, eb_draft *draft);
EB_MUST eb_error eb_read_vtk(eb_scan *scan, eb_draft *draft);

EB_MUST eb_error eb_read_obj(eb_scan *scan, eb_facets *facets);
EB_MUST eb_error eb_read_ply(eb_scan *scan, eb_facets *facets);
EB_MUST eb_error eb_read_off(eb_scan *scan, eb_facets *facets);
EB_MUST eb_error eb_read_stl(eb_scan *scan, eb_facets *facets);

/* Whether the length of the file is the one that a binary STL announces. It tells where the opening
 * word does not: many binary headers open with "solid". */
bool eb_stl_has_binary_length(const char *data, size_t bytes);
/* That, or it does not open with "solid". */
bool eb_stl_is_binary(const char *data, size_t bytes);

/* Print and leave errors of the stream to the caller. `second`: the .ele file of TetGen. */
void eb_write_mesh(FILE *file, eb_mesh_format format, const eb_mesh *mesh, bool second);
void eb_write_surface(FILE *file, eb_mesh_format format, const eb_surface *surface);

#endif
