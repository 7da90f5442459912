/* The scaling model against numbers by hand, and what must hold of it whatever its constants. */
#include "harness/predict/scaling.h"

#include "tests/tap.h"

static const eb_scaling_machine machine = {
    .network = {1e-6, 1e10, 2e-6}, .cores = 4, .triad = 1e10, .triad_all = 2e10};
static const eb_scaling_work work = {
    .assemble = 1e-7, .setup = 4e-7, .iteration = 1e-6, .iterations = 20, .elements_per_node = 6};

static void test_faces(void) {
  static const struct {
    int ranks;
    double faces;
  } known[] = {{1, 0}, {2, 1}, {4, 2}, {8, 3}, {27, 4}, {3, 4. / 3}, {1000, 5.4}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    tap_near(eb_scaling_faces(known[k].ranks), known[k].faces, 1e-12, "faces of a box");
}

static void test_by_hand(void) {
  eb_scaling_time one = eb_scaling_predict(&machine, &work, 6e6, 1, 1);
  /* 10^6 nodes: 6e6 elements of 0.5 us, 20 iterations of a second. */
  tap_near(one.total, 3 + 20, 1e-9, "one rank computes");
  tap_ok(one.halo == 0 && one.reductions == 0 && one.coarse == 0, "and nothing else");
  /* A million nodes a rank on nodes of their own: one face of 10^4, half of its elements twice. */
  eb_scaling_time two = eb_scaling_predict(&machine, &work, 12e6, 2, 1);
  tap_near(two.compute, 6 * (1e6 + 5e3) * 5e-7 + 20, 1e-9, "two ranks: a layer of elements more");
  tap_near(two.reductions, 20 * 3 * 2e-6, 1e-15, "three reductions an iteration");
  tap_near(two.coarse, 20 * (2e-6 + 8 * 300. * 300 / 1e10), 1e-12, "the coarsest grid");
  double halo = 6 * (1e-6 + 24 * 1e4 / 1e10);
  double nodes = 1e6 / 12, all = 2e6 / 12;
  for (; all > 50; nodes /= 12, all /= 12) halo += 5 * (1e-6 + 48 * pow(nodes, 2. / 3) / 1e10);
  tap_near(two.halo, 20 * halo, 1e-12, "exchanges on five levels");
  tap_near(two.total, two.compute + two.halo + two.reductions + two.coarse, 1e-12, "their sum");
}

static void test_cores(void) {
  eb_scaling_time apart = eb_scaling_predict(&machine, &work, 6e6, 4, 1);
  eb_scaling_time beside = eb_scaling_predict(&machine, &work, 6e6, 4, 4);
  /* Four cores have the bandwidth of two: iterations take twice as long. */
  tap_near(beside.compute - apart.compute, 20 * 0.25, 1e-9, "cores share their memory");
  eb_scaling_time crowd = eb_scaling_predict(&machine, &work, 6e6, 8, 8);
  tap_ok(crowd.oversubscribed && !beside.oversubscribed, "more ranks than cores are told");
  tap_ok(crowd.compute >= beside.compute, "and do not compute faster");
}

/* Weak and strong series: what must rise, rises. */
static void test_monotone(void) {
  double weak = 0, strong = INFINITY, reductions = 0;
  bool rises = true, falls = true, grows = true;
  for (int ranks = 1; ranks <= 1 << 12; ranks *= 8) {
    eb_scaling_time w = eb_scaling_predict(&machine, &work, 6e6 * ranks, ranks, 1);
    eb_scaling_time s = eb_scaling_predict(&machine, &work, 1e9, ranks, 1);
    rises = rises && w.total > weak;
    falls = falls && s.total < strong;
    grows = grows && s.reductions >= reductions;
    weak = w.total;
    strong = s.total;
    reductions = s.reductions;
  }
  tap_ok(rises, "a weak series never gets faster");
  tap_ok(falls, "10^9 elements are solved faster by more ranks, up to 4096");
  tap_ok(grows, "reductions take longer with more ranks");
  eb_scaling_machine slow = machine;
  slow.network.latency *= 10;
  tap_ok(eb_scaling_predict(&slow, &work, 1e9, 1000, 1).total >
             eb_scaling_predict(&machine, &work, 1e9, 1000, 1).total,
         "a slower network is slower");
}

int main(void) {
  test_faces();
  test_by_hand();
  test_cores();
  test_monotone();
  return tap_done();
}
