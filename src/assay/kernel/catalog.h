#pragma once

// What can be asked for kernels.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/kernel.h"
#include "assay/kernel/provider.h"

namespace assay {

class Filter;

struct KernelQuery {
  std::optional<Target> target;                      // Null: any.
  std::function<bool(const KernelMetadata&)> where;  // Predicate; or
  // text: "tile_m == 256 and provider == 'openblas'". An attribute that no kernel of the catalog
  // has is an error with the nearest name; a kernel that lacks one which decides does not match.
  std::string filter;
  std::vector<std::string> providers;  // Empty: all. Unknown names are errors.
  std::vector<std::string> families;   // Empty: all. Others are not asked, and counted nowhere.
};

// In the order of the catalog's entries (Catalog::add), and of each family's rows. Kernels that
// `where`, `filter` or `providers` left out are counted under Reason::filter and Reason::provider;
// a provider whose library is missing counts once under Reason::library_missing.
struct Found {
  std::vector<Kernel> kernels;
  RefusalCounts refusals;
};

class Catalog {
 public:
  // In process: one family under a provider's name (S2.2). Names a role for "ours" and "stock". Its
  // rows carry that name, whatever the family wrote. Entries stand by rank (ProviderInfo::rank),
  // and in the order in which they came where it is the same: the first stock default of a problem
  // is its baseline, whatever the folders are called.
  void add(std::string provider, ProviderRole role, std::shared_ptr<const Family> family,
           int rank = kNoRank);

  // All families of a provider; if its library is missing, that is remembered as a refusal.
  void add(const Provider& provider, const ProviderSettings& settings = {});

  // Everything; what can run a problem; or what could be compiled for a target. With both, each
  // family's own do_supports is asked too: the answer is then the same as Kernel::supports.
  Result<Found> get_kernels(const KernelQuery& query = {}) const;
  Result<Found> get_kernels(const Problem& problem, const KernelQuery& query = {}) const;

  // S2.9: by id, or at least 8 of its first digits if they fit one kernel only. The problem it was
  // found for shortens the search; null looks at every row.
  Result<Kernel> find(std::string_view id, const Problem* problem = nullptr) const;

  // From metadata as it crossed a process: family looked up by provider and family name. The design
  // is not checked against the family's rows; metadata from elsewhere goes through find(id).
  Result<Kernel> from_metadata(const KernelMetadata& metadata) const;

  struct Entry {
    std::string provider;
    ProviderRole role;
    std::shared_ptr<const Family> family;
    int rank;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& missing() const {
    return missing_;
  }  // provider -> reason.

 private:
  Result<Found> search(const Problem* problem, const KernelQuery& query) const;
  Status check_providers(const std::vector<std::string>& names) const;
  Status check_filter(Filter& filter) const;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> missing_;
};

}  // namespace assay
