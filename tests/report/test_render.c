/* The renderer: what covers which pixel, in which order, in which colour, and what becomes a
 * file. */
#include "harness/report/pictures.h"

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/base/clock.h"
#include "problems/base/hash.h"
#include "problems/base/memory.h"
#include "problems/base/sanitizer.h"
#include "tests/tap.h"

enum { WIDE = 80, HIGH = 60, BYTES = WIDE * HIGH * 3 };

static const double box_lo[3] = {-1, -1, -1}, box_hi[3] = {1, 1, 1};
static const double along_y[3] = {0, 1, 0};
static const eb_rgb red = {1, 0, 0}, blue = {0, 0, 1};

static eb_render *start(const double direction[3]) {
  eb_render *render;
  tap_require(eb_render_create(WIDE, HIGH, box_lo, box_hi, direction, &render), "a picture");
  return render;
}

/* A square |x|, |z| <= half at depth y, facing the viewer when wound so. */
static void draw_square(eb_render *render, double half, double y, eb_rgb color, bool backwards) {
  const double X[12] = {-half, y, -half, half, y, -half, half, y, half, -half, y, half};
  static const int32_t front[6] = {0, 1, 2, 0, 2, 3}, back[6] = {0, 2, 1, 0, 3, 2};
  const eb_render_mesh mesh = {.vertex_count = 4,
                               .triangle_count = 2,
                               .X = X,
                               .triangles = backwards ? back : front,
                               .color = color};
  tap_require(eb_render_surface(render, &mesh), "a square");
}

static const uint8_t *pixel(const uint8_t *rgb, int x, int y) {
  return rgb + 3 * (y * WIDE + x);
}

static bool is_red(const uint8_t *p) {
  return p[0] > 60 && p[0] > 4 * p[1] && p[0] > 4 * p[2];
}

static bool is_blue(const uint8_t *p) {
  return p[2] > 60 && p[2] > 4 * p[0] && p[2] > 4 * p[1];
}

static bool is_paper(const uint8_t *p) {
  return p[0] > 220 && p[1] > 220 && p[2] > 220;
}

/* The camera's box is a cube: its near face is what fills the height, but for a margin of 6 %. */
static void test_coverage(void) {
  uint8_t rgb[BYTES];
  eb_render *render = start(along_y);
  draw_square(render, 1, -1, red, false);
  eb_render_pixels(render, rgb);
  int covered = 0, widest = 0;
  for (int y = 0; y < HIGH; y++) {
    int row = 0;
    for (int x = 0; x < WIDE; x++) row += is_red(pixel(rgb, x, y));
    covered += row;
    widest = row > widest ? row : widest;
  }
  double side = HIGH / 1.06;
  tap_near(widest, side, 1.5, "the near face of the box is as wide as the fit says");
  tap_near(covered, side * side, 4 * side, "the near face covers a square of that side");
  int cracks = 0;
  for (int i = -20; i <= 20; i++)
    for (int j = -20; j <= 20; j++)
      cracks +=
          memcmp(pixel(rgb, WIDE / 2 + i, HIGH / 2 + j), pixel(rgb, WIDE / 2, HIGH / 2), 3) != 0;
  tap_ok(is_red(pixel(rgb, WIDE / 2, HIGH / 2)) && cracks == 0,
         "within it all pixels are alike: no crack along the diagonal");
  tap_ok(is_paper(pixel(rgb, 2, HIGH / 2)) && is_paper(pixel(rgb, WIDE - 3, HIGH / 2)),
         "beside the square is paper");
  eb_render_destroy(render);
}

static void test_orientation(void) {
  uint8_t rgb[BYTES];
  eb_render *render = start(along_y);
  const double X[9] = {0.2, 0, 0.2, 0.9, 0, 0.2, 0.9, 0, 0.9};
  const int32_t triangle[3] = {0, 1, 2};
  const eb_render_mesh mesh = {
      .vertex_count = 3, .triangle_count = 1, .X = X, .triangles = triangle, .color = red};
  tap_succeeds(eb_render_surface(render, &mesh), "one triangle");
  eb_render_pixels(render, rgb);
  int wrong = 0, seen = 0;
  for (int y = 0; y < HIGH; y++)
    for (int x = 0; x < WIDE; x++)
      if (is_red(pixel(rgb, x, y))) seen++, wrong += x < WIDE / 2 || y > HIGH / 2;
  tap_ok(seen > 30 && wrong == 0, "seen along y, +x is right and +z is up");
  eb_render_destroy(render);
}

static void test_occlusion(void) {
  uint8_t rgb[BYTES], other[BYTES];
  eb_render *render = start(along_y), *reverse = start(along_y);
  draw_square(render, 0.4, -0.5, red, false);
  draw_square(render, 0.9, 0.5, blue, false);
  draw_square(reverse, 0.9, 0.5, blue, false);
  draw_square(reverse, 0.4, -0.5, red, false);
  eb_render_pixels(render, rgb);
  eb_render_pixels(reverse, other);
  tap_ok(is_red(pixel(rgb, WIDE / 2, HIGH / 2)), "the nearer square hides the farther");
  tap_ok(is_blue(pixel(rgb, WIDE / 2 + 16, HIGH / 2)), "the farther square shows beside it");
  tap_ok(memcmp(rgb, other, BYTES) == 0, "the order of drawing does not matter");
  eb_render_destroy(render);
  eb_render_destroy(reverse);
}

/* Two squares that cross: each is in front on its own side of the line where they meet. */
static void test_crossing(void) {
  uint8_t rgb[BYTES];
  eb_render *render = start(along_y);
  const double X[12] = {-0.9, -0.5, -0.6, 0.9, 0.5, -0.6, 0.9, 0.5, 0.6, -0.9, -0.5, 0.6};
  const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
  const eb_render_mesh slanted = {
      .vertex_count = 4, .triangle_count = 2, .X = X, .triangles = triangles, .color = red};
  draw_square(render, 0.6, 0, blue, false);
  tap_succeeds(eb_render_surface(render, &slanted), "a slanted square through it");
  eb_render_pixels(render, rgb);
  tap_ok(is_red(pixel(rgb, WIDE / 2 - 6, HIGH / 2)) && is_blue(pixel(rgb, WIDE / 2 + 6, HIGH / 2)),
         "crossing surfaces hide each other where they should");
  eb_render_destroy(render);
}

static void test_sides_and_colours(void) {
  uint8_t front[BYTES], back[BYTES], split[BYTES];
  eb_render *a = start(along_y), *b = start(along_y), *c = start(along_y);
  draw_square(a, 0.47, 0, red, false);
  draw_square(b, 0.47, 0, red, true);
  eb_render_pixels(a, front);
  eb_render_pixels(b, back);
  int apart = 0; /* rounding differs with the winding */
  for (int i = 0; i < BYTES; i++)
    apart = abs(front[i] - back[i]) > apart ? abs(front[i] - back[i]) : apart;
  tap_ok(apart <= 1, "both sides of a triangle are seen and lit alike");
  const double X[12] = {-0.8, 0, -0.5, 0, 0, -0.5, -0.8, 0, 0.5, 0.8, 0, -0.5};
  const double right[9] = {0.1, 0, -0.5, 0.8, 0, -0.5, 0.8, 0, 0.5};
  double both[21];
  memcpy(both, X, sizeof X);
  memcpy(both + 12, right, sizeof right);
  const int32_t triangles[6] = {0, 1, 2, 4, 5, 6};
  const eb_rgb each[2] = {red, blue};
  const eb_render_mesh mesh = {.vertex_count = 7,
                               .triangle_count = 2,
                               .X = both,
                               .triangles = triangles,
                               .triangle_color = each};
  tap_succeeds(eb_render_surface(c, &mesh), "two triangles of two colours");
  eb_render_pixels(c, split);
  tap_ok(is_red(pixel(split, WIDE / 2 - 15, HIGH / 2 + 5)) &&
             is_blue(pixel(split, WIDE / 2 + 15, HIGH / 2 + 5)),
         "each triangle has its own colour");
  eb_render_destroy(a);
  eb_render_destroy(b);
  eb_render_destroy(c);
}

static void test_edges(void) {
  uint8_t plain[BYTES], lined[BYTES];
  const double X[12] = {-0.9, -1, -0.9, 0.9, -1, -0.9, 0.9, -1, 0.9, -0.9, -1, 0.9};
  const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
  eb_render_mesh mesh = {
      .vertex_count = 4, .triangle_count = 2, .X = X, .triangles = triangles, .color = red};
  eb_render *without = start(along_y), *with = start(along_y);
  tap_require(eb_render_surface(without, &mesh), "no lines");
  mesh.edges = true;
  tap_require(eb_render_surface(with, &mesh), "lines");
  eb_render_pixels(without, plain);
  eb_render_pixels(with, lined);
  const uint8_t *on = pixel(lined, WIDE / 2, HIGH / 2),
                *off = pixel(lined, WIDE / 2 - 15, HIGH / 2 - 3);
  tap_ok(on[0] < 0.9 * pixel(plain, WIDE / 2, HIGH / 2)[0], "the diagonal is drawn");
  tap_ok(off[0] == pixel(plain, WIDE / 2 - 15, HIGH / 2 - 3)[0], "away from edges nothing changes");
  eb_render_destroy(without);
  eb_render_destroy(with);
}

static void test_behind_the_eye(void) {
  uint8_t rgb[BYTES];
  eb_render *render = start(along_y);
  const double X[18] = {-1, 1,    -0.5, 1, 1,    -0.5, 0, -1e3, -0.5,
                        -1, -1e3, 0,    1, -1e3, 0,    0, NAN,  0.5};
  const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
  const eb_render_mesh mesh = {
      .vertex_count = 6, .triangle_count = 2, .X = X, .triangles = triangles, .color = red};
  tap_succeeds(eb_render_surface(render, &mesh),
               "a triangle that reaches behind the eye and a NaN");
  eb_render_pixels(render, rgb);
  tap_ok(is_red(pixel(rgb, WIDE / 2, HIGH - 4)), "what is before the eye is drawn");
  tap_ok(is_paper(pixel(rgb, WIDE / 2, 5)), "what is behind it is not");
  eb_render_destroy(render);
}

static void test_ground(void) {
  static const double down[3] = {0, 1, -0.6};
  uint8_t bare[BYTES], rgb[BYTES];
  eb_render *plain = start(down), *render = start(down);
  draw_square(render, 0.5, 0, red, false);
  tap_succeeds(eb_render_ground(plain, -0.7), "a bare ground");
  tap_succeeds(eb_render_ground(render, -0.7), "ground below a square");
  eb_render_pixels(plain, bare);
  eb_render_pixels(render, rgb);
  tap_ok(is_red(pixel(rgb, WIDE / 2, HIGH / 2)), "the square stands before the ground");
  int darker = 0, brighter = 0;
  for (int i = 0; i < BYTES; i += 3) {
    if (is_red(rgb + i) || rgb[i] > rgb[i + 1] + 10) continue;
    darker += rgb[i + 1] + 12 < bare[i + 1];
    brighter += rgb[i + 1] > bare[i + 1] + 1;
  }
  tap_ok(darker > 20, "the square throws a shadow");
  tap_ok(brighter == 0, "a shadow makes nothing brighter");
  eb_render_destroy(plain);
  eb_render_destroy(render);
}

/* Squares |x|, |z| <= half at depths y, one surface, counterclockwise for the viewer unless
 * `backwards`. */
static void draw_translucent(eb_render *render, double half, const double *y, int count,
                             bool backwards, eb_rgb color, float front, float back) {
  enum { MOST = 2 };
  static const int32_t facing[6] = {0, 1, 2, 0, 2, 3}, away[6] = {0, 2, 1, 0, 3, 2};
  double X[12 * MOST];
  int32_t triangles[6 * MOST];
  for (int s = 0; s < count; s++) {
    const double square[12] = {-half, y[s], -half, half,  y[s], -half,
                               half,  y[s], half,  -half, y[s], half};
    memcpy(X + 12 * s, square, sizeof square);
    for (int i = 0; i < 6; i++) triangles[6 * s + i] = 4 * s + (backwards ? away[i] : facing[i]);
  }
  const eb_render_mesh mesh = {.vertex_count = 4 * count,
                               .triangle_count = 2 * count,
                               .X = X,
                               .triangles = triangles,
                               .color = color,
                               .translucent = true,
                               .front = front,
                               .back = back};
  tap_require(eb_render_surface(render, &mesh), "a translucent surface");
}

static void test_touching(void) {
  uint8_t rgb[BYTES], bare[BYTES];
  static const double depths[3] = {0.02, 0.019, 0.005}; /* the square's own, 1/4 ‰ nearer, 4 ‰ */
  eb_render *plain = start(along_y);
  draw_square(plain, 0.4, 0.02, red, false);
  eb_render_pixels(plain, bare);
  for (int i = 0; i < 3; i++) {
    eb_render *render = start(along_y);
    draw_square(render, 0.4, 0.02, red, false);
    draw_translucent(render, 0.4, &depths[i], 1, false, blue, 0.5f, 0.5f);
    eb_render_pixels(render, rgb);
    const bool same =
        memcmp(pixel(rgb, WIDE / 2, HIGH / 2), pixel(bare, WIDE / 2, HIGH / 2), 3) == 0;
    tap_ok(same == (i < 2), "%s",
           i == 0   ? "a surface on a body leaves it as it is"
           : i == 1 ? "what it touches is not torn by it"
                    : "what it is clear of, it covers");
    eb_render_destroy(render);
  }
  eb_render_destroy(plain);
}

static void test_front_and_back(void) {
  static const double down[3] = {0, 1, -0.6}, middle = 0;
  const size_t at = 3 * (HIGH / 2 * WIDE + WIDE / 2);
  uint8_t rgb[BYTES], bare[BYTES];
  eb_render *render = start(down), *plain = start(down), *faint = start(along_y);
  draw_translucent(render, 0.5, &middle, 1, true, blue, 0.6f, 0);
  tap_require(eb_render_ground(render, -0.9), "ground");
  tap_require(eb_render_ground(plain, -0.9), "ground");
  eb_render_pixels(render, rgb);
  eb_render_pixels(plain, bare);
  int coloured = 0, darker = 0;
  for (int i = 0; i < BYTES; i += 3) {
    coloured += rgb[i + 2] > rgb[i] + 30;
    darker += rgb[i + 1] + 12 < bare[i + 1];
  }
  tap_ok(coloured == 0, "a back without opacity is not drawn");
  tap_ok(darker > 20, "but throws a shadow");
  draw_translucent(render, 0.5, &middle, 1, false, blue, 0.6f, 0);
  eb_render_pixels(render, rgb);
  tap_ok(rgb[at + 2] > rgb[at] + 30, "its front is drawn");
  uint8_t front = rgb[at];
  draw_translucent(faint, 0.5, &middle, 1, true, blue, 0.6f, 0.1f);
  eb_render_pixels(faint, rgb);
  tap_ok(rgb[at] > front && rgb[at + 2] > rgb[at] + 3, "a faint back is a breath of colour");
  eb_render_destroy(render);
  eb_render_destroy(plain);
  eb_render_destroy(faint);
}

/* A red square that reaches through the ground: bright above it, washed out below, but there. */
static void test_below_ground(void) {
  static const double down[3] = {0, 1, -0.6};
  uint8_t rgb[BYTES];
  eb_render *render = start(down);
  draw_square(render, 0.5, 0, red, false);
  tap_require(eb_render_ground(render, 0), "ground");
  eb_render_pixels(render, rgb);
  const uint8_t *above = pixel(rgb, WIDE / 2, HIGH / 2 - 8),
                *below = pixel(rgb, WIDE / 2, HIGH / 2 + 4);
  tap_ok(is_red(above), "what is above the ground hides it");
  tap_ok(below[0] > below[1] + 15 && below[1] > 60, "what is below shows through");
  eb_render_destroy(render);
}

/* Linear light of a channel: sRGB, as a power of 2.2. */
static double light_of(uint8_t encoded) {
  return pow(encoded / 255.0, 2.2);
}

/* What translucent squares leave of the paper or of a red square behind them, in linear light. */
static void test_translucent(void) {
  enum { BESIDE = 16, PICTURES = 7 };
  uint8_t rgb[PICTURES][BYTES];
  static const struct {
    float opacity;
    double depth[2]; /* of two blue squares */
    bool two_surfaces, first;
  } cases[PICTURES] = {
      {0, {-0.5, -0.4}, false, false},    {1, {-0.5, -0.4}, false, false},
      {0.5f, {-0.5, -0.4}, false, false}, {0.5f, {-0.4, -0.5}, false, true},
      {0.5f, {0.5, 0.6}, false, false},   {0.5f, {-0.5, -0.4}, true, false},
      {0.5f, {-0.4, -0.5}, true, true},
  };
  for (int i = 0; i < PICTURES; i++) {
    eb_render *render = start(along_y);
    if (!cases[i].first) draw_square(render, 0.3, 0, red, false);
    for (int k = 0; k < (cases[i].two_surfaces ? 2 : 1); k++)
      draw_translucent(render, 0.8, &cases[i].depth[k], cases[i].two_surfaces ? 1 : 2, false, blue,
                       cases[i].opacity, 0);
    if (cases[i].first) draw_square(render, 0.3, 0, red, false);
    eb_render_pixels(render, rgb[i]);
    eb_render_destroy(render);
  }
  const uint8_t *p[PICTURES][2];
  for (int i = 0; i < PICTURES; i++) {
    p[i][0] = pixel(rgb[i], WIDE / 2, HIGH / 2);
    p[i][1] = pixel(rgb[i], WIDE / 2 + BESIDE, HIGH / 2);
  }
  tap_ok(is_red(p[0][0]) && is_paper(p[0][1]), "a surface of no opacity is not seen");
  tap_ok(is_blue(p[1][0]) && is_blue(p[1][1]), "one of full opacity hides what is behind");
  tap_ok(p[2][0][0] > 60 && p[2][0][2] > 60 && p[2][0][1] < 30, "through one between both show");
  tap_ok(p[2][1][0] > 60 && p[2][1][0] < p[0][1][0] && p[2][1][2] > p[2][1][0],
         "so does the paper");
  int uneven = 0;
  for (int x = -6; x <= 6; x++) uneven += memcmp(p[2][0] + 3 * x, p[2][0], 3) != 0;
  tap_ok(uneven == 0, "evenly");
  tap_ok(memcmp(rgb[2], rgb[3], BYTES) == 0, "the order of drawing does not matter");
  tap_ok(memcmp(rgb[5], rgb[6], BYTES) == 0, "nor that of two surfaces");
  tap_ok(is_red(p[4][0]) && !is_paper(p[4][1]), "behind what is opaque none is seen");
  double bare = light_of(p[0][0][0]);
  tap_near(light_of(p[2][0][0]), 0.5 * bare, 0.02,
           "two layers of a surface let through as much as one: half of the light");
  tap_near(light_of(p[5][0][0]), 0.25 * bare, 0.02, "two surfaces a quarter");
}

/* Of two colours the nearer one is seen more, in whatever order they are drawn. */
static void test_sorted(void) {
  static const double near = -0.5, far = -0.2;
  uint8_t rgb[2][BYTES];
  for (int i = 0; i < 2; i++) {
    eb_render *render = start(along_y);
    for (int k = 0; k < 2; k++)
      draw_translucent(render, 0.8, k == i ? &near : &far, 1, false, k == i ? blue : red, 0.8f, 0);
    eb_render_pixels(render, rgb[i]);
    eb_render_destroy(render);
  }
  const uint8_t *p = pixel(rgb[0], WIDE / 2, HIGH / 2);
  tap_ok(p[2] > p[0] + 30, "the nearer of two surfaces is seen more");
  tap_ok(memcmp(rgb[0], rgb[1], BYTES) == 0, "  in either order of drawing");
}

/* Translucent squares above and below the ground: that covers the lower one. */
static void test_translucent_and_ground(void) {
  static const double down[3] = {0, 1, -0.6}, middle = 0;
  uint8_t rgb[BYTES];
  eb_render *render = start(down);
  draw_translucent(render, 0.5, &middle, 1, false, blue, 0.6f, 0.6f);
  tap_require(eb_render_ground(render, 0), "ground");
  eb_render_pixels(render, rgb);
  const uint8_t *above = pixel(rgb, WIDE / 2, HIGH / 2 - 8),
                *below = pixel(rgb, WIDE / 2, HIGH / 2 + 4);
  tap_ok(above[2] > above[0] + 30, "above the ground a translucent square is before it");
  tap_ok(below[2] > below[0] + 12 && below[2] - below[0] < (above[2] - above[0]) / 2,
         "below, it shows through");
  eb_render_destroy(render);
}

static void test_colours_of_regions(void) {
  int alike = 0;
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < i; j++) {
      eb_rgb a = eb_color_of_region(i), b = eb_color_of_region(j);
      alike += fabsf(a.r - b.r) + fabsf(a.g - b.g) + fabsf(a.b - b.b) < 0.1f;
    }
  tap_ok(alike == 0, "ten regions have ten colours");
}

static void test_file(void) {
  char folder[] = "/tmp/eb_render_XXXXXX", path[64];
  if (!mkdtemp(folder)) tap_require(EB_ERROR(EB_ERR_IO, "mkdtemp"), folder);
  snprintf(path, sizeof path, "%s/a.png", folder);
  uint64_t hash[2] = {EB_HASH_SEED, EB_HASH_SEED};
  uint8_t bytes[65536];
  size_t count = 0;
  for (int i = 0; i < 2; i++) {
    eb_render *render = start(along_y);
    draw_square(render, 0.5, 0, red, false);
    tap_require(eb_render_ground(render, -1), "ground");
    tap_succeeds(eb_render_write_png(render, path), "a picture is written");
    eb_render_destroy(render);
    FILE *file = fopen(path, "rb");
    count = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file) fclose(file);
    hash[i] = eb_hash(hash[i], bytes, count);
  }
  static const uint8_t head[24] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13,
                                   'I',  'H', 'D', 'R', 0,    0,    0,    WIDE, 0, 0, 0, HIGH};
  tap_ok(count > sizeof head && memcmp(bytes, head, sizeof head) == 0,
         "it starts with PNG's signature and its size");
  tap_ok(count > 12 && memcmp(bytes + count - 8, "IEND", 4) == 0, "it ends with IEND");
  tap_ok(hash[0] == hash[1], "the same calls give the same bytes");
  unlink(path);
  rmdir(folder);
}

static void test_errors(void) {
  const double X[9] = {0, 0, 0, 1, 0, 0, 0, 0, 1}, inside_out[3] = {2, 2, 2};
  const double infinite[3] = {INFINITY, 1, 1}, none[3] = {NAN, 1, 1};
  const struct {
    const double *lo, *hi;
    const char *what;
  } boxes[] = {{inside_out, box_hi, "a box inside out"},
               {box_hi, box_hi, "an empty box"},
               {box_lo, infinite, "an infinite box"},
               {box_lo, none, "a box of no numbers"}};
  eb_render *render;
  int32_t triangle[3] = {0, 1, 3};
  eb_render_mesh mesh = {.vertex_count = 3, .triangle_count = 1, .X = X, .triangles = triangle};
  for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++)
    tap_fails(eb_render_create(WIDE, HIGH, boxes[b].lo, boxes[b].hi, along_y, &render),
              EB_ERR_INVALID, "nothing to see", boxes[b].what);
  render = start(along_y);
  tap_fails(eb_render_surface(render, &mesh), EB_ERR_INVALID, "vertex 3",
            "a triangle without a vertex");
  tap_fails(eb_render_write_png(render, "/nowhere/at/all.png"), EB_ERR_IO, "/nowhere/at/all.png",
            "a folder that is not there");
  tap_fails(eb_render_write_png(render, "/dev/full"), EB_ERR_IO, "No space left", "a full disk");
  eb_render_destroy(render);
  eb_render_destroy(NULL);
}

/* A sphere of 100 000 triangles at 800 x 600. The bound is loose: machines are shared. */
static void test_speed(void) {
  enum { AROUND = 316, UP = 159 };
  static double X[(UP + 1) * AROUND * 3];
  static int32_t triangles[UP * AROUND * 6];
  for (int j = 0, v = 0; j <= UP; j++)
    for (int i = 0; i < AROUND; i++, v += 3) {
      double a = 6.283185307 * i / AROUND, b = 3.141592654 * j / UP;
      X[v] = sin(b) * cos(a), X[v + 1] = sin(b) * sin(a), X[v + 2] = cos(b);
    }
  int32_t *t = triangles;
  for (int j = 0; j < UP; j++)
    for (int i = 0; i < AROUND; i++, t += 6) {
      int32_t a = j * AROUND + i, b = j * AROUND + (i + 1) % AROUND, c = a + AROUND, d = b + AROUND;
      t[0] = a, t[1] = c, t[2] = d, t[3] = a, t[4] = d, t[5] = b;
    }
  const eb_render_mesh mesh = {.vertex_count = (UP + 1) * AROUND,
                               .triangle_count = 2 * UP * AROUND,
                               .X = X,
                               .triangles = triangles,
                               .color = blue,
                               .smooth = true,
                               .edges = true};
  eb_render *render;
  uint8_t *rgb;
  tap_require(EB_NEW(rgb, 800 * 600 * 3), "pixels");
  double begin = eb_cpu_seconds();
  tap_require(eb_render_create(800, 600, box_lo, box_hi, along_y, &render), "a large picture");
  tap_require(eb_render_surface(render, &mesh), "a sphere");
  tap_require(eb_render_ground(render, -1), "ground");
  eb_render_pixels(render, rgb);
  double spent = eb_cpu_seconds() - begin;
#if EB_SANITIZER
  const double bound = 60;
#else
  const double bound = 5;
#endif
  tap_below(spent, bound, "100 000 triangles at 800 x 600 within seconds of CPU time");
  eb_render_destroy(render);
  free(rgb);
}

int main(void) {
  test_coverage();
  test_orientation();
  test_occlusion();
  test_crossing();
  test_sides_and_colours();
  test_edges();
  test_behind_the_eye();
  test_ground();
  test_below_ground();
  test_translucent();
  test_touching();
  test_sorted();
  test_front_and_back();
  test_translucent_and_ground();
  test_colours_of_regions();
  test_file();
  test_errors();
  test_speed();
  return tap_done();
}
