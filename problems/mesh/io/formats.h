/* The formats behind problems/mesh/io.h: a reader fills a draft from a scan, a writer prints a
 * mesh. */
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

/* `format` is one of surfaces. */
EB_MUST eb_error eb_read_surface(eb_scan *scan, eb_mesh_format format, eb_surface **out);

/* EB_FORMAT_STL_BINARY when the length of the file is the one that a binary STL announces, which
 * tells where the opening word does not: many binary headers open with "solid"; else EB_FORMAT_STL
 * when it opens with that word, or EB_FORMAT_AUTO. */
eb_mesh_format eb_stl_kind(const char *data, size_t bytes);

/* What a file is, from its opening bytes. */
typedef struct eb_file_type {
  eb_mesh_format format; /* EB_FORMAT_AUTO: the bytes do not tell */
  const char *refusal;   /* "this is a zip archive; ..": of what no reader takes; else NULL */
} eb_file_type;
eb_file_type eb_recognize(const char *data, size_t bytes);
/* What a file may be whose format has no opening of its own: OBJ, TetGen, or EB_FORMAT_AUTO. */
eb_mesh_format eb_guess(const char *data, size_t bytes);
/* EB_ERR_FORMAT, with what it is, for an empty file, one that no reader takes and one that opens as
 * another format than `format` (EB_FORMAT_AUTO: any). */
EB_MUST eb_error eb_refuse_other(const char *name, const char *data, size_t bytes,
                                 eb_mesh_format format);

/* Print and leave errors of the stream to the caller. */
EB_MUST eb_error eb_write_gmsh(FILE *file, const eb_mesh *mesh);
EB_MUST eb_error eb_write_vtk(FILE *file, const eb_mesh *mesh);
EB_MUST eb_error eb_write_obj(FILE *file, const eb_mesh *mesh);

#endif
