#pragma once

// Of what somebody is told, as lab.yaml and case.yaml say: `notify: {enabled, preset, on}`.

#include <string>
#include <vector>

#include "assay/input/yaml.h"
#include "assay/record/attempt.h"

namespace assay::lab {

struct NotifyRules {
  bool enabled = false;
  std::string preset = "discord";
  std::vector<std::string> events = {"baseline", "keep", "crash", "end"};
  // Where each was said, "file:line"; empty: nowhere.
  std::string enabled_from, preset_from, events_from;

  bool wants(std::string_view event) const;
};

// The field `notify` of a file's root, where there is one, over what `rules` says already.
Result<NotifyRules> read_notify_rules(const input::YamlField& root, NotifyRules rules);

// "baseline", "keep", "near_tie", "discard", "interrupted"; "crash" for all other endings.
std::string event_of(AttemptOutcome outcome, bool baseline);

}  // namespace assay::lab
