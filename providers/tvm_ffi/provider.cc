#include <mutex>

#include "api.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "family.h"
#include "providers/tvm_ffi/info.h"

namespace assay::tvm_ffi {
namespace {

class TvmFfiProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto api = Api::open(settings);
    availability.available = api.has_value();
    if (!api) {
      availability.reason =
          fmt::format("{}; install {}, or name the file: --library tvm_ffi=FILE",
                      api.error().message, join(provider_info().packages, " or "));
      return availability;
    }
    availability.version = (*api)->version();
    availability.path = (*api)->path();
    return availability;
  }

  // It has kernels only once a user brings some, and those are to use the library asked for here.
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& settings) const override {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
    return std::vector<std::shared_ptr<const Family>>();
  }

  Result<std::shared_ptr<const Family>> do_bring(const KernelEntry& entry,
                                                 const ProviderSettings&) const override {
    const std::lock_guard lock(mutex_);
    return make_family(entry, settings_);
  }

  mutable std::mutex mutex_;
  mutable ProviderSettings settings_;
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<TvmFfiProvider>(); }

}  // namespace assay::tvm_ffi
