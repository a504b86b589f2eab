#include "assay/base/json.h"
#include "compile.h"
#include "family.h"
#include "providers/cpp_source/info.h"

namespace assay::cpp_source {
namespace {

class CppSourceProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }
  std::vector<std::string> extensions() const override { return {".cc", ".cpp", ".cxx"}; }

 private:
  // settings["cxx"]: the compiler that will be used; c++ where nothing is said.
  Availability do_availability(const ProviderSettings& settings) const override {
    const auto given = settings.find("cxx");
    const auto program = find_compiler(given == settings.end() ? "c++" : given->second);
    Availability availability;
    availability.available = program.has_value();
    if (program)
      availability.path = *program;
    else
      availability.reason = program.error().message;
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

std::unique_ptr<Provider> make_provider() { return std::make_unique<CppSourceProvider>(); }

}  // namespace assay::cpp_source
