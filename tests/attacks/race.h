#pragma once

// A race of attacking kernels beside an honest one, by the real program, and what its record says.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "testing/assay_program.h"

namespace assay::testing {

struct RaceOptions {
  std::vector<std::string> kernels;  // Names of files in tests/attacks/kernels/, without ".cc".
  std::vector<std::string> shapes = {"m=24,n=40,k=57,dtype=f32,layout=tt"};
  std::string budget = "1s";
  int processes = 3;
  std::vector<std::string> more;  // Further words of the command.
  std::vector<std::string> files = {AssayProgram::source("tests/faults/candidates/good.cc")};
  std::vector<std::string> wrapper;  // Words in front of the program.
};

// "62_patched_clock" is the file of the kernel "patched_clock".
inline std::string kernel_of(const std::string& file) { return file.substr(3); }
inline std::string attack_file(const std::string& name) {
  return AssayProgram::source("tests/attacks/kernels/" + name + ".cc");
}

inline std::vector<std::string> race_words(const RaceOptions& options) {
  std::vector<std::string> words = {"sweep"};
  for (const std::string& shape : options.shapes) words.insert(words.end(), {"--shape", shape});
  words.insert(words.end(),
               {"--provider", "cpp_source", "--threads", "1", "--budget", options.budget,
                "--processes", std::to_string(options.processes), "--output-dir", "run"});
  words.insert(words.end(), options.more.begin(), options.more.end());
  words.emplace_back("--kernels");
  words.insert(words.end(), options.files.begin(), options.files.end());
  for (const std::string& kernel : options.kernels) words.push_back(attack_file(kernel));
  return words;
}

// Whether the problem's verdict calls it faster than anything.
inline bool is_called_faster(const ProblemRecord& problem, const KernelOutcome& kernel) {
  const Conclusion* conclusion = problem.conclusion();
  if (conclusion == nullptr) return false;
  const auto says_so = [&](const PairVerdict& pair) {
    return (pair.candidate == kernel.id && pair.verdict.word == stats::Word::faster) ||
           (pair.other == kernel.id && pair.verdict.word == stats::Word::slower);
  };
  return std::ranges::any_of(conclusion->against_leader, says_so) ||
         std::ranges::any_of(conclusion->against_stock, says_so);
}

// A program's folder, how the race in it ended, and its record; none where there is none.
class Race {
 public:
  // With rights of its own for the program, where with() has them, or else with options.wrapper.
  static Race run(const RaceOptions& options, std::optional<Rights> rights = std::nullopt) {
    Race race;
    const auto wrapper = rights ? race.assay_.with(*rights) : std::nullopt;
    race.finished_ = race.assay_.run(race_words(options), wrapper.value_or(options.wrapper));
    auto record = load_record(race.assay_.file("run/record.json"));
    if (record) race.record_ = std::move(*record);
    return race;
  }

  const AssayProgram& assay() const { return assay_; }
  const Finished& finished() const { return finished_; }
  bool has_record() const { return record_.has_value(); }
  const RunRecord& record() const { return *record_; }
  const ProblemRecord& problem(size_t index = 0) const { return record_->problems.at(index); }
  // Null where the record has no such kernel.
  const KernelOutcome* outcome(const std::string& kernel, size_t problem_index = 0) const {
    return has_record() ? find_kernel(problem(problem_index), kernel) : nullptr;
  }
  std::string winner() const {
    return has_record() && problem().winner() != nullptr ? problem().winner()->name : "";
  }

 private:
  AssayProgram assay_;
  Finished finished_;
  std::optional<RunRecord> record_;
};

}  // namespace assay::testing
