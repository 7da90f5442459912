/* The nodes of a grid in boxes, one a rank, by recursive bisection.
 *
 * A box of nodes is cut across its longest edge, in the ratio of the ranks that each side gets: the
 * boxes are as near to cubes as that allows, have few neighbours, and any rank finds the owner of
 * any node in log2(ranks) steps, without a table. Source: Berger and Bokhari 1987, "A partitioning
 * strategy for nonuniform problems on multiprocessors", IEEE Trans. Comput. C-36(5). */
#include "problems/ranks/pieces.h"

typedef struct cut {
  int axis, ranks; /* that the lower side gets */
  int32_t layers;  /* of its nodes */
} cut;

/* Both sides get as many nodes as ranks, at least: where halving the ranks does not, they follow
 * from the layers. Of P <= L A ranks, k of the L layers of A nodes get P k / L <= k A. */
static cut bisect(const eb_box *box, int ranks) {
  cut c = {.ranks = ranks / 2};
  int64_t edge[3], layer = 1;
  for (int d = 0; d < 3; d++) {
    edge[d] = box->hi[d] - box->lo[d];
    if (edge[d] > edge[c.axis]) c.axis = d;
  }
  for (int d = 0; d < 3; d++) layer *= d == c.axis ? 1 : edge[d];
  int64_t length = edge[c.axis], lower = (2 * length * c.ranks + ranks) / (2 * (int64_t)ranks);
  if (lower < 1) lower = 1;
  if (lower > length - 1) lower = length - 1;
  if (c.ranks > lower * layer || ranks - c.ranks > (length - lower) * layer) {
    c.ranks = (int)((2 * lower * ranks + length) / (2 * length));
    if (c.ranks < 1) c.ranks = 1;
    if (c.ranks > ranks - 1) c.ranks = ranks - 1;
  }
  c.layers = (int32_t)lower;
  return c;
}

static eb_box all_nodes(const eb_grid *grid) {
  eb_box box = {.lo = {0, 0, 0}};
  for (int d = 0; d < 3; d++) box.hi[d] = grid->cubes[d] + 1;
  return box;
}

eb_box eb_grid_box(const eb_grid *grid, int ranks, int rank) {
  eb_box box = all_nodes(grid);
  while (ranks > 1) {
    cut c = bisect(&box, ranks);
    int32_t at = box.lo[c.axis] + c.layers;
    bool lower = rank < c.ranks;
    if (lower)
      box.hi[c.axis] = at;
    else
      box.lo[c.axis] = at;
    rank -= lower ? 0 : c.ranks;
    ranks = lower ? c.ranks : ranks - c.ranks;
  }
  return box;
}

int eb_grid_owner(const eb_grid *grid, int ranks, const int32_t node[3]) {
  eb_box box = all_nodes(grid);
  int first = 0;
  while (ranks > 1) {
    cut c = bisect(&box, ranks);
    int32_t at = box.lo[c.axis] + c.layers;
    bool lower = node[c.axis] < at;
    if (lower)
      box.hi[c.axis] = at;
    else
      box.lo[c.axis] = at;
    first += lower ? 0 : c.ranks;
    ranks = lower ? c.ranks : ranks - c.ranks;
  }
  return first;
}
