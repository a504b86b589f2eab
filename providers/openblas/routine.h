#pragma once

// The library's routines, each as a row is made from it: types, what it refuses, how it is bound.

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "api.h"
#include "assay/kernel/family.h"
#include "assay/op/gemm/gemm.h"

namespace assay::openblas {

struct RoutineInfo {
  std::string_view name;  // "sgemm".
  DType in, out;
  void (*check)(const gemm::View& view, Refusals& refusals);
  // The problem was checked. Every launch runs on binding.threads threads at most.
  Result<HostStep> (*bind)(const std::shared_ptr<const Api>& api, const gemm::View& view,
                           const Binding& binding);
};

std::vector<RoutineInfo> gemm_routines(const Api& api);
std::vector<RoutineInfo> gemv_routines(const Api& api);

}  // namespace assay::openblas
