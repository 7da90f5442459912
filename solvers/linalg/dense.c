/* The dense kernels in both precisions: dense_body.h with double, then with float. */
#include "solvers/linalg/dense.h"

#include <cblas.h>
#include <math.h>

#define REAL    double
#define NAME(x) eb_##x##_d
#define BLAS(x) cblas_d##x
#include "solvers/linalg/dense_body.h"
#undef REAL
#undef NAME
#undef BLAS

#define REAL    float
#define NAME(x) eb_##x##_s
#define BLAS(x) cblas_s##x
#include "solvers/linalg/dense_body.h"
