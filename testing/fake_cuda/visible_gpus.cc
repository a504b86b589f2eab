#include "testing/fake_cuda/visible_gpus.h"

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

abi::Uuid uuid_of(abi::Device gpu) {
  abi::Uuid uuid{};
  for (size_t i = 0; i < sizeof uuid.bytes; ++i)
    uuid.bytes[i] = static_cast<unsigned char>(0xfa + 16 * gpu + static_cast<int>(i));
  return uuid;
}

std::vector<abi::Device> visible_gpus(int there) {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<abi::Device> gpus;
  for (abi::Device gpu = 0; gpu < there; ++gpu)
    if (visible == nullptr || text_of(uuid_of(gpu)).starts_with(visible)) gpus.push_back(gpu);
  return gpus;
}

}  // namespace fake_cuda
