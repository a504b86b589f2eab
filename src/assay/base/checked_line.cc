#include "assay/base/checked_line.h"

#include <fmt/format.h>

#include "assay/base/hash.h"

namespace assay {
namespace {

constexpr std::string_view kBeforeCheck = ",\"xxh3\":\"";
constexpr std::string_view kAfterCheck = "\"}";

std::string check_of(std::string_view text) { return fmt::format("{:016x}", fast_hash(text)); }

}  // namespace

std::string with_check(std::string object) {
  object.pop_back();  // Its brace.
  const std::string check = check_of(object);
  return object.append(kBeforeCheck).append(check).append(kAfterCheck);
}

bool has_its_check(std::string_view line) {
  const std::size_t length = kBeforeCheck.size() + check_of({}).size() + kAfterCheck.size();
  if (line.size() < length) return false;
  const std::string_view text = line.substr(0, line.size() - length);
  return line.substr(text.size()) ==
         fmt::format("{}{}{}", kBeforeCheck, check_of(text), kAfterCheck);
}

}  // namespace assay
