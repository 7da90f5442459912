/* The formats that are written: Gmsh 2.2, VTK and OBJ. 17 significant digits bring every double
 * back. */
#include <string.h>

#include "problems/mesh/io/formats.h"

static void print_position(FILE *file, const char *front, const double *x) {
  fprintf(file, "%s%.17g %.17g %.17g\n", front, x[0], x[1], x[2]);
}

/* The nodes of an element, counted from `base`, end its line. */
static void print_nodes(FILE *file, const int32_t *nodes, int count, int base) {
  for (int a = 0; a < count; a++) fprintf(file, " %d", nodes[a] + base);
  fputc('\n', file);
}

static const int32_t *nodes_of(const eb_mesh *mesh, int32_t e) {
  return mesh->elements + (size_t)e * mesh->type;
}

/* ---- VTK 3.0, which every version reads ------------------------------------------------------ */

/* VTK's code for what a line of text cannot hold. */
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

/* Left out where the reader finds the name by itself, since not every program reads text arrays. */
static void print_region_names(FILE *file, const eb_mesh *mesh) {
  if (mesh->region_count == 1 && strcmp(mesh->region_name[0], "body") == 0) return;
  fprintf(file, "FIELD FieldData 1\nregion_names 1 %d string\n", mesh->region_count);
  for (int32_t r = 0; r < mesh->region_count; r++) print_encoded(file, mesh->region_name[r]);
  fputc('\n', file);
}

eb_error eb_write_vtk(FILE *file, const eb_mesh *mesh) {
  int corners = (int)mesh->type;
  fputs("# vtk DataFile Version 3.0\nelastobench\nASCII\nDATASET UNSTRUCTURED_GRID\n", file);
  print_region_names(file, mesh);
  fprintf(file, "POINTS %d double\n", mesh->node_count);
  for (size_t i = 0; i < (size_t)mesh->node_count; i++) print_position(file, "", mesh->X + 3 * i);
  fprintf(file, "\nCELLS %d %lld\n", mesh->element_count,
          (long long)mesh->element_count * (corners + 1));
  for (int32_t e = 0; e < mesh->element_count; e++) {
    fprintf(file, "%d", corners);
    print_nodes(file, nodes_of(mesh, e), corners, 0);
  }
  fprintf(file, "\nCELL_TYPES %d\n", mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++)
    fputs(mesh->type == EB_TETRAHEDRON ? "10\n" : "12\n", file);
  fprintf(file, "\nCELL_DATA %d\nSCALARS region int 1\nLOOKUP_TABLE default\n",
          mesh->element_count);
  for (int32_t e = 0; e < mesh->element_count; e++) fprintf(file, "%d\n", mesh->region[e]);
  if (!mesh->fibre) return EB_OK;
  fputs("\nVECTORS fibre double\n", file);
  for (size_t e = 0; e < (size_t)mesh->element_count; e++)
    print_position(file, "", mesh->fibre + 3 * e);
  return EB_OK;
}

/* ---- Gmsh 2.2: regions are physical volumes, node sets physical points ----------------------- */

static void print_name(FILE *file, int dimension, int32_t tag, const char *name) {
  fprintf(file, "%d %d \"", dimension, tag);
  for (; *name; name++) fputc(*name == '"' ? '\'' : *name, file);
  fputs("\"\n", file);
}

static void print_element(FILE *file, int32_t number, int code, int32_t group, const int32_t *nodes,
                          int count) {
  fprintf(file, "%d %d 2 %d %d", number, code, group, group);
  print_nodes(file, nodes, count, 1);
}

eb_error eb_write_gmsh(FILE *file, const eb_mesh *mesh) {
  enum { POINT = 15, TETRAHEDRON = 4, HEXAHEDRON = 5 };
  int32_t points = 0, number = 0;
  fprintf(file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n",
          mesh->region_count + mesh->set_count);
  for (int32_t s = 0; s < mesh->set_count; s++) {
    print_name(file, 0, s + 1, mesh->sets[s].name);
    points += mesh->sets[s].count;
  }
  for (int32_t r = 0; r < mesh->region_count; r++) print_name(file, 3, r + 1, mesh->region_name[r]);
  fprintf(file, "$EndPhysicalNames\n$Nodes\n%d\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    fprintf(file, "%d ", i + 1);
    print_position(file, "", mesh->X + 3 * (size_t)i);
  }
  fprintf(file, "$EndNodes\n$Elements\n%lld\n", (long long)points + mesh->element_count);
  for (int32_t s = 0; s < mesh->set_count; s++)
    for (int32_t i = 0; i < mesh->sets[s].count; i++)
      print_element(file, ++number, POINT, s + 1, &mesh->sets[s].nodes[i], 1);
  const int code = mesh->type == EB_TETRAHEDRON ? TETRAHEDRON : HEXAHEDRON;
  for (int32_t e = 0; e < mesh->element_count; e++)
    print_element(file, ++number, code, mesh->region[e] + 1, nodes_of(mesh, e), (int)mesh->type);
  fputs("$EndElements\n", file);
  return EB_OK;
}

/* ---- OBJ: the surface ------------------------------------------------------------------------ */

eb_error eb_write_obj(FILE *file, const eb_mesh *mesh) {
  eb_surface *surface;
  EB_TRY(eb_mesh_surface(mesh, &surface));
  for (size_t v = 0; v < (size_t)surface->vertex_count; v++)
    print_position(file, "v ", surface->X + 3 * v);
  for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
    fputc('f', file);
    print_nodes(file, surface->triangles + 3 * t, 3, 1);
  }
  eb_surface_destroy(surface);
  return EB_OK;
}
