#include "assay/lab/evaluate/parity.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::lab {
namespace {

Result<ParityAnswer> read_answer(const JsonField& root) {
  ParityAnswer answer;
  ASSAY_TRY(const JsonField tokens, root.at("tokens"));
  ASSAY_TRY(const auto items, tokens.items());
  for (const JsonField& item : items) {
    ASSAY_TRY(answer.tokens.emplace_back(), item.as_int64());
  }
  const auto logits = root.find("logits");
  if (!logits || logits->is_null()) return answer;
  ASSAY_TRY(const auto pairs, logits->items());
  for (const JsonField& pair : pairs) {
    ASSAY_TRY(const auto values, pair.items());
    if (values.size() != 2)
      return fail(pair.error(ErrorCode::invalid_input, "expected the two largest logits"));
    ASSAY_TRY(const double first, values[0].as_double());
    ASSAY_TRY(const double second, values[1].as_double());
    answer.logits.emplace_back(first, second);
  }
  return answer;
}

bool is_close_call(const ParityAnswer& reference, size_t at, double tolerance) {
  if (at >= reference.logits.size()) return false;
  const auto& [first, second] = reference.logits[at];
  return std::abs(first - second) <= tolerance;
}

}  // namespace

Result<ParityAnswers> read_parity_answers(std::string_view text, std::string_view origin) {
  ParityAnswers answers;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    ASSAY_TRY(const JsonDocument document,
              parse_json_document(line, fmt::format("{}:{}", origin, number)));
    const JsonField root(document);
    ASSAY_TRY(root.expect_object());
    ASSAY_TRY(const JsonField id, root.at("id"));
    ASSAY_TRY(const std::string name, id.as_string());
    ASSAY_TRY(ParityAnswer answer, read_answer(root));
    if (!answers.emplace(name, std::move(answer)).second)
      return fail(id.error(ErrorCode::invalid_input,
                           fmt::format("'{}' is there twice", sanitize(name, 80))));
  }
  return answers;
}

ParityVerdict compare_parity(const ParityAnswers& reference, const ParityAnswers& answers,
                             double tolerance) {
  ParityVerdict verdict;
  verdict.prompts = static_cast<int>(reference.size());
  for (const auto& [id, expected] : reference) {
    const auto found = answers.find(id);
    if (found == answers.end()) {
      verdict.reason = fmt::format("prompt '{}' was not answered", sanitize(id, 80));
      return verdict;
    }
    const auto& tokens = found->second.tokens;
    const size_t most = std::max(tokens.size(), expected.tokens.size());
    for (size_t at = 0; at < most; ++at) {
      const bool same =
          at < tokens.size() && at < expected.tokens.size() && tokens[at] == expected.tokens[at];
      if (same) continue;
      if (is_close_call(expected, at, tolerance)) {
        ++verdict.close_calls;
        break;
      }
      verdict.reason = fmt::format(
          "prompt '{}', token {}: {} in the place of {}", sanitize(id, 80), at,
          at < tokens.size() ? std::to_string(tokens[at]) : "the end",
          at < expected.tokens.size() ? std::to_string(expected.tokens[at]) : "the end");
      return verdict;
    }
  }
  verdict.holds = !reference.empty();
  if (reference.empty()) verdict.reason = "the reference holds no prompt";
  return verdict;
}

double parity_tolerance(const ParityAnswers& first, const ParityAnswers& second) {
  double largest = 0;
  for (const auto& [id, answer] : first) {
    const auto found = second.find(id);
    if (found == second.end()) continue;
    const size_t both = std::min(answer.logits.size(), found->second.logits.size());
    for (size_t at = 0; at < both; ++at)
      largest =
          std::max({largest, std::abs(answer.logits[at].first - found->second.logits[at].first),
                    std::abs(answer.logits[at].second - found->second.logits[at].second)});
  }
  return 2 * largest;
}

}  // namespace assay::lab
