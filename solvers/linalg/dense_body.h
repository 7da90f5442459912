/* The dense kernels for one precision and one vector width. The file that includes this defines
 *
 *   VECTOR_BYTES, VECTORS       a register's bytes and how many registers a tile is high
 *   LIBRARY_PAYS(m, n, k), LIBRARY_SYRK_ABOVE   where BLAS's products have been measured to be faster
 *   REAL, SQRT, NAME(x)         the precision and the names that it gives to what is defined here
 *   INTEGER                     as wide as REAL; without AVX-512
 *   MASKED_LOAD(mask, address), MASKED_STORE(mask, address, value)
 *   LIBRARY_GEMM, LIBRARY_SYRK  BLAS's products
 *
 * and includes it once for each precision; all but the first four are undefined again. */
#include "solvers/linalg/dense_vector.h"

#include "solvers/linalg/dense_product.h"

#include "solvers/linalg/dense_triangle.h"

#include "solvers/linalg/dense_panel.h"

#include "solvers/linalg/dense_several.h"

#undef REAL
#undef SQRT
#undef NAME
#undef INTEGER
#undef LIBRARY_GEMM
#undef LIBRARY_SYRK
#undef MASKED_LOAD
#undef MASKED_STORE
