#pragma once

// What can be asked for kernels.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/kernel.h"
#include "assay/kernel/provider.h"

namespace assay {

struct KernelQuery {
  std::optional<Target> target;                            // Null: any.
  std::function<bool(const KernelMetadata&)> where;        // Predicate; or
  std::string filter;                                      // text: "tile_m == 256 and provider == 'openblas'".
  std::vector<std::string> providers;                      // Empty: all.
};

struct Found {
  std::vector<Kernel> kernels;
  RefusalCounts refusals;
  // Kernels that `where`, `filter` or `providers` left out are counted under Reason::filter/provider.
};

class Catalog {
 public:
  // In process: one family under a provider's name (S2.2). Names a role for "ours" and "stock".
  void add(std::string provider, ProviderRole role, std::shared_ptr<const Family> family);

  // All families of a provider; if its library is missing, that is remembered as a refusal.
  void add(const Provider& provider, const ProviderSettings& settings = {});

  // Everything; what can run a problem; or what could be compiled for a target.
  Result<Found> get_kernels(const KernelQuery& query = {}) const;
  Result<Found> get_kernels(const Problem& problem, const KernelQuery& query = {}) const;

  // S2.9: by id. Needs the problem it was found for, or null to search every row.
  Result<Kernel> find(std::string_view id, const Problem* problem = nullptr) const;

  // From metadata as it crossed a process: family looked up by provider and family name.
  Result<Kernel> from_metadata(const KernelMetadata& metadata) const;

  struct Entry {
    std::string provider;
    ProviderRole role;
    std::shared_ptr<const Family> family;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& missing() const { return missing_; }  // provider -> reason.

 private:
  Result<Found> search(const Problem* problem, const KernelQuery& query) const;
  std::vector<Entry> entries_;
  std::map<std::string, std::string> missing_;
};

}  // namespace assay
