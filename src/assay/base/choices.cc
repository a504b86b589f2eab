#include "assay/base/choices.h"

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay {

std::string did_you_mean(std::string_view word, std::span<const std::string> known,
                         std::string_view all) {
  const std::string question = did_you_mean(word, known);
  if (question.empty()) return fmt::format("; {}", all);
  std::string sentence(all);
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  return fmt::format("{} {}", question, sentence);
}

}  // namespace assay
