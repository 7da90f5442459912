/* What every plug-in says of itself: `const int elastobench_abi = EB_PLUGIN_ABI`, the version of
 * the interface that it was built against. */
#ifndef EB_BASE_PLUGIN_ABI_H
#define EB_BASE_PLUGIN_ABI_H

#pragma GCC visibility push(default) /* exported */

#define EB_PLUGIN_ABI 16
extern const int elastobench_abi;

#pragma GCC visibility pop

#endif
