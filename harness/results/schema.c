#include <stdlib.h>
#include <string.h>

#include "harness/results/write.h"

eb_error eb_schema_write(hid_t file) {
  EB_TRY(eb_h5_put_text(file, "format", EB_SCHEMA_FORMAT));
  return eb_h5_put_int(file, "schema_version", EB_SCHEMA_VERSION);
}

static eb_error judge_schema(const char *path, const char *format, int64_t version) {
  if (strcmp(format, EB_SCHEMA_FORMAT) != 0)
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s' is an HDF5 file, but not a result of elastobench: its root lacks the "
                    "attribute format = \"%s\"",
                    path, EB_SCHEMA_FORMAT);
  if (version < 1 || version > EB_SCHEMA_VERSION)
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s' has schema version %lld, this program reads versions 1 to %d", path,
                    (long long)version, EB_SCHEMA_VERSION);
  return EB_OK;
}

eb_error eb_schema_check(hid_t file, const char *path) {
  char *format = NULL;
  int64_t version = 0;
  eb_error error = eb_h5_get_text(file, "format", &format);
  if (!error) error = eb_h5_get_int(file, "schema_version", &version);
  if (!error) error = judge_schema(path, format, version);
  free(format);
  return eb_error_prefix(error, "%s", path);
}

/* ---- older files ----------------------------------------------------------------------------- */

static eb_error fix_text(hid_t object, const char *name) {
  char *text = NULL;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  bool variable = H5Tis_variable_str(type) > 0;
  if (type >= 0) H5Tclose(type);
  if (attribute < 0) return eb_h5_error("cannot open attribute", name);
  H5Aclose(attribute);
  if (!variable) return EB_OK;
  eb_error error = eb_h5_get_text(object, name, &text);
  if (!error) error = eb_h5_put_text(object, name, text);
  free(text);
  return error;
}

/* By index, since an attribute that is replaced must not be iterated over. */
static eb_error fix_attributes(hid_t object, hsize_t count) {
  for (hsize_t i = 0; i < count; i++) {
    char name[256];
    if (H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name,
                           H5P_DEFAULT) < 0)
      return eb_h5_error("cannot list", "attributes");
    EB_TRY(fix_text(object, name));
  }
  return EB_OK;
}

static herr_t fix_object(hid_t file, const char *name, const H5O_info_t *info, void *error) {
  hid_t object = H5Oopen(file, name, H5P_DEFAULT);
  if (object < 0) {
    *(eb_error *)error = eb_h5_error("cannot open", name);
    return -1;
  }
  eb_error failed = fix_attributes(object, info->num_attrs);
  H5Oclose(object);
  *(eb_error *)error = eb_error_prefix(failed, "%s", name);
  return failed ? -1 : 0;
}

eb_error eb_schema_update(hid_t file) {
  eb_error error = EB_OK;
  unsigned fields = H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS;
  herr_t status = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, fix_object, &error, fields);
  if (status < 0 && !error) error = eb_h5_error("cannot list", "the file");
  return error ? error : eb_schema_write(file);
}
