/* The dense kernels for one precision and one vector width. The file that includes this defines
 *
 *   VECTOR_BYTES, VECTORS       a register's bytes and how many registers a tile is high
 *   REAL, SQRT, NAME(x)         the precision and the names that it gives to what is defined here
 *   INTEGER                     as wide as REAL; without AVX-512
 *   MASKED_LOAD(mask, address), MASKED_STORE(mask, address, value)
 *
 * and includes it once for each precision; all but the first two are undefined again. */
#include "solvers/linalg/dense_vector.h"

#include "solvers/linalg/dense_product.h"

#include "solvers/linalg/dense_triangle.h"

#include "solvers/linalg/dense_panel.h"

#include "solvers/linalg/dense_several.h"

#undef REAL
#undef SQRT
#undef NAME
#undef INTEGER
#undef MASKED_LOAD
#undef MASKED_STORE
