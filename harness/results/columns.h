/* The figures of a run: every column of steps/, parts/<name>/ and rotation/, and every number of an
 * examined run, as one entry of a table. From it come the file and its readers, the heads of CSV
 * and JSON, what claims may name, the definitions on a report's page, and harness/audit/figures.md
 * (tests/audit/test_figures.c). Whoever fills a row takes the members from it (case/auditor.c).
 *
 * A column is COLUMN(ID, name, unit, whole, meaning): what the harness notes itself; whole: stored
 * as a 64-bit integer. A figure of the audit is FIGURE(ID, name, unit, whole, member, meaning,
 * rule, definition) where member is what of the audit it is, rule the one that bounds it
 * (harness/audit/rules.h) or "", and definition how it is computed, in the symbols of
 * harness/audit/figures.md; "" where the meaning says all. */
#ifndef EB_RESULTS_COLUMNS_H
#define EB_RESULTS_COLUMNS_H

#define EB_STEP_COLUMNS(COLUMN, FIGURE)                                                            \
  COLUMN(STEP, step, "1", 1, "number of the step, from 1")                                         \
  COLUMN(TIME, time, "s", 0, "simulated time at the end of the step")                              \
  COLUMN(WALL, wall, "s", 0, "wall time of the step")                                              \
  COLUMN(CPU, cpu, "s", 0, "processor time of the step, all threads")                              \
  COLUMN(STEAL, steal, "s", 0, "time the hypervisor took from all cores during the step")          \
  COLUMN(ITERATIONS, iterations, "1", 1, "outermost iterations, by the solver's count")            \
  COLUMN(REASON, reason, "1", 1, "eb_reason: positive converged, negative diverged")               \
  FIGURE(RESIDUAL, residual, "N", 0, audit.implicit_euler.norm,                                    \
         "implicit Euler's residual, 2-norm over the free nodes", "",                              \
         "r = M (x1 - x0 - h v0) / h^2 + g(x1) - f_c(x1) - f_s - f_ext. Static steps: "            \
         "without inertia. With contact as constraints: less the recorded contact forces. At "     \
         "nodes that implicit colliders push, less Coulomb's friction, P(r - a u) with P the "     \
         "projection onto tangential forces of at most mu |f_c|, u = (x1 - x0) / h - w the "       \
         "slip along the collider, and a = m / h + h k: nothing is left of nodes that stick, "     \
         "and of those that slip what is missing of mu |f_c| against it (audit_data.h)")           \
  FIGURE(RESIDUAL_RELATIVE, residual_relative, "1", 0, audit.implicit_euler.relative,              \
         "implicit Euler's residual over its force scale: 1e-10 is solved to ten digits, 1 "       \
         "not at all",                                                                             \
         "",                                                                                       \
         "the scale is the square root of the sum over the free nodes of |M (x1 - x0 - h v0) "     \
         "/ h^2|^2 + |g_e|^2 for each element's and each cluster's own contribution before "       \
         "they cancel + |f_c|^2 + |f_s|^2 of each spring + |f_ext|^2 + u^2, where g_e is the "     \
         "part of g that one quadrature point of one element has in the node, the control of "     \
         "its hourglass modes counting as one: the scale stays when forces balance. u, for "       \
         "rounding, is what a change of 1e-8 of the positions makes: 1e-8 m |x1| / h^2, 1e-8 "     \
         "k |x1| of each spring, 1e-8 k (|x1_a| + mean |x1_b|) of each node a of a cluster "       \
         "and, of each such point, 1e-8 w (lambda + 2 mu) |dN_a/dX| sum_b |x_b| |dN_b/dX| "        \
         "(audit.h)")                                                                              \
  FIGURE(KINETIC, kinetic, "J", 0, audit.totals.kinetic, "kinetic energy at the end of the step",  \
         "", "sum m |v1|^2 / 2; free rigid bodies: as solids")                                     \
  FIGURE(ELASTIC, elastic, "J", 0, audit.totals.elastic, "elastic energy", "",                     \
         "sum over elements that are not rigid of w psi(F), F = sum_a x_a (dN_a/dX)^T at the "     \
         "points of quadrature (reference.h), and of s_k |gamma_k x|^2 over the patterns of "      \
         "hexahedra of one point, whose dN_a/dX is the mean over the element (hourglass.c); "      \
         "and over clusters of k/2 sum_a |x_a - xm - R (X_a - Xm)|^2, xm and Xm the means "        \
         "over their nodes, R the rotation that leaves it least (clusters.c)")                     \
  FIGURE(GRAVITATIONAL, gravitational, "J", 0, audit.totals.gravitational,                         \
         "potential energy of gravity", "",                                                        \
         "-sum m g.x1; plots show it from its value in the first step on")                         \
  FIGURE(MOMENTUM_X, momentum_x, "kg m/s", 0, audit.totals.momentum[0], "linear momentum", "",     \
         "sum m v1, rigid bodies of both kinds included")                                          \
  FIGURE(MOMENTUM_Y, momentum_y, "kg m/s", 0, audit.totals.momentum[1], "linear momentum", "", "") \
  FIGURE(MOMENTUM_Z, momentum_z, "kg m/s", 0, audit.totals.momentum[2], "linear momentum", "", "") \
  FIGURE(ANGULAR_MOMENTUM_X, angular_momentum_x, "kg m^2/s", 0, audit.totals.angular_momentum[0],  \
         "about the origin", "", "sum m x1 cross v1, rigid bodies of both kinds included")         \
  FIGURE(ANGULAR_MOMENTUM_Y, angular_momentum_y, "kg m^2/s", 0, audit.totals.angular_momentum[1],  \
         "about the origin", "", "")                                                               \
  FIGURE(ANGULAR_MOMENTUM_Z, angular_momentum_z, "kg m^2/s", 0, audit.totals.angular_momentum[2],  \
         "about the origin", "", "")                                                               \
  FIGURE(MIN_VOLUME_RATIO, min_volume_ratio, "1", 0, audit.min_volume_ratio,                       \
         "least det F of all points of quadrature", "", "")                                        \
  FIGURE(MAX_PENETRATION, max_penetration, "m", 0, audit.max_penetration,                          \
         "penetration: depth of the deepest node below the surface of any collider",               \
         "penetration", "margins do not count")                                                    \
  FIGURE(INVERTED, inverted, "1", 1, audit.inverted,                                               \
         "inverted elements: those with a point of det F <= 0", "", "")                            \
  FIGURE(CONTACTS, contacts, "1", 1, audit.contacts, "nodes below the surface of a collider", "",  \
         "")                                                                                       \
  FIGURE(FINITE, finite, "1", 1, audit.finite,                                                     \
         "1 when the state and all figures of the audit are numbers", "finite", "")                \
  COLUMN(COMPONENTS, components, "1", 1, "connected components of the mesh of the step")           \
  FIGURE(JOINT_KINETIC, joint_kinetic, "J", 0, audit.totals.joint_kinetic,                         \
         "kinetic energy of the jointed rigid bodies", "", "u.H u / 2")                            \
  FIGURE(JOINT_POTENTIAL, joint_potential, "J", 0, audit.totals.joint_potential,                   \
         "energy of the jointed rigid bodies in gravity and of the joints' limits", "",            \
         "-sum m g.c and the springs of the limits")                                               \
  FIGURE(JOINT_RESIDUAL, joint_residual, "N m", 0, audit.joints.norm,                              \
         "audited residual of the joints, 2-norm", "",                                             \
         "r = H(q1) (u1 - u0)/h - tau(q1, u1) + sum_a J_a(q1)^T (m_a (J_a(q1) u1 - J_a(q0) "       \
         "u0)/h + g_a - f_a) over the joints (audit.c)")                                           \
  FIGURE(JOINT_RESIDUAL_RELATIVE, joint_residual_relative, "1", 0, audit.joints.relative,          \
         "audited residual of the joints over its terms", "",                                      \
         "over the norm of its terms, of nodes one by one")                                        \
  FIGURE(ACTIVATION, activation, "1", 0, audit.activation,                                         \
         "of the fibres at the end of the step, by the scene's script", "", "")                    \
  FIGURE(INTERSECTIONS, intersections, "1", 1, contact.intersections.between,                      \
         "crossing triangles: pairs of surface triangles of different bodies or obstacles "        \
         "that meet",                                                                              \
         "intersection", "by exact predicates, as the next two (intersections.h)")                 \
  FIGURE(SELF_INTERSECTIONS, self_intersections, "1", 1, contact.intersections.self,               \
         "crossing triangles of one body", "intersection", "")                                     \
  FIGURE(NESTED, nested, "1", 1, contact.intersections.nested,                                     \
         "bodies in bodies: pairs, one inside the other", "intersection", "")                      \
  FIGURE(CONTACT_COUNT, contact_count, "1", 1, contact.law.count,                                  \
         "contacts that the solver reports", "contact-record", "")                                 \
  FIGURE(CONTACT_ACTIVE, contact_active, "1", 1, contact.law.active, "those of them with a force", \
         "", "")                                                                                   \
  FIGURE(CONTACT_VIOLATION, contact_violation, "m", 0, contact.law.violation,                      \
         "too close: most that a contact is closer than it may be", "contact-gap",                 \
         "-u_n, with u = frame sum_i w_i (x1_i - x0_i) - demand, less the bend of rigid "          \
         "paths")                                                                                  \
  FIGURE(CONTACT_OPEN, contact_open, "m", 0, contact.law.open,                                     \
         "off, with a force: most that a contact which pushes is off its demanded distance",       \
         "contact-gap", "|u_n|, less the bend of rigid paths")                                     \
  FIGURE(CONTACT_APART, contact_apart, "m", 0, contact.law.apart,                                  \
         "apart: largest distance between features that push each other", "", "")                  \
  FIGURE(CONTACT_SLIDING, contact_sliding, "m", 0, contact.law.sliding,                            \
         "slip inside the cone: farthest of a contact within Coulomb's cone", "friction",          \
         "|u_t|, where |r_t| < mu r_n")                                                            \
  FIGURE(CONTACT_CONE, contact_cone, "1", 0, contact.law.cone,                                     \
         "friction beyond Coulomb's cone, or pull, over the contact's limit", "friction",          \
         "|r_t| - mu r_n or -r_n over mu r_n, which counts as a fifth of the largest push at "     \
         "least (contact_law.h)")                                                                  \
  FIGURE(CONTACT_ANGLE, contact_angle, "deg", 0, contact.law.angle,                                \
         "friction off: largest angle between friction and what opposes the slip", "friction",     \
         "of r_t from -u_t of those that slide by more than 5e-6 m (1e-5 m in steps that "         \
         "stagnated; contact_law.h)")                                                              \
  FIGURE(CONTACT_BALANCE, contact_balance, "kg m/s", 0, contact.balance,                           \
         "largest momentum of a body that no force explains", "momentum",                          \
         "over the bodies that nothing scripted holds, |sum m (v1 - v0) - h sum f_ext - h "        \
         "sum contact forces|")                                                                    \
  FIGURE(ENERGY_EXCESS, energy_excess, "J", 0, audit.work.excess,                                  \
         "energy gained beyond the work done; negative: dissipated", "energy",                     \
         "gain of all energies less the work of f_ext beyond weight, of moving colliders, of "     \
         "obstacles, of scripted nodes, and of springs' places and stiffness, (k1 - k0) |p0 "      \
         "- x0|^2 / 2 + k1 (p1 - x1).(p1 - p0) each (energy.c, springs.c). Scripted nodes "        \
         "are moved by the forces of the end; in steps in parts they gain what they gain of "      \
         "kinetic energy, and meet the mean of the elastic forces of both ends. A linearized "     \
         "step may gain some by its own equation: the rule is about the work of the residual")     \
  FIGURE(EQUATION, equation, "1", 1, equation, "eb_equation: what the step claims to solve",       \
         "claim", "problems/step.h")                                                               \
  FIGURE(EQUATION_RESIDUAL, equation_residual, "1", 0, audit.declared.relative,                    \
         "audited residual of the declared equation over its force scale", "residual",             \
         "implicit Euler and static: as residual_relative. Linearized, r = M (a v1 - v0) / h "     \
         "+ g(x0) + s h K(x0) v1 - f_ext - f_c - f_s with its scales a of mass and s of "          \
         "stiffness, f_c = k depth n - s h k P (v1 - w) at the touches that the step "             \
         "declares (inside at x0, or that would be at x0 + h v0 as well) and f_s = k (p - x0 "     \
         "- h v1). Friction of implicit colliders is that which is declared: Coulomb's, as "       \
         "in residual; none; or filtered: then r is that of the velocities v* that the "           \
         "solver tells, without friction, from which v1 = F(v*) follows (rule update; else "       \
         "Coulomb's), F taking at most h mu r_n / m of the slip of a node off it. With "           \
         "contact as constraints, what recorded forces are off the law is beside it too: "         \
         "pulls, friction beyond the cone, and r_t + mu r_n u_t / |u_t| where a contact "          \
         "slips by more than 5e-6 m inside the cone or more than 2.4 degrees off the "             \
         "direction (over the norm of all forces of contact where rigid bodies alone move, "       \
         "whose equation has no scale). Reduced, |v1.r| over the sum of the powers of "            \
         "inertia, g, f_ext, f_s and u; position-based, net force and moment of bodies that "      \
         "nothing holds and no collider reaches: where held nodes move (reduced) or all "          \
         "bodies are held these cannot be told, and the residual of all free nodes stands in "     \
         "(equation.c). In a declared subspace x = X + (I Phi) u, |Phi^T (M (x1 - xt) / h^2 "      \
         "- f_ext - f_s + sum of w P(F) dN/dX over its points)| over the norms of the terms "      \
         "(subspace.c)")                                                                           \
  FIGURE(UPDATE_ERROR, update_error, "m", 0, audit.update.error,                                   \
         "most that a node is off the declared update of positions", "update",                     \
         "of nodes that no body carries, poses of bodies and angles (rad) of joints: |x1 - "       \
         "x0 - h v1| or |x1 - x0 - h (v0 + v1) / 2| or, where forces are late, |x1 - x0 - h "      \
         "v1 + h^2 f_ext / m| of free nodes; static: h |v1|. Substeps: what is beyond |x1 - "      \
         "x0|_M <= h sqrt(2) (sqrt(K0 + E0 + S + |f_ext.(x1 - x0)|) + Y), over the root of "       \
         "the mass, where Y is the sum of sqrt(d.K(x0) d / 2) over four pieces d of the way "      \
         "of scripted nodes, K the projected tangent (script.c). Corrected: 0, and what c = "      \
         "x1 - x0 - h v1 raises E + S - f_ext.x by counts as energy from nowhere (motion.c)")      \
  FIGURE(HELD_ERROR, held_error, "m", 0, audit.held.error,                                         \
         "most that a held or carried node is off its place", "held",                              \
         "of the script at t1, of joints or body at their end")                                    \
  FIGURE(BALANCE, balance, "kg m/s", 0, momentum.balance,                                          \
         "momentum balance: largest momentum that a step gives a body and no force explains, "     \
         "by x or by v",                                                                           \
         "momentum",                                                                               \
         "of bodies that nothing holds, |sum M (v1 - v0) - h (external and contact forces)| "      \
         "or |sum M (x1 - x0) / h - sum M v1| (momentum_balance.c)")                               \
  FIGURE(BALANCE_RELATIVE, balance_relative, "1", 0, momentum.excess,                              \
         "the same, summed over a flight, over what the rule on momentum allows", "momentum", "")  \
  FIGURE(CONTACT_TRUE_GAP, contact_true_gap, "m", 0, contact.law.true_gap,                         \
         "true gap off: most that the distance of features which push each other is off the "      \
         "one they demand",                                                                        \
         "contact-gap", "less what they slide along each other")                                   \
  FIGURE(CONTACT_UNRECORDED, contact_unrecorded, "1", 1, contact.unrecorded,                       \
         "unrecorded pairs: features too near (1e-5 m) that no contact reports", "contact-record", \
         "triangles of different bodies that neither cross nor have a contact "                    \
         "(intersections.h)")                                                                      \
  FIGURE(CONTACT_NORMAL, contact_normal, "deg", 0, contact.law.normal,                             \
         "normal off: largest angle between a contact's normal and the geometry's",                \
         "contact-normal",                                                                         \
         "of features that push each other, the least angle that the normal has, anywhere on "     \
         "the way, with the shortest way between the features or the normal across them "          \
         "(places on the way are so dense that the former turns by less than 2 degrees "           \
         "between two)")                                                                           \
  COLUMN(RESIDENT, resident, "byte", 0, "resident memory of the process after the step")           \
  COLUMN(FROM_STEP, from_step, "1", 1,                                                             \
         "of samples: the step of the run `from` after which this one starts")                     \
  COLUMN(WARM_UP, lead, "s", 0,                                                                    \
         "of samples: wall time, off the clock, of the unrecorded step that leads the solver "     \
         "to the state")                                                                           \
  FIGURE(SPRINGS, springs, "J", 0, audit.totals.springs,                                           \
         "energy of the springs that pull nodes to places", "",                                    \
         "sum k |x1 - p|^2 / 2, as they are at t1")                                                \
  FIGURE(DECREMENT, decrement, "J^1/2", 0, decrement[1],                                           \
         "of the examined subspace: sqrt(g . inv(H) g) of its residual; NaN elsewhere", "",        \
         "g the reduced residual, H = B^T M B / h^2 + sum of w J^T C J over its points + k "       \
         "B^T B of springs, C their tangents without negative eigenvalues (examine.h)")            \
  FIGURE(DECREMENT_BEFORE, decrement_before, "J^1/2", 0, decrement[0],                             \
         "the same where the step starts", "", "")                                                 \
  FIGURE(HOURGLASS, hourglass, "1", 0, audit.hourglass,                                            \
         "root mean square of the hourglass modes of hexahedra; 0 of other elements", "",          \
         "sqrt(sum over elements of V^(1/3) sum_k |gamma_k x1|^2 / sum V), the amplitudes of "     \
         "the four patterns that linear fields do not make (hourglass.c), over the edge of a "     \
         "cube")                                                                                   \
  COLUMN(CLIENT_TIME, own, "s", 0,                                                                 \
         "what a program of the user's says that the step took, beside `wall`; NaN where "         \
         "there is none")

/* Figures of a row a step that have no rule: PART(ID, name, unit, member, meaning, definition). Of
 * a region of the mesh, or a group of nodes that the scene names (harness/audit/parts.h). */
#define EB_PART_FIGURES(PART)                                                                      \
  PART(TURN_X, turn_x, "rad", turn[0], "rotation vector of the best fit to the rest shape",        \
       "of the R that leaves sum m |x1 - c - R (X - C)|^2 least, from 3 rad on the sum of "        \
       "those of R1 R0^T over the steps (parts.h)")                                                \
  PART(TURN_Y, turn_y, "rad", turn[1], "continuous from step to step, over several turns too", "") \
  PART(TURN_Z, turn_z, "rad", turn[2], "NaN where the nodes tell no rotation",                     \
       "its nodes lie in a line")                                                                  \
  PART(SPIN_X, spin_x, "kg m^2/s", spin[0], "angular momentum about its own centre of mass", "")   \
  PART(SPIN_Y, spin_y, "kg m^2/s", spin[1], "angular momentum about its own centre of mass", "")   \
  PART(SPIN_Z, spin_z, "kg m^2/s", spin[2], "angular momentum about its own centre of mass", "")   \
  PART(ROTATIONAL, rotational, "J", rotational,                                                    \
       "rotational energy of its connected pieces, each about its own centre",                     \
       "sum of L.inv(I) L / 2")                                                                    \
  PART(DISPLACEMENT, displacement, "m", displacement, "mean distance of its nodes from rest",      \
       "|x1 - X|")                                                                                 \
  PART(CENTRE_X, centre_x, "m", centre[0], "centre of mass", "")                                   \
  PART(CENTRE_Y, centre_y, "m", centre[1], "centre of mass", "")                                   \
  PART(CENTRE_Z, centre_z, "m", centre[2], "centre of mass", "")

/* Of the R of every element that the solver has recorded (harness/audit/rotations.h). */
#define EB_ROTATION_FIGURES(ROTATION)                                                              \
  ROTATION(DET_MIN, det_min, "1", det_min, "least determinant of the elements' rotations", "")     \
  ROTATION(TURN_MAX, turn_max, "deg", turn_max,                                                    \
           "largest angle from the last step's, before the first one from the identity",           \
           "2 asin(|A - B|_F / sqrt(8)), at most 180")                                             \
  ROTATION(OFF_SVD, off_svd, "deg", off_svd,                                                       \
           "largest angle from the rotation nearest to the element's mean F",                      \
           "P = U V^T, det P = 1, of the mean F = U S V^T of the element's points")                \
  ROTATION(REFLECTIONS, reflections, "1", reflections, "elements of negative determinant", "")     \
  ROTATION(GAIN, gain, "1", gain,                                                                  \
           "median share of what was missing of it, where that is 0.01 to 20 degrees; NaN: "       \
           "nowhere",                                                                              \
           "log(R1 R0^T).n / |n|^2, n = log(P R0^T)")

/* NUMBER(ID, path below the run, unit, setting, meaning, definition). */
#define EB_NUMBERS_OF_RUNS(NUMBER)                                                                 \
  NUMBER(SUBSPACE_NULL, "subspace/null", "1", "examine = yes",                                     \
         "motions of the declared subspace that its points do not see",                            \
         "eigenvalues below 1e-6 of K_points v = l K_full v at rest, orthogonal to the rigid "     \
         "motions in the span. Stiff parts without points count, as they should; with moduli "     \
         "over 1e10 apart rounding hides some (examine.h)")                                        \
  NUMBER(SUBSPACE_POINTS, "subspace/points", "1", "examine = yes",                                 \
         "cubature points of the declared subspace", "")                                           \
  NUMBER(SUBSPACE_SIZE, "subspace/size", "1", "examine = yes",                                     \
         "coefficients of the declared subspace", "")                                              \
  NUMBER(SUBSPACE_START, "subspace/start_outside", "1", "examine = yes",                           \
         "share of x0 - X that lies outside the span", "in the norm of the masses")                \
  NUMBER(ELEMENT_RANK, "element/rank", "1", "examine = yes",                                       \
         "rank of the stiffness of the mesh's first element at rest",                              \
         "with control of hourglass modes where it has any: eigenvalues beyond 1e-9 of the "       \
         "largest (element_rank.h)")                                                               \
  NUMBER(EMBEDDING_ERROR, "embedding/error_max", "1", "embed = N",                                 \
         "largest error of a natural coordinate",                                                  \
         "an edge of a hexahedron is 2; NaN: there was no end")                                    \
  NUMBER(EMBEDDING_MOST, "embedding/iterations_max", "1", "embed = N",                             \
         "most updates of Newton's method for a point of an element",                              \
         "N random xi in every element at rest, found from x(xi) from the centre on until "        \
         "1e-10 of an edge is left (embedding.h)")                                                 \
  NUMBER(EMBEDDING_MEAN, "embedding/iterations_mean", "1", "embed = N", "mean number of them", "") \
  NUMBER(SUBSPACE_VARIANCE, "subspace/variance", "1/kg", "examine = yes",                          \
         "sum over the skinning weights of their variance in the region",                          \
         "by mass, within its connected pieces")                                                   \
  NUMBER(SUBSPACE_DENSITY, "subspace/density", "1", "examine = yes",                               \
         "the region's share of the points over its share of the volume", "")

/* ---- steps/ ---- */

typedef enum eb_column {
#define ENUMERATE(id, ...) EB_COL_##id,
  EB_STEP_COLUMNS(ENUMERATE, ENUMERATE)
#undef ENUMERATE
      EB_COL_COUNT
} eb_column;

typedef struct eb_column_info {
  const char *name, *unit, *meaning;
  int whole;
  const char *rule, *definition; /* of figures of the audit; NULL of other columns */
} eb_column_info;
extern const eb_column_info eb_columns[EB_COL_COUNT];

/* ---- parts/<name>/ and rotation/: NaN in steps that tell none ---- */

#define EB_PARTS_GROUP              "parts"
#define EB_ROTATION_GROUP           "rotation"
#define ENUMERATE_PART(id, ...)     EB_PART_##id,
#define ENUMERATE_ROTATION(id, ...) EB_ROTATION_##id,
typedef enum eb_part_column { EB_PART_FIGURES(ENUMERATE_PART) EB_PART_COLUMNS } eb_part_column;
typedef enum eb_rotation_column {
  EB_ROTATION_FIGURES(ENUMERATE_ROTATION) EB_ROTATION_COLUMNS
} eb_rotation_column;
#undef ENUMERATE_PART
#undef ENUMERATE_ROTATION
extern const eb_column_info eb_part_columns[EB_PART_COLUMNS];
extern const eb_column_info eb_rotation_columns[EB_ROTATION_COLUMNS];

/* ---- numbers of a run that was to be examined or to embed points ---- */

typedef enum eb_run_number {
#define ENUMERATE(id, ...) EB_NUMBER_##id,
  EB_NUMBERS_OF_RUNS(ENUMERATE)
#undef ENUMERATE
      EB_RUN_NUMBERS,
  EB_NUMBER_FIRST_OF_REGION = EB_NUMBER_SUBSPACE_VARIANCE /* from here on: path/REGION */
} eb_run_number;

typedef struct eb_number_info {
  const char *path, *unit; /* below the run */
  const char *setting;     /* of a suite's case that makes a run tell it */
  const char *meaning, *definition;
} eb_number_info;
extern const eb_number_info eb_run_numbers[EB_RUN_NUMBERS];

#endif
