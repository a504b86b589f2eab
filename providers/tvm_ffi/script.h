#pragma once

// Scripts in Python that write an object with TVM-FFI entry points: they run when such a kernel is
// compiled, `FILE --output OBJECT --arch sm_90a`, in a process without rights.

#include <string>

#include "assay/base/json_fwd.h"
#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::tvm_ffi {

// Whether the entry's source is such a script.
bool is_script(const KernelEntry& entry);

// What a script's object depends on besides its target: the files' hashes, the Python that runs it
// and the versions of that one's packages. ErrorCode::unsupported where no Python has TVM-FFI.
Result<Json> script_identity(const KernelEntry& entry, const ProviderSettings& settings);

// Runs the script; the bytes of what it wrote. Errors: unsupported as above; build_failed with the
// script's own words.
Result<std::string> make_object(const KernelEntry& entry, const Target& target,
                                const ProviderSettings& settings, const CompileContext& context);

}  // namespace assay::tvm_ffi
