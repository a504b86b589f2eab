#include "assay/sweep/compile_ahead.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>

#include <nlohmann/json.hpp>

namespace assay::sweep {
namespace {

constexpr double kBuildSeconds = 180;  // Beyond the compiler's own limit.
constexpr double kAloneSeconds = 0.2;  // What the cache has is found faster than processes start.

class Compilations {
 public:
  Compilations(Crew& crew, const Problem& problem, const std::string& target,
               const std::vector<Json>& kernels)
      : crew_(crew),
        problem_(problem),
        target_(target),
        kernels_(kernels),
        left_(kernels.size()),
        seconds_(kernels.size()) {
    std::iota(left_.begin(), left_.end(), size_t{0});
  }

  Result<std::vector<double>> run() {
    ASSAY_TRY(Child * builder, crew_.builder());
    ASSAY_TRY(const size_t done, compile(*builder, left_, kAloneSeconds));
    left_.erase(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(done));
    if (!left_.empty()) ASSAY_TRY(compile_side_by_side());
    return std::move(seconds_);
  }

 private:
  Status compile_side_by_side() {
    const size_t processes =
        std::clamp<size_t>(std::thread::hardware_concurrency(), 1, left_.size());
    std::vector<std::vector<size_t>> shares(processes);
    for (size_t i = 0; i < left_.size(); ++i) shares[i % processes].push_back(left_[i]);
    std::vector<std::unique_ptr<Child>> compilers(processes);
    std::vector<std::function<Status()>> tasks;
    for (size_t i = 0; i < processes; ++i) {
      tasks.push_back([&, i]() -> Status {
        ASSAY_TRY(compilers[i], crew_.compiler());
        return compile(*compilers[i], shares[i], kBuildSeconds).map([](size_t) {});
      });
    }
    return crew_.side_by_side(tasks);
  }

  // In order; how many were done, of which the last one began within that time.
  Result<size_t> compile(Child& worker, const std::vector<size_t>& which, double within_seconds) {
    Json message = {{"do", "prebuild"},
                    {"problem", problem_.to_json()},
                    {"operation", problem_.operation()},
                    {"target", target_},
                    {"within_seconds", within_seconds}};
    for (const size_t kernel : which) message["rows"].push_back(kernels_[kernel]);
    const auto answer = worker.call(message, kBuildSeconds);
    // A compiler that died is no reason to do without the others.
    if (!answer && is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (!answer) return size_t{0};
    const Json taken = answer->json.value("seconds", Json::array());
    const size_t done = std::min(which.size(), taken.size());
    for (size_t i = 0; i < done; ++i)
      if (taken[i].is_number()) seconds_[which[i]] = taken[i].get<double>();
    return done;
  }

  Crew& crew_;
  const Problem& problem_;
  const std::string& target_;
  const std::vector<Json>& kernels_;
  std::vector<size_t> left_;  // Indices of kernels.
  std::vector<double> seconds_;
};

}  // namespace

Result<std::vector<double>> compile_ahead(Crew& crew, const Problem& problem,
                                          const std::string& target,
                                          const std::vector<Json>& kernels) {
  if (kernels.size() < 2) return std::vector<double>(kernels.size());
  return Compilations(crew, problem, target, kernels).run();
}

Status compile_ahead(const Request& request, const std::string& target,
                     const std::vector<Compilation>& wanted) {
  Crew crew(request);
  for (const Compilation& one : wanted)
    ASSAY_TRY(compile_ahead(crew, *one.problem, target, one.kernels).map([](const auto&) {}));
  return {};
}

}  // namespace assay::sweep
