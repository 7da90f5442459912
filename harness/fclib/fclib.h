/* Frictional contact problems in the HDF5 files of FCLib (Acary, Bremond, Koziara and Perignon
 * 2014, "FCLIB: a collection of discrete 3D frictional contact problems", INRIA RT-0444), as
 * Siconos, LMGC90 and others write them.
 *
 *   global:  M v = H r + f,  u = H^T v + w      n velocities, H is n x 3 contacts:
 *            the transpose of ours (problems/contact/problem.h)
 *   local:   u = W r + q
 *   both:    with the contact law; contact k has entries 3 k (normal), 3 k + 1, 3 k + 2 of u, r,
 *            w and q; no unit is prescribed.
 *
 * So ours are A = M, b = f, H = H^T, c = -w; velocities stand for what a step calls motions.
 *
 * Sparse matrices come as triplets (nz >= 0), compressed columns (nz = -1) or compressed rows (nz =
 * -2). In triplets `i` holds the rows and `p` the columns, as the library does it and not as its
 * header says. Only 3 dimensions; no bilateral constraints (G, V, R); no rolling. */
#ifndef EB_FCLIB_H
#define EB_FCLIB_H

#include "harness/results/read.h"
#include "problems/base/strings.h"
#include "problems/contact/problem.h"
#include "solvers/contact/method.h"

/* Triplets in any order; those of the same place add up. */
typedef struct eb_fclib_matrix {
  int32_t rows, columns, count;
  int32_t *row, *column; /* count, from 0 on */
  double *value;
} eb_fclib_matrix;

/* NULL where the file has none. */
typedef struct eb_fclib_solution {
  double *v, *u, *r; /* n (global only), 3 contacts, 3 contacts */
} eb_fclib_solution;

typedef struct eb_fclib {
  bool global;
  int32_t size, contacts; /* size: n; 0 for a local problem */
  eb_fclib_matrix M;      /* M, n x n, or W, 3 contacts x 3 contacts */
  eb_fclib_matrix H;      /* n x 3 contacts; nothing for a local problem */
  double *f;              /* n */
  double *w;              /* w or q, 3 contacts */
  double *mu;             /* contacts */
  char *title, *description;
  eb_fclib_solution solution, guess; /* the first guess */
} eb_fclib;

/* EB_ERR_FORMAT for what is not an FCLib problem or contradicts itself, EB_ERR_UNSUPPORTED for what
 * is one of another kind. The caller clears *out also after an error. */
EB_MUST eb_error eb_fclib_read(const char *path, eb_fclib *out);
/* Replaces the file. Parts that are NULL are left out. */
EB_MUST eb_error eb_fclib_write(const char *path, const eb_fclib *problem);
void eb_fclib_clear(eb_fclib *problem);

/* Our problem as a global one, with its solution v, r and a first guess; without those whose forces
 * are NULL. The caller clears *out, also after an error. */
EB_MUST eb_error eb_fclib_from_contact(const eb_contact_problem *problem, const double *v,
                                       const double *r, const double *guess_v,
                                       const double *guess_r, eb_fclib *out);

/* A global problem as ours: consecutive unknowns are taken three at a time as blocks, and filled up
 * with unknowns of their own that stay 0. EB_ERR_UNSUPPORTED when M is not symmetric or a contact
 * acts on more than EB_CONTACT_ENTRIES blocks. */
typedef struct eb_fclib_lifted {
  eb_block_matrix *A;
  double *b;
  eb_contact_problem *problem;
} eb_fclib_lifted;
EB_MUST eb_error eb_fclib_lift(const eb_fclib *global, eb_fclib_lifted *out);
void eb_fclib_lifted_clear(eb_fclib_lifted *lifted);

/* The merit of a solution: the natural map of the second-order cone complementarity (FCLib's
 * MERIT_1),
 *
 *   |r - P(r - u - (mu |u_t|, 0, 0))|_2 / (1 + |w|_2),   P: nearest point of the friction cones,
 *
 * with u recomputed from r (local) or v (global; FCLib itself returns 0 for those), plus |M v - H r
 * - f|_2 / (1 + |f|_2) for a global problem. v is not read for local ones. */
EB_MUST eb_error eb_fclib_merit(const eb_fclib *problem, const double *v, const double *r,
                                double *merit);
/* rest = f + H r - M v (n); returns its norm. Of a global problem. */
double eb_fclib_residual(const eb_fclib *problem, const double *v, const double *r, double *rest);

typedef struct eb_fclib_result {
  eb_contact_outcome outcome;
  double seconds, factor_seconds; /* wall clock; factor: of that, for the factorization and W */
  eb_fclib_solution found;        /* to be freed with eb_fclib_result_clear */
  double merit;
  double stored_merit; /* of the solution that the file has; NAN: none */
} eb_fclib_result;

/* Solves with `method`, whose options `solver` has, from rest. Local problems need
 * eb_contact_delassus, whose reduced problem they are: other methods need A, and W alone does not
 * tell it. EB_ERR_UNSUPPORTED then. Where what was averaged to make M symmetric matters, the
 * solution is refined until the residual with the file's M is within 2 eps1; EB_DIVERGED_LINEAR_
 * SOLVE where that does not converge. The caller clears *out also after an error. */
EB_MUST eb_error eb_fclib_solve(const eb_fclib *problem, const eb_contact_method *method,
                                const eb_solver *solver, const eb_contact_tolerance *tolerance,
                                eb_fclib_result *out);
void eb_fclib_result_clear(eb_fclib_result *result);

/* The contact methods under the names of their solvers, with the options that they have there. */
typedef struct eb_fclib_method {
  const char *name; /* "contact-delassus" */
  const eb_contact_method *method;
} eb_fclib_method;

/* "contact-al:o=v,.." taken apart: EB_ERR_USAGE, with the nearest name, for a method or an option
 * that there is not. The caller destroys *options. */
EB_MUST eb_error eb_fclib_solver(const char *spec, const eb_fclib_method **method,
                                 eb_values **options);

/* ---- in result files ------------------------------------------------------------------------- */

/* A step of a run keeps its contact problem in a group of this name below the run, laid out as a
 * file of FCLib. */
#define EB_FCLIB_GROUP "contact_problem"

/* Writes a problem with its solution and guess into a file or an empty group. */
EB_MUST eb_error eb_fclib_write_into(hid_t where, const eb_fclib *problem);

/* Writes one file of FCLib, <id>.hdf5, for every selected run that has kept a problem, into
 * `folder` (made when missing; NULL: the working folder), and prints the paths to `out`. *written
 * is their number. */
EB_MUST eb_error eb_fclib_export(const eb_results *results, const eb_strings *ids,
                                 const char *folder, FILE *out, int *written);

#endif
