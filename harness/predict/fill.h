/* What the Cholesky factor of a case's matrix takes. */
#ifndef EB_PREDICT_FILL_H
#define EB_PREDICT_FILL_H

#include "harness/predict/counts.h"
#include "solvers/linalg/multifrontal.h"

typedef enum eb_filled {
  EB_FILLED_NOT,
  EB_FILLED_ANALYZED, /* ordered and analyzed as the run will do it: exact */
  EB_FILLED_SCALED,   /* from the analysis of a smaller bar of the same shape */
  EB_FILLED_LAW       /* from the counts alone */
} eb_filled;

typedef struct eb_fill {
  eb_filled by;
  double factor;    /* byte: L in doubles */
  double updates;   /* byte: the stack of update matrices, in doubles */
  double workspace; /* byte: indices and right-hand sides */
  double flops;     /* of one factorization */
} eb_fill;

/* Up to so many nodes a mesh is analyzed, which takes some 10 microseconds a node. */
enum { EB_FILL_NODES = 60000 };

/* By the law alone. */
eb_fill eb_fill_law(const eb_counts *counts);
/* `from` of a bar of `few` nodes, scaled to one of the same shape with `many`: nested dissection of
 * a solid fills with the 4/3rd power of its nodes and works with their square (George 1973), of
 * fewer nodes a little less, since separators of small parts are cut short by the surface. */
eb_fill eb_fill_scaled(const eb_fill *from, double few, double many);
/* By the best that the counts allow. `mesh` is that of the counts or NULL. What cannot be analyzed,
 * for want of memory, goes by the law. */
eb_fill eb_fill_find(const eb_case *work, const eb_counts *counts, const eb_mesh *mesh);

#endif
