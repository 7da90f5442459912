/* XDMF 2: XML files that say where in the HDF5 file mesh and positions are, and where the bones.
 * Positions of obstacles are written out: the file has their poses, but no positions that XDMF
 * could point at. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/print.h"
#include "harness/results/export.h"
#include "harness/results/scene.h"
#include "problems/base/text.h"

/* What one file needs to know. */
typedef struct movie {
  const eb_results *results;
  int index; /* of the run */
  const eb_run *run;
  char *data; /* the result file as the XML refers to it */
  eb_element_type type;
  int64_t nodes, elements;
  int precision, velocity_precision; /* bytes of a number; no velocities: 0 */
  bool updates;                      /* the file has EB_FRAME_UPDATES */
  int32_t bones;                     /* in a frame of EB_FRAME_BONES */
  bool obstacles;
  size_t frames;
  double *time;
} movie;

/* "file.h5:/GROUP/ID/path" as the text of a data item. */
static eb_error put_reference(FILE *out, const movie *m, const char *group, const char *id,
                              const char *path) {
  EB_TRY(eb_print_escaped(out, m->data, eb_xml_content));
  fprintf(out, ":/%s/", group);
  EB_TRY(eb_print_escaped(out, id, eb_xml_content));
  fprintf(out, "/%s</DataItem>", path);
  return EB_OK;
}

/* "file.h5:/scenes/<hash>/<group>/<name>" as a data item. */
static eb_error put_scene_item(FILE *out, const movie *m, const char *group, const char *name,
                               const char *dimensions) {
  char path[64];
  fprintf(out, "<DataItem Format=\"HDF\" NumberType=\"Int\" Precision=\"4\" Dimensions=\"%s\">",
          dimensions);
  snprintf(path, sizeof path, "%s/%s", group, name);
  return put_reference(out, m, "scenes", m->run->scene_hash, path);
}

/* Row `frame` of a dataset of the run, `row` numbers along each of its other axes, as a data item
 * that reads as `shown`. VTK keeps a geometry for as long as the first child of its data item reads
 * the same, which the comment prevents, and complains when that child has no text. */
static eb_error put_frame_item(FILE *out, const movie *m, size_t frame, const char *path,
                               const char *type, int precision, int rank, const long long *row,
                               const char *shown) {
  fprintf(out,
          "          <DataItem ItemType=\"HyperSlab\" Dimensions=\"%s\"><!-- frame %zu -->\n"
          "            <DataItem Format=\"XML\" Dimensions=\"3 %d\">%zu",
          shown, frame, rank + 1, frame);
  for (int i = 0; i < rank; i++) fprintf(out, " 0");
  fprintf(out, "  1");
  for (int i = 0; i < rank; i++) fprintf(out, " 1");
  fprintf(out, "  1");
  for (int i = 0; i < rank; i++) fprintf(out, " %lld", row[i]);
  fprintf(out,
          "</DataItem>\n            <DataItem Format=\"HDF\" NumberType=\"%s\" "
          "Precision=\"%d\" Dimensions=\"%zu",
          type, precision, m->frames);
  for (int i = 0; i < rank; i++) fprintf(out, " %lld", row[i]);
  fprintf(out, "\">");
  EB_TRY(put_reference(out, m, "runs", m->run->id, path));
  fprintf(out, "\n          </DataItem>\n");
  return EB_OK;
}

static eb_error put_bodies(FILE *out, const movie *m, size_t frame) {
  const long long vectors[] = {(long long)m->nodes, 3}, elements = (long long)m->elements;
  char of_nodes[48], of_elements[48], corners[48];
  snprintf(of_nodes, sizeof of_nodes, "%lld 3", vectors[0]);
  snprintf(of_elements, sizeof of_elements, "%lld", elements);
  snprintf(corners, sizeof corners, "%lld %d", elements, (int)m->type);
  fprintf(out, "        <Topology TopologyType=\"%s\" NumberOfElements=\"%lld\">",
          m->type == EB_TETRAHEDRON  ? "Tetrahedron"
          : m->type == EB_HEXAHEDRON ? "Hexahedron"
                                     : "Triangle",
          elements);
  EB_TRY(put_scene_item(out, m, "mesh", eb_element_set(m->type), corners));
  fprintf(out, "</Topology>\n        <Attribute Name=\"region\" AttributeType=\"Scalar\" "
               "Center=\"Cell\">");
  EB_TRY(put_scene_item(out, m, "mesh", "region", of_elements));
  fprintf(out, "</Attribute>\n        <Geometry GeometryType=\"XYZ\">\n");
  EB_TRY(put_frame_item(out, m, frame, EB_FRAME_POSITIONS, "Float", m->precision, 2, vectors,
                        of_nodes));
  fprintf(out, "        </Geometry>\n");
  if (m->velocity_precision > 0) {
    fprintf(out,
            "        <Attribute Name=\"velocity\" AttributeType=\"Vector\" Center=\"Node\">\n");
    EB_TRY(put_frame_item(out, m, frame, EB_FRAME_VELOCITIES, "Float", m->velocity_precision, 2,
                          vectors, of_nodes));
    fprintf(out, "        </Attribute>\n");
  }
  if (m->updates) {
    fprintf(out, "        <Attribute Name=\"updates\" AttributeType=\"Scalar\" Center=\"Cell\">\n");
    EB_TRY(put_frame_item(out, m, frame, EB_FRAME_UPDATES, "UChar", 1, 1, &elements, of_elements));
    fprintf(out, "        </Attribute>\n");
  }
  return EB_OK;
}

/* A line from pivot to tip for each bone. */
static eb_error put_bones(FILE *out, const movie *m, size_t frame) {
  int count = m->bones;
  const long long row[] = {count, 2, 3};
  char shown[48];
  snprintf(shown, sizeof shown, "%d 3", 2 * count);
  fprintf(out,
          "        <Topology TopologyType=\"Polyline\" NodesPerElement=\"2\" "
          "NumberOfElements=\"%d\"><DataItem Format=\"XML\" NumberType=\"Int\" "
          "Dimensions=\"%d 2\">",
          count, count);
  for (int i = 0; i < 2 * count; i++) fprintf(out, " %d", i);
  fprintf(out, "</DataItem></Topology>\n        <Geometry GeometryType=\"XYZ\">\n");
  EB_TRY(put_frame_item(out, m, frame, EB_FRAME_BONES, "Float", 4, 3, row, shown));
  fprintf(out, "        </Geometry>\n");
  return EB_OK;
}

static eb_error put_surfaces(FILE *out, const movie *m, const eb_result_obstacles *o) {
  char dimensions[48];
  snprintf(dimensions, sizeof dimensions, "%d 3", o->triangle_count);
  fprintf(out, "        <Topology TopologyType=\"Triangle\" NumberOfElements=\"%d\">",
          o->triangle_count);
  EB_TRY(put_scene_item(out, m, "obstacles", "triangles", dimensions));
  fprintf(out, "</Topology>\n        <Attribute Name=\"obstacle\" AttributeType=\"Scalar\" "
               "Center=\"Node\">");
  snprintf(dimensions, sizeof dimensions, "%d", o->vertex_count);
  EB_TRY(put_scene_item(out, m, "obstacles", "obstacle", dimensions));
  fprintf(out,
          "</Attribute>\n        <Geometry GeometryType=\"XYZ\"><DataItem Format=\"XML\" "
          "NumberType=\"Float\" Precision=\"8\" Dimensions=\"%d 3\">",
          o->vertex_count);
  for (int32_t k = 0; k < 3 * o->vertex_count; k++) fprintf(out, " %.9g", o->X[k]);
  fprintf(out, "</DataItem></Geometry>\n");
  return EB_OK;
}

static eb_error put_obstacles(FILE *out, const movie *m, size_t frame) {
  eb_result_obstacles o;
  EB_TRY(eb_results_obstacles(m->results, m->index, frame, &o));
  eb_error error = put_surfaces(out, m, &o);
  eb_result_obstacles_clear(&o);
  return error;
}

static eb_error put_movie(FILE *out, const movie *m,
                          eb_error (*put_frame)(FILE *out, const movie *m, size_t frame)) {
  fprintf(out, "<?xml version=\"1.0\" ?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
               "<Xdmf Version=\"2.0\">\n  <Domain>\n"
               "    <Grid Name=\"");
  EB_TRY(eb_print_escaped(out, m->run->id, eb_xml_attribute));
  fprintf(out, "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (size_t f = 0; f < m->frames; f++) {
    fprintf(
        out,
        "      <Grid Name=\"frame %zu\" GridType=\"Uniform\">\n        <Time Value=\"%.17g\"/>\n",
        f, m->time[f]);
    EB_TRY(put_frame(out, m, f));
    fprintf(out, "      </Grid>\n");
  }
  fprintf(out, "    </Grid>\n  </Domain>\n</Xdmf>\n");
  return EB_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* What is written of a run: a file of its bodies and, when it has any, one of its bones and one of
 * its obstacles. */
static const struct part {
  const char *suffix;
  eb_error (*put_frame)(FILE *out, const movie *m, size_t frame);
} bodies = {"xdmf", put_bodies}, bones = {"bones.xdmf", put_bones},
  obstacles_part = {"obstacles.xdmf", put_obstacles};

/* Writes a part to "<folder>/<result without .h5>.<id>.<suffix>", and prints its name. */
static eb_error write_part(const char *result, const movie *m, const struct part *part,
                           const char *folder, FILE *out) {
  const char *name = base_name(result), *dot = strrchr(name, '.');
  int stem = dot ? (int)(dot - name) : (int)strlen(name);
  eb_text path = {0};
  eb_error error =
      folder ? eb_text_printf(&path, "%s/%.*s.%s.%s", folder, stem, name, m->run->id, part->suffix)
             : eb_text_printf(&path, "%.*s%.*s.%s.%s", (int)(name - result), result, stem, name,
                              m->run->id, part->suffix);
  FILE *file = error ? NULL : fopen(path.data, "w");
  bool failed = !file;
  if (file) {
    error = put_movie(file, m, part->put_frame);
    failed = ferror(file) != 0;
    if (fclose(file)) failed = true;
  }
  if (failed && !error)
    error = EB_ERROR(EB_ERR_IO, "cannot write '%s': %s", path.data, strerror(errno));
  if (!error) eb_print(out, "%s\n", path.data);
  eb_text_clear(&path);
  return error;
}

static eb_error write_movie(const eb_results *results, movie *m, const char *folder, FILE *out) {
  const char *result = eb_results_path(results);
  /* Beside the result file its bare name is enough, so that both can be moved together; elsewhere
   * its absolute path. */
  m->data = folder ? realpath(result, NULL) : strdup(base_name(result));
  if (!m->data) return EB_ERROR(EB_ERR_IO, "cannot find '%s': %s", result, strerror(errno));
  EB_TRY(write_part(result, m, &bodies, folder, out));
  if (m->bones > 0) EB_TRY(write_part(result, m, &bones, folder, out));
  return m->obstacles ? write_part(result, m, &obstacles_part, folder, out) : EB_OK;
}

/* Reads what the movie needs; m->frames stays 0 when the run has none. */
static eb_error read_movie(const eb_results *results, int run, movie *m) {
  eb_mesh *mesh;
  float *bone;
  eb_result_obstacles obstacles;
  m->results = results;
  m->index = run;
  m->run = eb_results_run(results, run);
  if (!*m->run->scene_hash) return EB_OK;
  EB_TRY(eb_results_column(results, run, "frames/time", &m->time, &m->frames));
  if (m->frames == 0) return EB_OK;
  EB_TRY(eb_results_bones(results, run, 0, &m->bones, &bone));
  free(bone);
  EB_TRY(eb_results_obstacles(results, run, 0, &obstacles));
  m->obstacles = obstacles.count > 0;
  eb_result_obstacles_clear(&obstacles);
  EB_TRY(eb_results_mesh(results, run, &mesh));
  m->type = mesh->type;
  m->nodes = mesh->node_count;
  m->elements = mesh->element_count;
  m->updates = eb_results_has_updates(results, run);
  eb_mesh_destroy(mesh);
  EB_TRY(eb_results_frame_precision(results, run, EB_FRAME_POSITIONS, &m->precision));
  return eb_results_frame_precision(results, run, EB_FRAME_VELOCITIES, &m->velocity_precision);
}

eb_error eb_export_xdmf(const eb_results *results, const eb_strings *ids, const char *folder,
                        FILE *out, int *written) {
  eb_error error = EB_OK;
  *written = 0;
  if (folder) EB_TRY(eb_folder_make(folder));
  for (int i = 0; i < eb_results_count(results) && !error; i++) {
    movie m = {0};
    if (!eb_export_selects(ids, eb_results_run(results, i))) continue;
    error = read_movie(results, i, &m);
    if (!error && m.frames) {
      error = write_movie(results, &m, folder, out);
      *written += !error;
    }
    free(m.data);
    free(m.time);
  }
  return error;
}
