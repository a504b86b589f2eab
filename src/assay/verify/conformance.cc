#include "assay/verify/conformance.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/kernel/metadata_identity.h"
#include "assay/op/operation.h"
#include "assay/verify/conformance_run.h"

namespace assay::verify {
namespace {

constexpr size_t kMostFaults = 8;         // Of one check: more of them say nothing new.
constexpr size_t kShortestSentence = 10;  // "no" is no reason.

void add(ConformanceResult& result, std::string fault) {
  if (result.faults.size() < kMostFaults) result.faults.push_back(std::move(fault));
}

std::vector<KernelMetadata> rows_of(const Catalog& catalog, ConformanceResult& result) {
  std::vector<KernelMetadata> rows;
  const auto found = catalog.get_kernels();
  if (!found) add(result, found.error().message);
  if (found)
    for (const Kernel& kernel : found->kernels) rows.push_back(kernel.metadata());
  return rows;
}

ConformanceResult families_have_names(const ConformanceSubject& subject, const Problem*) {
  ConformanceResult result;
  std::set<std::string_view> names;
  for (const Catalog::Entry& entry : subject.catalog.entries()) {
    ++result.looked_at;
    if (entry.family->name().empty()) add(result, "a family without a name");
    if (!names.insert(entry.family->name()).second)
      add(result, fmt::format("two families are called {}", entry.family->name()));
  }
  return result;
}

ConformanceResult rows_are_themselves(const ConformanceSubject& subject, const Problem*) {
  ConformanceResult result;
  const std::vector<KernelMetadata> rows = rows_of(subject.catalog, result);
  if (rows.empty() && result.faults.empty()) add(result, "there is no kernel");
  std::map<std::string, std::string> ids;
  std::set<std::string> names;
  for (const KernelMetadata& row : rows) {
    ++result.looked_at;
    const auto [other, fresh] = ids.emplace(row.id(), row.name());
    if (!fresh) add(result, fmt::format("{} has the id of {}", row.name(), other->second));
    // Rows of different rules (dtypes, say) may share a name; a problem sees only one of them.
    if (!names.insert(row.family() + " " + row.name() + " " + row.rule().to_json().dump()).second)
      add(result, fmt::format("two kernels are called {}", row.name()));
    if (row.name().find_first_of("{} \n") != std::string::npos)
      add(result, fmt::format("'{}' is no name", row.name()));
    const auto again = KernelMetadata::from_json(row.to_json());
    if (!again)
      add(result, fmt::format("{} as JSON: {}", row.name(), again.error().message));
    else if (again->id() != row.id() || again->to_json() != row.to_json())
      add(result, fmt::format("{} is another one after it was JSON", row.name()));
  }
  if (rows.empty()) return result;
  const auto found = subject.catalog.find(rows.front().id());
  if (!found || found->metadata().name() != rows.front().name())
    add(result, fmt::format("{} is not found again by its id", rows.front().name()));
  return result;
}

ConformanceResult enumerates_alike(const ConformanceSubject& subject, const Problem*) {
  ConformanceResult result;
  std::vector<std::string> first, second;
  for (const KernelMetadata& row : rows_of(subject.catalog, result)) first.push_back(row.id());
  for (const KernelMetadata& row : rows_of(subject.catalog, result)) second.push_back(row.id());
  result.looked_at = static_cast<int64_t>(first.size());
  if (first != second) add(result, "asked twice, it lists other kernels");
  return result;
}

ConformanceResult counts_what_it_refuses(const ConformanceSubject& subject,
                                         const Problem* problem) {
  ConformanceResult result;
  std::set<std::string> all;
  KernelIds ids;  // Of thousands of rows, for each problem.
  for (const KernelMetadata& row : rows_of(subject.catalog, result)) all.insert(ids.id(row));
  const auto found = subject.catalog.get_kernels(*problem);
  if (!found) {
    add(result, found.error().message);
    return result;
  }
  std::set<std::string> names;
  int64_t more = 0;  // That only this problem has.
  for (const Kernel& kernel : found->kernels) {
    const KernelMetadata& row = kernel.metadata();
    if (!all.contains(ids.id(row))) {
      ++more;
      if (!subject.rows_by_problem)
        add(result, fmt::format("{} is listed for a problem, and not among all", row.name()));
    }
    if (!names.insert(row.family() + "/" + row.name()).second)
      add(result, fmt::format("two kernels are called {}", row.name()));
  }
  result.looked_at = static_cast<int64_t>(all.size());
  const auto seen = static_cast<int64_t>(found->kernels.size()) + found->refusals.total() -
                    (subject.rows_by_problem ? more : 0);
  if (seen != result.looked_at)
    add(result, fmt::format("of {} kernels {} are listed or refused: rows vanished without a "
                            "refusal, or were counted twice",
                            all.size(), seen));
  return result;
}

ConformanceResult refuses_in_sentences(const ConformanceSubject& subject, const Problem* problem) {
  ConformanceResult result;
  Target other;
  other.arch = "no_such_arch";
  for (const KernelMetadata& row : rows_of(subject.catalog, result)) {
    const auto kernel = subject.catalog.from_metadata(row);
    if (!kernel) {
      add(result, kernel.error().message);
      continue;
    }
    for (const Refusal& refusal : kernel->supports(*problem, subject.device.target())) {
      ++result.looked_at;
      if (refusal.sentence.size() < kShortestSentence)
        add(result, fmt::format("{}: '{}' does not say why", row.name(), refusal.sentence));
    }
    if (!row.rule().targets.empty() && kernel->supports(*problem, other).empty())
      add(result, fmt::format("{} claims to run on a foreign target", row.name()));
  }
  return result;
}

// A kernel may be asked whenever and as often as anybody likes.
ConformanceResult answers_alike(const ConformanceSubject& subject, const Problem* problem) {
  constexpr int kAsked = 4;  // One that answers by turns need not take only two.
  ConformanceResult result;
  const Target& target = subject.device.target();
  for (const KernelMetadata& row : rows_of(subject.catalog, result)) {
    const auto kernel = subject.catalog.from_metadata(row);
    if (!kernel) continue;  // Said elsewhere.
    ++result.looked_at;
    const Refusals first = kernel->supports(*problem, target);
    for (int asked = 1; asked < kAsked; ++asked) {
      const Refusals again = kernel->supports(*problem, target);
      if (std::ranges::equal(first, again)) continue;
      const Refusals& refused = first.empty() ? again : first;
      add(result,
          fmt::format("{}: asked {} times, it does not always say the same: once it {}, and "
                      "once it refused: {}",
                      row.name(), asked + 1,
                      first.empty() || again.empty() ? "took the problem" : "said otherwise",
                      refused.front().sentence));
      break;
    }
  }
  return result;
}

// Kernels that can do the problem here: not more than wanted, spread over all.
Result<std::vector<Kernel>> chosen(const ConformanceSubject& subject, const Problem& problem,
                                   RefusalCounts& refusals) {
  ASSAY_TRY(Found found, subject.catalog.get_kernels(problem, {.target = subject.device.target()}));
  refusals = std::move(found.refusals);
  const size_t count = found.kernels.size(), most = subject.rows_per_problem;
  if (most == 0 || count <= most) return std::move(found.kernels);
  std::vector<Kernel> kernels;
  for (size_t i = 0; i < most; ++i) kernels.push_back(found.kernels[i * count / most]);
  return kernels;
}

ConformanceResult computes(const ConformanceSubject& subject, const Problem* problem) {
  ConformanceResult result;
  const auto kernels = chosen(subject, *problem, result.refusals);
  if (!kernels) add(result, kernels.error().message);
  if (!kernels || kernels->empty()) return result;
  const auto run = ConformanceRun::create(*problem, subject.device);
  if (!run) {
    add(result, run.error().message);
    return result;
  }
  const int most_threads = subject.device.fingerprint().kind == "gpu" ? 1 : 2;
  for (const Kernel& kernel : *kernels) {
    for (int threads = 1; threads <= most_threads; ++threads) {
      Status done = run->compute(kernel, subject.context, threads, result.looked_at);
      if (done && subject.at_rest && !subject.at_rest())
        done = fail(ErrorCode::failed, "a thread of it is still at work long after its launches");
      if (done) continue;
      add(result, fmt::format("{} with {} thread{}: {}", kernel.metadata().name(), threads,
                              threads == 1 ? "" : "s", done.error().message));
      break;
    }
    result.ran.insert(kernel.metadata().id());
  }
  return result;
}

constexpr ConformanceCheck kChecks[] = {
    {"families", "families have names of their own", "families", false, families_have_names},
    {"rows", "kernels have names and ids of their own, and survive JSON", "kernels", false,
     rows_are_themselves},
    {"lists", "lists the same kernels whenever it is asked", "kernels", false, enumerates_alike},
    {"counts", "every kernel is listed for a problem, or refused", "kernels", true,
     counts_what_it_refuses},
    {"refusals", "refuses in sentences, and never runs on a foreign target", "refusals", true,
     refuses_in_sentences},
    {"answers", "says the same of a problem whenever it is asked", "kernels", true, answers_alike},
    {"computes", "computes what it supports, within its buffers, on new pointers too", "launches",
     true, computes}};

}  // namespace

std::span<const ConformanceCheck> conformance_checks() { return kChecks; }

Result<std::vector<Problem>> conformance_problems() {
  std::vector<Problem> problems;
  for (const Operation* operation : built_in_operations()) {
    ASSAY_TRY(auto own, operation->telling_problems());
    std::move(own.begin(), own.end(), std::back_inserter(problems));
  }
  return problems;
}

}  // namespace assay::verify
