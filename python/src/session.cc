#include "session.h"

#include <algorithm>

#include "assay/device/cpu/cpu_device.h"
#include "assay/input/add_kernel_files.h"
#include "failure.h"

namespace assay::python {

Session& Session::get() {
  static Session* const session = new Session;  // Kernels may be launched until the very end.
  return *session;
}

const Catalog& Session::catalog(const std::vector<std::string>& names) {
  const bool references = std::any_of(providers_.begin(), providers_.end(), [&](const auto& one) {
    return one->info().role == ProviderRole::reference &&
           std::find(names.begin(), names.end(), one->info().name) != names.end();
  });
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Catalog>& catalog = references ? all_ : usual_;
  if (!catalog) catalog = load(references);
  return *catalog;
}

std::unique_ptr<Catalog> Session::load(bool references) const {
  auto catalog = std::make_unique<Catalog>();
  for (const auto& provider : providers_)
    if (references || provider->info().role != ProviderRole::reference) catalog->add(*provider);
  return catalog;
}

Result<std::unique_ptr<Catalog>> Session::catalog_with(
    const std::vector<std::string>& files) const {
  auto catalog = load(false);
  ASSAY_TRY(input::add_kernel_files(*catalog, providers_, files));
  return catalog;
}

ProviderRole Session::role_of(const KernelMetadata& kernel) const {
  for (const auto& provider : providers_)
    if (provider->info().name == kernel.provider()) return provider->info().role;
  return ProviderRole::user;
}

std::shared_ptr<Device> Session::device(int threads) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Device>& device = devices_[threads];
  if (!device) {
    auto opened = cpu::open({.threads = threads});
    if (!opened) {
      devices_.erase(threads);
      throw Failure(std::move(opened).error());
    }
    device = std::move(*opened);
  }
  return device;
}

}  // namespace assay::python
