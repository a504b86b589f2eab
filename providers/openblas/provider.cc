#include "assay/base/json.h"
#include "assay/base/text.h"
#include "gemm.h"
#include "providers/openblas/info.h"

namespace assay::openblas {
namespace {

class OpenBlasProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto api = Api::open(settings);
    availability.available = api.has_value();
    if (!api) {
      availability.reason = api.error().message + "; install " + join(info().packages, " or ");
      return availability;
    }
    availability.version = (*api)->version();
    availability.path = (*api)->path();
    availability.details = (*api)->details();
    return availability;
  }

  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& settings) const override {
    auto api = Api::open(settings);
    if (!api)
      return fail(ErrorCode::unsupported, "{}; install {}", api.error().message,
                  join(info().packages, " or "));
    return std::vector{make_gemm_family(*api), make_gemv_family(*api)};
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<OpenBlasProvider>(); }

}  // namespace assay::openblas
