#include "harness/audit/parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/reference.h"
#include "problems/base/memory.h"
#include "problems/base/owned.h"

/* Moments of a connected piece. */
typedef struct piece {
  double mass, centre[3], velocity[3];
  double spin[3], inertia[9]; /* about its centre: kg m^2/s, kg m^2 */
} piece;

typedef struct part {
  char name[EB_NAME_BYTES];
  int32_t region;     /* -1: of a group of nodes */
  int32_t count, own; /* of the rank: all, and those that it owns, which come first */
  int64_t all;        /* of all ranks */
  int32_t piece_count;
  int32_t *node, *piece; /* count: in the mesh; which piece it is of */
  double *mass;          /* count: means something of those owned */
  double total;          /* kg, of all ranks */
  double rest[3];        /* C */
  bool begun;            /* a rotation has been told since the last jump */
  bool wound;            /* turn has come to 3 rad */
  double rotation[9], turn[3];
  eb_arena owned; /* the nodes */
} part;

struct eb_parts {
  const eb_ranks *ranks;
  const double *X; /* of the scene's mesh */
  int nodes;       /* of it */
  int count;
  part *list;
  piece *pieces; /* workspace, of the part with the most */
};

static const double half_turn_bound = 3; /* rad */

/* ---- nodes and pieces ------------------------------------------------------------------------ */

static int32_t root(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

/* Joins the nodes of each element that belong to the part; at[i] is the place of a node in it, or
 * -1, and becomes its piece. Pieces are numbered as they are met. */
static eb_error find_pieces(const eb_scene *scene, int32_t *at, part *p) {
  const eb_mesh *mesh = scene->mesh;
  int32_t *parent = p->piece;
  EB_FREED int32_t *number = NULL;
  for (int32_t k = 0; k < p->count; k++) parent[k] = k;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    const int32_t *corner = mesh->elements + (size_t)e * mesh->type;
    int32_t first = -1;
    if (p->region >= 0 && mesh->region[e] != p->region) continue;
    for (int a = 0; a < (int)mesh->type; a++) {
      int32_t k = at[corner[a]];
      if (k < 0) continue;
      if (first < 0)
        first = root(parent, k);
      else
        parent[root(parent, k)] = first;
    }
  }
  EB_TRY(EB_NEW(number, p->count));
  p->piece_count = 0;
  for (int32_t k = 0; k < p->count; k++)
    if (root(parent, k) == k) number[k] = p->piece_count++;
  for (int32_t k = 0; k < p->count; k++) parent[k] = root(parent, k);
  for (int32_t k = 0; k < p->count; k++) parent[k] = number[parent[k]];
  for (int32_t i = 0; i < mesh->node_count; i++)
    if (at[i] >= 0) at[i] = p->piece[at[i]];
  EB_TRY(eb_audit_join_components(scene->part, mesh->node_count, at, &p->piece_count));
  for (int32_t k = 0; k < p->count; k++) p->piece[k] = at[p->node[k]];
  return EB_OK;
}

/* Nodes, masses and pieces of the nodes with mass[i] > 0 or, of a group, of those in it. */
static eb_error take_nodes(const eb_scene *scene, const uint8_t *taken, const double *mass,
                           int32_t *at, part *p) {
  const eb_mesh *mesh = scene->mesh;
  eb_arena_clear(&p->owned);
  p->count = p->own = 0;
  for (int32_t i = 0; i < mesh->node_count; i++) {
    at[i] = taken[i] ? p->count++ : -1;
    if (i < eb_scene_own_nodes(scene)) p->own = p->count;
  }
  EB_TRY(EB_TAKE(&p->owned, p->node, p->count));
  EB_TRY(EB_TAKE(&p->owned, p->piece, p->count));
  EB_TRY(EB_TAKE(&p->owned, p->mass, p->count));
  p->total = 0;
  memset(p->rest, 0, sizeof p->rest);
  for (int32_t i = 0; i < mesh->node_count; i++) {
    if (at[i] < 0) continue;
    p->node[at[i]] = i;
    p->mass[at[i]] = mass[i];
    if (at[i] >= p->own) continue;
    p->total += mass[i];
    for (int d = 0; d < 3; d++) p->rest[d] += mass[i] * mesh->X[3 * (size_t)i + (size_t)d];
  }
  p->all = p->own;
  eb_ranks_sum_whole(eb_scene_ranks(scene), 1, &p->all);
  eb_ranks_sum(eb_scene_ranks(scene), 1, &p->total);
  eb_ranks_sum(eb_scene_ranks(scene), 3, p->rest);
  for (int d = 0; d < 3; d++) p->rest[d] /= p->total;
  return find_pieces(scene, at, p);
}

static void mark_region(const eb_scene *scene, int32_t region, uint8_t *taken, double *mass) {
  const eb_mesh *mesh = scene->mesh;
  const eb_material *material = &scene->materials[region];
  double thickness = mesh->type == EB_TRIANGLE && material->thickness > 0 ? material->thickness : 1;
  for (int32_t e = 0; e < mesh->element_count; e++) {
    if (mesh->region[e] != region) continue;
    double share = material->density * thickness * eb_mesh_element_volume(mesh, mesh->X, e) /
                   (double)mesh->type;
    for (size_t a = 0; a < mesh->type; a++) {
      size_t i = (size_t)mesh->elements[(size_t)e * mesh->type + a];
      taken[i] = 1;
      mass[i] += share;
    }
  }
}

/* Copies that a cut has made of a group's nodes belong to it. */
static void mark_group(const eb_scene *scene, const eb_grip *grip, const double *all,
                       uint8_t *taken, double *mass) {
  for (int32_t k = 0; k < grip->count; k++) taken[grip->nodes[k]] = 1;
  for (int32_t i = 0; i < scene->mesh->node_count; i++) {
    taken[i] = taken[scene->script.node_origin[i]];
    if (taken[i]) mass[i] = all[i];
  }
}

/* Fills a part that has its name and region. */
static eb_error fill(const eb_audit *audit, const eb_grip *grip, part *p) {
  const eb_scene *scene = audit->scene;
  EB_FREED uint8_t *taken = NULL;
  EB_FREED double *mass = NULL;
  EB_FREED int32_t *at = NULL;
  EB_TRY(EB_NEW(taken, audit->nodes));
  EB_TRY(EB_NEW(mass, audit->nodes));
  EB_TRY(EB_NEW(at, audit->nodes));
  if (grip)
    mark_group(scene, grip, audit->mass, taken, mass);
  else
    mark_region(scene, p->region, taken, mass);
  return take_nodes(scene, taken, mass, at, p);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* What an expression and a file can have, and no other part: "bone (left)" is bone--left, and a
 * second one bone--left-2. */
static void name_part(eb_parts *parts, const char *name, part *p) {
  int used = snprintf(p->name, EB_NAME_BYTES - 4, "%s", name);
  if (used > EB_NAME_BYTES - 5) used = EB_NAME_BYTES - 5;
  for (char *at = p->name; *at; at++)
    if (!isalnum((unsigned char)*at) && *at != '_') *at = '-';
  while (used > 0 && p->name[used - 1] == '-') p->name[--used] = '\0';
  for (int n = 2, k = 0; k < p - parts->list; k++)
    if (strcmp(parts->list[k].name, p->name) == 0) {
      snprintf(p->name + used, (size_t)(EB_NAME_BYTES - used), "-%d", n++);
      k = -1;
    }
}

eb_error eb_parts_follow(eb_parts *parts, const eb_audit *audit) {
  const eb_scene *scene = audit->scene;
  int grip = 0;
  int32_t most = 0;
  parts->ranks = eb_scene_ranks(scene);
  parts->X = scene->mesh->X;
  parts->nodes = scene->mesh->node_count;
  for (int k = 0; k < parts->count; k++) {
    part *p = &parts->list[k];
    while (p->region < 0 && !*scene->script.grips[grip].name) grip++;
    EB_TRY(fill(audit, p->region < 0 ? &scene->script.grips[grip++] : NULL, p));
    if (p->piece_count > most) most = p->piece_count;
  }
  free(parts->pieces);
  return EB_NEW(parts->pieces, most);
}

eb_error eb_parts_create(const eb_audit *audit, eb_parts **out) {
  const eb_scene *scene = audit->scene;
  const eb_mesh *mesh = scene->mesh;
  int32_t regions = mesh->region_count > 1 ? mesh->region_count : 0;
  int64_t elements[EB_MAX_REGIONS] = {0};
  eb_parts *parts;
  *out = NULL;
  EB_TRY(EB_NEW(parts, 1));
  eb_error error = EB_NEW(parts->list, regions + EB_MAX_GRIPS);
  for (int32_t e = 0; e < eb_scene_own_elements(scene); e++) elements[mesh->region[e]]++;
  eb_ranks_sum_whole(eb_scene_ranks(scene), EB_MAX_REGIONS, elements);
  for (int32_t r = 0; !error && r < regions; r++) {
    if (elements[r] == 0) continue;
    part *p = &parts->list[parts->count++];
    p->region = r;
    name_part(parts, mesh->region_name[r], p);
  }
  for (int32_t g = 0; !error && g < scene->script.grip_count; g++) {
    if (!*scene->script.grips[g].name) continue;
    part *p = &parts->list[parts->count++];
    p->region = -1;
    name_part(parts, scene->script.grips[g].name, p);
  }
  if (!error) error = eb_parts_follow(parts, audit);
  if (error)
    eb_parts_destroy(parts);
  else
    *out = parts;
  return error;
}

void eb_parts_destroy(eb_parts *parts) {
  if (!parts) return;
  for (int k = 0; k < parts->count; k++) eb_arena_clear(&parts->list[k].owned);
  free(parts->list);
  free(parts->pieces);
  free(parts);
}

int eb_parts_count(const eb_parts *parts) {
  return parts->count;
}

const char *eb_parts_name(const eb_parts *parts, int k) {
  return parts->list[k].name;
}

int eb_parts_of_region(const eb_parts *parts, int32_t region) {
  for (int k = 0; k < parts->count; k++)
    if (parts->list[k].region == region) return k;
  return -1;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* By the unit quaternion (w, q) with w >= 0, whose largest entry is
 * found first (Shepperd 1978). */
void eb_audit_rotation_vector(const double R[9], double out[3]) {
  double trace = R[0] + R[4] + R[8], q[4]; /* q[3]: w */
  int largest = 3;
  double most = trace;
  for (int d = 0; d < 3; d++)
    if (R[4 * d] > most) {
      most = R[4 * d];
      largest = d;
    }
  if (largest == 3) {
    q[3] = 1 + trace;
    for (int d = 0; d < 3; d++) {
      int i = (d + 1) % 3, j = (d + 2) % 3;
      q[d] = R[3 * j + i] - R[3 * i + j];
    }
  } else {
    int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = 1 + R[4 * i] - R[4 * j] - R[4 * k];
    q[j] = R[3 * i + j] + R[3 * j + i];
    q[k] = R[3 * i + k] + R[3 * k + i];
    q[3] = R[3 * k + j] - R[3 * j + k];
  }
  double sine = sqrt(eb_audit_squared(q)), sign = q[3] < 0 ? -1 : 1;
  double angle = 2 * atan2(sine, fabs(q[3]));
  for (int d = 0; d < 3; d++) out[d] = sine > 0 ? sign * q[d] * angle / sine : 0;
}

/* The rotation that fits best; false where none does: of a shape whose second singular value is
 * rounding of the first. */
static bool best_rotation(const eb_parts *parts, const part *p, const double *x, double R[9]) {
  static const double line = 1e-12;
  const double *X = parts->X;
  double A[9] = {0}, centre[3] = {0}, U[9], s[3], V[9];
  for (int32_t k = 0; k < p->own; k++)
    for (int d = 0; d < 3; d++) centre[d] += p->mass[k] * x[3 * (size_t)p->node[k] + (size_t)d];
  eb_ranks_sum(parts->ranks, 3, centre);
  for (int d = 0; d < 3; d++) centre[d] /= p->total;
  for (int32_t k = 0; k < p->own; k++) {
    size_t at = 3 * (size_t)p->node[k];
    for (size_t i = 0; i < 3; i++)
      for (size_t j = 0; j < 3; j++)
        A[3 * i + j] += p->mass[k] * (x[at + i] - centre[i]) * (X[at + j] - p->rest[j]);
  }
  eb_ranks_sum(parts->ranks, 9, A);
  eb_reference_svd(A, U, s, V);
  if (!(fabs(s[1]) > line * fabs(s[0]))) return false;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      R[3 * i + j] = 0;
      for (int l = 0; l < 3; l++) R[3 * i + j] += U[3 * i + l] * V[3 * j + l];
    }
  return true;
}

static void begin_turn(part *p, const double R[9]) {
  memcpy(p->rotation, R, sizeof p->rotation);
  eb_audit_rotation_vector(R, p->turn);
  p->begun = true;
  p->wound = false;
}

/* The turn goes on from p->rotation to R (parts.h). */
static void go_on(part *p, const double R[9]) {
  double step[9], on[3];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      step[3 * i + j] = 0;
      for (int l = 0; l < 3; l++) step[3 * i + j] += R[3 * i + l] * p->rotation[3 * j + l];
    }
  eb_audit_rotation_vector(step, on);
  for (int d = 0; d < 3; d++) on[d] += p->turn[d];
  p->wound = p->wound || eb_audit_squared(on) > half_turn_bound * half_turn_bound;
  if (p->wound)
    memcpy(p->turn, on, sizeof on);
  else
    eb_audit_rotation_vector(R, p->turn);
  memcpy(p->rotation, R, sizeof p->rotation);
}

void eb_parts_reset(eb_parts *parts) {
  for (int k = 0; k < parts->count; k++) parts->list[k].begun = false;
}

/* ---- momenta --------------------------------------------------------------------------------- */

/* out += m a x b. */
static void add_cross(double m, const double a[3], const double b[3], double out[3]) {
  for (int d = 0; d < 3; d++) {
    int i = (d + 1) % 3, j = (d + 2) % 3;
    out[d] += m * (a[i] * b[j] - a[j] * b[i]);
  }
}

static void sum_pieces(const eb_ranks *ranks, const part *p, const eb_state *state, piece *pieces) {
  enum { NUMBERS = sizeof *pieces / sizeof(double) };
  memset(pieces, 0, (size_t)p->piece_count * sizeof *pieces);
  for (int32_t k = 0; k < p->own; k++) {
    size_t at = 3 * (size_t)p->node[k];
    piece *of = &pieces[p->piece[k]];
    of->mass += p->mass[k];
    for (size_t d = 0; d < 3; d++) {
      of->centre[d] += p->mass[k] * state->x[at + d];
      of->velocity[d] += p->mass[k] * state->v[at + d];
    }
  }
  eb_ranks_sum(ranks, NUMBERS * p->piece_count, (double *)pieces);
  for (int32_t c = 0; c < p->piece_count; c++)
    for (int d = 0; d < 3; d++) {
      pieces[c].centre[d] /= pieces[c].mass;
      pieces[c].velocity[d] /= pieces[c].mass;
    }
  for (int32_t k = 0; k < p->own; k++) {
    size_t at = 3 * (size_t)p->node[k];
    piece *of = &pieces[p->piece[k]];
    double r[3], v[3], m = p->mass[k];
    for (size_t d = 0; d < 3; d++) {
      r[d] = state->x[at + d] - of->centre[d];
      v[d] = state->v[at + d] - of->velocity[d];
    }
    add_cross(m, r, v, of->spin);
    double square = eb_audit_squared(r);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        of->inertia[3 * i + j] += m * ((i == j ? square : 0) - r[i] * r[j]);
  }
  for (int32_t c = 0; ranks && c < p->piece_count; c++) {
    eb_ranks_sum(ranks, 3, pieces[c].spin);
    eb_ranks_sum(ranks, 9, pieces[c].inertia);
  }
}

/* 1/2 L . inv(I) L; about axes without inertia there is no energy. */
static double rotational(const piece *of) {
  static const double none = 1e-12;
  double U[9], s[3], V[9], energy = 0;
  eb_reference_svd(of->inertia, U, s, V);
  for (int l = 0; l < 3; l++) {
    double left = 0, right = 0;
    if (!(fabs(s[l]) > none * fabs(s[0]))) continue;
    for (int d = 0; d < 3; d++) {
      left += U[3 * d + l] * of->spin[d];
      right += V[3 * d + l] * of->spin[d];
    }
    energy += 0.5 * left * right / s[l];
  }
  return energy;
}

/* Centre, spin and energy of all pieces. The spin about the common centre is the pieces' own and
 * that of their centres. */
static void fill_momenta(const eb_parts *parts, const part *p, const eb_state *state,
                         eb_part_row *row) {
  piece *pieces = parts->pieces;
  double velocity[3] = {0};
  sum_pieces(parts->ranks, p, state, pieces);
  for (int32_t c = 0; c < p->piece_count; c++)
    for (int d = 0; d < 3; d++) {
      row->centre[d] += pieces[c].mass / p->total * pieces[c].centre[d];
      velocity[d] += pieces[c].mass / p->total * pieces[c].velocity[d];
    }
  for (int32_t c = 0; c < p->piece_count; c++) {
    double r[3], v[3];
    for (int d = 0; d < 3; d++) {
      r[d] = pieces[c].centre[d] - row->centre[d];
      v[d] = pieces[c].velocity[d] - velocity[d];
      row->spin[d] += pieces[c].spin[d];
    }
    add_cross(pieces[c].mass, r, v, row->spin);
    row->rotational += rotational(&pieces[c]);
  }
}

void eb_parts_step(eb_parts *parts, const eb_state *before, const eb_state *after,
                   eb_part_row *rows) {
  for (int n = 0; n < parts->count; n++) {
    part *p = &parts->list[n];
    eb_part_row *row = &rows[n];
    double R[9];
    *row = (eb_part_row){0};
    if (!p->begun && best_rotation(parts, p, before->x, R)) begin_turn(p, R);
    bool told = best_rotation(parts, p, after->x, R);
    if (told && p->begun) go_on(p, R);
    if (told && !p->begun) begin_turn(p, R);
    for (int d = 0; d < 3; d++) row->turn[d] = told ? p->turn[d] : NAN;
    fill_momenta(parts, p, after, row);
    for (int32_t k = 0; k < p->own; k++) {
      size_t at = 3 * (size_t)p->node[k];
      double off[3];
      for (size_t d = 0; d < 3; d++) off[d] = after->x[at + d] - parts->X[at + d];
      row->displacement += sqrt(eb_audit_squared(off)) / (double)p->all;
    }
    eb_ranks_sum(parts->ranks, 1, &row->displacement);
  }
}

/* ---- fields ---------------------------------------------------------------------------------- */

double eb_parts_variance(const eb_parts *parts, int part_, int32_t weights, const double *weight) {
  const part *p = &parts->list[part_];
  piece *pieces = parts->pieces;
  double sum = 0;
  for (int32_t w = 0; w < weights; w++) {
    const double *of = weight + (size_t)w * (size_t)parts->nodes;
    memset(pieces, 0, (size_t)p->piece_count * sizeof *pieces);
    for (int32_t k = 0; k < p->count; k++) {
      pieces[p->piece[k]].mass += p->mass[k];
      pieces[p->piece[k]].centre[0] += p->mass[k] * of[p->node[k]];
    }
    for (int32_t k = 0; k < p->count; k++) {
      const piece *own = &pieces[p->piece[k]];
      double off = of[p->node[k]] - own->centre[0] / own->mass;
      sum += p->mass[k] * off * off;
    }
  }
  return sum / p->total;
}
