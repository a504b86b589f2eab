#include "assay/process/gpu/code.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace assay::sweep {

std::string code_header(const std::string& target) {
  return fmt::format(".version 7.8\n.target {}\n.address_size 64\n", target);
}

std::string mix_word(std::string_view word, std::string_view scratch) {
  constexpr std::string_view kCode = R"(
  shr.u64 {1}, {0}, 30;
  xor.b64 {0}, {0}, {1};
  mul.lo.u64 {0}, {0}, 0xbf58476d1ce4e5b9;
  shr.u64 {1}, {0}, 27;
  xor.b64 {0}, {0}, {1};
  mul.lo.u64 {0}, {0}, 0x94d049bb133111eb;
  shr.u64 {1}, {0}, 31;
  xor.b64 {0}, {0}, {1};
)";
  return fmt::format(kCode, word, scratch);
}

uint32_t blocks_for(const cuda::CudaDevice& device, size_t items) {
  constexpr size_t kBlocksPerMultiprocessor = 8;  // Of kCodeThreads: all that fit.
  const auto multiprocessors = static_cast<size_t>(std::max(1, device.multiprocessors()));
  return static_cast<uint32_t>(
      std::min(items / kCodeThreads + 1, kBlocksPerMultiprocessor * multiprocessors));
}

Result<ElementCode> element_code(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return ElementCode::f64;
    case DType::f32:
      return ElementCode::f32;
    case DType::f16:
      return ElementCode::f16;
    case DType::bf16:
      return ElementCode::bf16;
    case DType::s8:
      return ElementCode::s8;
    case DType::s32:
      return ElementCode::s32;
    default:
      return fail(ErrorCode::unsupported, "device code of ours knows no {}", to_string(dtype));
  }
}

std::string code_target(const cuda::Gpu& gpu) { return gpu.major >= 9 ? "sm_90" : "sm_70"; }

Result<std::shared_ptr<const cuda::Module>> load_code(cuda::CudaDevice& device,
                                                      const std::string& ptx) {
  // The driver reads it up to its end: a zero.
  return cuda::Module::load(device.driver(), std::as_bytes(std::span(ptx.c_str(), ptx.size() + 1)));
}

}  // namespace assay::sweep
