#include "harness/results/explained.h"

#include <math.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/audit/spot.h"
#include "harness/results/accuracy.h"

/* ---- rules ----------------------------------------------------------------------------------- */

static const eb_breach *find_breach(const eb_explained *of, const char *rule) {
  for (int i = 0; of->breaches && i < of->breaches->count; i++)
    if (strcmp(of->breaches->all[i].rule, rule) == 0) return &of->breaches->all[i];
  return NULL;
}

/* Whether a name is one of "a,b". */
static bool is_listed(const char *list, const char *name) {
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
    if (strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0) return true;
  return false;
}

/* "at contact 3 of lower and obstacle 1, (0.1, 0, 0.2) m"; of a whole body its name and middle. */
static void add_place(const eb_breach *b, eb_doc *doc) {
  bool whole = strstr(b->place, eb_spot_name(EB_SPOT_BODY)) != NULL;
  if (!*b->place) return;
  if (whole && *b->body)
    eb_doc_text(doc, EB_DOC_PLAIN, "; at %s", b->body);
  else
    eb_doc_text(doc, EB_DOC_PLAIN, "; at %s %lld%s%s", b->place, (long long)b->number,
                *b->body ? " of " : "", b->body);
  if (*b->other_body) eb_doc_text(doc, EB_DOC_PLAIN, " and %s", b->other_body);
  if (isfinite(b->x + b->y + b->z))
    eb_doc_text(doc, EB_DOC_PLAIN, ", %s(%.4g, %.4g, %.4g) m", whole ? "about " : "", b->x, b->y,
                b->z);
}

/* The worst of a run that broke the rule; files that are older have its first failure alone. */
static void add_run(const eb_explained *of, const char *rule, eb_doc *doc) {
  const eb_breach *b = find_breach(of, rule);
  if (!b) return;
  eb_doc_item(doc, "%s: ", of->label);
  eb_doc_text(doc, EB_DOC_PLAIN, "%s", b->words);
  add_place(b, doc);
  if (b->times > 1)
    eb_doc_text(doc, EB_DOC_PLAIN, "; the worst of %lld times", (long long)b->times);
}

void eb_explain_rules(const eb_explained *runs, int count, bool linked, eb_doc *doc) {
  for (int rule = 0; rule < EB_RULES; rule++) {
    const char *name = eb_rule_name((eb_rule)rule), *demand = eb_rule_demand((eb_rule)rule);
    const char *help = eb_rule_help((eb_rule)rule);
    char target[80];
    bool broken = false;
    for (int r = 0; r < count; r++) broken = broken || is_listed(runs[r].run->audit_rules, name);
    if (!broken) continue;
    snprintf(target, sizeof target, "#rule-%s", name);
    eb_doc_paragraph(doc, EB_DOC_PLAIN, "rule ");
    if (linked)
      eb_doc_link(doc, target, "%s", name);
    else
      eb_doc_text(doc, EB_DOC_PLAIN, "%s", name);
    eb_doc_text(doc, EB_DOC_PLAIN, ": %.*s", (int)strcspn(demand, ":"), demand);
    if (help) eb_doc_text(doc, EB_DOC_PLAIN, "; what may help: %s", help);
    for (int r = 0; r < count; r++) add_run(&runs[r], name, doc);
  }
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Why a completed run has no rank. */
static const char *unranked_because(const eb_run *run) {
  if (strcmp(run->audit, "failed") == 0) return "its audit failed";
  if (strcmp(run->audit, "passed") != 0) return "it has no audit";
  return eb_class_of(run).band == EB_BAND_UNKNOWN ? "its error is not known"
                                                  : "its error is too large to tell a motion by";
}

void eb_explain_unranked(const eb_explained *runs, int count, eb_doc *doc) {
  const char *separator = "";
  bool completed = false;
  for (int r = 0; r < count; r++) {
    if (eb_run_ranked(runs[r].run)) return;
    completed = completed || eb_outcome_find(runs[r].run->outcome) == EB_OUTCOME_COMPLETED;
  }
  if (!completed) return;
  eb_doc_paragraph(doc, EB_DOC_PLAIN, "%s: nobody is ranked: ", runs[0].run->scene);
  for (int r = 0; r < count; r++) {
    const eb_run *run = runs[r].run;
    if (eb_outcome_find(run->outcome) != EB_OUTCOME_COMPLETED) continue;
    eb_doc_text(doc, EB_DOC_PLAIN, "%s%s, %s", separator, runs[r].label, unranked_because(run));
    if (isfinite(run->error)) eb_doc_text(doc, EB_DOC_PLAIN, " (error %.2g)", run->error);
    separator = "; ";
  }
}
