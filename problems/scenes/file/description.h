/* A scene file beside values of its parameters: what building a scene from it walks through. Inside
 * this folder. */
#ifndef EB_SCENES_FILE_DESCRIPTION_H
#define EB_SCENES_FILE_DESCRIPTION_H

#include "problems/notation/sections.h"
#include "problems/scenes/common.h"
#include "problems/scenes/file/formula.h"
#include "problems/scenes/file/scene_file.h"

/* A group of nodes as its section has it. */
typedef struct eb_described_group {
  const eb_section *section;
  int grip;               /* of scene->script.grips */
  bool held, moves;       /* scripted at all; otherwise than at rest */
  eb_formula path, about; /* m, by t; a point, count 0: the middle */
  int axis;               /* that it turns about; -1: none */
  eb_formula angle;       /* rad, by t */
  int second_axis;        /* a turn after that one; -1: none */
  eb_formula second_angle;
  double until;         /* s: when it is let go */
  eb_formula pull;      /* springs: N/m a node, by t; count 0: held, not pulled */
  int32_t first_spring; /* of scene->script.spring_node */
} eb_described_group;

/* What moves a collider or an obstacle: handed to its motion as `script`. */
typedef struct eb_described_motion {
  const struct eb_description *description;
  eb_formula path; /* count 0: none */
  int axis;        /* -1: it does not turn */
  eb_formula angle;
} eb_described_motion;

typedef struct eb_description {
  const eb_scene_ops *ops;
  const eb_values *values;
  eb_sections sections;
  eb_definition *definitions;
  int definition_count;
  /* of the scene, for scripts */
  double lo[3], hi[3]; /* the mesh's bounds at rest, m */
  eb_scene *scene;     /* NULL before setup */
  eb_described_group *groups;
  int group_count;
  eb_formula load[EB_MAX_LOADS]; /* magnitude by t */
  eb_described_motion *motions[EB_MAX_COLLIDERS + EB_MAX_OBSTACLES];
  int motion_count;
} eb_description;

EB_MUST eb_error eb_description_open(const eb_scene_ops *ops, const eb_values *values,
                                     eb_description **out);
void eb_description_close(eb_description *description);

/* The sections of a kind in turn: *at is 0 at first. NULL behind the last. */
const eb_section *eb_description_next(const eb_description *description, const char *kind, int *at);
bool eb_description_has(const eb_description *description, const char *kind);

/* The name of the body where there is one, else NULL. */
const char *eb_description_only_body(const eb_description *description);
/* Names of parameters and definitions alone. */
eb_names eb_description_names(const eb_description *description);

/* The values of a key of a section, `count` between commas; errors are located. *given, which may
 * be NULL, says whether it is there; where it is not, `value` is left as it is, or with
 * `given` NULL is EB_ERR_FORMAT. */
EB_MUST eb_error eb_described_values(const eb_names *names, const eb_section *section,
                                     const char *key, int count, double *value, bool *given);
/* Whether a key is `yes`; not where it is `no`, or not there. EB_ERR_FORMAT for other words. */
EB_MUST eb_error eb_described_flag(const eb_section *section, const char *key, bool *out);
/* The formula of a key, count 0 where it is not there. The caller clears *out. */
EB_MUST eb_error eb_described_formula(const eb_section *section, const char *key, int count,
                                      eb_formula *out);
/* A key's first word that is one of `words`, NULL at their end; -1 where the key is not there. */
EB_MUST eb_error eb_described_choice(const eb_section *section, const char *key,
                                     const char *const *words, int *out);
/* "axis, angle": the axis and the formula behind it; -1 where the key is not there. The caller
 * clears *angle. */
EB_MUST eb_error eb_described_turn(const eb_section *section, const char *key, int *axis,
                                   eb_formula *angle);

/* The entries `move` and `turn` of a section in their order, over points (count x 3, m), which
 * follow from them: turns that follow each other are one rotation. */
EB_MUST eb_error eb_described_place(const eb_names *names, const eb_section *section, double *x,
                                    size_t count);

/* An eb_names' bounds and is_in of one mesh. */
typedef struct eb_mesh_names {
  const eb_mesh *mesh;
  const eb_mesh *others; /* bodies made before, whose bounds may be asked for; or NULL */
  const eb_scene *scene; /* its groups have names too; or NULL */
  const double *lo, *hi; /* of the whole mesh where several processes share it; or NULL */
  int32_t node, element; /* that is looked at; -1: none */
} eb_mesh_names;
bool eb_mesh_named_bounds(const void *context, const char *name, double lo[3], double hi[3]);
int eb_mesh_named_in(const void *context, const char *name);

/* Parts of setup. */
EB_MUST eb_error eb_described_regions(const eb_description *description, eb_mesh *mesh);
EB_MUST eb_error eb_described_materials(const eb_description *description, eb_scene *scene);
EB_MUST eb_error eb_described_groups(eb_description *description, eb_scene *scene);
EB_MUST eb_error eb_described_start(const eb_description *description, eb_scene *scene);
EB_MUST eb_error eb_described_loads(eb_description *description, eb_scene *scene);
EB_MUST eb_error eb_described_contacts(eb_description *description, eb_scene *scene);
/* After contacts. */
EB_MUST eb_error eb_described_friction(const eb_description *description, eb_scene *scene);
EB_MUST eb_error eb_described_joints(const eb_description *description, eb_scene *scene);
EB_MUST eb_error eb_described_clusters(const eb_description *description, eb_scene *scene);

#endif
