#include "assay/worker/gpu/chain.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

constexpr size_t kVectorBytes = 16;
constexpr uint32_t kHoldingBlocks = 16;

// Assembled by the driver for the GPU at hand. {0}, {1}, {2}: code_header(), and on GPUs that
// have them the two halves of dependent launch; {3}: kThreadPlace.
constexpr const char* kChainCode = R"(
{0}
// to[i] = from[i] ^ (*digest & mask): the mask is 0, which the assembler cannot know.
.visible .entry assay_produce(.param .u64 to, .param .u64 from, .param .u64 bytes,
                              .param .u64 digest, .param .u32 mask, .param .u64 hold_ns)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %d<20>;
  {1}
  ld.param.u64 %d0, [hold_ns];
  setp.eq.u64 %p0, %d0, 0;
  @%p0 bra READ;
  mov.u64 %d1, %globaltimer;
HOLD:
  mov.u64 %d2, %globaltimer;
  sub.u64 %d3, %d2, %d1;
  setp.lt.u64 %p1, %d3, %d0;
  @%p1 bra HOLD;
READ:
  ld.param.u64 %d4, [digest];
  ld.volatile.global.u32 %r0, [%d4];
  ld.param.u32 %r1, [mask];
  and.b32 %r0, %r0, %r1;
{3}  ld.param.u64 %d8, [to];
  ld.param.u64 %d9, [from];
  ld.param.u64 %d10, [bytes];
  shr.u64 %d11, %d10, 4;
  mov.u64 %d12, %d5;
NEXT:
  setp.ge.u64 %p2, %d12, %d11;
  @%p2 bra TAIL;
  shl.b64 %d13, %d12, 4;
  add.u64 %d14, %d9, %d13;
  ld.global.v4.u32 {{%r6, %r7, %r8, %r9}}, [%d14];
  xor.b32 %r6, %r6, %r0;
  xor.b32 %r7, %r7, %r0;
  xor.b32 %r8, %r8, %r0;
  xor.b32 %r9, %r9, %r0;
  add.u64 %d15, %d8, %d13;
  st.global.v4.u32 [%d15], {{%r6, %r7, %r8, %r9}};
  add.u64 %d12, %d12, %d7;
  bra NEXT;
TAIL:
  shl.b64 %d16, %d11, 4;
  add.u64 %d16, %d16, %d5;
  setp.ge.u64 %p3, %d16, %d10;
  @%p3 bra DONE;
  add.u64 %d17, %d9, %d16;
  ld.global.u8 %r10, [%d17];
  xor.b32 %r10, %r10, %r0;
  add.u64 %d18, %d8, %d16;
  st.global.u8 [%d18], %r10;
DONE:
  ret;
}}

// *digest ^= every word of from.
.visible .entry assay_consume(.param .u64 from, .param .u64 bytes, .param .u64 digest)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %d<20>;
  {2}
{3}  ld.param.u64 %d9, [from];
  ld.param.u64 %d10, [bytes];
  shr.u64 %d11, %d10, 4;
  mov.u64 %d12, %d5;
  mov.u32 %r0, 0;
NEXT:
  setp.ge.u64 %p0, %d12, %d11;
  @%p0 bra TAIL;
  shl.b64 %d13, %d12, 4;
  add.u64 %d14, %d9, %d13;
  ld.global.v4.u32 {{%r6, %r7, %r8, %r9}}, [%d14];
  xor.b32 %r6, %r6, %r7;
  xor.b32 %r8, %r8, %r9;
  xor.b32 %r6, %r6, %r8;
  xor.b32 %r0, %r0, %r6;
  add.u64 %d12, %d12, %d7;
  bra NEXT;
TAIL:
  shl.b64 %d16, %d11, 4;
  add.u64 %d16, %d16, %d5;
  setp.ge.u64 %p1, %d16, %d10;
  @%p1 bra ADD;
  add.u64 %d17, %d9, %d16;
  ld.global.u8 %r10, [%d17];
  xor.b32 %r0, %r0, %r10;
ADD:
  bar.warp.sync 0xffffffff;
  shfl.sync.bfly.b32 %r11, %r0, 16, 0x1f, 0xffffffff;
  xor.b32 %r0, %r0, %r11;
  shfl.sync.bfly.b32 %r11, %r0, 8, 0x1f, 0xffffffff;
  xor.b32 %r0, %r0, %r11;
  shfl.sync.bfly.b32 %r11, %r0, 4, 0x1f, 0xffffffff;
  xor.b32 %r0, %r0, %r11;
  shfl.sync.bfly.b32 %r11, %r0, 2, 0x1f, 0xffffffff;
  xor.b32 %r0, %r0, %r11;
  shfl.sync.bfly.b32 %r11, %r0, 1, 0x1f, 0xffffffff;
  xor.b32 %r0, %r0, %r11;
  and.b32 %r12, %r4, 31;
  setp.ne.u32 %p2, %r12, 0;
  @%p2 bra DONE;
  ld.param.u64 %d0, [digest];
  red.global.xor.b32 [%d0], %r0;
DONE:
  ret;
}}
)";

}  // namespace

std::string chain_code(bool dependent) {
  return fmt::format(fmt::runtime(kChainCode), code_header(dependent ? "sm_90" : "sm_70"),
                     dependent ? "griddepcontrol.launch_dependents;" : "",
                     dependent ? "griddepcontrol.wait;" : "", kThreadPlace);
}

Result<std::unique_ptr<GpuChain>> GpuChain::create(cuda::CudaDevice& device) {
  std::unique_ptr<GpuChain> chain(new GpuChain(device));
  const std::string code = chain_code(device.gpu().major >= 9);
  ASSAY_TRY(chain->code_, load_code(device, code));
  ASSAY_TRY(const auto produce, chain->code_->function("assay_produce", 0, false));
  ASSAY_TRY(const auto consume, chain->code_->function("assay_consume", 0, false));
  chain->produce_ = produce.handle;
  chain->consume_ = consume.handle;
  ASSAY_TRY(chain->digest_, device.allocate(sizeof(uint32_t), {}));
  const uint32_t zero = 0;
  ASSAY_TRY(device.copy_in(chain->digest_->data(), std::as_bytes(std::span(&zero, 1))));
  return chain;
}

Status GpuChain::produce(Stream& stream, void* to, const void* from, size_t bytes, Hold hold) {
  void* digest = digest_->data();
  uint64_t count = bytes;
  uint32_t mask = 0;
  const std::array<void*, 6> parameters = {&to, &from, &count, &digest, &mask, &hold.ns};
  const uint32_t blocks = blocks_for(device_, bytes / kVectorBytes);
  return stream.launch({.function = produce_,
                        .grid = {hold.ns > 0 ? std::min(blocks, kHoldingBlocks) : blocks, 1, 1},
                        .block = {kCodeThreads, 1, 1},
                        .parameters = parameters});
}

Status GpuChain::consume(Stream& stream, const void* output, size_t bytes, bool dependent) {
  void* digest = digest_->data();
  uint64_t count = bytes;
  const std::array<void*, 3> parameters = {&output, &count, &digest};
  return stream.launch({.function = consume_,
                        .grid = {blocks_for(device_, bytes / kVectorBytes), 1, 1},
                        .block = {kCodeThreads, 1, 1},
                        .parameters = parameters,
                        .programmatic = dependent && device_.gpu().major >= 9});
}

}  // namespace assay::sweep
