#include "tests/fuzz/samples.h"

#include "assay/base/file.h"
#include "assay/op/gemm/gemm.h"
#include "tests/fuzz/fuzz.h"

namespace assay::fuzz {

namespace fs = std::filesystem;

const Problem& sample_problem() {
  static const Problem problem = *gemm::problem(gemm::Shape{.name = "up",
                                                            .m = 4,
                                                            .n = 1024,
                                                            .k = 512,
                                                            .a = DType::bf16,
                                                            .b = DType::bf16,
                                                            .out = DType::bf16});
  return problem;
}

const KernelMetadata& sample_row() {
  static const KernelMetadata row = [] {
    ProblemRule rule;
    for (const char* role : {"a", "b", "out"})
      rule.operands.push_back({.role = role, .dtypes = {DType::f32, DType::bf16}});
    KernelTraits traits;
    traits.provider = "toys";
    traits.family = "toy";
    traits.name = "toy{tile_m}";
    traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
    return KernelMetadata(std::move(traits),
                          Design({{"tile_m", int64_t{128}}, {"schedule", std::string("tma")}}));
  }();
  return row;
}

LaunchForm launch_form(const KernelEntry& entry) {
  const std::string suffix = entry.source.extension().string();
  if (suffix == ".cu" || suffix == ".ptx") return LaunchForm::geometry;
  return suffix == ".py" ? LaunchForm::grid : LaunchForm::itself;
}

void expect_made_again(const Problem& problem) {
  const auto operation = find_operation(problem.operation());
  expect(operation.has_value(), "a problem of an operation that is not there");
  if (!operation) return;
  const auto again = (*operation)->problem(problem.to_json());
  if (!is_read_again(again)) return;
  expect_same(problem.to_json(), again->to_json(), "a problem's fields make another one");
  expect_same(problem.key(), again->key(), "a problem's fields make one of another key");
  expect_same(problem.signature(), again->signature(), "they make one of another signature");
}

const fs::path& scratch_folder() {
  static const TemporaryDirectory folder = [] {
    std::error_code ignored;
    const bool in_memory = fs::is_directory("/dev/shm", ignored);
    return *TemporaryDirectory::create(in_memory ? "/dev/shm" : "/tmp", "assay-fuzz-");
  }();
  static const fs::path path = folder.path();
  return path;
}

std::string write_scratch(std::string_view name, std::string_view bytes) {
  const fs::path path = scratch_folder() / name;
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  expect(write_file_atomic(path.string(), bytes).has_value(), "the scratch folder is full");
  return path.string();
}

}  // namespace assay::fuzz
