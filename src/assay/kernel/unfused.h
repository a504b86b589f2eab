#pragma once

// A library's routine behind which the epilogue runs as a kernel of its own, both timed as one:
// what a user of a library without epilogues has.

#include "assay/kernel/library_family.h"

namespace assay {

// The routine as it is, and with that kernel behind it where a problem's epilogue is none of its
// own. Unchanged if its outputs are of types that such kernels are not made for.
Routine with_epilogue_behind(Routine routine);

}  // namespace assay
