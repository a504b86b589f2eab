#include "assay/process/gpu/renewal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

// Numbers of fewer than 24 bits go through float32 rounded to odd, as if they were rounded once.
// {0}: code_header(), {1}: kThreadPlace, {2}: philox() of the element's word, into %r13, {3}: the
// same of f64's other word, into %r14, {4} to {7}: element codes, {8}: mix_word() of %d32.
constexpr const char* kCode = R"(
{0}
.visible .entry assay_renew(.param .u64 to, .param .u64 elements, .param .u64 middle,
                            .param .u64 inner, .param .u64 stride0, .param .u64 stride1,
                            .param .u64 stride2, .param .u64 key, .param .u64 stream,
                            .param .f64 scale, .param .u64 low, .param .u64 odd_first,
                            .param .u64 odd_step, .param .u64 part, .param .u64 parts,
                            .param .u64 flip_key, .param .u32 lines_along,
                            .param .u32 places_along, .param .u32 count,
                            .param .u32 drawn_are_small, .param .s32 high, .param .u32 reach,
                            .param .u32 code, .param .u32 size_log2)
{{
  .reg .pred %p<20>;
  .reg .b16 %h<4>;
  .reg .b32 %r<40>;
  .reg .f32 %f<4>;
  .reg .b64 %d<60>;
  .reg .f64 %g<8>;
  {1}
  ld.param.u64 %d8, [to];
  ld.param.u64 %d9, [elements];
  ld.param.u64 %d10, [middle];
  ld.param.u64 %d11, [inner];
  ld.param.u64 %d12, [stride0];
  ld.param.u64 %d13, [stride1];
  ld.param.u64 %d14, [stride2];
  ld.param.u64 %d15, [key];
  ld.param.u64 %d16, [stream];
  ld.param.f64 %g0, [scale];
  ld.param.u64 %d17, [low];
  ld.param.u64 %d18, [odd_first];
  ld.param.u64 %d19, [odd_step];
  ld.param.u64 %d41, [part];
  ld.param.u64 %d42, [parts];
  ld.param.u32 %r33, [places_along];
  ld.param.u32 %r34, [drawn_are_small];
  ld.param.s32 %r35, [high];
  ld.param.u64 %d31, [flip_key];
  ld.param.u32 %r30, [size_log2];
  ld.param.u32 %r6, [lines_along];
  ld.param.u32 %r7, [count];
  ld.param.u32 %r8, [reach];
  ld.param.u32 %r9, [code];
NEXT:
  setp.ge.u64 %p0, %d5, %d9;
  @%p0 bra END;
  div.u64 %d20, %d5, %d11;
  mul.lo.u64 %d21, %d20, %d11;
  sub.u64 %d21, %d5, %d21;
  div.u64 %d22, %d20, %d10;
  mul.lo.u64 %d23, %d22, %d10;
  sub.u64 %d23, %d20, %d23;
  mul.lo.u64 %d24, %d22, %d12;
  mad.lo.u64 %d24, %d23, %d13, %d24;
  mad.lo.u64 %d24, %d21, %d14, %d24;
  setp.eq.u32 %p1, %r6, 0;
  setp.eq.u32 %p2, %r6, 1;
  selp.b64 %d25, %d23, %d21, %p2;
  selp.b64 %d25, %d22, %d25, %p1;
  setp.eq.u32 %p1, %r33, 0;
  setp.eq.u32 %p2, %r33, 1;
  selp.b64 %d43, %d23, %d21, %p2;
  selp.b64 %d43, %d22, %d43, %p1;
  shr.u64 %d26, %d24, 2;
  cvt.u32.u64 %r10, %d24;
  and.b32 %r10, %r10, 3;
{2}
  shl.b64 %d33, %d24, %r30;
  shr.u64 %d33, %d33, 6;
  shr.u64 %d34, %d33, 4;
  mul.lo.u64 %d32, %d34, 0x9e3779b97f4a7c15;
  add.u64 %d32, %d32, %d31;
{8}
  xor.b64 %d35, %d32, %d33;
  and.b64 %d35, %d35, 15;
{8}
  mov.u32 %r31, 64;
  shr.u32 %r31, %r31, %r30;
  sub.u32 %r31, %r31, 1;
  cvt.u32.u64 %r32, %d24;
  and.b32 %r32, %r32, %r31;
  shr.u64 %d32, %d32, %r32;
  and.b64 %d32, %d32, 1;
  setp.ne.u64 %p11, %d32, 0;
  setp.eq.and.u64 %p11, %d35, 0, %p11;
  setp.ne.and.u64 %p11, %d31, 0, %p11;
  setp.ge.u32 %p3, %r9, {4};
  @%p3 bra INTEGER;
  shr.s32 %r11, %r13, 8;
  shl.b32 %r11, %r11, 1;
  add.s32 %r11, %r11, 1;
  cvt.rn.f64.s32 %g1, %r11;
  mul.rn.f64 %g1, %g1, 0d3E70000000000000;
  setp.ne.u32 %p4, %r9, {5};
  @%p4 bra SCALED;
{3}
  shr.u32 %r14, %r14, 8;
  cvt.rn.f64.u32 %g2, %r14;
  mul.rn.f64 %g2, %g2, 0d3CF0000000000000;
  add.rn.f64 %g1, %g1, %g2;
SCALED:
  mul.rn.f64 %g1, %g1, %g0;
  setp.eq.u64 %p5, %d19, 0;
  @%p5 bra STORE;
  setp.lt.u64 %p6, %d25, %d18;
  @%p6 bra STORE;
  sub.u64 %d27, %d25, %d18;
  rem.u64 %d28, %d27, %d19;
  setp.ne.u64 %p7, %d28, 0;
  @%p7 bra STORE;
  div.u64 %d44, %d43, %d41;
  mul.lo.u64 %d45, %d44, %d41;
  sub.u64 %d45, %d43, %d45;
  mul.lo.u64 %d32, %d25, 0x9e3779b97f4a7c15;
  add.u64 %d32, %d32, %d15;
  mul.lo.u64 %d46, %d44, 0xd1b54a32d192ed03;
  add.u64 %d32, %d32, %d46;
{8}
  rem.u64 %d32, %d32, %d41;
  setp.eq.u64 %p14, %d32, %d45;
  setp.lt.and.u64 %p14, %d44, %d42, %p14;
  setp.ne.u32 %p15, %r34, 0;
  xor.pred %p16, %p14, %p15;
  not.pred %p16, %p16;
  not.pred %p17, %p16;
  and.pred %p17, %p17, %p15;
  @%p17 bra STORE;
  setp.lt.f64 %p18, %g1, 0d0000000000000000;
  neg.f64 %g4, %g0;
  selp.f64 %g4, %g4, %g0, %p18;
  add.rn.f64 %g1, %g1, %g4;
  mul.rn.f64 %g1, %g1, 0d3FE0000000000000;
  not.pred %p17, %p16;
  @%p17 bra STORE;
  and.b32 %r15, %r13, 255;
  add.u32 %r16, %r8, 1;
  mul.lo.u32 %r15, %r15, %r16;
  shr.u32 %r15, %r15, 8;
  sub.s32 %r15, %r35, %r15;
  add.s32 %r15, %r15, 1023;
  cvt.u64.u32 %d29, %r15;
  shl.b64 %d29, %d29, 52;
  mov.b64 %g3, %d29;
  mul.rn.f64 %g1, %g1, %g3;
STORE:
  @%p11 neg.f64 %g1, %g1;
  setp.ne.u32 %p4, %r9, {5};
  @%p4 bra NARROW;
  shl.b64 %d30, %d24, 3;
  add.u64 %d30, %d30, %d8;
  st.global.f64 [%d30], %g1;
  bra STORED;
NARROW:
  cvt.rn.f32.f64 %f0, %g1;
  setp.ne.u32 %p4, %r9, {6};
  @%p4 bra HALF;
  shl.b64 %d30, %d24, 2;
  add.u64 %d30, %d30, %d8;
  st.global.f32 [%d30], %f0;
  bra STORED;
HALF:
  cvt.rz.f32.f64 %f0, %g1;
  cvt.f64.f32 %g5, %f0;
  setp.ne.f64 %p4, %g5, %g1;
  mov.b32 %r17, %f0;
  selp.b32 %r18, 1, 0, %p4;
  or.b32 %r17, %r17, %r18;
  mov.b32 %f0, %r17;
  shl.b64 %d30, %d24, 1;
  add.u64 %d30, %d30, %d8;
  setp.ne.u32 %p4, %r9, {7};
  @%p4 bra BRAIN;
  cvt.rn.f16.f32 %h0, %f0;
  st.global.b16 [%d30], %h0;
  bra STORED;
BRAIN:
  mov.b32 %r17, %f0;
  shr.u32 %r18, %r17, 16;
  and.b32 %r18, %r18, 1;
  add.u32 %r17, %r17, %r18;
  add.u32 %r17, %r17, 32767;
  shr.u32 %r17, %r17, 16;
  st.global.u16 [%d30], %r17;
  bra STORED;
INTEGER:
  mul.hi.u32 %r11, %r13, %r7;
  cvt.u32.u64 %r12, %d17;
  add.u32 %r11, %r11, %r12;
  @%p11 neg.s32 %r11, %r11;
  setp.ne.u32 %p4, %r9, {4};
  @%p4 bra WORD;
  add.u64 %d30, %d24, %d8;
  st.global.u8 [%d30], %r11;
  bra STORED;
WORD:
  shl.b64 %d30, %d24, 2;
  add.u64 %d30, %d30, %d8;
  st.global.u32 [%d30], %r11;
STORED:
  add.u64 %d5, %d5, %d7;
  bra NEXT;
END:
  ret;
}}
)";

// Philox4x32-10 (base/random.h): word `%r10` of block %d26 to `to`; the stream's upper half is
// raised by `above`.
std::string philox(std::string_view to, int above) {
  std::string text = fmt::format(R"(  cvt.u32.u64 %r20, %d26;
  shr.u64 %d40, %d26, 32;
  cvt.u32.u64 %r21, %d40;
  cvt.u32.u64 %r22, %d16;
  shr.u64 %d40, %d16, 32;
  cvt.u32.u64 %r23, %d40;
  add.u32 %r23, %r23, {};
  cvt.u32.u64 %r24, %d15;
  shr.u64 %d40, %d15, 32;
  cvt.u32.u64 %r25, %d40;
)",
                                 above);
  for (int round = 0; round < 10; ++round)
    text += R"(  mul.hi.u32 %r26, %r20, 0xD2511F53;
  mul.lo.u32 %r27, %r20, 0xD2511F53;
  mul.hi.u32 %r28, %r22, 0xCD9E8D57;
  mul.lo.u32 %r29, %r22, 0xCD9E8D57;
  xor.b32 %r20, %r28, %r21;
  xor.b32 %r20, %r20, %r24;
  xor.b32 %r22, %r26, %r23;
  xor.b32 %r22, %r22, %r25;
  mov.u32 %r21, %r29;
  mov.u32 %r23, %r27;
  add.u32 %r24, %r24, 0x9E3779B9;
  add.u32 %r25, %r25, 0xBB67AE85;
)";
  return text + fmt::format(R"(  setp.eq.u32 %p8, %r10, 0;
  setp.eq.u32 %p9, %r10, 1;
  setp.eq.u32 %p10, %r10, 2;
  selp.b32 {0}, %r22, %r23, %p10;
  selp.b32 {0}, %r21, {0}, %p9;
  selp.b32 {0}, %r20, {0}, %p8;
)",
                            to);
}

}  // namespace

std::string renewal_code(const std::string& target) {
  static_assert(ElementCode::s8 > ElementCode::bf16 && ElementCode::s32 > ElementCode::s8);
  const auto number = [](ElementCode code) { return static_cast<uint32_t>(code); };
  return fmt::format(fmt::runtime(kCode), code_header(target), kThreadPlace, philox("%r13", 0),
                     philox("%r14", 1), number(ElementCode::s8), number(ElementCode::f64),
                     number(ElementCode::f32), number(ElementCode::f16), mix_word("%d32", "%d36"));
}

Result<std::unique_ptr<GpuRenewal>> GpuRenewal::create(cuda::CudaDevice& device) {
  std::unique_ptr<GpuRenewal> made(new GpuRenewal(device));
  ASSAY_TRY(made->code_, load_code(device, renewal_code(code_target(device.gpu()))));
  ASSAY_TRY(const auto function, made->code_->function("assay_renew", 0, false));
  made->function_ = function.handle;
  // A mistake here would be nobody's to see: worker and referee make numbers in the same way.
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::s8, DType::s32})
    ASSAY_TRY(made->try_out(dtype));
  return made;
}

Status GpuRenewal::try_out(DType dtype) {
  constexpr int64_t kGap = 3;
  const auto size = static_cast<size_t>(size_bytes(dtype));
  for (const bool transposed : {false, true}) {
    Renewal renewal{.dtype = dtype, .key = 0x0123456789abcdef, .stream = 5};
    renewal.sizes = {2, 5, 70};
    renewal.strides = transposed ? std::array<int64_t, 3>{7 * 70, 1, 7}
                                 : std::array<int64_t, 3>{5 * (70 + kGap), 70 + kGap, 1};
    renewal.flip_key = transposed ? 0 : 99;
    renewal.scale = 0.25;
    renewal.low = -100;
    renewal.count = 200;
    renewal.odd_dimension = transposed ? 2 : 1;
    renewal.odd_first = 1;
    renewal.odd_step = 2;
    renewal.part = transposed ? 2 : 16;
    renewal.parts = transposed ? 2 : 4;
    renewal.drawn_are_small = transposed;
    renewal.high = dtype == DType::f16 ? -2 : -29;
    renewal.reach = dtype == DType::f16 ? 9 : 15;
    int64_t elements = 1;
    for (size_t d = 0; d < 3; ++d) elements += (renewal.sizes[d] - 1) * renewal.strides[d];
    std::vector<std::byte> expected(static_cast<size_t>(elements) * size, std::byte{0x77});
    ASSAY_TRY(const auto stream, device_.make_stream());
    ASSAY_TRY(const auto to, device_.allocate(expected.size(), {}));
    ASSAY_TRY(device_.copy_in(to->data(), expected));
    const cuda::Driver& driver = *device_.driver();
    ASSAY_TRY(driver.check(driver.call().context_synchronize(), "waiting for copies to the GPU"));
    ASSAY_TRY(renew(*stream, to->data(), renewal));
    ASSAY_TRY(stream->synchronize());
    assay::renew(renewal, expected);
    std::vector<std::byte> found(expected.size());
    ASSAY_TRY(device_.copy_out(found, to->data()));
    if (found != expected)
      return fail(ErrorCode::unsupported, "this GPU makes other numbers of {} than the host",
                  to_string(dtype));
  }
  return {};
}

Status GpuRenewal::renew(Stream& stream, void* to, const Renewal& renewal) {
  ASSAY_TRY(auto code, element_code(renewal.dtype));
  // Neighbouring threads write elements that lie together.
  std::array<uint32_t, 3> order = {0, 1, 2};
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](uint32_t d) {
    return renewal.sizes[d] == 1 ? INT64_MAX : renewal.strides[d];
  });
  std::array<int64_t, 3> sizes, strides;
  for (size_t d = 0; d < 3; ++d) {
    sizes[d] = renewal.sizes[order[d]];
    strides[d] = renewal.strides[order[d]];
  }
  const auto along = [&](int dimension) {
    return static_cast<uint32_t>(std::ranges::find(order, static_cast<uint32_t>(dimension)) -
                                 order.begin());
  };
  uint32_t lines_along = along(renewal.odd_dimension);
  uint32_t places_along = along(3 - renewal.odd_dimension);
  uint64_t elements = static_cast<uint64_t>(sizes[0]) * static_cast<uint64_t>(sizes[1]) *
                      static_cast<uint64_t>(sizes[2]);
  if (elements == 0) return {};
  Renewal by = renewal;
  auto size_log2 =
      static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(size_bytes(renewal.dtype))));
  uint32_t drawn_are_small = renewal.drawn_are_small ? 1 : 0;
  const std::array<void*, 24> parameters = {
      &to,          &elements,        &sizes[1],  &sizes[2],    &strides[0],  &strides[1],
      &strides[2],  &by.key,          &by.stream, &by.scale,    &by.low,      &by.odd_first,
      &by.odd_step, &by.part,         &by.parts,  &by.flip_key, &lines_along, &places_along,
      &by.count,    &drawn_are_small, &by.high,   &by.reach,    &code,        &size_log2};
  return stream.launch({.function = function_,
                        .grid = {blocks_for(device_, elements), 1, 1},
                        .block = {kCodeThreads, 1, 1},
                        .parameters = parameters});
}

}  // namespace assay::sweep
