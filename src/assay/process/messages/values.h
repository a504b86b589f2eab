#pragma once

// Values that several messages have.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/device/cuda/shared_memory.h"
#include "assay/kernel/artifact.h"
#include "assay/op/operation.h"
#include "assay/process/message.h"
#include "assay/record/outcome.h"

namespace assay::process {

// The answer of who has done what it was asked, and has nothing else to say.
struct Done {};

// A problem, by its operation's name and the fields that make it again.
class SentProblem {
 public:
  SentProblem() = default;
  SentProblem(const Problem& problem) : problem_(problem) {}  // NOLINT: it is one.
  const Problem& operator*() const { return *problem_; }
  const Problem* operator->() const { return &*problem_; }

 private:
  std::optional<Problem> problem_;  // There in all messages that were read.
};

// A kernel to be run: its row, as its metadata is written (kernel/metadata.h), and compiled form.
struct BuiltKernel {
  Json row;
  Artifact artifact;
};

// An output on its way from a worker to the referee: one of the message's files, by its place among
// them, or memory of the GPU.
struct SentOutput {
  std::optional<uint32_t> file;
  std::optional<cuda::SharedMemory> gpu;
};
// What is wrong with outputs that do not take the files one by one, in their order.
Status check_files(const std::vector<const SentOutput*>& outputs, const Files& files);

// What a worker says of a kernel's object and of what it holds, which candidates may have forged.
struct ObjectFacts {
  int64_t own_memory_bytes = 0;
  std::vector<Finding> loaded;  // What it did to the process when it was loaded, to follow "it".
};

}  // namespace assay::process
