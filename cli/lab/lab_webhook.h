#pragma once

// Who is told of a case's attempts, and how that went. The webhook's URL comes from the environment
// or a .env file alone (cli/settings.h), and nothing shows more of it than its host.

#include "assay/lab/evaluate/evaluate.h"
#include "assay/notify/outbox.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {

// Errors: invalid_input, where what is configured is no URL that may be used. None where nothing
// is configured.
Result<std::optional<notify::Webhook>> webhook_of(const Context& context, const LabPlace& place);

notify::Courier courier_to(const Context& context, const notify::Webhook& webhook);
// What waits lies beside the case's logs, which no repository of a lab keeps.
notify::Outbox outbox_of(const Context& context, const LabPlace& place);
std::filesystem::path waiting_file(const LabPlace& place);

// For evaluate(). Both arguments must outlive it.
lab::TellWebhook tell_webhook(const Context& context, const LabPlace& place);

// A climb has ended. Nothing where that is not to be told.
void tell_end(const Context& context, const LabPlace& place, const std::string& run_tag,
              const std::string& sentence);

}  // namespace assay::cli
