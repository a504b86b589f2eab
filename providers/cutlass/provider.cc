#include <filesystem>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "gemm.h"
#include "providers/cutlass/info.h"
#include "settings.h"
#include "shelf.h"
#include "space.h"
#include "toolchain.h"

namespace assay::cutlass {
namespace {

class CutlassProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Status do_check(const ProviderSettings& settings) const override {
    ASSAY_TRY(const Settings parsed, Settings::parse(settings));
    std::error_code error;
    if (parsed.pool.empty() || std::filesystem::is_directory(parsed.pool / "cutlass", error))
      return {};
    return fail(ErrorCode::invalid_input,
                "cutlass.pool: '{}' holds no kernels of CUTLASS; scripts/build-cutlass-pool makes "
                "such a folder",
                sanitize(parsed.pool.string(), 300));
  }

  // Kernels that are ready need no compiler.
  Availability do_availability(const ProviderSettings& given) const override {
    Availability availability;
    const auto settings = Settings::parse(given);
    if (!settings) {
      availability.reason = settings.error().message;
      return availability;
    }
    const auto toolchain = Toolchain::locate(*settings);
    int64_t ready = 0;
    for (const auto& root : {settings->cache, settings->pool})
      for (const Generation* generation : generations())
        for (const Code& code : generation->codes)
          for (const Shelf& shelf :
               root.empty() ? std::vector<Shelf>() : Shelf::all_of(root, std::string(code.code)))
            ready += static_cast<int64_t>(shelf.size());
    int64_t configurations = 0;
    for (const Generation* generation : generations())
      configurations += table_of(*generation).configurations;
    availability.available = toolchain.has_value() || ready > 0;
    availability.details = {{"configurations", configurations}, {"ready", ready}};
    if (toolchain) {
      availability.version = toolchain->headers.version;
      availability.path = toolchain->headers.include;
      availability.details["nvcc"] = toolchain->nvcc;
    } else {
      availability.reason = toolchain.error().message;
      availability.remark =
          fmt::format("only what was compiled before takes part ({} kernel{}): {}", ready,
                      ready == 1 ? "" : "s", toolchain.error().message);
      availability.version = ready > 0 ? table_of(sm90()).version : "";
    }
    return availability;
  }

  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& given) const override {
    ASSAY_TRY(const Settings settings, Settings::parse(given));
    return make_gemm_families(settings);
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<CutlassProvider>(); }

}  // namespace assay::cutlass
