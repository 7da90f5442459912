#include "harness/audit/element_rank.h"

#include <math.h>

#include "harness/audit/audit_data.h"
#include "harness/audit/tangent.h"
#include "solvers/linalg/one_thread.h"

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info, size_t, size_t);

enum { MOST_NODES = 8, MOST = 3 * MOST_NODES };

/* K_(a i)(b j) += w (dP/dF : e_j (x) g_b)_i . g_a of lane k of a batch, K nodes x 3 squared. */
static void add_point(const eb_audit *audit, size_t batch, int k, int32_t element, double *K) {
  const eb_mesh *mesh = audit->scene->mesh;
  const eb_audit_batch *rest = &audit->batches[batch];
  const eb_audit_corner *corners = audit->corners + batch * mesh->type;
  size_t axes = mesh->type == EB_TRIANGLE ? 2 : 3, n = 3 * mesh->type;
  eb_tangent_at tangent;
  eb_four F[9], dP[9];
  for (int i = 0; i < 9; i++) F[i] = eb_four_of(i % 4 == 0);
  eb_reference_tangent(&audit->materials[mesh->region[element]], EB_TANGENT_EXACT, F,
                       mesh->fibre ? rest->fibre : NULL, &tangent);
  for (size_t b = 0; b < mesh->type; b++)
    for (size_t j = 0; j < axes; j++) {
      eb_four dF[9];
      for (size_t i = 0; i < 9; i++) dF[i] = i / 3 == j ? corners[b].g[i % 3] : eb_four_of(0);
      eb_tangent_apply(&tangent, dF, dP);
      for (size_t a = 0; a < mesh->type; a++)
        for (size_t i = 0; i < axes; i++)
          K[n * (3 * a + i) + 3 * b + j] +=
              (rest->weight * eb_four_dot3(dP + 3 * i, corners[a].g))[k];
    }
}

static void add_control(const eb_audit *audit, int32_t element, double *K) {
  const eb_audit_hourglass *h = &audit->hourglass[element];
  for (int a = 0; a < MOST_NODES; a++)
    for (int b = 0; b < MOST_NODES; b++)
      for (int m = 0; m < EB_AUDIT_HOURGLASS; m++)
        for (int i = 0; i < 3; i++)
          K[MOST * (3 * a + i) + 3 * b + i] +=
              2 * h->stiffness[m] * h->gamma[m][a] * h->gamma[m][b];
}

eb_error eb_element_rank(const eb_audit *audit, int32_t element, int *rank) {
  enum { ROOM = 34 * MOST };
  static const double negligible = 1e-9;
  double K[MOST * MOST] = {0}, lambda[MOST], work[ROOM];
  int n = 3 * (int)audit->scene->mesh->type, room = ROOM, info;
  *rank = 0;
  if (audit->scene->rigid.regions[audit->scene->mesh->region[element]]) return EB_OK;
  for (size_t b = 0; b < audit->batch_count; b++)
    for (int k = 0; k < audit->batches[b].count; k++)
      if ((audit->batches[b].first + k) / audit->points == element)
        add_point(audit, b, k, element, K);
  if (audit->hourglass) add_control(audit, element, K);
  eb_one_thread threads = eb_one_thread_begin();
  dsyev_("N", "U", &n, K, &n, lambda, work, &room, &info, 1, 1);
  eb_one_thread_end(threads);
  if (info != 0) return EB_ERROR(EB_ERR_LIBRARY, "LAPACK's dsyev returned %d", info);
  for (int k = 0; k < n; k++) *rank += fabs(lambda[k]) > negligible * fabs(lambda[n - 1]);
  return EB_OK;
}
