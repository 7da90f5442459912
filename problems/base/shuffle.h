/* EB_SHUFFLE(type, a, b, i, ...): the lanes i ... of the vectors a and b one behind the other.
 * clang has the one builtin and every GCC the other (both only GCC 12 and later), which wants the
 * indices as a vector of `type`, of integers as wide as the lanes. */
#ifndef EB_SHUFFLE_H
#define EB_SHUFFLE_H

#ifdef __clang__
#define EB_SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define EB_SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif

#endif
