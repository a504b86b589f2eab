#pragma once

// A user's reference as a process of its own, where it may crash and hang: it is told to run, reads
// inputs and writes the output as float64 in memory that both processes have mapped. Not for use
// outside op/user.

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/op/problem.h"
#include "assay/op/user/definition.h"

namespace assay::user {

// The value of a scalar, as text that reads back exactly in C++ and in Python.
std::string scalar_text(const Problem& problem, const std::string& name);

class Reference {
 public:
  static constexpr int64_t kDeadlineSeconds = 60;  // Of one run, unless said otherwise.

  using Program = std::shared_ptr<const UniqueFd>;  // Compiled, open for reading.

  // Compiles it, if it is C++ and there is no `program` of this problem yet, and starts it. Errors
  // say what the compiler, or Python, says.
  static Result<std::shared_ptr<Reference>> start(const Definition& definition,
                                                  const Problem& problem,
                                                  int64_t deadline_seconds = kDeadlineSeconds,
                                                  Program program = nullptr);

  // What was started, for the next one of the same problem; nullptr if it is Python.
  const Program& program() const { return program_; }

  // One output. Each of `inputs` is an operand's elements, or empty for the output's. One at a
  // time, whoever asks; it is started again after a crash.
  Result<std::vector<double>> run(std::span<const std::vector<double>> inputs);

  // The shortest run so far: waiting for others, and a busy machine, are none of its doing.
  double seconds() const { return seconds_; }

  // What is wrong with it, behind the place where its function is defined.
  Error wrong(const std::string& what) const;

 private:
  Reference(Definition definition, Problem problem, int64_t deadline_seconds)
      : definition_(std::move(definition)),
        problem_(std::move(problem)),
        deadline_seconds_(deadline_seconds) {}

  Status begin();
  Status begin_cpp();
  Status compile();
  Status begin_python();
  Status start_program(SubprocessOptions options, std::span<const FdMapping> more);
  Status ask();
  Result<std::string> answer();
  Error ended();
  std::string call_text() const;  // As it is to be declared.

  Definition definition_;
  Problem problem_;
  int64_t deadline_seconds_;
  std::vector<size_t> places_;  // Of each operand in the arena, in float64s.
  size_t out_ = 0, out_elements_ = 0, all_ = 0;
  UniqueFd arena_file_;
  MappedFile arena_;
  Program program_;
  std::optional<Subprocess> process_;
  std::mutex mutex_;
  std::atomic<double> seconds_ = std::numeric_limits<double>::max();
};

}  // namespace assay::user
