#include "cli/lab/lab_webhook.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/version.h"
#include "assay/report/attempt_plot.h"
#include "cli/lab/attempt_words.h"
#include "cli/lab/lab_drawing.h"
#include "cli/lab/png.h"

namespace assay::cli {
namespace {

// Services take 8 MB or more.
constexpr std::size_t kMostPngBytes = std::size_t{7} << 20;
constexpr double kDrawingSeconds = 5;

// A drawing that cannot be made is left out: the words matter more.
std::string drawing_of(const Context& context, const LabPlace& place,
                       const lab::HistoryContent& content, notify::Preset preset) {
  if (preset != notify::Preset::discord) return {};
  const report::AttemptPlot plot = plot_of(place, content);
  if (plot.points.empty()) return {};
  auto png = png_of(context, report::attempt_svg(plot), kDrawingSeconds);
  if (png && png->size() <= kMostPngBytes) return std::move(*png);
  if (!png) context.console.note("the plot is not attached: " + png.error().message);
  return {};
}

std::string best_of(const lab::HistoryContent& content, std::string_view series) {
  const lab::Attempt* best = content.incumbent(series);
  if (best == nullptr || !best->primary) return {};
  return fmt::format("{} (attempt {})", value_text(*best->primary), best->seq);
}

notify::Notification notification_of(const LabPlace& place, const AttemptRecord& record,
                                     const lab::HistoryContent& content) {
  notify::Notification told;
  told.event = lab::event_of(record.outcome, record.baseline);
  told.case_name = place.target.name;
  told.run_tag = record.run_tag;
  told.state = to_string(record.outcome);
  told.attempt = record.seq;
  told.description = record.description;
  told.reason = record.reason;
  told.at = record.ended;
  if (const lab::Attempt* attempt = content.find(record.id)) {
    if (attempt->primary) told.primary = value_text(*attempt->primary);
    if (attempt->claim && !attempt->baseline) told.claim = gain_text(*attempt->claim);
  }
  told.best = best_of(content, record.series);
  return told;
}

lab::Told tell(const Context& context, const LabPlace& place, const lab::HistoryContent& content,
               const notify::Notification& notification) {
  const auto webhook = webhook_of(context, place);
  if (!webhook) return {false, false, "invalid_url", webhook.error().message};
  if (!*webhook) return {false, false, "not_configured", "ASSAY_WEBHOOK_URL is not set"};
  // What the drawing takes counts for the time that all of it may take.
  notify::Courier courier = courier_to(context, **webhook);
  notify::Outbox outbox = outbox_of(context, place);
  const std::string png = outbox.is_dead(**webhook)
                              ? std::string()
                              : drawing_of(context, place, content, (*webhook)->preset);
  const auto delivery = outbox.tell(courier, notification, png);
  if (!delivery) return {false, false, "network_error", delivery.error().message};
  if (!delivery->sent)
    context.console.note(fmt::format("nobody was told ({}){}{}", delivery->status,
                                     delivery->reason.empty() ? "" : ": ", delivery->reason));
  return {delivery->attempted, delivery->sent, delivery->status, delivery->reason};
}

}  // namespace

Result<std::optional<notify::Webhook>> webhook_of(const Context& context, const LabPlace& place) {
  const std::string& url = context.settings.webhook_url;
  if (url.empty()) return std::optional<notify::Webhook>();
  ASSAY_TRY(const notify::Preset preset, notify::parse_preset(place.target.notify.preset));
  auto webhook = notify::parse_webhook(url, preset);
  if (!webhook)
    return fail(with_context(webhook.error(), fmt::format("ASSAY_WEBHOOK_URL (of {})",
                                                          context.settings.webhook_source)));
  return std::optional(std::move(*webhook));
}

notify::Courier courier_to(const Context& context, const notify::Webhook& webhook) {
  notify::CourierOptions options;
  options.ca_file = context.settings.webhook_ca_file;
  options.user_agent = fmt::format("assay/{}", build_info().version);
  options.cancel_fd = context.cancel_fd;
  return {webhook, options};
}

std::filesystem::path waiting_file(const LabPlace& place) {
  return place.runs() / "logs" / "unsent.jsonl";
}

notify::Outbox outbox_of(const Context& context, const LabPlace& place) {
  return {waiting_file(place), context.settings.cache / "lab" / "dead_webhooks"};
}

lab::TellWebhook tell_webhook(const Context& context, const LabPlace& place) {
  return [&](const AttemptRecord& record, const lab::HistoryContent& content) {
    return tell(context, place, content, notification_of(place, record, content));
  };
}

void tell_end(const Context& context, const LabPlace& place, const std::string& run_tag,
              const std::string& sentence) {
  if (!place.target.notify.enabled || !place.target.notify.wants("end")) return;
  const auto content = history_of(context, place);
  if (!content) return;
  notify::Notification told;
  told.event = "end";
  told.case_name = place.target.name;
  told.run_tag = run_tag;
  told.state = "climb ended";
  told.description = sentence;
  told.at = utc_now_iso8601();
  if (!content->attempts.empty()) told.best = best_of(*content, content->attempts.back().series);
  tell(context, place, *content, told);
}

}  // namespace assay::cli
