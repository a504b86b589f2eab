#pragma once

// A provider whose kernels are files that users bring: it has none of its own. Each file becomes a
// family.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/kernel/provider.h"

namespace assay {

struct FileProvider {
  std::vector<std::string> extensions;  // ".cc".
  LaunchForm launch_form = LaunchForm::itself;
  std::function<Result<std::shared_ptr<const Family>>(const KernelEntry&, const ProviderSettings&)>
      bring;
  std::function<Availability(const ProviderSettings&)> availability;
  std::function<Status(std::string_view flag)> check_flag;  // As of Provider; empty: its default.
  bool runs_code_to_bring = false;                          // As of Provider.
};

// `info` must outlive the provider, as provider_info() does.
std::unique_ptr<Provider> make_file_provider(const ProviderInfo& info, FileProvider parts);

}  // namespace assay
