/* How far the contacts that a step reports are from the law of contact, recomputed from the
 * positions before and after it. */
#ifndef EB_AUDIT_CONTACT_LAW_H
#define EB_AUDIT_CONTACT_LAW_H

#include <stdbool.h>
#include <stdint.h>

#include "problems/scene_impl.h"
#include "problems/contact_record.h"

/* Measures are largest over the contacts, 0 without any. */
typedef struct eb_contact_law {
  int32_t count, active; /* contacts; those with a force */
  int32_t unsound;       /* contacts that are none: see eb_contact_law_measure */
  double violation;      /* m: closer than the contact may be, -u_n */
  double open;           /* m: |u_n| of a contact with a normal force */
  double apart;          /* m: between the features of such a contact, where they are at the end */
  /* m: how far that is from the distance which it demands, beyond how far the features have slid
   * along each other: as much may be lost where they are linearized on the way */
  double true_gap;
  /* degrees: of such a contact's normal from the geometry, where that is nearest to it on the
   * way */
  double normal;
  double sliding; /* m: |u_t| of contacts within Coulomb's cone, which should stick */
  /* |r_t| - mu r_n, or -r_n, over the contact's own mu r_n, which counts as a fifth of the largest
   * r_n (or of the largest |r| without one) at least: methods solve for all forces together, to a
   * thousandth of the largest (solvers/contact/method.h), so that the forces of contacts that are
   * all but open are known no better, and a bound of 1e-2 is twice that */
  double cone;
  /* N: root of the sum of the squares of those excesses, and of r_t + mu r_n u_t / |u_t| where a
   * contact slips inside the cone or is off the direction by more than the bounds allow */
  double off;
  double size;  /* N: root of the sum of the squares of all forces */
  double angle; /* degrees between r_t and -u_t of contacts on the cone that slide */
  /* Which contact it is that each is largest of, or the last that is unsound. */
  struct {
    int32_t unsound, violation, open, true_gap, normal, sliding, cone, angle;
  } at;
} eb_contact_law;

/* Positions before and after (vertices x 3, m) in the record's numbering, nodes and then obstacles.
 * Where `bent` is not NULL, bent[i] (m) is how far the path of vertex i is from the straight one
 * that a solver linearizes; that much of a contact's motion is nobody's fault. Friction and bounds
 * are the scene's, whatever mu the record has. Friction of a slip of less than slack/10 of the
 * bounds' distance may have any direction.
 *
 * u_n is the distance along the normal less what is demanded; u_t the tangential displacement of
 * the whole step. A contact is unsound when a vertex or a number of it is out of range, its weights
 * do not name a point of each feature, its frame is not orthonormal and right-handed, or it demands
 * a distance that is not above 0 or above the bounds' gap; then nothing else is measured of it. */
void eb_contact_law_measure(const eb_contact_record *record, int32_t vertices, const double *x0,
                            const double *x1, const double *bent, const eb_friction_law *friction,
                            const eb_contact_bounds *bounds, double slack, eb_contact_law *law);

/* Whether a solver's record has all arrays that are read of it, of a scene with so many nodes. */
bool eb_contact_record_is_whole(const eb_contact_record *record, int32_t nodes);

/* Distance between the two features at corners x, as in problems/collision/continuous.h, m. */
double eb_contact_law_distance(int32_t kind, const double x[4][3]);

#endif
