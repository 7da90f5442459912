/* Fill-reducing orders of the node graph. */
#ifndef EB_LINALG_ORDERING_H
#define EB_LINALG_ORDERING_H

#include "problems/elasticity/block_matrix.h"

/* order[k]: the node to eliminate k-th, by METIS' nested dissection (Karypis and Kumar 1998). Every
 * node is a third of the size of what it stands for in the scalar graph, and its three rows stay
 * together. Reads the pattern only. */
EB_MUST eb_error eb_order_nodes(const eb_block_matrix *pattern, int32_t *order);

#endif
