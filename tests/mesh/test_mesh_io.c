/* Mesh files: round trips of every format, and files as they occur in the wild. */
#include "problems/mesh/io.h"

#include <locale.h>
#include <stdint.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "tests/support/mesh_files.h"
#include "tests/support/random.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static void write_text(const char *name, const char *text) {
  write_bytes(name, text, strlen(text));
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool same_bytes(const void *a, const void *b, size_t bytes) {
  return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/* Counts, positions, connectivity and regions, bit by bit. */
static bool same_mesh(const eb_mesh *a, const eb_mesh *b) {
  if (a->type != b->type || a->node_count != b->node_count || a->element_count != b->element_count)
    return false;
  size_t nodes = (size_t)a->node_count, elements = (size_t)a->element_count;
  return same_bytes(a->X, b->X, 24 * nodes) &&
         same_bytes(a->elements, b->elements, 4 * elements * a->type) &&
         same_bytes(a->region, b->region, 4 * elements) && a->region_count == b->region_count;
}

static bool same_names(const eb_mesh *a, const eb_mesh *b) {
  for (int32_t r = 0; r < a->region_count; r++)
    if (strcmp(a->region_name[r], b->region_name[r]) != 0) return false;
  return true;
}

static bool same_sets(const eb_mesh *a, const eb_mesh *b) {
  if (a->set_count != b->set_count) return false;
  for (int32_t s = 0; s < a->set_count; s++) {
    const eb_node_set *set = eb_mesh_set(b, a->sets[s].name);
    if (!set || set->count != a->sets[s].count ||
        !same_bytes(set->nodes, a->sets[s].nodes, 4 * (size_t)set->count))
      return false;
  }
  return true;
}

static bool same_surface(const eb_surface *a, const eb_surface *b) {
  return a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count &&
         same_bytes(a->X, b->X, 24 * (size_t)a->vertex_count) &&
         same_bytes(a->triangles, b->triangles, 12 * (size_t)a->triangle_count);
}

/* ---- round trips ----------------------------------------------------------------------------- */

/* A block whose positions use all digits of a double, with two interleaved regions. */
static eb_mesh *block(bool hexahedra) {
  const eb_grid grid = {.cubes = {3, 2, 2}, .origin = {-1e-3, 7, 0}, .size = {1, 1e-5 + 2, 3e4}};
  static const char *const names[] = {"soft tissue 5%", "bone"};
  eb_mesh *mesh;
  tap_require(hexahedra ? eb_generate_hexahedra(&grid, &mesh) : eb_generate_tets6(&grid, &mesh),
              "a block");
  for (int32_t i = 0; i < 3 * mesh->node_count; i++)
    mesh->X[i] = mesh->X[i] * (1 + 1e-7 * sin(3 * i)) + 1e-9 * cos(i);
  for (int32_t e = 0; e < mesh->element_count; e++) mesh->region[e] = e % 3 == 1;
  tap_require(eb_mesh_name_regions(mesh, 2, names), "names");
  return mesh;
}

typedef struct carried {
  eb_mesh_format format;
  const char *file;
  bool names, sets, hexahedra;
} carried;

static const carried volumes[] = {
    {EB_FORMAT_MEDIT, "m.mesh", false, false, true},
    {EB_FORMAT_GMSH22, "m22.msh", true, true, true},
    {EB_FORMAT_GMSH22_BINARY, "m22b.msh", true, true, true},
    {EB_FORMAT_GMSH41, "m41.msh", true, true, true},
    {EB_FORMAT_GMSH41_BINARY, "m41b.msh", true, true, true},
    {EB_FORMAT_TETGEN, "m.node", false, false, false},
    {EB_FORMAT_VEGA, "m.veg", true, false, true},
    {EB_FORMAT_VTK, "m.vtk", true, false, true},
    {EB_FORMAT_VTK_BINARY, "mb.vtk", true, false, true},
};

static void round_trip(const carried *c, bool hexahedra) {
  eb_mesh *mesh = block(hexahedra), *back = NULL;
  bool surface = true;
  const char *kind = hexahedra ? "hexahedra" : "tetrahedra";
  tap_succeeds(mesh_file(in_folder(c->file), c->format, mesh), "a mesh is written");
  if (tap_succeeds(eb_mesh_read(in_folder(c->file), &back), "and read again")) {
    tap_ok(same_mesh(mesh, back), "%s: %s come back bit by bit", c->file, kind);
    if (c->names) tap_ok(same_names(mesh, back), "%s: so do the names of regions", c->file);
    if (c->sets) tap_ok(same_sets(mesh, back), "%s: so do the node sets", c->file);
    if (c->names && c->sets)
      tap_ok(eb_mesh_hash(mesh) == eb_mesh_hash(back), "%s: the hashes agree", c->file);
  }
  tap_succeeds(eb_file_is_surface(in_folder(c->file), &surface), "the format is told");
  tap_ok(!surface, "%s is a volume mesh", c->file);
  eb_mesh_destroy(back);
  eb_mesh_destroy(mesh);
}

static void test_volume_round_trips(void) {
  for (size_t v = 0; v < sizeof volumes / sizeof *volumes; v++) {
    round_trip(&volumes[v], false);
    if (volumes[v].hexahedra) round_trip(&volumes[v], true);
  }
  eb_mesh *back = NULL;
  tap_succeeds(eb_mesh_read(in_folder("m.ele"), &back), "TetGen by its .ele file");
  eb_mesh_destroy(back);
}

/* Gmsh itself reads the entities of an ascii file line by line. */
static void test_entity_lines(void) {
  eb_mesh *mesh = block(false);
  char line[256];
  int lines = -1, sets = mesh->set_count;
  bool inside = false;
  FILE *file = fopen(in_folder("m41.msh"), "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strcmp(line, "$EndEntities\n") == 0) break;
    lines += inside;
    inside = inside || strcmp(line, "$Entities\n") == 0;
  }
  if (file) fclose(file);
  tap_ok(lines == sets + 2, "Gmsh 4.1: a line for each of %d sets and 2 regions (%d)", sets, lines);
  eb_mesh_destroy(mesh);
}

static void test_fibres(void) {
  eb_mesh *mesh = block(false), *back = NULL;
  tap_require(EB_NEW(mesh->fibre, 3 * mesh->element_count), "fibres");
  for (int32_t e = 0; e < mesh->element_count; e++) {
    mesh->fibre[3 * e] = cos(e);
    mesh->fibre[3 * e + 1] = sin(e);
  }
  for (int binary = 0; binary < 2; binary++) {
    const char *path = in_folder("fibre.vtk");
    tap_succeeds(mesh_file(path, binary ? EB_FORMAT_VTK_BINARY : EB_FORMAT_VTK, mesh), "VTK");
    if (tap_succeeds(eb_mesh_read(in_folder("fibre.vtk"), &back), "with fibres"))
      tap_ok(back->fibre && same_bytes(mesh->fibre, back->fibre, 24 * (size_t)mesh->element_count),
             "fibres come back, %s", binary ? "binary" : "ascii");
    eb_mesh_destroy(back);
    back = NULL;
  }
  eb_mesh_destroy(mesh);
}

static void test_surface_round_trips(void) {
  static const struct {
    eb_mesh_format format;
    const char *file;
    bool exact;
  } formats[] = {{EB_FORMAT_OBJ, "s.obj", true},        {EB_FORMAT_PLY, "s.ply", true},
                 {EB_FORMAT_PLY_BINARY, "b.ply", true}, {EB_FORMAT_OFF, "s.off", true},
                 {EB_FORMAT_STL, "s.stl", false},       {EB_FORMAT_STL_BINARY, "b.stl", false}};
  eb_mesh *mesh = block(false);
  eb_surface *surface, *back = NULL, *again = NULL;
  tap_require(eb_mesh_surface(mesh, &surface), "a surface");
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    bool told = false;
    tap_succeeds(surface_file(in_folder(formats[f].file), formats[f].format, surface),
                 "a surface is written");
    tap_succeeds(eb_file_is_surface(in_folder(formats[f].file), &told), "the format is told");
    tap_ok(told, "%s is a surface", formats[f].file);
    if (!tap_succeeds(eb_surface_read(in_folder(formats[f].file), &back), "and read again"))
      continue;
    if (formats[f].exact) {
      tap_ok(same_surface(surface, back), "%s comes back bit by bit", formats[f].file);
    } else {
      /* STL orders vertices by facet: the counts and a second trip tell. */
      tap_ok(back->vertex_count == surface->vertex_count &&
                 back->triangle_count == surface->triangle_count,
             "%s: the vertices are joined again", formats[f].file);
      tap_succeeds(eb_surface_validate(back, true), "closed");
      tap_succeeds(surface_file(in_folder("again.stl"), formats[f].format, back), "again");
      tap_succeeds(eb_surface_read(in_folder("again.stl"), &again), "read");
      tap_ok(again && same_surface(back, again), "%s: a second trip is exact", formats[f].file);
      eb_surface_destroy(again);
      again = NULL;
    }
    eb_surface_destroy(back);
    back = NULL;
  }
  eb_surface_destroy(surface);
  eb_mesh_destroy(mesh);
}

/* ---- volume files in the wild ---------------------------------------------------------------- */

static eb_mesh *parsed(eb_mesh_format format, const char *text, const char *what) {
  eb_mesh *mesh = NULL;
  tap_succeeds(eb_mesh_parse("wild", format, text, strlen(text), &mesh), what);
  return mesh;
}

static void check_counts(const eb_mesh *mesh, int32_t nodes, int32_t elements, double volume,
                         const char *what) {
  if (!tap_ok(mesh && mesh->node_count == nodes && mesh->element_count == elements, "%s: counts",
              what))
    return;
  double sum = 0;
  for (int32_t e = 0; e < elements; e++) sum += eb_mesh_element_volume(mesh, mesh->X, e);
  tap_near(sum, volume, 1e-15 * fabs(volume) + 1e-300, what);
}

static void test_medit(void) {
  eb_mesh *mesh =
      parsed(EB_FORMAT_AUTO,
             "\xef\xbb\xbf# a comment\r\nMeshVersionFormatted 1\r\n\r\nDimension\r\n3\r\n"
             "Tetrahedra 2\r\n1 2 3 4 5\r\n\t2 3 4 5 -1 # inline\r\n"
             "Edges\r\n1\r\n1 2 0\r\nNormals 1\r\n0 0 1e0\r\nCorners\r\n2 1 2\r\n"
             "Vertices\r\n5\r\n0 0 0 0\r\n1.5D+00 0 0 1\r\n0 1 0. 2\r\n0 0 +1d0 3\r\n"
             "1.5 1 1 4\r\nEnd",
             "MEDIT with a byte order mark, CRLF, comments, Fortran exponents");
  /* 1.5/6 + the tetrahedron of (1.5,0,0), (0,1,0), (0,0,1), (1.5,1,1): twice as large. */
  check_counts(mesh, 5, 2, 0.75, "sections in any order");
  if (mesh)
    tap_ok(mesh->region_count == 2 && strcmp(mesh->region_name[0], "region-1") == 0 &&
               mesh->region[0] == 1 && mesh->region[1] == 0,
           "references become regions in ascending order");
  eb_mesh_destroy(mesh);

  mesh = parsed(EB_FORMAT_MEDIT,
                "MeshVersionFormatted 2 Dimension 3 Vertices 5 0 0 0 0 9 9 9 0 1 0 0 0 0 1 0 0 0 0 "
                "1 0 Tetrahedra 1 1 4 3 5 7",
                "MEDIT without lines or End");
  check_counts(mesh, 4, 1, 1.0 / 6, "a left-handed file is turned round, an unused node dropped");
  if (mesh) tap_ok(strcmp(mesh->region_name[0], "body") == 0, "one region is the body");
  eb_mesh_destroy(mesh);

  mesh = parsed(EB_FORMAT_MEDIT,
                "MeshVersionFormatted 2\nDimension 3\nVertices\n10\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
                "0 0 1 0\n.5 0 0 0\n.5 .5 0 0\n0 .5 0 0\n0 0 .5 0\n.5 0 .5 0\n0 .5 .5 0\n"
                "TetrahedraP2\n1\n1 2 3 4 5 6 7 8 9 10 0\nEnd\n",
                "MEDIT with curved tetrahedra");
  check_counts(mesh, 4, 1, 1.0 / 6, "which keep their corners");
  eb_mesh_destroy(mesh);
}

static void test_gmsh_text(void) {
  eb_mesh *mesh = parsed(
      EB_FORMAT_AUTO,
      "$Comments\nanything $ goes\n$EndComments\n$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
      "$PhysicalNames\n3\n2 7 \"fixed face\"\n3 4 \"jelly\"\n3 9 \"unused\"\n$EndPhysicalNames\n"
      "$Nodes\n5\n10 0 0 0\n2000000000 1 0 0\n7 0 1 0\n900 0 0 1\n8 1 1 1\n$EndNodes\n"
      "$Elements\n5\n1 15 2 3 1 900\n2 2 2 7 1 10 7 2000000000\n3 2 2 0 1 10 7 900\n"
      "4 4 2 4 1 10 2000000000 7 900\n5 4 3 4 1 0 2000000000 7 900 8\n$EndElements\n"
      "$NodeData\n1\n\"x\"\n$EndNodeData\n",
      "Gmsh 2.2 with sparse numbers and physical groups");
  check_counts(mesh, 5, 2, 0.5, "Gmsh 2.2");
  if (mesh) {
    const eb_node_set *face = eb_mesh_set(mesh, "fixed face"), *point = eb_mesh_set(mesh, "point3");
    tap_ok(eb_mesh_region(mesh, "jelly") == 0 && eb_mesh_region(mesh, "unused") == 1,
           "physical volumes become regions");
    tap_ok(face && face->count == 3 && face->nodes[2] == 2,
           "a physical surface becomes a node set");
    tap_ok(point && point->count == 1 && point->nodes[0] == 3, "an unnamed point gets a name");
    tap_ok(mesh->set_count == 2, "elements without a group make no set");
  }
  eb_mesh_destroy(mesh);

  mesh = parsed(EB_FORMAT_AUTO,
                "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 7 \"base\"\n3 3 \"b\"\n"
                "$EndPhysicalNames\n$Entities\n1 0 1 2\n9 0 0 0 1 2\n5 0 0 0 1 1 1 2 7 8 0\n"
                "1 0 0 0 1 1 1 1 -3 1 5\n2 0 0 0 1 1 1 0 0\n$EndEntities\n"
                "$Nodes\n2 5 1 900\n2 5 1 3\n1\n2\n3\n0 0 0 .1 .2\n1 0 0 .1 .2\n0 1 0 .1 .2\n"
                "3 1 0 2\n900\n44\n0 0 1\n1 1 1\n$EndNodes\n"
                "$Elements\n4 4 1 4\n0 9 15 1\n4 900\n2 5 2 1\n1 1 2 3\n3 1 4 1\n2 1 2 3 900\n"
                "3 2 4 1\n3 2 3 900 44\n$EndElements\n",
                "Gmsh 4.1 with entities and parametric nodes");
  check_counts(mesh, 5, 2, 0.5, "Gmsh 4.1");
  if (mesh) {
    tap_ok(mesh->region[0] == 1 && strcmp(mesh->region_name[1], "b") == 0 &&
               strcmp(mesh->region_name[0], "region0") == 0,
           "a reversed physical volume and an ungrouped one");
    tap_ok(eb_mesh_set(mesh, "base") && eb_mesh_set(mesh, "surface8") &&
               eb_mesh_set(mesh, "base")->count == 3 && eb_mesh_set(mesh, "point2"),
           "a surface in two groups");
  }
  eb_mesh_destroy(mesh);
}

/* Bytes put together by hand. */
typedef struct bytes {
  unsigned char data[2048];
  size_t length;
} bytes;

static void put_text(bytes *b, const char *text) {
  memcpy(b->data + b->length, text, strlen(text));
  b->length += strlen(text);
}

static void put_big(bytes *b, uint64_t value, int size) {
  for (int i = size - 1; i >= 0; i--) b->data[b->length++] = (unsigned char)(value >> 8 * i);
}

static void put_big_double(bytes *b, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_big(b, bits, 8);
}

static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0.5}};

static void test_gmsh_big_endian(void) {
  bytes b = {.length = 0};
  eb_mesh *mesh = NULL;
  put_text(&b, "$MeshFormat\n2.2 1 8\n");
  put_big(&b, 1, 4);
  put_text(&b, "\n$EndMeshFormat\n$Nodes\n4\n");
  for (int i = 0; i < 4; i++) {
    put_big(&b, (uint64_t)i + 1, 4);
    for (int d = 0; d < 3; d++) put_big_double(&b, corner[i][d]);
  }
  put_text(&b, "\n$EndNodes\n$Elements\n1\n");
  const int element[] = {4, 1, 2, 1, 5, 5, 1, 2, 3, 4};
  for (int i = 0; i < 10; i++) put_big(&b, (uint64_t)element[i], 4);
  put_text(&b, "\n$EndElements\n");
  tap_succeeds(eb_mesh_parse("big.msh", EB_FORMAT_AUTO, b.data, b.length, &mesh),
               "Gmsh 2.2 binary, big-endian");
  check_counts(mesh, 4, 1, 0.5 / 6, "big-endian Gmsh");
  eb_mesh_destroy(mesh);
}

/* MSH 2.2 lists nodes with the entity that each lies on behind them, and as many parameters as that
 * has dimensions. */
static void test_parametric_nodes(void) {
  static const int on[4] = {0, 1, 2, 3};
  eb_mesh *mesh = parsed(EB_FORMAT_AUTO,
                         "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$ParametricNodes\n4\n1 0 0 0 0 1\n"
                         "2 1 0 0 1 7 0.25\n3 0 1 0 2 5 0.5 0.5\n4 0 0 1 3 1\n$EndParametricNodes\n"
                         "$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n",
                         "Gmsh 2.2 with parametric nodes");
  check_counts(mesh, 4, 1, 1.0 / 6, "parametric nodes have coordinates");
  eb_mesh_destroy(mesh);
  bytes b = {.length = 0};
  mesh = NULL;
  put_text(&b, "$MeshFormat\n2.2 1 8\n");
  put_big(&b, 1, 4);
  put_text(&b, "\n$EndMeshFormat\n$ParametricNodes\n4\n");
  for (int i = 0; i < 4; i++) {
    put_big(&b, (uint64_t)i + 1, 4);
    for (int d = 0; d < 3; d++) put_big_double(&b, corner[i][d]);
    put_big(&b, (uint64_t)on[i], 4);
    put_big(&b, 1, 4);
    for (int k = 0; k < (on[i] < 3 ? on[i] : 0); k++) put_big_double(&b, 0.5);
  }
  put_text(&b, "\n$EndParametricNodes\n$Elements\n1\n");
  const uint64_t element[] = {4, 1, 0, 1, 1, 2, 3, 4};
  for (int i = 0; i < 8; i++) put_big(&b, element[i], 4);
  put_text(&b, "\n$EndElements\n");
  tap_succeeds(eb_mesh_parse("p.msh", EB_FORMAT_AUTO, b.data, b.length, &mesh),
               "binary parametric nodes");
  if (mesh)
    tap_near(fabs(eb_mesh_element_volume(mesh, mesh->X, 0)), 1.0 / 12, 1e-15, "their volume");
  eb_mesh_destroy(mesh);
}

static void test_tetgen(void) {
  static const char *const nodes[2] = {
      "# by hand\r\n\r\n4  3  1  1\r\n0 0 0 0 7.5 1\r\n1 1 0 0 7.5 1 # one\r\n2 0 1 0 7.5 0\r\n"
      "3 0 0 1e0 7.5 0\r\n",
      "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n# end"};
  static const char *const elements[2] = {"1 4 1\n0 0 1 2 3 12\n", "1 4 1\n1 1 2 3 4 12"};
  for (int i = 0; i < 4; i++) {
    eb_mesh *mesh = NULL;
    char what[64];
    snprintf(what, sizeof what, "TetGen: .node from %d, .ele from %d", i / 2, i % 2);
    write_text("pair.1.node", nodes[i / 2]);
    write_text("pair.1.ele", elements[i % 2]);
    tap_succeeds(eb_mesh_read(in_folder(i % 2 ? "pair.1.ele" : "pair.1.node"), &mesh), what);
    check_counts(mesh, 4, 1, 1.0 / 6, what);
    eb_mesh_destroy(mesh);
  }
  static const char curved[] = "10 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 .5 0 0\n5 .5 .5 0\n"
                               "6 0 .5 0\n7 0 0 .5\n8 .5 0 .5\n9 0 .5 .5\n\0"
                               "2 10 1\n0 0 1 2 3 4 5 6 7 8 9 0.5\n1 0 2 1 3 4 5 6 7 8 9 1\n";
  eb_mesh *mesh = NULL;
  eb_error error = eb_mesh_parse("curved", EB_FORMAT_TETGEN, curved, sizeof curved - 1, &mesh);
  tap_fails(error, EB_ERR_FORMAT, "curved:3: elements 1 and 0 lie on the same side",
            "the place of an element is that of the .ele file");
}

static const char vega[] =
    "# Vega\n*VERTICES\n5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 0 0 -1\n\n*ELEMENTS\nTET\n"
    "2 4 0\n0 0 1 2 3\n1 0 2 1 4\n*MATERIAL soft flesh\nENU, 1000, 1e6, .3\n*MATERIAL hard\n"
    "ENU, 1000, 1e9, .3\n*SET a\n0,\n*SET b\n1\n*SET grip\n1\n*REGION\na, hard\n*REGION\n"
    "b, soft flesh\n";

static void test_vega(void) {
  eb_mesh *mesh = parsed(EB_FORMAT_AUTO, vega, "Vega from 0 with sets, materials, regions");
  check_counts(mesh, 5, 2, 1.0 / 3, "Vega");
  if (mesh) {
    const eb_node_set *grip = eb_mesh_set(mesh, "grip");
    tap_ok(eb_mesh_region(mesh, "soft flesh") == 0 && mesh->region[0] == 1 && mesh->region[1] == 0,
           "materials name the regions");
    tap_ok(mesh->set_count == 1 && grip && grip->count == 4 && grip->nodes[3] == 4,
           "a set outside the regions becomes a node set");
  }
  eb_mesh_destroy(mesh);

  write_text("inner.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  write_text("inner.ele", "# elements\n1 4 0\n1 1 2 3 4\n");
  write_text("material.veg", "*MATERIAL m\r\nENU, 1, 2, 0.3\r\n");
  write_text("outer.veg", "*VERTICES\n*INCLUDE inner.node\n*ELEMENTS\nTETS\n*INCLUDE inner.ele\n"
                          "*INCLUDE material.veg\n");
  mesh = NULL;
  tap_succeeds(eb_mesh_read(in_folder("outer.veg"), &mesh), "Vega with *INCLUDE");
  check_counts(mesh, 4, 1, 1.0 / 6, "included files");
  if (mesh) tap_ok(strcmp(mesh->region_name[0], "m") == 0, "an included material");
  eb_mesh_destroy(mesh);
}

static void test_vtk_text(void) {
  eb_mesh *mesh =
      parsed(EB_FORMAT_AUTO,
             "# vtk DataFile Version 2.0\r\nany title: POINTS CELLS\r\nASCII\r\n"
             "DATASET UNSTRUCTURED_GRID\r\nPOINTS 5 float\r\n0 0 0 1 0 0\r\n0 1 0 0 0 1 1 1 1\r\n"
             "\r\nCELLS 3 14\r\n3 0 1 2\r\n4 0 1 2 3\r\n4 1 2 3 4\r\nCELL_TYPES 3\r\n5 10 10\r\n"
             "POINT_DATA 5\r\nVECTORS u float\r\n0 0 0 0 0 0 nan 0 0 0 0 0 0 0 0\r\n"
             "CELL_DATA 3\r\nFIELD FieldData 2\r\nquality 1 3 double\r\n.5 .5 .5\r\n"
             "MaterialID 1 3 int\r\n9 4 2\r\n",
             "VTK 2.0 with triangles among the cells and data to skip");
  check_counts(mesh, 5, 2, 0.5, "VTK 2.0");
  if (mesh)
    tap_ok(mesh->region[0] == 1 && mesh->region[1] == 0 &&
               strcmp(mesh->region_name[1], "region4") == 0,
           "materials of the volume cells become regions");
  eb_mesh_destroy(mesh);

  mesh = parsed(EB_FORMAT_AUTO,
                "# vtk DataFile Version 3.0\nvoxel\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                "POINTS 8 double\n0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1\n"
                "CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n11\n",
                "a VTK voxel");
  check_counts(mesh, 8, 1, 1, "becomes a hexahedron");
  eb_mesh_destroy(mesh);
}

static void test_vtk_binary(void) {
  bytes b = {.length = 0};
  eb_mesh *mesh = NULL;
  put_text(&b, "# vtk DataFile Version 5.1\nvtk output\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
               "POINTS 4 double\n");
  for (int i = 0; i < 12; i++) put_big_double(&b, corner[i / 3][i % 3]);
  put_text(&b, "\nMETADATA\nINFORMATION 1\nNAME L2 LOCATION vtkDataArray\nDATA 2 0 1\n\n"
               "CELLS 3 7\nOFFSETS vtktypeint64\n");
  const uint64_t offsets[] = {0, 3, 7}, nodes[] = {0, 1, 2, 0, 1, 2, 3};
  for (int i = 0; i < 3; i++) put_big(&b, offsets[i], 8);
  put_text(&b, "\nCONNECTIVITY vtktypeint64\n");
  for (int i = 0; i < 7; i++) put_big(&b, nodes[i], 8);
  put_text(&b, "\nCELL_TYPES 2\n");
  put_big(&b, 5, 4);
  put_big(&b, 10, 4);
  put_text(&b, "\nCELL_DATA 2\nSCALARS region unsigned_char\nLOOKUP_TABLE default\n");
  put_big(&b, 1, 1);
  put_big(&b, 200, 1);
  put_text(&b, "\nPOINT_DATA 4\nFIELD FieldData 1\nbits 1 4 bit\n");
  put_big(&b, 0x50, 1);
  put_text(&b, "\n");
  tap_succeeds(eb_mesh_parse("b.vtk", EB_FORMAT_AUTO, b.data, b.length, &mesh), "VTK 5.1 binary");
  check_counts(mesh, 4, 1, 0.5 / 6, "VTK 5.1 binary, OFFSETS and CONNECTIVITY");
  eb_mesh_destroy(mesh);
}

/* ---- surfaces in the wild -------------------------------------------------------------------- */

static void check_surface(eb_mesh_format format, const void *data, size_t length, int32_t vertices,
                          int32_t triangles, const char *what) {
  eb_surface *surface = NULL;
  if (tap_succeeds(eb_surface_parse("wild", format, data, length, &surface), what))
    tap_ok(surface->vertex_count == vertices && surface->triangle_count == triangles,
           "%s: %d vertices and %d triangles (%d and %d)", what, surface->vertex_count,
           surface->triangle_count, vertices, triangles);
  eb_surface_destroy(surface);
}

static void check_surface_text(eb_mesh_format format, const char *text, int32_t vertices,
                               int32_t triangles, const char *what) {
  check_surface(format, text, strlen(text), vertices, triangles, what);
}

static void test_obj_and_off(void) {
  check_surface_text(EB_FORMAT_AUTO,
                     "# comment\r\nmtllib m.mtl\r\no thing\r\nv 0 0 0 1 0 0\r\nv 1 0 0\r\n"
                     "v 1 1 0\r\nv 0 1 0\r\nv 9 9 9\r\nvn 0 0 1\r\nvt 0 0\r\ng group\r\ns off\r\n"
                     "f -5//1 -4/1 3/1/1 \\\r\n-2\r\nf 1 3 6\r\nv\t.5 .5 1\r\nl 1 2\r\nusemtl x",
                     5, 3, "OBJ: negative and forward indices, a polygon, a continued line");
  check_surface_text(EB_FORMAT_AUTO, "OFF 4 2 5\n0 0 0\n1 0 0\n# c\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3",
                     4, 2, "OFF: counts on the line of the keyword");
  check_surface_text(EB_FORMAT_AUTO,
                     "COFF\n4 1 0\n0 0 0 255 0 0 255\n1 0 0 1 1 1 1\n1 1 0 0 0 0 0\n0 1 0 0 0 0 0\n"
                     "4 0 1 2 3 0.5 0 0\n",
                     4, 2, "COFF: colours of vertices and faces");
  check_surface_text(EB_FORMAT_AUTO,
                     "NOFF\n3 1 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n0 1 0 0 0 1\n3 0 1 2\n", 3, 1, "NOFF");
  check_surface_text(EB_FORMAT_OFF, "3 1\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2", 3, 1,
                     "OFF without its keyword");
}

/* Every face of a cube with vertices of its own: 12 triangles, 36 vertices at 8 places. */
static void test_soup(void) {
  const eb_grid grid = {.cubes = {1, 1, 1}, .size = {1, 1, 1}};
  eb_mesh *mesh;
  eb_surface *cube, *read = NULL;
  char text[4096], *notes = NULL;
  size_t used = 0;
  tap_require(eb_generate_tets6(&grid, &mesh), "a cube");
  tap_require(eb_mesh_surface(mesh, &cube), "its surface");
  for (int32_t i = 0; i < 3 * cube->triangle_count; i++) {
    const double *x = cube->X + 3 * (size_t)cube->triangles[i];
    used += (size_t)snprintf(text + used, sizeof text - used, "v %g %g %g\n", x[0], x[1], x[2]);
    if (i % 3 == 2)
      used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d\n", i - 1, i, i + 1);
  }
  write_bytes("soup.obj", text, used);
  tap_require(eb_surface_read(in_folder("soup.obj"), &read), "a soup of triangles");
  tap_ok(read->vertex_count == 8 && read->triangle_count == 12, "is joined to 8 vertices");
  tap_succeeds(eb_surface_validate(read, true), "and closed");
  tap_require(eb_mesh_notes(in_folder("soup.obj"), &notes), "notes");
  tap_ok(strstr(notes, "36 vertices at exactly equal positions are joined to 8") != NULL,
         "which a note says");
  free(notes);
  tap_require(surface_file(in_folder("cube.off"), EB_FORMAT_OFF, cube), "writing");
  tap_require(eb_mesh_notes(in_folder("cube.off"), &notes),
              "notes of a surface without repetition");
  tap_ok(notes[0] == '\0', "there are none");
  free(notes);
  eb_surface_destroy(read);
  eb_surface_destroy(cube);
  eb_mesh_destroy(mesh);
}

static void test_notes(void) {
  static const char tet[] =
      "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 4 3\n"
      "*MATERIAL steel\nENU, 1, 2, .3\n*REGION\nallElements, steel\n";
  char *notes = NULL;
  write_bytes("noted.veg", tet, sizeof tet - 1);
  tap_require(eb_mesh_notes(in_folder("noted.veg"), &notes), "notes of a Vega file");
  tap_ok(strstr(notes, "is not used, the scene's is") != NULL, "materials are not used");
  tap_ok(strstr(notes, "they are turned round") != NULL, "inverted elements are turned round");
  free(notes);
  tap_fails(eb_mesh_notes(in_folder("none.veg"), &notes), EB_ERR_IO, "No such file", "no file");
}

/* What the file's reader says of it; the caller frees it. */
static char *notes_of(const char *name) {
  char *notes = NULL;
  tap_require(eb_mesh_notes(in_folder(name), &notes), name);
  return notes;
}

/* Curved elements keep their corners: those nodes that are only beside corners are counted once,
 * and nodes of no element are not. */
static void test_curved(void) {
  write_text("curved.mesh",
             "MeshVersionFormatted 2\nDimension 3\nVertices\n12\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
             "0 0 1 0\n.5 0 0 0\n.5 .5 0 0\n0 .5 0 0\n0 0 .5 0\n.5 0 .5 0\n0 .5 .5 0\n9 9 9 0\n"
             "1 1 1 0\nTetrahedraP2\n2\n1 2 3 4 5 6 7 8 9 10 1\n2 12 3 4 6 6 6 8 9 10 1\nEnd\n");
  char *notes = notes_of("curved.mesh");
  tap_ok(strstr(notes, "are read as linear: 6 nodes beside the corners are left out") != NULL,
         "nodes that are left out are counted: %s", notes);
  free(notes);
  write_text("linear.mesh",
             "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
             "0 0 1 0\n9 9 9 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n");
  notes = notes_of("linear.mesh");
  tap_ok(*notes == '\0', "a linear mesh with a stray node has no note: %s", notes);
  free(notes);
}

static void swap_nodes(int32_t *a, int32_t *b) {
  int32_t old = *a;
  *a = *b;
  *b = old;
}

/* Lists an element in the other orientation. */
static void flip(eb_mesh *mesh, int32_t e) {
  int32_t *node = mesh->elements + (size_t)e * mesh->type;
  if (mesh->type == EB_TETRAHEDRON) swap_nodes(&node[0], &node[1]);
  for (int a = 0; mesh->type == EB_HEXAHEDRON && a < 4; a++) swap_nodes(&node[a], &node[a + 4]);
}

/* A sound mesh some of whose elements are listed in the other orientation is read as that mesh, and
 * the number of them is told; by share 1/2 and 9/10, so that either orientation has the majority.
 */
static void check_mixed(const eb_mesh *mesh, const char *kind, random_state *random) {
  for (int round = 0; round < 6; round++) {
    eb_mesh *copy, *back = NULL;
    char wanted[80];
    int32_t flipped = 0, negative = 0;
    tap_require(eb_mesh_copy(mesh, &copy), "a copy");
    for (int32_t e = 0; e < copy->element_count; e++) {
      if (random_uniform(random, 0, 1) > (round % 2 ? 0.9 : 0.5)) continue;
      flip(copy, e);
      flipped++;
    }
    tap_require(mesh_file(in_folder("mixed.msh"), EB_FORMAT_GMSH41, copy), "writing");
    if (tap_succeeds(eb_mesh_read(in_folder("mixed.msh"), &back),
                     "a mesh of mixed order is read")) {
      for (int32_t e = 0; e < back->element_count; e++)
        negative += !(eb_mesh_element_volume(back, back->X, e) > 0);
      tap_ok(negative == 0 && same_sets(back, mesh), "%s: all elements are oriented", kind);
      snprintf(wanted, sizeof wanted, "%d of %d elements list their nodes in the other orientation",
               flipped, mesh->element_count);
      char *notes = notes_of("mixed.msh");
      tap_ok(strstr(notes, wanted) != NULL, "%s: %d are told", kind, flipped);
      free(notes);
    }
    eb_mesh_destroy(back);
    eb_mesh_destroy(copy);
  }
}

/* An inner node pulled through the faces around it tangles the mesh: no order of nodes mends that,
 * and none is taken, however the elements are listed. */
static void check_tangled(const eb_mesh *mesh, random_state *random) {
  int refused = 0;
  for (int round = 0; round < 6; round++) {
    eb_mesh *copy, *back = NULL;
    tap_require(eb_mesh_copy(mesh, &copy), "a copy");
    int32_t inner = 1 + 5 * (1 + 4); /* (1, 1, 1) of a grid of 4 x 3 x 3 cubes */
    for (int d = 0; d < 3; d++) copy->X[3 * inner + d] += 0.7 * (d == round % 3);
    for (int32_t e = 0; e < copy->element_count; e++)
      if (round >= 3 && random_uniform(random, 0, 1) < 0.5) flip(copy, e);
    tap_require(mesh_file(in_folder("tangled.msh"), EB_FORMAT_GMSH41, copy), "writing");
    eb_error error = eb_mesh_read(in_folder("tangled.msh"), &back);
    refused += error && strstr(eb_error_message(error), "the mesh is tangled") != NULL;
    eb_error_free(error);
    eb_mesh_destroy(back);
    eb_mesh_destroy(copy);
  }
  tap_ok(refused == 6, "tangled meshes are refused as such: %d of 6", refused);
}

static void test_mixed_order(void) {
  const eb_grid grid = {.cubes = {4, 3, 3}, .size = {1.3, 1, 0.9}};
  random_state random = random_seed(7);
  eb_mesh *six, *five, *hexahedra;
  tap_require(eb_generate_tets6(&grid, &six), "six tetrahedra a cube");
  tap_require(eb_generate_tets5(&grid, &five), "five");
  tap_require(eb_generate_hexahedra(&grid, &hexahedra), "hexahedra");
  check_mixed(six, "tetrahedra", &random);
  check_mixed(five, "tetrahedra, five a cube", &random);
  check_mixed(hexahedra, "hexahedra", &random);
  check_tangled(six, &random);
  check_tangled(five, &random);
  eb_mesh_destroy(hexahedra);
  eb_mesh_destroy(five);
  eb_mesh_destroy(six);
}

static void test_ply(void) {
  check_surface_text(
      EB_FORMAT_AUTO,
      "ply\r\nformat ascii 1.0\r\ncomment made by hand\r\nobj_info none\r\n"
      "element tag 2\r\nproperty list uchar int q\r\nproperty float w\r\n"
      "element face 1\r\nproperty uchar red\r\nproperty list uint8 int32 "
      "vertex_index\r\nelement vertex 4\r\nproperty float32 z\r\nproperty uchar "
      "red\r\nproperty double x\r\nproperty short y\r\nend_header\r\n"
      "2 5 5 0.5\r\n0 1e3\r\n7 4 0 1 2 3\r\n0 1 0 0\r\n0 1 1 0\r\n0 1 1 1\r\n0 1 0 1",
      4, 2, "PLY: any order of elements and properties");
  bytes b = {.length = 0};
  put_text(&b, "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty short y\n"
               "property uchar red\nproperty double x\nproperty list ushort float extra\n"
               "property float z\nelement face 1\nproperty list int uint vertex_indices\n"
               "end_header\n");
  for (int i = 0; i < 3; i++) {
    put_big(&b, i == 2 ? 0xfff0 : 0, 2);
    put_big(&b, 255, 1);
    put_big_double(&b, i == 1 ? 1 : 0);
    put_big(&b, 1, 2);
    put_big(&b, 0x7fc00000, 4);
    put_big(&b, 0x40000000, 4);
  }
  const int face[] = {3, 0, 1, 2};
  for (int i = 0; i < 4; i++) put_big(&b, (uint64_t)face[i], 4);
  eb_surface *surface = NULL;
  if (tap_succeeds(eb_surface_parse("b.ply", EB_FORMAT_AUTO, b.data, b.length, &surface),
                   "PLY big-endian"))
    tap_ok(surface->X[0] == 0 && surface->X[3] == 1 && surface->X[7] == -16 && surface->X[2] == 2,
           "numbers of several types and a signed short");
  eb_surface_destroy(surface);
}

static void test_stl(void) {
  check_surface_text(EB_FORMAT_AUTO,
                     "solid a name of solid\r\n FACET NORMAL nan 0 0\r\n  outer loop\r\n"
                     "   vertex 0 0 -0.0\r\n   vertex 1E0 0 0\r\n   vertex 0 1 0\r\n  endloop\r\n"
                     " endfacet\r\nendsolid a\r\nsolid b\r\nfacet normal 0 0 1\nouter loop\n"
                     "vertex 1 -0 0\nvertex 1 1 0\nvertex 0 1 -0\nendloop\nendfacet\n"
                     "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
                     "endloop\nendfacet\nendsolid b",
                     4, 2, "STL: two solids, joined vertices, a collapsed facet");
  unsigned char raw[84 + 50] = "solid with a facet in its header";
  const float x[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  raw[80] = 1;
  memcpy(raw + 84, x, sizeof x);
  check_surface(EB_FORMAT_AUTO, raw, sizeof raw, 3, 1, "binary STL that opens with 'solid'");
}

/* ---- formats --------------------------------------------------------------------------------- */

static void test_detection(void) {
  bool surface = false;
  eb_mesh *mesh = NULL;
  write_text("misnamed.obj", vega);
  tap_succeeds(eb_mesh_read(in_folder("misnamed.obj"), &mesh), "content before extension");
  eb_mesh_destroy(mesh);
  write_text("plain.txt", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  tap_succeeds(eb_file_is_surface(in_folder("plain.txt"), &surface), "OBJ by its first word");
  tap_ok(surface, "is a surface");
}

/* Numbers are right whatever the locale of the host program; skipped where no such locale
 * exists. */
static void test_locale(void) {
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool set = false;
  for (int i = 0; i < 4 && !set; i++) set = setlocale(LC_NUMERIC, names[i]) != NULL;
  eb_mesh *mesh = block(false), *back = NULL;
  tap_succeeds(eb_mesh_write(in_folder("l.vtk"), mesh), "written");
  if (tap_succeeds(eb_mesh_read(in_folder("l.vtk"), &back), "read"))
    tap_ok(same_mesh(mesh, back), "numbers under a locale with %s", set ? "commas" : "points");
  setlocale(LC_NUMERIC, "C");
  eb_mesh_destroy(back);
  eb_mesh_destroy(mesh);
}

/* Every double between a decimal text and back: the fast path and the slow one. */
static void test_numbers(void) {
  static const char *const numbers[] = {"0.1",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "123456789012345678901234567890",
                                        "0.000000000000000000000000000000000000012345678901234567",
                                        "2.2250738585072014e-308",
                                        "4.9e-324",
                                        "1.7976931348623157e308",
                                        "8.5e-7",
                                        "-.5",
                                        "5.",
                                        "+3.0000000000000004",
                                        "9007199254740991e-22"};
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
    char text[300];
    eb_surface *surface = NULL;
    snprintf(text, sizeof text, "v %s 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n", numbers[n]);
    eb_error error = eb_surface_parse("n", EB_FORMAT_OBJ, text, strlen(text), &surface);
    if (!error) tap_ok(surface->X[0] == strtod(numbers[n], NULL), "%s is exact", numbers[n]);
    /* A subnormal vertex may make a triangle too thin for validation; the number is read first. */
    tap_ok(!error || strstr(eb_error_message(error), "number") == NULL, "%s is a number",
           numbers[n]);
    eb_error_free(error);
    eb_surface_destroy(surface);
  }
}

int main(void) {
  scratch_open();
  test_volume_round_trips();
  test_entity_lines();
  test_fibres();
  test_surface_round_trips();
  test_medit();
  test_gmsh_text();
  test_gmsh_big_endian();
  test_parametric_nodes();
  test_tetgen();
  test_vega();
  test_vtk_text();
  test_vtk_binary();
  test_obj_and_off();
  test_soup();
  test_notes();
  test_curved();
  test_mixed_order();
  test_ply();
  test_stl();
  test_detection();
  test_locale();
  test_numbers();
  return scratch_close();
}
