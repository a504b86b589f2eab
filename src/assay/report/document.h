#pragma once

// What a report says before it is markdown or HTML: sections of sentences, tables and commands.
// Text in it is as users gave it; each way of writing escapes what it must.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/report/table.h"

namespace assay::report {

struct Block {
  std::string title;  // May be empty.
  std::vector<std::string> sentences;
  std::optional<Table> table;
  std::string code;     // Lines to copy; empty: none.
  bool folded = false;  // A page shows it only when asked; markdown shows everything.
};

struct Section {
  std::string id;  // Of the place in a page: [a-z]+.
  std::string title;
  std::vector<Block> blocks;
};

std::string markdown(std::span<const Section> sections);
std::string html(std::span<const Section> sections);

// Untrusted text for a page: no markup, no entity, no control character, no mark that turns the
// direction of its neighbours. Also fit for a quoted attribute.
std::string html_text(std::string_view text);

// The same for a place where it may be broken into lines: after / and _, and within long runs of
// other characters, where nothing shows and nothing is copied.
std::string html_breakable(std::string_view text);

// The class of a page's style sheet that shows a tone: "good", "bad", "caution", "dim"; empty for
// plain.
std::string_view css_class(Tone tone);

// `page` with {{name}} replaced by its value, once: what stands in a value is left alone. A name
// without a value leaves nothing.
struct Slot {
  std::string_view name, value;
};
std::string fill(std::string_view page, std::span<const Slot> slots);

}  // namespace assay::report
