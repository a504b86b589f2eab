#include "assay/profiler/sweep.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/profiler/answer.h"
#include "assay/profiler/earlier.h"
#include "assay/profiler/process.h"
#include "assay/profiler/question.h"
#include "assay/profiler/tool.h"

namespace assay::profiler {
namespace {

class Sweep {
 public:
  Sweep(const SweepRequest& request, SweepObserver& observer)
      : request_(request), observer_(observer) {}

  Result<ProviderResults> run() {
    results_.provider = kProvider;
    results_.binary = request_.binary;
    results_.environment = request_.machine;
    // A name that is looked for along the PATH has no file here to tell by.
    if (const auto hash = sha256_of_file(request_.binary)) hash_ = *hash;
    ASSAY_TRY(Earlier earlier, Earlier::open(request_));
    for (const std::string& note : earlier.notes()) observer_.on_note(note);
    ASSAY_TRY(const std::vector<bool> kept, keep(earlier));
    for (std::size_t i = 0; i < request_.problems.size(); ++i) {
      const Problem& problem = request_.problems[i];
      if (kept[i]) {
        observer_.on_result(i, *results_.find(problem.name()), true);
        continue;
      }
      if (const auto asked = questions(problem)) {
        observer_.on_problem(i, problem);
        ASSAY_TRY(ask(i, problem, *asked));
      } else {
        fails(i, problem, asked.error().message);
      }
      ASSAY_TRY(write());
    }
    // As they were asked for; what an earlier sweep had besides comes first.
    std::ranges::stable_sort(results_.results, {}, [&](const ProviderResult& result) {
      const auto found = std::ranges::find(request_.problems, result.name, &Problem::name);
      return found == request_.problems.end() ? -1 : found - request_.problems.begin();
    });
    ASSAY_TRY(write());
    return std::move(results_);
  }

 private:
  // What is asked in all, as a record has it.
  Json words_of(const std::vector<Question>& asked) const {
    Json list = Json::array();
    for (const Question& question : asked) list.push_back(arguments_of(question));
    return list;
  }
  std::vector<std::string> arguments_of(const Question& question) const {
    std::vector<std::string> words = question.arguments;
    words.insert(words.end(), request_.flags.begin(), request_.flags.end());
    return words;
  }
  std::string file(const Problem& problem, const char* suffix) const {
    return (request_.folder / (problem.name() + suffix)).string();
  }

  // Takes over what needs no asking, and what this sweep is not about. All of it at once: what was
  // finished is never less than it was.
  Result<std::vector<bool>> keep(Earlier& earlier) {
    std::vector<bool> kept;
    for (const Problem& problem : request_.problems) {
      const auto asked = questions(problem);
      auto found = asked ? earlier.take(problem.name(), words_of(*asked), hash_) : std::nullopt;
      kept.push_back(found.has_value());
      if (found) results_.results.push_back(std::move(*found));
    }
    for (ProviderResult& other : earlier.take_others(request_.problems))
      results_.results.push_back(std::move(other));
    if (!results_.results.empty()) ASSAY_TRY(write());
    return kept;
  }

  void fails(std::size_t index, const Problem& problem, const std::string& why) {
    results_.failed.push_back(problem.name());
    results_.reasons[problem.name()] = why;
    observer_.on_failure(index, problem, why);
  }

  Status write() const {
    return write_provider_results((request_.folder / request_.results_file).string(), results_);
  }

  Status ask(std::size_t index, const Problem& problem, const std::vector<Question>& asked) {
    const std::string log = file(problem, ".log"), csv = file(problem, ".csv");
    std::error_code ignored;
    std::filesystem::remove(log, ignored);
    std::filesystem::remove(csv, ignored);
    std::vector<std::string> unfit;
    for (const Question& question : asked) {
      ProcessOptions process;
      process.binary = request_.binary;
      process.arguments = arguments_of(question);
      process.environment = request_.environment;
      process.log = log;
      process.silence_seconds = request_.silence_seconds;
      process.cancel_fd = request_.cancel_fd;
      ASSAY_TRY(const ProcessResult ended,
                run_process(process, [&](std::size_t rows) { observer_.on_rows(rows); }));
      if (!ended.report.empty()) ASSAY_TRY(write_file_atomic(csv, ended.report));
      auto answer = read_answer(problem, question, ended.report, csv);
      if (!ended.failure.empty()) {
        std::string why = "cutlass_profiler " + ended.failure;
        if (answer)
          why += fmt::format("; before that, {} took {:.4g} ms ({} has its rows)", answer->kernel,
                             answer->runtime_ms, csv);
        fails(index, problem, why);
        return {};
      }
      if (answer) {
        finish(*answer, problem, question, asked);
        observer_.on_result(index, *answer, false);
        results_.results.push_back(std::move(*answer));
        return {};
      }
      if (answer.error().none_fitted) {
        unfit.push_back(fmt::format("A={} B={} D={}", question.a, question.b, question.out));
        continue;
      }
      fails(index, problem,
            fmt::format("cutlass_profiler ended well, but {}", answer.error().sentence));
      return {};
    }
    fails(index, problem,
          fmt::format("cutlass_profiler ended well, but none of its kernels fits {}",
                      join(unfit, ", or ")));
    return {};
  }

  void finish(ProviderResult& answer, const Problem& problem, const Question& question,
              const std::vector<Question>& asked) const {
    answer.csv = problem.name() + ".csv";
    answer.log = problem.name() + ".log";
    Json& told = answer.metadata["asked"] = Json::object();
    told["arguments"] = arguments_of(question);
    told["operands_swapped"] = question.swapped;
    told["tried"] = words_of(asked);
    if (!hash_.empty()) told["binary_sha256"] = hash_;
    answer.metadata["timed_by"] = "cutlass_profiler";
  }

  const SweepRequest& request_;
  SweepObserver& observer_;
  std::string hash_;
  ProviderResults results_;
};

}  // namespace

Result<ProviderResults> run_sweep(const SweepRequest& request, SweepObserver& observer) {
  ASSAY_TRY(make_directories(request.folder.string()));
  return Sweep(request, observer).run();
}

}  // namespace assay::profiler
