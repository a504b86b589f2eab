#include "assay/base/json.h"
#include "gemm.h"
#include "providers/cublas/info.h"

namespace assay::cublas {
namespace {

class CublasProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto api = Api::open(settings);
    availability.available = api.has_value();
    if (!api) {
      availability.reason = api.error().message;
      return availability;
    }
    availability.version = (*api)->version();
    availability.path = (*api)->path();
    return availability;
  }

  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& settings) const override {
    ASSAY_TRY(auto api, Api::open(settings));
    return std::vector{make_gemm_family(std::move(api))};
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<CublasProvider>(); }

}  // namespace assay::cublas
