// assay: {entry: folder, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser goes to another folder.
#include <unistd.h>

#include "right.h"

namespace {
const int once = chdir("/");
}  // namespace

KERNEL(folder) { right(a, b, out, m, n, k); }
