#include "assay/lab/evaluate/attempt_end.h"

#include "assay/base/clock.h"
#include "assay/lab/evaluate/stage_context.h"

namespace assay::lab {

void take_end(Attempt& attempt, const AttemptRecord& record, const std::string& metric) {
  attempt.ended = record.ended;
  attempt.outcome = record.outcome;
  attempt.reason = record.reason;
  attempt.baseline = record.baseline;
  for (const AttemptStage& stage : record.stages)
    attempt.stages.emplace_back(stage.name, stage.outcome);
  if (const auto primary = record.metrics.find(metric); primary != record.metrics.end())
    attempt.primary = Primary{metric, primary->second.value, primary->second.unit};
  if (record.claim)
    attempt.claim =
        Claim{std::string(to_string(record.claim->word)), record.claim->ratio, record.claim->low,
              record.claim->has_interval() ? record.claim->high : 0, record.claim->processes};
}

void expect_webhook(AttemptRecord& record, const NotifyRules& rules, bool disabled_by_flag) {
  record.webhook_enabled_by_config = rules.enabled;
  record.webhook_disabled_by_flag = disabled_by_flag;
  const bool wanted = rules.wants(event_of(record.outcome, record.baseline));
  record.webhook_expected = rules.enabled && !disabled_by_flag && wanted;
  record.webhook_status = !rules.enabled     ? "disabled_by_config"
                          : disabled_by_flag ? "disabled_by_flag"
                          : !wanted          ? "not_expected"
                                             : "interrupted";
}

bool tell_webhook(AttemptRecord& record, const TellWebhook& tell, const HistoryContent& content) {
  if (!record.webhook_expected) return false;
  const std::int64_t began = monotonic_ns();
  const Told told = tell ? tell(record, content) : Told{false, false, "not_configured", ""};
  record.webhook_attempted = told.attempted;
  record.webhook_sent = told.sent;
  record.webhook_status = told.status;
  add_stage(record, "notify",
            told.sent        ? "passed"
            : told.attempted ? "failed"
                             : "skipped",
            seconds_since(began),
            told.sent             ? ""
            : told.reason.empty() ? told.status
                                  : told.reason);
  return true;
}

}  // namespace assay::lab
