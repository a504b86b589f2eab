#include "assay/worker/gpu/zones.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

constexpr uint64_t kWordBytes = 8, kZoneWords = GpuZones::kZoneBytes / kWordBytes;

// A word of a zone after the other, over all zones: what belongs there is its number and the seed
// through mix_word(). {0}: code_header(), {1}: kThreadPlace, {2}: words of a zone, {3} stores, {4}
// loads the bytes of the word %d11 at %d10, the latter to %d14, {5}: mix_word() of %d11.
constexpr const char* kZonesCode = R"(
{0}
.visible .entry assay_zones(.param .u64 zones, .param .u64 words, .param .u64 counts,
                            .param .u64 seed, .param .u32 write)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %d<20>;
  {1}
  ld.param.u64 %d0, [zones];
  ld.param.u64 %d1, [words];
  ld.param.u64 %d2, [counts];
  ld.param.u64 %d3, [seed];
  ld.param.u32 %r6, [write];
  setp.ne.u32 %p0, %r6, 0;
NEXT:
  setp.ge.u64 %p1, %d5, %d1;
  @%p1 bra END;
  div.u64 %d8, %d5, {2};
  rem.u64 %d9, %d5, {2};
  shl.b64 %d12, %d8, 3;
  add.u64 %d12, %d12, %d0;
  ld.global.u64 %d10, [%d12];
  shl.b64 %d9, %d9, 3;
  add.u64 %d10, %d10, %d9;
  add.u64 %d11, %d5, 1;
  mul.lo.u64 %d11, %d11, 0x9e3779b97f4a7c15;
  add.u64 %d11, %d11, %d3;
{5}  @%p0 bra WRITE;
  mov.u64 %d14, 0;
{4}
  xor.b64 %d14, %d14, %d11;
  shr.u64 %d15, %d14, 4;
  or.b64 %d14, %d14, %d15;
  shr.u64 %d15, %d14, 2;
  or.b64 %d14, %d14, %d15;
  shr.u64 %d15, %d14, 1;
  or.b64 %d14, %d14, %d15;
  and.b64 %d14, %d14, 0x0101010101010101;
  popc.b64 %r7, %d14;
  setp.eq.u32 %p2, %r7, 0;
  @%p2 bra GO_ON;
  shl.b64 %d16, %d8, 2;
  add.u64 %d16, %d16, %d2;
  red.global.add.u32 [%d16], %r7;
  bra GO_ON;
WRITE:
{3}
GO_ON:
  add.u64 %d5, %d5, %d7;
  bra NEXT;
END:
  ret;
}}
)";

}  // namespace

std::string zones_code(const std::string& target) {
  std::string stores, loads;
  for (uint64_t byte = 0; byte < kWordBytes; ++byte) {
    stores +=
        fmt::format("  shr.u64 %d13, %d11, {};\n  st.global.u8 [%d10+{}], %d13;\n", 8 * byte, byte);
    // The lower bits of what is shifted by 8 from byte to byte.
    loads += fmt::format(
        "  ld.global.u8 %d13, [%d10+{}];\n  shl.b64 %d13, %d13, {};\n  or.b64 %d14, %d14, %d13;\n",
        byte, 8 * byte);
  }
  return fmt::format(fmt::runtime(kZonesCode), code_header(target), kThreadPlace, kZoneWords,
                     stores, loads, mix_word("%d11", "%d12"));
}

Result<std::unique_ptr<GpuZones>> GpuZones::create(cuda::CudaDevice& device, Stream& stream) {
  std::unique_ptr<GpuZones> zones(new GpuZones(device, stream));
  ASSAY_TRY(zones->code_, load_code(device, zones_code(code_target(device.gpu()))));
  ASSAY_TRY(const auto function, zones->code_->function("assay_zones", 0, false));
  zones->function_ = function.handle;
  ASSAY_TRY(zones->try_out());
  return zones;
}

// Zones that nothing can disturb would be nobody's to miss.
Status GpuZones::try_out() {
  constexpr size_t kAt = 3;  // Not aligned.
  ASSAY_TRY(const auto memory, device_.allocate(3 * kZoneBytes, {}));
  auto* const start = static_cast<std::byte*>(memory->data());
  const void* const zones[] = {start + kAt, start + kAt + kZoneBytes};
  ASSAY_TRY(mark(zones, 1));
  ASSAY_TRY(const auto before, changed(zones, 1));
  std::vector<std::byte> bytes(kZoneBytes + 1);
  std::byte* const disturbed = start + kAt + kZoneBytes - 1;
  ASSAY_TRY(device_.copy_out(bytes, disturbed));
  for (std::byte& byte : bytes) byte = ~byte;
  ASSAY_TRY(device_.copy_in(disturbed, bytes));
  ASSAY_TRY(const auto after, changed(zones, 1));
  const std::vector<uint32_t> expected = {1, kZoneBytes};
  if (before == std::vector<uint32_t>(2) && after == expected) return {};
  return fail(ErrorCode::machine, "the GPU does not tell whether its memory was written to");
}

void* GpuZones::counts(size_t zones) const {
  return static_cast<std::byte*>(scratch_->data()) + zones * sizeof(void*);
}

Status GpuZones::visit(std::span<const void* const> zones, uint64_t seed, bool write) {
  const size_t bytes = zones.size() * (sizeof(void*) + sizeof(uint32_t));
  if (!scratch_ || scratch_->bytes() < bytes) {
    ASSAY_TRY(scratch_, device_.allocate(std::max(bytes, kZoneBytes), {}));
  }
  // The starts come from the host each time: what is in the GPU's memory, candidates can write.
  ASSAY_TRY(device_.copy_in(scratch_->data(), std::as_bytes(zones)));
  const cuda::Driver& driver = *device_.driver();
  ASSAY_TRY(driver.check(driver.call().context_synchronize(), "waiting for copies to the GPU"));
  const void *starts = scratch_->data(), *sums = counts(zones.size());
  ASSAY_TRY(driver.check(
      driver.call().fill_words(reinterpret_cast<cuda::abi::Address>(sums), 0, zones.size(),
                               static_cast<cuda::abi::Stream>(stream_.native())),
      "clearing counts"));
  uint64_t words = zones.size() * kZoneWords;
  uint32_t writes = write ? 1 : 0;
  const std::array<void*, 5> parameters = {&starts, &words, &sums, &seed, &writes};
  return stream_.launch({.function = function_,
                         .grid = {blocks_for(device_, words), 1, 1},
                         .block = {kCodeThreads, 1, 1},
                         .parameters = parameters});
}

Status GpuZones::mark(std::span<const void* const> zones, uint64_t seed) {
  return zones.empty() ? Status() : visit(zones, seed, true);
}

Result<std::vector<uint32_t>> GpuZones::changed(std::span<const void* const> zones, uint64_t seed) {
  std::vector<uint32_t> counted(zones.size());
  if (zones.empty()) return counted;
  ASSAY_TRY(visit(zones, seed, false));
  ASSAY_TRY(stream_.synchronize());
  ASSAY_TRY(device_.copy_out(std::as_writable_bytes(std::span(counted)), counts(zones.size())));
  return counted;
}

}  // namespace assay::sweep
