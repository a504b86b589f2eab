#include "assay/lab/climb/climb_end.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/counted.h"

namespace assay::lab {
namespace {

constexpr int kMostFailures = 3;  // In a row: of the agent, or of what is measured.

bool has_reached(const Case& target, double until, const Attempt* best) {
  if (best == nullptr || !best->primary) return false;
  return target.objective.direction == Direction::minimize ? best->primary->value <= until
                                                           : best->primary->value >= until;
}

std::string over_budget(const ClimbOptions& options, const HistoryContent& content) {
  const Cost cost = content.cost_of(options.evaluate.run_tag);
  if (options.usd && cost.usd >= *options.usd)
    return fmt::format("{:.2f} of {:.2f} dollars were spent", cost.usd, *options.usd);
  if (options.tokens && cost.tokens >= *options.tokens)
    return fmt::format("{} of {} tokens were spent", cost.tokens, *options.tokens);
  return {};
}

}  // namespace

int turns_of(const HistoryContent& content, const std::string& run_tag) {
  const auto attempts = std::ranges::count_if(content.attempts, [&](const Attempt& attempt) {
    return attempt.run_tag == run_tag && !attempt.baseline && !attempt.by_hand;
  });
  const auto skips = std::ranges::count_if(
      content.skips, [&](const Skip& skip) { return skip.run_tag == run_tag && !skip.by_hand; });
  return static_cast<int>(attempts + skips);
}

bool has_failed(const ClimbState& state) { return state.failures >= kMostFailures; }
bool is_spoiled(const ClimbState& state) { return state.spoiled >= kMostFailures; }

std::string reason_to_end(const Case& target, const ClimbOptions& options,
                          const HistoryContent& content, const ClimbState& state) {
  const int turns = turns_of(content, options.evaluate.run_tag);
  if (options.turns && turns >= *options.turns)
    return fmt::format("{} of {} {} made", counted(turns, "turn"), options.evaluate.run_tag,
                       turns == 1 ? "was" : "were");
  if (options.seconds && state.seconds >= *options.seconds) return "its time is over";
  if (std::string over = over_budget(options, content); !over.empty()) return over;
  // A budget that nobody counts would never end.
  if ((options.usd || options.tokens) && state.cost_unknown)
    return "the agent does not say what a turn costs: it is to write cost: {usd, tokens_in, "
           "tokens_out} into $ASSAY_ATTEMPT";
  if (options.until && has_reached(target, *options.until, content.incumbent(state.series)))
    return fmt::format("{:.6g} was reached", *options.until);
  if (options.patience && state.without_keep >= *options.patience)
    return fmt::format("{} in a row kept nothing", counted(state.without_keep, "turn"));
  if (is_spoiled(state))
    return fmt::format(
        "others were at work while {} attempts in a row were measured; the same "
        "command goes on when they are done",
        state.spoiled);
  if (has_failed(state)) return fmt::format("the agent failed {} times in a row", state.failures);
  return {};
}

}  // namespace assay::lab
