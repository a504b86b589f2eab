#pragma once

// The run-time end of a sweep: which kernel for this problem, ready to launch. Small enough to
// ship: a table is one binary file with the code that it needs, and nothing here reads YAML or
// times.
//
//   auto table = TunedTable::load("decode.assay", catalog);
//   auto plan = table->plan({problem, {a, b, out}}, device);  // gemm/tuned.h: by its arguments.
//   plan->launch(stream);

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/catalog.h"
#include "assay/op/problem.h"
#include "assay/select/table_contents.h"

namespace assay {

class TableState;

// By which rule a kernel was chosen.
enum class ChoiceRule : uint8_t {
  exact,         // The problem was tuned.
  less_aligned,  // It was tuned with operands that lie more aligned; the kernel takes it all the
                 // same.
  // Others of the same kind were (kind_of(): the same dtypes, majors, lifetimes and attributes). Of
  // the kernels that the six nearest of them confirmed and that can take this problem, the one with
  // the least expected loss: the mean over these six of log(its time / the winner's), 0.1 where it
  // was not confirmed, weighted by 1 / distance^2. The distance is Euclidean, of log2 of the
  // dimensions, each times its weight (TableKind; m counts twice). Of equally near problems those
  // that stand first in the table count; of equal losses that of the nearest problem. Where none of
  // these kernels can, the best kernel that can of the nearest problem that has one.
  nearest,
};
std::string_view to_string(ChoiceRule rule);

struct Choice {
  const Kernel* kernel = nullptr;  // Of the table: alive as long as it, or a plan made by it.
  ChoiceRule rule = ChoiceRule::exact;
  // The tuned one that decided, in the table's order; by the rule `nearest` the nearest of those
  // that decided and that confirmed the kernel.
  uint32_t problem = 0;
  uint32_t rank = 0;    // The kernel's there: 0 won; 1 was the best of the others.
  float distance = 0;   // From there, by the rule `nearest`; 0 where the sizes are the same.
  double tuned_us = 0;  // What the kernel took there; 0 unknown.
};

// A kernel bound to arguments. Move-only, used by one stream at a time; it keeps code, packed
// operands and workspace alive, never the tensors.
class TunedPlan {
 public:
  // The hot path: no allocation, no lock, no look-up unless it fails.
  Status launch(Stream& stream, Dependency dependency = Dependency::full) noexcept {
    return plan_.launch(stream, dependency);
  }
  // Same problem, new pointers; see Plan::rebind.
  Status rebind(std::span<void* const> data) noexcept { return plan_.rebind(data); }

  const Choice& choice() const { return choice_; }
  const Kernel& kernel() const { return *choice_.kernel; }
  // Kernels that would have been preferred and why they are not here, and what is stale about the
  // one that is.
  const std::vector<std::string>& notes() const { return notes_; }
  // The rule and the tuned problems that decided, the nearest first: "exact: up_m4", or
  // "nearest: up_m4, at a distance of 1.17; up_m8, at 2.83".
  const std::string& reason() const { return reason_; }

  Plan& plan() { return plan_; }

 private:
  friend class TunedTable;
  TunedPlan() = default;
  Plan plan_;
  Choice choice_;
  std::unique_ptr<Buffer> workspace_;
  std::string reason_;
  std::vector<std::string> notes_;
  std::shared_ptr<const TableState> table_;
};

struct TableOptions {
  // For kernels whose code is not in the table and must be compiled: without a cache, sources of
  // users are refused. The cache must outlive the table and its plans.
  CompileContext compile;
  // Where code out of the table is put while the table is in use, in a folder of its own.
  std::string folder = "/tmp";
  // The machine that it will be used on; null: this process's CPU.
  const Device* device = nullptr;
};

// Immutable once loaded: any thread may ask it anything at any time. Cheap to copy.
class TunedTable {
 public:
  // A stale table loads, and says so (staleness()). Errors: not_found, or invalid_input for a file
  // that is no table of this version or is damaged; unsupported where the catalog has not one of
  // its kernels, with the reasons; machine where its code cannot be put into the folder. Trust a
  // table as you trust a program: it may bring code.
  static Result<TunedTable> load(const std::filesystem::path& path, const Catalog& catalog,
                                 const TableOptions& options = {});
  static Result<TunedTable> create(TableContents contents, const Catalog& catalog,
                                   const TableOptions& options = {});

  // One sentence for each way in which the table is not of this machine, this library or these
  // kernels; empty: all as it was when it was tuned.
  const std::vector<std::string>& staleness() const;

  // Which kernel. Allocates nothing, takes no lock and, for a problem that was tuned, looks at no
  // kernel: that this device can still run it is asked by plan(). Errors: unsupported, with the
  // reasons, where no kernel of the table can take the problem.
  Result<Choice> choose(const Problem& problem, const Target& target) const;

  // The first choice that this device can run, compiled, prepared and bound. Kernels use the
  // device's threads.
  Result<TunedPlan> plan(const Arguments& arguments, Device& device) const;

  const TableContents& contents() const;  // Without the bytes of blobs.

 private:
  explicit TunedTable(std::shared_ptr<const TableState> state) : state_(std::move(state)) {}
  std::shared_ptr<const TableState> state_;
};

}  // namespace assay
