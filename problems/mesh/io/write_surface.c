/* OBJ, PLY, OFF and STL. Binary STL holds floats; the others bring every double back. */
#include <math.h>

#include "problems/mesh/io/formats.h"
#include "problems/mesh/io/raw.h"

static const double *vertex_of(const eb_surface *surface, int32_t t, int a) {
  return surface->X + 3 * (size_t)surface->triangles[3 * (size_t)t + (size_t)a];
}

static void print_rows(FILE *file, const char *front, const double *x, int32_t rows) {
  for (size_t i = 0; i < (size_t)rows; i++)
    fprintf(file, "%s%.17g %.17g %.17g\n", front, x[3 * i], x[3 * i + 1], x[3 * i + 2]);
}

static void print_faces(FILE *file, const char *front, const eb_surface *surface, int32_t base) {
  for (size_t t = 0; t < (size_t)surface->triangle_count; t++) {
    const int32_t *corner = surface->triangles + 3 * t;
    fprintf(file, "%s %d %d %d\n", front, corner[0] + base, corner[1] + base, corner[2] + base);
  }
}

void eb_write_obj(FILE *file, const eb_surface *surface) {
  print_rows(file, "v ", surface->X, surface->vertex_count);
  print_faces(file, "f", surface, 1);
}

void eb_write_off(FILE *file, const eb_surface *surface) {
  fprintf(file, "OFF\n%d %d 0\n", surface->vertex_count, surface->triangle_count);
  print_rows(file, "", surface->X, surface->vertex_count);
  print_faces(file, "3", surface, 0);
}

static void write_raw_ply(FILE *file, const eb_surface *surface) {
  for (size_t i = 0; i < 3 * (size_t)surface->vertex_count; i++)
    eb_raw_real(file, surface->X[i], false);
  for (size_t i = 0; i < 3 * (size_t)surface->triangle_count; i++) {
    if (i % 3 == 0) fputc(3, file);
    eb_raw_int(file, surface->triangles[i], false);
  }
}

void eb_write_ply(FILE *file, const eb_surface *surface, bool binary) {
  fprintf(file,
          "ply\nformat %s 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
          "property double z\nelement face %d\nproperty list uchar int vertex_indices\n"
          "end_header\n",
          binary ? "binary_little_endian" : "ascii", surface->vertex_count,
          surface->triangle_count);
  if (binary) {
    write_raw_ply(file, surface);
    return;
  }
  print_rows(file, "", surface->X, surface->vertex_count);
  print_faces(file, "3", surface, 0);
}

/* ---- STL ---------------------------------------------------------------------------------------- */

static void normal_of(const eb_surface *surface, int32_t t, double n[3]) {
  const double *a = vertex_of(surface, t, 0), *b = vertex_of(surface, t, 1);
  const double *c = vertex_of(surface, t, 2);
  double length = 0;
  for (int d = 0; d < 3; d++) {
    int e = (d + 1) % 3, f = (d + 2) % 3;
    n[d] = (b[e] - a[e]) * (c[f] - a[f]) - (b[f] - a[f]) * (c[e] - a[e]);
  }
  length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int d = 0; d < 3; d++) n[d] = length > 0 ? n[d] / length : 0;
}

static void put_float(FILE *file, double value) {
  float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  eb_raw_put(file, bits, 4, false);
}

static void write_raw_stl(FILE *file, const eb_surface *surface) {
  char header[80] = "binary STL";
  fwrite(header, 1, sizeof header, file);
  eb_raw_int(file, surface->triangle_count, false);
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    double n[3];
    normal_of(surface, t, n);
    for (int d = 0; d < 3; d++) put_float(file, n[d]);
    for (int i = 0; i < 9; i++) put_float(file, vertex_of(surface, t, i / 3)[i % 3]);
    eb_raw_put(file, 0, 2, false);
  }
}

void eb_write_stl(FILE *file, const eb_surface *surface, bool binary) {
  if (binary) {
    write_raw_stl(file, surface);
    return;
  }
  fputs("solid surface\n", file);
  for (int32_t t = 0; t < surface->triangle_count; t++) {
    double n[3];
    normal_of(surface, t, n);
    fprintf(file, "facet normal %.9g %.9g %.9g\nouter loop\n", n[0], n[1], n[2]);
    for (int a = 0; a < 3; a++) print_rows(file, "vertex ", vertex_of(surface, t, a), 1);
    fputs("endloop\nendfacet\n", file);
  }
  fputs("endsolid surface\n", file);
}
