/* XDMF 3: XML files that say where in the HDF5 file mesh and positions are, and where the bones.
 * Positions of obstacles are written out: the file has their poses, but no positions that XDMF
 * could point at. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/print.h"
#include "harness/results/export.h"
#include "harness/results/h5.h"
#include "harness/results/scene.h"
#include "problems/base/text.h"

/* What one file needs to know. */
typedef struct movie {
  const eb_results *results;
  int index; /* of the run */
  const eb_run *run;
  char *data; /* the result file as the XML refers to it */
  hid_t file; /* of frames */
  const char *file_name;
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

/* HDF5 takes %b in a name for a pattern, and %% for a %. */
static eb_error put_literal(eb_text *out, const char *text) {
  for (; *text; text++)
    EB_TRY(eb_text_append(out, *text == '%' ? "%%" : text, *text == '%' ? 2 : 1));
  return EB_OK;
}

/* What reads from the frame of `set` where the virtual dataset's own space is `space`. */
static eb_error make_properties(const movie *m, const char *source, hid_t set, size_t frame,
                                hid_t space, hid_t properties) {
  hsize_t start[EB_H5_AXES] = {frame}, count[EB_H5_AXES];
  const double absent = NAN; /* of a result file that is not where it was */
  eb_text file = {0}, path = {0};
  hid_t from = H5Dget_space(set);
  bool good = H5Sget_simple_extent_ndims(from) <= EB_H5_AXES &&
              H5Sget_simple_extent_dims(from, count, NULL) > 0;
  count[0] = 1;
  eb_error error = put_literal(&file, m->data);
  if (!error) error = put_literal(&path, source);
  good = good && !error &&
         H5Sselect_hyperslab(from, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
         H5Pset_virtual(properties, space, file.data, path.data, from) >= 0 &&
         H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &absent) >= 0;
  if (from >= 0) H5Sclose(from);
  eb_text_clear(&file);
  eb_text_clear(&path);
  return good || error ? error : eb_h5_error("cannot refer to", source);
}

static eb_error make_set(const movie *m, const char *source, size_t frame, const char *name,
                         int rank, const hsize_t *shape) {
  hid_t set = H5Dopen2(eb_results_file(m->results), source, H5P_DEFAULT);
  if (set < 0) return eb_h5_error("cannot open", source);
  hid_t type = H5Dget_type(set), space = H5Screate_simple(rank, shape, NULL);
  hid_t properties = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  eb_error error = make_properties(m, source, set, frame, space, properties);
  hid_t made = error ? -1 : H5Dcreate2(m->file, name, type, space, links, properties, H5P_DEFAULT);
  if (!error && made < 0) error = eb_h5_error("cannot write", name);
  if (made >= 0) H5Dclose(made);
  H5Pclose(links);
  H5Pclose(properties);
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(set);
  return error;
}

/* Row `frame` of a dataset of the run as a data item of this shape. Some readers take datasets as a
 * whole only, so the row is one in the file of frames: virtual, its numbers stay where they are. */
static eb_error put_frame_item(FILE *out, const movie *m, size_t frame, const char *path,
                               const char *type, int precision, int rank, const hsize_t *shape) {
  char name[64];
  eb_text source = {0};
  snprintf(name, sizeof name, "%s/%zu", path, frame);
  eb_error error = eb_text_printf(&source, "/runs/%s/%s", m->run->id, path);
  if (!error && !eb_h5_exists(m->file, name))
    error = make_set(m, source.data, frame, name, rank, shape);
  eb_text_clear(&source);
  EB_TRY(error);
  fprintf(out, "<DataItem Format=\"HDF\" NumberType=\"%s\" Precision=\"%d\" Dimensions=\"", type,
          precision);
  for (int i = 0; i < rank; i++) fprintf(out, i ? " %llu" : "%llu", (unsigned long long)shape[i]);
  fprintf(out, "\">");
  EB_TRY(eb_print_escaped(out, m->file_name, eb_xml_content));
  fprintf(out, ":/%s</DataItem>", name);
  return EB_OK;
}

/* The same as a vector of every node. A reader that takes meshes as fixed, as meshio does, has the
 * motion by "position". */
static eb_error put_vectors(FILE *out, const movie *m, size_t frame, const char *name,
                            const char *path, int precision, const hsize_t shape[2]) {
  fprintf(out, "        <Attribute Name=\"%s\" AttributeType=\"Vector\" Center=\"Node\">", name);
  EB_TRY(put_frame_item(out, m, frame, path, "Float", precision, 2, shape));
  fprintf(out, "</Attribute>\n");
  return EB_OK;
}

static eb_error put_bodies(FILE *out, const movie *m, size_t frame) {
  const hsize_t of_elements = (hsize_t)m->elements, of_nodes[] = {(hsize_t)m->nodes, 3};
  char elements[48], corners[48];
  snprintf(elements, sizeof elements, "%lld", (long long)m->elements);
  snprintf(corners, sizeof corners, "%s %d", elements, (int)m->type);
  fprintf(out, "        <Topology TopologyType=\"%s\" NumberOfElements=\"%s\">",
          m->type == EB_TETRAHEDRON  ? "Tetrahedron"
          : m->type == EB_HEXAHEDRON ? "Hexahedron"
                                     : "Triangle",
          elements);
  EB_TRY(put_scene_item(out, m, "mesh", eb_element_set(m->type), corners));
  fprintf(out, "</Topology>\n        <Attribute Name=\"region\" AttributeType=\"Scalar\" "
               "Center=\"Cell\">");
  EB_TRY(put_scene_item(out, m, "mesh", "region", elements));
  fprintf(out, "</Attribute>\n        <Geometry GeometryType=\"XYZ\">");
  EB_TRY(put_frame_item(out, m, frame, EB_FRAME_POSITIONS, "Float", m->precision, 2, of_nodes));
  fprintf(out, "</Geometry>\n");
  EB_TRY(put_vectors(out, m, frame, "position", EB_FRAME_POSITIONS, m->precision, of_nodes));
  if (m->velocity_precision > 0)
    EB_TRY(put_vectors(out, m, frame, "velocity", EB_FRAME_VELOCITIES, m->velocity_precision,
                       of_nodes));
  if (!m->updates) return EB_OK;
  fprintf(out, "        <Attribute Name=\"updates\" AttributeType=\"Scalar\" Center=\"Cell\">");
  EB_TRY(put_frame_item(out, m, frame, EB_FRAME_UPDATES, "UChar", 1, 1, &of_elements));
  fprintf(out, "</Attribute>\n");
  return EB_OK;
}

/* A line from pivot to tip for each bone. */
static eb_error put_bones(FILE *out, const movie *m, size_t frame) {
  int count = m->bones;
  const hsize_t shape[] = {2 * (hsize_t)count, 3};
  fprintf(out,
          "        <Topology TopologyType=\"Polyline\" NodesPerElement=\"2\" "
          "NumberOfElements=\"%d\"><DataItem Format=\"XML\" NumberType=\"Int\" "
          "Dimensions=\"%d 2\">",
          count, count);
  for (int i = 0; i < 2 * count; i++) fprintf(out, " %d", i);
  fprintf(out, "</DataItem></Topology>\n        <Geometry GeometryType=\"XYZ\">");
  EB_TRY(put_frame_item(out, m, frame, EB_FRAME_BONES, "Float", 4, 2, shape));
  fprintf(out, "</Geometry>\n");
  return put_vectors(out, m, frame, "position", EB_FRAME_BONES, 4, shape);
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
               "<Xdmf Version=\"3.0\">\n  <Domain>\n"
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

/* What is written of a run: a file of its bodies and, when it has any, one of its bones and one of
 * its obstacles. */
static const struct part {
  const char *suffix;
  eb_error (*put_frame)(FILE *out, const movie *m, size_t frame);
} bodies = {"xdmf", put_bodies}, bones = {"bones.xdmf", put_bones},
  obstacles_part = {"obstacles.xdmf", put_obstacles};

/* Writes a part, and prints its name. */
static eb_error write_part(const movie *m, const struct part *part, const char *folder, FILE *out) {
  eb_text path = {0};
  eb_output output;
  eb_error error = eb_export_path(m->results, m->index, folder, part->suffix, &path);
  if (!error) error = eb_output_open(path.data, &output);
  if (!error) error = eb_output_close(&output, put_movie(output.file, m, part->put_frame));
  if (!error) eb_print(out, "%s\n", path.data);
  eb_text_clear(&path);
  return error;
}

static eb_error write_parts(const movie *m, const char *folder, FILE *out) {
  EB_TRY(write_part(m, &bodies, folder, out));
  if (m->bones > 0) EB_TRY(write_part(m, &bones, folder, out));
  return m->obstacles ? write_part(m, &obstacles_part, folder, out) : EB_OK;
}

/* The file of frames is written while the parts refer to it. */
static eb_error write_movie(movie *m, const char *folder, FILE *out) {
  const char *result = eb_results_path(m->results);
  eb_text path = {0};
  /* Beside the result file its bare name is enough, so that all can be moved together; elsewhere
   * its absolute path. */
  m->data = folder ? realpath(result, NULL) : strdup(eb_export_file_name(result));
  if (!m->data) return EB_ERROR(EB_ERR_IO, "cannot find '%s': %s", result, strerror(errno));
  eb_error error = eb_export_path(m->results, m->index, folder, "frames.hdf5", &path);
  if (!error) error = eb_h5_create_file(path.data, &m->file);
  if (!error) {
    m->file_name = eb_export_file_name(path.data);
    error = write_parts(m, folder, out);
    eb_error closed = eb_h5_close_file(m->file, path.data);
    if (error)
      eb_error_free(closed);
    else
      error = closed;
  }
  eb_text_clear(&path);
  return error;
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
  EB_TRY(eb_results_read(results, run, "frames/time", &m->time, &m->frames));
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

static eb_error export_movie(const eb_results *results, int run, const char *folder, FILE *out,
                             bool *written) {
  movie m = {0};
  eb_error error = read_movie(results, run, &m);
  *written = !error && m.frames > 0;
  if (*written) error = write_movie(&m, folder, out);
  free(m.data);
  free(m.time);
  return error;
}

eb_error eb_export_xdmf(const eb_results *results, const eb_strings *ids, const char *folder,
                        FILE *out, int *written) {
  return eb_export_each(results, ids, folder, out, export_movie, written);
}
