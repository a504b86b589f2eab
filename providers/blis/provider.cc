#include "assay/base/json.h"
#include "assay/base/text.h"
#include "gemm.h"
#include "providers/blis/info.h"

namespace assay::blis {
namespace {

class BlisProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto api = open(settings);
    availability.available = api.has_value();
    if (!api) {
      availability.reason = api.error().message;
      return availability;
    }
    availability.version = (*api)->version();
    availability.path = (*api)->path();
    availability.details = (*api)->details();
    return availability;
  }

  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& settings) const override {
    ASSAY_TRY(auto api, open(settings));
    return std::vector{make_gemm_family(api)};
  }

  Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings) const {
    auto api = Api::open(settings);
    if (api) return api;
    return fail(ErrorCode::unsupported, "{}; install {}", api.error().message,
                join(info().packages, " or "));
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<BlisProvider>(); }

}  // namespace assay::blis
