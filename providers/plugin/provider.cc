#include "assay/base/json.h"
#include "assay/kernel/plugin_abi.h"
#include "family.h"
#include "providers/plugin/info.h"

namespace assay::plugin {
namespace {

class PluginProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }
  std::vector<std::string> extensions() const override { return {".so"}; }
  bool runs_code_to_bring() const override { return true; }

 private:
  Availability do_availability(const ProviderSettings&) const override {
    Availability availability;
    availability.available = true;
    availability.version = fmt::format("ABI {}", ASSAY_PLUGIN_ABI_VERSION);
    return availability;
  }

  // It has kernels only once a user brings some.
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return std::vector<std::shared_ptr<const Family>>();
  }

  Result<std::shared_ptr<const Family>> do_bring(const KernelEntry& entry) const override {
    return make_family(entry);
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<PluginProvider>(); }

}  // namespace assay::plugin
