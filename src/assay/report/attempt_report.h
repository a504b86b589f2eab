#pragma once

// One attempt of a lab, in lines.

#include <string>

#include "assay/record/attempt.h"
#include "assay/report/table.h"

namespace assay::report {

Tone tone_of(AttemptOutcome outcome);

// What it came to, why, its metrics and the stages that did not pass.
std::string attempt_text(const AttemptRecord& record, const TextStyle& style);

}  // namespace assay::report
