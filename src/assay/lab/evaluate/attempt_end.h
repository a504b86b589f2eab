#pragma once

// How an attempt ends: what its line of the history says, and whether somebody is told.

#include "assay/lab/evaluate/evaluate.h"

namespace assay::lab {

// Gives the attempt what its record came to. `metric`: the objective's.
void take_end(Attempt& attempt, const AttemptRecord& record, const std::string& metric);

// What the record says of the webhook before anybody is told: "interrupted" where somebody is to
// be.
void expect_webhook(AttemptRecord& record, const NotifyRules& rules, bool disabled_by_flag);

// Tells, where that is expected, and says in the record what came of it. True: the record changed.
bool tell_webhook(AttemptRecord& record, const TellWebhook& tell, const HistoryContent& content);

}  // namespace assay::lab
