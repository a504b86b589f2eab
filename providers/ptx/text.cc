#include "text.h"

#include <charconv>
#include <optional>

namespace assay::ptx {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

std::string without_comments(std::string_view text) {
  std::string kept;
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      const size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
      kept += ' ';
    } else {
      kept += text[i++];
    }
  }
  return kept;
}

// The word behind `directive` from `from` on; moves `from` behind it.
std::optional<std::string> word_after(std::string_view text, std::string_view directive,
                                      size_t& from) {
  for (size_t at = text.find(directive, from); at != std::string_view::npos;
       at = text.find(directive, at + 1)) {
    const size_t behind = at + directive.size();
    const bool begins = at == 0 || kSpaces.find(text[at - 1]) != std::string_view::npos;
    if (!begins || behind >= text.size() || kSpaces.find(text[behind]) == std::string_view::npos)
      continue;
    const size_t start = text.find_first_not_of(kSpaces, behind);
    if (start == std::string_view::npos) return std::nullopt;
    from = std::min(text.find_first_of(" \t\r\n,;(){}", start), text.size());
    return std::string(text.substr(start, from - start));
  }
  return std::nullopt;
}

struct Architecture {
  int number = 0;
  char kind = 0;  // 'a', 'f' or none.
};

std::optional<Architecture> parse(std::string_view text) {
  if (!text.starts_with("sm_")) return std::nullopt;
  text.remove_prefix(3);
  Architecture found;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  if (rest.size() > 1 || (rest.size() == 1 && rest != "a" && rest != "f")) return std::nullopt;
  if (!rest.empty()) found.kind = rest.front();
  return found;
}

}  // namespace

TextFacts read_text(std::string_view raw) {
  const std::string text = without_comments(raw);
  TextFacts facts;
  size_t from = 0;
  facts.version = word_after(text, ".version", from).value_or("");
  from = 0;
  facts.target = word_after(text, ".target", from).value_or("");
  from = 0;
  while (auto name = word_after(text, ".entry", from))
    if (!name->empty()) facts.entries.push_back(std::move(*name));
  return facts;
}

bool runs_on(std::string_view target, std::string_view architecture) {
  const auto code = parse(target), gpu = parse(architecture);
  if (!code || !gpu) return false;
  if (code->kind == 'a') return code->number == gpu->number;
  if (code->kind == 'f')
    return code->number / 10 == gpu->number / 10 && code->number <= gpu->number;
  return code->number <= gpu->number;
}

}  // namespace assay::ptx
