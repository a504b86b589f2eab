// The kernel that leaves out the wait (tests/gpu/no_wait.cu) must be caught, always, and its honest
// twin must not be.

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "bench/gpu.h"
#include "bench/gpu_sources.h"
#include "bench/runs.h"

namespace assay::bench {
namespace {

constexpr const char* kSource = "tests/gpu/no_wait.cu";
constexpr int kTimes = 20;  // Proofs of each kernel on each shape.

struct Projection {
  const char* name;
  int64_t n, k;
};

// Two families of the one source, each of several kernels of one code: the verdict wanted is on the
// cheat's alone, so where all of them are caught there is nothing to race for, and the run ends
// with its proofs.
Result<std::string> manifest(const Context& context, int copies) {
  ASSAY_TRY(source_file(context, kSource).map([](const auto&) {}));
  std::string text;
  for (const auto& [name, wait] : {std::pair{"cheat", 0}, std::pair{"honest", 1}})
    text += fmt::format(
        "- {{name: {}, entry: no_wait, source: {}, dtype: f16, layout: tn,\n"
        "   args: [a, b, out, m, n, k], tunables: {{WAIT: [{}], COPY: [{}]}},\n"
        "   constraints: [m <= 8, n % 8 == 0, k % 256 == 0], alignment: 16,\n"
        "   launch: {{grid: n // 8, block: 256, dependent: true}}, targets: [sm_90a]}}\n",
        name, kSource, wait, first_numbers(copies));
  const std::string path = (context.folder / "no_wait.yaml").string();
  ASSAY_TRY(write_file_atomic(path, text));
  return path;
}

// Of the kernels of a family: what their proofs found.
struct Found {
  int proofs = 0, right = 0, wrong = 0;
};

void add(Found& found, const KernelOutcome& kernel) {
  if (!kernel.proof) return;
  ++found.proofs;
  found.right += kernel.proof->right && !std::holds_alternative<ending::Violation>(kernel.ending);
  found.wrong += !kernel.proof->right && std::holds_alternative<ending::Mismatch>(kernel.ending);
}

Result<std::vector<Row>> measure(const Context& context, const Projection& projection) {
  ASSAY_TRY(auto request, make_gpu_request(context, fmt::format("gpu_cheat_{}", projection.name),
                                           measure::Spacing::chain));
  const int seeds = context.count(context.seeds, 1), times = context.count(kTimes, 2);
  const int copies = (times + seeds - 1) / seeds;
  ASSAY_TRY(const std::string file, manifest(context, copies));
  ASSAY_TRY(request.pool.kernels, read_sources({file}));
  request.question.kind = "race";
  request.question.subjects = {"cheat"};
  request.pool.providers = {{"cuda_source", "", {}}};
  request.question.race_class.dependent_launch = measure::DependentLaunch::allowed;
  std::vector<gemm::Shape> shapes;
  for (const int64_t m : {1, 4, 8}) shapes.push_back(gpu_shape(m, projection.n, projection.k));
  const auto count = static_cast<int>(shapes.size());
  ASSAY_TRY(request.question.problems, repeated(shapes, count * seeds));
  request.effort.budget_seconds = 0.1 * static_cast<double>(request.question.problems.size());
  ASSAY_TRY(const RunRecord record, run(request));
  Found cheats, honest;
  Json list = Json::array();
  for (const ProblemRecord& problem : record.problems) {
    for (const KernelOutcome& kernel : problem.kernels) {
      const bool cheat = kernel.metadata.member("family") == "cheat";
      add(cheat ? cheats : honest, kernel);
      int wrong_kinds = 0;
      if (kernel.proof)
        for (const ProofCheck& check : kernel.proof->checks) wrong_kinds += check.wrong > 0;
      list.push_back({{"problem", problem.name},
                      {"kernel", kernel.name},
                      {"ending", ending_name(kernel.ending)},
                      {"wrong_checks", wrong_kinds}});
    }
  }
  const int proofs = count * seeds * copies;
  Row row{.target = fmt::format("leaves out the wait: {} {}x{}, m 1, 4, 8", projection.name,
                                projection.n, projection.k),
          .bound = fmt::format("caught {0} times of {0} each; with the wait never", seeds * copies),
          .measured = fmt::format("caught {} of {}; with the wait {} of {} right", cheats.wrong,
                                  proofs, honest.right, proofs),
          .ok = cheats.proofs == proofs && cheats.wrong == proofs && honest.proofs == proofs &&
                honest.right == proofs};
  row.details = {{"seeds", seeds}, {"copies", copies}, {"proofs", list}};
  row.notes.push_back(fmt::format(
      "{}: on each shape {} fresh seeds, each for {} kernels of one code, proven one by one; "
      "{:.0f} s of wall time.",
      projection.name, seeds, copies, record.totals.wall_seconds));
  return std::vector<Row>{std::move(row)};
}

}  // namespace

Result<std::vector<Row>> measure_gpu_cheat_qkv(const Context& context) {
  return measure(context, {"qkv", 6144, 4096});
}
Result<std::vector<Row>> measure_gpu_cheat_o(const Context& context) {
  return measure(context, {"o", 4096, 4096});
}
Result<std::vector<Row>> measure_gpu_cheat_up(const Context& context) {
  return measure(context, {"up", 28672, 4096});
}
Result<std::vector<Row>> measure_gpu_cheat_down(const Context& context) {
  return measure(context, {"down", 4096, 14336});
}

}  // namespace assay::bench
