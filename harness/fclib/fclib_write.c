/* Writes FCLib's files: matrices as triplets, everything under the names that FCLib reads; those
 * that result files hold are copied. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/fclib/fclib.h"
#include "harness/print.h"
#include "harness/results/export.h"
#include "harness/results/h5.h"
#include "problems/base/memory.h"
#include "problems/base/text.h"

static eb_error put_whole(hid_t where, const char *name, int32_t value) {
  return eb_h5_put(where, name, H5T_STD_I32LE, H5T_NATIVE_INT32, (eb_h5_shape){1, {1}}, "1",
                   &value);
}

static eb_error put_indices(hid_t where, const char *name, int32_t count, const int32_t *data) {
  return eb_h5_put(where, name, H5T_STD_I32LE, H5T_NATIVE_INT32, (eb_h5_shape){1, {(hsize_t)count}},
                   "1", data);
}

static eb_error put_reals(hid_t where, const char *name, int64_t count, const double *data) {
  return eb_h5_put(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                   (eb_h5_shape){1, {(hsize_t)count}}, "", data);
}

static eb_error put_text(hid_t where, const char *name, const char *text) {
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(text) + 1);
  hid_t set = H5Dcreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool failed = set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0;
  eb_error error = failed ? eb_h5_error("cannot write", name) : EB_OK;
  if (set >= 0) H5Dclose(set);
  H5Sclose(space);
  H5Tclose(type);
  return error;
}

static eb_error make_group(hid_t where, const char *name) {
  hid_t group;
  EB_TRY(eb_h5_group(where, name, &group));
  H5Gclose(group);
  return EB_OK;
}

static eb_error write_matrix(hid_t where, const char *name, const eb_fclib_matrix *m) {
  hid_t group;
  EB_TRY(eb_h5_group(where, name, &group));
  eb_error error = put_whole(group, "nzmax", m->count);
  if (!error) error = put_whole(group, "m", m->rows);
  if (!error) error = put_whole(group, "n", m->columns);
  if (!error) error = put_whole(group, "nz", m->count);
  if (!error) error = put_indices(group, "i", m->count, m->row);
  if (!error) error = put_indices(group, "p", m->count, m->column);
  if (!error) error = put_reals(group, "x", m->count, m->value);
  H5Gclose(group);
  return error;
}

static eb_error write_problem(hid_t group, const eb_fclib *p) {
  EB_TRY(put_whole(group, "spacedim", 3));
  EB_TRY(write_matrix(group, p->global ? "M" : "W", &p->M));
  if (p->global) EB_TRY(write_matrix(group, "H", &p->H));
  EB_TRY(make_group(group, "vectors"));
  if (p->global) EB_TRY(put_reals(group, "vectors/f", p->size, p->f));
  EB_TRY(put_reals(group, p->global ? "vectors/w" : "vectors/q", 3 * (int64_t)p->contacts, p->w));
  EB_TRY(put_reals(group, "vectors/mu", p->contacts, p->mu));
  EB_TRY(make_group(group, "info"));
  EB_TRY(put_text(group, "info/title", p->title ? p->title : ""));
  EB_TRY(put_text(group, "info/description", p->description ? p->description : ""));
  return put_text(group, "info/math_info", "");
}

static eb_error write_solution(hid_t where, const char *name, const eb_fclib *p,
                               const eb_fclib_solution *solution) {
  hid_t group;
  int64_t m = 3 * (int64_t)p->contacts;
  EB_TRY(eb_h5_group(where, name, &group));
  eb_error error = solution->v ? put_reals(group, "v", p->size, solution->v) : EB_OK;
  if (!error) error = put_reals(group, "u", m, solution->u);
  if (!error) error = put_reals(group, "r", m, solution->r);
  H5Gclose(group);
  return error;
}

eb_error eb_fclib_write_into(hid_t file, const eb_fclib *p) {
  hid_t group;
  EB_TRY(eb_h5_group(file, p->global ? "fclib_global" : "fclib_local", &group));
  eb_error error = write_problem(group, p);
  H5Gclose(group);
  EB_TRY(error);
  if (p->solution.r) EB_TRY(write_solution(file, "solution", p, &p->solution));
  if (!p->guess.r) return EB_OK;
  EB_TRY(make_group(file, "guesses"));
  EB_TRY(put_whole(file, "guesses/number_of_guesses", 1));
  return write_solution(file, "guesses/1", p, &p->guess);
}

static eb_error write_whole(hid_t file, const void *problem) {
  return eb_fclib_write_into(file, problem);
}

eb_error eb_fclib_write(const char *path, const eb_fclib *problem) {
  eb_h5_quiet();
  return eb_error_prefix(eb_h5_write_file(path, write_whole, problem), "'%s'", path);
}

/* ---- from ours ------------------------------------------------------------------------------- */

static eb_error matrix_new(eb_fclib_matrix *m, int64_t rows, int64_t columns, int64_t count) {
  if (count > INT32_MAX || columns > INT32_MAX || rows > INT32_MAX)
    return EB_ERROR(EB_ERR_LIMIT, "%lld entries are too many for an FCLib file", (long long)count);
  m->rows = (int32_t)rows;
  m->columns = (int32_t)columns;
  m->count = (int32_t)count;
  EB_TRY(EB_NEW(m->row, count));
  EB_TRY(EB_NEW(m->column, count));
  return EB_NEW(m->value, count);
}

static eb_error copy_reals(const double *from, int64_t count, double **to) {
  EB_TRY(EB_NEW(*to, count));
  memcpy(*to, from, (size_t)count * sizeof **to);
  return EB_OK;
}

static void set_entry(eb_fclib_matrix *m, int64_t at, int64_t row, int64_t column, double value) {
  m->row[at] = (int32_t)row;
  m->column[at] = (int32_t)column;
  m->value[at] = value;
}

static eb_error take_matrices(const eb_contact_problem *problem, eb_fclib *out) {
  const eb_block_matrix *A = problem->A;
  int64_t n = 3 * (int64_t)A->rows, blocks = A->start[A->rows];
  int64_t entries = problem->start[problem->count];
  EB_TRY(matrix_new(&out->M, n, n, 9 * blocks));
  EB_TRY(matrix_new(&out->H, n, 3 * (int64_t)problem->count, 9 * entries));
  for (int32_t i = 0; i < A->rows; i++)
    for (int64_t b = A->start[i]; b < A->start[i + 1]; b++)
      for (int k = 0; k < 9; k++)
        set_entry(&out->M, 9 * b + k, 3 * (int64_t)i + k / 3, 3 * (int64_t)A->column[b] + k % 3,
                  A->values[9 * b + k]);
  for (int32_t i = 0; i < problem->count; i++)
    for (int64_t e = problem->start[i]; e < problem->start[i + 1]; e++)
      for (int k = 0; k < 9; k++)
        set_entry(&out->H, 9 * e + k, 3 * (int64_t)problem->block[e] + k % 3,
                  3 * (int64_t)i + k / 3, problem->H[9 * e + k]);
  return EB_OK;
}

static eb_error take_solution(const eb_contact_problem *problem, const double *v, const double *r,
                              eb_fclib_solution *out) {
  int64_t m = 3 * (int64_t)problem->count;
  EB_TRY(copy_reals(v, 3 * (int64_t)problem->A->rows, &out->v));
  EB_TRY(copy_reals(r, m, &out->r));
  EB_TRY(EB_NEW(out->u, m));
  eb_contact_velocity(problem, v, out->u);
  return EB_OK;
}

eb_error eb_fclib_from_contact(const eb_contact_problem *problem, const double *v, const double *r,
                               const double *guess_v, const double *guess_r, eb_fclib *out) {
  *out = (eb_fclib){.global = true, .size = 3 * problem->A->rows, .contacts = problem->count};
  EB_TRY(take_matrices(problem, out));
  EB_TRY(copy_reals(problem->b, out->size, &out->f));
  EB_TRY(copy_reals(problem->c, 3 * (int64_t)problem->count, &out->w));
  for (int64_t i = 0; i < 3 * (int64_t)problem->count; i++) out->w[i] = -out->w[i];
  EB_TRY(copy_reals(problem->mu, problem->count, &out->mu));
  if (r) EB_TRY(take_solution(problem, v, r, &out->solution));
  return guess_r ? take_solution(problem, guess_v, guess_r, &out->guess) : EB_OK;
}

/* ---- of result files ------------------------------------------------------------------------- */

static eb_error copy_problem(hid_t file, const void *group) {
  static const char *const groups[] = {"fclib_global", "solution", "guesses"};
  hid_t from = *(const hid_t *)group;
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (eb_h5_exists(from, groups[i]) &&
        H5Ocopy(from, groups[i], file, groups[i], H5P_DEFAULT, H5P_DEFAULT) < 0)
      return eb_h5_error("cannot write", groups[i]);
  return EB_OK;
}

static eb_error export_run(const eb_results *results, const eb_run *run, const char *folder,
                           FILE *out, int *written) {
  char group[300], path[1000];
  snprintf(group, sizeof group, "runs/%s/" EB_FCLIB_GROUP, run->id);
  if (!eb_h5_exists(eb_results_file(results), group)) return EB_OK;
  snprintf(path, sizeof path, "%s%s%s.hdf5", folder ? folder : "", folder ? "/" : "", run->id);
  hid_t from = H5Gopen2(eb_results_file(results), group, H5P_DEFAULT);
  if (from < 0) return eb_h5_error("cannot open group", group);
  eb_error error = eb_error_prefix(eb_h5_write_file(path, copy_problem, &from), "'%s'", path);
  H5Gclose(from);
  if (error) return error;
  eb_print(out, "%s\n", path);
  ++*written;
  return EB_OK;
}

eb_error eb_fclib_export(const eb_results *results, const eb_strings *ids, const char *folder,
                         FILE *out, int *written) {
  *written = 0;
  if (folder) EB_TRY(eb_folder_make(folder));
  for (int i = 0; i < eb_results_count(results); i++) {
    const eb_run *run = eb_results_run(results, i);
    if (eb_export_selects(ids, run)) EB_TRY(export_run(results, run, folder, out, written));
  }
  return EB_OK;
}
