#include "assay/input/add_kernel_files.h"

#include "assay/input/kernel_source.h"
#include "assay/kernel/taker.h"

namespace assay::input {
namespace {

Status add(Catalog& catalog, std::span<const std::unique_ptr<Provider>> providers,
           const KernelEntry& entry) {
  const Provider* const taker = find_taker(providers, entry);
  if (taker == nullptr)
    return fail(ErrorCode::invalid_input, "{}: none of the providers at hand takes {}",
                entry.origin,
                entry.provider.empty() ? entry.source.extension().string() : entry.provider);
  ASSAY_TRY(auto family, taker->bring(entry));
  catalog.add(taker->info().name, taker->info().role, std::move(family));
  return {};
}

}  // namespace

Status add_kernel_files(Catalog& catalog, std::span<const std::unique_ptr<Provider>> providers,
                        std::span<const std::string> files) {
  ASSAY_TRY(const auto sources, read_sources(files, launch_forms(providers)));
  for (const KernelSource& source : sources)
    for (const KernelEntry& entry : source.entries) ASSAY_TRY(add(catalog, providers, entry));
  return {};
}

}  // namespace assay::input
