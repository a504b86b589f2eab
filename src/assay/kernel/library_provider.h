#pragma once

// A provider that loads a library: what the machine has of it, and its families, with what to
// install where it is missing. The folder brings its Api, which has
//
//   static Result<std::shared_ptr<const Api>> open(const ProviderSettings&);
//   path(), version(), and if there is more to say, Json details()
//   static Status check(const ProviderSettings&), if it has settings besides "library"
//
// and the families that it makes of one:
//
//   std::unique_ptr<Provider> make_provider() {
//     return make_library_provider<Api>(provider_info(), [](const std::shared_ptr<const Api>& api)
//     {
//       return Families{make_gemm_family(api)};
//     });
//   }
//
// The function may take the settings as well, which check() has let through.

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/kernel/provider.h"

namespace assay {

using Families = std::vector<std::shared_ptr<const Family>>;

template <class Api, class MakeFamilies>
class LibraryProvider final : public Provider {
 public:
  LibraryProvider(const ProviderInfo& info, MakeFamilies make_families)
      : info_(info), make_families_(std::move(make_families)) {}
  const ProviderInfo& info() const override { return info_; }

 private:
  Status do_check(const ProviderSettings& settings) const override {
    if constexpr (requires { Api::check(settings); }) return Api::check(settings);
    return {};
  }

  Availability do_availability(const ProviderSettings& settings) const override {
    Availability availability;
    const auto api = open(settings);
    availability.available = api.has_value();
    if (!api) {
      availability.reason = api.error().message;
      return availability;
    }
    availability.version = (*api)->version();
    availability.path = (*api)->path();
    if constexpr (requires { (*api)->details(); }) availability.details = (*api)->details();
    if constexpr (requires { (*api)->remark(); }) availability.remark = (*api)->remark();
    return availability;
  }

  Result<Families> do_families(const ProviderSettings& settings) const override {
    ASSAY_TRY(do_check(settings));
    ASSAY_TRY(const std::shared_ptr<const Api> api, open(settings));
    if constexpr (std::is_invocable_v<MakeFamilies, const std::shared_ptr<const Api>&,
                                      const ProviderSettings&>)
      return make_families_(api, settings);
    else
      return make_families_(api);
  }

  Result<std::shared_ptr<const Api>> open(const ProviderSettings& settings) const {
    auto api = Api::open(settings);
    if (api) return api;
    return fail(ErrorCode::unsupported, "{}; install {}, or name the file: --library {}=FILE",
                api.error().message, join(info_.packages, " or "), info_.name);
  }

  const ProviderInfo& info_;
  MakeFamilies make_families_;
};

// `info` must outlive the provider, as provider_info() does.
template <class Api, class MakeFamilies>
std::unique_ptr<Provider> make_library_provider(const ProviderInfo& info,
                                                MakeFamilies make_families) {
  return std::make_unique<LibraryProvider<Api, MakeFamilies>>(info, std::move(make_families));
}

}  // namespace assay
