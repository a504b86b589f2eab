#include "assay/worker/gpu/digest.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

// %d15, a word, together with its place %d12: through mix_word() ({0}), onto the sum in %d1.
constexpr std::string_view kAddWord = R"(
  add.u64 %d16, %d12, 1;
  mul.lo.u64 %d16, %d16, 0x9e3779b97f4a7c15;
  add.u64 %d16, %d16, %d0;
  xor.b64 %d15, %d15, %d16;
{0}  add.u64 %d1, %d1, %d15;
)";

// Words of 8 bytes, then what is left byte by byte, at places of their own behind all words. {0}:
// code_header(), {1}: kThreadPlace, {2}: kAddWord.
constexpr const char* kDigestCode = R"(
{0}
.visible .entry assay_digest(.param .u64 from, .param .u64 bytes, .param .u64 seed,
                             .param .u64 sum)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %d<20>;
  {1}
  ld.param.u64 %d0, [seed];
  ld.param.u64 %d9, [from];
  ld.param.u64 %d10, [bytes];
  shr.u64 %d11, %d10, 3;
  mov.u64 %d12, %d5;
  mov.u64 %d1, 0;
NEXT:
  setp.ge.u64 %p0, %d12, %d11;
  @%p0 bra TAIL;
  shl.b64 %d13, %d12, 3;
  add.u64 %d14, %d9, %d13;
  ld.global.u64 %d15, [%d14];
  {2}
  add.u64 %d12, %d12, %d7;
  bra NEXT;
TAIL:
  shl.b64 %d13, %d11, 3;
  add.u64 %d13, %d13, %d5;
  setp.ge.u64 %p1, %d13, %d10;
  @%p1 bra ADD;
  add.u64 %d14, %d9, %d13;
  ld.global.u8 %r6, [%d14];
  cvt.u64.u32 %d15, %r6;
  add.u64 %d12, %d11, %d5;
  {2}
ADD:
  ld.param.u64 %d18, [sum];
  red.global.add.u64 [%d18], %d1;
  ret;
}}
)";

}  // namespace

std::string digest_code(const std::string& target) {
  return fmt::format(fmt::runtime(kDigestCode), code_header(target), kThreadPlace,
                     fmt::format(kAddWord, mix_word("%d15", "%d17")));
}

Result<std::unique_ptr<GpuDigest>> GpuDigest::create(cuda::CudaDevice& device, uint64_t seed) {
  std::unique_ptr<GpuDigest> digest(new GpuDigest(device, seed));
  ASSAY_TRY(digest->code_, load_code(device, digest_code(code_target(device.gpu()))));
  ASSAY_TRY(const auto function, digest->code_->function("assay_digest", 0, false));
  digest->function_ = function.handle;
  ASSAY_TRY(digest->sum_, device.allocate(sizeof(uint64_t), {}));
  return digest;
}

Result<uint64_t> GpuDigest::of(Stream& stream, const void* data, size_t bytes) {
  uint64_t result = 0, count = bytes;
  void* sum = sum_->data();
  const cuda::Driver& driver = *device_.driver();
  ASSAY_TRY(driver.check(
      driver.call().fill_words(reinterpret_cast<cuda::abi::Address>(sum), 0, sizeof(result) / 4,
                               static_cast<cuda::abi::Stream>(stream.native())),
      "clearing a sum"));
  const std::array<void*, 4> parameters = {&data, &count, &seed_, &sum};
  ASSAY_TRY(stream.launch({.function = function_,
                           .grid = {blocks_for(device_, bytes / sizeof(uint64_t)), 1, 1},
                           .block = {kCodeThreads, 1, 1},
                           .parameters = parameters}));
  ASSAY_TRY(stream.synchronize());
  ASSAY_TRY(device_.copy_out(std::as_writable_bytes(std::span(&result, 1)), sum));
  return result;
}

}  // namespace assay::sweep
