/* The frictional contact problem of one step, the same for every method that solves it.
 *
 *   A v = b + H^T r,   u = H v - c,   for every contact k:
 *   0 <= u_n  perp  r_n >= 0,   |r_t| <= mu r_n,   u_t = 0 or r_t = -mu r_n u_t / |u_t|
 *
 * A is symmetric positive definite, in 3x3 blocks: a row of blocks is a node, or the linear or
 * angular velocity of a free rigid body. Contact k has the rows 3 k (normal), 3 k + 1 and 3 k + 2
 * (tangents) of H. H carries the step h, so that u is in m and r is a force, N (J and J_t of
 * Verschoor and Jalba 2019, Equations 7 and 14; c_n = -d_n, c_t = -d_t). With mu = 0 it is the
 * optimality of min 1/2 v^T A v - b^T v subject to H_n v >= c_n. Duplicate constraints are kept. */
#ifndef EB_CONTACT_PROBLEM_H
#define EB_CONTACT_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "problems/elasticity/block_matrix.h"

enum { EB_CONTACT_ENTRIES = 8 /* the most blocks that a contact acts on */ };
#define EB_CONTACT_STICKING (1 - 1e-6) /* of mu r_n: friction below it sticks */

typedef struct eb_contact_problem {
  const eb_block_matrix *A; /* not owned */
  int64_t matrix;      /* names A's values: the same while they stay; 0: they may be other ones */
  const double *b;     /* 3 A->rows; not owned */
  int32_t count, room; /* contacts; contacts that there is room for */
  int32_t *start;      /* count + 1: entries of contact k are start[k] .. start[k + 1] - 1 */
  int32_t *block;      /* of an entry: block row of A; ascending and unique within a contact */
  /* 9 an entry, row-major: the rows of the contact, the columns of the block; m/(m/s) or
   * m/(rad/s) */
  double *H;
  double *c;  /* 3 a contact, m */
  double *mu; /* a contact */
  /* a contact: Z of Section 3.4.1, >= 1: how many constraints say nearly the same as this one,
   * itself included */
  double *similar;
} eb_contact_problem;

/* Grows an array from `before` to `count` entries of `size` bytes, keeping what is there; on
 * failure it is untouched. */
EB_MUST eb_error eb_contact_grow(void **array, int64_t before, int64_t count, size_t size);

/* Without contacts, and without A and b, which the caller sets. The caller destroys *out. */
EB_MUST eb_error eb_contact_problem_create(int32_t room, eb_contact_problem **out);
void eb_contact_problem_destroy(eb_contact_problem *problem);
/* Makes room for as many contacts, keeping what is there. */
EB_MUST eb_error eb_contact_problem_reserve(eb_contact_problem *problem, int32_t room);
/* Appends a contact (room for it must be there) with 1 to EB_CONTACT_ENTRIES blocks; sorts them and
 * adds up those of the same block row; similar = 1. */
void eb_contact_problem_add(eb_contact_problem *problem, int32_t entries, const int32_t *block,
                            const double *H, const double c[3], double mu);

/* u = H v - c (3 count). */
void eb_contact_velocity(const eb_contact_problem *problem, const double *v, double *u);
/* Of contacts from .. to-1 alone. */
void eb_contact_velocities(const eb_contact_problem *problem, int32_t from, int32_t to,
                           const double *v, double *u);
/* f += H^T r (3 rows of A). */
void eb_contact_force_add(const eb_contact_problem *problem, const double *r, double *f);

/* How far (v, r) is from a solution. */
typedef struct eb_contact_error {
  double residual;  /* |A v - b - H^T r|_2, units of b */
  double violation; /* largest -u_n of all contacts, m, >= 0 */
  double active;    /* largest |u_n| where r_n > 0, m */
  double sliding;   /* largest |u_t| of contacts whose |r_t| < mu r_n, m: those that should stick */
  /* largest (|r_t| - mu r_n) over the largest r_n of the problem, >= 0; negative r_n count in
   * full */
  double cone;
  /* largest angle between r_t and -u_t of sliding contacts with |u_t| > eps2, degrees */
  double angle;
} eb_contact_error;

/* `eps2` (m): tangential motion below it has no direction. A contact sticks here when |r_t| < (1 -
 * 1e-6) mu r_n. `work`: 3 A->rows + 3 count, which begins with A v and is left with
 * b + H^T r - A v. */
void eb_contact_measure(const eb_contact_problem *problem, const double *v, const double *r,
                        double eps2, double *work, eb_contact_error *error);
/* The same of u and r alone (3 count; mu: count); error->residual is left as it is. */
void eb_contact_measure_law(int32_t count, const double *u, const double *r, const double *mu,
                            double eps2, eb_contact_error *error);

#endif
