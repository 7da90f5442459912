/* Pairs of features of triangle surfaces that may touch: a vertex and a face, or two edges. */
#ifndef EB_PAIR_H
#define EB_PAIR_H

#include <stdint.h>

typedef enum eb_pair_kind { EB_VERTEX_FACE, EB_EDGE_EDGE } eb_pair_kind;

typedef struct eb_pair {
  int32_t kind; /* eb_pair_kind */
  /* EB_VERTEX_FACE: the vertex, then the corners of the face; EB_EDGE_EDGE: the ends of one edge,
   * then those of the other. */
  int32_t vertex[4];
} eb_pair;

#endif
