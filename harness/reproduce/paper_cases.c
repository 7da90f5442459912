#include "harness/names.h"
#include "harness/reproduce/paper_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/base/memory.h"
#include "problems/scene_impl.h"
#include "problems/base/text.h"

/* What the cases of a section share. */
typedef struct settings {
  int64_t frames, quick, repeat, quick_repeat, threads;
  double timeout, quick_timeout, memory, seconds, quick_seconds;
  bool may_fail;
  const char *quick_scene; /* owned by the paper */
  eb_paper_ties ties, quick_ties;
} settings;

static const char *const tie_names[EB_PAPER_TIES] = {"from", "stride", "samples", "sweep",
                                                     "checkpoints"};

eb_error eb_paper_ties_read(const eb_paper_ties ties, eb_ties *out) {
  bool known;
  *out = (eb_ties){0};
  for (int k = 0; k < EB_PAPER_TIES; k++)
    if (ties[k]) EB_TRY(eb_ties_set(out, tie_names[k], ties[k], &known));
  return eb_ties_finish(out);
}

/* Whether `key` is a tie, perhaps of quick runs alone; then it is kept. */
static bool keep_tie(settings *s, const char *key, const char *value) {
  static const char prefix[] = "quick-";
  bool quick = strncmp(key, prefix, strlen(prefix)) == 0;
  const char *name = quick ? key + strlen(prefix) : key;
  for (int k = 0; k < EB_PAPER_TIES; k++) {
    if (strcmp(tie_names[k], name) != 0) continue;
    (quick ? s->quick_ties : s->ties)[k] = value;
    return true;
  }
  return false;
}

static eb_error read_yes(const char *name, const char *value, bool *out) {
  *out = strcmp(value, "yes") == 0;
  if (*out || strcmp(value, "no") == 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "%s is yes or no, not '%s'", name, value);
}

/* Sets what `key` names; *known is false when it is no setting: then it is a case. */
static eb_error set(settings *s, const char *key, const char *value, bool *known) {
  const struct {
    const char *name;
    int64_t *whole;
    double *real;
    int64_t most;
  } all[] = {{"frames", &s->frames, NULL, 1000000000},
             {"quick", &s->quick, NULL, 1000000000},
             {"repeat", &s->repeat, NULL, 1000},
             {"quick-repeat", &s->quick_repeat, NULL, 1000},
             {"threads", &s->threads, NULL, 1024},
             {"timeout", NULL, &s->timeout, 0},
             {"quick-timeout", NULL, &s->quick_timeout, 0},
             {"memory", NULL, &s->memory, 0},
             {"seconds", NULL, &s->seconds, 0},
             {"quick-seconds", NULL, &s->quick_seconds, 0}};
  *known = true;
  if (strcmp(key, "quick-frames") == 0) key = "quick";
  if (keep_tie(s, key, value)) return EB_OK;
  if (strcmp(key, "may-fail") == 0) return read_yes(key, value, &s->may_fail);
  if (strcmp(key, "quick-scene") == 0) {
    s->quick_scene = value;
    return EB_OK;
  }
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(key, all[i].name) != 0) continue;
    /* Of frames and seconds the later one counts, and an inherited one least. */
    if (strcmp(key, "frames") == 0) s->seconds = s->quick_seconds = 0;
    if (strcmp(key, "seconds") == 0) s->frames = s->quick = 0;
    return all[i].whole ? eb_parse_whole(key, value, 1, all[i].most, all[i].whole)
                        : eb_parse_real(key, value, 1e-3, 1e9, all[i].real);
  }
  *known = false;
  return EB_OK;
}

/* The same of a text that the paper then keeps. */
static eb_error set_kept(eb_paper *paper, settings *s, const char *key, const char *value,
                         bool *known) {
  EB_TRY(eb_strings_add(&paper->texts, value));
  return set(s, key, paper->texts.items[paper->texts.count - 1], known);
}

/* "VALUE", or "VALUE | THAT OF QUICK RUNS". */
static eb_error set_both(eb_paper *paper, settings *s, const char *key, const char *value,
                         bool *known) {
  char quick_key[60], *part;
  const char *rest = value;
  EB_TRY(eb_part_next(&rest, &part));
  eb_error error = set_kept(paper, s, key, part, known);
  free(part);
  if (error || !*known || !rest) return error;
  snprintf(quick_key, sizeof quick_key, "quick-%s", key);
  return set_kept(paper, s, quick_key, rest + strspn(rest, " "), known);
}

static eb_error unknown_setting(const char *name) {
  static const char *const all[] = {"frames",  "seconds",  "repeat",      "threads", "timeout",
                                    "memory",  "may-fail", "quick-scene", "from",    "stride",
                                    "samples", "sweep",    "checkpoints"};
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (size_t i = 0; i < sizeof all / sizeof *all && !error; i++)
    error = eb_strings_add(&names, all[i]);
  if (!error) error = eb_unknown_name("setting of cases", name, &names);
  eb_strings_clear(&names);
  return error;
}

/* "KEY VALUE, KEY VALUE | QUICK, .." */
static eb_error set_several(eb_paper *paper, settings *s, const char *list) {
  while (*(list += strspn(list, ", "))) {
    const char *end = strstr(list, ", ");
    size_t length = end ? (size_t)(end - list) : strlen(list), key = strcspn(list, " ,");
    bool known = false;
    char *name = strndup(list, key < length ? key : length),
         *value =
             strndup(list + (key < length ? key + 1 : length), key < length ? length - key - 1 : 0);
    eb_error error = name && value ? set_both(paper, s, name, value, &known)
                                   : EB_ERROR(EB_ERR_MEMORY, "cannot keep a setting");
    if (!error && !known) error = unknown_setting(name);
    free(name);
    free(value);
    EB_TRY(error);
    list += length;
  }
  return EB_OK;
}

static eb_error check_name(const eb_paper *paper, const char *name) {
  if (strpbrk(name, " ./<*,:={}()") || !isalpha((unsigned char)*name))
    return EB_ERROR(EB_ERR_FORMAT,
                    "'%s' is no name for a case: it begins with a letter and holds "
                    "letters, digits and dashes",
                    name);
  if (eb_paper_case_find(paper, name, strlen(name)) < 0) return EB_OK;
  return EB_ERROR(EB_ERR_FORMAT, "there are two cases '%s'", name);
}

static eb_error unknown_label(const eb_section *solvers, const char *label) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int i = 0; i < solvers->count && !error; i++)
    error = eb_strings_add(&names, solvers->entries[i].key);
  if (!error) error = eb_unknown_name("label in [solvers]", label, &names);
  eb_strings_clear(&names);
  return error;
}

/* "SCENE LABEL [THREADS]" */
static eb_error read_words(const eb_paper *paper, const eb_strings *words, eb_paper_case *out) {
  const char *solver = eb_section_value(&paper->solvers, words->items[1]);
  if (!solver) return unknown_label(&paper->solvers, words->items[1]);
  if (words->count == 3) EB_TRY(eb_parse_whole("threads", words->items[2], 1, 1024, &out->threads));
  out->scene = strdup(words->items[0]);
  out->solver = strdup(solver);
  return out->scene && out->solver ? EB_OK : EB_ERROR(EB_ERR_MEMORY, "cannot keep a case");
}

static eb_error read_work(const eb_paper *paper, const char *value, eb_paper_case *out) {
  eb_strings words = {0};
  eb_error error = eb_words(value, " ", &words);
  if (!error && (words.count < 2 || words.count > 3))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' is not 'SCENE[:p=v,..] SOLVER-LABEL [THREADS]'", value);
  if (!error) error = read_words(paper, &words, out);
  eb_strings_clear(&words);
  return error;
}

/* Frames that a simulated time takes on a scene with its parameters; 1 where this build lacks it,
 * which planning says. */
static eb_error frames_in(const char *spec, double seconds, int64_t *frames) {
  char *name, *assignments;
  eb_values *values = NULL;
  *frames = 1;
  EB_TRY(eb_split_spec(spec, &name, &assignments));
  const eb_scene_ops *ops = eb_scene_find(name);
  eb_error error = ops ? eb_values_create(name, ops->parameters, assignments, &values) : EB_OK;
  if (values) {
    int64_t a_frame = ops->steps_per_frame > 0 ? ops->steps_per_frame : 1;
    *frames = llround(ceil(seconds / (eb_values_real(values, "dt") * (double)a_frame) - 1e-6));
  }
  eb_values_destroy(values);
  free(name);
  free(assignments);
  if (error && eb_error_kind(error) != EB_ERR_USAGE) return error;
  eb_error_free(error);
  return EB_OK;
}

static bool assigns(const eb_strings *assignments, const char *like) {
  size_t length = strcspn(like, "=") + 1;
  for (int a = 0; a < assignments->count; a++)
    if (strncmp(assignments->items[a], like, length) == 0) return true;
  return false;
}

/* "SCENE:p=v,..": what `given` does not replace of the scene's own parameters, then `given`. */
static eb_error join_parameters(const char *scene, const eb_strings *own, const eb_strings *given,
                                eb_text *out) {
  char separator = ':';
  EB_TRY(eb_text_printf(out, "%s", scene));
  for (int a = 0; a < own->count + given->count; a++) {
    const char *one = a < own->count ? own->items[a] : given->items[a - own->count];
    if (a < own->count && assigns(given, one)) continue;
    EB_TRY(eb_text_printf(out, "%c%s", separator, one));
    separator = ',';
  }
  return EB_OK;
}

/* Puts parameters beside those that a case gives its scene, or in the place of those of the same
 * name. */
static eb_error reduce(const char *parameters, eb_paper_case *out) {
  eb_text text = {0};
  eb_strings own = {0}, given = {0};
  char *name, *assignments;
  EB_TRY(eb_split_spec(out->scene, &name, &assignments));
  eb_error error = assignments ? eb_words(assignments, ",", &own) : EB_OK;
  if (!error) error = eb_words(parameters, ",", &given);
  if (!error) error = join_parameters(name, &own, &given, &text);
  eb_strings_clear(&own);
  eb_strings_clear(&given);
  free(name);
  free(assignments);
  if (error) {
    eb_text_clear(&text);
    return error;
  }
  free(out->scene);
  out->scene = text.data;
  out->reduced = parameters;
  return EB_OK;
}

/* How many samples there are; 0 for what is none. */
static eb_error count_samples(const eb_paper_ties ties, int64_t *out) {
  eb_ties read;
  eb_error error = eb_paper_ties_read(ties, &read);
  if (!error && read.file)
    error = EB_ERROR(EB_ERR_FORMAT, "from: '%s' is a file, and a paper's cases start from its own",
                     read.file);
  *out = !error && read.tied && !read.single ? eb_range_count(read.steps) : 0;
  eb_ties_clear(&read);
  return error;
}

/* Ties of both kinds of runs are read, so that a mistake in either is found at once. */
static eb_error tie(const settings *s, bool quick, eb_paper_case *out) {
  eb_paper_ties fewer;
  int64_t all_samples, samples;
  for (int k = 0; k < EB_PAPER_TIES; k++)
    fewer[k] = s->quick_ties[k] ? s->quick_ties[k] : s->ties[k];
  memcpy(out->ties, quick ? fewer : s->ties, sizeof out->ties);
  EB_TRY(count_samples(s->ties, &all_samples));
  EB_TRY(eb_error_prefix(count_samples(fewer, &samples), "quick"));
  out->samples = (quick ? samples : all_samples) > 0;
  if (!out->samples) return EB_OK;
  out->all_frames = all_samples;
  out->frames = quick ? samples : all_samples;
  return EB_OK;
}

static eb_error apply(const settings *s, bool quick, eb_paper_case *out) {
  int64_t all = s->frames, fewer = s->quick;
  if (quick && s->quick_scene) EB_TRY(reduce(s->quick_scene, out));
  if (s->seconds > 0) EB_TRY(frames_in(out->scene, s->seconds, &all));
  if (s->quick_seconds > 0) EB_TRY(frames_in(out->scene, s->quick_seconds, &fewer));
  out->all_frames = all;
  out->frames = quick && fewer && fewer < all ? fewer : all;
  out->repeat = quick && s->quick_repeat ? s->quick_repeat : s->repeat;
  out->timeout = quick && s->quick_timeout > 0 ? s->quick_timeout : s->timeout;
  if (!out->threads) out->threads = s->threads;
  out->memory = s->memory;
  out->may_fail = s->may_fail;
  return tie(s, quick, out);
}

static eb_error add_case(eb_paper *paper, const char *name, const char *value, int group) {
  EB_TRY(check_name(paper, name));
  size_t count = (size_t)paper->case_count;
  eb_paper_case *grown = eb_recalloc(paper->cases, count, count + 1, sizeof *grown);
  if (!grown) return EB_ERROR(EB_ERR_MEMORY, "cannot keep %zu cases", count + 1);
  paper->cases = grown;
  eb_paper_case *added = &grown[paper->case_count++];
  added->group = group;
  added->donor = -1;
  added->name = strdup(name);
  if (!added->name) return EB_ERROR(EB_ERR_MEMORY, "cannot keep a case");
  return read_work(paper, value, added);
}

/* Where the cases of a section go. */
typedef struct gathering {
  eb_paper *paper;
  int group;
} gathering;

static eb_error add_visited(void *context, const eb_entry *entry) {
  gathering *g = context;
  return add_case(g->paper, entry->key, entry->value, g->group);
}

static eb_error read_section(eb_paper *paper, const settings *inherited, int group, settings *s) {
  const eb_section *section = &paper->sections.items[group];
  gathering cases = {paper, group};
  int first = paper->case_count;
  *s = *inherited;
  EB_TRY(eb_section_locate(section, NULL, set_several(paper, s, section->text)));
  for (int e = 0; e < section->count; e++) {
    bool known = true;
    const eb_entry *entry = &section->entries[e];
    eb_error error = strcmp(entry->key, "settings") == 0
                         ? set_several(paper, s, entry->value)
                         : set_both(paper, s, entry->key, entry->value, &known);
    if (!error && !known) error = eb_entry_unroll(entry, add_visited, &cases);
    EB_TRY(eb_section_locate(section, entry, error));
  }
  bool counted = s->frames || s->seconds > 0 || s->ties[EB_TIE_FROM] || s->ties[EB_TIE_SWEEP] ||
                 first == paper->case_count;
  eb_error error = counted ? EB_OK : EB_ERROR(EB_ERR_FORMAT, "'frames' is missing");
  for (int c = first; c < paper->case_count && !error; c++)
    error = apply(s, paper->quick, &paper->cases[c]);
  return eb_section_locate(section, NULL, error);
}

static eb_error unknown_donor(const eb_paper *paper, const char *name) {
  eb_strings names = {0};
  eb_error error = EB_OK;
  for (int c = 0; c < paper->case_count && !error; c++)
    error = eb_strings_add(&names, paper->cases[c].name);
  if (!error) error = eb_error_prefix(eb_unknown_name("case", name, &names), "from");
  eb_strings_clear(&names);
  return error;
}

static eb_error find_donor(const eb_paper *paper, eb_paper_case *work) {
  eb_ties ties;
  eb_error error = eb_paper_ties_read(work->ties, &ties);
  if (!error && ties.tied) {
    work->donor = eb_paper_case_find(paper, ties.donor, strlen(ties.donor));
    if (work->donor < 0) error = unknown_donor(paper, ties.donor);
  }
  eb_ties_clear(&ties);
  return error;
}

/* Whoever comes back to no beginning is in a circle, or starts from one. */
static eb_error check_circle(const eb_paper *paper, int of) {
  int at = of;
  for (int i = 0; i < paper->case_count && at >= 0; i++) at = paper->cases[at].donor;
  return at < 0 ? EB_OK
                : EB_ERROR(EB_ERR_FORMAT, "from: '%s' starts from cases that start from each other",
                           paper->cases[of].name);
}

static eb_error link_cases(eb_paper *paper) {
  for (int c = 0; c < paper->case_count; c++)
    EB_TRY(eb_section_locate(&paper->sections.items[paper->cases[c].group], NULL,
                             find_donor(paper, &paper->cases[c])));
  for (int c = 0; c < paper->case_count; c++)
    EB_TRY(eb_section_locate(&paper->sections.items[paper->cases[c].group], NULL,
                             check_circle(paper, c)));
  return EB_OK;
}

/* [cases] without a label comes first: what it sets holds for the other sections too. */
eb_error eb_paper_read_cases(eb_paper *paper) {
  settings common = {.repeat = 1, .threads = 1}, own;
  const eb_section *solvers = eb_sections_find(&paper->sections, "solvers", "");
  EB_TRY(eb_section_unroll(solvers, &paper->solvers));
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < paper->sections.count; i++) {
      const eb_section *section = &paper->sections.items[i];
      if (strcmp(section->kind, "cases") != 0 || !*section->label != (pass == 0)) continue;
      EB_TRY(read_section(paper, &common, i, &own));
      if (pass == 0) common = own;
    }
  return link_cases(paper);
}

void eb_paper_clear_cases(eb_paper *paper) {
  eb_section_clear(&paper->solvers);
  for (int c = 0; c < paper->case_count; c++) {
    free(paper->cases[c].name);
    free(paper->cases[c].scene);
    free(paper->cases[c].solver);
  }
  free(paper->cases);
}
