#include "harness/cli/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "problems/base/memory.h"

static const char *const keys[] = {"holds", "given", "paper", "ours", "table", "figure"};
enum { KEYS = sizeof keys / sizeof *keys };

/* The names in [names] that a claim's expressions use: into `out`, or without it as lines. */
static eb_error show_names(const eb_paper *paper, const eb_paper_claim *claim, json_t *out) {
  bool *used;
  EB_TRY(EB_NEW(used, paper->definitions.count));
  for (int i = 0; i < claim->section->count; i++)
    for (int k = 0; k < KEYS; k++)
      if (strcmp(claim->section->entries[i].key, keys[k]) == 0)
        eb_definitions_mark(&paper->definitions, claim->section->entries[i].value, used);
  for (int d = 0; d < paper->definitions.count; d++) {
    const eb_entry *entry = paper->definitions.items[d].entry;
    if (used[d] && out)
      json_object_set_new(out, entry->key, json_string(entry->value));
    else if (used[d])
      eb_print(stdout, "  %-7s %s = %s\n", "name", entry->key, entry->value);
  }
  free(used);
  return EB_OK;
}

eb_error eb_claim_json(const eb_paper *paper, const eb_paper_claim *claim, json_t **json) {
  char name[200];
  snprintf(name, sizeof name, "%s/%s", paper->name, claim->id);
  json_t *out = *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i}", "name", name, "summary",
                                  claim->text, "where", claim->where, "source", claim->source,
                                  "file", claim->section->path, "line", claim->section->line);
  for (int k = 0; k < KEYS; k++) {
    json_t *values = json_array();
    const char *value;
    for (int at = 0; (value = eb_section_next(claim->section, keys[k], &at));)
      json_array_append_new(values, json_string(value));
    json_object_set_new(out, keys[k], values);
  }
  json_t *names = json_object();
  json_object_set_new(out, "names", names);
  eb_error error = out && names ? show_names(paper, claim, names)
                                : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  if (error) json_decref(out);
  return error;
}

eb_error eb_claim_print(const eb_paper *paper, const eb_paper_claim *claim) {
  eb_print(stdout, "%s/%s (%s)\n  %s\n", paper->name, claim->id, claim->where, claim->text);
  for (int i = 0; i < claim->section->count; i++)
    for (int k = 0; k < KEYS; k++)
      if (strcmp(claim->section->entries[i].key, keys[k]) == 0)
        eb_print(stdout, "  %-7s %s\n", keys[k], claim->section->entries[i].value);
  EB_TRY(show_names(paper, claim, NULL));
  if (*claim->source) eb_print(stdout, "  %-7s %s\n", "source", claim->source);
  if (*claim->note) eb_print(stdout, "  %-7s %s\n", "note", claim->note);
  eb_print(stdout, "  %-7s %s:%d\n", "file", claim->section->path, claim->section->line);
  return EB_OK;
}

eb_error eb_claim_find(const char *name, eb_paper **paper, const eb_paper_claim **claim) {
  char id[100];
  eb_strings names = {0};
  size_t length = strcspn(name, "/");
  bool built_in = false;
  *paper = NULL;
  *claim = NULL;
  snprintf(id, sizeof id, "%.*s", (int)length, name);
  eb_error error = eb_paper_names(&names);
  for (int i = 0; i < names.count; i++) built_in = built_in || strcmp(names.items[i], id) == 0;
  eb_strings_clear(&names);
  if (error || !built_in || !name[length]) return error;
  EB_TRY(eb_paper_load(id, NULL, false, paper));
  for (int c = 0; c < (*paper)->claim_count; c++)
    if (strcmp((*paper)->claims[c].id, name + length + 1) == 0) *claim = &(*paper)->claims[c];
  if (*claim) return EB_OK;
  eb_paper_destroy(*paper);
  *paper = NULL;
  return EB_OK;
}
