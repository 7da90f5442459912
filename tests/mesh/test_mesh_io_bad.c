/* Bad mesh files: each gives a message that names the place, none crashes or allocates without
 * end. */
#include "problems/mesh/io.h"

#include <errno.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "tests/support/mesh_files.h"
#include "tests/support/scratch.h"
#include "tests/tap.h"

static bool is_surface(eb_mesh_format format) {
  return format >= EB_FORMAT_OBJ;
}

/* Parses either kind; a result is validated once more and dropped. */
static eb_error parse(eb_mesh_format format, const void *data, size_t bytes, int32_t *elements) {
  eb_mesh *mesh = NULL;
  eb_surface *surface = NULL;
  eb_error error = is_surface(format) ? eb_surface_parse("bad", format, data, bytes, &surface)
                                      : eb_mesh_parse("bad", format, data, bytes, &mesh);
  if (!error && elements) *elements = mesh ? mesh->element_count : surface->triangle_count;
  if (!error) error = mesh ? eb_mesh_validate(mesh) : eb_surface_validate(surface, false);
  eb_mesh_destroy(mesh);
  eb_surface_destroy(surface);
  return error;
}

typedef struct bad {
  eb_mesh_format format;
  const char *text, *fragment;
} bad;

static void check_all(const bad *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char name[160];
    eb_error error = parse(cases[i].format, cases[i].text, strlen(cases[i].text), NULL);
    eb_error_code code =
        error && eb_error_kind(error) == EB_ERR_INVALID ? EB_ERR_INVALID : EB_ERR_FORMAT;
    snprintf(name, sizeof name, "refused: %s", cases[i].fragment);
    tap_fails(error, code, cases[i].fragment, name);
  }
}

#define MEDIT   "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n"
#define CORNERS "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
#define TET     "Tetrahedra\n1\n"

static const bad medit[] = {
    {EB_FORMAT_MEDIT, "Mesh 1\n", "bad:1: a MEDIT file starts with"},
    {EB_FORMAT_MEDIT, "MeshVersionFormatted 9\n", "bad:1: MEDIT version 9"},
    {EB_FORMAT_MEDIT, "MeshVersionFormatted 1\nDimension 2\n", "bad:2: the dimension is 2"},
    {EB_FORMAT_MEDIT, "MeshVersionFormatted 1\nDimension 3\nVertices\n1000000000\n0 0 0 0\n",
     "bad:4: 1000000000 vertices are announced, but only 9 bytes follow"},
    {EB_FORMAT_MEDIT, "MeshVersionFormatted 1\nDimension 3\nVertices\n-4\n",
     "bad:4: -4 vertices: a count cannot be negative"},
    {EB_FORMAT_MEDIT, "MeshVersionFormatted 1\nDimension 3\nVertices\n99999999999999999999\n",
     "bad:4: the number of vertices should be an integer"},
    {EB_FORMAT_MEDIT, MEDIT "0 0 0 0\n1 nan 0 0\n0 1 0 0\n0 0 1 0\n" TET "1 2 3 4 0\n",
     "bad:6: a coordinate of a vertex should be a finite number, not 'nan'"},
    {EB_FORMAT_MEDIT, MEDIT "0 0 0 0\n1 0 0 0\n0 1 inf 0\n0 0 1 0\n" TET "1 2 3 4 0\n",
     "bad:7: a coordinate of a vertex should be a finite number, not 'inf'"},
    {EB_FORMAT_MEDIT, MEDIT "0 0 0 0\n1 0 0 0\n0 1 1e999 0\n0 0 1 0\n" TET "1 2 3 4 0\n",
     "bad:7: a coordinate of a vertex should be a finite number, not '1e999'"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS TET "1 2 3 5 0\n",
     "bad:11: element 1 refers to node 5, but the 4 nodes of the file are numbered 1 to 4"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS TET "0 1 2 3 0\n", "bad:11: element 1 refers to node 0"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS TET "-1 1 2 3 0\n", "bad:11: element 1 refers to node -1"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS TET "1 2 3 9223372036854775807 0\n",
     "bad:11: element 1 refers to node 9223372036854775807"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS TET "1 2 2 4 0\n", "bad:11: element 1 lists node 2 twice"},
    {EB_FORMAT_MEDIT, MEDIT "0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\n" TET "1 2 3 4 0\n",
     "bad:11: element 1 is degenerate"},
    {EB_FORMAT_MEDIT,
     "MeshVersionFormatted 1\nDimension 3\nVertices\n6\n" CORNERS "0 0 -1 0\n0 -1 0 0\n"
     "Tetrahedra\n3\n1 2 3 4 0\n1 3 2 5 0\n1 2 4 6 0\n1 2 3 4 0\n",
     "bad:16: '1' stands where a section should start"},
    {EB_FORMAT_MEDIT,
     "MeshVersionFormatted 1\nDimension 3\nVertices\n6\n" CORNERS "0 0 -1 0\n0.2 0.5 0.2 0\n"
     "Tetrahedra\n3\n1 2 3 4 0\n1 3 2 5 0\n1 2 4 6 0\n",
     "bad:15: elements 3 and 1 lie on the same side of their common face, in whatever order their "
     "nodes are listed (1 of 3 elements have negative volume): the mesh is tangled"},
    {EB_FORMAT_MEDIT,
     "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n" CORNERS
     "Tetrahedra\n2\n1 2 3 4 0\n2 3 1 4 0\n",
     "bad: "},
    {EB_FORMAT_MEDIT, MEDIT "0 0 0 0\n1 \xc3\x91\x02 0\n0 1 0 0\n0 0 1 0\n",
     "bad:6: a coordinate of a vertex should be a finite number, but bytes that are no text stand "
     "here: the file announces text and holds binary data"},
    {EB_FORMAT_VTK,
     "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
     "\x3f\xf0\x01\x02\x03\x04\x05\x06\x3f\xf0\x01\x02\x03\x04\x05\x06\x3f\xf0\x01\x02\x03\x04",
     "bad:6: a coordinate of a point should be a finite number, but bytes that are no text stand"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS "Triangles\n1\n1 2 3 0\nEnd\n",
     "bad: the file holds no tetrahedra or hexahedra"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS "Prisms 1\n1 2 3 4 1 2 0\n", "bad:9: Prisms are not supported"},
    {EB_FORMAT_MEDIT, MEDIT CORNERS MEDIT, "bad:"},
    {EB_FORMAT_MEDIT, "MeshVersionFormatted 1\nDimension 3\n" TET "1 2 3 4 0\n",
     "bad:6: there is no section 'Vertices'"},
    {EB_FORMAT_MEDIT, MEDIT "0.00 0.00 0 0\n1.00 0 0 0\n0 1 0 0\n0 0",
     "bad:8: the file ends where a coordinate of a vertex should stand"},
};

#define MSH22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

static const bad gmsh[] = {
    {EB_FORMAT_AUTO, "$NOD\n1\n1 0 0 0\n$ENDNOD\n", "bad:1: '$MeshFormat' should come first"},
    {EB_FORMAT_AUTO, "$MeshFormat\n4 0 8\n$EndMeshFormat\n", "bad:2: MSH version 4 is not supp"},
    {EB_FORMAT_AUTO, "$MeshFormat\n2.2 0 4\n$EndMeshFormat\n", "bad:2: numbers of 4 bytes"},
    {EB_FORMAT_AUTO, "$MeshFormat\n2.2 1 8\nabcd\n$EndMeshFormat\n",
     "bad: byte 20: the mark of the byte order is not 1"},
    {EB_FORMAT_AUTO, MSH22 "$Nodes\n1000000000\n1 0 0 0\n$EndNodes\n",
     "bad:5: 1000000000 nodes are announced"},
    {EB_FORMAT_AUTO, MSH22 "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n",
     "bad:7: '$EndNodes' should stand here"},
    {EB_FORMAT_AUTO,
     MSH22 "$Nodes\n2\n5 0 0 0\n5 1 0 0\n$EndNodes\n$Elements\n1\n"
           "1 4 0 5 5 5 5\n$EndElements\n",
     "bad: node 5 is listed twice"},
    {EB_FORMAT_AUTO,
     MSH22 "$Nodes\n1\n7 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 7 8 9 10\n"
           "$EndElements\n",
     "bad:10: element 1 refers to node 8"},
    {EB_FORMAT_AUTO, MSH22 "$Elements\n1\n1 6 0 1 2 3 4 5 6\n$EndElements\n",
     "bad:6: elements of Gmsh type 6 are not supported"},
    {EB_FORMAT_AUTO, MSH22 "$Elements\n1\n1 777 0 1\n$EndElements\n",
     "bad:6: elements of Gmsh type"},
    {EB_FORMAT_AUTO, MSH22 "$Elements\n1\n1 4 -1 1\n$EndElements\n",
     "bad:6: an element with -1 tags"},
    {EB_FORMAT_AUTO, MSH22 "$Elements\n1\n1 4 99999999999 1\n$EndElements\n",
     "bad:6: an element with"},
    {EB_FORMAT_AUTO, MSH22 "$NodeData\n1\n", "bad:4: section 'NodeData' is never closed"},
    {EB_FORMAT_AUTO, MSH22 "$PhysicalNames\n1\n3 1 name\n$EndPhysicalNames\n",
     "bad:6: the name of a physical group stands in quotes"},
    {EB_FORMAT_AUTO, MSH22 "$PhysicalNames\n1\n7 1 \"name\"\n$EndPhysicalNames\n",
     "a physical group has dimension 7"},
    {EB_FORMAT_AUTO,
     MSH22 "$PhysicalNames\n1\n3 1 \"0123456789012345678901234567890123456789012345678901\"\n"
           "$EndPhysicalNames\n",
     "bad:6: name '0123456789012345678901234567890123456789012345678901' is longer than 47"},
    {EB_FORMAT_AUTO, MSH22 "$Nodes\n2\n1 0 0 0\n0 1 0 0\n$EndNodes\n",
     "bad:7: a node has the number 0; Gmsh numbers from 1"},
    {EB_FORMAT_AUTO, MSH22 "$Elements\n1\n-3 4 0 1 2 3 4\n$EndElements\n",
     "bad:6: an element has the number -3; Gmsh numbers from 1"},
    {EB_FORMAT_AUTO, MSH41 "$Nodes\n1 2 1 2\n3 1 0 2\n1\n-1\n0 0 0\n0 0 0\n",
     "bad:8: a node has the number -1"},
    {EB_FORMAT_AUTO, MSH41 "$Elements\n1 1 1 1\n3 1 4 1\n0 1 2 3 4\n$EndElements\n",
     "bad:7: an element has the number 0"},
    {EB_FORMAT_AUTO,
     MSH22 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$EndNodes\n"
           "$Elements\n1\n731 4 0 1 2 3 4\n$EndElements\n",
     "bad:13: element 731 is degenerate"},
    {EB_FORMAT_AUTO, MSH22 "stray\n", "bad:4: 'stray' stands where a section"},
    {EB_FORMAT_AUTO, MSH41 "$Nodes\n1 4 1 4\n3 1 0 5\n1\n2\n3\n4\n5\n0 0 0\n0 0 0\n",
     "bad:6: a block of 5 nodes of dimension 3 where 4 nodes are left"},
    {EB_FORMAT_AUTO, MSH41 "$Nodes\n1 4 1 4\n3 1 0 1\n1\n0 0 0\n$EndNodes\n$Elements\n",
     "the blocks hold 1 nodes, not 4"},
    {EB_FORMAT_AUTO, MSH41 "$Entities\n0 0 0 1000000000\n$EndEntities\n",
     "bad:5: 1000000000 entities are announced"},
    {EB_FORMAT_AUTO, MSH41 "$Elements\n1 1 1 1\n3 1 4 1000000000\n1 1 2 3 4\n$EndElements\n",
     "bad:6: 1000000000 elements are announced"},
};

static const bad others[] = {
    {EB_FORMAT_TETGEN, "2 2 0 0\n0 0 0\n1 0 0\n", "bad:1: the dimension is 2"},
    {EB_FORMAT_TETGEN, "1000000000 3 0 0\n0 0 0 0\n", "bad:1: 1000000000 nodes are announced"},
    {EB_FORMAT_TETGEN, "2 3 0 0\n5 0 0 0\n6 0 0 0\n", "bad:2: the first node is 5"},
    {EB_FORMAT_TETGEN, "2 3 0 0\n0 0 0 0\n7 0 0 0\n", "bad:3: node 7 should be 1"},
    {EB_FORMAT_TETGEN, "1 3 0 0\n0 0 0 0\n", "bad:1: the file ends where the number of elements"},
    {EB_FORMAT_VEGA, "*VERTICES\n1 3 0 0\n0 0 0 0\n*BODY\n", "bad:4: '*BODY' is no section"},
    {EB_FORMAT_VEGA, "*VERTICES\n1000000000 3 0 0\n", "bad:2: 1000000000 nodes are announced"},
    {EB_FORMAT_VEGA, "*VERTICES\n2 3 0 0\n1 0 0 0\n3 0 0 0\n", "bad:4: node 3 should be 2"},
    {EB_FORMAT_VEGA, "*ELEMENTS\nPRISM\n", "bad:2: elements are TET or CUBIC, not 'PRISM'"},
    {EB_FORMAT_VEGA, "*ELEMENTS\nTET\n1 8 0\n1 1 2 3 4 5 6 7 8\n",
     "bad:3: elements of 8 nodes where 4"},
    {EB_FORMAT_VEGA, "*INCLUDE other.veg\n", "bad:1: *INCLUDE needs a file on disk"},
    {EB_FORMAT_VEGA, "*VERTICES\n1 3 0 0\n1 0 0 0\n*SET s\n4\n", "bad:4: set 's' holds element 4"},
    {EB_FORMAT_VEGA, "*VERTICES\n1 3 0 0\n1 0 0 0\n*REGION\nallElements, steel\n",
     "bad:5: there is no material 'steel'"},
    {EB_FORMAT_VEGA, "*VERTICES\n1 3 0 0\n1 0 0 0\n*MATERIAL m\nENU, 1\n*REGION\nnone, m\n",
     "bad:7: there is no set 'none'"},
    {EB_FORMAT_VEGA, "*REGION\nonly\n", "bad:2: *REGION needs a set and a material"},
    {EB_FORMAT_VEGA, "*VERTICES\n1 3 0 0\n1 0 0 0\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n",
     "bad:7: element 1 refers to node 2"},
    {EB_FORMAT_VTK, "# vtk DataFile Version 3.0\nt\nUTF\n", "bad:3: the third line should be"},
    {EB_FORMAT_VTK, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n",
     "bad:4: data set 'POLYDATA' holds no volume mesh"},
#define VTK "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
    {EB_FORMAT_VTK, VTK "POINTS 1000000000 float\n0 0 0\n",
     "bad:5: 1000000000 points are announced"},
    {EB_FORMAT_VTK, VTK "POINTS 1 quad\n", "bad:5: 'quad' is no data type"},
    {EB_FORMAT_VTK,
     VTK "FIELD f 1\nregion_names 1 1 string\nthis%20name%20has%20far%20more%20than%20"
         "forty%20seven%20bytes%20in%20it\n",
     "bad:7: name 'this%20name"},
    {EB_FORMAT_VTK, VTK "CELLS 1 1000000000\n4 0 1 2 3\n", "1000000000 entries of cells"},
    {EB_FORMAT_VTK, VTK "CELLS 1 5\n9 0 1 2 3\n", "bad:6: cell 0 has 9 nodes where 4 entries"},
    {EB_FORMAT_VTK,
     VTK "CELLS 2 7\nOFFSETS vtktypeint64\n0 9\nCONNECTIVITY vtktypeint64\n0 1 2 0 1 2 3\n",
     "offset 9 of cell 1 is out of"},
    {EB_FORMAT_VTK, VTK "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n", "bad:7: 2 cell types for 1"},
    {EB_FORMAT_VTK, VTK "POINTS 1 float\n0 0 0\nCELLS 1 7\n6 0 0 0 0 0 0\nCELL_TYPES 1\n13\n",
     "bad:8: cell 0 of type 13 is not supported"},
    {EB_FORMAT_VTK, VTK "POINTS 1 float\n0 0 0\nCELLS 1 4\n3 0 0 0\nCELL_TYPES 1\n10\n",
     "bad:8: cell 0 of type 10 has 3 nodes; it should have 4"},
    {EB_FORMAT_VTK,
     VTK "POINTS 1 float\n0 0 0\nCELLS 2 14\n4 0 0 0 0\n8 0 0 0 0 0 0 0 0\n"
         "CELL_TYPES 2\n10 12\n",
     "bad:9: the file holds both tetrahedra and hexahedra"},
    {EB_FORMAT_VTK, VTK "POINTS 1 float\n0 0 0\nWHAT 3\n", "bad:7: 'WHAT' is no keyword"},
    {EB_FORMAT_VTK, VTK "POINTS 1 float\n0 0 0\nPOINT_DATA 4\n", "bad:7: data for 4 points"},
    {EB_FORMAT_OBJ, "v 0 0\nv 1 0 0\n", "bad:1: a vertex needs 3 coordinates"},
    {EB_FORMAT_OBJ, "v 0 0 x\n", "bad:1: a coordinate of a vertex should be a finite number"},
    {EB_FORMAT_OBJ, "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n",
     "bad:5: a face refers to vertex 4, but there are 3"},
    {EB_FORMAT_OBJ, "v 0 0 0\nf 1 -2 1\n", "bad:2: vertex -2 counts back beyond the first of 1"},
    {EB_FORMAT_OBJ, "v 0 0 0\nf 0 1 1\n", "bad:2: a corner of a face should be v, v/t"},
    {EB_FORMAT_OBJ, "v 0 0 0\nf 1 1\n", "bad:2: a face has 2 corners; it needs 3"},
    {EB_FORMAT_OBJ, "v 0 0 0\nv 1 0 0\nf 1 2 2\n", "bad:3: a face has vertex 2 twice"},
    {EB_FORMAT_OBJ, "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "bad: "},
    {EB_FORMAT_OBJ, "v 0 0 0\nv 1 0 0\n", "bad: the file holds no faces"},
    {EB_FORMAT_PLY, "ply\nformat utf8 1.0\n", "bad:2: the format is ascii"},
    {EB_FORMAT_PLY,
     "ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\n"
     "property float y\nproperty float z\nend_header\n0 0 0\n",
     "bad:8: 1000000000 entries of an element are announced"},
    {EB_FORMAT_PLY, "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n",
     "vertices need the properties x, y and z"},
    {EB_FORMAT_PLY, "ply\nformat ascii 1.0\nelement vertex 3\nproperty quad x\n",
     "bad:4: 'quad' is no data type of PLY"},
    {EB_FORMAT_PLY,
     "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_index\n"
     "end_header\n2 0 1\n",
     "bad:6: a face has 2 corners"},
    {EB_FORMAT_PLY, "ply\nformat ascii 1.0\n", "has no 'end_header'"},
    {EB_FORMAT_PLY, "ply\nend_header\n", "bad:2: the header names no format"},
    {EB_FORMAT_OFF, "OFF BINARY\n", "bad:1: binary OFF is not supported"},
    {EB_FORMAT_OFF, "OFF\n1000000000 1 0\n0 0 0\n", "bad:2: 1000000000 vertices are announced"},
    {EB_FORMAT_OFF, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
     "bad:6: a face refers to vertex 3"},
    {EB_FORMAT_OFF, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "bad:6: a face refers to vert"},
    {EB_FORMAT_OFF, "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n999999 0 1 2\n", "bad:6: 999999 corners"},
    {EB_FORMAT_STL, "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n",
     "bad:4: a coordinate of a vertex should be a finite number, not 'nan'"},
    {EB_FORMAT_STL, "solid a\nfacet normal 0 0 1\nvertex 0 0 0\n",
     "bad:3: 'outer' should stand here"},
    {EB_FORMAT_STL, "solid a\n", "bad:2: there is no 'endsolid'"},
    {EB_FORMAT_AUTO, "hello world\n", "bad:1: the format is unknown; supported are MEDIT"},
    {EB_FORMAT_AUTO, "<?xml version=\"1.0\"?><VTKFile type=\"x\">",
     "bad:1: XML files of VTK (.vtu) are not"},
    {EB_FORMAT_MEDIT, "", "bad:1: the file is empty"},
    {EB_FORMAT_AUTO, "OFF\n", "OFF is a surface, not a volume mesh"},
};

/* ---- files ----------------------------------------------------------------------------------- */

static void test_paths(void) {
  eb_mesh *mesh;
  eb_surface *surface;
  bool told;
  const char *path = in_folder("none.mesh");
  tap_fails(eb_mesh_read(path, &mesh), EB_ERR_IO, "none.mesh': No such file", "a missing file");
  tap_ok(!mesh, "leaves no mesh");
  tap_fails(eb_surface_read(folder, &surface), EB_ERR_IO, "is a folder, not a regular file",
            "a folder");
  tap_fails(eb_file_is_surface("/dev/null", &told), EB_ERR_IO, "not a regular file", "a device");
  write_bytes("empty.obj", "", 0);
  tap_fails(eb_surface_read(in_folder("empty.obj"), &surface), EB_ERR_FORMAT,
            "empty.obj:1: the file is empty", "an empty file");
  write_bytes("alone.node", "1 3 0 0\n0 0 0 0\n", 16);
  tap_fails(eb_mesh_read(in_folder("alone.node"), &mesh), EB_ERR_IO, "alone.ele': No such file",
            "half a TetGen pair");
  write_bytes("loop.veg", "*INCLUDE loop.veg\n", 18);
  tap_fails(eb_mesh_read(in_folder("loop.veg"), &mesh), EB_ERR_FORMAT, "perhaps in a circle",
            "a file that includes itself");
  write_bytes("lost.veg", "*INCLUDE lost.node\n", 19);
  tap_fails(eb_mesh_read(in_folder("lost.veg"), &mesh), EB_ERR_IO, "lost.veg: *INCLUDE",
            "an included file that is missing");
  write_bytes("bin.meshb", "\1\0\0\0", 4);
  tap_fails(eb_mesh_read(in_folder("bin.meshb"), &mesh), EB_ERR_FORMAT,
            "binary MEDIT is not supported", "binary MEDIT");
  write_bytes("volume.off", MEDIT, strlen(MEDIT));
  tap_fails(eb_surface_read(in_folder("volume.off"), &surface), EB_ERR_FORMAT,
            "MEDIT is a volume mesh", "a volume mesh where a surface is wanted");
}

/* A file on disk that cannot be read as a mesh, with part of the reason. */
static void check_file(const char *name, const char *text, const char *fragment) {
  eb_mesh *mesh;
  write_bytes(name, text, strlen(text));
  tap_fails(eb_mesh_read(in_folder(name), &mesh), EB_ERR_FORMAT, fragment, name);
}

/* Whatever the ending says: every kind of file that is no mesh is refused by what it is. */
static void test_other_kinds(void) {
  static const struct {
    const char *bytes;
    size_t count;
    const char *fragment;
  } kinds[] = {
#define KIND(bytes, fragment) {bytes, sizeof bytes - 1, fragment}
      KIND("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "Git LFS"),
      KIND("\n<!DOCTYPE html>\n<html lang=\"en\">\n", "HTML page"),
      KIND("<HTML><body>Not found</body>", "HTML page"),
      KIND("<?xml version=\"1.0\"?>\n<html xmlns=\"http://www.w3.org/1999/xhtml\">", "HTML page"),
      KIND("<?xml version=\"1.0\"?>\n<dolfin>\n", "an XML file"),
      KIND("<VTKFile type=\"UnstructuredGrid\">\n", "save it as legacy .vtk"),
      KIND("\x1f\x8b\x08\0\0\0\0\0", "a gzip archive"),
      KIND("PK\x03\x04\x14\0", "a zip archive"),
      KIND("\xfd"
           "7zXZ\0",
           "an xz archive"),
      KIND("BZh91AY", "a bzip2 archive"),
      KIND("\x28\xb5\x2f\xfd\0", "a zstd archive"),
      KIND("\x89HDF\r\n\x1a\n\0", "an HDF5 file"),
      KIND("CDF\x01\0", "a netCDF file"),
      KIND("%PDF-1.7\n", "a PDF document"),
      KIND("\x89PNG\r\n", "a PNG picture"),
      KIND("\x7f"
           "ELF\x02\x01",
           "a program"),
      KIND("\xff\xfe"
           "M\0e\0s\0h\0",
           "text in UTF-16"),
      KIND("\x01\0\0\0\x02\0\0\0\x03\0\0\0\x14\0\0\0", "binary MEDIT"),
      KIND("\0\0\0\0\0\0\0\0\0", "zero bytes and nothing else"),
      KIND("*HEADING\n*NODE\n1, 0, 0, 0\n", "an Abaqus or CalculiX input file"),
      KIND("** made by hand\n*Part, name=Bar\n", "an Abaqus or CalculiX input file"),
      KIND("*Node, nset=all\n1, 0., 0., 0.\n", "an Abaqus or CalculiX input file"),
      KIND("*INCLUDE, INPUT=mesh.inp\n", "an Abaqus or CalculiX input file"),
      KIND("$# LS-DYNA Keyword file\n*KEYWORD\n*NODE\n", "an LS-DYNA keyword file"),
      KIND("$ a comment\nSOL 101\nCEND\nBEGIN BULK\n", "a Nastran file"),
      KIND("BEGIN BULK\nGRID,1,,0.,0.,0.\n", "a Nastran file"),
      KIND("    -1\n  2411\n", "a universal file"),
      KIND("(0 \"GAMBIT to Fluent File\")\n", "a Fluent mesh"),
      KIND("mesh3d\ndimension\n3\n", "a Netgen mesh"),
      KIND("// Gmsh project created on\nPoint(1) = {0, 0, 0};\n", "a Gmsh geometry"),
      KIND("ISO-10303-21;\nHEADER;\n", "a STEP file"),
      KIND("{\"asset\": {\"version\": \"2.0\"}}\n", "JSON text"),
      KIND("glTF\x02\0\0\0", "a glTF file"),
  };
  static const char *const endings[] = {"x.mesh", "x.msh", "x.veg", "x.vtk", "x.node", "x.ele",
                                        "x.obj",  "x.ply", "x.off", "x.stl", "x.inp",  "x"};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    int missed = 0;
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
      eb_mesh *mesh;
      eb_surface *surface;
      write_bytes(endings[e], kinds[k].bytes, kinds[k].count);
      eb_error errors[] = {eb_mesh_read(in_folder(endings[e]), &mesh),
                           eb_surface_read(in_folder(endings[e]), &surface)};
      for (int i = 0; i < 2; i++) {
        const char *said = errors[i] ? eb_error_message(errors[i]) : "nothing";
        bool good = errors[i] && eb_error_kind(errors[i]) == EB_ERR_FORMAT &&
                    strstr(said, kinds[k].fragment) && strstr(said, ":1: ");
        if (!good) printf("# %s: %s\n", endings[e], said);
        missed += !good;
        eb_error_free(errors[i]);
      }
      unlink(in_folder(endings[e]));
    }
    tap_ok(missed == 0, "refused under every ending: %s", kinds[k].fragment);
  }
}

/* Files of formats that there are readers for, under the ending of another. */
static void test_wrong_endings(void) {
  eb_mesh *mesh = NULL;
  check_file("obj.mesh", "v 0 0 0\nv 1 0 0\n",
             "named as MEDIT, but does not open like it; it looks "
             "like OBJ");
  check_file("node.msh", "4 3 0 0\n0 0 0 0\n",
             "named as Gmsh 2.2, but does not open like it; it "
             "looks like TetGen");
  check_file("words.vtk", "hello world\n", "named as VTK, but does not open like it");
  write_bytes("noise.obj", "v\1\0\2\3 4", 8);
  tap_fails(eb_mesh_read(in_folder("noise.obj"), &mesh), EB_ERR_FORMAT,
            "named as OBJ, but does not open like it; it looks like binary data",
            "binary data named as OBJ");
  write_bytes("half.node", "1 3 0 0\n0 0 0 0\n", 16);
  write_bytes("half.ele", MEDIT, strlen(MEDIT));
  tap_fails(eb_mesh_read(in_folder("half.node"), &mesh), EB_ERR_FORMAT,
            "half.ele:1: this file is in the format MEDIT, not TetGen",
            "the other file of a TetGen pair is of another format");
  write_bytes("page.veg", "<html>", 6);
  check_file("includes.veg", "*INCLUDE page.veg\n", "page.veg:1: this is an HTML page");
  /* One that is recognized is read, whatever its ending. */
  static const char medit_text[] = MEDIT CORNERS TET "1 2 3 4 0\nEnd\n";
  write_bytes("medit.msh", medit_text, sizeof medit_text - 1);
  tap_succeeds(eb_mesh_read(in_folder("medit.msh"), &mesh), "MEDIT under Gmsh's ending");
  eb_mesh_destroy(mesh);
  /* A header of zeros is one of binary STL: no kind of file is told from its first bytes then. */
  unsigned char stl[84 + 50] = {0};
  eb_surface *surface = NULL;
  stl[80] = 1;
  const float corners[] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  memcpy(stl + 84, corners, sizeof corners);
  write_bytes("zeros.bin", stl, sizeof stl);
  tap_succeeds(eb_surface_read(in_folder("zeros.bin"), &surface), "binary STL with no header");
  eb_surface_destroy(surface);
}

/* What stands in for a mesh, or is a relative of the formats. */
static void test_stand_ins(void) {
  static const char pointer[] =
      "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
  bool told;
  check_file("pointer.msh", pointer, "pointer.msh:1: this is a pointer of Git LFS");
  check_file("pointer.ele", pointer, "git lfs pull");
  tap_fails(eb_file_is_surface(in_folder("pointer.msh"), &told), EB_ERR_FORMAT, "Git LFS",
            "asked whether it is a surface");
  check_file("grid.vtu", "<VTKFile type=\"UnstructuredGrid\">\n", "meshio convert");
  check_file("xml.vtk", "<?xml version=\"1.0\"?>\n<VTKFile>\n", "save it as legacy .vtk");
}

/* *INCLUDE stays in the folder of the file that names it. */
static void test_includes(void) {
  static const char vertices[] = "*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
  static const char rest[] = "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n";
  static const char *const outside[] = {"../part.veg", "sub/../../part.veg", "sub/./../../part.veg",
                                        "..", "/etc/passwd"};
  char text[300];
  eb_mesh *mesh = NULL;
  mkdir(in_folder("sub"), 0777);
  write_bytes("sub/part.veg", vertices, sizeof vertices - 1);
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    snprintf(text, sizeof text, "*INCLUDE %s\n%s", outside[i], rest);
    check_file("leaves.veg", text, "leaves.veg:1: *INCLUDE of '");
  }
  snprintf(text, sizeof text, "*INCLUDE sub//../sub/./part.veg\n%s", rest);
  write_bytes("stays.veg", text, strlen(text));
  tap_succeeds(eb_mesh_read(in_folder("stays.veg"), &mesh), "a path that stays is followed");
  eb_mesh_destroy(mesh);
  write_bytes("sub/up.veg", "*INCLUDE ../sub/part.veg\n", 25);
  check_file("nested.veg", "*INCLUDE sub/up.veg\n", "sub/up.veg:1: *INCLUDE of '../sub/part.veg'");
}

/* Root reads anything: the process that reads gives up root, where it has it. */
static void test_unreadable(void) {
  eb_mesh *mesh;
  write_bytes("secret.mesh", MEDIT, strlen(MEDIT));
  const char *path = in_folder("secret.mesh");
  chmod(path, 0);
  chmod(folder, 0755);
  uid_t user = geteuid();
  if (user == 0 && seteuid(65534) != 0) user = 1;
  tap_fails(eb_mesh_read(path, &mesh), EB_ERR_IO, "Permission denied", "an unreadable file");
  if (user == 0 && seteuid(0) != 0) exit(1);
}

static void test_writing(void) {
  const eb_grid grid = {.cubes = {1, 1, 1}, .size = {1, 1, 1}};
  eb_mesh *mesh, *flat;
  tap_require(eb_generate_tets6(&grid, &mesh), "a mesh");
  tap_require(eb_generate_triangles(&grid, &flat), "a planar mesh");
  struct stat status;
  tap_fails(eb_mesh_write(in_folder("no/such/folder.vtk"), mesh), EB_ERR_IO, "No such file",
            "no folder");
  tap_ok(symlink("/dev/full", in_folder("full.vtk")) == 0, "a device as a mesh");
  tap_fails(eb_mesh_write(in_folder("full.vtk"), mesh), EB_ERR_IO, "No space left", "full");
  tap_ok(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode), "the device is still there");
  tap_fails(eb_mesh_write("x", mesh), EB_ERR_USAGE, "unknown format; a mesh is written as .msh",
            "no format");
  tap_fails(eb_mesh_write("x.ply", mesh), EB_ERR_USAGE, "or, its surface, .obj",
            "a format that is read alone");
  tap_fails(eb_mesh_write("x.vtk", flat), EB_ERR_UNSUPPORTED, "choose .obj", "planar");
  eb_mesh_destroy(flat);
  eb_mesh_destroy(mesh);
}

/* ---- every prefix ---------------------------------------------------------------------------- */

static size_t load(const char *path, char *out, size_t room) {
  FILE *file = fopen(path, "rb");
  size_t bytes = file ? fread(out, 1, room, file) : 0;
  if (file) fclose(file);
  return bytes;
}

static eb_error write_any(eb_mesh_format format, const eb_mesh *mesh) {
  if (!is_surface(format)) return mesh_file(in_folder("t.node"), format, mesh);
  eb_surface *surface;
  EB_TRY(eb_mesh_surface(mesh, &surface));
  eb_error error = surface_file(in_folder("t.node"), format, surface);
  eb_surface_destroy(surface);
  return error;
}

/* The written file, from an exactly sized allocation so that a sanitizer sees a read beyond it. */
static char *file_in(eb_mesh_format format, const eb_mesh *mesh, size_t *bytes) {
  static char text[1 << 16];
  tap_require(write_any(format, mesh), "writing");
  *bytes = load(in_folder("t.node"), text, sizeof text);
  if (format == EB_FORMAT_TETGEN) {
    text[(*bytes)++] = '\0';
    *bytes += load(in_folder("t.ele"), text + *bytes, sizeof text - *bytes);
  }
  char *copy = malloc(*bytes);
  if (copy) memcpy(copy, text, *bytes);
  return copy;
}

/* Formats with counts lose nothing silently: a prefix is refused or holds all elements. OBJ has no
 * counts; its prefixes are refused or hold fewer faces. */
static void check_prefixes(eb_mesh_format format, const eb_mesh *mesh) {
  size_t bytes, wrong = 0, refused = 0, nameless = 0;
  int32_t whole = 0;
  char *data = file_in(format, mesh, &bytes);
  eb_error error = parse(format, data, bytes, &whole);
  tap_succeeds(error, "the whole file");
  for (size_t length = 0; length < bytes; length++) {
    int32_t elements = 0;
    char *prefix = malloc(length ? length : 1);
    if (!prefix) exit(1);
    memcpy(prefix, data, length);
    error = parse(format, prefix, length, &elements);
    refused += error != EB_OK;
    nameless += error && strncmp(eb_error_message(error), "bad:", 4) != 0;
    wrong += !error && (format == EB_FORMAT_OBJ ? elements > whole : elements != whole);
    eb_error_free(error);
    free(prefix);
  }
  tap_ok(wrong == 0 && refused > 0 && nameless == 0,
         "format %d: %zu prefixes, %zu refused, %zu with lost elements, %zu without a place",
         (int)format, bytes, refused, wrong, nameless);
  free(data);
}

static void test_prefixes(void) {
  const eb_grid grid = {.cubes = {2, 1, 1}, .origin = {0.1, 0.2, 0.3}, .size = {1, 1, 1}};
  static const char *const names[] = {"one", "two"};
  eb_mesh *mesh;
  tap_require(eb_generate_tets5(&grid, &mesh), "a mesh");
  for (int32_t e = 0; e < mesh->element_count; e++) mesh->region[e] = e % 2;
  tap_require(eb_mesh_name_regions(mesh, 2, names), "names");
  for (int format = EB_FORMAT_MEDIT; format <= EB_FORMAT_STL_BINARY; format++)
    check_prefixes((eb_mesh_format)format, mesh);
  eb_mesh_destroy(mesh);
}

/* Bytes that mean nothing, alone and behind the opening of each format. */
static void test_garbage(void) {
  static const char *const openings[] = {"",
                                         "MeshVersionFormatted 2\nDimension 3\nVertices\n10\n",
                                         "$MeshFormat\n2.2 1 8\n\1\0\0\0\n",
                                         "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 9 1 9\n",
                                         "9 3 0 0\n",
                                         "*VERTICES\n9 3 0 0\n",
                                         "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET "
                                         "UNSTRUCTURED_GRID\nPOINTS 3 double\n",
                                         "v 0 0 0\nf ",
                                         "ply\nformat binary_little_endian 1.0\nelement face 9\n"
                                         "property list uchar int vertex_index\nend_header\n",
                                         "OFF\n9 9 9\n",
                                         "solid x\nfacet "};
  uint32_t state = 12345;
  unsigned char data[600];
  size_t bad_results = 0;
  for (size_t o = 0; o < sizeof openings / sizeof *openings; o++)
    for (int format = EB_FORMAT_AUTO; format <= EB_FORMAT_STL_BINARY; format++)
      for (int round = 0; round < 20; round++) {
        size_t front = strlen(openings[o]);
        memcpy(data, openings[o], front);
        for (size_t i = front; i < sizeof data; i++) {
          state = state * 1664525u + 1013904223u;
          data[i] = (unsigned char)(state >> 24);
        }
        eb_error error = parse((eb_mesh_format)format, data, sizeof data, NULL);
        bad_results += error == EB_OK || eb_error_kind(error) != EB_ERR_FORMAT;
        eb_error_free(error);
      }
  tap_ok(bad_results == 0, "garbage is EB_ERR_FORMAT everywhere");
}

/* A count of 2^31 - 1 in a small file fails at once: no time, no memory. */
static void test_huge_headers(void) {
  static const struct {
    eb_mesh_format format;
    const char *text;
  } huge[] = {
      {EB_FORMAT_MEDIT, "MeshVersionFormatted 2\nDimension 3\nTetrahedra\n2147483647\n1 2 3 4 0\n"},
      {EB_FORMAT_GMSH22, MSH22 "$Elements\n2147483647\n1 4 0 1 2 3 4\n$EndElements\n"},
      {EB_FORMAT_GMSH41, MSH41 "$Nodes\n1 2147483647 1 2147483647\n3 1 0 1\n1\n0 0 0\n$EndNodes\n"},
      {EB_FORMAT_GMSH41, MSH41 "$Nodes\n9223372036854775807 1 1 1\n"},
      {EB_FORMAT_TETGEN, "2147483647 3 0 0\n0 0 0 0\n"},
      {EB_FORMAT_VEGA, "*VERTICES\n2147483647 3 0 0\n1 0 0 0\n"},
      {EB_FORMAT_VTK, "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
                      "POINTS 2147483647 double\n"},
      {EB_FORMAT_VTK, "# vtk DataFile Version 5.1\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
                      "CELLS 2147483647 2147483647\nOFFSETS vtktypeint64\n0000"},
      {EB_FORMAT_PLY, "ply\nformat binary_little_endian 1.0\nelement vertex 2147483647\nproperty "
                      "double x\nproperty double y\nproperty double z\nend_header\nabcdefgh"},
      {EB_FORMAT_OFF, "OFF\n2147483647 2147483647 0\n"},
      {EB_FORMAT_STL_BINARY, "a header of eighty bytes ......................................."
                             "................\x7f\x7f\x7f\x7f--------"},
  };
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  double start = eb_wall_seconds();
  for (size_t h = 0; h < sizeof huge / sizeof *huge; h++)
    tap_fails(parse(huge[h].format, huge[h].text, strlen(huge[h].text), NULL), EB_ERR_FORMAT,
              "announced, but only", "a huge count is refused");
  getrusage(RUSAGE_SELF, &after);
  /* 2^31 entries would take seconds and gigabytes. */
  tap_below(eb_wall_seconds() - start, 1, "in no time");
  tap_below((double)(after.ru_maxrss - before.ru_maxrss), 64 * 1024, "and no memory (KiB)");
}

int main(void) {
  scratch_open();
  check_all(medit, sizeof medit / sizeof *medit);
  check_all(gmsh, sizeof gmsh / sizeof *gmsh);
  check_all(others, sizeof others / sizeof *others);
  test_paths();
  test_stand_ins();
  test_other_kinds();
  test_wrong_endings();
  test_includes();
  test_unreadable();
  test_writing();
  test_huge_headers();
  test_prefixes();
  test_garbage();
  return scratch_close();
}
