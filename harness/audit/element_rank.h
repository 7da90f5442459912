/* The rank of an element's stiffness at rest: how many of its motions cost energy. Of a solid 6
 * fewer than it has freedoms when nothing but rigid motions is free; a hexahedron whose points do
 * not see its hourglass modes has up to 12 fewer still. */
#ifndef EB_ELEMENT_RANK_H
#define EB_ELEMENT_RANK_H

#include "harness/audit/audit.h"

/* Of the materials as they were in the step audited last: the eigenvalues beyond 1e-9 of the
 * largest, by LAPACK on one thread, of the stiffness by the audit's own tangents and control of
 * hourglass modes. 0 for elements of rigid bodies. */
EB_MUST eb_error eb_element_rank(const eb_audit *audit, int32_t element, int *rank);

#endif
