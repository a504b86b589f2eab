#include "assay/base/json.h"
#include "family.h"
#include "providers/triton/info.h"
#include "python.h"

namespace assay::triton {
namespace {

class TritonProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }
  std::vector<std::string> extensions() const override { return {".py"}; }
  // A function is compiled for so many threads, clusters and bytes: the compiler says them.
  LaunchForm launch_form() const override { return LaunchForm::grid; }
  Status check_flag(std::string_view) const override {
    return fail(ErrorCode::invalid_input,
                "Triton has none; write num_warps, num_stages, num_ctas or maxnreg as tunables");
  }

 private:
  Status do_check(const ProviderSettings& settings) const override {
    return check_settings(settings);
  }

  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto python = find_python(settings);
    const auto assembler = find_assembler(settings);
    availability.available = python && assembler;
    if (!python)
      availability.reason = python.error().message;
    else if (!assembler)
      availability.reason = assembler.error().message;
    if (!availability.available) return availability;
    availability.version = python->version;
    availability.path = python->package;
    availability.details = {
        {"python", python->program},
        {"ptxas", assembler->asked.empty() ? assembler->toolkit : assembler->asked}};
    return availability;
  }

  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings& settings) const override {
    return own_families(settings);
  }

  Result<std::shared_ptr<const Family>> do_bring(const KernelEntry& entry,
                                                 const ProviderSettings& settings) const override {
    return make_family(entry, settings);
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<TritonProvider>(); }

}  // namespace assay::triton
