#include "assay/sweep/card_turn.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "assay/sweep/card_code.h"

namespace assay::sweep {
namespace {

// Elements of a line, or lines, whichever lie closer together, are gone through by neighbouring
// threads: `fast` of them. {0}: code_header(), {1}: kThreadPlace, {2}: the loads of the element and
// of the two whose signs it gets.
constexpr const char* kCode = R"(
{0}
.visible .entry assay_turn(.param .u64 from, .param .u64 to, .param .u64 elements,
                           .param .u64 fast, .param .u64 length, .param .u64 line_stride,
                           .param .u64 element_stride, .param .u64 first, .param .u64 second,
                           .param .u64 third, .param .u32 bytes, .param .u32 lines_are_fast,
                           .param .u32 is_integer)
{{
  .reg .pred %p<8>;
  .reg .b32 %r<12>;
  .reg .b64 %d<40>;
  {1}
  ld.param.u64 %d8, [from];
  ld.param.u64 %d9, [to];
  ld.param.u64 %d10, [elements];
  ld.param.u64 %d11, [fast];
  ld.param.u64 %d12, [length];
  ld.param.u64 %d13, [line_stride];
  ld.param.u64 %d14, [element_stride];
  ld.param.u64 %d15, [first];
  ld.param.u64 %d16, [second];
  ld.param.u64 %d17, [third];
  ld.param.u32 %r6, [bytes];
  ld.param.u32 %r7, [lines_are_fast];
  ld.param.u32 %r8, [is_integer];
  setp.ne.u32 %p0, %r7, 0;
  setp.ne.u32 %p1, %r8, 0;
  setp.eq.u32 %p2, %r6, 1;
  setp.eq.u32 %p3, %r6, 2;
  setp.eq.u32 %p4, %r6, 4;
  shl.b32 %r9, %r6, 3;
  sub.u32 %r9, %r9, 1;
NEXT:
  setp.ge.u64 %p5, %d5, %d10;
  @%p5 bra END;
  div.u64 %d18, %d5, %d11;
  mul.lo.u64 %d19, %d18, %d11;
  sub.u64 %d19, %d5, %d19;
  selp.b64 %d20, %d19, %d18, %p0;
  selp.b64 %d21, %d18, %d19, %p0;
  mul.lo.u64 %d22, %d20, %d13;
{2}
  shr.u64 %d26, %d24, %r9;
  shr.u64 %d27, %d25, %r9;
  xor.b64 %d26, %d26, %d27;
  and.b64 %d26, %d26, 1;
  setp.ne.u64 %p6, %d26, 0;
  neg.s64 %d27, %d23;
  shl.b64 %d28, %d26, %r9;
  xor.b64 %d28, %d28, %d23;
  selp.b64 %d27, %d27, %d28, %p1;
  selp.b64 %d23, %d27, %d23, %p6;
  mad.lo.u64 %d29, %d21, %d14, %d22;
  add.u64 %d29, %d29, %d9;
  @%p2 st.global.u8 [%d29], %d23;
  @%p3 st.global.u16 [%d29], %d23;
  @%p4 st.global.u32 [%d29], %d23;
  setp.eq.u32 %p7, %r6, 8;
  @%p7 st.global.u64 [%d29], %d23;
  add.u64 %d5, %d5, %d7;
  bra NEXT;
END:
  ret;
}}
)";

// {0} = element (%d21 + {1}) % length of the line at %d22.
constexpr const char* kLoad = R"(  add.u64 %d30, %d21, {1};
  sub.u64 %d31, %d30, %d12;
  setp.ge.u64 %p7, %d30, %d12;
  selp.b64 %d30, %d31, %d30, %p7;
  mad.lo.u64 %d30, %d30, %d14, %d22;
  add.u64 %d30, %d30, %d8;
  @%p2 ld.global.u8 {0}, [%d30];
  @%p3 ld.global.u16 {0}, [%d30];
  @%p4 ld.global.u32 {0}, [%d30];
  setp.eq.u32 %p7, %r6, 8;
  @%p7 ld.global.u64 {0}, [%d30];
)";

}  // namespace

std::string turn_code(const std::string& target) {
  std::string loads;
  for (const auto& [value, offset] :
       {std::pair{"%d23", "%d15"}, std::pair{"%d24", "%d16"}, std::pair{"%d25", "%d17"}})
    loads += fmt::format(fmt::runtime(kLoad), value, offset);
  return fmt::format(fmt::runtime(kCode), code_header(target), kThreadPlace, loads);
}

Result<std::unique_ptr<CardTurn>> CardTurn::create(cuda::CudaDevice& device) {
  std::unique_ptr<CardTurn> turn(new CardTurn(device));
  ASSAY_TRY(turn->code_, load_code(device, turn_code(code_target(device.card()))));
  ASSAY_TRY(const auto function, turn->code_->function("assay_turn", 0, false));
  turn->function_ = function.handle;
  // A mistake here would be nobody's to see: worker and referee turn lines in the same way.
  for (const DType dtype : {DType::s8, DType::bf16, DType::f32, DType::f64})
    for (const bool lines_are_fast : {false, true}) ASSAY_TRY(turn->try_out(dtype, lines_are_fast));
  return turn;
}

Status CardTurn::try_out(DType dtype, bool lines_are_fast) {
  constexpr int64_t kLines = 3, kLength = 11;
  const TurnedLines lines = {.dtype = dtype,
                             .first = 2,
                             .lines = kLines,
                             .length = kLength,
                             .line_stride = lines_are_fast ? 1 : kLength,
                             .element_stride = lines_are_fast ? kLines : 1,
                             .offsets = {4, 9, 1}};
  const auto size = static_cast<size_t>(size_bytes(dtype));
  std::vector<std::byte> pristine((2 + kLines * kLength) * size);
  const auto at = [&](int64_t line, int64_t i) {
    return static_cast<size_t>(lines.first + line * lines.line_stride +
                               i % kLength * lines.element_stride) *
           size;
  };
  for (int64_t i = 0; i < static_cast<int64_t>(pristine.size() / size); ++i)
    store_from_double(dtype, static_cast<double>((i * 37 + 5) % 101 - 50), &pristine[i * size]);
  std::vector<std::byte> expected = pristine;
  for (int64_t line = 0; line < kLines; ++line) {
    for (int64_t i = 0; i < kLength; ++i) {
      const auto value = [&](size_t offset) {
        return load_as_double(dtype, &pristine[at(line, i + lines.offsets[offset])]);
      };
      // Zeros of this pattern have no sign, either.
      const bool differ = (value(1) < 0) != (value(2) < 0);
      store_from_double(dtype, differ ? -value(0) : value(0), &expected[at(line, i)]);
    }
  }
  ASSAY_TRY(const auto stream, device_.make_stream());
  ASSAY_TRY(const auto from, device_.allocate(pristine.size(), {}));
  ASSAY_TRY(const auto to, device_.allocate(pristine.size(), {}));
  ASSAY_TRY(device_.copy_in(from->data(), pristine));
  ASSAY_TRY(device_.copy_in(to->data(), pristine));
  const cuda::Driver& driver = *device_.driver();
  ASSAY_TRY(driver.check(driver.call().context_synchronize(), "waiting for copies to the card"));
  ASSAY_TRY(turn(*stream, from->data(), to->data(), lines));
  ASSAY_TRY(stream->synchronize());
  std::vector<std::byte> found(pristine.size());
  ASSAY_TRY(device_.copy_out(found, to->data()));
  if (found == expected) return {};
  return fail(ErrorCode::unsupported, "this card turns lines of {} in another way than the host",
              to_string(dtype));
}

Status CardTurn::turn(Stream& stream, const void* from, void* to, const TurnedLines& lines) {
  const int64_t size = size_bytes(lines.dtype);
  const void* source = static_cast<const std::byte*>(from) + lines.first * size;
  void* destination = static_cast<std::byte*>(to) + lines.first * size;
  uint64_t elements = static_cast<uint64_t>(lines.lines) * static_cast<uint64_t>(lines.length);
  if (elements == 0) return {};
  uint32_t lines_are_fast = lines.line_stride < lines.element_stride ? 1 : 0;
  int64_t fast = lines_are_fast != 0 ? lines.lines : lines.length;
  int64_t length = lines.length, line_stride = lines.line_stride * size;
  int64_t element_stride = lines.element_stride * size;
  std::array<int64_t, 3> offsets = lines.offsets;
  auto bytes = static_cast<uint32_t>(size);
  uint32_t is_integer = info(lines.dtype).floating ? 0 : 1;
  const std::array<void*, 13> parameters = {
      &source,      &destination,    &elements,   &fast,       &length,
      &line_stride, &element_stride, &offsets[0], &offsets[1], &offsets[2],
      &bytes,       &lines_are_fast, &is_integer};
  return stream.launch({.function = function_,
                        .grid = {blocks_for(device_, elements), 1, 1},
                        .block = {kCodeThreads, 1, 1},
                        .parameters = parameters});
}

}  // namespace assay::sweep
