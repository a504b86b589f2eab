#include "tests/fuzz/fuzz.h"

#include "assay/base/text.h"

namespace assay::fuzz {
namespace {

constexpr size_t kLongestMessage = 20'000;  // Lists of what there is are long.

}  // namespace

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

void expect_same(std::string_view first, std::string_view second, std::string_view sentence) {
  ++checks;
  if (first != second)
    broken(fmt::format("{}:\n{}\n{}", sentence, sanitize(first), sanitize(second)));
}

void expect_readable(const Error& error) {
  if (error.message.empty()) broken("an error without a word");
  if (error.message != sanitize(error.message, kLongestMessage, Newlines::keep))
    broken("an error is not safe to show, or too long: " + sanitize(error.message));
  if (error.code == ErrorCode::internal) broken("an input is called a defect of ours");
}

}  // namespace assay::fuzz
