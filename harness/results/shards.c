/* What a result file says of the plan that it is part of, and what that leaves to do. */
#include "harness/results/shards.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/table.h"
#include "problems/base/strings.h"
#include "problems/base/memory.h"

/* ---- entries --------------------------------------------------------------------------------- */

eb_error eb_shardings_of(eb_shardings *all, uint64_t plan, int64_t shards, int64_t wanted,
                         eb_sharding **out) {
  for (int i = 0; i < all->count; i++) {
    *out = &all->items[i];
    if ((*out)->plan == plan && (*out)->shards == shards) return EB_OK;
  }
  EB_TRY(EB_APPEND(all->items, all->count));
  *out = &all->items[all->count - 1];
  **out = (eb_sharding){.plan = plan, .shards = shards, .wanted = wanted};
  return EB_OK;
}

/* The place of the first row with that number or a greater one. */
static int find_row(const eb_sharding *s, int64_t number) {
  int low = 0, high = s->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (s->rows[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

eb_error eb_sharding_enter(eb_sharding *s, int64_t number, int64_t wanted, int64_t done,
                           const char *command_line, bool replace) {
  int at = find_row(s, number);
  bool there = at < s->count && s->rows[at].number == number;
  if (there && !replace && s->rows[at].done > done) return EB_OK;
  char *copy = strdup(command_line);
  if (!copy) return EB_ERROR(EB_ERR_MEMORY, "cannot keep the command line of a shard");
  eb_error error = there ? EB_OK : EB_APPEND(s->rows, s->count);
  if (error) {
    free(copy);
    return error;
  }
  eb_shard *here = &s->rows[at];
  if (there)
    free(here->command_line);
  else
    memmove(here + 1, here, (size_t)(s->count - 1 - at) * sizeof *here);
  *here = (eb_shard){number, wanted, done, copy};
  return EB_OK;
}

eb_error eb_shardings_add(eb_shardings *all, const eb_shardings *others) {
  for (const eb_sharding *s = others->items; s < others->items + others->count; s++) {
    eb_sharding *entry;
    EB_TRY(eb_shardings_of(all, s->plan, s->shards, s->wanted, &entry));
    for (const eb_shard *row = s->rows; row < s->rows + s->count; row++)
      EB_TRY(
          eb_sharding_enter(entry, row->number, row->wanted, row->done, row->command_line, false));
  }
  return EB_OK;
}

bool eb_sharding_complete(const eb_sharding *s) {
  bool complete = s->count == s->shards;
  for (int i = 0; i < s->count; i++) complete = complete && s->rows[i].done >= s->rows[i].wanted;
  return complete;
}

static void clear(eb_sharding *s) {
  for (int i = 0; i < s->count; i++) free(s->rows[i].command_line);
  free(s->rows);
  *s = (eb_sharding){0};
}

/* Leaves of a complete entry the first row, as the whole. */
static void join_rows(eb_sharding *s) {
  for (int i = 1; i < s->count; i++) free(s->rows[i].command_line);
  s->rows[0].number = s->shards = s->count = 1;
  s->rows[0].wanted = s->rows[0].done = s->wanted;
}

eb_error eb_shardings_settle(eb_shardings *all) {
  for (int i = 0; i < all->count; i++) {
    eb_sharding *whole = &all->items[i];
    if (whole->count == 0 || !eb_sharding_complete(whole)) continue;
    uint64_t plan = whole->plan;
    join_rows(whole);
    int kept = 0;
    for (int k = 0; k < all->count; k++)
      if (k == i || all->items[k].plan != plan)
        all->items[kept++] = all->items[k];
      else
        clear(&all->items[k]);
    if (kept < all->count) i = -1; /* places are others now: anew, what is settled stays so */
    all->count = kept;
  }
  return EB_OK;
}

void eb_shardings_clear(eb_shardings *all) {
  for (int i = 0; i < all->count; i++) clear(&all->items[i]);
  free(all->items);
  *all = (eb_shardings){0};
}

void eb_shardings_forget(eb_shardings *all, uint64_t plan) {
  int kept = 0;
  for (int i = 0; i < all->count; i++) {
    eb_sharding *s = &all->items[i];
    bool ended = false;
    for (int k = 0; k < s->count; k++) ended = ended || s->rows[k].done < s->rows[k].wanted;
    if (ended && s->plan != plan)
      clear(s);
    else
      all->items[kept++] = *s;
  }
  all->count = kept;
}

/* ---- in a file ------------------------------------------------------------------------------- */

static const char GROUP[] = "plans", COMMAND[] = "command_line";

static const eb_quantity columns[] = {{"shard", "1", EB_LONG, offsetof(eb_shard, number), 1, NULL},
                                      {"wanted", "1", EB_LONG, offsetof(eb_shard, wanted), 1, NULL},
                                      {"done", "1", EB_LONG, offsetof(eb_shard, done), 1, NULL},
                                      {0}};

/* The type of texts that fill `bytes`, the 0 at the end included. */
static hid_t text_type(size_t bytes) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, bytes);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static eb_error put_commands(hid_t group, const eb_sharding *s) {
  size_t bytes = 1;
  char *texts;
  for (int i = 0; i < s->count; i++)
    if (strlen(s->rows[i].command_line) >= bytes) bytes = strlen(s->rows[i].command_line) + 1;
  EB_TRY(EB_NEW(texts, (size_t)s->count * bytes));
  for (int i = 0; i < s->count; i++)
    memcpy(texts + (size_t)i * bytes, s->rows[i].command_line, strlen(s->rows[i].command_line));
  hid_t type = text_type(bytes);
  eb_error error =
      eb_h5_put(group, COMMAND, type, type, (eb_h5_shape){1, {(hsize_t)s->count}}, "1", texts);
  H5Tclose(type);
  free(texts);
  return error;
}

enum { NAME_BYTES = 64 };

static void name_group(uint64_t plan, int64_t shards, char name[NAME_BYTES]) {
  snprintf(name, NAME_BYTES, "%016" PRIx64 ".%" PRId64, plan, shards);
}

static eb_error write_one(hid_t group, const eb_sharding *s) {
  char name[NAME_BYTES], plan[20];
  hid_t own;
  snprintf(plan, sizeof plan, "%016" PRIx64, s->plan);
  name_group(s->plan, s->shards, name);
  EB_TRY(eb_h5_group(group, name, &own));
  eb_error error = eb_h5_put_text(own, "plan", plan);
  if (!error) error = eb_h5_put_int(own, "shards", s->shards);
  if (!error) error = eb_h5_put_int(own, "wanted", s->wanted);
  if (!error) error = eb_quantities_put(own, columns, s->rows, sizeof *s->rows, (size_t)s->count);
  if (!error) error = put_commands(own, s);
  H5Gclose(own);
  return error;
}

eb_error eb_shardings_write(hid_t file, const eb_shardings *all) {
  hid_t group;
  if (eb_h5_exists(file, GROUP) && H5Ldelete(file, GROUP, H5P_DEFAULT) < 0)
    return eb_h5_error("cannot replace", GROUP);
  if (all->count == 0) return EB_OK;
  EB_TRY(eb_h5_group(file, GROUP, &group));
  eb_error error = EB_OK;
  for (int i = 0; i < all->count && !error; i++) error = write_one(group, &all->items[i]);
  H5Gclose(group);
  return error;
}

/* *bytes: of one text, the 0 at the end included. */
static eb_error get_commands(hid_t group, char **texts, size_t *bytes, size_t count) {
  enum { LONGEST = 1 << 20 };
  eb_h5_shape shape;
  void *data;
  hid_t set = H5Dopen2(group, COMMAND, H5P_DEFAULT);
  if (set < 0) return eb_h5_error("there is no dataset", COMMAND);
  hid_t stored = H5Dget_type(set);
  bool text = H5Tget_class(stored) == H5T_STRING && H5Tis_variable_str(stored) == 0;
  *bytes = text ? H5Tget_size(stored) : 0;
  H5Tclose(stored);
  H5Dclose(set);
  if (*bytes == 0 || *bytes > LONGEST)
    return EB_ERROR(EB_ERR_FORMAT, "%s is no text of a fixed length", COMMAND);
  hid_t type = text_type(*bytes);
  eb_error error = eb_h5_get(group, COMMAND, type, *bytes, &data, &shape);
  H5Tclose(type);
  EB_TRY(error);
  *texts = data;
  if (shape.rank == 1 && shape.size[0] == count) return EB_OK;
  free(data);
  return EB_ERROR(EB_ERR_FORMAT, "%s does not have %zu rows", COMMAND, count);
}

/* What a group of a shard has is sound, or EB_ERR_FORMAT. */
static eb_error enter_rows(eb_sharding *s, const eb_shard *rows, int count, char *texts,
                           size_t bytes) {
  for (int i = 0; i < count; i++) {
    texts[(size_t)(i + 1) * bytes - 1] = '\0';
    if (rows[i].number < 1 || rows[i].number > s->shards)
      return EB_ERROR(EB_ERR_FORMAT, "shard %" PRId64 " of %" PRId64, rows[i].number, s->shards);
    EB_TRY(eb_sharding_enter(s, rows[i].number, rows[i].wanted, rows[i].done,
                             texts + (size_t)i * bytes, false));
  }
  return EB_OK;
}

static eb_error read_rows(hid_t group, eb_sharding *s) {
  int32_t count = -1;
  int64_t *numbers;
  size_t bytes = 0;
  char *texts = NULL;
  eb_shard *rows;
  EB_TRY(eb_rows_get(group, columns[0].name, EB_LONG, 1, &numbers, &count));
  free(numbers);
  EB_TRY(EB_NEW(rows, count));
  eb_error error = eb_quantities_get(group, columns, rows, sizeof *rows, (size_t)count, &count);
  if (!error) error = get_commands(group, &texts, &bytes, (size_t)count);
  if (!error) {
    error = enter_rows(s, rows, count, texts, bytes);
    free(texts);
  }
  free(rows);
  return error;
}

/* The group's name says what its attributes say: a file that has been damaged shows it. */
static eb_error read_one(hid_t group, const char *name, eb_shardings *all) {
  char *plan = NULL, *end, wanted_name[NAME_BYTES];
  int64_t shards = 0, wanted = 0;
  eb_sharding *entry;
  eb_error error = eb_h5_get_text(group, "plan", &plan);
  if (!error) error = eb_h5_get_int(group, "shards", &shards);
  if (!error) error = eb_h5_get_int(group, "wanted", &wanted);
  uint64_t hash = plan ? strtoull(plan, &end, 16) : 0;
  if (!error && (!*plan || *end || shards < 1 || wanted < 0))
    error = EB_ERROR(EB_ERR_FORMAT, "'%s' in %" PRId64 " parts is no plan", plan, shards);
  name_group(hash, shards, wanted_name);
  if (!error && strcmp(name, wanted_name) != 0)
    error = EB_ERROR(EB_ERR_FORMAT, "plan '%s' says that it is %s", name, wanted_name);
  free(plan);
  EB_TRY(error);
  EB_TRY(eb_shardings_of(all, hash, shards, wanted, &entry));
  return read_rows(group, entry);
}

eb_error eb_shardings_read(hid_t file, eb_shardings *all) {
  H5G_info_t info;
  if (!eb_h5_exists(file, GROUP)) return EB_OK;
  hid_t group = H5Gopen2(file, GROUP, H5P_DEFAULT);
  eb_error error =
      group < 0 || H5Gget_info(group, &info) < 0 ? eb_h5_error("cannot read", GROUP) : EB_OK;
  for (hsize_t i = 0; !error && i < info.nlinks; i++) {
    char name[NAME_BYTES];
    hid_t own = H5Oopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
    ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                        sizeof name, H5P_DEFAULT);
    error = own < 0 || length < 0 ? eb_h5_error("cannot open", GROUP) : read_one(own, name, all);
    if (own >= 0) H5Oclose(own);
  }
  if (group >= 0) H5Gclose(group);
  return eb_error_prefix(error, "%s", GROUP);
}

/* ---- what is left to do ---------------------------------------------------------------------- */

/* Appends the name of a file with the last number in it that is `from` as `to`, in as many digits
 * at least; without one, "-to" goes before the ending. */
static eb_error put_name(const char *name, size_t length, int64_t from, int64_t to, eb_text *out) {
  size_t end = length, begin;
  for (; end > 0 && name[end - 1] != '/'; end = begin) {
    while (end > 0 && name[end - 1] != '/' && !isdigit((unsigned char)name[end - 1])) end--;
    begin = end;
    while (begin > 0 && isdigit((unsigned char)name[begin - 1])) begin--;
    if (begin == end || strtoll(name + begin, NULL, 10) != from) continue;
    EB_TRY(eb_text_append(out, name, begin));
    EB_TRY(eb_text_printf(out, "%0*" PRId64, (int)(end - begin), to));
    return eb_text_append(out, name + end, length - end);
  }
  size_t dot = length > 3 && strncmp(name + length - 3, ".h5", 3) == 0 ? length - 3 : length;
  EB_TRY(eb_text_append(out, name, dot));
  EB_TRY(eb_text_printf(out, "-%" PRId64, to));
  return eb_text_append(out, name + dot, length - dot);
}

typedef enum word { PLAIN, SHARD, OUTPUT } word;

/* What the word of a command line is, or the one behind it when *behind is set. *skip: bytes of it
 * that stand before the value. */
static word read_word(const char *text, size_t length, size_t *skip, word *behind) {
  static const struct {
    const char *flag;
    word kind;
  } flags[] = {{"--shard", SHARD}, {"--output", OUTPUT}, {"-o", OUTPUT}};
  word kind = *behind;
  *skip = 0;
  *behind = PLAIN;
  for (size_t i = 0; i < sizeof flags / sizeof *flags && kind == PLAIN; i++) {
    size_t size = strlen(flags[i].flag);
    if (strncmp(text, flags[i].flag, size) != 0) continue;
    if (length == size) *behind = flags[i].kind;
    if (length > size && text[size] == '=') {
      *skip = size + 1;
      return flags[i].kind;
    }
  }
  return kind;
}

/* Bytes of the word that a text begins with; blanks in quotes are of the word. */
static size_t word_length(const char *text) {
  size_t length = 0;
  for (bool quoted = false; text[length] && (quoted || text[length] != ' '); length++)
    quoted ^= text[length] == '\'';
  return length;
}

/* The command line of shard `from` as that of shard `to`. */
static eb_error put_command(const eb_sharding *s, const eb_shard *from, int64_t to, eb_text *out) {
  word behind = PLAIN;
  bool resumes = false;
  for (const char *at = from->command_line; *at;) {
    size_t length = word_length(at), skip;
    word kind = read_word(at, length, &skip, &behind);
    EB_TRY(eb_text_append(out, at, skip));
    resumes = resumes || (length == 8 && strncmp(at, "--resume", length) == 0);
    if (kind == SHARD)
      EB_TRY(eb_text_printf(out, "%" PRId64 "/%" PRId64, to, s->shards));
    else if (kind == OUTPUT && to != from->number)
      EB_TRY(put_name(at + skip, length - skip, from->number, to, out));
    else
      EB_TRY(eb_text_append(out, at + skip, length - skip));
    at += length;
    size_t blanks = strspn(at, " ");
    EB_TRY(eb_text_append(out, at, blanks));
    at += blanks;
  }
  return resumes ? EB_OK : eb_text_printf(out, " --resume");
}

eb_error eb_sharding_command(const eb_sharding *s, int64_t number, eb_text *out) {
  int at = find_row(s, number);
  if (s->count == 0) return EB_OK;
  return put_command(s, &s->rows[at < s->count ? at : s->count - 1], number, out);
}

eb_error eb_sharding_lacking(const eb_sharding *s, eb_text *out) {
  int at = 0;
  bool any = false;
  for (int64_t number = 1; number <= s->shards;) {
    int64_t first = number;
    for (; number <= s->shards; number++) {
      bool there = at < s->count && s->rows[at].number == number;
      bool done = there && s->rows[at].done >= s->rows[at].wanted;
      at += there;
      if (done) break;
    }
    if (number > first) {
      EB_TRY(eb_text_printf(out, "%s%" PRId64, any ? "," : "", first));
      if (number > first + 1) EB_TRY(eb_text_printf(out, "-%" PRId64, number - 1));
      any = true;
    }
    number++;
  }
  return EB_OK;
}
