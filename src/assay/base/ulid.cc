#include "assay/base/ulid.h"

#include <algorithm>
#include <chrono>

#include "assay/base/random.h"

namespace assay {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kTimeDigits = 10, kRandomDigits = 16;

}  // namespace

Result<std::string> make_ulid(std::int64_t unix_ms) {
  ASSAY_TRY(const SecretSeed seed, secret_seed());
  std::string text(kTimeDigits + kRandomDigits, '0');
  auto time = static_cast<std::uint64_t>(unix_ms);
  for (std::size_t i = kTimeDigits; i-- > 0; time /= 32) text[i] = kDigits[time % 32];
  for (std::size_t i = 0; i < kRandomDigits; ++i) text[kTimeDigits + i] = kDigits[seed[i] % 32];
  return text;
}

Result<std::string> make_ulid() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return make_ulid(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

bool is_ulid(std::string_view text) {
  return text.size() == kTimeDigits + kRandomDigits && text.front() <= '7' &&
         std::ranges::all_of(
             text, [](char digit) { return kDigits.find(digit) != std::string_view::npos; });
}

}  // namespace assay
