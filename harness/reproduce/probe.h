/* Probes: measurements that no run of a solver on a scene gives. Each runs in a process of its own, under the limits of its section
 * in the paper's file, and leaves a JSON file beside the result file:
 *
 *   {"identity": TEXT, "complete": BOOL, ...}
 *
 * A result may have "rows": an object of objects, whose figures tables can show.
 * complete is false as long as the probe is at work: what a probe cut off by its time limit has found stays readable. */
#ifndef EB_REPRODUCE_PROBE_H
#define EB_REPRODUCE_PROBE_H

#include <jansson.h>

#include "harness/reproduce/paper.h"
#include "problems/scene.h"

/* What a probe is given. */
typedef struct eb_probing {
  const eb_section *arguments;
  bool quick;
  int threads;
  double time_limit; /* s, for parts that would take too long; 0: none */
  json_t *out;       /* an object to fill */
  const char *path;  /* of the JSON file */
} eb_probing;

typedef struct eb_probe {
  const char *name, *doc;
  const char *const
      *arguments; /* ended by NULL; besides kind, threads, timeout, quick-timeout, memory */
  eb_error (*run)(eb_probing *probing);
} eb_probe;

/* All probes, ended by NULL. */
extern const eb_probe *const eb_probes[];
extern const eb_probe eb_probe_low_rank;
EB_MUST eb_error eb_probes_check(const eb_paper *paper);

/* The scene that the argument `scene` names; also notes its stand-in. */
EB_MUST eb_error eb_probe_scene(const eb_probing *probing, eb_scene **out);
/* Notes scene and stand-in of a scene that a probe has made itself. */
void eb_probe_note_scene(const eb_probing *probing, const char *spec, const eb_scene *scene);
/* Writes what is found so far. */
EB_MUST eb_error eb_probe_save(const eb_probing *probing);

/* Runs a probe of the paper in this process. */
EB_MUST eb_error eb_probe_execute(const eb_paper *paper, const char *id, const char *path);

/* Runs the probes that the chosen claims and tables name, each in a process of its own; with `resume` only those whose complete result is not
 * there. `from` is passed on. *interrupted: by a signal. */
EB_MUST eb_error eb_probes_run(const eb_paper *paper, const eb_paper_choice *choice,
                               const char *from, const char *folder, bool resume,
                               bool *interrupted);
/* The result of a probe, or NULL when there is none. The caller releases it. */
EB_MUST eb_error eb_probe_load(const eb_paper *paper, const char *folder, const char *id,
                               json_t **out);

#endif
