/* A x = b by any Krylov method and preconditioner of PETSc, chosen by its own options string
 * ("-ksp_type cg -pc_type gamg").
 * Reference: Balay et al., PETSc/TAO Users Manual.
 *
 * On one process, or on the ranks that share a part each (problems/ranks/subdomain.h): then rank r
 * has the rows of its nodes, whose columns go over by their global numbers, and every call is
 * collective. The matrix is AIJ with block size 3 ("-mat_type baij" or "sbaij" change it), since
 * multigrid makes its coarse matrices of no other. Without options: cg with PETSc's default
 * preconditioner. The names in the string get a prefix of this
 * solver's own, so that several solvers live side by side; names that nothing has read after the
 * first set-up are an EB_ERR_USAGE. The norm is |b - A x| (unpreconditioned) for the methods that
 * can monitor it, so that tolerances mean the same as for cg; the reported residual is always the
 * true one.
 *
 * With positions, the six rigid motions are attached as near-null space (for gamg).
 *
 * EB_PETSC_MULTIGRID: smoothed aggregation, whose iterations hardly grow with the mesh. Aggregates
 * of the fine grid are made of neighbours of neighbours: with neighbours alone they have some eight
 * nodes, and the coarse matrices take longer to make, and more memory, than the fine one. The
 * smoother is PETSc's own, Chebyshev on Jacobi: aggregates of one node leave zeros on coarse
 * diagonals, which Jacobi passes over and Gauss-Seidel divides by. Prolongators serve all matrices
 * of a solver, as they hang on the mesh more than on the deformation. The coarsest grid is factored
 * from 1000 unknowns on, which is soon done and saves levels.
 * Workspace: the matrix again and what the preconditioner takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "problems/ranks/communicator.h"
#include "problems/ranks/subdomain.h"
#include "solvers/linalg/linear_kind.h"
#include "solvers/petsc/session.h"

/* ---- the solver ------------------------------------------------------------------------------ */

enum { PREFIX_BYTES = 32 };

typedef struct petsc {
  eb_linear_settings settings; /* texts and positions only valid in create */
  char prefix[PREFIX_BYTES];
  char *options;         /* own copy of the string; names and values cut by 0 bytes */
  size_t length;         /* of it */
  bool configured;       /* the first set-up is done and every option was read */
  const eb_ranks *ranks; /* NULL: one process for itself */
  MPI_Comm comm;         /* theirs */
  KSP ksp;
  Mat matrix;
  Vec b, x, residual;
  int32_t rows;           /* that this rank has */
  PetscInt first;         /* block row of the first of them in the whole matrix */
  PetscInt *global;       /* block columns in the whole matrix, of all local ones */
  PetscInt *columns;      /* of one block row */
  double *values;         /* one block row as PETSc wants it: 3 x 3k */
  eb_step_log *residuals; /* during a solve: where the monitor writes, or NULL */
} petsc;

/* Names of the options string that nothing has read. */
typedef struct unused_list {
  const eb_ranks *ranks;
  size_t skip; /* length of "-" and the prefix */
  int count;
  char names[256];
} unused_list;

/* What a guarded function works on. */
typedef struct petsc_work {
  petsc *p;
  const eb_block_matrix *A; /* create: pattern; set_matrix: matrix */
  const double *b;
  double *x;
  eb_linear_result *result;
  eb_reason *reason;
  double flops; /* out */
  unused_list unused;
} petsc_work;

/* ---- options --------------------------------------------------------------------------------- */

static bool is_name(const char *word) {
  char first = word[0] == '-' ? word[1] : 0;
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
}

/* The word at or after *at, which moves past it; NULL at the end. */
static const char *next_word(const petsc *p, size_t *at) {
  while (*at < p->length && p->options[*at] == 0) (*at)++;
  if (*at >= p->length) return NULL;
  const char *word = p->options + *at;
  *at += strlen(word);
  return word;
}

typedef PetscErrorCode option_visitor(const char *name, const char *value, void *context);

/* Calls visit with each prefixed name ("-eb..._ksp_type") and its value (NULL when none).
 *
 * PETSc has one database of options a process. The prefix holds the address of this solver, so
 * that no two that exist at the same time read each other's; the entries are removed with it, as
 * its address may come back. */
static PetscErrorCode each_option(const petsc *p, option_visitor *visit, void *context) {
  size_t at = 0;
  const char *word = next_word(p, &at);
  while (word) {
    char name[256];
    snprintf(name, sizeof name, "-%s%s", p->prefix, word + 1);
    const char *value = next_word(p, &at);
    PetscCall(visit(name, value && !is_name(value) ? value : NULL, context));
    word = value && !is_name(value) ? next_word(p, &at) : value;
  }
  return 0;
}

static PetscErrorCode set_option(const char *name, const char *value, void *context) {
  (void)context;
  return PetscOptionsSetValue(NULL, name, value);
}

static PetscErrorCode clear_option(const char *name, const char *value, void *context) {
  (void)value;
  (void)context;
  return PetscOptionsClearValue(NULL, name);
}

/* Some parts are on one rank alone, such as the factor of the coarsest grid. */
static PetscErrorCode collect_unused(const char *name, const char *value, void *context) {
  unused_list *list = context;
  PetscBool used = PETSC_FALSE;
  (void)value;
  PetscCall(PetscOptionsUsed(NULL, name + 1, &used));
  if (eb_ranks_any(list->ranks, used)) return 0;
  size_t length = strlen(list->names);
  snprintf(list->names + length, sizeof list->names - length, "%s-%s", list->count ? ", " : "",
           name + list->skip);
  list->count++;
  return 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static PetscErrorCode monitor(KSP ksp, PetscInt iteration, PetscReal norm, void *context) {
  petsc *p = context;
  (void)ksp;
  (void)iteration;
  if (p->residuals) eb_log_residual(p->residuals, norm);
  return 0;
}

/* Blocks of a row by where PETSc keeps them: with columns that this rank has, or others; all, or
 * those on and above the diagonal. */
typedef struct row_room {
  PetscInt *own, *others, *upper_own, *upper_others; /* rows each */
} row_room;

static void count_blocks(const petsc *p, const eb_block_matrix *A, row_room room) {
  for (int32_t i = 0; i < p->rows; i++) {
    room.own[i] = room.others[i] = room.upper_own[i] = room.upper_others[i] = 0;
    for (int32_t b = A->start[i]; b < A->start[i + 1]; b++) {
      int32_t j = A->column[b];
      bool upper = p->global[j] >= p->first + i;
      (j < p->rows ? room.own : room.others)[i]++;
      (j < p->rows ? room.upper_own : room.upper_others)[i] += upper;
    }
  }
}

/* The room of every block row is said beforehand: MatSetValues would else move the matrix with
 * every row that does not fit. The upper triangle serves sbaij, which stores no other. */
static PetscErrorCode create_matrix(petsc *p, row_room room) {
  PetscInt n = 3 * p->rows;
  PetscBool half = PETSC_FALSE, silent = PETSC_FALSE;
  PetscCall(MatCreate(p->comm, &p->matrix));
  PetscCall(MatSetSizes(p->matrix, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(p->matrix, 3));
  PetscCall(MatSetType(p->matrix, MATAIJ));
  PetscCall(MatSetOptionsPrefix(p->matrix, p->prefix));
  PetscCall(MatSetFromOptions(p->matrix));
  PetscCall(MatXAIJSetPreallocation(p->matrix, 3, room.own, room.others, room.upper_own,
                                    room.upper_others));
  PetscCall(MatSetOption(p->matrix, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)p->matrix, &half, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (half) PetscCall(MatSetOption(p->matrix, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  /* MPIBAIJ takes the word for an error. */
  PetscCall(PetscObjectTypeCompare((PetscObject)p->matrix, MATMPIBAIJ, &silent));
  return silent ? 0 : MatSetOption(p->matrix, MAT_SPD, PETSC_TRUE);
}

static PetscErrorCode allocate_matrix(petsc *p, const eb_block_matrix *A) {
  row_room room;
  PetscCall(PetscMalloc4(p->rows, &room.own, p->rows, &room.others, p->rows, &room.upper_own,
                         p->rows, &room.upper_others));
  count_blocks(p, A, room);
  PetscErrorCode code = create_matrix(p, room);
  PetscCall(PetscFree4(room.own, room.others, room.upper_own, room.upper_others));
  return code;
}

/* A vector of this rank's rows without memory of its own, or on `values`. */
static PetscErrorCode create_vector(const petsc *p, const double *values, Vec *out) {
  if (eb_ranks_count(p->ranks) == 1)
    return VecCreateSeqWithArray(p->comm, 3, 3 * p->rows, values, out);
  return VecCreateMPIWithArray(p->comm, 3, 3 * p->rows, PETSC_DETERMINE, values, out);
}

/* Smoothed aggregation needs to know what the operator nearly annihilates and every level must
 * therefore represent: of elasticity without supports the six rigid motions (Vanek, Mandel and
 * Brezina 1996). */
static PetscErrorCode attach_rigid_motions(petsc *p) {
  Vec points;
  MatNullSpace motions;
  PetscCall(create_vector(p, p->settings.positions, &points));
  PetscCall(MatNullSpaceCreateRigidBody(points, &motions));
  PetscCall(MatSetNearNullSpace(p->matrix, motions));
  PetscCall(MatNullSpaceDestroy(&motions));
  return VecDestroy(&points);
}

/* Methods that can watch |b - A x|: with the preconditioner on the left, or when it is on the
 * right.
 *
 * Left preconditioning iterates on inv(M) A x = inv(M) b, whose residual is inv(M) r: a
 * tolerance on it bounds |r| only up to cond(M), and a badly scaled preconditioner ends the
 * iteration early. On the right, A inv(M) y = b, the residual is r itself. Other methods keep
 * the norm that they have; the residual that is reported is |b - A x| for all. */
static PetscErrorCode choose_norm(petsc *p) {
  static const char *const left[] = {KSPCG, KSPFCG, KSPPIPECG, KSPGROPPCG, KSPCR, KSPRICHARDSON};
  static const char *const right[] = {KSPGMRES, KSPBCGS, KSPTFQMR};
  for (size_t k = 0; k < sizeof left / sizeof *left; k++) {
    PetscBool same = PETSC_FALSE;
    PetscCall(PetscObjectTypeCompare((PetscObject)p->ksp, left[k], &same));
    if (same) return KSPSetNormType(p->ksp, KSP_NORM_UNPRECONDITIONED);
  }
  for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
    PetscBool same = PETSC_FALSE;
    PetscCall(PetscObjectTypeCompare((PetscObject)p->ksp, right[k], &same));
    if (same) return KSPSetPCSide(p->ksp, PC_RIGHT);
  }
  return 0;
}

/* The vectors b and x are created without memory: each solve lends them the caller's, in which
 * owned nodes come first. */
static PetscErrorCode create_all(void *context) {
  petsc_work *work = context;
  petsc *p = work->p;
  PetscCall(each_option(p, set_option, NULL));
  PetscCall(allocate_matrix(p, work->A));
  if (p->settings.positions) PetscCall(attach_rigid_motions(p));
  PetscCall(create_vector(p, NULL, &p->b));
  PetscCall(create_vector(p, NULL, &p->x));
  PetscCall(MatCreateVecs(p->matrix, NULL, &p->residual));
  /* The type must be known before the norm, and the user's norm comes after ours: hence twice. */
  const eb_linear_settings *s = &p->settings;
  PetscCall(KSPCreate(p->comm, &p->ksp));
  PetscCall(KSPSetOptionsPrefix(p->ksp, p->prefix));
  PetscCall(KSPSetOperators(p->ksp, p->matrix, p->matrix));
  PetscCall(KSPSetType(p->ksp, KSPCG));
  PetscCall(KSPSetTolerances(p->ksp, s->rtol, s->atol, PETSC_DEFAULT, (PetscInt)s->max_iterations));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(choose_norm(p));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscBool direct = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)p->ksp, KSPPREONLY, &direct));
  PetscCall(KSPSetInitialGuessNonzero(p->ksp, direct ? PETSC_FALSE : PETSC_TRUE));
  PetscCall(KSPMonitorSet(p->ksp, monitor, p, NULL));
  return 0;
}

static PetscErrorCode destroy_all(void *context) {
  petsc *p = ((petsc_work *)context)->p;
  PetscCall(each_option(p, clear_option, NULL));
  PetscCall(KSPDestroy(&p->ksp));
  PetscCall(MatDestroy(&p->matrix));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->x));
  PetscCall(VecDestroy(&p->residual));
  return 0;
}

static void petsc_destroy(void *data) {
  petsc *p = data;
  PetscBool done = PETSC_FALSE;
  if (!PetscFinalized(&done) && !done && p->prefix[0]) {
    petsc_work work = {.p = p};
    eb_error_free(eb_petsc_call(destroy_all, &work, "destroying")); /* nobody left to tell */
  }
  free(p->options);
  free(p->values);
  free(p->columns);
  free(p->global);
  free(p);
}

/* Copies the string, cut into words. */
static eb_error copy_options(petsc *p) {
  p->length = p->settings.petsc_options ? strlen(p->settings.petsc_options) : 0;
  EB_TRY(EB_NEW(p->options, p->length + 1));
  for (size_t k = 0; k < p->length; k++)
    p->options[k] =
        strchr(" \t\r\n", p->settings.petsc_options[k]) ? 0 : p->settings.petsc_options[k];
  size_t at = 0;
  const char *first = next_word(p, &at);
  if (first && !is_name(first))
    return EB_ERROR(EB_ERR_USAGE,
                    "petsc options begin with '%s'; names begin with '-', as in \"-ksp_type cg "
                    "-pc_type gamg\"",
                    first);
  return EB_OK;
}

static eb_error number_columns(petsc *p, int32_t columns) {
  const eb_subdomain *part = p->settings.part;
  if (part && part->all_nodes > PETSC_MAX_INT / 3)
    return EB_ERROR(EB_ERR_LIMIT, "%lld nodes are more than the %lld that this PETSc can number",
                    (long long)part->all_nodes, (long long)(PETSC_MAX_INT / 3));
  EB_TRY(EB_NEW(p->global, columns));
  for (int32_t j = 0; j < columns; j++) p->global[j] = part ? (PetscInt)part->global[j] : j;
  p->first = part ? (PetscInt)part->first : 0;
  return EB_OK;
}

static eb_error allocate(petsc *p, const eb_block_matrix *A) {
  int32_t longest = 0;
  for (int32_t i = 0; i < p->rows; i++)
    if (A->start[i + 1] - A->start[i] > longest) longest = A->start[i + 1] - A->start[i];
  EB_TRY(copy_options(p));
  EB_TRY(number_columns(p, A->rows));
  EB_TRY(EB_NEW(p->columns, longest));
  return EB_NEW(p->values, 9 * (size_t)longest);
}

/* The prefix is rank 0's, so that it is the same on all. */
static eb_error prepare(petsc *p, const eb_block_matrix *A) {
  petsc_work work = {.p = p, .A = A};
  int64_t address = eb_ranks_self(p->ranks) == 0 ? (int64_t)(uintptr_t)p : 0;
  EB_TRY(eb_ranks_agree(p->ranks, allocate(p, A)));
  EB_TRY(eb_petsc_start());
  p->comm = eb_ranks_communicator(p->ranks);
  eb_ranks_sum_whole(p->ranks, 1, &address);
  snprintf(p->prefix, sizeof p->prefix, "eb%llx_", (unsigned long long)address);
  return eb_petsc_call(create_all, &work, "setting options");
}

static eb_error petsc_create(const eb_linear_settings *settings, const eb_block_matrix *pattern,
                             eb_step_log *log, void **data) {
  petsc *p;
  EB_TRY(EB_NEW(p, 1));
  p->settings = *settings;
  p->ranks = settings->part ? settings->part->ranks : NULL;
  p->rows = settings->part ? settings->part->nodes : pattern->rows;
  eb_log_begin(log, EB_PHASE_ANALYZE);
  eb_error error = prepare(p, pattern);
  eb_log_end(log, EB_PHASE_ANALYZE);
  if (error)
    petsc_destroy(p);
  else
    *data = p;
  return error;
}

/* ---- matrix ---------------------------------------------------------------------------------- */

/* Gives whole pages of an array back, which read as zeros until they are written anew. */
static void release(double *values, size_t count) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)values;
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + count * sizeof *values) / page * page;
  if (first < last) madvise((void *)first, last - first, MADV_DONTNEED);
}

/* A matrix whose values serve one solve is in memory once: what has been copied is given back while
 * the copy is made, and the copy when it has served, while the next matrix is assembled. At that
 * moment all that a preconditioner keeps is there as well. Small ones are not worth their page
 * faults. */
enum { WORTH_RELEASING = 1 << 21 /* doubles: 16 MB, and the size of a share */ };

static bool is_spent(const petsc *p, const eb_block_matrix *A) {
  return p->settings.spends_matrix && 9 * (int64_t)A->start[A->rows] >= WORTH_RELEASING;
}

/* Block row i goes over as 3 rows of 3k values. */
static PetscErrorCode copy_row(petsc *p, const eb_block_matrix *A, int32_t i) {
  PetscInt row = p->first + i;
  int32_t k = A->start[i + 1] - A->start[i];
  const double *block = A->values + 9 * (int64_t)A->start[i];
  for (int32_t b = 0; b < k; b++, block += 9) {
    p->columns[b] = p->global[A->column[A->start[i] + b]];
    for (int r = 0; r < 3; r++)
      memcpy(p->values + 3 * ((int64_t)r * k + b), block + 3 * r, 3 * sizeof *p->values);
  }
  return MatSetValuesBlocked(p->matrix, 1, &row, k, p->columns, p->values, INSERT_VALUES);
}

static PetscErrorCode copy_values(petsc *p, const eb_block_matrix *A) {
  enum {
    OVERLAP = 1 << 13 /* doubles, the largest page: one that two shares have is given back */
  };
  int64_t kept = 0; /* the first value that may not have been given back */
  for (int32_t i = 0; i < p->rows; i++) {
    PetscCall(copy_row(p, A, i));
    int64_t copied = 9 * (int64_t)A->start[i + 1];
    if (copied - kept < WORTH_RELEASING || !is_spent(p, A)) continue;
    release(A->values + kept, (size_t)(copied - kept));
    kept = copied - OVERLAP;
  }
  if (is_spent(p, A)) release(A->values + kept, (size_t)(9 * (int64_t)A->start[A->rows] - kept));
  PetscCall(MatAssemblyBegin(p->matrix, MAT_FINAL_ASSEMBLY));
  return MatAssemblyEnd(p->matrix, MAT_FINAL_ASSEMBLY);
}

/* Of one process's share of an AIJ matrix: columns of its own rows, or of others. */
static PetscErrorCode release_share(Mat share) {
  MatInfo info;
  PetscScalar *values;
  PetscCall(MatGetInfo(share, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetArray(share, &values));
  if (info.nz_used >= WORTH_RELEASING) release(values, (size_t)info.nz_used);
  return MatSeqAIJRestoreArray(share, &values);
}

static PetscErrorCode release_copy(const petsc *p) {
  PetscBool whole = PETSC_FALSE, parted = PETSC_FALSE;
  Mat own, others;
  PetscCall(PetscObjectTypeCompare((PetscObject)p->matrix, MATSEQAIJ, &whole));
  PetscCall(PetscObjectTypeCompare((PetscObject)p->matrix, MATMPIAIJ, &parted));
  if (whole) return release_share(p->matrix);
  if (!parted) return 0;
  PetscCall(MatMPIAIJGetSeqAIJ(p->matrix, &own, &others, NULL));
  PetscCall(release_share(own));
  return release_share(others);
}

/* MUMPS factors what is not definite as well, and counts the pivots below zero, INFOG(12), but for
 * those of a root that ranks share, where it gives up with an error of its own. */
static PetscErrorCode has_negative_pivots(PC pc, bool *out) {
  enum { NEGATIVE_PIVOTS = 12 };
  PetscBool cholesky = PETSC_FALSE, mumps = PETSC_FALSE;
  MatSolverType package = NULL;
  Mat factor;
  PetscInt negative = 0;
  *out = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCCHOLESKY, &cholesky));
  if (!cholesky) return 0;
  PetscCall(PCFactorGetMatSolverType(pc, &package));
  PetscCall(PetscStrcmp(package, MATSOLVERMUMPS, &mumps));
  if (!mumps) return 0;
  PetscCall(PCFactorGetMatrix(pc, &factor));
  PetscCall(MatMumpsGetInfog(factor, NEGATIVE_PIVOTS, &negative));
  *out = negative > 0;
  return 0;
}

static PetscErrorCode set_up(void *context) {
  petsc_work *work = context;
  petsc *p = work->p;
  PC pc;
  PCFailedReason failed = PC_NOERROR;
  PetscLogDouble before = 0, after = 0;
  PetscCall(PetscGetFlops(&before));
  PetscCall(copy_values(p, work->A));
  PetscCall(KSPSetOperators(p->ksp, p->matrix, p->matrix));
  PetscCall(KSPSetUp(p->ksp));
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  /* Preconditioners by blocks (bjacobi, asm) factor their blocks only now: without this call a
   * failure would show in the middle of the first solve. */
  if (!failed) {
    PetscCall(KSPSetUpOnBlocks(p->ksp));
    PetscCall(PCGetFailedReason(pc, &failed));
  }
  bool indefinite = false;
  if (!failed) PetscCall(has_negative_pivots(pc, &indefinite));
  indefinite = eb_ranks_any(p->ranks, failed || indefinite);
  PetscCall(PetscGetFlops(&after));
  work->flops = after - before;
  *work->reason = indefinite ? EB_NOT_POSITIVE_DEFINITE : EB_CONVERGED_ITS;
  return 0;
}

static PetscErrorCode find_unused(void *context) {
  petsc_work *work = context;
  work->unused = (unused_list){.ranks = work->p->ranks, .skip = 1 + strlen(work->p->prefix)};
  return each_option(work->p, collect_unused, &work->unused);
}

static eb_error petsc_set_matrix(void *data, const eb_block_matrix *A, eb_step_log *log,
                                 eb_reason *reason) {
  petsc *p = data;
  petsc_work work = {.p = p, .A = A, .reason = reason};
  *reason = EB_DIVERGED_NAN;
  double sum = 0; /* stays 0 unless an entry is infinite or NaN */
  for (int64_t k = 0; k < 9 * (int64_t)A->start[p->rows]; k++) sum += 0 * A->values[k];
  if (eb_ranks_any(p->ranks, sum != 0)) return EB_OK;
  EB_TRY(eb_petsc_call(set_up, &work, "setting up"));
  if (!p->configured && *reason > 0) {
    /* Options of inner solvers are read while they are set up: this is the first moment to know. */
    EB_TRY(eb_petsc_call(find_unused, &work, "looking for unused options"));
    if (work.unused.count)
      return EB_ERROR(
          EB_ERR_USAGE,
          "no part of PETSc has read %s; check the spelling, and that the chosen method "
          "has such an option",
          work.unused.names);
    p->configured = true;
  }
  eb_log_count(log, EB_COUNT_FLOPS, work.flops);
  return EB_OK;
}

/* ---- solve ----------------------------------------------------------------------------------- */

/* PETSc's reasons in the words of this program. Indefinite matrices and preconditioners show as
 * breakdowns of the method, a factorization that failed as a matrix that is not definite. */
static eb_reason translate(KSPConvergedReason reason, bool direct) {
  switch (reason) {
  case KSP_CONVERGED_RTOL:
  case EB_KSP_CONVERGED_RTOL_NORMAL:
    return EB_CONVERGED_RTOL;
  case KSP_CONVERGED_ATOL:
  case EB_KSP_CONVERGED_ATOL_NORMAL:
    return EB_CONVERGED_ATOL;
  case KSP_CONVERGED_ITS:
    return direct ? EB_CONVERGED_DIRECT : EB_CONVERGED_ITS;
  case KSP_CONVERGED_HAPPY_BREAKDOWN:
    return EB_CONVERGED_STAGNATED;
  case KSP_DIVERGED_ITS:
    return EB_DIVERGED_MAX_IT;
  case KSP_DIVERGED_NANORINF:
    return EB_DIVERGED_NAN;
  case KSP_DIVERGED_BREAKDOWN:
  case KSP_DIVERGED_BREAKDOWN_BICG:
  case KSP_DIVERGED_NONSYMMETRIC:
  case KSP_DIVERGED_INDEFINITE_PC:
  case KSP_DIVERGED_INDEFINITE_MAT:
  case KSP_DIVERGED_DTOL:
    return EB_DIVERGED_BREAKDOWN;
  case KSP_DIVERGED_PC_FAILED:
    return EB_NOT_POSITIVE_DEFINITE;
  default:
    return reason > 0 ? EB_CONVERGED_ITS : EB_DIVERGED_LIBRARY;
  }
}

static PetscErrorCode solve(void *context) {
  petsc_work *work = context;
  petsc *p = work->p;
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscLogDouble before = 0, after = 0;
  bool direct = false;
  PetscCall(PetscGetFlops(&before));
  PetscCall(VecPlaceArray(p->b, work->b));
  PetscCall(VecPlaceArray(p->x, work->x));
  PetscErrorCode code = KSPSolve(p->ksp, p->b, p->x);
  /* The true residual: that of the method follows its recurrence, or another norm. */
  if (!code) code = MatResidual(p->matrix, p->b, p->x, p->residual);
  if (!code && p->settings.spends_matrix) code = release_copy(p);
  PetscCall(VecResetArray(p->b));
  PetscCall(VecResetArray(p->x));
  PetscCall(code);
  PetscCall(VecNorm(p->residual, NORM_2, &work->result->residual));
  PetscCall(PetscGetFlops(&after));
  PetscCall(KSPGetConvergedReason(p->ksp, &reason));
  PetscCall(KSPGetIterationNumber(p->ksp, &iterations));
  PC pc;
  PetscBool lu = PETSC_FALSE, cholesky = PETSC_FALSE, once = PETSC_FALSE;
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCLU, &lu));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCCHOLESKY, &cholesky));
  PetscCall(PetscObjectTypeCompare((PetscObject)p->ksp, KSPPREONLY, &once));
  direct = once && (lu || cholesky);
  work->flops = after - before;
  work->result->reason = translate(reason, direct);
  work->result->iterations = direct ? 0 : iterations;
  return 0;
}

static eb_error petsc_solve(void *data, const double *b, double *x, eb_step_log *log,
                            bool log_residuals, eb_linear_result *result) {
  petsc *p = data;
  petsc_work work = {.p = p, .b = b, .x = x, .result = result};
  p->residuals = log_residuals ? log : NULL;
  eb_error error = eb_petsc_call(solve, &work, "solving");
  p->residuals = NULL;
  EB_TRY(error);
  if (!isfinite(result->residual) && result->reason > 0) result->reason = EB_DIVERGED_NAN;
  eb_log_count(log, EB_COUNT_FLOPS, work.flops);
  return EB_OK;
}

const eb_linear_kind eb_linear_petsc = {.name = "petsc",
                                        .by_parts = true,
                                        .create = petsc_create,
                                        .set_matrix = petsc_set_matrix,
                                        .solve = petsc_solve,
                                        .destroy = petsc_destroy};
