#include "assay/base/json.h"
#include "assay/kernel/file_provider.h"
#include "compile.h"
#include "family.h"
#include "flags.h"
#include "providers/cpp_source/info.h"

namespace assay::cpp_source {
namespace {

// settings["cxx"]: the compiler that will be used; c++ where nothing is said.
Availability availability(const ProviderSettings& settings) {
  const auto given = settings.find("cxx");
  const auto program = find_compiler(given == settings.end() ? "c++" : given->second);
  Availability found;
  found.available = program.has_value();
  if (program)
    found.path = *program;
  else
    found.reason = program.error().message;
  return found;
}

}  // namespace

std::unique_ptr<Provider> make_provider() {
  return make_file_provider(provider_info(),
                            {.extensions = {".cc", ".cpp", ".cxx", ".c"},
                             .bring = [](const KernelEntry& entry,
                                         const ProviderSettings&) { return make_family(entry); },
                             .availability = &availability,
                             .check_flag = &check_flag});
}

}  // namespace assay::cpp_source
