#pragma once

// A described kernel of device code as a family: its rows, its launch geometry, how it is bound.
// A provider adds where the code comes from. An artifact's file is an image that a driver loads (a
// cubin, or PTX), and its fact "symbol" the function in it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/input/entry_family.h"
#include "assay/kernel/device_code/bind.h"
#include "assay/kernel/export.h"
#include "assay/kernel/family.h"

namespace assay::input {

class DeviceFamily : public EntryFamily, public Exportable {
 public:
  // The expressions of an entry's `launch`.
  struct Launch {
    std::vector<Expression> grid, block, cluster;
    std::optional<Expression> shared;
    std::vector<std::vector<Expression>> boxes;  // Of the entry's maps, in their order.
  };
  struct Description {
    EntryRows rows;
    Launch launch;
  };
  // Errors (invalid_input or unsupported, prefixed by entry.origin): no field launch, an expression
  // that cannot be parsed, what device code cannot do.
  static Result<Description> describe(const KernelEntry& entry);

  const Exportable* exportable() const final { return this; }

  explicit DeviceFamily(Description description)
      : EntryFamily(std::move(description.rows)), launch_(std::move(description.launch)) {}

  Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                  const ExportOptions& options) const final;

 protected:
  // A launch as the entry says it, and what args names.
  struct Call {
    device_code::Geometry geometry;
    std::vector<ArgumentValue> values;
  };

 private:
  // Of a row that another one stands for on this problem: why.
  virtual std::string twin_objection(const KernelMetadata&, const Problem&) const { return {}; }

  // What compiling decided of the call.
  virtual Status do_adapt(const Artifact&, Call&) const { return {}; }

  // Why the code cannot run on a GPU of this architecture; empty where it can.
  virtual std::string code_objection(const Target&) const { return {}; }

  void do_enumerate(const Query& query, const MetadataSink& sink) const final;
  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target& target) const final;
  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const final;

  std::string launch_objection(const KernelMetadata& row, const Problem& problem) const;
  Result<device_code::Geometry> geometry_of(const KernelMetadata& row,
                                            const Problem& problem) const;
  // As it is made: the entry's, and what compiling decided of it.
  Result<Call> call_of(const KernelMetadata& row, const Problem& problem, int threads,
                       const Artifact& artifact) const;
  // What its function is given, tensor maps described.
  Result<std::vector<ArgumentValue>> parameters_of(const KernelMetadata& row,
                                                   const Problem& problem, int threads) const;
  Result<TensorMapShape> map_of(size_t index, const KernelMetadata& row,
                                const Problem& problem) const;

  Launch launch_;
};

}  // namespace assay::input
