#pragma once

#include <span>

#include "assay/lab/evaluate/pairs.h"
#include "assay/lab/evaluate/stage_context.h"

namespace assay::lab {

// Pairs of candidate and incumbent until the attempt is decided, then its guardrails: the outcome,
// pairs, claim and metrics of the record. `folder`: of the attempt.
Status confirm(const StageContext& stage, const ProgramRunner& runner, Slots& slots,
               const Side& candidate, const Side& other, const std::filesystem::path& folder);

// By which an attempt is decided: those of the case.
AttemptRules rules_of(const StageContext& stage);

// Others were at work in each of them.
bool is_spoiled(std::span<const AttemptPair> pairs, const std::string& metric);

}  // namespace assay::lab
