// Tokenizer files as anybody may write them, and texts that they are asked to encode.

#include "assay/text/tokenizer.h"

#include "assay/text/utf8.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(tokenizer) {
  // The file, a byte 0, the text.
  const std::size_t border = bytes.starts_with("GGUF") ? std::string_view::npos : bytes.find('\0');
  const std::string_view file = bytes.substr(0, border);
  const std::string_view text =
      border == std::string_view::npos ? "the <|im_start|> text 12" : bytes.substr(border + 1);
  const auto tokenizer = file.starts_with("GGUF") ? text::Tokenizer::from_gguf(file, "m.gguf")
                                                  : text::Tokenizer::from_json(file, "t.json");
  if (!fuzz::is_read(tokenizer)) return;
  const auto ids = tokenizer->encode(text, text::SpecialTokens::around);
  if (!fuzz::is_read(ids)) return;
  fuzz::expect(text::is_utf8(text), "a text that is not UTF-8 is encoded");
  fuzz::expect(tokenizer->decode(*ids).has_value(), "ids that were made are not read");
}

ASSAY_FUZZ_TARGET(pattern) {
  const std::size_t border = bytes.find('\0');
  const auto pattern = text::Pattern::compile(bytes.substr(0, border));
  if (!fuzz::is_read(pattern) || border == std::string_view::npos) return;
  const std::string_view text = bytes.substr(border + 1);
  if (!text::is_utf8(text)) return;
  std::vector<text::Range> matches;
  if (const Status found = pattern->find_all(text, matches); !found)
    return fuzz::expect_readable(found.error());
  std::size_t told = 0;
  for (const text::Range& match : matches) {
    fuzz::expect(match.begin >= told && match.end > match.begin && match.end <= text.size(),
                 "matches overlap, are empty or lie outside");
    told = match.end;
  }
}

}  // namespace assay
