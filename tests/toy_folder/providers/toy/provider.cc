#include "gemm.h"
#include "providers/toy/info.h"

namespace assay::toy {
namespace {

class ToyProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Availability do_availability(const ProviderSettings&) const override {
    Availability availability;
    availability.available = true;
    return availability;
  }

  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return std::vector{make_gemm_family()};
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<ToyProvider>(); }

}  // namespace assay::toy
