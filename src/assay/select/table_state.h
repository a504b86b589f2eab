#pragma once

// A table in use: its kernels found in a catalog, its code where it can be mapped, its problems
// where they can be found. Not for use outside select.

#include <optional>
#include <string>
#include <vector>

#include "assay/base/file.h"
#include "assay/select/digest_map.h"
#include "assay/select/expected_loss.h"
#include "assay/select/size_index.h"
#include "assay/select/tuned_table.h"

namespace assay {

// A kernel of the table, as it is here.
struct TableKernelState {
  std::optional<Kernel> kernel;  // None: not in the catalog.
  std::string missing;           // Why not.
  std::string stale;             // What is different about it; empty: nothing.
  std::string file;              // Its code, where the table brought it.
};

class TableState {
 public:
  static Result<std::shared_ptr<const TableState>> make(TableContents contents,
                                                        const Catalog& catalog,
                                                        const TableOptions& options);

  const TableContents& contents() const { return contents_; }
  const std::vector<TableKernelState>& kernels() const { return kernels_; }
  const std::vector<std::string>& staleness() const { return staleness_; }
  const DigestMap& by_signature() const { return by_signature_; }
  const DigestMap& by_measures() const { return by_measures_; }

  struct Kind {
    uint64_t digest = 0;
    SizeIndex index;
    std::vector<uint32_t> problems;  // By the index's numbers: those with a kernel that is here.
    std::vector<KernelLoss> losses;  // Of one problem after the other, kernels that are here alone.
    std::vector<size_t> ends;        // By the index's numbers: where the next problem's begin.

    Neighbour neighbour(const SizeIndex::Hit& hit) const {
      const size_t first = hit.point == 0 ? 0 : ends[hit.point - 1];
      return {hit.distance, std::span(losses).subspan(first, ends[hit.point] - first)};
    }
  };
  const Kind* find_kind(uint64_t digest) const;

  // The compiled form of kernel `index` for a problem: out of the table, else from its family.
  Result<Artifact> artifact(uint32_t index, const Problem& problem, const Target& target) const;

 private:
  TableState() = default;
  Status find_kernels(const Catalog& catalog);
  Status put_code(const std::string& folder);
  void look_for_staleness(const Device* device);
  void index_problems();
  void add_losses(const TableProblem& problem, Kind& kind) const;

  TableContents contents_;
  CompileContext compile_;
  std::vector<TableKernelState> kernels_;
  std::vector<std::string> staleness_;
  std::vector<Kind> kinds_;  // As contents_.kinds.
  DigestMap by_signature_;   // As it was asked for: the same text, the same alignments.
  DigestMap by_measures_;    // The same data, however it was asked for.
  std::optional<TemporaryDirectory> folder_;
};

// Sentences on what a table's origin and a machine, or this library, differ in.
std::vector<std::string> differences(const TableOrigin& origin, const Device& device);
// How the code of a kernel differs from what was tuned; empty: not at all.
std::string code_difference(const TableKernel& tuned, const Artifact& here);

}  // namespace assay
