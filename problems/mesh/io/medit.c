/* MEDIT .mesh, ascii, versions 1 and 2 (Frey, MEDIT: an interactive mesh visualization software,
 * INRIA RT-0253, 2001). Sections come in any order; those that hold no volume elements are skipped.
 * The reference of an element becomes its region. */
#include <ctype.h>

#include "problems/mesh/io/formats.h"

typedef struct section {
  const char *keyword;
  int corners; /* of the element that remain; 0: not supported */
  int nodes;   /* listed for each element */
} section;

static const section sections[] = {
    {"Tetrahedra", 4, 4},   {"TetrahedraP2", 4, 10}, {"Hexahedra", 8, 8},
    {"HexahedraQ2", 8, 27}, {"Prisms", 0, 6},        {"Pyramids", 0, 5},
};

static eb_error read_vertices(eb_scan *scan, eb_draft *draft, const char *keyword) {
  if (draft->X) return eb_scan_error(scan, keyword, "a second section 'Vertices'; remove one");
  int64_t count;
  EB_TRY(eb_scan_count(scan, "vertices", 8, &count));
  EB_TRY(eb_draft_nodes(draft, count, false));
  draft->base = 1;
  for (int64_t i = 0; i < count; i++) {
    double reference;
    EB_TRY(eb_scan_reals(scan, "a coordinate of a vertex", 3, draft->X + 3 * i));
    EB_TRY(eb_scan_real(scan, "the reference of a vertex", &reference));
  }
  return EB_OK;
}

static eb_error read_elements(eb_scan *scan, eb_draft *draft, const section *s) {
  int64_t count;
  EB_TRY(eb_scan_count(scan, s->keyword, 2 * (size_t)s->nodes + 2, &count));
  if (count > 0 && s->corners == 0)
    return eb_scan_error(scan, scan->at, "%s are not supported; split them into tetrahedra",
                         s->keyword);
  for (int64_t e = 0; e < count; e++) {
    int64_t nodes[27], reference;
    const char *place = eb_scan_place(scan);
    for (int a = 0; a < s->nodes; a++) EB_TRY(eb_scan_int(scan, "a node of an element", &nodes[a]));
    EB_TRY(eb_scan_int(scan, "the reference of an element", &reference));
    EB_TRY(eb_draft_element(draft, scan, place, e + 1, s->corners, s->nodes, nodes, reference));
  }
  return EB_OK;
}

static eb_error read_header(eb_scan *scan) {
  eb_word word = eb_scan_word(scan);
  int64_t number;
  if (!eb_word_is(word, "MeshVersionFormatted"))
    return eb_scan_error(scan, word.text, "a MEDIT file starts with 'MeshVersionFormatted'");
  EB_TRY(eb_scan_int(scan, "the version of the format", &number));
  if (number < 1 || number > 4)
    return eb_scan_error(scan, word.text, "MEDIT version %lld is unknown; save it as version 2",
                         (long long)number);
  word = eb_scan_word(scan);
  if (!eb_word_is(word, "Dimension"))
    return eb_scan_error(scan, word.text, "'Dimension 3' should follow the version");
  EB_TRY(eb_scan_int(scan, "the dimension", &number));
  if (number != 3)
    return eb_scan_error(scan, word.text, "the dimension is %lld; only 3 holds volume elements",
                         (long long)number);
  return EB_OK;
}

eb_error eb_read_medit(eb_scan *scan, eb_draft *draft) {
  scan->comment = '#';
  EB_TRY(read_header(scan));
  for (;;) {
    eb_word keyword = eb_scan_word(scan);
    if (keyword.length == 0 || eb_word_is(keyword, "End")) break;
    if (!isalpha((unsigned char)keyword.text[0]))
      return eb_scan_error(scan, keyword.text,
                           "'%.*s' stands where a section should start; the count above it is too "
                           "small",
                           EB_SHOWN(keyword));
    size_t s = 0, known = sizeof sections / sizeof *sections;
    while (s < known && !eb_word_is(keyword, sections[s].keyword)) s++;
    if (eb_word_is(keyword, "Vertices"))
      EB_TRY(read_vertices(scan, draft, keyword.text));
    else if (s < known)
      EB_TRY(read_elements(scan, draft, &sections[s]));
    else /* the numbers of a section that is not wanted */
      for (eb_word word = eb_scan_peek(scan); word.length && !isalpha((unsigned char)word.text[0]);
           word = eb_scan_peek(scan))
        eb_scan_word(scan);
  }
  if (!draft->X) return eb_scan_error(scan, scan->end, "there is no section 'Vertices'");
  return EB_OK;
}
