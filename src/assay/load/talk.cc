#include "assay/load/talk.h"

namespace assay::load {

Ask Talk::ask() const {
  Ask ask;
  ask.messages = history;
  for (const Json& message : turn().messages) ask.messages.push_back(message);
  ask.output_tokens = turn().output_tokens;
  return ask;
}

void Talk::take_answer(const std::string& answer) {
  if (!has_turns()) return;
  for (const Json& message : turn().messages) history.push_back(message);
  history.push_back({{"role", "assistant"}, {"content", answer}});
}

}  // namespace assay::load
