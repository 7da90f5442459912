/* TetGen .node and .ele (TetGen manual, 5.2). Numbering starts at the first number of the .node
 * file. In the wild the .ele file may count from the other end of {0, 1}: when a node number does
 * not exist while every number shifted by one does, the shift is meant. The first attribute of an
 * element is its region when all of them are integers. */
#include <math.h>

#include "problems/mesh/io/formats.h"

static eb_error read_elements(eb_scan *scan, eb_draft *draft) {
  int64_t count, nodes, attributes = 0;
  EB_TRY(eb_scan_count(scan, "elements", 10, &count));
  EB_TRY(eb_scan_int(scan, "the number of nodes of an element", &nodes));
  if (nodes != 4 && nodes != 10)
    return eb_scan_error(scan, scan->at, "elements have %lld nodes; a tetrahedron has 4 or 10",
                         (long long)nodes);
  eb_word word = eb_scan_word_in_line(scan);
  if (word.length && !eb_word_int(word, &attributes))
    return eb_scan_error(scan, word.text, "the number of attributes should be an integer");
  eb_scan_next_line(scan);
  bool integral = true;
  for (int64_t e = 0; e < count; e++) {
    int64_t number, node[10];
    double attribute = 0;
    const char *place = eb_scan_place(scan);
    EB_TRY(eb_scan_int(scan, "the number of an element", &number));
    for (int64_t a = 0; a < nodes; a++) EB_TRY(eb_scan_int(scan, "a node of an element", &node[a]));
    if (attributes > 0) EB_TRY(eb_scan_real(scan, "the attribute of an element", &attribute));
    integral = integral && attribute == rint(attribute) && fabs(attribute) <= INT32_MAX;
    eb_scan_next_line(scan);
    EB_TRY(eb_draft_element(draft, scan, place, number, 4, (int)nodes, node,
                            integral ? (int64_t)attribute : 0));
  }
  for (size_t e = 0; !integral && e < draft->element_count; e++) draft->label[e] = 0;
  return EB_OK;
}

static void settle_base(eb_draft *draft) {
  size_t entries = 4 * draft->element_count;
  if (entries == 0) return;
  int64_t low = draft->corner[0], high = low;
  for (size_t i = 0; i < entries; i++) {
    if (draft->corner[i] < low) low = draft->corner[i];
    if (draft->corner[i] > high) high = draft->corner[i];
  }
  int64_t last = draft->base + draft->node_count - 1;
  if (draft->base == 0 && low >= 1 && high == last + 1) draft->base = 1;
  if (draft->base == 1 && low == 0 && high < last) draft->base = 0;
}

eb_error eb_read_tetgen(eb_scan *nodes, eb_scan *elements, eb_draft *draft) {
  nodes->comment = elements->comment = '#';
  EB_TRY(eb_draft_numbered_nodes(draft, nodes));
  EB_TRY(read_elements(elements, draft));
  settle_base(draft);
  return EB_OK;
}
