/* Supernodes out of an elimination tree. For solvers/linalg/multifrontal*.c only. */
#ifndef EB_LINALG_MULTIFRONTAL_SUPERNODES_H
#define EB_LINALG_MULTIFRONTAL_SUPERNODES_H

#include "solvers/linalg/multifrontal.h"
#include "solvers/linalg/multifrontal_tree.h"

/* Groups the columns of L into supernodes, in the postorder whose stack of update matrices is
 * smallest. The arrays of `supernodes` are new; eb_supernodes_clear frees them. */
EB_MUST eb_error eb_supernodes_create(const eb_elimination_tree *tree, eb_supernodes *supernodes);
void eb_supernodes_clear(eb_supernodes *supernodes);

#endif
