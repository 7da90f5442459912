/* Unstructured grids in VTK's XML format (.vtu), and collections of them over time (.pvd), for
 * ParaView, VTK, PyVista and meshio.
 *
 * Arrays stand behind the XML as VTK's "appended raw", packed by zlib: what does not change from
 * frame to frame is packed once and written with each. */
#ifndef EB_RESULTS_VTK_FILE_H
#define EB_RESULTS_VTK_FILE_H

#include <stdint.h>

#include "problems/base/file.h"

typedef enum eb_vtk_type {
  EB_VTK_UINT8,
  EB_VTK_INT32,
  EB_VTK_INT64,
  EB_VTK_FLOAT32,
  EB_VTK_FLOAT64
} eb_vtk_type;

/* Numbers of VTK for the shapes of cells. */
typedef enum eb_vtk_shape {
  EB_VTK_VERTEX = 1,
  EB_VTK_LINE = 3,
  EB_VTK_TRIANGLE = 5,
  EB_VTK_TETRAHEDRON = 10,
  EB_VTK_HEXAHEDRON = 12
} eb_vtk_shape;

/* An array, packed; start from {0}. */
typedef struct eb_vtk_array {
  const char *name; /* the caller's */
  eb_vtk_type type;
  int components;
  uint8_t *bytes; /* as the file has them, header of blocks included */
  size_t size;
} eb_vtk_array;

/* Packs count x components numbers of that type. The caller clears *out, also after an error. */
EB_MUST eb_error eb_vtk_pack(const char *name, eb_vtk_type type, int components, size_t count,
                             const void *data, eb_vtk_array *out);
/* The same of doubles, stored with `bytes` of 4 or 8 each. */
EB_MUST eb_error eb_vtk_pack_reals(const char *name, int bytes, int components, size_t count,
                                   const double *data, eb_vtk_array *out);
void eb_vtk_array_clear(eb_vtk_array *array);

/* `count` cells of one shape with so many nodes each: what a grid wants of them. */
typedef struct eb_vtk_cells {
  int64_t count;
  eb_vtk_array connectivity, offsets, types;
} eb_vtk_cells;
/* `nodes` is count x width; NULL: cell k has nodes width k, width k + 1, ... The caller clears
 * *out, also after an error. */
EB_MUST eb_error eb_vtk_pack_cells(eb_vtk_shape shape, int width, int64_t count,
                                   const int32_t *nodes, eb_vtk_cells *out);
void eb_vtk_cells_clear(eb_vtk_cells *cells);

enum { EB_VTK_MOST_ARRAYS = 8 };

/* A grid; its arrays are the caller's. */
typedef struct eb_vtk_grid {
  int64_t points;
  double time; /* s */
  const eb_vtk_array *position;
  const eb_vtk_cells *cells;
  int point_count, cell_count; /* of the arrays with a value a point, and a value a cell */
  const eb_vtk_array *of_points[EB_VTK_MOST_ARRAYS], *of_cells[EB_VTK_MOST_ARRAYS];
} eb_vtk_grid;

/* Writes a file; what was there before is replaced when it is whole. */
EB_MUST eb_error eb_vtk_write(const char *path, const eb_vtk_grid *grid);

/* A collection, which is written while its grids are: `file` at a time (s) is one part of those
 * that are shown together. Closing passes on the error that writing grids met, if any. */
EB_MUST eb_error eb_vtk_collection_open(const char *path, eb_output *out);
EB_MUST eb_error eb_vtk_collect(const eb_output *collection, double time, int part,
                                const char *name, const char *file);
EB_MUST eb_error eb_vtk_collection_close(eb_output *collection, eb_error error);

#endif
