#include "assay/kernel/file_provider.h"

#include <utility>

#include "assay/base/json.h"

namespace assay {
namespace {

class Files final : public Provider {
 public:
  Files(const ProviderInfo& info, FileProvider parts) : info_(info), parts_(std::move(parts)) {}
  const ProviderInfo& info() const override { return info_; }
  std::vector<std::string> extensions() const override { return parts_.extensions; }
  LaunchForm launch_form() const override { return parts_.launch_form; }
  bool runs_code_to_bring() const override { return parts_.runs_code_to_bring; }
  Status check_flag(std::string_view flag) const override {
    return parts_.check_flag ? parts_.check_flag(flag) : Provider::check_flag(flag);
  }

 private:
  Availability do_availability(const ProviderSettings& settings) const override {
    return parts_.availability(settings);
  }
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    return std::vector<std::shared_ptr<const Family>>();
  }
  Result<std::shared_ptr<const Family>> do_bring(const KernelEntry& entry,
                                                 const ProviderSettings& settings) const override {
    return parts_.bring(entry, settings);
  }

  const ProviderInfo& info_;
  FileProvider parts_;
};

}  // namespace

std::unique_ptr<Provider> make_file_provider(const ProviderInfo& info, FileProvider parts) {
  return std::make_unique<Files>(info, std::move(parts));
}

}  // namespace assay
