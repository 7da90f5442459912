/* Linear elasticity by PETSc alone: what its users do in its own example of elasticity
 * (src/ksp/ksp/tutorials/ex56.c), on the mesh of this program's bench/block.
 *
 *   mpiexec -n RANKS build/elasticity-peer CUBES [options of PETSc]
 *
 * A block of 1 m, CUBES^3 cubes of six tetrahedra (Kuhn), held at z = 0, under its weight; linear
 * material, E = 1 MPa, nu = 0.3, 1000 kg/m^3: the Hessian of the catalogue's materials at rest.
 * Nodes are numbered and owned in layers of z, matrices added element by element by
 * MatSetValuesBlocked, held rows taken out by MatZeroRowsColumns. Nothing of this program's
 * matrices, solvers or parts takes part. Prints one line of what it took, without options by ex56's
 * multigrid to |b - A x| <= 1e-8 |b|.
 *
 * References: Hughes 1987, The Finite Element Method, Section 3; Kuhn 1960 for the mesh. */
#include <petsctime.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "solvers/petsc/versions.h"

static const double young = 1e6, poisson = 0.3, density = 1000, gravity = 9.8;

/* The multigrid of ex56's first test of its own; its other one, with Gauss-Seidel smoothing, meets
 * zero pivots on this mesh, where aggregates of one node leave columns of zeros. */
static const char usual_options[] =
    "-ksp_type cg -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned -pc_type gamg "
    "-pc_gamg_agg_nsmooths 1 -pc_gamg_reuse_interpolation true -mg_levels_ksp_max_it 2 "
    "-mg_levels_ksp_type chebyshev -mg_levels_ksp_chebyshev_esteig 0,0.2,0,1.05 "
    "-pc_gamg_esteig_ksp_max_it 10 -pc_gamg_threshold -0.01 -pc_gamg_coarse_eq_limit 200 "
    "-pc_gamg_process_eq_limit 30 -pc_gamg_repartition false -pc_mg_cycle_type v "
    "-pc_gamg_use_parallel_coarse_grid_solver -mg_coarse_pc_type jacobi -mg_coarse_ksp_type cg";

enum { CORNERS = 4, OFFSETS = 15 };

typedef struct block {
  MPI_Comm comm;
  PetscInt edge;         /* nodes along an edge */
  PetscInt layer;        /* nodes of a layer */
  PetscInt from, to;     /* layers of this rank */
  PetscInt first, nodes; /* number of its first node; of its nodes */
  double spacing;        /* m */
} block;

/* Corner c of a cube is its node at (c & 1, c >> 1 & 1, c >> 2 & 1). */
static const int kuhn[6][CORNERS] = {{0, 1, 3, 7}, {0, 2, 6, 7}, {0, 4, 5, 7},
                                     {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 6, 4, 7}};

static PetscErrorCode cut_layers(MPI_Comm comm, PetscInt cubes, block *b) {
  int rank, ranks;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  *b = (block){.comm = comm, .edge = cubes + 1, .spacing = 1. / (double)cubes};
  b->layer = b->edge * b->edge;
  b->from = b->edge * rank / ranks;
  b->to = b->edge * (rank + 1) / ranks;
  b->first = b->from * b->layer;
  b->nodes = (b->to - b->from) * b->layer;
  return 0;
}

/* ---- matrix ---------------------------------------------------------------------------------- */

/* All edges of the mesh go along sums of axes: the neighbours of a node are those at d and -d for
 * the seven d of zeros and ones. */
static void count_row(const block *b, PetscInt node, PetscInt *own, PetscInt *others) {
  PetscInt at[3] = {node % b->edge, node / b->edge % b->edge, node / b->layer};
  *own = *others = 0;
  for (int d = -7; d <= 7; d++) {
    int sign = d < 0 ? -1 : 1, bits = abs(d);
    PetscInt z = at[2] + sign * (bits >> 2 & 1);
    bool inside = true;
    for (int k = 0; k < 3; k++) {
      PetscInt place = at[k] + sign * (bits >> k & 1);
      inside = inside && place >= 0 && place < b->edge;
    }
    if (inside) ++*(z >= b->from && z < b->to ? own : others);
  }
}

static PetscErrorCode create_matrix(const block *b, Mat *out) {
  PetscInt n = 3 * b->nodes, *own, *others;
  PetscCall(PetscMalloc2(b->nodes, &own, b->nodes, &others));
  for (PetscInt i = 0; i < b->nodes; i++) count_row(b, b->first + i, &own[i], &others[i]);
  PetscCall(MatCreate(b->comm, out));
  PetscCall(MatSetSizes(*out, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*out, 3));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSetFromOptions(*out));
  PetscCall(MatXAIJSetPreallocation(*out, 3, own, others, NULL, NULL));
  PetscCall(MatSetOption(*out, MAT_SPD, PETSC_TRUE));
  return PetscFree2(own, others);
}

/* Gradients of the four shape functions and the volume, from the corners. */
static double gradients(double X[CORNERS][3], double G[CORNERS][3]) {
  double e[3][3], volume = 0;
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++) e[a][i] = X[a + 1][i] - X[0][i];
  for (int a = 0; a < 3; a++) {
    const double *p = e[(a + 1) % 3], *q = e[(a + 2) % 3];
    for (int i = 0; i < 3; i++)
      G[a + 1][i] = p[(i + 1) % 3] * q[(i + 2) % 3] - p[(i + 2) % 3] * q[(i + 1) % 3];
  }
  for (int i = 0; i < 3; i++) volume += e[0][i] * G[1][i];
  for (int i = 0; i < 3; i++) {
    for (int a = 1; a < CORNERS; a++) G[a][i] /= volume;
    G[0][i] = -(G[1][i] + G[2][i] + G[3][i]);
  }
  return volume / 6;
}

/* K_ab = V (lambda G_a G_b^T + mu G_b G_a^T + mu (G_a . G_b) I), row-major 12 x 12. */
static void stiffness(double X[CORNERS][3], double K[9 * CORNERS * CORNERS]) {
  const double mu = young / (2 * (1 + poisson));
  const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  double G[CORNERS][3], volume = gradients(X, G);
  for (int a = 0; a < CORNERS; a++)
    for (int b = 0; b < CORNERS; b++) {
      double dot = G[a][0] * G[b][0] + G[a][1] * G[b][1] + G[a][2] * G[b][2];
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          K[3 * CORNERS * (3 * a + i) + 3 * b + j] =
              volume * (lambda * G[a][i] * G[b][j] + mu * G[a][j] * G[b][i] + mu * dot * (i == j));
    }
}

/* Cubes over the layers of this rank, whose upper corners may be another's. The six matrices are
 * those of every cube. */
static PetscErrorCode add_elements(const block *b, Mat matrix) {
  double K[6][9 * CORNERS * CORNERS];
  for (int t = 0; t < 6; t++) {
    double X[CORNERS][3];
    for (int a = 0; a < CORNERS; a++)
      for (int i = 0; i < 3; i++) X[a][i] = b->spacing * (kuhn[t][a] >> i & 1);
    stiffness(X, K[t]);
  }
  for (PetscInt z = b->from; z < b->to && z < b->edge - 1; z++)
    for (PetscInt y = 0; y < b->edge - 1; y++)
      for (PetscInt x = 0; x < b->edge - 1; x++)
        for (int t = 0; t < 6; t++) {
          PetscInt node[CORNERS];
          for (int a = 0; a < CORNERS; a++)
            node[a] = x + (kuhn[t][a] & 1) + b->edge * (y + (kuhn[t][a] >> 1 & 1)) +
                      b->layer * (z + (kuhn[t][a] >> 2));
          PetscCall(MatSetValuesBlocked(matrix, CORNERS, node, CORNERS, node, K[t], ADD_VALUES));
        }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  return MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY);
}

/* ---- load, supports, rigid motions ----------------------------------------------------------- */

/* A node's weight: its share of the cubes around it, a quarter of each tetrahedron. */
static PetscErrorCode add_weight(const block *b, Vec load) {
  const double quarter = -density * gravity * b->spacing * b->spacing * b->spacing / 24;
  for (PetscInt z = b->from; z < b->to && z < b->edge - 1; z++)
    for (PetscInt y = 0; y < b->edge - 1; y++)
      for (PetscInt x = 0; x < b->edge - 1; x++)
        for (int t = 0; t < 6; t++)
          for (int a = 0; a < CORNERS; a++) {
            PetscInt node = x + (kuhn[t][a] & 1) + b->edge * (y + (kuhn[t][a] >> 1 & 1)) +
                            b->layer * (z + (kuhn[t][a] >> 2));
            PetscCall(VecSetValue(load, 3 * node + 2, quarter, ADD_VALUES));
          }
  PetscCall(VecAssemblyBegin(load));
  return VecAssemblyEnd(load);
}

static PetscErrorCode hold_floor(const block *b, Mat matrix, Vec zero, Vec load) {
  PetscInt count = b->from == 0 ? 3 * b->layer : 0, *rows;
  PetscCall(PetscMalloc1(count, &rows));
  for (PetscInt k = 0; k < count; k++) rows[k] = k;
  PetscCall(MatZeroRowsColumns(matrix, count, rows, young * b->spacing, zero, load));
  return PetscFree(rows);
}

static PetscErrorCode attach_rigid_motions(const block *b, Mat matrix, Vec points) {
  MatNullSpace motions;
  PetscScalar *x;
  PetscCall(VecGetArrayWrite(points, &x));
  for (PetscInt i = 0; i < b->nodes; i++) {
    PetscInt node = b->first + i;
    x[3 * i] = b->spacing * (double)(node % b->edge);
    x[3 * i + 1] = b->spacing * (double)(node / b->edge % b->edge);
    x[3 * i + 2] = b->spacing * (double)(node / b->layer);
  }
  PetscCall(VecRestoreArrayWrite(points, &x));
  PetscCall(MatNullSpaceCreateRigidBody(points, &motions));
  PetscCall(MatSetNearNullSpace(matrix, motions));
  return MatNullSpaceDestroy(&motions);
}

/* ---- what it took ---------------------------------------------------------------------------- */

static PetscErrorCode sum_memory(MPI_Comm comm, double *bytes) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  *bytes = 1024. * (double)usage.ru_maxrss;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  return 0;
}

static PetscErrorCode report(const block *b, KSP ksp, const double at[4]) {
  KSPConvergedReason reason;
  PetscInt iterations;
  double bytes;
  int ranks;
  PetscCallMPI(MPI_Comm_size(b->comm, &ranks));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(sum_memory(b->comm, &bytes));
  PetscInt cubes = b->edge - 1;
  return PetscPrintf(b->comm,
                     "%d ranks, %" PetscInt_FMT " nodes, %" PetscInt_FMT
                     " tetrahedra: assembly %.2f s, set-up %.2f s, %" PetscInt_FMT
                     " iterations (%s), solve %.2f s, %.2f GiB\n",
                     ranks, b->layer * b->edge, 6 * cubes * cubes * cubes, at[1] - at[0],
                     at[2] - at[1], iterations, KSPConvergedReasons[reason], at[3] - at[2],
                     bytes / 1073741824);
}

static PetscErrorCode run(PetscInt cubes) {
  block b;
  Mat matrix;
  Vec load, solution;
  KSP ksp;
  double at[4];
  PetscCall(cut_layers(PETSC_COMM_WORLD, cubes, &b));
  PetscCall(PetscTime(&at[0]));
  PetscCall(create_matrix(&b, &matrix));
  PetscCall(MatCreateVecs(matrix, &solution, &load));
  PetscCall(VecSetBlockSize(solution, 3));
  PetscCall(attach_rigid_motions(&b, matrix, solution));
  PetscCall(add_elements(&b, matrix));
  PetscCall(add_weight(&b, load));
  PetscCall(VecSet(solution, 0));
  PetscCall(hold_floor(&b, matrix, solution, load));
  PetscCall(KSPCreate(b.comm, &ksp));
  PetscCall(KSPSetOperators(ksp, matrix, matrix));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&at[1]));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&at[2]));
  PetscCall(KSPSolve(ksp, load, solution));
  PetscCall(PetscTime(&at[3]));
  PetscCall(report(&b, ksp, at));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&matrix));
  PetscCall(VecDestroy(&load));
  return VecDestroy(&solution);
}

/* Options on the command line come after the usual ones, and replace them. */
static PetscErrorCode run_on_ranks(int argc, char **argv, PetscInt cubes, int *status) {
  int ranks;
  PetscCall(PetscOptionsInsertString(NULL, usual_options));
  PetscCall(PetscOptionsInsert(NULL, &argc, &argv, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (ranks <= cubes) return run(cubes);
  *status = 2;
  return PetscPrintf(PETSC_COMM_WORLD, "%d ranks are more than %" PetscInt_FMT " layers of cubes\n",
                     ranks, cubes);
}

int main(int argc, char **argv) {
  char *end = NULL;
  long cubes = argc > 1 ? strtol(argv[1], &end, 10) : 0;
  int status = 0;
  if (cubes < 1 || cubes > 400 || *end) {
    fprintf(stderr, "usage: elasticity-peer CUBES [options of PETSc]; CUBES is 1 to 400\n");
    return 2;
  }
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(run_on_ranks(argc, argv, (PetscInt)cubes, &status));
  PetscCall(PetscFinalize());
  return status;
}
