#pragma once

// The library, where it is installed, and a GPU that it knows.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "assay/base/dynamic_library.h"
#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay::nv_matmul_heuristics {

// The library's number of a GPU, by the name that its driver gives it; none for those that it has
// no description of.
std::optional<unsigned> gpu_number(std::string_view name);

class Library {
 public:
  // Of the setting "library", or where Python's packages lie: nvidia/nvMatmulHeuristics/lib.
  static Result<std::unique_ptr<Library>> open(const ProviderSettings& settings);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& path() const { return library_.path(); }
  std::string version() const;

  // For one kind of problem on one GPU.
  struct Question {
    const char* precision;  // "HSH".
    abi::Problem problem;
    unsigned gpu;
  };
  // The best first.
  std::vector<abi::Configuration> propose(const Question& question);
  // Seconds; 0 where it cannot say.
  double estimate(const Question& question, const abi::Configuration& configuration);

 private:
  explicit Library(DynamicLibrary library) : library_(std::move(library)) {}
  // Null where the library does not know the GPU after all.
  abi::HardwareDescriptor gpu(unsigned number);

  struct Call {
#define ASSAY_NV_MATMUL_HEURISTICS_MEMBER(member, symbol, result, parameters) \
  result(*member) parameters = nullptr;
    ASSAY_NV_MATMUL_HEURISTICS_ENTRY_POINTS(ASSAY_NV_MATMUL_HEURISTICS_MEMBER)
#undef ASSAY_NV_MATMUL_HEURISTICS_MEMBER
  };
  DynamicLibrary library_;
  Call call_;
  abi::Handle handle_ = nullptr;
  abi::HardwareDescriptor gpu_ = nullptr;
  unsigned gpu_number_ = 0;
  std::vector<std::string> discovered_;  // What was loaded already.
};

}  // namespace assay::nv_matmul_heuristics
