// What a pattern of Oniguruma's is to PCRE2. Blanks differ (to PCRE2 U+180E is one), \w, \b and \h
// differ, and a script's name means more characters to PCRE2: so \s is written out, scripts are
// named as such, and the rest is refused.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/text/pattern.h"
#include "assay/text/utf8.h"

namespace assay::text {
namespace {

// Unicode's White_Space.
constexpr std::string_view kBlankClass =
    R"(\x{09}-\x{0d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

constexpr std::string_view kSameEscapes = "dDrntfae";
constexpr std::array<std::string_view, 38> kCategories = {
    "L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm", "Sc", "Sk",
    "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Cs", "Co", "Cn", "Any"};
constexpr std::array<std::string_view, 7> kGroups = {
    "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:"};

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Translator {
 public:
  explicit Translator(std::string_view expression) : whole_(expression), rest_(expression) {}

  Result<std::string> run() {
    if (!is_utf8(whole_)) return refuse("bytes that are not UTF-8");
    while (!rest_.empty()) ASSAY_TRY(in_class_ ? take_in_class() : take_outside());
    return std::move(out_);
  }

 private:
  tl::unexpected<Error> refuse(std::string_view what) const {
    return fail(ErrorCode::invalid_input, "the pattern '{}' has {}, which is not supported",
                sanitize(whole_, 300), sanitize(what, 60));
  }

  void copy(std::size_t bytes) {
    out_ += rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
  }

  Status take_outside() {
    const char c = rest_[0];
    if (c == '\\') return take_escape();
    if (c == '[') return begin_class();
    if (c == '(') return take_group();
    for (const std::string_view braces : {"{,", "}+", "}?"})
      if (rest_.starts_with(braces)) return refuse(fmt::format("'{}'", braces));
    copy(1);
    return {};
  }

  Status take_group() {
    if (!rest_.starts_with("(?") && !rest_.starts_with("(*")) {
      copy(1);
      return {};
    }
    // Elsewhere it takes the alternatives in whose branch it stands, or does not.
    const bool all_of_it = rest_.starts_with("(?i)") && rest_.size() == whole_.size();
    if (all_of_it) {
      copy(4);
      return {};
    }
    for (const std::string_view group : kGroups)
      if (rest_.starts_with(group)) {
        copy(group.size());
        return {};
      }
    return refuse(fmt::format("the group '{}'", rest_.substr(0, 4)));
  }

  Status begin_class() {
    in_class_ = true;
    copy(rest_.starts_with("[^") ? 2 : 1);
    if (rest_.starts_with("]")) return refuse("']' at the begin of a class");
    return {};
  }

  Status take_in_class() {
    const char c = rest_[0];
    if (c == '\\') return take_escape();
    if (c == '[') return refuse("a class in a class");
    if (rest_.starts_with("&&")) return refuse("'&&'");
    if (c == ']') in_class_ = false;
    copy(1);
    return {};
  }

  Status take_escape() {
    if (rest_.size() < 2) return refuse("'\\' at its end");
    const char c = rest_[1];
    if (c == 's' || c == 'S') return take_blank(c == 'S');
    if (c == 'p' || c == 'P') return take_property();
    if (c == 'x' || c == 'u') return take_number();
    if (kSameEscapes.find(c) != std::string_view::npos ||
        (!is_letter(c) && !is_digit(c) && static_cast<unsigned char>(c) < 0x80)) {
      copy(2);
      return {};
    }
    return refuse(fmt::format("'\\{}'", c));
  }

  Status take_blank(bool negated) {
    if (in_class_ && negated) return refuse("'\\S' in a class");
    if (in_class_)
      out_ += kBlankClass;
    else
      out_ += fmt::format("[{}{}]", negated ? "^" : "", kBlankClass);
    rest_.remove_prefix(2);
    return {};
  }

  Status take_property() {
    const std::size_t end = rest_.find('}');
    if (rest_.size() < 4 || rest_[2] != '{' || end == std::string_view::npos)
      return refuse(fmt::format("'\\{}' without a name in braces", rest_[1]));
    std::string_view name = rest_.substr(3, end - 3);
    bool negated = rest_[1] == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    if (name.empty() || !std::ranges::all_of(name, [](char c) { return is_letter(c) || c == '_'; }))
      return refuse(fmt::format("the property '{}'", name));
    const bool category = std::ranges::find(kCategories, name) != kCategories.end();
    if (!category && name.size() < 3) return refuse(fmt::format("the property '{}'", name));
    out_ += fmt::format("\\{}{{{}{}}}", negated ? 'P' : 'p', category ? "" : "sc:", name);
    rest_.remove_prefix(end + 1);
    return {};
  }

  // \xHH, \x{H...} and \uHHHH.
  Status take_number() {
    std::string_view digits;
    std::size_t used = 0;
    if (rest_[1] == 'x' && rest_.size() > 2 && rest_[2] == '{') {
      const std::size_t end = std::min(rest_.find('}'), rest_.size());
      digits = rest_.substr(3, end - 3);
      used = end + 1;
    } else {
      digits = rest_.substr(2, rest_[1] == 'x' ? 2 : 4);
      used = 2 + digits.size();
      if (digits.size() != (rest_[1] == 'x' ? 2U : 4U)) return refuse("a number that is cut");
    }
    if (digits.empty() || digits.size() > 6 || used > rest_.size() ||
        !std::ranges::all_of(digits, is_hex))
      return refuse(
          fmt::format("the number '{}'", rest_.substr(0, std::min<std::size_t>(used, 12))));
    out_ += fmt::format("\\x{{{}}}", digits);
    rest_.remove_prefix(used);
    return {};
  }

  std::string_view whole_, rest_;
  std::string out_;
  bool in_class_ = false;
};

}  // namespace

Result<std::string> translate_pattern(std::string_view expression) {
  return Translator(expression).run();
}

}  // namespace assay::text
