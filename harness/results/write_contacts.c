#include "harness/results/write_contacts.h"

#include <stddef.h>
#include <stdio.h>

enum {
  OFFSETS_AT, /* a row a frame and one */
  LIMITS_AT,  /* a row a frame: LIMITS columns of these begin here */
  LIMITS = 5,
  KIND_AT = LIMITS_AT + LIMITS, /* a row a contact, from here on */
  VERTICES_AT,
  WEIGHT_AT,
  FRAME_AT,
  FORCE_AT,
  DEMAND_AT
};

static const struct {
  const char *name, *unit, *meaning;
  size_t offset;
} limits[LIMITS] = {
    {"gap", "m", "distance that constraints ask for in the end", offsetof(eb_contact_record, gap)},
    {"eps1", "kg m/s", "the solver's bound on the 2-norm of its momentum equations",
     offsetof(eb_contact_record, eps1)},
    {"eps2", "m", "the solver's tolerance on constraints", offsetof(eb_contact_record, eps2)},
    {"cone", "1", "the solver's tolerance on friction beyond Coulomb's cone, of the largest force",
     offsetof(eb_contact_record, cone)},
    {"angle", "deg", "the solver's tolerance between friction and sliding",
     offsetof(eb_contact_record, angle)}};

static eb_error open_table(hid_t run, eb_contact_writer *writer, int at, const char *name,
                           hid_t stored, hid_t memory, eb_h5_shape row, const char *unit,
                           const char *meaning) {
  enum { ROWS_PER_CHUNK = 512 };
  char path[64];
  eb_table *table = &writer->tables[at];
  snprintf(path, sizeof path, "frames/contacts/%s", name);
  EB_TRY(eb_table_open(run, path, stored, memory, row, ROWS_PER_CHUNK, unit, table));
  return eb_h5_put_text(table->set, "meaning", meaning);
}

static eb_error open_contacts(hid_t run, bool wide, eb_contact_writer *writer) {
  hid_t real = wide ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
  eb_h5_shape four = {1, {4}}, three = {1, {3}}, square = {2, {3, 3}};
  EB_TRY(open_table(run, writer, KIND_AT, "kind", H5T_STD_U8LE, H5T_NATIVE_INT32, (eb_h5_shape){0},
                    "1", "0 vertex and triangle, 1 edge and edge"));
  EB_TRY(open_table(run, writer, VERTICES_AT, "vertices", H5T_STD_I32LE, H5T_NATIVE_INT32, four,
                    "1",
                    "vertex and triangle, or edge and edge; numbers below the nodes of "
                    "frames/positions are nodes, those above vertices of the obstacles"));
  EB_TRY(
      open_table(run, writer, WEIGHT_AT, "weight", real, H5T_NATIVE_DOUBLE, four, "1",
                 "signed, sum 0: sum_i weight_i x_i leads from the second feature to the first"));
  EB_TRY(open_table(run, writer, FRAME_AT, "frame", real, H5T_NATIVE_DOUBLE, square, "1",
                    "rows n, t1, t2: normal and tangents, orthonormal, right-handed"));
  EB_TRY(open_table(run, writer, FORCE_AT, "force", real, H5T_NATIVE_DOUBLE, three, "N",
                    "a force, not an impulse: of the second feature on the first, in the frame, "
                    "through the whole step; vertex i is pushed by weight_i frame^T force"));
  return open_table(run, writer, DEMAND_AT, "demand", real, H5T_NATIVE_DOUBLE, three, "m",
                    "displacement c that the step asks for: "
                    "(frame sum_i weight_i (x1_i - x0_i) - demand)_n >= 0");
}

eb_error eb_contact_writer_open(hid_t run, int32_t nodes, bool wide, eb_contact_writer *writer) {
  static const int64_t zero = 0;
  hid_t group;
  writer->nodes = nodes;
  EB_TRY(eb_h5_group(run, "frames/contacts", &group));
  H5Gclose(group);
  EB_TRY(open_table(run, writer, OFFSETS_AT, "offsets", H5T_STD_I64LE, H5T_NATIVE_INT64,
                    (eb_h5_shape){0}, "1",
                    "contacts of frame f are rows offsets[f] to offsets[f + 1] - 1"));
  for (int i = 0; i < LIMITS; i++)
    EB_TRY(open_table(run, writer, LIMITS_AT + i, limits[i].name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                      (eb_h5_shape){0}, limits[i].unit, limits[i].meaning));
  EB_TRY(open_contacts(run, wide, writer));
  return eb_table_add(&writer->tables[OFFSETS_AT], &zero, 1);
}

static eb_error add_pair(eb_contact_writer *writer, const eb_contact_record *record, int32_t k) {
  const eb_pair *pair = &record->pair[k];
  int32_t vertex[4], shift = writer->nodes - record->nodes;
  for (int i = 0; i < 4; i++)
    vertex[i] = pair->vertex[i] + (pair->vertex[i] >= record->nodes ? shift : 0);
  EB_TRY(eb_table_add(&writer->tables[KIND_AT], &pair->kind, 1));
  return eb_table_add(&writer->tables[VERTICES_AT], vertex, 1);
}

eb_error eb_contact_writer_add(eb_contact_writer *writer, const eb_contact_record *record) {
  static const eb_contact_record none;
  if (!record) record = &none;
  size_t count = record->count > 0 ? (size_t)record->count : 0;
  for (int32_t k = 0; k < (int32_t)count; k++) EB_TRY(add_pair(writer, record, k));
  EB_TRY(eb_table_add(&writer->tables[WEIGHT_AT], record->weight, count));
  EB_TRY(eb_table_add(&writer->tables[FRAME_AT], record->frame, count));
  EB_TRY(eb_table_add(&writer->tables[FORCE_AT], record->r, count));
  EB_TRY(eb_table_add(&writer->tables[DEMAND_AT], record->c, count));
  for (int i = 0; i < LIMITS; i++)
    EB_TRY(
        eb_table_add(&writer->tables[LIMITS_AT + i], (const char *)record + limits[i].offset, 1));
  writer->stored += (int64_t)count;
  return eb_table_add(&writer->tables[OFFSETS_AT], &writer->stored, 1);
}
