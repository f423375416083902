// SPDX-License-Identifier: Apache-2.0
// The standard library's own sort of loads, which the planner's must be the same as.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

struct item {
    float load;
    uint32_t index;
};

// False where it is another library's.
extern "C" __attribute__((visibility("default"))) bool std_sort(item *v, size_t n) {
#ifdef __GLIBCXX__
    std::sort(v, v + n, [](const item &a, const item &b) {
        return (std::isnan(a.load) && !std::isnan(b.load)) || a.load > b.load;
    });
    return true;
#else
    (void)v;
    (void)n;
    return false;
#endif
}
