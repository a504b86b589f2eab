#pragma once

#include <memory>
#include <vector>

#include "api.h"
#include "assay/kernel/design_space.h"
#include "assay/kernel/family.h"

namespace assay::onednn {

// "matmul": the primitive as a caller gets it, and with b in the layout of the library's choice.
std::shared_ptr<const Family> make_matmul_family(std::shared_ptr<const Api> api);

// "sgemm": the BLAS-like call.
std::shared_ptr<const Family> make_sgemm_family(std::shared_ptr<const Api> api);

// Both of them.
std::vector<std::shared_ptr<const Family>> make_families(std::shared_ptr<const Api> api);

// What both families say of the library, and whether an artifact is of the library that is loaded.
Artifact library_artifact(const Api& api, const KernelMetadata& row);
Status check_artifact(const Api& api, const Artifact& artifact);

// A group with one row of that name: {primitive, default}.
DesignGroup group_of(const char* name, bool is_default, ProblemRule rule);

// Where the operands stand in a step's data.
struct Places {
  size_t a = 0, b = 0, out = 0, c = 0;
};
Places places_of(const Problem& problem);

}  // namespace assay::onednn
