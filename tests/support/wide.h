/* Integers of 256 bits, enough for determinants of coordinates below 2^80: an oracle for exact
 * predicates. */
#ifndef EB_TESTS_WIDE_H
#define EB_TESTS_WIDE_H

#include <stdint.h>

__extension__ typedef unsigned __int128 wide_word;

/* Two's complement, the lowest word first. */
typedef struct wide {
  uint64_t word[4];
} wide;

static wide wide_add(wide a, wide b) {
  wide sum;
  wide_word carry = 0;
  for (int i = 0; i < 4; i++) {
    carry += (wide_word)a.word[i] + b.word[i];
    sum.word[i] = (uint64_t)carry;
    carry >>= 64;
  }
  return sum;
}

static wide wide_negative(wide a) {
  wide one = {{1, 0, 0, 0}};
  for (int i = 0; i < 4; i++) a.word[i] = ~a.word[i];
  return wide_add(a, one);
}

static wide wide_subtract(wide a, wide b) {
  return wide_add(a, wide_negative(b));
}

static wide wide_multiply(wide a, wide b) {
  wide product = {{0}};
  for (int i = 0; i < 4; i++) {
    wide_word carry = 0;
    for (int j = 0; i + j < 4; j++) {
      carry += (wide_word)a.word[i] * b.word[j] + product.word[i + j];
      product.word[i + j] = (uint64_t)carry;
      carry >>= 64;
    }
  }
  return product;
}

static int wide_sign(wide a) {
  if (a.word[3] >> 63) return -1;
  return (a.word[0] | a.word[1] | a.word[2] | a.word[3]) != 0;
}

/* mantissa 2^exponent, exponent >= 0. */
static wide wide_of(int64_t mantissa, int exponent) {
  wide a = {{(uint64_t)mantissa, 0, 0, 0}}, two = {{2, 0, 0, 0}};
  for (int i = 1; i < 4; i++) a.word[i] = mantissa < 0 ? UINT64_MAX : 0;
  for (int i = 0; i < exponent; i++) a = wide_multiply(a, two);
  return a;
}

#endif
