/* Steps of solvers, one row a race. */
#include <math.h>
#include <stdio.h>

#include "harness/bench/bench_race.h"
#include "problems/subspace_record.h"

/* ---- what is told of the last runs ----------------------------------------------------------- */

static const eb_step_log *log_of(const eb_bench_race *race, int side) {
  return race->sides[side].log;
}

/* Milliseconds of the shortest phases of the first two sides, over `parts`; of those that either
 * has, or of the `count` given. */
static void tell_phases(const eb_bench_race *race, const char *front, const eb_phase *phases,
                        int count, int parts, char *text, size_t bytes) {
  const double *ours = race->sides[0].least_seconds, *theirs = race->sides[1].least_seconds;
  size_t length = (size_t)snprintf(text, bytes, "%s", front);
  for (int k = 0; k < (phases ? count : EB_PHASE_COUNT) && length < bytes; k++) {
    eb_phase p = phases ? phases[k] : (eb_phase)k;
    if (ours[p] > 0 || theirs[p] > 0)
      length += (size_t)snprintf(text + length, bytes - length,
                                 phases ? " %s %.3f/%.3f" : " %s %.1f/%.1f", eb_phase_name(p),
                                 1e3 * ours[p] / parts, 1e3 * theirs[p] / parts);
  }
}

/* ---- Newton's method, linearly implicit steps and vertex block descent on bench/beam --------- */

/* 15 360 tetrahedra, one thread, from a bent and moving state. Newton's method is counted per
 * iteration: everything a step does, guess and line search included, over its linear systems.
 * Other programs take 162 to 457 ms for that on the same beam. */

enum { BENDING_STEPS = 6 };

#define BEAM(name_, unit_, target_, work_, parameters_, solver_, options_)                         \
  {                                                                                                \
    .name = name_, .unit = unit_, .measure = EB_BENCH_TIME, .target = target_,                     \
    EB_RACE(.scene = "bench/beam", .parameters = parameters_,                                      \
            .sides = {EB_SIDE(solver_, options_)}, .walk = BENDING_STEPS, .work = work_)           \
  }
#define COROTATIONAL(name_, linear_)                                                               \
  BEAM("corotational-" name_ "-step/beam", "step", 0, EB_WORK_ITERATIONS, "material=corotational", \
       "corotational", "linear=" linear_)

static void describe_mixed(void *context, char *text, size_t bytes) {
  snprintf(text, bytes, "iterations a step: %d, newton's %d", (int)log_of(context, 0)->iterations,
           (int)log_of(context, 1)->iterations);
}

/* A step of 20 sweeps over its sweeps. A tetrahedron is visited four times in a sweep. Laws of
 * invariants first, then those that are decomposed at every visit. */
#define SWEEP(name_, target_, parameters_)                                                         \
  {                                                                                                \
    .name = "vbd-sweep/" name_, .unit = "sweep", .measure = EB_BENCH_TIME, .target = target_,      \
    .describe = describe_visits,                                                                   \
    EB_RACE(.scene = "bench/beam", .parameters = parameters_,                                      \
            .sides = {EB_SIDE("vbd", "iterations=20")}, .walk = BENDING_STEPS,                     \
            .walker = EB_SIDE("newton", ""), .work = EB_WORK_ITERATIONS)                           \
  }

static void describe_visits(void *context, char *text, size_t bytes) {
  const eb_step_log *log = log_of(context, 0);
  snprintf(text, bytes, "the last step: %.1f ns a visit of an element by a node",
           1e9 * log->phase_seconds[EB_PHASE_LOCAL] / log->counters[EB_COUNT_ELEMENT_EVALUATIONS]);
}

/* ---- the condensation ------------------------------------------------------------------------ */

/* Beside linearly implicit steps of the same dragon (10 456 nodes), one thread, same
 * factorization: what 3 columns a dynamic node cost, solved with the factor that either needs. The
 * jaws and the trunk have been pulled for four steps, then let go, so that every dynamic node is
 * one. Targets are the paper's figures: a fifth more than semi-implicit with 4 nodes, two fifths
 * with 10. */

#define DRAGON(nodes_, target_)                                                                    \
  {                                                                                                \
    .name = "conjac-step/dragon-" #nodes_, .unit = "step", .measure = EB_BENCH_TIME,               \
    .describe = describe_dragon, EB_BESIDE(EB_PEER("semi-implicit", target_)),                     \
    EB_RACE(.scene = "conjac2020/dragon", .parameters = "release=0.02,pull=0.02",                  \
            .sides = {EB_SIDE("conjac", "dynamic=" #nodes_), EB_SIDE("semi-implicit", "beta=4")},  \
            .walk = 8, .walking_side = 1, .check = check_unknowns)                                 \
  }

static eb_error check_unknowns(const eb_bench_race *race) {
  int nodes = 0;
  double unknowns = log_of(race, 0)->counters[EB_COUNT_REDUCED_UNKNOWNS];
  sscanf(race->of->sides[0].options, "dynamic=%d", &nodes);
  if (unknowns == 3 * nodes) return EB_OK;
  return EB_ERROR(EB_ERR_INVALID, "%g unknowns for %d dynamic nodes", unknowns, nodes);
}

static void describe_dragon(void *context, char *text, size_t bytes) {
  tell_phases(context, "ms, conjac / semi-implicit:", NULL, 0, 1, text, bytes);
}

/* ---- subspaces ------------------------------------------------------------------------------- */

/* At the sizes of trusty2023, Table 1 (m modes, C points), one thread. Iterations are taken of the
 * paper's scenes on coarser meshes with the paper's m and C: an iteration never touches the mesh,
 * as the step cases show, and the set-up takes seconds. A step makes a fixed number of them; what
 * it moves between mesh and subspace, as much for either solver, is left out. */

#define RESOLVED(solver_, sizes_, resolution_)                                                     \
  { .solver = solver_, .options = sizes_ ",iterations=5", .parameters = "resolution=" resolution_ }
#define SUBSPACE(name_, target_, peer_, scene_, own_, theirs_, its_solver_, sizes_)                \
  {                                                                                                \
    .name = "subspace/" name_, .unit = "iterations", .measure = EB_BENCH_SHARE, .target = target_, \
    .charged = eb_bench_race_others, .describe = describe_subspace, EB_BESIDE(EB_PEER(peer_, 0)),  \
    EB_RACE(.scene = "trusty2023/" scene_,                                                         \
            .sides = {RESOLVED("mfem-subspace", sizes_, own_),                                     \
                      RESOLVED(its_solver_, sizes_, theirs_)},                                     \
            .walk = 3, .phase = EB_PHASE_PROJECT, .check = check_points)                           \
  }
#define ITERATION(scene_, resolution_, sizes_)                                                     \
  SUBSPACE("mfem-iteration/" scene_, 1.15, "fem-subspace", scene_, resolution_, resolution_,       \
           "fem-subspace", sizes_)
#define ON_CRAB(name_, resolution_)                                                                \
  SUBSPACE("step/" name_, 1.10, "10k", "crab", resolution_, "0.045", "mfem-subspace",              \
           "modes=16,points=342")

static eb_error check_points(const eb_bench_race *race) {
  for (int k = 0; k < race->count; k++) {
    const eb_step_log *log = log_of(race, k);
    int points = 0;
    sscanf(race->of->sides[k].options, "modes=%*d,points=%d", &points);
    if (log->iterations != 5 || log->subspace->count < points)
      return EB_ERROR(EB_ERR_INVALID, "%s makes %d iterations with %d points",
                      race->of->sides[k].solver, (int)log->iterations, (int)log->subspace->count);
  }
  return EB_OK;
}

static void describe_subspace(void *context, char *text, size_t bytes) {
  static const eb_phase phases[] = {EB_PHASE_LOCAL, EB_PHASE_ASSEMBLE, EB_PHASE_FACTOR,
                                    EB_PHASE_LINESEARCH};
  tell_phases(context, "ms an iteration, its / the peer's:", phases, 4, 5, text, bytes);
}

/* ---- projective dynamics --------------------------------------------------------------------- */

/* Ten iterations from the scene's start; what else a step does is charged to them. */

#define PROJECTIVE(name_, target_, scene_, parameters_, charged_, phase_)                          \
  {                                                                                                \
    .name = "projective/" name_, .unit = "iteration", .measure = EB_BENCH_TIME, .target = target_, \
    .charged = charged_,                                                                           \
    EB_RACE(.scene = scene_, .parameters = parameters_, .sides = {EB_SIDE("pd", "iterations=10")}, \
            .phase = phase_, .work = EB_WORK_ITERATIONS)                                           \
  }
#define BESIDE_OTHERS(name_, target_, scene_, parameters_)                                         \
  {                                                                                                \
    .name = "projective/" name_, .unit = "iteration", .measure = EB_BENCH_TIME, .target = target_, \
    .charged = eb_bench_race_steps,                                                                \
    EB_BESIDE(EB_PEER("pd, contact=cg", 0), EB_PEER("lbfgs", 0), EB_PEER("admm", 0)),              \
    EB_RACE(.scene = scene_, .parameters = parameters_,                                            \
            .sides = {EB_SIDE("pd", "iterations=10"), EB_SIDE("pd", "iterations=10,contact=cg"),   \
                      EB_SIDE("lbfgs", "iterations=10"), EB_SIDE("admm", "iterations=10")},        \
            .work = EB_WORK_ITERATIONS)                                                            \
  }

static const char soft_beam[] = "material=fixed-corotational,nu=0";

/* ---- position-based sweeps ------------------------------------------------------------------- */

/* Shape, hourglass and volume of hexahedra, shape and volume of tetrahedra, from a body in
 * disorder; the time of the phase LOCAL alone. One thread but for scaling. Estimates of rotations,
 * of which a step has one, stand beside. PositionBasedDynamics takes 1.75 ms for a sweep over the
 * 15 360 tetrahedra of bench/beam. Cost should not grow faster than the body: from 10^4 to 10^6
 * hexahedra, whose data leave the caches. */

#define SWEEPS(name_, unit_, measure_, target_, scene_, parameters_, solver_, options_, phase_,    \
               work_)                                                                              \
  {                                                                                                \
    .name = name_, .unit = unit_, .measure = measure_, .target = target_, .scales_with = "dgemm",  \
    .charged = eb_bench_race_phase,                                                                \
    EB_RACE(.scene = scene_, .parameters = parameters_, .sides = {EB_SIDE(solver_, options_)},     \
            .phase = phase_, .work = work_)                                                        \
  }
#define RANDOM(n_) "element=hexahedra,initial=random,nx=" n_ ",ny=" n_ ",nz=" n_
#define HEXAHEDRA(size_, n_)                                                                       \
  SWEEPS("pbfe/hexahedra-" size_, "hexahedra", EB_BENCH_RATE, 3e6, NULL, RANDOM(n_), "pbfe", "",   \
         EB_PHASE_LOCAL, EB_WORK_SWEPT_ELEMENTS)
#define ESTIMATE(name_)                                                                            \
  SWEEPS("pbfe/rotations-" name_, "hexahedron", EB_BENCH_TIME, 0, NULL, RANDOM("32"), "pbfe",      \
         "iterations=1,rotation=" name_, EB_PHASE_ROTATIONS, EB_WORK_ELEMENTS)

/* ---- warp-cancelling corotation -------------------------------------------------------------- */

/* Steps of Hecht et al.'s dropped sculpture, E = 5e8 Pa, beside what the paper compares them with:
 * conjugate gradients with Jacobi's preconditioner to an absolute residual of 1e-4, and a Cholesky
 * factorization a step.
 *
 * At rest and in free fall nothing turns and nothing is updated, so the steps are those from the
 * impact on, where most is: every solver has a trajectory of its own, a run is its next few steps,
 * and rounds compare the same steps. A solver that fails goes on from where it got. Whole drops are
 * what `elastobench reproduce hecht2012` measures. Conjugate gradients take thousands of iterations
 * here: four steps of the large sculpture are some two minutes. */

#define DROP(size_, steps_, target_)                                                               \
  {                                                                                                \
    .name = "warp-step/sculpture-" size_, .unit = "step", .measure = EB_BENCH_TIME,                \
    .describe = describe_drop,                                                                     \
    EB_BESIDE(EB_PEER("CG", target_), EB_PEER("Cholesky, every step", 0.95)),                      \
    EB_RACE(.scene = "hecht2012/sculpture-" size_, .parameters = "E=5e8,height=0.5",               \
            .sides = {EB_SIDE("warp-cholesky", ""),                                                \
                      EB_SIDE("corotational", "linear=cg,linear_rtol=0,linear_atol=1e-4,"          \
                                              "linear_max_iterations=100000"),                     \
                      EB_SIDE("corotational", "linear=cholesky")},                                 \
            .place = fall, .steps = steps_, .goes_on = true)                                       \
  }

/* The last state before the ground, z = 0, is reached. Free fall is exact without a solver:
 * implicit Euler gives v = -n h g, x = x0 - n (n + 1) / 2 h^2 g after n steps. */
static void fall(const eb_scene *scene, eb_state *state) {
  double h = scene->dt, g = -scene->gravity[2], height = INFINITY, n = 0;
  for (int64_t i = 0; i < state->node_count; i++) height = fmin(height, scene->x0[3 * i + 2]);
  while ((n + 1) * (n + 2) / 2 * h * h * g < height) n++;
  for (int64_t i = 0; i < state->node_count; i++) {
    state->x[3 * i + 2] -= n * (n + 1) / 2 * h * h * g;
    state->v[3 * i + 2] -= n * h * g;
  }
  state->time = n * h;
  state->step = (int64_t)n;
}

static void describe_drop(void *context, char *text, size_t bytes) {
  const eb_bench_race *race = context;
  const eb_bench_tally *warp = &race->sides[0].tally, *cg = &race->sides[1].tally;
  snprintf(text, bytes,
           "%d steps from the impact: %.0f CG iterations a step; %.3g %% of the elements updated",
           warp->steps, cg->counters[EB_COUNT_LINEAR_ITERATIONS] / cg->steps,
           100 * warp->counters[EB_COUNT_UPDATED_ELEMENTS] / warp->steps /
               race->start.scene->mesh->element_count);
}

/* ---- contact --------------------------------------------------------------------------------- */

/* contact-al on verschoor2019/rings beside the other methods for contact: 120 rings, some of which
 * have fallen on each other, one thread.
 *
 * contact-al walks there, but for the last steps, which each method takes by itself: constraints
 * have a past, and those of a method that begins in the middle of a heap take twice the iterations
 * of those that have come about in it. A run is two steps from where contact-al gets to, so that
 * the second begins with contacts and forces of a step of its own, as in a simulation; the first
 * has those of the last run, from two steps on. Methods differ in nothing but the solution of the
 * contact problem. For the speed-up contact-al is there once more, on two threads, with the same
 * bits.
 *
 * Few rings, a step of half a millisecond, are too little for two threads, which must not be slower
 * for it than one. */

enum { METHODS = 5 };

#define RINGS(...)                                                                                 \
  EB_RACE(.scene = "verschoor2019/rings", .walk = 430, .walker = EB_SIDE_ON(1, "contact-al", ""),  \
          .own_walk = 20, .steps = 2, __VA_ARGS__)

/* Means over steps, failures, and what detection takes of a step. */
static void describe_rings(void *context, char *text, size_t bytes) {
  static const char *const names[METHODS] = {"al", "cr", "ica", "sp", "2xcr"};
  const eb_bench_race *race = context;
  const eb_bench_tally *al = &race->sides[0].tally;
  double seconds = 0;
  for (int p = 0; p < EB_PHASE_COUNT; p++) seconds += al->phase_seconds[p];
  size_t length =
      (size_t)snprintf(text, bytes, "%.0f constraints, detection %.0f %%; iterations",
                       al->steps ? al->counters[EB_COUNT_CONSTRAINTS] / al->steps : 0,
                       al->steps ? 100 * al->phase_seconds[EB_PHASE_DETECT] / seconds : 0);
  for (int m = 0; m < METHODS && length < bytes; m++) {
    const eb_bench_tally *t = &race->sides[m].tally;
    length += (size_t)snprintf(text + length, bytes - length, " %s %.0f", names[m],
                               t->steps ? t->iterations / t->steps : 0);
    if (t->failures && length < bytes)
      length += (size_t)snprintf(text + length, bytes - length, " (%d of %d fail)", t->failures,
                                 race->of->steps);
  }
}

static void describe_few(void *context, char *text, size_t bytes) {
  const eb_step_log *log = log_of(context, 0);
  snprintf(text, bytes, "%.0f constraints, %lld iterations in the last step",
           log->counters[EB_COUNT_CONSTRAINTS], (long long)log->iterations);
}

/* ---- the table ------------------------------------------------------------------------------- */

const eb_bench_case eb_bench_steps[] = {
    BEAM("newton-iteration/beam", "iteration", 80e-3, EB_WORK_ITERATIONS, "", "newton", ""),
    BEAM("newton-projected-iteration/beam", "iteration", 80e-3, EB_WORK_ITERATIONS, "", "newton",
         "project=always"),
    /* From where newton has brought the beam; the price of a share is that of an iteration. */
    {.name = "mfem-iteration/beam",
     .unit = "iterations",
     .measure = EB_BENCH_SHARE,
     .target = 1.2,
     .describe = describe_mixed,
     EB_BESIDE(EB_PEER("newton", 0)),
     EB_RACE(.scene = "bench/beam", .parameters = "",
             .sides = {EB_SIDE("mfem", ""), EB_SIDE("newton", "")}, .walk = BENDING_STEPS,
             .walking_side = 1, .work = EB_WORK_ITERATIONS_SHARE)},
    BEAM("semi-implicit-step/beam", "step", 0, EB_WORK_ITERATIONS, "", "semi-implicit", ""),
    COROTATIONAL("cg-jacobi", "cg"),
    COROTATIONAL("cg-ic", "cg,preconditioner=ic"),
    COROTATIONAL("cholesky", "cholesky"),
    DRAGON(0, 0),
    DRAGON(4, 1 / 1.2),
    DRAGON(10, 1 / 1.4),
    SWEEP("beam", 2.5e-3, ""),
    SWEEP("beam-stvk", 0, "material=stvk"),
    SWEEP("beam-fixed-corotational", 0, "material=fixed-corotational"),
    SWEEP("beam-projective", 0, "material=projective"),
    ITERATION("octobot", "0.03", "modes=5,points=227"),
    ITERATION("gatorman", "0.03", "modes=10,points=192"),
    ITERATION("mammoth", "0.01", "modes=16,points=581"),
    ITERATION("crab", "0.02", "modes=16,points=342"),
    ON_CRAB("50k", "0.22"),
    ON_CRAB("200k", "0.9"),
    BESIDE_OTHERS("beam", 4e-3, "bench/beam", soft_beam),
    PROJECTIVE("beam-local", 0, "bench/beam", soft_beam, eb_bench_race_phase, EB_PHASE_LOCAL),
    PROJECTIVE("beam-solve", 0, "bench/beam", soft_beam, eb_bench_race_phase, EB_PHASE_SOLVE),
    BESIDE_OTHERS("steel", 0, NULL, EB_BENCH_STEEL),
    PROJECTIVE("large", 0, NULL, EB_BENCH_LARGE, eb_bench_race_steps, EB_PHASE_COUNT),
    PROJECTIVE("large-solve", 0, NULL, EB_BENCH_LARGE, eb_bench_race_phase, EB_PHASE_SOLVE),
    SWEEPS("pbfe/beam", "sweep", EB_BENCH_TIME, 0.9e-3, "bench/beam", "", "pbfe", "",
           EB_PHASE_LOCAL, EB_WORK_ITERATIONS),
    HEXAHEDRA("1e4", "22"),
    HEXAHEDRA("1e5", "46"),
    HEXAHEDRA("1e6", "100"),
    ESTIMATE("spin"),
    ESTIMATE("svd"),
    SWEEPS("xpbd/beam", "sweep", EB_BENCH_TIME, 0, "bench/beam", "material=projective", "xpbd",
           "iterations=10,substeps=1", EB_PHASE_LOCAL, EB_WORK_ITERATIONS),
    DROP("medium", 2, 0),
    DROP("large", 1, 5),
    {.name = "contact-step/rings",
     .unit = "step",
     .measure = EB_BENCH_TIME,
     .target = 0.25,
     .scales_with = "dgemm",
     .note = "Verschoor and Jalba 2019, Table 1: 1.46 s a step, 97 iterations; SP 6.2 s and 1546, "
             "ICA 1.6 s and 180; detection should take at most 30 %",
     .describe = describe_rings,
     EB_BESIDE(EB_PEER("cr", 0), EB_PEER("ica", 0), EB_PEER("sp", 7), EB_PEER("sp-2xcr", 0)),
     RINGS(.parameters = "", .on_two = METHODS,
           .sides = {EB_SIDE_ON(1, "contact-al", ""), EB_SIDE_ON(1, "contact-cr", ""),
                     EB_SIDE_ON(1, "contact-ica", ""),
                     EB_SIDE_ON(1, "contact-sp", "inner=active-set"),
                     EB_SIDE_ON(1, "contact-sp", "inner=2xcr"), EB_SIDE_ON(2, "contact-al", "")})},
    {.name = "contact-step/few-rings-two",
     .unit = "step",
     .measure = EB_BENCH_TIME,
     .threads = 2,
     .describe = describe_few,
     EB_BESIDE(EB_PEER("one thread", 0.9)),
     RINGS(.parameters = "bodies=8",
           .sides = {EB_SIDE_ON(2, "contact-al", ""), EB_SIDE_ON(1, "contact-al", "")})},
    {0}};
