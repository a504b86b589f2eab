#include "providers/reference/families.h"
#include "providers/reference/info.h"

namespace assay::reference {
namespace {

class ReferenceProvider final : public Provider {
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
    return make_families();
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<ReferenceProvider>(); }

}  // namespace assay::reference
