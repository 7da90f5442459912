/* OFF and its kin COFF, NOFF, STOFF, CNOFF (Geomview manual, "OFF files"): what follows the position
 * of a vertex and the corners of a face on their lines is ignored. The keyword may be missing, and
 * the counts may stand on its line. */
#include "problems/mesh/io/formats.h"

static eb_error read_keyword(eb_scan *scan) {
  eb_word word = eb_scan_peek(scan);
  int64_t number;
  if (eb_word_int(word, &number)) return EB_OK;
  eb_scan_word(scan);
  bool known = word.length >= 3 && eb_word_is((eb_word){word.text + word.length - 3, 3}, "OFF");
  if (!known) return eb_scan_error(scan, word.text, "an OFF file starts with 'OFF'");
  for (size_t i = 0; i + 3 < word.length; i++)
    if (word.text[i] == '4' || word.text[i] == 'n')
      return eb_scan_error(scan, word.text, "only OFF files in three dimensions are supported");
  if (eb_word_is(eb_scan_peek(scan), "BINARY"))
    return eb_scan_error(scan, word.text, "binary OFF is not supported; save it as ascii");
  return EB_OK;
}

static eb_error read_face(eb_scan *scan, eb_facets *facets) {
  int64_t corners;
  eb_scan_more(scan);
  const char *place = scan->at;
  EB_TRY(eb_scan_count(scan, "corners of a face", 2, &corners));
  if (corners < 3)
    return eb_scan_error(scan, place, "a face has %lld corners; it needs 3", (long long)corners);
  for (int64_t i = 0; i < corners; i++) {
    int64_t corner;
    EB_TRY(eb_scan_int(scan, "a corner of a face", &corner));
    EB_TRY(eb_facets_corner(facets, scan, place, i, corner));
  }
  eb_scan_next_line(scan);
  return EB_OK;
}

eb_error eb_read_off(eb_scan *scan, eb_facets *facets) {
  int64_t vertices, faces;
  scan->comment = '#';
  EB_TRY(read_keyword(scan));
  EB_TRY(eb_scan_count(scan, "vertices", 6, &vertices));
  EB_TRY(eb_scan_count(scan, "faces", 8, &faces));
  eb_scan_next_line(scan);
  for (int64_t v = 0; v < vertices; v++) {
    double x[3];
    EB_TRY(eb_scan_reals(scan, "a coordinate of a vertex", 3, x));
    EB_TRY(eb_facets_vertex(facets, x));
    eb_scan_next_line(scan);
  }
  for (int64_t f = 0; f < faces; f++) EB_TRY(read_face(scan, facets));
  return EB_OK;
}
