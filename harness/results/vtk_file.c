#include "harness/results/vtk_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "harness/print.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

static const struct {
  const char *name;
  size_t size;
} types[] = {[EB_VTK_UINT8] = {"UInt8", 1},
             [EB_VTK_INT32] = {"Int32", 4},
             [EB_VTK_INT64] = {"Int64", 8},
             [EB_VTK_FLOAT32] = {"Float32", 4},
             [EB_VTK_FLOAT64] = {"Float64", 8}};

/* ---- arrays ---------------------------------------------------------------------------------- */

/* An array is cut into blocks that are packed each for itself. In front of them stand, as 64-bit
 * numbers, how many there are, the bytes of one unpacked, those of the last one when it is shorter
 * (else 0), and the packed bytes of each. */
enum { BLOCK = 1 << 20, FAST = 1 /* level of zlib: higher ones gain little on positions */ };

static eb_error pack_blocks(const uint8_t *data, size_t size, eb_vtk_array *out) {
  size_t blocks = (size + BLOCK - 1) / BLOCK, head = 8 * (3 + blocks);
  uint64_t *header;
  EB_TRY(EB_NEW(out->bytes, head + blocks * compressBound(BLOCK)));
  header = (uint64_t *)(void *)out->bytes;
  header[0] = blocks;
  header[1] = BLOCK;
  header[2] = size % BLOCK;
  out->size = head;
  for (size_t b = 0; b < blocks; b++) {
    size_t length = b + 1 < blocks ? BLOCK : size - b * BLOCK;
    uLongf packed = compressBound(BLOCK);
    if (compress2(out->bytes + out->size, &packed, data + b * BLOCK, length, FAST) != Z_OK)
      return EB_ERROR(EB_ERR_LIBRARY, "zlib cannot pack '%s'", out->name);
    header[3 + b] = packed;
    out->size += packed;
  }
  uint8_t *fitting = realloc(out->bytes, out->size);
  if (fitting) out->bytes = fitting;
  return EB_OK;
}

eb_error eb_vtk_pack(const char *name, eb_vtk_type type, int components, size_t count,
                     const void *data, eb_vtk_array *out) {
  *out = (eb_vtk_array){.name = name, .type = type, .components = components};
  return pack_blocks(data, types[type].size * (size_t)components * count, out);
}

eb_error eb_vtk_pack_reals(const char *name, int bytes, int components, size_t count,
                           const double *data, eb_vtk_array *out) {
  EB_FREED float *single = NULL;
  if (bytes == sizeof *data) return eb_vtk_pack(name, EB_VTK_FLOAT64, components, count, data, out);
  *out = (eb_vtk_array){0};
  EB_TRY(EB_NEW(single, (size_t)components * count));
  for (size_t i = 0; i < (size_t)components * count; i++) single[i] = (float)data[i];
  return eb_vtk_pack(name, EB_VTK_FLOAT32, components, count, single, out);
}

void eb_vtk_array_clear(eb_vtk_array *array) {
  free(array->bytes);
  *array = (eb_vtk_array){0};
}

/* ---- cells ----------------------------------------------------------------------------------- */

static eb_error pack_connectivity(int width, int64_t count, eb_vtk_cells *out) {
  EB_FREED int32_t *nodes = NULL;
  EB_TRY(EB_NEW(nodes, count * width));
  for (int64_t i = 0; i < count * width; i++) nodes[i] = (int32_t)i;
  return eb_vtk_pack("connectivity", EB_VTK_INT32, 1, (size_t)(count * width), nodes,
                     &out->connectivity);
}

eb_error eb_vtk_pack_cells(eb_vtk_shape shape, int width, int64_t count, const int32_t *nodes,
                           eb_vtk_cells *out) {
  EB_FREED int64_t *offsets = NULL;
  EB_FREED uint8_t *shapes = NULL;
  *out = (eb_vtk_cells){.count = count};
  EB_TRY(EB_NEW(offsets, count));
  EB_TRY(EB_NEW(shapes, count));
  for (int64_t k = 0; k < count; k++) offsets[k] = (k + 1) * width;
  memset(shapes, (int)shape, (size_t)count);
  EB_TRY(nodes ? eb_vtk_pack("connectivity", EB_VTK_INT32, 1, (size_t)(count * width), nodes,
                             &out->connectivity)
               : pack_connectivity(width, count, out));
  EB_TRY(eb_vtk_pack("offsets", EB_VTK_INT64, 1, (size_t)count, offsets, &out->offsets));
  return eb_vtk_pack("types", EB_VTK_UINT8, 1, (size_t)count, shapes, &out->types);
}

void eb_vtk_cells_clear(eb_vtk_cells *cells) {
  eb_vtk_array_clear(&cells->connectivity);
  eb_vtk_array_clear(&cells->offsets);
  eb_vtk_array_clear(&cells->types);
}

/* ---- a grid ---------------------------------------------------------------------------------- */

/* Arrays that the XML has named, in the order in which they follow it. */
typedef struct appended {
  int count;
  uint64_t offset; /* of the next */
  const eb_vtk_array *arrays[2 * EB_VTK_MOST_ARRAYS + 4];
} appended;

static eb_error put_arrays(FILE *out, const char *section, const eb_vtk_array *const *arrays,
                           int count, appended *after) {
  fprintf(out, "      <%s>\n", section);
  for (int i = 0; i < count; i++) {
    fprintf(out, "        <DataArray type=\"%s\" Name=\"", types[arrays[i]->type].name);
    EB_TRY(eb_print_escaped(out, arrays[i]->name, eb_xml_attribute));
    fprintf(out, "\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
            arrays[i]->components, (unsigned long long)after->offset);
    after->offset += arrays[i]->size;
    after->arrays[after->count++] = arrays[i];
  }
  fprintf(out, "      </%s>\n", section);
  return EB_OK;
}

static eb_error put_grid(FILE *out, const eb_vtk_grid *grid) {
  static const uint16_t one = 1;
  const bool little = *(const uint8_t *)&one == 1;
  const eb_vtk_cells *cells = grid->cells;
  const eb_vtk_array *const of_cells[] = {&cells->connectivity, &cells->offsets, &cells->types};
  appended after = {0};
  fprintf(out,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
          "byte_order=\"%sEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n"
          "  <UnstructuredGrid>\n    <FieldData>\n      <DataArray type=\"Float64\" "
          "Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%.17g</DataArray>\n"
          "    </FieldData>\n    <Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
          little ? "Little" : "Big", grid->time, (long long)grid->points, (long long)cells->count);
  EB_TRY(put_arrays(out, "PointData", grid->of_points, grid->point_count, &after));
  EB_TRY(put_arrays(out, "CellData", grid->of_cells, grid->cell_count, &after));
  EB_TRY(put_arrays(out, "Points", &grid->position, 1, &after));
  EB_TRY(put_arrays(out, "Cells", of_cells, 3, &after));
  fprintf(out, "    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
  for (int i = 0; i < after.count; i++)
    fwrite(after.arrays[i]->bytes, 1, after.arrays[i]->size, out);
  fprintf(out, "\n  </AppendedData>\n</VTKFile>\n");
  return EB_OK;
}

eb_error eb_vtk_write(const char *path, const eb_vtk_grid *grid) {
  eb_output output;
  EB_TRY(eb_output_open(path, &output));
  return eb_output_close(&output, put_grid(output.file, grid));
}

/* ---- a collection ---------------------------------------------------------------------------- */

eb_error eb_vtk_collection_open(const char *path, eb_output *out) {
  EB_TRY(eb_output_open(path, out));
  fprintf(out->file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n"
                     "  <Collection>\n");
  return EB_OK;
}

eb_error eb_vtk_collect(const eb_output *collection, double time, int part, const char *name,
                        const char *file) {
  FILE *out = collection->file;
  fprintf(out, "    <DataSet timestep=\"%.17g\" part=\"%d\" name=\"%s\" file=\"", time, part, name);
  EB_TRY(eb_print_escaped(out, file, eb_xml_attribute));
  fprintf(out, "\"/>\n");
  return EB_OK;
}

eb_error eb_vtk_collection_close(eb_output *collection, eb_error error) {
  fprintf(collection->file, "  </Collection>\n</VTKFile>\n");
  return eb_output_close(collection, error);
}
