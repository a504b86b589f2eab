#include "assay/worker/gpu/peaks.h"

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

std::string header(const std::string& target) {
  return fmt::format(".version 8.0\n.target {}\n.address_size 64\n", target);
}

std::string registers(const char* prefix, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return list;
}

// A loop of `steps` around `body`, after `before`. %p0, %r0 and %r1 are the loop's.
std::string repeated(const std::string& entry, const std::string& declarations,
                     const std::string& before, const std::string& body, const std::string& after) {
  return fmt::format(R"(
.visible .entry {}(.param .u32 steps, .param .u64 nowhere)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %d<8>;
{}{}
  ld.param.u32 %r0, [steps];
  mov.u32 %r1, 0;
AGAIN:
{}
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p0, %r1, %r0;
  @%p0 bra AGAIN;
  ld.param.u64 %d0, [nowhere];
{}
  ret;
}}
)",
                     entry, declarations, before, body, after);
}

// Stores the sums where an address was given: never, but the assembler cannot know.
std::string keep(const char* type, const char* prefix, int count, int bytes) {
  std::string text = "  setp.eq.u64 %p1, %d0, 0;\n  @%p1 bra DONE;\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format("  st.global.{} [%d0+{}], {}{};\n", type, i * bytes, prefix, i);
  return text + "DONE:\n";
}

// 64 x 256 x 16 by a warp group, both operands in shared memory with the 128-byte swizzle: rows of
// 64 halves, eight of them every 1024 bytes.
Peak warp_group(const char* type) {
  constexpr int kSums = 128, kInStep = 16;
  constexpr int kBytesA = 64 * 64 * 2, kBytesB = 256 * 64 * 2;
  const bool half = std::string_view(type) == "f16";
  std::string before = fmt::format(R"(
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, operands;
  shl.b32 %r4, %r2, 2;
  mul.lo.u32 %r5, %r2, 2654435761;
FILL:
  mul.lo.u32 %r5, %r5, 1664525;
  add.u32 %r5, %r5, 1013904223;
  and.b32 %r6, %r5, {};
  or.b32 %r6, %r6, {};
  add.u32 %r7, %r3, %r4;
  st.shared.u32 [%r7], %r6;
  add.u32 %r4, %r4, 512;
  setp.lt.u32 %p2, %r4, {};
  @%p2 bra FILL;
  bar.sync 0;
  fence.proxy.async.shared::cta;
  setp.eq.u32 %p3, %r3, %r3;
)",
                                   // +-[0.5, 1): a sign, an exponent, random bits below it.
                                   half ? "0x83ff83ff" : "0x807f807f",
                                   half ? "0x38003800" : "0x3f003f00", kBytesA + kBytesB);
  for (int i = 0; i < kSums; ++i) before += fmt::format("  mov.f32 %f{}, 0f00000000;\n", i);
  // Descriptor: address / 16, 1024 / 16 between groups of eight rows, 128-byte swizzle.
  for (const auto& [descriptor, offset] : {std::pair{1, 0}, std::pair{2, kBytesA}})
    before += fmt::format(
        "  add.u32 %r8, %r3, {};\n  shr.u32 %r8, %r8, 4;\n  and.b32 %r8, %r8, 0x3fff;\n"
        "  cvt.u64.u32 %d{}, %r8;\n  or.b64 %d{}, %d{}, 0x4000004000010000;\n",
        offset, descriptor, descriptor, descriptor);
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < kInStep; ++i) {
    // 16 columns further: 32 bytes.
    body += fmt::format("  add.u64 %d3, %d1, {};\n  add.u64 %d4, %d2, {};\n", i % 4 * 2, i % 4 * 2);
    body += fmt::format(
        "  wgmma.mma_async.sync.aligned.m64n256k16.f32.{}.{} {{{}}}, %d3, %d4, %p3, 1, 1, 0, 0;\n",
        type, type, registers("%f", kSums));
  }
  body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  const std::string entry = fmt::format("assay_peak_{}", type);
  return {fmt::format("flops_{}", type),
          entry,
          header("sm_90a") + repeated(entry,
                                      fmt::format("  .reg .f32 %f<{}>;\n"
                                                  "  .shared .align 1024 .b8 operands[{}];\n",
                                                  kSums, kBytesA + kBytesB),
                                      before, body, keep("f32", "%f", kSums, 4)),
          kInStep * 2.0 * 64 * 256 * 16,
          128,
          3};
}

// Independent sums of one warp's tensor instruction.
Peak warp(const char* name, const char* target, const char* instruction, const char* operand_type,
          const char* sum_type, int operands_a, int operands_b, int sums, double operations) {
  constexpr int kChains = 8;
  constexpr uint32_t kWarps = 8;
  std::string before, body;
  // Small numbers, different in every lane.
  before += "  mov.u32 %r2, %laneid;\n  or.b32 %r2, %r2, 0x38003800;\n  cvt.u64.u32 %d1, %r2;\n";
  const bool wide = std::string_view(operand_type) == "f64";
  for (int i = 0; i < operands_a + operands_b; ++i)
    before += wide ? fmt::format("  cvt.rn.f64.u32 %a{}, %r2;\n", i)
                   : fmt::format("  add.u32 %a{}, %r2, {};\n", i, i);
  for (int i = 0; i < kChains * sums; ++i)
    before += fmt::format("  mov.{} %s{}, {};\n", sum_type, i,
                          wide ? "0d0000000000000000" : "0f00000000");
  for (int chain = 0; chain < kChains; ++chain) {
    const auto list = [](const char* prefix, int from, int count) {
      std::string text;
      for (int i = 0; i < count; ++i)
        text += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, from + i);
      return text;
    };
    const std::string sum = list("%s", chain * sums, sums);
    body += fmt::format("  {} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n", instruction, sum,
                        list("%a", 0, operands_a), list("%a", operands_a, operands_b), sum);
  }
  const std::string entry = fmt::format("assay_peak_{}", std::string_view(name).substr(6));
  return {name,
          entry,
          header(target) +
              repeated(entry,
                       fmt::format("  .reg .{} %a<{}>;\n  .reg .{} %s<{}>;\n", wide ? "f64" : "b32",
                                   operands_a + operands_b, sum_type, kChains * sums),
                       before, body, keep(sum_type, "%s", kChains * sums, wide ? 8 : 4)),
          operations * kChains * kWarps,
          32 * kWarps,
          2};
}

Peak multiply_adds(const char* target) {
  constexpr int kChains = 16, kRepeats = 8;
  constexpr uint32_t kBlockThreads = 256;
  std::string before = "  mov.u32 %r2, %laneid;\n  cvt.rn.f32.u32 %x, %r2;\n";
  std::string body;
  for (int i = 0; i < kChains; ++i) before += fmt::format("  mov.f32 %s{}, %x;\n", i);
  for (int repeat = 0; repeat < kRepeats; ++repeat)
    for (int i = 0; i < kChains; ++i)
      body += fmt::format("  fma.rn.f32 %s{}, %s{}, 0f3f7fffff, %x;\n", i, i);
  return {
      "flops_f32",
      "assay_peak_f32",
      header(target) + repeated("assay_peak_f32", fmt::format("  .reg .f32 %s<{}>, %x;\n", kChains),
                                before, body, keep("f32", "%s", kChains, 4)),
      2.0 * kChains * kRepeats * kBlockThreads,
      kBlockThreads,
      8};
}

}  // namespace

std::string traffic_code(const cuda::Gpu& gpu) {
  constexpr int kInFlight = 4;
  const auto entry = [&](const char* name, bool copies) {
    std::string loads, uses, steps;
    for (int i = 0; i < kInFlight; ++i) {
      const int r = 8 + 4 * i;
      loads += fmt::format(
          "  mad.lo.u64 %d12, %d7, {}, %d5;\n  shl.b64 %d12, %d12, 4;\n"
          "  add.u64 %d13, %d9, %d12;\n"
          "  ld.global.L1::no_allocate.v4.u32 {{%r{}, %r{}, %r{}, %r{}}}, [%d13];\n",
          i, r, r + 1, r + 2, r + 3);
      if (copies) {
        uses += fmt::format(
            "  mad.lo.u64 %d12, %d7, {}, %d5;\n  shl.b64 %d12, %d12, 4;\n"
            "  add.u64 %d13, %d8, %d12;\n  st.global.v4.u32 [%d13], {{%r{}, %r{}, %r{}, %r{}}};\n",
            i, r, r + 1, r + 2, r + 3);
      } else {
        for (int j = 0; j < 4; ++j) uses += fmt::format("  xor.b32 %r0, %r0, %r{};\n", r + j);
      }
    }
    return fmt::format(R"(
.visible .entry {}(.param .u64 to, .param .u64 from, .param .u64 bytes)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<{}>;
  .reg .b64 %d<16>;
{}  ld.param.u64 %d8, [to];
  ld.param.u64 %d9, [from];
  ld.param.u64 %d10, [bytes];
  shr.u64 %d11, %d10, 4;
  mov.u32 %r0, 0;
NEXT:
  mad.lo.u64 %d14, %d7, {}, %d5;
  setp.ge.u64 %p0, %d14, %d11;
  @%p0 bra LAST;
{}{}
  mad.lo.u64 %d5, %d7, {}, %d5;
  bra NEXT;
LAST:
  setp.ge.u64 %p1, %d5, %d11;
  @%p1 bra DONE;
  shl.b64 %d12, %d5, 4;
  add.u64 %d13, %d9, %d12;
  ld.global.v4.u32 {{%r8, %r9, %r10, %r11}}, [%d13];
{}
  add.u64 %d5, %d5, %d7;
  bra LAST;
DONE:
  setp.ne.u32 %p2, %r0, 0x5eed1e55;
  @%p2 bra END;
  st.global.u32 [%d8], %r0;
END:
  ret;
}}
)",
                       name, 8 + 4 * kInFlight, kThreadPlace, kInFlight - 1, loads, uses, kInFlight,
                       copies ? "  add.u64 %d13, %d8, %d12;\n"
                                "  st.global.v4.u32 [%d13], {%r8, %r9, %r10, %r11};\n"
                              : "  xor.b32 %r0, %r0, %r8;\n  xor.b32 %r0, %r0, %r9;\n"
                                "  xor.b32 %r0, %r0, %r10;\n  xor.b32 %r0, %r0, %r11;\n");
  };
  return header(code_target(gpu)) + entry("assay_read", false) + entry("assay_copy", true);
}

std::vector<Peak> gpu_peaks(const cuda::Gpu& gpu) {
  std::vector<Peak> peaks;
  if (gpu.major == 9) {
    for (const char* type : {"f16", "bf16"}) peaks.push_back(warp_group(type));
  } else if (gpu.major >= 8) {
    peaks.push_back(warp("flops_f16", "sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                         "b32", "f32", 4, 2, 4, 4096));
    peaks.push_back(warp("flops_bf16", "sm_80",
                         "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "b32", "f32", 4, 2,
                         4, 4096));
  }
  if (gpu.major >= 8)
    peaks.push_back(warp("flops_f64", "sm_80", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
                         "f64", "f64", 1, 1, 2, 512));
  peaks.push_back(multiply_adds(gpu.major >= 8 ? "sm_80" : "sm_70"));
  return peaks;
}

}  // namespace assay::sweep
