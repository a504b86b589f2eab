#include "family.h"
#include "providers/ptx/info.h"

namespace assay::ptx {
namespace {

class PtxProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }
  std::vector<std::string> extensions() const override { return {".ptx", ".cubin"}; }

 private:
  // The driver compiles and loads: nothing else is needed, and without it there is no card.
  Availability do_availability(const ProviderSettings&) const override {
    return {.available = true, .reason = {}, .version = {}, .path = {}, .details = {}};
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

std::unique_ptr<Provider> make_provider() { return std::make_unique<PtxProvider>(); }

}  // namespace assay::ptx
