#include "testing/fake_cuda/visible_cards.h"

#include <cstdlib>
#include <string>

namespace fake_cuda {
namespace {

using namespace assay::cuda;

std::string text_of(const abi::Uuid& uuid) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte / 16];
    text += kDigits[byte % 16];
  }
  return text;
}

}  // namespace

abi::Uuid uuid_of(abi::Device card) {
  abi::Uuid uuid{};
  for (size_t i = 0; i < sizeof uuid.bytes; ++i)
    uuid.bytes[i] = static_cast<unsigned char>(0xfa + 16 * card + static_cast<int>(i));
  return uuid;
}

std::vector<abi::Device> visible_cards(int there) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<abi::Device> cards;
  for (abi::Device card = 0; card < there; ++card)
    if (visible == nullptr || text_of(uuid_of(card)).starts_with(visible)) cards.push_back(card);
  return cards;
}

}  // namespace fake_cuda
