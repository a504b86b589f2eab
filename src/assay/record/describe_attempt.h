#pragma once

// The fields of an AttemptRecord. Private to record/.

#include "assay/base/archive.h"
#include "assay/record/attempt.h"

namespace assay {

template <class A, archive::Is<AttemptStage> T>
void describe(A& a, T& stage) {
  a.required("name", stage.name);
  a.required("outcome", stage.outcome);
  a("seconds", stage.seconds, archive::kNotNegative);
  a("reason", stage.reason);
}

template <class A, archive::Is<AttemptMetric> T>
void describe(A& a, T& metric) {
  a.required("value", metric.value);
  a("unit", metric.unit);
}

template <class A, archive::Is<AttemptPair> T>
void describe(A& a, T& pair) {
  a.required("number", pair.number, archive::kNotNegative);
  a("candidate_first", pair.candidate_first);
  a("swapped", pair.swapped);
  a.required("log_ratios", pair.log_ratios);
  a("candidate", pair.candidate);
  a("incumbent", pair.incumbent);
}

template <class A, archive::Is<AttemptGuardrail> T>
void describe(A& a, T& guardrail) {
  a.required("metric", guardrail.metric);
  a("tolerance", guardrail.tolerance, archive::kNotNegative);
  a("ratio", guardrail.ratio, archive::kNotNegative);
  a("low", guardrail.low, archive::kNotNegative);
  a("holds", guardrail.holds);
  a("reason", guardrail.reason);
}

template <class A, archive::Is<AttemptRules> T>
void describe(A& a, T& rules) {
  a.required("metric", rules.metric);
  a("direction", rules.direction);
  a("unit", rules.unit);
  a.required("min_effect", rules.min_effect, archive::kPositive);
  a.required("looks", rules.looks, archive::kPositive);
  a.required("false_keeps", rules.false_keeps, archive::kPositive);
  a("trim_fraction", rules.trim_fraction, archive::Range{0, 0.49});
  a("systematic", rules.systematic, archive::kNotNegative);
  a("budget_over", rules.budget_over);
}

template <class A, archive::Is<AttemptAgent> T>
void describe(A& a, T& agent) {
  a("command", agent.command);
  a("seconds", agent.seconds, archive::kNotNegative);
  a("usd", agent.usd, archive::kNotNegative);
  a("tokens", agent.tokens, archive::kNotNegative);
}

template <class A, archive::Is<AttemptBucket> T>
void describe(A& a, T& bucket) {
  a.required("name", bucket.name);
  a("share", bucket.share, archive::kNotNegative);
}

template <class A, archive::Is<AttemptProfile> T>
void describe(A& a, T& profile) {
  a("tool", profile.tool);
  a("reason", profile.reason);
  a("buckets", profile.buckets);
  a("limit", profile.limit);
}

template <class A, archive::Is<AttemptHoldout> T>
void describe(A& a, T& holdout) {
  a("draws", holdout.draws, archive::kNotNegative);
  a("tolerance", holdout.tolerance, archive::kNotNegative);
  a("ratio", holdout.ratio, archive::kNotNegative);
  a("low", holdout.low, archive::kNotNegative);
  a("holds", holdout.holds);
  a("reason", holdout.reason);
}

template <class A, archive::Is<AttemptRecord> T>
void describe(A& a, T& record) {
  a.required("id", record.id);
  a.required("seq", record.seq, archive::kPositive);
  a("run_tag", record.run_tag);
  a("case", record.case_name);
  a("series", record.series);
  a("parent", record.parent);
  a("lane", record.lane);
  a("family", record.family);
  a("target", record.target);
  a("description", record.description);
  a("hypothesis", record.hypothesis);
  a("tree", record.tree);
  a("incumbent_tree", record.incumbent_tree);
  a("env", record.env);
  a("incumbent_env", record.incumbent_env);
  a("env_only", record.env_only);
  a("baseline", record.baseline);
  a("started", record.started);
  a("ended", record.ended);
  a.required("outcome", record.outcome);
  a("reason", record.reason);
  a("stages", record.stages);
  a("metrics", record.metrics);
  a("flags", record.flags);
  a("rules", record.rules);
  a("pairs", record.pairs);
  a("claim", record.claim);
  a("smallest_keepable", record.smallest_keepable);
  a("guardrails", record.guardrails);
  a("parity", record.parity);
  a("agent", record.agent);
  a("profile", record.profile);
  a("holdout", record.holdout);
  a("fixed_hash", record.fixed_hash);
  a("model_fingerprint", record.model_fingerprint);
  a("harness", record.harness);
  a("device", record.device);
  a("host", record.host);
  a("webhook_enabled_by_config", record.webhook_enabled_by_config);
  a("webhook_disabled_by_flag", record.webhook_disabled_by_flag);
  a("webhook_expected", record.webhook_expected);
  a("webhook_attempted", record.webhook_attempted);
  a("webhook_sent", record.webhook_sent);
  a("webhook_status", record.webhook_status);
}

}  // namespace assay
