#include "assay/base/json.h"
#include "family.h"
#include "nvrtc.h"
#include "providers/cuda_source/info.h"

namespace assay::cuda_source {
namespace {

class CudaSourceProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }
  std::vector<std::string> extensions() const override { return {".cu"}; }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto nvrtc = Nvrtc::open(settings);
    availability.available = nvrtc.has_value();
    if (!nvrtc) {
      availability.reason = nvrtc.error().message;
      return availability;
    }
    availability.version = (*nvrtc)->version();
    availability.path = (*nvrtc)->path();
    availability.details = {{"include", (*nvrtc)->include_folders()}};
    return availability;
  }

  // It has kernels only once a user brings some.
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return std::vector<std::shared_ptr<const Family>>();
  }

  Result<std::shared_ptr<const Family>> do_bring(const KernelEntry& entry,
                                                 const ProviderSettings&) const override {
    return make_family(entry);
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<CudaSourceProvider>(); }

}  // namespace assay::cuda_source
