/* Mesh files. The format is told from the content, then from the extension.
 *
 * Every message names the file and the line (ascii) or byte (binary). Readers accept CRLF,
 * comments, blank lines and Fortran exponents (1.5D+03) as they occur in the wild, trust no header
 * (sizes are checked against the file before anything is allocated), and turn elements of negative
 * volume round where that makes the mesh sound. A file of another kind is refused by what it is.
 * Results are validated. */
#ifndef EB_MESH_IO_H
#define EB_MESH_IO_H

#include <stddef.h>

#include "problems/base/text.h"
#include "problems/mesh/mesh.h"

typedef enum eb_mesh_format {
  EB_FORMAT_AUTO,
  EB_FORMAT_MEDIT,  /* .mesh ascii */
  EB_FORMAT_GMSH22, /* .msh 2.2 ascii */
  EB_FORMAT_GMSH22_BINARY,
  EB_FORMAT_GMSH41, /* .msh 4.1 ascii */
  EB_FORMAT_GMSH41_BINARY,
  EB_FORMAT_TETGEN, /* .node + .ele, 0- or 1-based */
  EB_FORMAT_VEGA,   /* .veg */
  EB_FORMAT_VTK,    /* legacy ascii, 2.0 to 5.1 */
  EB_FORMAT_VTK_BINARY,
  EB_FORMAT_OBJ,
  EB_FORMAT_PLY,        /* ascii */
  EB_FORMAT_PLY_BINARY, /* little and big endian */
  EB_FORMAT_OFF,
  EB_FORMAT_STL, /* ascii */
  EB_FORMAT_STL_BINARY
} eb_mesh_format;

/* Reads a volume mesh of tetrahedra or of hexahedra. Points, edges and faces are ignored but for
 * their groups, curved elements keep their corners; prisms, pyramids, a mixture and a file
 * without volume elements are EB_ERR_FORMAT. Physical volumes, references, materials and VTK
 * region arrays become regions; physical points, curves and surfaces, and Vega sets that no
 * *REGION uses, become node sets. Unused nodes are dropped. TetGen: either file of the pair. The
 * caller destroys *out. */
EB_MUST eb_error eb_mesh_read(const char *path, eb_mesh **out);
/* Writes Gmsh 2.2 (.msh), legacy VTK (.vtk) or, of the surface, OBJ (.obj), by the extension.
 * Doubles come back exactly. Gmsh keeps regions, their names and node sets; VTK regions, names and
 * fibres. A planar mesh fits OBJ alone: EB_ERR_UNSUPPORTED. */
EB_MUST eb_error eb_mesh_write(const char *path, const eb_mesh *mesh);

/* Reads a triangle surface (polygons are fanned). STL vertices are joined when bitwise equal, and
 * facets that this collapses are dropped; so are those of other formats when every face has
 * vertices of its own. Unused vertices are dropped. */
EB_MUST eb_error eb_surface_read(const char *path, eb_surface **out);
/* The same, and what is worth knowing of how the file is read, a line each with its name in front:
 * constants of materials that are not used, vertices that are joined, elements that are reordered,
 * nodes of curved elements that are left out. Nothing is appended when there is nothing; `notes`
 * may be NULL. */
EB_MUST eb_error eb_mesh_read_noted(const char *path, eb_text *notes, eb_mesh **out);
EB_MUST eb_error eb_surface_read_noted(const char *path, eb_text *notes, eb_surface **out);
/* Those lines, and the diagnosis of a volume mesh (eb_mesh_diagnosis_print). Reads the whole file;
 * the caller frees *out, "" when there is nothing to say. */
EB_MUST eb_error eb_mesh_notes(const char *path, char **out);

/* "MEDIT", "binary Gmsh 4.1", ... */
const char *eb_mesh_format_name(eb_mesh_format format);

/* Whether the file holds a surface (OBJ, PLY, OFF, STL) rather than a volume mesh. */
EB_MUST eb_error eb_file_is_surface(const char *path, bool *out);

/* The same readers over memory, for fuzzing; `name` stands for the path in messages. TetGen takes
 * the .node text and then the .ele text, separated by one 0 byte. */
EB_MUST eb_error eb_mesh_parse(const char *name, eb_mesh_format format, const void *data,
                               size_t bytes, eb_mesh **out);
EB_MUST eb_error eb_surface_parse(const char *name, eb_mesh_format format, const void *data,
                                  size_t bytes, eb_surface **out);

#endif
