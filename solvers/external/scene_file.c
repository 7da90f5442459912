/* The file is written twice: the first time to learn how long the text is, which the offsets of
 * the arrays depend on. They are written with a fixed number of digits, so the second is as long.
 */
#include "solvers/external/scene_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "problems/base/memory.h"
#include "problems/base/text.h"
#include "problems/elasticity/plugged.h"
#include "problems/scene_impl.h"

const char *eb_scene_file_need(uint32_t bit) {
  switch (bit) {
  case EB_CAP_TETRAHEDRA:
    return "tetrahedra";
  case EB_CAP_HEXAHEDRA:
    return "hexahedra";
  case EB_CAP_ONE_POINT:
    return "one-point";
  case EB_CAP_TRIANGLES:
    return "triangles";
  case EB_CAP_COROTATIONAL:
    return "corotational";
  case EB_CAP_HYPERELASTIC:
    return "hyperelastic";
  case EB_CAP_PROJECTIVE:
    return "projective";
  case EB_CAP_FIBRES:
    return "fibres";
  case EB_CAP_SCRIPTED:
    return "scripted";
  case EB_CAP_COLLIDERS:
    return "colliders";
  case EB_CAP_CONTACT:
    return "contact";
  case EB_CAP_SPRINGS:
    return "springs";
  case EB_CAP_STATICS:
    return "statics";
  }
  return NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

static eb_error write_needs(const eb_scene *scene, eb_text *text) {
  uint32_t needs = eb_scene_needs(scene);
  EB_TRY(eb_text_printf(text, "needs"));
  for (uint32_t bit = 1; bit; bit <<= 1) {
    const char *word = needs & bit ? eb_scene_file_need(bit) : NULL;
    if (word) EB_TRY(eb_text_printf(text, " %s", word));
  }
  return eb_text_printf(text, "\n");
}

/* "parameter NAME VALUE" a line, of "name=value,name=value". */
static eb_error write_parameters(const eb_scene *scene, eb_text *text) {
  const char *at = eb_values_canonical(eb_scene_parameters(scene));
  while (*at) {
    int name = (int)strcspn(at, "="), value = (int)strcspn(at + name + 1, ",");
    EB_TRY(eb_text_printf(text, "parameter %.*s %.*s\n", name, at, value, at + name + 1));
    at += name + 1 + value;
    at += *at == ',';
  }
  return EB_OK;
}

/* A plug-in's, whose energy and derivatives a program asks for (EVAL): " NAME VALUE" each. */
static eb_error write_own_parameters(const eb_material *m, eb_text *text) {
  const eb_material_ops *ops = m->plugged ? m->plugged->ops : NULL;
  for (int k = 0; ops && k < eb_plugged_parameter_count(ops); k++)
    EB_TRY(eb_text_printf(text, " %s %.17g", ops->parameters[k].name, m->own[k]));
  return EB_OK;
}

static eb_error write_materials(const eb_scene *scene, eb_text *text) {
  static const char *const fibres[] = {
      [EB_FIBRE_NONE] = "none", [EB_FIBRE_ASTVK] = "astvk", [EB_FIBRE_FUNG] = "fung"};
  for (int32_t r = 0; r < scene->material_count; r++) {
    const eb_material *m = eb_scene_material(scene, r);
    EB_TRY(eb_text_printf(
        text,
        "material %d %s young %.17g poisson %.17g density %.17g thickness %.17g fibre %s "
        "fibre_stiffness %.17g fibre_exponent %.17g activation %.17g integration %s hourglass "
        "%.17g",
        r, eb_material_name(m), m->young, m->poisson, m->density, eb_material_thickness(m),
        fibres[m->fibre], m->fibre_stiffness, m->fibre_exponent, m->activation,
        eb_integration_name((int)m->integration), m->hourglass));
    EB_TRY(write_own_parameters(m, text));
    EB_TRY(eb_text_append(text, "\n", 1));
  }
  return EB_OK;
}

/* What may touch: how many bodies, which obstacles move, and what the audit allows. */
static eb_error write_contacts(const eb_surfaces *surfaces, eb_text *text) {
  if (!surfaces) return EB_OK;
  const eb_contact_bounds *b = &surfaces->bounds;
  EB_TRY(eb_text_printf(text, "bodies %d\nobstacles", surfaces->body_count));
  for (int32_t o = 0; o < surfaces->obstacle_count; o++)
    EB_TRY(eb_text_printf(text, " %s", surfaces->moves[o] ? "moves" : "stands"));
  const eb_friction_law *friction = &surfaces->friction;
  EB_TRY(eb_text_printf(text, "\nfriction %.17g\n", friction->common));
  for (int32_t k = 0; k < friction->pair_count; k++)
    EB_TRY(eb_text_printf(text, "friction_pair %d %d %.17g\n", friction->pairs[k].a,
                          friction->pairs[k].b, friction->pairs[k].mu));
  return eb_text_printf(text,
                        "bounds gap %.17g near %.17g distance %.17g reach %.17g "
                        "momentum %.17g cone %.17g angle %.17g normal %.17g\n",
                        b->gap, b->near, b->distance, b->reach, b->momentum, b->cone, b->angle,
                        b->normal);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

enum { ALIGNMENT = 64 };

/* The file as it grows: of the text when `data` is NULL, of the arrays else. */
typedef struct writer {
  const eb_scene *scene;
  const eb_surfaces *surfaces; /* or NULL */
  bool pattern;                /* that of the Hessian is written as well */
  eb_text *text;
  size_t start; /* of the arrays, as far as it is known */
  size_t offset;
  char *data; /* from the start of the file */
} writer;

static eb_error add_array(writer *to, const char *name, const char *type, size_t size, int64_t rows,
                          int64_t columns, const void *values) {
  size_t bytes = size * (size_t)rows * (size_t)columns;
  if (to->data)
    memcpy(to->data + to->start + to->offset, values, bytes);
  else
    EB_TRY(eb_text_printf(to->text, "array %s %s %lld %lld %15zu\n", name, type, (long long)rows,
                          (long long)columns, to->start + to->offset));
  to->offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return EB_OK;
}

#define REALS(name, rows, columns, values)  add_array(to, name, "f8", 8, rows, columns, values)
#define WHOLES(name, rows, columns, values) add_array(to, name, "i4", 4, rows, columns, values)

/* Triangles of the surface by nodes of the mesh. */
static eb_error add_surface(writer *to) {
  const eb_surface *surface = to->scene->surface;
  int32_t count = surface ? surface->triangle_count : 0, *nodes;
  EB_TRY(EB_NEW(nodes, 3 * (int64_t)count));
  for (int32_t i = 0; i < 3 * count; i++)
    nodes[i] = surface->node ? surface->node[surface->triangles[i]] : surface->triangles[i];
  eb_error error = WHOLES("surface", count, 3, nodes);
  free(nodes);
  return error;
}

static eb_error add_boundary(writer *to) {
  const eb_scene *scene = to->scene;
  int32_t n = scene->mesh->node_count;
  uint8_t *fixed;
  double *target;
  EB_TRY(EB_NEW(target, 4 * (int64_t)n));
  fixed = (uint8_t *)(target + 3 * (int64_t)n);
  eb_scene_boundary(scene, 0, fixed, target);
  eb_error error = add_array(to, "fixed", "u1", 1, n, 1, fixed);
  if (!error) error = REALS("target", n, 3, target);
  free(target);
  return error;
}

static eb_error add_contacts(writer *to) {
  const eb_surfaces *surfaces = to->surfaces;
  if (!surfaces) return EB_OK;
  int32_t count = surfaces->vertex_count - surfaces->nodes;
  double *x;
  EB_TRY(WHOLES("contact_triangle", surfaces->triangle_count, 3, surfaces->triangles));
  EB_TRY(WHOLES("contact_body", surfaces->triangle_count, 1, surfaces->body));
  if (surfaces->friction.pair_count > 0)
    EB_TRY(WHOLES("friction_names", surfaces->vertex_count, 1, surfaces->friction.names));
  EB_TRY(EB_NEW(x, 3 * (size_t)count));
  eb_scene_obstacles(to->scene, 0, x);
  eb_error error = REALS("obstacle", count, 3, x);
  free(x);
  return error;
}

static eb_error add_arrays(writer *to) {
  const eb_scene *scene = to->scene;
  const eb_mesh *mesh = eb_scene_mesh(scene);
  const int32_t *springs = NULL, *start, *column;
  EB_TRY(REALS("rest", mesh->node_count, 3, mesh->X));
  EB_TRY(REALS("x", mesh->node_count, 3, scene->x0));
  EB_TRY(REALS("v", mesh->node_count, 3, scene->v0));
  EB_TRY(REALS("mass", mesh->node_count, 1, eb_scene_mass(scene)));
  EB_TRY(WHOLES("elements", mesh->element_count, (int)mesh->type, mesh->elements));
  EB_TRY(WHOLES("region", mesh->element_count, 1, mesh->region));
  if (mesh->fibre) EB_TRY(REALS("fibre", mesh->element_count, 3, mesh->fibre));
  EB_TRY(add_boundary(to));
  EB_TRY(add_surface(to));
  EB_TRY(add_contacts(to));
  int32_t count = eb_scene_springs(scene, 0, &springs, NULL, NULL);
  if (count > 0) EB_TRY(WHOLES("spring_node", count, 1, springs));
  if (!to->pattern) return EB_OK;
  eb_scene_pattern(scene, &start, &column);
  EB_TRY(WHOLES("pattern_start", mesh->node_count + 1, 1, start));
  return WHOLES("pattern_column", start[mesh->node_count], 1, column);
}

/* ---- the file -------------------------------------------------------------------------------- */

static eb_error write_text(writer *to) {
  const eb_scene *scene = to->scene;
  const eb_mesh *mesh = eb_scene_mesh(scene);
  const double *g = eb_scene_gravity(scene);
  const char *element = mesh->type == EB_TETRAHEDRON  ? "tetrahedra"
                        : mesh->type == EB_HEXAHEDRON ? "hexahedra"
                                                      : "triangles";
  to->text->length = to->offset = 0;
  EB_TRY(eb_text_printf(to->text,
                        "elastobench scene 1\nname %s\nelement %s\ndt %.17g\ngravity %.17g %.17g "
                        "%.17g\n",
                        eb_scene_name(scene), element, eb_scene_dt(scene), g[0], g[1], g[2]));
  EB_TRY(write_needs(scene, to->text));
  EB_TRY(write_parameters(scene, to->text));
  EB_TRY(write_materials(scene, to->text));
  EB_TRY(write_contacts(to->surfaces, to->text));
  EB_TRY(add_arrays(to));
  EB_TRY(eb_text_printf(to->text, "end\n"));
  to->start = (to->text->length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return EB_OK;
}

static eb_error put(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return EB_ERROR(EB_ERR_IO, "cannot write the scene for the program: %s", strerror(errno));
    bytes += written;
    count -= (size_t)written;
  }
  return EB_OK;
}

static eb_error write_whole(writer *to, int file) {
  EB_TRY(write_text(to));
  EB_TRY(write_text(to));
  size_t bytes = to->start + to->offset;
  EB_TRY(EB_NEW(to->data, bytes));
  memcpy(to->data, to->text->data, to->text->length);
  to->offset = 0;
  EB_TRY(add_arrays(to));
  return put(file, to->data, bytes);
}

eb_error eb_scene_file_open(int *out) {
  *out = memfd_create("elastobench-scene", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return *out < 0 ? EB_ERROR(EB_ERR_IO, "cannot make a file of the scene: %s", strerror(errno))
                  : EB_OK;
}

eb_error eb_scene_file_write(const eb_scene *scene, const eb_surfaces *surfaces, bool pattern,
                             int file) {
  eb_text text = {0};
  writer to = {.scene = scene, .surfaces = surfaces, .pattern = pattern, .text = &text};
  eb_error error = write_whole(&to, file);
  free(to.data);
  eb_text_clear(&text);
  EB_TRY(error);
  if (lseek(file, 0, SEEK_SET) < 0 ||
      fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
    return EB_ERROR(EB_ERR_IO, "cannot seal the file of the scene: %s", strerror(errno));
  return EB_OK;
}
