/* Mesh files of every format that is read, for the tests of the readers. The program itself writes
 * Gmsh 2.2, VTK and OBJ alone (eb_mesh_write). */
#ifndef TESTS_SUPPORT_MESH_FILES_H
#define TESTS_SUPPORT_MESH_FILES_H

#include "problems/mesh/io.h"

/* Doubles come back exactly. TetGen: STEM.node and STEM.ele, of the path STEM or STEM.node. */
EB_MUST eb_error mesh_file(const char *path, eb_mesh_format format, const eb_mesh *mesh);
/* Binary STL rounds to float. */
EB_MUST eb_error surface_file(const char *path, eb_mesh_format format, const eb_surface *surface);

#endif
