/* ConJac: dynamics condensed onto few nodes, the others follow quasistatically.
 *
 *   J^T (M + beta h^2 H) (J y + c) = J^T (M v0 + h f),   v1 = J y + c,   x1 = x0 + h v1 + gamma p
 *
 * Reference: Weidner, Kim and Sueda 2020, "ConJac: Large Steps in Dynamic Simulation", whose K is -H; derived in conjac.h. y are
 * the velocities of the dynamic nodes and the rates of the joints of rigid bodies that carry nodes. J maps them to velocities that leave
 * the linearized forces on the quasistatic nodes unchanged; p = inv(H_qq) f_q drives those forces to zero. Where a body comes
 * to rest it is in the equilibrium of all nodes.
 *
 * Beyond the paper: gamma by a line search, further Newton corrections, a factor that serves several steps (then J lags, and with
 * it the inertia that the unknowns feel; p of the present force still leads to the same equilibrium), and in flight the relief of
 * quasistatic nodes from what accelerates a body as a whole (relief.c; on unless inertia_relief=false).
 * Without dynamic nodes the bodies follow their supports quasistatically.
 *
 * Needs: mass, dE/dx and H at the start of the step, elements of H positive semi-definite; every body held by scripted,
 * carried or dynamic nodes, or H_qq is singular: where the choice leaves rigid motions, further nodes become dynamic.
 * Workspace: H, its rows at nodes that are not quasistatic, its factor, two vectors and one for each unknown.
 * Fails: EB_DIVERGED_NAN when state, forces or solution are not finite; EB_NOT_POSITIVE_DEFINITE when H_qq or the small system
 * is not. The state is then as it was, but for the static solve at the start and for failed corrections after the step. */
#include "solvers/conjac/conjac.h"

#include "solvers/registry.h"

static const eb_option options[] = {
    {.name = "beta",
     .type = EB_OPTION_REAL,
     .fallback = "0.5",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "factor of h^2 H in the equation of motion; more damps"},
    {.name = "gamma",
     .type = EB_OPTION_TEXT,
     .fallback = "0.3333333333333333",
     .unit = "",
     .doc = "share of a Newton step that the quasistatic nodes take towards equilibrium, 0 to 2; "
            "or linesearch"},
    {.name = "newton_steps",
     .type = EB_OPTION_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000,
     .unit = "",
     .doc = "further such steps after each time step"},
    {.name = "keep_factor",
     .type = EB_OPTION_INT,
     .fallback = "1",
     .min = 1,
     .max = 1e9,
     .unit = "",
     .doc = "time steps that a factor and its condensation serve"},
    {.name = "friction_passes",
     .type = EB_OPTION_INT,
     .fallback = "1",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "implicit colliders: how often friction is filtered and projected in a step; 1 is the "
            "paper's, more let bodies stick"},
    {.name = "inertia_relief",
     .type = EB_OPTION_BOOL,
     .fallback = "true",
     .unit = "",
     .doc = "bodies that nothing holds: quasistatic nodes do not bear what accelerates the body as "
            "a whole; false: as in the paper"},
    {.name = "initial",
     .type = EB_OPTION_CHOICE,
     .fallback = "none",
     .choices = "none|static",
     .unit = "",
     .doc = "static: in the first step the quasistatic nodes first find their equilibrium"},
    {.name = "selection",
     .type = EB_OPTION_CHOICE,
     .fallback = "scene",
     .choices = "scene|random|farthest|list|all",
     .unit = "",
     .doc = "dynamic nodes: the scene's, then random ones; random; far apart; as listed; all"},
    {.name = "dynamic",
     .type = EB_OPTION_INT,
     .fallback = "4",
     .min = 0,
     .max = 1e6,
     .unit = "",
     .doc = "their number; when not given, fewer where so many do not fit"},
    {.name = "nodes",
     .type = EB_OPTION_TEXT,
     .fallback = "",
     .unit = "",
     .doc = "selection=list: numbers from 0, 12+40+99"},
    {.name = "spacing",
     .type = EB_OPTION_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 1,
     .unit = "",
     .doc = "least distance at rest of random ones, over the diagonal of the rest box"},
    {0}};

const eb_solver_ops eb_solver_conjac = {
    .name = "conjac",
    .summary = "dynamics condensed onto few nodes, the others quasistatic (ConJac)",
    .citation = "Weidner, Kim and Sueda 2020",
    .capabilities = EB_CAP_TETRAHEDRA | EB_CAP_HEXAHEDRA | EB_CAP_TRIANGLES | EB_CAP_COROTATIONAL |
                    EB_CAP_HYPERELASTIC | EB_CAP_FIBRES | EB_CAP_SCRIPTED | EB_CAP_COLLIDERS |
                    EB_CAP_IMPLICIT_PENALTY | EB_CAP_CUTTING | EB_CAP_ARTICULATION,
    .options = options,
    .create = eb_conjac_create,
    .update = EB_UPDATE_CORRECTED,
    .step = eb_conjac_step,
    .destroy = eb_conjac_destroy,
    .rebuild = eb_conjac_rebuild};
