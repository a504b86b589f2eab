#include "assay/sweep/tabulate.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/op/operation.h"
#include "assay/process/messages.h"
#include "assay/select/table_contents.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/stages/rank.h"

namespace assay::sweep {
namespace {

constexpr double kFetchSeconds = 180;  // A compiler may have to run again.
constexpr size_t kMostChoices = 8;     // Winner and others: as many as are ever confirmed.
constexpr size_t kMostCodeBytes = size_t{256} << 20;

// The winner first, then the rest by what they took.
std::vector<Conclusion::Time> ranked(const ProblemRecord& problem) {
  const Confirmation* decisive = problem.decisive();
  if (decisive == nullptr) return {};
  std::vector<Conclusion::Time> times = decisive->conclusion.times;
  std::erase_if(times, [](const Conclusion::Time& time) { return time.median_us <= 0; });
  const std::string& winner = decisive->conclusion.winner;
  std::stable_sort(times.begin(), times.end(), [&](const auto& x, const auto& y) {
    if ((x.id == winner) != (y.id == winner)) return x.id == winner;
    return x.median_us < y.median_us;
  });
  if (times.size() > kMostChoices) times.resize(kMostChoices);
  return times;
}

// Each condition once, in the order of the problems.
void add_word(std::string& words, const std::string& word) {
  for (const std::string_view known : split(words, '|'))
    if (known == word) return;
  words += (words.empty() ? "" : "|") + word;
}

class Tabulator {
 public:
  explicit Tabulator(const Request& request) : crew_(request) {}

  Result<Tabulated> run(const RunRecord& record) {
    describe(record);
    for (const ProblemRecord& problem : record.problems) ASSAY_TRY(add(problem));
    TableOrigin& origin = out_.contents.origin;
    if (crew_.facts().target.empty()) {
      ASSAY_TRY(crew_.builder().map([](const Child*) {}));
    }
    origin.target = crew_.facts().target;
    return std::move(out_);
  }

 private:
  void describe(const RunRecord& record) {
    TableOrigin& origin = out_.contents.origin;
    origin.created = record.created;
    origin.run = record.id;
    origin.assay_version = record.assay_version;
    origin.assay_revision = record.assay_build.substr(0, record.assay_build.find(','));
    const Environment& environment = record.environment;
    origin.device_kind = environment.device.kind;
    origin.device_name = environment.device.name;
    origin.device_id = environment.device.id;
    origin.threads = environment.threads;
    for (const LibraryStamp& library : environment.libraries)
      origin.libraries.push_back(
          {library.provider, library.version, library.path, library.build_hash});
  }

  Status add(const ProblemRecord& record) {
    const auto leave_out = [&](std::string_view why) {
      out_.left_out.push_back(fmt::format("{}: {}", record.name, why));
    };
    if (record.winner() == nullptr) {
      leave_out(record.no_winner.empty() ? "no kernel won" : record.no_winner);
      return {};
    }
    ASSAY_TRY(const Operation* const operation, find_operation(record.operation));
    ASSAY_TRY(const Problem problem, operation->problem(record.problem));
    std::vector<TableChoice> choices;
    for (const Conclusion::Time& time : ranked(record)) {
      const KernelOutcome* kernel = record.find(time.id);
      // The reference is no choice, and a second copy of a library is no other kernel.
      if (kernel == nullptr || kernel->role == KernelRole::reference ||
          time.id.find('#') != std::string::npos)
        continue;
      ASSAY_TRY(const uint32_t index, index_of(*kernel, problem));
      choices.push_back({index, time.median_us});
    }
    if (choices.empty()) {
      leave_out("its winner cannot stand in a table");
      return {};
    }
    add_word(out_.contents.origin.condition, record.condition.to_string());
    add_word(out_.contents.origin.race_class, record.race_class.to_string());
    if (!out_.contents.add(problem, std::move(choices)))
      leave_out("the same problem stands in the table under another name");
    return {};
  }

  Result<uint32_t> index_of(const KernelOutcome& outcome, const Problem& problem) {
    const auto [known, is_new] = indices_.try_emplace(
        {outcome.id, outcome.artifact_hash}, static_cast<uint32_t>(out_.contents.kernels.size()));
    if (!is_new) return known->second;
    TableKernel kernel;
    ASSAY_TRY(kernel.metadata, KernelMetadata::from_json(outcome.metadata.json()));
    kernel.artifact_hash = outcome.artifact_hash;
    kernel.artifact_facts = outcome.artifact_facts.json();
    kernel.sample = problem.to_json();
    ASSAY_TRY(kernel.blob, fetch_code(kernel, problem));
    out_.contents.kernels.push_back(std::move(kernel));
    return known->second;
  }

  // None where a kernel has no code of its own.
  Result<std::optional<TableBlob>> fetch_code(const TableKernel& kernel, const Problem& problem) {
    ASSAY_TRY(Child* const worker,
              crew_.builder_of(kernel.metadata.provider(), kernel.metadata.family()));
    ASSAY_TRY(const auto answer,
              ask(*worker, process::Compile{problem, kernel.metadata.to_json()}, kFetchSeconds,
                  fmt::format("fetching the code of {}", kernel.label())));
    const Artifact& artifact = answer.artifact;
    if (artifact.hash != kernel.artifact_hash)
      return fail(ErrorCode::stale,
                  "the code of {} is not what was raced any more; sweep again to make a table",
                  kernel.label());
    if (artifact.file.empty()) return std::optional<TableBlob>();
    TableBlob blob;
    ASSAY_TRY(blob.bytes, read_file(artifact.file.string(), kMostCodeBytes));
    blob.file_name = artifact.file.filename().string();
    blob.target = crew_.facts().target;
    blob.visible = MaskedProblem(problem, kernel.metadata.specialised_on()).key();
    return std::optional<TableBlob>(std::move(blob));
  }

  Crew crew_;
  Tabulated out_;
  std::map<std::pair<std::string, std::string>, uint32_t> indices_;  // Id and artifact.
};

}  // namespace

Result<Tabulated> tabulate(const Request& request, const RunRecord& record) {
  return Tabulator(request).run(record);
}

}  // namespace assay::sweep
