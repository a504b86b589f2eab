#pragma once

// A described kernel as the rows of a family: what its tunables span, which of them a problem
// leaves and why not the others, and the bytes that they need. For providers of what users bring.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/design_space.h"
#include "assay/kernel/provider.h"

namespace assay::input {

// Whether the kernel, or its preparation, heeds what `args` calls so.
bool is_told(const KernelEntry& entry, std::string_view name);

enum class RunsOn : uint8_t { cores, gpu };

class EntryRows {
 public:
  // `besides`: attributes of every row that no tunable says. runs_on: where its tensors lie; an
  // entry that says how it is launched is for a GPU, any other for cores, unless this says more.
  // Errors (invalid_input, prefixed by entry.origin): an expression that cannot be parsed, no rule.
  static Result<EntryRows> create(KernelEntry entry, const std::vector<DesignAxis>& besides = {},
                                  std::optional<RunsOn> runs_on = std::nullopt);

  const KernelEntry& entry() const { return entry_; }

  // Rows that the query's problem leaves; the others are counted with the reason.
  void enumerate(const Query& query, const MetadataSink& sink) const;

  // What constraints, sizes in bytes, and gaps that the kernel is not told of have against a row on
  // a problem; empty: nothing.
  std::optional<Refusal> objection(const Design& design, const Problem& problem) const;

  // Of an expression over sizes and tunables.
  static Result<int64_t> evaluate(const Expression& expression, const Design& design,
                                  const Problem& problem);

  size_t workspace_bytes(const Design& design, const Problem& problem, int threads) const;
  size_t prepare_bytes(const Design& design, const Problem& problem) const;

 private:
  EntryRows(KernelEntry entry, std::optional<Expression> workspace,
            std::optional<Expression> prepare_bytes, const std::vector<DesignAxis>& besides,
            RunsOn runs_on);
  std::vector<DesignGroup> groups(const std::vector<DesignAxis>& besides) const;
  bool is_static(const Expression& expression) const;

  KernelEntry entry_;
  std::optional<Expression> workspace_, prepare_bytes_;
  DesignSpace space_;
  RunsOn runs_on_;
};

}  // namespace assay::input
