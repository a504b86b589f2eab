#pragma once

#include <memory>
#include <span>
#include <string>

#include "assay/base/result.h"
#include "assay/kernel/catalog.h"
#include "assay/kernel/provider.h"

namespace assay::input {

// The kernels of users' files (FILE or FILE::ENTRY, as read_sources() takes them) into a
// catalog, by whichever of `providers` takes each: what a tuned table needs where it names them. A
// plug-in is loaded into this process, so it is trusted as the program is. Errors: a file that
// cannot be read or loaded, or that nobody takes.
Status add_kernel_files(Catalog& catalog, std::span<const std::unique_ptr<Provider>> providers,
                        std::span<const std::string> files);

}  // namespace assay::input
