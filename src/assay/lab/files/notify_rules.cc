#include "assay/lab/files/notify_rules.h"

#include <algorithm>

#include "assay/base/text.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/read_yaml_fields.h"

namespace assay::lab {
namespace {

std::string place_of(const input::YamlField& field) {
  return fmt::format("{}:{}", field.origin(), field.line());
}

template <class Names>
Status check_word(const input::YamlField& field, const char* key, const std::string& word,
                  const Names& known) {
  if (std::ranges::find(known, word) != known.end()) return {};
  return fail(
      field.error(fmt::format("{}: '{}' is none of {}", key, sanitize(word, 60),
                              join(std::vector<std::string>(known.begin(), known.end()), ", "))));
}

}  // namespace

bool NotifyRules::wants(std::string_view event) const {
  return std::ranges::find(events, event) != events.end();
}

Result<NotifyRules> read_notify_rules(const input::YamlField& root, NotifyRules rules) {
  ASSAY_TRY(const auto field, root.find("notify"));
  if (!field) return rules;
  ASSAY_TRY(only(*field, notify_form()));
  ASSAY_TRY(const auto enabled, field->find("enabled"));
  if (enabled) {
    ASSAY_TRY(rules.enabled, enabled->as_bool());
    rules.enabled_from = place_of(*enabled);
  }
  ASSAY_TRY(const auto preset, field->find("preset"));
  if (preset) {
    ASSAY_TRY(rules.preset, preset->as_string());
    ASSAY_TRY(check_word(*preset, "preset", rules.preset, notify_presets()));
    rules.preset_from = place_of(*preset);
  }
  ASSAY_TRY(const auto on, field->find("on"));
  if (on) {
    ASSAY_TRY(rules.events, on->as_strings());
    rules.events_from = place_of(*on);
    for (const std::string& event : rules.events)
      ASSAY_TRY(check_word(*on, "on", event, notify_events()));
  }
  return rules;
}

std::string event_of(AttemptOutcome outcome, bool baseline) {
  if (outcome == AttemptOutcome::keep && baseline) return "baseline";
  if (is_decided(outcome) || outcome == AttemptOutcome::interrupted)
    return std::string(to_string(outcome));
  return "crash";
}

}  // namespace assay::lab
