#include "harness/cli/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/print.h"
#include "problems/base/memory.h"

static const char *const keys[] = {"holds", "given", "paper", "ours", "table", "figure"};
enum { KEYS = sizeof keys / sizeof *keys };

/* Marks the names in [names] that a claim's expressions use. The caller frees *used, an entry
 * for each definition. */
static eb_error mark_names(const eb_paper *paper, const eb_paper_claim *claim, bool **used) {
  EB_TRY(EB_NEW(*used, paper->definitions.count));
  for (int i = 0; i < claim->section->count; i++)
    for (int k = 0; k < KEYS; k++)
      if (strcmp(claim->section->entries[i].key, keys[k]) == 0)
        eb_definitions_mark(&paper->definitions, claim->section->entries[i].value, *used);
  return EB_OK;
}

static eb_error add_names(const eb_paper *paper, const eb_paper_claim *claim, json_t *out) {
  bool *used;
  json_t *names = json_object();
  json_object_set_new(out, "names", names);
  EB_TRY(mark_names(paper, claim, &used));
  for (int d = 0; d < paper->definitions.count; d++) {
    const eb_entry *entry = paper->definitions.items[d].entry;
    if (used[d]) json_object_set_new(names, entry->key, json_string(entry->value));
  }
  free(used);
  return EB_OK;
}

static eb_error print_names(const eb_paper *paper, const eb_paper_claim *claim) {
  bool *used;
  EB_TRY(mark_names(paper, claim, &used));
  for (int d = 0; d < paper->definitions.count; d++) {
    const eb_entry *entry = paper->definitions.items[d].entry;
    if (used[d]) eb_print(stdout, "  %-7s %s = %s\n", "name", entry->key, entry->value);
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
  eb_error error =
      out ? add_names(paper, claim, out) : EB_ERROR(EB_ERR_MEMORY, "cannot build the JSON text");
  if (error) json_decref(out);
  return error;
}

eb_error eb_claim_print(const eb_paper *paper, const eb_paper_claim *claim) {
  eb_print(stdout, "%s/%s (%s)\n  %s\n", paper->name, claim->id, claim->where, claim->text);
  for (int i = 0; i < claim->section->count; i++)
    for (int k = 0; k < KEYS; k++)
      if (strcmp(claim->section->entries[i].key, keys[k]) == 0)
        eb_print(stdout, "  %-7s %s\n", keys[k], claim->section->entries[i].value);
  EB_TRY(print_names(paper, claim));
  if (*claim->source) eb_print(stdout, "  %-7s %s\n", "source", claim->source);
  if (*claim->note) eb_print(stdout, "  %-7s %s\n", "note", claim->note);
  eb_print(stdout, "  %-7s %s:%d\n", "file", claim->section->path, claim->section->line);
  return EB_OK;
}

static bool is_paper(const eb_strings *names, const char *name, size_t length) {
  for (int i = 0; i < names->count; i++)
    if (strlen(names->items[i]) == length && strncmp(names->items[i], name, length) == 0)
      return true;
  return false;
}

static eb_error find_in(const char *name, size_t length, eb_paper **paper,
                        const eb_paper_claim **claim) {
  char id[100];
  snprintf(id, sizeof id, "%.*s", (int)length, name);
  EB_TRY(eb_paper_load(id, NULL, false, paper));
  for (int c = 0; c < (*paper)->claim_count; c++)
    if (strcmp((*paper)->claims[c].id, name + length + 1) == 0) *claim = &(*paper)->claims[c];
  if (*claim) return EB_OK;
  eb_paper_destroy(*paper);
  *paper = NULL;
  return EB_OK;
}

eb_error eb_claim_find(const char *name, eb_paper **paper, const eb_paper_claim **claim) {
  eb_strings names = {0};
  size_t length = strcspn(name, "/");
  *paper = NULL;
  *claim = NULL;
  eb_error error = eb_paper_names(&names);
  bool built_in = !error && name[length] && is_paper(&names, name, length);
  eb_strings_clear(&names);
  return built_in ? find_in(name, length, paper, claim) : error;
}
