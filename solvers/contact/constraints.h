/* The constraints of a contact step: pairs of features with the plane that is to keep them apart,
 * found by their pair in a hash table.
 *
 *   n . sum_i w_i x_i(t + h) >= target gap
 *
 * with n row 0 of the frame and w from the second feature to the first (Verschoor and Jalba 2019,
 * Equations 6 and 7). Weights and normal are constants of one linearization (Section 3.3). Internal
 * to solvers/contact. */
#ifndef EB_CONTACT_CONSTRAINTS_H
#define EB_CONTACT_CONSTRAINTS_H

#include "problems/contact/problem.h"
#include "solvers/contact/surface.h"

/* The four corners of a pair. */
typedef const double (*eb_points)[3];

typedef struct eb_constraint {
  eb_pair pair; /* of the collision mesh */
  double weight[4];
  double frame[9];   /* rows: normal n, tangents t1, t2 */
  double target_gap; /* m */
  double r[3];       /* force, N, in the frame */
  /* What it has slipped in the steps before while at rest, m, in space: what rest takes back.
   * 0 with drift=left. */
  double drift[3];
  double at[4][3];          /* configuration of the last linearization, m */
  double distance;          /* of the features there, m */
  int32_t relinearizations; /* in this step */
} eb_constraint;

typedef struct eb_constraints {
  int32_t count, room;
  eb_constraint *all;
  int32_t slots; /* a power of two */
  int32_t *slot; /* slots: 1 + the first constraint of a pair, 0: free */
  /* Workspace of the count of similar constraints: nodes + 1, 4 room, room, 3 room. */
  int32_t *start, *of_node, *visited, *bodies;
} eb_constraints;

/* Grows an array of `each` entries a constraint. */
#define EB_CONTACT_GROW(array, each, before, room)                                                 \
  eb_contact_grow((void **)&(array), (each) * (int64_t)(before), (each) * (int64_t)(room),         \
                  sizeof *(array))

/* Leaves none. */
void eb_constraints_reset(eb_constraints *set);

/* The distance that a pair `distance` > 0 (m) apart at the start of a step has to keep at its end:
 * `gap`; when it starts closer, as much as it has, and from half of the gap down a quarter of what
 * it lacks of that more, so that pairs at rest are left alone and those too close part slowly. */
double eb_constraint_target_gap(double distance, double gap);
/* Weights and frame at configuration x. The force keeps its direction in space as far as it still
 * pushes, else it becomes 0. x0: the start of the step, where nothing touches. `touching`: x is at
 * a hit, so that the side follows from x0; otherwise the features are apart in x and on their
 * sides. */
void eb_constraint_linearize(eb_constraint *constraint, const double x0[4][3], const double x[4][3],
                             bool touching);

/* The contact problem of all constraints. Rotations of bodies enter to second order through the
 * displacement at v, where `surface` and `system` have been moved to. */
EB_MUST eb_error eb_constraints_problem(const eb_constraints *set,
                                        const eb_contact_surface *surface,
                                        const eb_contact_system *system, const double *v,
                                        eb_contact_problem *problem);
/* Sets problem->similar, which eb_constraints_problem leaves at 1, of the problem of all
 * constraints. */
void eb_constraints_count_similar(eb_constraints *set, const eb_contact_surface *surface,
                                  const eb_contact_system *system, eb_contact_problem *problem);

#endif
