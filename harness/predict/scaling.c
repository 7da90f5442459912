/* The formulas of scaling.h. Reference for the shape of such models: Gropp, Kaushik, Keyes and
 * Smith 2001, "High-performance parallel implicit CFD", Parallel Computing 27; for multigrid
 * Gahvari et al. 2011, "Modeling the performance of an algebraic multigrid cycle on HPC platforms".
 */
#include "harness/predict/scaling.h"

#include <math.h>

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Of all factorizations the one with the least a + b + c is the most cubic. A box has 2 (1 - 1/a)
 * shared faces along an axis that is cut into a, in the mean. */
double eb_scaling_faces(int ranks) {
  double least = INFINITY, faces = 0;
  for (int a = 1; (long long)a * a * a <= ranks; a++) {
    for (int b = a; (long long)a * b * b <= ranks; b++) {
      if (ranks % (a * b)) continue;
      int c = ranks / (a * b);
      if (a + b + c >= least) continue;
      least = a + b + c;
      faces = 2 * (3 - 1. / a - 1. / b - 1. / c);
    }
  }
  return faces;
}

/* ---- terms ----------------------------------------------------------------------------------- */

enum { FINE_UNKNOWNS = 3, COARSE_UNKNOWNS = 6, COARSEST_NODES = 50 };
static const double coarsening = 12; /* q: nodes of a level over those of the next */
static const double exchanges = 5, fine_exchanges = 6;
static const double products = 3; /* reductions an iteration */

/* What `ranks` that share a node's memory take longer than one, each on a core of its own. */
static double memory_slowdown(const eb_scaling_machine *m, int busy) {
  double speedup = m->triad > 0 ? m->triad_all / m->triad : m->cores;
  return busy / fmax(1, fmin(busy, speedup));
}

static double halo_seconds(const eb_network *network, double nodes, double all, double faces) {
  double seconds = 0;
  for (double share = 1; all * share > COARSEST_NODES && nodes * share >= 1; share /= coarsening) {
    bool fine = share >= 1;
    double bytes =
        8. * (fine ? FINE_UNKNOWNS : COARSE_UNKNOWNS) * faces * cbrt(pow(nodes * share, 2));
    seconds += (fine ? fine_exchanges : exchanges) *
               (faces * network->latency + bytes / network->bandwidth);
  }
  return seconds;
}

static double coarse_seconds(const eb_scaling_machine *m, double doublings) {
  const double unknowns = COARSEST_NODES * COARSE_UNKNOWNS;
  double solve = m->triad > 0 ? 8 * unknowns * unknowns / m->triad : 0;
  return 2 * doublings * m->network.latency + solve;
}

eb_scaling_time eb_scaling_predict(const eb_scaling_machine *m, const eb_scaling_work *work,
                                   double elements, int ranks, int per_node) {
  const double all = elements / work->elements_per_node, nodes = all / ranks;
  const double faces = eb_scaling_faces(ranks), doublings = log2(ranks);
  const double halo = faces * cbrt(nodes * nodes);
  const int here = ranks < per_node ? ranks : per_node, busy = here < m->cores ? here : m->cores;
  const double turns = fmax(1, (double)here / m->cores);
  eb_scaling_time out = {.oversubscribed = here > m->cores};
  out.compute =
      turns * (work->elements_per_node * (nodes + halo / 2) * (work->assemble + work->setup) +
               work->iterations * work->iteration * nodes * memory_slowdown(m, busy));
  if (ranks > 1) {
    out.halo = work->iterations * halo_seconds(&m->network, nodes, all, faces);
    out.reductions = work->iterations * products * doublings * m->network.reduction;
    out.coarse = work->iterations * coarse_seconds(m, doublings);
  }
  out.total = out.compute + out.halo + out.reductions + out.coarse;
  return out;
}
