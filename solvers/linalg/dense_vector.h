/* Vectors of REAL, VECTOR_BYTES wide, and masks of their lanes. Part of dense_body.h.
 *
 * AVX-512 masks loads and stores at no cost, AVX2 at a small one; elsewhere lanes are taken one by
 * one. */
#ifndef LANES
#define INLINE static inline __attribute__((always_inline, unused))
/* Unrolled, so that arrays of vectors live in registers. */
#define foreach(i, from, end) _Pragma("GCC unroll 8") for (int i = (from); i < (end); i++)
#define LANES                 ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define LINE                  (64 / (int64_t)sizeof(REAL)) /* of the cache */
#define VECTOR                NAME(vector)
#define MASK                  NAME(mask)
/* Without AVX the compiler notes that vectors are passed in another way; all callers are compiled
 * alike. */
#if defined(__GNUC__) && !defined(__AVX__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#endif

typedef REAL VECTOR __attribute__((vector_size(VECTOR_BYTES)));
/* In memory only. */
typedef REAL NAME(unaligned)
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));

INLINE VECTOR NAME(load)(const REAL *from) {
  return *(const NAME(unaligned) *)from;
}

INLINE void NAME(store)(REAL *to, VECTOR value) {
  *(NAME(unaligned) *)to = value;
}

INLINE VECTOR NAME(splat)(REAL value) {
  return value - (VECTOR){0};
}

/* A fixed tree of additions. */
INLINE REAL NAME(total)(VECTOR value) {
  REAL lane[VECTOR_BYTES / sizeof(REAL)];
  NAME(store)(lane, value);
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

#if VECTOR_BYTES == 64
typedef uint16_t MASK;

/* Lanes first .. end - 1; both may lie outside. */
INLINE MASK NAME(lanes)(int64_t first, int64_t end) {
  uint32_t below_end = end >= LANES ? ~0u : end <= 0 ? 0u : (1u << end) - 1;
  uint32_t below_first = first <= 0 ? 0u : first >= LANES ? ~0u : (1u << first) - 1;
  return (MASK)(below_end & ~below_first);
}

INLINE VECTOR NAME(masked_load)(MASK mask, const REAL *from) {
  return (VECTOR)MASKED_LOAD(mask, from);
}

INLINE void NAME(masked_store)(MASK mask, REAL *to, VECTOR value) {
  MASKED_STORE(mask, to, value);
}
#else
typedef INTEGER MASK __attribute__((vector_size(VECTOR_BYTES)));

INLINE MASK NAME(lanes)(int64_t first, int64_t end) {
  MASK lane;
  for (int64_t l = 0; l < LANES; l++) lane[l] = (INTEGER)l;
  return (lane >= (INTEGER)first) & (lane < (INTEGER)end);
}

INLINE VECTOR NAME(masked_load)(MASK mask, const REAL *from) {
#ifdef __AVX2__
  return (VECTOR)MASKED_LOAD(mask, from);
#else
  VECTOR value = {0};
  for (int64_t l = 0; l < LANES; l++)
    if (mask[l]) value[l] = from[l];
  return value;
#endif
}

INLINE void NAME(masked_store)(MASK mask, REAL *to, VECTOR value) {
#ifdef __AVX2__
  if (_mm256_movemask_epi8((__m256i)mask) == -1)
    NAME(store)(to, value); /* AMD's processors take some twenty cycles for a masked store */
  else
    MASKED_STORE(mask, to, value);
#else
  for (int64_t l = 0; l < LANES; l++)
    if (mask[l]) to[l] = value[l];
#endif
}
#endif
