#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_webhook.h"

namespace assay::cli {
namespace {

struct Setting {
  const char* name;
  std::string value, source;
};

class LabNotifyCommand : public Command {
 public:
  const char* name() const override { return "notify"; }
  const char* summary() const override {
    return "Who is told of attempts: where that is said, whether it works, and what waits";
  }
  const char* example() const override { return "assay lab notify --status --probe"; }
  const char* description() const override {
    return "Without a flag, sends what could not be sent before. --status shows each setting and "
           "where it was read, and never more of the webhook than its host. The code is 1 where "
           "the "
           "webhook does not answer as it should.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_flag("--status", status_, "Show the settings, and send nothing");
    app.add_flag("--probe", probe_, "Ask the webhook whether it is there (a GET)");
    app.add_flag("--send-test", test_, "Send one message");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find_or_lab());
    notify::Outbox outbox = outbox_of(context, place);
    ASSAY_TRY(const auto waiting, outbox.waiting());
    const auto webhook = webhook_of(context, place);
    std::vector<Setting> settings = settings_of(context, place);
    settings.push_back({"unsent", std::to_string(waiting.size()),
                        waiting.empty() ? "" : waiting_file(place).string()});
    settings.push_back({"state", state_of(webhook, outbox), ""});
    if (!probe_ && !test_ && (status_ || waiting.empty())) return show(context, settings, kDone);
    if (!webhook) return fail(webhook.error());
    if (!*webhook)
      return fail(ErrorCode::invalid_input,
                  "nobody can be told: set ASSAY_WEBHOOK_URL in the environment or in .env");
    if (outbox.is_dead(**webhook)) return show(context, settings, kRefuted);

    bool well = true;
    notify::Courier courier = courier_to(context, **webhook);
    if (probe_) well = add(settings, "probe", courier.probe());
    if (well && test_) {
      ASSAY_TRY(const notify::Delivery sent, outbox.tell(courier, test_of(place), ""));
      well = add(settings, "test", sent);
    }
    if (!probe_ && !test_) {
      ASSAY_TRY(const auto flushed, outbox.flush(courier));
      settings.push_back({"sent", std::to_string(flushed.sent), ""});
      if (flushed.left > 0) add(settings, "left", flushed.last);
      well = flushed.left == 0;
    }
    return show(context, settings, well ? kDone : kRefuted);
  }

 private:
  static std::vector<Setting> settings_of(const Context& context, const LabPlace& place) {
    const lab::NotifyRules& rules = place.target.notify;
    const auto or_default = [](const std::string& from) {
      return from.empty() ? std::string("default") : from;
    };
    return {{"enabled", rules.enabled ? "yes" : "no", or_default(rules.enabled_from)},
            {"preset", rules.preset, or_default(rules.preset_from)},
            {"on", join(rules.events, ", "), or_default(rules.events_from)},
            {"url",
             context.settings.webhook_url.empty() ? "none"
                                                  : notify::masked(context.settings.webhook_url),
             context.settings.webhook_url.empty()
                 ? "ASSAY_WEBHOOK_URL is set nowhere"
                 : "ASSAY_WEBHOOK_URL, of " + context.settings.webhook_source}};
  }

  static std::string state_of(const Result<std::optional<notify::Webhook>>& webhook,
                              const notify::Outbox& outbox) {
    if (!webhook) return "invalid_url: " + webhook.error().message;
    if (!*webhook) return "not_configured";
    if (outbox.is_dead(**webhook))
      return fmt::format(
          "dead_404: it answered 404 and is not used again; make a new webhook, or remove {}",
          outbox.dead_mark(**webhook).string());
    return "ready";
  }

  static notify::Notification test_of(const LabPlace& place) {
    notify::Notification test;
    test.event = "test";
    test.case_name = place.target.name;
    test.description = "A test of the webhook.";
    test.at = utc_now_iso8601();
    return test;
  }

  static bool add(std::vector<Setting>& settings, const char* name,
                  const notify::Delivery& delivery) {
    settings.push_back({name, delivery.status, delivery.reason});
    return delivery.sent;
  }

  static Result<int> show(Context& context, const std::vector<Setting>& settings, int code) {
    Json list = Json::array();
    std::string text;
    for (const Setting& setting : settings) {
      const std::string source = sanitize(setting.source, 400);
      list.push_back({{"name", setting.name}, {"value", setting.value}, {"source", source}});
      text += fmt::format("{:<9} {}{}\n", setting.name, sanitize(setting.value, 600),
                          source.empty() ? "" : fmt::format(" ({})", source));
    }
    context.console.result(context.console.json() ? dump_pretty({{"schema", "assay.lab_notify/1"},
                                                                 {"settings", std::move(list)}})
                                                  : text);
    return code;
  }

  CaseFlag case_;
  bool status_ = false, probe_ = false, test_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_notify_command() { return std::make_unique<LabNotifyCommand>(); }

}  // namespace assay::cli
