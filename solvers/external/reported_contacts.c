/* A program gives a contact's force in space and its distance; the record has the force in a frame
 * and the distance less what there is at the start. Weights, normals and forces are passed on as
 * they are: the audit knows what to make of them. */
#include "solvers/external/reported_contacts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/base/vector3.h"

int64_t eb_reported_most(const eb_surfaces *surfaces) {
  return surfaces ? 1024 + 32 * (int64_t)surfaces->triangle_count : 0;
}

void eb_reported_clear(eb_reported_contacts *contacts) {
  eb_surfaces_destroy(contacts->surfaces);
  free(contacts->pair);
  free(contacts->weight);
  free(contacts->frame);
  free(contacts->c);
  free(contacts->r);
  *contacts = (eb_reported_contacts){0};
}

/* What was in the arrays is of an earlier step. */
static eb_error reserve(eb_reported_contacts *contacts, int32_t count) {
  if (count <= contacts->room) return EB_OK;
  eb_reported_contacts larger = {.surfaces = contacts->surfaces, .room = 2 * count};
  contacts->surfaces = NULL;
  eb_reported_clear(contacts);
  *contacts = larger;
  contacts->room = 0;
  EB_TRY(EB_NEW(contacts->pair, larger.room));
  EB_TRY(EB_NEW(contacts->weight, 4 * (size_t)larger.room));
  EB_TRY(EB_NEW(contacts->frame, 9 * (size_t)larger.room));
  EB_TRY(EB_NEW(contacts->c, 3 * (size_t)larger.room));
  EB_TRY(EB_NEW(contacts->r, 3 * (size_t)larger.room));
  contacts->room = larger.room;
  return EB_OK;
}

static eb_error read_index(const char *what, int64_t contact, double number, int32_t below,
                           int32_t *out) {
  if (!(number >= 0 && number < below && number == floor(number)))
    return EB_ERROR(EB_ERR_FORMAT,
                    "contact %lld of the program has %g for %s, which is a whole number from 0 to "
                    "%d",
                    (long long)contact, number, what, (int)below - 1);
  *out = (int32_t)number;
  return EB_OK;
}

static eb_error read_contact(eb_reported_contacts *contacts, int64_t k, const double *numbers,
                             const double *x0, const double *obstacles) {
  const eb_surfaces *surfaces = contacts->surfaces;
  const double *weight = numbers + 5, *normal = weight + 4, *force = normal + 4;
  double *frame = contacts->frame + 9 * k, g[3] = {0};
  eb_pair *pair = &contacts->pair[k];
  EB_TRY(read_index("its kind (0: vertex and face, 1: two edges)", k, numbers[0], 2, &pair->kind));
  for (int i = 0; i < 4; i++) {
    int32_t *vertex = &pair->vertex[i];
    EB_TRY(read_index("a vertex", k, numbers[1 + i], surfaces->vertex_count, vertex));
    eb_add3(weight[i],
            *vertex < surfaces->nodes ? x0 + 3 * (size_t)*vertex
                                      : obstacles + 3 * (size_t)(*vertex - surfaces->nodes),
            g);
  }
  memcpy(contacts->weight + 4 * k, weight, 4 * sizeof *weight);
  eb_contact_frame(normal, frame);
  contacts->c[3 * k] = normal[3] - eb_dot3(normal, g);
  for (int d = 0; d < 3; d++) contacts->r[3 * k + d] = eb_dot3(frame + 3 * d, force);
  return EB_OK;
}

eb_error eb_reported_read(eb_reported_contacts *contacts, int64_t count, const double *numbers,
                          const double *x0, const double *obstacles, double dt) {
  EB_TRY(reserve(contacts, (int32_t)count));
  for (int64_t k = 0; k < count; k++)
    EB_TRY(read_contact(contacts, k, numbers + EB_REPORTED_NUMBERS * k, x0, obstacles));
  contacts->record = (eb_contact_record){.count = (int32_t)count,
                                         .step = dt,
                                         .nodes = contacts->surfaces->nodes,
                                         .pair = contacts->pair,
                                         .weight = contacts->weight,
                                         .frame = contacts->frame,
                                         .c = contacts->c,
                                         .r = contacts->r};
  return EB_OK;
}
