/* Writers of all formats. 17 significant digits bring every double back. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "problems/mesh/io/formats.h"

/* Binary numbers of a given byte order. */

static inline void raw_put(FILE *file, uint64_t value, int bytes, bool big_endian) {
  unsigned char raw[8];
  for (int i = 0; i < bytes; i++) {
    raw[big_endian ? bytes - 1 - i : i] = (unsigned char)(value & 0xff);
    value >>= 8;
  }
  fwrite(raw, 1, (size_t)bytes, file);
}

static inline void raw_int(FILE *file, int32_t value, bool big_endian) {
  raw_put(file, (uint64_t)(int64_t)value, 4, big_endian);
}

static inline void raw_real(FILE *file, double value, bool big_endian) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  raw_put(file, bits, 8, big_endian);
}

/* ---- volumes --------------------------------------------------------------------------------- */

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

/* ---- Vega ------------------------------------------------------------------------------------ */

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

/* ---- VTK 3.0, which every version reads ------------------------------------------------------ */

static void put_int(FILE *file, bool binary, int32_t value, char after) {
  if (binary)
    raw_int(file, value, true);
  else
    fprintf(file, "%d%c", value, after);
}

static void put_rows(FILE *file, bool binary, const double *x, int32_t rows) {
  for (size_t i = 0; i < 3 * (size_t)rows; i++)
    if (binary)
      raw_real(file, x[i], true);
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

/* ---- Gmsh ------------------------------------------------------------------------------------ */

/* Gmsh 2.2 and 4.1. Regions are physical volumes, node sets physical points. */

enum { POINT = 15, TETRAHEDRON = 4, HEXAHEDRON = 5 };

typedef struct out {
  FILE *file;
  bool binary;
} out;

static void put_gmsh_int(out o, int64_t value, char after) {
  if (o.binary)
    raw_put(o.file, (uint64_t)value, 4, false);
  else
    fprintf(o.file, "%lld%c", (long long)value, after);
}

static void put_size(out o, int64_t value, char after) {
  if (o.binary)
    raw_put(o.file, (uint64_t)value, 8, false);
  else
    fprintf(o.file, "%lld%c", (long long)value, after);
}

static void put_real(out o, double value, char after) {
  if (o.binary)
    raw_real(o.file, value, false);
  else
    fprintf(o.file, "%.17g%c", value, after);
}

static void put_position(out o, const double x[3], char after) {
  put_real(o, x[0], ' ');
  put_real(o, x[1], ' ');
  put_real(o, x[2], after);
}

static void write_header(out o, const char *version) {
  fprintf(o.file, "$MeshFormat\n%s %d 8\n", version, o.binary);
  if (o.binary) {
    raw_put(o.file, 1, 4, false);
    fputc('\n', o.file);
  }
  fputs("$EndMeshFormat\n", o.file);
}

static void write_name(FILE *file, int dimension, int32_t tag, const char *name) {
  fprintf(file, "%d %d \"", dimension, tag);
  for (; *name; name++) fputc(*name == '"' ? '\'' : *name, file);
  fputs("\"\n", file);
}

static void write_names(FILE *file, const eb_mesh *mesh) {
  fprintf(file, "$PhysicalNames\n%d\n", mesh->region_count + mesh->set_count);
  for (int32_t s = 0; s < mesh->set_count; s++) write_name(file, 0, s + 1, mesh->sets[s].name);
  for (int32_t r = 0; r < mesh->region_count; r++) write_name(file, 3, r + 1, mesh->region_name[r]);
  fputs("$EndPhysicalNames\n", file);
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

typedef struct listed {
  int code, count;
  int32_t number, group;
  const int32_t *nodes;
} listed;

static void put_element22(out o, listed e) {
  if (o.binary) {
    put_gmsh_int(o, e.number, ' ');
  } else {
    put_gmsh_int(o, e.number, ' ');
    put_gmsh_int(o, e.code, ' ');
    put_gmsh_int(o, 2, ' ');
  }
  put_gmsh_int(o, e.group, ' ');
  put_gmsh_int(o, e.group, ' ');
  for (int a = 0; a < e.count; a++) put_gmsh_int(o, e.nodes[a] + 1, a == e.count - 1 ? '\n' : ' ');
}

static void put_block22(out o, int code, int32_t count) {
  if (!o.binary || count == 0) return;
  put_gmsh_int(o, code, ' ');
  put_gmsh_int(o, count, ' ');
  put_gmsh_int(o, 2, '\n');
}

void eb_write_gmsh22(FILE *file, const eb_mesh *mesh, bool binary) {
  out o = {file, binary};
  int32_t points = set_entries(mesh), number = 0;
  write_header(o, "2.2");
  write_names(file, mesh);
  fprintf(file, "$Nodes\n%d\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    put_gmsh_int(o, i + 1, ' ');
    put_position(o, mesh->X + 3 * (size_t)i, '\n');
  }
  fprintf(file, "%s$EndNodes\n$Elements\n%lld\n", binary ? "\n" : "",
          (long long)points + mesh->element_count);
  put_block22(o, POINT, points);
  for (int32_t s = 0; s < mesh->set_count; s++)
    for (int32_t i = 0; i < mesh->sets[s].count; i++)
      put_element22(o, (listed){POINT, 1, ++number, s + 1, &mesh->sets[s].nodes[i]});
  put_block22(o, code_of(mesh), mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    put_element22(o, (listed){code_of(mesh), (int)mesh->type, ++number, mesh->region[e] + 1,
                              mesh->elements + (size_t)e * mesh->type});
  fprintf(file, "%s$EndElements\n", binary ? "\n" : "");
}

/* ---- 4.1 ------------------------------------------------------------------------------------- */

/* An entity a line, as Gmsh itself insists. */
static void write_entities(out o, const eb_mesh *mesh) {
  double bounds[2][3];
  eb_mesh_bounds(mesh->X, mesh->node_count, bounds[0], bounds[1]);
  fputs("$Entities\n", o.file);
  put_size(o, mesh->set_count, ' ');
  put_size(o, 0, ' ');
  put_size(o, 0, ' ');
  put_size(o, mesh->region_count, '\n');
  for (int32_t s = 0; s < mesh->set_count; s++) {
    put_gmsh_int(o, s + 1, ' ');
    put_position(o, mesh->X + 3 * (size_t)(mesh->sets[s].count ? mesh->sets[s].nodes[0] : 0), ' ');
    put_size(o, 1, ' ');
    put_gmsh_int(o, s + 1, '\n');
  }
  for (int32_t r = 0; r < mesh->region_count; r++) {
    put_gmsh_int(o, r + 1, ' ');
    put_position(o, bounds[0], ' ');
    put_position(o, bounds[1], ' ');
    put_size(o, 1, ' ');
    put_gmsh_int(o, r + 1, ' ');
    put_size(o, 0, '\n');
  }
  fprintf(o.file, "%s$EndEntities\n", o.binary ? "\n" : "");
}

static void write_nodes41(out o, const eb_mesh *mesh) {
  fputs("$Nodes\n", o.file);
  put_size(o, 1, ' ');
  put_size(o, mesh->node_count, ' ');
  put_size(o, 1, ' ');
  put_size(o, mesh->node_count, '\n');
  put_gmsh_int(o, 3, ' ');
  put_gmsh_int(o, 1, ' ');
  put_gmsh_int(o, 0, ' ');
  put_size(o, mesh->node_count, '\n');
  for (int32_t i = 0; i < mesh->node_count; i++) put_size(o, i + 1, '\n');
  for (int32_t i = 0; i < mesh->node_count; i++) put_position(o, mesh->X + 3 * (size_t)i, '\n');
  fprintf(o.file, "%s$EndNodes\n", o.binary ? "\n" : "");
}

static void put_block41(out o, int dimension, int32_t entity, int code, int32_t count) {
  put_gmsh_int(o, dimension, ' ');
  put_gmsh_int(o, entity, ' ');
  put_gmsh_int(o, code, ' ');
  put_size(o, count, '\n');
}

static void put_element41(out o, int64_t number, const int32_t *nodes, int count) {
  put_size(o, number, ' ');
  for (int a = 0; a < count; a++) put_size(o, nodes[a] + 1, a == count - 1 ? '\n' : ' ');
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
  put_size(o, blocks, ' ');
  put_size(o, total, ' ');
  put_size(o, 1, ' ');
  put_size(o, total, '\n');
  for (int32_t s = 0; s < mesh->set_count; s++) {
    put_block41(o, 0, s + 1, POINT, mesh->sets[s].count);
    for (int32_t i = 0; i < mesh->sets[s].count; i++)
      put_element41(o, ++number, &mesh->sets[s].nodes[i], 1);
  }
  for (int32_t e = 0; e < mesh->element_count;) {
    int32_t end = run_end(mesh, e);
    put_block41(o, 3, mesh->region[e] + 1, code_of(mesh), end - e);
    for (; e < end; e++)
      put_element41(o, ++number, mesh->elements + (size_t)e * mesh->type, (int)mesh->type);
  }
  fprintf(o.file, "%s$EndElements\n", o.binary ? "\n" : "");
}

void eb_write_gmsh41(FILE *file, const eb_mesh *mesh, bool binary) {
  out o = {file, binary};
  write_header(o, "4.1");
  write_names(file, mesh);
  write_entities(o, mesh);
  write_nodes41(o, mesh);
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

void eb_write_obj(FILE *file, const eb_surface *surface) {
  print_rows(file, "v ", surface->X, surface->vertex_count);
  print_faces(file, "f", surface, 1);
}

void eb_write_off(FILE *file, const eb_surface *surface) {
  fprintf(file, "OFF\n%d %d 0\n", surface->vertex_count, surface->triangle_count);
  print_rows(file, "", surface->X, surface->vertex_count);
  print_faces(file, "3", surface, 0);
}

static void write_raw_ply(FILE *file, const eb_surface *surface) {
  for (size_t i = 0; i < 3 * (size_t)surface->vertex_count; i++)
    raw_real(file, surface->X[i], false);
  for (size_t i = 0; i < 3 * (size_t)surface->triangle_count; i++) {
    if (i % 3 == 0) fputc(3, file);
    raw_int(file, surface->triangles[i], false);
  }
}

void eb_write_ply(FILE *file, const eb_surface *surface, bool binary) {
  fprintf(file,
          "ply\nformat %s 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
          "property double z\nelement face %d\nproperty list uchar int vertex_indices\n"
          "end_header\n",
          binary ? "binary_little_endian" : "ascii", surface->vertex_count,
          surface->triangle_count);
  if (binary) {
    write_raw_ply(file, surface);
    return;
  }
  print_rows(file, "", surface->X, surface->vertex_count);
  print_faces(file, "3", surface, 0);
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

static void put_float(FILE *file, double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  raw_put(file, bits, 4, false);
}

static void write_raw_stl(FILE *file, const eb_surface *surface) {
  char header[80] = "binary STL";
  fwrite(header, 1, sizeof header, file);
  raw_int(file, surface->triangle_count, false);
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    double n[3];
    normal_of(surface, t, n);
    for (int d = 0; d < 3; d++) put_float(file, n[d]);
    for (int i = 0; i < 9; i++) put_float(file, vertex_of(surface, t, i / 3)[i % 3]);
    raw_put(file, 0, 2, false);
  }
}

void eb_write_stl(FILE *file, const eb_surface *surface, bool binary) {
  if (binary) {
    write_raw_stl(file, surface);
    return;
  }
  fputs("solid surface\n", file);
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    double n[3];
    normal_of(surface, t, n);
    fprintf(file, "facet normal %.9g %.9g %.9g\nouter loop\n", n[0], n[1], n[2]);
    for (int a = 0; a < 3; a++) print_rows(file, "vertex ", vertex_of(surface, t, a), 1);
    fputs("endloop\nendfacet\n", file);
  }
  fputs("endsolid surface\n", file);
}
