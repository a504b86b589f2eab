#pragma once

// The kernels that a worker can be asked for: those of the providers, and what users brought.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/input/kernel_source.h"
#include "assay/kernel/catalog.h"
#include "assay/process/messages.h"
#include "assay/worker/load_watch.h"
#include "assay/worker/worker.h"

namespace assay::sweep {

class WorkerKernels {
 public:
  WorkerKernels(const std::vector<std::unique_ptr<Provider>>& providers, LoadWatch& loads)
      : providers_(providers), loads_(loads) {}

  // What each of them is on this machine, as it is called here.
  Result<std::vector<process::Init::Answer::Offered>> add_providers(
      std::span<const process::AskedProvider> wanted);
  void add(const CatalogSetup& setup);

  // Every entry of what a user brought becomes a family of the provider that takes its extension,
  // or that it names. Where code runs for that, it waits until this process has given up its
  // rights: returns those.
  Result<std::vector<process::Init::Answer::Waiting>> add_sources(
      const std::vector<input::KernelSource>& sources);
  void admit_guests() { admits_guests_ = true; }
  Status bring_file(uint64_t file);  // Those of one file, by its place in the list.

  // Without a problem: all there are. here: the device's.
  Result<process::Discover::Answer> discover(const process::Discover& asked, const Target& here);

  // The one with this metadata.
  Result<Kernel> find(const Json& row);

  const Catalog& catalog() const { return catalog_; }
  // Whether code that a user brought, or a program's own, runs on the processor: device code alone
  // does not.
  bool has_native_guests() const { return native_guests_; }

 private:
  // What a user brought that runs as soon as it is loaded.
  struct Guest {
    KernelEntry entry;
    std::string name;  // Of the family.
    const Provider* provider = nullptr;
    size_t file = 0;     // Of the list.
    UniqueFd open_file;  // From before this process became another user.
    bool here = false;
  };

  Status add(const Provider& provider, const Availability& availability,
             const ProviderSettings& settings, const std::string& as);
  Status take(const KernelEntry& entry, size_t file);
  Status bring(const Provider& provider, const KernelEntry& entry);
  Status welcome(Guest& guest);
  ProviderRole role_of(std::string_view provider, std::string_view family) const;

  const std::vector<std::unique_ptr<Provider>>& providers_;
  LoadWatch& loads_;
  std::map<std::string, ProviderSettings> settings_;  // Of the providers that were asked for.
  Catalog catalog_;
  std::vector<Guest> guests_;
  bool admits_guests_ = false;
  bool native_guests_ = false;
};

}  // namespace assay::sweep
