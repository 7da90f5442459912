/* EB_ASSERT(condition): an invariant, which no input and no failure of the machine can break:
 * sizes, ranges of indices, who owns what, states that a caller must have reached. What a user can
 * get wrong is an eb_error.
 *
 * Checked in builds for debugging (make DEBUG=1) and in those with a sanitizer, where a broken one
 * ends the process by abort() and says where. Other builds have no code of it, and conditions are
 * not evaluated: they have no side effects. */
#ifndef EB_BASE_ASSERT_H
#define EB_BASE_ASSERT_H

#ifndef EB_DEBUG
#define EB_DEBUG 0
#endif

_Noreturn void eb_assert_fail(const char *condition, const char *file, int line,
                              const char *function);

#if EB_DEBUG
#define EB_ASSERT(condition)                                                                       \
  ((condition) ? (void)0 : eb_assert_fail(#condition, __FILE__, __LINE__, __func__))
#else
#define EB_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif
