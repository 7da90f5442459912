/* Where in a step a figure of the audit is worst: told beside the figure, as numbers, and looked up
 * with place and bodies only where a rule is broken. */
#ifndef EB_AUDIT_SPOT_H
#define EB_AUDIT_SPOT_H

#include <stdint.h>

typedef enum eb_spot_kind {
  EB_SPOT_NONE,
  EB_SPOT_NODE,
  EB_SPOT_BODY,      /* a connected component of the mesh */
  EB_SPOT_FREE_BODY, /* a rigid one */
  EB_SPOT_CONTACT,   /* of the step's record */
  EB_SPOT_PAIR,     /* vertices of two surfaces: a node of the mesh, or behind those of obstacles */
  EB_SPOT_RESIDUAL, /* the node with the largest residual: to be looked up */
  EB_SPOT_NOT_FINITE, /* the first node that is not finite: likewise */
  EB_SPOT_CROSSING,   /* a pair of triangles that cross, or of bodies in each other: likewise */
  EB_SPOT_UNRECORDED, /* a pair of triangles that are near and have no contact: likewise */
  EB_SPOT_KINDS
} eb_spot_kind;

typedef struct eb_spot {
  eb_spot_kind kind;
  int32_t at;    /* its number; -1: another rank has it */
  int32_t other; /* of a pair the other one */
} eb_spot;

/* The same with its place, and a vertex of each body that has a part in it: names are looked up by
 * those. */
typedef struct eb_place {
  eb_spot_kind kind;
  int64_t at;        /* of nodes their number in the whole scene */
  int32_t vertex[2]; /* -1: there is none, or another rank has it */
  double x[3];       /* m; NAN: nobody knows */
} eb_place;

/* What that number is of: "node", "body", "rigid body", "contact", "vertex"; "" of nothing. */
const char *eb_spot_name(eb_spot_kind kind);

#endif
