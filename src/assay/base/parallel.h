#pragma once

#include <cstddef>
#include <functional>

namespace assay {

// Calls use(i) for every i below `count`, on as many threads as this process has cores, the
// caller's among them; returns when all are done. The order is not fixed, and `use` must not throw.
void for_each_parallel(size_t count, const std::function<void(size_t i)>& use);

}  // namespace assay
