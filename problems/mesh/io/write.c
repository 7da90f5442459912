/* MEDIT, TetGen, Vega and VTK. 17 significant digits bring every double back. */
#include <string.h>

#include "problems/mesh/io/formats.h"
#include "problems/mesh/io/raw.h"

static void print_position(FILE *file, const double *x) {
  fprintf(file, "%.17g %.17g %.17g", x[0], x[1], x[2]);
}

static void print_nodes_of(FILE *file, const eb_mesh *mesh, int32_t e, int32_t base) {
  const int32_t *node = mesh->elements + (size_t)e * mesh->type;
  for (int a = 0; a < (int)mesh->type; a++) fprintf(file, " %d", node[a] + base);
}

void eb_write_medit(FILE *file, const eb_mesh *mesh) {
  fprintf(file, "MeshVersionFormatted 2\nDimension 3\n\nVertices\n%d\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    print_position(file, mesh->X + 3 * (size_t)i);
    fputs(" 0\n", file);
  }
  fprintf(file, "\n%s\n%d\n", mesh->type == EB_TETRAHEDRON ? "Tetrahedra" : "Hexahedra",
          mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    print_nodes_of(file, mesh, e, 1);
    fprintf(file, " %d\n", mesh->region[e]);
  }
  fputs("\nEnd\n", file);
}

void eb_write_tetgen_nodes(FILE *file, const eb_mesh *mesh) {
  fprintf(file, "%d 3 0 0\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    fprintf(file, "%d ", i);
    print_position(file, mesh->X + 3 * (size_t)i);
    fputc('\n', file);
  }
}

void eb_write_tetgen_elements(FILE *file, const eb_mesh *mesh) {
  fprintf(file, "%d 4 1\n", mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    fprintf(file, "%d", e);
    print_nodes_of(file, mesh, e, 0);
    fprintf(file, " %d\n", mesh->region[e]);
  }
}

/* ---- Vega --------------------------------------------------------------------------------------- */

static void print_vega_name(FILE *file, const char *name) {
  for (; *name; name++) fputc(*name == ',' || *name == '#' ? '_' : *name, file);
}

/* A material needs numbers; a mesh has none, so these stand in for them. */
static void print_vega_region(FILE *file, const eb_mesh *mesh, int32_t r) {
  fputs("\n*MATERIAL ", file);
  print_vega_name(file, mesh->region_name[r]);
  fputs("\nENU, 1000, 1e6, 0.45\n\n*SET ", file);
  fprintf(file, "elements_%d\n", r);
  int column = 0;
  for (int32_t e = 0; e < mesh->element_count; e++)
    if (mesh->region[e] == r)
      fprintf(file, "%s%d", column++ % 8 ? ", " : column > 1 ? ",\n" : "", e + 1);
  fprintf(file, "\n\n*REGION\nelements_%d, ", r);
  print_vega_name(file, mesh->region_name[r]);
  fputc('\n', file);
}

void eb_write_vega(FILE *file, const eb_mesh *mesh) {
  fprintf(file, "*VERTICES\n%d 3 0 0\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    fprintf(file, "%d ", i + 1);
    print_position(file, mesh->X + 3 * (size_t)i);
    fputc('\n', file);
  }
  fprintf(file, "\n*ELEMENTS\n%s\n%d %d 0\n", mesh->type == EB_TETRAHEDRON ? "TET" : "CUBIC",
          mesh->element_count, (int)mesh->type);
  for (int32_t e = 0; e < mesh->element_count; e++) {
    fprintf(file, "%d", e + 1);
    print_nodes_of(file, mesh, e, 1);
    fputc('\n', file);
  }
  for (int32_t r = 0; r < mesh->region_count; r++) print_vega_region(file, mesh, r);
}

/* ---- VTK 3.0, which every version reads ----------------------------------------------------------- */

static void put_int(FILE *file, bool binary, int32_t value, char after) {
  if (binary)
    eb_raw_int(file, value, true);
  else
    fprintf(file, "%d%c", value, after);
}

static void put_rows(FILE *file, bool binary, const double *x, int32_t rows) {
  for (size_t i = 0; i < 3 * (size_t)rows; i++)
    if (binary)
      eb_raw_real(file, x[i], true);
    else
      fprintf(file, "%.17g%c", x[i], i % 3 == 2 ? '\n' : ' ');
}

static void write_cells(FILE *file, const eb_mesh *mesh, bool binary) {
  int corners = (int)mesh->type;
  fprintf(file, "\nCELLS %d %lld\n", mesh->element_count,
          (long long)mesh->element_count * (corners + 1));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    put_int(file, binary, corners, ' ');
    for (int a = 0; a < corners; a++)
      put_int(file, binary, mesh->elements[(size_t)e * mesh->type + (size_t)a],
              a == corners - 1 ? '\n' : ' ');
  }
  fprintf(file, "\nCELL_TYPES %d\n", mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    put_int(file, binary, mesh->type == EB_TETRAHEDRON ? 10 : 12, '\n');
}

/* VTK's ascii code for what a line of text cannot hold. */
static void print_encoded(FILE *file, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c < 33 || c > 126 || c == '"' || c == '%')
      fprintf(file, "%%%02X", c);
    else
      fputc(c, file);
  }
  fputc('\n', file);
}

/* A text array: a line each in ascii; in binary its length in six bits below 11. Left out where the
 * reader finds the name by itself, since not every program reads text arrays. */
static void write_region_names(FILE *file, const eb_mesh *mesh, bool binary) {
  if (mesh->region_count == 1 && strcmp(mesh->region_name[0], "body") == 0) return;
  fprintf(file, "FIELD FieldData 1\nregion_names 1 %d string\n", mesh->region_count);
  for (int32_t r = 0; r < mesh->region_count; r++) {
    const char *name = mesh->region_name[r];
    if (binary) {
      fputc(0xc0 | (int)strlen(name), file);
      fputs(name, file);
    } else {
      print_encoded(file, name);
    }
  }
  fputc('\n', file);
}

void eb_write_vtk(FILE *file, const eb_mesh *mesh, bool binary) {
  fprintf(file, "# vtk DataFile Version 3.0\nelastobench\n%s\nDATASET UNSTRUCTURED_GRID\n",
          binary ? "BINARY" : "ASCII");
  write_region_names(file, mesh, binary);
  fprintf(file, "POINTS %d double\n", mesh->node_count);
  put_rows(file, binary, mesh->X, mesh->node_count);
  write_cells(file, mesh, binary);
  fprintf(file, "\nCELL_DATA %d\nSCALARS region int 1\nLOOKUP_TABLE default\n",
          mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++) put_int(file, binary, mesh->region[e], '\n');
  if (!mesh->fibre) return;
  fputs("\nVECTORS fibre double\n", file);
  put_rows(file, binary, mesh->fibre, mesh->element_count);
}
