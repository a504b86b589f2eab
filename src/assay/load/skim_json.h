#pragma once

// JSON read past at the speed of a stream: 100,000 chunks a second are looked at for a few fields,
// and nothing of them is kept. What is skipped is checked for its brackets and strings alone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::load {

class JsonSkimmer {
 public:
  explicit JsonSkimmer(std::string_view text) : text_(text) {}

  // Calls `member(key)` for each member, whose value it must take or skip. False: malformed.
  template <class Member>
  bool object(Member&& member) {
    if (!enter('{')) return false;
    if (next_is('}')) return leave();
    do {
      const auto key = string();
      if (!key || !next_is(':') || !member(*key)) return false;
    } while (next_is(','));
    return next_is('}') && leave();
  }

  // Calls `item()` for each, likewise.
  template <class Item>
  bool array(Item&& item) {
    if (!enter('[')) return false;
    if (next_is(']')) return leave();
    do {
      if (!item()) return false;
    } while (next_is(','));
    return next_is(']') && leave();
  }

  char peek();                               // The first character of what follows; 0 at the end.
  std::optional<std::string_view> string();  // As written, escapes included.
  std::optional<std::int64_t> integer();     // Whole and not negative; anything else is skipped.
  bool skip();
  bool ended() { return peek() == 0; }

 private:
  bool enter(char bracket);
  bool leave();
  bool next_is(char c);

  std::string_view text_;
  int depth_ = 0;
};

// Appends what a string says, its escapes resolved; half a surrogate pair becomes U+FFFD.
void append_unescaped(std::string_view written, std::string& out);

}  // namespace assay::load
