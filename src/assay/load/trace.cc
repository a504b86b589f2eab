#include "assay/load/trace.h"

#include <algorithm>
#include <array>

namespace assay::load {
namespace {

constexpr std::array<std::string_view, 4> kEndings = {"successful", "incomplete", "errored",
                                                      "cancelled"};

bool has_tokens(const StreamEvent& event) { return event.kind != EventKind::other; }

}  // namespace

std::string_view to_string(Ending ending) { return kEndings[static_cast<std::size_t>(ending)]; }

std::optional<Ending> parse_ending(std::string_view word) {
  const auto found = std::ranges::find(kEndings, word);
  if (found == kEndings.end()) return std::nullopt;
  return static_cast<Ending>(found - kEndings.begin());
}

void Trace::begin_again() {
  ++retries;
  first_byte_ns = end_ns = chunks = 0;
  events.clear();
  ending = Ending::incomplete;
  error.clear();
  status = 0;
  usage.reset();
  texts.clear();
}

const StreamEvent* Trace::first_token() const {
  const auto found = std::ranges::find_if(events, has_tokens);
  return found == events.end() ? nullptr : &*found;
}

const StreamEvent* Trace::last_token() const {
  const auto found = std::find_if(events.rbegin(), events.rend(), has_tokens);
  return found == events.rend() ? nullptr : &*found;
}

}  // namespace assay::load
