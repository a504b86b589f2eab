// The stretch: our best kernel against the best stock one, small m, one thread.

#include <cmath>

#include <fmt/format.h>

#include "bench/runs.h"

namespace assay::bench {

Result<std::vector<Row>> measure_native(const Context& context) {
  sweep::Request request = make_request(context, "native", {"native_cpu", "openblas", "onednn"});
  const std::vector<std::pair<int64_t, int64_t>> sizes = {{1024, 2048}, {2560, 1024}};
  const std::vector<int64_t> rows = {1, 2, 4, 8, 16};
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int64_t m : rows) {
      for (const auto& [n, k] : sizes) {
        if (context.quick && (m != 4 || n != sizes.front().first)) continue;
        gemm::Shape shape{.name = fmt::format("{}_m{}_n{}_k{}", to_string(dtype), m, n, k),
                          .m = m,
                          .n = n,
                          .k = k,
                          .dtype = dtype,
                          .constant = {"b"}};
        ASSAY_TRY(request.problems.emplace_back(), gemm::problem(shape));
      }
    }
  }
  request.budget_seconds = 5.0 * static_cast<double>(request.problems.size());
  ASSAY_TRY(const RunRecord record, run(request));
  Row row{.target = "native_cpu's best against the best stock, m 1-16, f32 and bf16",
          .bound = "geometric mean >= 1.2",
          .stretch = true};
  row.details = Json::array();
  double sum = 0;
  int counted = 0, faster = 0;
  for (const ProblemRecord& problem : record.problems) {
    const PairVerdict* headline = problem.headline();
    if (headline == nullptr || !headline->verdict.has_interval()) {
      row.notes.push_back(fmt::format("native {}: no verdict.", problem.name));
      continue;
    }
    const stats::Verdict& verdict = headline->verdict;
    sum += std::log(verdict.ratio);
    ++counted;
    faster += verdict.word == stats::Word::faster ? 1 : 0;
    row.notes.push_back(fmt::format("native {}: {:.3f} x, {} than {} ({}).", problem.name,
                                    verdict.ratio, stats::to_string(verdict.word),
                                    problem.label(headline->other),
                                    problem.label(headline->candidate)));
    row.details.push_back({{"problem", problem.name},
                           {"verdict", assay::to_json(verdict)},
                           {"other", problem.label(headline->other)}});
  }
  if (counted == 0) return fail(ErrorCode::failed, "no problem has a verdict");
  const double mean = std::exp(sum / counted);
  row.measured = fmt::format("{:.2f}, {} of {} faster", mean, faster, counted);
  row.ok = mean >= 1.2 && counted == static_cast<int>(record.problems.size());
  return std::vector<Row>{std::move(row)};
}

}  // namespace assay::bench
