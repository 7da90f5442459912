#include "harness/audit/rules.h"

const char *eb_rule_name(eb_rule rule) {
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
                                              [EB_RULE_PROCESS] = "process"};
  return (unsigned)rule < EB_RULES ? names[rule] : "unknown rule";
}
