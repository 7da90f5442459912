/* The rules that every audited run is held to, whatever its solver says of itself. A broken rule
 * has a name: users meet it in the run's attribute `audit_rules`, on the terminal and in the
 * report. harness/audit/figures.md defines each by its formula. */
#ifndef EB_AUDIT_RULES_H
#define EB_AUDIT_RULES_H

typedef enum eb_rule {
  EB_RULE_FINITE,      /* state and audit are finite numbers */
  EB_RULE_UPDATE,      /* positions follow from velocities as the solver's table declares */
  EB_RULE_HELD,        /* scripted, held and carried nodes are where they belong */
  EB_RULE_RESIDUAL,    /* a claimed tolerance is met by the audited residual of its equation */
  EB_RULE_CLAIM,       /* what a solver reports is in range; a claimed tolerance has a residual */
  EB_RULE_PROGRESS,    /* the steps are better than doing nothing */
  EB_RULE_MOMENTUM,    /* of bodies changes by the forces on them: in v, in x where nothing holds */
  EB_RULE_ENERGY,      /* no energy comes from nowhere, summed over the run */
  EB_RULE_PENETRATION, /* nodes stay within the scene's bound on penalty colliders */
  EB_RULE_INTERSECTION,   /* surfaces in contact do not cross, bodies are not inside each other */
  EB_RULE_CONTACT_RECORD, /* contacts are recorded where surfaces are near, and are contacts */
  EB_RULE_CONTACT_GAP,    /* the gap of recorded contacts, linearized and true */
  EB_RULE_CONTACT_NORMAL, /* their normals belong to the geometry */
  EB_RULE_FRICTION,       /* Coulomb's cone, sticking, direction */
  EB_RULE_SCENE,          /* the scene is what it was */
  EB_RULE_HIDDEN_WORK,    /* no work is done while the clock stands */
  EB_RULE_MEMORY,         /* memory does not grow with the steps */
  EB_RULE_REPLAY,         /* a step answers to the state that it is given */
  EB_RULE_PROCESS, /* the process is left as it was found: descriptors, folder, signals, children */
  EB_RULE_RANKS,   /* ranks that share a node have it in one place, and end a step alike */
  EB_RULES
} eb_rule;
/* "finite", "contact-gap", ... */
static inline const char *eb_rule_name(eb_rule rule) {
  static const char *const names[EB_RULES] = {[EB_RULE_FINITE] = "finite",
                                              [EB_RULE_UPDATE] = "update",
                                              [EB_RULE_HELD] = "held",
                                              [EB_RULE_RESIDUAL] = "residual",
                                              [EB_RULE_CLAIM] = "claim",
                                              [EB_RULE_PROGRESS] = "progress",
                                              [EB_RULE_MOMENTUM] = "momentum",
                                              [EB_RULE_ENERGY] = "energy",
                                              [EB_RULE_PENETRATION] = "penetration",
                                              [EB_RULE_INTERSECTION] = "intersection",
                                              [EB_RULE_CONTACT_RECORD] = "contact-record",
                                              [EB_RULE_CONTACT_GAP] = "contact-gap",
                                              [EB_RULE_CONTACT_NORMAL] = "contact-normal",
                                              [EB_RULE_FRICTION] = "friction",
                                              [EB_RULE_SCENE] = "scene",
                                              [EB_RULE_HIDDEN_WORK] = "hidden-work",
                                              [EB_RULE_MEMORY] = "memory",
                                              [EB_RULE_REPLAY] = "replay",
                                              [EB_RULE_PROCESS] = "process",
                                              [EB_RULE_RANKS] = "ranks"};
  return (unsigned)rule < EB_RULES ? names[rule] : "unknown rule";
}

#endif
