#include "assay/worker/gpu/probe.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

// One thread, twice over the same lines: another launch might find the cache as other processes
// left it. The next address depends on what was read: the mask is 0, which the assembler cannot
// know. Loads are cached in L2 alone. {0}: code_header().
constexpr const char* kProbeCode = R"(
{0}
.visible .entry assay_probe(.param .u64 from, .param .u64 lines, .param .u64 stride,
                            .param .u32 mask, .param .u64 ns)
{{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %d<10>;
  ld.param.u64 %d2, [stride];
  ld.param.u32 %r0, [mask];
  ld.param.u64 %d3, [ns];
  mov.u32 %r2, 0;
  mov.u64 %d5, 0;
PASS:
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [lines];
  add.u64 %d0, %d0, %d5;
  mov.u64 %d4, %globaltimer;
NEXT:
  ld.global.cg.u32 %r1, [%d0];
  and.b32 %r1, %r1, %r0;
  cvt.u64.u32 %d5, %r1;
  add.u64 %d0, %d0, %d2;
  add.u64 %d0, %d0, %d5;
  sub.u64 %d1, %d1, 1;
  setp.ne.u64 %p0, %d1, 0;
  @%p0 bra NEXT;
  mov.u64 %d6, %globaltimer;
  sub.u64 %d7, %d6, %d4;
  add.u64 %d8, %d7, %d5;
  st.global.u64 [%d3], %d8;
  add.u64 %d3, %d3, 8;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 2;
  @%p1 bra PASS;
  ret;
}}
)";

}  // namespace

std::string probe_code(const std::string& target) {
  return fmt::format(fmt::runtime(kProbeCode), code_header(target));
}

Result<std::unique_ptr<GpuProbe>> GpuProbe::create(cuda::CudaDevice& device) {
  std::unique_ptr<GpuProbe> probe(new GpuProbe(device));
  ASSAY_TRY(probe->code_, load_code(device, probe_code(code_target(device.gpu()))));
  ASSAY_TRY(const auto function, probe->code_->function("assay_probe", 0, false));
  probe->function_ = function.handle;
  ASSAY_TRY(probe->ns_, device.allocate(2 * sizeof(uint64_t), {}));
  return probe;
}

Result<measure::ColdProbe> GpuProbe::walk(Stream& stream, const std::byte* from, size_t lines,
                                          size_t stride) {
  uint64_t count = lines, step = stride;
  uint32_t mask = 0;
  std::array<uint64_t, 2> ns = {};
  void* to = ns_->data();
  const std::array<void*, 5> parameters = {&from, &count, &step, &mask, &to};
  ASSAY_TRY(stream.launch({.function = function_, .parameters = parameters}));
  ASSAY_TRY(stream.synchronize());
  ASSAY_TRY(device_.copy_out(std::as_writable_bytes(std::span(ns)), to));
  return measure::ColdProbe{static_cast<double>(ns[0]), static_cast<double>(ns[1])};
}

Result<GpuProbe::Reading> GpuProbe::read(Stream& stream, const void* data, size_t bytes) {
  Reading reading{{}, std::min(kLines, bytes / kLineBytes)};
  if (reading.lines == 0) return reading;
  const size_t stride = bytes / reading.lines / kLineBytes * kLineBytes;
  ASSAY_TRY(reading.probe,
            walk(stream, static_cast<const std::byte*>(data), reading.lines, stride));
  return reading;
}

// A page is of 2 MiB. What is read of it lies between lines of read().
Status GpuProbe::find_pages(Stream& stream, const void* data, size_t bytes) {
  constexpr size_t kPage = size_t{2} << 20, kBeside = 2 * kLineBytes;
  if (bytes < kLines * kBeside) return {};
  return walk(stream, static_cast<const std::byte*>(data) + kLineBytes,
              (bytes - kBeside) / kPage + 1, kPage)
      .map([](const measure::ColdProbe&) {});
}

}  // namespace assay::sweep
