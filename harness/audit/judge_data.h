/* What judge.c gathers and judge_motion.c sums. Internal to harness/audit. */
#ifndef EB_AUDIT_JUDGE_DATA_H
#define EB_AUDIT_JUDGE_DATA_H

#include "harness/audit/judge.h"
#include "harness/audit/near.h"

struct eb_judge {
  const eb_scene *scene;
  const eb_audit *audit;
  int32_t nodes, vertices, parts;
  int32_t *part;  /* nodes: connected component */
  int32_t *rider; /* parts: the free rigid body that it rides on, or -1 */
  uint8_t *held;  /* parts: has scripted nodes */
  int32_t *size;  /* parts: nodes */
  double *sum;   /* parts x 6: momentum not explained, kg m/s; of rigid bodies spin too, kg m^2/s */
  double *scale; /* parts x 2: size of the terms of each */
  double *x0, *x1; /* vertices x 3 */
  double *push;    /* vertices x 3: forces of contact, N */
  double *bent;    /* vertices: see contact_law.h, m */
  eb_crossings *crossings;
};

/* Sums the motion of every part against the forces on it; fills balance and balance_excess. */
void eb_judge_balance(eb_judge *judge, const eb_state *before, const eb_state *after, double dt,
                      eb_judgement *judgement);
#endif
