#pragma once

// `assay referee`: owns what decides a proof, the secret seed, pristine inputs and references, and
// never maps a candidate's code. The program's own binary, executed again.

#include "assay/base/result.h"

namespace assay::sweep {

// Serves the channel on descriptor 3 until the parent closes it.
Status referee_main();

}  // namespace assay::sweep
