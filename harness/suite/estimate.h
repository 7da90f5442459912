/* The memory that a case will take, told before it runs.
 *
 * A rough figure from counts, for --dry-run. It was calibrated on the peaks of built-in solvers on
 * 29 scenes with 192 to 346 000 elements (143 cases, x86-64, one thread), which were between 0.49
 * and 1.36 times the figure. Many bodies that do not touch take less:
 *
 *   42 MB                      program and libraries
 *   + 3.4 KB a node            mesh, elasticity, matrix, audit, contact
 *   + f L                      the factor with what belongs to it; f by the solver
 *   L = 17 (M/N)^2 N^(4/3)     byte, of N nodes and M elements
 *
 * Nested dissection fills N^(4/3) for a solid in three dimensions; few elements a node mean that
 * most nodes are on a surface, where separators are small. A case's own process knows better once
 * it has analyzed its matrix, and refuses then what --memory forbids (problems/base/memory.h). */
#ifndef EB_SUITE_ESTIMATE_H
#define EB_SUITE_ESTIMATE_H

#include "harness/case/case.h"

typedef struct eb_counts {
  int64_t nodes, elements;
} eb_counts;

/* Of the case's scene: from its table when nothing was changed, otherwise by building it, which
 * caches the mesh that the run will want. */
EB_MUST eb_error eb_estimate_counts(const eb_case *work, eb_counts *out);
/* Bytes; 0 for a solver that nobody has calibrated, such as one from a plug-in. */
double eb_estimate_memory(const eb_case *work, eb_counts counts);

#endif
