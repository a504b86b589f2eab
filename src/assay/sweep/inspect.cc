#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/measure/kept_ceilings.h"
#include "assay/process/messages.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/run_facts.h"
#include "assay/sweep/sweep.h"
#include "assay/sweep/trust.h"

namespace assay::sweep {
namespace {

// Each for itself: a library that ends the process, or never answers, takes its own row alone.
Result<RankerReport> ask_ranker(const process::AskedRanker& ranker, Crew& crew) {
  constexpr double kSeconds = 60;  // Libraries from a cold disk.
  RankerReport report;
  report.name = ranker.name;
  ASSAY_TRY(Child * worker, crew.builder());
  const auto answer = worker->call(process::FindRanker{ranker}, kSeconds);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    const auto library = ranker.settings.find("library");
    report.availability.reason =
        as_error(answer.error(), library == ranker.settings.end()
                                     ? "asking it"
                                     : fmt::format("loading '{}'", sanitize(library->second, 300)))
            .message;
    return report;
  }
  const process::FoundRanker& found = answer->found;
  report.availability.reason = found.missing.value_or("");
  report.availability.available = !found.missing;
  report.availability.version = found.version;
  report.availability.path = found.path;
  return report;
}

}  // namespace

Result<MachineReport> inspect(const Request& request, Inspection how) {
  Crew crew(request);
  ASSAY_TRY(crew.builder().map([](Child*) {}));
  MachineReport report;
  for (const auto& provider : crew.facts().providers)
    report.providers.push_back({provider.name, provider.role, provider.availability});
  for (const process::AskedRanker& ranker : request.pool.rankers) {
    ASSAY_TRY(RankerReport asked, ask_ranker(ranker, crew));
    report.rankers.push_back(std::move(asked));
  }
  report.environment = describe(request, crew);
  report.environment.libraries = with_build_hashes(std::move(report.environment.libraries));
  report.target = crew.facts().target;
  if (how != Inspection::brief) {
    crew.on_confined([&](const process::Confinement& confinement) -> Status {
      const Trust trust = trust_in(confinement);
      report.trust = trust.grade;
      report.trust_reason = trust.reason;
      return {};
    });
    ASSAY_TRY(crew.runner().map([](Child*) {}));
    Request at_once = request;
    at_once.caller.lock.wait = false;
    const auto lock = hold_device(at_once, [](const DeviceWait&) {});
    if (lock) {
      if (how == Inspection::renewing) measure::forget_ceilings(kept_ceilings_path(request, crew));
      ASSAY_TRY(report.environment.ceilings, measure_ceilings(crew, request));
    } else {
      report.not_measured = lock.error().message;
    }
  }
  return report;
}

}  // namespace assay::sweep
