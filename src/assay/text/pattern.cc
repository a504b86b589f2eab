#include "assay/text/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "assay/base/text.h"

namespace assay::text {
namespace {

constexpr std::size_t kMostPatternBytes = 16 << 10;
constexpr std::size_t kLeastStack = 32 << 10, kMostStack = 8 << 20;
constexpr std::uint32_t kMostSteps = 50'000'000;  // Of one match.

template <auto Free>
struct PatternFreer {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

std::string reason(int error) {
  PCRE2_UCHAR text[160] = {};
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct Pattern::Compiled {
  std::unique_ptr<pcre2_code, PatternFreer<pcre2_code_free>> code;
  std::unique_ptr<pcre2_match_data, PatternFreer<pcre2_match_data_free>> data;
  std::unique_ptr<pcre2_match_context, PatternFreer<pcre2_match_context_free>> context;
  std::unique_ptr<pcre2_jit_stack, PatternFreer<pcre2_jit_stack_free>> stack;
};

Result<Pattern> Pattern::make(const std::string& translated, std::string_view shown) {
  int error = 0;
  PCRE2_SIZE at = 0;
  auto made = std::make_shared<Compiled>();
  made->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                                 &error, &at, nullptr));
  if (!made->code)
    return fail(ErrorCode::invalid_input, "the pattern '{}' is not understood: {}",
                sanitize(shown, 300), reason(error));
  std::uint32_t matches_nothing = 0;
  pcre2_pattern_info(made->code.get(), PCRE2_INFO_MATCHEMPTY, &matches_nothing);
  if (matches_nothing != 0)
    return fail(ErrorCode::invalid_input,
                "the pattern '{}' matches nothing as well, so it says "
                "nowhere where to split",
                sanitize(shown, 300));
  made->data.reset(pcre2_match_data_create_from_pattern(made->code.get(), nullptr));
  made->context.reset(pcre2_match_context_create(nullptr));
  made->stack.reset(pcre2_jit_stack_create(kLeastStack, kMostStack, nullptr));
  if (!made->data || !made->context || !made->stack)
    return fail(ErrorCode::machine, "there is no memory for a pattern");
  // Without it, where the system forbids code that is written at run time, matching is slower.
  if (pcre2_jit_compile(made->code.get(), PCRE2_JIT_COMPLETE) == 0)
    pcre2_jit_stack_assign(made->context.get(), nullptr, made->stack.get());
  pcre2_set_match_limit(made->context.get(), kMostSteps);
  return Pattern(std::move(made));
}

Result<Pattern> Pattern::compile(std::string_view expression) {
  if (expression.size() > kMostPatternBytes)
    return fail(ErrorCode::invalid_input, "a pattern has {} bytes: {} are allowed",
                expression.size(), kMostPatternBytes);
  ASSAY_TRY(const std::string translated, translate_pattern(expression));
  return make(translated, expression);
}

Result<Pattern> Pattern::literal(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x80 || c == '_' ||
                       (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!plain) quoted += '\\';
    quoted += c;
  }
  return make(quoted, text);
}

Status Pattern::find_all(std::string_view text, std::vector<Range>& matches) const {
  std::size_t from = 0;
  while (from < text.size()) {
    const int found =
        pcre2_match(compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                    from, PCRE2_NO_UTF_CHECK, compiled_->data.get(), compiled_->context.get());
    if (found == PCRE2_ERROR_NOMATCH) return {};
    if (found < 0) return fail(ErrorCode::failed, "the text cannot be split: {}", reason(found));
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(compiled_->data.get());
    // A lookahead with \K could move an end back; such patterns are not taken, and this is a wall.
    if (ends[1] <= from || ends[0] < from || ends[1] <= ends[0])
      return fail(ErrorCode::failed, "the text cannot be split: a match is empty");
    matches.push_back({ends[0], ends[1]});
    from = ends[1];
  }
  return {};
}

}  // namespace assay::text
