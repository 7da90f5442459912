#include "harness/report/definitions.h"

#include "harness/audit/rules.h"
#include "harness/report/markup.h"

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
    {"implicit Euler's residual",
     "r = grad W(x1) = M (x1 - xt) / h^2 + g(x1) - f_c(x1) - f_ext(t0, x0, v0), xt = x0 + h v0, "
     "less the contact forces that the solver reports; its norm is |r|_2 over free nodes (not "
     "scripted, not carried by rigid bodies). M: lumped masses, g: elastic forces, f_c: penalty "
     "of implicit colliders, f_ext: gravity, explicit penalty, pulls by script. In static steps "
     "without the inertia term"},
    {"its force scale",
     "sqrt(sum over free nodes of |M (x1 - xt) / h^2|^2 + |g_e|^2 for each element's and each "
     "cluster's own contribution before they cancel + |f_c|^2 of implicit colliders + |f_ext|^2 + "
     "u^2). It does not vanish when forces balance. u is a floor for rounding, the forces that "
     "belong to a change of 1e-8 of the positions: 1e-8 M |x1| / h^2, and 1e-8 w |dN_a/dX| (lambda "
     "+ 2 mu) sum "
     "|x_b| |dN_b/dX| of every element (audit.h has those of springs and clusters)"},
    {"residual over its scale",
     "norm over force scale, without unit: 1e-10 means solved to ten digits, 1 not solved at all"},
    {"declared equation",
     "what the solver says that its steps solve, and is measured by: <i>implicit Euler</i> and "
     "<i>static</i>, the residual above; <i>linearized</i>, r = M (a v1 - v0) / h + g(x0) + s h "
     "K(x0) v1 - f_ext - f_c with its scales a of mass and s of stiffness, over the same sum of "
     "these terms; <i>reduced</i>, the power |v1 . r| over the sum of the powers of inertia, g, u "
     "and "
     "f_ext; <i>position-based</i>, the net force and moment on each body that nothing holds, over "
     "their terms. Friction of colliders in it is Coulomb's, or none, or a filter of the "
     "velocities "
     "behind it, as declared. Where held nodes move (reduced) or all bodies are held "
     "(position-based) these "
     "cannot be told, and the residual of all free nodes stands in"},
    {"joints", "residual of implicit Euler for the angles of jointed rigid bodies, its 2-norm, and "
               "the same over the norm of its terms"},
    {"solver's own residual", "what the solver logs, in a norm of its own, which the plots name: "
                              "shown beside the audited ones, never in their place"}};

static const definition figures[] = {
    {"update error",
     "largest distance of a node that no body carries from where the declared update of positions, "
     "such as x1 = x0 + h v1, puts it, and the same of the poses of bodies and the angles of "
     "joints; "
     "of steps in parts, how far the body has gone beyond h sqrt(2 (K0 + E0 + |f_ext . (x1 - "
     "x0)|)); of corrected ones, 0"},
    {"held error", "largest distance of a scripted, held or carried node from its place"},
    {"momentum balance",
     "largest |B| over the bodies that nothing holds, B = sum M (v1 - v0) - h (external and "
     "contact "
     "forces) or sum M (x1 - x0) / h - sum M v1; relative: |sum B| of a flight over what the rule "
     "on momentum allows"},
    {"energy excess",
     "(kinetic + elastic + gravitational, and that of springs and joints, after the step) - (the "
     "same before) - work of the forces that no potential has, of moving colliders and obstacles, "
     "of scripted nodes, and of what moves springs and changes their stiffness; negative where "
     "energy was dissipated. The largest of a step, and the sum over all. A "
     "linearized step may gain some by its own equation: the rule on energy is about the work of "
     "the residual"},
    {"kinetic, elastic, gravitational, springs",
     "sum 1/2 m |v|^2, sum over elements of volume x energy density and over clusters of nodes of "
     "1/2 k |x - xm - R (X - Xm)|^2 about their means, - sum m gravity . x (shown "
     "from its value in the first step on), sum 1/2 k |x - p|^2 of springs that pull nodes at x to "
     "places p"},
    {"penetration", "depth of the deepest node below the surface of a collider"},
    {"inverted elements", "those with det F &le; 0, at any Gauss point of a hexahedron"},
    {"crossing triangles, bodies in bodies",
     "pairs of surface triangles of different bodies, or of one body, that meet, and pairs of "
     "bodies one inside the other, by exact predicates"},
    {"too close, off with a force",
     "- u_n of a contact, and |u_n| of one that pushes, where u_n is the distance along its normal "
     "less the distance that it demands"},
    {"true gap off, apart",
     "by how much the true distance of features that push each other is off the one that they "
     "demand, less what they slide along each other, and the largest such distance"},
    {"unrecorded pairs", "features too near (1e-5 m) that no reported contact has"},
    {"normal off", "largest angle between a contact's normal and that of the geometry"},
    {"slip inside the cone, beyond the cone, friction off",
     "|u_t| of a contact whose friction is less than mu r_n; |r_t| - mu r_n, or - r_n, over mu "
     "r_n or a fifth of the largest r_n; angle between friction and - u_t of a contact that "
     "slides"}};

/* As harness/audit/figures.md has them, with the bounds of harness/case/verdict.c. */
static const char *const rules[EB_RULES] = {
    [EB_RULE_FINITE] = "state and audit are finite numbers",
    [EB_RULE_UPDATE] = "positions follow from velocities as the solver's table declares: update "
                       "error <= 64 eps (|x0| + |x1| + h |v1| + 1 + angles and poses), eps = 2^-52",
    [EB_RULE_HELD] = "scripted, held and carried nodes are where they belong: held error <= 64 eps "
                     "(|x0| + |x1|)",
    [EB_RULE_RESIDUAL] =
        "a claimed tolerance is met by the audited residual of the declared equation: at most 100 "
        "times the last one logged + 1e-9 of the force scale + roundings; 1e-6 of the force scale "
        "after a direct solve, 1e-3 after stagnation",
    [EB_RULE_CLAIM] =
        "what a solver reports is in range, and a claimed tolerance has a residual logged in a "
        "norm "
        "that the audit measures; its times are within 1.01 of the step's + 1 ms, those of phases "
        "on every thread; the state's step and time are those that follow",
    [EB_RULE_PROGRESS] =
        "the steps are better than doing nothing: of those, three at least, in which stopping and "
        "going on leave "
        "more than 1e-2 of the force scale, a tenth at least leave less residual or less potential "
        "than both",
    [EB_RULE_MOMENTUM] =
        "the momentum of bodies that nothing holds changes by the forces on them, in v and in x: "
        "over a flight |sum B| <= 10 % of the impulses sum h |f| + 0.1 % of the momentum sum m |v| "
        "+ roundings, and so is the sum of the residual over the free nodes of bodies that "
        "something "
        "holds, with the forces at held nodes among the impulses; with contact as constraints, "
        "each step <= sqrt(nodes) times the scene's "
        "bound, 5e-4 kg m/s",
    [EB_RULE_ENERGY] =
        "no energy comes from nowhere: the work of the residual of the declared equation, sum r . "
        "(x1 - x0) beyond roundings, or the energy excess of steps in parts, over any stretch of "
        "the run <= 5 % of its largest energy",
    [EB_RULE_PENETRATION] = "nodes stay within the scene's bound on penalty colliders, by default "
                            "1/20 of a body's diagonal + 1.5 h times the speed of first impact",
    [EB_RULE_INTERSECTION] = "surfaces in contact do not cross, bodies are not inside each other",
    [EB_RULE_CONTACT_RECORD] = "recorded contacts are contacts, and features of different bodies "
                               "that are nearer than the scene's bound, 1e-5 m, have one",
    [EB_RULE_CONTACT_GAP] =
        "the gap of recorded contacts is kept, linearized to 5e-5 m and true to 1e-4 m (bounds of "
        "the scene, here and below; twice that after stagnation)",
    [EB_RULE_CONTACT_NORMAL] =
        "the normals of recorded contacts belong to the geometry, to 10 degrees",
    [EB_RULE_FRICTION] =
        "friction keeps to Coulomb's cone (1e-2 of what a contact allows), to sticking "
        "(5e-5 m) and to its direction (2.4 degrees)",
    [EB_RULE_SCENE] =
        "the scene is what it was: the solver's in the end equals the harness's own, which was "
        "built beside it",
    [EB_RULE_HIDDEN_WORK] = "no work is done while the clock stands: untimed CPU <= 5 % of the "
                            "timed + 0.02 s",
    [EB_RULE_MEMORY] =
        "memory does not grow with the steps: over the second half of them by 32 MB + a "
        "tenth of what was there at most",
    [EB_RULE_REPLAY] =
        "a step answers to the state that it is given: one more, off the clock, from the end with "
        "other velocities keeps all rules, and leaves at most 10 times the worst residual of the "
        "run or 1e-2 of the force scale, unless it is better than doing nothing",
    [EB_RULE_PROCESS] =
        "the process is left as it was found: descriptors, folder, signals, children, files of the "
        "run, the page shared with the harness; no signal is sent to the harness; in the second "
        "half of the steps no more threads are started for good than the solver was given",
    [EB_RULE_RANKS] = "ranks that share a node have it in one place, and end a step alike"};

static eb_error write_list(const char *heading, const definition *list, size_t count,
                           eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h3>%s</h3>\n<dl>\n", heading));
  for (size_t i = 0; i < count; i++)
    EB_TRY(eb_text_printf(page, "<dt>%s</dt><dd>%s</dd>\n", list[i].term, list[i].meaning));
  return eb_text_printf(page, "</dl>\n");
}

static eb_error write_rules(eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h3>Rules of the audit</h3>\n<dl>\n"));
  for (int r = 0; r < EB_RULES; r++) {
    const char *name = eb_rule_name((eb_rule)r);
    EB_TRY(eb_text_printf(page, "<dt id=\"rule-%s\">%s</dt>", name, name));
    EB_TRY(eb_markup_between(page, "<dd>", rules[r], "</dd>\n"));
  }
  return eb_text_printf(page, "</dl>\n");
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

eb_error eb_definitions_html(eb_text *page) {
  EB_TRY(eb_text_printf(page, "<h2 id=\"definitions\">Definitions</h2>\n"
                              "<p>Every figure as it is computed. x0, v0 and x1, v1: positions and "
                              "velocities before and after a step of length h. Audited figures "
                              "come from the harness's own code; worst: of all steps, the first "
                              "included.</p>\n"));
  EB_TRY(write_list("Cost", costs, COUNT(costs), page));
  EB_TRY(write_list("Accuracy", residuals, COUNT(residuals), page));
  EB_TRY(write_list("Figures of the audit", figures, COUNT(figures), page));
  return write_rules(page);
}
