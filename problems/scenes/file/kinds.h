/* The sections of scene files and the keys that each may have. */
#ifndef EB_SCENES_FILE_KINDS_H
#define EB_SCENES_FILE_KINDS_H

#include "problems/notation/sections.h"

typedef struct eb_described_kind {
  const char *name;
  bool labelled;      /* [body NAME] */
  const eb_key *keys; /* NULL: any, they are names */
} eb_described_kind;

/* Ended by a NULL name. */
extern const eb_described_kind eb_described_kinds[];

#endif
