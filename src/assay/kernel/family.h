#pragma once

// What an author of kernels writes: one stateless object per design space. Kernel and Catalog call
// the private hooks; each is told the row that it speaks for.

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "assay/device/device.h"
#include "assay/kernel/artifact.h"
#include "assay/kernel/guest_program.h"
#include "assay/kernel/metadata.h"
#include "assay/kernel/plan.h"
#include "assay/kernel/refusals.h"
#include "assay/op/problem.h"

namespace assay {

// What enumerate is asked for. Families test a rule with admits() before they make its rows; what
// it keeps out is counted with the reason.
class Query {
 public:
  Query(const Problem* problem, const Target* target, RefusalCounts* refusals)
      : problem_(problem), target_(target), refusals_(refusals) {}

  const Problem* problem() const { return problem_; }  // Null: everything.
  const Target* target() const { return target_; }     // Null: any.

  // True if rows under this rule may match; otherwise `rows` kernels are counted as refused.
  bool admits(const ProblemRule& rule, int64_t rows) const;

  // Rows that admits() has let through so far: how much room a collector may want to make.
  int64_t admitted() const { return admitted_; }

  // A row-level refusal that a family knows while enumerating.
  void refuse(Reason reason, std::string_view sentence, int64_t rows = 1) const;

 private:
  const Problem* problem_;
  const Target* target_;
  RefusalCounts* refusals_;
  mutable int64_t admitted_ = 0;
};

// Takes a row; it is copied if it is kept, so a family may reuse one object for all rows.
using MetadataSink = std::function<void(const KernelMetadata&)>;

// What bind and prepare see.
struct Binding {
  const Problem& problem;
  std::span<void* const> data;  // One pointer per operand, in the problem's order.
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  std::span<std::byte> prepared;  // What prepare allocated.
  const Artifact& artifact;
  Device& device;
  int threads = 1;  // Cores that the kernel may use.
};

// Memory for packed constants. The harness decides where it lies (placement, huge pages).
class Prepared {
 public:
  virtual ~Prepared() = default;
  // Once per plan; aligned to 4096 bytes.
  virtual Result<std::span<std::byte>> allocate(size_t bytes) = 0;
};

// What compiling may use: the cache, a compiler, a log. Given, never global.
struct CompileContext {
  const ArtifactCache* cache = nullptr;
  std::string cxx = "c++";       // C++ compiler for cpp_source.
  double timeout_seconds = 120;  // Of one call of a compiler.
  int64_t memory_bytes = 0;      // Address space of a compiler that is a process; 0: no limit.
  int cancel_fd = -1;            // Readable: compilers end, ErrorCode::interrupted.
  // Runs what runs code of users; null: such a kernel cannot be compiled here.
  RunGuest run_guest = nullptr;
};

// Sizes outside metadata.specialised_on read as 0 here, so that a cache key cannot lie.
class MaskedProblem {
 public:
  MaskedProblem(const Problem& problem, std::span<const std::string> visible);
  // The problem with its masked dimensions, and all sizes, strides and spans of operands, set to 0:
  // dtypes, promised alignments, lifetimes, layout and attributes are always visible.
  const Problem& unmasked_types() const { return problem_; }
  int64_t dimension(std::string_view name) const { return problem_.dimension(name); }
  Json key() const;  // All that is visible, for an ArtifactCache's key.

 private:
  Problem problem_;
};

class Exportable;  // export.h

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;

  // Null where its kernels cannot be written down as source.
  virtual const Exportable* exportable() const { return nullptr; }

 private:
  friend class Kernel;
  friend class Catalog;

  // Calls sink for each row that the query may still match. Lazy: rules first, rows after.
  virtual void do_enumerate(const Query& query, const MetadataSink& sink) const = 0;

  // Beyond what the rule says; empty means yes.
  virtual Refusals do_supports(const KernelMetadata&, const Problem&, const Target&) const {
    return {};
  }

  virtual Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                                      const Target& target,
                                      const CompileContext& context) const = 0;

  virtual size_t do_workspace_bytes(const KernelMetadata&, const Problem&, int /*threads*/) const {
    return 0;
  }

  // Packs constant operands into memory from `prepared`. Only called where metadata.prepares.
  virtual Status do_prepare(const KernelMetadata&, const Binding&, Prepared&) const { return {}; }

  // Rows of this family with the same layout (not empty) pack a problem's constants into the same
  // bytes, so that a harness with many of them packs once.
  virtual std::string do_prepared_layout(const KernelMetadata&, const Problem&) const { return {}; }

  virtual Status do_bind(const KernelMetadata& row, const Binding& binding,
                         std::vector<Step>& steps) const = 0;
};

}  // namespace assay
