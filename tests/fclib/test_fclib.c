/* FCLib's files: round trips, forms of matrices, bad files, merits, solutions. */
#include "harness/fclib/fclib.h"
#include "harness/results/h5.h"
#include "solvers/contact/delassus.h"
#include "tests/support/contact_methods.h"
#include "tests/support/scratch.h"

static const eb_contact_tolerance STRICT = {1e-12, 1e-10, 1e-8, 1e-4, 20000};
static const eb_option OPTIONS[] = {EB_CONTACT_DELASSUS_OPTIONS, {0}};

static char path[300];

static contact_case random_case(void) {
  return contact_open(
      &(contact_recipe){.seed = 21, .bodies = 3, .side = 2, .contacts = 12, .mu = -1});
}

static bool same_reals(int64_t n, const double *x, const double *y) {
  return x && y && !memcmp(x, y, (size_t)n * sizeof *x);
}

static bool same_matrix(const eb_fclib_matrix *a, const eb_fclib_matrix *b) {
  size_t indices = (size_t)a->count * sizeof *a->row;
  return a->rows == b->rows && a->columns == b->columns && a->count == b->count &&
         !memcmp(a->row, b->row, indices) && !memcmp(a->column, b->column, indices) &&
         same_reals(a->count, a->value, b->value);
}

/* ---- global problems ------------------------------------------------------------------------- */

/* A problem of the fixture with its solution, and rest as the guess. */
static eb_fclib solved_problem(const contact_case *c) {
  eb_fclib p;
  contact_run run = contact_run_open(&eb_contact_delassus, OPTIONS, "", c->A, c->problem->count);
  double *rest = eb_calloc(3 * (size_t)(c->A->rows + c->problem->count), sizeof *rest);
  run.tolerance = STRICT;
  contact_run_solve(&run, c->problem);
  tap_require(eb_fclib_from_contact(c->problem, run.v, run.r, rest, rest, &p), "convert");
  p.title = strdup("twelve contacts");
  free(rest);
  contact_run_close(&run);
  return p;
}

static void test_round_trip(void) {
  contact_case c = random_case();
  eb_fclib p = solved_problem(&c), q;
  int64_t n = p.size, m = 3 * (int64_t)p.contacts;
  tap_succeeds(eb_fclib_write(path, &p), "write a global problem");
  tap_succeeds(eb_fclib_read(path, &q), "read it");
  tap_ok(q.global && q.size == n && q.contacts == 12, "its sizes");
  tap_ok(same_matrix(&p.M, &q.M) && same_matrix(&p.H, &q.H), "its matrices");
  tap_ok(same_reals(n, p.f, q.f) && same_reals(m, p.w, q.w) && same_reals(12, p.mu, q.mu),
         "its vectors");
  tap_ok(same_reals(n, p.solution.v, q.solution.v) && same_reals(m, p.solution.u, q.solution.u) &&
             same_reals(m, p.solution.r, q.solution.r) && same_reals(m, p.guess.r, q.guess.r),
         "its solution and its guess");
  tap_ok(!strcmp(q.title, "twelve contacts"), "its title");
  eb_fclib_clear(&p);
  eb_fclib_clear(&q);
  contact_close(&c);
}

/* Units of forces, 0.1 N, beside velocities of 1e-4: the guess misses by the forces. */
static void test_merit(void) {
  contact_case c = random_case();
  eb_fclib p = solved_problem(&c);
  double solution, guess, moved;
  tap_require(eb_fclib_merit(&p, p.solution.v, p.solution.r, &solution), "merit");
  tap_require(eb_fclib_merit(&p, p.guess.v, p.guess.r, &guess), "merit");
  p.solution.v[7] += 1;
  tap_require(eb_fclib_merit(&p, p.solution.v, p.solution.r, &moved), "merit");
  tap_below(solution, 1e-9, "a solution has a merit of nearly 0");
  tap_ok(guess > 1e-4, "rest has not");
  tap_ok(moved > 1e-5, "nor a velocity that the forces do not explain");
  eb_fclib_clear(&p);
  contact_close(&c);
}

static eb_error put(hid_t file, const char *name, hid_t type, int64_t count, const void *data) {
  if (eb_h5_exists(file, name)) H5Ldelete(file, name, H5P_DEFAULT);
  return eb_h5_put(file, name, type, type, (eb_h5_shape){1, {(hsize_t)count}}, "", data);
}

/* What libfclib reads, under its names: of H's triplets `i` counts rows (velocities), `p` columns
 * (contacts). */
static void test_structure(void) {
  static const char *const names[] = {
      "M/m", "M/n",       "M/nz",      "M/nzmax",    "M/i",      "M/p",       "M/x",
      "H/i", "vectors/f", "vectors/w", "vectors/mu", "spacedim", "info/title"};
  contact_case c = random_case();
  eb_fclib p = solved_problem(&c);
  hid_t file;
  eb_h5_shape shape;
  void *row = NULL, *column = NULL;
  int32_t last_row = 0, last_column = 0;
  bool all = true;
  tap_require(eb_fclib_write(path, &p), "write");
  tap_require(eb_h5_open_file(path, false, &file), "open");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char name[64];
    snprintf(name, sizeof name, "fclib_global/%s", names[i]);
    all = all && eb_h5_exists(file, name);
  }
  tap_ok(all && eb_h5_exists(file, "solution/v") && eb_h5_exists(file, "guesses/1/r") &&
             eb_h5_exists(file, "guesses/number_of_guesses"),
         "everything has FCLib's name");
  tap_require(eb_h5_get(file, "fclib_global/H/i", H5T_NATIVE_INT32, 4, &row, &shape), "H/i");
  tap_require(eb_h5_get(file, "fclib_global/H/p", H5T_NATIVE_INT32, 4, &column, &shape), "H/p");
  for (int32_t k = 0; k < p.H.count; k++) {
    last_row = ((int32_t *)row)[k] > last_row ? ((int32_t *)row)[k] : last_row;
    last_column = ((int32_t *)column)[k] > last_column ? ((int32_t *)column)[k] : last_column;
  }
  tap_ok(last_row >= 36 && last_column == 35, "triplets have rows in i and columns in p");
  H5Fclose(file);
  free(row), free(column);
  eb_fclib_clear(&p);
  contact_close(&c);
}

/* Lifting and taking back give the same products; solving gives the same velocities. */
static void test_lift(void) {
  contact_case c = random_case();
  eb_fclib p = solved_problem(&c);
  eb_fclib_lifted lifted;
  tap_require(eb_fclib_lift(&p, &lifted), "lift");
  int64_t n = p.size, m = 3 * (int64_t)p.contacts;
  double *u = eb_calloc((size_t)m, sizeof *u);
  tap_ok(lifted.A->rows == c.A->rows && same_reals(n, lifted.b, c.b), "b comes back");
  /* Of 1e-2: averaging with the mirror image moves a last bit. */
  tap_below(contact_difference(9 * (int64_t)c.A->start[c.A->rows], lifted.A->values, c.A->values),
            1e-17, "A comes back");
  eb_contact_velocity(lifted.problem, p.solution.v, u);
  tap_ok(same_reals(m, u, p.solution.u), "H and c come back");
  free(u);
  eb_fclib_lifted_clear(&lifted);
  eb_fclib_clear(&p);
  contact_close(&c);
}

/* ---- small problems by hand ------------------------------------------------------------------ */

/* Five velocities of mass 2, falling with 1: M v = f, f = -2; one contact with u = (v0, v1, v4)
 * that slides: mu r_n = 0.5 x 2 against -2. */
static int32_t five[5] = {0, 1, 2, 3, 4}, touched[3] = {0, 1, 4}, one_contact[3] = {0, 1, 2};
static double masses[5] = {2, 2, 2, 2, 2}, ones[3] = {1, 1, 1};
static double momentum[5] = {-2, -2, -2, -2, 0}, no_gap[3] = {0, 0, 0}, half[1] = {0.5};

static eb_fclib five_velocities(void) {
  return (eb_fclib){.global = true,
                    .size = 5,
                    .contacts = 1,
                    .M = {5, 5, 5, five, five, masses},
                    .H = {5, 3, 3, touched, one_contact, ones},
                    .f = momentum,
                    .w = no_gap,
                    .mu = half};
}

static eb_error solve(const eb_fclib *p, const char *solver, const char *options,
                      eb_fclib_result *out) {
  const eb_fclib_method *method;
  eb_values *values;
  *out = (eb_fclib_result){0};
  char spec[128];
  snprintf(spec, sizeof spec, "%s%s%s", solver, *options ? ":" : "", options);
  EB_TRY(eb_fclib_solver(spec, &method, &values));
  const eb_solver with = {.options = values, .threads = 1};
  eb_error error = eb_fclib_solve(p, method->method, &with, &STRICT, out);
  eb_values_destroy(values);
  return error;
}

/* r = (2, 1, 0), so v = (0, -0.5, -1, -1, 0). */
static void test_padding(void) {
  static const double WANT[5] = {0, -0.5, -1, -1, 0};
  const eb_fclib p = five_velocities();
  eb_fclib_result result;
  tap_require(solve(&p, "contact-delassus", "", &result), "solve");
  double off = fabs(result.found.r[0] - 2) + fabs(result.found.r[1] - 1);
  for (int i = 0; i < 5; i++) off += fabs(result.found.v[i] - WANT[i]);
  tap_below(off, 1e-12, "five velocities are filled up to six and solved as five");
  tap_below(result.merit, 1e-12, "and their merit is 0");
  eb_fclib_result_clear(&result);
}

/* An entry of 1e-6 beside its mirror image 0: less than is refused, more than the tolerance
 * forgives. */
static void test_asymmetry(void) {
  int32_t row[6] = {0, 1, 2, 3, 4, 1}, column[6] = {0, 1, 2, 3, 4, 2};
  double value[6] = {2, 2, 2, 2, 2, 1e-6};
  eb_fclib p = five_velocities();
  eb_fclib_result result;
  p.M = (eb_fclib_matrix){5, 5, 6, row, column, value};
  tap_require(solve(&p, "contact-delassus", "", &result), "solve");
  tap_ok(result.outcome.reason > 0, "an asymmetry that matters is refined away");
  tap_below(result.merit, 1e-10, "and M is the file's");
  eb_fclib_result_clear(&result);
}

/* a on the diagonal, k beside it and -k in the mirror: what is averaged has no k, and refinement
 * grows by k / a = 10. */
static void test_hopeless_asymmetry(void) {
  int32_t row[7] = {0, 1, 2, 3, 4, 0, 1}, column[7] = {0, 1, 2, 3, 4, 1, 0};
  double value[7] = {1e-7, 1e-7, 2, 2, 2, 1e-6, -1e-6};
  eb_fclib p = five_velocities();
  eb_fclib_result result;
  p.M = (eb_fclib_matrix){5, 5, 7, row, column, value};
  tap_require(solve(&p, "contact-delassus", "", &result), "solve");
  tap_ok(result.outcome.reason == EB_DIVERGED_LINEAR_SOLVE && result.merit > 1e-8,
         "an asymmetry that cannot be refined away is no convergence");
  eb_fclib_result_clear(&result);
}

static void test_unsupported(void) {
  int32_t row[33], column[33];
  double value[33];
  eb_fclib_lifted lifted;
  eb_fclib p = five_velocities();
  int32_t skew_row[6] = {0, 1, 2, 3, 4, 0}, skew_column[6] = {0, 1, 2, 3, 4, 1};
  double skew[6] = {2, 2, 2, 2, 2, 0.1};
  p.M = (eb_fclib_matrix){5, 5, 6, skew_row, skew_column, skew};
  tap_fails(eb_fclib_lift(&p, &lifted), EB_ERR_UNSUPPORTED, "not symmetric", "a skew M is refused");
  for (int k = 0; k < 33; k++) row[k] = column[k] = k, value[k] = 1;
  p = five_velocities();
  p.size = 33;
  p.M = (eb_fclib_matrix){33, 33, 33, row, column, value};
  double f[33] = {0};
  int32_t first[33] = {0};
  p.f = f;
  p.H = (eb_fclib_matrix){33, 3, 33, row, first, value};
  tap_fails(eb_fclib_lift(&p, &lifted), EB_ERR_UNSUPPORTED, "more than 8",
            "a contact of many unknowns is refused");
  p.H.count = 0;
  tap_fails(eb_fclib_lift(&p, &lifted), EB_ERR_UNSUPPORTED, "acts on nothing",
            "a contact of none is refused");
}

/* ---- local problems -------------------------------------------------------------------------- */

/* W and q of a random case, as triplets. */
static eb_fclib local_problem(const contact_case *c) {
  eb_delassus operator= {.threads = 1};
  eb_reduced reduced = {0};
  eb_reason reason;
  int32_t m = 3 * c->problem->count;
  eb_fclib p = {.contacts = c->problem->count, .M = {.rows = m, .columns = m, .count = m * m}};
  tap_require(eb_reduced_reserve(&reduced, p.contacts, c->problem->mu), "room");
  tap_require(eb_delassus_factor(&operator, c->A, NULL, &reason), "factor");
  tap_require(eb_delassus_reduce(&operator, c->problem, &reduced, NULL, &reason), "reduce");
  p.M.row = eb_calloc((size_t)(m * m), sizeof *p.M.row);
  p.M.column = eb_calloc((size_t)(m * m), sizeof *p.M.row);
  for (int32_t k = 0; k < m * m; k++) p.M.row[k] = k / m, p.M.column[k] = k % m;
  p.M.value = reduced.W;
  p.w = reduced.q;
  p.mu = eb_calloc((size_t)p.contacts, sizeof *p.mu);
  memcpy(p.mu, c->problem->mu, (size_t)p.contacts * sizeof *p.mu);
  reduced.W = reduced.q = NULL;
  eb_reduced_clear(&reduced);
  eb_delassus_clear(&operator);
  return p;
}

static void test_local(void) {
  contact_case c = random_case();
  eb_fclib p = local_problem(&c), q;
  eb_fclib_result result;
  tap_succeeds(eb_fclib_write(path, &p), "write a local problem");
  tap_succeeds(eb_fclib_read(path, &q), "read it");
  tap_ok(!q.global && same_matrix(&p.M, &q.M) && same_reals(36, p.w, q.w), "it is the same");
  for (int newton = 0; newton < 2; newton++) {
    const char *options = newton ? "delassus_solver=newton" : "delassus_solver=pgs";
    tap_require(solve(&q, "contact-delassus", options, &result), options);
    tap_ok(result.outcome.reason == EB_CONVERGED_ATOL, "solved with %s", options);
    tap_below(result.merit, 1e-9, options);
    eb_fclib_result_clear(&result);
  }
  tap_fails(solve(&q, "contact-ica", "", &result), EB_ERR_UNSUPPORTED, "contact-delassus",
            "methods that need A refuse it");
  eb_fclib_result_clear(&result);
  tap_fails(solve(&q, "contact-delasus", "", &result), EB_ERR_USAGE, "contact-delassus",
            "the nearest method is named");
  eb_fclib_clear(&p);
  eb_fclib_clear(&q);
  contact_close(&c);
}

/* ---- forms of matrices, bad files ------------------------------------------------------------ */

/* Writes five velocities and replaces a dataset. */
static void replace(const char *name, hid_t type, int64_t count, const void *data) {
  const eb_fclib p = five_velocities();
  hid_t file;
  tap_require(eb_fclib_write(path, &p), "write");
  tap_require(eb_h5_open_file(path, true, &file), "open");
  if (data)
    tap_require(put(file, name, type, count, data), name);
  else
    H5Ldelete(file, name, H5P_DEFAULT);
  H5Fclose(file);
}

/* H by compressed columns: 0, 1, 4 one a column; and by compressed rows. */
static void test_compressed(void) {
  static const int32_t COLUMNS[4] = {0, 1, 2, 3}, ROWS[6] = {0, 1, 2, 2, 2, 3};
  const eb_fclib p = five_velocities();
  for (int32_t nz = -2; nz < 0; nz++) {
    hid_t file;
    eb_fclib q;
    replace("fclib_global/H/nz", H5T_NATIVE_INT32, 1, &nz);
    tap_require(eb_h5_open_file(path, true, &file), "open");
    tap_require(put(file, "fclib_global/H/p", H5T_NATIVE_INT32, nz == -1 ? 4 : 6,
                    nz == -1 ? COLUMNS : ROWS),
                "p");
    tap_require(
        put(file, "fclib_global/H/i", H5T_NATIVE_INT32, 3, nz == -1 ? touched : one_contact), "i");
    H5Fclose(file);
    tap_succeeds(eb_fclib_read(path, &q), nz == -1 ? "compressed columns" : "compressed rows");
    tap_ok(same_matrix(&p.H, &q.H), "say the same as triplets");
    eb_fclib_clear(&q);
  }
}

typedef struct bad_file {
  const char *name; /* dataset */
  bool real;
  int count; /* 0: the dataset is missing */
  double data[6];
  eb_error_code code;
  const char *fragment;
} bad_file;

static const bad_file BAD[] = {
    {"fclib_global", false, 0, {0}, EB_ERR_FORMAT, "no group fclib_global"},
    {"fclib_global/M", false, 0, {0}, EB_ERR_FORMAT, "no matrix M"},
    {"fclib_global/M/x", false, 0, {0}, EB_ERR_LIBRARY, "matrix M"},
    {"fclib_global/spacedim", false, 1, {2}, EB_ERR_UNSUPPORTED, "2 dimensions"},
    {"fclib_global/spacedim", false, 2, {3, 3}, EB_ERR_FORMAT, "2 entries"},
    {"fclib_global/M/m", false, 1, {4}, EB_ERR_FORMAT, "entry 4 is at"},
    {"fclib_global/M/m", false, 1, {6}, EB_ERR_FORMAT, "not square"},
    {"fclib_global/M/m", false, 1, {-1}, EB_ERR_FORMAT, "no matrix"},
    {"fclib_global/M/nz", false, 1, {-3}, EB_ERR_FORMAT, "no matrix"},
    {"fclib_global/M/nz", false, 1, {4}, EB_ERR_FORMAT, "5 entries, not 4"},
    {"fclib_global/M/nz", false, 1, {-1}, EB_ERR_FORMAT, "p has 5 entries"},
    {"fclib_global/M/i", false, 5, {0, 1, 2, 3, 5}, EB_ERR_FORMAT, "entry 4 is at (5, 4)"},
    {"fclib_global/M/p", false, 5, {0, 1, 2, 3, -1}, EB_ERR_FORMAT, "entry 4"},
    {"fclib_global/M/x", true, 5, {2, 2, NAN, 2, 2}, EB_ERR_FORMAT, "entry 2 of x"},
    {"fclib_global/M/x", true, 4, {2, 2, 2, 2}, EB_ERR_FORMAT, "4 entries, not 5"},
    {"fclib_global/H/m", false, 1, {6}, EB_ERR_FORMAT, "H has 6 rows"},
    {"fclib_global/H/n", false, 1, {4}, EB_ERR_FORMAT, "three a contact"},
    {"fclib_global/vectors/f", true, 4, {0}, EB_ERR_FORMAT, "vectors/f"},
    {"fclib_global/vectors/w", true, 3, {0, INFINITY, 0}, EB_ERR_FORMAT, "vectors/w"},
    {"fclib_global/vectors/mu", true, 1, {-0.5}, EB_ERR_FORMAT, "below 0"},
    {"fclib_global/vectors/mu", true, 0, {0}, EB_ERR_LIBRARY, "vectors/mu"},
    {"fclib_global/G", false, 1, {0}, 0, NULL}};

static void test_bad(void) {
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    const bad_file *b = &BAD[i];
    int32_t whole[6];
    char name[200];
    eb_fclib p;
    for (int k = 0; k < 6; k++) whole[k] = b->real ? 0 : (int32_t)b->data[k];
    const void *data = b->real ? (const void *)b->data : whole;
    replace(b->name, b->real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, b->count,
            b->count ? data : NULL);
    snprintf(name, sizeof name, "%s, %d entries from %g on", b->name, b->count, b->data[0]);
    if (b->fragment)
      tap_fails(eb_fclib_read(path, &p), b->code, b->fragment, name);
    else
      tap_succeeds(eb_fclib_read(path, &p), name);
    eb_fclib_clear(&p);
  }
}

/* As FCLib writes a problem without a solution: its datasets are there and nothing is in them. */
static void test_unwritten_solution(void) {
  hid_t file, group, space, set;
  hsize_t count = 3;
  eb_fclib p;
  replace("fclib_global/spacedim", H5T_NATIVE_INT32, 1, &(int32_t){3});
  tap_require(eb_h5_open_file(path, true, &file), "open");
  if (H5Lexists(file, "solution", H5P_DEFAULT) > 0) H5Ldelete(file, "solution", H5P_DEFAULT);
  tap_require(eb_h5_group(file, "solution", &group), "a group");
  space = H5Screate_simple(1, &count, NULL);
  for (int k = 0; k < 3; k++) {
    const char *names[] = {"v", "u", "r"};
    set = H5Dcreate2(group, names[k], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                     H5P_DEFAULT);
    H5Dclose(set);
  }
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(file);
  tap_succeeds(eb_fclib_read(path, &p), "a solution that nobody has written");
  tap_ok(!p.solution.r && !p.solution.v, "is none");
  eb_fclib_clear(&p);
}

/* A matrix of bilateral constraints with `columns` columns beside the problem. */
static eb_error read_with_G(int32_t columns, eb_fclib *p) {
  hid_t file, group;
  replace("fclib_global/spacedim", H5T_NATIVE_INT32, 1, &(int32_t){3});
  tap_require(eb_h5_open_file(path, true, &file), "open");
  tap_require(eb_h5_group(file, "fclib_global/G", &group), "a group");
  tap_require(put(group, "n", H5T_NATIVE_INT32, 1, &columns), "n");
  H5Gclose(group);
  H5Fclose(file);
  return eb_fclib_read(path, p);
}

static void test_kinds(void) {
  eb_fclib p;
  tap_succeeds(read_with_G(0, &p), "no bilateral constraints, said in so many words");
  eb_fclib_clear(&p);
  tap_fails(read_with_G(2, &p), EB_ERR_UNSUPPORTED, "bilateral", "bilateral constraints");
  eb_fclib_clear(&p);
  replace("fclib_global_rolling", H5T_NATIVE_INT32, 1, &(int32_t){1});
  tap_fails(eb_fclib_read(path, &p), EB_ERR_UNSUPPORTED, "rolling", "rolling friction");
  eb_fclib_clear(&p);
  write_bytes("problem.hdf5", "no file of HDF5", 15);
  tap_fails(eb_fclib_read(path, &p), EB_ERR_FORMAT, "not HDF5", "a file of another format");
  eb_fclib_clear(&p);
  tap_fails(eb_fclib_read("/nowhere/at/all.hdf5", &p), EB_ERR_IO, "/nowhere", "no file");
  eb_fclib_clear(&p);
}

int main(void) {
  scratch_open();
  snprintf(path, sizeof path, "%s", in_folder("problem.hdf5"));
  test_round_trip();
  test_merit();
  test_structure();
  test_lift();
  test_padding();
  test_asymmetry();
  test_hopeless_asymmetry();
  test_unsupported();
  test_local();
  test_compressed();
  test_bad();
  test_unwritten_solution();
  test_kinds();
  return scratch_close();
}
