/* The rules that every audited run is held to, whatever its solver says of itself. A broken rule
 * has a name: users meet it in the run's attribute `audit_rules`, on the terminal and in the
 * report, which defines it, as harness/audit/figures.md does. */
#ifndef EB_AUDIT_RULES_H
#define EB_AUDIT_RULES_H

#include <stdbool.h>

/* RULE(ID, name, what it demands). eps = 2^-52; |x|: the largest coordinate before plus that after
 * the step; other symbols as in harness/results/columns.h. */
#define EB_RULE_TABLE(RULE)                                                                        \
  RULE(FINITE, "finite", "state and audit are finite numbers")                                     \
  RULE(UPDATE, "update",                                                                           \
       "positions follow from velocities as the solver's table declares: update_error <= 64 "      \
       "eps (|x| + h |v1| + 1 + largest angle, largest entry of poses; late forces: + h^2 "        \
       "|f_ext| / m); filtered friction: h |v1 - F(v*)| <= 1 + largest h^2 mu k / m times "        \
       "that")                                                                                     \
  RULE(HELD, "held",                                                                               \
       "scripted, held and carried nodes are where they belong: held_error <= 64 eps |x|")         \
  RULE(RESIDUAL, "residual",                                                                       \
       "a claimed tolerance is met by the audited residual of the declared equation: at most "     \
       "100 times the last one logged + 1e-9 of the force scale + 45 roundings; 1e-6 of the "      \
       "scale after a direct solve, 1e-3 after stagnation")                                        \
  RULE(TOLERANCE, "claim",                                                                         \
       "what a solver reports is in range: reason, equation, scales, phases and counters "         \
       "exist, counts are not negative, and a claimed tolerance has a residual logged in a "       \
       "norm that the audit measures, |grad W|_2 (N) or, linearized, |b - A v|_2 (kg m/s; "        \
       "over h it is N). A step's `own` and the seconds beside its residuals are <= 1.01 "         \
       "wall + 1 ms, the sum of its phases (and of the set-up's) <= that times the threads: "      \
       "a program's clock may be another than the harness's, and round to milliseconds. The "      \
       "state's step and time are those that follow")                                              \
  RULE(PROGRESS, "progress",                                                                       \
       "the steps are better than doing nothing: of those, three at least (one in statics), "      \
       "in which stopping (v1 = 0) and going on (v1 = v0) leave more than 1e-2 of the force "      \
       "scale, a tenth at least leave less residual (by 1e-6) or less potential than both; "       \
       "position-based: or less without the elastic energy, and once a step was better, "          \
       "those that go less than 1e-3 of the farthest are at rest and do not count, nor do "        \
       "those in which nodes meet a collider")                                                     \
  RULE(                                                                                            \
      MOMENTUM, "momentum",                                                                        \
      "the momentum of bodies that nothing holds changes by the forces on them, in v and in "      \
      "x: over a body's flight |sum B| <= 0.1 sum h |f| + 1e-3 max sum m |v| + rounding, B "       \
      "= a P1 - P0 - h F, a = min(declared mass scale, 1.1), and B = sum m (x1 - x0) / h - "       \
      "P1 (momentum_balance.c); so is the sum of the residual over the free nodes of bodies that " \
      "something holds, with the forces at held nodes among the impulses. Samples are "            \
      "flights and sums of energy of their own (harness/suite/README.md). With contact as "        \
      "constraints, contact_balance <= sqrt(nodes) 5e-4 kg m/s + 1e-10 of its terms, of "          \
      "rigid bodies and their spin 5e-4")                                                          \
  RULE(ENERGY, "energy",                                                                           \
       "no energy comes from nowhere: over any stretch of the run the work sum r.(x1 - "           \
       "x0) of residuals, less that of roundings, is <= 0.05 of its largest energy. Of "           \
       "a difference of energies and works roundings leave n eps of the sum of their "             \
       "sizes, n the nodes' coordinates and the points, and what 45 roundings of "                 \
       "positions and forces change them by (energy.c). Of steps in parts: "                       \
       "energy_excess, of either sign less what is not known of a script's work, which "           \
       "is half of what the change of the elastic forces does on its way W and, where "            \
       "that is off an even one by a tenth of the largest at a quarter of the step, or "           \
       "residual > 0.1 scale, |W| + Y (2 sqrt(A0) + Y) as well, A0 the energy at the "             \
       "start but for weight, Y as in update_error; with late forces less sum h^2 "                \
       "|f_ext|^2 / m over free nodes. In a subspace at most what kinetic energy and "             \
       "that of points and springs have risen beyond the work of forces, since "                   \
       "implicit Euler dissipates the rest. Position-based steps: energy_excess less "             \
       "what the energies of elements and colliders have risen, summed since the "                 \
       "start, whose store may come back")                                                         \
  RULE(PENETRATION, "penetration",                                                                 \
       "nodes stay within the scene's bound on penalty colliders: max_penetration, by "            \
       "default <= a twentieth of a body's diagonal + 1.5 h times the speed of the first "         \
       "impact (problems/scene.c)")                                                                \
  RULE(INTERSECTION, "intersection",                                                               \
       "surfaces in contact do not cross, and bodies are not inside each other")                   \
  RULE(CONTACT_RECORD, "contact-record",                                                           \
       "recorded contacts are sound (contact_law.h), and none is missing between features of "     \
       "different bodies nearer than 1e-5 m")                                                      \
  RULE(CONTACT_GAP, "contact-gap",                                                                 \
       "the gap of recorded contacts is kept: contact_violation, contact_open <= 5e-5 m, "         \
       "contact_true_gap <= 1e-4 m (bounds of the scene, here and in the next two; twice "         \
       "that after stagnation)")                                                                   \
  RULE(CONTACT_NORMAL, "contact-normal",                                                           \
       "the normals of recorded contacts belong to the geometry: contact_normal <= 10 "            \
       "degrees")                                                                                  \
  RULE(FRICTION, "friction",                                                                       \
       "friction keeps to Coulomb's cone, to sticking and to its direction: contact_cone <= "      \
       "1e-2, contact_sliding <= 5e-5 m, contact_angle <= 2.4 degrees; and nothing creeps: a "     \
       "body that friction holds, by the mean over its contacts, slips no more in all steps than " \
       "one contact may in one, 5e-5 m; not of steps that "                                        \
       "declare friction to a motion, whose error and class have it")                              \
  RULE(SCENE, "scene",                                                                             \
       "the scene is what it was: the solver's in the end equals the harness's own, which "        \
       "was built beside it")                                                                      \
  RULE(HIDDEN_WORK, "hidden-work",                                                                 \
       "no work is done while the clock stands: CPU of the solver's threads off the clock <= "     \
       "0.05 of that on it + 0.02 s; of the steps that lead to samples (but for the first "        \
       "one of a new solver) <= 10 of it + a set-up each")                                         \
  RULE(MEMORY, "memory",                                                                           \
       "memory does not grow with the steps: over the second half of them <= 32 MB + a tenth "     \
       "of what was there")                                                                        \
  RULE(REPLAY, "replay",                                                                           \
       "a step answers to the state that it is given: a last one, off the clock, from the "        \
       "end with v += 2 h |g| e + 0.05 V e' keeps all rules but penetration, with a residual "     \
       "<= the larger of 10 times the worst of the run and 1e-2 of the force scale, or one "       \
       "that is better than doing nothing. In the former case momentum is held to 10 times "       \
       "its bound")                                                                                \
  RULE(PROCESS, "process",                                                                         \
       "the process is left as it was found: descriptors, folder, SIGTERM, children, files "       \
       "of the run, the page that the harness shares and the state's arrays; no signal is "        \
       "sent to the harness; after the last step no more threads live than after any of the "      \
       "first half of them + the threads given (a team of OpenMP may start late). A solver's "     \
       "declared process has none of its own (harness/case/helper.h), and its CPU and memory "     \
       "count as the solver's")                                                                    \
  RULE(RANKS, "ranks",                                                                             \
       "ranks that share a node have it in one place, and end a step alike: x and v are the "      \
       "owner's, bit by bit, on all of them after every step (what is not is told, and "           \
       "becomes the owner's)")

typedef enum eb_rule {
#define ENUMERATE(id, name, demand) EB_RULE_##id,
  EB_RULE_TABLE(ENUMERATE)
#undef ENUMERATE
      EB_RULES
} eb_rule;

/* Whether a list of names, "update,momentum", has that of the rule. */
bool eb_rules_have(const char *names, eb_rule rule);
/* "finite", "contact-gap", ...; what the rule demands, a sentence without its stop. */
const char *eb_rule_name(eb_rule rule);
const char *eb_rule_demand(eb_rule rule);
/* The rule of that name; EB_RULES when there is none. */
eb_rule eb_rule_find(const char *name);
/* What is known to help where it is broken, a sentence without its stop; NULL: nothing is. */
const char *eb_rule_help(eb_rule rule);

#endif
