/* EB_SANITIZER: 1 where the program is built with the address or the thread sanitizer, which keep
 * what was freed, reserve terabytes and take about ten times as long. GCC defines macros, clang
 * answers questions. */
#ifndef EB_SANITIZER_H
#define EB_SANITIZER_H

#ifdef __has_feature
#define EB_BUILT_WITH(feature) __has_feature(feature)
#else
#define EB_BUILT_WITH(feature) 0
#endif

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ ||                                 \
    EB_BUILT_WITH(address_sanitizer) || EB_BUILT_WITH(thread_sanitizer)
#define EB_SANITIZER 1
#else
#define EB_SANITIZER 0
#endif

#endif
