/* The regularized contact law of contact-al, the system of a Newton step on it, and conjugate
 * residuals on that. Internal to solvers/contact. */
#ifndef EB_CONTACT_AL_SYSTEM_H
#define EB_CONTACT_AL_SYSTEM_H

#include "problems/contact/problem.h"
#include "solvers/contact/al_direct.h"
#include "solvers/contact/product.h"
#include "solvers/linalg/spin_team.h"
#include "solvers/solver.h"

/* The proximal form of the contact law. With a compliance E (m/N) and multipliers r^ from the last
 * proximal step, forces follow from velocities alone:
 *
 *   r_n(u) = max(0, r^_n - u_n / E),
 *   r_t(u) = projection of r^_t - u_t / E on the disc of radius s,
 *
 * and r = r^ is the law itself, with s = mu r_n. For fixed r^ and s they are the gradient of a
 * convex function of u (the Moreau envelope), so that Phi(v) = 1/2 v^T A v - b^T v + sum_k
 * phi_k(H_k v - c_k),   grad Phi = A v - b - H^T r(v), is strictly convex. D_k = -dr/du is
 * symmetric and positive semi-definite. */
typedef struct eb_al_law {
  double *compliance; /* a contact: E, m/N */
  double *anchor;     /* 3 a contact: r^, N */
  double *bound;      /* a contact: s, N */
} eb_al_law;

typedef enum eb_al_state {
  EB_AL_OPEN,
  EB_AL_STICKS,
  EB_AL_SLIDES,
  EB_AL_OPEN_WITH_FRICTION /* no normal force, but the bound of the last proximal step is not 0 */
} eb_al_state;

/* Forces r at u, both 3 entries; returns the state. */
eb_al_state eb_al_force(const eb_al_law *law, int32_t k, const double u[3], double r[3]);
/* D_k at u, row-major. */
void eb_al_stiffness(const eb_al_law *law, int32_t k, const double u[3], double D[9]);

enum { EB_AL_COLOURS = 64 };

/* The linear system of a Newton step,
 *
 *   K = A + H^T D H,
 *
 * which is B of Verschoor and Jalba 2019 with compliance E in its lower right block and the
 * multipliers eliminated. Preconditioners: full  C^-1 = A_d^-1 - A_d^-1 H^T M^-1 H A_d^-1, the
 * upper left block of their Equation 22, A_d of 3x3 blocks, M for D^-1 + H A_d^-1 H^T by symmetric
 * Gauss-Seidel over the contacts; diag  the inverse of the 3x3 diagonal blocks of K. */
typedef struct eb_al_system {
  const eb_contact_problem *problem;
  int64_t n, m, room;
  eb_contact_product product;
  eb_pieces contact_pieces; /* of m entries */
  bool full;
  int threads;
  int64_t matrix;   /* of the problem whose A `diagonal` is of; 0: of none */
  double *diagonal; /* 9 a block row: inverse of A's, or of K's with diag */
  double *schur;    /* 9 a contact: S_k = H_k A_d^-1 H_k^T */
  double *D;        /* 9 a contact */
  double *inner;    /* 9 a contact that resists: (D^-1 + S_k)^-1 */
  uint8_t *stale;   /* a contact: has D changed? */
  double *G;        /* 9 an entry: A_d^-1 H^T */
  double *s, *f;    /* m: work of the sweep and of the product */
  /* The entries of block row i of A, and their contacts: row_start[i] .. row_start[i + 1] - 1. */
  int32_t *row_start, *row_entry, *row_contact;
  /* Contacts of one colour share no row: those of colour c are order[colour[c]] and on. 0 colours:
   * there is no such order in which a colour has many. */
  int32_t colours, colour[EB_AL_COLOURS + 1], *order;
  uint8_t *colour_of;    /* a contact: work */
  uint64_t *row_colours; /* a row: work, those that its contacts have */
  bool rigid, direct;    /* A has nothing beside its diagonal blocks; K is factored */
  eb_al_direct factor;
  eb_spin_team *team;
  eb_step_log *log; /* of the present solve, for the phases FACTOR and PRECONDITION; or NULL */
} eb_al_system;

/* For matrices with this pattern, with the preconditioner full or diag. The caller clears *out,
 * also after failure. */
EB_MUST eb_error eb_al_system_create(const eb_block_matrix *pattern, bool full, int threads,
                                     eb_al_system *out);
void eb_al_system_clear(eb_al_system *system);
/* Takes a problem and inverts the diagonal blocks, unless they are those of the last one (its
 * `matrix` tells). EB_ERR_INVALID when one is not positive definite. */
EB_MUST eb_error eb_al_system_begin(eb_al_system *system, const eb_contact_problem *problem);

/* One thread's part in what follows. A parallel region spans a whole solve; in it all members call
 * the same functions with scalars that come out alike. Each has some of the rows and some of the
 * contacts, in whole pieces of the sums: the bits are the same for any number of threads. */
typedef struct eb_al_share {
  int first, last;  /* its pieces are first .. last-1, */
  int64_t from, to; /* rows: their entries from .. to-1; contacts: contacts from .. to-1 */
} eb_al_share;

typedef struct eb_al_member {
  eb_spin_member team;
  eb_al_system *system;
  eb_al_share rows, contacts;
  bool leads; /* logs */
} eb_al_member;

/* How many threads the region has, once a problem has been taken; the next call is the region. */
int eb_al_team(eb_al_system *system);
/* In the region, by each thread. */
eb_al_member eb_al_join(eb_al_system *system);

/* Of the problem, before the first linearization: G, S and that D is of no place yet. Own contacts;
 * others are there after the next wait, as with all that follow. */
void eb_al_system_prepare(eb_al_member *own);
/* D of the law at u, and what the preconditioner needs of it; without a law D = 0: fixed forces. */
void eb_al_system_linearize(eb_al_member *own, const eb_al_law *law, const double *u);
/* y += sign H^T f in the rows of the entries from .. to-1. */
void eb_al_gather(const eb_al_system *system, const double *f, int64_t from, int64_t to,
                  double sign, double *y);

/* Where a piece of n entries begins; piece + 1: where it ends. */
static inline int64_t eb_al_piece(eb_pieces pieces, int64_t n, int piece) {
  int64_t begin = piece * pieces.length;
  return begin < n ? begin : n;
}

/* x.y over the own rows, a sum a piece; eb_pieces_sum has all of them after a wait. */
void eb_al_dot(const eb_al_member *own, const double *x, const double *y, double *sums);
/* |x| from (x, x) = square, the same for all members. */
double eb_al_root(eb_al_member *own, double square, const double *x);

/* Whether contact k resists at all: those that do not are skipped. */
static inline bool eb_al_resists(const eb_al_system *system, int32_t k) {
  const double *D = system->D + 9 * (int64_t)k;
  return D[0] > 0 || D[4] > 0 || D[8] > 0;
}

/* Conjugate residuals on K x = g, from x = 0, with A x and H x beside x. */
typedef struct eb_al_solve {
  int64_t n, room;     /* room: of m */
  double *x, *Ax, *Hx; /* the direction found */
  double *r, *z, *p, *Hp, *Kp, *Hz, *Kz, *CKp;
  double norm;               /* |r|_2 */
  bool good;                 /* the leader's: K was positive definite */
  double sums[3][EB_PIECES]; /* of the pieces of three reductions */
} eb_al_solve;

/* Room for systems of n unknowns and m rows of contacts, which may grow from solve to solve; starts
 * from zeros. What was found before is lost when it grows. Clear it also after failure. */
EB_MUST eb_error eb_al_solve_reserve(eb_al_solve *cr, int64_t n, int64_t m);
void eb_al_solve_clear(eb_al_solve *cr);
/* Until |r| <= target, at most so many iterations, or as far as they lead; returns how many there
 * were. None: the preconditioner is not positive definite in the direction of g, or `target` is met
 * by 0. Of g and of what is found each member needs and has the own rows and contacts; cr->norm is
 * the leader's. The same bits for any number of threads. */
int64_t eb_al_solve_run(eb_al_member *own, eb_al_solve *cr, const double *g, double target,
                        int64_t most);

#endif
