/* Gmsh 2.2 and 4.1. Regions are physical volumes, node sets physical points. */
#include "problems/mesh/io/formats.h"
#include "problems/mesh/io/raw.h"

enum { POINT = 15, TETRAHEDRON = 4, HEXAHEDRON = 5 };

typedef struct out {
  FILE *file;
  bool binary;
} out;

static void put_int(out o, int64_t value, char after) {
  if (o.binary)
    eb_raw_put(o.file, (uint64_t)value, 4, false);
  else
    fprintf(o.file, "%lld%c", (long long)value, after);
}

static void put_size(out o, int64_t value, char after) {
  if (o.binary)
    eb_raw_put(o.file, (uint64_t)value, 8, false);
  else
    fprintf(o.file, "%lld%c", (long long)value, after);
}

static void put_real(out o, double value, char after) {
  if (o.binary)
    eb_raw_real(o.file, value, false);
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
    eb_raw_put(o.file, 1, 4, false);
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

/* ---- 2.2 ---------------------------------------------------------------------------------------- */

typedef struct listed {
  int code, count;
  int32_t number, group;
  const int32_t *nodes;
} listed;

static void put_element22(out o, listed e) {
  if (o.binary) {
    put_int(o, e.number, ' ');
  } else {
    put_int(o, e.number, ' ');
    put_int(o, e.code, ' ');
    put_int(o, 2, ' ');
  }
  put_int(o, e.group, ' ');
  put_int(o, e.group, ' ');
  for (int a = 0; a < e.count; a++) put_int(o, e.nodes[a] + 1, a == e.count - 1 ? '\n' : ' ');
}

static void put_block22(out o, int code, int32_t count) {
  if (!o.binary || count == 0) return;
  put_int(o, code, ' ');
  put_int(o, count, ' ');
  put_int(o, 2, '\n');
}

void eb_write_gmsh22(FILE *file, const eb_mesh *mesh, bool binary) {
  out o = {file, binary};
  int32_t points = set_entries(mesh), number = 0;
  write_header(o, "2.2");
  write_names(file, mesh);
  fprintf(file, "$Nodes\n%d\n", mesh->node_count);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    put_int(o, i + 1, ' ');
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

/* ---- 4.1 ---------------------------------------------------------------------------------------- */

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
    put_int(o, s + 1, ' ');
    put_position(o, mesh->X + 3 * (size_t)(mesh->sets[s].count ? mesh->sets[s].nodes[0] : 0), ' ');
    put_size(o, 1, ' ');
    put_int(o, s + 1, '\n');
  }
  for (int32_t r = 0; r < mesh->region_count; r++) {
    put_int(o, r + 1, ' ');
    put_position(o, bounds[0], ' ');
    put_position(o, bounds[1], ' ');
    put_size(o, 1, ' ');
    put_int(o, r + 1, ' ');
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
  put_int(o, 3, ' ');
  put_int(o, 1, ' ');
  put_int(o, 0, ' ');
  put_size(o, mesh->node_count, '\n');
  for (int32_t i = 0; i < mesh->node_count; i++) put_size(o, i + 1, '\n');
  for (int32_t i = 0; i < mesh->node_count; i++) put_position(o, mesh->X + 3 * (size_t)i, '\n');
  fprintf(o.file, "%s$EndNodes\n", o.binary ? "\n" : "");
}

static void put_block41(out o, int dimension, int32_t entity, int code, int32_t count) {
  put_int(o, dimension, ' ');
  put_int(o, entity, ' ');
  put_int(o, code, ' ');
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
