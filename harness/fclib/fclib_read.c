/* Reads FCLib's files. Every size, index and number is checked before it is used. */
#include "harness/fclib/fclib.h"

#include <math.h>
#include <string.h>

#include "harness/results/h5.h"
#include "problems/base/memory.h"

static void matrix_clear(eb_fclib_matrix *matrix) {
  free(matrix->row);
  free(matrix->column);
  free(matrix->value);
}

static void solution_clear(eb_fclib_solution *solution) {
  free(solution->v);
  free(solution->u);
  free(solution->r);
}

void eb_fclib_clear(eb_fclib *problem) {
  matrix_clear(&problem->M);
  matrix_clear(&problem->H);
  free(problem->f);
  free(problem->w);
  free(problem->mu);
  free(problem->title);
  free(problem->description);
  solution_clear(&problem->solution);
  solution_clear(&problem->guess);
  *problem = (eb_fclib){0};
}

void eb_fclib_result_clear(eb_fclib_result *result) {
  solution_clear(&result->found);
  *result = (eb_fclib_result){0};
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* `name` must have `count` entries. */
static eb_error read_array(hid_t where, const char *name, hid_t memory, size_t size, int64_t count,
                           void **out) {
  eb_h5_shape shape;
  EB_TRY(eb_h5_get(where, name, memory, size, out, &shape));
  int64_t held = shape.rank == 1 ? (int64_t)shape.size[0] : shape.rank == 0 ? 1 : -1;
  return held == count ? EB_OK
                       : EB_ERROR(EB_ERR_FORMAT, "%s has %lld entries, not %lld", name,
                                  (long long)held, (long long)count);
}

static eb_error read_whole(hid_t where, const char *name, int32_t *out) {
  void *data = NULL;
  eb_error error = read_array(where, name, H5T_NATIVE_INT32, sizeof *out, 1, &data);
  if (!error) memcpy(out, data, sizeof *out);
  free(data);
  return error;
}

static eb_error read_indices(hid_t where, const char *name, int64_t count, int32_t **out) {
  void *data = NULL;
  eb_error error = read_array(where, name, H5T_NATIVE_INT32, sizeof **out, count, &data);
  *out = data;
  return error;
}

static eb_error read_reals(hid_t where, const char *name, int64_t count, double **out) {
  void *data = NULL;
  eb_error error = read_array(where, name, H5T_NATIVE_DOUBLE, sizeof **out, count, &data);
  *out = data;
  if (error) return error;
  for (int64_t i = 0; i < count; i++)
    if (!isfinite((*out)[i]))
      return EB_ERROR(EB_ERR_FORMAT, "entry %lld of %s is not a finite number", (long long)i, name);
  return EB_OK;
}

/* A text of any kind of string; "" when it is missing or is none. */
static eb_error read_text(hid_t where, const char *name, char **out) {
  hid_t set = eb_h5_exists(where, name) ? H5Dopen2(where, name, H5P_DEFAULT) : -1;
  hid_t type = set >= 0 ? H5Dget_type(set) : -1;
  bool plain = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
               H5Tget_size(type) < 100000;
  *out = eb_calloc(plain ? H5Tget_size(type) + 1 : 1, 1);
  if (*out && plain && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) **out = '\0';
  if (type >= 0) H5Tclose(type);
  if (set >= 0) H5Dclose(set);
  H5Eclear2(H5E_DEFAULT);
  return *out ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot read %s: out of memory", name);
}

/* ---- matrices -------------------------------------------------------------------------------- */

enum { COMPRESSED_COLUMNS = -1, COMPRESSED_ROWS = -2 };

/* index[k] := the line that entry k is in; start has lines + 1 entries. */
static eb_error expand(const int32_t *start, int32_t lines, int32_t count, int32_t **index) {
  EB_TRY(EB_NEW(*index, count));
  for (int32_t line = 0; line < lines; line++) {
    if (start[line] < 0 || start[line + 1] < start[line] || start[line + 1] > count)
      return EB_ERROR(EB_ERR_FORMAT, "the pointers p of line %d are not ascending", (int)line);
    for (int32_t k = start[line]; k < start[line + 1]; k++) (*index)[k] = line;
  }
  return EB_OK;
}

static eb_error read_compressed(hid_t group, bool by_rows, eb_fclib_matrix *m) {
  int32_t lines = by_rows ? m->rows : m->columns, *start = NULL;
  eb_error error = read_indices(group, "p", (int64_t)lines + 1, &start);
  if (!error) {
    m->count = start[lines];
    error = m->count < 0 ? EB_ERROR(EB_ERR_FORMAT, "p ends with a negative count") : EB_OK;
  }
  if (!error) error = read_indices(group, "i", m->count, by_rows ? &m->column : &m->row);
  if (!error) error = expand(start, lines, m->count, by_rows ? &m->row : &m->column);
  free(start);
  return error;
}

static eb_error check_indices(const eb_fclib_matrix *m) {
  for (int32_t k = 0; k < m->count; k++)
    if (m->row[k] < 0 || m->row[k] >= m->rows || m->column[k] < 0 || m->column[k] >= m->columns)
      return EB_ERROR(EB_ERR_FORMAT, "entry %d is at (%d, %d) of a %d x %d matrix", (int)k,
                      (int)m->row[k], (int)m->column[k], (int)m->rows, (int)m->columns);
  return EB_OK;
}

static eb_error read_entries(hid_t group, eb_fclib_matrix *m) {
  int32_t nz;
  EB_TRY(read_whole(group, "m", &m->rows));
  EB_TRY(read_whole(group, "n", &m->columns));
  EB_TRY(read_whole(group, "nz", &nz));
  if (m->rows < 1 || m->columns < 1 || nz < COMPRESSED_ROWS || m->rows == INT32_MAX ||
      m->columns == INT32_MAX)
    return EB_ERROR(EB_ERR_FORMAT, "m = %d, n = %d, nz = %d say no matrix", (int)m->rows,
                    (int)m->columns, (int)nz);
  if (nz < 0)
    EB_TRY(read_compressed(group, nz == COMPRESSED_ROWS, m));
  else {
    m->count = nz;
    EB_TRY(read_indices(group, "i", nz, &m->row));
    EB_TRY(read_indices(group, "p", nz, &m->column));
  }
  EB_TRY(read_reals(group, "x", m->count, &m->value));
  return check_indices(m);
}

static eb_error read_matrix(hid_t where, const char *name, eb_fclib_matrix *m) {
  if (!eb_h5_exists(where, name)) return EB_ERROR(EB_ERR_FORMAT, "there is no matrix %s", name);
  hid_t group = H5Gopen2(where, name, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open group", name);
  eb_error error = read_entries(group, m);
  H5Gclose(group);
  return eb_error_prefix(error, "matrix %s", name);
}

/* ---- problems -------------------------------------------------------------------------------- */

static eb_error refuse(hid_t where, const char *matrix) {
  char name[8];
  int32_t columns = 0;
  snprintf(name, sizeof name, "%s/n", matrix);
  if (!eb_h5_exists(where, name)) return EB_OK;
  EB_TRY(read_whole(where, name, &columns));
  return columns == 0 ? EB_OK
                      : EB_ERROR(EB_ERR_UNSUPPORTED,
                                 "the problem has bilateral constraints (matrix %s); only contacts "
                                 "are supported",
                                 matrix);
}

static eb_error check_sizes(const eb_fclib *p) {
  const eb_fclib_matrix *M = &p->M, *contacts = p->global ? &p->H : &p->M;
  if (M->rows != M->columns)
    return EB_ERROR(EB_ERR_FORMAT, "the matrix is %d x %d, not square", (int)M->rows,
                    (int)M->columns);
  if (p->global && p->H.rows != M->rows)
    return EB_ERROR(EB_ERR_FORMAT, "H has %d rows and M %d", (int)p->H.rows, (int)M->rows);
  if (contacts->columns % 3)
    return EB_ERROR(EB_ERR_FORMAT, "%d contact unknowns are not three a contact",
                    (int)contacts->columns);
  return EB_OK;
}

/* FCLib's writers leave what there is none of as a dataset without contents. */
static bool is_written(hid_t group, const char *name) {
  hid_t set = eb_h5_exists(group, name) ? H5Dopen2(group, name, H5P_DEFAULT) : -1;
  if (set < 0) return true; /* to be reported as missing */
  hid_t space = H5Dget_space(set);
  bool written = H5Dget_storage_size(set) > 0 || H5Sget_simple_extent_npoints(space) == 0;
  H5Sclose(space);
  H5Dclose(set);
  return written;
}

static eb_error read_optional(hid_t file, const char *name, const eb_fclib *p,
                              eb_fclib_solution *solution) {
  if (!eb_h5_exists(file, name)) return EB_OK;
  hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open group", name);
  int64_t m = 3 * (int64_t)p->contacts;
  bool there =
      is_written(group, "r") && is_written(group, "u") && (!p->global || is_written(group, "v"));
  eb_error error = there && p->global ? read_reals(group, "v", p->size, &solution->v) : EB_OK;
  if (!error && there) error = read_reals(group, "u", m, &solution->u);
  if (!error && there) error = read_reals(group, "r", m, &solution->r);
  H5Gclose(group);
  return eb_error_prefix(error, "%s", name);
}

static eb_error read_parts(hid_t group, eb_fclib *p) {
  int32_t dimension;
  EB_TRY(read_whole(group, "spacedim", &dimension));
  if (dimension != 3)
    return EB_ERROR(EB_ERR_UNSUPPORTED, "contacts in %d dimensions are not supported, only in 3",
                    (int)dimension);
  EB_TRY(refuse(group, p->global ? "G" : "V"));
  EB_TRY(refuse(group, "R"));
  EB_TRY(read_matrix(group, p->global ? "M" : "W", &p->M));
  if (p->global) EB_TRY(read_matrix(group, "H", &p->H));
  EB_TRY(check_sizes(p));
  p->contacts = (p->global ? p->H.columns : p->M.columns) / 3;
  p->size = p->global ? p->M.rows : 0;
  if (p->global) EB_TRY(read_reals(group, "vectors/f", p->size, &p->f));
  EB_TRY(read_reals(group, p->global ? "vectors/w" : "vectors/q", 3 * (int64_t)p->contacts, &p->w));
  EB_TRY(read_reals(group, "vectors/mu", p->contacts, &p->mu));
  for (int32_t k = 0; k < p->contacts; k++)
    if (p->mu[k] < 0)
      return EB_ERROR(EB_ERR_FORMAT, "mu of contact %d is %g, below 0", (int)k, p->mu[k]);
  EB_TRY(read_text(group, "info/title", &p->title));
  return read_text(group, "info/description", &p->description);
}

static eb_error read_file(hid_t file, eb_fclib *p) {
  if (eb_h5_exists(file, "fclib_global_rolling"))
    return EB_ERROR(EB_ERR_UNSUPPORTED, "rolling friction is not supported");
  p->global = eb_h5_exists(file, "fclib_global");
  const char *name = p->global ? "fclib_global" : "fclib_local";
  if (!eb_h5_exists(file, name))
    return EB_ERROR(EB_ERR_FORMAT, "not an FCLib problem: no group fclib_global or fclib_local");
  hid_t group = H5Gopen2(file, name, H5P_DEFAULT);
  if (group < 0) return eb_h5_error("cannot open group", name);
  eb_error error = read_parts(group, p);
  H5Gclose(group);
  if (error) return error;
  EB_TRY(read_optional(file, "solution", p, &p->solution));
  return read_optional(file, "guesses/1", p, &p->guess);
}

eb_error eb_fclib_read(const char *path, eb_fclib *out) {
  hid_t file;
  *out = (eb_fclib){0};
  eb_h5_quiet();
  EB_TRY(eb_h5_open_file(path, false, &file));
  eb_error error = read_file(file, out);
  H5Fclose(file);
  return eb_error_prefix(error, "'%s'", path);
}
