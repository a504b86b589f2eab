#pragma once

// A described kernel as a family: its rows, what they refuse, the bytes that they need, and the
// macros that a compiler of it is told. Where the code comes from is for a provider to add, and how
// it runs for HostFamily or DeviceFamily.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/input/entry_rows.h"
#include "assay/kernel/family.h"

namespace assay::input {

class EntryFamily : public Family {
 public:
  explicit EntryFamily(EntryRows rows) : rows_(std::move(rows)) {}

  std::string_view name() const override { return entry().name; }

 protected:
  const KernelEntry& entry() const { return rows_.entry(); }
  const EntryRows& rows() const { return rows_; }

  // Of which operands a macro says the type: of all, or of those that may have several.
  enum class TypeMacros : uint8_t { all, choices };
  // "tile_m=64" of each tunable that no argument tells, "ASSAY_K=4096" of each size that the entry
  // is specialised on, "ASSAY_A_F32=1" of types.
  std::vector<std::string> macros(const KernelMetadata& row, const MaskedProblem& problem,
                                  TypeMacros types) const;

 private:
  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem,
                            int threads) const final;

  EntryRows rows_;
};

// One whose function this process calls, with tensors in its memory or on its GPU (RunsOn).
class HostFamily : public EntryFamily {
 public:
  using EntryFamily::EntryFamily;

 protected:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override;
  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target& target) const override;
};

}  // namespace assay::input
