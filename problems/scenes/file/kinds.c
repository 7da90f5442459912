#include "problems/scenes/file/kinds.h"

#define KEY(name_)                                                                                 \
  { .name = name_, .type = EB_KEY_OTHER }
#define LAST                                                                                       \
  { .name = NULL }

static const eb_key scene[] = {KEY("title"),    KEY("default"),  KEY("source"),   KEY("geometry"),
                               KEY("steps"),    KEY("frame"),    KEY("dt"),       KEY("gravity"),
                               KEY("down"),     KEY("E"),        KEY("nu"),       KEY("rho"),
                               KEY("material"), KEY("nodes"),    KEY("elements"), KEY("tolerance"),
                               KEY("small"),    KEY("renumber"), KEY("mirror"),   LAST};

static const eb_key body[] = {KEY("shape"),    KEY("size"),      KEY("cubes"),     KEY("corner"),
                              KEY("cell"),     KEY("a_cube"),    KEY("jitter"),    KEY("around"),
                              KEY("radius"),   KEY("length"),    KEY("section"),   KEY("outline"),
                              KEY("elements"), KEY("nodes"),     KEY("model"),     KEY("file"),
                              KEY("unit"),     KEY("up"),        KEY("scale"),     KEY("reshape"),
                              KEY("keep"),     KEY("weld"),      KEY("move"),      KEY("turn"),
                              KEY("copies"),   KEY("then_move"), KEY("clearance"), LAST};

static const eb_key material[] = {KEY("of"),
                                  KEY("where"),
                                  KEY("may_be_empty"),
                                  KEY("kind"),
                                  KEY("E"),
                                  KEY("nu"),
                                  KEY("mu"),
                                  KEY("lambda"),
                                  KEY("rho"),
                                  KEY("fibre"),
                                  KEY("direction"),
                                  KEY("fibre_stiffness"),
                                  KEY("fibre_exponent"),
                                  KEY("activation"),
                                  KEY("thickness"),
                                  KEY("integration"),
                                  KEY("hourglass"),
                                  KEY("rigid"),
                                  LAST};

static const eb_key group[] = {
    KEY("where"), KEY("end"),  KEY("box"),    KEY("band"),        KEY("set"),
    KEY("hold"),  KEY("path"), KEY("rotate"), KEY("then_rotate"), KEY("about"),
    KEY("until"), KEY("pull"), LAST};

static const eb_key start[] = {KEY("move"),  KEY("turn"),     KEY("floor"), KEY("place"),
                               KEY("where"), KEY("velocity"), KEY("spin"),  LAST};

static const eb_key load[] = {KEY("on"),       KEY("where"), KEY("force"), KEY("traction"),
                              KEY("pressure"), KEY("times"), LAST};

static const eb_key links[] = {KEY("edges"), KEY("elements"), LAST};

static const eb_key collider[] = {KEY("shape"),  KEY("origin"),    KEY("axis"),
                                  KEY("radius"), KEY("length"),    KEY("friction"),
                                  KEY("margin"), KEY("stiffness"), KEY("damping"),
                                  KEY("grip"),   KEY("implicit"),  KEY("isotropy"),
                                  KEY("path"),   KEY("rotate"),    KEY("size"),
                                  KEY("file"),   KEY("unit"),      KEY("up"),
                                  KEY("move"),   KEY("turn"),      LAST};

static const eb_key obstacle[] = {KEY("shape"),  KEY("size"),   KEY("wall"), KEY("radius"),
                                  KEY("length"), KEY("around"), KEY("rows"), KEY("file"),
                                  KEY("unit"),   KEY("up"),     KEY("move"), KEY("turn"),
                                  KEY("path"),   KEY("rotate"), LAST};

static const eb_key contact[] = {
    KEY("by"),    KEY("friction"), KEY("gap"),  KEY("near"),  KEY("distance"),
    KEY("reach"), KEY("momentum"), KEY("cone"), KEY("angle"), KEY("normal"),
    LAST};

static const eb_key friction[] = {KEY("pair"), LAST};

static const eb_key joint[] = {
    KEY("parent"),  KEY("pivot"),  KEY("tip"),     KEY("axis"),
    KEY("mass"),    KEY("radius"), KEY("limits"),  KEY("limit_stiffness"),
    KEY("damping"), KEY("angle"),  KEY("carries"), LAST};

static const eb_key dynamic[] = {KEY("count"), KEY("place"), LAST};

const eb_described_kind eb_described_kinds[] = {
    {"scene", false, scene},       {"parameters", false, NULL},
    {"let", false, NULL},          {"body", true, body},
    {"material", true, material},  {"group", true, group},
    {"start", false, start},       {"load", true, load},
    {"links", false, links},       {"collider", true, collider},
    {"obstacle", true, obstacle},  {"contact", false, contact},
    {"friction", false, friction}, {"joint", true, joint},
    {"dynamic", false, dynamic},   {NULL, false, NULL}};
