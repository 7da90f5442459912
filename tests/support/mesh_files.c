#include "tests/support/mesh_files.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers and rows ------------------------------------------------------------------------ */

/* Where a writer prints: numbers as words, or as raw bytes of one order. */
typedef struct out {
  FILE *file;
  bool binary, big_endian;
} out;

static void put_raw(out o, uint64_t value, int bytes) {
  unsigned char raw[8];
  for (int i = 0; i < bytes; i++) {
    raw[o.big_endian ? bytes - 1 - i : i] = (unsigned char)(value & 0xff);
    value >>= 8;
  }
  fwrite(raw, 1, (size_t)bytes, o.file);
}

static void put_int(out o, int bytes, int64_t value, char after) {
  if (o.binary)
    put_raw(o, (uint64_t)value, bytes);
  else
    fprintf(o.file, "%lld%c", (long long)value, after);
}

/* `count` numbers, with `after` behind the last. */
static void put_reals(out o, const double *x, int count, char after) {
  for (int i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    if (o.binary)
      put_raw(o, bits, 8);
    else
      fprintf(o.file, "%.17g%c", x[i], i == count - 1 ? after : ' ');
  }
}

static void put_rows(out o, const double *x, int32_t rows) {
  for (size_t i = 0; i < (size_t)rows; i++) put_reals(o, x + 3 * i, 3, '\n');
}

/* The nodes of an element, counted from `base`, as a row's end. */
static void put_nodes(out o, int bytes, const int32_t *nodes, int count, int base) {
  for (int a = 0; a < count; a++) put_int(o, bytes, nodes[a] + base, a == count - 1 ? '\n' : ' ');
}

static const int32_t *nodes_of(const eb_mesh *mesh, int32_t e) {
  return mesh->elements + (size_t)e * mesh->type;
}

/* A line a node: its number, from `first` on unless that is negative, its position, `tail`. */
static void print_nodes(FILE *file, const eb_mesh *mesh, int32_t first, const char *tail) {
  for (int32_t i = 0; i < mesh->node_count; i++) {
    const double *x = mesh->X + 3 * (size_t)i;
    if (first >= 0) fprintf(file, "%d ", i + first);
    fprintf(file, "%.17g %.17g %.17g%s\n", x[0], x[1], x[2], tail);
  }
}

/* A line an element: its number, as that of nodes, its nodes from `base` on, its region. */
static void print_elements(FILE *file, const eb_mesh *mesh, int32_t first, int32_t base,
                           bool regions) {
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (first >= 0) fprintf(file, "%d", e + first);
    for (int a = 0; a < (int)mesh->type; a++) fprintf(file, " %d", nodes_of(mesh, e)[a] + base);
    if (regions) fprintf(file, " %d", mesh->region[e]);
    fputc('\n', file);
  }
}

/* ---- MEDIT, TetGen, Vega --------------------------------------------------------------------- */

static void write_medit(FILE *file, const eb_mesh *mesh, bool binary) {
  (void)binary;
  fprintf(file, "MeshVersionFormatted 2\nDimension 3\n\nVertices\n%d\n", mesh->node_count);
  print_nodes(file, mesh, -1, " 0");
  fprintf(file, "\n%s\n%d\n", mesh->type == EB_TETRAHEDRON ? "Tetrahedra" : "Hexahedra",
          mesh->element_count);
  print_elements(file, mesh, -1, 1, true);
  fputs("\nEnd\n", file);
}

static void write_tetgen(FILE *file, const eb_mesh *mesh, bool elements) {
  if (elements) {
    fprintf(file, "%d 4 1\n", mesh->element_count);
    print_elements(file, mesh, 0, 0, true);
  } else {
    fprintf(file, "%d 3 0 0\n", mesh->node_count);
    print_nodes(file, mesh, 0, "");
  }
}

static void print_vega_name(FILE *file, const char *name) {
  for (; *name; name++) fputc(*name == ',' || *name == '#' ? '_' : *name, file);
}

static void write_vega(FILE *file, const eb_mesh *mesh, bool binary) {
  (void)binary;
  fprintf(file, "*VERTICES\n%d 3 0 0\n", mesh->node_count);
  print_nodes(file, mesh, 1, "");
  fprintf(file, "\n*ELEMENTS\n%s\n%d %d 0\n", mesh->type == EB_TETRAHEDRON ? "TET" : "CUBIC",
          mesh->element_count, (int)mesh->type);
  print_elements(file, mesh, 1, 1, false);
  for (int32_t r = 0; r < mesh->region_count; r++) {
    fputs("\n*MATERIAL ", file);
    print_vega_name(file, mesh->region_name[r]);
    /* A material needs numbers; a mesh has none, so these stand in for them. */
    fprintf(file, "\nENU, 1000, 1e6, 0.45\n\n*SET elements_%d\n", r);
    int column = 0;
    for (int32_t e = 0; e < mesh->element_count; e++)
      if (mesh->region[e] == r)
        fprintf(file, "%s%d", column++ % 8 ? ", " : column > 1 ? ",\n" : "", e + 1);
    fprintf(file, "\n\n*REGION\nelements_%d, ", r);
    print_vega_name(file, mesh->region_name[r]);
    fputc('\n', file);
  }
}

/* ---- VTK 3.0, which every version reads ------------------------------------------------------ */

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

static void write_vtk(FILE *file, const eb_mesh *mesh, bool binary) {
  out o = {file, binary, .big_endian = true};
  int corners = (int)mesh->type;
  fprintf(file, "# vtk DataFile Version 3.0\nelastobench\n%s\nDATASET UNSTRUCTURED_GRID\n",
          binary ? "BINARY" : "ASCII");
  write_region_names(file, mesh, binary);
  fprintf(file, "POINTS %d double\n", mesh->node_count);
  put_rows(o, mesh->X, mesh->node_count);
  fprintf(file, "\nCELLS %d %lld\n", mesh->element_count,
          (long long)mesh->element_count * (corners + 1));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    put_int(o, 4, corners, ' ');
    put_nodes(o, 4, nodes_of(mesh, e), corners, 0);
  }
  fprintf(file, "\nCELL_TYPES %d\n", mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    put_int(o, 4, mesh->type == EB_TETRAHEDRON ? 10 : 12, '\n');
  fprintf(file, "\nCELL_DATA %d\nSCALARS region int 1\nLOOKUP_TABLE default\n",
          mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++) put_int(o, 4, mesh->region[e], '\n');
  if (!mesh->fibre) return;
  fputs("\nVECTORS fibre double\n", file);
  put_rows(o, mesh->fibre, mesh->element_count);
}

/* ---- Gmsh ------------------------------------------------------------------------------------ */

/* Gmsh 2.2 and 4.1. Regions are physical volumes, node sets physical points. */

enum { POINT = 15, TETRAHEDRON = 4, HEXAHEDRON = 5 };

/* A row of numbers: `kinds` has i for an int of 4 bytes, z for a size of 8. */
static void put_row(out o, const char *kinds, const int64_t *values, char after) {
  for (; *kinds; kinds++) put_int(o, *kinds == 'i' ? 4 : 8, *values++, kinds[1] ? ' ' : after);
}
#define ROW(...) ((const int64_t[]){__VA_ARGS__})

static void write_name(FILE *file, int dimension, int32_t tag, const char *name) {
  fprintf(file, "%d %d \"", dimension, tag);
  for (; *name; name++) fputc(*name == '"' ? '\'' : *name, file);
  fputs("\"\n", file);
}

static void write_format_and_names(out o, const char *version, const eb_mesh *mesh) {
  fprintf(o.file, "$MeshFormat\n%s %d 8\n", version, o.binary);
  if (o.binary) put_raw(o, 1, 4);
  fprintf(o.file, "%s$EndMeshFormat\n$PhysicalNames\n%d\n", o.binary ? "\n" : "",
          mesh->region_count + mesh->set_count);
  for (int32_t s = 0; s < mesh->set_count; s++) write_name(o.file, 0, s + 1, mesh->sets[s].name);
  for (int32_t r = 0; r < mesh->region_count; r++)
    write_name(o.file, 3, r + 1, mesh->region_name[r]);
  fputs("$EndPhysicalNames\n", o.file);
}

static int32_t set_entries(const eb_mesh *mesh) {
  int32_t count = 0;
  for (int32_t s = 0; s < mesh->set_count; s++) count += mesh->sets[s].count;
  return count;
}

static int code_of(const eb_mesh *mesh) {
  return mesh->type == EB_TETRAHEDRON ? TETRAHEDRON : HEXAHEDRON;
}

/* ---- 2.2 ------------------------------------------------------------------------------------- */

/* Binary elements stand in blocks with a common header, which ascii ones repeat. */
static void put_block22(out o, int code, int32_t count) {
  if (o.binary && count > 0) put_row(o, "iii", ROW(code, count, 2), '\n');
}

static void put_element22(out o, int code, int32_t number, int32_t group, const int32_t *nodes,
                          int count) {
  put_int(o, 4, number, ' ');
  if (!o.binary) put_row(o, "ii", ROW(code, 2), ' ');
  put_row(o, "ii", ROW(group, group), ' ');
  put_nodes(o, 4, nodes, count, 1);
}

static void write_gmsh22(FILE *file, const eb_mesh *mesh, bool binary) {
  out o = {file, binary, false};
  int32_t points = set_entries(mesh), number = 0;
  write_format_and_names(o, "2.2", mesh);
  fprintf(file, "$Nodes\n%d\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    put_int(o, 4, i + 1, ' ');
    put_reals(o, mesh->X + 3 * (size_t)i, 3, '\n');
  }
  fprintf(file, "%s$EndNodes\n$Elements\n%lld\n", binary ? "\n" : "",
          (long long)points + mesh->element_count);
  put_block22(o, POINT, points);
  for (int32_t s = 0; s < mesh->set_count; s++)
    for (int32_t i = 0; i < mesh->sets[s].count; i++)
      put_element22(o, POINT, ++number, s + 1, &mesh->sets[s].nodes[i], 1);
  put_block22(o, code_of(mesh), mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    put_element22(o, code_of(mesh), ++number, mesh->region[e] + 1, nodes_of(mesh, e),
                  (int)mesh->type);
  fprintf(file, "%s$EndElements\n", binary ? "\n" : "");
}

/* ---- 4.1 ------------------------------------------------------------------------------------- */

/* An entity a line, as Gmsh itself insists. */
static void write_entities(out o, const eb_mesh *mesh) {
  double bounds[6];
  eb_mesh_bounds(mesh->X, mesh->node_count, bounds, bounds + 3);
  fputs("$Entities\n", o.file);
  put_row(o, "zzzz", ROW(mesh->set_count, 0, 0, mesh->region_count), '\n');
  for (int32_t s = 0; s < mesh->set_count; s++) {
    int32_t node = mesh->sets[s].count ? mesh->sets[s].nodes[0] : 0;
    put_int(o, 4, s + 1, ' ');
    put_reals(o, mesh->X + 3 * (size_t)node, 3, ' ');
    put_row(o, "zi", ROW(1, s + 1), '\n');
  }
  for (int32_t r = 0; r < mesh->region_count; r++) {
    put_int(o, 4, r + 1, ' ');
    put_reals(o, bounds, 6, ' ');
    put_row(o, "ziz", ROW(1, r + 1, 0), '\n');
  }
  fprintf(o.file, "%s$EndEntities\n", o.binary ? "\n" : "");
}

static void put_element41(out o, int64_t number, const int32_t *nodes, int count) {
  put_int(o, 8, number, ' ');
  put_nodes(o, 8, nodes, count, 1);
}

/* One past the run of elements of one region that starts at e: a block each keeps their order. */
static int32_t run_end(const eb_mesh *mesh, int32_t e) {
  int32_t end = e + 1;
  while (end < mesh->element_count && mesh->region[end] == mesh->region[e]) end++;
  return end;
}

static void write_elements41(out o, const eb_mesh *mesh) {
  int64_t blocks = mesh->set_count, number = 0;
  int64_t total = (int64_t)mesh->element_count + set_entries(mesh);
  for (int32_t e = 0; e < mesh->element_count; e = run_end(mesh, e)) blocks++;
  fputs("$Elements\n", o.file);
  put_row(o, "zzzz", ROW(blocks, total, 1, total), '\n');
  for (int32_t s = 0; s < mesh->set_count; s++) {
    put_row(o, "iiiz", ROW(0, s + 1, POINT, mesh->sets[s].count), '\n');
    for (int32_t i = 0; i < mesh->sets[s].count; i++)
      put_element41(o, ++number, &mesh->sets[s].nodes[i], 1);
  }
  for (int32_t e = 0; e < mesh->element_count;) {
    int32_t end = run_end(mesh, e);
    put_row(o, "iiiz", ROW(3, mesh->region[e] + 1, code_of(mesh), end - e), '\n');
    for (; e < end; e++) put_element41(o, ++number, nodes_of(mesh, e), (int)mesh->type);
  }
  fprintf(o.file, "%s$EndElements\n", o.binary ? "\n" : "");
}

static void write_gmsh41(FILE *file, const eb_mesh *mesh, bool binary) {
  out o = {file, binary, false};
  write_format_and_names(o, "4.1", mesh);
  write_entities(o, mesh);
  fputs("$Nodes\n", file);
  put_row(o, "zzzz", ROW(1, mesh->node_count, 1, mesh->node_count), '\n');
  put_row(o, "iiiz", ROW(3, 1, 0, mesh->node_count), '\n');
  for (int32_t i = 0; i < mesh->node_count; i++) put_int(o, 8, i + 1, '\n');
  put_rows(o, mesh->X, mesh->node_count);
  fprintf(file, "%s$EndNodes\n", binary ? "\n" : "");
  write_elements41(o, mesh);
}

/* ---- surfaces -------------------------------------------------------------------------------- */

/* OBJ, PLY, OFF and STL. Binary STL holds floats; the others bring every double back. */

static const double *vertex_of(const eb_surface *surface, int32_t t, int a) {
  return surface->X + 3 * (size_t)surface->triangles[3 * (size_t)t + (size_t)a];
}

static void print_rows(FILE *file, const char *front, const double *x, int32_t rows) {
  for (size_t i = 0; i < (size_t)rows; i++)
    fprintf(file, "%s%.17g %.17g %.17g\n", front, x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}

static void print_faces(FILE *file, const char *front, const eb_surface *surface, int32_t base) {
  for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * t;
    fprintf(file, "%s %d %d %d\n", front, corner[0] + base, corner[1] + base, corner[2] + base);
  }
}

static void write_obj(FILE *file, const eb_surface *surface, bool binary) {
  (void)binary;
  print_rows(file, "v ", surface->X, surface->vertex_count);
  print_faces(file, "f", surface, 1);
}

static void write_off(FILE *file, const eb_surface *surface, bool binary) {
  (void)binary;
  fprintf(file, "OFF\n%d %d 0\n", surface->vertex_count, surface->triangle_count);
  print_rows(file, "", surface->X, surface->vertex_count);
  print_faces(file, "3", surface, 0);
}

static void write_ply(FILE *file, const eb_surface *surface, bool binary) {
  out o = {file, binary, false};
  fprintf(file,
          "ply\nformat %s 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
          "property double z\nelement face %d\nproperty list uchar int vertex_indices\n"
          "end_header\n",
          binary ? "binary_little_endian" : "ascii", surface->vertex_count,
          surface->triangle_count);
  put_rows(o, surface->X, surface->vertex_count);
  for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
    put_int(o, 1, 3, ' ');
    put_nodes(o, 4, surface->triangles + 3 * t, 3, 0);
  }
}

/* ---- STL ------------------------------------------------------------------------------------- */

static void normal_of(const eb_surface *surface, int32_t t, double n[3]) {
  const double *a = vertex_of(surface, t, 0), *b = vertex_of(surface, t, 1);
  const double *c = vertex_of(surface, t, 2);
  double length = 0;
  for (int d = 0; d < 3; d++) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    n[d] = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
  }
  length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int d = 0; d < 3; d++) n[d] = length > 0 ? n[d] / length : 0;
}

static void put_floats(out o, const double *x) {
  for (int d = 0; d < 3; d++) {
    float narrow = (float)x[d];
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_raw(o, bits, 4);
  }
}

static void write_stl(FILE *file, const eb_surface *surface, bool binary) {
  static const char header[80] = "binary STL";
  out o = {file, binary, false};
  if (binary) {
    fwrite(header, 1, sizeof header, file);
    put_raw(o, (uint64_t)surface->triangle_count, 4);
  } else {
    fputs("solid surface\n", file);
  }
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    double n[3];
    normal_of(surface, t, n);
    if (binary) {
      put_floats(o, n);
      for (int a = 0; a < 3; a++) put_floats(o, vertex_of(surface, t, a));
      put_raw(o, 0, 2);
    } else {
      fprintf(file, "facet normal %.9g %.9g %.9g\nouter loop\n", n[0], n[1], n[2]);
      for (int a = 0; a < 3; a++) print_rows(file, "vertex ", vertex_of(surface, t, a), 1);
      fputs("endloop\nendfacet\n", file);
    }
  }
  if (!binary) fputs("endsolid surface\n", file);
}

/* ---- files ----------------------------------------------------------------------------------- */

static eb_error open_file(const char *path, FILE **file) {
  *file = fopen(path, "wb");
  return *file ? EB_OK : EB_ERROR(EB_ERR_IO, "cannot write %s: %s", path, strerror(errno));
}

static const struct {
  void (*volume)(FILE *, const eb_mesh *, bool binary);
  void (*surface)(FILE *, const eb_surface *, bool binary);
  bool binary;
} writers[] = {
    [EB_FORMAT_MEDIT] = {write_medit, NULL, false},
    [EB_FORMAT_GMSH22] = {write_gmsh22, NULL, false},
    [EB_FORMAT_GMSH22_BINARY] = {write_gmsh22, NULL, true},
    [EB_FORMAT_GMSH41] = {write_gmsh41, NULL, false},
    [EB_FORMAT_GMSH41_BINARY] = {write_gmsh41, NULL, true},
    [EB_FORMAT_VEGA] = {write_vega, NULL, false},
    [EB_FORMAT_VTK] = {write_vtk, NULL, false},
    [EB_FORMAT_VTK_BINARY] = {write_vtk, NULL, true},
    [EB_FORMAT_OBJ] = {NULL, write_obj, false},
    [EB_FORMAT_PLY] = {NULL, write_ply, false},
    [EB_FORMAT_PLY_BINARY] = {NULL, write_ply, true},
    [EB_FORMAT_OFF] = {NULL, write_off, false},
    [EB_FORMAT_STL] = {NULL, write_stl, false},
    [EB_FORMAT_STL_BINARY] = {NULL, write_stl, true},
};

static eb_error write_pair(const char *path, const eb_mesh *mesh) {
  static const char *const endings[] = {".node", ".ele"};
  const char *dot = strrchr(path, '.');
  int stem = dot && strcmp(dot, endings[0]) == 0 ? (int)(dot - path) : (int)strlen(path);
  for (int k = 0; k < 2; k++) {
    char name[256];
    FILE *file;
    snprintf(name, sizeof name, "%.*s%s", stem, path, endings[k]);
    EB_TRY(open_file(name, &file));
    write_tetgen(file, mesh, k == 1);
    fclose(file);
  }
  return EB_OK;
}

eb_error mesh_file(const char *path, eb_mesh_format format, const eb_mesh *mesh) {
  FILE *file;
  if (format == EB_FORMAT_TETGEN) return write_pair(path, mesh);
  EB_TRY(open_file(path, &file));
  writers[format].volume(file, mesh, writers[format].binary);
  fclose(file);
  return EB_OK;
}

eb_error surface_file(const char *path, eb_mesh_format format, const eb_surface *surface) {
  FILE *file;
  EB_TRY(open_file(path, &file));
  writers[format].surface(file, surface, writers[format].binary);
  fclose(file);
  return EB_OK;
}
