#include "harness/audit/rules.h"

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

const char *eb_rule_demand(eb_rule rule) {
  return rules[rule].demand;
}
