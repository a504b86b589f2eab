#pragma once

// What this process has of assay: the providers' kernels, their libraries loaded once, and a
// device for each number of threads. Made when it is first asked for.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "assay/device/device.h"
#include "assay/kernel/catalog.h"

namespace assay::python {

class Session {
 public:
  static Session& get();

  const std::vector<std::unique_ptr<Provider>>& providers() const { return providers_; }

  // Of all providers; those of role reference only where one of them is named.
  const Catalog& catalog(const std::vector<std::string>& names);
  // Of all providers, and the kernels of users' files, whose code is loaded into this process.
  Result<std::unique_ptr<Catalog>> catalog_with(const std::vector<std::string>& files) const;
  ProviderRole role_of(const KernelMetadata& kernel) const;

  // threads: 0 for as many as the program takes by default. Errors: more than there are cores.
  std::shared_ptr<Device> device(int threads);

 private:
  Session() : providers_(built_in_providers()) {}
  std::unique_ptr<Catalog> load(bool references) const;

  std::vector<std::unique_ptr<Provider>> providers_;
  std::mutex mutex_;
  std::unique_ptr<Catalog> usual_, all_;
  std::map<int, std::shared_ptr<Device>> devices_;
};

}  // namespace assay::python
