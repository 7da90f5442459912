/* Counts, fill, memory and time of cases before they run, against meshes, analyses and numbers by
 * hand. What runs really take is compared in predict.t. */
#include "harness/predict/prediction_doc.h"

#include "problems/base/memory.h"
#include "problems/mesh/generate.h"
#include "solvers/registry.h"
#include "tests/tap.h"

/* ---- cases ----------------------------------------------------------------------------------- */

static eb_case make_case(const char *scene, const char *parameters, const char *solver,
                         const char *options) {
  eb_case work = {
      .scene = eb_scene_find(scene), .solver = eb_solver_find(solver), .threads = 1, .steps = 10};
  if (parameters) work.parameters = strdup(parameters);
  if (options) work.options = strdup(options);
  tap_require(eb_case_resolve(&work, NULL), "a case");
  return work;
}

static const eb_rates rates = {
    .dgemm = 50e9, .triad = 30e9, .dgemm_all = 90e9, .triad_all = 40e9, .threads = 2};

static eb_prediction predict(const char *scene, const char *parameters, const char *solver,
                             const char *options) {
  eb_case work = make_case(scene, parameters, solver, options);
  eb_predictor predictor = eb_predictor_start(&rates);
  eb_prediction out;
  eb_predict_case(&predictor, &work, &out);
  eb_case_clear(&work);
  return out;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void test_grid_by_hand(void) {
  eb_counts one = eb_counts_of_grid((const int32_t[]){1, 1, 1});
  /* 12 edges of the cube, 6 diagonals of faces, one through it. */
  tap_ok(one.nodes == 8 && one.elements == 6 && one.blocks == 8 + 2 * 19, "one cube");
  eb_counts two = eb_counts_of_grid((const int32_t[]){2, 1, 1});
  /* Edges along x 8, y 6, z 6; diagonals 4 + 4 + 3 of the 11 faces; 2 through the cubes. */
  tap_ok(two.nodes == 12 && two.elements == 12 && two.blocks == 12 + 2 * 33, "two cubes");
}

static void test_grid_by_mesh(const int32_t cubes[3]) {
  eb_grid grid = {.cubes = {cubes[0], cubes[1], cubes[2]}, .size = {1, 1, 1}};
  eb_counts told = eb_counts_of_grid(cubes);
  eb_mesh *mesh = NULL;
  eb_block_matrix *pattern = NULL;
  tap_require(eb_generate_tets6(&grid, &mesh), "mesh");
  tap_require(
      eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count, 4, &pattern),
      "pattern");
  tap_ok(told.nodes == mesh->node_count && told.elements == mesh->element_count &&
             told.blocks == pattern->start[pattern->rows],
         "%d x %d x %d cubes", cubes[0], cubes[1], cubes[2]);
  /* The surface of a bar is not that of the body that the constant is of: some per cent. */
  tap_near((double)eb_counts_blocks(4, told.nodes, told.elements) / (double)told.blocks, 1, 0.06,
           "and nearly that by Euler's formula");
  eb_block_matrix_destroy(pattern);
  eb_mesh_destroy(mesh);
}

static void test_scene(const char *scene, const char *parameters, eb_counted by) {
  eb_case work = make_case(scene, parameters, "semi-implicit", NULL);
  eb_scene *built = NULL;
  eb_counts told;
  eb_mesh *mesh;
  eb_counts_find(&work, &told, &mesh);
  tap_require(eb_scene_create(work.scene, parameters, NULL, "", &built), "scene");
  const eb_block_matrix *pattern = eb_elasticity_pattern(built->elasticity);
  tap_ok(told.by == by && told.nodes == built->mesh->node_count &&
             told.elements == built->mesh->element_count &&
             told.blocks == pattern->start[pattern->rows] && told.arity == (int)built->mesh->type,
         "%s: counted as it is built", scene);
  eb_scene_destroy(built);
  eb_mesh_destroy(mesh);
  eb_case_clear(&work);
}

static void test_uncounted(void) {
  eb_case work = make_case("bench/beam", NULL, "newton", NULL);
  eb_prediction told;
  eb_predictor predictor = eb_predictor_start(&rates);
  work.mesh_file = strdup("/no/such/mesh");
  eb_predict_case(&predictor, &work, &told);
  tap_ok(told.counts.by == EB_COUNTED_NOT && !told.memory.known && !told.time.known,
         "a mesh that cannot be read: no prediction");
  eb_case_clear(&work);
  eb_prediction table = predict("hecht2012/sculpture-large", NULL, "newton", "linear=cg");
  tap_ok(table.counts.by == EB_COUNTED_TABLE && table.counts.nodes > 60000 && table.memory.known,
         "a large stand-in is not made to be counted");
}

/* ---- fill ------------------------------------------------------------------------------------ */

static eb_fill analyzed(int32_t n) {
  eb_grid grid = {.cubes = {n, n, n}, .size = {1, 1, 1}};
  eb_multifrontal_settings settings = {.threads = 1};
  eb_multifrontal_memory memory = {0};
  eb_mesh *mesh = NULL;
  eb_block_matrix *pattern = NULL;
  eb_fill fill = {.by = EB_FILLED_ANALYZED};
  tap_require(eb_generate_tets6(&grid, &mesh), "mesh");
  tap_require(
      eb_block_matrix_create(mesh->node_count, mesh->elements, mesh->element_count, 4, &pattern),
      "pattern");
  tap_require(eb_multifrontal_predict(&settings, pattern, &memory, &fill.flops), "analysis");
  fill.factor = (double)memory.factor;
  eb_block_matrix_destroy(pattern);
  eb_mesh_destroy(mesh);
  return fill;
}

/* From 2197 to 13 824 nodes; larger ones are nearer to the laws. */
static void test_laws(void) {
  eb_fill small = analyzed(12), large = analyzed(23);
  eb_fill scaled = eb_fill_scaled(&small, 13 * 13 * 13, 24 * 24 * 24);
  tap_near(log(scaled.factor / large.factor), 0, log(1.25), "fill of a larger block");
  tap_near(log(scaled.flops / large.flops), 0, log(1.6), "and its operations");
  eb_counts counts = eb_counts_of_grid((const int32_t[]){23, 23, 23});
  eb_fill law = eb_fill_law(&counts);
  tap_near(log(law.factor / large.factor), 0, log(1.35), "fill by the law");
  tap_near(log(law.flops / large.flops), 0, log(2.5), "and its operations");
  counts.arity = EB_TRIANGLE;
  tap_ok(eb_fill_law(&counts).by == EB_FILLED_NOT, "a planar mesh has another law");
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A matrix is 72 byte a block, and what is behind a direct solver besides is its factor. */
static void test_memory(void) {
  eb_prediction cg = predict("bench/beam", NULL, "newton", "linear=cg");
  eb_prediction direct = predict("bench/beam", NULL, "newton", NULL);
  eb_prediction single = predict("bench/beam", NULL, "newton", "linear=cholesky-single");
  eb_prediction vertex = predict("bench/beam", NULL, "vbd", NULL);
  tap_near(cg.memory.peak - vertex.memory.peak, 72. * 43497, 1, "matrix");
  tap_ok(direct.fill.by == EB_FILLED_ANALYZED && cg.fill.by == EB_FILLED_NOT, "factor");
  double factor = direct.fill.factor + direct.fill.updates;
  tap_ok(direct.memory.peak - cg.memory.peak >= factor &&
             direct.memory.peak - cg.memory.peak <= factor + direct.fill.workspace,
         "factor, update matrices and some of the workspace");
  tap_near(single.memory.peak - cg.memory.peak, factor / 2, 1, "half of it in single precision");
  tap_ok(direct.memory.steady <= direct.memory.peak && direct.memory.margin > 0 &&
             direct.memory.margin < 0.2,
         "steady, within a margin");
  tap_ok(!predict("bench/beam", NULL, "newton", "linear=cg").time.known,
         "cg: iterations are not known before, and no time");
  double last = 0;
  static const char *const resolutions[] = {"resolution=0.5", "resolution=2", "resolution=8"};
  for (int k = 0; k < 3; k++) {
    eb_prediction p = predict("bench/beam", resolutions[k], "newton", "linear=petsc");
    tap_ok(p.memory.peak > last, "more with %s", resolutions[k]);
    last = p.memory.peak;
  }
  tap_ok(!predict("trusty2023/cantilever", "resolution=0.1", "fem-subspace", NULL).memory.known,
         "a solver that nobody has measured");
  tap_ok(!predict("bench/beam", NULL, "mfem", "system=kkt").memory.known, "nor this system");
}

/* ---- time ------------------------------------------------------------------------------------ */

static void test_time(void) {
  eb_case work = make_case("bench/beam", NULL, "semi-implicit", NULL);
  const double M = 15360, per_step = 6e3 / 90e9 * M;
  eb_rates twice = rates;
  double *const speeds[] = {&twice.dgemm, &twice.triad, &twice.dgemm_all, &twice.triad_all};
  for (int k = 0; k < 4; k++) *speeds[k] *= 2;
  eb_predictor predictor = eb_predictor_start(&rates), none = eb_predictor_start(NULL);
  eb_prediction one, more, fast;
  eb_predict_case(&predictor, &work, &one);
  /* Assembly and values, factor, and L read twice at 0.7 of the triad. */
  double step = 11.6e3 * M / 50e9 + one.fill.flops / 50e9 + 2 / 0.7 * one.fill.factor / 30e9;
  tap_near(one.time.step, step, 1e-9, "a step, by hand");
  tap_near(one.time.run, one.time.setup + 11 * step + 10 * per_step, 1e-9,
           "a run of ten, audits, and one more");
  work.steps = 20;
  eb_predict_case(&predictor, &work, &more);
  tap_near(more.time.run - one.time.run, 10 * (step + per_step), 1e-9, "and of twenty");
  eb_predictor quick = eb_predictor_start(&twice);
  eb_predict_case(&quick, &work, &fast);
  tap_near(fast.time.step, step / 2, 1e-9, "a machine of twice the speed");
  work.threads = 2;
  eb_predict_case(&predictor, &work, &fast);
  tap_ok(fast.time.step < step && fast.time.step > step / 2, "two threads");
  eb_predict_case(&none, &work, &fast);
  tap_ok(!fast.time.known && fast.memory.known, "no rates, no time");
  eb_case_clear(&work);
  eb_prediction grid = predict("bench/beam", "resolution=8", "newton",
                               "linear=petsc,petsc=-ksp_type cg -pc_type gamg");
  tap_ok(grid.time.known && grid.time.factor > one.time.factor, "multigrid, with a wider margin");
  tap_ok(!predict("bench/beam", NULL, "newton", "linear=petsc,petsc=-pc_type icc").time.known,
         "another preconditioner of PETSc's: no time");
}

/* ---- words ----------------------------------------------------------------------------------- */

static void test_faces(void) {
  static const struct {
    int ranks;
    double faces;
  } known[] = {{1, 0}, {2, 1}, {4, 2}, {8, 3}, {27, 4}, {3, 4. / 3}, {1000, 5.4}};
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    tap_near(eb_counts_faces(known[k].ranks), known[k].faces, 1e-12, "faces of a box");
}

/* Several processes: what each has, what they share, and taking turns on two cores. */
static void test_ranks(void) {
  const char *block = "cubes=16";
  eb_prediction one = predict("bench/block", block, "newton", "linear=petsc");
  eb_prediction two = predict("bench/block", block, "newton", "ranks=2");
  eb_prediction four = predict("bench/block", block, "newton", "ranks=4");
  const double process = 22.5e6 + 32.5e6; /* program, and PETSc's libraries */
  const double layer = 17 * 17, nodes = 17 * 17 * 17, parts = one.memory.peak - process;
  tap_ok(two.memory.known && two.memory.margin >= 0.1, "two ranks are told, with a margin");
  tap_near(two.memory.peak /
               (2 * process + parts * (1 + 2 * layer * cbrt(0.25) / nodes) + 5670 * nodes),
           1, 1e-9, "two processes, a layer of nodes twice on each side, and the whole once more");
  tap_ok(four.memory.peak > two.memory.peak + 2 * process, "four are more");
  tap_ok(two.time.known && two.time.step < one.time.step && two.time.step > one.time.step / 2,
         "two share a step, but not its memory's bandwidth");
  tap_ok(four.time.step >= two.time.step, "four on two cores are no faster");
  /* Three iterations by the formulas of results/scaling/README.md, computed apart from time.c. */
  tap_near(two.time.step, 0.22648977919377533, 1e-12, "two as the model over ranks has them");
  tap_near(four.time.step, 0.23423960190307624, 1e-12, "and four, which take turns");
  tap_ok(four.time.factor >= one.time.factor, "with no smaller margin");
  tap_ok(!predict("bench/block", block, "newton", "ranks=2,petsc=-pc_type icc").time.known,
         "another preconditioner: no time");
}

static void test_words(void) {
  char *words = NULL;
  size_t size = 0;
  eb_prediction p = {
      .counts = {.by = EB_COUNTED_TABLE, .nodes = 1000, .elements = 5000},
      .fill = {.by = EB_FILLED_LAW, .factor = 7e6},
      .memory = {.known = true, .peak = 2e9, .steady = 1.5e9, .margin = 0.25},
      .time = {.known = true, .step = 36, .run = 7200, .iterations = 3, .factor = 4}};
  FILE *out = open_memstream(&words, &size);
  eb_prediction_print(&p, out);
  eb_prediction_print(&(eb_prediction){0}, out);
  fclose(out);
  tap_ok(!strcmp(words,
                 "    1000 nodes, 5000 elements (by the paper's table); 2000 MB at the peak, "
                 "1500 MB in steps (within 25 %; factor 7 MB, by a law); 36 s a step, 2 h in "
                 "all (within a factor of 4; 3 iterations a step assumed)\n"
                 "    no prediction: the scene cannot be counted\n"),
         "figures, margins, and what they rest on");
  free(words);
}

/* ---- warnings -------------------------------------------------------------------------------- */

static void test_warnings(void) {
  char *words = NULL;
  size_t size = 0;
  eb_case cases[3] = {make_case("bench/beam", NULL, "newton", NULL),
                      make_case("bench/beam", NULL, "newton", "linear=cg"),
                      make_case("bench/beam", NULL, "newton", NULL)};
  for (int k = 0; k < 3; k++) cases[k].memory = 65e6;
  cases[2].repetition = 1;
  FILE *out = open_memstream(&words, &size);
  eb_predict_warn(cases, 3, out);
  fclose(out);
  tap_ok(strstr(words, "bench/beam with newton is predicted to take 6") &&
             strstr(words, "--memory allows 65 MB; linear=petsc takes no factor"),
         "what will not do, why and what would");
  tap_ok(strchr(words, '\n') == words + size - 1, "once, and nothing of what does");
  free(words);
  for (int k = 0; k < 3; k++) eb_case_clear(&cases[k]);
}

int main(void) {
  test_grid_by_hand();
  test_grid_by_mesh((const int32_t[]){6, 6, 6});
  test_grid_by_mesh((const int32_t[]){20, 5, 3});
  test_scene("bench/beam", "resolution=0.5", EB_COUNTED_GRID);
  test_scene("conjac2020/dragon", "resolution=0.02", EB_COUNTED_MESH);
  test_scene("verschoor2019/rings", "bodies=3", EB_COUNTED_MESH);
  test_scene("lewin2016/hanging-sheet", NULL, EB_COUNTED_MESH);
  test_uncounted();
  test_laws();
  test_memory();
  test_time();
  test_faces();
  test_ranks();
  test_words();
  test_warnings();
  return tap_done();
}
