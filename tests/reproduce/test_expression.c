/* Expressions as trees: what is read, how it is printed, what is refused; and values: windows,
 * reductions, what is unknown. */
#include "harness/reproduce/value.h"
#include "harness/results/sample.h"
#include "tests/tap.h"

/* ---- reading and printing -------------------------------------------------------------------- */

/* What is printed says the same: it is printed alike again. */
static void prints(const char *text, const char *wanted) {
  eb_expression *e;
  eb_text out = {0}, again = {0};
  tap_require(eb_expression_parse(text, &e), text);
  tap_require(eb_expression_print(e, NULL, NULL, NULL, &out), text);
  eb_expression_destroy(e);
  tap_require(eb_expression_parse(out.data, &e), out.data);
  tap_require(eb_expression_print(e, NULL, NULL, NULL, &again), text);
  bool good = strcmp(out.data, wanted) == 0 && strcmp(again.data, wanted) == 0;
  tap_ok(good, "%s", text);
  if (!good) printf("#   got %s, then %s\n#   wanted %s\n", out.data, again.data, wanted);
  eb_expression_destroy(e);
  eb_text_clear(&out);
  eb_text_clear(&again);
}

static void test_printing(void) {
  prints("mean(rings-ica.iterations)/mean(rings-full.iterations)>=2",
         "mean(rings-ica.iterations) / mean(rings-full.iterations) >= 2");
  prints("1 - (2 - 3) - 4*(5 + 6)", "1 - (2 - 3) - 4 * (5 + 6)");
  prints("(1 - 2) - 3", "1 - 2 - 3");
  prints("2^3^2", "2^3^2");
  prints("(2^3)^2", "(2^3)^2");
  prints("-2^2", "-2^2");
  prints("(-2)^2", "(-2)^2");
  prints("1 / (2 / 3)", "1 / (2 / 3)");
  prints("5% + 1e-3", "0.05 + 0.001");
  prints("a.x < b.y < 0.6*c.z", "a.x < b.y < 0.6 * c.z");
  prints("(a.x < b.y) = c.z", "(a.x < b.y) = c.z");
  prints("not a.x = 1 and (b.y > 2 or c.z != 3)", "not a.x = 1 and (b.y > 2 or c.z != 3)");
  prints("a.phases/node-rotations - t:r-1.n", "a.phases/node-rotations - t:r-1.n");
  prints("a.m = \"b+c\"", "a.m = \"b+c\"");
  prints("max(a.x[10..20]) + min(a.x[ 0.5s .. ]) * last(a.x[..50%])",
         "max(a.x[10..20]) + min(a.x[0.5s..]) * last(a.x[..50%])");
  prints("max(distance(a, b)[..bounce_end(b)])", "max(distance(a, b)[..bounce_end(b)])");
  prints("all(rising(x.n for e in 1 2 3, 5%) for x in a-1 b)",
         "all(rising({x}.n for e in 1 2 3, 0.05) for x in a-1 b)");
  prints("any({m}-{e}-cg.n > 1 for m in s l for e in 5e6 5e7)",
         "any({m}-{e}-cg.n > 1 for m in s l for e in 5e6 5e7)");
}

static eb_error note_word(void *context, const eb_scope *scope) {
  char *name;
  EB_TRY(eb_scope_expand(scope, "{m}-{e}.n", true, &name));
  eb_error error = eb_text_printf(context, "%s ", name);
  free(name);
  return error;
}

static void test_variables(void) {
  eb_expression *e;
  eb_text seen = {0};
  char *name;
  const eb_scope row = {"row", "phases/solve", NULL}, x = {"x", "a-1", &row};
  tap_require(eb_expression_parse("all(1 for m in s {x} for e in 5 6)", &e), "loops");
  tap_require(eb_loops_visit(e, &x, note_word, &seen), "their words");
  tap_ok(strcmp(seen.data, "s-5.n s-6.n a-1-5.n a-1-6.n ") == 0, "the first loop is the slowest");
  eb_text_clear(&seen);
  eb_expression_destroy(e);
  tap_require(eb_scope_expand(&x, "x.{row}", true, &name), "a variable before a dot");
  tap_ok(strcmp(name, "a-1.phases/solve") == 0, "variables are replaced, in braces or not");
  free(name);
  tap_require(eb_scope_expand(&x, "xy.x", true, &name), "what only begins as a variable does");
  tap_ok(strcmp(name, "xy.x") == 0, "is none");
  free(name);
  tap_fails(eb_scope_expand(&x, "{y}.n", true, &name), EB_ERR_FORMAT, "no such variable", "a slip");
}

static void refuse(const char *text, const char *says) {
  eb_expression *e;
  tap_fails(eb_expression_parse(text, &e), EB_ERR_FORMAT, says, text);
}

static void test_refused(void) {
  char deep[600] = "", *longer;
  refuse("", "a number, a name or '(' is expected, and the text ends");
  refuse("mean(a.x", "',' or ')' is expected, and the text ends");
  refuse("mean(a.x))", "at character 10 an operator or the end is expected, not ')'");
  refuse("1 +", "the text ends");
  refuse("a.x b.y", "an operator or the end is expected, not 'b.y'");
  refuse("2 a", "an operator or the end");
  refuse("2a", "an operator or a unit is expected, not 'a'");
  refuse("a.x[1-2]", "'..' between steps (10), times (0.5s) or shares (50%) is expected");
  refuse("a.x[1..2", "']'");
  refuse("a.x[..b]", "'('");
  refuse("all(a.x for in b)", "'in'");
  refuse("all(a.x for y in)", "a word of a list");
  refuse("all(a.x for y.z in b)", "a variable behind 'for'");
  refuse("\"open", "second '\"'");
  refuse("a.x <", "the text ends");
  refuse("1e999", "a finite number");
  refuse("(1", "an operator or ')'");
  memset(deep, '(', 500);
  refuse(deep, "too deep");
  for (int i = 0; i < 100; i++) memcpy(deep + 4 * i, "not ", 5);
  refuse(deep, "too deep");
  longer = malloc(40001);
  for (int i = 0; i < 20000; i++) memcpy(longer + 2 * i, "1+", 3);
  refuse(longer, "longer than");
  free(longer);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* 1, 2, .. n at 0.1, 0.2, .. s. */
static eb_value counting(size_t n) {
  eb_value s;
  tap_require(eb_value_series(n, true, &s), "a series");
  for (size_t i = 0; i < n; i++) {
    s.y[i] = (double)i + 1;
    s.time[i] = 0.1 * ((double)i + 1);
  }
  return s;
}

static double reduced(const char *name, const eb_value *series) {
  eb_value out;
  tap_require(eb_value_reduce(name, series, &out), name);
  return out.knowledge ? NAN : out.number;
}

static void test_reductions(void) {
  eb_value s = counting(6), none = counting(0);
  tap_near(reduced("mean", &s), 3.5, 0, "mean");
  tap_near(reduced("median", &s), 3.5, 0, "median of an even number");
  tap_near(reduced("sum", &s), 21, 1e-14, "sum");
  tap_near(reduced("count", &s), 6, 0, "count");
  s.warmup = 1;
  tap_near(reduced("mean", &s), 4, 1e-15, "the warm-up is left out of a mean");
  tap_near(reduced("median", &s), 4, 0, "  a median");
  tap_near(reduced("min", &s), 2, 0, "  and of extremes");
  tap_near(reduced("sum", &s), 21, 1e-14, "  but not of a sum");
  s.y[3] = NAN;
  tap_ok(isnan(reduced("max", &s)) && isnan(reduced("min", &s)), "what is not a number wins");
  tap_ok(isnan(reduced("last", &none)) && isnan(reduced("mean", &none)), "of nothing");
  eb_value_clear(&s);
  eb_value_clear(&none);
}

/* The first and last value of a window, and whether it is cut. */
static void window(const eb_value *s, const char *ends, double first, double last, bool cut) {
  eb_expression *e;
  eb_value out;
  char text[100];
  snprintf(text, sizeof text, "a.x[%s]", ends);
  tap_require(eb_expression_parse(text, &e), text);
  tap_require(eb_value_window(s, &e->from, NULL, &e->to, NULL, &out), text);
  bool good = out.count > 0 && out.y[0] == first && out.y[out.count - 1] == last && out.cut == cut;
  tap_ok(good, "[%s] is from %g to %g%s", ends, first, last, cut ? ", and may go on" : "");
  eb_expression_destroy(e);
  eb_value_clear(&out);
}

static void test_windows(void) {
  eb_value s = counting(9);
  window(&s, "3..5", 3, 5, false);
  window(&s, "..", 1, 9, false);
  window(&s, "0.3s..0.5s", 3, 5, false);
  window(&s, "0.75s..", 8, 9, false);
  window(&s, "50%..", 5, 9, false);
  window(&s, "..50%", 1, 4, false);
  s.cut = true;
  window(&s, "3..5", 3, 5, false);
  window(&s, "3..10", 3, 9, true);
  window(&s, "0.3s..0.9s", 3, 9, false);
  window(&s, "0.3s..1s", 3, 9, true);
  window(&s, "..50%", 1, 4, true);
  eb_value_clear(&s);
}

static void test_frames(void) {
  eb_value s = counting(7), f;
  s.a_frame = 2;
  s.warmup = 2;
  tap_require(eb_value_frames(&s, &f), "frames of two steps");
  tap_ok(f.count == 3 && f.y[2] == 11 && f.warmup == 1 && f.time[0] == s.time[1],
         "are sums over whole frames");
  tap_near(eb_value_integral(&s), 2.8, 1e-12, "the integral over simulated time");
  eb_value_clip(&s, 0.45);
  tap_ok(s.count == 4 && s.cut, "what is later is dropped");
  eb_value_clear(&s);
  eb_value_clear(&f);
}

static void test_arithmetic(void) {
  eb_value a = counting(3), b = counting(5), text, out, two = eb_value_number(2);
  tap_require(eb_value_combine(EB_OP_SUBTRACT, &b, &a, &out), "two series");
  tap_ok(out.count == 3 && out.y[2] == 0, "over the values that both have");
  eb_value_clear(&out);
  tap_require(eb_value_combine(EB_OP_POWER, &a, &two, &out), "a series and a number");
  tap_ok(out.count == 3 && out.y[2] == 9, "value by value");
  eb_value_clear(&out);
  tap_require(eb_value_text("x", &text), "a text");
  tap_fails(eb_value_combine(EB_OP_ADD, &a, &text, &out), EB_ERR_FORMAT, "cannot be calculated",
            "a text is no number");
  eb_value_clear(&text);
  eb_value_clear(&a);
  eb_value_clear(&b);
}

/* ---- what more of a run could change --------------------------------------------------------- */

static void decides(double a, bool rises, bool falls, eb_comparison comparison, eb_truth wanted,
                    const char *name) {
  eb_value left = eb_value_number(a), right = eb_value_number(5);
  eb_truth truth;
  left.may_rise = rises;
  left.may_fall = falls;
  tap_require(eb_value_compare(&left, comparison, &right, &truth), name);
  tap_ok(truth == wanted, "%s", name);
}

static void test_cut(void) {
  decides(4, false, false, EB_LESS_EQUAL, EB_TRUE, "a whole run decides");
  decides(4, true, false, EB_LESS_EQUAL, EB_UNDECIDED, "a largest so far may still pass its bound");
  decides(6, true, false, EB_LESS_EQUAL, EB_FALSE, "and has done so for good");
  decides(6, true, false, EB_GREATER_EQUAL, EB_TRUE, "what is reached stays reached");
  decides(4, true, false, EB_GREATER_EQUAL, EB_UNDECIDED, "what is not may be");
  decides(4, true, true, EB_LESS_EQUAL, EB_UNDECIDED, "an end may be anywhere");
  decides(5, true, false, EB_EQUAL, EB_UNDECIDED, "equality too");
  decides(6, true, false, EB_EQUAL, EB_FALSE,
          "but what is above and can only rise is apart for good");
  decides(6, true, false, EB_NOT_EQUAL, EB_TRUE, "and stays unequal");
  decides(4, true, false, EB_NOT_EQUAL, EB_UNDECIDED, "what rises may meet it");
  decides(NAN, false, false, EB_LESS, EB_UNDECIDED, "what is no number decides nothing");
  decides(5 * (1 + 1e-12), false, false, EB_LESS_EQUAL, EB_TRUE, "bounds hold to rounding");
  eb_value rising = eb_value_number(3), fixed = eb_value_number(2), out;
  rising.may_rise = true;
  tap_require(eb_value_combine(EB_OP_DIVIDE, &fixed, &rising, &out), "a quotient");
  tap_ok(out.may_fall && !out.may_rise, "falls where its denominator rises");
  tap_require(eb_value_negate(&rising, &out), "a difference");
  tap_ok(out.may_fall && !out.may_rise, "as well");
  rising.number = -3;
  tap_require(eb_value_combine(EB_OP_MULTIPLY, &fixed, &rising, &out), "a product");
  tap_ok(out.may_fall && out.may_rise, "with a negative factor does either");
}

static void test_statistics(void) {
  const double x[4] = {0, 1, 2, 3}, y[4] = {1, 3, 5, 7}, samples[3] = {1, 2, 3};
  double slope, r2, mean, half;
  eb_sample_line(x, y, 4, &slope, &r2);
  tap_near(slope, 2, 1e-14, "the slope of a line");
  tap_near(r2, 1, 1e-14, "its R^2");
  eb_sample_line(x, y, 2, &slope, &r2);
  tap_ok(isnan(r2), "two points show no line");
  eb_sample_interval(samples, 3, &mean, &half);
  tap_near(mean, 2, 1e-15, "a mean");
  /* t(0.975, 2) = 4.303, s = 1 */
  tap_near(half, 4.303 / sqrt(3), 1e-12, "its interval");
  double many[41];
  for (int i = 0; i < 41; i++) many[i] = i % 2;
  eb_sample_interval(many, 41, &mean, &half);
  /* t(0.975, 40) = 2.02108; s^2 = (20 (21/41)^2 + 21 (20/41)^2) / 40 */
  tap_near(half, 2.02108 * sqrt((20 * 441. + 21 * 400.) / (41 * 41.) / 40 / 41), 1e-5,
           "beyond the table");
}

int main(void) {
  test_printing();
  test_variables();
  test_refused();
  test_reductions();
  test_windows();
  test_frames();
  test_arithmetic();
  test_cut();
  test_statistics();
  return tap_done();
}
