#include "harness/report/definitions.h"

#include <stdbool.h>
#include <string.h>

#include "harness/audit/rules.h"
#include "harness/report/markup.h"
#include "harness/results/columns.h"

typedef struct definition {
  const char *term, *meaning;
} definition;

static const definition costs[] = {
    {"step, median",
     "median of the wall times of all steps but the first (of the first, when there is no other): "
     "what passes between two readings of the clock right before and right after the solver's own "
     "code, a set-up again after a cut included"},
    {"over the fastest",
     "that median over the least one among the runs that are ranked in the same class, over as "
     "many steps of the same scene. Runs of a class rank by error and cost: behind those alone "
     "that "
     "are at least as accurate (to two digits) and cheaper. * marks those that are behind none"},
    {"set-up and steps",
     "set-up (the solver's creation: ordering, bases, factors that are kept) + sum of the wall "
     "times of all steps, the first included; beside it the same over the least of the class"},
    {"start to end",
     "wall time of the whole process: the scene, the set-up, all steps, and what the harness does "
     "off the clock (audits, frames, files); beside it the same over the least of the class"},
    {"start to first step", "from the start of the process until the first step begins"},
    {"process CPU over timed CPU",
     "processor time of the whole process, all threads and the children that it waited for, over "
     "that of the timed steps"},
    {"untimed CPU",
     "processor time that threads of the solver's used while the clock stood between two steps"},
    {"audits", "wall time of the audits of all steps, off the clock, on all cores"},
    {"threads alive",
     "most threads of the process that there were between two steps, without those that audit"},
    {"memory growth", "resident memory after the last step less that after the first"},
    {"peak memory", "largest resident memory of the process; 1 MB = 1048576 bytes"},
    {"iterations", "outermost iterations by the solver's own count, and those of linear solvers "
                   "within: medians without the first step. Those of plug-ins and programs are "
                   "claims, which nobody has measured, and rank nothing"},
    {"step by its own clock",
     "median of what a program of the user's says that its steps took (external:COMMAND): it "
     "stands "
     "beside the step that the harness has measured, which alone is compared"}};

static const definition residuals[] = {
    {"error",
     "sqrt(sum |r|^2 / sum scale^2) over all steps of the run, r the residual of the declared "
     "equation and scale its force scale. It puts the run into its class, together with the "
     "equation's name: below 1e-8, 1e-8 to "
     "1e-6, 1e-6 to 1e-4, 1e-4 to 1e-2, 1e-2 to 1e-1 (lower ends included). From 1e-1 on it is of "
     "order one and not ranked: the steps explain less than nine tenths of the forces"},
    {"ranked", "a run that completed, passed its audit and has a class; all others are shown with "
               "their figures and take no part in any comparison of cost"},
    {"declared equation",
     "what the solver says that its steps solve, and is measured by: <i>implicit Euler</i>, "
     "<i>static</i>, <i>linearized</i>, <i>reduced</i> or <i>position-based</i>, with the friction "
     "that it declares; <code>equation_residual</code> below has their formulas"},
    {"solver's own residual", "what the solver logs, in a norm of its own, which the plots name: "
                              "shown beside the audited ones, never in their place"}};

static eb_error write_list(const char *heading, const definition *list, size_t count,
                           eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h3>%s</h3>\n<dl>\n", heading));
  for (size_t i = 0; i < count; i++)
    EB_TRY(eb_text_printf(page, "<dt>%s</dt><dd>%s</dd>\n", list[i].term, list[i].meaning));
  return eb_text_printf(page, "</dl>\n");
}

static eb_error write_figure(const eb_column_info *figure, eb_text *page) {
  bool unit = strcmp(figure->unit, "1") != 0;
  EB_TRY(eb_text_printf(page, "<dt><code>%s</code>%s%s</dt>", figure->name, unit ? ", " : "",
                        unit ? figure->unit : ""));
  EB_TRY(eb_markup_fill(page, *figure->definition ? "<dd>{}<br>{}" : "<dd>{}",
                        (const char *const[]){figure->meaning, figure->definition}));
  if (*figure->rule)
    EB_TRY(eb_text_printf(page, " (rule <a href=\"#rule-%s\">%s</a>)", figure->rule, figure->rule));
  return eb_text_printf(page, "</dd>\n");
}

static eb_error write_figures(eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h3>Figures of the audit</h3>\n<dl>\n"));
  for (int c = 0; c < EB_COL_COUNT; c++)
    if (eb_columns[c].definition) EB_TRY(write_figure(&eb_columns[c], page));
  return eb_text_printf(page, "</dl>\n");
}

static eb_error write_rules(eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h3>Rules of the audit</h3>\n<dl>\n"));
  for (int r = 0; r < EB_RULES; r++) {
    const char *name = eb_rule_name((eb_rule)r);
    EB_TRY(eb_text_printf(page, "<dt id=\"rule-%s\">%s</dt>", name, name));
    const char *help = eb_rule_help((eb_rule)r);
    EB_TRY(eb_markup_fill(page, help ? "<dd>{}<br>What may help: {}</dd>\n" : "<dd>{}</dd>\n",
                          (const char *const[]){eb_rule_demand((eb_rule)r), help}));
  }
  return eb_text_printf(page, "</dl>\n");
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

eb_error eb_definitions_html(eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h2 id=\"definitions\">Definitions</h2>\n"
                              "<p>Every figure as it is computed. x0, v0 and x1, v1: positions and "
                              "velocities before and after a step of length h, M: lumped masses, "
                              "g: elastic forces, f_c: penalty of implicit colliders, f_s: pull of "
                              "springs, f_ext: gravity, explicit penalty and pulls by script at "
                              "the start; free nodes are neither scripted nor carried by rigid "
                              "bodies. Audited figures come from the harness's own code, under "
                              "their names in the file; worst: of all steps, the first "
                              "included.</p>\n"));
  EB_TRY(write_list("Cost", costs, COUNT(costs), page));
  EB_TRY(write_list("Accuracy", residuals, COUNT(residuals), page));
  EB_TRY(write_figures(page));
  return write_rules(page);
}
