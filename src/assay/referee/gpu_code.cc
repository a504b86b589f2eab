#include "assay/referee/gpu_code.h"

#include <string_view>

#include <fmt/format.h>

#include "assay/process/gpu/code.h"

namespace assay::sweep {
namespace {

// Registers that load_element() works with.
constexpr std::string_view kLoadRegisters = R"(
  .reg .pred %is;
  .reg .b16 %half;
  .reg .b32 %word;
  .reg .f32 %single;
)";

// {3} = the element of ElementCode {1} at address {2}. {0} makes its labels unlike others'.
constexpr const char* kLoadElement = R"(
  setp.eq.u32 %is, {1}, 0;
  @%is bra {0}_F64;
  setp.eq.u32 %is, {1}, 1;
  @%is bra {0}_F32;
  setp.eq.u32 %is, {1}, 2;
  @%is bra {0}_F16;
  setp.eq.u32 %is, {1}, 3;
  @%is bra {0}_BF16;
  setp.eq.u32 %is, {1}, 4;
  @%is bra {0}_S8;
  ld.global.s32 %word, [{2}];
  cvt.rn.f64.s32 {3}, %word;
  bra {0}_LOADED;
{0}_F64:
  ld.global.f64 {3}, [{2}];
  bra {0}_LOADED;
{0}_F32:
  ld.global.f32 %single, [{2}];
  cvt.f64.f32 {3}, %single;
  bra {0}_LOADED;
{0}_F16:
  ld.global.b16 %half, [{2}];
  cvt.f32.f16 %single, %half;
  cvt.f64.f32 {3}, %single;
  bra {0}_LOADED;
{0}_BF16:
  ld.global.u16 %word, [{2}];
  shl.b32 %word, %word, 16;
  mov.b32 %single, %word;
  cvt.f64.f32 {3}, %single;
  bra {0}_LOADED;
{0}_S8:
  ld.global.s8 %word, [{2}];
  cvt.rn.f64.s32 {3}, %word;
{0}_LOADED:
)";

std::string load_element(std::string_view label, std::string_view code, std::string_view address,
                         std::string_view to) {
  return fmt::format(fmt::runtime(kLoadElement), label, code, address, to);
}

// {0}: kThreadPlace, {1}: kLoadRegisters, {2}: the load, {3}: log2 of kPanel, {4}: kPanel - 1.
constexpr const char* kWiden = R"(
.visible .entry assay_widen(.param .u64 from, .param .u64 to, .param .u64 lines, .param .u64 depth,
                            .param .u64 padded, .param .u64 line_stride, .param .u64 depth_stride,
                            .param .u64 elements, .param .u32 code)
{{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %d<24>;
  .reg .f64 %value;
  {1}
  .reg .b32 %code;
  {0}
  ld.param.u64 %d8, [from];
  ld.param.u64 %d9, [to];
  ld.param.u64 %d10, [lines];
  ld.param.u64 %d11, [depth];
  ld.param.u64 %d12, [padded];
  ld.param.u64 %d13, [line_stride];
  ld.param.u64 %d14, [depth_stride];
  ld.param.u64 %d15, [elements];
  ld.param.u32 %code, [code];
NEXT:
  setp.ge.u64 %p0, %d5, %d15;
  @%p0 bra END;
  shr.u64 %d16, %d5, {3};
  div.u64 %d17, %d16, %d12;
  mul.lo.u64 %d18, %d17, %d12;
  sub.u64 %d18, %d16, %d18;
  and.b64 %d19, %d5, {4};
  shl.b64 %d17, %d17, {3};
  add.u64 %d19, %d19, %d17;
  mov.f64 %value, 0d0000000000000000;
  setp.ge.u64 %p1, %d19, %d10;
  @%p1 bra STORE;
  setp.ge.u64 %p1, %d18, %d11;
  @%p1 bra STORE;
  mul.lo.u64 %d20, %d19, %d13;
  mad.lo.u64 %d20, %d18, %d14, %d20;
  add.u64 %d20, %d20, %d8;
  {2}
STORE:
  shl.b64 %d21, %d5, 3;
  add.u64 %d21, %d21, %d9;
  st.global.f64 [%d21], %value;
  add.u64 %d5, %d5, %d7;
  bra NEXT;
END:
  ret;
}}
)";

// A block has a tile of kPanel x kPanel, a thread four rows (two, and two half a panel further) by
// four columns of it.
std::string multiply_code() {
  constexpr int kRowBytes = kPanel * 8;               // Of a tile in shared memory: one index of k.
  constexpr int kTileBytes = kDepthStep * kRowBytes;  // Of one operand.
  constexpr int kHalfBytes = kRowBytes / 2;
  static_assert(kTileBytes == 2 * 16 * kMultiplyThreads);  // Two vectors of two by each thread.
  std::string code = fmt::format(R"(
.visible .entry assay_multiply(.param .u64 a, .param .u64 b, .param .u64 product,
                               .param .u64 magnitude, .param .u64 rows, .param .u64 columns,
                               .param .u64 depth)
.maxntid {0}, 1, 1
.minnctapersm 2
{{
  .reg .pred %p<3>;
  .reg .b32 %r<16>;
  .reg .b64 %d<24>;
  .reg .f64 %s<16>, %m<16>, %x<4>, %y<4>, %u<4>, %v<4>;
  .shared .align 16 .b8 tiles[{1}];
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 15;
  shr.u32 %r2, %r0, 4;
  ld.param.u64 %d0, [a];
  ld.param.u64 %d1, [b];
  ld.param.u64 %d2, [depth];
  mul.lo.u64 %d3, %d2, {2};
  mov.u32 %r3, %ctaid.y;
  mov.u32 %r4, %ctaid.x;
  cvt.u64.u32 %d4, %r3;
  cvt.u64.u32 %d5, %r4;
  mad.lo.u64 %d0, %d4, %d3, %d0;
  mad.lo.u64 %d1, %d5, %d3, %d1;
  mul.wide.u32 %d6, %r0, 16;
  add.u64 %d0, %d0, %d6;
  add.u64 %d1, %d1, %d6;
  mov.u32 %r5, tiles;
  shl.b32 %r6, %r0, 4;
  add.u32 %r6, %r6, %r5;
  shl.b32 %r7, %r2, 4;
  add.u32 %r7, %r7, %r5;
  shl.b32 %r8, %r1, 4;
  add.u32 %r8, %r8, %r5;
)",
                                 kMultiplyThreads, 2 * kTileBytes, kRowBytes);
  for (int i = 0; i < 16; ++i)
    code += fmt::format(
        "  mov.f64 %s{}, 0d0000000000000000;\n  mov.f64 %m{}, 0d0000000000000000;\n", i, i);
  code += fmt::format(R"(STEP:
  ld.global.v2.f64 {{%x0, %x1}}, [%d0];
  ld.global.v2.f64 {{%x2, %x3}}, [%d0+{0}];
  ld.global.v2.f64 {{%y0, %y1}}, [%d1];
  ld.global.v2.f64 {{%y2, %y3}}, [%d1+{0}];
  bar.sync 0;
  st.shared.v2.f64 [%r6], {{%x0, %x1}};
  st.shared.v2.f64 [%r6+{0}], {{%x2, %x3}};
  st.shared.v2.f64 [%r6+{1}], {{%y0, %y1}};
  st.shared.v2.f64 [%r6+{2}], {{%y2, %y3}};
  bar.sync 0;
)",
                      kTileBytes / 2, kTileBytes, kTileBytes + kTileBytes / 2);
  for (int k = 0; k < kDepthStep; ++k) {
    const int at = k * kRowBytes;
    code += fmt::format(R"(  ld.shared.v2.f64 {{%x0, %x1}}, [%r7+{}];
  ld.shared.v2.f64 {{%x2, %x3}}, [%r7+{}];
  ld.shared.v2.f64 {{%y0, %y1}}, [%r8+{}];
  ld.shared.v2.f64 {{%y2, %y3}}, [%r8+{}];
)",
                        at, at + kHalfBytes, kTileBytes + at, kTileBytes + at + kHalfBytes);
    for (int i = 0; i < 4; ++i)
      code += fmt::format("  abs.f64 %u{}, %x{};\n  abs.f64 %v{}, %y{};\n", i, i, i, i);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        code += fmt::format(
            "  fma.rn.f64 %s{0}, %x{1}, %y{2}, %s{0};\n  fma.rn.f64 %m{0}, %u{1}, %v{2}, %m{0};\n",
            4 * i + j, i, j);
  }
  code += fmt::format(R"(  add.u64 %d0, %d0, {0};
  add.u64 %d1, %d1, {0};
  sub.u64 %d2, %d2, {1};
  setp.ne.u64 %p0, %d2, 0;
  @%p0 bra STEP;
  ld.param.u64 %d7, [product];
  ld.param.u64 %d8, [magnitude];
  ld.param.u64 %d9, [rows];
  ld.param.u64 %d10, [columns];
  mul.lo.u64 %d4, %d4, {2};
  mul.lo.u64 %d5, %d5, {2};
  mul.wide.u32 %d11, %r2, 2;
  mul.wide.u32 %d12, %r1, 2;
  add.u64 %d11, %d11, %d4;
  add.u64 %d12, %d12, %d5;
)",
                      kTileBytes, kDepthStep, kPanel);
  for (int i = 0; i < 4; ++i) {
    code += fmt::format("  add.u64 %d13, %d11, {};\n  setp.ge.u64 %p1, %d13, %d9;\n",
                        i % 2 + i / 2 * (kPanel / 2));
    for (int j = 0; j < 4; ++j)
      code += fmt::format(R"(  add.u64 %d14, %d12, {};
  setp.ge.or.u64 %p2, %d14, %d10, %p1;
  mad.lo.u64 %d15, %d13, %d10, %d14;
  shl.b64 %d15, %d15, 3;
  add.u64 %d16, %d15, %d7;
  add.u64 %d17, %d15, %d8;
  @!%p2 st.global.f64 [%d16], %s{};
  @!%p2 st.global.f64 [%d17], %m{};
)",
                          j % 2 + j / 2 * (kPanel / 2), 4 * i + j, 4 * i + j);
  }
  return code + "  ret;\n}\n";
}

// A warp's values of the float64 register {0}, joined by the instruction {1} in each of its
// threads: a quarter of a million threads that all add to one word wait for one another for
// milliseconds.
std::string join_warp(std::string_view value, std::string_view instruction) {
  std::string code;
  for (int distance = 16; distance > 0; distance /= 2)
    code += fmt::format(
        "  mov.b64 {{%low, %high}}, {0};\n"
        "  shfl.sync.bfly.b32 %low, %low, {2}, 31, -1;\n"
        "  shfl.sync.bfly.b32 %high, %high, {2}, 31, -1;\n"
        "  mov.b64 %other, {{%low, %high}};\n"
        "  {1} {0}, {0}, %other;\n",
        value, instruction, distance);
  return code;
}

// {0}: kThreadPlace, {1}: kLoadRegisters, {2}: the load of out, {3}: that of c, {4}: join_warp() of
// the sums. A NaN is no number, so every comparison with one is false.
constexpr const char* kCompare = R"(
.visible .entry assay_compare(.param .u64 out, .param .u32 out_code, .param .u64 out_row,
                              .param .u64 out_column, .param .u64 c, .param .u32 c_code,
                              .param .u64 c_row, .param .u64 c_column, .param .u64 product,
                              .param .u64 magnitude, .param .u64 tally, .param .u64 rows,
                              .param .u64 columns, .param .f64 alpha, .param .f64 beta,
                              .param .f64 exact_step, .param .f64 growth, .param .f64 rounding,
                              .param .f64 underflow, .param .f64 min_normal, .param .f64 split,
                              .param .f64 plain, .param .f64 last)
{{
  .reg .pred %p<8>;
  .reg .b32 %r<8>;
  .reg .b64 %d<32>;
  .reg .b32 %out_code, %c_code;
  .reg .f64 %alpha, %beta, %step, %growth, %rounding, %underflow, %min_normal, %size_of_alpha;
  .reg .f64 %got, %product, %magnitude, %addend, %term, %expected, %size, %sums, %unit, %error;
  .reg .f64 %ratio, %largest, %sum, %largest_unit, %flushed, %finite, %other;
  .reg .f64 %split, %plain, %last, %whole, %squared, %errors, %plains;
  .reg .b32 %low, %high;
  {1}
  {0}
  ld.param.u32 %out_code, [out_code];
  ld.param.u32 %c_code, [c_code];
  ld.param.u64 %d8, [out];
  ld.param.u64 %d9, [out_row];
  ld.param.u64 %d10, [out_column];
  ld.param.u64 %d11, [c];
  ld.param.u64 %d12, [c_row];
  ld.param.u64 %d13, [c_column];
  ld.param.u64 %d14, [product];
  ld.param.u64 %d15, [magnitude];
  ld.param.u64 %d16, [rows];
  ld.param.u64 %d17, [columns];
  ld.param.f64 %alpha, [alpha];
  ld.param.f64 %beta, [beta];
  ld.param.f64 %step, [exact_step];
  ld.param.f64 %growth, [growth];
  ld.param.f64 %rounding, [rounding];
  ld.param.f64 %underflow, [underflow];
  ld.param.f64 %min_normal, [min_normal];
  ld.param.f64 %split, [split];
  ld.param.f64 %plain, [plain];
  ld.param.f64 %last, [last];
  abs.f64 %size_of_alpha, %alpha;
  setp.gt.f64 %p0, %step, 0d0000000000000000;
  mul.lo.u64 %d18, %d16, %d17;
  mov.u64 %d19, 0;
  mov.u64 %d20, 0xffffffffffffffff;
  mov.f64 %largest, 0d0000000000000000;
  mov.f64 %sum, 0d0000000000000000;
  mov.f64 %largest_unit, 0d0000000000000000;
  mov.f64 %squared, 0d0000000000000000;
  mov.f64 %errors, 0d0000000000000000;
  mov.f64 %plains, 0d0000000000000000;
  mov.f64 %finite, 0d7fefffffffffffff;
NEXT:
  setp.ge.u64 %p1, %d5, %d18;
  @%p1 bra END;
  div.u64 %d21, %d5, %d17;
  mul.lo.u64 %d22, %d21, %d17;
  sub.u64 %d22, %d5, %d22;
  mul.lo.u64 %d23, %d21, %d9;
  mad.lo.u64 %d23, %d22, %d10, %d23;
  add.u64 %d23, %d23, %d8;
  {2}
  mov.f64 %term, 0d0000000000000000;
  setp.eq.u64 %p1, %d11, 0;
  @%p1 bra NO_C;
  mul.lo.u64 %d23, %d21, %d12;
  mad.lo.u64 %d23, %d22, %d13, %d23;
  add.u64 %d23, %d23, %d11;
  {3}
  mul.rn.f64 %term, %beta, %addend;
NO_C:
  shl.b64 %d24, %d5, 3;
  add.u64 %d25, %d24, %d14;
  ld.global.f64 %product, [%d25];
  add.u64 %d25, %d24, %d15;
  ld.global.f64 %magnitude, [%d25];
  mul.rn.f64 %expected, %alpha, %product;
  add.rn.f64 %expected, %expected, %term;
  setp.eq.f64 %p2, %got, %expected;
  testp.finite.f64 %p3, %expected;
  @%p3 bra FINITE;
  testp.notanumber.f64 %p4, %expected;
  @!%p4 bra INFINITE;
  testp.notanumber.f64 %p2, %got;
INFINITE:
  @%p2 bra DONE;
  bra WRONG;
FINITE:
  mul.rn.f64 %size, %size_of_alpha, %magnitude;
  abs.f64 %term, %term;
  add.rn.f64 %size, %size, %term;
  mov.f64 %whole, %size;
  mul.rn.f64 %sums, %growth, %size;
  add.rn.f64 %sums, %sums, %underflow;
  abs.f64 %size, %expected;
  setp.lt.f64 %p4, %size, %min_normal;
  selp.f64 %flushed, %min_normal, 0d0000000000000000, %p4;
  add.rn.f64 %size, %size, %sums;
  mul.rn.f64 %size, %rounding, %size;
  add.rn.f64 %unit, %sums, %size;
  add.rn.f64 %unit, %unit, %flushed;
  selp.f64 %unit, %step, %unit, %p0;
  sub.rn.f64 %error, %got, %expected;
  abs.f64 %error, %error;
  div.rn.f64 %ratio, %error, %unit;
  setp.le.f64 %p4, %ratio, %finite;
  selp.f64 %ratio, %ratio, %finite, %p4;
  max.f64 %largest, %largest, %ratio;
  add.rn.f64 %sum, %sum, %ratio;
  min.f64 %sum, %sum, %finite;
  @%p0 bra EXACT;
  setp.gt.f64 %p4, %unit, %largest_unit;
  selp.f64 %largest_unit, %unit, %largest_unit, %p4;
  setp.le.f64 %p2, %error, %unit;
  setp.gt.f64 %p4, %split, 0d0000000000000000;
  setp.ge.and.f64 %p4, %magnitude, %split, %p4;
  @!%p4 bra EXACT;
  add.rn.f64 %squared, %squared, 0d3ff0000000000000;
  fma.rn.f64 %errors, %error, %error, %errors;
  mul.rn.f64 %whole, %whole, %whole;
  fma.rn.f64 %plains, %plain, %whole, %plains;
  mul.rn.f64 %whole, %expected, %expected;
  fma.rn.f64 %plains, %last, %whole, %plains;
EXACT:
  @%p2 bra DONE;
WRONG:
  add.u64 %d19, %d19, 1;
  min.u64 %d20, %d20, %d5;
DONE:
  add.u64 %d5, %d5, %d7;
  bra NEXT;
END:
  ld.param.u64 %d26, [tally];
{4}  setp.eq.u64 %p1, %d19, 0;
  @%p1 bra RIGHT;
  red.global.add.u64 [%d26], %d19;
  red.global.min.u64 [%d26+8], %d20;
RIGHT:
  and.b32 %r6, %r4, 31;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 bra COUNTED;
  mov.b64 %d27, %largest;
  red.global.max.u64 [%d26+16], %d27;
  red.global.add.f64 [%d26+24], %sum;
  mov.b64 %d27, %largest_unit;
  red.global.max.u64 [%d26+32], %d27;
  red.global.add.f64 [%d26+40], %squared;
  red.global.add.f64 [%d26+48], %errors;
  red.global.add.f64 [%d26+56], %plains;
COUNTED:
  ret;
}}
)";

constexpr int log2_of(int64_t power) { return power == 1 ? 0 : 1 + log2_of(power / 2); }

}  // namespace

std::string referee_code(const std::string& target) {
  static_assert(sizeof(Tally) == 64);
  return code_header(target) +
         fmt::format(fmt::runtime(kWiden), kThreadPlace, kLoadRegisters,
                     load_element("FROM", "%code", "%d20", "%value"), log2_of(kPanel), kPanel - 1) +
         multiply_code() +
         fmt::format(fmt::runtime(kCompare), kThreadPlace, kLoadRegisters,
                     load_element("OUT", "%out_code", "%d23", "%got"),
                     load_element("C", "%c_code", "%d23", "%addend"),
                     join_warp("%largest", "max.f64") + join_warp("%sum", "add.rn.f64") +
                         join_warp("%largest_unit", "max.f64") +
                         join_warp("%squared", "add.rn.f64") + join_warp("%errors", "add.rn.f64") +
                         join_warp("%plains", "add.rn.f64"));
}

}  // namespace assay::sweep
