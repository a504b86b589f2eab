#include "assay/sweep/export.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/process/messages.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {
namespace {

constexpr double kExportSeconds = 60;

// Why a kernel that a record names is not among those that are offered here.
Error why_missing(const Discovery& found, const Problem& problem) {
  std::vector<std::string> why;
  for (const auto& [provider, reason] : found.missing)
    why.push_back(fmt::format("{}: {}", provider, reason));
  for (const auto& [reason, refusal] : found.refusals)
    why.push_back(fmt::format("{}: {}", to_string(reason), refusal.example));
  return {ErrorCode::missing,
          fmt::format("no provider offers this kernel for {} on this machine{}", problem.name(),
                      why.empty() ? "" : "; " + sanitize(join(why, "; "), 600))};
}

}  // namespace

Result<KernelExport> export_kernel(const Request& request, const Problem& problem,
                                   const std::string& id) {
  ASSAY_TRY(const Discovery found, discover(request, &problem, ""));
  const auto row = std::ranges::find_if(found.rows, [&](const process::OfferedKernel& candidate) {
    return candidate.metadata.id() == id;
  });
  if (row == found.rows.end()) return fail(why_missing(found, problem));
  Crew crew(request);
  ASSAY_TRY(Child * worker, crew.builder_of(row->metadata.provider(), row->metadata.family()));
  ASSAY_TRY(auto answer, ask(*worker, process::ExportKernel{problem, row->metadata.to_json()},
                             kExportSeconds, "exporting " + row->metadata.name()));
  return std::move(answer.made);
}

}  // namespace assay::sweep
