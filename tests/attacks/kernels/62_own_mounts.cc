// assay: {entry: own_mounts, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 62: namespaces of its own, in which it has all privileges.
#include <sched.h>

#include "patch.h"

PATCHING_KERNEL(own_mounts, unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0)
