#include "harness/audit/rules.h"

#include <stddef.h>
#include <string.h>

static const struct {
  const char *name, *demand;
} rules[EB_RULES] = {
#define RULE(id, name, demand) {name, demand},
    EB_RULE_TABLE(RULE)
#undef RULE
};

const char *eb_rule_name(eb_rule rule) {
  return (unsigned)rule < EB_RULES ? rules[rule].name : "unknown rule";
}

eb_rule eb_rule_find(const char *name) {
  int rule = 0;
  while (rule < EB_RULES && strcmp(rules[rule].name, name) != 0) rule++;
  return (eb_rule)rule;
}

const char *eb_rule_demand(eb_rule rule) {
  return rules[rule].demand;
}

bool eb_rules_have(const char *names, eb_rule rule) {
  const char *name = eb_rule_name(rule);
  for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0) return true;
  return false;
}

const char *eb_rule_help(eb_rule rule) {
  static const char *const help[EB_RULES] = {
      [EB_RULE_UPDATE] = "where a step is cut into parts, more of them or a smaller dt",
      [EB_RULE_RESIDUAL] = "a tighter tolerance, or a direct solve",
      [EB_RULE_PROGRESS] = "more iterations, or a smaller dt",
      [EB_RULE_MOMENTUM] = "a tighter tolerance or more iterations: what a step leaves of its "
                           "equation is momentum that no force explains",
      [EB_RULE_ENERGY] = "a tighter tolerance, more iterations or a smaller dt; of reduced methods "
                         "more nodes or modes",
      [EB_RULE_PENETRATION] = "a smaller dt, or a stiffer collider",
      [EB_RULE_CONTACT_GAP] = "a tighter tolerance of constraints, or a smaller dt",
      [EB_RULE_FRICTION] =
          "a tighter tolerance, or an end of the iterations that asks for friction",
      [EB_RULE_REPLAY] = "a step that does not rely on what the last one left",
  };
  return (unsigned)rule < EB_RULES ? help[rule] : NULL;
}
