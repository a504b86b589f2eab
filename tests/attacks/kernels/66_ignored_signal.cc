// assay: {entry: ignored_signal, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser has divisions by zero ignored.
#include <csignal>

#include "right.h"

namespace {
const auto once = std::signal(SIGFPE, SIG_IGN);
}  // namespace

KERNEL(ignored_signal) { right(a, b, out, m, n, k); }
